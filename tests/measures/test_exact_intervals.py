"""Intervals that hold at every number of rows: their coverage counted out exactly, where normal ones fail."""

from itertools import product
from math import comb

import numpy as np
import pytest

from dalenius.errors import InputError, Unsupported
from dalenius.measures import Factor, Seen, estimate_law, estimate_queries
from dalenius.measures.exact_intervals import binomial_limits, exact_intervals

LETTERS = {"X": ("a", "b")}
M = np.array([[0.9, 0.1], [0.1, 0.9]])
N = 12


def binomial(n, p):
    return np.array([comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


def law_of_count(target, truth):
    """The law of the number of rows released as a, exactly."""
    if target == "population":
        return binomial(N, float(truth * M[0, 0] + (1 - truth) * M[1, 0]))
    own = round(truth * N)
    return np.convolve(binomial(own, M[0, 0]), binomial(N - own, M[1, 0]))


def normal(k, target):
    fit = estimate_law([Factor(LETTERS, LETTERS, dense=M)], Seen.of([k, N - k]), target=target)
    half = 1.959964 * np.sqrt(fit.variance[0])
    return fit.estimate[0] - half, fit.estimate[0] + half


@pytest.mark.parametrize("target", ["table", "population"])
def test_exact_intervals_cover_at_least_as_often_as_they_say_and_normal_ones_do_not(target):
    ends = {"exact": [], "normal": [normal(k, target) for k in range(N + 1)]}
    for k in range(N + 1):
        low, high = exact_intervals(M, [k, N - k], [[1, 0]], level=0.95, target=target)
        ends["exact"].append((low[0], high[0]))
    covered = {
        kind: [
            sum(w for w, (low, high) in zip(law_of_count(target, t), found, strict=True) if low <= t <= high)
            for t in np.arange(N + 1) / N
        ]
        for kind, found in ends.items()
    }
    assert min(covered["exact"]) >= 0.95
    assert min(covered["normal"]) < (0.95 if target == "table" else 0.85)


@pytest.mark.parametrize("target", ["table", "population"])
def test_an_estimate_of_few_rows_has_exact_intervals_and_one_of_many_has_not(target):
    factor = Factor(LETTERS, LETTERS, dense=M)
    few, many = (estimate_law([factor], Seen.of(np.array([9, 1]) * n), target=target) for n in (1, 200))
    assert few.exact.all()
    assert not few.narrow.any()
    low, high = exact_intervals(M, [9, 1], np.eye(2), level=0.95, target=target)
    np.testing.assert_allclose(few.low, np.minimum(low, few.estimate))
    np.testing.assert_allclose(few.high, np.maximum(high, few.estimate))
    assert not many.exact.any()
    assert not many.narrow.any()
    asked = estimate_queries([factor], Seen.of([9, 1]), {"a": [1, 0]}, target=target)["a"]
    assert asked["exact"]
    assert (asked["low"], asked["high"]) == pytest.approx((low[0], high[0]))
    beyond = estimate_queries([factor], Seen.of([10, 0]), {"a": [1, 0]}, target=target)["a"]
    assert beyond["exact"]
    assert 1 < beyond["estimate"] <= beyond["high"]
    gone = estimate_law([factor], Seen.of([10, 0]), target=target, method="inverse")
    assert (gone.low <= gone.estimate).all()
    assert (gone.estimate <= gone.high).all()
    assert not estimate_queries([factor], Seen.of([900, 100]), {"a": [1, 0]}, target=target)["a"]["exact"]


def test_records_that_are_told_with_a_small_chance_are_no_ground_for_a_normal_interval():
    """Letters "told" that only delta leads to carry the whole estimate, and are hardly ever seen."""
    delta = 1e-4
    rows = np.hstack([np.full((3, 1), 1 - delta), delta * np.eye(3)])
    factor = Factor({"X": ("a", "b", "c")}, {"Y": ("0", "a", "b", "c")}, dense=rows)
    with pytest.raises(Unsupported, match="no share is determined"):
        estimate_law([factor], Seen.of([10_000, 0, 1, 0]))
    fit = estimate_law([factor], Seen.of([100_000, 0, 30, 0]))
    assert fit.exact.all()
    assert fit.low[1] < 0.99
    assert fit.high[0] > 0.01


def test_what_cannot_be_replaced_is_marked():
    """What weights a population would have had is not bounded by what one row can change."""
    weighted = Seen(np.array([9.0, 1.0]), np.array([9.0, 1.0]), 10)
    fit = estimate_law([Factor(LETTERS, LETTERS, dense=M)], weighted, target="population")
    assert fit.narrow.all()
    assert not fit.exact.any()
    asked = estimate_queries([Factor(LETTERS, LETTERS, dense=M)], weighted, {"a": [1, 0]}, target="population")["a"]
    assert asked["narrow"]


def test_heavy_weights_of_a_sample_have_intervals_that_hold():
    """Of 300 rows with weights of a Pareto law a variance at the estimate held the share of the population in 77 %."""
    rng, factor = np.random.default_rng(8), Factor(LETTERS, LETTERS, dense=M)
    held, plain, rounds = dict.fromkeys(("law", "query"), 0), 0, 200
    for _ in range(rounds):
        own, weights = rng.random(300) < 0.2, rng.pareto(1.2, 300) + 1
        released = (rng.random(300) < np.where(own, M[0, 1], M[1, 1])).astype(int)
        seen = Seen(*(np.bincount(released, weights=weights**power, minlength=2) for power in (1, 2)), 300)
        fit = estimate_law([factor], seen, target="population")
        asked = estimate_queries([factor], seen, {"a": [1, 0]}, target="population")["a"]
        held["law"] += fit.low[0] <= 0.2 <= fit.high[0]
        held["query"] += asked["low"] <= 0.2 <= asked["high"]
        ends = np.where(fit.narrow, [fit.low, fit.high], fit.estimate)
        assert (ends == np.clip(ends, np.minimum(fit.estimate, 0), np.maximum(fit.estimate, 1))).all()
        assert not asked["narrow"] or asked["high"] <= max(asked["estimate"], 1)
        plain += abs(fit.estimate[0] - 0.2) <= 1.96 * fit.variance[0] ** 0.5
    assert min(held.values()) >= 0.93 * rounds
    assert plain < 0.93 * rounds, "the normal interval is the law that fails"


def every_release(weights, truth):
    """What may be released of rows that are a where `truth` says so, with its probability."""
    for released in product((0, 1), repeat=len(weights)):
        chance = np.prod([M[0 if own else 1, y] for own, y in zip(truth, released, strict=True)])
        yield (
            float(chance),
            Seen(*(np.bincount(released, weights=weights**power, minlength=2) for power in (1, 2)), len(weights)),
        )


@pytest.mark.parametrize("truth", [(1, 0, 0, 1, 0, 1, 0, 1), (1,) * 8, (1, 0, 0, 0, 0, 0, 0, 0)])
def test_rows_of_which_a_few_have_all_the_weight_have_intervals_that_hold(truth):
    """Eight rows count here for less than three; a variance from them held the truth in 6 of 10 releases."""
    weights, factor = np.array([40.0, 20, 9, 3, 1, 1, 1, 0]), Factor(LETTERS, LETTERS, dense=M)
    share = float(weights @ np.array(truth) / weights.sum())
    held = {"law": 0.0, "query": 0.0}
    for chance, seen in every_release(weights, truth):
        fit = estimate_law([factor], seen)
        asked = estimate_queries([factor], seen, {"a": [1, 0]})["a"]
        assert fit.exact.all()
        assert asked["exact"]
        assert (fit.low <= fit.estimate).all()
        assert (fit.estimate <= fit.high).all()
        held["law"] += chance * (fit.low[0] <= share <= fit.high[0])
        held["query"] += chance * (asked["low"] <= share <= asked["high"])
    assert min(held.values()) >= 0.95


def test_more_cells_than_a_program_is_solved_for_have_intervals_that_hold():
    """Three rows in four of 300 values: most are released a handful of times."""
    many, rows = 300, 1200
    names = {"X": tuple(map(str, range(many)))}
    matrix = 0.6 * np.eye(many) + 0.4 / many
    truth = np.bincount(np.arange(rows) // 4 % 100, minlength=many)
    rng, held = np.random.default_rng(3), np.zeros(many)
    for _ in range(20):
        seen = sum(rng.multinomial(n, matrix[x]) for x, n in enumerate(truth) if n)
        fit = estimate_law([Factor(names, names, dense=matrix)], Seen.of(seen))
        assert fit.exact.all()
        assert not fit.narrow.any()
        held += (fit.low <= truth / rows) & (truth / rows <= fit.high)
    assert held.mean() >= 0.99 * 20


def test_a_column_that_is_kept_is_known_for_the_table_and_counted_for_the_population():
    same = Factor(LETTERS, LETTERS, dense=np.eye(2))
    assert not estimate_law([same], Seen.of([9, 1]), target="table").exact.any()
    assert estimate_law([same], Seen.of([9, 1]), target="population").exact.all()


def test_limits_of_binomial_shares():
    low, high = binomial_limits([0, 1, 10], 10, 0.05)
    assert low.tolist() == pytest.approx([0, 0.002528579, 0.691502892])
    assert high.tolist() == pytest.approx([0.308497108, 0.445016117, 1])
    wider = binomial_limits([0, 1, 10], 10, 0.05, slack=1)
    assert all(wider[0] <= low)
    assert all(wider[1] >= high)


def test_counts_that_no_law_explains():
    rows = np.array([[0.5, 0.5], [0.4, 0.6]])
    low, high = exact_intervals(rows, [75, 25], [[1, 0]], level=0.95, target="population")  # odd, but possible
    assert low[0] >= 0
    assert high[0] == 1
    with pytest.raises(InputError, match="the card is of another table"):
        exact_intervals(rows, [10_000, 0], [[1, 0]], level=0.95, target="population")


def test_all_intervals_hold_at_once():
    """So that the intervals of two shares that sum to one are mirror images."""
    for (a, b), target in product([(3, 4), (0, 9)], ["table", "population"]):
        low, high = exact_intervals(M, [a, b], np.eye(2), level=0.9, target=target)
        np.testing.assert_allclose(low[0], 1 - high[1], atol=1e-8)
