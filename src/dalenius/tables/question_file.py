"""The keys of `query.toml` that ask something of a table; read strictly, every error with its line.

query = "count"                     # sum, mean, histogram, quantile
column = "age"                      # or several; a count may do without
where = "region == 'north'"         # which records count
unit = "person"                     # the column that names a person; with several rows each, also max_rows
noise = "discrete-gaussian"         # discrete-laplace, geometric, randomised-response, exponential, { table = "f" }
parameter = 25                      # variance or scale in the unit of the answer; ratio; probability; rate
grid = 1                            # the answer is a multiple of it
"""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius.core.channel import Channel
from dalenius.core.column_section import column_of
from dalenius.core.condition import condition
from dalenius.core.numbers import exact
from dalenius.core.problem_file import read_toml
from dalenius.core.query import Interval
from dalenius.core.question import DISCRETE, DRAWN, KINDS_ASKED, LEVEL, Question
from dalenius.core.section import Section
from dalenius.core.source import Column
from dalenius.errors import InputError
from dalenius.tables.documents import read_text
from dalenius.tables.query_file import QueryFile, noise_table

__all__ = ["asks_a_table", "read_question"]

KEYS = (
    "query",
    "column",
    "where",
    "unit",
    "max_rows",
    "records",
    "letters",
    "letter",
    "quantiles",
    "noise",
    "parameter",
    "grid",
    "level",
    "columns",
)
ONLY_HERE = {"column", "where", "unit", "max_rows", "quantiles", "grid", "level", "columns"}


def asks_a_table(path: str | Path) -> bool:
    """Whether a query file asks something of a table, or has noise that can be drawn for one."""
    values = read_toml(read_text(path, "query file"), Path(path).name)
    return bool(ONLY_HERE & set(values)) or values.get("noise") in DISCRETE


def read_question(path: str | Path, *, parameter: Fraction | None = None) -> Question:
    """The question of a query file.

    Parameters
    ----------
    path : str or Path
        The file.
    parameter : Fraction, optional
        Stands in for one that the file leaves out, as a file to be calibrated may.

    Returns
    -------
    Question

    Raises
    ------
    InputError
        With the line that is wrong.
    """
    path = Path(path)
    top = QueryFile.opened(path)
    kind = top.choice("query", KINDS_ASKED)
    columns = top.names("column", ())
    where = top.text("where", None)
    noise, table = _noise(top)
    given = top.number("parameter", Fraction(0) if table is not None else parameter, least=None)
    if given is None:
        raise top.error(f"the query file lacks the key 'parameter', the {_PARAMETER[noise]} of the noise", "noise")
    unit = top.text("unit", None)
    max_rows = top.integer("max_rows", None)
    unit = None if unit == "row" else unit  # as in a problem file: each row is somebody by itself
    between, declared = _letters(top, kind, columns)
    letter = top.take("letter", None)
    shares = tuple(_share(top, value) for value in top.take("quantiles", []) or [])
    grid = top.number("grid", None, least=None)
    level = top.number("level", LEVEL)
    records = top.integer("records", None)
    top.done(KEYS)
    try:
        return Question(
            kind,
            columns,
            noise,
            given,
            grid=grid,
            where=None if where is None else condition(where),
            where_text=where,
            letter=None if letter is None else str(letter),
            between=between,
            declared=declared,
            shares=shares,
            unit=unit,
            max_rows=max_rows,
            records=records,
            level=level,
            table=table,
        )
    except InputError as e:
        raise top.error(str(e), _culprit(str(e))) from None


_PARAMETER = {
    "discrete-laplace": "scale",
    "discrete-gaussian": "variance",
    "geometric": "ratio",
    "randomised-response": "probability of another value",
    "exponential": "rate",
}


def _noise(top: Section) -> tuple[str, Channel | None]:
    """The name of the noise, or the table that { table = "file" } names beside the query file."""
    if not isinstance(top.values.get("noise"), dict):
        return top.choice("noise", [name for name in DRAWN if name != "table"]), None
    named = QueryFile(dict(top.take("noise")), ("noise",), top.file, top.lines)
    file = named.text("table")
    named.done(("table",))
    assert top.file is not None
    return "table", noise_table(top.file.parent / file)


def _culprit(message: str) -> str:
    """The key that a refusal is about, for its line."""
    first = message.split()[0].rstrip(":")
    return first if first in KEYS else "query"


def _letters(top: QueryFile, kind: str, columns: tuple[str, ...]) -> tuple[Interval | None, dict[str, Column]]:
    """The ends of numbers, or the values of columns: from `letters` for one column, from [columns.*] for several."""
    sections = top.section("columns") if "columns" in top.values else None
    declared = {name: column_of(sections.section(name)) for name in list(sections.values)} if sections else {}
    top.values.pop("columns", None)
    unused = [name for name in declared if name not in columns]
    if unused:
        raise top.error(f"[columns.{unused[0]}] declares a column that is not asked about", "columns", unused[0])
    value = top.take("letters", None)
    if value is None:
        return None, declared
    if isinstance(value, dict):
        if kind not in ("sum", "mean"):
            raise top.error(f"a {kind} has a list of 'letters'; ends are for sums and means", "letters")
        return top.interval(value), declared
    if not isinstance(value, list) or not value or not all(_is_letter(v) for v in value):
        raise top.error("'letters' is a list of texts or numbers, or { low = ..., high = ... }", "letters")
    if len(columns) != 1 or declared:
        raise top.error("'letters' is for one column; say values in [columns.NAME] for each of several", "letters")
    words = tuple(str(v) for v in value)
    if len(set(words)) != len(words):
        raise top.error("'letters' lists a value twice", "letters")
    return None, {columns[0]: Column(values=words)}


def _is_letter(value: Any) -> bool:
    return isinstance(value, str | int | Decimal) and not isinstance(value, bool) and value != ""


def _share(top: Section, value: Any) -> Fraction:
    try:
        return exact(value, "a share of quantiles")
    except InputError as e:
        raise top.error(str(e), "quantiles") from None
