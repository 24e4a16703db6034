"""The best selection of one row per class, against all of them."""

from itertools import product

import numpy as np
import pytest

from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import Laws
from dalenius.solvers.selection import best_selection


def by_enumeration(laws, classes):
    best = 0.0
    for rows in product(*classes):
        at = np.unique(rows)
        if len(at) > 1:
            best = max(best, smallest_ball(laws, at=at).low)
    return best


def grid(sizes, members):
    """Input outcomes by the outcome of some members."""
    outcomes = np.moveaxis(np.arange(np.prod(sizes)).reshape(sizes), members, range(len(members)))
    return list(outcomes.reshape(int(np.prod([sizes[i] for i in members])), -1))


CASES = [
    ((2, 2), (0,), 2), ((2, 2, 2), (1,), 3), ((3, 3), (0,), 3), ((3, 2, 2), (0,), 4),
    ((2, 2, 2), (0, 2), 3), ((3, 3, 2), (2,), 5), ((2, 3, 2), (1,), 2),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("sizes", "members", "letters"), CASES)
@pytest.mark.parametrize("seed", range(2))
def test_it_is_the_best_of_all_selections(sizes, members, letters, seed):
    rng = np.random.default_rng([seed, letters, *sizes])
    laws = Laws.normalised(rng.dirichlet(np.full(letters, 0.6), int(np.prod(sizes))).clip(1e-6))
    classes = grid(sizes, members)
    found, best = best_selection(laws, classes, whole=bool(seed)), by_enumeration(laws, classes)
    assert found.low == pytest.approx(best, abs=1e-9)
    assert best - 1e-12 <= found.high <= best + 2e-9
    assert all(row in rows for row, rows in zip(found.rows, classes, strict=True))
    at = np.array(found.rows)
    used = found.weights > 0
    assert laws.information(found.weights[used], at[used]) == pytest.approx(found.low, abs=1e-9)


def test_rows_shared_by_classes_can_be_used_by_either():
    """Three classes that all may use the same three rows: each takes one of its own."""
    found = best_selection(Laws(np.eye(3), 0.0), [np.arange(3)] * 3)
    assert found.low == pytest.approx(np.log(3), abs=1e-9)
    assert sorted(found.rows) == [0, 1, 2]
    assert not found.tree.parts


def test_two_classes_use_two_rows_only():
    found = best_selection(Laws(np.eye(4), 0.0), [np.arange(4)] * 2)
    assert found.low == pytest.approx(np.log(2), abs=1e-9)
    assert found.high == pytest.approx(np.log(2), abs=2e-9)


def test_a_search_cut_short_still_holds_the_truth():
    rng = np.random.default_rng(9)
    laws = Laws.normalised(rng.dirichlet(np.ones(20), 64))
    classes = grid((2,) * 6, (0,))
    short, whole = best_selection(laws, classes, nodes=3, whole=True), best_selection(laws, classes)
    assert short.low <= whole.low + 1e-12
    assert short.high >= whole.high - 1e-12
    assert short.high - short.low > 1e-3
    assert whole.high - whole.low < 2e-9


def test_what_is_known_already_is_not_searched():
    rng = np.random.default_rng(9)
    laws = Laws.normalised(rng.dirichlet(np.ones(8), 64))
    found = best_selection(laws, grid((2,) * 6, (0,)), known=10.0)
    assert not found.tree.parts
