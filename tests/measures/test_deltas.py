"""delta(epsilon) of queries: each kind of noise against a sum or an integral of its own."""

import itertools
from fractions import Fraction
from math import exp, pi, sqrt

import numpy as np
import pytest

from dalenius.core.query import Interval, Query
from dalenius.core.query_noise import channel_of_query
from dalenius.measures.deltas import EPSILONS, query_deltas
from dalenius.measures.lattice import delta_at
from dalenius.measures.limited import query_limited
from dalenius.measures.query import query_capacity, query_independent
from dalenius.measures.real_noise import ManyRecords, RealNoise
from tests.effort import effort

F = Fraction
BITS = ("0", "1")


@pytest.mark.parametrize("noise", ["geometric", "randomised-response", "exponential"])
def test_finite_noise_is_that_of_the_channel(noise):
    query = Query(3, (BITS,) * 3, "count", noise, F(1, 3))
    channel = channel_of_query(query)
    for epsilon, delta in query_deltas(query).items():
        assert delta == pytest.approx(delta_at(channel, float(epsilon)), abs=1e-9)


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_real_noise_is_its_integral(noise):
    query = Query(4, (("0", "1", "3"),) * 4, "sum", noise, F(4))
    t = np.linspace(-120, 120, 480_001)

    def density(x):
        return np.exp(-(x**2) / 8) / sqrt(8 * pi) if noise == "gaussian" else np.exp(-np.abs(x) / 4) / 8

    for epsilon, delta in query_deltas(query).items():
        true = float(np.maximum(density(t) - exp(epsilon) * density(t - 3), 0).sum() * (t[1] - t[0]))
        assert true - 1e-6 <= delta <= true + 1e-4


def test_means_histograms_intervals_and_tables():
    mean = Query(10, Interval(F(0), F(10)), "mean", "gaussian", F(1))
    count = Query(10, (BITS,) * 10, "count", "gaussian", F(1))
    assert query_deltas(mean) == query_deltas(count)
    cells = Query(5, (BITS,) * 5, "histogram", "gaussian", F(2))
    assert query_deltas(cells)[F(1)] == pytest.approx(query_deltas(count)[F(1)], rel=1e-6)
    listed = Query(2, (BITS, BITS), "table", "gaussian", F(1), table=((F(0),), (F(1),), (F(1),), (F(2),)))
    assert query_deltas(listed)[F(1)] == pytest.approx(query_deltas(count)[F(1)], rel=1e-6)
    spread = Query(5, (BITS,) * 5, "histogram", "laplace", F(2))
    assert 0 < query_deltas(spread)[F(1, 2)] <= 1
    still = Query(3, (("1",),) * 3, "count", "geometric", F(1, 2))
    assert set(query_deltas(still).values()) == {0.0}
    assert list(query_deltas(still)) == list(EPSILONS)


@pytest.mark.long
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("kind", ["count", "sum", "mean"][: effort(1, 3)])
def test_many_records_are_measured_as_few_of_them_are(noise, kind):
    query = Query(40, (BITS,) * 40, kind, noise, F(300) if kind != "mean" else F(1, 5))
    by_ends, by_values = ManyRecords(query), RealNoise(query)
    for ours, theirs in (
        (by_ends.individual(1, 1e-9), by_values.individual(1, 1e-9)),
        (by_ends.individual(2, 1e-9), by_values.individual(1, 1e-9)),
    ):
        assert ours.high >= theirs.low - 1e-9
    one = by_ends.individual(1, 1e-9)
    assert one.low == pytest.approx(by_values.individual(1, 1e-9).low, abs=1e-9)
    assert by_ends.independent(1e-9)[1] == pytest.approx(by_values.independent(1e-9)[1], abs=1e-6)
    assert by_ends.level(True) == pytest.approx(by_values.level(True)) if noise == "laplace" else True
    assert by_ends.capacity(1e-9)[1] >= by_values.capacity(1e-9)[0] - 1e-9


@pytest.mark.long
def test_adversaries_who_lack_bits_learn_less_and_never_more():
    query = Query(200, (BITS,) * 200, "count", "gaussian", F(2500))
    anybody = query_capacity(query).high
    found = [query_limited(query, b)[1] for b in (0.0, 100.0, 180.0, 195.0, 200.0)]
    assert found[0] == anybody
    assert all(a >= b for a, b in itertools.pairwise(found))
    # The uniform prior is the only one that lacks all 200 bits: a bound of what it tells about all of them together.
    uniform = np.log2(1 + 50 / 2500) / 2
    assert uniform * 0.99 <= found[-1] <= uniform * 1.05
    assert query_independent(query)[1] < found[-1]


@pytest.mark.slow
def test_the_bound_by_multiplicities_is_that_of_all_outcomes():
    from dalenius.measures.capacity import distinct_rows
    from dalenius.solvers.adversary import convex_bound
    from dalenius.solvers.divergence import Laws

    query = Query(7, (BITS,) * 7, "count", "geometric", F(4, 5))
    laws, which = distinct_rows(channel_of_query(query))
    every = convex_bound(Laws(laws.rows[which]), 6.0 * np.log(2)) / np.log(2)
    assert query_limited(query, 6.0)[1] == pytest.approx(every, rel=1e-3)
