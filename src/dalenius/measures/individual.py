r"""Individual channel capacity: what ANY adversary, however records hang together for it, learns about ANY one record.

Each input of a channel p(y | x_1, ..., x_n) is the record of one individual. Over all joint laws of the records,

    C_1 = max_i max_{p(x)} I(X_i; Y)  =  max_i max over selections x_i -> x_(i) of capacity {p(. | x_i, x_(i))}     (48)

because the information is convex in the law of the others given x_i: the worst adversary believes that the others are
a function of x_i. Groups of k records alike (C_k, Def. 17). Against adversaries for whom the records are independent
convexity in the known others leaves max_i max_{x_(i)} capacity p(. | ., x_(i)).

References: paper 001, Theorem 2 (45)-(48), Definitions 4-6, 17 and 18, Theorem 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import inf, log, log2, nextafter, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.conditional_law import Kernel
from dalenius.core.pmf import Pmf, outcome_words
from dalenius.errors import DaleniusError, InputError
from dalenius.measures.capacity import Bracket, bits, distinct_rows, joint_with_output
from dalenius.measures.shannon import mutual_information_bounds
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import UNIT, Laws
from dalenius.solvers.selection import Node, Selection, best_selection

__all__ = [
    "Belief",
    "Individual",
    "against",
    "independent_capacity",
    "individual_capacity",
    "individual_proof",
    "largest_of_sets",
    "most_bits",
    "ordered",
    "outcome_classes",
]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

GAP = 1e-9  # nats
SEEN = 1e-9  # a smaller probability changes the information by less than the gap
NODES = 3000  # of each group; the bracket is proved however wide it is then
WORK = 50_000_000  # of each group: a node of r rows and k letters counts r k^2, about what its ball costs
FEWEST = 20  # nodes, however large the recipe is


@dataclass(frozen=True)
class Belief:
    """One value of the record, its probability for the adversary, and what the other records are then.

    Parameters
    ----------
    record : letters
        Of the record.
    probability : float
        For the adversary.
    others : letters
        Of the other records.
    """

    record: tuple[str, ...]
    probability: float
    others: tuple[str, ...]


@dataclass(frozen=True)
class Individual:
    """low <= C_k <= high in bits, the worst group of records, and the beliefs of an adversary that learns `low`.

    Parameters
    ----------
    low : float
        A lower bound.
    high : float
        An upper bound.
    group : names
        The records that are looked at.
    others : names
        All other records.
    beliefs : tuple of Belief
        They reach `low`.
    """

    low: float
    high: float
    group: tuple[str, ...]
    others: tuple[str, ...]
    beliefs: tuple[Belief, ...]

    def words(self) -> list[str]:
        """The worst adversary, one line for each value of the record that it believes possible."""
        lines = []
        for belief in sorted(self.beliefs, key=lambda b: -b.probability):
            then = f", and then {outcome_words(self.others, belief.others)}" if self.others else ""
            lines.append(f"{outcome_words(self.group, belief.record)} with probability {belief.probability:.6g}{then}")
        return lines


def outcome_classes(channel: Kernel, group: Sequence[int]) -> NDArray[np.intp]:
    """Input outcomes as a matrix: one line for each outcome of the group, one column for each of the others."""
    sizes = [len(letters) for letters in channel.inputs.values()]
    grid = np.moveaxis(np.arange(prod(sizes), dtype=np.intp).reshape(sizes), list(group), list(range(len(group))))
    return grid.reshape(prod(sizes[i] for i in group), -1)


def individual_capacity(channel: Kernel, *, group: int = 1, gap: float = GAP) -> Individual:
    """C_1 of a channel, or C_k for groups of k records, with the worst group and the worst adversary.

    The bracket is at most `gap` wide unless the search visits more than `NODES` nodes for a group, or fewer where
    rows and letters are many (`WORK`).

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).
    group : int
        How many records together.
    gap : float
        How far the two ends may be apart.

    Returns
    -------
    Individual
        A proved bracket and its adversary.

    >>> from dalenius.core import Channel
    >>> sure = (Fraction(1), Fraction(0))
    >>> xor = Channel({"A": ("0", "1"), "B": ("0", "1")}, {"Y": ("0", "1")}, (sure, sure[::-1], sure[::-1], sure))
    >>> found = individual_capacity(xor)
    >>> round(found.low, 9), round(found.high, 9), found.group
    (1.0, 1.0, ('A',))
    """
    names = list(channel.inputs)
    if not 1 <= group <= len(names):
        raise InputError(f"a group of {group} records is asked for; the recipe has {len(names)}")
    laws, which = distinct_rows(channel)
    best: tuple[Selection, tuple[int, ...]] | None = None
    high, seen = 0.0, set[tuple[bytes, ...]]()
    for members in combinations(range(len(names)), group):
        classes = [np.unique(which[line]) for line in outcome_classes(channel, members)]
        key = tuple(sorted(rows.tobytes() for rows in classes))
        if key in seen:  # records that are alike: the same rows may be selected
            continue
        seen.add(key)
        known = best[0].low if best else 0.0
        found = best_selection(laws, classes, gap=gap, known=known, nodes=_most_nodes(laws))
        high = max(high, min(found.high, nextafter(log(len(classes)), inf)))  # no more than the group itself holds
        if best is None or found.low > best[0].low:
            best = found, members
    assert best is not None
    low, high = bits(best[0].low, high) if len(laws) > 1 else (0.0, 0.0)
    return Individual(low, high, *_beliefs(channel, best[1], best[0], which))


def _most_nodes(laws: Laws) -> int:
    """The nodes that a group may take: work is counted and not time, so that a busy machine finds the same bracket."""
    rows, letters = laws.rows.shape
    return max(FEWEST, min(NODES, WORK // (int(rows) * int(letters) ** 2)))


def individual_proof(channel: Kernel, group: int = 1, *, gap: float = GAP) -> dict[str, Any]:
    """What the checker needs to prove a bound of C_1 or C_k: a tree of selections for each group, or one for all.

    >>> from dalenius.core import Channel
    >>> list(individual_proof(Channel.constant({"A": ("0", "1"), "B": ("0", "1")}, "Y"))["trees"][0][0])
    ['q']
    """
    laws, which = distinct_rows(channel)
    low, found = 0.0, []
    for members in combinations(range(len(channel.inputs)), group):
        classes = [np.unique(which[line]) for line in outcome_classes(channel, members)]
        found.append(best_selection(laws, classes, gap=gap, known=low, nodes=_most_nodes(laws), whole=True))
        low = max(low, found[-1].low)
    root = found[0].tree
    if root.high <= low + gap:  # the ball around all rows bounds every group
        return {"trees": [[_leaf(root)]]}
    return {"trees": [_flat(selection.tree) for selection in found]}


def _leaf(node: Node) -> dict[str, Any]:
    return {"q": [int(value * 2**60) + 1 for value in node.centre.tolist()]}


def _flat(tree: Node) -> list[dict[str, Any]]:
    """A tree of selections, each node before its parts; a part that allows a value no row is still a leaf."""
    todo, out = [tree], list[dict[str, Any]]()
    while todo:
        node = todo.pop()
        if node.parts and node.split is not None:
            first = node.parts[0].allowed[node.split]
            out.append({"class": node.split, "rows": first.tolist()})
            todo += reversed(node.parts)
        else:
            out.append(_leaf(node))
    return out


def _beliefs(
    channel: Kernel, members: tuple[int, ...], found: Selection, which: Places
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Belief, ...]]:
    names = list(channel.inputs)
    outcomes = channel.outcomes()
    rest = [i for i in range(len(names)) if i not in members]
    beliefs = []
    for line, row, weight in zip(outcome_classes(channel, members), found.rows, found.weights.tolist(), strict=True):
        if weight > SEEN:
            outcome = outcomes[int(line[np.flatnonzero(which[line] == row)[0]])]
            here = tuple(outcome[member] for member in members)
            there = tuple(outcome[i] for i in rest)
            beliefs.append(Belief(here, weight / float(found.weights.sum()), there))
    return tuple(names[member] for member in members), tuple(names[i] for i in rest), tuple(beliefs)


def independent_capacity(channel: Kernel, *, gap: float = GAP) -> Bracket:
    """C_1 against adversaries for whom the records are independent: all but one record are known to the worst of them.

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).
    gap : float
        How far the two ends may be apart.

    Returns
    -------
    (float, float)
        A proved bracket in bits.

    >>> from dalenius.core import Channel
    >>> independent_capacity(Channel.constant({"A": ("0", "1"), "B": ("0", "1")}, "Y"))
    (0.0, 0.0)
    """
    laws, which = distinct_rows(channel)
    low = high = 0.0
    for i in range(len(channel.inputs)):
        ends = largest_of_sets(laws, which[outcome_classes(channel, [i])].T, gap=gap, known=low)
        low = max(low, ends[0])
        high = max(high, ends[1])
    return bits(low, max(low, high))


def most_bits(letters: int) -> float:
    """The most that something with so many letters holds: log2, rounded up.

    >>> most_bits(4), 1.584 < most_bits(3) < 1.585
    (2.0, True)
    """
    # Exact for powers of two.
    return log2(letters) if letters & (letters - 1) == 0 else nextafter(log2(letters), inf)


def ordered(independent: Bracket, worst: Individual, most_bits: float) -> tuple[Bracket, Individual]:
    """Brackets that obey: independent records <= any adversary <= all that the record holds.

    Each end is carried over where the other bracket is the sharper one; brackets that cannot both hold the truth are a
    fault of ours and never leave.

    Raises
    ------
    DaleniusError
        Where the brackets contradict the order.

    >>> ordered((0.25, 0.75), Individual(0.0, 0.5, ("X1",), (), ()), 1.0)
    ((0.25, 0.5), Individual(low=0.25, high=0.5, group=('X1',), others=(), beliefs=()))
    """
    if independent[0] > worst.high or worst.low > most_bits:
        raise DaleniusError(
            f"the figures contradict each other: independent records {independent}, any attacker "
            f"{(worst.low, worst.high)}, the whole record {most_bits} bits"
        )
    high = min(worst.high, most_bits)
    sharper = replace(worst, high=high, low=min(high, max(worst.low, independent[0])))
    return (independent[0], min(independent[1], high)), sharper


def largest_of_sets(laws: Laws, sets: Places, *, gap: float = GAP, known: float = 0.0) -> Bracket:
    """The largest capacity of some sets of rows, one set a line, in nats; below `known` it is bounded only.

    >>> laws = Laws(np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]]), 0.0)
    >>> low, high = largest_of_sets(laws, np.array([[0, 1], [0, 2]]))
    >>> round(low, 9), high - low < 1e-9
    (0.130812036, True)
    """
    low = known
    sets = np.unique(np.sort(sets, axis=1), axis=0)
    sets = sets[(sets != sets[:, :1]).any(axis=1)]
    ends = _many(laws, sets)
    for k in np.argsort(-ends[:, 1]):
        if ends[k, 1] <= low + gap:
            break
        ball = smallest_ball(laws, at=np.unique(sets[k]), gap=gap / 4)
        ends[k] = ball.low, ball.high
        low = max(low, ball.low)
    return low, max(0.0, *ends[:, 1].tolist()) if len(ends) else 0.0


def _many(laws: Laws, sets: NDArray[np.intp], rounds: int = 12) -> Floats:
    """Lower (without proof) and proved upper ends of the capacities of many small sets of rows, by a few rounds.

    Rows enter each set twice when they are equal, which changes neither end. The centre is summed in one order per set
    and its own error does not matter: any centre proves an upper end (`Laws.radius`).
    """
    if not len(sets):
        return np.zeros((0, 2))
    rows, negentropies = laws.rows[sets], laws.h[sets]
    weights = np.full(sets.shape, 1.0 / sets.shape[1])
    for _ in range(rounds):
        centre = np.clip(np.einsum("sx,sxy->sy", weights, rows), 1e-290, 1.0)
        divergences = negentropies - np.einsum("sxy,sy->sx", rows, np.log(centre))
        weights = weights * np.exp(divergences - divergences.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
    letters = rows.shape[2]
    total = np.log(centre.sum(axis=1)) + 1.02 * (letters + 8) * UNIT
    high = (divergences + laws.slack(divergences, negentropies)).max(axis=1) + total + 16 * UNIT
    return np.stack([(weights * divergences).sum(axis=1), np.maximum(high, 0.0)], axis=1)


def against(channel: Kernel, priors: Sequence[Pmf]) -> tuple[Fraction, Fraction, str, int]:
    """max over a list of adversaries and over records of I(X_i; Y), exact: bounds in bits, the record, the adversary.

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).
    priors : sequence of Pmf
        One for each adversary.

    >>> from dalenius.testing import xor
    >>> from dalenius.core import Channel
    >>> sure = (Fraction(1), Fraction(0))
    >>> parity = Channel({"X1": ("0", "1"), "X2": ("0", "1")}, {"Y": ("0", "1")}, (sure, sure[::-1], sure[::-1], sure))
    >>> against(parity, [xor().pmf])
    (Fraction(0, 1), Fraction(0, 1), 'X1', 0)
    """
    if not priors:
        raise InputError("there is no attacker in the list")
    found = []
    for k, prior in enumerate(priors):
        joint, out = joint_with_output(prior, channel)
        for name in channel.inputs:
            low, high = mutual_information_bounds(joint, [name], out)
            found.append((low, high, name, k))
    low, high, name, k = max(found, key=lambda f: f[0])
    return low, max(f[1] for f in found), name, k
