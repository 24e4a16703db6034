"""The example on demographic parity runs, and the page about it prints what it computes."""

import contextlib
import importlib.util
import io
import re
import signal
import sys
from pathlib import Path

import pytest

from dalenius import Problem, solve
from dalenius.errors import Infeasible
from dalenius.report.digits import bits

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorials" / "parity.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The folder of the demo and what it printed."""
    spec = importlib.util.spec_from_file_location("parity_demo", ROOT / "examples" / "parity" / "demo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hook, handler = sys.excepthook, signal.getsignal(signal.SIGTERM)
    folder, printed = tmp_path_factory.mktemp("parity"), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            assert module.demo(folder) == 0
    finally:
        sys.excepthook = hook
        signal.signal(signal.SIGTERM, handler)
    return folder, printed.getvalue()


def test_the_page_says_what_the_demo_computes(ran):
    _, printed = ran
    told = dict(reversed(line.split("  ", 1)) for line in re.findall(r"^  (\d\.\d{6}  I\(.*)$", printed, re.MULTILINE))
    assert len(told) == 17
    for what, figure in told.items():
        if what in ("I(health; score)", "I(plan; score)", "I(limited; score)"):
            assert figure == "0.000000"
        else:
            assert figure in PAGE, what
    for sentence in ("the value is at least 0.817522173984417 bits", "exceeds 0.817522173984418 bits (rays)"):
        assert sentence in printed
        assert sentence in PAGE


@pytest.mark.slow
def test_protecting_the_three_together_costs_what_the_page_says(ran):
    folder, _ = ran
    text = (folder / "problem.toml").read_text()
    joint = text[: text.index("[[guarantee]]")] + '[[guarantee]]\nindependent = ["health", "plan", "limited"]\n'
    (folder / "joint.toml").write_text(joint)
    value = solve(Problem.from_file(folder / "joint.toml")).value
    assert f"tells {bits(value, 'down')} about often" in PAGE


def test_a_score_beside_the_outcome_is_refused_as_the_page_says(ran):
    folder, _ = ran
    text = (folder / "problem.toml").read_text().replace('output = "score"', 'output = "score"\nkeep = ["often"]')
    (folder / "keep.toml").write_text(text)
    with pytest.raises(Infeasible, match=r"alone tells 0\.00246 bits about health"):
        solve(Problem.from_file(folder / "keep.toml"))
    assert "alone tells 0.00246 bits about health" in PAGE
