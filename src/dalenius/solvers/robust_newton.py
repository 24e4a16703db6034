r"""The last digits of a least cost under eta_KL <= level: Newton steps on its optimality conditions.

A conic solver in doubles leaves some 1e-8. Near the optimum it is known which entries of W are positive and which pairs
of rows are tight; then with nu for the rows, lambda for the pairs and f_p the coefficient of a pair, largest over b,

    cost + sum_p lambda_p grad f_p(W) = nu,    f_p(W) = level,    sum_y W(y|x) = 1                                 (2)

on the positive entries. f_p is smooth where b is unique; b is eliminated (its own derivative adds a rank-one term).
What comes out is a proposal: the coefficient of its rows and the bound of its cuts are evaluated by the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tight", "newton"]

Floats: TypeAlias = NDArray[np.float64]

_STEPS = 12
_ENOUGH = 1e-13  # residual at which the steps end
_HALVINGS = 6


@dataclass(frozen=True, eq=False)
class Tight:
    """A pair of rows whose coefficient is the level, with its multiplier, the point b and the slopes of its cut."""

    first: int
    second: int
    b: float
    weight: float
    slopes: Floats


def newton(
    rows: Floats, pairs: Sequence[tuple[int, int]], weights: Floats, cost: Floats, level: float, zero: float
) -> tuple[Floats, list[Tight]]:
    """Rows and tight pairs that meet (2) as well as the steps found.

    Parameters
    ----------
    rows : Floats
        Near the optimum; entries up to `zero` are taken to be zero.
    pairs : sequence of (int, int)
        The rows x < z of pairs that are tight.
    weights : Floats
        Their multipliers, about.
    cost : Floats
        Of each entry.
    level : float
        What eta_KL may be.
    zero : float
        See `rows`.

    Returns
    -------
    tuple
        Rows that sum to one and are not negative, and a `Tight` for each pair.
    """
    n, m = rows.shape
    positive = rows > zero
    cells = np.flatnonzero(positive.reshape(-1))
    place = np.full(n * m, -1)
    place[cells] = np.arange(len(cells))
    w = np.where(positive, rows, 0.0)
    w /= w.sum(axis=1, keepdims=True)
    lam = np.array(weights, dtype=np.float64)
    rowsum = np.zeros((n, len(cells)))
    rowsum[cells // m, np.arange(len(cells))] = 1.0
    nu = np.zeros(n)
    best: tuple[float, Floats, Floats] | None = None
    for _ in range(_STEPS):
        parts = [_pair(w[i], w[j]) for i, j in pairs]
        gradients = np.zeros((len(pairs), n * m))
        hessian = np.zeros((len(cells), len(cells)))
        for k, ((i, j), part) in enumerate(zip(pairs, parts, strict=True)):
            gradients[k, i * m : (i + 1) * m], gradients[k, j * m : (j + 1) * m] = part.gradient
            _add_curvature(hessian, lam[k], part, place[i * m : (i + 1) * m], place[j * m : (j + 1) * m])
        gradients = gradients[:, cells]
        slope = cost.reshape(-1)[cells] + lam @ gradients
        if best is None:
            nu = np.array([slope[cells // m == x].mean() for x in range(n)])
        missed = np.concatenate([slope - nu[cells // m], [part.value - level for part in parts], w.sum(axis=1) - 1.0])
        size = float(np.abs(missed).max())
        if best is None or size < best[0]:
            best = (size, w.copy(), lam.copy())
        if size < _ENOUGH or size > 1e3 * best[0]:
            break
        k = len(pairs)
        matrix = np.block(
            [
                [hessian, gradients.T, -rowsum.T],
                [gradients, np.zeros((k, k + n))],
                [rowsum, np.zeros((n, k + n))],
            ]
        )
        step = np.linalg.lstsq(matrix, -missed, rcond=1e-13)[0]
        share = 1.0
        change = np.zeros(n * m)
        change[cells] = step[: len(cells)]
        for _ in range(_HALVINGS):  # stay inside
            if (w.reshape(-1) + share * change >= 0).all():
                break
            share /= 2
        w = np.maximum(w + share * change.reshape(n, m), 0.0)
        lam = lam + share * step[len(cells) : len(cells) + k]
        nu = nu + share * step[len(cells) + k :]
    assert best is not None
    _, w, lam = best
    made = []
    for (i, j), weight in zip(pairs, lam, strict=True):
        part = _pair(w[i], w[j])
        made.append(Tight(i, j, part.b, float(max(weight, 0.0)), part.slopes))
    return w / w.sum(axis=1, keepdims=True), made


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two rows: where their function of b is largest, how large, its gradient, and what its curvature is made of."""

    b: float
    value: float
    gradient: tuple[Floats, Floats]
    slopes: Floats
    curved: tuple[Floats, Floats, Floats]  # the factor and the direction (first row, second row) for each letter
    turned: tuple[Floats, Floats, float]  # the derivative by b of the gradient, and the second one by b


def _pair(p: Floats, q: Floats) -> _Pair:
    both = p * q
    low = 0.0
    high = 1.0
    for _ in range(60):
        b = (low + high) / 2
        mean = b * p + (1 - b) * q
        slope = float(np.divide(both * (p - q), mean * mean, out=np.zeros_like(p), where=mean > 0).sum())
        if slope > 0:
            low = b
        else:
            high = b
    b = min(max((low + high) / 2, 1e-9), 1 - 1e-9)
    mean = b * p + (1 - b) * q
    inverse = np.divide(1.0, mean, out=np.zeros_like(p), where=mean > 0)
    apart = p - q
    front = b * (1 - b)
    a = apart * inverse
    by_b = both * inverse**2
    return _Pair(
        b,
        front * float((apart * a).sum()),
        (front * (2 * a - b * a**2), front * (-2 * a - (1 - b) * a**2)),
        a,
        (2 * front * inverse, 1 - b * a, -1 - (1 - b) * a),
        (
            (q * apart + both) * inverse**2 - 2 * b * by_b * a,
            (p * apart - both) * inverse**2 - 2 * (1 - b) * by_b * a,
            -2 * float((by_b * apart * a).sum()),
        ),
    )


def _add_curvature(
    hessian: Floats, weight: float, part: _Pair, first: NDArray[np.intp], second: NDArray[np.intp]
) -> None:
    """weight times the second derivative of the pair, b eliminated, on the positive entries."""
    factor, one, other = part.curved
    for of_first, of_second, product in (
        (first, first, one * one),
        (first, second, one * other),
        (second, first, other * one),
        (second, second, other * other),
    ):
        here = (of_first >= 0) & (of_second >= 0)
        np.add.at(hessian, (of_first[here], of_second[here]), weight * (factor * product)[here])
    down, up, bend = part.turned
    if bend < 0:
        along = np.zeros(len(hessian))
        along[first[first >= 0]] += down[first >= 0]
        along[second[second >= 0]] += up[second >= 0]
        hessian -= weight / bend * np.outer(along, along)
