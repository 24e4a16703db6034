"""Exact linear algebra against its defining equations; enclosures against ball arithmetic at higher precision."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from dalenius import solvers
from dalenius.errors import InputError, SolverFailed
from dalenius.solvers import as_fraction, exp_bounds, log2_bounds, null_space, rank, rref, solve

entries = st.fractions(min_value=-3, max_value=3, max_denominator=4)


@st.composite
def matrices(draw: st.DrawFn) -> list[list[Fraction]]:
    m, n = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    return draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=m, max_size=m))


def product(A, v):
    return [sum((a * x for a, x in zip(row, v, strict=True)), Fraction(0)) for row in A]


def test_the_public_names_are_sorted_and_real():
    assert solvers.__all__ == sorted(solvers.__all__)
    assert all(hasattr(solvers, name) for name in solvers.__all__)


@given(matrices())
def test_null_space_is_null_and_rank_plus_nullity_is_width(A):
    basis = null_space(A)
    assert all(not any(product(A, v)) for v in basis)
    assert rank(A) + len(basis) == len(A[0])
    assert not basis or rank(basis) == len(basis)


@given(matrices())
def test_rref_has_unit_pivots_and_the_same_row_space(A):
    rows, pivots = rref(A)
    assert pivots == sorted(set(pivots))
    assert len(rows) == len(pivots) == rank(A)
    for i, j in enumerate(pivots):
        assert [row[j] for row in rows] == [int(k == i) for k in range(len(rows))]
        assert not any(rows[i][:j])
    assert rank([*A, *rows]) == len(rows)


@given(matrices(), st.data())
def test_solve_returns_the_planted_solution_or_says_why_not(A, data):
    x = data.draw(st.lists(entries, min_size=len(A[0]), max_size=len(A[0])))
    if rank(A) == len(x):
        assert solve(A, product(A, x)) == x
    else:
        with pytest.raises(SolverFailed, match="many solutions"):
            solve(A, product(A, x))


def test_hilbert_matrix_is_inverted_exactly():
    n = 12
    hilbert = [[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)]
    assert solve(hilbert, product(hilbert, [1] * n)) == [1] * n


def test_linear_algebra_refuses_what_it_cannot_do():
    with pytest.raises(SolverFailed, match="no solution"):
        solve([[1], [1]], [1, 2])
    with pytest.raises(InputError, match=r"not 0\.5 \(float\)"):
        rank([[0.5]])
    with pytest.raises(InputError, match="row 1 has 1 entries"):
        rank([[1, 2], [1]])
    with pytest.raises(InputError, match="2 rows, but 1"):
        solve([[1], [1]], [1])


def test_numpy_integers_are_numbers():
    assert as_fraction(np.int64(7)) == 7
    assert rank([[np.int64(1), np.int64(2)]]) == 1


def assert_encloses(bounds, truth, bits):
    """truth is a much narrower ball; both of its ends must lie between the bounds."""
    low, high = bounds
    for end in (truth.lower(), truth.upper()):
        mantissa, exponent = (int(v) for v in end.man_exp())
        assert low <= Fraction(mantissa) * Fraction(2) ** exponent <= high
    assert high - low <= Fraction(1, 2**bits)


positive = st.builds(Fraction, st.integers(1, 10**40), st.integers(1, 10**40))


@given(positive, st.integers(1, 300))
def test_log2_bounds_enclose_and_are_narrow(q, bits):
    bounds = log2_bounds(q, bits)
    if bounds[0] == bounds[1]:
        assert q == Fraction(2) ** int(bounds[0])
        return
    with ctx.workprec(bits + 400):
        assert_encloses(bounds, arb(fmpq(q.numerator, q.denominator)).log() / arb(2).log(), bits)


@given(st.fractions(min_value=-200, max_value=200), st.integers(1, 300))
def test_exp_bounds_enclose_and_are_narrow(q, bits):
    if q == 0:
        assert exp_bounds(q, bits) == (1, 1)
        return
    with ctx.workprec(bits + 800):
        assert_encloses(exp_bounds(q, bits), arb(fmpq(q.numerator, q.denominator)).exp(), bits)


@given(st.integers(-500, 500))
def test_log2_of_a_power_of_two_is_exact_and_of_its_neighbours_is_not(power):
    q = Fraction(2) ** power
    assert log2_bounds(q) == (power, power)
    low, high = log2_bounds(q * (1 + Fraction(1, 2**100)))
    assert power < low < high


def test_log2_of_a_number_next_to_one_keeps_its_sign():
    low, high = log2_bounds(1 - Fraction(1, 10**30), bits=200)
    assert low < high < 0


def test_a_false_bound_would_be_seen():
    low, high = log2_bounds(3, bits=64)
    with ctx.workprec(500), pytest.raises(AssertionError):
        assert_encloses((low + (high - low) / 2, high), arb(3).log() / arb(2).log(), 64)
    with ctx.workprec(500), pytest.raises(AssertionError):
        assert_encloses((low, low), arb(3).log() / arb(2).log(), 64)


def test_enclosures_leave_the_global_precision_alone():
    before = ctx.prec
    log2_bounds(3, 1000)
    assert ctx.prec == before


def test_enclosures_refuse_bad_arguments():
    with pytest.raises(InputError, match="positive number, not 0"):
        log2_bounds(0)
    with pytest.raises(InputError, match="at least one bit"):
        log2_bounds(3, 0)
    with pytest.raises(SolverFailed, match="more than 4194304 bits"):
        exp_bounds(10**9)
