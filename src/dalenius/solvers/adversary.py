r"""The most that an output tells about one record over a set of priors, in nats: from below and from above.

Inputs are x = (j, r), the record j and all the others r; a prior is a matrix p[j, r]. I(J; Y) = H(Y) - H(Y | J) is
neither convex nor concave in p. Over the priors with H(X) >= b,

below   alternating maximisation, monotone: with the posterior phi(j|y) of the last p and a(x) = sum_y W(y|x) ln phi,
        r given j in proportion to exp(a / nu), j to exp(nu ln Z_j / (1 + nu)), and nu such that H(X) = b;
above   simplices: H(Y) <= its tangent, H(Y|J) >= its interpolation (both concave), H(X) <= its tangent with a
        multiplier nu, so a cell holds no more than the largest value at its corners; cells are halved until the largest
        is near the best prior known. Also I(J; Y) <= I(X; Y) <= nu ln sum_x exp(D(W_x || q) / nu) - nu b for any q, nu.
"""

from math import inf, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.divergence import UNIT, Laws, halved_simplices

__all__ = ["alternating", "cells_bound", "convex_bound", "told"]

Floats: TypeAlias = NDArray[np.float64]

_TINY = 1e-300
CELLS = 2_000_000


def _entropy(p: Floats) -> Floats:
    """Of pmfs along the last axis; tiny entries count nothing."""
    out: Floats = -(p * np.log(np.maximum(p, _TINY))).sum(axis=-1)
    return out


def told(p: Floats, channel: Floats) -> Floats:
    """I(J; Y) of priors p[..., j, r] through channel[j, r, y]."""
    joint = np.einsum("...jr,jry->...jy", p, channel)
    flat = joint.reshape(*joint.shape[:-2], -1)
    return _entropy(joint.sum(axis=-2)) + _entropy(joint.sum(axis=-1)) - _entropy(flat)


def alternating(channel: Floats, b: float, *, starts: int = 12, rounds: int = 2000) -> tuple[float, Floats, float]:
    """A prior with H(X) >= b that tells much: its information less what rounding may add, itself, its multiplier."""
    m, k = channel.shape[:2]
    rng = np.random.default_rng(0)
    found = []
    for start in range(starts):
        p = rng.dirichlet(np.full(m * k, (0.2, 1.0, 5.0)[start % 3])).reshape(m, k) + 1e-6
        found.append(_climb(channel, b, p / p.sum(), 120, 1e-9))
    _, p, nu = max(found, key=lambda f: f[0])
    value, p, nu = _climb(channel, b, p, rounds, 1e-15)
    return max(0.0, value - 16 * (channel.size + 20) * UNIT), p, nu


def _climb(channel: Floats, b: float, p: Floats, rounds: int, tolerance: float) -> tuple[float, Floats, float]:
    value, nu = -inf, 0.0
    for _ in range(rounds):
        joint = np.einsum("jr,jry->jy", p, channel)
        phi = joint / np.maximum(joint.sum(axis=0), _TINY)
        a = np.einsum("jry,jy->jr", channel, np.log(np.maximum(phi, _TINY)))
        p, nu = _tempered(a, b)
        new = float(told(p, channel))
        if new - value < tolerance:
            break
        value = new
    return float(told(p, channel)), p, nu


def _tempered(a: Floats, b: float) -> tuple[Floats, float]:
    """The best prior for fixed posteriors whose entropy is at least b, and its multiplier, by bisection."""

    def at(nu: float) -> Floats:
        top = a.max(axis=1, keepdims=True)
        weights = np.exp((a - top) / nu)
        total = weights.sum(axis=1, keepdims=True)
        record = (top + nu * np.log(total))[:, 0] / (1 + nu)
        record = np.exp(record - record.max())
        out: Floats = (record / record.sum())[:, None] * weights / total
        return out

    low, high = 1e-7, 1e5
    if float(_entropy(at(low).ravel())) >= b:
        return at(low), low
    for _ in range(70):
        nu = (low * high) ** 0.5
        low, high = (nu, high) if float(_entropy(at(nu).ravel())) < b else (low, nu)
    return at(high), high


def cells_bound(
    channel: Floats, known: float, *, b: float = 0.0, nu: float = 0.0, gap: float = 1e-4, cells: int = CELLS
) -> tuple[float, float]:  # fmt: skip
    """Ends of max I(J; Y) over the priors with H(X) >= b.

    `known` is proved to be reached. Stops at `gap`, or after so many cells with the bound that is proved then.
    """
    m, k, letters = channel.shape
    flat = channel.reshape(m * k, letters)
    record = np.repeat(np.eye(m), k, axis=0)
    parts = np.eye(m * k)[None]  # simplices: the priors at their corners
    multipliers = [0.0, *(nu * t for t in (0.5, 0.8, 1.0, 1.25, 2.0))] if b else [0.0]
    slack = 16 * (channel.size + 40) * UNIT * (2 + log(channel.size))
    low, used, pruned = known, 0, 0.0
    pairs = np.triu_indices(m * k, 1)
    while len(parts):
        used += len(parts)
        middle = parts.mean(axis=1)
        joint = np.einsum("...x,xj,xy->...jy", parts, record, flat)
        given = _entropy(joint.reshape(*joint.shape[:-2], -1)) - _entropy(joint.sum(axis=-1))
        line = -(joint.sum(axis=-2) * np.log(np.maximum(middle @ flat, _TINY))[:, None, :]).sum(axis=-1) - given
        room = -(parts * np.log(np.maximum(middle, _TINY))[:, None, :]).sum(axis=-1) - b
        bound = np.min([(line + multiplier * room).max(axis=1) for multiplier in multipliers], axis=0) + slack
        bound[room.max(axis=1) < -slack] = -inf
        if not b:
            low = max(low, float(told(parts.reshape(-1, m, k), channel).max()) - slack)
        pruned = max(pruned, float(bound[bound <= low + gap].max(initial=0.0)))
        parts = parts[bound > low + gap]
        bound = bound[bound > low + gap]
        if not len(parts):
            break
        if used + 2 * len(parts) > cells:
            pruned = max(pruned, float(bound.max()))
            break
        edge = ((parts[:, pairs[0]] - parts[:, pairs[1]]) ** 2).sum(axis=2).argmax(axis=1)
        parts = halved_simplices(parts, pairs[0][edge], pairs[1][edge])
    return low, max(low, pruned)


def convex_bound(laws: Laws, b: float, many: Floats | None = None) -> float:
    """min over nu and q of nu ln sum_x m_x exp(D(W_x || q) / nu) - nu b, near its least.

    A bound of I(X; Y) with H(X) >= b, where m_x inputs have the law W_x; `many` are the logarithms of the m_x, none
    for one input each. p <- (p exp(D) m^nu)^(1 / (1 + nu)) maximises I + nu H, and its output law q nearly minimises;
    any q and nu bound.
    """
    alike = np.zeros(len(laws)) if many is None else many
    best = laws.radius(np.full(laws.rows.shape[1], 1.0 / laws.rows.shape[1]))
    low = 1e-4
    high = 1e4
    for _ in range(40):
        nu = (low * high) ** 0.5
        p = np.full(len(laws), 1.0 / len(laws))
        for _ in range(400):
            d = laws.divergence(p @ laws.rows)
            new = np.log(np.maximum(p, _TINY)) + d + nu * alike
            new = np.exp((new - new.max()) / (1 + nu))
            new /= new.sum()
            moved, p = float(np.abs(new - p).max()), new
            if moved < 1e-12:
                break
        q = p @ laws.rows
        d = laws.divergence(q)
        d = d + laws.slack(d, laws.h)
        best = min(best, _tilted(d, alike, nu, b) + abs(float(np.log(q.sum()))) + laws.rows.shape[1] * UNIT)
        low, high = (nu, high) if float(_entropy(p) + p @ alike) < b else (low, nu)
    return max(0.0, best)


def _tilted(d: Floats, many: Floats, nu: float, b: float) -> float:
    """nu ln sum m exp(d / nu) - nu b from above, `many` the logarithms of m: off by what the doubles may lose."""
    exponents = d / nu + many
    top = float(exponents.max())
    value = nu * (float(np.log(np.exp(exponents - top).sum())) + top - b)
    return value + 64 * (len(d) + 8) * UNIT * (1 + nu * (1 + abs(top) + b))
