"""Perfect sample privacy (paper 000): what this family does not solve is refused by name."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius.core import (
    Contraction,
    Dalenius,
    Distortion,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeRate,
    MinimizeVariance,
    SideInformation,
    WorstCaseLeakage,
)
from dalenius.errors import Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.testing import xor

HAMMING = Distortion("hamming", ("X1",), Fraction(1, 10))
UNSUPPORTED = {
    "delta": ({"guarantees": (LocalDP(1, delta="1/10"),)}, "delta > 0 limits sums over values"),
    "epsilon": ({"guarantees": (LocalDP("101"),)}, "epsilon is 101; more than 100 promises nothing"),
    "epsilon of a secret": ({"guarantees": (InformationPrivacy("X1", 101),)}, "epsilon is 101"),
    "local_dp and keep": ({"guarantees": (LocalDP(1),), "keep": ("W",)}, "local_dp is designed without kept columns"),
    "leakage": ({"guarantees": (Leakage("X1", 1),)}, "not leakage"),
    "worst_case_leakage": ({"guarantees": (WorstCaseLeakage("X1", 1),)}, "not worst_case_leakage"),
    "dalenius": ({"guarantees": (Dalenius(1),)}, "not dalenius"),
    "contraction": ({"guarantees": (Contraction(1),)}, "not contraction"),
    "nothing promised": ({"guarantees": ()}, "nothing is promised"),
    "release": ({"output": None, "release": ("X1",)}, "it needs a fresh list of values"),
    "limits": ({"limits": (HAMMING,)}, "it does not take limits"),
    "forbid": ({"forbid": (("0", "1"),)}, "it does not take forbid"),
    "freeze": ({"freeze": ("0",)}, "it does not take freeze"),
    "preserve_marginals": ({"preserve_marginals": True}, "it does not take preserve_marginals"),
    "form": ({"form": "pram"}, "it does not take form"),
    "side_information": ({"side_information": SideInformation("W")}, "it does not take side_information"),
    "distortion": ({"objective": MinimizeDistortion(HAMMING)}, r"its objective is maximize = \{ information"),
    "leakage objective": ({"objective": MinimizeLeakage(("X1",))}, "its objective is maximize"),
    "rate": ({"objective": MinimizeRate()}, "its objective is maximize"),
    "variance": ({"objective": MinimizeVariance(("X1",))}, "its objective is maximize"),
}


@pytest.mark.parametrize(("change", "reason"), UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_what_it_does_not_solve_is_refused_by_name(change, reason):
    problem = replace(xor(), **change)
    with pytest.raises(Unsupported, match=f"information_privacy cannot solve this: .*{reason}"):
        disclose(problem)


# What perfect sample privacy leaves to others: the most information under a limit on what all letters tell together.
ELSEWHERE = ("leakage", "worst_case_leakage", "contraction", "delta")
NOWHERE = {name: change for name, (change, _) in UNSUPPORTED.items() if name not in ELSEWHERE}


@pytest.mark.parametrize("change", NOWHERE.values(), ids=NOWHERE.keys())
def test_a_refusal_comes_before_any_data_are_read(change):
    """`solve` asks every family first; no source is opened for a problem that nobody solves."""
    unbound = replace(xor(), joint=None, **change)
    with pytest.raises(Unsupported, match=r"no mechanism solves this combination yet \(.*: ") as refused:
        solve(unbound)
    assert str(refused.value).count("; ") <= 4, "only the nearest mechanisms say why"
    assert "paper" not in str(refused.value)
