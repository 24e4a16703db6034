"""Parts of hostile texts: numbers of many digits, many values, wide matrices."""

import random

from tests.kernel.documents import (
    dense,
    design,
)

MOST = 1_000_000  # characters
LONG = 3_900  # digits of a long number
chance = random.Random(8)


def long(digits=LONG):
    """A number of so many digits without small factors, as a text."""
    return str(10 ** (digits - 1) * chance.randrange(2, 9) + chance.randrange(10 ** (digits - 2)) * 2 + 1)


def share(digits=LONG):
    """A number below one with a long denominator."""
    return f"{long(digits // 2 - 4)}/9{long(digits // 2 - 2)}"


def letters(many):
    return [str(k) for k in range(many)]


def of(many, count="1"):
    """A column X of so many letters, and its law."""
    return {"X": letters(many)}, [[k, count] for k in range(many)]


def even(many, wide):
    """A matrix whose rows all differ and have no zeros."""
    return dense(*([1 + (x * y) % 7 + (x == y) for y in range(wide - 1)] + [10 * wide - 0] for x in range(many)))


def matrix(many, wide, digits=1):
    """Random rows of one scale."""
    top = 10**digits
    rows = [[chance.randrange(1, top + 1) for _ in range(wide - 1)] for _ in range(many)]
    scale = max(map(sum, rows)) + 1
    return dense(*([*row, scale - sum(row)] for row in rows))


def alone(promise, many=150, wide=150, digits=1, **more):
    """One promise about a matrix."""
    variables, outcomes = of(many)
    return design(variables, outcomes, promises=[promise], channel=matrix(many, wide, digits), **more)
