"""Risk of a table: figures against a simulated population, the search for a level, refusals."""

from math import inf

import numpy as np
import pyarrow as pa
import pytest

import dalenius
from dalenius.errors import Infeasible, InputError, MismatchError, TableError
from dalenius.evidence import risk


def people(n=30_000, seed=1):
    rng = np.random.default_rng(seed)
    return {
        "age": np.minimum(rng.geometric(0.06, n), 60),
        "region": np.minimum(rng.geometric(0.15, n), 30),
        "sex": rng.integers(0, 2, n),
    }


def sampled(everyone, pi=0.1, seed=2):
    rng = np.random.default_rng(seed)
    inside = rng.random(len(everyone["sex"])) < pi
    return pa.table({n: v[inside] for n, v in everyone.items()}), inside


def truth(everyone, inside):
    """The population uniques among the sample uniques, and the sum of 1/F over them."""
    cells = np.stack(list(everyone.values()), axis=1)
    _, at = np.unique(cells, axis=0, return_inverse=True)
    at = at.reshape(-1)
    F, f = np.bincount(at), np.bincount(at[inside], minlength=at.max() + 1)
    return (F[f == 1] == 1).sum(), (1 / F[f == 1]).sum()


@pytest.mark.parametrize("model", ["main", "two-way"])
def test_expected_matches_are_near_those_of_the_population(model):
    everyone = people()
    table, inside = sampled(everyone)
    found = risk(table, ["age", "region", "sex"], fraction=0.1, model=model)
    tau1, tau2 = truth(everyone, inside)
    if model == "main":  # the keys are independent, so this model is right
        assert found.tau[1] == pytest.approx(tau2, rel=0.15)
        assert found.tau[0] == pytest.approx(tau1, rel=0.35)
    assert found.r2[found.cell].shape == (table.num_rows,)
    assert dalenius.risk is risk


def test_the_size_of_the_population_can_be_said_in_three_ways():
    table, _ = sampled(people())
    n = table.num_rows
    keys = ["age", "sex"]
    by_fraction = risk(table, keys, fraction=0.1)
    by_size = risk(table, keys, population=10 * n)
    by_weight = risk(table.append_column("w", pa.array(np.full(n, 10.0))), keys, weights="w")
    assert by_fraction.tau == pytest.approx(by_size.tau)
    assert by_fraction.tau == pytest.approx(by_weight.tau)


@pytest.mark.long
def test_risk_after_randomised_response_starts_at_the_risk_and_meets_a_target():
    table, _ = sampled(people())
    found = risk(table, ["age", "region", "sex"], fraction=0.1)
    assert found.after(60.0) == pytest.approx(found.tau, rel=1e-9)
    assert found.information(60.0) == pytest.approx(1)
    assert found.information(0.0) == pytest.approx(0, abs=1e-12)
    level = found.level_for(2.0)
    assert found.after(level)[1] == pytest.approx(2.0, rel=1e-6)
    assert found.after(level)[1] <= 2.0
    assert found.level_for(1e6) == inf  # within the target as it is
    near = found.level_for(found.tau[1] * 0.9999)
    assert 8 < near < 48
    assert found.after(near)[1] == pytest.approx(found.tau[1] * 0.9999)
    points = found.curve([0.0, 1.0])
    assert points[1]["level_of_all_keys"] == 3.0
    with pytest.raises(Infeasible, match="even keys that reveal nothing"):
        found.level_for(1e-9)
    with pytest.raises(InputError, match="not above 0"):
        found.level_for(0.0)


def test_perturbation_can_raise_the_risk_for_a_while():
    pairs = pa.table({"k": np.repeat(np.arange(50), 2)})  # everybody has one twin: no uniques at all
    found = risk(pairs, ["k"], fraction=0.9)
    assert found.tau == (0.0, 0.0)
    middle, end = found.after(4.0)[1], found.after(30.0)[1]
    assert middle > 1 > end
    level = found.level_for(1.0)
    for below in np.linspace(0, level, 30):
        assert found.after(float(below))[1] <= 1.0


@pytest.mark.long
def test_expected_matches_after_randomised_response_are_those_of_simulated_releases():
    rng = np.random.default_rng(3)
    everyone = {k: v[:2000] for k, v in people(seed=5).items()}
    table, _ = sampled(everyone, pi=0.15)
    keys = ["age", "sex"]
    found = risk(table, keys, fraction=0.15)
    codes = np.repeat(found.codes, found.counts, axis=0)
    sizes = [len(a) for a in found.keys.values()]
    total = []
    outside = (1 - found.pi) * found.lam
    for _ in range(300):
        shown = codes.copy()
        for k, size in enumerate(sizes):
            stay = np.exp(2.0) / (np.exp(2.0) + size - 1)
            moved = rng.random(len(codes)) >= stay
            shown[moved, k] = (codes[moved, k] + rng.integers(1, size, moved.sum())) % size
        _, at, many = np.unique(shown, axis=0, return_inverse=True, return_counts=True)
        good = (many[at.reshape(-1)] == 1) & (shown == codes).all(axis=1)
        cell = np.repeat(np.arange(len(found.counts)), found.counts)[good]
        F = found.counts[cell] + rng.poisson(outside[cell])
        total.append((1 / F).sum())
    assert abs(np.mean(total) - found.after(2.0)[1]) < 4 * np.std(total) / np.sqrt(len(total))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"fraction": None}, InputError, "not said, or said twice, how large the population is"),
        ({"population": 10.0}, InputError, "not said, or said twice, how large the population is"),
        ({"fraction": None, "population": 5.0}, InputError, "not larger than the sample"),
        ({"fraction": 1.0}, InputError, "not between 0 and 1"),
        ({"fraction": 0.0}, InputError, "not between 0 and 1"),
        ({"model": "three-way"}, InputError, "no model"),
        ({"keys": []}, MismatchError, "at least one"),
        ({"keys": ["a", "a"]}, MismatchError, "once"),
        ({"keys": ["zz"]}, TableError, 'no column "zz"'),
        ({"fraction": None, "weights": "b"}, InputError, "row 1 has the weight 0.5"),
        ({"fraction": None, "weights": "c"}, TableError, "row 3, column 'c': 'x' is no weight"),
    ],
)
def test_refusals(change, error, words):
    table = pa.table({"a": ["x", "y"] * 10, "b": [0.5, 2] * 10, "c": ["3", "4", "x", "5"] * 5})
    arguments = {"keys": ["a"], "fraction": 0.5} | change
    with pytest.raises(error, match=words):
        risk(table, arguments.pop("keys"), **arguments)


def test_an_empty_table_is_refused():
    with pytest.raises(TableError, match="no rows"):
        risk(pa.table({"a": pa.array([], pa.string())}), ["a"], fraction=0.5)


@pytest.mark.parametrize("weights", [None, "w"])
def test_a_table_in_slices_has_the_same_cells(weights, monkeypatch):
    """What does not fit lies in files, and is looked at a slice at a time."""
    import dalenius.evidence.exposure as exposure
    from dalenius.tables import counting, open_table

    table, _ = sampled(people(2_000))
    table = table.append_column("w", pa.array(np.linspace(1, 30, len(table))))
    told = {"weights": "w"} if weights else {"population": 2_000}
    whole = risk(table, ["age", "sex"], **told)
    for room in (exposure, counting):
        monkeypatch.setattr(room, "SLICE", 17)
    opened = open_table(table)
    opened.workspace.memory = 0
    found = risk(opened, ["age", "sex"], **told)
    assert found.cell.dtype == np.uint8
    assert found.cell.tolist() == whole.cell.tolist()
    assert found.pi == pytest.approx(whole.pi, rel=1e-12)
    assert found.tau == pytest.approx(whole.tau, rel=1e-12)
