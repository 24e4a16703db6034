r"""A flow between points that tells nothing about one of two classes, made of pairs that cancel.

An atom e leans to the second class by r_e = g_e - p, above or below zero, and sum_e p_e r_e = 0. Mass a of an atom with
r_e > 0 and mass b of one with r_f < 0 lean to nothing together if a r_e = b |r_f| = u. So u units of excess go from e
to f as in a transport, and such a pair may release anything that does not depend on who of the two it was:

    each point keeps its mass: the record of e or f, by their masses     2 a b / (a + b) d = 2 u d / (r_e + |r_f|)
    else the record of the heavier one                                   min(a, b) d       = u d / max(r_e, |r_f|)

There is always such a flow, within seconds, so that every search has something to fall back on. Pairs are taken in the
order of what a unit of excess costs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.crowds import Crowd, with_own
from dalenius.solvers.flows.distances import blocks
from dalenius.solvers.flows.leaking import Flow

__all__ = ["Balance", "balanced", "neighbours"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_NEAR = 24  # partners of an atom that are compared
_NOTHING = 1e-15  # of excess, out of all


@dataclass(frozen=True, eq=False)
class Balance:
    """A flow that tells nothing, and arcs between atoms that could cancel cheaply."""

    flow: Flow
    atom: Integers
    point: Integers


def balanced(crowd: Crowd, keeps: bool, done: Callable[[], bool] = lambda: False) -> Balance:
    """A flow that tells nothing about two classes, whatever the atoms lean to.

    Parameters
    ----------
    crowd : Crowd
        With two classes.
    keeps : bool
        Whether every point keeps its mass.
    done : callable
        Whether the time is up: then partners are taken as they come.

    Returns
    -------
    Balance
        Exact but for the rounding of doubles.
    """
    lean = crowd.lean[1] - crowd.prior[1]
    above = np.flatnonzero(lean > 0)
    below = np.flatnonzero(lean < 0)
    pairs = _partners(crowd, lean, above, below, keeps, done)
    first, second, unit = _matched(crowd, lean, above, below, pairs)
    one = unit / lean[first]
    other = unit / -lean[second]
    if keeps:
        forth = one * other / (one + other)
        back = forth
    else:
        forth = np.where(one <= other, one, 0.0)
        back = np.where(one <= other, 0.0, other)
    atom = np.concatenate([first, second])
    point = crowd.at[np.concatenate([second, first])]
    share = np.concatenate([forth, back]) / crowd.mass[atom]
    near_atom = np.concatenate([pairs[0], pairs[1]])
    near_point = crowd.at[np.concatenate([pairs[1], pairs[0]])]
    return Balance(with_own(crowd, atom, point, share), near_atom, near_point)


def neighbours(crowd: Crowd) -> tuple[Integers, Integers]:
    """For each atom the nearest points where another class is likelier, for each point the nearest atoms of each class.

    A point that nobody of a class can go to seems to tell that class apart, and looks cheap to all of its atoms.

    Parameters
    ----------
    crowd : Crowd
        With any number of classes.

    Returns
    -------
    tuple of array
        Atoms and points.
    """
    ratio = crowd.lean / crowd.prior[:, None]
    there = np.stack([np.bincount(crowd.at, crowd.mass * lean, len(crowd.points)) for lean in ratio])
    own = ratio.argmax(axis=0)
    other = there.argmax(axis=0)
    atom: list[Integers] = [np.zeros(0, dtype=np.int64)]
    point: list[Integers] = [np.zeros(0, dtype=np.int64)]
    for s in range(len(ratio)):
        mine = np.flatnonzero(own == s)
        others = np.flatnonzero(other != s)
        for place, near in _nearest(crowd, crowd.origins[mine], crowd.points[others]):
            atom.append(mine[place])
            point.append(others[near])
        for place, near in _nearest(crowd, crowd.points[others], crowd.origins[mine]):
            atom.append(mine[near])
            point.append(others[place])
    return np.concatenate(atom), np.concatenate(point)


def _nearest(crowd: Crowd, rows: Integers, columns: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Some of the nearest columns of each row: places of rows and of columns."""
    few = min(_NEAR, len(columns))
    if len(rows) and few:
        for start, block in blocks(crowd.metric, rows, columns):
            near = np.argpartition(block, few - 1, axis=1)[:, :few]
            yield start + np.repeat(np.arange(len(block)), few), near.ravel()


def _partners(
    crowd: Crowd, lean: Floats, above: Integers, below: Integers, keeps: bool, done: Callable[[], bool]
) -> tuple[Integers, Integers]:
    """For each atom the partners that cost least for a unit of excess, cheapest pairs first."""
    found: list[npt.NDArray[np.float64]] = [np.zeros((3, 0))]
    for mine, others, turned in ((above, below, False), (below, above, True)):
        theirs = np.abs(lean[others]).astype(np.float32)
        few = min(_NEAR, len(others))
        for start, block in blocks(crowd.metric, crowd.points[crowd.at[mine]], crowd.points[crowd.at[others]]):
            if done():
                break
            own = np.abs(lean[mine[start : start + len(block)]]).astype(np.float32)[:, None]
            cost = block / ((own + theirs) / 2 if keeps else np.maximum(own, theirs))
            near = np.argpartition(cost, few - 1, axis=1)[:, :few]
            at = np.repeat(np.arange(len(block)), few)
            mine_ = mine[start + at]
            others_ = others[near.ravel()]
            pair = (others_, mine_) if turned else (mine_, others_)
            found.append(np.stack([*pair, cost[at, near.ravel()]]))
    first, second, cost = np.concatenate(found, axis=1)
    order = np.argsort(cost, kind="stable")
    return first[order].astype(np.int64), second[order].astype(np.int64)


def _matched(
    crowd: Crowd, lean: Floats, above: Integers, below: Integers, pairs: tuple[Integers, Integers]
) -> tuple[Integers, Integers, Floats]:
    """Units of excess for each pair, as they come; what is left at the end goes to anybody."""
    left = (crowd.mass * np.abs(lean)).tolist()
    least = _NOTHING * float(crowd.mass @ np.abs(lean))
    found: list[tuple[int, int, float]] = []
    for e, f in zip(pairs[0].tolist(), pairs[1].tolist(), strict=True):
        unit = min(left[e], left[f])
        if unit > least:
            left[e] -= unit
            left[f] -= unit
            found.append((e, f, unit))
    rest = [f for f in below.tolist() if left[f] > least]
    for e in above.tolist():
        while left[e] > least and rest:
            f = rest[-1]
            unit = min(left[e], left[f])
            left[e] -= unit
            left[f] -= unit
            found.append((e, f, unit))
            if left[f] <= least:
                rest.pop()
    first, second, unit_ = zip(*found, strict=True) if found else ((), (), ())
    return np.array(first, dtype=np.int64), np.array(second, dtype=np.int64), np.array(unit_, dtype=np.float64)
