"""Types of n samples and their exact law, in whole numbers: what replaces the list of all outcomes."""

from collections.abc import Sequence
from fractions import Fraction
from math import comb, factorial, lcm

from dalenius.errors import InputError
from dalenius.kernel.alike import types as list_types

__all__ = ["MOST_TYPES", "count_types", "list_types", "type_law"]

MOST_TYPES = 200_000


def count_types(n: int, letters: int) -> int:
    """How many types n samples have: C(n + letters - 1, letters - 1).

    >>> count_types(50, 3)
    1326
    """
    if n < 1 or letters < 1:
        raise InputError(f"{n} samples of {letters} values have no type")
    if n > 10**6 or (many := comb(n + letters - 1, letters - 1)) > MOST_TYPES:
        raise InputError(f"{n} samples of {letters} values have more than {MOST_TYPES:,} types")
    return many


def type_law(
    prior: Sequence[Fraction], kernel: Sequence[Sequence[Fraction]], n: int
) -> tuple[list[tuple[int, ...]], list[list[int]], int]:
    r"""All types t, the whole numbers N(t, w), one row for each t, and their total, with

        p(w, t) = p(w) n! prod_x p(x|w)^t_x / t_x! = N(t, w) / total.

    >>> half = Fraction(1, 2)
    >>> type_law([half, half], [[half, half], [Fraction(1), Fraction(0)]], 2)
    ([(0, 2), (1, 1), (2, 0)], [[1, 0], [2, 0], [1, 4]], 8)
    """
    count_types(n, len(kernel[0]))
    types = list(list_types(n, len(kernel[0])))
    one = lcm(*(p.denominator for p in prior))
    unit = lcm(*(entry.denominator for row in kernel for entry in row))
    factorials = [factorial(k) for k in range(n + 1)]
    powers = [[_powers(int(entry * unit), n) for entry in row] for row in kernel]
    weights = []
    for t in types:
        many = factorials[n]
        for k in t:
            many //= factorials[k]
        row = []
        for p, of in zip(prior, powers, strict=True):
            weight = many * int(p * one)
            for k, power in zip(t, of, strict=True):
                weight *= power[k]
            row.append(weight)
        weights.append(row)
    return types, weights, one * unit**n


def _powers(base: int, n: int) -> list[int]:
    found = [1]
    for _ in range(n):
        found.append(found[-1] * base)
    return found
