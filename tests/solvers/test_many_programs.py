"""Linear programs in batches against HiGHS: the same optimum, multipliers that bound it, boxes without a point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.errors import Infeasible
from dalenius.solvers import maximise
from dalenius.solvers.many_programs import Boxed
from tests.effort import effort


def bits(n):
    """All margins of n bits: rows of zeros and ones, and their values at the uniform pmf."""
    labels = (np.arange(2**n) >> np.arange(n)[:, None]) & 1
    A = np.vstack([np.ones(2**n), labels]).astype(float)
    return A, A @ np.full(2**n, 2.0**-n)


def least(A, b, cost, low, high):
    """The optimum by HiGHS, with the box as further rows."""
    rows = np.vstack([A, np.eye(A.shape[1])])
    return -maximise(-cost, rows, np.concatenate([b, low]), np.concatenate([b, high])).objective


def bound(A, b, cost, low, high, multipliers):
    reduced = cost - multipliers @ A
    return multipliers @ b + np.minimum(reduced * low, reduced * high).sum()


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("ties", [False, True])
def test_every_program_of_a_batch_has_its_optimum(n, ties):
    A, b = bits(n)
    rng, K = np.random.default_rng(n), 20
    cost = rng.normal(size=(K, 2**n))
    cost = np.round(cost) if ties else cost
    low, high = np.zeros((K, 2**n)), np.full((K, 2**n), 0.5)
    high[np.arange(K), rng.integers(0, 2**n, K)] = 2.0**-n
    low[np.arange(K), rng.integers(0, 2**n, K)] = 2.0 ** -(n + 1)
    boxed = Boxed(A, b)
    cold = boxed.solve(cost, low, high)
    for found in (cold, boxed.solve(cost + 0.1 * rng.random(cost.shape), low, high, cold.basis)):
        assert not found.missed.any()
        assert np.abs(found.t @ A.T - b).max() < 1e-9
        assert (found.t > low - 1e-9).all()
        assert (found.t < high + 1e-9).all()
    for k in range(K):
        program = A, b, cost[k], low[k], high[k]
        truth = least(*program)
        assert cost[k] @ cold.t[k] == pytest.approx(truth, abs=1e-8)
        assert bound(*program, cold.multipliers[k]) == pytest.approx(truth, abs=1e-8)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=effort(5, 30))
def test_multipliers_bound_every_box_also_without_a_point(seed):
    rng = np.random.default_rng(seed)
    A, b = bits(3)
    low = rng.random((8, 8)) * rng.choice([0.0, 0.2], (8, 8))
    high = low + rng.random((8, 8)) * rng.choice([0.05, 0.5])
    cost = rng.normal(size=(8, 8))
    found = Boxed(A, b).solve(cost, low, high)
    for k in range(8):
        proved = bound(A, b, cost[k], low[k], high[k], found.multipliers[k])
        try:
            truth = least(A, b, cost[k], low[k], high[k])
        except Infeasible:
            assert found.missed[k]
            assert proved > 8  # more than any point of the box could cost
        else:
            assert not found.missed[k]
            assert proved == pytest.approx(truth, abs=1e-7)


def test_rows_that_repeat_others_get_no_multiplier():
    A, b = bits(2)
    twice = Boxed(np.vstack([A, A[1:] + A[:1]]), np.concatenate([b, b[1:] + b[:1]]))
    found = twice.solve(np.arange(4.0)[None], np.zeros((1, 4)), np.ones((1, 4)))
    assert not found.missed.any()
    assert found.multipliers[0, 3:].tolist() == [0, 0]


def test_the_last_programs_can_be_left_and_taken_up_again():
    A, b = bits(4)
    rng = np.random.default_rng(1)
    cost, low, high = rng.normal(size=(12, 16)), np.zeros((12, 16)), np.full((12, 16), 0.5)
    boxed = Boxed(A, b)
    whole, part = boxed.solve(cost, low, high), boxed.solve(cost, low, high, leave=6)
    assert 0 < part.left.sum() <= 6
    assert part.missed[part.left].all()
    again = boxed.solve(cost[part.left], low[part.left], high[part.left], part.basis[part.left])
    assert np.allclose(again.t, whole.t[part.left], atol=1e-9)
