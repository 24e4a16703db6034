r"""The most information under (epsilon, delta) local DP for up to six letters: a finite linear program.

The planes c(x) = r c(x') and c(x) = 0, r = e^epsilon, divide the columns c(x) = p(y | x) into cones on which every
max(0, c(x) - r c(x')) is linear. What a column tells is convex, so that a column is best split into rays of its cone,
which use the same delta and tell no less. On a ray c(x) is 0 or a power of r, and no power between two of them is left
out: 149 rays of four letters, 1,081 of five, 9,365 of six. The multipliers of the program are the proof
(`kernel/levels.py`).
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from dalenius.core import Certificate, Design, LocalDP, Problem
from dalenius.core.arithmetic import exp
from dalenius.errors import SolverFailed
from dalenius.mechanisms.columns.exact_columns import channel_from_rows
from dalenius.mechanisms.proving import proved
from dalenius.solvers.lp import maximise

__all__ = ["MOST", "by_levels"]

MOST = 6  # letters that occur
SCORE = 100  # bits after the point of prices
GRAIN = 1 << 70  # a row of the channel in whole numbers has this sum
INSIDE = 1e-11  # share of delta that is left for rounding
LEAST = 1e-11  # weight of a column that is used


def by_levels(problem: Problem, promise: LocalDP) -> Design | None:
    """The best channel and its proof; None where there are too many letters or floats do not carry it.

    Parameters
    ----------
    problem : Problem
        Tells about what it reads, under this one promise.
    promise : LocalDP
        With a delta, without a metric.

    Returns
    -------
    Design or None
        With a value that the bound exceeds by what floats leave.
    """
    counts = [int(n) for n in problem.pmf.counts(problem.inputs)]
    many = len(counts)
    if not 2 <= many <= MOST:
        return None
    p = np.array(counts) / sum(counts)
    ratio = exp(promise.epsilon)[0]
    r = float(ratio)
    rays = np.array([_column(levels, r) for levels in _rays(many)])
    rays /= (rays @ p)[:, None]
    told = (p * rays * np.log2(np.where(rays > 0, rays, 1.0))).sum(axis=1)
    pairs = [(x, other) for x, other in product(range(many), repeat=2) if x != other]
    used = np.array([np.maximum(0.0, rays[:, x] - r * rays[:, other]) for x, other in pairs])
    delta = float(promise.delta)
    begin = np.concatenate([np.ones(many), np.full(len(pairs), -np.inf)])
    end = np.concatenate([np.ones(many), np.full(len(pairs), delta * (1 - INSIDE))])
    try:
        found = maximise(told, np.vstack([rays.T, used]), begin, end)
    except SolverFailed:
        return None
    columns = [(weight, ray) for weight, ray in zip(found.x, rays, strict=True) if weight > LEAST]
    rows = _within(
        [whole_row([float(weight * ray[x]) for weight, ray in columns], GRAIN) for x in range(many)],
        ratio,
        promise.delta,
    )
    weights = [
        [x, other, str(int(max(0.0, value) * (1 << SCORE)))]
        for (x, other), value in zip(pairs, found.dual[many:], strict=True)
    ]
    prices = [str(int(Fraction(float(value)) * (1 << SCORE))) for value in found.dual[:many]]
    proof = Certificate(
        {"rule": "levels", "promise": problem.guarantees.index(promise), "prices": prices, "pairs": weights}
    )
    method = f"a linear program over {len(rays):,} columns of powers of e^epsilon"
    return proved(problem, channel_from_rows(problem, rows), [proof], method=method)


def _within(rows: list[tuple[Fraction, ...]], ratio: Fraction, delta: Fraction) -> list[tuple[Fraction, ...]]:
    """Rows that use no more than delta: what the program and its rounding use too much falls with a constant row."""
    used = max(
        sum((max(Fraction(0), a - ratio * b) for a, b in zip(row, other, strict=True)), Fraction(0))
        for row, other in product(rows, repeat=2)
    )
    if used <= delta:
        return rows
    # What a pair uses is convex in its rows, and nothing where they are one: it falls at least with their share.
    share = Fraction(int(delta / used * GRAIN), GRAIN)
    return [tuple(share * a + (1 - share) * b for a, b in zip(row, rows[0], strict=True)) for row in rows]


def _rays(many: int) -> list[tuple[int, ...]]:
    """For each ray the power of every letter, -1 for none."""
    found = []
    for levels in product(range(-1, many), repeat=many):
        highest = max(levels)
        if highest >= 0 and set(range(highest)) <= set(levels):
            found.append(levels)
    return found


def _column(levels: tuple[int, ...], r: float) -> list[float]:
    highest = max(levels)
    return [0.0 if level < 0 else r ** (level - highest) for level in levels]


def whole_row(row: Sequence[float | Fraction], grain: int) -> tuple[Fraction, ...]:
    """A row in multiples of 1 / grain that sum up to 1; what rounding leaves goes to its largest entry."""
    units = [int(Fraction(entry) * grain) for entry in row]
    units[units.index(max(units))] += grain - sum(units)
    return tuple(Fraction(unit, grain) for unit in units)
