"""What a guess gains: closed forms, the order of the measures, and brackets that hold the float of the formula."""

from fractions import Fraction
from math import log2

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dalenius import Channel, Pmf
from dalenius.errors import InputError
from dalenius.measures import (
    alpha_leakage,
    guess_after,
    guess_before,
    maximal_leakage,
    min_entropy_leakage,
    mutual_information,
    sibson,
    total_variation,
)

COUNTS = st.lists(st.integers(0, 9), min_size=6, max_size=6).filter(lambda n: sum(n[:3]) and sum(n[3:]))


def joint_of(counts):
    outcomes = [(s, y) for s in "ab" for y in "uvw"]
    return Pmf.from_records({"S": "ab", "Y": "uvw"}, [(at, n) for at, n in zip(outcomes, counts, strict=True) if n])


def floats(joint):
    both = [[int(n) / joint.total for n in row] for row in joint.counts(["S"], ["Y"])]
    return both, [sum(row) for row in both]


@given(COUNTS)
def test_brackets_hold_the_formula(counts):
    joint = joint_of(counts)
    both, prior = floats(joint)
    columns = list(zip(*both, strict=True))
    for a in (1.5, 2.0, 8.0):
        low, high = sibson(joint, ["S"], ["Y"], Fraction(a))
        whole = sum(sum(p * (v / p) ** a for v, p in zip(c, prior, strict=True)) ** (1 / a) for c in columns)
        assert low - 1e-12 <= a / (a - 1) * log2(whole) <= high + 1e-12
        low, high = alpha_leakage(joint, ["S"], ["Y"], Fraction(a))
        whole = sum(sum(v**a for v in c) ** (1 / a) for c in columns) / sum(p**a for p in prior) ** (1 / a)
        assert low - 1e-12 <= a / (a - 1) * log2(whole) <= high + 1e-12
    apart = sum(abs(v - p * sum(c)) for c in columns for v, p in zip(c, prior, strict=True)) / 2
    assert abs(float(total_variation(joint, ["S"], ["Y"])) - apart) < 1e-12


@given(COUNTS)
@example([0, 0, 1, 0, 0, 1])
def test_orders_lie_between_mutual_information_and_maximal_leakage(counts):
    joint = joint_of(counts)
    rows = [[Fraction(int(n), int(sum(row))) for n in row] for row in joint.counts(["S"], ["Y"])]
    letters = tuple("uvw"[: len(rows[0])])  # those that never occur are not counted
    most = maximal_leakage(Channel({"S": "ab"}, {"Y": letters}, tuple(map(tuple, rows))))
    steps = [sibson(joint, ["S"], ["Y"], Fraction(a)) for a in ("3/2", "2", "8")]
    assert mutual_information(joint, ["S"], ["Y"]) <= steps[0][1] + 1e-12
    for one, next_one in zip(steps, [*steps[1:], most], strict=True):
        assert one[0] <= next_one[1] + 1e-12
    assert min_entropy_leakage(joint, ["S"], ["Y"])[0] <= most[1] + 1e-12


@given(COUNTS)
def test_no_guess_gains_more_than_the_total_variation(counts):
    joint = joint_of(counts)
    gained = guess_after(joint, ["S"], ["Y"]) - guess_before(joint, ["S"])
    assert 0 <= gained <= total_variation(joint, ["S"], ["Y"])


def test_nothing_is_told_by_an_independent_letter():
    joint = joint_of([1, 2, 3, 2, 4, 6])
    assert total_variation(joint, ["S"], ["Y"]) == 0
    for order in (Fraction(2), Fraction(9, 2)):
        assert sibson(joint, ["S"], ["Y"], order)[1] < 1e-15
        assert alpha_leakage(joint, ["S"], ["Y"], order)[1] < 1e-15
    assert min_entropy_leakage(joint, ["S"], ["Y"]) == (0.0, 0.0)


def test_an_order_is_above_one():
    with pytest.raises(InputError, match="must be above 1"):
        sibson(joint_of([1] * 6), ["S"], ["Y"], Fraction(1))


@pytest.mark.parametrize("order", [2, 8])
def test_also_a_what_is_independent_reveals_nothing_and_no_dust(order):
    """An audit once printed 5e-324 bits of a release that does not depend on the record."""
    both = Pmf.from_records(
        {"X": ("a", "b"), "Y": ("c", "d")}, [(("a", "c"), 3), (("b", "c"), 6), (("b", "d"), 2), (("a", "d"), 1)]
    )
    assert sibson(both, ["X"], ["Y"], Fraction(order)) == (0.0, 0.0)
    assert alpha_leakage(both, ["X"], ["Y"], Fraction(order)) == (0.0, 0.0)
