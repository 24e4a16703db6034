"""Transport over all pairs: the same optimum as a linear program, and potentials that prove it."""

import numpy as np
import pytest
from scipy.optimize import linprog

from dalenius.solvers.flows.distances import Metric, blocks, completed, pairwise
from dalenius.solvers.flows.shipping import Arcs, ship
from dalenius.solvers.flows.transport import Spare, transport


def instance(seed, rows, columns, axes=4, letters=3):
    rng = np.random.default_rng(seed)
    weights = tuple(int(w) for w in rng.integers(1, 4, axes))
    ordered = tuple(bool(v) for v in rng.random(axes) < 0.3)
    metric = Metric(weights, ordered, tuple(letters - 1 if o else 1 for o in ordered))
    points = rng.integers(0, letters, (rows + columns, axes))
    supply = rng.integers(1, 20, rows)
    demand = np.ones(columns, dtype=np.int64)
    np.add.at(demand, rng.integers(0, columns, int(supply.sum()) - columns), 1)
    return metric, points[:rows], points[rows:], supply, demand


def distances(metric, rows, columns):
    return np.concatenate([block for _, block in blocks(metric, rows, columns)]).astype(np.int64)


def least_cost(d, supply, demand):
    rows, columns = d.shape
    equal = np.zeros((rows + columns, rows * columns))
    for i in range(rows):
        equal[i, i * columns : (i + 1) * columns] = 1
    for j in range(columns):
        equal[rows + j, j::columns] = 1
    return linprog(d.ravel(), A_eq=equal, b_eq=np.concatenate([supply, demand]), method="highs").fun


@pytest.mark.parametrize("seed", range(12))
def test_a_plan_costs_what_a_linear_program_finds_and_its_potentials_prove_it(seed):
    metric, rows, columns, supply, demand = instance(seed, 9, 13)
    plan = transport(metric, rows, columns, supply, demand)
    d = distances(metric, rows, columns)
    assert plan.cost == plan.bound == round(least_cost(d, supply, demand))
    shipped = np.zeros_like(d)
    np.add.at(shipped, (plan.row, plan.column), plan.amount)
    assert (shipped.sum(axis=1) == supply).all()
    assert (shipped.sum(axis=0) == demand).all()
    assert (shipped >= 0).all()
    assert int((shipped * d).sum()) == plan.cost
    assert (plan.row_potential[:, None] + plan.column_potential <= d).all()
    assert int(supply @ plan.row_potential + demand @ plan.column_potential) == plan.bound


@pytest.mark.long
def test_many_points_go_through_samples_and_generated_arcs(monkeypatch):
    monkeypatch.setattr("dalenius.solvers.flows.transport._SAMPLED", 200)
    metric, rows, columns, supply, demand = instance(5, 900, 1000, axes=6, letters=5)
    told = []
    plan = transport(metric, rows, columns, supply, demand, on_progress=told.append)
    assert plan.cost == plan.bound
    assert told[-1].endswith("gap 0.00%")
    assert (plan.row_potential[:, None] + plan.column_potential <= distances(metric, rows, columns)).all()


@pytest.mark.long
def test_an_early_stop_still_ships_everything_and_proves_its_bound():
    metric, rows, columns, supply, demand = instance(6, 400, 500, axes=6, letters=5)
    early = transport(metric, rows, columns, supply, demand, rounds=1)
    best = transport(metric, rows, columns, supply, demand)
    assert early.bound <= best.bound == best.cost <= early.cost
    assert int(early.amount.sum()) == int(supply.sum())
    assert (early.row_potential[:, None] + early.column_potential <= distances(metric, rows, columns)).all()


@pytest.mark.parametrize("looks", [0, 1, 2, 3, 5, 8, 13, 40])
def test_whenever_the_time_is_up_everything_is_shipped_and_the_bound_holds(monkeypatch, looks):
    metric, rows, columns, supply, demand = instance(3, 60, 80)
    monkeypatch.setattr("dalenius.solvers.flows.transport._SAMPLED", 20)  # so that samples come first
    count = iter(range(10**6))

    def over(deadline):
        return next(count) >= looks

    monkeypatch.setattr("dalenius.solvers.flows.shipping.over", over)
    plan = transport(metric, rows, columns, supply, demand, deadline=0.0)
    monkeypatch.undo()
    assert np.bincount(plan.row, plan.amount, len(rows)).tolist() == supply.tolist()
    assert np.bincount(plan.column, plan.amount, len(columns)).tolist() == demand.tolist()
    assert plan.cost == plan.amount @ pairwise(metric, rows[plan.row], columns[plan.column])
    best = transport(metric, rows, columns, supply, demand).cost
    assert plan.bound <= best <= plan.cost
    assert (plan.row_potential[:, None] + plan.column_potential <= distances(metric, rows, columns)).all()


def test_arcs_that_do_not_reach_leave_something_behind_and_make_new_arcs_look_cheap():
    arcs = Arcs(np.array([0, 1]), np.array([0, 0]), np.array([1, 1]))
    done = ship(arcs, np.array([2, 2]), np.array([2, 2]), np.zeros(2, int), np.zeros(2, int), np.zeros(2, int))
    assert int(done.left.sum()) == int(done.open.sum()) == 2
    assert (done.row > 1).all()


def test_amounts_beyond_31_bits_are_shipped_in_steps():
    many = 3_000_000_000
    arcs = Arcs(np.array([0]), np.array([0]), np.array([2]))
    done = ship(arcs, np.array([many]), np.array([many]), np.array([0]), np.array([0]), np.zeros(1, int))
    assert done.flow.tolist() == [many]


def test_unequal_sums_are_refused():
    metric = Metric((1,), (False,), (1,))
    with pytest.raises(ValueError, match="same sum"):
        transport(metric, np.array([[0]]), np.array([[1]]), np.array([1]), np.array([2]))


def test_distances_agree_pair_by_pair_and_with_completed_potentials():
    metric, rows, columns, _, _ = instance(3, 20, 20)
    d = distances(metric, rows, columns)
    assert (np.diag(d) == pairwise(metric, rows, columns)).all()
    potential = np.random.default_rng(1).normal(size=20)
    known = (d + potential)[:, 0]
    assert np.allclose(completed(metric, rows, columns, potential, known), (d + potential).min(axis=1), atol=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_a_transport_with_spare_amounts_ships_the_rest_when_its_time_is_up(seed):
    metric, rows, columns, supply, demand = instance(seed, 9, 13)
    may_keep, may_lack = np.arange(0, 9, 2), np.arange(1, 13, 3)
    less = min(int(supply[may_keep].sum()), int(demand[may_lack].sum())) // 2
    spare = Spare(less, less, may_keep, may_lack)
    best = transport(metric, rows, columns, supply, demand, spare=spare)
    plan = transport(metric, rows, columns, supply, demand, spare=spare, deadline=0.0)
    d = distances(metric, rows, columns)
    shipped = np.zeros_like(d)
    np.add.at(shipped, (plan.row, plan.column), plan.amount)
    kept, lacking = supply - shipped.sum(axis=1), demand - shipped.sum(axis=0)
    for amounts, places in ((kept, may_keep), (lacking, may_lack)):
        assert amounts.sum() == less
        assert amounts.min() >= 0
        assert not np.delete(amounts, places).any()
    assert int((shipped * d).sum()) == plan.cost >= best.cost
    assert plan.bound <= best.bound
    assert len(plan.row_potential) == 10
    assert len(plan.column_potential) == 14
