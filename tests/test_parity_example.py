"""The example on demographic parity runs, and the page about it prints what it computes."""

import re
from pathlib import Path

import pytest

from dalenius import Problem, solve
from dalenius.core.digits import bits
from dalenius.errors import Infeasible
from tests.demos import run_demo

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorials" / "parity.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The folder of the demo and what it printed."""
    folder = tmp_path_factory.mktemp("parity")
    return folder, run_demo("parity", folder)


def test_the_page_says_what_the_demo_computes(ran):
    _, printed = ran
    told = dict(reversed(line.split("  ", 1)) for line in re.findall(r"^  (\d\.\d{6}  I\(.*)$", printed, re.MULTILINE))
    assert len(told) == 17
    for what, figure in told.items():
        if what in ("I(health; score)", "I(plan; score)", "I(limited; score)"):
            assert figure == "0.000000"
        else:
            assert figure in PAGE, what
    for sentence in ("what is released says at least 0.817522173 bits", "says more than 0.817522174 bits"):
        assert sentence in printed
        assert sentence in PAGE


@pytest.mark.slow
def test_protecting_the_three_together_costs_what_the_page_says(ran):
    folder, _ = ran
    text = (folder / "problem.toml").read_text()
    joint = text[: text.index("[[guarantee]]")] + '[[guarantee]]\nindependent = ["health", "plan", "limited"]\n'
    (folder / "joint.toml").write_text(joint)
    value = solve(Problem.from_file(folder / "joint.toml")).value
    assert f"says {bits(value, 'down')} about often" in PAGE


def test_a_score_beside_the_outcome_is_refused_as_the_page_says(ran):
    folder, _ = ran
    text = (folder / "problem.toml").read_text().replace('output = "score"', 'output = "score"\nkeep = ["often"]')
    (folder / "keep.toml").write_text(text)
    with pytest.raises(Infeasible, match=r"alone reveals 0\.00246 bits about health"):
        solve(Problem.from_file(folder / "keep.toml"))
    assert "alone reveals 0.00246 bits about health" in PAGE
