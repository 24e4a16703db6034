"""The realised distortion: inside its band under the right law, outside under a wrong one, whatever the measure."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Distortion, MinimizeLeakage, Pmf, Problem, Resample, SideInformation
from dalenius.core.numbers import exact
from dalenius.evidence import examine
from dalenius.evidence.realised import compared, realised
from dalenius.mechanisms import solve
from dalenius.report.words import seen
from dalenius.testing import tradeoff

COUNTS = [[[3], [5]], [[2], [2]], [[4], [1]], [[1], [7]]]
WHAT = "the realised distortion is as expected"


def drawn(law, inputs, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(len(law[x]), p=law[x]) for x in inputs])


@pytest.mark.long
@pytest.mark.parametrize(("kind", "most"), [("hamming", "1/8"), ("absolute", "1/8"), ("squared", "1/8")])
def test_the_right_law_is_in_its_band_and_one_that_keeps_more_is_not(kind, most):
    design = solve(tradeoff(COUNTS, kind, most))
    law = np.array([[float(v) for v in row] for row in design.channel.rows])
    inputs = np.repeat(np.arange(4), [1600, 800, 1000, 1600])
    (measure,) = compared(design)
    right = realised(design, measure, inputs, drawn(law, inputs, 1), 1e-6)
    assert right.expected == pytest.approx(float(exact(design.realised[0]["expected"])))  # the design's distribution
    assert right.low < right.seen < right.high
    often = 0.7 * law + 0.3 * np.eye(4)  # more records keep their letter
    wrong = realised(design, measure, inputs, drawn(often, inputs, 1), 1e-6)
    assert wrong.p_value < 1e-6
    assert not right.low < wrong.seen < right.high


@pytest.mark.long
def test_the_audit_tells_it_and_counts_it_among_the_tests():
    design = solve(tradeoff(COUNTS, "hamming", "1/4"))
    law = np.array([[float(v) for v in row] for row in design.channel.rows])
    inputs = np.repeat(np.arange(4), [1600, 800, 1000, 1600])
    audit = examine(design, inputs, drawn(law, inputs, 2))
    assert [f.contradicts for f in audit.findings if f.what == WHAT] == [False]
    assert sum(f.threshold for f in audit.findings) == pytest.approx(1e-6)
    assert any("The share of changed entries of R is" in line for line in seen(audit))
    untouched = examine(design, inputs, inputs)
    assert [f.contradicts for f in untouched.findings if f.what == WHAT] == [True]


def test_many_letters_need_no_table_of_distortions():
    m = 1100
    joint = Pmf.from_counts({"X": tuple(map(str, range(m)))}, np.arange(m)[:, None], [1 + k % 7 for k in range(m)])
    limit = Distortion("hamming", ("X",), Fraction(1, 5))
    design = solve(Problem(("X",), MinimizeLeakage(("X",)), release=("X",), limits=(limit,), joint=joint))
    assert isinstance(design.channel, Resample)
    (measure,) = compared(design)
    inputs = np.repeat(np.arange(m), joint.weights)
    letters = np.where(np.arange(len(inputs)) % 5 == 0, (inputs + 1) % m, inputs)
    found = realised(design, measure, inputs, letters, 1e-6)
    assert found.expected == pytest.approx(0.2, abs=1e-12)
    assert found.low < found.seen < found.high
    assert realised(design, measure, inputs, inputs, 1e-6).p_value < 1e-6


def test_what_a_record_and_its_letter_do_not_decide_is_left_out():
    counts = [[[3, 1], [2, 9]], [[7, 2], [2, 6]]]
    side = replace(tradeoff(counts, "hamming", "1/5"), side_information=SideInformation("Z", "statistically-informed"))
    assert compared(solve(side)) == []
