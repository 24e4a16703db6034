"""Cells of posteriors and gauges of promises, as arrays."""

import numpy as np
import pytest

from dalenius.solvers.funnel import Cap, Labels, LeakageGauge, PolyhedralGauge, SibsonGauge, Subdivision

BINARY = Labels(np.array([0.3, 0.7]), np.zeros(2, dtype=np.intp))
THREE = Labels(np.array([0.2, 0.3, 0.5]), np.zeros(3, dtype=np.intp))


def divergence(u, prior):
    return sum(a * np.log(a / b) for a, b in zip(u, prior, strict=True) if a > 0)


def test_phi_is_a_divergence_and_zero_at_the_prior():
    u = np.array([[0.25, 0.25, 0.5], [0.2, 0.3, 0.5], [0.0, 1.0, 0.0]])
    assert THREE.phi(u) == pytest.approx([divergence(row, THREE.prior) for row in u])


def test_phi_beside_kept_values_divides_by_their_mass():
    labels = Labels(np.array([0.5, 0.5, 0.5, 0.5]), np.array([0, 1, 0, 1]))
    u = np.array([[0.3, 0.1, 0.1, 0.5]])
    expected = sum(v * np.log(v / (0.5 * s)) for v, s in zip(u[0], [0.4, 0.6, 0.4, 0.6], strict=True))
    assert labels.phi(u)[0] == pytest.approx(expected)


@pytest.mark.parametrize("labels", [BINARY, THREE])
def test_pieces_lie_above_phi_everywhere(labels):
    cells, chance = Subdivision(labels), np.random.default_rng(1)
    size = len(labels.prior)
    for _ in range(6):
        points = chance.dirichlet(np.ones(size), len(cells))
        assert cells.cut(list(range(len(cells))), points) > 0
    u = chance.dirichlet(np.full(size, 0.7), 2000)
    above = (u @ cells.lines.T).max(axis=1) - labels.phi(u)
    assert above.min() > -1e-12
    assert above.max() < (0.1 if size == 2 else 0.3)  # raised tangents are nowhere far above, not even of slivers


def test_a_tree_names_every_simplex_once():
    cells = Subdivision(THREE)
    cells.cut([0], np.array([[0.2, 0.3, 0.5]]))
    cells.cut([0, 1], np.array([[0.1, 0.1, 0.8], [0.5, 0.4, 0.1]]))
    tree = cells.tree()
    leaves = [node for node in tree if isinstance(node, int)]
    assert sorted(leaves) == list(range(len(cells))) == [0, 1, 2, 3]
    assert all(sum(node) == 1 for node in tree if not isinstance(node, int))


def test_an_interval_is_cut_near_its_points():
    cells = Subdivision(BINARY)
    cells.cut_line([0.1, 0.25, 0.5])
    ends = np.unique(cells.corners[:, :, 1])
    assert ends == pytest.approx([0, 0.1, 0.25, 0.5, 1], abs=1e-5)


def gauges():
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    given = np.array([0.55, 0.45])
    return [
        LeakageGauge(shares, 0.1, given, np.zeros(2, dtype=np.intp)),
        PolyhedralGauge(shares, 0.6, np.zeros(2, dtype=np.intp)),
        SibsonGauge(shares, 1.1, given, 3.0),
    ]


@pytest.mark.parametrize("gauge", gauges(), ids=["leakage", "guess", "sibson"])
def test_tangents_touch_a_gauge_from_below(gauge):
    chance = np.random.default_rng(2)
    at, elsewhere = chance.dirichlet(np.ones(2), 50), chance.dirichlet(np.ones(2), 50)
    tangent = gauge.tangent(at)
    assert (tangent * at).sum(axis=1) == pytest.approx(gauge.used(at))
    assert (gauge.used(elsewhere) - (tangent * elsewhere).sum(axis=1)).min() > -1e-12


def test_a_cap_lends_no_more_than_it_holds():
    cap = Cap(*(getattr(gauges()[0], name) for name in ("shares", "limit", "given", "world")))
    chance = np.random.default_rng(5)
    corners = chance.dirichlet(np.ones(2), (400, 2))
    plain = chance.normal(size=(400, 2))
    lent = cap.lent(corners, plain)
    less = lent.worth
    assert (less.max(axis=1) <= plain.max(axis=1)).all()
    room = cap.limit - (corners * lent.tangents[:, None, :]).sum(axis=-1)
    assert less == pytest.approx(plain + lent.multipliers[:, None] * room, abs=1e-9)
    # What keeps the limit in a cell is not worth less than it is: the mixture of its corners, by what all are worth.
    share = chance.random((400, 1))
    inside = share * corners[:, 0] + (1 - share) * corners[:, 1]
    worth, before = (share[:, 0] * w[:, 0] + (1 - share[:, 0]) * w[:, 1] for w in (less, plain))
    kept = cap.kept(inside)
    assert 50 < kept.sum() < 350
    assert (worth - before)[kept].min() > -1e-9
    # And columns beyond it all along are worth nothing.
    beyond = np.array([[[0.999, 0.001], [0.95, 0.05]]])
    assert cap.lent(beyond, np.array([[3.0, 2.0]])).worth.max() < 1e-9


@pytest.mark.parametrize(
    ("first", "second"), [([0.55, 0.45], [0.99, 0.01]), ([0.01, 0.99], [0.6, 0.4]), ([0.01, 0.99], [0.99, 0.01])]
)
def test_a_cell_is_cut_where_its_posterior_meets_the_limit(first, second):
    cap = Cap(*(getattr(gauges()[0], name) for name in ("shares", "limit", "given", "world")))
    ends = np.array([first]), np.array([second])
    bend, place = cap.bend(*ends)
    used = cap.used((1 - place)[:, None] * ends[0] + place[:, None] * ends[1])
    assert bend[0] > 0
    if cap.kept(ends[0]) | cap.kept(ends[1]):
        assert cap.limit - 1e-8 < used[0] <= cap.limit
    else:
        assert used[0] == pytest.approx(0, abs=1e-9)  # where least is used, if no end keeps it


def test_a_guess_is_cut_where_it_changes():
    guess = gauges()[1]
    bend, place = guess.bend(np.array([[0.8, 0.2]]), np.array([[0.2, 0.8]]))
    assert place[0] == pytest.approx(0.5)
    assert bend[0] > 0
    assert guess.bend(np.array([[0.8, 0.2]]), np.array([[0.7, 0.3]]))[0][0] == 0
