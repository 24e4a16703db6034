r"""Whether anything can be disclosed at all, with a witness; how many letters suffice; bounds that need ranks.

With P the matrix of eq. (3), one row p(a | x) for each value a of each view, and P_W the rows p(w | x), all over the
outcomes x that occur: exact ranks and null spaces, so a verdict is a proof. Views need not be functions of the
observed samples; problems that keep columns are refused.

References: Rassouli, Rosas & Gündüz (paper 000), Propositions 1 and 3, Corollary 1.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log2

import numpy as np

from dalenius.core import Channel, Kernel, Problem
from dalenius.core.arithmetic import times_log2
from dalenius.core.numbers import written
from dalenius.errors import MismatchError, NotCertified, Unsupported
from dalenius.measures.shannon import entropy
from dalenius.solvers import maximise, null_space, rank

__all__ = ["EquivocationBounds", "Feasibility", "equivocation_bounds", "feasible", "latent_bound", "reduced"]

Matrix = list[list[Fraction]]


@dataclass(frozen=True)
class Feasibility:
    """The verdict of Proposition 1; if something can be disclosed, a direction v and the mapping p +- epsilon v.

    `direction` has one entry for each outcome of the observed variables that occurs, in the order of `Pmf.grouped`.
    """

    feasible: bool
    rank: int
    nullity: int
    direction: tuple[Fraction, ...] | None
    epsilon: Fraction | None
    channel: Channel | None


def feasible(problem: Problem) -> Feasibility:
    r"""Whether I_s > 0: Null(P) is not within Null(P_W), Proposition 1, decided by exact ranks.

    The witness is the first vector of a basis of Null(P) that P_W does not annul, and the mapping has two equally
    likely letters with p(x | y) = p(x) +- epsilon v(x), epsilon as large as it can be; the paper leaves it
    "sufficiently small".

    >>> from dalenius.testing import xor
    >>> found = feasible(xor())
    >>> found.feasible, found.nullity, [int(t) for t in found.direction], found.epsilon
    (True, 1, [1, -1, -1, 1], Fraction(1, 4))
    """
    P, P_W, p = _matrices(problem)
    known = rank(P)
    nullity = len(p) - known
    if rank([*P, *P_W]) == known:
        return Feasibility(False, known, nullity, None, None, None)
    for v in null_space(P):
        if any(sum((entry * t for entry, t in zip(row, v, strict=True) if t), Fraction(0)) for row in P_W):
            break
    epsilon = min(mass / abs(t) for mass, t in zip(p, v, strict=True) if t)
    columns = [[(mass + sign * epsilon * t) / 2 for mass, t in zip(p, v, strict=True)] for sign in (1, -1)]
    return Feasibility(True, known, nullity, tuple(v), epsilon, _channel(problem, columns, p))


def reduced(problem: Problem, channel: Kernel) -> Channel:
    r"""A private mapping with at most nul(P) + 1 letters that tells at least as much, Proposition 3.

    The columns p(x | y) lie in p + Null(P), so nul(P) + 2 of them are affinely dependent: moving the weights along the
    dependence keeps p_X and every column, hence privacy, and changes I(W; Y) linearly; it goes the way I does not
    shrink (up to 2^-150, the width of the enclosures) until a letter has no weight left. The paper's support lemma
    keeps I exactly, in reals; ours stays in rationals. A mapping that is not private is refused.

    >>> from dalenius.mechanisms.columns.disclose import disclose
    >>> from dalenius.testing import example2
    >>> best = disclose(example2())
    >>> reduced(example2(), best.channel).shape
    (6, 3)
    """
    P, P_W, p = _matrices(problem)
    at = _rows(problem, channel)
    columns = [[channel.rows[r][y] * mass for r, mass in zip(at, p, strict=True)] for y in range(channel.shape[1])]
    columns = [column for column in columns if any(column)]
    _refuse_leaks(P, p, columns)
    theta = [sum(column, Fraction(0)) for column in columns]
    points = [[entry / mass for entry in column] for column, mass in zip(columns, theta, strict=True)]
    gains = [_gain(P_W, p, point) for point in points]
    most = len(p) - rank(P) + 1
    while len(points) > most:
        some = range(most + 1)
        d = null_space([[points[y][x] for y in some] for x in range(len(p))])[0]
        if sum(t * gains[y] for y, t in zip(some, d, strict=True)) < 0:
            d = [-t for t in d]
        step = min(theta[y] / -t for y, t in zip(some, d, strict=True) if t < 0)
        for y, t in zip(some, d, strict=True):
            theta[y] += step * t
        alive = [y for y, mass in enumerate(theta) if mass]
        theta = [theta[y] for y in alive]
        points = [points[y] for y in alive]
        gains = [gains[y] for y in alive]
    weighted = [[mass * t for t in point] for mass, point in zip(theta, points, strict=True)]
    return _channel(problem, weighted, p, name=next(iter(channel.output)) if len(channel.output) == 1 else None)


@dataclass(frozen=True)
class EquivocationBounds:
    """min H(X | Y) over private mappings is at most `rank_bits`, at most `count_bits`; so X can tell that much less."""

    rank_bits: float
    count_bits: float
    self_disclosure_at_least_bits: float


def equivocation_bounds(problem: Problem) -> EquivocationBounds:
    r"""min H(X | Y) <= log rank(P) <= log min{sum |X_g| - (number of views) + 1, number of outcomes}, eq. (18)(19).

    Because extreme columns have at most rank(P) outcomes. Stated for views instead of samples.

    >>> from dalenius.testing import example2
    >>> found = equivocation_bounds(example2())
    >>> found.rank_bits, found.count_bits
    (2.0, 2.0)
    """
    P, _, p = _matrices(problem)
    bits = log2(rank(P))
    count = min(len(P) - len(problem.views) + 1, len(p)) if problem.views else 1
    return EquivocationBounds(bits, log2(count), max(0.0, entropy(problem.pmf, problem.inputs) - bits))


def latent_bound(problem: Problem) -> float:
    r"""I_s <= sum_w p(w) log2(M_w / p(w)) with M_w = max {(P_W v)_w : v >= 0, P v = P p}, one program for each w.

    Not in the paper; M_w comes from the dual, so it holds up to rounding. Often weak, sharp when some w cannot be ruled
    in.

    >>> from dalenius.testing import xor
    >>> round(latent_bound(xor()), 9)
    1.0
    """
    P, P_W, p = _matrices(problem)
    A = np.array([[float(entry) for entry in row] for row in P])
    mass = np.array([float(t) for t in p])
    bits = 0.0
    for row in P_W:
        c = np.array([float(entry) for entry in row])
        here = float(c @ mass)
        y = maximise(c, A, A @ mass).dual
        # sum v = 1 on S, so what the dual misses is added as it is.
        most = min(1.0, float(y @ (A @ mass)) + max(0.0, float((c - A.T @ y).max())))
        bits += here * log2(max(most, here) / here)
    return bits


def _matrices(problem: Problem) -> tuple[Matrix, Matrix, list[Fraction]]:
    """P of eq. (3) with a first row of ones (implied as soon as there is a view), P_{W|X}, and p_X."""
    if problem.kept:
        raise Unsupported(f"{', '.join(problem.kept)} would leave as it is; this test takes problems that keep nothing")
    joint = problem.pmf
    weight = [int(n) for n in joint.counts(problem.inputs)]

    def rows(names: Sequence[str]) -> Matrix:
        counts = joint.counts(problem.inputs, names)
        return [[Fraction(int(entry), m) for entry, m in zip(column, weight, strict=True)] for column in counts.T]

    P = [row for view in problem.views for row in rows(view)] or [[Fraction(1)] * len(weight)]
    return P, rows(problem.objective.names), [Fraction(m, joint.total) for m in weight]


def _rows(problem: Problem, channel: Kernel) -> list[int]:
    if list(channel.inputs.items()) != list(problem.pmf.alphabets(problem.inputs).items()):
        raise MismatchError(f"the mapping reads {list(channel.inputs)}, the problem observes {list(problem.inputs)}")
    return [channel.row_of(codes) for codes in problem.pmf.grouped(problem.inputs)[0]]


def _refuse_leaks(P: Matrix, p: Sequence[Fraction], columns: Sequence[Sequence[Fraction]]) -> None:
    for row in P:
        prior = sum((entry * t for entry, t in zip(row, p, strict=True)), Fraction(0))
        for y, column in enumerate(columns):
            apart = sum((entry * t for entry, t in zip(row, column, strict=True)), Fraction(0)) - prior * sum(
                column, Fraction(0)
            )
            if apart:
                raise NotCertified(
                    f"the mapping is not private: p(view, y) is off its product by {written(apart)} at letter {y + 1}"
                )


def _gain(P_W: Matrix, p: Sequence[Fraction], v: Sequence[Fraction]) -> int:
    """sum_w u_w log2(u_w / p_w) in units of 2^-BITS, u = P_W v, from below."""
    units = 0
    for row in P_W:
        u = sum((entry * t for entry, t in zip(row, v, strict=True) if t), Fraction(0))
        units += times_log2(u, u / sum((a * t for a, t in zip(row, p, strict=True)), Fraction(0)))[0] if u else 0
    return units


def _channel(
    problem: Problem, columns: Sequence[Sequence[Fraction]], p: Sequence[Fraction], name: str | None = None
) -> Channel:
    """p(y | x) = v_y(x) / p(x); rows of impossible outcomes repeat p(y)."""
    joint = problem.pmf
    inputs = joint.alphabets(problem.inputs)
    shape = Channel.constant(inputs, name or problem.output or "Y")
    rows = [tuple(sum(column, Fraction(0)) for column in columns)] * len(shape.rows)
    for x, codes in enumerate(joint.grouped(problem.inputs)[0]):
        rows[shape.row_of(codes)] = tuple(column[x] / p[x] for column in columns)
    letters = tuple(str(y) for y in range(len(columns)))
    return Channel(inputs, {name or problem.output or "Y": letters}, tuple(rows))
