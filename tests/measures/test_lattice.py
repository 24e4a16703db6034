"""Which metric implies which: every implication on random channels, every refusal of one by its counterexample."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dalenius.core import Channel, Pmf
from dalenius.measures.lattice import (
    IMPLICATIONS,
    METRICS,
    NON_IMPLICATIONS,
    Context,
    delta_at,
    implied,
    levels,
)

SHAPES = [{"A": 2}, {"A": 4}, {"A": 2, "B": 2}]


def drawn(rng: np.random.Generator, turn: int) -> tuple[Pmf, Channel, Context]:
    sizes = SHAPES[turn % 3]
    letters = {n: tuple(map(str, range(k))) for n, k in sizes.items()}
    count = int(np.prod(list(sizes.values())))
    weights = rng.integers(1, 10 ** int(rng.integers(1, 4)), count).tolist()
    prior = Pmf.from_counts(letters, np.indices(list(sizes.values())).reshape(len(sizes), -1).T, weights)
    m = int(rng.integers(2, 4))
    alpha = float(rng.choice([0.5, 1, 5, 50]))
    rows = []
    for _ in range(count):
        w = (rng.dirichlet(np.full(m, alpha)) * 10**6).astype(int) + 1
        rows.append(tuple(Fraction(int(v), int(w.sum())) for v in w))
    p = np.array(weights) / sum(weights)
    return (
        prior,
        Channel(letters, {"Y": tuple(map(str, range(m)))}, tuple(rows)),
        Context(len(sizes), float(-(p * np.log(p)).sum())),
    )


def violations(turns: int, seed: int) -> list[str]:
    rng, found = np.random.default_rng(seed), []
    for turn in range(turns):
        prior, channel, context = drawn(rng, turn)
        here = levels(prior, channel)
        for step in IMPLICATIONS:
            known, reached = here[step.premise], here[step.conclusion]
            assert known is not None
            assert reached is not None
            if reached > step.level(known, context) + 1e-8:
                found.append(f"{step.premise} {known} -> {step.conclusion} {reached}")
    return found


@pytest.mark.long
def test_no_random_channel_violates_an_implication() -> None:
    assert violations(100, 7) == []


@pytest.mark.slow
def test_no_channel_of_thousands_violates_an_implication() -> None:
    assert violations(4000, 8) == []


@pytest.mark.parametrize("case", NON_IMPLICATIONS, ids=lambda c: f"{c.premise}-{c.conclusion}")
def test_each_counterexample_is_one(case) -> None:
    here = levels(*case.example())
    known, reached = here[case.premise], here[case.conclusion]
    assert known is not None
    assert reached is None or reached > known * 1.01 + 1e-6


def test_no_pair_stands_in_both_tables_at_the_same_level() -> None:
    for case in NON_IMPLICATIONS:
        for step in IMPLICATIONS:
            if (step.premise, step.conclusion) == (case.premise, case.conclusion):
                assert step.level(0.1, Context(3, 2.0)) > 0.1


def test_item_3_of_proposition_4_is_false_with_the_figures_of_the_errata() -> None:
    case = next(c for c in NON_IMPLICATIONS if c.conclusion == "worst_entropy" and c.premise == "information")
    here = levels(*case.example())
    assert here["information"] == pytest.approx(0.1053605156578264)
    assert here["strong_dp"] == pytest.approx(0.20067069546215124)
    assert here["worst_entropy"] == pytest.approx(0.120137621496059)
    assert here["leakage"] == pytest.approx(0.0050083668463568095)
    assert here["worst_divergence"] <= here["information"]


def test_implied_takes_the_best_way_and_says_it() -> None:
    found = implied("strong_dp", 0.5, Context(3, 2.0))
    assert set(found) == set(METRICS) - {"strong_dp"}
    level, way = found["leakage"]
    assert level == pytest.approx(0.0312, abs=1e-3)  # through the capacity, epsilon^2 / 8, not through the odds
    assert all(a.conclusion == b.premise for a, b in pairwise(way))
    assert set(implied("leakage", 0.5, Context(3, 2.0))) == set()
    assert "strong_dp" not in implied("information", 0.5, Context(3, 2.0, full=False))


@pytest.mark.long
def test_delta_falls_with_epsilon_and_is_nil_at_the_level() -> None:
    rng = np.random.default_rng(1)
    for turn in range(20):
        prior, channel, _ = drawn(rng, turn)
        level = levels(prior, channel)["dp"]
        assert level is not None
        deltas = [delta_at(channel, e) for e in (0.0, 0.1, 0.5, 1.0, level)]
        assert all(a >= b for a, b in pairwise(deltas[:4]))
        assert deltas[-1] <= 1e-12
