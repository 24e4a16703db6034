"""Amplitude-limited capacities: published values, proved upper ends over the continuum, formulas and refusals."""

import json
from itertools import pairwise
from math import e, log, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

from dalenius.errors import InputError, Unsupported
from dalenius.solvers import smith
from dalenius.solvers.divergence import Laws
from dalenius.solvers.pairs import best_pair
from dalenius.solvers.selection import best_selection
from dalenius.solvers.smith import interval_capacity, points_capacity

ORACLE = json.loads((Path(__file__).parents[1] / "oracle/001_queries.json").read_text())["cases"]
LONG = {f"gauss_smith_A{a}" for a in ("2", "2.5", "3", "4", "5", "10")}
SMITH = [c for c in ORACLE if c["kind"] == "gaussian_amplitude_capacity"]


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, id=c["name"], marks=[pytest.mark.slow] if c["name"] in LONG else []) for c in SMITH],
)
def test_smiths_capacity_and_its_number_of_points(case):
    found = interval_capacity("gaussian", float(case["inputs"]["A_over_sigma"]))
    wanted = float(case["expected"]["C_nats"])
    assert found.low == pytest.approx(wanted, abs=1e-11)
    assert wanted - 1e-12 <= found.high <= wanted + 1e-9
    assert len(found.points) == case["expected"]["npts"]
    assert found.high < float(case["expected"]["bound115_nats"])  # (115) is only a bound


@pytest.mark.slow
def test_seven_deviations_close_with_eight_points():
    found = interval_capacity("gaussian", 7.0)
    assert found.high - found.low < 1e-9
    assert len(found.points) == 8


def _divergence(family, x, points, weights):
    def law(y, at):
        return np.exp(-((y - at) ** 2) / 2) / sqrt(2 * pi) if family == "gaussian" else np.exp(-abs(y - at)) / 2

    def inner(y):
        p = law(y, x)
        return p * log(p / float(weights @ law(y, points))) if p > 1e-300 else 0.0

    cuts = sorted({x, *points.tolist()})
    ends = [-30.0, *cuts, 30.0]
    return sum(quad(inner, a, b, epsabs=1e-13, limit=200)[0] for a, b in pairwise(ends))


@pytest.mark.parametrize("family", ["gaussian", "laplace"])
def test_divergence_and_its_derivatives_against_quadrature(family):
    points, weights = np.array([-1.5, -0.2, 1.1]), np.array([0.4, 0.25, 0.35])
    mixture = smith._FAMILIES[family](points, weights, 1.5)
    x = np.array([-1.5, -0.7, 0.3, 1.3])
    d, slope, curve = mixture.at(x)
    for k, v in enumerate(x):
        assert d[k] == pytest.approx(_divergence(family, v, points, weights), abs=1e-9)
    step = 1e-4
    up, down = mixture.at(x + step)[0], mixture.at(x - step)[0]
    assert slope[1:] == pytest.approx(((up - down) / (2 * step))[1:], abs=1e-6)
    assert curve[1:] == pytest.approx(((up - 2 * d + down) / step**2)[1:], abs=1e-4)
    assert curve.max() <= 1.0


@pytest.mark.long
@pytest.mark.parametrize("family", ["gaussian", "laplace"])
def test_the_upper_end_holds_between_the_points_for_any_input(family):
    points, weights = np.array([-2.5, 2.5]), np.array([0.5, 0.5])  # a bad input: D peaks in the middle
    mixture = smith._FAMILIES[family](points, weights, 2.5)
    look = np.linspace(-2.5, 2.5, 20001)
    proved = smith._highest(mixture, 2.5, 0.0)
    peak = float(mixture.at(look)[0].max())
    assert peak <= proved <= peak + 1e-6


@pytest.mark.parametrize("reach", [0.3, 1.0, *(pytest.param(r, marks=pytest.mark.slow) for r in (2.0, 5.0))])
def test_laplace_brackets_are_narrow_and_hold_a_finite_check(reach):
    found = interval_capacity("laplace", reach)
    assert 0 <= found.high - found.low < 5e-6
    coarse = points_capacity("laplace", np.linspace(-reach, reach, 9))
    assert coarse.low <= found.high + 1e-12


@pytest.mark.parametrize("family", ["gaussian", "laplace"])
@pytest.mark.slow
def test_formulas_for_wide_inputs_hold_the_search(family):
    exact, wide = interval_capacity(family, 10.0), smith._wide(family, 10.0)
    assert wide.low <= exact.low <= exact.high <= wide.high
    assert interval_capacity(family, 30.0).points == ()
    assert smith._wide("gaussian", 30.0).high == pytest.approx(log(1 + 60 / sqrt(2 * pi * e)))


def test_two_laplace_points_by_hand():
    # 1 - h of a soft decision: I = D(Lap(d) || mixture) by quadrature
    assert points_capacity("laplace", np.array([-0.5, 0.5])).low == pytest.approx(
        _divergence("laplace", 0.5, np.array([-0.5, 0.5]), np.array([0.5, 0.5])), abs=1e-9
    )


def test_refusals():
    with pytest.raises(InputError, match="not negative"):
        interval_capacity("gaussian", -1.0)
    with pytest.raises(Unsupported, match="times the noise"):
        points_capacity("gaussian", np.array([-50.0, 50.0]))


def test_pairs_agree_with_the_tree():
    rng = np.random.default_rng(3)
    for _ in range(5):
        laws = Laws.normalised(rng.dirichlet(np.ones(6), size=24))
        first, second = np.arange(12), np.arange(10, 24)
        low, high, pair, _ = best_pair(laws, first, second, gap=1e-9)
        found = best_selection(laws, [first, second])
        assert low == pytest.approx(found.low, abs=1e-8)
        assert high >= found.low
        assert high - low < 1e-8
        assert pair[0] in first
        assert pair[1] in second
