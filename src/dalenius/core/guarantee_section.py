"""The sections `[[guarantee]]` of a problem file."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from dalenius.core.arithmetic import BITS, log2
from dalenius.core.guarantee import Guarantee, Names
from dalenius.core.guess_guarantees import Guess, MaximalLeakage, Sibson, TotalVariation
from dalenius.core.information_guarantees import Contraction, Dalenius, Independent, Leakage, WorstCaseLeakage
from dalenius.core.odds_guarantees import InformationPrivacy, LocalDP
from dalenius.core.section import Section
from dalenius.errors import InputError

__all__ = ["GUARANTEES", "guarantee_of", "guarantees_told"]

_Read: TypeAlias = tuple[Guarantee, Names]  # a promise, and the keys beside its own that may stand there


def guarantees_told(document: Mapping[str, Any]) -> list[Guarantee]:
    """The promises of a design or a card as sentences read it, one by one."""
    told = enumerate(document.get("guarantees", ()))
    return [guarantee_of(Section(dict(entry["promised"]), ("guarantee", k), None, {})) for k, entry in told]


def guarantee_of(s: Section) -> Guarantee:
    """The promise that one section states; every key of it is read, or refused with its line."""
    kinds = [k for k in s.values if k in GUARANTEES]
    if len(kinds) != 1:
        unknown = next((k for k in s.values if k not in GUARANTEES), None)
        close = get_close_matches(unknown, list(GUARANTEES), 1, 0.5) if unknown and not kinds else []
        hint = f"; did you mean {close[0]!r} for {unknown!r}?" if close else ""
        raise s.error(f"a [[guarantee]] names exactly one of {', '.join(GUARANTEES)}{hint}")
    guarantee, known = _READERS[GUARANTEES[kinds[0]]](s)
    s.done((kinds[0], *known))
    return guarantee


def _local_dp(s: Section) -> _Read:
    many = 1 if s.file else s.integer("rows", 1)  # a file says max_rows in [source]; a design carries the number
    metric = s.take("metric") if isinstance(s.values.get("metric"), list) else s.text("metric", None)
    epsilon = s.number("local_dp")
    delta = s.number("delta", Fraction(0))
    with _said_at(s, "metric", "a metric is a list of rows of distances", before="metric: "):
        promise = LocalDP(epsilon, metric, delta, s.names("given", ()), many)
    return promise, ("metric", "delta", "given", *(() if s.file else ("rows",)))


def _dalenius(s: Section) -> _Read:
    if not s.flag("dalenius"):
        raise s.error("write dalenius = true", "dalenius")
    figures = s.number("at_most_bits"), s.integer("group", 1), _rows(s)
    with _said_at(s, "rows"):
        return Dalenius(*figures), ("at_most_bits", "group", "rows")


def _guess(s: Section) -> _Read:
    """The best guess: a share such as "35%", or `times` the blind guess; with a matrix the best gain."""
    gain = s.take("gain") if isinstance(s.values.get("gain"), list) else s.text("gain", None)
    names = s.names("guess")
    at_most = _share(s, "at_most")
    times = s.number("times", None)
    with _said_at(s, "guess", "a gain is a list of rows of numbers, one row for each action"):
        return Guess(names, at_most, times, gain), ("at_most", "times", "gain")


def _maximal_leakage(s: Section) -> _Read:
    """About everything, or about a secret."""
    everything = s.values.get("maximal_leakage") is True
    names = () if everything else s.names("maximal_leakage")
    if everything:
        s.take("maximal_leakage")
    return MaximalLeakage(_bits_of_a_choice(s), names), ("at_most_bits",)


def _sibson(s: Section) -> _Read:
    names = s.names("sibson")
    order = s.number("order")
    limit = s.number("at_most_bits")
    with _said_at(s, "order"):
        return Sibson(names, order, limit), ("order", "at_most_bits")


_READERS: dict[type[Guarantee], Callable[[Section], _Read]] = {
    Independent: lambda s: (Independent(s.names("independent")), ()),
    LocalDP: _local_dp,
    InformationPrivacy: lambda s: (
        InformationPrivacy(s.names("information_privacy"), s.number("epsilon")),
        ("epsilon",),
    ),
    Leakage: lambda s: (Leakage(s.names("leakage"), s.number("at_most_bits")), ("at_most_bits",)),
    WorstCaseLeakage: lambda s: (
        WorstCaseLeakage(s.names("worst_case_leakage"), s.number("at_most_bits")),
        ("at_most_bits",),
    ),
    Dalenius: _dalenius,
    Contraction: lambda s: (Contraction(s.number("contraction")), ()),
    Guess: _guess,
    MaximalLeakage: _maximal_leakage,
    TotalVariation: lambda s: (
        TotalVariation(s.names("total_variation"), _share(s, "at_most", required=True)),
        ("at_most",),
    ),
    Sibson: _sibson,
}
GUARANTEES: dict[str, type[Guarantee]] = {kind.key: kind for kind in _READERS}
"""The kinds of promises by the key that names them in `[[guarantee]]`."""


@contextmanager
def _said_at(s: Section, key: str, otherwise: str = "", *, before: str = "") -> Iterator[None]:
    """What a promise refuses, said at the line of a key; `otherwise` where a value is no list of rows."""
    try:
        yield
    except InputError as e:
        raise s.error(f"{before}{e}", key) from None
    except TypeError:
        if not otherwise:
            raise
        raise s.error(otherwise, key) from None


def _bits_of_a_choice(s: Section) -> Fraction:
    """at_most_bits, also as "log2(3)", the bits of a choice among three: rounded down, so that no more is promised."""
    written_so = re.fullmatch(r"log2\(([1-9][0-9]{0,17})\)", str(s.values.get("at_most_bits")))
    if written_so is None:
        return Fraction(s.number("at_most_bits"))
    s.take("at_most_bits")
    return Fraction(log2(Fraction(int(written_so[1])))[0], 1 << BITS)


def _share(s: Section, key: str, *, required: bool = False) -> Any:
    """A number, or a text such as "35%" or "35 %"."""
    value = s.values.get(key)
    if isinstance(value, str) and value.rstrip().endswith("%"):
        s.values[key] = value.rstrip().removesuffix("%").rstrip()
        return s.number(key) / 100
    return s.number(key) if required else s.number(key, None)


def _rows(s: Section) -> int | Literal["all"]:
    """How many released rows a promise is about: a number, or all of the table."""
    if s.values.get("rows") == "all":
        s.take("rows")
        return "all"
    if isinstance(s.values.get("rows"), str):
        raise s.error('rows is a number of released rows, or "all"', "rows")
    rows: int = s.integer("rows", 1)
    return rows
