"""The most that an output tells about one record over a set of priors, in nats: from below and from above.

Inputs are x = (j, r), the record j and all the others r; a prior is a matrix p[j, r]. I(J; Y) = H(Y) - H(Y | J) is
neither convex nor concave in p. Over the priors with H(X) >= b,

below   alternating maximisation, monotone: with the posterior phi(j|y) of the last p and a(x) = sum_y W(y|x) ln phi,
        r given j in proportion to exp(a / nu), j to exp(nu ln Z_j / (1 + nu)), and nu such that H(X) = b;
above   simplices: H(Y) <= its tangent, H(Y|J) >= its interpolation (both concave), H(X) <= its tangent with a
        multiplier nu, so a cell holds no more than the largest value at its corners; cells are halved until the largest
        is near the best prior known. Also I(J; Y) <= I(X; Y) <= nu ln sum_x exp(D(W_x || q) / nu) - nu b for any q, nu.

In the code b is ``least_entropy``, nu ``multiplier`` and a ``scores``. The climb costs as much as the channel has
entries, a round; cells grow exponentially with the number of inputs.
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
STARTS = 12  # random priors to climb from
ROUNDS = 2000  # of the last climb


def _entropy(laws: Floats) -> Floats:
    """Of pmfs along the last axis; tiny entries count nothing."""
    out: Floats = -(laws * np.log(np.maximum(laws, _TINY))).sum(axis=-1)
    return out


def told(priors: Floats, channel: Floats) -> Floats:
    """I(J; Y) of priors p[..., j, r] through channel[j, r, y].

    Parameters
    ----------
    priors : ndarray of float
        (..., values, others).
    channel : ndarray of float
        (values, others, letters): W.

    Returns
    -------
    ndarray of float
        (...), in nats.
    """
    joint = np.einsum("...jr,jry->...jy", priors, channel)
    flat = joint.reshape(*joint.shape[:-2], -1)
    return _entropy(joint.sum(axis=-2)) + _entropy(joint.sum(axis=-1)) - _entropy(flat)


def alternating(channel: Floats, least_entropy: float) -> tuple[float, Floats, float]:
    """A prior with H(X) >= b that tells much: its information less what rounding may add, itself, its multiplier.

    Parameters
    ----------
    channel : ndarray of float
        (values, others, letters): W.
    least_entropy : float
        b, in nats.

    Returns
    -------
    tuple[float, Floats, float]
        The value, in nats; the prior; nu.
    """
    values, others = channel.shape[:2]
    rng = np.random.default_rng(0)
    found = []
    for start in range(STARTS):
        prior = rng.dirichlet(np.full(values * others, (0.2, 1.0, 5.0)[start % 3])).reshape(values, others) + 1e-6
        found.append(_climb(channel, least_entropy, prior / prior.sum(), 120, 1e-9))
    _, prior, multiplier = max(found, key=lambda climbed: climbed[0])
    value, prior, multiplier = _climb(channel, least_entropy, prior, ROUNDS, 1e-15)
    # Downwards: this prior reaches at least that.
    return max(0.0, value - 16 * (channel.size + 20) * UNIT), prior, multiplier


def _climb(
    channel: Floats, least_entropy: float, prior: Floats, rounds: int, tolerance: float
) -> tuple[float, Floats, float]:
    value = -inf
    multiplier = 0.0
    for _ in range(rounds):
        joint = np.einsum("jr,jry->jy", prior, channel)
        posterior = joint / np.maximum(joint.sum(axis=0), _TINY)
        scores = np.einsum("jry,jy->jr", channel, np.log(np.maximum(posterior, _TINY)))
        prior, multiplier = _tempered(scores, least_entropy)
        new = float(told(prior, channel))
        if new - value < tolerance:
            break
        value = new
    return float(told(prior, channel)), prior, multiplier


def _tempered(scores: Floats, least_entropy: float) -> tuple[Floats, float]:
    """The best prior for fixed posteriors whose entropy is at least b, and its multiplier, by bisection."""

    def at(multiplier: float) -> Floats:
        top = scores.max(axis=1, keepdims=True)
        weights = np.exp((scores - top) / multiplier)
        total = weights.sum(axis=1, keepdims=True)
        record = (top + multiplier * np.log(total))[:, 0] / (1 + multiplier)
        record = np.exp(record - record.max())
        out: Floats = (record / record.sum())[:, None] * weights / total
        return out

    low = 1e-7
    high = 1e5
    # With hardly any weight on the entropy there is enough of it: the limit does not bind.
    if float(_entropy(at(low).ravel())) >= least_entropy:
        return at(low), low
    for _ in range(70):
        multiplier = (low * high) ** 0.5
        if float(_entropy(at(multiplier).ravel())) < least_entropy:
            low = multiplier
        else:
            high = multiplier
    # Of the two ends the one whose entropy is at least b: the other prior is not allowed.
    return at(high), high


def cells_bound(
    channel: Floats,
    known: float,
    *,
    least_entropy: float = 0.0,
    temperature: float = 0.0,
    gap: float = 1e-4,
) -> tuple[float, float]:
    """Ends of max I(J; Y) over the priors with H(X) >= b.

    `known` is proved to be reached. Stops at `gap`, or after so many cells with the bound that is proved then.

    Parameters
    ----------
    channel : ndarray of float
        (values, others, letters): W.
    known : float
        In nats.
    least_entropy : float
        b, in nats.
    temperature : float
        nu of a good prior, around which multipliers are tried.
    gap : float
        In nats.

    Returns
    -------
    tuple[float, float]
        Both ends, in nats.
    """
    values, others, letters = channel.shape
    flat = channel.reshape(values * others, letters)
    record = np.repeat(np.eye(values), others, axis=0)
    parts = np.eye(values * others)[None]  # simplices: the priors at their corners
    multipliers = [0.0, *(temperature * factor for factor in (0.5, 0.8, 1.0, 1.25, 2.0))] if least_entropy else [0.0]
    slack = 16 * (channel.size + 40) * UNIT * (2 + log(channel.size))
    low = known
    used = 0
    pruned = 0.0
    pairs = np.triu_indices(values * others, 1)
    while len(parts):
        used += len(parts)
        middle = parts.mean(axis=1)
        joint = np.einsum("...x,xj,xy->...jy", parts, record, flat)
        given = _entropy(joint.reshape(*joint.shape[:-2], -1)) - _entropy(joint.sum(axis=-1))
        line = -(joint.sum(axis=-2) * np.log(np.maximum(middle @ flat, _TINY))[:, None, :]).sum(axis=-1) - given
        room = -(parts * np.log(np.maximum(middle, _TINY))[:, None, :]).sum(axis=-1) - least_entropy
        bound = np.min([(line + multiplier * room).max(axis=1) for multiplier in multipliers], axis=0) + slack
        # A cell without a prior of that entropy holds nothing; the slack is for what doubles may have missed.
        bound[room.max(axis=1) < -slack] = -inf
        # Under a limit the prior at a corner may have too little entropy to count.
        if not least_entropy:
            low = max(low, float(told(parts.reshape(-1, values, others), channel).max()) - slack)
        # A cell that is given up still counts, by its own bound.
        pruned = max(pruned, float(bound[bound <= low + gap].max(initial=0.0)))
        parts = parts[bound > low + gap]
        bound = bound[bound > low + gap]
        if not len(parts):
            break
        if used + 2 * len(parts) > CELLS:
            pruned = max(pruned, float(bound.max()))
            break
        edge = ((parts[:, pairs[0]] - parts[:, pairs[1]]) ** 2).sum(axis=2).argmax(axis=1)
        parts = halved_simplices(parts, pairs[0][edge], pairs[1][edge])
    return low, max(low, pruned)


def convex_bound(laws: Laws, least_entropy: float, many: Floats | None = None) -> float:
    """min over nu and q of nu ln sum_x m_x exp(D(W_x || q) / nu) - nu b, near its least.

    A bound of I(X; Y) with H(X) >= b, where m_x inputs have the law W_x; `many` are the logarithms of the m_x, none
    for one input each. p <- (p exp(D) m^nu)^(1 / (1 + nu)) maximises I + nu H, and its output law q nearly minimises;
    any q and nu bound.

    Parameters
    ----------
    laws : Laws
        The rows W_x.
    least_entropy : float
        b, in nats.
    many : ndarray of float, optional
        (rows,): ln m_x.

    Returns
    -------
    float
        In nats, rounded up.
    """
    alike = np.zeros(len(laws)) if many is None else many
    # Without the limit on entropy: a bound whatever happens below.
    best = laws.radius(np.full(laws.rows.shape[1], 1.0 / laws.rows.shape[1]))
    low = 1e-4
    high = 1e4
    for _ in range(40):
        multiplier = (low * high) ** 0.5
        prior = np.full(len(laws), 1.0 / len(laws))
        for _ in range(400):
            divergences = laws.divergence(prior @ laws.rows)
            new = np.log(np.maximum(prior, _TINY)) + divergences + multiplier * alike
            new = np.exp((new - new.max()) / (1 + multiplier))
            new /= new.sum()
            moved = float(np.abs(new - prior).max())
            prior = new
            if moved < 1e-12:
                break
        # Any output law bounds, also one from an iteration that has not settled; its sum, one up to rounding, moves
        # every divergence by its logarithm.
        output = prior @ laws.rows
        divergences = laws.divergence(output)
        divergences = divergences + laws.slack(divergences, laws.h)
        best = min(
            best,
            _tilted(divergences, alike, multiplier, least_entropy)
            + abs(float(np.log(output.sum())))
            + laws.rows.shape[1] * UNIT,
        )
        if float(_entropy(prior) + prior @ alike) < least_entropy:
            low = multiplier
        else:
            high = multiplier
    return max(0.0, best)


def _tilted(divergences: Floats, many: Floats, multiplier: float, least_entropy: float) -> float:
    """nu ln sum m exp(d / nu) - nu b from above, `many` the logarithms of m: off by what the doubles may lose."""
    exponents = divergences / multiplier + many
    top = float(exponents.max())
    value = multiplier * (float(np.log(np.exp(exponents - top).sum())) + top - least_entropy)
    return value + 64 * (len(divergences) + 8) * UNIT * (1 + multiplier * (1 + abs(top) + least_entropy))
