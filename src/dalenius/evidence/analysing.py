"""Analyses of a released table with its card: shares within groups, comparisons of groups, regressions."""

from collections.abc import Mapping, Sequence
from typing import Any

from dalenius.evidence.estimating import moments
from dalenius.measures.contrasts import Figure, compared, within_groups
from dalenius.measures.regression import Regression, regressed

__all__ = ["compare", "regress", "shares_within"]


def shares_within(
    cards: Any,
    released: Any,
    columns: Sequence[str],
    given: Sequence[str],
    *,
    target: str = "table",
    level: float = 0.95,
    weights: str | None = None,
) -> dict[tuple[str, ...], dict[tuple[str, ...], Figure]]:
    """Shares of the values of some columns within each group of others.

    Parameters
    ----------
    cards, released
        What drew the table, and the released table.
    columns, given : sequence of str
        The columns whose values are counted, and those that make the groups.
    target : str
        "table" or "population".
    level : float
        Of the intervals.
    weights : str, optional
        A kept column of survey weights, where a card does not name it.

    Returns
    -------
    dict
        For each group and each combination of values a `Figure`, without an estimate where the draws hide the group.

    Examples
    --------
    >>> import pyarrow as pa
    >>> card = {"inputs": {"X": ["a", "b"]}, "output": {"X": ["a", "b"]}, "form": "pram", "q": ["3/4", "3/4"]}
    >>> table = pa.table({"X": ["a"] * 60 + ["b"] * 40})
    >>> round(shares_within(card, table, ["X"], [])[()][("a",)].estimate, 6)
    0.7
    """
    told = moments(cards, released, [*given, *columns], target=target, weights=weights)
    return within_groups(told, columns, given, level=level)


def compare(
    cards: Any,
    released: Any,
    value: Mapping[str, str],
    groups: Sequence[Mapping[str, str]],
    *,
    target: str = "table",
    level: float = 0.95,
    weights: str | None = None,
) -> dict[str, Figure]:
    """The share of a value in two groups, their difference, risk ratio and odds ratio.

    Parameters
    ----------
    cards, released
        What drew the table, and the released table.
    value : mapping
        What is counted, such as ``{"income": "high"}``.
    groups : sequence of two mappings
        Such as ``[{"sex": "f"}, {"sex": "m"}]``.
    target, level, weights
        As for `shares_within`.

    Returns
    -------
    dict
        ``share_1``, ``share_2``, ``difference``, ``risk_ratio`` and ``odds_ratio``, each a `Figure`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cards = [
    ...     {"inputs": {name: ["a", "b"]}, "output": {name: ["a", "b"]}, "form": "pram", "q": ["3/4", "3/4"]}
    ...     for name in ("X", "Z")
    ... ]
    >>> table = pa.table({"X": ["a"] * 60 + ["b"] * 40, "Z": ["a", "b"] * 50})
    >>> round(compare(cards, table, {"X": "a"}, [{"Z": "a"}, {"Z": "b"}])["difference"].estimate, 6)
    0.0
    """
    named = [*value, *(name for group in groups for name in group)]
    told = moments(cards, released, named, target=target, weights=weights)
    return compared(told, value, groups, level=level)


def regress(
    cards: Any,
    released: Any,
    outcome: str,
    on: Sequence[str],
    *,
    value: str | None = None,
    numbers: Sequence[str] = (),
    target: str = "table",
    level: float = 0.95,
    weights: str | None = None,
) -> Regression:
    """A linear regression, or the logistic one of a value, on the original columns behind a released table.

    Parameters
    ----------
    cards, released
        What drew the table, and the released table.
    outcome : str
        The column that is explained.
    on : sequence of str
        The columns that explain it: one coefficient for each value but the first, against the first.
    value : str, optional
        Logistic: the log odds of this value of the outcome. Without it the outcome has numbers for values.
    numbers : sequence of str
        Those of `on` that enter as the numbers that their values are.
    target, level, weights
        As for `shares_within`.

    Returns
    -------
    Regression

    Examples
    --------
    >>> import pyarrow as pa
    >>> cards = [
    ...     {"inputs": {name: ["a", "b"]}, "output": {name: ["a", "b"]}, "form": "pram", "q": ["3/4", "3/4"]}
    ...     for name in ("X", "Z")
    ... ]
    >>> table = pa.table({"X": ["a"] * 60 + ["b"] * 40, "Z": ["a", "b"] * 50})
    >>> sorted(regress(cards, table, "X", ["Z"], value="a").coefficients)
    ['(intercept)', 'Z = b']
    """
    told = moments(cards, released, [outcome, *on], target=target, weights=weights)
    return regressed(told, outcome, on, value=value, numbers=numbers, level=level)
