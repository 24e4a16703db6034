r"""Noise on the whole numbers: max-entropy laws, their parameters, calibration, allocation.

P*_{p,D}(k) = A B^(-|k|^p) has the largest entropy among laws with E|N|^p <= D^p (004, Lemma 1); p = 1 is the two-sided
geometric law, p = 2 the discrete Gaussian, p = inf the uniform law on |k| <= floor(D). Weights leave as integers, cut
where they fall below 2^-62 of the largest and kept log-concave, so that every figure can be proved of them exactly.

References: Makhdoumi & Fawaz, "Privacy-Utility Tradeoff under Statistical Uncertainty" (paper 004), (12), Lemma 1 and
Prop. 3 (which is false: E2); Balle & Wang (2018) for the Gaussian calibration.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from math import erfc, exp, floor, fsum, isinf, log, log2, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.solvers.sections import narrowed

__all__ = [
    "MaxEntropy",
    "allocated_additive",
    "allocated_shrinkage",
    "capacity_prior",
    "capacity_weights",
    "discrete_leakage_bound",
    "gaussian_delta",
    "gaussian_sigma",
    "geometric_weights",
    "information",
    "max_entropy",
    "power_weights",
    "rate_line",
    "root",
]

Floats: TypeAlias = NDArray[np.float64]

UNIT = 128  # bits of the largest weight
CUT = 62  # bits below which a weight is left out
_EXACT = Context(prec=60)
MOST = 1 << 20
PRIOR = 1 << 40  # weights of a law that bounds a capacity
COARSE = 400  # atoms of it


def root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses zero, by bisection down to the last digit.

    Parameters
    ----------
    rising : Callable[[float], float]
        Negative at `low`, not negative at `high`.
    low, high : float
        Both ends.

    Returns
    -------
    float
        The upper end of the last interval.
    """
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return high


# --- laws ------------------------------------------------------------------------------------------------------------
def power_weights(p: float, scale: float) -> tuple[int, ...]:
    """Weights of k = 0, 1, ... proportional to exp(-(k / scale)^p), log-concave; p = inf: equal up to `scale`.

    >>> from math import inf
    >>> power_weights(2, 0.1) == (1 << 128,), power_weights(inf, 2.5)
    (True, (1, 1, 1))
    """
    if isinf(p):
        return (1,) * (floor(scale) + 1)
    if scale * (CUT * log(2)) ** (1 / p) > MOST:
        raise InputError(f"noise that reaches more than {MOST:,} steps; take a larger step of the grid")
    found = [1 << UNIT]
    width = Decimal(scale)
    power = Decimal(p)
    top = Decimal(1 << UNIT)
    least = 1 << UNIT - CUT
    while True:
        ratio = _EXACT.divide(Decimal(len(found)), width)
        raised = ratio if p == 1 else _EXACT.multiply(ratio, ratio) if p == 2 else _EXACT.power(ratio, power)
        weight = int(_EXACT.multiply(top, _EXACT.exp(-raised))) if raised < 2 * UNIT else 0
        if len(found) > 1:
            weight = min(weight, found[-1] ** 2 // found[-2])
        if weight < least:
            return tuple(found)
        found.append(weight)


def geometric_weights(rate: float, reach: int) -> tuple[int, ...]:
    """Weights e^(-rate k) up to `reach`, whose last holds the whole tail from there on.

    >>> [w / 2**128 for w in geometric_weights(log(2), 2)]
    [1.0, 0.5, 0.5]
    """
    exponent = Decimal(rate)
    top = Decimal(1 << UNIT)
    found = [1 << UNIT]
    for step in range(1, reach):
        weight = int(_EXACT.multiply(top, _EXACT.exp(-exponent * step)))
        found.append(min(weight, found[-1] ** 2 // found[-2]) if step > 1 else weight)
    # A little less than the tail, so that rounding leaves a law whose tail can be drawn out log-concave.
    tail = _EXACT.divide(_EXACT.exp(-exponent * reach), 1 - _EXACT.exp(-exponent)) * (1 - Decimal(2) ** -60)
    return (*found, int(_EXACT.multiply(top, tail))) if reach else (1,)


@dataclass(frozen=True)
class MaxEntropy:
    """P(k) = a * b^(-|k|^p); p = inf: a on |k| <= floor(D), b = 1."""

    a: float
    b: float
    scale: float  # with b = exp(scale^-p)
    entropy_bits: float


def _sums(p: float, rate: float) -> tuple[float, float]:
    """sum over all k of e^(-t |k|^p), and of |k|^p e^(-t |k|^p)."""
    reach = max(4.0, (80 / rate) ** (1 / p) + 2)
    if reach > 1e7:
        raise InputError("noise that reaches more than ten million steps; take a larger step of the grid")
    powers = np.arange(1, int(reach) + 1, dtype=float) ** p
    weights = np.exp(-rate * powers)
    return 1 + 2 * fsum(weights.tolist()), 2 * fsum((powers * weights).tolist())


def max_entropy(p: float, d: float) -> MaxEntropy:
    """The law of the largest entropy with E|N|^p <= d^p (Lemma 1; p = inf: E12).

    Parameters
    ----------
    p : float
        At least 1, or infinite.
    d : float
        D, above 0.

    Returns
    -------
    MaxEntropy

    Raises
    ------
    InputError
        If p or d is out of range, or the noise would reach too far.

    >>> found = max_entropy(1, 1.0)
    >>> round(found.a, 12), round(found.b, 12), round(found.entropy_bits, 12)
    (0.414213562373, 2.414213562373, 2.543106606327)
    """
    if not p >= 1 or not d > 0:
        raise InputError(f"p is {p:g} and D is {d:g}; p is at least 1 and D is above 0")
    if isinf(p):
        many = 2 * floor(d) + 1
        return MaxEntropy(1 / many, 1.0, d, log2(many))
    target = d**p

    def moment(rate: float) -> float:
        whole, power = _sums(p, rate)
        return power / whole

    # E|N|^p falls with t: 2 e^-t / (1 + 2 e^-t) below, and at most Gamma-like growth above
    low = log(0.25 / target) if target < 0.25 else log(0.1 / target)
    high = log(40.0 + 2 / target)
    while moment(exp(low)) < target:
        low -= 1
    rate = exp(root(lambda log_rate: target - moment(exp(log_rate)), low, high))
    whole, power = _sums(p, rate)
    return MaxEntropy(1 / whole, exp(rate), rate ** (-1 / p), (log(whole) + rate * power / whole) / log(2))


def discrete_leakage_bound(p: float, mu: float, d: float) -> float:
    """What P*_{p,d} leaks at most, in bits, about any X with E|X|^p <= mu^p: H* of the sum minus H* of the noise.

    The paper adds mu and d (Minkowski). For p <= 2 and symmetric noise E|X + N|^p <= mu^p + d^p is enough (E13), and
    for p = inf the reach of the sum is floor(mu) + floor(d) (E12).

    >>> from math import inf
    >>> round(discrete_leakage_bound(2, 1, 1), 6), round(discrete_leakage_bound(inf, 1.5, 1.5), 6)
    (0.5, 0.736966)
    """
    if isinf(p):
        return log2((2 * (floor(mu) + floor(d)) + 1) / (2 * floor(d) + 1))
    both = (mu**p + d**p) ** (1 / p) if p <= 2 else mu + d
    return max_entropy(p, both).entropy_bits - max_entropy(p, d).entropy_bits


# --- Gaussian calibration --------------------------------------------------------------------------------------------
def gaussian_delta(epsilon: float, sigma: float) -> float:
    """delta(epsilon) of Gaussian noise at sensitivity 1, exactly: Phi(1/2s - eps s) - e^eps Phi(-1/2s - eps s).

    Parameters
    ----------
    epsilon : float
        In nats.
    sigma : float
        Standard deviation, in units of the sensitivity.

    Returns
    -------
    float
    """

    def phi(x: float) -> float:
        return 0.5 * erfc(-x / sqrt(2))

    return phi(0.5 / sigma - epsilon * sigma) - exp(epsilon) * phi(-0.5 / sigma - epsilon * sigma)


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The least sigma of Gaussian noise for (epsilon, delta).

    The paper's sqrt(2 log(2/delta)) / epsilon is neither least nor, for large epsilon, enough (E14).

    Parameters
    ----------
    epsilon : float
        In nats, above 0.
    delta : float
        Between 0 and 1.
    sensitivity : float
        How far one record moves the answer.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If epsilon or delta is out of range.

    >>> round(gaussian_sigma(1, 1e-5), 11)
    3.73063163482
    """
    if not epsilon > 0 or not 0 < delta < 1:
        raise InputError(f"epsilon is {epsilon:g} and delta {delta:g}; epsilon is above 0 and delta between 0 and 1")
    found = root(lambda log_sigma: delta - gaussian_delta(epsilon, exp(log_sigma)), -20.0, log(10 / (epsilon * delta)))
    return sensitivity * exp(found)


# --- several numbers -------------------------------------------------------------------------------------------------
def allocated_additive(variances: Sequence[float], d: float) -> list[float]:
    """Variances of Gaussian noise of total d, added along the principal axes, with the least leakage (12).

    sigma_i = (-v_i + sqrt(v_i^2 + 4 v_i / nu)) / 2, zero where v_i is.

    >>> [round(s, 9) for s in allocated_additive([4.0, 1.0], 1.0)]
    [0.55848156, 0.44151844]
    """
    if not d > 0 or not any(variances):
        raise InputError("allocation needs a positive total and a positive variance")

    def at(price: float) -> list[float]:  # 2 v / nu / (v + sqrt(...)): no cancellation
        return [
            2 * variance / price / (variance + sqrt(variance * variance + 4 * variance / price))
            if variance > 0
            else 0.0
            for variance in variances
        ]

    found_price = root(lambda log_price: d - fsum(at(exp(log_price))), -200.0, 200.0)
    found = at(exp(found_price))
    return [share * d / fsum(found) for share in found]


def allocated_shrinkage(variances: Sequence[float], d: float) -> list[float]:
    """Reverse water-filling: the error of each number, min(level, variance), of total d.

    >>> allocated_shrinkage([4.0, 1.0], 3.0)
    [2.0, 1.0]
    """
    if d >= fsum(variances):
        return list(map(float, variances))
    level = 0.0
    left = d
    many = len(variances)
    for smallest in sorted(variances):
        if left / many <= smallest:
            level = left / many
            break
        left = left - smallest
        many = many - 1
    return [min(level, float(variance)) for variance in variances]


# --- laws that are shifted and collected at the ends, in floats ------------------------------------------------------
def _convolved(one: Floats, other: Floats) -> Floats:
    if min(len(one), len(other)) < 200:
        return np.convolve(one, other)
    size = 1 << (len(one) + len(other) - 2).bit_length()
    both = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)
    return np.asarray(np.maximum(both[: len(one) + len(other) - 1], 0.0))


def _collected(spread: Floats, start: int, low: int, high: int) -> Floats:
    place = np.clip(np.arange(len(spread)) + start, low, high) - low
    return np.bincount(place, weights=spread, minlength=high - low + 1).astype(float)


def _symmetric(weights: Sequence[float]) -> Floats:
    half = np.array([weight / weights[0] if weights[0] else float(weight) for weight in weights])
    law = np.concatenate([half[:0:-1], half])
    return np.asarray(law / law.sum())


def _certain(law: Floats, shifts: Floats, reach: int, low: int, high: int) -> Floats:
    """sum_y W_c log2 W_c of each shift."""
    with np.errstate(divide="ignore", invalid="ignore"):
        told = np.concatenate([[0.0], np.cumsum(np.where(law > 0, law * np.log2(law), 0.0))])
        below = np.concatenate([[0.0], np.cumsum(law)])
        if low == high:
            return np.zeros(len(shifts))
        at = [np.clip(end - shifts + reach, 0, len(law)).astype(int) for end in (low + 1, high)]
        inner = np.where(at[1] > at[0], told[at[1]] - told[at[0]], 0.0)
        ends = [below[at[0]], 1 - below[at[1]]]
        return np.asarray(
            inner + sum(np.where(end > 1e-300, end * np.log2(np.maximum(end, 1e-300)), 0.0) for end in ends)
        )


def information(prior: Floats, weights: Sequence[float], first: int, low: int, high: int) -> float:
    """I(c; clip(c + N)) in bits for a law of the shifts first, first + 1, ..."""
    law = _symmetric(weights)
    reach = len(weights) - 1
    out = _collected(_convolved(prior, law), first - reach, low, high)
    out = out[out > 1e-15]
    shifts = np.arange(len(prior), dtype=float) + first
    return max(0.0, float(prior @ _certain(law, shifts, reach, low, high) - out @ np.log2(out)))


def capacity_prior(many: int, weights: Sequence[float], first: int, low: int, high: int, rounds: int = 400) -> Floats:
    """A law of the shifts that tells nearly as much as any, by rounds of Blahut and Arimoto."""
    law = _symmetric(weights)
    reach = len(weights) - 1
    shifts = np.arange(many, dtype=float) + first
    certain = _certain(law, shifts, reach, low, high)
    prior = np.full(many, 1 / many)
    for turn in range(rounds):
        out = np.maximum(_collected(_convolved(prior, law), first - reach, low, high), 1e-300)
        line = -np.log2(out)[np.clip(np.arange(many + 2 * reach) + first - reach, low, high) - low]
        told = certain + _convolved(line, law)[2 * reach : 2 * reach + many]
        speed = 1.0 if turn < 20 else 2.0  # longer steps once the shape is there
        prior = prior * np.exp2(speed * (told - told.max()))
        prior /= prior.sum()
    return prior


def capacity_weights(first: int, last: int, low: int, high: int, weights: Sequence[int]) -> list[list[int]]:
    """A law of the shifts as pairs of a shift and its weight, whose output bounds the capacity.

    >>> capacity_weights(0, 1, 0, 1, (3, 1))
    [[0, 549755813888], [1, 549755813888]]
    """
    if first == last or low == high:
        return [[first, 1]]
    reach = len(weights) - 1
    far = max(1, (last - first) // COARSE)  # atoms so far apart are enough on a fine grid
    far = far if reach >= 8 * far else 1
    many = (last - first) // far + 1
    found = capacity_prior(many, weights[::far], 0, (low - first) // far, -((first - high) // far), 600)
    counts = {first + far * place: round(value * PRIOR) for place, value in enumerate(found.tolist())}
    kept = []
    since = first
    for shift in sorted({*counts, last}):
        weight = counts.get(shift, 0)
        # Every released number must have a positive weight: no gap wider than the noise.
        if weight or shift in (first, last) or shift + far - since > reach:
            kept.append([shift, max(weight, 1)])
            since = shift
    return kept


# --- the least rate at a squared error, from below -------------------------------------------------------------------
def rate_line(prior: Floats, d: float) -> tuple[float, Floats]:
    """(s, weights) of the best line below the rate: sum_x p log2 w - log2 max_y sum_x p w 2^(-s (x-y)^2) - s d.

    The weights are those of Blahut's iteration, 1 / sum_y q(y) 2^(-s (x-y)^2); any slope and any positive weights give
    a bound of I(X; Y) for every Y on the same grid with a squared error of d steps.

    >>> s, w = rate_line(np.full(2, 0.5), 0.11)
    >>> round(s, 1)  # a fair bit: the slope of 1 - h(d), log2((1 - d) / d)
    3.0
    """
    n = len(prior)
    near = 1 / (2 * log(2) * d)
    q = np.maximum(prior, 1e-6)
    found = (0.0, near, np.ones(n))

    def dual(s: float, rounds: int = 60) -> tuple[float, float, Floats]:
        nonlocal q
        half = np.exp2(-s * np.arange(n) ** 2)
        kernel = np.concatenate([half[:0:-1], half])
        weights = np.ones(n)
        back = np.ones(n)
        for _ in range(rounds):
            weights = 1 / np.maximum(_convolved(q, kernel)[n - 1 : 2 * n - 1], 1e-14)
            back = _convolved(prior * weights, kernel)[n - 1 : 2 * n - 1]
            q = np.maximum(q * back**1.5, 1e-14)  # a longer step than Blahut's own
            q /= q.sum()
        return float(prior @ np.log2(weights)) - log2(float(back.max())) - s * d, s, weights

    def offered(logarithm: float) -> float:
        nonlocal found
        offer = dual(exp(logarithm))
        found = max(found, offer, key=lambda offer: offer[0])
        return offer[0]

    narrowed(offered, log(near) - 2, log(near) + 2, 9)  # the bound is concave in s
    found = max(found, *(dual(found[1] * share, 300) for share in (1.3, 1.14, 1.0, 0.88)), key=lambda offer: offer[0])
    return found[1], found[2]
