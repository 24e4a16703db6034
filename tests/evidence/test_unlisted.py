"""Audits of channels that are too large to be written out: by their form, and never less than the rows would say."""

import json
from fractions import Fraction
from math import log2

import pytest

from dalenius import audit, solve
from dalenius.core import (
    Channel,
    Independent,
    LocalDP,
    MaximizeInformation,
    Pmf,
    Pram,
    Problem,
    ProductPmf,
    Resample,
    Sums,
    Windows,
)
from dalenius.errors import Unsupported
from dalenius.evidence import examine_mechanism
from dalenius.mechanisms.unlisted import evidence as module
from dalenius.mechanisms.unlisted.evidence import examine_unlisted
from dalenius.report.mechanism import audited

BITS = ("0", "1")


def noisy(name, output, flip):
    stay = 1 - Fraction(flip)
    return Channel({name: BITS}, {output: BITS}, ((stay, 1 - stay), (1 - stay, stay)))


def pram(*q):
    letters = {"X": tuple(map(str, range(len(q))))}
    return Pram(letters, letters, tuple(map(Fraction, q)))


def resample(keep, q):
    letters = {"X": tuple(map(str, range(len(q))))}
    return Resample(letters, letters, tuple(map(Fraction, keep)), tuple(map(Fraction, q)))


def states(flip):
    return noisy("X", "S", flip).rows


NAMES = dict.fromkeys("abc", BITS)
SMALL = {
    "form (8)": pram("1/2", "1/3", "2/5", "1/4"),
    "form (8), one value stays": pram("1", "1/3", "2/5"),
    "resampling": resample(["1/2", "1/3", "0"], ["1/5", "2/5", "2/5"]),
    "resampling without a value": resample(["0", "0", "0"], ["0", "2/5", "3/5"]),
    "resampling that keeps a value": resample(["1", "1/3", "0"], ["1/5", "2/5", "2/5"]),
    "windows": Windows(NAMES, (noisy("a", "U", "1/4"), noisy("b", "V", "1/3"), noisy("a", "T", "1/5"))),
    "windows that reveal": Windows(NAMES, (noisy("a", "U", "0"), noisy("b", "V", "1/3"))),
    "sums": Sums(NAMES, ("U", "V"), 2, (states("1/4"), states("1/3"), states("2/5")), (("a", "b"), ("b", "c"))),
    "sums that reveal": Sums(NAMES, ("U", "V"), 2, (states("0"),) * 3, (("a", "b"), ("b", "c"))),
}


@pytest.mark.parametrize("name", SMALL)
def test_no_figure_is_below_the_one_of_the_rows(name, monkeypatch):
    channel = SMALL[name]
    dense = examine_mechanism(Channel(channel.inputs, channel.output, channel.rows))
    monkeypatch.setattr(type(channel), "few", False)
    closed = examine_unlisted(channel)
    assert closed.capacity[1] >= dense.capacity[0]
    assert closed.worst.high >= dense.worst.low
    assert closed.eta_kl >= dense.eta_kl - 1e-12
    assert closed.eta_tv >= dense.eta_tv - 1e-12
    for ours, theirs in [
        (closed.dp_epsilon, dense.dp_epsilon),
        (closed.strong_dp_epsilon, dense.strong_dp_epsilon),
        (closed.zcdp_rho, dense.zcdp_rho),
        *((closed.renyi[a], dense.renyi[a]) for a in dense.renyi),
    ]:
        assert ours is None or (theirs is not None and ours >= theirs - 1e-12)
    if isinstance(channel, Pram | Resample):  # where the level is that of the rows
        assert (closed.dp_epsilon is None) == (dense.dp_epsilon is None)
        assert closed.dp_epsilon == pytest.approx(dense.dp_epsilon)
        assert closed.eta_tv == pytest.approx(dense.eta_tv)


@pytest.mark.slow
def test_thousands_of_letters_are_audited_by_their_level(tmp_path):
    names = tuple(map(str, range(2500)))
    joint = Pmf.from_records({"X": names}, [((x,), 1 + k % 5) for k, x in enumerate(names)])
    problem = Problem(
        ("X",), MaximizeInformation(("X",)), (LocalDP(Fraction(1)),), release=("X",), form="pram", joint=joint
    )
    design = solve(problem)
    (tmp_path / "design.json").write_text(design.dumps())
    (tmp_path / "card.json").write_text(design.card_text())
    for mechanism in (design, design.channel, tmp_path / "design.json", tmp_path / "card.json"):
        seen = audit(mechanism)
        assert 0.999 < seen.dp_epsilon <= 1 + 1e-12
        assert seen.capacity[1] < 0.03
        assert seen.capacity[1] == pytest.approx(seen.eta_tv * log2(2500))
        assert any("no attacker was searched for" in line for line in audited(seen))
        json.dumps(seen.to_json())
    with pytest.raises(Unsupported, match="without --prior"):
        audit(design, prior=joint)


@pytest.mark.long
def test_sums_of_thirty_bits_keep_their_promises_and_rule_inputs_out():
    names = tuple(f"X{k}" for k in range(30))
    joint = ProductPmf(tuple(Pmf.from_records({n: BITS}, [(("0",), 7), (("1",), 3)]) for n in names))
    promises = tuple(Independent((n,)) for n in names)
    seen = audit(solve(Problem(names, MaximizeInformation(names), promises, output="Y", form="sums", joint=joint)))
    assert set(promises) <= set(seen.guarantees)
    assert seen.worst.high == 1  # one bit about a bit, to those who know the others
    assert seen.capacity[1] <= 30


def test_states_that_are_drawn_are_said_to_have_no_proved_level():
    mixed = Sums(NAMES, ("U",), 2, (states("0"), states("1/3"), states("2/5")), (("a", "b"),))
    assert examine_unlisted(mixed).strong_dp_epsilon is None
    assert module.UNPROVED in examine_unlisted(mixed).remarks
    assert module.UNPROVED not in examine_unlisted(SMALL["sums that reveal"]).remarks
