"""The best pair of rows: its bounds hold for every pair, and it is the best of all."""

from itertools import product

import numpy as np
import pytest

from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import Laws
from dalenius.solvers.pairs import _bounds, best_pair


def test_the_constant_of_the_first_bound():
    """f <= 0.6 g on [0, 1], with room: between points of this grid f and 0.6 g move by less than the room there is."""
    x = np.linspace(0, 1, 200_001)
    f = np.where(x > 0, 2 * x * np.log(np.maximum(2 * x, 1e-300)), 0.0) - 2 * x + 1
    g = 2 - 4 * np.sqrt(x * (1 - x))
    away = np.abs(x - 0.5) > 1e-3
    assert (f[away] / g[away]).max() == pytest.approx(0.5979, abs=1e-4)
    assert (f[~away] <= 0.6 * g[~away] + 1e-15).all()


def pairs_of_rows():
    rng = np.random.default_rng(1)
    yield np.array([[0.75, 0.25], [0.25, 0.75]])
    yield np.array([[1.0, 0.0], [0.0, 1.0]])
    for t in (0.01, 0.3, 0.9):  # erasures: total variation is all that there is
        yield np.array([[1 - t, t, 0.0], [1 - t, 0.0, t]])
        yield np.array([[1.0, 0.0], [1 - t, t]])  # one row sure of a letter: the odds are far from even
    for _ in range(40):
        k = int(rng.integers(2, 8))
        rows = rng.dirichlet(np.full(k, rng.choice([0.2, 1.0, 30.0])), 2).clip(1e-12)
        yield rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("rows", list(pairs_of_rows()), ids=lambda _: "")
def test_no_pair_carries_more_than_its_bound(rows):
    laws = Laws.normalised(rows)
    assert smallest_ball(laws).low <= _bounds(laws, np.array([0]), np.array([1]))[0, 0]


@pytest.mark.long
@pytest.mark.parametrize("spread", [0.3, 1.0, 20.0])
def test_it_is_the_best_of_all_pairs_one_of_each_class(spread):
    rng = np.random.default_rng(3)
    laws = Laws.normalised(rng.dirichlet(np.full(6, spread), 24).clip(1e-9))
    first, second = np.arange(14), np.arange(8, 24)  # some rows belong to both
    low, high, (a, b), weights = best_pair(laws, first, second, gap=1e-9)
    every = [smallest_ball(laws, at=np.array(sorted(p))).low for p in product(first, second) if p[0] != p[1]]
    assert low == pytest.approx(max(every), abs=1e-9)
    assert max(every) <= high + 1e-15 <= max(every) + 2e-9
    assert a in first
    assert b in second
    assert laws.information(weights, np.array([a, b])) == pytest.approx(low, abs=1e-9)


def test_what_is_known_is_only_bounded():
    rng = np.random.default_rng(3)
    laws = Laws.normalised(rng.dirichlet(np.ones(6), 24))
    low, high, _, _ = best_pair(laws, np.arange(12), np.arange(12, 24), gap=1e-9)
    again = best_pair(laws, np.arange(12), np.arange(12, 24), gap=1e-9, known=high + 1e-3)
    assert again[0] <= low + 1e-12
    assert low <= again[1] <= high + 1e-3 + 1e-9
