"""Whether anything can be disclosed at all, with a witness; how many letters suffice; bounds that need ranks.

With P the matrix of eq. (3), one row p(a | x) for each value a of each view (``views_matrix``), and P_W the rows p(w |
x) (``useful_matrix``), all over the outcomes x that occur: exact ranks and null spaces, so a verdict is a proof, at the
cost of an elimination in rationals. Views need not be functions of the observed samples; problems that keep columns are
refused.

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
    """The verdict of Proposition 1; if something can be disclosed, a direction v and the mapping p +- epsilon v."""

    feasible: bool  # whether something can be disclosed
    # Of P.
    rank: int
    nullity: int
    # v, one entry for each outcome of the observed variables that occurs, in the order of `Pmf.grouped`.
    direction: tuple[Fraction, ...] | None
    epsilon: Fraction | None  # how far the mapping goes along it
    channel: Channel | None


def feasible(problem: Problem) -> Feasibility:
    """Whether I_s > 0: Null(P) is not within Null(P_W), Proposition 1, decided by exact ranks.

    The witness is the first vector of a basis of Null(P) that P_W does not annul, and the mapping has two equally
    likely letters with p(x | y) = p(x) +- epsilon v(x), epsilon as large as it can be; the paper leaves it
    "sufficiently small".

    Parameters
    ----------
    problem : Problem
        Bound to its data; it keeps no column.

    Returns
    -------
    Feasibility

    Raises
    ------
    Unsupported
        If the problem keeps columns.

    >>> from dalenius.testing import xor
    >>> found = feasible(xor())
    >>> found.feasible, found.nullity, [int(t) for t in found.direction], found.epsilon
    (True, 1, [1, -1, -1, 1], Fraction(1, 4))
    """
    views_matrix, useful_matrix, prior = _matrices(problem)
    known = rank(views_matrix)
    nullity = len(prior) - known
    if rank([*views_matrix, *useful_matrix]) == known:
        return Feasibility(False, known, nullity, None, None, None)
    for direction in null_space(views_matrix):
        if any(_dot(row, direction) for row in useful_matrix):
            break
    epsilon = min(mass / abs(change) for mass, change in zip(prior, direction, strict=True) if change)
    columns = [
        [(mass + sign * epsilon * change) / 2 for mass, change in zip(prior, direction, strict=True)]
        for sign in (1, -1)
    ]
    return Feasibility(True, known, nullity, tuple(direction), epsilon, _channel(problem, columns, prior))


def reduced(problem: Problem, channel: Kernel) -> Channel:
    """A private mapping with at most nul(P) + 1 letters that tells at least as much, Proposition 3.

    The columns p(x | y) lie in p + Null(P), so nul(P) + 2 of them are affinely dependent: moving the weights along the
    dependence keeps p_X and every column, hence privacy, and changes I(W; Y) linearly; it goes the way I does not
    shrink (up to 2^-150, the width of the enclosures) until a letter has no weight left. The paper's support lemma
    keeps I exactly, in reals; ours stays in rationals. A mapping that is not private is refused.

    Parameters
    ----------
    problem : Problem
        Bound to its data; it keeps no column.
    channel : Kernel
        A private mapping of its inputs.

    Returns
    -------
    Channel

    Raises
    ------
    MismatchError
        If the mapping reads other inputs.
    NotCertified
        If it is not private.
    Unsupported
        If the problem keeps columns.

    >>> from dalenius.mechanisms.columns.disclosure.design import disclose
    >>> from dalenius.testing import example2
    >>> best = disclose(example2())
    >>> reduced(example2(), best.channel).shape
    (6, 3)
    """
    views_matrix, useful_matrix, prior = _matrices(problem)
    at = _rows(problem, channel)
    columns = [
        [channel.rows[row][letter] * mass for row, mass in zip(at, prior, strict=True)]
        for letter in range(channel.shape[1])
    ]
    columns = [column for column in columns if any(column)]
    _refuse_leaks(views_matrix, prior, columns)
    theta = [sum(column, Fraction(0)) for column in columns]
    points = [[entry / mass for entry in column] for column, mass in zip(columns, theta, strict=True)]
    gains = [_gain(useful_matrix, prior, point) for point in points]
    most = len(prior) - rank(views_matrix) + 1
    while len(points) > most:
        some = range(most + 1)
        dependence = null_space([[points[letter][outcome] for letter in some] for outcome in range(len(prior))])[0]
        if sum(change * gains[letter] for letter, change in zip(some, dependence, strict=True)) < 0:
            dependence = [-change for change in dependence]
        step = min(theta[letter] / -change for letter, change in zip(some, dependence, strict=True) if change < 0)
        for letter, change in zip(some, dependence, strict=True):
            theta[letter] += step * change
        alive = [letter for letter, mass in enumerate(theta) if mass]
        theta = [theta[letter] for letter in alive]
        points = [points[letter] for letter in alive]
        gains = [gains[letter] for letter in alive]
    weighted = [[mass * change for change in point] for mass, point in zip(theta, points, strict=True)]
    return _channel(problem, weighted, prior, name=next(iter(channel.output)) if len(channel.output) == 1 else None)


@dataclass(frozen=True)
class EquivocationBounds:
    """min H(X | Y) over private mappings is at most `rank_bits`, at most `count_bits`; so X can tell that much less."""

    # Bounds of the least H(X | Y).
    rank_bits: float
    count_bits: float
    self_disclosure_at_least_bits: float  # what a private mapping can tell about X at least


def equivocation_bounds(problem: Problem) -> EquivocationBounds:
    """min H(X | Y) <= log rank(P) <= log min{sum |X_g| - (number of views) + 1, number of outcomes}, eq. (18)(19).

    Because extreme columns have at most rank(P) outcomes. Stated for views instead of samples.

    Parameters
    ----------
    problem : Problem
        Bound to its data; it keeps no column.

    Returns
    -------
    EquivocationBounds

    >>> from dalenius.testing import example2
    >>> found = equivocation_bounds(example2())
    >>> found.rank_bits, found.count_bits
    (2.0, 2.0)
    """
    views_matrix, _, prior = _matrices(problem)
    bits = log2(rank(views_matrix))
    count = min(len(views_matrix) - len(problem.views) + 1, len(prior)) if problem.views else 1
    return EquivocationBounds(bits, log2(count), max(0.0, entropy(problem.pmf, problem.inputs) - bits))


def latent_bound(problem: Problem) -> float:
    """I_s <= sum_w p(w) log2(M_w / p(w)) with M_w = max {(P_W v)_w : v >= 0, P v = P p}, one program for each w.

    Not in the paper; M_w comes from the dual, so it holds up to rounding. Often weak, sharp when some w cannot be ruled
    in.

    Parameters
    ----------
    problem : Problem
        Bound to its data; it keeps no column.

    Returns
    -------
    float
        In bits.

    >>> from dalenius.testing import xor
    >>> round(latent_bound(xor()), 9)
    1.0
    """
    views_matrix, useful_matrix, prior = _matrices(problem)
    matrix = np.array([[float(entry) for entry in row] for row in views_matrix])
    mass = np.array([float(mass_of_it) for mass_of_it in prior])
    bits = 0.0
    for row in useful_matrix:
        costs = np.array([float(entry) for entry in row])
        here = float(costs @ mass)
        dual = maximise(costs, matrix, matrix @ mass).dual
        # sum v = 1 on S, so what the dual misses is added as it is.
        most = min(1.0, float(dual @ (matrix @ mass)) + max(0.0, float((costs - matrix.T @ dual).max())))
        bits += here * log2(max(most, here) / here)
    return bits


def _matrices(problem: Problem) -> tuple[Matrix, Matrix, list[Fraction]]:
    """P of eq. (3) with a first row of ones (implied as soon as there is a view), P_{W|X}, and p_X."""
    if problem.kept:
        raise Unsupported(f"{', '.join(problem.kept)} would leave as it is; this test takes problems that keep nothing")
    joint = problem.pmf
    weight = [int(count) for count in joint.counts(problem.inputs)]

    def rows(names: Sequence[str]) -> Matrix:
        counts = joint.counts(problem.inputs, names)
        return [
            [Fraction(int(entry), whole) for entry, whole in zip(column, weight, strict=True)] for column in counts.T
        ]

    views_matrix = [row for view in problem.views for row in rows(view)] or [[Fraction(1)] * len(weight)]
    return views_matrix, rows(problem.objective.names), [Fraction(whole, joint.total) for whole in weight]


def _dot(row: Sequence[Fraction], vector: Sequence[Fraction]) -> Fraction:
    """row . vector, exactly."""
    return sum((entry * value for entry, value in zip(row, vector, strict=True) if value), Fraction(0))


def _rows(problem: Problem, channel: Kernel) -> list[int]:
    if list(channel.inputs.items()) != list(problem.pmf.alphabets(problem.inputs).items()):
        raise MismatchError(f"the mapping reads {list(channel.inputs)}, the problem observes {list(problem.inputs)}")
    return [channel.row_of(codes) for codes in problem.pmf.grouped(problem.inputs)[0]]


def _refuse_leaks(views_matrix: Matrix, prior: Sequence[Fraction], columns: Sequence[Sequence[Fraction]]) -> None:
    for row in views_matrix:
        before = _dot(row, prior)
        for letter, column in enumerate(columns):
            apart = _dot(row, column) - before * sum(column, Fraction(0))
            if apart:
                raise NotCertified(
                    f"the mapping is not private: p(view, y) is off its product by {written(apart)} at letter "
                    f"{letter + 1}"
                )


def _gain(useful_matrix: Matrix, prior: Sequence[Fraction], column: Sequence[Fraction]) -> int:
    """sum_w u_w log2(u_w / p_w) in units of 2^-BITS, u = P_W v, from below."""
    units = 0
    for row in useful_matrix:
        after = _dot(row, column)
        units += times_log2(after, after / _dot(row, prior))[0] if after else 0
    return units


def _channel(
    problem: Problem, columns: Sequence[Sequence[Fraction]], prior: Sequence[Fraction], name: str | None = None
) -> Channel:
    """p(y | x) = v_y(x) / p(x); rows of impossible outcomes repeat p(y)."""
    joint = problem.pmf
    inputs = joint.alphabets(problem.inputs)
    shape = Channel.constant(inputs, name or problem.output or "Y")
    rows = [tuple(sum(column, Fraction(0)) for column in columns)] * len(shape.rows)
    for outcome, codes in enumerate(joint.grouped(problem.inputs)[0]):
        rows[shape.row_of(codes)] = tuple(column[outcome] / prior[outcome] for column in columns)
    letters = tuple(str(letter) for letter in range(len(columns)))
    return Channel(inputs, {name or problem.output or "Y": letters}, tuple(rows))
