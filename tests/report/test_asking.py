"""What a problem file asks for, before anything is solved."""

from dataclasses import replace

from dalenius.core import Leakage, LocalDP, MinimizeLeakage
from dalenius.report.asking import asked_for, asked_lines
from dalenius.testing import binary_tradeoff


def test_a_problem_says_what_it_asks_for() -> None:
    problem = replace(binary_tradeoff("1/10", "1/20"), guarantees=(LocalDP("1"), Leakage("S", "1/10")))
    found = asked_for(problem)
    assert "no released entry is more than 2.72 times as likely" in found["promised"][0]
    assert "reveals at most 0.1 bits about S" in found["promised"][1]
    assert isinstance(problem.objective, MinimizeLeakage)
    assert found["wanted"] == ["The release reveals as little as possible about S."]
    assert asked_lines(found)[0] == "Released:"
    assert any("share of changed entries" in line for line in found["promised"])


def test_nothing_promised_is_said() -> None:
    problem = replace(binary_tradeoff("1/10", "1/20"), guarantees=(), limits=())
    assert asked_for(problem)["promised"] == ["Nothing is promised."]
