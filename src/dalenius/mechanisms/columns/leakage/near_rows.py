r"""What promises about pairs of rows cost at least, by a small linear program: the proof that a limit is out of reach.

A search for the least distortion under such a promise has a row for every pair and letter, and may not end in its time.
Most of these rows do not matter: let every letter t have a row a(t) to which it is nearest, and keep those alone that
compare it with the others,

    c_t(x) >= (c_t(a(t)) - e_t(x)) / R(a(t), x),    sum_t e_t(x) <= delta over the letters of one a(t).

Then, for all prices z of the rows with w_t(x) = p(x) d(x, t) - z(x) >= 0 wherever x is not a(t), and with
sum_x w_t(x) / R(a(t), x) >= 0 for every letter (R(a, a) = 1), no recipe has a distortion below

    sum_x z(x) - delta sum_t max(0, -w_t(a(t))):

of each inequality no more is used than makes up for a negative w_t(a(t)), and so much of its e_t(x) is lost.

The best prices are a linear program with a variable for each row and letter, and two inequalities for each letter. A
channel that contracts by s has rows whose total variation is at most sqrt(s), since half the sum of (p - q)^2 / (p + q)
is at most s and at least its square: R = 1 and delta = sqrt(s).
"""

from collections.abc import Iterator
from math import inf, sqrt

import numpy as np

from dalenius.core import Contraction, Guarantee, LocalDP
from dalenius.core.arithmetic import exp
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.leakage.local_dp_rows import worlds_of
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.solvers.leakage.program import Floats, Program
from dalenius.solvers.lp import maximise

__all__ = ["least_by_pairs"]

MOST = 1 << 17
"""Rows times letters of a program that is looked at: its linear program is as large, and takes a few seconds."""
HAIR = 1e-9
"""Share by which doubles may miss a bound."""


def least_by_pairs(model: Model, program: Program, cost: Floats) -> float:
    """No recipe that keeps the promises about pairs of rows has a lower distortion.

    Parameters
    ----------
    model : Model
        Of the problem, with its promises.
    program : Program
        Its program, also after presolving.
    cost : array (rows, letters)
        The distance of each letter from each row.

    Returns
    -------
    float
        Minus infinity where no promise says anything.
    """
    if cost.size > MOST:
        return -inf
    p = np.asarray(program.mass / program.total, dtype=np.float64)
    known = [_least(p, np.asarray(cost, dtype=np.float64), *near) for near in _near(model)]
    return max(known, default=-inf)


def _near(model: Model) -> Iterator[tuple[Floats, float]]:
    """1 / R(a, x) and delta of each promise about pairs, for the rows of the program."""
    numbers = model.near.numbers
    world = worlds_of(model.problem)
    for promise in model.problem.guarantees:
        found = _of_one(promise, len(numbers), numbers)
        if found is None:
            continue
        share, delta = found
        if isinstance(promise, LocalDP) and promise.given:
            share = share * np.array([[world[i] == world[j] for j in numbers] for i in numbers])
        yield share, delta


def _of_one(promise: Guarantee, rows: int, numbers: list[int]) -> tuple[Floats, float] | None:
    """The same between all rows, from below; None where the promise is about something else."""
    if isinstance(promise, Contraction):
        return np.ones((rows, rows)), sqrt(float(promise.at_most)) * (1 + HAIR)
    if not isinstance(promise, LocalDP):
        return None
    own = promise.of_one_row
    if own.metric is None:
        return np.full((rows, rows), (1 - HAIR) / float(exp(own.epsilon)[1])), float(own.delta) * (1 + HAIR)
    apart = np.array([[float(own.metric[i][j]) for j in numbers] for i in numbers])
    return np.exp(-float(own.epsilon) * apart) * (1 - HAIR), float(own.delta) * (1 + HAIR)


def _least(p: Floats, cost: Floats, share: Floats, delta: float) -> float:
    """The best bound of this kind; `share` is 1 / R."""
    anchor = cost.argmin(axis=0)
    near = share[anchor]  # (letters, rows)
    near[np.arange(len(anchor)), anchor] = 1.0
    own = np.zeros_like(near, dtype=bool)
    own[np.arange(len(anchor)), anchor] = True
    paid = p[:, None] * cost
    # z = top - v with v >= 0, so that no other row pays more than its distance.
    top = np.where(own.T, np.inf, paid).min(axis=1)
    top = np.where(np.isfinite(top), top, paid.max(axis=1))  # all letters are this row's own
    letters = np.arange(len(anchor))
    needed = near @ top - np.einsum("tx,xt->t", near, paid)
    lost = top[anchor] - paid[anchor, letters]
    takes = np.zeros_like(near)
    takes[letters, anchor] = 1.0
    rows = np.vstack([np.hstack([near, np.zeros((len(anchor),) * 2)]), np.hstack([takes, np.eye(len(anchor))])])
    below = np.concatenate([needed, lost])
    price = np.concatenate([np.ones(len(p)), np.full(len(anchor), delta)])
    try:
        found = maximise(-price, rows, below, np.full(len(below), np.inf))
    except (Infeasible, SolverFailed):
        return -inf
    v = np.maximum(found.x[: len(p)], 0.0)
    v += float((needed - near @ v).max(initial=0.0)) / float(near.sum(axis=1).min())  # what doubles miss
    bound = float((top - v).sum()) - delta * float(np.maximum(lost - v[anchor], 0.0).sum())
    return bound - HAIR * float(np.abs(paid).sum())
