r"""Shares within groups, their differences, risk ratios and odds ratios, from a released table.

With q1 = P(v | g1) and q2 = P(v | g2) for a value v and two groups, four means carry everything: the rows of each group
with and without v. Each figure is a smooth function of them, so that its variance is d' Cov d with the gradient d.
Ratios are closer to normal on the logarithmic scale. Shares are not on that of log odds: what the draws add to a share
is as large whatever the share is, and an interval that shrinks with it would be too short where it came out too small.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError, Unsupported
from dalenius.measures.estimation import quantile
from dalenius.measures.moments import Moments, few_rows

__all__ = ["Figure", "compared", "within_groups"]

Floats = npt.NDArray[np.float64]
WEAK = 0.4
"""A group or a count whose standard error is more than this share of it carries no ratio."""
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
    for k, group in zip((0, 2), groups, strict=True):
        if not _certain(theta[k] + theta[k + 1], covariance[k : k + 2, k : k + 2].sum(), rows):
            raise Unsupported(
                NOBODY.format(", ".join(f"{n} = {v}" for n, v in group.items())),
                do="Compare groups with more rows, or ask the owner for a release with less change.",
            )
    slopes = [_share_slope(theta, k) for k in (0, 2)]
    shares = [float(theta[k] / (theta[k] + theta[k + 1])) for k in (0, 2)]
    errors = [_error(slope, covariance) for slope in slopes]
    sizes = [float(theta[k] + theta[k + 1]) for k in (0, 2)]
    few = [float(few_rows(share, size * rows, z)) for share, size in zip(shares, sizes, strict=True)]
    out = {f"share_{k + 1}": _within(shares[k], z * errors[k] + few[k], 0.0) for k in (0, 1)}
    half = z * _error(slopes[0] - slopes[1], covariance) + sum(few)
    out["difference"] = _within(shares[0] - shares[1], half, -1.0)
    if all(_certain(theta[k], covariance[k, k], rows) for k in (0, 2)):
        slope = slopes[0] / shares[0] - slopes[1] / shares[1]
        out["risk_ratio"] = _ratio(log(shares[0] / shares[1]), _error(slope, covariance), z)
        if all(_certain(theta[k], covariance[k, k], rows) for k in (1, 3)):
            signs = np.array([1.0, -1.0, -1.0, 1.0])
            out["odds_ratio"] = _ratio(float(signs @ np.log(theta)), _error(signs / theta, covariance), z)
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
        if not _certain(size, covariance.sum(), rows):
            out[group] = dict.fromkeys(values)
            continue
        shares = theta / size
        slopes = (np.eye(len(values)) - shares[:, None]) / size
        out[group] = {
            value: _within(float(share), z * _error(slope, covariance) + float(few_rows(share, size * rows, z)), 0.0)
            for value, share, slope in zip(values, shares, slopes, strict=True)
        }
    return out


def _combinations(alphabets: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    from itertools import product

    return list(product(*alphabets))


def _certain(count: float, variance: float, rows: float) -> bool:
    """Whether a count is known well enough; of a handful of rows no variance is believed."""
    return count > max(0.0, LEAST / rows) and max(float(variance), 0.0) ** 0.5 <= WEAK * count


def _share_slope(theta: Floats, k: int) -> Floats:
    """The gradient of theta_k / (theta_k + theta_k+1)."""
    slope = np.zeros(4)
    size = theta[k] + theta[k + 1]
    slope[k] = theta[k + 1] / size**2
    slope[k + 1] = -theta[k] / size**2
    return slope


def _error(slope: Floats, covariance: Floats) -> float:
    return float(max(float(slope @ covariance @ slope), 0.0) ** 0.5)


def _within(value: float, half: float, least: float) -> Figure:
    """A share or a difference, cut to what is possible, from `least` to 1; what lies beyond is still in it."""
    return Figure(value, min(max(value - half, least), value), max(min(value + half, 1.0), value))


def _ratio(logarithm: float, error: float, z: float) -> Figure:
    return Figure(exp(logarithm), exp(logarithm - z * error), exp(logarithm + z * error))
