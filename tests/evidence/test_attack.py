"""The attack on a release: guesses by brute force, Fano's bound by its own inequality."""

from fractions import Fraction
from itertools import product
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius.designs import solve
from dalenius.evidence import attacks, fano_error
from dalenius.testing import binary_tradeoff, tradeoff, xor


def test_the_best_guess_of_a_binary_secret_is_the_likelier_flip():
    design = solve(binary_tradeoff("1/10", "3/20"))
    (attack,) = attacks(design)
    flip = design.channel.rows[0][1]
    assert attack.before == Fraction(1, 2)
    assert attack.after == Fraction(1, 10) * flip + Fraction(9, 10) * (1 - flip)
    assert attack.error == 1 - attack.after
    # A symmetric binary channel meets Fano with equality.
    assert attack.fano_error == pytest.approx(float(attack.error), abs=1e-7)


def test_independence_leaves_the_guess_as_it_was():
    for attack in attacks(solve(xor())):
        assert attack.before == attack.after == Fraction(1, 2)
        assert attack.fano_error == pytest.approx(0.5, abs=1e-4)


def test_a_guess_by_brute_force_over_all_rules_is_not_better():
    counts = [[[3], [5], [1]], [[2], [2], [6]], [[4], [1], [2]]]
    design = solve(tradeoff(counts, "hamming", "1/5"))
    (attack,) = attacks(design)
    rows, total = design.channel.rows, Fraction(26)
    best = max(
        sum(counts[r][rule[y]][0] * rows[r][y] for r in range(3) for y in range(3)) / total
        for rule in product(range(3), repeat=3)
    )
    assert attack.after == best
    assert float(attack.error) >= attack.fano_error - 1e-12


@given(st.integers(2, 9), st.floats(0, 1))
def test_fano_is_inverted_exactly(values, share):
    unknown = share * log2(values)
    e = fano_error(unknown, values)
    inside = sum(-p * log2(p) for p in (e, 1 - e) if p > 0) + e * log2(max(values - 1, 1))
    assert inside == pytest.approx(unknown, abs=1e-9)
    assert e >= (unknown - 1) / log2(values) - 1e-12  # the papers' form is never better
