r"""An exact rational channel next to a float channel that is nearly independent of some partitions.

Atoms x have integer weights n(x) with sum n. A view partitions the atoms, and the channel c must satisfy, exactly,

    sum_(x in a) n(x) c_j(x) = n(a) theta_j,   theta_j = sum_x n(x) c_j(x) / n,   for every view value a and letter j.

Round c to multiples of 2^-b with rows that sum to one, and theta likewise; then only as many atoms as these equations
have rank must give way. On such pivots A w_j = n(a) theta_j - (the other atoms) is a small system with entries 0 and 1,
so the other atoms keep denominator 2^b, and pivot x gets 2^b n(x) det A, where det A is mostly 1. A little of the
constant channel theta is mixed in first, so that the pivots have room on both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq_mat, fmpz_mat
from numpy.typing import ArrayLike, NDArray

from dalenius.errors import InputError, SolverFailed
from dalenius.solvers.cells import divergence
from dalenius.solvers.interior import Floats

__all__ = ["Repaired", "merged_letters", "repaired", "solved_exactly"]

# int64 while every sum fits, Python's own integers (dtype object) beyond.
_Ints: TypeAlias = NDArray[Any]

_PRIME = 2**31 - 1
_KAPPA = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True)
class Repaired:
    """c_j(x) = ``numerators``[x, j] / ``denominators``[x]; ``loss`` is how many bits of information the repair cost.

    ``kappa`` is the share of the constant channel that was mixed in.

    Parameters
    ----------
    numerators, denominators : array of int
        Of the channel.
    loss : float
        In bits.
    kappa : float
        The share of the constant channel that was mixed in.
    """

    numerators: _Ints
    denominators: _Ints
    loss: float
    kappa: float


def repaired(
    weights: Sequence[int] | _Ints,
    views: Sequence[ArrayLike],
    channel: ArrayLike,
    *,
    posteriors: ArrayLike | None = None,
    loss: float = 0.0,
) -> Repaired:
    r"""The exact channel; with ``posteriors`` (N, k), the W(x), letters merge while that costs at most ``loss`` bits.

    ``weights`` are positive integers of any size, ``views`` label arrays of length N, ``channel`` (N, J) floats.
    Letters without mass are merged in any case. Every promise is checked in integers before the channel is returned.
    Raises SolverFailed if the channel is 1 % or more away from independence, or if an entry stays negative with 1 % of
    the constant channel mixed in.

    Parameters
    ----------
    weights : array of int
        Of the inputs.
    views : sequence
        Groups of inputs that letters must not tell apart.
    channel : array
        Nearly private.
    posteriors : array, optional
        W(x).
    loss : float
        Bits that merging may cost.

    >>> channel = [[0.4, 0.6], [0.7, 0.3], [0.65, 0.35], [0.35, 0.65]]
    >>> exact = repaired([3, 1, 2, 2], [[0, 0, 1, 1], [0, 1, 0, 1]], channel)
    >>> shares = [Fraction(int(a), int(b)) for a, b in zip(exact.numerators[:, 0], exact.denominators, strict=True)]
    >>> n = [weight * share for weight, share in zip([3, 1, 2, 2], shares, strict=True)]
    >>> 8 * (n[0] + n[1]) == 4 * sum(n), 8 * (n[0] + n[2]) == 5 * sum(n)
    (True, True)
    """
    n, c, groups = _checked(weights, views, channel)
    total = int(n.sum())
    p = np.array([int(v) / total for v in n]) if n.dtype == object else n / total
    W = None if posteriors is None else np.asarray(posteriors, dtype=np.float64)
    if W is not None and (W.ndim != 2 or len(W) != len(n)):
        raise InputError(f"conclusions {W.shape} do not fit {len(n)} atoms")
    before = _value(p, W, c)
    c = merged_letters(p, W, c, loss=loss)
    # In int64 while every sum fits and little mixing is enough; else 50 bits in Python's own integers.
    fit = 62 - total.bit_length()
    ways = [(fit, n, kappa) for kappa in _KAPPA if fit >= 32 and (fit >= 50 or kappa <= 1e-6)]
    if fit < 50:
        ways += [(50, n.astype(object), kappa) for kappa in _KAPPA]
    rows = _incidence(groups, len(n))
    pivots = _pivots(rows, p)
    inverse, det = _inverse(rows[:, pivots])
    leak = _leak(c, p, groups)
    if leak >= 1e-2:
        raise SolverFailed(f"the recipe is not nearly independent of the views: it fails by {leak:.2g}")
    c = _projected(c, p, groups)
    theta = p @ c
    for bits, whole, kappa in ways:
        k = _rounded((1 - kappa) * c + kappa * theta, bits)
        k_theta = _rounded(theta[None], bits)[0]
        exact = _solved(whole, groups, k, k_theta, pivots, inverse, det, bits)
        if exact is not None:
            numerators, denominators = exact
            _verify(whole, groups, numerators, denominators)
            after = _value(p, W, (numerators / denominators[:, None]).astype(np.float64))
            return Repaired(numerators, denominators, before - after, kappa)
    raise SolverFailed(
        f"no exact recipe near the given one: its independence fails by {leak:.2g}, and with {_KAPPA[-1]:.0%} of the "
        "constant recipe mixed in an entry is still negative"
    )


def solved_exactly(
    weights: Sequence[int] | _Ints, equations: Sequence[Sequence[int]], channel: ArrayLike
) -> list[tuple[Fraction, ...]]:
    """Rows of an exact channel next to the given one that meets equations sum_x e(x) c_j(x) = 0 for all letters j.

    For views that are no partitions of the atoms; sum_x e(x) = 0, so that the constant channel meets them. On as many
    atoms as the equations have rank the rows are solved for; their denominators may be long.

    >>> rows = solved_exactly([1, 1, 1], [[2, -1, -1]], [[0.5, 0.5], [0.8, 0.2], [0.2000001, 0.7999999]])
    >>> 2 * rows[0][1] == rows[1][1] + rows[2][1]
    True
    """
    n, c, _ = _checked(weights, [], channel)
    p = np.array([int(v) / int(n.sum()) for v in n])
    order = np.argsort(-p)
    reduced, rank = fmpz_mat(len(equations), len(n), [int(row[x]) for row in equations for x in order]).rref()[::2]
    pivots: list[int] = []
    for i in range(rank):
        pivots.append(next(j for j in range(pivots[-1] + 1 if pivots else 0, len(n)) if reduced[i, j] != 0))
    # Rows of the reduced system: d v(pivot) + sum of others = 0.
    places = [int(order[pivot]) for pivot in pivots]
    system = np.array([[int(reduced[i, j]) for j in range(len(n))] for i in range(rank)], dtype=object)
    system = system.reshape(rank, len(n))[:, np.argsort(order)]
    for kappa in _KAPPA:
        k = _rounded((1 - kappa) * c + kappa * (p @ c), 50).astype(object)
        others = k.copy()
        others[places] = 0
        right = -(system @ others)  # d times the numerators of the pivots
        rows = [tuple(Fraction(int(entry), 1 << 50) for entry in row) for row in k]
        for i, x in enumerate(places):
            rows[x] = tuple(Fraction(int(v), int(system[i, x]) << 50) for v in right[i])
        if all(entry >= 0 for row in rows for entry in row):
            return rows
    raise SolverFailed("no exact recipe near the given one keeps its promises of independence")


def _checked(
    weights: Sequence[int] | _Ints, views: Sequence[ArrayLike], channel: ArrayLike
) -> tuple[_Ints, Floats, list[NDArray[np.intp]]]:
    n = np.array([int(weight) for weight in weights], dtype=object)
    if not len(n) or any(int(weight) != weight or weight <= 0 for weight in weights):
        raise InputError("weights must be positive integers; leave out atoms of weight zero")
    if sum(n) < 2**62:
        n = n.astype(np.int64)
    c = np.array(channel, dtype=np.float64)
    if c.ndim != 2 or len(c) != len(n) or not c.shape[1]:
        raise InputError(f"the recipe is {c.shape}, not {len(n)} atoms by values")
    if not np.isfinite(c).all() or c.min() < -1e-6 or np.abs(c.sum(axis=1) - 1).max() > 1e-6:
        raise InputError("the rows of the recipe must be nonnegative and sum to one")
    groups: list[NDArray[np.intp]] = []
    for view in views:
        labels = np.asarray(view)
        if labels.shape != (len(n),):
            raise InputError(f"a view has shape {labels.shape}, not one label for each of {len(n)} atoms")
        # Codes in the order of their first atom: a view under other names is the same view.
        _, first, sorted_codes = np.unique(labels, return_index=True, return_inverse=True)
        codes = np.argsort(np.argsort(first))[sorted_codes]
        if codes.max() and not any(np.array_equal(codes, known) for known in groups):
            groups.append(codes)
    c = np.maximum(c, 0)
    return n, c / c.sum(axis=1, keepdims=True), groups


def _value(p: Floats, W: Floats | None, c: Floats) -> float:
    if W is None:
        return 0.0
    theta = p @ c
    U = (c * p[:, None]).T @ W / np.maximum(theta, 1e-300)[:, None]
    return float(theta @ divergence(U, p @ W))


def merged_letters(p: Floats, W: Floats | None, c: Floats, *, loss: float) -> Floats:
    """Letters (columns of c) added up while their value falls by at most ``loss`` bits in all; cheapest pairs first.

    A sum of two letters is independent of whatever both are. Letters of mass below 1e-12 join the heaviest one.
    """
    theta = p @ c
    light = theta < 1e-12
    if light.any() and not light.all():
        c = c.copy()
        c[:, int(theta.argmax())] += c[:, light].sum(axis=1)
        c = c[:, ~light]
    if W is None or c.shape[1] == 1 or loss <= 0:
        return c
    joint = (c * p[:, None]).T @ W
    prior = p @ W
    worth = _phi(joint, prior)
    J = len(joint)
    cost = np.full((J, J), np.inf)
    for j in range(J):
        cost[j, j + 1 :] = worth[j] + worth[j + 1 :] - _phi(joint[j] + joint[j + 1 :], prior)
    spent, into = 0.0, np.arange(J)
    for _ in range(J - 1):
        i, j = divmod(int(cost.argmin()), J)
        spent += max(0.0, float(cost[i, j]))
        if spent > loss:
            break
        into[into == j] = i
        joint[i] += joint[j]
        worth[i] = _phi(joint[i], prior)
        cost[j], cost[:, j] = np.inf, np.inf
        alive = np.unique(into)
        others = alive[alive != i]
        new = worth[i] + worth[others] - _phi(joint[i] + joint[others], prior)
        cost[np.minimum(i, others), np.maximum(i, others)] = new
    alive, where = np.unique(into, return_inverse=True)
    merged = np.zeros((len(alive), len(c)))
    np.add.at(merged, where, c.T)
    return np.ascontiguousarray(merged.T)


def _phi(joint: Floats, prior: Floats) -> Floats:
    """theta D(u || prior) of unnormalised posteriors."""
    theta = joint.sum(axis=-1, keepdims=True)
    phi: Floats = theta[..., 0] * divergence(joint / np.maximum(theta, 1e-300), prior)
    return phi


def _incidence(groups: Sequence[NDArray[np.intp]], atoms: int) -> NDArray[np.int64]:
    """One row of zeros and ones for all atoms, and one for each view value but its first."""
    rows = [np.ones(atoms, dtype=np.int64)]
    for codes in groups:
        rows.extend((codes == a).astype(np.int64) for a in range(1, int(codes.max()) + 1))
    return np.array(rows)


def _pivots(rows: NDArray[np.int64], p: Floats) -> NDArray[np.intp]:
    """Heavy atoms whose columns are a basis of the column space: elimination modulo a prime."""
    table, chosen = rows % _PRIME, []
    for i in range(len(table)):
        (able,) = np.nonzero(table[i])
        if not len(able):
            continue
        j = int(able[np.argmax(p[able])])
        chosen.append(j)
        table[i] = table[i] * pow(int(table[i, j]), -1, _PRIME) % _PRIME
        below = table[i + 1 :]
        hit = np.nonzero(below[:, j])[0]
        below[hit] = (below[hit] - below[hit, j][:, None] * table[i]) % _PRIME
    return np.array(sorted(chosen), dtype=np.intp)


def _inverse(square: NDArray[np.int64]) -> tuple[_Ints, int]:
    """Integers X and d > 0 with X A = d I for a matrix A of full column rank: rows are dropped until A is square."""
    m, r = square.shape
    reduced, rank = fmpz_mat(r, m, square.T.ravel().tolist()).rref()[::2]
    if rank < r:
        raise SolverFailed("the pivot atoms are dependent")
    kept: list[int] = []
    for i in range(r):
        kept.append(next(j for j in range(kept[-1] + 1 if kept else 0, m) if reduced[i, j] != 0))
    exact = fmpq_mat(fmpz_mat(r, r, square[kept].ravel().tolist())).inv()
    entries = [[exact[i, j] for j in range(r)] for i in range(r)]
    d = lcm(*(int(entry.q) for row in entries for entry in row))
    X = np.zeros((r, m), dtype=object)
    X[:, kept] = np.array([[int(entry.p) * (d // int(entry.q)) for entry in row] for row in entries], dtype=object)
    return X, d


def _projected(c: Floats, p: Floats, groups: Sequence[NDArray[np.intp]]) -> Floats:
    """c without its float dependence on the views: least squares under p, a last correction below 1e-9."""
    rows = _incidence(groups, len(p))[1:].astype(np.float64)
    if not len(rows):
        return c
    centred = rows - (rows @ p)[:, None]
    gram = (centred * p) @ centred.T
    out: Floats = c - centred.T @ np.linalg.lstsq(gram, (centred * p) @ c, rcond=1e-12)[0]
    return out


def _leak(c: Floats, p: Floats, groups: Sequence[NDArray[np.intp]]) -> float:
    rows = _incidence(groups, len(p)).astype(np.float64)
    return float(np.abs((rows * p) @ (c - p @ c)).max())


def _rounded(c: Floats, bits: int) -> NDArray[np.int64]:
    """Multiples of 2^-bits with rows that sum to one; what rounding left over goes to the largest entry."""
    k = np.rint(np.ldexp(c, bits)).astype(np.int64)
    k[np.arange(len(k)), k.argmax(axis=1)] += (1 << bits) - k.sum(axis=1)
    return k


def _sums(terms: _Ints, codes: NDArray[np.intp]) -> _Ints:
    """Exact sums of the rows of each group."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(int(codes.max()) + 1))
    sums: _Ints = np.add.reduceat(terms[order], starts, axis=0)
    return sums


def _solved(
    n: _Ints,
    groups: Sequence[NDArray[np.intp]],
    k: NDArray[np.int64],
    theta: NDArray[np.int64],
    pivots: NDArray[np.intp],
    inverse: _Ints,
    det: int,
    bits: int,
) -> tuple[_Ints, _Ints] | None:
    """Rows of the pivots replaced by the exact solution; None if an entry is negative."""
    others = np.ones(len(n), dtype=bool)
    others[pivots] = False
    if (k[others] < 0).any():
        return None
    terms = n[:, None] * k
    terms[pivots] = 0
    missing = [int(n.sum()) * theta.astype(object) - terms.sum(axis=0)]
    for codes in groups:
        of_value = _sums(n[:, None], codes)[:, 0]
        missing.extend((of_value[:, None].astype(object) * theta.astype(object) - _sums(terms, codes))[1:])
    w = inverse @ np.array(missing, dtype=object)  # det n(x) k(x) on the pivots
    if any(v < 0 for v in w.ravel()):
        return None
    tops = [(1 << bits) * det * int(n[pivot]) for pivot in pivots]
    fits = max(tops) < 2**63
    numerators: _Ints = k.copy() if fits else k.astype(object)
    denominators: _Ints = np.full(len(n), 1 << bits, dtype=np.int64 if fits else object)
    if fits:
        w = w.astype(np.int64)
    numerators[pivots] = w
    denominators[pivots] = np.array(tops, dtype=denominators.dtype)
    shared = np.array(
        [gcd(int(d), *(int(entry) for entry in row)) for d, row in zip(denominators[pivots], w, strict=True)]
    )
    numerators[pivots] //= shared[:, None]
    denominators[pivots] //= shared
    return numerators, denominators


def _verify(n: _Ints, groups: Sequence[NDArray[np.intp]], numerators: _Ints, denominators: _Ints) -> None:
    """Every promise, in integers, from the numbers that will be returned."""
    if (numerators < 0).any() or (denominators <= 0).any():
        raise SolverFailed("an entry of the exact recipe is negative")
    if (numerators.sum(axis=1) != denominators).any():
        raise SolverFailed("a row of the exact recipe does not sum to one")
    usual, many = np.unique(denominators, return_counts=True)
    base = int(usual[many.argmax()])
    plain = denominators == base
    total = int(n.sum())
    odd = np.nonzero(~plain)[0]
    scale = lcm(base, *(int(d) // gcd(int(d), int(n[x])) for x, d in zip(odd, denominators[odd], strict=True)))
    # n(x) c_j(x) in units of 1 / scale, the odd rows apart from the others.
    wide = numerators if total * base < 2**63 else numerators.astype(object)
    terms = n[:, None] * np.where(plain[:, None], wide, 0)
    extra = np.zeros((len(odd), numerators.shape[1]), dtype=object)
    for i, x in enumerate(odd):
        times = int(n[x]) * scale
        extra[i] = [times * int(v) // int(denominators[x]) for v in numerators[x]]
        if any(times * int(v) % int(denominators[x]) for v in numerators[x]):
            raise SolverFailed("the exact recipe has no common unit")
    whole = terms.sum(axis=0).astype(object) * (scale // base) + extra.sum(axis=0)
    for codes in groups:
        masses = _sums(n[:, None], codes)[:, 0]
        found = _sums(terms, codes).astype(object) * (scale // base)
        np.add.at(found, codes[odd], extra)
        if (found * total != masses[:, None].astype(object) * whole).any():
            raise SolverFailed("the exact recipe is not independent of a view")
