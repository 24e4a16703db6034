r"""Gauge promises as limits of the convex program, and the multipliers of these limits as a proof.

Rows of a gauge are in units of pi(e, t) = p(e) W(t|e): a secret's p(s, k | e), an input's 1 / p(e). Parts stand for the
values k of what leaves beside the letter; values of a secret and worlds are in the order of `Pmf.grouped`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from dalenius.core import Dalenius, Guarantee, Guess, LocalDP, MaximalLeakage, Problem, TotalVariation
from dalenius.core.arithmetic import BITS, exp, log2, two_to
from dalenius.core.numbers import up
from dalenius.errors import Infeasible
from dalenius.mechanisms.columns.exact_columns import named
from dalenius.mechanisms.columns.leakage.local_dp_rows import Nearness
from dalenius.mechanisms.proof_terms import ONE
from dalenius.solvers.leakage import Gauge
from dalenius.solvers.leakage.program import Exact, Floats

__all__ = ["Gauged", "Weighed", "gauged", "is_gauged", "ties_actions", "whole_units"]

Places = tuple[int, ...]
Weighed = tuple[float, tuple[Floats, ...]]  # the weight of a gauge, and the multipliers of the rows of its parts
GAUGED = (Guess, MaximalLeakage, TotalVariation)
"""Promises that are one gauge of finitely many rows."""


@dataclass(frozen=True, eq=False)
class Gauged:
    """A promise as gauges of the program: one; where it is about delta, one for each of the `pairs` of rows."""

    promise: Guarantee
    gauges: tuple[Gauge, ...]
    pairs: tuple[tuple[int, int], ...] = ()


def is_gauged(promise: Guarantee) -> bool:
    """Whether a promise is one gauge, or one for each pair of rows."""
    if isinstance(promise, Dalenius):
        return promise.allows_nothing
    return isinstance(promise, GAUGED) or (isinstance(promise, LocalDP) and bool(promise.delta))


def gauged(problem: Problem, promise: Guarantee, near: Nearness, worlds: Sequence[Places]) -> Gauged | None:
    """The gauges of a promise, or None if it is none of them.

    Parameters
    ----------
    problem : Problem
        With its law.
    promise : Guarantee
        One of its promises.
    near : Nearness
        The rows of the program, and their places among all inputs.
    worlds : sequence of tuple
        For each input its letters in the columns that are read and leave as they are.

    Returns
    -------
    Gauged, or None

    Raises
    ------
    Infeasible
        If what leaves anyway exceeds the limit; with the smallest that can be kept.
    """
    mass = problem.pmf.counts(problem.inputs).astype(object)
    if not is_gauged(promise):
        return None
    if isinstance(promise, LocalDP):
        return _of_pairs(promise, near.everybody(mass), int(sum(mass)), near.numbers, worlds)
    if not promise.secret:
        return _of_inputs(problem, promise, near, worlds)
    gauge = Gauge(tuple(_of_secret(problem, promise)), _limit(problem, promise))
    least = gauge.floor(mass)
    if gauge.limit < least:
        raise Infeasible(_too_little(problem, promise, least))
    return Gauged(promise, (gauge,))


def ties_actions(problem: Problem, promise: Guess) -> bool:
    """Whether a guess may be no better than it is without the release, and several are then best.

    None of them may be better than another in any letter, so that no release tells their shares apart.

    Parameters
    ----------
    problem : Problem
        With its law.
    promise : Guess
        One of its promises.

    Returns
    -------
    bool
    """
    gauge = Gauge(tuple(_of_secret(problem, promise)), _limit(problem, promise))
    mass = problem.pmf.counts(problem.inputs).astype(object)
    if gauge.limit > gauge.floor(mass):
        return False
    for part, values in zip(gauge.parts, gauge.at_constant(mass), strict=True):
        best = {tuple(row) for row, value in zip(part, values, strict=True) if value == max(values)}
        if len(best) > 1:
            return True
    return False


def _of_inputs(problem: Problem, promise: Guarantee, near: Nearness, worlds: Sequence[Places]) -> Gauged:
    """1 / p(e) for each row, in parts of the rows with the same strata.

    A capacity of 0 is a maximal leakage of 0: all rows are the same.
    """
    mass = near.everybody(problem.pmf.counts(problem.inputs).astype(object))
    parts = []
    for world in sorted({worlds[number] for number in near.numbers}):
        own = [e for e, number in enumerate(near.numbers) if worlds[number] == world]
        rows = np.zeros((len(own), len(mass)), dtype=object)
        for row, e in enumerate(own):
            rows[row, e] = Fraction(problem.pmf.total, int(mass[e]))
        parts.append(rows)
    limit = _limit(problem, promise)
    if limit < len(parts):
        raise Infeasible(_too_little(problem, promise, Fraction(len(parts))))
    return Gauged(promise, (Gauge(tuple(parts), limit),))


def _of_secret(problem: Problem, promise: Guarantee) -> list[Exact]:
    """The rows of a promise about a secret, for each value of what leaves beside the letter."""
    joint = problem.pmf
    table = joint.counts(problem.inputs, promise.secret, problem.beside).astype(object)
    mass = table.sum(axis=(1, 2))
    alone = table.sum(axis=(0, 2))
    parts: list[Exact] = []
    for k in range(table.shape[2]):
        shares = np.array(
            [
                [Fraction(int(entry), int(m)) for entry, m in zip(column, mass, strict=True)]
                for column in table[:, :, k].T
            ],
            dtype=object,
        )
        rows = _rows_of(problem, promise, shares, [Fraction(int(n), joint.total) for n in alone])
        # The positive parts of all values of a secret are added up; of other rows the largest counts.
        parts += [row[None] for row in rows] if isinstance(promise, TotalVariation) else [rows]
    return parts


def _rows_of(problem: Problem, promise: Guarantee, shares: Exact, prior: list[Fraction]) -> Exact:
    """Of p(s, k | e) the rows that the promise compares."""
    if isinstance(promise, TotalVariation):
        return np.asarray(shares - np.outer(np.array(prior, dtype=object), shares.sum(axis=0)))
    if isinstance(promise, MaximalLeakage):
        return np.asarray(shares / np.array(prior, dtype=object)[:, None])
    assert isinstance(promise, Guess)
    if promise.gain is None:
        return shares
    return np.asarray(_gains(problem, promise).dot(shares))


def _gains(problem: Problem, promise: Guess) -> Exact:
    """The gains with a column for each value that occurs; a file lists all outcomes of the columns."""
    letters = [problem.pmf.variables[n] for n in promise.about]
    columns = []
    for word in named(problem, promise.about):
        place = 0
        for alphabet, letter in zip(letters, word, strict=True):
            place = place * len(alphabet) + list(alphabet).index(letter)
        columns.append([row[place] for row in promise.gain or ()])
    return np.array(columns, dtype=object).T


def _limit(problem: Problem, promise: Guarantee) -> Fraction:
    """What all letters may use up together, from below."""
    if isinstance(promise, MaximalLeakage | Dalenius):
        return two_to(promise.at_most_bits)[0]  # from below: no more than was promised
    if isinstance(promise, TotalVariation):
        return promise.at_most
    assert isinstance(promise, Guess)
    if promise.times is None:
        return promise.at_most or Fraction(0)
    side = problem.side_information
    held = tuple(n for n in problem.beside if side is not None and n == side.variable)
    counts = problem.pmf.counts(promise.about, held).astype(object)
    gains = np.eye(len(counts), dtype=object) if promise.gain is None else _gains(problem, promise)
    best = gains.dot(counts).max(axis=0)
    return promise.times * sum((Fraction(value) for value in best), Fraction(0)) / problem.pmf.total


def _of_pairs(promise: LocalDP, mass: Exact, total: int, numbers: Sequence[int], worlds: Sequence[Places]) -> Gauged:
    """delta: max(0, W(t|i) - r W(t|j)) for each ordered pair of rows that agree in what is given, added up over t."""
    own = promise.of_one_row
    # r from below makes each positive part larger, so that no delta is counted too small.
    ratio = exp(own.epsilon)[0]
    pairs, gauges = [], []
    for i, j in permutations(range(len(mass)), 2):
        if promise.given and worlds[numbers[i]] != worlds[numbers[j]]:
            continue
        row = np.zeros((1, len(mass)), dtype=object)
        row[0, i] = Fraction(total, int(mass[i]))
        row[0, j] = -ratio * Fraction(total, int(mass[j]))
        pairs.append((numbers[i], numbers[j]))
        gauges.append(Gauge((row,), own.delta))
    return Gauged(promise, tuple(gauges), tuple(pairs))


def _too_little(problem: Problem, promise: Guarantee, least: Fraction) -> str:
    """Why a limit cannot be kept, with the smallest that can."""
    beside = f"{', '.join(problem.beside)} alone lets " if problem.beside else "without any release "
    if isinstance(promise, Guess) and promise.gain is None:
        return (
            f"{beside}a guess of {', '.join(promise.about)} {'be' if problem.beside else 'is'} right {up(least, 9)} of "
            f"the time, more often than guess allows; the smallest limit that can be kept is {up(least, 9)}"
        )
    if isinstance(promise, MaximalLeakage):
        least = Fraction(log2(least)[1], 1 << BITS)
    return (
        f"{beside}{promise.key} reach{'' if problem.beside else 'es'} {up(least, 9)} already, more than its limit "
        f"allows; the smallest that can be kept is {up(least, 9)}"
    )


def whole_units(value: Any) -> int:
    """A multiplier as a whole number of units, from below, and not negative."""
    return max(0, int(Fraction(float(value)) * ONE))
