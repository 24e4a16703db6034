"""The error bound of divergences in doubles, against whole numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core.arithmetic import BITS, log2, times_log2
from dalenius.errors import InputError
from dalenius.solvers.divergence import UNIT, Laws

LN2 = Fraction(math.log(2))  # off by 2^-54 of itself, far below what is tested


def exact_divergence(row, q):
    """D(row || q) in nats between rationals, to 2^-140."""
    ends = [times_log2(p, p / t) for p, t in zip(row, q, strict=True) if p]
    return Fraction(sum(low for low, _ in ends), 1 << BITS) * LN2


def random_rows(rng, m, k, *, zeros=0.2, spread=1.0):
    """Rational rows with wild sizes of entries, and the doubles nearest to them."""
    counts = np.maximum(1, (10 ** rng.uniform(0, spread * 12, (m, k))).astype(object).astype(np.int64))
    counts = np.where(rng.random((m, k)) < zeros, 0, counts)
    counts[:, 0] = np.maximum(counts[:, 0], 1)
    rows = [[Fraction(int(c), int(sum(map(int, line)))) for c in line] for line in counts]
    return rows, np.array([[float(v) for v in row] for row in rows])


@pytest.mark.parametrize("seed", range(8))
def test_the_ends_hold_the_exact_values(seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(2, 6)), int(rng.integers(2, 40))
    exact, rows = random_rows(rng, m, k)
    laws = Laws(rows)
    w = rng.dirichlet(np.ones(m))
    q = w @ rows
    high = laws.radius(q)
    centre = [Fraction(float(v)) for v in np.clip(q, 1e-290, 1.0)]
    truth = max(exact_divergence(row, [v / sum(centre) for v in centre]) for row in exact)
    assert truth <= high <= float(truth) + 1e-12
    weights = [Fraction(float(v)) for v in w]
    mix = [sum(a * row[y] for a, row in zip(weights, exact, strict=True)) / sum(weights) for y in range(k)]
    truth = sum(a * exact_divergence(r, mix) for a, r in zip(weights, exact, strict=True)) / sum(weights)
    assert float(truth) - 1e-12 <= laws.information(w) <= truth


@pytest.mark.parametrize("seed", range(4))
def test_each_divergence_is_within_its_slack(seed):
    rng = np.random.default_rng(100 + seed)
    exact, rows = random_rows(rng, 30, 12)
    laws, q = Laws(rows), rng.dirichlet(np.ones(12))
    d = laws.divergence(q)
    slack = laws.slack(d, laws.h)
    centre = [Fraction(float(v)) for v in q]
    for x, row in enumerate(exact):
        assert abs(Fraction(float(d[x])) - exact_divergence(row, centre)) <= Fraction(float(slack[x]))
    assert slack.max() < 1e-13


def test_the_slack_is_not_idle():
    """Doubles do miss the exact value, by no less than a thousandth of what the analysis allows."""
    rng = np.random.default_rng(5)
    exact, rows = random_rows(rng, 40, 30)
    laws, q = Laws(rows), rng.dirichlet(np.ones(30))
    d = laws.divergence(q)
    centre = [Fraction(float(v)) for v in q]
    missed = [abs(float(Fraction(float(v)) - exact_divergence(row, centre))) for v, row in zip(d, exact, strict=True)]
    assert max(np.array(missed) / laws.slack(d, laws.h)) > 1e-3


def test_the_logarithm_of_numpy_is_within_four_units_in_the_last_place():
    rng = np.random.default_rng(1)
    for x in np.concatenate(
        [10 ** rng.uniform(-290, 0, 400), rng.uniform(0.5, 1, 300), 1 - 10 ** rng.uniform(-15, -1, 99)]
    ):
        truth = Fraction(log2(Fraction(float(x)))[0], 1 << BITS) * LN2
        assert abs(Fraction(float(np.log(x))) - truth) <= 8 * Fraction(UNIT) * abs(truth)


def test_normalised_rows_stand_for_exact_quotients():
    rng = np.random.default_rng(2)
    raw = rng.random((4, 7))
    laws = Laws.normalised(raw)
    for row, given in zip(laws.rows, raw, strict=True):
        total = sum(Fraction(float(v)) for v in given)
        for stored, v in zip(row, given, strict=True):
            truth = Fraction(float(v)) / total
            assert abs(Fraction(float(stored)) - truth) <= Fraction(laws.relative) * truth


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.5, -0.5]], "not negative"),
        ([[float("nan"), 1.0]], "finite"),
        ([], "matrix"),
        ([[1.0, 2.0**-1010]], "below 2\\^-1000"),
    ],
)
def test_bad_rows_are_refused(rows, message):
    with pytest.raises(InputError, match=message):
        Laws(np.array(rows))
