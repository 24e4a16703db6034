r"""As much information as possible, released in the letters that the columns have.

Under promises that each column keeps by itself the best mechanism needs no more letters than there are inputs: a basic
solution of the linear program over its columns has one for each row. What a letter is called changes no information, so
the letters of the best mechanism with a fresh alphabet are given the names of input outcomes, and those are chosen that
leave the most records as they are (an assignment problem). The bound is that of the fresh alphabet.

A promise that limits a sum over letters can need one letter more. Letters are then added up, those first that lose
least, which keeps every promise; from there, and from elsewhere, the channels with as many letters are climbed
(`funnel.climbing`). What is lost stays between value and bound, because no better bound is known. So are recipes that
must not release some values as some others, or keep the shares of all values (`shaped_values`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from time import monotonic
from typing import Any

import numpy as np

from dalenius.core import Channel, Design, Problem
from dalenius.errors import NotCertified, SolverFailed
from dalenius.mechanisms.columns.disclosure.shaped_values import where_shaped
from dalenius.mechanisms.columns.exact_columns import Target
from dalenius.mechanisms.columns.funnel.takes import NAMED, limits_a_sum
from dalenius.mechanisms.columns.leakage.takes import shaped
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proving import proved
from dalenius.mechanisms.registry import takers
from dalenius.solvers.extremal import best_mixture
from dalenius.stopping import left

__all__ = ["disclose_in_own_letters"]

OUTPUT = "a released value"
NAMES = "values named by assignment"
CLIMBED = "then a climb with as many values as the column has"
MANY = 256  # columns that are compared in pairs
HEAVY = 64  # of more of them so many, and all others are added to these
FREE = 0.5  # of the time, for the best mechanism with any values where fewer of them may have to do
CLIMBING = 0.8  # of what is left, for that with as many values as there are names
HIGHER = (
    "the best mechanism that was found has {} values, and the column has {}: the best with so many was climbed for, "
    "and the bound is that with any values"
)
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

    fresh = replace(problem, release=(), output=OUTPUT, forbid=(), freeze=(), preserve_marginals=False)
    if shaped(problem):
        return where_shaped(problem, fresh, gap=gap, seconds=seconds, on_progress=on_progress)
    sums = any(map(limits_a_sum, problem.guarantees))
    deadline = monotonic() + seconds
    first = seconds * FREE if sums else seconds
    found = takers(fresh)[0].design(fresh, gap=gap, seconds=first, on_progress=on_progress)
    dense = Channel(found.channel.inputs, found.channel.output, found.channel.rows)
    names = prod(len(problem.pmf.variables[name]) for name in problem.release)
    columns = [tuple(column) for column in zip(*dense.rows, strict=True) if any(column)]
    many = len(columns)

    def named(columns: list[Column], method: str, remarks: Sequence[str]) -> Design:
        given = _named(problem, dense, columns, names, linear_sum_assignment)
        output = {name: tuple(problem.pmf.variables[name]) for name in problem.release}
        channel = Channel(dense.inputs, output, tuple(zip(*given, strict=True)))
        return proved(problem, channel, [found.certificate], method=f"{method}; {NAMES}", remarks=remarks)

    if many <= names:
        return named(columns, found.method, found.remarks)
    if not sums:
        return named(_few(fresh, columns, names), found.method, found.remarks)
    fewer = _added_up(fresh, columns, names)
    best = named(fewer, found.method, [*found.remarks, MORE.format(many, names)])
    higher = _climbed(fresh, fewer, names, gap, CLIMBING * left(deadline), float(found.bound), on_progress)
    if higher is None:
        return best
    try:
        climb = named(higher, f"{found.method}; {CLIMBED}", [*found.remarks, HIGHER.format(many, names)])
    except NotCertified:  # a curved promise that floats kept by a hair
        return best
    return max(best, climb, key=lambda design: design.value)


def _climbed(
    problem: Problem,
    columns: list[Column],
    most: int,
    gap: float,
    seconds: float,
    bound: float,
    on_progress: Callable[[str], None] | None,
) -> list[Column] | None:
    """The columns of the best channel that is found by climbing, from these and others; None if nothing is."""
    from dalenius.mechanisms.columns.funnel.climbing import beginnings, climbed
    from dalenius.mechanisms.columns.funnel.gains import MERGING, Wanted, exact_channel

    wanted = Wanted(problem)
    masses = np.array([[float(entry) for entry in column] for column in _weighted(problem, columns)]).T
    known = np.zeros((len(masses), most))
    known[:, : len(columns)] = masses / wanted.mass[:, None]
    deadline = monotonic() + seconds
    starts = beginnings(wanted, most, [known])
    climb = climbed(problem, starts, seconds=seconds, enough=bound - gap / 2, on_progress=on_progress)
    if climb is None:
        return None
    pi = climb[: len(wanted.mass)] * wanted.mass[:, None]
    found = exact_channel(problem, wanted, pi, loss=MERGING * gap, spare=MERGING * gap, seconds=left(deadline))
    rows = Channel(found.inputs, found.output, found.rows).rows
    return [tuple(column) for column in zip(*rows, strict=True) if any(column)]


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
    target = Target(problem)
    if len(columns) > MANY:
        columns = _gathered(problem, target, columns)
    left: dict[int, Column] = dict(enumerate(columns))
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


def _gathered(problem: Problem, target: Target, columns: list[Column]) -> list[Column]:
    """Each column is added to that of the heaviest with which it loses least."""
    masses = np.array([[float(entry) for entry in column] for column in _weighted(problem, columns)])
    heaviest = np.argsort(-masses.sum(axis=1))[:HEAVY]
    centres = masses[heaviest]
    told = target.near(centres)
    sums = [list(columns[k]) for k in heaviest]
    for k in sorted(set(range(len(columns))) - set(heaviest.tolist())):
        near = int((told - target.near(centres + masses[k])).argmin())
        sums[near] = [a + b for a, b in zip(sums[near], columns[k], strict=True)]
    return [tuple(column) for column in sums]


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
