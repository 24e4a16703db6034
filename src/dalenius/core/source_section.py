"""The section `[source]` of a problem file: where the records are, or their law."""

from fractions import Fraction
from typing import Any

from dalenius.core.numbers import exact
from dalenius.core.section import Section
from dalenius.core.source import (
    ConditionallyIid,
    Dialect,
    MarkovSource,
    PmfSource,
    Source,
    TableSource,
    is_address,
)
from dalenius.errors import InputError

__all__ = ["source_of"]

DIALECT = ("delimiter", "encoding", "decimal", "missing_words")


def source_of(s: Section) -> Source:
    """A table, a query, a law in a file, or the model of one."""
    kinds = [k for k in ("table", "pmf", "conditionally_iid", "markov") if k in s.values]
    if len(kinds) != 1:
        raise s.error("[source] needs exactly one of `table`, `pmf`, `conditionally_iid` and `markov`")
    source: Source
    if kinds == ["pmf"]:
        source = PmfSource(s.text("pmf"))
        s.done(("pmf",))
    elif kinds == ["conditionally_iid"]:
        model = s.section("conditionally_iid")
        source = ConditionallyIid(model.text("hidden"), model.text("prior"), model.text("kernel"), model.integer("n"))
        model.done(("hidden", "prior", "kernel", "n"))
        s.done(("conditionally_iid",))
    elif kinds == ["markov"]:
        source = _markov(s.section("markov"))
        s.done(("markov",))
    else:
        source = TableSource(
            s.text("table"),
            unit=s.text("unit", "row"),
            max_rows=s.integer("max_rows", None),
            prior=s.text("prior", None),
            weights=s.text("weights", None),
            min_cell=s.integer("min_cell", 10),
            dialect=_dialect(s),
            query=s.text("query", None),
            title=s.text("title", None),
            owner=s.text("owner", None),
            row_number=s.text("row_number", None),
        )
        if source.query is not None and not is_address(source.table):
            raise s.error(
                "a query needs the address of a database as its table, postgresql://... or sqlite:...", "query"
            )
        if source.max_rows is not None and source.unit == "row":
            raise s.error("max_rows needs unit = the column that names the person", "max_rows")
        known = ("table", "query", "unit", "max_rows", "prior", "weights", "min_cell", "title", "owner", "row_number")
        s.done((*known, *DIALECT))
    return source


def _markov(s: Section) -> MarkovSource:
    """initial and transition are lists of numbers; letters are 0, 1, ... unless they are named."""

    def numbers(values: Any, key: str) -> tuple[Fraction, ...]:
        if not isinstance(values, list) or not values:
            raise s.error(f"{key!r} is a list of probabilities", key)
        try:
            return tuple(exact(value, repr(key)) for value in values)
        except InputError as e:
            raise s.error(str(e), key) from None

    initial = numbers(s.take("initial"), "initial")
    rows = s.take("transition")
    if not isinstance(rows, list) or not rows:
        raise s.error("'transition' is a list of rows, one for each value", "transition")
    letters = s.names("letters", tuple(map(str, range(len(initial)))))
    source = MarkovSource(letters, initial, tuple(numbers(row, "transition") for row in rows), s.integer("n", least=2))
    s.done(("letters", "initial", "transition", "n"))
    return source


def _dialect(s: Section) -> Dialect:
    """How a text file is written, where the file of the problem says so."""
    told = [s.text("delimiter", None), s.text("encoding", None), s.text("decimal", "."), s.texts("missing_words")]
    try:
        return Dialect(*told)
    except InputError as e:
        raise s.error(str(e), str(e).split("'")[1]) from None
