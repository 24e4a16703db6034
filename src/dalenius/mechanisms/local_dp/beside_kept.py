r"""The most that a letter under local DP adds to columns that leave as they are: max I(X; Y, K) over channels p(y | x).

The mechanism does not look at K; it reckons with the reader, who has it. A letter with the column 1 + (r - 1) 1_A adds
sum_k p(k) g(p(A | k)), so the design is one linear program over the subsets A, whose columns are generated one by one.
Of many letters the rare ones are dealt into groups that look alike whatever K is, and the channel does not tell those
of a group apart; the bound may divide them at will, for each value of K by itself.

References: paper 002, section 5 (information given the variables that are not perturbed).
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Certificate, Design, Pmf, Problem
from dalenius.core.arithmetic import exp
from dalenius.core.numbers import up
from dalenius.documents.text import text
from dalenius.mechanisms.column_bounds import local_ceiling
from dalenius.mechanisms.estimable import rank_remarks
from dalenius.mechanisms.interval_words import in_bits
from dalenius.mechanisms.local_dp.staircase import (
    ALONE,
    GROUPS,
    LARGE,
    Columns,
    channel_of_columns,
    covering,
    spread,
    subsets_of,
)
from dalenius.mechanisms.local_dp.takes import BESIDE_KEPT, level_promise
from dalenius.mechanisms.proving import proved
from dalenius.solvers.interior import Floats
from dalenius.solvers.staircase import Staircase as Found
from dalenius.solvers.staircase import best_mass
from dalenius.solvers.staircase_worlds import beside

__all__ = ["beside_kept"]

RELATIVE = 1e-5
SECONDS = 120.0
HEAVY = 24  # letters told apart by the bound for many


def beside_kept(
    problem: Problem,
    *,
    gap: float = RELATIVE,
    seconds: float = 120.0,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Maximise I(X; Y, K); `gap` counts as a share of the most that any letter can add.

    >>> from dalenius.core import LocalDP, MaximizeInformation, Pmf
    >>> records = [(("a", "0"), 3), (("b", "0"), 1), (("b", "1"), 2), (("c", "1"), 2)]
    >>> joint = Pmf.from_records({"X": ("a", "b", "c"), "K": ("0", "1")}, records)
    >>> goal, promise = MaximizeInformation(("X",)), LocalDP(Fraction(1), given=("K",))
    >>> design = beside_kept(Problem(("X",), goal, (promise,), output="Y", keep=("K",), joint=joint))
    >>> round(float(design.value), 6), design.gap < Fraction(1, 10**9)
    (0.796267, True)
    """
    BESIDE_KEPT.refuse(problem)
    promise = level_promise(problem)
    joint = problem.pmf.marginal([*problem.observe, *problem.kept])
    ratio = exp(promise.epsilon)[0]
    problem, alphabets = replace(problem, joint=joint), joint.alphabets(problem.observe)
    vectors = _by_letter(joint, [len(letters) for letters in alphabets.values()])
    order = sorted(
        (x for x, vector in enumerate(vectors) if any(vector)), key=lambda x: (sum(vectors[x]), vectors[x], -x)
    )[::-1]
    kinds = np.cumsum([a > 0 and vectors[order[a]] != vectors[order[a - 1]] for a in range(len(order))])
    table = np.array([[n / joint.total for n in vectors[x]] for x in order]).T
    table /= table.sum()
    if len(order) < 2:
        groups = np.zeros(1, dtype=np.int64)
        columns = [(1 / ratio, frozenset({0}))]
        tree = [["leaf", *["1"] * len(table)]]
        proof = Certificate({"rule": "subsets", "runs": [["1", ["0"]]], "tree": tree})
        words = "one value: there is nothing to say"
    else:
        say = in_bits(on_progress)
        r = min(float(ratio), LARGE)
        share = min(gap, RELATIVE) * local_ceiling(float(ratio))
        groups, columns, proof = _designed(table, kinds, ratio, r, share, min(seconds, SECONDS), say)
        words = f"staircase columns beside {len(table)} kept values, generated one by one"
        words += f", {groups.max() + 1} classes of {len(order):,} values" if len(order) > ALONE else ""
    channel = channel_of_columns(problem, ratio, columns, spread(groups, np.array(order), len(vectors)))
    return proved(
        problem,
        channel,
        [proof],
        method=words,
        remarks=rank_remarks(channel.by_class, channel.group),
    )


def _by_letter(joint: Pmf, sizes: list[int]) -> list[tuple[int, ...]]:
    """For each letter how many records have it with each kept value."""
    codes = np.ravel_multi_index(tuple(joint.support[:, : len(sizes)].T), sizes)
    kept = list(map(tuple, joint.support[:, len(sizes) :].tolist()))
    worlds = {world: k for k, world in enumerate(sorted(set(kept)))}
    beside = [worlds[world] for world in kept]
    counts = [[0] * len(worlds) for _ in range(int(np.prod(sizes)))]
    for code, k, weight in zip(codes.tolist(), beside, joint.weights, strict=True):
        counts[code][k] += int(weight)
    return list(map(tuple, counts))


def _designed(
    table: Floats,
    kinds: npt.NDArray[np.int64],
    ratio: Fraction,
    r: float,
    gap: float,
    seconds: float,
    say: Callable[[float, float], None] | None,
) -> tuple[npt.NDArray[np.int64], Columns, Certificate]:
    """The class of each letter, the commonest first; exact columns; and the proof."""
    many = table.shape[1]
    if many <= ALONE:
        alone = np.zeros(many, dtype=bool)
        found = beside(table, r, kinds=kinds, divisible=alone, gap=gap, seconds=seconds, on_progress=say)
        return np.arange(many), _weighted(found, table, ratio), _proof(found)
    worlds = len(table)
    heavy = np.hstack([table[:, :HEAVY], np.diag(table[:, HEAVY:].sum(axis=1))])
    occurs = heavy.sum(axis=0) > 0
    apart = np.concatenate([kinds[:HEAVY], kinds[-1] + 1 + np.arange(worlds)])[occurs]
    divisible = (np.arange(HEAVY + worlds) >= HEAVY)[occurs]
    above = beside(heavy[:, occurs], r, kinds=apart, divisible=divisible, gap=gap, seconds=seconds / 3, on_progress=say)
    groups = _dealt(table, max(min(best_mass(r) / 4, 1 / 48), 1 / GROUPS))
    masses = np.array([np.bincount(groups, weights=row) for row in table])
    alone = np.zeros(masses.shape[1], dtype=bool)
    found = beside(
        masses,
        r,
        kinds=np.arange(len(alone)),
        divisible=alone,
        gap=gap,
        enough=above.bound * (1 - 1e-6),
        seconds=seconds / 3,
        on_progress=say,
    )
    return groups, _weighted(found, masses, ratio), _proof(above, many - HEAVY, occurs[HEAVY:])


def _dealt(table: Floats, mass: float) -> npt.NDArray[np.int64]:
    """The class of each letter: alone when it is heavier, else each to the group that has least of what it brings."""
    p = table.sum(axis=0)
    alone = int(np.count_nonzero(p >= mass))
    rest = p[alone:].sum()
    out = np.arange(len(p))
    if alone == len(p):
        return out
    load = np.zeros((max(1, round(float(rest / mass))), len(table)))
    each = (table / table.sum(axis=1)[:, None]).T
    for x in range(alone, len(p)):
        k = int((load @ each[x]).argmin())
        load[k] += each[x]
        out[x] = alone + k
    _, dense = np.unique(out, return_inverse=True)
    return dense.astype(np.int64)


def _weighted(found: Found, table: Floats, ratio: Fraction) -> Columns:
    """Exact weights, as `staircase` finds them: they cover every letter equally often, and the ratio enters last."""
    members = subsets_of(found, table.shape[1])
    inside = np.array([[float(x in member) for x in range(table.shape[1])] for member in members])
    worth = [float(value) - found.value for value in _added(table, inside, float(ratio))]
    return covering(members, worth, table.shape[1], ratio)


def _proof(found: Found, light: int = 0, occurs: npt.NDArray[np.bool_] | None = None) -> Certificate:
    """Prices of the runs of letters that are alike; the light ones are one run, with a price for each kept value."""
    price = [up(Fraction(float(y)), 24) for y in found.z / found.one]
    apart = len(price) - (int(occurs.sum()) if occurs is not None else 0)
    runs = [[str(int(m)), [y]] for m, y in zip(found.many[:apart], price[:apart], strict=True)]
    if light and occurs is not None:
        rest = iter(price[apart:])
        runs.append([str(light), [next(rest) if here else "0" for here in occurs]])
    tree: list[list[Any]] = []
    for node in found.tree:
        split = not isinstance(node, float) and isinstance(node[0], int)
        values = [node] if isinstance(node, float) else node
        tree.append(["split", *values] if split else ["leaf", *(text(repr(value)) for value in values)])
    return Certificate({"rule": "subsets", "runs": runs, "tree": tree})


def _added(table: np.ndarray, subsets: np.ndarray, r: float) -> np.ndarray:
    """sum_k p(k) g(p(A | k)) of each subset."""
    weight = table.sum(axis=1)
    P = subsets @ (table / weight[:, None]).T
    v = 1 + (r - 1) * P
    told: np.ndarray = (P * r * np.log2(r) - v * np.log2(v)) @ weight
    return told
