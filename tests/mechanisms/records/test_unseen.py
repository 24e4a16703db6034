"""Always an answer: a leakage about a secret that is not observed, where no matrix can be written out."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from dalenius.core import Distortion, Leakage, MinimizeDistortion, Pmf, Problem
from dalenius.kernel import check
from dalenius.mechanisms.records.design import certified, design
from dalenius.mechanisms.records.kept_law import PreservingCurve, unseen
from dalenius.mechanisms.records.takes import by_records
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.crowds import figures
from dalenius.solvers.flows.keeping import thinned

MOST = Fraction(1, 20)


def asked(rows, letters=4, **more):
    """Five columns, of which two tell something about a secret that the mechanism does not see."""
    rng = np.random.default_rng(7)
    codes = rng.integers(0, letters, (rows, 5))
    secret = (rng.random(rows) < 0.15 + 0.7 * (codes[:, 0] + codes[:, 1] > letters)).astype(int)
    names = [f"C{j}" for j in range(5)]
    variables = {**{name: tuple(map(str, range(letters))) for name in names}, "S": ("no", "yes")}
    return Problem(
        observe=tuple(names),
        release=tuple(names),
        objective=MinimizeDistortion(Distortion.sum_of([Distortion("hamming", (name,)) for name in names])),
        guarantees=(Leakage(("S",), MOST),),
        joint=Pmf.from_counts(variables, np.column_stack([codes, secret]), [1] * rows),
        **more,
    )


def test_a_wide_release_that_does_not_see_the_secret_goes_by_records():
    assert by_records(asked(600, 6))
    assert not by_records(asked(600))  # a matrix is near enough
    assert by_records(replace(asked(600), preserve_marginals=True))


def test_a_release_that_does_not_see_the_secret_is_proved_with_an_interval_around_the_optimum():
    wide = Wide.of(asked(100, form="records"))
    best = design(wide.problem)
    found = certified(wide, unseen(wide, MOST, 4.0))
    assert Fraction(found.proved[0]["leakage_bits"]) <= MOST
    assert found.bound <= best.value
    assert best.bound <= found.value <= 2 * best.value
    assert found.bound > 0
    assert check(found.text).bound >= found.bound


def test_small_shares_are_left_out_before_the_proof_and_the_margins_stay():
    wide = Wide.of(asked(200, preserve_marginals=True))
    curve = PreservingCurve(wide)
    curve._add(4.0, 0.0)
    flow = curve.points[0].flow
    thin = thinned(curve.crowd, flow, 1e-4)
    assert len(thin.atom) < len(flow.atom) / 2
    arrived = np.bincount(thin.point, thin.share * curve.crowd.mass[thin.atom], len(curve.crowd.points))
    assert np.abs(arrived - curve.crowd.at_points).sum() < 1e-3
    assert figures(curve.crowd, thin)[0] <= figures(curve.crowd, flow)[0] * 1.001
