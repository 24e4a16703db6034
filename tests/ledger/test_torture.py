"""A few kills by default; the long run and the planted bugs with `make ledger-torture`."""

import os

import pytest

from tests.ledger.torture import BUGS, torture

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def test_some_kills_lose_nothing_and_spend_nothing_twice():
    tally = torture(8, processes=4, jobs=4, seed=3)
    assert tally.complaints == []
    assert tally.kills >= 8
    assert (tally.released, tally.refused) == (3 * tally.rounds, tally.rounds)


@pytest.mark.slow
@pytest.mark.parametrize("bug", [b for b in BUGS if b != "none"])
def test_a_planted_bug_is_found(bug):
    assert torture(150, jobs=12, bug=bug, patient=False).complaints


@pytest.mark.slow
def test_a_thousand_kills_with_eight_processes():
    tally = torture(1000, processes=8, seed=11)
    assert tally.complaints == []
    assert tally.kills >= 1000
    assert tally.continued > 0
