r"""Disclosure risk of key combinations in a sample, under Poisson log-linear models, before and after perturbation.

Cell k holds F_k ~ Poisson(lambda_k) members of the population, each in the sample with probability pi, so the sample
count f_k ~ Poisson(pi lambda_k) and the F_k - f_k outside the sample are independent. For a sample unique (002, 1, 2)

    r1 = P(F = 1 | f = 1) = exp(-nu),    r2 = E[1/F | f = 1] = (1 - exp(-nu)) / nu,    nu = (1 - pi) lambda,

and tau1, tau2 are their sums over the sample uniques: the population uniques to expect among them, and the correct
matches to expect from an intruder who links each of them at random to one of the persons with the same key.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError, SolverFailed, Unsupported

__all__ = [
    "expected_reciprocal",
    "main_effects",
    "matched_uniques",
    "misclassified_risk",
    "negative_binomial_risk",
    "overdispersion",
    "poisson_risk",
    "randomised_response",
    "two_way",
]

Array = npt.NDArray[Any]

CELLS = 1 << 22
PATTERNS = 50_000_000
ROUNDS = 2000


def expected_reciprocal(f: npt.ArrayLike, nu: npt.ArrayLike) -> Array:
    """E[1 / (f + N)] for N ~ Poisson(nu): Kummer's function M(1, f + 1, -nu) / f.

    Parameters
    ----------
    f : array
        At least 1.
    nu : array
        Means.

    Returns
    -------
    ndarray
        One for each cell.

    >>> expected_reciprocal(1, [0.0, 1.0]).round(6).tolist()
    [1.0, 0.632121]
    """
    from dalenius.solvers.special import hyp1f1  # opens scipy

    count, mean = np.broadcast_arrays(np.asarray(f, dtype=float), np.asarray(nu, dtype=float))
    single = -np.expm1(-mean) / np.where(mean > 0, mean, 1.0)
    out = np.where(count == 1, np.where(mean > 0, single, 1.0), 0.0)
    more = count > 1
    out[more] = hyp1f1(1.0, count[more] + 1, -mean[more]) / count[more]
    return out


def poisson_risk(lam: npt.ArrayLike, pi: npt.ArrayLike, f: npt.ArrayLike = 1) -> tuple[Array, Array]:
    """P(F = 1) and E[1/F] for cells with sample count f and population mean lam.

    Parameters
    ----------
    lam : array
        Population means.
    pi : array or float
        Sampling fractions.
    f : array or int
        The sample count.

    Returns
    -------
    tuple[Array, Array]
        One of each for each cell.

    >>> r1, r2 = poisson_risk(1.0, 0.5)
    >>> round(float(r1), 6), round(float(r2), 6)
    (0.606531, 0.786939)
    """
    mean = np.asarray(lam, dtype=float)
    share = np.asarray(pi, dtype=float)
    if not bool(((share > 0) & (share <= 1)).all()):
        raise InputError("the sampling fraction is not between 0 and 1")
    # The record itself is in the sample: only those outside it can share its key unseen.
    rest = (1 - share) * mean
    return np.where(np.asarray(f) == 1, np.exp(-rest), 0.0), expected_reciprocal(f, rest)


def misclassified_risk(
    lam: npt.ArrayLike, seen: npt.ArrayLike, stay: npt.ArrayLike, pi: npt.ArrayLike
) -> tuple[Array, Array]:
    """The same for a cell j that is unique in the perturbed sample: P(right person, F_j = 1) and P(right person).

    lam is lambda_j, seen is sum_l lambda_l M_lj, stay is M_jj. The record was in cell j before perturbation with
    probability lambda_j M_jj / seen; then the other members of cell j are Poisson(lambda_j (1 - pi M_jj)).

    Parameters
    ----------
    lam : array
        Population means.
    seen : array
        Counts of the perturbed sample.
    stay : array or float
        The probability that a key stays.
    pi : array or float
        Sampling fractions.

    Returns
    -------
    tuple[Array, Array]
        One of each for each cell.

    >>> [v.round(6).tolist() for v in misclassified_risk(1.0, 1.0, 1.0, 0.5)]
    [0.606531, 0.786939]
    """
    mean = np.asarray(lam, dtype=float)
    own = np.asarray(lam, dtype=float) * np.asarray(stay, dtype=float)
    share = np.divide(own, seen, out=np.zeros(np.broadcast(own, seen).shape), where=np.asarray(seen) > 0)
    others = mean * (1 - np.asarray(pi, dtype=float) * np.asarray(stay, dtype=float))
    return np.asarray(share * np.exp(-others)), np.asarray(share * expected_reciprocal(1, others))


# --- models -----------------------------------------------------------------------------------------------------------
def main_effects(codes: Array, counts: Array) -> Array:
    """Fitted sample means of the listed cells when the keys are independent: n prod_j f_j / n.

    Parameters
    ----------
    codes : array, one cell a row
        The letters of each cell.
    counts : array
        How often each occurs.

    Returns
    -------
    ndarray
        One for each cell.

    >>> main_effects(np.array([[0, 0], [1, 1]]), np.array([3, 1])).tolist()
    [2.25, 0.25]
    """
    n = float(counts.sum())
    mean = np.full(len(codes), n)
    for column in codes.T:
        mean *= np.bincount(column, weights=counts)[column] / n
    return mean


def two_way(codes: Array, counts: Array, sizes: Sequence[int], *, tolerance: float = 1e-9) -> Array:
    """Fitted sample means of the listed cells under all two-way interactions, by iterative proportional fitting.

    The table is scaled to each pair of margins in turn until all of them agree within `tolerance` rows.

    Parameters
    ----------
    codes : array, one cell a row
        The letters of each cell.
    counts : array
        How often each occurs.
    sizes : sequence of int
        Letters of each key.
    tolerance : float
        Of the fit.

    Returns
    -------
    ndarray
        One for each cell.

    >>> two_way(np.array([[0, 0], [1, 1]]), np.array([3, 1]), [2, 2]).tolist()
    [3.0, 1.0]
    """
    if int(np.prod(sizes, dtype=float)) > CELLS:
        raise Unsupported(
            f"the keys have more than {CELLS:,} combinations; the two-way model needs all of them",
            do="Group values, use fewer key columns, or choose another --model.",
        )
    table = np.zeros(sizes)
    table[tuple(codes.T)] = counts
    axes = range(len(sizes))
    pairs: list[tuple[int, ...]] = [(axis, j) for axis in axes for j in axes if axis < j] or [(0,)]
    rest = [tuple(axis for axis in axes if axis not in pair) for pair in pairs]
    margins = [table.sum(axis=r, keepdims=True) for r in rest]
    fit = np.ones(sizes)
    for _ in range(ROUNDS):
        off = 0.0
        for r, margin in zip(rest, margins, strict=True):
            now = fit.sum(axis=r, keepdims=True)
            off = max(off, float(np.abs(now - margin).max()))
            fit *= np.divide(margin, now, out=np.zeros_like(now), where=now > 0)
        if off <= tolerance * max(1.0, float(counts.sum()) * 1e-6):
            return np.asarray(fit[tuple(codes.T)])
    raise SolverFailed(f"the two-way model did not settle: a margin is still off by {off:.3g} rows")


def overdispersion(codes: Array, counts: Array) -> float:
    """The variance of gamma factors of mean one that the squares of all counts show beyond independent keys.

    With sample means mu and such a factor in each cell, E (f - mu)^2 = mu + phi mu^2; summed over all cells, empty ones
    too, for which sum mu^2 = n^2 prod_j sum_a p_j(a)^2.

    >>> round(overdispersion(np.array([[0, 0], [1, 1]]), np.array([50, 50])), 4)
    0.96
    """
    n = float(counts.sum())
    squares = float(counts.sum()) ** 2
    for column in codes.T:
        squares *= float(((np.bincount(column, weights=counts) / n) ** 2).sum())
    mean = main_effects(codes, counts)
    return max(0.0, (float((counts**2.0).sum()) - 2 * float((counts * mean).sum()) + squares - n) / squares)


def negative_binomial_risk(lam: npt.ArrayLike, pi: npt.ArrayLike, f: npt.ArrayLike, phi: float) -> tuple[Array, Array]:
    """As `poisson_risk` when lambda is lam times a gamma factor of mean 1 and variance phi (002, section 2.1).

    Given f the factor is gamma again, so that F - f has the negative binomial law of size a + f, a = 1/phi, and
    theta = (a / lam + pi) / (a / lam + 1): P(F = 1 | f = 1) = theta^(a+1), and E[1/F] is the integral over s in [0, 1]
    of s^(f-1) (theta / (1 - (1 - theta) s))^(a+f), which is Gauss' function theta/f 2F1(1 - a, 1; f + 1; 1 - theta).

    >>> [v.round(6).tolist() for v in negative_binomial_risk([1.0, 1.0], 0.5, [1, 2], 1.0)]
    [[0.5625, 0.0], [0.75, 0.375]]
    """
    from dalenius.solvers.special import hyp2f1  # opens scipy

    if phi <= 1e-6:
        return poisson_risk(lam, pi, f)
    mean, share, count = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (lam, pi, f)))
    if not bool(((share > 0) & (share <= 1)).all()):
        raise InputError("the sampling fraction is not between 0 and 1")
    a = 1 / phi
    theta = (a / mean + share) / (a / mean + 1)
    return np.where(count == 1, theta ** (a + 1), 0.0), theta / count * hyp2f1(1 - a, 1, count + 1, 1 - theta)


# --- perturbation -----------------------------------------------------------------------------------------------------
def randomised_response(level: float, letters: int) -> tuple[float, float]:
    """The probabilities to stay and to become any one other letter, under k-ary randomised response of a level in nats.

    Parameters
    ----------
    level : float
        In nats.
    letters : int
        Letters of a sample.

    Returns
    -------
    tuple[float, float]

    >>> randomised_response(0.0, 4)
    (0.25, 0.25)
    """
    if letters == 1:
        return 1.0, 0.0
    away = float(np.exp(-level))
    return 1 / (1 + (letters - 1) * away), away / (1 + (letters - 1) * away)


def matched_uniques(codes: Array, counts: Array, channels: Sequence[tuple[float, float]]) -> Array:
    """For each cell the probability that, after perturbation, exactly one record shows its key and comes from it.

    f_j M_jj (1 - M_jj)^(f_j - 1) prod_{l != j} (1 - M_lj)^(f_l), given the sample. Every key is perturbed on its own,
    so M_lj depends on the set of keys in which l and j agree only; the cells are counted by that set (2^J of them,
    from the margins by inclusion and exclusion), never in pairs.

    Parameters
    ----------
    codes : array, one cell a row
        The letters of each cell.
    counts : array
        How often each occurs.
    channels : sequence of (stay, other)
        For each key column.

    Returns
    -------
    ndarray
        One for each cell.

    >>> matched_uniques(np.array([[0], [1]]), np.array([1, 1]), [(0.75, 0.25)]).tolist()
    [0.5625, 0.5625]
    """
    keys = codes.shape[1]
    if (1 << keys) * len(codes) > PATTERNS:
        raise Unsupported(
            f"{keys} keys with {len(codes):,} combinations are too many for the risk after perturbation",
            do="Group values, or use fewer key columns.",
        )
    agree = np.empty((1 << keys, len(codes)))
    for pattern in range(1 << keys):
        at = [k for k in range(keys) if pattern >> k & 1]
        if not at:
            agree[pattern] = counts.sum()
            continue
        place = np.zeros(len(codes), dtype=np.int64)
        for k in at:
            place = np.unique(place * (int(codes[:, k].max()) + 1) + codes[:, k], return_inverse=True)[1].reshape(-1)
        agree[pattern] = np.bincount(place, weights=counts)[place]
    for k in range(keys):  # from "agree at least there" to "agree exactly there"
        for pattern in range(1 << keys):
            if not pattern >> k & 1:
                # Key by key, so that each set loses exactly those that agree in one more.
                agree[pattern] -= agree[pattern | 1 << k]
    others = np.zeros(len(codes))
    for pattern in range((1 << keys) - 1):
        moved = float(np.prod([stay if pattern >> k & 1 else away for k, (stay, away) in enumerate(channels)]))
        others += agree[pattern] * np.log1p(-moved)
    stay = float(np.prod([q for q, _ in channels]))
    return np.asarray(counts * stay * (1 - stay) ** (counts - 1.0) * np.exp(others))
