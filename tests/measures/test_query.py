"""Queries under noise: against the dense channel, closed forms of the paper, and the errata that have numbers."""

import json
from fractions import Fraction
from itertools import product
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core.query import Interval, Query
from dalenius.core.query_noise import channel_of_query, exponential_law, kernel_of, permuted
from dalenius.errors import DaleniusError, InputError, Unsupported
from dalenius.measures import (
    capacity,
    dp_epsilon,
    independent_capacity,
    individual_capacity,
    information_of_dp,
    strong_dp_epsilon,
)
from dalenius.measures.individual import Individual, ordered
from dalenius.measures.noise import (
    entropy_of,
    exponential_rate,
    gaussian_variance,
    noisy_mean_tail,
    response_bits,
    response_probability,
    symmetric_bits,
    uniform_mixture,
)
from dalenius.measures.query import learned, measures_of_query, query_capacity, query_independent
from dalenius.mechanisms.queries.calibration import calibrate
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import Laws
from dalenius.solvers.smith import interval_capacity
from tests.effort import effort

ORACLE = json.loads((Path(__file__).parents[1] / "oracle/001_queries.json").read_text())["cases"]
F = Fraction
BITS, TRITS = ("0", "1"), ("0", "1", "2")


def cases(kind):
    return [pytest.param(c, id=c["name"]) for c in ORACLE if c["kind"] == kind]


def bits_of(case):
    value = Fraction(case["inputs"]["eps"])
    return value if case["inputs"]["unit"] == "bits" else value / Fraction(log(2))


FINITE = [
    Query(3, (BITS,) * 3, "count", "geometric", F(1, 2)),
    Query(2, (TRITS,) * 2, "sum", "geometric", F(2, 5)),
    Query(3, (("-1", "1/2"),) * 3, "mean", "exponential", F(3, 4)),
    Query(2, (TRITS,) * 2, "histogram", "geometric", F(1, 3)),
    Query(3, (TRITS,) * 3, "parity", "randomised-response", F(1, 5)),
    Query(2, (TRITS, BITS), "table", "exponential", F(1), table=tuple((F(v),) for v in (0, 3, 1, 1, 7, 0))),
    Query(2, (TRITS, BITS), "table", "randomised-response", F(1, 10), table=tuple("abcabc")),
]


@pytest.mark.long
@pytest.mark.parametrize("query", FINITE, ids=lambda q: f"{q.kind}-{q.noise}")
def test_classes_of_values_agree_with_the_channel_written_out(query):
    channel, seen = channel_of_query(query), measures_of_query(query)
    for k, found in seen.groups.items():
        dense = individual_capacity(channel, group=k)
        assert found.low <= dense.high + 1e-12
        assert dense.low <= found.high + 1e-12
        assert found.high - found.low < 1e-8
    for ours, theirs in ((seen.independent, independent_capacity(channel)), (seen.capacity, _whole(channel))):
        assert ours == pytest.approx(theirs, abs=1e-8)
    assert seen.dp_epsilon == pytest.approx(dp_epsilon(channel), abs=1e-12)
    assert seen.strong_dp_epsilon == pytest.approx(strong_dp_epsilon(channel), abs=1e-12)


def _whole(channel):
    found = capacity(channel)
    return found.low, found.high


@pytest.mark.parametrize("case", cases("C1_enumerate"))
def test_the_example_of_section_3_1(case):
    same = tuple("1" if a == b else "0" for a in TRITS for b in BITS)
    query = Query(2, (TRITS, BITS), "table", "randomised-response", F(case["inputs"]["p"]), table=same)
    found = query_capacity(query)
    assert found.low - 1e-12 <= float(case["expected"]["C1_bits"]) <= found.high + 1e-12
    low, high = response_bits(F(case["inputs"]["p"]))
    assert float(low) == pytest.approx(found.low, abs=1e-11)  # every record reaches (54), E4
    assert float(high) == pytest.approx(found.high, abs=1e-11)


@pytest.mark.parametrize("case", [c for c in cases("rr_calibration") if c.values[0]["inputs"]["eps"] != "1"])
def test_p_star_of_equation_57(case):
    met, unmet = response_probability(bits_of(case))
    assert float(met) == pytest.approx(float(case["expected"]["p_star"]), abs=1e-13)
    assert response_bits(met)[1] <= bits_of(case) < response_bits(unmet)[0]


@pytest.mark.parametrize("case", cases("exponential_entropy"))
def test_entropy_of_equation_82(case):
    low, _ = entropy_of(exponential_law(case["inputs"]["k"], F(case["inputs"]["lam"])))
    assert float(low) * log(2) == pytest.approx(float(case["expected"]["H_nats"]), abs=1e-13)


@pytest.mark.long
@pytest.mark.parametrize(
    "case", [c for c in cases("exponential_calibration") if c.values[0]["expected"]["lam_max"] != "inf"][::3]
)
def test_largest_rate_of_equation_83(case):
    met, _ = exponential_rate(case["inputs"]["k"], bits_of(case), digits=13)
    assert float(met) == pytest.approx(float(case["expected"]["lam_max"]), abs=1e-12)


@pytest.mark.parametrize("case", cases("exponential_true_C1"))
def test_exponential_noise_on_a_sum_of_bits(case):
    k, rate, want = case["inputs"]["k"], F(case["inputs"]["lam"]), case["expected"]
    query = Query(k - 1, (BITS,) * (k - 1), "count", "exponential", rate)
    assert query_capacity(query).low * log(2) == pytest.approx(float(want["C1_sum_of_bits_nats"]), abs=1e-10)
    itself = Query(1, (tuple(map(str, range(k))),), "sum", "exponential", rate)  # n = 1 and f = x reach (84)
    assert query_capacity(itself).low * log(2) == pytest.approx(float(want["cap_all_columns_nats"]), abs=1e-10)


def test_definition_13_is_not_needed_for_equality_65():  # E5
    kernel = kernel_of(Query(2, (TRITS,) * 2, "sum", "exponential", F(1)))
    assert permuted(kernel.rows)
    assert uniform_mixture(kernel.rows) is not None
    apart = [(F(1, 2), F(1, 4), F(1, 4), F(0)), (F(1, 4), F(1, 2), F(0), F(1, 4))]
    assert uniform_mixture(apart) is None
    with pytest.raises(InputError, match="different orders"):
        symmetric_bits([[F(1, 2), F(1, 2)], [F(1, 3), F(2, 3)]])


def test_ties_are_broken_by_the_value_alone():  # E6: equal f gives equal rows; breaking ties by x leaks 0.0371 nats
    weights = np.exp(-np.arange(3.0))
    law = weights / weights.sum()
    middle = np.array([[law[1], law[0], law[2]], [law[2], law[0], law[1]]])
    assert smallest_ball(Laws.normalised(middle)).low == pytest.approx(0.0371395314, abs=1e-10)
    channel = channel_of_query(Query(2, (BITS,) * 2, "count", "exponential", F(1)))
    assert channel.rows[1] == channel.rows[2]


@pytest.mark.parametrize("letters", [BITS, TRITS, ("-3", "0", "7"), ("1/2", "3/4"), ("5",), ("0", "1", "1000000000")])
@pytest.mark.parametrize("kind", ["count", "sum", "mean", "parity", "histogram"])
@pytest.mark.parametrize("records", [1, 2, 5])
def test_the_values_of_f_are_those_of_all_outcomes(letters, kind, records):
    if kind == "parity" and "1/2" in letters:
        letters = ("2", "4")
    query = Query(records, (letters,) * records, kind, "randomised-response", F(1, 4))
    every = [query.value(outcome) for outcome in product(letters, repeat=records)]
    assert query.values == tuple(sorted(set(every)))
    place = {v: k for k, v in enumerate(query.values)}
    reached = {tuple(place[query.value((a, *rest))] for a in letters) for rest in product(letters, repeat=records - 1)}
    assert set(query.reaches(1)[0].lines) == reached


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "letters", "records"),
    [("count", BITS, 1_200_000), ("sum", ("0", "1", "10"), 500_000), ("histogram", TRITS, 10_000)],
)
def test_too_many_values_are_refused_at_once_or_measured_by_their_ends(kind, letters, records):
    if kind == "histogram":  # noise of another kind would not help
        for noise in ("gaussian", "geometric"):
            with pytest.raises(Unsupported, match="takes more than"):
                Query(records, (letters,) * records, kind, noise, F(1, 2))
        return
    assert query_capacity(Query(records, (letters,) * records, kind, "gaussian", F(1))).low > 0.999
    with pytest.raises(Unsupported, match="too large a kernel; take gaussian or laplace"):
        Query(records, (letters,) * records, kind, "geometric", F(1, 2))


def test_a_histogram_of_too_many_cells_is_refused_before_anything_is_made():
    # A list as long as the cells for each of them would be 10^10 numbers, and the ways to share out have 10^5 digits.
    cells = tuple(map(str, range(10**5)))
    with pytest.raises(Unsupported, match="takes more than 20 values"):
        Query(10**6, (cells,) * 10**6, "histogram", "geometric", F(1, 2))


def test_an_adversary_can_be_followed_to_other_noise():
    query = Query(9, (BITS,) * 9, "count", "geometric", F(1, 2))
    worst = query_capacity(query)
    for parameter in (F(1, 5), F(1, 2), F(9, 10)):
        there = query_capacity(query.at(parameter))
        assert 0 < learned(query.at(parameter), worst) <= there.high
    assert learned(query, worst) == pytest.approx(worst.low, abs=1e-11)
    assert learned(Query(2, (BITS,) * 2, "count", "laplace", F(1)), worst) is None


def test_one_time_pad_is_perfectly_secret():
    pad = Query(1, (BITS,), "parity", "randomised-response", F(1, 2))
    assert query_capacity(pad).high == 0.0
    assert measures_of_query(pad).strong_dp_epsilon == 0.0


def test_a_constant_query_tells_nothing_and_a_record_without_influence_tells_all():
    constant = Query(2, (BITS,) * 2, "table", "randomised-response", F(0), table=("a",) * 4)
    assert query_capacity(constant).high == 0.0
    first = Query(2, (BITS,) * 2, "table", "randomised-response", F(1, 10), table=tuple("aabb"))  # f = x1
    assert query_capacity(first).low == pytest.approx(float(response_bits(F(1, 10))[0]), abs=1e-10)


@pytest.mark.slow
def test_gaussian_noise_on_bits_is_two_points_and_on_intervals_smith():  # E1
    two = query_capacity(Query(9, (BITS,) * 9, "mean", "gaussian", F(1, 36)))  # T = 1/2, A = 3
    rich = query_capacity(Query(9, Interval(F(0), F(1)), "mean", "gaussian", F(1, 36)))
    assert rich.low * log(2) == pytest.approx(0.8813610433330, abs=1e-9)
    assert two.high < 1.0 < rich.low
    three = query_capacity(Query(9, (TRITS,) * 9, "mean", "gaussian", F(1, 9)))  # the same A; three letters
    assert two.low < three.low < three.high <= rich.high + 1e-9


def test_vectors_under_gaussian_noise():
    two = query_capacity(Query(2, (BITS,) * 2, "histogram", "gaussian", F(1)))  # (2, 0) and (0, 2): distance 2 sqrt 2
    assert two.low * log(2) == pytest.approx(interval_capacity("gaussian", 2**0.5).low, abs=1e-10)
    square = tuple((F(a), F(b)) for a in (0, 1) for b in (0, 1))
    seen = measures_of_query(Query(2, (BITS,) * 2, "table", "gaussian", F(1), table=square))
    assert seen.worst.low <= seen.groups[2].low <= seen.capacity[0] <= seen.capacity[1]
    three = query_capacity(Query(2, (TRITS,) * 2, "histogram", "laplace", F(1)))
    assert 0 < three.low < three.high <= log(3) / log(2) + 1e-9


@pytest.mark.long
def test_levels_of_laplace_noise_and_what_they_say():
    query = Query(5, (BITS,) * 5, "count", "laplace", F(1))
    seen = measures_of_query(query)
    assert seen.dp_epsilon == pytest.approx(1.0)
    assert seen.strong_dp_epsilon == pytest.approx(5.0)
    assert query_independent(query)[1] <= information_of_dp(1.0)
    assert measures_of_query(Query(5, (BITS,) * 5, "count", "gaussian", F(1))).dp_epsilon is None


def test_the_worst_adversary_is_said_in_words():
    found = query_capacity(Query(20, (BITS,) * 20, "count", "geometric", F(1, 2)))
    assert sorted(b.others for b in found.beliefs) == [("0",), ("20",)]


@pytest.mark.long
def test_five_hundred_bits_close():
    found = query_capacity(Query(500, (BITS,) * 500, "count", "geometric", F(99, 100)))
    assert found.high - found.low < 1e-8


def test_the_noisy_mean_tends_to_a_gaussian_tail():  # E7
    case = next(c for c in ORACLE if c["kind"] == "prop4")
    tail, chebyshev = noisy_mean_tail(gaussian_variance(1.0, 1 / log(2)), 1.0)
    assert tail == pytest.approx(float(case["expected"]["true_limit_2Q"]), abs=1e-12)
    assert chebyshev == pytest.approx(float(case["expected"]["chebyshev_bound"]), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, (), "count", "geometric", F(1, 2)), "at least one record"),
        ((1, (BITS,), "count", "geometric", F(1)), "between 0 and 1"),
        ((1, (BITS,), "count", "uniform", F(1)), "no noise 'uniform'"),
        ((1, (("a", "b"),), "sum", "geometric", F(1, 2)), "value 'a' of a sum"),
        ((1, (BITS,), "count", "gaussian", F(0)), "above 0"),
        ((1, Interval(F(0), F(1)), "count", "gaussian", F(1)), "need the query sum or mean"),
        ((2, (BITS, TRITS), "sum", "geometric", F(1, 2)), "same values"),
        ((1, (BITS,), "count", "geometric", F(1, 2), "7"), "is not among the values"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        Query(*arguments)


@given(
    records=st.integers(1, 4),
    letters=st.integers(1, 3),
    kind=st.sampled_from(["count", "sum", "mean", "histogram", "parity"]),
    noise=st.sampled_from(["randomised-response", "geometric", "exponential"]),
    parameter=st.fractions(F(1, 50), F(49, 50)),
)
@settings(max_examples=effort(10, 60), deadline=None)
def test_kernels_are_stochastic_and_more_noise_tells_less(records, letters, kind, noise, parameter):
    query = Query(records, (tuple(map(str, range(letters))),) * records, kind, noise, parameter)
    kernel = kernel_of(query)
    assert all(sum(row) == 1 and min(row) >= 0 for row in kernel.rows)
    if noise == "geometric":
        noisier = query.at((1 + parameter) / 2)
        assert query_capacity(noisier).low <= query_capacity(query).high + 1e-12


def test_what_is_too_large_is_refused():
    with pytest.raises(Unsupported, match="values for"):
        kernel_of(Query(40, (TRITS,) * 40, "histogram", "geometric", F(1, 2)))
    with pytest.raises(Unsupported, match="written out"):
        channel_of_query(Query(30, (BITS,) * 30, "count", "geometric", F(1, 2)))


def uneven(values, noise="gaussian", parameter=Fraction(1)):
    """A query by table of a record with two letters and one with four."""
    table = tuple((F(v),) for v in values)
    return Query(2, (BITS, ("0", "1", "2", "3")), "table", noise, parameter, table=table)


WIDE = (0, 100, 200, 300, 1000, 1100, 1200, 1300)


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_point_03_each_record_is_bounded_by_its_own_letters_and_not_by_those_of_another(noise):
    found = query_capacity(uneven(WIDE, noise))
    assert found.group == ("X2",)
    assert 1.999 < found.low <= 2 <= found.high < 2.001
    assert len(found.beliefs) == 4


@pytest.mark.slow
def test_point_03_calibrated_noise_keeps_the_record_with_more_letters_within_the_budget():
    found = calibrate(uneven(WIDE), F(3, 2), resolution=1e-3)
    assert found.parameter > 1000
    assert found.proved[1] <= 1.5
    # four of the values, 100 apart, tell more than the budget under less noise
    assert found.beside is None or found.beside_proved[0] > 1.5


@pytest.mark.long
@settings(deadline=None, max_examples=effort(4, 15))
@given(
    st.lists(st.integers(0, 30), min_size=8, max_size=8),
    st.sampled_from(["gaussian", "laplace", "geometric"]),
    st.sampled_from([F(1, 3), F(1, 2), F(9, 10)]),
)
def test_point_03_independent_records_tell_no_more_than_any_adversary_learns_nor_than_a_record_holds(
    values, noise, parameter
):
    seen = measures_of_query(uneven(values, noise, parameter))
    assert seen.independent[0] <= seen.worst.low <= seen.worst.high <= 2
    assert seen.independent[1] <= seen.worst.high
    assert seen.groups[2].high <= 3


def test_brackets_that_contradict_their_order_never_leave():
    with pytest.raises(DaleniusError, match="contradict each other"):
        ordered((0.6, 0.7), Individual(0.1, 0.5, ("X1",), (), ()), 1.0)
