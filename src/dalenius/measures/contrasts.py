r"""Shares within groups, their differences, risk ratios and odds ratios, from a released table.

With q1 = P(v | g1) and q2 = P(v | g2) for a value v and two groups, four means carry everything: the rows of each group
with and without v. Each figure is a quotient t/b of two smooth functions of them, and its interval holds the r that

    (t - r b)^2 <= z^2 Var(t - r b)

does not rule out (Fieller). Where b is known well this is the delta method; where the draws hide how large a group is,
an interval by the variance at the estimate is too short just where the group came out too large. The r are bounded if b
is away from 0 by more than z standard errors; otherwise the figure is left out. Ratios of counts that are known well
are closer to normal on the logarithmic scale: theirs are the wider of both intervals. Shares are not on that of log
odds: what the draws add to a share is as large whatever the share is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError, Unsupported
from dalenius.measures.estimation import quantile
from dalenius.measures.moments import Moments, few_rows

__all__ = ["Figure", "compared", "within_groups"]

Floats = npt.NDArray[np.float64]
LEAST = 5
"""Rows that a group or a count must have at least, unless no draw can change it."""
NOBODY = "the release does not say well enough how many rows the group {} had, so that its shares cannot be known"


@dataclass(frozen=True)
class Figure:
    """One figure with its interval."""

    estimate: float
    low: float
    high: float

    def to_json(self) -> dict[str, float]:
        return {"estimate": self.estimate, "low": self.low, "high": self.high}


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
        ``share_1``, ``share_2``, ``difference`` (1 minus 2), ``risk_ratio`` and ``odds_ratio`` (1 over 2). A ratio is
        left out where a count in it is too uncertain.

    Raises
    ------
    MismatchError
        A column or a value that the release does not have.
    Unsupported
        The release does not determine the cells, or a group is too small.

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
    counted = told.cells.which(value)
    parts = [told.cells.which(group) & part for group in groups for part in (counted, ~counted)]
    theta, covariance = told.means(np.array(parts, dtype=float))
    z = quantile(level)
    rows = np.inf if told.steady(np.array(parts, dtype=float)).all() else told.seen.counting
    sizes = [float(theta[k] + theta[k + 1]) for k in (0, 2)]
    few = []
    out: dict[str, Figure] = {}
    for k, group in enumerate(groups):
        top = np.zeros(4)
        bottom = np.zeros(4)
        top[2 * k] = 1.0
        bottom[2 * k : 2 * k + 2] = 1.0
        found = (
            _quotient(float(theta[2 * k]), sizes[k], top, bottom, covariance, z) if sizes[k] * rows > LEAST else None
        )
        if found is None:
            raise Unsupported(
                NOBODY.format(", ".join(f"{n} = {v}" for n, v in group.items())),
                do="Compare groups with more rows, or ask the owner for a release with less change.",
            )
        few.append(float(few_rows(found.estimate, sizes[k] * rows, z)))
        out[f"share_{k + 1}"] = _within(found, few[k], 0.0)
    with_1, without_1, with_2, without_2 = map(float, theta)
    apart = _quotient(
        with_1 * without_2 - without_1 * with_2,
        sizes[0] * sizes[1],
        np.array([without_2, -with_2, -without_1, with_1]),
        np.array([sizes[1], sizes[1], sizes[0], sizes[0]]),
        covariance,
        z,
    )
    if apart is not None:
        out["difference"] = _within(apart, sum(few), -1.0)
    if min(with_1, with_2) * rows > LEAST:
        top = np.array([sizes[1], 0.0, with_1, with_1])
        bottom = np.array([with_2, with_2, sizes[0], 0.0])
        risk = _ratio(with_1 * sizes[1], with_2 * sizes[0], top, bottom, covariance, z)
        out |= {} if risk is None else {"risk_ratio": risk}
        if min(without_1, without_2) * rows > LEAST:
            top = np.array([without_2, 0.0, 0.0, with_1])
            bottom = np.array([0.0, with_2, without_1, 0.0])
            odds = _ratio(with_1 * without_2, without_1 * with_2, top, bottom, covariance, z)
            out |= {} if odds is None else {"odds_ratio": odds}
    return out


def within_groups(
    told: Moments, columns: Sequence[str], given: Sequence[str], *, level: float = 0.95
) -> dict[tuple[str, ...], dict[tuple[str, ...], Figure | None]]:
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
        For each group and each combination of values its share; None where the group is too small to tell.
    """
    names = list(told.cells.alphabets)
    shape = tuple(len(alphabet) for alphabet in told.cells.alphabets.values())
    at = [names.index(name) for name in (*given, *columns)]
    order = np.arange(told.cells.many).reshape(shape).transpose(at).reshape(-1)
    groups, values = (_combinations([told.cells.alphabets[n] for n in some]) for some in (given, columns))
    z = quantile(level)
    out: dict[tuple[str, ...], dict[tuple[str, ...], Figure | None]] = {}
    for k, group in enumerate(groups):
        places = order[k * len(values) : (k + 1) * len(values)]
        indicators = np.zeros((len(values), told.cells.many))
        indicators[np.arange(len(values)), places] = 1.0
        theta, covariance = told.means(indicators)
        size = float(theta.sum())
        rows = np.inf if told.steady(indicators).all() else told.seen.counting
        whole = np.ones(len(values))
        found = [
            _quotient(float(count), size, own, whole, covariance, z) if size * rows > LEAST else None
            for count, own in zip(theta, np.eye(len(values)), strict=True)
        ]
        out[group] = {
            value: figure and _within(figure, float(few_rows(figure.estimate, size * rows, z)), 0.0)
            for value, figure in zip(values, found, strict=True)
        }
    return out


def _combinations(alphabets: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    from itertools import product

    return list(product(*alphabets))


def _quotient(t: float, b: float, top: Floats, bottom: Floats, covariance: Floats, z: float) -> Figure | None:
    """t/b with the r that t - r b does not rule out, from the gradients of both; None if these are not bounded."""
    of_top = float(top @ covariance @ top)
    of_bottom = float(bottom @ covariance @ bottom)
    of_both = float(top @ covariance @ bottom)
    part = z * z * max(of_bottom, 0.0) / (b * b) if b > 0 else 1.0
    if part >= 1:
        return None
    r = t / b
    own = of_top - 2 * r * of_both + r * r * of_bottom
    less = (z / b) ** 2 * max(of_top * of_bottom - of_both**2, 0.0)
    middle = (r - z * z * of_both / (b * b)) / (1 - part)
    half = z / b * sqrt(max(own - less, 0.0)) / (1 - part)
    return Figure(r, min(middle - half, r), max(middle + half, r))


def _within(figure: Figure, more: float, least: float) -> Figure:
    """A share or a difference, wider by `more`, cut to what is possible; what lies beyond is still in it."""
    value = figure.estimate
    return Figure(value, min(max(figure.low - more, least), value), max(min(figure.high + more, 1.0), value))


def _ratio(t: float, b: float, top: Floats, bottom: Floats, covariance: Floats, z: float) -> Figure | None:
    """A ratio of counts above 0, with the wider of the intervals on both scales."""
    found = _quotient(t, b, top, bottom, covariance, z)
    if found is None:
        return None
    slope = top / t - bottom / b
    half = z * sqrt(max(float(slope @ covariance @ slope), 0.0))
    low, high = (exp(log(found.estimate) + sign * half) for sign in (-1, 1))
    return Figure(found.estimate, max(min(found.low, low), 0.0), max(found.high, high))
