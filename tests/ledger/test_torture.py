"""A few kills by default; the long run and the planted bugs with `make ledger-torture`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import effort
from tests.ledger.torture import BUGS, torture

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@pytest.mark.long
def test_some_kills_lose_nothing_and_spend_nothing_twice():
    # In a process of its own: what a test runner's threads hold when it forks, the fork may wait for without end.
    least = effort(4, 8)
    words = ["--kills", str(least), "--processes", "4", "--jobs", "4", "--seed", "3"]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.ledger.torture", *words],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    kills, rounds = (int(ran.stdout.split(f" {what}")[0].split()[-1]) for what in ("kills", "ledgers"))
    assert kills >= least
    assert f"{3 * rounds} released, {rounds} refused\nnothing lost, nothing spent twice\n" in ran.stdout
    assert ran.returncode == 0


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
