"""The sections `[[guarantee]]` of a problem file."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, Literal

from dalenius.core.arithmetic import BITS, log2
from dalenius.core.guarantee import Guarantee, Names
from dalenius.core.guess_guarantees import Guess, MaximalLeakage, Sibson, TotalVariation
from dalenius.core.information_guarantees import Contraction, Dalenius, Independent, Leakage, WorstCaseLeakage
from dalenius.core.odds_guarantees import InformationPrivacy, LocalDP
from dalenius.core.section import Section
from dalenius.errors import InputError

__all__ = ["GUARANTEES", "guarantee_of"]


GUARANTEES: dict[str, type[Guarantee]] = {
    g.key: g
    for g in (
        Independent,
        LocalDP,
        InformationPrivacy,
        Leakage,
        WorstCaseLeakage,
        Dalenius,
        Contraction,
        Guess,
        MaximalLeakage,
        TotalVariation,
        Sibson,
    )
}
"""The kinds of promises by the key that names them in `[[guarantee]]`."""


def guarantee_of(s: Section) -> Guarantee:
    """The promise that one section states; every key of it is read, or refused with its line."""
    kinds = [k for k in s.values if k in GUARANTEES]
    if len(kinds) != 1:
        unknown = next((k for k in s.values if k not in GUARANTEES), None)
        close = get_close_matches(unknown, list(GUARANTEES), 1, 0.5) if unknown and not kinds else []
        hint = f"; did you mean {close[0]!r} for {unknown!r}?" if close else ""
        raise s.error(f"a [[guarantee]] names exactly one of {', '.join(GUARANTEES)}{hint}")
    kind = GUARANTEES[kinds[0]]
    guarantee: Guarantee
    known: tuple[str, ...] = (kinds[0],)
    if kind is Independent:
        guarantee = Independent(s.names("independent"))
    elif kind is LocalDP:
        known += ("metric", "delta", "given")
        many = 1 if s.file else s.integer("rows", 1)  # a file says max_rows in [source]; a design carries the number
        known += () if s.file else ("rows",)
        metric = s.take("metric") if isinstance(s.values.get("metric"), list) else s.text("metric", None)
        epsilon = s.number("local_dp")
        delta = s.number("delta", Fraction(0))
        try:
            guarantee = LocalDP(epsilon, metric, delta, s.names("given", ()), many)
        except InputError as e:
            raise s.error(f"metric: {e}", "metric") from None
        except TypeError:
            raise s.error("a metric is a list of rows of distances", "metric") from None
    elif kind is InformationPrivacy:
        known += ("epsilon",)
        guarantee = InformationPrivacy(s.names(kinds[0]), s.number("epsilon"))
    elif kind in (Leakage, WorstCaseLeakage):
        known += ("at_most_bits",)
        guarantee = (Leakage if kind is Leakage else WorstCaseLeakage)(s.names(kinds[0]), s.number("at_most_bits"))
    elif kind is Dalenius:
        known += ("at_most_bits", "group", "rows")
        if not s.flag("dalenius"):
            raise s.error("write dalenius = true", "dalenius")
        figures = s.number("at_most_bits"), s.integer("group", 1), _rows(s)
        try:
            guarantee = Dalenius(*figures)
        except InputError as e:
            raise s.error(str(e), "rows") from None
    elif kind is Contraction:
        guarantee = Contraction(s.number("contraction"))
    else:
        guarantee, more = _GAUGES[kind](s)
        known += more
    s.done(known)
    return guarantee


def _guess(s: Section) -> tuple[Guarantee, Names]:
    """The best guess: a share such as "35%", or `times` the blind guess; with a matrix the best gain."""
    gain = s.take("gain") if isinstance(s.values.get("gain"), list) else s.text("gain", None)
    names = s.names("guess")
    at_most = _share(s, "at_most")
    times = s.number("times", None)
    try:
        return Guess(names, at_most, times, gain), ("at_most", "times", "gain")
    except InputError as e:
        raise s.error(str(e), "guess") from None
    except TypeError:
        raise s.error("a gain is a list of rows of numbers, one row for each action", "gain") from None


def _bits_of_a_choice(s: Section) -> Fraction:
    """at_most_bits, also as "log2(3)", the bits of a choice among three: rounded down, so that no more is promised."""
    written_so = re.fullmatch(r"log2\(([1-9][0-9]{0,17})\)", str(s.values.get("at_most_bits")))
    if written_so is None:
        return Fraction(s.number("at_most_bits"))
    s.take("at_most_bits")
    return Fraction(log2(Fraction(int(written_so[1])))[0], 1 << BITS)


def _maximal_leakage(s: Section) -> tuple[Guarantee, Names]:
    """About everything, or about a secret."""
    everything = s.values.get("maximal_leakage") is True
    names = () if everything else s.names("maximal_leakage")
    if everything:
        s.take("maximal_leakage")
    return MaximalLeakage(_bits_of_a_choice(s), names), ("at_most_bits",)


def _total_variation(s: Section) -> tuple[Guarantee, Names]:
    return TotalVariation(s.names("total_variation"), _share(s, "at_most", required=True)), ("at_most",)


def _sibson(s: Section) -> tuple[Guarantee, Names]:
    names = s.names("sibson")
    order = s.number("order")
    limit = s.number("at_most_bits")
    try:
        return Sibson(names, order, limit), ("order", "at_most_bits")
    except InputError as e:
        raise s.error(str(e), "order") from None


_GAUGES: dict[type[Guarantee], Callable[[Section], tuple[Guarantee, Names]]] = {
    Guess: _guess,
    MaximalLeakage: _maximal_leakage,
    TotalVariation: _total_variation,
    Sibson: _sibson,
}


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
