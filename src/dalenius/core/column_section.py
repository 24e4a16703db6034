"""The sections `[columns.x]` of a problem file: the values of a column, and how they are read."""

from dataclasses import replace
from typing import Any

from dalenius.core.cdf import Cdf
from dalenius.core.numbers import exact, written
from dalenius.core.section import Section
from dalenius.core.source import (
    MISSING,
    Column,
    Grid,
)
from dalenius.errors import InputError

__all__ = ["column_of"]


MOST_CELLS = 1000


DATES = ("year", "month")
GAPS = ("refuse", "category")


def column_of(s: Section) -> Column:
    """The declaration of a column from its section."""
    dates = s.choice("dates", DATES, "") if "dates" in s.values else ""
    column = _alphabet(s)
    if dates and (column.grid is not None or column.quantiles):
        raise s.error("dates are cut into years or months; then values, cuts or groups name them", "dates")
    return replace(column, dates=dates) if dates else column


def _alphabet(s: Section) -> Column:
    kinds = [key for key in ("values", "grid", "cuts", "groups", "quantiles") if key in s.values]
    if len(kinds) != 1 and kinds != ["cuts", "quantiles"]:
        raise s.error(
            f'{s.title} needs one of values = [...] (or a file, or "from-table"), grid = {{...}}, cuts = [...], groups '
            "= {...} and quantiles = K"
        )
    missing = _gaps(s)
    values = s.take("values", None)
    grid = s.section("grid") if "grid" in s.values else None
    if "quantiles" in s.values:
        return _cells(s, missing)
    if "cuts" in s.values or "groups" in s.values:
        return _recoded(s, missing)
    s.done(("values", "grid", "cuts", "groups", "quantiles", "missing"))
    if grid:
        points = Grid(grid.number("low", least=None), grid.number("high", least=None), grid.number("step"))
        grid.done(("low", "high", "step"))
        if points.step <= 0 or points.high < points.low:
            raise s.error("a grid needs step > 0 and high >= low", "grid")
        if (points.high - points.low) / points.step > 10**7:
            raise s.error("a grid of more than ten million points; take a larger step", "grid")
        if missing not in GAPS and exact(missing) not in points.points():
            raise s.error(f"a gap counts as {missing}, which is no point of the grid", "missing")
        return Column(grid=points, missing=missing)
    if isinstance(values, str):
        return Column(values_file=None if values == "from-table" else values, missing=missing)
    if not isinstance(values, list) or not values or not all(isinstance(value, str | int) for value in values):
        raise s.error('values must be a list of values, the name of a file, or "from-table"', "values")
    letters = tuple(str(value) for value in values if not isinstance(value, bool))
    if len(set(letters)) != len(values):
        raise s.error("values lists a value twice (or true/false without quotes)", "values")
    if MISSING in letters and missing == "category":
        letters = tuple(letter for letter in letters if letter != MISSING)
    return Column(values=letters, missing=missing)


def _gaps(s: Section) -> str:
    """What a missing value is: refused, a letter of its own, or on a grid the number that it counts as."""
    if "grid" in s.values and s.values.get("missing", "refuse") not in GAPS:
        return written(s.number("missing", least=None))
    return str(s.choice("missing", GAPS, "refuse"))


def _cells(s: Section, missing: str) -> Column:
    """Cells of equal probability, under a stated cdf or in the table; with the cuts where they were found before."""
    cells = s.integer("quantiles", least=2)
    if cells > MOST_CELLS:
        raise s.error(f"{cells} quantiles are too many to design with; {MOST_CELLS} are the most", "quantiles")
    try:
        stated = Cdf.of(s.take("cdf")) if "cdf" in s.values else None
    except InputError as e:
        raise s.error(str(e), "cdf") from None
    if "cuts" in s.values:
        column = _recoded(s, missing)
        return replace(column, quantiles=cells, cdf=stated)
    s.done(("quantiles", "cdf", "missing"))
    return Column(quantiles=cells, cdf=stated, missing=missing)


def _recoded(s: Section, missing: str) -> Column:
    """Groups of values: of numbers by `cuts`, of any values by `groups`."""
    key = "cuts" if "cuts" in s.values else "groups"
    given: Any = s.take(key)
    labels = s.take("labels", []) if key == "cuts" else []
    s.done(("cuts", "labels", "missing") if key == "cuts" else ("groups", "missing"))
    wrong = not isinstance(given, list if key == "cuts" else dict)
    if wrong or not given:
        sentence = "a list of numbers" if key == "cuts" else '{ "letter" = [values], ... }'
        raise s.error(f"{key} is {sentence}, not {given!r}", key)
    if not isinstance(labels, list) or not all(isinstance(v, str) and v for v in labels):
        raise s.error("labels is a list of names, one for each group", "labels")
    try:
        if key == "cuts":
            column = Column.cut(given, labels, missing=missing)
        else:
            for label, group in given.items():
                if not isinstance(group, list) or not all(type(value) in (str, int) for value in group):
                    raise InputError(f"the group {label!r} must be a list of values")
            column = Column.grouped({k: [str(value) for value in group] for k, group in given.items()}, missing=missing)
    except InputError as e:
        raise s.error(str(e), key) from None
    letters = column.values or ()
    if len(set(letters)) != len(letters) or any(
        not letter.strip() or letter != letter.strip() or letter == MISSING for letter in letters
    ):
        raise s.error(f"the names of the groups must differ, without blanks around them, and not be {MISSING}", key)
    return column
