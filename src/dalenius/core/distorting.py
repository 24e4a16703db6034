"""Distortions between a record and what is released for it, from their letters alone; whole numbers and nothing else.

The released letter is a tuple, one entry for each released column.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

from dalenius.core.arithmetic import BITS, times_log2
from dalenius.core.numbers import exact
from dalenius.core.objective import Distortion
from dalenius.errors import InputError

__all__ = ["ERASED", "distortions"]

ERASED = "(missing)"
"""The released letter that says nothing; `core.source.MISSING` is the same letter."""

Letters = Sequence[tuple[str, ...]]
Table = list[list[int | None]]


def distortions(
    measure: Distortion,
    alphabets: dict[str, Sequence[str]],
    rows: Letters,
    released: Sequence[str],
    letters: Letters,
) -> tuple[Table, Table, int]:
    """Lower and upper ends of d(row, letter) as integers out of a common unit; None where it is infinite.

    A row has one letter for each of `measure.of`. The ends differ for `kl` alone, which is in bits.

    >>> low, high, unit = distortions(Distortion("absolute", "x"), {"x": ["0", "1/2"]}, [("1/2",)], ["x"],
    ...                               [("0",), ("1/2",)])
    >>> low == high, low, unit
    (True, [[1, 0]], 2)
    """
    tables = []
    for part in measure.summands:
        at = [measure.of.index(n) for n in part.of]
        ours = [tuple(row[i] for i in at) for row in rows]
        tables.append((part.weight, *_single(part, alphabets, ours, list(released), letters)))
    if len(tables) == 1 and tables[0][0] == 1:
        return tables[0][1:]
    unit = lcm(*(weight.denominator * one for weight, _, _, one in tables))
    ends: list[Table] = [[[0] * len(letters) for _ in rows] for _ in range(2)]
    for weight, low, high, one in tables:
        scale = weight.numerator * (unit // (weight.denominator * one))
        for k, table in enumerate((low, high)):
            ends[k] = [
                [_plus(a, b, scale) for a, b in zip(x, y, strict=True)] for x, y in zip(ends[k], table, strict=True)
            ]
    return ends[0], ends[1], unit


def _plus(a: int | None, b: int | None, scale: int) -> int | None:
    return None if a is None or b is None else a + scale * b


def _single(
    part: Distortion, alphabets: dict[str, Sequence[str]], rows: Letters, released: list[str], letters: Letters
) -> tuple[Table, Table, int]:
    kind, of = part.distortion, part.of
    if not isinstance(kind, str):
        return _matrix(kind, [alphabets[n] for n in of], rows, letters)
    if kind == "erasure" and released != list(of):
        told: Letters = [letter if letter != (ERASED,) else (ERASED,) * len(of) for letter in letters]
    else:
        if lacking := [n for n in of if n not in released]:
            raise InputError(
                f"the distortion {kind!r} of {lacking[0]!r} needs it among the released columns, or a matrix",
                do="Release this column, or write the distortion as a matrix.",
            )
        if kind == "erasure" and (whole := [n for n in of if ERASED not in alphabets[n]]):
            raise InputError(
                f"the distortion 'erasure' needs the value {ERASED!r}, and the released column {whole[0]!r} has none: "
                "nothing could be erased",
                do=f'Write output = "Y" in [mechanism] instead of release: then {ERASED} is added.',
            )
        at = [released.index(n) for n in of]
        told = [tuple(letter[i] for i in at) for letter in letters]
    if kind == "erasure":
        nothing = (ERASED,) * len(of)
        low: Table = [[0 if row == y else 1 if y == nothing else None for y in told] for row in rows]
        return low, low, 1
    if kind == "lost":  # whatever the record has: 1 where the released letter is not in the class
        ((_, kept),) = zip(of, part.classes, strict=True)
        low = [[int(y not in kept) for (y,) in told]] * len(rows)
        return low, low, 1
    if kind == "hamming":
        name = {a: k for k, group in enumerate(part.classes) for a in group}
        left, right = ([tuple(name.get(value, value) for value in t) for t in side] for side in (rows, told))
        low = [[int(x != y) for y in right] for x in left]
        return low, low, 1
    if kind == "kl":
        return _divergence([exact(x, "a letter") for (x,) in rows], [exact(y, "a letter") for (y,) in told])
    power = {"absolute": 1, "squared": 2}[kind]
    left_numbers, right_numbers = ([[exact(value, "a letter") for value in t] for t in side] for side in (rows, told))
    one = lcm(*(value.denominator for t in [*left_numbers, *right_numbers] for value in t))
    left_whole, right_whole = (
        [[int(value * one) for value in t] for t in side] for side in (left_numbers, right_numbers)
    )
    low = [[sum(abs(a - b) ** power for a, b in zip(x, y, strict=True)) for y in right_whole] for x in left_whole]
    return low, low, one**power


def _matrix(
    matrix: Sequence[Sequence[Any]], alphabets: Sequence[Sequence[str]], rows: Letters, letters: Letters
) -> tuple[Table, Table, int]:
    outcomes = list(product(*alphabets))
    if len(matrix) != len(outcomes) or any(len(row) != len(letters) for row in matrix):
        raise InputError(
            f"the distortion matrix is {len(matrix)} by {len(matrix[0])}; it needs one row for each of the "
            f"{len(outcomes)} values and one column for each of the {len(letters)} released values"
        )
    numbers = [[exact(entry, "a distortion") for entry in row] for row in matrix]
    if min(min(row) for row in numbers) < 0:
        raise InputError("a distortion is negative")
    one = lcm(*(entry.denominator for row in numbers for entry in row))
    place = {outcome: k for k, outcome in enumerate(outcomes)}
    whole: Table = [[int(entry * one) for entry in row] for row in numbers]
    low = [whole[place[x]] for x in rows]
    return low, low, one


def _divergence(rows: list[Fraction], letters: list[Fraction]) -> tuple[Table, Table, int]:
    """D(x || y) of two coins with these probabilities of heads, in bits."""
    if not all(0 <= value <= 1 for value in [*rows, *letters]):
        raise InputError("the values of a kl distortion are probabilities, from 0 to 1")
    low: Table = []
    high: Table = []
    for row in rows:
        ends: list[tuple[int | None, int | None]] = []
        for letter in letters:
            sides = [(a, b) for a, b in ((row, letter), (1 - row, 1 - letter)) if a]
            if any(not b for _, b in sides):
                ends.append((None, None))
                continue
            units = [times_log2(a, a / b) for a, b in sides]
            # A divergence is never negative, whatever its two logarithms are rounded to.
            ends.append((max(0, sum(unit[0] for unit in units)), max(0, sum(unit[1] for unit in units))))
        low.append([a for a, _ in ends])
        high.append([b for _, b in ends])
    return low, high, 1 << BITS
