"""Composition: published values, brute force over joint channels, errata E10 and E14 to E17, refusals."""

import json
from fractions import Fraction
from itertools import product
from math import log
from pathlib import Path

import numpy as np
import pytest

from dalenius.core import Channel, Pmf
from dalenius.errors import InputError, MismatchError
from dalenius.measures import individual_capacity
from dalenius.measures.composition import (
    basic,
    cross_capacity,
    general,
    general_bound,
    parallel,
    predictive_information,
)
from tests.effort import effort

ORACLE = json.loads((Path(__file__).parents[1] / "oracle/001_queries.json").read_text())["cases"]
F = Fraction


def flip(p):
    return Channel({"A": ("0", "1")}, {"Y": ("0", "1")}, ((1 - p, p), (p, 1 - p)))


def both(p):
    """Two people, each bit flipped by itself."""
    rows = [
        tuple((1 - p if x == a else p) * (1 - p if y == b else p) for x in "01" for y in "01")
        for a, b in product("01", "01")
    ]
    return Channel({"A": ("0", "1"), "B": ("0", "1")}, {"Y": ("00", "01", "10", "11")}, tuple(rows))


def random_channel(rng, sizes, letters):
    rows = []
    for _ in range(int(np.prod(sizes))):
        parts = [int(v) for v in rng.integers(1, 9, letters)]
        rows.append(tuple(F(v, sum(parts)) for v in parts))
    names = {f"X{i}": tuple(map(str, range(s))) for i, s in enumerate(sizes)}
    return Channel(names, {"Y": tuple(map(str, range(letters)))}, tuple(rows))


def beside(first, second):
    """Both outputs of fresh draws from the same data."""
    rows = tuple(tuple(a * b for a in p for b in q) for p, q in zip(first.rows, second.rows, strict=True))
    return Channel(first.inputs, {"Y1": first.output["Y"], "Y2": second.output["Y"]}, rows)


@pytest.mark.parametrize("case", [c for c in ORACLE if c["kind"] == "parallel_composition"], ids=lambda c: c["name"])
def test_parallel_releases_of_bits(case):  # E16
    for k, wanted in case["expected"]["C1_nats_by_k"].items():
        if int(k) <= 5:
            found = parallel([flip(F(case["inputs"]["p"]))] * int(k))
            assert found.together[0] * log(2) == pytest.approx(float(wanted), abs=1e-11)
            assert found.together[1] * log(2) == pytest.approx(float(wanted), abs=1e-11)
    two = parallel([flip(F(case["inputs"]["p"]))] * 2)
    assert two.tau[0] * log(2) == pytest.approx(float(case["expected"]["tau_k2_nats"]), abs=1e-11)


GENERAL = [c for c in ORACLE if c["kind"] == "general_composition"]


@pytest.mark.long
@pytest.mark.parametrize("case", GENERAL[: effort(1, len(GENERAL))], ids=lambda c: c["name"])
def test_two_datasets_of_two_people(case):  # E14: more than C11 + C22
    release, want = both(F(case["inputs"]["p"])), case["expected"]
    found = general([release, release])
    assert found.together[0] * log(2) == pytest.approx(float(want["C1_nats"]), abs=1e-9)
    assert found.alone[0][0] * log(2) == pytest.approx(float(want["C11"]), abs=1e-9)
    assert found.together[0] > found.alone[0][1] + found.alone[1][1]
    assert cross_capacity(release, 2)[0] * log(2) == pytest.approx(float(want["C12"]), abs=1e-9)
    assert general_bound([release, release]) * log(2) == pytest.approx(float(want["improved_bound"]), abs=1e-9)


def test_a_cross_capacity_below_the_own_one():  # E15
    case = next(c for c in ORACLE if c["kind"] == "prop6")
    same = Channel(
        {"X": tuple("abc")}, {"Y": tuple("abc")}, tuple(tuple(F(i == j) for j in range(3)) for i in range(3))
    )
    assert cross_capacity(same, 2)[0] * log(2) == pytest.approx(float(case["expected"]["C21_nats"]), abs=1e-12)
    assert individual_capacity(same).low * log(2) == pytest.approx(float(case["expected"]["C11_nats"]), abs=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(effort(4, 8)))
def test_general_bounds_hold_the_exact_figure(seed):
    rng = np.random.default_rng(seed)
    first, second = random_channel(rng, (2, 2), 3), random_channel(rng, (2, 3), 2)
    found, bound = general([first, second]), general_bound([first, second])
    assert found.together[0] <= bound + 1e-9
    old = (
        sum(a[1] for a in found.alone) + cross_capacity(first, 3)[1] + cross_capacity(second, 2)[1]
    )  # (162), with the larger alphabet
    assert found.together[0] <= old + 1e-9


@pytest.mark.parametrize("seed", range(effort(4, 8)))
def test_fresh_draws_from_the_same_data_add_up(seed):  # Theorem 5, and Theorem 4 for pairs
    rng = np.random.default_rng(100 + seed)
    first, second = random_channel(rng, (2, 2), 3), random_channel(rng, (2, 2), 2)
    one, two = individual_capacity(first), individual_capacity(second)
    assert individual_capacity(beside(first, second)).low <= basic([one.high, two.high])


def test_shared_noise_is_not_for_these_rules():  # E17: 0 bits and 0 bits make one bit
    pad = flip(F(1, 2))
    half, none = F(1, 2), F(0)
    joint = Channel(pad.inputs, {"Y": ("00", "01", "10", "11")}, ((half, none, none, half), (none, half, half, none)))
    assert individual_capacity(pad).high == 0.0
    assert individual_capacity(joint).low == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_processing_tells_no_more(seed):  # Proposition 1
    rng = np.random.default_rng(seed)
    channel, kernel = random_channel(rng, (2, 3), 4), random_channel(rng, (4,), 3)
    kernel = Channel({"Y": channel.output["Y"]}, {"Z": kernel.output["Y"]}, kernel.rows)
    assert individual_capacity(channel.then(kernel)).low <= individual_capacity(channel).high + 1e-12


def test_large_parallel_releases_are_bounded():
    found = parallel([flip(F(2, 5))] * 13)
    assert found.rule.startswith("bound")
    small = parallel([flip(F(2, 5))] * 5)
    assert small.together[0] <= found.together[1] <= 1.0 + 1e-9


def test_attackers_that_are_stated():
    law = Pmf.from_records(
        {"X": ("0", "1"), "Y": ("00", "01", "10", "11")},
        [((x, x + z), F(1, 4)) for x in "01" for z in "01"],
    )
    assert predictive_information(law, "X", "Y", [lambda y: y[1]]) == (0.0, 0.0)
    assert predictive_information(law, "X", "Y", [lambda y: y[1], lambda y: y[0]]) == (1.0, 1.0)
    with pytest.raises(InputError, match="at least one attacker"):
        predictive_information(law, "X", "Y", [])


def test_refusals():
    with pytest.raises(MismatchError, match="same people"):
        general([flip(F(1, 4)), both(F(1, 4))])
    with pytest.raises(InputError, match="not negative"):
        basic([-1.0])
