"""Noise on the whole numbers at reference values, closed forms and brute force."""

import json
from fractions import Fraction
from itertools import pairwise
from math import exp, inf, log, log2, sqrt
from pathlib import Path

import numpy as np
import pytest

from dalenius.core import Distortion, MinimizeCapacity, Noise, NoiseLaw, Pmf, Problem
from dalenius.core.drafting import Axes, drafted, release_of
from dalenius.core.numbers import up
from dalenius.documents import proved_text
from dalenius.errors import InputError
from dalenius.solvers.capacity_noise import least_capacity_noise
from dalenius.solvers.noise import (
    allocated_additive,
    allocated_shrinkage,
    capacity_prior,
    discrete_leakage_bound,
    gaussian_delta,
    gaussian_sigma,
    geometric_weights,
    information,
    max_entropy,
    power_weights,
)

CASES = json.loads((Path(__file__).parents[1] / "oracle" / "004_noise.json").read_text(encoding="utf-8"))["cases"]


def of_kind(kind):
    return [pytest.param(c["inputs"], c["expected"], c["tolerance"], id=c["name"]) for c in CASES if c["kind"] == kind]


# --- reference values ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("given", "expected", "tolerance"), of_kind("maxent_noise"))
def test_max_entropy_laws_of_lemma_1(given, expected, tolerance):
    found = max_entropy(float(given["p"]), float(given["D"]))
    assert found.entropy_bits == pytest.approx(float(expected["H_bits"]), abs=tolerance)
    if "A" in expected:
        assert found.a == pytest.approx(float(expected["A"]), rel=tolerance)
        assert found.b == pytest.approx(float(expected["B"]), rel=tolerance)
    else:
        assert found.a == pytest.approx(float(Fraction(expected["prob"])), rel=tolerance)


@pytest.mark.parametrize(("given", "expected", "tolerance"), of_kind("discrete_leak_bound"))
def test_leakage_bounds_of_e12_and_e13(given, expected, tolerance):
    right = expected.get("tight_bound_bits", expected.get("tight_bound_bits_p_le_2"))
    bound = discrete_leakage_bound(float(given["p"]), float(given["mu"]), float(given["D"]))
    assert bound == pytest.approx(float(right), abs=tolerance)
    assert bound <= float(expected["paper_bound_bits"]) + tolerance


@pytest.mark.parametrize(("given", "expected", "tolerance"), of_kind("noise_allocation_eq12"))
def test_allocations_of_equation_12_and_reverse_water_filling(given, expected, tolerance):
    variances, d = [float(v) for v in given["eigenvalues"]], float(given["D"])
    added, errors = allocated_additive(variances, d), allocated_shrinkage(variances, d)
    assert added == pytest.approx([float(v) for v in expected["sigma"]], abs=tolerance)
    assert errors == pytest.approx([float(v) for v in expected["rwf_D_i"]], abs=tolerance)
    pairs = zip(variances, added, strict=True)
    assert sum(0.5 * log(1 + v / s) for v, s in pairs if s) == pytest.approx(float(expected["leakage_nats"]), abs=1e-12)
    shrunk = sum(0.5 * log(v / e) for v, e in zip(variances, errors, strict=True) if v > 0)
    assert shrunk == pytest.approx(float(expected["shrinkage_mechanism_nats_reverse_waterfilling"]), abs=1e-12)


@pytest.mark.parametrize(("given", "expected", "tolerance"), of_kind("example5"))
def test_gaussian_calibration_of_e14(given, expected, tolerance):
    epsilon, delta = float(given["eps"]), float(given["delta"])
    assert gaussian_sigma(epsilon, delta) == pytest.approx(
        float(expected["sigma_exact_analytic_gaussian"]), rel=tolerance
    )
    reached = gaussian_delta(epsilon, sqrt(float(expected["sigma2_paper"])))
    assert reached == pytest.approx(float(expected["delta_achieved"]), rel=1e-7)
    assert (reached <= delta) == expected["paper_valid"]


def test_the_figure_of_e14():
    assert gaussian_sigma(1, 1e-5) == pytest.approx(3.73063163482, abs=1e-11)
    assert sqrt(2 * log(2 / 1e-5)) == pytest.approx(4.9409, abs=1e-4)
    assert gaussian_sigma(1, 1e-5, sensitivity=80) == pytest.approx(80 * 3.73063163482, abs=1e-8)


# --- noise of the least capacity (E2) --------------------------------------------------------------------------------
def proved_capacity(n, weights):
    """The channel that adds the noise to 0..n-1, and its capacity from above."""
    channel = Noise.on_grid("x", [Fraction(i) for i in range(n)], Fraction(1), Fraction(0), weights)
    reach = len(weights) - 1
    prior = capacity_prior(n, weights, 0, -reach, n - 1 + reach, 3000)
    weights = [[i, max(1, round(v * 2**40))] for i, v in enumerate(prior.tolist())]
    return channel, capacity_of(channel, weights)


def capacity_of(channel, prior):
    """The capacity from above that a law of the shifts proves."""
    return release_of(channel, None, Axes([prior], ["0"])).stated()["capacity_bits"]


def least_proved(channel, p, size, least):
    """The least capacity of noise that reaches as far, within a norm, from below."""
    grid = channel.inputs["x"]
    limit = Distortion("norm", ("x",), Fraction(size), p=p)
    problem = Problem(
        ("x",),
        MinimizeCapacity(),
        release=("x",),
        form="noise",
        noise=NoiseLaw("minimum-capacity"),
        limits=(limit,),
        joint=Pmf.from_records({"x": grid}, [((v,), 1) for v in grid]),
    )
    axes = Axes([[[k, 1] for k in range(len(grid))]], ["1000"])
    prior = [[str(c), str(n)] for c, n in sorted(least["prior"])]
    proof = {"slope": least["slope"], "prior": prior, "weights": [str(w) for w in channel.axes[0].weights]}
    draft = drafted(problem, channel, axes=axes)
    return proved_text(draft, [{"rule": "noise", "line": None, "least": [proof]}]).bound


@pytest.mark.long
def test_proposition_3_is_false_at_the_reference_values():
    (case,) = (c for c in CASES if c["name"] == "prop3_counterexample_pinf")
    uniform = float(capacity_of(proved_capacity(3, (1, 1))[0], [[0, 1], [2, 1]]))
    other = float(proved_capacity(3, (6, 7))[1])
    assert uniform == pytest.approx(case["expected"]["C_paper_bits"], abs=1e-9)
    assert other == pytest.approx(case["expected"]["C_alt_bits"], abs=1e-9)


@pytest.mark.parametrize(
    ("inputs", "p", "limit", "reach"),
    [
        (3, inf, 1, 1),
        (3, 1, 1, 6),
        *(
            pytest.param(*v, marks=pytest.mark.slow)
            for v in ((5, inf, 2, 2), (4, inf, 1, 1), (11, 2, 4, 15), (21, 1, 2, 20))
        ),
    ],
)
def test_the_least_capacity_is_proved_from_both_sides(inputs, p, limit, reach):
    found = least_capacity_noise(inputs, p, limit, reach)
    channel, above = proved_capacity(inputs, found.weights)
    below = least_proved(
        channel,
        "inf" if p == inf else str(p),
        Fraction(2) if (p, limit) == (2, 4) else Fraction(limit),  # the norm: the root of what E|N|^p may be
        {"slope": up(Fraction(found.slope), 20), "prior": [[k, v] for k, v in enumerate(found.prior) if v]},
    )
    assert 0 <= above - below < 1e-5
    star = power_weights(p, max_entropy(p, limit ** (1 / p) if p != inf else limit).scale)[: reach + 1]
    assert above < proved_capacity(inputs, star)[1]  # P* is not optimal


def test_the_noise_of_e2_beats_both_printed_ones():
    assert 0.65751 < least_capacity_noise(3, inf, 1, 1).capacity_bits < 0.6576062083697 < 2 / 3


# --- weights ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("p", "scale"), [(1, 0.3), (1, 7.0), (1.5, 4.0), (2, 0.5), (2, 30.0), (3, 9.0), (inf, 4.2)])
def test_weights_are_log_concave_and_follow_their_law(p, scale):
    w = power_weights(p, scale)
    assert all(w[k] ** 2 >= w[k - 1] * w[k + 1] for k in range(1, len(w) - 1))
    for k, v in enumerate(w):
        assert v / w[0] == pytest.approx(exp(-((k / scale) ** p)) if p != inf else 1.0, rel=1e-13)
    assert p == inf or exp(-((len(w) / scale) ** p)) < 2.0**-61


def test_geometric_weights_hold_the_whole_tail_at_their_end():
    w, r = geometric_weights(0.25, 40), exp(-0.25)
    assert all(b / a == pytest.approx(r, rel=1e-14) for a, b in pairwise(w[:-1]))
    assert w[-1] / w[0] == pytest.approx(r**40 / (1 - r), rel=1e-14)


def test_information_agrees_with_its_definition():
    prior, weights = np.array([0.2, 0.0, 0.5, 0.3]), (5, 3, 1)
    law = np.array([1, 3, 5, 3, 1]) / 13
    joint = np.zeros((4, 6))
    for c in range(4):
        for k, v in enumerate(law):
            joint[c, min(max(c + k - 2, -1), 4) + 1] += prior[c] * v
    out = joint.sum(axis=0)
    direct = sum(
        joint[c, y] * log2(joint[c, y] / (prior[c] * out[y])) for c in range(4) for y in range(6) if joint[c, y] > 0
    )
    assert information(prior, weights, 0, -1, 4) == pytest.approx(direct, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: max_entropy(0.5, 1), "p is at least 1"),
        (lambda: max_entropy(2, 0), "D is above 0"),
        (lambda: gaussian_sigma(0, 0.1), "epsilon is above 0"),
        (lambda: gaussian_sigma(1, 1.5), "delta between 0 and 1"),
        (lambda: allocated_additive([0.0, 0.0], 1), "positive variance"),
        (lambda: least_capacity_noise(1000, 2, 10**6, 6000), "small grids"),
        (lambda: power_weights(1, 1e7), "larger step"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
