"""The max-affine route: a float search between a channel and a bound, made exact on both sides.

The channel is repaired to exact independence in rationals; the bound becomes a proof of the kind `cells`: a tree of
cells of the posterior of W, with a linear function and multipliers of the promises at each leaf.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Certificate, Channel, Problem
from dalenius.designs.columns import by_name, channel_from_rows, view_labels
from dalenius.solvers import max_affine, repaired, solve
from dalenius.solvers.cells import Tree

__all__ = ["by_posterior_cells", "cells_apply", "cells_certificate"]

UNIT = 2**60
MOST_LETTERS = 8
Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.intp]


def cells_apply(problem: Problem) -> bool:
    """Whether W has few letters, nothing is kept beside the output, and the input tells every view."""
    letters = len(problem.pmf.grouped(problem.objective.names)[0])
    told = all(view_labels(problem, view) is not None for view in problem.views)
    return 2 <= letters <= MOST_LETTERS and not problem.kept and told


def by_posterior_cells(
    problem: Problem, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None = None
) -> tuple[Channel, Certificate, str]:
    """A channel, a certificate and the method in words; the gap is met unless the time ends first."""
    joint = problem.pmf
    weight = joint.counts(problem.inputs)
    # Letters of W in the order of the checker, so that the cells of the search are its cells.
    counts = joint.counts(problem.inputs, problem.objective.names)[:, by_name(problem, problem.objective.names)]
    p = np.array([float(Fraction(int(n), joint.total)) for n in weight])
    W = np.array([[float(Fraction(int(n), int(m))) for n in row] for row, m in zip(counts, weight, strict=True)])
    labels = [label for view in problem.views if (label := view_labels(problem, view)) is not None]
    moments, basis = _moments(labels, p)
    told = (lambda value, bound: on_progress(f"between {value:.6g} and {bound:.6g} bits")) if on_progress else None
    found = max_affine(p, W, moments, gap=0.93 * gap, seconds=seconds, on_progress=told)
    exact = repaired(weight.tolist(), labels, found.channel, posteriors=W, loss=0.05 * gap)
    rows = [
        tuple(Fraction(int(n), int(d)) for n in row)
        for row, d in zip(exact.numerators, exact.denominators, strict=True)
    ]
    channel = channel_from_rows(problem, rows)
    certificate = cells_certificate(found.pieces, found.multipliers @ basis.T, found.tree)
    return channel, certificate, f"max-affine search over {len(found.pieces)} cells of the posterior"


def _moments(labels: list[Labels], p: Floats) -> tuple[Floats, Floats]:
    """Centred indicators of the view values as an orthonormal basis M under p, and B with M = indicators B."""
    indicators = np.concatenate(
        [(label[:, None] == np.arange(label.max() + 1)).astype(float) for label in labels], axis=1
    )
    centred = (indicators - p @ indicators) * np.sqrt(p)[:, None]
    gram = centred.T @ centred
    values, vectors = np.linalg.eigh(gram)
    used = values > 1e-10 * max(float(values[-1]), 1e-300)
    basis = vectors[:, used] / np.sqrt(values[used])
    return (indicators - p @ indicators) @ basis, basis


def cells_certificate(pieces: Floats, multipliers: Floats, tree: Tree) -> Certificate:
    """Cuts and tree as the checker wants them: a piece and a multiplier of every equation for each leaf."""
    cuts = [
        [[str(round(a * UNIT)) for a in piece], [str(round(v * UNIT)) for v in column]]
        for piece, column in zip(pieces, multipliers, strict=True)
    ]
    return Certificate("cells", {"unit": str(UNIT), "cuts": cuts, "tree": _weights(tree)})


def _weights(tree: list[Any]) -> list[Any]:
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
        flat.append([str(v) for v in weights])
        stack += [[*cell[:i], node, *cell[i + 1 :]] for i in reversed(range(k)) if weights[i]]
    return flat
