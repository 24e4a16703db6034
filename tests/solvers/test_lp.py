"""Linear programs against brute force over all bases, and refusals in the words of HiGHS."""

from fractions import Fraction
from itertools import combinations

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius.errors import Infeasible, InputError, SolverFailed
from dalenius.solvers import exact_basic_solution, exact_dual, maximise, solve
from dalenius.solvers.lp import OutOfTime, run, silent_simplex
from dalenius.stopping import LAST_CALL, SHARE, left_for_a_call, limited
from tests.solvers.rows import independent


@st.composite
def bounded_programs(draw: st.DrawFn):
    """max c.x, A x = b, x >= 0 with a first row of positive entries (so bounded) and a feasible b."""
    m, n = draw(st.integers(1, 3)), draw(st.integers(2, 6))
    small = st.integers(-2, 2)
    A = [draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))]
    A += draw(st.lists(st.lists(small, min_size=n, max_size=n), min_size=m - 1, max_size=m - 1))
    x = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    b = [sum(a * t for a, t in zip(row, x, strict=True)) for row in A]
    return draw(st.lists(small, min_size=n, max_size=n)), A, b


def brute_force(c, A, b):
    rows = independent([[*row, right] for row, right in zip(A, b, strict=True)])
    best = None
    for basis in combinations(range(len(c)), len(rows)):
        try:
            x = solve([[row[j] for j in basis] for row in rows], [row[-1] for row in rows])
        except SolverFailed:
            continue
        if all(t >= 0 for t in x):
            value = sum(c[j] * t for j, t in zip(basis, x, strict=True))
            best = value if best is None else max(best, value)
    return best


@given(bounded_programs())
def test_optimum_basis_and_dual_equal_brute_force(program):
    c, A, b = program
    best = maximise(c, A, b)
    truth = brute_force(c, A, b)
    assert best.objective == pytest.approx(float(truth), abs=1e-9)
    columns = list(zip(*A, strict=True))
    x = exact_basic_solution(columns, b, best.basic_columns)
    assert sum(c[j] * t for j, t in x.items()) == truth
    y = exact_dual(columns, c, best.basic_columns, pinned=best.basic_rows)
    assert sum(t * right for t, right in zip(y, b, strict=True)) == truth
    assert all(sum(t * a for t, a in zip(y, column, strict=True)) >= c[j] for j, column in enumerate(columns))
    assert [float(t) for t in y] == pytest.approx(best.dual.tolist(), abs=1e-9)


@given(bounded_programs())
def test_sparse_columns_and_a_second_run_give_the_same_answer(program):
    c, A, b = program
    sparse = [{i: row[j] for i, row in enumerate(A) if row[j]} for j in range(len(c))]
    dense, again = maximise(c, A, b), maximise(c, sparse, b)
    assert dense.x.tolist() == again.x.tolist()
    assert dense.dual.tolist() == again.dual.tolist()
    assert (dense.basic_columns, dense.basic_rows) == (again.basic_columns, again.basic_rows)


def test_row_bounds_and_the_sign_of_their_duals():
    # max x0 - x1, x0 <= 4 (upper holds), x1 >= 1 (lower holds), x0 + x1 free.
    best = maximise([1, -1], [[1, 0], [0, 1], [1, 1]], [-np.inf, 1, -np.inf], [4, np.inf, np.inf])
    assert best.objective == pytest.approx(3)
    assert best.dual.tolist() == pytest.approx([1, -1, 0])
    assert 2 in best.basic_rows


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_scale_of_costs_and_rows_does_not_change_the_basis(size):
    best = maximise(
        np.array([1.0, 1 + 1e-6, 0]) * size, np.array([[1.0, 1, 1], [1, -1, 0]]) * size, [size, 0.25 * size]
    )
    assert best.basic_columns == (0, 1)
    assert best.x.tolist() == pytest.approx([0.625, 0.375, 0])
    assert best.dual @ np.array([size, 0.25 * size]) == pytest.approx(best.objective)


def test_objective_zero_is_a_feasibility_question():
    assert maximise([0, 0], [[1, 1]], [1]).objective == 0


def test_refusals_carry_the_words_of_highs():
    with pytest.raises(Infeasible, match="the solver ended Infeasible and then Infeasible on 1 rows and 2 columns"):
        maximise([1, 1], [[1, 1]], [-1])
    with pytest.raises(SolverFailed, match="and then Unbounded on 1 rows"):
        maximise([1, 1], [[1, -1]], [0])


def test_a_first_attempt_that_fails_is_repeated_once_with_a_fresh_solver(monkeypatch):
    runs = []

    def run(self, run=highspy.Highs.run):
        runs.append(self)
        if len(runs) == 1:
            self.setOptionValue("simplex_iteration_limit", 0)
            self.setOptionValue("presolve", "off")
        return run(self)

    monkeypatch.setattr(highspy.Highs, "run", run)
    assert maximise([1, 2], [[1, 1], [1, -1]], [2, 0]).objective == pytest.approx(3)
    assert len(runs) == 2
    assert runs[0] is not runs[1]


def test_bad_shapes_and_numbers_are_refused():
    with pytest.raises(InputError, match="matrix is"):
        maximise([1, 1], [[1, 1, 1]], [1])
    with pytest.raises(InputError, match="names row 3"):
        maximise([1], [{3: 1.0}], [1])
    with pytest.raises(InputError, match="2 costs, 1 columns"):
        maximise([1, 1], [{0: 1.0}], [1])
    with pytest.raises(InputError, match="finite"):
        maximise([np.nan], [[1]], [1])


def test_a_basis_with_too_few_or_dependent_columns_is_completed():
    columns = [[1, 0, 1], [2, 0, 2], [0, 1, 1]]
    assert exact_basic_solution(columns, [3, 0, 3], []) == {0: 3}
    assert exact_basic_solution(columns, [3, 0, 3], [1, 0]) == {1: Fraction(3, 2)}
    assert exact_basic_solution(columns, [3, 1, 4], [1]) == {1: Fraction(3, 2), 2: 1}


def test_an_infeasible_basis_is_refused():
    with pytest.raises(SolverFailed, match="column 1 would have weight -1"):
        exact_basic_solution([[1, 1], [0, 1], [1, 0]], [1, 0], [0, 1])
    with pytest.raises(SolverFailed, match="no combination of the columns gives b"):
        exact_basic_solution([[1, 1]], [1, 0], [0])


def test_pinned_rows_are_zero_and_contradictions_are_refused():
    assert exact_dual([[1, 1]], [5], [0], pinned=[0]) == [0, 5]
    assert exact_dual([[1, 1]], [5], []) == [0, 0]
    with pytest.raises(SolverFailed, match="dependent"):
        exact_dual([[1, 1], [2, 2]], [1, 3], [0, 1])


class Recorded:
    """Stands for HiGHS: what it was allowed, after runs of seven seconds."""

    def __init__(self):
        self.limits = []

    def getRunTime(self):
        return 7.0

    def setOptionValue(self, name, value):
        assert name == "time_limit"
        self.limits.append(value)

    def run(self):
        return highspy.HighsStatus.kOk


def test_point_14_no_run_of_a_solver_has_more_time_than_is_left():
    solver = Recorded()
    run(solver)
    with limited(3):
        run(solver)
        run(solver, 2)
        run(solver, 60)
    with limited(0):
        run(solver)
    free, some, fewer, more, last = solver.limits
    assert free == highspy.kHighsInf
    assert 9 < some <= 10
    assert fewer == 9
    assert 9 < more <= 10
    assert last == 7 + LAST_CALL, "what ends a search may need one more call"


def test_point_14_the_last_call_has_a_share_of_the_time():
    with limited(1000), limited(0.0):
        assert left_for_a_call() == LAST_CALL
    with limited(1000):
        assert left_for_a_call() > SHARE * 1000


def test_point_14_a_program_that_does_not_end_in_time_says_so():
    draw = np.random.default_rng(1)
    A = draw.random((300, 300))
    with pytest.raises(OutOfTime, match="300 rows"):
        maximise(draw.random(300), A, np.full(300, -np.inf), np.ones(300), seconds=0.0)
    assert silent_simplex(1e-9).getOptionValue("time_limit")[1] == highspy.kHighsInf
