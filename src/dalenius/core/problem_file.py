"""The grammar of the problem file: every key is known, typed and in its place, or refused with its line."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from dalenius.core.column_section import column_of
from dalenius.core.guarantee import Guarantee
from dalenius.core.guarantee_section import guarantee_of
from dalenius.core.mechanism_section import mechanism_of
from dalenius.core.objective import (
    AtLeast,
    Distortion,
    Objective,
)
from dalenius.core.objective_section import at_least_of, distortion_of, keep_rows_of, objective_of
from dalenius.core.problem import Mismatch, Problem, SideInformation
from dalenius.core.section import Place, Section, key_lines
from dalenius.core.source_section import source_of
from dalenius.errors import InputError, ProblemFileError

__all__ = ["Promised", "parse", "promised_in", "read", "read_toml"]

P = TypeVar("P", bound=Problem)

TABLES = (".csv", ".tsv", ".gz", ".zst", ".parquet", ".arrow", ".feather")
ENCODERS = ("uninformed", "statistically-informed", "informed")


def read(cls: type[P], path: Path) -> P:
    """A problem from a TOML file."""
    if path.suffix.lower() in TABLES and path.is_file():
        raise InputError(f"{path} is a table, not a problem file.", do=f"Write one first: dalenius init {path}")
    if path.suffix.lower() == ".json" and path.is_file():
        raise InputError(
            f"{path} is not a problem file.",
            do="Name problem.toml, or release a table by a proof file: dalenius apply DESIGN TABLE -o RELEASED",
        )
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"there is no problem file {path}", do="Check the name, or write one with dalenius init TABLE."
        ) from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a problem file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except ValueError:
        raise InputError("the name of the problem file holds a NUL character.", do="Name another file.") from None
    except OSError as e:
        raise InputError(
            f"cannot read the problem file {path}: {e.strerror}", do="Check the name and your rights to the file."
        ) from None
    document = read_toml(text, path.name)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return parse(cls, document, file=path, lines=key_lines(text), digest=digest)


def read_toml(text: str, name: str) -> dict[str, Any]:
    """The values of a TOML file, with its decimals exact; `name` is that of the file, for the message.

    >>> read_toml("a = 0.1", "problem.toml")
    {'a': Decimal('0.1')}
    """
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as e:
        raise ProblemFileError(f"{name} is not valid TOML: {e}") from None
    except (ValueError, RecursionError):  # thousands of digits, or of brackets
        raise ProblemFileError(
            f"{name} holds a number or a nest of lists that is too long to be meant", do="Correct it."
        ) from None


def parse(
    cls: type[P],
    document: Mapping[str, Any],
    *,
    file: Path | None = None,
    lines: Mapping[Place, int] | None = None,
    **rest: Any,
) -> P:
    """A problem from the sections of a problem file given as plain values."""
    top = Section(dict(document), (), file, lines or {})
    sections = ("source", "columns", "mechanism", "objective", "guarantee", "limit", "side_information", "robust")
    for key in top.values:
        if key not in sections:
            close = get_close_matches(key, sections, 1, 0.5)
            hint = f"; did you mean [{close[0]}]?" if close else f"; known are {', '.join(sections)}"
            raise top.error(f"unknown section {key!r}{hint}", key)
    for key in ("source", "mechanism", "objective") if file else ("mechanism", "objective"):
        if key not in top.values:
            raise top.error(f"there is no [{key}] section; `dalenius init` writes a commented file to start from")
    columns = top.section("columns") if "columns" in top.values else None
    limits = _many(top, "limit")
    return cls(
        source=source_of(top.section("source")) if "source" in top.values else None,
        columns={name: column_of(columns.section(name)) for name in list(columns.values)} if columns else {},
        **mechanism_of(top.section("mechanism")),
        objective=objective_of(top.section("objective")),
        guarantees=tuple(guarantee_of(s) for s in _many(top, "guarantee")),
        limits=tuple(distortion_of(s, limit=True) for s in limits if not {"keep_rows", "information"} & set(s.values)),
        tells=tuple(at_least_of(limit) for limit in limits if "information" in limit.values),
        keep_rows=keep_rows_of([limit for limit in limits if "keep_rows" in limit.values]),
        side_information=_side(top.section("side_information")) if "side_information" in top.values else None,
        robust=_robust(top.section("robust")) if "robust" in top.values else None,
        file=file,
        lines=lines or {},
        **rest,
    )


@dataclass(frozen=True)
class Promised:
    """What a card says in words of a problem file: its promises and limits in its order, and what was wanted."""

    guarantees: tuple[Guarantee, ...]
    limits: tuple[Distortion | AtLeast, ...]
    objective: Objective | None
    side_information: SideInformation | None
    robust: Mismatch | None


def promised_in(card: Mapping[str, Any]) -> Promised:
    """The promises, limits and aim of a card; a card has no problem that could be solved."""
    top = Section(dict(card), (), None, {})
    guarantees, limits = (
        [Section(dict(entry["promised"]), (key, k), None, {}) for k, entry in enumerate(card.get(key, ()))]
        for key in ("guarantees", "limits")
    )
    return Promised(
        tuple(map(guarantee_of, guarantees)),
        tuple(at_least_of(s) if "information" in s.values else distortion_of(s, limit=True) for s in limits),
        objective_of(top.section("objective")) if "objective" in card else None,
        _side(top.section("side_information")) if "side_information" in card else None,
        _robust(top.section("robust")) if "robust" in card else None,
    )


def _many(top: Section, key: str) -> list[Section]:
    values = top.take(key, [])
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise top.error(f"write [[{key}]] with two brackets, once for each", key)
    return [Section(dict(value), (key, k), top.file, top.lines) for k, value in enumerate(values)]


def _robust(s: Section) -> Mismatch:
    balls = [key for key in ("total_variation", "kl_bits", "confidence") if key in s.values]
    if len(balls) != 1:
        raise s.error("[robust] needs exactly one of total_variation, kl_bits and confidence")
    radius = s.number(balls[0])
    if balls == ["total_variation"] and radius > 1:
        raise s.error("a total variation is at most 1", balls[0])
    if balls == ["confidence"]:
        if not 0 < radius < 1:
            raise s.error("a confidence lies strictly between 0 and 1, for example 0.95", "confidence")
        rows = s.integer("rows", None)
        s.done(("confidence", "rows"))
        return Mismatch("confidence", radius, rows)
    s.done(("total_variation", "kl_bits"))
    return Mismatch(balls[0], radius)


def _side(s: Section) -> SideInformation:
    side = SideInformation(s.text("variable"), s.choice("encoder", ENCODERS, "uninformed"))
    s.done(("variable", "encoder"))
    return side
