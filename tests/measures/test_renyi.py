"""Renyi and zero-concentrated levels against the definition, closed forms and each other; rounded up."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Channel, Pram, Product
from dalenius.measures import renyi_level, strong_dp_epsilon, zcdp_level
from dalenius.measures.renyi import level_words
from tests.effort import effort


def channel(rows):
    letters = tuple(map(str, range(len(rows))))
    return Channel({"X": letters}, {"Y": tuple(map(str, range(len(rows[0]))))}, tuple(map(tuple, rows)))


def by_definition(rows, a):
    pairs = [(p, q) for p in rows for q in rows if p is not q]
    return max(
        log(sum(float(x) ** a * float(y) ** (1 - a) for x, y in zip(p, q, strict=True))) / (a - 1) for p, q in pairs
    )


@given(st.lists(st.lists(st.integers(1, 50), min_size=3, max_size=3), min_size=2, max_size=4))
@settings(deadline=None, max_examples=effort(5, 30))
def test_levels_are_not_below_the_definition_and_close_to_it(counts):
    rows = [[Fraction(v, sum(row)) for v in row] for row in counts]
    law = channel(rows)
    for a in (1.5, 2, 8):
        truth = by_definition(rows, a)
        assert truth - 1e-13 <= renyi_level(law, a) <= max(truth, 0) + 1e-9
    rho = max(by_definition(rows, a) / a for a in np.exp(np.linspace(1e-3, 3, 40)))
    assert rho <= zcdp_level(law) * (1 + 1e-12) + 1e-12  # equal rows: the definition above is rounded
    assert zcdp_level(law) <= strong_dp_epsilon(law) ** 2 / 2 * (1 + 1e-9) + 1e-12
    assert renyi_level(law, 2) <= renyi_level(law, 16) <= strong_dp_epsilon(law)


def test_randomised_response_has_the_closed_form():
    e = exp(1)
    q = Fraction(e / (e + 3))
    letters = {"X": tuple("abcd")}
    law = Pram(letters, letters, (q,) * 4)
    b = float((1 - q) / 3)
    for a in (2, 4):
        closed = log(float(q) ** a * b ** (1 - a) + b**a * float(q) ** (1 - a) + 2 * b) / (a - 1)
        assert renyi_level(law, a) == pytest.approx(closed, abs=1e-10)
    twice = Product(
        {"X": letters["X"], "Z": letters["X"]}, (law, Pram({"Z": letters["X"]}, {"Z": letters["X"]}, law.q))
    )
    assert renyi_level(twice, 2) == pytest.approx(2 * renyi_level(law, 2), rel=1e-12)
    assert zcdp_level(twice) == pytest.approx(2 * zcdp_level(law), rel=1e-12)
    assert "zero-concentrated rho" in level_words(law)[0]


def test_a_letter_that_rules_an_input_out_has_no_level_and_a_constant_has_level_0():
    assert renyi_level(channel([[1, 0], [Fraction(1, 2), Fraction(1, 2)]]), 2) is None
    assert zcdp_level(channel([[1, 0], [Fraction(1, 2), Fraction(1, 2)]])) is None
    assert level_words(channel([[1, 0], [0, 1]])) == []
    assert renyi_level(channel([[1, 0], [1, 0]]), 2) == zcdp_level(channel([[1, 0], [1, 0]])) == 0


def test_powers_beyond_all_doubles_do_not_overflow():
    """The ratio is 2^998, so that the largest term of order 32 is 2^30936: known from its logarithm alone."""
    rare = Fraction(1, 2**1000)
    rows = (Fraction(3, 4), Fraction(1, 4)), (1 - rare, rare)
    channel = Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, rows)
    order = 32
    expected = (order * log(1 / 4) + (order - 1) * 1000 * log(2)) / (order - 1)
    assert expected <= renyi_level(channel, order) <= expected * (1 + 1e-11)
    # No level of an order lies above order times rho.
    sampled = max(((a * log(1 / 4) + (a - 1) * 1000 * log(2)) / (a - 1) / a) for a in (1.5, 2.0, 2.5, 3.0, 4.0))
    assert sampled <= zcdp_level(channel) <= (998 * log(2)) ** 2 / 2
