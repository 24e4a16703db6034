"""What any attacker learns about one record: reference values, closed forms, inequalities, witnesses, refusals."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Channel, Pmf
from dalenius.errors import InputError, InvalidPmf, MismatchError
from dalenius.measures import (
    against,
    capacity,
    dp_epsilon,
    independent_capacity,
    individual,
    individual_capacity,
    information_of_dp,
    mutual_information,
    strong_dp_epsilon,
)
from dalenius.measures.capacity import with_kept
from dalenius.solvers import selection
from tests.effort import effort
from tests.measures.channels import cases, channel, flip, noisy, random_channel

LN2 = math.log(2)


def bits(nats):
    return float(nats) / LN2


@pytest.mark.long
@pytest.mark.parametrize("case", cases("001_capacity.json", "individual_capacity"), ids=lambda c: c["name"])
def test_reference_capacities(case):
    given, wanted = case["inputs"], case["expected"]
    rows = [given["p"][k : k + given["ny"]] for k in range(0, len(given["p"]), given["ny"])]
    law = channel(given["shape"], rows)
    for k in range(1, len(given["shape"]) + 1):
        if f"C_{k}_nats" in wanted:
            found, truth = individual_capacity(law, group=k), bits(wanted[f"C_{k}_nats"])
            assert found.low <= truth + 1e-15
            assert found.high >= truth - 1e-15
            assert found.high - found.low < 1e-9
    low, high = independent_capacity(law)
    assert low - 1e-10 <= bits(wanted["C_1_ind_nats"]) <= high + 1e-10
    assert high - low < 1e-8
    for level, key in ((dp_epsilon(law), "dp_eps_nats"), (strong_dp_epsilon(law), "maxcap_all_nats")):
        if wanted[key] == "inf":
            assert level is None
        else:
            assert float(wanted[key]) <= level + 1e-15
            assert level == pytest.approx(float(wanted[key]), abs=1e-13)


@pytest.mark.parametrize("case", cases("001_capacity.json", "C1_enumerate"), ids=lambda c: c["name"])
def test_example_1_of_the_paper(case):
    law = noisy(lambda a, b: a == b, (3, 2), case["inputs"]["p"])
    found = individual_capacity(law)
    assert found.low <= float(case["expected"]["C1_bits"]) + 1e-15
    assert found.high == pytest.approx(float(case["expected"]["C1_bits"]), abs=1e-10)


@pytest.mark.parametrize("case", cases("001_capacity.json", "parallel_composition"), ids=lambda c: c["name"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_records_released_one_by_one_tell_of_each_other(case, k):
    """k bits, each through its own binary symmetric channel: whoever thinks them equal reads the same bit k times."""
    p = Fraction(case["inputs"]["p"])
    rows = [
        [math.prod(p if a != b else 1 - p for a, b in zip(x, y, strict=True)) for y in product((0, 1), repeat=k)]
        for x in product((0, 1), repeat=k)
    ]
    found = individual_capacity(channel((2,) * k, rows))
    wanted = bits(case["expected"]["C1_nats_by_k"][str(k)])
    assert found.low == pytest.approx(wanted, abs=1e-10)
    assert found.high == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_exponential_channel_of_a_sum_of_bits(k):
    case = next(c for c in cases("001_capacity.json", "exponential_true_C1") if c["inputs"]["k"] == k)
    factor = Fraction(math.exp(-float(case["inputs"]["lam"])))
    laws = []
    for f in range(k):
        order = sorted(range(k), key=lambda y: (abs(y - f), y))
        weights = {y: factor**rank for rank, y in enumerate(order)}
        laws.append([weights[y] / sum(weights.values()) for y in range(k)])
    law = channel((2,) * (k - 1), [laws[sum(x)] for x in product((0, 1), repeat=k - 1)])
    found = individual_capacity(law)
    assert found.low == pytest.approx(bits(case["expected"]["C1_sum_of_bits_nats"]), abs=1e-10)
    assert found.high == pytest.approx(found.low, abs=1e-8)


def test_a_one_time_pad_is_perfectly_secret():
    law = channel((4,), [[Fraction(1, 4)] * 4] * 4)
    found = individual_capacity(law)
    assert (found.low, found.high, capacity(law).high, independent_capacity(law)) == (0.0, 0.0, 0.0, (0.0, 0.0))
    assert (dp_epsilon(law), strong_dp_epsilon(law)) == (0.0, 0.0)


def test_a_reused_pad_is_not():
    """Two bits under one pad: nothing about either, one bit about both, and one about one who knows how they relate."""
    rows = [[Fraction(int(m1 ^ c1 == m2 ^ c2), 2) for c1 in (0, 1) for c2 in (0, 1)] for m1 in (0, 1) for m2 in (0, 1)]
    law = channel((2, 2), rows)
    assert individual_capacity(law).low == pytest.approx(1.0, abs=1e-9)
    uniform = Pmf.from_records({"X0": ("0", "1"), "X1": ("0", "1")}, [(x, 1) for x in product("01", repeat=2)])
    assert against(law, [uniform])[1] == 0


def adversary(law, found):
    """The worst adversary as a prior."""
    names = list(law.inputs)
    records = []
    for belief in found.beliefs:
        at = dict(zip(found.group, belief.record, strict=True)) | dict(zip(found.others, belief.others, strict=True))
        records.append((tuple(at[n] for n in names), max(1, round(belief.probability * 10**12))))
    return Pmf.from_records(law.inputs, records)


@pytest.mark.long
@settings(deadline=None, max_examples=effort(5, 25))
@given(st.integers(0, 10**6))
def test_brackets_hold_and_the_adversary_learns_what_is_said(seed):
    rng = np.random.default_rng(seed)
    sizes = tuple(int(v) for v in rng.integers(2, 4, int(rng.integers(1, 4))))
    law = random_channel(rng, sizes, int(rng.integers(2, 5)))
    whole = capacity(law)
    found = [individual_capacity(law, group=k) for k in range(1, len(sizes) + 1)]
    for less, more in pairwise(found):
        assert less.low <= more.high + 1e-12
    assert found[-1].low == pytest.approx(whole.low, abs=1e-8)
    assert all(g.high <= k * found[0].high + 1e-8 for k, g in enumerate(found, 1))  # Lemma 4
    low, _ = independent_capacity(law)
    assert low <= found[0].high + 1e-12
    level = dp_epsilon(law)
    assert level is None or low <= information_of_dp(level) + 1e-12
    told = mutual_information(law.after(adversary(law, found[0])), list(found[0].group), ["Y"])
    assert told == pytest.approx(found[0].low, abs=1e-7)
    for _ in range(5):  # no other adversary learns more
        p = rng.dirichlet(np.full(law.shape[0], 0.3))
        other = Pmf.from_records(law.inputs, [(x, int(v * 10**9) + 1) for x, v in zip(law.outcomes(), p, strict=True)])
        assert against(law, [other])[0] <= found[0].high


@pytest.mark.long
@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6))
def test_post_processing_tells_no_more_about_anyone(seed):
    rng = np.random.default_rng(seed)
    law, post = random_channel(rng, (2, 3), 4), random_channel(rng, (4,), 3)
    post = Channel({"Y": post.inputs["X0"]}, {"Z": post.output["Y"]}, post.rows)
    assert individual_capacity(law.then(post)).low <= individual_capacity(law).high + 1e-12


@pytest.mark.parametrize("case", cases("001_capacity.json", "dp_to_mi_bound"), ids=lambda c: c["name"])
def test_what_a_level_of_differential_privacy_says_about_information(case):
    level, wanted = case["inputs"]["dp_eps_nats"], bits(case["expected"]["J_nats"])
    assert wanted <= information_of_dp(level) <= wanted + 1e-13


@pytest.mark.parametrize("level", [1e-9, 1e-3, 0.5, 1.0, 5.0, 50.0, 800.0])
def test_the_information_of_a_level_covers_randomised_response(level):
    truth = (
        LN2
        + sum(p * math.log(p) for p in (math.exp(-level) / (1 + math.exp(-level)), 1 / (1 + math.exp(-level))) if p > 0)
    ) / LN2
    assert information_of_dp(level) >= truth - 1e-15
    assert information_of_dp(level) <= level**2 / 8 / LN2 * (1 + 1e-12)


def test_a_level_of_zero_and_a_negative_one():
    assert information_of_dp(0.0) == 0.0
    with pytest.raises(InputError, match="is not negative"):
        information_of_dp(-1.0)


def test_a_list_of_adversaries():
    law = noisy(lambda a, b: a ^ b, (2, 2), "1/10")
    letters = {"X0": ("0", "1"), "X1": ("0", "1")}
    uniform = Pmf.from_records(letters, [(x, 1) for x in product("01", repeat=2)])
    knows = Pmf.from_records(letters, [(("0", "0"), 1), (("1", "0"), 1)])
    low, high, name, who = against(law, [uniform, knows])
    assert (name, who) == ("X0", 1)
    assert low <= high
    assert float(low) == pytest.approx(individual_capacity(law).low, abs=1e-12)


def test_refusals():
    law = flip("1/10")
    with pytest.raises(InputError, match="a group of 2 records is asked for; the recipe has 1"):
        individual_capacity(law, group=2)
    with pytest.raises(InputError, match="no attacker in the list"):
        against(law, [])
    with pytest.raises(MismatchError, match="no variable 'X0'"):
        against(law, [Pmf.from_records({"Z": ("0",)}, [(("0",), 1)])])
    with pytest.raises(InvalidPmf, match="the value '7', which the recipe does not know"):
        against(law, [Pmf.from_records({"X0": ("7",)}, [(("7",), 1)])])
    tiny = Fraction(1, 2**1010)
    with pytest.raises(InputError, match="below 2\\^-1000"):
        capacity(channel((2,), [[1 - tiny, tiny], [1, 0]]))


def test_kept_columns_leave_as_they_are():
    law = flip("1/2")
    kept = with_kept(law, {"X0": ("0", "1")})
    assert capacity(kept).low == pytest.approx(1.0, abs=1e-9)
    beside = with_kept(law, {"K": ("a", "b", "c")})
    assert list(beside.inputs) == ["X0", "K"]
    assert individual_capacity(beside).group == ("K",)
    assert individual_capacity(beside).low == pytest.approx(math.log2(3), abs=1e-9)


def test_the_search_for_the_worst_attacker_counts_work_and_not_nodes_alone(monkeypatch):
    """A recipe of 206 rows and 88 letters was searched for minutes: 3,000 nodes, however long one of them took."""
    rng = np.random.default_rng(5)
    weights = rng.integers(1, 9, size=(60, 40)) ** 4
    large = channel((4, 5, 3), [[Fraction(int(v), int(row.sum())) for v in row] for row in weights])
    monkeypatch.setattr(individual, "WORK", 60 * 40**2 * 30)
    visited = 0
    visit = selection._Search.visit

    def counted(search, allowed, start):
        nonlocal visited
        visited += 1
        return visit(search, allowed, start)

    monkeypatch.setattr(selection._Search, "visit", counted)
    found = individual_capacity(large)
    assert visited <= 3 * (30 + 3)  # for each of three records; the root twice, and the last pair is finished
    assert 0 < found.low <= found.high <= math.log2(5) + 1e-9
