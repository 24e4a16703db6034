"""Bounds for the population: coverage, tightness, and what may not be split."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Channel, Pmf
from dalenius.errors import InputError
from dalenius.measures.finite_sample import intervals, population_leakage

BETA = 0.05
LETTERS = {"S": ("0", "1", "2"), "X": ("0", "1", "2", "3", "4")}


def example() -> tuple[np.ndarray, Channel, float]:
    """Three secrets, five inputs, randomised response with 0.35 noise: 0.107917 nats in the population."""
    law = np.random.default_rng(11).dirichlet(np.ones(15)).reshape(3, 5)
    keep, other = Fraction(65, 100), Fraction(35, 400)
    rows = tuple(tuple(keep if y == x else other for y in range(5)) for x in range(5))
    joint = law @ np.array(rows, dtype=float)
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return law, Channel({"X": LETTERS["X"]}, {"Y": LETTERS["X"]}, rows), float((joint * np.log2(joint / product)).sum())


def drawn(law: np.ndarray, n: int, rng: np.random.Generator) -> Pmf:
    return Pmf.from_counts(LETTERS, np.indices(law.shape).reshape(2, -1).T, rng.multinomial(n, law.ravel()).tolist())


def covered(n: int, tables: int, *, split: bool) -> tuple[float, float]:
    """The share of tables whose bound holds, and the mean bound over the truth."""
    law, channel, truth = example()
    rng = np.random.default_rng(n)
    found = [
        population_leakage(drawn(law, n, rng), n, channel, ["S"], beta=BETA, designed_elsewhere=True, split=split).bits
        for _ in range(tables)
    ]
    return float(np.mean([b >= truth for b in found])), float(np.mean(found)) / truth


def test_the_worked_example_is_the_one_of_the_notes() -> None:
    assert example()[2] * np.log(2) == pytest.approx(0.107917, abs=1e-6)


@pytest.mark.parametrize("split", [False, True])
def test_the_bound_holds_and_is_within_a_quarter_at_ten_thousand_rows(split: bool) -> None:
    share, ratio = covered(10**4, 40, split=split)
    assert share >= 1 - BETA
    assert ratio <= 1.25


@pytest.mark.slow
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("n", [10**3, 10**4])
def test_coverage_in_a_thousand_tables(n: int, split: bool) -> None:
    assert covered(n, 1000, split=split)[0] >= 1 - BETA


def test_the_plain_estimate_does_not_cover() -> None:
    """The paired test: without the allowance the truth is missed about every second time."""
    law, channel, truth = example()
    rng, missed = np.random.default_rng(5), 0
    w = np.array(channel.rows, dtype=float)
    for _ in range(200):
        joint = rng.multinomial(1000, law.ravel()).reshape(3, 5) / 1000 @ w
        product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        missed += float((joint * np.log2(joint / product)).sum()) < truth
    assert missed > 40


def test_intervals_hold_together() -> None:
    rng, p = np.random.default_rng(3), np.array([0.5, 0.3, 0.15, 0.04, 0.01])
    inside = 0
    for _ in range(400):
        low, high = intervals(rng.multinomial(50, p), 50, 0.2)
        inside += bool(((low <= p) & (p <= high)).all())
    assert inside >= 0.8 * 400
    low, high = intervals(np.array([0, 50]), 50, 0.2)
    assert (low[0], high[1]) == (0, 1)
    assert high[0] == pytest.approx(1 - 0.05 ** (1 / 50), abs=1e-8)


def test_a_secret_that_is_observed_and_a_column_that_is_kept_are_counted() -> None:
    law, channel, _ = example()
    joint = drawn(law, 20_000, np.random.default_rng(1))
    alone = population_leakage(joint, 20_000, channel, ["S"])
    kept = population_leakage(joint, 20_000, channel, ["S"], kept=["X"])
    own = population_leakage(joint, 20_000, channel, ["X"])
    assert alone.bits < kept.bits
    assert alone.bits < own.bits <= np.log2(5)


def test_an_independent_design_leaks_little_in_the_population_and_less_with_more_rows() -> None:
    xor = tuple((Fraction(int(a == b)), Fraction(int(a != b))) for a in range(2) for b in range(2))
    channel = Channel({"A": ("0", "1"), "B": ("0", "1")}, {"Y": ("0", "1")}, xor)
    bounds = []
    for n in (400, 40_000):
        joint = Pmf.from_counts(
            {"A": ("0", "1"), "B": ("0", "1")}, np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [n // 4] * 4
        )
        bounds.append(population_leakage(joint, n, channel, ["A"]).bits)
    assert 0 < bounds[1] < bounds[0] / 20
    assert bounds[1] < 0.002


def test_refusals() -> None:
    law, channel, _ = example()
    joint = drawn(law, 1000, np.random.default_rng(1))
    with pytest.raises(InputError, match="does not depend on them"):
        population_leakage(joint, 1000, channel, ["S"], split=True)
    with pytest.raises(InputError, match="not counted from 1,001 rows"):
        population_leakage(joint, 1001, channel, ["S"])
    with pytest.raises(InputError, match="strictly between"):
        population_leakage(joint, 1000, channel, ["S"], beta=0)
