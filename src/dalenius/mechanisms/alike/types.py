r"""Perfect sample privacy for samples that are alike: channels that read the type, certified for hundreds of samples.

The law of (W, X_1, ..., X_n) is exchangeable and given the type t, the letter counts, the order of the samples tells
nothing about W. So the best mechanism reads the type alone, and Y is independent of every single sample exactly when it
is independent of one drawn at random, p(X = a | t) = t_a / n (proved in `core.reading_types`). What remains is a
problem with one input, the type, and one view, X, whose proof is of the kind `cells`.

References: Rassouli, Rosas & Gündüz (paper 000), section IV; the reduction to types is not in the paper.
"""

from collections.abc import Callable
from fractions import Fraction
from math import log10
from time import monotonic
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core import Certificate, Design, Problem, Samples, Types
from dalenius.core.multinomial import type_law
from dalenius.errors import Unsupported
from dalenius.mechanisms.alike.exchangeable import paired
from dalenius.mechanisms.alike.takes import ALIKE
from dalenius.mechanisms.columns.disclosure.cells import cells_certificate, unit_basis
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.interval_words import in_bits
from dalenius.mechanisms.proof_terms import CLOSED
from dalenius.mechanisms.proving import proved
from dalenius.solvers import max_affine
from dalenius.solvers.balancing import balanced
from dalenius.solvers.cells import Tree, cover
from dalenius.solvers.chords import balanced_tree, chords, envelope
from dalenius.solvers.moving_box import best_binary_columns
from dalenius.solvers.ranges import RangeTree
from dalenius.solvers.repair import merged_letters

__all__ = ["disclose_types"]

Floats: TypeAlias = NDArray[np.float64]

FAINT = 1e-17  # types of less probability are left out of the search; the proof counts them all
LIGHT = 1e-13  # letters of less mass join the heaviest one
DIGITS = 3_900  # of a number that can be written


def disclose_types(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    r"""Maximise I(W; Y) over channels p(y | type) with Y independent of every single sample.

    Two letters of a sample: the extreme columns join two types, and the linear program (17) is a transportation problem
    (`exchangeable.paired`); its dual becomes the proof. More letters: columns are generated, or the max-affine search
    serves. Either channel is rounded and then made exactly private in rationals.

    >>> from dalenius.testing import alike
    >>> design = disclose_types(alike(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]], 4), gap=1e-9)
    >>> f"{float(design.value):.9f}", float(design.gap) < 1e-9
    ('0.044710704', True)
    """
    ALIKE.refuse(problem)
    law = problem.law
    assert isinstance(law, Samples)
    table = _Table(law, gap)
    certificates = [CLOSED]
    if len(table.letters) < 2 or len(table.values) < 2:
        channel = table.channel(problem, np.ones((len(table.seen), 1)), 1)
        method = "nothing to say: the samples, or W, are constant"
    elif len(table.letters) == 2:
        channel, certificate, method = _by_pairs(problem, table, gap, seconds)
        certificates.append(certificate)
    else:
        channel, certificate, method = _by_cells(problem, table, gap, seconds, on_progress)
        certificates.append(certificate)
    return proved(problem, channel, certificates, method=method, remarks=_remarks(law))


def _remarks(law: Samples) -> list[str]:
    remark = (
        f"the promise holds for samples that follow the stated model, and for each of the {law.n} samples alone; "
        f"{law.names[0]} to {law.names[-1]} are read as the columns of one row"
        if law.n > 1
        else "the promise holds for a sample that follows the stated model"
    )
    return [remark, *([law.note] if law.note else [])]


class _Table:
    """Types with their exact law, and what the search needs of it in floats."""

    def __init__(self, law: Samples, gap: float) -> None:
        self.law = law
        self.types, weights, self.total = type_law(law.masses, law.kernel.rows, law.n)
        masses = [sum(row) for row in weights]
        self.possible = [x for x, mass in enumerate(masses) if mass]
        self.mass = [masses[x] for x in self.possible]
        # Letters that occur, in the order of the kernel: that of the alphabets.
        alone = [sum(column) for column in zip(*weights, strict=True)]
        self.values = [w for w, weight in enumerate(alone) if weight]
        self.prior = np.array([alone[w] / self.total for w in self.values])
        self.sample = [
            sum((p * row[a] for p, row in zip(law.masses, law.kernel.rows, strict=True)), Fraction(0))
            for a in range(len(law.letters))
        ]
        self.letters = [a for a, p in enumerate(self.sample) if p]
        p = np.array([mass / self.total for mass in self.mass])
        faint = FAINT if len(self.letters) == 2 else 1e-4 * gap / len(p)
        self.seen = np.flatnonzero(p >= faint)
        self.p = p[self.seen]
        seen = [self.possible[x] for x in self.seen]
        self.posterior = np.array([[weights[x][w] / masses[x] for w in self.values] for x in seen])
        # t_a / n - p(a): what the checker multiplies, for each letter but the last.
        self.offset = np.array(
            [
                [float(Fraction(self.types[x][letter], law.n) - self.sample[letter]) for letter in self.letters]
                for x in seen
            ]
        )

    def channel(self, problem: Problem, c: Floats, letters: int, *, bits: int = 96) -> Types:
        """The exact channel next to c, which has a row for each type of the search."""
        law = self.law
        zero = Fraction(0)
        one = Fraction(1)
        needed = log10(self.total) + log10(2) * bits + 20
        if needed > DIGITS:
            raise Unsupported(
                f"exact probabilities of the types of {law.n} samples have about {needed:,.0f} digits, more than "
                f"{DIGITS:,}; give the stated distribution and the kernel with fewer digits"
            )
        scale = [q.denominator for q in self.sample]
        offsets = [
            [
                self.types[x][letter] * scale[letter] - law.n * self.sample[letter].numerator
                for letter in self.letters[:-1]
            ]
            for x in self.possible
        ]
        full = np.zeros((len(self.possible), letters))
        full[self.seen] = c
        rows = balanced(self.mass, offsets, full, bits=bits) if letters > 1 else [{0: one} for _ in self.possible]
        dense = [tuple(row.get(y, zero) for y in range(letters)) for row in rows]
        complete = dict(zip(self.possible, dense, strict=True))
        if len(complete) < len(self.types):
            everywhere = tuple(
                sum((m * row[y] for m, row in zip(self.mass, dense, strict=True) if row[y]), Fraction(0)) / self.total
                for y in range(letters)
            )
            complete = {x: complete.get(x, everywhere) for x in range(len(self.types))}
        output = {problem.output or "Y": tuple(map(str, range(letters)))}
        return Types(law.sample, law.letters, law.n, output, tuple(complete[x] for x in range(len(self.types))))


def _letters(table: _Table, c: Floats, loss: float) -> Floats:
    """Letters merged while that costs little, sorted by their posterior; rows sum to one."""
    theta = table.p @ c
    heavy = theta >= LIGHT
    if not heavy.all():
        c = np.column_stack([c[:, heavy], c[:, ~heavy].sum(axis=1)])
    c = merged_letters(table.p, table.posterior, c, loss=loss)
    told = (table.p[:, None] * c).T @ table.posterior[:, 0] / (table.p @ c)
    c = c[:, np.argsort(-told, kind="stable")]
    c[c.sum(axis=1) == 0, int((table.p @ c).argmax())] = 1  # a type that the linear program left out
    rows: Floats = c / c.sum(axis=1, keepdims=True)
    return rows


def _by_pairs(problem: Problem, table: _Table, gap: float, seconds: float) -> tuple[Types, Certificate, str]:
    """Binary samples: columns of two types, by a transportation problem."""
    deadline, (d, _) = monotonic() + seconds, table.offset.T
    best = paired(d * table.law.n, table.p, table.posterior, table.prior, min(1e-11, gap / 100))
    c = np.zeros((len(table.p), len(best.flow) + len(best.level)))
    every = np.arange(len(best.flow))
    for at in (best.low, best.high):
        c[at, every] = best.flow / np.abs(d[at] * table.law.n) / table.p[at]
    c[best.level, len(every) + np.arange(len(best.level))] = 1
    c /= np.maximum(c.sum(axis=1, keepdims=True), 1e-300)
    c = _letters(table, c, 0.2 * gap)
    channel = table.channel(problem, c, c.shape[1])
    if len(table.values) == 2:
        w = table.posterior[:, 1]
        found = chords(envelope(w, d[:, None], best.z), table.prior)
        pieces = found.pieces
        multipliers = found.multipliers[:, 0]
        tree = balanced_tree(found.grid)
    else:
        leaves = cover(table.posterior, d[:, None], table.prior, best.z, 0.5 * gap, deadline=deadline)
        pieces = np.hsplit(leaves.pieces, [len(table.values)])[0]
        multipliers = leaves.pieces[:, -1]
        tree = leaves.tree()
    certificate = cells_certificate(pieces, np.column_stack([multipliers, np.zeros(len(multipliers))]), tree)
    return channel, certificate, f"a transportation problem over {len(table.types):,} types, {len(pieces):,} cells"


def _by_cells(
    problem: Problem, table: _Table, gap: float, seconds: float, on_progress: Callable[[str], None] | None
) -> tuple[Types, Certificate, str]:
    """More letters: the max-affine search over the types, and for a binary W the best columns from there on."""
    begun = monotonic()
    p = table.p / table.p.sum()
    centred = table.offset - p @ table.offset
    basis = unit_basis((centred * p[:, None]).T @ centred)
    M = centred @ basis
    binary = len(table.values) == 2
    say = in_bits(on_progress)
    rough, some = (max(gap, 1e-3), min(seconds, 2.0)) if binary else (0.8 * gap, seconds)
    found = max_affine(p, table.posterior, M, gap=rough, seconds=some, on_progress=say)
    tree: Tree | RangeTree
    if binary:
        w = table.posterior[:, 1]
        z = (found.pieces @ table.posterior.T + found.multipliers @ M.T).max(axis=0)
        best = best_binary_columns(p, w, M, z, gap=0.8 * gap, seconds=seconds - (monotonic() - begun))
        lines = chords(best.found, p @ table.posterior)
        pieces, multipliers, tree, c = lines.pieces, lines.multipliers, balanced_tree(lines.grid), best.channel
    else:
        pieces, multipliers, tree, c = found.pieces, found.multipliers, found.tree, np.maximum(found.channel, 0)
    c = _letters(table, c, 0.05 * gap)
    channel = table.channel(problem, c, c.shape[1], bits=60)
    certificate = cells_certificate(pieces, multipliers @ basis.T, tree, ranged=found.ranged)
    return channel, certificate, f"columns over {len(table.types):,} types, {len(pieces):,} cells"
