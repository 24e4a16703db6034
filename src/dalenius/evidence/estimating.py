"""From a card and a released table to estimates of the original frequencies; from a card alone to their error."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from dalenius.core import MISSING, Column, Kernel
from dalenius.errors import InputError, MismatchError, Unsupported, advising
from dalenius.evidence.cards import Card, cards_of
from dalenius.evidence.questions import each_combination, terms_as_vector
from dalenius.measures import (
    Estimate,
    Factor,
    Seen,
    as_it_is,
    estimate_law,
    estimate_queries,
    expected_error,
    factors_of,
)
from dalenius.measures.estimation import quantile
from dalenius.measures.moments import Moments
from dalenius.tables import encode, open_table, read_told, weights_of

__all__ = ["answers", "counted", "described", "digests", "estimate", "forecast", "moments"]

CELLS = 1 << 22
QUERIES = 512


def _wanted(cards: Sequence[Card], columns: Sequence[str] | None) -> tuple[list[Factor], list[str]]:
    """The matrices that say something about the wanted columns, and the wanted columns that were kept as they are."""
    if cards[0].channel is None:  # the released columns as they are; what they may be off by is not in the factors
        drawn = cards[0].columns
        return [as_it_is(n, drawn[n]) for n in (drawn if columns is None else columns) if n in drawn], []
    factors = [
        f
        for card in cards
        if card.channel is not None
        for channel in _read(card.channel, columns)
        for f in factors_of(channel, card.kept)
    ]
    if columns is None:
        return factors, []
    there = {n for factor in factors for n in factor.inputs}
    plain = [column for column in columns if column not in there and any(column in card.kept for card in cards)]
    return [f for f in factors if set(f.inputs) & set(columns)], plain


def _released(cards: Sequence[Card]) -> list[str]:
    """The columns that cards speak of."""
    found = [name for factor in _wanted(cards, None)[0] for name in factor.inputs]
    return [*dict.fromkeys([*found, *(name for card in cards for name in card.kept)])]


def _read(channel: Kernel, columns: Sequence[str] | None) -> Sequence[Kernel]:
    """The part that says all about the wanted columns, where strata draw each column by itself and one is wanted."""
    parts = channel.drawn_apart if channel.split_by else ()
    read = [set(part.inputs) - set(part.split_by) for part in parts]
    wanted = [part for part, names in zip(parts, read, strict=True) if names & set(columns or names)]
    return wanted if len(wanted) == 1 else [channel]


def counted(
    cards: Any, released: Any, *, columns: Sequence[str] | None = None, weights: str | None = None
) -> tuple[list[Factor], Seen, str]:
    """The released rows counted in the letters of the cards, with the matrices that drew them.

    Each row counts by its weight: of the column `weights`, or of the one that a card names. The word at the end is one
    of `measures.moments.PRESERVED`: whether released shares are right as they stand.

    Parameters
    ----------
    cards : path, document or Kernel, or several
        What drew the released columns.
    released : path, Table or data frame
        The released rows.
    columns : sequence of str, optional
        The wanted columns; all unless said.
    weights : str, optional
        A column of weights, in place of the one that a card names.

    Returns
    -------
    list of Factor, Seen, str
        The matrices, the counts, and what a reader must be told.
    """
    opened = cards_of(cards)
    table = open_table(released)
    weights = weights or next((card.weights for card in opened if card.weights), None)
    factors, plain = _wanted(opened, columns)
    declared = {
        name: Column(
            values=tuple(letter for letter in letters if letter != MISSING),
            missing="category" if MISSING in letters else "refuse",
        )
        for factor in factors
        for name, letters in factor.output.items()
    }
    declared |= dict.fromkeys(plain, Column(missing="category"))
    if absent := [name for name in columns or () if name not in (there := _released(opened))]:
        raise MismatchError(
            f"The cards do not release {' or '.join(absent)}.",
            do=f"Name columns that they release: {', '.join(there)}.",
        )
    shape = [f.seen for f in factors]
    _few_enough(max(prod(shape), prod(f.letters for f in factors)))
    with advising("value-not-listed", "Give the released table that belongs to the card."):
        coded = encode(table, declared, list(declared))
    known = coded.trimmed().alphabets
    coded = replace(coded, alphabets={n: known[n] if n in plain else a for n, a in coded.alphabets.items()})
    for name in plain:
        factors.append(as_it_is(name, coded.alphabets[name]))
    shape = [f.seen for f in factors]
    _few_enough(max(prod(shape), prod(f.letters for f in factors)))
    # Beside columns that leave as they are the shares of the others are preserved, and of rows that count alike.
    read = opened[0].channel.inputs if opened[0].channel is not None else ()
    alone = len(opened) == 1 and weights is None and not plain and not set(opened[0].kept) & set(read)
    preserved = opened[0].preserved if alone else ""
    if preserved and opened[0].rows not in (None, coded.rows):
        # What the design preserves are the shares of all its rows; a part of them is corrected like any other table.
        if preserved == "withheld":
            raise MismatchError(
                f"the release has {opened[0].rows:,} rows and this table {coded.rows:,}: without the recipe nothing is "
                "known about a part of a release; use the whole table"
            )
        preserved = ""
    if weights is None:
        return factors, Seen.of(coded.cells(list(declared)).reshape(shape)), preserved
    w = weights_of(table, weights)
    sums, squares = (coded.cells(list(declared), value).reshape(shape) for value in (w, w**2))
    return factors, Seen(sums, squares, coded.rows), preserved


def _few_enough(combinations: int) -> None:
    if combinations > CELLS:
        raise Unsupported(f"{combinations:,} combinations are more than {CELLS:,}; estimate fewer columns at once")


def moments(
    cards: Any,
    released: Any,
    columns: Sequence[str],
    *,
    target: str = "table",
    weights: str | None = None,
) -> Moments:
    """What a released table says about some columns together: means of their functions, with covariances.

    Parameters
    ----------
    cards : path, design or several
        What drew the table.
    released : path or table
        The released table.
    columns : sequence of str
        The original columns, each once.
    target : str
        "table" or "population".
    weights : str, optional
        A kept column of survey weights, where a card does not name it.

    Returns
    -------
    Moments
    """
    wanted = list(dict.fromkeys(columns))
    factors, seen, preserved = counted(cards, released, columns=wanted, weights=weights)
    return Moments(factors, seen, wanted, target=target, preserved=preserved)


def described(cards: Any, weights: str | None = None) -> tuple[list[str], str | None]:
    """The columns that leave as they are, and the column of weights that rows are counted by; None where there is none.

    Parameters
    ----------
    cards : path, document or Kernel, or several
        What drew the released columns.
    weights : str, optional
        A column of weights, in place of the one that a card names.

    Returns
    -------
    list of str, str or None
        Both.

    >>> described({"inputs": {"X": ["a", "b"]}, "output": {"X": ["a", "b"]}, "form": "pram", "q": ["3/4", "3/4"]})
    ([], None)
    """
    opened = cards_of(cards)
    kept = list(dict.fromkeys(n for card in opened for n in card.kept))
    return kept, weights or next((card.weights for card in opened if card.weights), None)


def digests(files: Sequence[str | Path]) -> list[str]:
    """The SHA-256 of each design that some cards or designs stand for; of a bare channel there is none.

    Parameters
    ----------
    files : sequence of str or Path
        Cards or designs.

    Returns
    -------
    list of str
        In hexadecimal.
    """
    found = []
    for file in files:
        document = read_told(file)
        if not isinstance(document, dict):
            continue
        if "joint" in document:
            found.append(hashlib.sha256(Path(file).read_bytes()).hexdigest())
        elif isinstance(document.get("proof"), dict) and "digest" in document["proof"]:
            found.append(str(document["proof"]["digest"]))
    return found


def estimate(
    cards: Any,
    released: Any,
    *,
    columns: Sequence[str] | None = None,
    method: str = "auto",
    target: str = "table",
    level: float = 0.95,
    weights: str | None = None,
) -> Estimate:
    """Estimate the frequencies of the original columns from a released table and its card, or several cards.

    `method` is "inverse" (unbiased), "mle" (most likely law), "regularised" (shrunk, for many letters) or "auto", the
    first of these unless the matrix is singular or nearly so, where it is the second; `target` says
    whether the intervals are for the frequencies of the table itself or of the population it was drawn from.

    Parameters
    ----------
    cards : path, document or Kernel, or several
        What drew the released columns.
    released : path, Table or data frame
        The released rows.
    columns : sequence of str, optional
        The wanted columns; all unless said.
    method : str
        "auto", or the name of an estimator.
    target : {"table", "population"}
        Whose shares.
    level : float
        Of the intervals.
    weights : str, optional
        A column of weights, in place of the one that a card names.

    Returns
    -------
    Estimate
        Shares with intervals.

    Raises
    ------
    Unsupported
        If the release does not determine the wanted columns.
    MismatchError
        If the table is not one that the cards describe.

    Examples
    --------
    >>> import pyarrow as pa
    >>> card = {"inputs": {"X": ["a", "b"]}, "output": {"X": ["a", "b"]}, "form": "pram", "q": ["3/4", "3/4"]}
    >>> found = estimate(card, pa.table({"X": ["a"] * 60 + ["b"] * 40}))
    >>> found.estimate.round(6).tolist(), found.low.round(3).tolist()
    ([0.7, 0.3], [0.53, 0.13])
    """
    factors, seen, preserved = counted(cards, released, columns=columns, weights=weights)
    return estimate_law(factors, seen, columns=columns, method=method, target=target, level=level, preserved=preserved)


def answers(
    cards: Any,
    released: Any,
    queries: Mapping[str, Any],
    *,
    target: str = "table",
    level: float = 0.95,
    weights: str | None = None,
) -> dict[str, dict[str, Any]]:
    """Unbiased answers to linear queries, written as for `forecast`, with standard errors and intervals.

    Parameters
    ----------
    cards : path, document or Kernel, or several
        What drew the released columns.
    released : path, Table or data frame
        The released rows.
    queries : mapping
        A name and the coefficients of each query.
    target : {"table", "population"}
        Whose shares.
    level : float
        Of the intervals.
    weights : str, optional
        A column of weights, in place of the one that a card names.

    Returns
    -------
    dict
        For each query its estimate, standard error and interval.

    >>> import pyarrow as pa
    >>> card = {"inputs": {"X": ["a", "b"]}, "output": {"X": ["a", "b"]}, "form": "pram", "q": ["3/4", "3/4"]}
    >>> found = answers(card, pa.table({"X": ["a"] * 60 + ["b"] * 40}), {"a": [{"X": "a", "weight": 1}]})
    >>> round(found["a"]["estimate"], 6)
    0.7
    """
    named = {
        n
        for terms in queries.values()
        if isinstance(terms, list)
        for term in terms
        if isinstance(term, dict)
        for n in term
    }
    opened = cards_of(cards)
    inputs = [n for card in opened for n in (card.channel.inputs if card.channel else card.columns)]
    if opened[0].channel is None:
        inputs = [n for n in inputs if n in named]
    kept = [n for card in opened for n in card.kept if n in named and n not in inputs]
    factors, seen, preserved = counted(cards, released, columns=[*inputs, *dict.fromkeys(kept)], weights=weights)
    alphabets = {n: letters for factor in factors for n, letters in factor.inputs.items()}
    vectors = {str(name): terms_as_vector(str(name), terms, alphabets) for name, terms in queries.items()}
    told = Moments(factors, seen, target=target, preserved=preserved)
    if told.preserved:
        return {name: _as_released(told, vector, level) for name, vector in vectors.items()}
    return estimate_queries(factors, seen, vectors, target=target, level=level)


def _as_released(told: Moments, vector: Any, level: float) -> dict[str, Any]:
    """The answer to one query where released shares are right as they stand."""
    value, variance = told.means(vector.reshape(1, -1))
    error = float(max(variance[0, 0], 0.0) ** 0.5)
    z, rows = quantile(level), told.seen.counting
    span = float(vector.max() - vector.min())
    # Variances that amount to a handful of rows are not believed, unless no draw can change the answer.
    few = (
        span * z * z / 2 / rows
        if (error * rows) ** 2 < 30 * span**2 and not told.steady(vector.reshape(1, -1))[0]
        else 0.0
    )
    half = z * error + few
    ends = {"low": float(value[0]) - half, "high": float(value[0]) + half}
    return {"estimate": float(value[0]), **ends, "standard_error": error, "exact": False, "narrow": False}


def forecast(
    cards: Any,
    rows: int,
    *,
    queries: Any = None,
    columns: Sequence[str] | None = None,
    target: str = "table",
) -> dict[str, dict[str, float]]:
    """Standard errors of linear queries before anything is released: at worst, for uniform data, for the design's data.

    `queries` maps names to lists of terms, `{"share of a or b": [{"X": "a", "weight": 1}, {"X": "b", "weight": 1}]}`; a
    column that a term does not name may be anything. Without queries: the frequency of each outcome.

    Parameters
    ----------
    cards : path, document or Kernel, or several
        What drew the released columns.
    rows : int
        That will be released.
    queries : mapping, optional
        A name and the coefficients of each; without, the share of every outcome.
    columns : sequence of str, optional
        The wanted columns; all unless said.
    target : {"table", "population"}
        Whose shares.

    Returns
    -------
    dict
        For each query its standard errors.

    >>> card = {"inputs": {"X": ["a", "b"]}, "output": {"X": ["a", "b"]}, "form": "pram", "q": ["3/4", "3/4"]}
    >>> round(forecast(card, 300)["X=a"]["worst"], 6)
    0.05
    """
    opened = cards_of(cards)
    if opened[0].channel is None:
        raise Unsupported(
            "a release of records has the errors of any sample of so many rows, and at most those",
            do="Leave out --rows, and estimate from the released table itself.",
        )
    factors, plain = _wanted(opened, columns)
    if plain or not factors:
        raise InputError(
            f"{(plain or list(columns or ()))[0]!r} is not perturbed, so there is no error to expect",
            do="Name columns that were changed.",
        )
    alphabets = {n: letters for factor in factors for n, letters in factor.inputs.items()}
    wanted = list(alphabets) if columns is None else list(columns)
    if unknown := [n for n in wanted if n not in alphabets]:
        raise MismatchError(f"no column {unknown[0]!r} was perturbed; there are {', '.join(map(repr, alphabets))}")
    sizes = [len(letters) for letters in alphabets.values()]
    if prod(sizes) > CELLS:
        raise Unsupported(f"more than {CELLS:,} combinations; ask about fewer columns")
    given = queries is not None
    if not given:
        if prod(len(alphabets[n]) for n in wanted) > QUERIES:
            raise Unsupported(f"more than {QUERIES} outcomes; say which queries matter")
        queries = each_combination({n: alphabets[n] for n in wanted})
    vectors = {str(name): terms_as_vector(str(name), terms, alphabets) for name, terms in dict(queries).items()}
    prior = None
    if len(opened) == 1 and opened[0].joint is not None and set(alphabets) <= set(opened[0].joint.variables):
        law = opened[0].joint.marginal(list(alphabets))
        prior = np.zeros(sizes)
        prior[tuple(law.support.T)] = [int(weight) / law.total for weight in law.weights]
    if given:
        return expected_error(factors, rows, vectors, target=target, prior=prior)
    out: dict[str, dict[str, float]] = {}
    for name, c in vectors.items():  # outcomes that the released letters do not determine are left out
        with suppress(Unsupported):
            out |= expected_error(factors, rows, {name: c}, target=target, prior=prior)
    if not out:
        raise Unsupported(
            "the recipe changes so much that no share can be found",
            do="Estimate fewer columns (--columns), or ask the owner for a recipe that changes less.",
        )
    return out
