"""Regions of paper 003: D0 and its neighbours, R(D, E) corrected, slopes, membership."""

import json
from dataclasses import replace
from fractions import Fraction
from math import log2
from pathlib import Path

import numpy as np
import pytest

from dalenius.core import Distortion, Leakage, MinimizeDistortion, SideInformation, WorstCaseLeakage
from dalenius.core.numbers import exact
from dalenius.documents import checked as check
from dalenius.errors import Infeasible, InputError, SolverFailed
from dalenius.mechanisms.columns.leakage.curve import ends_of, trace
from dalenius.mechanisms.columns.leakage.trade import Trade
from dalenius.mechanisms.columns.regions import Region
from dalenius.testing import binary_tradeoff, tradeoff

ORACLE = json.loads((Path(__file__).parents[2] / "oracle" / "003_discrete.json").read_text(encoding="utf-8"))
I14 = ORACLE["tradeoff"][1]["inputs"]


def i14(view="public"):
    return tradeoff(I14["counts_xr_xh_z"], I14["distortion"], I14["D"], view=view)


@pytest.mark.parametrize("entry", ORACLE["D0"], ids=lambda e: e["name"])
@pytest.mark.parametrize("view", ["public", "both"])
def test_the_distortion_of_perfect_privacy(entry, view):
    inputs = entry["inputs"]
    ends = ends_of(tradeoff(inputs["counts_xr_xh_z"], inputs["distortion"], 0, view=view))
    assert float(ends.private) == pytest.approx(entry["expected"][f"D0_{view}"], abs=2e-6)
    assert ends.least <= ends.private <= ends.silent


@pytest.mark.slow
def test_rate_under_both_conditions_exceeds_the_rate_of_the_paper():
    """Errata S3: .608344 without regard to E; near Gamma(D) half as much again."""
    region, d = Region(i14()), Fraction(I14["D"])
    plain = region.least_rate(d)
    assert float(plain.value) == pytest.approx(0.60834417, abs=1e-6)
    at_gamma = region.least_rate_at_least_leakage(d, slack=Fraction(1, 10**5))
    assert float(at_gamma.value) == pytest.approx(0.92, abs=0.03)
    assert at_gamma.gap <= 1e-6


@pytest.mark.slow
def test_membership_has_a_witness_or_a_proof():
    region, d = Region(i14()), Fraction(I14["D"])
    gamma = region.equivocation(d)[0]
    # Each of R >= .6083 and E <= Gamma can be had alone; the corner of the rectangle cannot (errata S4).
    corner = region.membership(Fraction("0.6084"), d, gamma - Fraction(1, 10**5))
    assert not corner.inside
    assert corner.least_rate > Fraction("0.85")
    inside = region.membership(Fraction("0.97"), d, gamma - Fraction(1, 10**5))
    assert inside.inside
    assert check(inside.witness.dumps()).value <= Fraction("0.97")
    assert exact(inside.witness.proved[0]["leakage_bits"]) <= region.entropy[1] - gamma + Fraction(1, 10**5)
    beyond = region.membership(Fraction(2), d, gamma + Fraction(1, 1000))
    assert not beyond.inside
    assert beyond.least_rate is None
    assert "above the most that can stay unknown" in beyond.reason
    for found in (corner, beyond):
        assert check(found.separation.design.dumps()).bound > 0
    design = region.least_rate(d, gamma - Fraction(1, 100))
    with pytest.raises(SolverFailed, match="border"):
        region.membership((design.value + design.bound) / 2, d, gamma - Fraction(1, 100))
    with pytest.raises(InputError, match="not negative"):
        region.membership(Fraction(-1), d, gamma)
    with pytest.raises(Infeasible, match="to begin with"):
        region.least_rate(d, Fraction(5))


@pytest.mark.long
def test_what_is_separated_lies_on_the_other_side_of_every_channel():
    """The prices of a proof bound R, D and E of any channel; here of 300 drawn at random, and of silence."""
    problem = i14()
    region, d = Region(problem), Fraction(I14["D"])
    cuts = [
        region.membership(Fraction("0.6"), d, Fraction("1.3")).separation,
        region.membership(Fraction(2), d, Fraction("1.35")).separation,
    ]
    assert [cut.rate for cut in cuts] == [1, 0]
    counts = problem.pmf.counts(("R",), ("H",)).astype(float) / problem.pmf.total
    p, draw = counts.sum(axis=1), np.random.default_rng(3)
    for sharp in (0.05, 0.3, 1.0):
        for W in [*draw.dirichlet(np.full(4, sharp), (100, 4)), np.tile([1.0, 0, 0, 0], (4, 1)), np.eye(4)]:
            rate, about = told(p[:, None] * W), told(counts.T @ W)
            point = (rate, float(p @ (1 - np.diag(W))), float(region.entropy[0]) - about)
            for cut in cuts:
                left = sum(
                    float(v) * x for v, x in zip((cut.rate, cut.distortion, -cut.equivocation), point, strict=True)
                )
                assert left >= float(cut.least) - 1e-9


def told(joint):
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float((joint[joint > 0] * np.log2(joint[joint > 0] / product[joint > 0])).sum())


def test_a_distortion_below_the_least_one_is_separated_by_it():
    region = Region(tradeoff(I14["counts_xr_xh_z"], [[1, 2, 2, 2], [2, 1, 2, 2], [2, 2, 1, 2], [2, 2, 2, 1]], 2))
    found = region.membership(Fraction(3), Fraction(1, 2), Fraction(0))
    assert not found.inside
    assert found.separation.least == 1
    assert found.separation.design.unit == "distortion"
    assert "below the least" in found.reason


@pytest.mark.slow
def test_figures_at_one_distortion_agree_with_each_other():
    region, d = Region(i14()), Fraction(I14["D"])
    found = region.figures(d)
    quiet, free, both = found.designs.values()
    assert found.equivocation[0] == region.entropy[0] - quiet.value
    assert free.value < both.bound  # the rate at Gamma(D) is above R(D)
    assert exact(both.proved[0]["leakage_bits"]) <= quiet.value + found.slack
    assert float(both.value) == pytest.approx(0.9281484, abs=1e-6)
    assert float(found.slope) == pytest.approx(0.3600998, abs=1e-6)
    assert found.ends.least == 0 < found.ends.private < found.ends.silent
    bit = binary_tradeoff("1/10", "1/20")
    assert Region(bit).figures(Fraction(0)).slope is None  # infinite there
    assert list(Region(replace(bit, keep=("S",))).figures(d).designs) == ["least_leakage"]  # no rate beside a column


@pytest.mark.long
def test_an_encoder_that_ignores_z_has_the_region_without_z():
    ignoring = replace(i14(), side_information=SideInformation("Z", "uninformed"))
    point = (Fraction(1), Fraction(I14["D"]), Fraction("1.3"))
    assert Region(ignoring).membership(*point) == Region(i14()).membership(*point)


def test_the_slope_is_the_derivative():
    region, d, h = Region(binary_tradeoff("1/10", "3/20")), Fraction(3, 20), Fraction(1, 1000)
    secant = (region.least_leakage(d - h).value - region.least_leakage(d + h).value) / (2 * h)
    assert float(region.slope(d)) == pytest.approx(float(secant), abs=1e-4)


def test_equivocation_and_leakage_add_up_to_the_entropy():
    region = Region(i14())
    low, high = region.equivocation(Fraction(I14["D"]))
    assert float(low) == pytest.approx(1.3912853579971647 - 0.047236607613, abs=1e-9)
    assert high - low <= Fraction(1, 10**9)


@pytest.mark.long
def test_a_curve_of_proved_points_falls_from_everything_to_nothing():
    told = []
    curve = trace(binary_tradeoff("1/10", "3/20"), 11, on_point=lambda k, n: told.append((k, n)))
    assert told[-1] == (11, 11)
    assert [p.distortion for p in curve.points] == [Fraction(k, 20) for k in range(11)]
    for point in curve.points:
        q = Fraction(1, 10) * (1 - point.distortion) + Fraction(9, 10) * point.distortion
        exact = 1 + float(q) * log2(q) + float(1 - q) * log2(1 - q) if 0 < q < 1 else 1.0
        assert float(point.low) - 1e-12 <= exact <= float(point.high) + 1e-12
        assert point.high - point.low <= 1e-6
        if 0 < point.distortion < Fraction(1, 2):
            assert point.slope == pytest.approx(0.8 * log2((1 - q) / q), abs=1e-3)
    assert curve.points[0].slope is None
    assert curve.points[-1].high == 0
    assert curve.chosen.distortion == Fraction(3, 20)
    assert curve.points[3].low <= curve.chosen.high


def test_a_curve_beside_side_information_ends_at_what_is_told_anyway():
    inputs = ORACLE["tradeoff"][0]["inputs"]
    problem = tradeoff(inputs["counts_xr_xh_z"], inputs["distortion"], inputs["D"])
    curve = trace(replace(problem, side_information=SideInformation("Z", "informed")), 5)
    assert curve.ends.private == curve.points[-1].distortion <= curve.ends.silent
    assert float(curve.points[-1].high) == pytest.approx(0.12652180452102613, abs=1e-12)
    assert curve.points[-1].high - curve.points[-1].low <= 1e-12
    assert curve.points[-2].low > curve.points[-1].high + Fraction(1, 10**5)  # D_0 is not beyond the end


@pytest.mark.long
@pytest.mark.parametrize("minimize", ["leakage", "distortion"])
def test_a_curve_beside_a_worst_case_begins_inside_its_least_distortion(minimize):
    """At D_min itself no channel is strictly inside the limits: there the exact repair had no room."""
    problem = tradeoff(ORACLE["tradeoff"][0]["inputs"]["counts_xr_xh_z"], "hamming", "1/4")
    promises = (WorstCaseLeakage("H", "1/50"),)
    if minimize == "distortion":
        measure = Distortion("hamming", ("R",))
        promises = (Leakage("H", "1/200"), *promises)
        problem = replace(problem, limits=(), objective=MinimizeDistortion(measure))
    curve = trace(replace(problem, guarantees=promises), 4)
    assert not curve.ends.exact
    assert curve.ends.least < curve.points[0].distortion < curve.ends.least + Fraction(1, 10**5)
    assert max(p.high - p.low for p in curve.points) <= 1e-6
    assert curve.chosen.proved


def test_a_trade_can_be_turned_round():
    problem = binary_tradeoff("1/10", "3/20")
    turned = Trade.of(problem).at_leakage(Fraction(1, 4))
    assert turned.guarantees == (Leakage("S", "1/4"),)
    assert turned.objective == MinimizeDistortion(Distortion("hamming", ("X",)))
    assert Trade.of(turned).at_distortion(Fraction(3, 20)) == problem


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limits": ()}, "add a \\[\\[limit\\]\\]"),
        ({"objective": MinimizeDistortion(Distortion("hamming", ("X",)))}, "add a \\[\\[guarantee\\]\\]"),
    ],
)
def test_a_trade_needs_two_sides(change, message):
    with pytest.raises(InputError, match=message):
        Trade.of(replace(binary_tradeoff("1/10", "3/20"), **change))
