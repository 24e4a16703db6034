"""What a release of records does not promise, and how it is analysed, in plain sentences with their figures."""

from fractions import Fraction
from math import ceil, log2

from dalenius.core import Design, Independent, Leakage, Problem, Records, TableSource
from dalenius.core.digits import figure
from dalenius.mechanisms.records.evidence import RecordFigures, figures

__all__ = ["held_words", "remarks"]

MIN_CELL = 10
"""Rows below which a share is not told, where the problem file does not say."""
MOST_TOLD = 3
"""Columns that are named with what they are worth."""


def remarks(design: Design) -> tuple[str, ...]:
    """Sentences that travel with a design of form records and its card.

    Parameters
    ----------
    design : Design
        Proved, with a channel of form records.

    Returns
    -------
    tuple of str
        Shares are rounded to whole percent, and not told where they stand for few rows.
    """
    assert isinstance(design.channel, Records)
    found = figures(design)
    rows = int(design.problem.pmf.total)
    source = design.problem.source
    least = source.min_cell if isinstance(source, TableSource) else MIN_CELL
    return (
        _presence(found, rows, least, design.problem.min_multiplicity, bool(design.channel.others)),
        _missing(found, rows, least),
        "The promise is about one released row and this table. It says nothing about all released rows taken together, "
        "and nothing about another table: design the release of another table anew",
        _population(design, rows),
        _analysis(design),
        _columns(found, rows, least),
        *([] if any("with_one_more_bits" in told for told in design.proved) else [_one_more(design, found)]),
    )


def held_words(problem: Problem) -> tuple[str, ...]:
    """What is said of columns that leave as they are and of values that never change."""
    found = []
    if problem.kept:
        many = "leave as they are and count" if len(problem.kept) > 1 else "leaves as it is and counts"
        found.append(f"{', '.join(problem.kept)} {many} as known to everybody: the promise is about the whole row")
    if problem.freeze:
        ways = "from or to" if problem.preserve_marginals else "from"
        found.append(f"No row changes {ways} {', '.join(problem.freeze)}")
    return tuple(found)


def _share(part: Fraction, rows: int, least: int) -> str:
    """A share of so many rows in whole percent; small ones are only said to be small."""
    if not part:
        return "none"
    if part == 1:
        return "all"
    many = part * rows
    few = many < least
    nearly_all = rows - many < least
    if few or nearly_all:
        return "some" if few and nearly_all else f"{'all but ' if nearly_all else ''}fewer than {least:,}"
    return f"{round(100 * part)} %" if part >= Fraction(1, 100) else "less than 1 %"


def _presence(found: RecordFigures, rows: int, least: int, common: int | None, others: bool) -> str:
    once = _share(found.unique, rows, least)
    if others:
        return (
            "Some released records are medians: combinations of values that no row of the table has. All others are "
            f"records of the table. Of its rows, {once} have a record that no other row has"
        )
    if common is not None and common > 1:
        return (
            f"Every released record is one that at least {common:,} rows of the table have. So the release shows "
            f"no combination of values that fewer rows have. Of the rows of the table, {once} have a record that no "
            "other row has: none of them is released as it is"
        )
    return (
        "Every released record is a record of the table, so that the release shows which combinations of values occur. "
        f"Of the rows of the table, {once} have a record that no other row has. Where that matters, say "
        "min_multiplicity, or merge values first"
    )


def _missing(found: RecordFigures, rows: int, least: int) -> str:
    lines = [f"{_share(part, rows, least)} of the rows with {name}" for name, part in found.moved.items()]
    listed = lines[0] if len(lines) == 1 else f"{', '.join(lines[:-1])} and {lines[-1]}"
    return (
        "Whoever knows all released columns of a person in the table can see whether the "
        f"record is missing from the release. On average {listed} are released as another record. No release of "
        "records can hide this"
    )


def _population(design: Design, rows: int) -> str:
    about = (
        f"The figures are about the {rows:,} rows of this table, for an attacker who knows the whole table except who "
        "is who"
    )
    in_bits = (promise for promise in design.problem.guarantees if type(promise) in (Independent, Leakage))
    stated = next(in_bits, None)
    if stated is None:  # a limit of guesses or of a factor says nothing about bits, and the lemma nothing about it
        return about
    values = len(design.problem.pmf.grouped(stated.secret)[0])
    more = figure(log2(1 + (values - 1) / rows) * (1 + 1e-12), "up", 2)  # the float may be short by an ulp or two
    more += " bits more than is stated" if type(stated) is Leakage else f" bits about {', '.join(stated.secret)}"
    return (
        f"{about}. Suppose that the rows are independent draws from a population. Then someone who does not know the "
        f"table learns at most {more}, on average over tables"
    )


def _analysis(design: Design) -> str:
    if design.problem.preserve_marginals:
        return (
            "The whole distribution of the released columns is that of the table: every count, table and regression of "
            "the released columns is right in expectation. Analyse the released table as it is; ordinary intervals "
            "are honest for what the table says"
        )
    return (
        "The distribution of the released columns is not that of the table, and no correction can be made from "
        "the card. Where "
        "analyses must be right in expectation, say preserve_marginals = true"
    )


def _one_more(design: Design, found: RecordFigures) -> str:
    """What one more column of the original is worth; for few rows the kernel proves it instead."""
    secret = ", ".join(next(promise.secret for promise in design.problem.guarantees))
    most = sorted(found.one_more.items(), key=lambda one: -one[1])[:MOST_TOLD]
    words = [f"{name} ({ceil(1000 * bits - 1e-6) / 1000:.3g} bits)" for name, bits in most]
    return (
        f"Whoever also knows a column of the row as it was learns more about {secret} from the released row. The most "
        f"is learnt beside {', '.join(words)}. These figures are averages; they are computed and no part of the proof"
    )


def _columns(found: RecordFigures, rows: int, least: int) -> str:
    lines = [f"{name} {_share(part, rows, least)}" for name, part in found.changed.items()]
    return f"Rows in which an entry changes, by column: {', '.join(lines)}"
