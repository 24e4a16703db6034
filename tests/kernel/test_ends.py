"""What is told of a value of the secret at the ends of its cells: hardly above one by one, and never below."""

import inspect
from itertools import product

import numpy as np
import pytest

from dalenius.kernel import ends as module
from dalenius.kernel.ends import in_order, most_at_ends
from dalenius.kernel.logs import BITS, log2
from dalenius.kernel.numbers import Refused, Work


def ends_of_nine(rng):
    """Ends, rows with letters of few cells and of all, known logarithms and a price, in whole numbers."""
    rows = rng.integers(1, 9, (9, 5)) * (rng.random((9, 5)) < [0.4, 0.4, 0.4, 0.6, 1.0])
    ends = [(low, low + wide) for low, wide in zip(*rng.integers(1, 90, (2, 9)).tolist(), strict=True)]
    return (
        ends,
        rows.tolist(),
        [-int(v) << BITS - 3 for v in rng.integers(8, 32, 5)],
        int(rng.integers(8, 24)) << BITS - 3,
    )


def one_by_one(ends, rows, known, price):
    """What `most_at_ends` bounds, corner by corner."""
    most = -(10**99)
    for corner in product(*ends):
        letters = [sum(p * row[y] for p, row in zip(corner, rows, strict=True)) for y in range(len(known))]
        whole = sum(letters)
        told = sum(v * (log2(v)[1] - own) for v, own in zip(letters, known, strict=True) if v)
        most = max(most, told - (whole * (log2(whole)[0] + price) if whole else 0))
    return most


def test_ends_in_pieces_are_told_hardly_above_one_by_one():
    rng = np.random.default_rng(5)
    for _ in range(4):
        given = ends_of_nine(rng)
        whole = max(sum(high * sum(row) for (_, high), row in zip(*given[:2], strict=True)), 1)
        assert 0 <= most_at_ends(*given, Work(10**9)) - one_by_one(*given) <= whole << BITS - 11


def test_pieces_from_no_mass_on_bound_what_is_told():
    ends, rows = [(0, 5 + c) for c in range(9)], [[1 + c % 3, 2, c] for c in range(9)]
    for price in (0, 4 << BITS, -(4 << BITS)):
        known = [log2(1, 4)[0]] * 3
        assert most_at_ends(ends, rows, known, price, Work(10**9)) >= one_by_one(ends, rows, known, price)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("slopes = [-((first - second) >> shift)", "slopes = [((first - second) >> shift)"),
        ("point * LOG_OF_E for slope", "-point * LOG_OF_E for slope"),
        ("slopes = [log2(point)[0] + LOG_OF_E + price", "slopes = [log2(point)[0] + 2 * LOG_OF_E + price"),
        ("starts = [least * slope", "starts = [0 * slope"),
        ("values[start : start + block] * 2]", "values[start : start + block] * 2][::-1]"),
        ("starts = [end - slope * (at << shift)", "starts = [end - slope * (at + 1 << shift)"),
    ],
)
def test_a_planted_error_in_the_pieces_of_ends_is_seen(old, new):
    text = inspect.getsource(module)
    assert text.count(old) == 1
    wrong = {"__name__": "wrong"}
    exec(text.replace(old, new), wrong)
    rng = np.random.default_rng(5)
    away = []
    for _ in range(4):
        given = ends_of_nine(rng)
        whole = sum(high * sum(row) for (_, high), row in zip(*given[:2], strict=True))
        apart = wrong["most_at_ends"](*given, Work(10**9)) - one_by_one(*given)
        away.append(not 0 <= apart <= whole << BITS - 11)
    assert any(away)


def test_ends_that_nobody_would_list_are_refused_before_they_are_listed():
    with pytest.raises(Refused, match="more than the 1,000,000 operations"):
        most_at_ends([(1, 2)] * 60, [[1, 1]] * 60, [0, 0], 0, Work(10**6))


def test_letters_with_few_cells_left_come_first():
    assert in_order([[3, 1], [2], [1, 2, 0]]) == [2, 1, 3, 0]
