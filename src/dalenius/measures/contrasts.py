r"""Shares within groups, their differences, risk ratios and odds ratios, from a released table.

With q1 = P(v | g1) and q2 = P(v | g2) for a value v and two groups, four means carry everything: the rows of each group
with and without v. Each figure is a quotient t/b of two smooth functions of them, and its interval holds the r that

    (t - r b)^2 <= z^2 Var(t - r b)

does not rule out (Fieller). Where b is known well this is the delta method; where the draws hide how large a group is,
an interval by the variance at the estimate is too short just where the group came out too large. If b is not away from
0 by more than z standard errors, these r have no bound on one side or on both. They are told all the same, and no
estimate: a figure that is left out wherever the draws make b small is told only where they made it large, and then
wrong more often than its interval says. Ratios of counts that are known well are closer to normal on the logarithmic
scale: theirs are the wider of both intervals. Shares are not on that of log odds: what the draws add to a share is as
large whatever the share is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, isnan, log, nan, sqrt

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError, Unsupported
from dalenius.measures.estimation import quantile
from dalenius.measures.moments import Moments, few_rows

__all__ = ["Figure", "compared", "within_groups"]

Floats = npt.NDArray[np.float64]
LEAST = 5
"""Rows that a group or a count must have at least, unless no draw can change it."""
LARGE = 700.0
"""The largest logarithm of a ratio that doubles hold."""
NOBODY = "the release does not say well enough how many rows the groups had: every share and every ratio fits it"


@dataclass(frozen=True)
class Figure:
    """One figure with its interval.

    Parameters
    ----------
    estimate : float
        NaN where the release says no more than the interval.
    low, high : float
        What the release does not rule out; all that is possible, up to an infinite ratio, where it says nothing.
    """

    estimate: float
    low: float
    high: float

    @property
    def whole(self) -> bool:
        """Whether the release says nothing: there is no estimate, and the figure may be anything."""
        return isnan(self.estimate) and (self.low, self.high) in ((0.0, 1.0), (-1.0, 1.0), (0.0, inf))

    def to_json(self) -> dict[str, float | None]:
        """None in the place of an estimate that is not there and of an end that is infinite."""
        ends = {"estimate": self.estimate, "low": self.low, "high": self.high}
        return {name: value if isfinite(value) else None for name, value in ends.items()}


ANYTHING = {
    "share": Figure(nan, 0.0, 1.0),
    "difference": Figure(nan, -1.0, 1.0),
    "ratio": Figure(nan, 0.0, inf),
}
"""What is told where the release says nothing."""


def compared(
    told: Moments, value: Mapping[str, str], groups: Sequence[Mapping[str, str]], *, level: float = 0.95
) -> dict[str, Figure]:
    """The share of a value in two groups, and how the two differ.

    Parameters
    ----------
    told : Moments
        What the release says about all the columns that are named.
    value : mapping
        What is counted, such as ``{"income": "high"}``.
    groups : sequence of two mappings
        The two groups, such as ``[{"sex": "f"}, {"sex": "m"}]``.
    level : float
        Of the intervals.

    Returns
    -------
    dict
        ``share_1``, ``share_2``, ``difference`` (1 minus 2), ``risk_ratio`` and ``odds_ratio`` (1 over 2). Where the
        draws hide how large a group or a count is, an interval without an estimate, open above for a ratio.

    Raises
    ------
    InputError
        The groups are the same, or groups by the value itself.
    MismatchError
        A column or a value that the release does not have.
    Unsupported
        The release does not determine the cells, or says nothing about any of these figures.

    Examples
    --------
    >>> from dalenius.measures.inversion import Factor, Seen
    >>> letters = {"sex": ("f", "m"), "job": ("yes", "no")}
    >>> told = Moments([Factor(letters, letters, dense=np.eye(4))], Seen.of([30, 70, 20, 80]), target="population")
    >>> figures = compared(told, {"job": "yes"}, [{"sex": "f"}, {"sex": "m"}])
    >>> round(figures["difference"].estimate, 6), round(figures["risk_ratio"].estimate, 6)
    (0.1, 1.5)
    """
    if len(groups) != 2 or not value:
        raise InputError("two groups are compared, and a value is counted in them")
    if groups[0] == groups[1] or any(name in group for group in groups for name in value):
        raise InputError(
            "two different groups are compared, by other columns than the one whose value is counted",
            do="Name two values of another column.",
        )
    counted = told.cells.which(value)
    parts = [told.cells.which(group) & part for group in groups for part in (counted, ~counted)]
    theta, covariance = told.means(np.array(parts, dtype=float))
    z = quantile(level)
    rows = np.inf if told.steady(np.array(parts, dtype=float)).all() else told.seen.counting
    sizes = [float(theta[k] + theta[k + 1]) for k in (0, 2)]
    few = []
    out: dict[str, Figure] = {}
    for k in range(2):
        top = np.zeros(4)
        bottom = np.zeros(4)
        top[2 * k] = 1.0
        bottom[2 * k : 2 * k + 2] = 1.0
        found = _share(float(theta[2 * k]), sizes[k], top, bottom, covariance, z, rows)
        few.append(_more(found, sizes[k] * rows, z))
        out[f"share_{k + 1}"] = _within(found, few[k], 0.0)
    with_1, without_1, with_2, without_2 = map(float, theta)
    out |= {"difference": ANYTHING["difference"], "risk_ratio": ANYTHING["ratio"], "odds_ratio": ANYTHING["ratio"]}
    # Of products the gradients tell only where each factor is known: that of s1 s2 is none where both are half of all.
    known = not any(isnan(figure.estimate) for figure in (out["share_1"], out["share_2"]))
    if known:
        apart = _quotient(
            with_1 * without_2 - without_1 * with_2,
            sizes[0] * sizes[1],
            np.array([without_2, -with_2, -without_1, with_1]),
            np.array([sizes[1], sizes[1], sizes[0], sizes[0]]),
            covariance,
            z,
            ANYTHING["difference"],
        )
        out["difference"] = _within(apart, sum(few), -1.0)
    if known and min(with_1, with_2) * rows > LEAST:
        top = np.array([sizes[1], 0.0, with_1, with_1])
        bottom = np.array([with_2, with_2, sizes[0], 0.0])
        out["risk_ratio"] = _ratio(with_1 * sizes[1], with_2 * sizes[0], top, bottom, covariance, z)
    if known and min(with_1, with_2, without_1, without_2) * rows > LEAST:
        top = np.array([without_2, 0.0, 0.0, with_1])
        bottom = np.array([0.0, with_2, without_1, 0.0])
        out["odds_ratio"] = _ratio(with_1 * without_2, without_1 * with_2, top, bottom, covariance, z)
    if all(figure.whole for figure in out.values()):
        raise Unsupported(NOBODY, do="Compare groups with more rows, or ask the owner for a release with less change.")
    return out


def within_groups(
    told: Moments, columns: Sequence[str], given: Sequence[str], *, level: float = 0.95
) -> dict[tuple[str, ...], dict[tuple[str, ...], Figure]]:
    """The shares of the values of some columns within each group of others.

    Parameters
    ----------
    told : Moments
        What the release says about both.
    columns, given : sequence of str
        The columns whose values are counted, and those that make the groups.
    level : float
        Of the intervals.

    Returns
    -------
    dict
        For each group and each combination of values its share; an interval alone where the draws hide the group.

    Raises
    ------
    InputError
        If a column is named twice.
    """
    both = [*given, *columns]
    if twice := [name for name in both if both.count(name) > 1]:
        raise InputError(
            f"the column {twice[0]!r} is named twice: shares are counted of some columns within groups of others",
            do="Name each column once.",
        )
    names = list(told.cells.alphabets)
    shape = tuple(len(alphabet) for alphabet in told.cells.alphabets.values())
    at = [names.index(name) for name in (*given, *columns)]
    order = np.arange(told.cells.many).reshape(shape).transpose(at).reshape(-1)
    groups, values = (_combinations([told.cells.alphabets[n] for n in some]) for some in (given, columns))
    z = quantile(level)
    out: dict[tuple[str, ...], dict[tuple[str, ...], Figure]] = {}
    for k, group in enumerate(groups):
        places = order[k * len(values) : (k + 1) * len(values)]
        indicators = np.zeros((len(values), told.cells.many))
        indicators[np.arange(len(values)), places] = 1.0
        theta, covariance = told.means(indicators)
        size = float(theta.sum())
        rows = np.inf if told.steady(indicators).all() else told.seen.counting
        whole = np.ones(len(values))
        found = [
            _share(float(count), size, own, whole, covariance, z, rows)
            for count, own in zip(theta, np.eye(len(values)), strict=True)
        ]
        out[group] = {
            value: _within(figure, _more(figure, size * rows, z), 0.0)
            for value, figure in zip(values, found, strict=True)
        }
    return out


def _combinations(alphabets: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    from itertools import product

    return list(product(*alphabets))


def _share(t: float, b: float, top: Floats, bottom: Floats, covariance: Floats, z: float, rows: float) -> Figure:
    """The share t/b of a group; anything where the group has a handful of rows."""
    anything = ANYTHING["share"]
    return _quotient(t, b, top, bottom, covariance, z, anything) if b * rows > LEAST else anything


def _more(figure: Figure, rows: float, z: float) -> float:
    """What is added on both sides of a share of so many rows that rests on a handful of them."""
    return 0.0 if isnan(figure.estimate) else float(few_rows(figure.estimate, rows, z))


def _quotient(
    t: float, b: float, top: Floats, bottom: Floats, covariance: Floats, z: float, possible: Figure
) -> Figure:
    """t/b with the r that t - r b does not rule out, from the gradients of both; without a bound, those `possible`."""
    of_top, of_bottom = (max(float(side @ covariance @ side), 0.0) for side in (top, bottom))
    of_both = float(top @ covariance @ bottom)
    # (t - r b)^2 <= z^2 Var(t - r b) is clear r^2 - 2 both r + ... <= 0, with roots (both -+ root) / clear.
    clear = b * b - z * z * of_bottom
    both = t * b - z * z * of_both
    less = z * z * max(of_top * of_bottom - of_both**2, 0.0)
    root = z * sqrt(max(b * b * of_top - 2 * t * b * of_both + t * t * of_bottom - less, 0.0))
    if b > 0 and clear > 0:
        return Figure(t / b, min((both - root) / clear, t / b), max((both + root) / clear, t / b))
    if b > 0 and clear < 0 < root:  # all r but those between the roots
        below = (both + root) / clear
        above = (both - root) / clear
        if below < possible.low <= above <= possible.high:
            return Figure(nan, above, possible.high)
        if possible.low <= below <= possible.high < above:
            return Figure(nan, possible.low, below)
    return possible


def _within(figure: Figure, more: float, least: float) -> Figure:
    """A share or a difference, wider by `more`, cut to what is possible; what lies beyond is still in it."""
    value = figure.estimate
    low = max(figure.low - more, least)
    high = min(figure.high + more, 1.0)
    return Figure(value, low, high) if isnan(value) else Figure(value, min(low, value), max(high, value))


def _ratio(t: float, b: float, top: Floats, bottom: Floats, covariance: Floats, z: float) -> Figure:
    """A ratio of counts above 0, with the wider of the intervals on both scales."""
    found = _quotient(t, b, top, bottom, covariance, z, ANYTHING["ratio"])
    if isnan(found.estimate):
        return found
    slope = top / t - bottom / b
    half = z * sqrt(max(float(slope @ covariance @ slope), 0.0))
    low, high = (exp(min(log(t / b) + sign * half, LARGE)) for sign in (-1, 1))
    return Figure(found.estimate, max(min(found.low, low), 0.0), max(found.high, high))
