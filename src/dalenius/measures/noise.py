r"""Closed forms of paper 001, in exact rational brackets: randomised response, the exponential channel, Gaussian noise.

    (54)       log 2 - h(p)         individual capacity of a binary f under randomised response
    (63)-(65)  log |Y| - H(Z)       bound for data-independent channels, reached iff some mixture of rows is uniform
    (71)-(84)  log k - H(Z)         for the exponential channel over k values
    (115)      log(1 + T^2 / N) / 2   only a bound for Gaussian noise of variance N and |f| <= T
    (117)      N = T^2 / (4^B - 1)  in bits; meets the budget B, with more noise than needed
    (122)      mean + noise         tends to a Gaussian tail, 2 Q(tau / sqrt N), far below Chebyshev's N / tau^2

Brackets (low, high) are in bits.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import erfc, log, log1p, sqrt
from typing import TypeAlias

from dalenius.core.arithmetic import BITS, summed_bits, times_log2
from dalenius.core.query_noise import exponential_law, permuted
from dalenius.errors import Infeasible, InputError
from dalenius.solvers.tableau import feasible_tableau

__all__ = [
    "entropy_of",
    "exponential_bits",
    "exponential_rate",
    "gaussian_bound",
    "gaussian_variance",
    "noisy_mean_tail",
    "response_bits",
    "response_probability",
    "symmetric_bits",
    "uniform_mixture",
]

Ends: TypeAlias = tuple[Fraction, Fraction]


def entropy_of(law: Sequence[Fraction]) -> Ends:
    """H of a rational law.

    Parameters
    ----------
    law : sequence of Fraction
        Masses with sum one.

    Returns
    -------
    Ends
        Both ends, in bits.

    >>> entropy_of([Fraction(1, 2)] * 2) == (1, 1)
    True
    """
    return summed_bits(times_log2(mass, 1 / mass) for mass in law if mass)


def _below_uniform(law: Sequence[Fraction]) -> Ends:
    low, high = entropy_of(law)
    ends = times_log2(Fraction(1), Fraction(len(law)))
    return max(Fraction(0), Fraction(ends[0], 1 << BITS) - high), Fraction(ends[1], 1 << BITS) - low


def response_bits(p: Fraction) -> Ends:
    """Individual capacity of any f with two values under randomised response, (54); every record reaches it (E4).

    Parameters
    ----------
    p : Fraction
        The probability of the other value.

    Returns
    -------
    Ends
        Both ends, in bits.

    >>> round(float(response_bits(Fraction(1, 4))[0]), 12)
    0.188721875541
    """
    return _below_uniform([p, 1 - p])


def exponential_bits(k: int, rate: Fraction) -> Ends:
    """log k - H(Z) of the exponential channel, (84).

    Parameters
    ----------
    k : int
        How many values.
    rate : Fraction
        By which the chance falls with each step.

    Returns
    -------
    Ends
        Both ends, in bits.
    """
    return _below_uniform(exponential_law(k, rate))


def _bisected(wanted: Fraction, low: Fraction, high: Fraction, bits: Callable[[Fraction], Ends], digits: int) -> Ends:
    """(more noise, less noise): bits(first) <= wanted < bits(second) proved, within 10^-digits of each other."""
    while abs(high - low) > Fraction(1, 10**digits):
        middle = (low + high) / 2
        middle = Fraction(round(middle * 10 ** (digits + 3)), 10 ** (digits + 3))
        ends = bits(middle)
        if ends[1] <= wanted:
            low = middle
        elif ends[0] > wanted:
            high = middle
        else:
            raise InputError("the budget lies within the rounding of the capacity; take another by a hair")
    return low, high


def response_probability(at_most_bits: Fraction, *, digits: int = 15) -> Ends:
    """p* of (57): (a p that meets the budget, a smaller p that does not).

    Parameters
    ----------
    at_most_bits : Fraction
        The budget.
    digits : int
        By which the two differ.

    Returns
    -------
    Ends
        The first one is safe to use.

    Raises
    ------
    InputError
        If the budget is not between 0 and 1 bit.

    >>> round(float(response_probability(Fraction(1, 10))[0]), 12)
    0.316019346324
    """
    if not 0 < at_most_bits < 1:
        raise InputError("randomised response of two values is calibrated for a budget between 0 and 1 bit")
    return _bisected(at_most_bits, Fraction(1, 2), Fraction(0), response_bits, digits)


def exponential_rate(k: int, at_most_bits: Fraction, *, digits: int = 14) -> Ends:
    """The largest rate of (83): (a rate that meets the budget by (84), a larger one that does not). It may exceed 1.

    Parameters
    ----------
    k : int
        How many values.
    at_most_bits : Fraction
        The budget.
    digits : int
        By which the two differ.

    Returns
    -------
    Ends
        The first one is safe to use.

    Raises
    ------
    InputError
        If the budget is not between 0 and log2 k.

    >>> round(float(exponential_rate(5, Fraction(1))[0]), 10)
    1.1151146197
    """
    if at_most_bits <= 0 or 2**at_most_bits >= k:
        raise InputError(f"the exponential recipe over {k} values is calibrated for a budget between 0 and log2 {k}")
    top = Fraction(1)
    while exponential_bits(k, top)[0] <= at_most_bits:
        top *= 2
    return _bisected(at_most_bits, Fraction(0), top, lambda rate: exponential_bits(k, rate), digits)


def symmetric_bits(rows: Sequence[Sequence[Fraction]]) -> Ends:
    """log |Y| - H(Z) of a channel whose rows are one law in different orders, (64); it bounds every capacity of it.

    Parameters
    ----------
    rows : Sequence[Sequence[Fraction]]
        Of the channel.

    Returns
    -------
    Ends
        Both ends, in bits.

    Raises
    ------
    InputError
        If the rows are not one law in different orders.
    """
    if not permuted(rows):
        raise InputError("the rows are not one distribution in different orders")
    return _below_uniform(rows[0])


def uniform_mixture(rows: Sequence[Sequence[Fraction]]) -> dict[int, Fraction] | None:
    """Weights of rows whose mixture is uniform, exactly, or None: whether (65) is reached by these rows.

    Definition 13 asks for more than that; randomised response over three values never satisfies it, and reaches (65).

    Parameters
    ----------
    rows : Sequence[Sequence[Fraction]]
        Laws of the same letters.

    Returns
    -------
    dict[int, Fraction] or None
        The weight of each row that has one.

    >>> third, sixth = Fraction(2, 3), Fraction(1, 6)
    >>> uniform_mixture([[third, sixth, sixth], [sixth, third, sixth], [sixth, sixth, third]])[0]
    Fraction(1, 3)
    """
    letters = len(rows[0])
    try:
        point = feasible_tableau(
            [list(column) for column in zip(*rows, strict=True)], [Fraction(1, letters)] * letters
        ).point
    except Infeasible:
        return None
    return {row: weight for row, weight in point.items() if weight}


def gaussian_bound(half_range: float, variance: float) -> float:
    """(115) in bits: an upper bound that is never reached, because |f| <= T limits more than the power of f.

    Parameters
    ----------
    half_range : float
        T, with |f| <= T.
    variance : float
        N, of the noise.

    Returns
    -------
    float
        In bits.
    """
    return log1p(half_range**2 / variance) / 2 / log(2)


def gaussian_variance(half_range: float, at_most_bits: float) -> float:
    """(117) with bits: meets the budget with 2.06 times the variance that one nat needs.

    Parameters
    ----------
    half_range : float
        T, with |f| <= T.
    at_most_bits : float
        The budget.

    Returns
    -------
    float
        N.

    >>> gaussian_variance(1.0, 0.5)
    1.0
    """
    return float(half_range**2 / (4.0**at_most_bits - 1))


def noisy_mean_tail(variance: float, tau: float) -> tuple[float, float]:
    """lim P(|W - mean| >= tau) for W = average + Gaussian noise, exactly, and Chebyshev's bound of Proposition 4.

    The limit of the paper's proof, N / tau^2, only bounds it: 0.1565 against 0.0115 at T = tau = 1 and one nat.

    Parameters
    ----------
    variance : float
        N, of the noise.
    tau : float
        How far.

    Returns
    -------
    tuple[float, float]
        The limit, and its bound.

    Raises
    ------
    InputError
        If one of them is not positive.
    """
    if tau <= 0 or variance <= 0:
        raise InputError("the variance and tau are above 0")
    return erfc(tau / sqrt(2 * variance)), variance / tau**2
