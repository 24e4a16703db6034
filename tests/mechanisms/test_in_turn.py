"""Measures in turn: what has no time left gets a figure that holds in any case."""

from fractions import Fraction

import pytest

from dalenius import stopping
from dalenius.core import Channel
from dalenius.mechanisms import auditing
from dalenius.mechanisms.auditing import examine_mechanism
from dalenius.mechanisms.in_turn import InTurn
from dalenius.report.mechanism import audited
from dalenius.stopping import Stage


def channel():
    rows = [(Fraction(a, 10), Fraction(10 - a, 10)) for a in (1, 4, 6, 8)]
    return Channel({"A": ("0", "1"), "B": ("0", "1")}, {"Y": ("0", "1")}, tuple(rows))


def test_a_measure_that_is_ended_is_missing_and_so_are_those_after_it():
    turn = InTurn()

    def ended():
        assert stopping.stage() is Stage.HOLDING  # whoever ends the command may end this
        raise stopping.Enough

    assert turn.take("first", lambda: 1, 0) == 1
    assert turn.take("second", ended, 2.0) == 2.0
    assert turn.take("third", lambda: pytest.fail("there was no time"), 3) == 3
    assert turn.missed == ["second", "third"]
    assert "second, third" in turn.words()[0]


def test_a_measure_that_fails_leaves_the_stage_as_it_was():
    before = stopping.stage()
    with pytest.raises(ZeroDivisionError):
        InTurn().take("a quotient", lambda: 1 / 0, 0)
    assert stopping.stage() is before


def test_an_audit_without_time_holds_what_an_audit_with_time_finds():
    seen = examine_mechanism(channel())
    with stopping.limited(-1):
        unseen = examine_mechanism(channel())
    for one, other in [
        (seen.capacity, unseen.capacity),
        (seen.independent, unseen.independent),
        (seen.maximal, unseen.maximal),
    ]:
        assert other[0] <= one[0] <= one[1] <= other[1]
    assert all(group.high <= unseen.groups[k].high for k, group in seen.groups.items())
    assert seen.eta_kl <= unseen.eta_kl
    assert seen.eta_tv <= unseen.eta_tv
    assert (unseen.dp_epsilon, unseen.no_level) == (None, "unproved")
    assert not any("differential" in promise.words() for promise in unseen.guarantees)
    said = "\n".join(audited(unseen))
    assert "the time was over before this was measured: differential privacy" in said
    assert "none is proved" in said


def test_an_audit_that_is_ended_in_its_middle_keeps_what_it_measured(monkeypatch):
    def ended(*_, **__):
        raise stopping.Enough

    monkeypatch.setattr(auditing, "eta_kl", ended)
    seen = examine_mechanism(channel())
    assert seen.eta_kl == seen.eta_tv < 1
    assert seen.dp_epsilon is not None
    assert seen.no_level == "ruled out"
    assert "contraction, delta" in seen.remarks[-1]


def test_without_time_nobody_learns_more_than_maximal_leakage_and_no_value_rules_anything_out(monkeypatch):
    def ended(*_, **__):
        raise stopping.Enough

    monkeypatch.setattr(auditing, "zcdp_level", ended)
    seen = examine_mechanism(channel())
    assert seen.maximal is not None
    assert 0.0 < seen.maximal[1] == seen.capacity[1] < 1.0
    assert all(group.high <= seen.maximal[1] for group in seen.groups.values())
    (line,) = (line for line in audited(seen) if "(zCDP)" in line)
    assert line.endswith("none is proved")
