"""The vertex walk against brute force over all bases; mixtures against their defining equations."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.errors import Infeasible, InputError, SolverFailed
from dalenius.solvers import best_mixture, exact_dual, extremal, rank, solve, vertices, walk
from dalenius.solvers.lp import Optimum
from tests.effort import effort
from tests.solvers.rows import independent


def bit_margins(p):
    """Rows: indicator that coordinate i of an atom of {0,1}^n is a; right-hand side: its probability under p."""
    n = len(p).bit_length() - 1
    A = [[int(x[i] == a) for x in product((0, 1), repeat=n)] for i in range(n) for a in (0, 1)]
    return A, [sum(t for a, t in zip(row, p, strict=True) if a) for row in A]


def iid_bits(n, q):
    return [math.prod(q if bit else 1 - q for bit in x) for x in product((0, 1), repeat=n)]


def transport(rows, columns):
    m, n = len(rows), len(columns)
    A = [[int(cell // n == i) for cell in range(m * n)] for i in range(m)]
    A += [[int(cell % n == j) for cell in range(m * n)] for j in range(n)]
    return A, [*rows, *columns]


def every_basis(A, b):
    """Brute force: all feasible basic solutions."""
    rows = independent([[*row, right] for row, right in zip(A, b, strict=True)])
    found = set()
    for basis in combinations(range(len(A[0])), len(rows)):
        try:
            x = solve([[row[j] for j in basis] for row in rows], [row[-1] for row in rows])
        except SolverFailed:
            continue
        if all(t >= 0 for t in x):
            v = [Fraction(0)] * len(A[0])
            for j, t in zip(basis, x, strict=True):
                v[j] = t
            found.add(tuple(v))
    return found


def assert_complete(A, b):
    found = walk(A, b)
    assert set(found.vertices) == every_basis(A, b)
    assert len(set(found.vertices)) == len(found.vertices) <= found.bases
    assert found.basis == sorted(set(found.basis))
    chosen = [[row[j] for j in found.basis] for row in A]
    assert rank(chosen) == len(found.basis) == rank(A)
    assert all(t >= 0 for t in solve(chosen, b))


@pytest.mark.parametrize(
    ("A", "b"),
    [
        bit_margins(iid_bits(3, Fraction(1, 10))),
        bit_margins(iid_bits(3, Fraction(1, 2))),
        transport([1, 1, 1], [1, 1, 1]),
        transport([0, 1, 1], [1, 0, 1]),
    ],
)
def test_visited_bases_are_exactly_the_lexicographically_feasible_ones(A, b):
    found = walk(A, b)
    rows = independent([[*row, right] for row, right in zip(A, b, strict=True)])
    count = 0
    for basis in combinations(range(len(A[0])), len(rows)):
        square = [[row[j] for j in basis] for row in rows]
        if rank(square) == len(rows):
            # Columns of B^-1 [b, A_first basis]; feasible after the move iff every row is lexicographically positive.
            moved = [solve(square, [row[j] for row in rows]) for j in (-1, *found.basis)]
            count += all(row > (0,) * len(row) for row in zip(*moved, strict=True))
    assert found.bases == count


@pytest.mark.parametrize(
    ("n", "q", "count"), [(3, (1, 10), 6), (3, (37, 100), 9), (4, (1, 10), 42), (4, (3, 10), 52), (4, (37, 100), 130)]
)
def test_iid_bits_have_the_known_number_of_vertices(n, q, count):
    A, b = bit_margins(iid_bits(n, Fraction(*q)))
    assert len(vertices(A, b)) == count


@pytest.mark.parametrize(
    ("rows", "columns", "count"),
    [
        ([1, 2], [1, 2], 2),
        ([3, 4], [2, 5], 2),
        ([29, 31, 37], [28, 33, 36], 18),
        ([1, 1, 1], [1, 1, 1], 6),  # Birkhoff: n! permutations, each with many bases
        ([1, 1, 1, 1], [1, 1, 1, 1], 24),
        ([2, 3], [1, 1, 1, 1, 1], 10),  # hypersimplex: 5 choose 2
        ([103, 98, 110, 89], [95, 101, 99, 105], 384),
    ],
)
def test_transportation_polytopes_have_the_known_number_of_vertices(rows, columns, count):
    A, b = transport(rows, columns)
    assert len(vertices(A, b)) == count


@pytest.mark.slow
def test_four_by_four_matches_brute_force():
    assert_complete(*transport([103, 98, 110, 89], [95, 101, 99, 105]))


margins = st.lists(st.integers(0, 4), min_size=2, max_size=3)


@given(margins, margins, st.integers(0, 12))
def test_random_transportation_polytopes_match_brute_force(rows, columns, total):
    # Small integers make most of these degenerate; the last column balances the two sides.
    columns = [*columns[:-1], sum(rows) - sum(columns[:-1])]
    A, b = transport([Fraction(t, total + 1) for t in rows], [Fraction(t, total + 1) for t in columns])
    if columns[-1] < 0:
        with pytest.raises(Infeasible, match=r"y A <= 0 < y b"):
            walk(A, b)
    else:
        assert_complete(A, b)


@settings(max_examples=effort(6, 40))
@given(st.lists(st.integers(0, 3), min_size=8, max_size=8).filter(any))
def test_random_bit_margins_match_brute_force(counts):
    assert_complete(*bit_margins([Fraction(t, sum(counts)) for t in counts]))


@settings(max_examples=effort(10, 60))
@given(st.data())
def test_random_rational_polytopes_match_brute_force_or_are_proved_empty(data):
    n, m = data.draw(st.integers(2, 6)), data.draw(st.integers(0, 3))
    entry = st.fractions(min_value=-2, max_value=2, max_denominator=3)
    A = [[1] * n] + [data.draw(st.lists(entry, min_size=n, max_size=n)) for _ in range(m)]
    b = [1, *data.draw(st.lists(entry, min_size=m, max_size=m))]
    truth = every_basis(A, b) if rank(A) == rank([[*row, t] for row, t in zip(A, b, strict=True)]) else set()
    if truth:
        assert_complete(A, b)
        return
    with pytest.raises(Infeasible) as refusal:
        walk(A, b)
    y = [Fraction(t) for t in str(refusal.value).split("[")[1].rstrip("]").split(", ")]
    assert all(sum(s * row[j] for s, row in zip(y, A, strict=True)) <= 0 for j in range(n))
    assert sum(s * t for s, t in zip(y, b, strict=True)) > 0


def test_integers_beyond_64_bits_give_the_same_vertices():
    weights = [2**80 + t for t in (1, 5, 11, 17, 23, 31, 41, 47)]
    assert_complete(*bit_margins([Fraction(t, sum(weights)) for t in weights]))
    wide = [[1] * 5, [3**45, 2**70, 5**31, 7, 1], [1, -(2**66), 4, 2**65, 0]]
    assert_complete(wide, [1, Fraction(2**70, 3), 0])


def test_overflow_in_the_middle_of_a_walk_is_foreseen():
    # Entries near 2^20 fit in 64 bits at first; their 4 x 4 minors do not.
    rng = np.random.default_rng(5)
    A = [[1] * 8, *rng.integers(-(2**20), 2**20, size=(3, 8)).tolist()]
    b = [sum(row) for row in A]
    assert_complete(A, b)


@pytest.mark.long
@pytest.mark.parametrize("n", [63, 64, 65, 90])
def test_more_columns_than_bits_in_a_word(n):
    corners = vertices([[1] * n], [1])
    assert sorted(corners, reverse=True) == [tuple(Fraction(int(i == j)) for i in range(n)) for j in range(n)]


@pytest.mark.long
def test_degenerate_walk_over_more_columns_than_bits_in_a_word():
    A, b = transport([1, 32], [1] * 33)
    found = walk(A, b)
    assert len(A[0]) == 66
    assert len(found.vertices) == 33 < found.bases


def test_a_single_point_and_zero_right_hand_sides():
    assert vertices([[1, 0], [0, 1]], [2, 3]) == [(2, 3)]
    assert vertices([[1, 1]], [0]) == [(0, 0)]
    assert vertices([[1, 1], [2, 2], [0, 0]], [1, 2, 0]) == [(1, 0), (0, 1)]
    assert vertices([], []) == [()]


def test_the_walk_is_deterministic_and_tells_its_progress():
    A, b = bit_margins(iid_bits(4, Fraction(37, 100)))
    told = []
    first = walk(A, b, on_progress=lambda bases, points: told.append((bases, points)))
    assert walk(A, b) == first
    assert told == sorted(told)
    assert told[-1] == (first.bases, len(first.vertices))


def test_many_batches_find_what_one_batch_finds(monkeypatch):
    A, b = bit_margins(iid_bits(4, Fraction(37, 100)))
    whole = set(vertices(A, b))
    monkeypatch.setattr(extremal, "_CHUNK", 7)
    assert set(vertices(A, b)) == whole


def test_walk_refuses_what_it_cannot_list():
    A, b = transport([29, 31, 37], [28, 33, 36])
    assert walk(A, b, limit=18).bases == 18
    with pytest.raises(SolverFailed, match=r"limit of 17 bases, with \d+ vertices so far; raise the limit"):
        walk(A, b, limit=17)
    with pytest.raises(SolverFailed, match="the time of the search ended after"):
        walk(A, b, deadline=0.0)
    with pytest.raises(SolverFailed, match="unbounded: coordinate 1 can grow"):
        walk([[1, -1]], [1])
    with pytest.raises(SolverFailed, match="unbounded: no row"):
        walk([[0, 0]], [0])
    with pytest.raises(Infeasible, match=r"y = \[-1\]"):
        walk([[1, 1]], [-1])
    with pytest.raises(Infeasible, match="no v >= 0"):
        walk([[1, 1], [1, 1]], [1, 2])
    with pytest.raises(InputError, match="do not fit"):
        walk([[1, 1]], [1, 2])
    with pytest.raises(InputError, match="float"):
        walk([[0.5, 1]], [1])


def assert_mixture(mixture, points, values, p):
    assert all(t > 0 for t in mixture.theta.values())
    for x, mean in enumerate(p):
        assert sum(t * points[k][x] for k, t in mixture.theta.items()) == mean
    z = np.array([float(t) for t in mixture.dual])
    worth = np.array([[float(t) for t in v] for v in points]) @ z
    assert (worth >= np.asarray(values) - 1e-9).all()
    value = sum(float(t) * values[k] for k, t in mixture.theta.items())
    bound = float(sum(s * t for s, t in zip(mixture.dual, p, strict=True)))
    assert value == pytest.approx(bound, abs=1e-9)
    return value


def divergences(points, p):
    return [sum(float(t) * math.log2(t / q) for t, q in zip(v, p, strict=True) if t) for v in points]


@pytest.mark.parametrize(
    ("n", "q", "bits"),
    [(3, (3, 10), 1.044128325868144), (3, (1, 10), 0.176494891610495), (4, (1, 10), 0.343211012282600), (4, (1, 2), 3)],
)
def test_mixture_of_iid_bits_has_the_known_value(n, q, bits):
    p = iid_bits(n, Fraction(*q))
    points = vertices(*bit_margins(p))
    values = divergences(points, p)
    mixture = best_mixture(points, values, p)
    assert assert_mixture(mixture, points, values, p) == pytest.approx(bits, abs=1e-12)
    # The same basis prices any other costs of the basic columns exactly.
    raised = {k: Fraction(values[k]) + Fraction(1, 2**40) for k in mixture.basis}
    z = exact_dual(points, raised, mixture.basis, pinned=mixture.pinned)
    assert all(sum(s * t for s, t in zip(z, points[k], strict=True)) == raised[k] for k in mixture.basis)


@settings(max_examples=effort(10, 60))
@given(st.data())
def test_mixtures_of_duplicates_and_ties_are_exact(data):
    entry = st.integers(0, 3)
    n = data.draw(st.integers(1, 4))
    points = data.draw(st.lists(st.lists(entry, min_size=n, max_size=n).filter(any), min_size=1, max_size=8))
    points += points[: data.draw(st.integers(0, 2))]
    values = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=len(points), max_size=len(points)))
    weights = data.draw(st.lists(st.integers(0, 2), min_size=len(points), max_size=len(points)))
    p = [sum(Fraction(w * v[x], 3) for w, v in zip(weights, points, strict=True)) for x in range(n)]
    mixture = best_mixture(points, values, p)
    value = assert_mixture(mixture, points, values, p)
    assert value >= sum(w / 3 * t for w, t in zip(weights, values, strict=True)) - 1e-9


def test_all_values_equal_and_p_itself_a_vertex():
    p = iid_bits(3, Fraction(3, 10))
    points = vertices(*bit_margins(p))
    assert assert_mixture(best_mixture(points, [1.0] * 6, p), points, [1.0] * 6, p) == pytest.approx(1)
    values = divergences(points, p)
    for k, v in enumerate(points):
        assert best_mixture(points, values, v).theta == {k: 1}


def test_atoms_of_probability_below_the_zero_of_the_solver():
    counts = [10**30, 3, 10**12, 7 * 10**20, 1, 10**28, 10**5, 2]
    p = [Fraction(t, sum(counts)) for t in counts]
    points = vertices(*bit_margins(p))
    assert_mixture(best_mixture(points, divergences(points, p), p), points, divergences(points, p), p)


def test_a_basis_that_is_infeasible_by_a_hair_is_replaced(monkeypatch):
    # Four tight columns under z = (1, 1), and four that cost; the basis [2, 3] would need a negative weight.
    points = [[1, 0], [0, 1], [1, 1], [2, 1], [3, 1], [1, 3], [5, 1], [1, 5]]
    values = [1.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]
    wrong = Optimum(3.0, np.zeros(8), np.array([1.0, 1.0]), (2, 3), ())
    monkeypatch.setattr(extremal, "maximise", lambda *args: wrong)
    assert assert_mixture(best_mixture(points, values, [1, 2]), points, values, [1, 2]) == pytest.approx(3)


def test_a_dual_vector_that_cuts_off_a_column_is_refused(monkeypatch):
    wrong = Optimum(1.0, np.zeros(2), np.array([0.5]), (0,), ())
    monkeypatch.setattr(extremal, "maximise", lambda *args: wrong)
    with pytest.raises(SolverFailed, match=r"misses a column by 1\.5"):
        best_mixture([[1], [1]], [1.0, 2.0], [1])


def test_a_mean_outside_the_cone_is_infeasible():
    with pytest.raises(Infeasible, match="the solver ended Infeasible"):
        best_mixture([[1, 0]], [1.0], [0, 1])
    with pytest.raises(InputError, match="2 points and 1 values"):
        best_mixture([[1], [1]], [1.0], [1])
