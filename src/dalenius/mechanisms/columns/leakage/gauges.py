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

from dalenius.core import Guarantee, Guess, LocalDP, MaximalLeakage, Problem, TotalVariation
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
    """A promise as gauges of the program: one; where it is about delta, one for each of the `pairs` of rows.

    `silent`: the limit leaves nothing but independence, so that the program has equalities instead: rows
    p(v|e) - p(v) for each part and each value but the last, with `masses` p(v) / c(v) the same for all v.
    """

    promise: Guarantee
    gauges: tuple[Gauge, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    silent: bool = False
    shares: tuple[Fraction, ...] = ()  # p(v) of the values of a silent one

    @property
    def worlds(self) -> int:
        """How many blocks of equalities a silent one has: one for each value of what leaves beside the letter."""
        parts = len(self.gauges[0].parts)
        return parts // len(self.shares) if isinstance(self.promise, TotalVariation) else parts

    def lifted(self, eta: Floats) -> Weighed:
        """Multipliers of a gauge that say what those of the equalities of independence say, and no less.

        With rows q_v / c_v, sum_v q_v = p(k|e), and f = p_v / c_v: rho_v = c_v (delta - eta_v) with a delta that
        makes their sum mu gives -sum eta_v (q_v - p_v p(k|e)) + mu f p(k|e), and the limit is f. Of a total variation
        the rows are q_v - p_v p(k|e) themselves, and one number may be added to all of them.
        """
        letters = eta.shape[1]
        own = np.array([float(share) for share in self.shares])
        limit = float(self.gauges[0].limit)
        found = []
        for k in range(self.worlds):
            rows = np.vstack([eta[k * (len(own) - 1) : (k + 1) * (len(own) - 1)], np.zeros((1, letters))])
            found.append(rows.max(axis=0) - rows)
        if isinstance(self.promise, TotalVariation):
            return max(float(rho.max()) for rho in found), tuple(row[None] for rho in found for row in rho)
        weights = own / limit
        raised = [weights[:, None] * rho for rho in found]
        mu = max(float(rho.sum(axis=0).max()) for rho in raised)
        return mu, tuple(rho + own[:, None] * (mu - rho.sum(axis=0)) for rho in raised)


def is_gauged(promise: Guarantee) -> bool:
    """Whether a promise is one gauge, or one for each pair of rows."""
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
        everybody = np.append(mass, np.full(near.unseen, near.mass // near.scale, dtype=object))
        return _of_pairs(promise, everybody, int(sum(mass)), near.numbers, worlds)
    if isinstance(promise, MaximalLeakage) and not promise.about:
        parts = _of_inputs(mass, near.numbers, worlds)
    else:
        parts = _of_secret(problem, promise)
    gauge = Gauge(tuple(parts), _limit(problem, promise))
    least = gauge.floor(mass)
    if gauge.limit < least:
        raise Infeasible(_too_little(problem, promise, least))
    if gauge.limit == least and _tied(gauge, mass):
        about = promise.secret or problem.inputs
        counts = problem.pmf.counts(about)
        shares = tuple(Fraction(int(count), problem.pmf.total) for count in counts)
        return Gauged(promise, (gauge,), silent=True, shares=shares)
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


def _tied(gauge: Gauge, mass: Exact) -> bool:
    """Whether all rows of every part are as good as the best, so that none may be better in any letter."""
    return all(len(set(values)) == 1 and values[0] >= 0 for values in gauge.at_constant(mass))


def _of_inputs(mass: Exact, numbers: Sequence[int], worlds: Sequence[Places]) -> list[Exact]:
    """1 / p(e) for each row, in parts of the rows with the same strata."""
    total = int(sum(mass))
    parts = []
    for world in sorted({worlds[number] for number in numbers[: len(mass)]}):
        own = [e for e, number in enumerate(numbers[: len(mass)]) if worlds[number] == world]
        rows = np.zeros((len(own), len(mass)), dtype=object)
        for row, e in enumerate(own):
            rows[row, e] = Fraction(total, int(mass[e]))
        parts.append(rows)
    return parts


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
    if isinstance(promise, MaximalLeakage):
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
