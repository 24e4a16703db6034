"""The max-affine route: a float search between a channel and a bound, made exact on both sides.

The channel is repaired to exact independence in rationals and mixed with p(y) until every other promise is kept; the
bound becomes a proof of the kind `cells`, or `ranges` where W has many letters: a tree of cells of the posterior of
W, with a linear function and multipliers of the promises at each leaf.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log, prod
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import (
    Certificate,
    Channel,
    Guarantee,
    Independent,
    InformationPrivacy,
    Kernel,
    LocalDP,
    Problem,
)
from dalenius.core.arithmetic import exp
from dalenius.mechanisms.column_bounds import bounded_secrets, kept_exactly, near_pairs, plain_ratio, row_number
from dalenius.mechanisms.columns.exact_columns import (
    channel_from_rows,
    channel_of_all,
    merged_letters_of,
    view_labels,
)
from dalenius.mechanisms.columns.leakage.fewer_entries import fewer_entries
from dalenius.mechanisms.declared import MOST_NATS
from dalenius.mechanisms.interval_words import in_bits
from dalenius.mechanisms.proof_terms import ONE, by_lines, leaf_or_split
from dalenius.solvers import MaxAffine, max_affine, repaired, solve
from dalenius.solvers.cells import Tree
from dalenius.solvers.ranges import RangeTree, relations
from dalenius.solvers.repair import merged_letters, solved_exactly

__all__ = ["by_posterior_cells", "cells_certificate"]

AIM, MERGING = (
    0.9,
    0.05,
)  # shares of the gap that the search and the merging of letters may use; exact promises cost too
TRIALS = 4  # searches, each with less to spend, until the exact channel meets the gap
AFTERWARDS = 4  # exact channel and proof take so many times what the arrays of the search took, also when it is busy
LEAST = 0.25  # share of the time that the search has at least
LARGE = 1e6  # a ratio beyond is left out of the search, and kept by mixing alone
Floats = npt.NDArray[np.float64]


def _views(problem: Problem) -> list[tuple[str, ...]]:
    """The protected views, and the secrets whose odds may not change at all."""
    return [*problem.views, *(about for about, r in bounded_secrets(problem) if r == 1)]


def by_posterior_cells(
    problem: Problem, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None = None
) -> tuple[Kernel, Certificate, str]:
    """A channel, a certificate and the method in words; the gap is met unless the time ends first."""
    say = in_bits(on_progress)
    begin = monotonic()
    cone = _Cone(problem)
    built = monotonic() - begin
    seconds = max(LEAST * seconds, seconds - (1 + AFTERWARDS) * built)
    begin = monotonic()
    aim, left = AIM * gap, seconds
    for _ in range(TRIALS):
        found = max_affine(cone.p, cone.W, cone.moments, **cone.bounds, gap=aim, seconds=left, on_progress=say)
        channel = cone.channel(found.channel, MERGING * gap)
        above = found.bound - cone.told(channel) - gap
        left = seconds - (monotonic() - begin)
        aim -= max(1.5 * above, 0.1 * gap)  # what exact promises cost, once more
        if not (found.gap <= AIM * gap and above > 0 and aim > AIM * gap / 2 and left > seconds / 2):
            break
    channel = cone.without_small(found.channel, MERGING * gap, seconds) or channel
    return channel, cone.certificate(found), f"max-affine search over {len(found.pieces)} cells of the conclusion"


@dataclass(frozen=True)
class _Secret:
    """Rows of information privacy: where they stand in Q, and what a price counts in the units of the checker."""

    values: int
    start: int
    scale: Floats


class _Cone:
    """The arrays of the search, and the way back from them to rationals.

    Where a metric is promised the inputs that never occur stand at the end, with weight zero: they have rows to keep.
    """

    def __init__(self, problem: Problem) -> None:
        joint = problem.pmf
        self.problem, self.weight = problem, joint.counts(problem.inputs)
        counts = joint.counts(problem.inputs, problem.objective.names)
        # Letters of W in the order of the checker, so that the cells of the search are its cells.
        merged = np.stack([counts[:, group].sum(axis=1) for group in merged_letters_of(problem)], axis=1)
        p = np.array([float(Fraction(int(n), joint.total)) for n in self.weight])
        W = _shares(merged, self.weight)
        self.views = [joint.counts(problem.inputs, view) for view in _views(problem)]
        moments, self.basis = _moments([_shares(counts, self.weight) for counts in self.views], p)
        Q = self._secrets(p)
        self.rows = [row_number(problem, codes) for codes in joint.grouped(problem.inputs)[0]]
        ratio = plain_ratio(problem)
        near = near_pairs(problem)
        if near:
            self.rows += sorted(set(range(prod(len(joint.variables[n]) for n in problem.inputs))) - set(self.rows))
        more = len(self.rows) - len(p)
        self.p = np.append(p, np.zeros(more))
        self.W = np.concatenate([W, np.tile(p @ W, (more, 1))])
        self.moments = np.concatenate([moments, np.zeros((more, moments.shape[1]))])
        place = {row: k for k, row in enumerate(self.rows)}
        self.near = {pair: float(f) for pair, f in _needed(near).items() if f < LARGE}
        self.bounds: dict[str, Any] = {"Q": np.concatenate([Q, np.zeros((more, Q.shape[1]))])}
        self.bounds["near"] = {(place[x], place[other]): f for (x, other), f in self.near.items()}
        self.bounds["ratio"] = float(ratio) if ratio and ratio < LARGE and not self.near else None

    def _secrets(self, p: Floats) -> Floats:
        """1 - p(s|x) / (r p(s)) and p(s|x) / p(s) - 1 / r for each value s, in the order of the checker."""
        columns: list[Floats] = []
        self.secrets: list[_Secret | int] = []  # of each promise: rows of Q, or the place of its view
        views = len(self.problem.views)
        for promise in (
            guarantee for guarantee in self.problem.guarantees if isinstance(guarantee, InformationPrivacy)
        ):
            if not promise.epsilon:
                self.secrets.append(views)
                views += 1
                continue
            r = float(exp(promise.epsilon)[0])
            counts = self.problem.pmf.counts(self.problem.inputs, promise.about)
            shares = _shares(counts, self.weight)
            alone = p @ shares
            self.secrets.append(
                _Secret(len(alone), sum(column.shape[1] for column in columns), np.repeat(1 / (r * alone), 2))
            )
            sides = np.stack([1 - shares / (r * alone), shares / alone - 1 / r], axis=2)
            columns.append(sides.reshape(len(p), -1))
        return np.concatenate(columns, axis=1) if columns else np.zeros((len(p), 0))

    def channel(self, floats: Floats, loss: float) -> Kernel:
        """The exact channel next to letters (N, J) in floats; merging letters may cost so many bits."""
        problem, atoms = self.problem, len(self.weight)
        letters = merged_letters(self.p, self.W, floats, loss=loss)
        rows = dict(zip(self.rows, self._independent(letters[:atoms]), strict=False))
        if all(isinstance(promise, Independent) for promise in problem.guarantees):
            return channel_from_rows(problem, [rows[row] for row in self.rows])
        spare = Channel.rationalise(
            {"x": tuple(map(str, range(len(letters))))}, _alphabet(letters), letters.tolist()
        ).rows
        rows |= dict(zip(self.rows[atoms:], spare[atoms:], strict=True))
        rows = kept_exactly(problem, rows)
        if self.near:
            return channel_of_all(problem, [rows[x] for x in sorted(rows)])
        return channel_from_rows(problem, [rows[row] for row in self.rows])

    def without_small(self, floats: Floats, loss: float, seconds: float) -> Kernel | None:
        """The exact channel without entries that are all but zero; None where there are none, or it costs too much.

        Metrics reach inputs that never occur, which have no place here.
        """
        if self.near or self.problem.kept:
            return None
        letters = merged_letters(self.p, self.W, floats, loss=loss)
        joint = np.maximum(((letters * self.p[:, None]).T @ self.W), 1e-300)
        gains = self.W @ np.log(joint / (joint.sum(axis=1, keepdims=True) * (self.p @ self.W))).T
        rows = fewer_entries(self.problem, letters, gains, loss=loss * log(2), seconds=seconds)
        return None if rows is None else channel_from_rows(self.problem, [tuple(row) for row in rows])

    def told(self, channel: Kernel) -> float:
        """What a channel tells, in bits."""
        atoms = len(self.weight)
        rows = np.array([[float(t) for t in channel.rows[row]] for row in self.rows[:atoms]])
        joint = (rows * self.p[:atoms, None]).T @ self.W[:atoms]
        prior = self.p @ self.W
        bits = np.log2(np.where(joint > 0, joint / (joint.sum(axis=1, keepdims=True) * prior), 1.0))
        return float((joint * bits).sum())

    def _independent(self, letters: Floats) -> list[tuple[Fraction, ...]]:
        """Rows of the inputs that occur, exactly independent of every view."""
        weight = self.weight.tolist()
        labels = [label for view in _views(self.problem) if (label := view_labels(self.problem, view)) is not None]
        if len(labels) == len(self.views):
            exact = repaired(weight, labels, letters)
            pairs = zip(exact.numerators, exact.denominators, strict=True)
            return [tuple(Fraction(int(numerator), int(d)) for numerator in numerators) for numerators, d in pairs]
        # sum_x [p(x, a) - p(a) p(x)] c(x) = 0, in counts
        total, equations = self.problem.pmf.total, []
        for counts in self.views:
            for column in counts.T:
                alone = int(column.sum())
                equations.append([total * int(entry) - alone * int(m) for entry, m in zip(column, weight, strict=True)])
        return solved_exactly(weight, equations, letters)

    def certificate(self, found: MaxAffine) -> Certificate:
        """Lines and tree as the kernel wants them."""
        multipliers = (self.basis @ found.multipliers.T).T
        ends = np.cumsum([0, *(counts.shape[1] for counts in self.views)])
        promises = self.problem.guarantees
        views = iter(range(len(self.problem.views)))
        secrets = iter(self.secrets)
        rows: list[list[Any]] = []  # of each promise, for each leaf
        for promise in promises:
            if isinstance(promise, Independent):
                k = next(views)
                rows.append([_units(row) for row in multipliers[:, ends[k] : ends[k + 1]]])
            elif isinstance(promise, InformationPrivacy):
                secret = next(secrets)
                if isinstance(secret, int):  # an equation as two inequalities
                    of = multipliers[:, ends[secret] : ends[secret + 1]]
                    sides = np.maximum(-of, 0), np.maximum(of, 0)
                else:
                    prices = found.prices[:, secret.start : secret.start + 2 * secret.values] * secret.scale
                    sides = prices[:, ::2], prices[:, 1::2]
                rows.append(_both_sides(promise, *sides))
            else:
                rows.append([[] for _ in found.pieces])
        for leaf, prices in enumerate(found.aside):
            for (x, other), price in zip(self.near, prices.tolist(), strict=True):
                if price > 0:
                    rows[_nearest(promises, x, other)][leaf].append([x, other, _unit(price)])
        leaves = [
            {"objective": _units(piece), "promises": [own[leaf] for own in rows]}
            for leaf, piece in enumerate(found.pieces)
        ]
        return by_lines(
            "ranges" if found.ranged else "simplices",
            [_tree_of(found.tree, found.ranged)],
            leaves,
            promises=["0"] * len(promises),
            prices=_units(self.p * found.z) if found.z is not None else (),
            relations=self._related() if found.ranged and len(self.views) == len(self.problem.views) else (),
        )

    def _related(self) -> list[list[Any]]:
        """The relations between the posteriors of the outcomes that narrow the boxes, as the kernel wants them."""
        found = relations(self.p, self.W, self.moments)
        if found is None:
            return []
        dependent = [w for w in range(len(found.beta)) if w not in found.free]
        ends = np.cumsum([counts.shape[1] for counts in self.views])[:-1]
        related: list[list[Any]] = []
        for w in dependent:
            parts = [[int(j), _unit(a)] for j, a in zip(found.free, found.alpha[w], strict=True)]
            of_views = iter(np.split(found.multipliers[w] @ self.basis.T, ends))
            rows = [
                _units(next(of_views)) if isinstance(promise, Independent) else []
                for promise in self.problem.guarantees
            ]
            related.append([w, parts, rows])
        return related


def _both_sides(promise: InformationPrivacy, less: Floats, more: Floats) -> list[Any]:
    """For each leaf the multipliers of J - p J / r >= 0, times r, and of r p J - J >= 0; none for a ratio too large."""
    if promise.epsilon > MOST_NATS:
        return [[] for _ in less]
    ratio = exp(promise.epsilon)[1]  # as the kernel bounds it: from above, because a larger ratio allows more
    return [
        [
            [str(round(max(0, round(value * ONE)) * ratio)) for value in b.tolist()],
            [_unit(max(0.0, value)) for value in a.tolist()],
        ]
        for a, b in zip(less, more, strict=True)
    ]


def _nearest(promises: Sequence[Guarantee], x: int, other: int) -> int:
    """The promise of local_dp with the smallest ratio between two inputs."""
    levels = {
        k: promise.epsilon * (Fraction(promise.metric[x][other]) if promise.metric else 1)
        for k, promise in enumerate(promises)
        if isinstance(promise, LocalDP) and not isinstance(promise.metric, str)
    }
    return min(levels, key=levels.__getitem__)


def _alphabet(letters: Floats) -> dict[str, tuple[str, ...]]:
    return {"y": tuple(map(str, range(letters.shape[1])))}


def _unit(value: float) -> str:
    return str(round(float(value) * ONE))


def _units(values: Floats) -> list[str]:
    return [_unit(value) for value in values.tolist()]


def _shares(counts: npt.NDArray[Any], weight: npt.NDArray[Any]) -> Floats:
    """Counts over the weight of their row, each correctly rounded."""
    return np.array(
        [[float(Fraction(int(entry), int(m))) for entry in row] for row, m in zip(counts, weight, strict=True)]
    )


def _needed(near: dict[tuple[int, int], Fraction]) -> dict[tuple[int, int], Fraction]:
    """The pairs that do not follow from two others by way of a third input."""
    if not near:
        return {}
    n = 1 + max(x for x, _ in near)
    apart = np.full((n, n), np.inf)
    for (x, other), f in near.items():
        apart[x, other] = np.log(float(f))
    np.fill_diagonal(apart, 0)
    follows = np.zeros((n, n), dtype=bool)
    for middle in range(n):
        way = apart[:, middle, None] + apart[None, middle]
        way[middle], way[:, middle] = np.inf, np.inf
        follows |= way <= apart * (1 + 1e-12)
    return {pair: f for pair, f in near.items() if not follows[pair]}


def _moments(shares: list[Floats], p: Floats) -> tuple[Floats, Floats]:
    """p(a | x) - p(a) for the values of the views as an orthonormal basis M under p, and B with M = (these) B."""
    if not shares:
        return np.zeros((len(p), 0)), np.zeros((0, 0))
    indicators = np.concatenate(shares, axis=1)
    centred = (indicators - p @ indicators) * np.sqrt(p)[:, None]
    basis = unit_basis(centred.T @ centred)
    return (indicators - p @ indicators) @ basis, basis


def unit_basis(covariance: Floats) -> Floats:
    """B with B' C B = I for a covariance C, without the directions in which nothing varies but for rounding."""
    values, vectors = np.linalg.eigh(covariance)
    used = values > 1e-10 * max(float(values[-1]), 1e-300)
    return np.asarray(vectors[:, used] / np.sqrt(values[used]))


def cells_certificate(
    pieces: Floats, multipliers: Floats, tree: Tree | RangeTree, *, ranged: bool = False
) -> Certificate:
    """Lines and tree under one promise of independence: a piece and a multiplier of every equation for each leaf."""
    leaves = [
        {"objective": _units(piece), "promises": [_units(row)]} for piece, row in zip(pieces, multipliers, strict=True)
    ]
    return by_lines("ranges" if ranged else "simplices", [_tree_of(tree, ranged)], leaves, promises=["0"])


def _tree_of(tree: Tree | RangeTree, ranged: bool) -> list[Any]:
    if ranged:  # a split of a box is an outcome and a threshold
        return [["split", node[0], str(node[1])] if isinstance(node, tuple) else ["leaf", node] for node in tree]
    return [leaf_or_split(node) for node in _weights(tree)]


def _weights(tree: Sequence[Any]) -> list[Any]:
    """The split points as weights on the corners of their cells."""
    k = next((len(node) for node in tree if not isinstance(node, int)), 1)
    flat: list[Any] = []
    stack = [[[Fraction(int(i == j)) for j in range(k)] for i in range(k)]]
    for node in tree:
        cell = stack.pop()
        if isinstance(node, int):
            flat.append(node)
            continue
        weights = solve([[corner[w] for corner in cell] for w in range(k)], node)
        flat.append(weights)
        stack += [[*cell[:i], node, *cell[i + 1 :]] for i in reversed(range(k)) if weights[i]]
    return flat
