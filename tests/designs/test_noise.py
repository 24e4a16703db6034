"""Noise designs: the bars on a real column, every target, several columns, and what is refused."""

import json
from fractions import Fraction
from math import inf, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.certify import check
from dalenius.core import Grid
from dalenius.core.numbers import exact
from dalenius.designs.noise import MECHANISMS, NoiseWanted, add_noise
from dalenius.errors import InputError, Unsupported
from dalenius.noising import grid_of
from dalenius.solvers.noise import gaussian_sigma

GRID = Grid(Fraction(0), Fraction(100), Fraction(1))
DIGITS = 1e-9  # figures are rounded up to nine digits
RNG = np.random.default_rng(5)
CODES = np.clip(RNG.gamma(2.0, 12.0, 4000), 0, 100).astype(int)


def variance(codes):
    n = len(codes)
    return Fraction(int((codes * codes).sum()), n) - Fraction(int(codes.sum()), n) ** 2


def figure(design, key):
    return float(exact(design.figures[key]))


@pytest.fixture(scope="module")
def chronic():
    """The index of chronic diseases of the RAND Health Insurance Experiment, in tenths."""
    from statsmodels.datasets import randhie

    return np.round(randhie.load_pandas().data["disea"].to_numpy() * 10).astype(int)


# --- the bars --------------------------------------------------------------------------------------------------------
def test_shrinkage_tells_a_fifth_of_added_noise_on_a_real_column(chronic):
    grid, share = Grid(Fraction(0), Fraction(60), Fraction(1, 10)), Fraction(9, 10)
    shrunk = add_noise({"disea": (grid, chronic)}, NoiseWanted(share=share))
    added = add_noise({"disea": (grid, chronic)}, NoiseWanted("gaussian", share=share))
    assert figure(shrunk, "leakage_bits") <= figure(added, "leakage_bits") / 5
    assert figure(shrunk, "leakage_bits") <= 0.5 * log2(10 / 9) + 1e-3  # 1/2 log2 (v / D)
    assert figure(added, "leakage_bits") <= 0.5 * log2(1 + 10 / 9)
    allowed = float(share * variance(chronic) / 100)
    for design in (shrunk, added):
        assert allowed * 0.999 <= figure(design, "distortion") <= allowed + DIGITS
        check(json.dumps(design.document))
    (told,) = (r for r in shrunk.document["remarks"] if "added Gaussian noise" in r)
    assert "times as much" in told


# --- targets ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mechanism", ["shrinkage", "gaussian", "laplace"])
@pytest.mark.parametrize("share", [Fraction(1, 20), Fraction(1, 2), Fraction(19, 20)])
def test_a_distortion_is_met_and_spent(mechanism, share):
    design = add_noise({"x": (GRID, CODES)}, NoiseWanted(mechanism, share=share))
    allowed = float(share * variance(CODES))
    assert allowed * 0.99 <= figure(design, "distortion") <= allowed + DIGITS
    check(json.dumps(design.document))


@pytest.mark.parametrize("mechanism", ["shrinkage", "gaussian", "laplace"])
def test_a_leakage_is_met_and_spent(mechanism):
    design = add_noise({"x": (GRID, CODES)}, NoiseWanted(mechanism, leakage_bits=Fraction(1, 5)))
    assert 0.199 <= figure(design, "leakage_bits") <= 0.2
    assert design.document["promised"]["leakage_bits"] == "1/5"


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_laplace_noise_has_the_epsilon_asked_for(epsilon):
    design = add_noise({"x": (GRID, CODES)}, NoiseWanted("laplace", epsilon=epsilon))
    assert float(epsilon) * (1 - 1e-9) <= figure(design, "epsilon_nats") <= float(epsilon)
    assert design.channels[0].shape == (101, 101)


def test_gaussian_noise_has_the_least_scale_for_epsilon_and_delta():
    design = add_noise({"x": (GRID, CODES)}, NoiseWanted("gaussian", epsilon=Fraction(1), delta=Fraction(1, 10**5)))
    assert 0.999e-5 <= figure(design, "delta") <= 1e-5
    sigma = figure(design, "distortion") ** 0.5
    assert sigma == pytest.approx(gaussian_sigma(1, 1e-5, sensitivity=100), rel=1e-3)  # fine against the range


def test_max_entropy_noise_has_its_norm():
    design = add_noise({"x": (GRID, CODES)}, NoiseWanted("max-entropy", distortion=Fraction(3), p=2.0))
    assert figure(design, "distortion") == pytest.approx(9.0, rel=1e-9)
    uniform = add_noise({"x": (GRID, CODES)}, NoiseWanted("max-entropy", distortion=Fraction(7, 2), p=inf))
    assert uniform.channels[0].weights == (1, 1, 1, 1)  # floor(7/2) steps (E12)


def test_minimum_capacity_noise_beats_max_entropy_noise_and_says_how_near_it_is():
    grid, codes = Grid(Fraction(-1), Fraction(1), Fraction(1)), np.array([0, 1, 1, 2])
    least = add_noise({"x": (grid, codes)}, NoiseWanted("minimum-capacity", distortion=Fraction(1), p=inf))
    star = add_noise({"x": (grid, codes)}, NoiseWanted("max-entropy", distortion=Fraction(1), p=inf))
    bound = float(exact(least.document["columns"][0]["claimed"]["least_capacity_bits"]))
    assert figure(star, "capacity_bits") == pytest.approx(2 / 3, abs=1e-3)
    assert bound <= figure(least, "capacity_bits") < 0.6577 < 2 / 3
    assert figure(least, "capacity_bits") - bound < 1e-3
    check(json.dumps(least.document))


def test_a_distortion_beyond_the_variance_releases_the_mean():
    design = add_noise({"x": (GRID, CODES)}, NoiseWanted(distortion=Fraction(10_000)))
    (channel,) = design.channels
    assert channel.output["x"] == (str(round(float(CODES.mean()))),)
    assert figure(design, "leakage_bits") == figure(design, "capacity_bits") == figure(design, "epsilon_nats") == 0
    assert "the mean is released for every record" in design.document["remarks"][0]


def test_a_column_without_variance_is_released_as_it_is_known():
    design = add_noise({"x": (GRID, np.full(50, 7))}, NoiseWanted(distortion=Fraction(1)))
    assert design.channels[0].output["x"] == ("7",)


def test_coarse_grids_near_the_variance_are_served():
    codes = np.array([0] * 55 + [1] * 20 + [2] * 10 + [5] * 10 + [20] * 5)
    grid = Grid(Fraction(0), Fraction(20), Fraction(1))
    for share in (Fraction(9, 10), Fraction(49, 50)):
        design = add_noise({"x": (grid, codes)}, NoiseWanted(share=share))
        assert figure(design, "distortion") <= float(share * variance(codes)) + DIGITS


def test_a_clipped_release_stays_in_its_range():
    clip = {"x": (Fraction(0), Fraction(100))}
    design = add_noise({"x": (GRID, CODES)}, NoiseWanted("gaussian", share=Fraction(1, 2), clip=clip))
    free = add_noise({"x": (GRID, CODES)}, NoiseWanted("gaussian", share=Fraction(1, 2)))
    assert design.channels[0].output["x"] == tuple(str(k) for k in range(101))
    assert figure(design, "leakage_bits") <= figure(free, "leakage_bits")  # post-processing
    assert figure(design, "distortion") <= figure(free, "distortion")


# --- several columns -------------------------------------------------------------------------------------------------
def test_several_columns_share_their_distortion_by_reverse_water_filling():
    other = np.clip(CODES // 4 + RNG.integers(0, 5, CODES.size), 0, 50)
    columns = {"x": (GRID, CODES), "y": (Grid(Fraction(0), Fraction(50), Fraction(1)), other)}
    allowed = float(variance(CODES) + variance(other)) / 2
    design = add_noise(columns, NoiseWanted(share=Fraction(1, 2)))
    errors = [float(exact(c["claimed"]["distortion"])) for c in design.document["columns"]]
    assert sum(errors) <= allowed + 2 * DIGITS
    assert errors[1] == pytest.approx(float(variance(other)), rel=0.02)  # the level lies above it: nothing is told
    added = add_noise(columns, NoiseWanted("gaussian", share=Fraction(1, 2)))
    assert figure(design, "leakage_bits") < figure(added, "leakage_bits")
    assert any("principal axes" in remark for remark in design.document["remarks"])
    private = add_noise(columns, NoiseWanted("laplace", epsilon=Fraction(2)))
    assert [c["epsilon"] for c in private.document["columns"]] == ["1", "1"]
    assert figure(private, "epsilon_nats") <= 2
    for each in (design, added, private):
        check(json.dumps(each.document))


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=30),
    st.sampled_from(["shrinkage", "gaussian", "laplace"]),
    st.fractions(Fraction(1, 10), Fraction(2)),
)
def test_whatever_the_records_are_the_design_is_proved(values, mechanism, d):
    grid = Grid(Fraction(0), Fraction(6), Fraction(1, 2))
    design = add_noise({"x": (grid, np.array(values))}, NoiseWanted(mechanism, distortion=d))
    check(json.dumps(design.document))
    assert figure(design, "distortion") <= float(d) + DIGITS


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, InputError, "exactly one of"),
        ({"distortion": Fraction(1), "leakage_bits": Fraction(1)}, InputError, "exactly one of"),
        ({"distortion": Fraction(0)}, InputError, "above 0"),
        ({"mechanism": "cauchy", "distortion": Fraction(1)}, InputError, "not known"),
        ({"epsilon": Fraction(1)}, Unsupported, "kept by laplace"),
        ({"mechanism": "gaussian", "epsilon": Fraction(1)}, InputError, "needs an epsilon and a delta"),
        ({"mechanism": "laplace", "epsilon": Fraction(1), "delta": Fraction(1, 9)}, InputError, "epsilon alone"),
        ({"distortion": Fraction(1), "delta": Fraction(1, 9)}, InputError, "delta goes with"),
        ({"mechanism": "max-entropy", "leakage_bits": Fraction(1)}, Unsupported, "calibrated to a distortion"),
        ({"mechanism": "minimum-capacity", "distortion": Fraction(1), "p": 3.0}, InputError, "1, 2 or inf"),
        ({"mechanism": "max-entropy", "distortion": Fraction(1), "p": 0.5}, InputError, "at least 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        NoiseWanted(**options)


def test_a_range_off_the_grid_is_refused():
    clip = {"x": (Fraction(1, 2), Fraction(100))}
    with pytest.raises(InputError, match="begin and end on the grid"):
        add_noise({"x": (GRID, CODES)}, NoiseWanted("gaussian", share=Fraction(1, 2), clip=clip))


@pytest.mark.parametrize(
    ("grid", "message"), [((0, 10, 3), "does not divide"), ((0, 10, 0), "step > 0"), ((0, 10**7, 1), "million points")]
)
def test_bad_grids_are_refused(grid, message):
    with pytest.raises(InputError, match=message):
        grid_of(*map(Fraction, grid))


def test_every_mechanism_is_tested_here():
    assert set(MECHANISMS) == {"shrinkage", "gaussian", "laplace", "max-entropy", "minimum-capacity"}
