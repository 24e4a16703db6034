"""Simplices are cut without all of their edges in memory, and not at all where there are too many."""

import numpy as np
import pytest

from dalenius.solvers.funnel import Labels, Subdivision, gains, subdivision


def shares(rows, labels, seed=5):
    drawn = np.random.default_rng(seed).dirichlet(np.ones(labels), rows)
    return drawn, Labels(drawn.mean(axis=0), np.zeros(labels, dtype=np.intp))


@pytest.mark.parametrize("block", [1, 7, 100])
def test_point_14_the_edge_that_is_cut_is_the_same_however_many_are_looked_at_together(monkeypatch, block):
    """All edges of a simplex of 2,000 labels took 30 GiB."""
    _, labels = shares(9, 6)
    whole = Subdivision(labels)
    parts = Subdivision(labels)
    for _ in range(4):
        places = list(range(len(whole)))
        whole.cut(places, np.zeros((len(places), 0)))
        with monkeypatch.context() as patch:
            patch.setattr(subdivision, "BLOCK", block)
            parts.cut(places, np.zeros((len(places), 0)))
    assert (whole.corners == parts.corners).all()
    assert whole.tree() == parts.tree()


def test_point_14_simplices_of_too_many_labels_are_not_cut(monkeypatch):
    W, labels = shares(9, 6)
    assert len(gains.beginning(W, labels)) > 1
    monkeypatch.setattr(gains, "FAR", 6**3 - 1)
    cells = gains.beginning(W, labels)
    assert len(cells) == 1
    assert gains.refined(cells, W, np.full((9, 1), 1 / 9), cells.lines, 1.0) == 0
