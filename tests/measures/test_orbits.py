"""Channels of form "orbits" measured by their types and pairs of words, against the same channels row by row."""

from fractions import Fraction
from itertools import product

import pytest

from dalenius.core import Channel, Orbit, Orbits, Pmf
from dalenius.core.conditional_law import DENSE
from dalenius.errors import Unsupported
from dalenius.evidence import examine_mechanism
from dalenius.measures.capacity import capacity
from dalenius.measures.orbits import Columns, Pairs, capacity_of_orbits
from dalenius.mechanisms.alike.evidence import examine_orbits

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def bits(n=2, letters="01"):
    return {f"X{k}": tuple(letters) for k in range(1, n + 1)}


def parity():
    even = Orbit(HALF, (HALF, HALF), ((0, 0), (1, 1)))
    return Orbits(bits(), "Y", (even, Orbit(HALF, (HALF, HALF), ((0, 1), (1, 0)))))


def uneven():
    """Three bits; columns that overlap, one of them not independent of its places."""
    wide = Orbit(HALF, (HALF, Fraction(1, 4), Fraction(1, 4)), ((0, 0, 1), (1, 1, 0), (0, 1, 1)))
    return Orbits(bits(3), "Y", (wide, Orbit(HALF, (THIRD, THIRD, THIRD), ((0, 0, 0), (1, 1, 1), (1, 0, 1)))))


def ternary():
    words = ((0, 1), (1, 2), (2, 0)), ((0, 0), (1, 1), (2, 2))
    return Orbits(bits(2, "abc"), "Y", tuple(Orbit(HALF, (THIRD, THIRD, THIRD), own) for own in words))


def sure():
    """All inputs share all letters: differential privacy at a finite level."""
    every = tuple(product((0, 1), repeat=2))
    mass = tuple(Fraction(k, 10) for k in (1, 2, 3, 4))
    return Orbits(bits(), "Y", (Orbit(HALF, mass, every), Orbit(HALF, mass[::-1], every)))


CHANNELS = [parity, uneven, ternary, sure]


def law_of(channel):
    """The law that the columns have: the same for all orders of a type."""
    outcomes = list(product(*channel.inputs.values()))
    many = dict.fromkeys(channel.types, 0)
    types = [channel.type_of([channel.inputs[n].index(v) for n, v in zip(channel.inputs, x, strict=True)])
             for x in outcomes]  # fmt: skip
    for t in types:
        many[t] += 1
    return Pmf.from_records(
        channel.inputs,
        [(x, str(channel.mass_of_type[t] / many[t])) for x, t in zip(outcomes, types, strict=True)],
    )


@pytest.mark.parametrize("make", CHANNELS)
def test_rows_with_one_letter_for_each_order_are_those_of_the_form(make):
    channel, written = make(), make().dense()
    assert written.shape == (channel.shape[0], channel.arrangements)
    assert sorted(sorted(v for v in row if v) for row in written.rows) == sorted(
        sorted(v for v in row if v) for row in channel.rows
    )
    assert capacity(written).high == pytest.approx(capacity(channel).high, abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("make", CHANNELS)
def test_the_audit_by_orbits_holds_the_audit_of_all_rows(make):
    channel, law = make(), law_of(make())
    ours, rows = examine_orbits(channel, law), examine_mechanism(channel.dense(), law)
    assert ours.capacity == pytest.approx(rows.capacity, abs=1e-8)
    for size, group in rows.groups.items():
        assert ours.groups[size].low <= group.high
        assert group.low <= ours.groups[size].high
    assert ours.independent[0] <= rows.independent[1]
    assert rows.independent[0] <= ours.independent[1]
    if channel.types[0] and len(channel.types[0]) == 2:  # bits: both are searched to the end
        assert ours.groups[1].high == pytest.approx(rows.groups[1].high, abs=1e-8)
        assert ours.groups[1].low == pytest.approx(rows.groups[1].low, abs=1e-8)
        assert ours.independent == pytest.approx(rows.independent, abs=1e-8)
    for level in ("dp_epsilon", "strong_dp_epsilon", "eta_tv"):
        assert getattr(ours, level) == pytest.approx(getattr(rows, level), abs=1e-9)
    assert ours.eta_kl >= rows.eta_kl - 1e-9
    assert ours.zcdp_rho is None or ours.zcdp_rho >= rows.zcdp_rho - 1e-9
    one, other = ours.prior, rows.prior
    assert one.mutual_information == pytest.approx(other.mutual_information, abs=1e-12)
    for name in channel.inputs:
        assert one.per_input[name] == pytest.approx(other.per_input[name], abs=1e-12)
        assert one.per_input_given_others[name] == pytest.approx(other.per_input_given_others[name], abs=1e-12)
    assert (one.guess_before, one.guess_after) == pytest.approx((other.guess_before, other.guess_after), abs=1e-12)
    assert one.maximal_correlation >= other.maximal_correlation - 1e-9
    assert one.s_star[0] <= other.s_star[1]


@pytest.mark.long
def test_another_law_gives_the_columns_other_weights():
    channel = uneven()
    law = Pmf.from_records(
        channel.inputs, [(x, {0: 8, 1: 1, 2: 2, 3: 7}[x.count("1")]) for x in product("01", repeat=3)]
    )
    ours, rows = examine_orbits(channel, law).prior, examine_mechanism(channel.dense(), law).prior
    assert ours.mutual_information == pytest.approx(rows.mutual_information, abs=1e-12)
    assert ours.per_input == {n: pytest.approx(b, abs=1e-12) for n, b in rows.per_input.items()}
    assert ours.guess_after == pytest.approx(rows.guess_after, abs=1e-12)
    held = Columns(channel, law).about(1)
    assert held["leakage_bits"] == pytest.approx(rows.per_input["X1"][1], abs=1e-12)
    assert held["worst_letter_bits"] >= held["leakage_bits"] > 0


def test_two_rows_tell_no_more_than_their_total_variation():
    pairs = Pairs(sure())
    for x, y in pairs.every:
        both = pairs.of(x, y)
        assert both.told.low <= both.apart
    assert Pairs(parity()).of((0, 0), (0, 1)).shared == ()
    assert pairs.told_apart(1) is None
    apart = Pairs(parity()).told_apart(1)
    assert [x[0] for x in apart] == [0, 1]
    assert not Pairs(parity()).of(*apart).shared


@pytest.mark.long
def test_what_cannot_be_audited_is_refused():
    skewed = Pmf.from_records(bits(), [(("0", "1"), 3), (("1", "0"), 1), (("0", "0"), 2), (("1", "1"), 2)])
    with pytest.raises(Unsupported, match="the same in every order of the samples, and the stated distribution is not"):
        examine_orbits(parity(), skewed)
    letters = tuple(map(str, range(8)))
    one = Fraction(1, 8)
    wide = Orbits(dict.fromkeys(("A", "B"), letters), "Y", tuple(
        Orbit(one, (one,) * 8, tuple((a, (a + k) % 8) for a in range(8))) for k in range(8)))  # fmt: skip
    assert Pairs(wide).apart == 1
    many = Orbits({f"X{k}": ("0", "1") for k in range(12)}, "Y", (_all_words(12),))
    assert 2**12 * many.arrangements > DENSE
    with pytest.raises(Unsupported, match=r"4,096 rows of [\d,]+ values is not written out densely; up to 4,194,304"):
        many.dense()
    assert isinstance(parity().dense(), Channel)


def _all_words(n):
    """A word of each type, so that all places play different roles."""
    words = tuple(tuple(int(j < k) for j in range(n)) for k in range(n + 1))
    return Orbit(Fraction(1), (Fraction(1, n + 1),) * (n + 1), words)


def test_the_capacity_of_a_single_column_is_that_of_its_orders():
    """One column with all words of the types of three places: every order is a letter, and tells the order."""
    low, high = capacity_of_orbits(Orbits(bits(3), "Y", (_all_words(3),)))
    rows = capacity(Orbits(bits(3), "Y", (_all_words(3),)).dense())
    assert low == pytest.approx(rows.low, abs=1e-8)
    assert high == pytest.approx(rows.high, abs=1e-8)
