r"""As much information as possible, released in the letters that the columns have.

Under promises that each column keeps by itself the best mechanism needs no more letters than there are inputs: a basic
solution of the linear program over its columns has one for each row. What a letter is called changes no information, so
the letters of the best mechanism with a fresh alphabet are given the names of input outcomes, and those are chosen that
leave the most records as they are (an assignment problem). The bound is that of the fresh alphabet.

A promise that limits a sum over letters can need one letter more. Letters are then added up, those first that lose
least, which keeps every promise; what that loses stays between value and bound, because no better bound is known.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from dalenius.core import Channel, Design, Problem
from dalenius.errors import SolverFailed
from dalenius.mechanisms.columns.exact_columns import Target
from dalenius.mechanisms.columns.funnel.takes import NAMED, limits_a_sum
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proving import proved
from dalenius.mechanisms.registry import takers
from dalenius.solvers.extremal import best_mixture

__all__ = ["disclose_in_own_letters"]

OUTPUT = "a released value"
MORE = "the best mechanism that was found has {} values, and the column has {}: what adding some up loses is left open"
Column = tuple[Fraction, ...]


def disclose_in_own_letters(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Maximise I(W; Y) with Y in the letters of what is observed.

    Parameters
    ----------
    problem : Problem
        Bound; it releases exactly the columns that it observes.
    gap, seconds, on_progress
        As of every designer.

    Returns
    -------
    Design
        Its letters are outcomes of the released columns.
    """
    NAMED.refuse(problem)
    from scipy.optimize import linear_sum_assignment  # takes a second to import: before the search, not after its time

    fresh = replace(problem, release=(), output=OUTPUT)
    found = takers(fresh)[0].design(fresh, gap=gap, seconds=seconds, on_progress=on_progress)
    dense = Channel(found.channel.inputs, found.channel.output, found.channel.rows)
    letters = list(product(*(problem.pmf.variables[name] for name in problem.release)))
    columns = [tuple(column) for column in zip(*dense.rows, strict=True) if any(column)]
    many = len(columns)
    sums = any(map(limits_a_sum, problem.guarantees))
    remarks = list(found.remarks)
    if many > len(letters):
        columns = (_added_up if sums else _few)(fresh, columns, len(letters))
        remarks += [MORE.format(many, len(letters))] if sums else []
    named = _named(problem, dense, columns, len(letters), linear_sum_assignment)
    rows = tuple(zip(*named, strict=True))
    output = {name: tuple(problem.pmf.variables[name]) for name in problem.release}
    channel = Channel(dense.inputs, output, rows)
    method = f"{found.method}; values named by assignment"
    return proved(problem, channel, [found.certificate], method=method, remarks=remarks)


def _few(problem: Problem, columns: list[Column], most: int) -> list[Column]:
    """A basic solution over the columns, which tells no less."""
    told = Target(problem).near(_weighted(problem, columns)).tolist()
    mixture = best_mixture(columns, told, [Fraction(1)] * len(columns[0]))
    chosen = [tuple(theta * value for value in columns[k]) for k, theta in mixture.theta.items() if theta]
    if len(chosen) > most:
        raise SolverFailed(f"{len(chosen)} values are needed, and the columns have {most}")
    return chosen


def _added_up(problem: Problem, columns: list[Column], most: int) -> list[Column]:
    """So few columns: two are added up again and again, those that lose least by floats; the sums are exact."""
    left: dict[int, Column] = dict(enumerate(columns))
    target = Target(problem)
    masses = np.array([[float(entry) for entry in column] for column in _weighted(problem, columns)])
    told = target.near(masses)
    lost = np.full((len(columns), len(columns)), np.inf)  # by adding up two columns, the first of them before the other
    for k in range(len(columns) - 1):
        lost[k, k + 1 :] = told[k] + told[k + 1 :] - target.near(masses[k] + masses[k + 1 :])
    while len(left) > most:
        i, j = (int(place) for place in np.unravel_index(np.argmin(lost), lost.shape))
        left[i] = tuple(a + b for a, b in zip(left[i], left.pop(j), strict=True))
        masses[i] += masses[j]
        told[i] = target.near(masses[i : i + 1])[0]
        lost[j, :] = lost[:, j] = np.inf
        others = np.array([k for k in left if k != i], dtype=np.int64)
        lost[np.minimum(i, others), np.maximum(i, others)] = (
            told[i] + told[others] - target.near(masses[i] + masses[others])
        )
    return list(left.values())


def _weighted(problem: Problem, columns: list[Column]) -> list[Column]:
    """Columns of the mechanism times the probability of each input that occurs, in the order of the table."""
    joint = problem.pmf
    channel = Channel.constant(joint.alphabets(problem.inputs), OUTPUT)
    places = [channel.row_of(codes) for codes in joint.grouped(problem.inputs)[0]]
    masses = joint.shares(problem.inputs)
    return [tuple(mass * column[place] for mass, place in zip(masses, places, strict=True)) for column in columns]


def _named(
    problem: Problem, channel: Channel, columns: list[Column], names: int, assigned: Callable[..., Any]
) -> list[Column]:
    """For each name a column, or nothing: the names that agree most with what is released, by a linear program."""
    joint = problem.pmf
    masses = np.zeros(names)
    for codes, n in zip(joint.grouped(problem.inputs)[0], joint.counts(problem.inputs), strict=True):
        masses[channel.row_of(codes)] = int(n)
    same = np.array([[float(entry) for entry in column] for column in columns]) * masses
    which, name = assigned(-same)
    nothing = (Fraction(0),) * len(columns[0])
    found = [nothing] * names
    for y, k in zip(which.tolist(), name.tolist(), strict=True):
        found[k] = columns[y]
    return found
