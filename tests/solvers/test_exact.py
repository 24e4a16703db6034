"""Exact linear algebra against its defining equations; enclosures against ball arithmetic at higher precision."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius import solvers
from dalenius.errors import InputError, SolverFailed
from dalenius.solvers import as_fraction, null_space, rank, solve
from dalenius.solvers.exact import reduced_right, solve_sparse

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
def test_the_last_column_of_a_reduced_matrix_solves_for_its_pivots(A):
    right, pivots = reduced_right(A)
    assert pivots == sorted(set(pivots))
    assert len(right) == len(pivots) == rank(A)
    width = len(A[0]) - 1
    if width in pivots:  # the last column is no combination of the others
        assert rank([row[:-1] for row in A]) == rank(A) - 1
    else:
        solution = [right[pivots.index(j)] if j in pivots else Fraction(0) for j in range(width)]
        assert product([row[:-1] for row in A], solution) == [row[-1] for row in A]


@pytest.mark.long
@given(matrices(), st.data())
def test_solve_returns_the_planted_solution_or_says_why_not(A, data):
    x = data.draw(st.lists(entries, min_size=len(A[0]), max_size=len(A[0])))
    if rank(A) == len(x):
        assert solve(A, product(A, x)) == x
    else:
        with pytest.raises(SolverFailed, match="many solutions"):
            solve(A, product(A, x))


def entries_of(A):
    return [{j: v for j, v in enumerate(row) if v} for row in A]


@pytest.mark.long
@given(st.integers(1, 6), st.data())
def test_a_sparse_system_has_the_solution_of_the_dense_one(width, data):
    """Multiples of one another, chains and circles of them, and rows with more."""
    numbers = entries.filter(bool)
    x = data.draw(st.lists(st.one_of(st.just(Fraction(0)), numbers), min_size=width, max_size=width))
    A = []
    for _ in range(data.draw(st.integers(1, 8))):
        row = [Fraction(0)] * width
        for j in data.draw(st.sets(st.integers(0, width - 1), min_size=1, max_size=3)):
            row[j] = data.draw(numbers)
        j, k = (data.draw(st.integers(0, width - 1)) for _ in range(2))
        if x[j] and x[k] and j != k:  # an equation that holds: x_j is a multiple of x_k
            row = [Fraction(0)] * width
            row[j], row[k] = 1 / x[j], -1 / x[k]
        A.append(row)
    b = product(A, x)
    if rank(A) == width:
        assert solve_sparse(entries_of(A), b, width) == x
    else:
        with pytest.raises(SolverFailed, match="many solutions"):
            solve_sparse(entries_of(A), b, width)


def test_a_sparse_system_is_refused_where_the_dense_one_is():
    one = Fraction(1)
    with pytest.raises(SolverFailed, match="many solutions: rank 1 for 2"):
        solve_sparse([{0: one, 1: -one}], [Fraction(0)], 2)
    with pytest.raises(SolverFailed, match="no solution"):
        solve_sparse([{0: one, 1: -one}, {0: one}, {1: one}], [Fraction(0), one, 2 * one], 2)
    assert solve_sparse([{0: one, 1: -one}, {0: one, 1: one}, {0: one}], [Fraction(0)] * 3, 2) == [0, 0]


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
