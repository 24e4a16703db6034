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

__all__ = ["Repaired", "in_multiples", "merged_letters", "repaired", "solved_exactly"]

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
    """The exact channel next to a float one; letters may merge while that costs little.

    Letters without mass are merged in any case. Every promise is checked in integers before the channel is returned.

    Parameters
    ----------
    weights : Sequence[int] | _Ints
        (atoms,): positive integers of any size.
    views : sequence of ArrayLike
        Labels of the atoms, one array for each view that letters must be independent of.
    channel : array_like
        (atoms, letters): nearly independent of the views.
    posteriors : array_like, optional
        (atoms, outcomes): W(x), by which bits are measured.
    loss : float
        Bits that merging letters may cost.

    Returns
    -------
    Repaired

    Raises
    ------
    InputError
        If the arrays do not fit together.
    SolverFailed
        If the channel is 1 % or more away from independence, or if an entry stays negative with 1 % of the constant
        channel mixed in.

    >>> channel = [[0.4, 0.6], [0.7, 0.3], [0.65, 0.35], [0.35, 0.65]]
    >>> exact = repaired([3, 1, 2, 2], [[0, 0, 1, 1], [0, 1, 0, 1]], channel)
    >>> shares = [Fraction(int(a), int(b)) for a, b in zip(exact.numerators[:, 0], exact.denominators, strict=True)]
    >>> n = [weight * share for weight, share in zip([3, 1, 2, 2], shares, strict=True)]
    >>> 8 * (n[0] + n[1]) == 4 * sum(n), 8 * (n[0] + n[2]) == 5 * sum(n)
    (True, True)
    """
    counts, floats, groups = _checked(weights, views, channel)
    total = int(counts.sum())
    prior = np.array([int(value) / total for value in counts]) if counts.dtype == object else counts / total
    given = None if posteriors is None else np.asarray(posteriors, dtype=np.float64)
    if given is not None and (given.ndim != 2 or len(given) != len(counts)):
        raise InputError(f"conclusions {given.shape} do not fit {len(counts)} atoms")
    before = _value(prior, given, floats)
    floats = merged_letters(prior, given, floats, loss=loss)
    # In int64 while every sum fits and little mixing is enough; else 50 bits in Python's own integers.
    fit = 62 - total.bit_length()
    ways = [(fit, counts, kappa) for kappa in _KAPPA if fit >= 32 and (fit >= 50 or kappa <= 1e-6)]
    if fit < 50:
        ways += [(50, counts.astype(object), kappa) for kappa in _KAPPA]
    rows = _incidence(groups, len(counts))
    pivots = _pivots(rows, prior)
    inverse, determinant = _inverse(rows[:, pivots])
    leak = _leak(floats, prior, groups)
    # A channel so far off was not found under these views; what is exact next to it would be another one.
    if leak >= 1e-2:
        raise SolverFailed(f"the recipe is not nearly independent of the views: it fails by {leak:.2g}")
    floats = _projected(floats, prior, groups)
    masses = prior @ floats
    for bits, whole, kappa in ways:
        # The pivots absorb the rounding of all others, so each entry needs room on both sides: kappa of the constant.
        rounded = in_multiples((1 - kappa) * floats + kappa * masses, bits)
        rounded_masses = in_multiples(masses[None], bits)[0]
        exact = _solved(whole, groups, rounded, rounded_masses, pivots, inverse, determinant, bits)
        # None: an entry is negative, and the next way mixes in more of the constant channel.
        if exact is not None:
            numerators, denominators = exact
            _verify(whole, groups, numerators, denominators)
            after = _value(prior, given, (numerators / denominators[:, None]).astype(np.float64))
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

    Parameters
    ----------
    weights : Sequence[int] | _Ints
        (atoms,): positive integers.
    equations : Sequence[Sequence[int]]
        (equations, atoms): e.
    channel : array_like
        (atoms, letters): nearly right.

    Returns
    -------
    list[tuple[Fraction, ...]]
        (atoms) rows of (letters) entries.

    Raises
    ------
    SolverFailed
        If an entry stays negative with 1 % of the constant channel mixed in.

    >>> rows = solved_exactly([1, 1, 1], [[2, -1, -1]], [[0.5, 0.5], [0.8, 0.2], [0.2000001, 0.7999999]])
    >>> 2 * rows[0][1] == rows[1][1] + rows[2][1]
    True
    """
    counts, floats, _ = _checked(weights, [], channel)
    prior = np.array([int(value) / int(counts.sum()) for value in counts])
    # Heavy atoms first, so that they are the pivots: the same error moves an entry of theirs least.
    order = np.argsort(-prior)
    reduced, rank = fmpz_mat(
        len(equations), len(counts), [int(row[atom]) for row in equations for atom in order]
    ).rref()[::2]
    pivots: list[int] = []
    for line in range(rank):
        pivots.append(
            next(column for column in range(pivots[-1] + 1 if pivots else 0, len(counts)) if reduced[line, column] != 0)
        )
    # Rows of the reduced system: d v(pivot) + sum of others = 0.
    places = [int(order[pivot]) for pivot in pivots]
    system = np.array(
        [[int(reduced[line, column]) for column in range(len(counts))] for line in range(rank)], dtype=object
    )
    system = system.reshape(rank, len(counts))[:, np.argsort(order)]
    for kappa in _KAPPA:
        rounded = in_multiples((1 - kappa) * floats + kappa * (prior @ floats), 50).astype(object)
        others = rounded.copy()
        others[places] = 0
        right = -(system @ others)  # d times the numerators of the pivots
        rows = [tuple(Fraction(int(entry), 1 << 50) for entry in row) for row in rounded]
        for line, atom in enumerate(places):
            rows[atom] = tuple(Fraction(int(value), int(system[line, atom]) << 50) for value in right[line])
        if all(entry >= 0 for row in rows for entry in row):
            return rows
    raise SolverFailed("no exact recipe near the given one keeps its promises of independence")


def _checked(
    weights: Sequence[int] | _Ints, views: Sequence[ArrayLike], channel: ArrayLike
) -> tuple[_Ints, Floats, list[NDArray[np.intp]]]:
    counts = np.array([int(weight) for weight in weights], dtype=object)
    if not len(counts) or any(int(weight) != weight or weight <= 0 for weight in weights):
        raise InputError("weights must be positive integers; leave out atoms of weight zero")
    # Every sum of weights then fits into 64 bits; beyond, Python counts.
    if sum(counts) < 2**62:
        counts = counts.astype(np.int64)
    floats = np.array(channel, dtype=np.float64)
    if floats.ndim != 2 or len(floats) != len(counts) or not floats.shape[1]:
        raise InputError(f"the recipe is {floats.shape}, not {len(counts)} atoms by values")
    if not np.isfinite(floats).all() or floats.min() < -1e-6 or np.abs(floats.sum(axis=1) - 1).max() > 1e-6:
        raise InputError("the rows of the recipe must be nonnegative and sum to one")
    groups: list[NDArray[np.intp]] = []
    for view in views:
        labels = np.asarray(view)
        if labels.shape != (len(counts),):
            raise InputError(f"a view has shape {labels.shape}, not one label for each of {len(counts)} atoms")
        # Codes in the order of their first atom: a view under other names is the same view.
        _, first, sorted_codes = np.unique(labels, return_index=True, return_inverse=True)
        codes = np.argsort(np.argsort(first))[sorted_codes]
        if codes.max() and not any(np.array_equal(codes, known) for known in groups):
            groups.append(codes)
    floats = np.maximum(floats, 0)
    return counts, floats / floats.sum(axis=1, keepdims=True), groups


def _value(prior: Floats, given: Floats | None, channel: Floats) -> float:
    if given is None:
        return 0.0
    masses = prior @ channel
    posteriors = (channel * prior[:, None]).T @ given / np.maximum(masses, 1e-300)[:, None]
    return float(masses @ divergence(posteriors, prior @ given))


def merged_letters(prior: Floats, given: Floats | None, channel: Floats, *, loss: float) -> Floats:
    """Letters (columns of c) added up while their value falls by at most ``loss`` bits in all; cheapest pairs first.

    A sum of two letters is independent of whatever both are. Letters of mass below 1e-12 join the heaviest one.

    Parameters
    ----------
    prior : ndarray of float
        (atoms,): p.
    given : ndarray of float, optional
        (atoms, outcomes): W; without it only letters of no mass are merged.
    channel : ndarray of float
        (atoms, letters).
    loss : float
        Bits, in all.

    Returns
    -------
    ndarray of float
        (atoms, fewer letters).
    """
    masses = prior @ channel
    light = masses < 1e-12
    if light.any() and not light.all():
        channel = channel.copy()
        channel[:, int(masses.argmax())] += channel[:, light].sum(axis=1)
        channel = channel[:, ~light]
    if given is None or channel.shape[1] == 1 or loss <= 0:
        return channel
    joint = (channel * prior[:, None]).T @ given
    overall = prior @ given
    worth = _phi(joint, overall)
    letters = len(joint)
    cost = np.full((letters, letters), np.inf)
    for second in range(letters):
        cost[second, second + 1 :] = (
            worth[second] + worth[second + 1 :] - _phi(joint[second] + joint[second + 1 :], overall)
        )
    spent = 0.0
    into = np.arange(letters)
    for _ in range(letters - 1):
        first, second = divmod(int(cost.argmin()), letters)
        # A cost below zero is rounding: it buys no other merger.
        spent += max(0.0, float(cost[first, second]))
        if spent > loss:
            break
        into[into == second] = first
        joint[first] += joint[second]
        worth[first] = _phi(joint[first], overall)
        cost[second] = np.inf
        cost[:, second] = np.inf
        alive = np.unique(into)
        others = alive[alive != first]
        new = worth[first] + worth[others] - _phi(joint[first] + joint[others], overall)
        cost[np.minimum(first, others), np.maximum(first, others)] = new
    alive, where = np.unique(into, return_inverse=True)
    merged = np.zeros((len(alive), len(channel)))
    np.add.at(merged, where, channel.T)
    return np.ascontiguousarray(merged.T)


def _phi(joint: Floats, prior: Floats) -> Floats:
    """theta D(u || prior) of unnormalised posteriors."""
    masses = joint.sum(axis=-1, keepdims=True)
    worth: Floats = masses[..., 0] * divergence(joint / np.maximum(masses, 1e-300), prior)
    return worth


def _incidence(groups: Sequence[NDArray[np.intp]], atoms: int) -> NDArray[np.int64]:
    """One row of zeros and ones for all atoms, and one for each view value but its first."""
    rows = [np.ones(atoms, dtype=np.int64)]
    for codes in groups:
        rows.extend((codes == code).astype(np.int64) for code in range(1, int(codes.max()) + 1))
    return np.array(rows)


def _pivots(rows: NDArray[np.int64], prior: Floats) -> NDArray[np.intp]:
    """Heavy atoms whose columns are a basis of the column space: elimination modulo a prime."""
    table = rows % _PRIME
    chosen = []
    for row in range(len(table)):
        (able,) = np.nonzero(table[row])
        if not len(able):
            continue
        atom = int(able[np.argmax(prior[able])])
        chosen.append(atom)
        table[row] = table[row] * pow(int(table[row, atom]), -1, _PRIME) % _PRIME
        below = table[row + 1 :]
        hit = np.nonzero(below[:, atom])[0]
        below[hit] = (below[hit] - below[hit, atom][:, None] * table[row]) % _PRIME
    return np.array(sorted(chosen), dtype=np.intp)


def _inverse(square: NDArray[np.int64]) -> tuple[_Ints, int]:
    """Integers X and d > 0 with X A = d I for a matrix A of full column rank: rows are dropped until A is square."""
    height, width = square.shape
    reduced, rank = fmpz_mat(width, height, square.T.ravel().tolist()).rref()[::2]
    if rank < width:
        raise SolverFailed("the pivot atoms are dependent")
    kept: list[int] = []
    for line in range(width):
        kept.append(next(column for column in range(kept[-1] + 1 if kept else 0, height) if reduced[line, column] != 0))
    exact = fmpq_mat(fmpz_mat(width, width, square[kept].ravel().tolist())).inv()
    entries = [[exact[line, column] for column in range(width)] for line in range(width)]
    determinant = lcm(*(int(entry.q) for row in entries for entry in row))
    inverse = np.zeros((width, height), dtype=object)
    inverse[:, kept] = np.array(
        [[int(entry.p) * (determinant // int(entry.q)) for entry in row] for row in entries], dtype=object
    )
    return inverse, determinant


def _projected(channel: Floats, prior: Floats, groups: Sequence[NDArray[np.intp]]) -> Floats:
    """c without its float dependence on the views: least squares under p, a last correction below 1e-9."""
    rows = _incidence(groups, len(prior))[1:].astype(np.float64)
    if not len(rows):
        return channel
    centred = rows - (rows @ prior)[:, None]
    gram = (centred * prior) @ centred.T
    out: Floats = channel - centred.T @ np.linalg.lstsq(gram, (centred * prior) @ channel, rcond=1e-12)[0]
    return out


def _leak(channel: Floats, prior: Floats, groups: Sequence[NDArray[np.intp]]) -> float:
    rows = _incidence(groups, len(prior)).astype(np.float64)
    return float(np.abs((rows * prior) @ (channel - prior @ channel)).max())


def in_multiples(channel: Floats, bits: int) -> NDArray[np.int64]:
    """Multiples of 2^-bits with rows that sum to one; what rounding left over goes to the largest entry."""
    # The largest entry feels the rest least, and cannot become negative by it.
    rounded = np.rint(np.ldexp(channel, bits)).astype(np.int64)
    rounded[np.arange(len(rounded)), rounded.argmax(axis=1)] += (1 << bits) - rounded.sum(axis=1)
    return rounded


def _sums(terms: _Ints, codes: NDArray[np.intp]) -> _Ints:
    """Exact sums of the rows of each group."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(int(codes.max()) + 1))
    sums: _Ints = np.add.reduceat(terms[order], starts, axis=0)
    return sums


def _solved(
    weights: _Ints,
    groups: Sequence[NDArray[np.intp]],
    rounded: NDArray[np.int64],
    masses: NDArray[np.int64],
    pivots: NDArray[np.intp],
    inverse: _Ints,
    determinant: int,
    bits: int,
) -> tuple[_Ints, _Ints] | None:
    """Rows of the pivots replaced by the exact solution; None if an entry is negative."""
    others = np.ones(len(weights), dtype=bool)
    others[pivots] = False
    if (rounded[others] < 0).any():
        return None
    terms = weights[:, None] * rounded
    terms[pivots] = 0
    missing = [int(weights.sum()) * masses.astype(object) - terms.sum(axis=0)]
    for codes in groups:
        of_value = _sums(weights[:, None], codes)[:, 0]
        missing.extend((of_value[:, None].astype(object) * masses.astype(object) - _sums(terms, codes))[1:])
    solved = inverse @ np.array(missing, dtype=object)  # det n(x) k(x) on the pivots
    if any(value < 0 for value in solved.ravel()):
        return None
    tops = [(1 << bits) * determinant * int(weights[pivot]) for pivot in pivots]
    fits = max(tops) < 2**63
    numerators: _Ints = rounded.copy() if fits else rounded.astype(object)
    denominators: _Ints = np.full(len(weights), 1 << bits, dtype=np.int64 if fits else object)
    if fits:
        solved = solved.astype(np.int64)
    numerators[pivots] = solved
    denominators[pivots] = np.array(tops, dtype=denominators.dtype)
    shared = np.array(
        [
            gcd(int(denominator), *(int(entry) for entry in row))
            for denominator, row in zip(denominators[pivots], solved, strict=True)
        ]
    )
    numerators[pivots] //= shared[:, None]
    denominators[pivots] //= shared
    return numerators, denominators


def _verify(weights: _Ints, groups: Sequence[NDArray[np.intp]], numerators: _Ints, denominators: _Ints) -> None:
    """Every promise, in integers, from the numbers that will be returned."""
    if (numerators < 0).any() or (denominators <= 0).any():
        raise SolverFailed("an entry of the exact recipe is negative")
    if (numerators.sum(axis=1) != denominators).any():
        raise SolverFailed("a row of the exact recipe does not sum to one")
    usual, many = np.unique(denominators, return_counts=True)
    base = int(usual[many.argmax()])
    plain = denominators == base
    total = int(weights.sum())
    odd = np.nonzero(~plain)[0]
    scale = lcm(
        base,
        *(
            int(denominator) // gcd(int(denominator), int(weights[atom]))
            for atom, denominator in zip(odd, denominators[odd], strict=True)
        ),
    )
    # n(x) c_j(x) in units of 1 / scale, the odd rows apart from the others.
    wide = numerators if total * base < 2**63 else numerators.astype(object)
    terms = weights[:, None] * np.where(plain[:, None], wide, 0)
    extra = np.zeros((len(odd), numerators.shape[1]), dtype=object)
    for place, atom in enumerate(odd):
        times = int(weights[atom]) * scale
        extra[place] = [times * int(value) // int(denominators[atom]) for value in numerators[atom]]
        if any(times * int(value) % int(denominators[atom]) for value in numerators[atom]):
            raise SolverFailed("the exact recipe has no common unit")
    whole = terms.sum(axis=0).astype(object) * (scale // base) + extra.sum(axis=0)
    for codes in groups:
        masses = _sums(weights[:, None], codes)[:, 0]
        found = _sums(terms, codes).astype(object) * (scale // base)
        np.add.at(found, codes[odd], extra)
        if (found * total != masses[:, None].astype(object) * whole).any():
            raise SolverFailed("the exact recipe is not independent of a view")
