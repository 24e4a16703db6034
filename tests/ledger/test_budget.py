"""The grammar of budgets."""

from fractions import Fraction

import pytest

from dalenius.errors import InputError
from dalenius.ledger import Line, budget_of


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("local_dp=2", Line("local_dp", (), Fraction(2))),
        (" dalenius = 1/3 ", Line("dalenius", (), Fraction(1, 3))),
        ("leakage:diagnosis=0.1", Line("leakage", ("diagnosis",), Fraction(1, 10))),
        ("worst_case_leakage:a, b=1", Line("worst_case_leakage", ("a", "b"), Fraction(1))),
        ("information_privacy:x=y=1", Line("information_privacy", ("x=y",), Fraction(1))),
        ("independent:sex", Line("leakage", ("sex",), Fraction(0))),
        ("differential_privacy=2", Line("differential_privacy", (), Fraction(2))),
        ("differential_privacy:1/1000=2", Line("differential_privacy", ("1/1000",), Fraction(2))),
    ],
)
def test_lines_are_read(text, line):
    assert Line.parse(text) == line
    assert Line.parse(f"{line.name}={line.at_most}") == line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("privacy=1", "no line 'privacy'; there are contraction, dalenius"),
        ("local_dp", "has no limit; write local_dp=2"),
        ("local_dp=much", "the budget of local_dp is 'much'; write an integer"),
        ("local_dp=-1", "cannot be negative"),
        ("local_dp=inf", "write an integer"),
        ("local_dp:sex=1", "names no secret, as in local_dp=1"),
        ("leakage=1", "names the columns of a secret"),
        ("leakage:=1", "names the columns of a secret"),
        ("leakage:a,a=1", "each once"),
        ("independent:sex=1", "takes no number"),
        ("differential_privacy:1/1000,1/100=2", "the delta of differential_privacy lies between 0 and 1"),
        ("differential_privacy:0=2", "the delta of differential_privacy lies between 0 and 1"),
        ("differential_privacy:1=2", "the delta of differential_privacy lies between 0 and 1"),
        ("differential_privacy:3/2=2", "the delta of differential_privacy lies between 0 and 1"),
    ],
)
def test_lines_are_refused_with_the_reason(text, told):
    with pytest.raises(InputError, match=told.replace("(", r"\(")):
        Line.parse(text)


def test_a_budget_has_lines_and_each_once():
    with pytest.raises(InputError, match="a ledger needs a budget"):
        budget_of([])
    with pytest.raises(InputError, match="names leakage:sex twice"):
        budget_of(["independent:sex", "leakage:sex=1"])
