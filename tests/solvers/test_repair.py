"""Exact channels from float channels: every equation in Fractions, and what cannot be repaired."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.errors import InputError, SolverFailed
from dalenius.solvers import repair
from dalenius.solvers.maxaffine import max_affine
from dalenius.solvers.repair import merged_letters, repaired
from tests.effort import effort


def bits(n):
    return [(np.arange(2**n) >> i) & 1 for i in range(n)]


def indicators(views, p):
    A = np.array([view == a for view in views for a in np.unique(view)[1:]], dtype=float).reshape(-1, len(p)).T
    return A - p @ A


def near(views, counts, letters, seed, error=0.0):
    """A random channel that is independent of the views up to rounding, plus a planted error."""
    rng = np.random.default_rng(seed)
    p = np.array([int(n) for n in counts], dtype=float)
    p /= p.sum()
    c = rng.dirichlet(np.ones(letters), size=len(p))
    A = indicators(views, p)
    c = c - A @ np.linalg.lstsq((A * p[:, None]).T @ A, (A * p[:, None]).T @ c, rcond=1e-12)[0]
    theta = p @ c
    room = min(1.0, float((theta / np.maximum(theta - c, 1e-9)).min()))
    c = theta + 0.99 * room * (c - theta)
    c = np.maximum(c + error * rng.normal(size=c.shape), 0)
    return c / c.sum(axis=1, keepdims=True)


def assert_exact(exact, counts, views, channel, within=1e-6):
    N, J = exact.numerators.shape
    c = [[Fraction(int(v), int(d)) for v in row] for row, d in zip(exact.numerators, exact.denominators, strict=True)]
    n = [int(v) for v in counts]
    assert all(v >= 0 for row in c for v in row)
    assert all(sum(row) == 1 for row in c)
    for j in range(J):
        whole = sum(n[x] * c[x][j] for x in range(N))
        for view in views:
            for a in set(np.asarray(view).tolist()):
                where = [x for x in range(N) if view[x] == a]
                assert sum(n[x] * c[x][j] for x in where) * sum(n) == sum(n[x] for x in where) * whole
    if channel.shape[1] == J:
        assert np.abs(np.array([[float(v) for v in row] for row in c]) - channel).max() < within


@settings(max_examples=effort(10, 60), deadline=None)
@given(st.data())
def test_random_channels_become_exact(data):
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    cells = np.indices(sizes).reshape(len(sizes), -1)
    some = st.sets(st.integers(0, len(sizes) - 1), max_size=2)
    views = [
        np.unique(cells[sorted(chosen)], axis=1, return_inverse=True)[1].ravel() if chosen else np.zeros(len(cells[0]))
        for chosen in data.draw(st.lists(some, min_size=1, max_size=4))
    ]
    top = data.draw(st.sampled_from([3, 1000, 10**9, 10**25]))
    counts = data.draw(
        st.lists(st.integers(max(1, top // 1000), top), min_size=cells.shape[1], max_size=cells.shape[1])
    )
    channel = near(views, counts, data.draw(st.integers(1, 4)), data.draw(st.integers(0, 1000)))
    exact = repaired(counts, views, channel)
    assert exact.kappa <= 1e-4
    assert_exact(exact, counts, views, channel, within=1e-3)


@pytest.mark.parametrize("counts", [[7] * 8, [1, 10**6, 3, 10**5, 2, 10**4, 9, 10**3], [10**40 + i for i in range(8)]])
def test_counts_of_every_size(counts):
    channel = near(bits(3), counts, 3, 1)
    assert_exact(repaired(counts, bits(3), channel), counts, bits(3), channel, within=1e-3)


def test_a_single_letter_and_no_views():
    exact = repaired([1, 2], [[0, 1]], [[1.0], [1.0]])
    assert (exact.numerators[:, 0] == exact.denominators).all()
    channel = np.random.default_rng(0).dirichlet(np.ones(3), size=5)
    assert_exact(repaired([1, 2, 3, 4, 5], [], channel), [1, 2, 3, 4, 5], [], channel)


def test_constant_and_duplicate_views_add_nothing():
    counts, views = np.arange(1, 17), bits(4)
    channel = near(views, counts, 3, 2)
    plain = repaired(counts, views, channel)
    more = repaired(counts, [np.zeros(16), views[0], *views, 1 - views[1]], channel)
    assert np.array_equal(plain.numerators, more.numerators)
    assert plain.numerators.dtype == np.int64


def test_a_view_that_tells_everything_leaves_a_constant_channel():
    exact = repaired([3, 5, 7], [[0, 1, 2]], [[0.3, 0.7]] * 3)
    assert len({Fraction(int(a), int(d)) for a, d in zip(exact.numerators[:, 0], exact.denominators, strict=True)}) == 1


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 3])
def test_found_channels_stay_good_and_letters_merge(k):
    rng = np.random.default_rng(k)
    counts = rng.integers(1, 1000, 32)
    p, W = counts / counts.sum(), rng.dirichlet(np.ones(k), size=32)
    A = indicators(bits(5), p)
    best = max_affine(p, W, A, gap=1e-4)
    exact = repaired(counts, bits(5), best.channel, posteriors=W, loss=1e-5)
    assert -1e-12 <= exact.loss <= 1.1e-5
    assert exact.numerators.shape[1] < best.channel.shape[1]
    assert_exact(exact, counts, bits(5), best.channel)


def test_merging_equal_posteriors_costs_nothing():
    p, W = np.full(4, 0.25), np.array([[1, 0], [1, 0], [0, 1], [0, 1.0]])
    c = np.eye(4)
    assert merged_letters(p, W, c, loss=1e-12).tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert merged_letters(p, W, c, loss=2).shape == (4, 1)
    assert merged_letters(p, None, c, loss=1).shape == (4, 4)


def test_many_atoms_take_moments():
    counts = np.random.default_rng(0).integers(1, 50, 2**12)
    channel = near(bits(12), counts, 10, 0)
    exact = repaired(counts, bits(12), channel)
    assert exact.numerators.dtype == np.int64
    c = exact.numerators / exact.denominators[:, None]
    assert np.abs(c - channel).max() < 1e-6


def test_more_error_needs_more_of_the_constant_channel():
    counts = np.arange(1, 9)
    kappas = [repaired(counts, bits(3), near(bits(3), counts, 2, 3, error)).kappa for error in (0, 1e-3)]
    assert kappas[0] <= kappas[1]


def test_refusals():
    views = [[0, 0, 1, 1], [0, 1, 0, 1]]
    with pytest.raises(SolverFailed, match=r"not nearly independent of the views: it fails by 0\.12"):
        repaired([1, 1, 1, 1], views, [[1, 0], [0.5, 0.5], [0.5, 0.5], [0, 1]])
    with pytest.raises(SolverFailed, match=r"fails by 0\.005, and with 1% .* still negative"):
        repaired([1, 2, 3, 4], views, [[0.98, 0.02], [0, 1], [0.09, 0.91], [0.5, 0.5]])
    with pytest.raises(InputError, match="positive integers"):
        repaired([1, 0], [[0, 1]], [[1.0], [1.0]])
    with pytest.raises(InputError, match="positive integers"):
        repaired([1, 0.5], [[0, 1]], [[1.0], [1.0]])
    with pytest.raises(InputError, match="not 2 atoms by values"):
        repaired([1, 1], [[0, 1]], [[1.0]])
    with pytest.raises(InputError, match="sum to one"):
        repaired([1, 1], [[0, 1]], [[1.0], [0.5]])
    with pytest.raises(InputError, match="one label for each"):
        repaired([1, 1], [[0, 1, 2]], [[1.0], [1.0]])
    with pytest.raises(InputError, match="conclusions"):
        repaired([1, 1], [[0, 1]], [[1.0], [1.0]], posteriors=[[1.0]])


def test_a_wrong_channel_is_caught_before_it_leaves(monkeypatch):
    counts, solved = np.arange(1, 9), repair._solved

    def tampered(*args):
        numerators, denominators = solved(*args)
        numerators[0] = numerators[0][::-1]
        return numerators, denominators

    monkeypatch.setattr(repair, "_solved", tampered)
    with pytest.raises(SolverFailed, match="not independent of a view"):
        repaired(counts, bits(3), near(bits(3), counts, 3, 4))
