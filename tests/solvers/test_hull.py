"""Rows that are mixtures of others: found, proved, and of no consequence for the best selection."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from dalenius.solvers.divergence import Laws
from dalenius.solvers.hull import Hull, _lost, extreme_rows
from dalenius.solvers.selection import best_selection
from tests.effort import effort
from tests.solvers.test_selection import by_enumeration


def outside(rows, k):
    """Whether row k is certainly no mixture of the other rows: a linear program of another make."""
    others = np.delete(rows, k, axis=0)
    found = linprog(-np.ones(len(others)), A_ub=others.T, b_ub=rows[k], method="highs")
    return -found.fun < 1 - 1e-9


def mixed(rng, corners, letters, inside):
    """Rows of some corners and of mixtures of them, shuffled; the places of the corners."""
    rows = rng.dirichlet(np.ones(letters), corners)
    every = np.concatenate([rows, rng.dirichlet(np.ones(corners), inside) @ rows])
    order = rng.permutation(len(every))
    return every[order], np.flatnonzero(order < corners)


@pytest.mark.parametrize(("letters", "rows"), [(2, 40), (3, 30), (4, 40), (5, 30), (6, 25), (12, 20)])
def test_what_is_left_out_is_inside_and_what_is_outside_stays(letters, rows):
    rng = np.random.default_rng([letters, rows])
    laws = Laws.normalised(rng.dirichlet(np.ones(letters), rows))
    hull = extreme_rows(laws, np.arange(rows))
    assert set(hull.kept.tolist()) >= {k for k in range(rows) if outside(laws.rows, k)}
    assert hull.loss < 1e-10
    if letters <= 3:
        assert len(hull.kept) <= 15


@pytest.mark.parametrize(("corners", "letters"), [(2, 7), (3, 3), (4, 9), (6, 4), (9, 9)])
def test_planted_mixtures_are_found_in_few_and_in_many_dimensions(corners, letters):
    rng = np.random.default_rng([corners, letters])
    rows, places = mixed(rng, corners, letters, 40)
    hull = extreme_rows(Laws.normalised(rows), np.arange(len(rows)))
    assert set(hull.kept.tolist()) <= set(places.tolist())
    assert 0 < hull.loss < 1e-10


def test_products_have_facets_that_are_no_simplices():
    single = np.array([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.1, 0.9]])
    rows = np.einsum("ia,jb->ijab", single, single).reshape(16, 4)
    assert extreme_rows(Laws.normalised(rows), np.arange(16)).kept.tolist() == [0, 3, 12, 15]


def test_zeros_are_kept_apart():
    """A row without a letter is no mixture of rows with it, however little of it they have."""
    rows = np.array([[0.5, 0.5, 0.0], [0.2, 0.8 - 1e-9, 1e-9], [0.8, 0.2 - 1e-9, 1e-9], [0.5, 0.4, 0.1]])
    assert 0 in extreme_rows(Laws.normalised(rows), np.arange(4)).kept


@pytest.mark.parametrize("away", [1e-6, 1e-9, 1e-11])
def test_a_row_just_outside_stays(away):
    corners = np.eye(3) * 0.7 + 0.1
    edge = (corners[0] + corners[1]) / 2 + away * np.array([1.0, 1.0, -2.0])
    rows = np.concatenate([corners, edge[None]])
    assert 3 in extreme_rows(Laws(rows, 0.0), np.arange(4)).kept


def test_the_loss_covers_the_exact_one():
    rng = np.random.default_rng(4)
    for _ in range(50):
        laws = Laws(rng.dirichlet(np.ones(4), 5), 0.0)
        weights = rng.dirichlet(np.ones(4)) if rng.random() < 0.5 else np.linalg.lstsq(laws.rows[:4].T, laws.rows[4])[0]
        weights = np.maximum(weights, 0.0)
        told = float(_lost(laws, np.array([4]), np.arange(4)[None], weights[None])[0])
        a, rows = list(map(Fraction, weights)), [list(map(Fraction, row)) for row in laws.rows.tolist()]
        mix = [sum(a[k] * rows[k][y] for k in range(4)) for y in range(4)]
        assert told >= 1 - min(p / v for p, v in zip(rows[4], mix, strict=True)) * sum(a)


@pytest.mark.long
@pytest.mark.parametrize(
    ("classes", "size", "letters"), [(2, 12, 3), (3, 5, 6), (3, 6, 2), (3, 6, 3), (4, 4, 3)][: effort(2, 5)]
)
@pytest.mark.parametrize("seed", range(effort(1, 2)))
def test_the_best_selection_is_the_same_with_all_rows_and_by_enumeration(classes, size, letters, seed):
    rng = np.random.default_rng([seed, classes, size, letters])
    parts = [mixed(rng, max(2, size // 2), letters, size - max(2, size // 2))[0] for _ in range(classes)]
    laws = Laws.normalised(np.concatenate(parts))
    places = np.split(np.arange(classes * size), classes)
    short, whole = best_selection(laws, places), best_selection(laws, places, whole=True)
    truth = by_enumeration(laws, places)
    assert short.low == pytest.approx(truth, abs=1e-9)
    assert truth - 1e-12 <= short.high <= truth + 2e-9
    assert whole.low == pytest.approx(truth, abs=1e-9)
    assert truth - 1e-12 <= whole.high <= truth + 2e-9
    at, used = np.array(short.rows), short.weights > 0
    assert all(row in rows for row, rows in zip(short.rows, places, strict=True))
    assert laws.information(short.weights[used], at[used]) == pytest.approx(short.low, abs=1e-9)


@pytest.mark.long
def test_rows_left_out_without_proof_would_be_missed(monkeypatch):
    """The comparison with all selections can fail: here every row but the first is left out, proved or not."""
    rng = np.random.default_rng(0)
    laws, places = Laws.normalised(rng.dirichlet(np.ones(3), 18)), np.split(np.arange(18), 3)
    truth = by_enumeration(laws, places)
    assert best_selection(laws, places).high >= truth
    monkeypatch.setattr("dalenius.solvers.selection.extreme_rows", lambda _, rows, **__: Hull(rows[:1], 0.0))
    assert best_selection(laws, places).high < truth - 1e-3
