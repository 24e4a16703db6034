"""The max-affine search against exact enumeration, and its certificate read back corner by corner."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.errors import InputError
from dalenius.solvers import best_mixture, interior, solve, walk
from dalenius.solvers.cells import cover, divergence
from dalenius.solvers.interior import best_letters
from dalenius.solvers.maxaffine import max_affine
from tests.effort import effort


def bits(n):
    return [(np.arange(2**n) >> i) & 1 for i in range(n)]


def samples(*sizes):
    return [part.ravel() for part in np.indices(sizes)]


def moments(views, p):
    """Centred indicators, orthonormal under p, as many as are independent."""
    columns = [(view == a).astype(float) for view in views for a in np.unique(view)[1:]]
    A = np.array(columns).reshape(len(columns), len(p)).T
    left, size, _ = np.linalg.svd((A - p @ A) * np.sqrt(p)[:, None], full_matrices=False)
    return left[:, size > 1e-10] / np.sqrt(p)[:, None]


def instance(views, k, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 100, len(views[0]))
    p = counts / counts.sum()
    return counts, p, rng.dirichlet(np.ones(k), size=len(p)), moments(views, p)


def enumerated(counts, views, W):
    """The optimum over all extreme letters (paper 000, eq. 17)."""
    p = [Fraction(int(n), int(counts.sum())) for n in counts]
    A = [[1] * len(p)]
    b = [Fraction(1)]
    for view in views:
        for a in np.unique(view)[1:]:
            A.append((view == a).astype(int).tolist())
            b.append(sum((q for q, v in zip(p, view, strict=True) if v == a), Fraction(0)))
    points = walk(A, b).vertices
    V = np.array([[float(t) for t in v] for v in points])
    q = np.array([float(t) for t in p])
    values = divergence(V @ W, q @ W)
    mixture = best_mixture(points, values.tolist(), p)
    return sum(float(t) * values[j] for j, t in mixture.theta.items())


def leaves_of(tree, k):
    """Exact corners of every leaf of a flat pre-order tree, by its index; checks the shape of the tree on the way."""
    unit = [tuple(Fraction(int(i == w)) for w in range(k)) for i in range(k)]
    found, stack, at = {}, [unit], 0
    while stack:
        corners = stack.pop()
        item = tree[at]
        at += 1
        if isinstance(item, int):
            assert item not in found
            found[item] = corners
            continue
        assert sum(item) == 1
        weights = barycentric(corners, item)
        assert min(weights) >= 0
        children = [[*corners[:i], tuple(item), *corners[i + 1 :]] for i in range(k) if weights[i] > 0]
        assert len(children) > 1
        stack.extend(reversed(children))
    assert at == len(tree)
    return found


def barycentric(corners, point):
    return solve([list(row) for row in zip(*corners, strict=True)], list(point))


def assert_certificate(best, p, W, M):
    k = W.shape[1]
    assert best.value <= best.bound + 1e-12
    leaves = leaves_of(best.tree, k)
    assert sorted(leaves) == list(range(len(best.pieces)))
    exact = np.array([[[float(t) for t in corner] for corner in leaves[j]] for j in range(len(leaves))])
    same = np.sort(exact, axis=1) - np.sort(best.corners, axis=1)
    assert np.abs(same).max() < 1e-9
    short = divergence(exact, p @ W) - np.einsum("jik,jk->ji", exact, best.pieces)
    assert short.max() < 1e-9
    z = (W @ best.pieces.T + M @ best.multipliers.T).max(axis=1)
    assert p @ z == pytest.approx(best.bound, abs=1e-9)
    c = best.channel
    assert c.min() >= 0
    assert np.abs(c.sum(axis=1) - 1).max() < 1e-12
    assert np.abs((c * p[:, None]).T @ M).max(initial=0) < 1e-8
    theta = p @ c
    U = (c * p[:, None]).T @ W / theta[:, None]
    assert theta @ divergence(U, p @ W) == pytest.approx(best.value, abs=1e-12)


@pytest.mark.parametrize(
    ("views", "k", "gap"),
    [
        (bits(3), 2, 1e-6),
        (bits(3), 3, 1e-5),
        (samples(4, 4), 2, 1e-6),
        pytest.param(bits(3), 4, 1e-4, marks=pytest.mark.slow),
        pytest.param(bits(4), 2, 1e-6, marks=pytest.mark.slow),
        pytest.param(bits(4), 3, 1e-5, marks=pytest.mark.slow),
        pytest.param(samples(4, 4), 3, 1e-5, marks=pytest.mark.slow),
        pytest.param(samples(3, 4), 4, 1e-3, marks=pytest.mark.slow),
        ([2 * bits(4)[0] + bits(4)[1], bits(4)[2], bits(4)[3]], 2, 1e-6),
        ([2 * bits(4)[0] + bits(4)[1], 2 * bits(4)[2] + bits(4)[1]], 3, 1e-5),
        ([bits(3)[0]], 2, 1e-5),
    ],
)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_optimum_of_all_extreme_letters_is_inside(views, k, gap, seed):
    counts, p, W, M = instance(views, k, seed)
    best = max_affine(p, W, M, gap=gap)
    assert best.gap <= gap
    optimum = enumerated(counts, views, W)
    assert best.value - 1e-8 <= optimum <= best.bound + 1e-8
    assert_certificate(best, p, W, M)


@pytest.mark.parametrize(("n", "k"), [(6, 2), *(pytest.param(*v, marks=pytest.mark.slow) for v in ((6, 3), (5, 4)))])
def test_larger_tables_reach_their_gap(n, k):
    _, p, W, M = instance(bits(n), k, 7)
    gap = 1e-5 if k == 2 else 1e-3
    told = []
    best = max_affine(p, W, M, gap=gap, on_progress=lambda value, bound: told.append((value, bound)))
    assert best.gap <= gap
    assert_certificate(best, p, W, M)
    assert [b for _, b in told] == sorted((b for _, b in told), reverse=True)
    assert [v for v, _ in told] == sorted(v for v, _ in told)


@settings(max_examples=effort(6, 40), deadline=None)
@given(st.data())
def test_any_chords_and_any_multipliers_bound_the_optimum(data):
    counts, p, W, M = instance(bits(3), 2, data.draw(st.integers(0, 5)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    grid = np.unique(np.concatenate([[0, 1], rng.random(data.draw(st.integers(0, 6)))]))
    points = np.stack([1 - grid, grid], axis=1)
    D = divergence(points, p @ W)
    pieces = np.array([np.linalg.solve(points[j : j + 2], D[j : j + 2]) for j in range(len(grid) - 1)])
    multipliers = rng.normal(scale=data.draw(st.sampled_from([0, 0.1, 3])), size=(len(pieces), M.shape[1]))
    bound = p @ (W @ pieces.T + M @ multipliers.T).max(axis=1)
    assert bound >= enumerated(counts, bits(3), W) - 1e-12


@pytest.mark.long
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 100), st.integers(2, 4))
def test_any_z_is_raised_to_a_bound_by_its_cover(seed, k):
    counts, p, W, M = instance(bits(3), k, 1)
    z = divergence(W, p @ W) * np.random.default_rng(seed).random(len(p))
    leaves = cover(W, M, p @ W, z, 1e-2, most=400)
    below = W @ leaves.pieces[:, :k].T + M @ leaves.pieces[:, k:].T
    assert (below - z[:, None]).max() <= 1e-12
    assert p @ z + max(0, leaves.tau.max()) >= enumerated(counts, bits(3), W) - 1e-12


@pytest.mark.parametrize("J", [3, 40])
def test_the_interior_point_ends_at_a_channel_and_its_dual(J):
    _, p, W, M = instance(bits(5), 2, 3)
    S = np.random.default_rng(J).normal(size=(J, 2)) @ W.T
    found = best_letters(p, M, S, enough=lambda c, gap: gap < 1e-8)
    assert found.gap < 1e-8
    assert found.shares.min() > 0
    assert np.abs(found.shares.sum(axis=0) - 1).max() < 1e-8
    assert np.abs((found.shares * p) @ M).max() < 1e-8
    upper = p @ (S + found.multipliers @ M.T).max(axis=0)
    assert upper == pytest.approx(float(((found.shares * S) @ p).sum()), abs=1e-7)


def test_both_eliminations_give_the_same_direction(monkeypatch):
    _, p, _, M = instance(bits(5), 2, 3)
    rng = np.random.default_rng(0)
    c, s, target = (rng.random((6, 32)) + 0.1 for _ in range(3))
    d = c / s
    B = np.einsum("jx,xa,xb->jab", d * p, M, M)
    given = (p, M, c, s, c * s, d, d.sum(axis=0), B)
    monkeypatch.setattr(interior, "_CHUNK", 7)
    first, second = interior._by_atoms(*given)(target), interior._by_letters(*given)(target)
    for at in (0, 3):  # dc and ds; dlambda and dz differ by the gauge
        assert first[at] == pytest.approx(second[at], abs=1e-8)
    assert (c + first[0]).sum(axis=0) == pytest.approx(1)
    assert ((c + first[0]) * p) @ M == pytest.approx(0, abs=1e-8)
    assert s * first[0] + c * first[3] == pytest.approx(target - c * s)


def test_deterministic_targets_and_no_promise_at_all():
    views = bits(2)
    p = np.full(4, 0.25)
    parity = np.eye(2)[views[0] ^ views[1]]
    assert max_affine(p, parity, moments(views, p), gap=1e-6).value == pytest.approx(1, abs=1e-6)
    for W in (parity, np.eye(4)):
        best = max_affine(p, W, np.zeros((4, 0)), gap=1e-4)
        assert best.value == pytest.approx(np.log2(W.shape[1]), abs=1e-4)
        assert_certificate(best, p, W, np.zeros((4, 0)))


def test_a_target_inside_a_view_and_a_target_nobody_knows_are_worth_nothing():
    _, p, _, M = instance(bits(3), 2, 0)
    W = np.eye(2)[bits(3)[1]]
    best = max_affine(p, W, M, gap=1e-5)
    assert best.value >= -1e-9
    assert best.bound <= 1e-5
    best = max_affine(p, np.tile([0.2, 0.3, 0.5], (8, 1)), M, gap=1e-5)
    assert best.bound <= 1e-5


def test_without_time_the_answer_is_loose_but_true():
    counts, p, W, M = instance(bits(4), 3, 0)
    for k in (2, 3):
        W = np.random.default_rng(k).dirichlet(np.ones(k), size=16)
        best = max_affine(p, W, M, gap=1e-9, seconds=0)
        assert best.gap > 1e-9
        assert best.bound >= enumerated(counts, bits(4), W) - 1e-9
        assert_certificate(best, p, W, M)


@pytest.mark.long
def test_the_search_is_deterministic():
    _, p, W, M = instance(bits(4), 3, 2)
    first, second = (max_affine(p, W, M, gap=1e-4) for _ in range(2))
    assert first.bound == second.bound
    assert first.tree == second.tree
    assert np.array_equal(first.channel, second.channel)


def test_refusals():
    _, p, W, M = instance(bits(2), 2, 0)
    with pytest.raises(InputError, match="gap must be positive"):
        max_affine(p, W, M, gap=0)
    with pytest.raises(InputError, match="do not fit together"):
        max_affine(p, W[:3], M, gap=1e-3)
    with pytest.raises(InputError, match="finite"):
        max_affine(p, W * np.nan, M, gap=1e-3)
    with pytest.raises(InputError, match="atoms of weight zero"):
        max_affine([0, 0.5, 0.25, 0.25], W, M, gap=1e-3)
    with pytest.raises(InputError, match="must be a distribution"):
        max_affine(p, 2 * W, M, gap=1e-3)
    with pytest.raises(InputError, match="positive probability"):
        max_affine(p, np.eye(2)[[0, 0, 0, 0]], M, gap=1e-3)
    with pytest.raises(InputError, match="mean zero"):
        max_affine(p, W, M + 1, gap=1e-3)
    with pytest.raises(InputError, match="dependent"):
        max_affine(p, W, np.concatenate([M, M], axis=1), gap=1e-3)
