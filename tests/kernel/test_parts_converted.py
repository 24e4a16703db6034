"""Designs of several parts, from the search to the kernel."""

from fractions import Fraction

import pytest

from dalenius.core import Independent, LocalDP, MaximizeInformation, MaximizeInformationOfEach, Pmf, Problem, ProductPmf
from dalenius.kernel.check import check
from dalenius.mechanisms import solve
from dalenius.mechanisms.chains.sums import modular_sums
from dalenius.mechanisms.chains.windows import windows

# --- from the search to the kernel ------------------------------------------------------------------------------------
LETTERS = {"X": ("n", "s", "w"), "sex": ("f", "m")}
COUNTS = {("n", "f"): 30, ("s", "f"): 5, ("w", "f"): 9, ("n", "m"): 4, ("s", "m"): 11, ("w", "m"): 13}


def bits(many):
    coin = Pmf.from_records({"X1": ("0", "1")}, [(("0",), 2), (("1",), 1)])
    law = ProductPmf((coin,)).alike(many)
    names = tuple(law.variables)
    promises = tuple(Independent((name,)) for name in names)
    return Problem(names, MaximizeInformation(names), promises, output="Y", joint=law)


def columns_in_strata():
    law = Pmf.from_records(LETTERS | {"Z": ("0", "1")}, [((*x, "01"[n % 2]), n) for x, n in COUNTS.items()])
    promise = LocalDP(1, given=("sex",))
    about = MaximizeInformationOfEach(("X", "Z"))
    return Problem(("X", "Z"), about, (promise,), strata=("sex",), output="Y", each=True, joint=law)


def columns():
    law = Pmf.from_records(LETTERS, COUNTS.items())
    names = tuple(LETTERS)
    return Problem(names, MaximizeInformationOfEach(names), (LocalDP(1),), output="Y", each=True, joint=law)


def strata():
    """One stratum has no record."""
    law = Pmf.from_records(LETTERS | {"sex": ("f", "m", "x")}, COUNTS.items())
    promise = LocalDP(1, given=("sex",))
    return Problem(("X",), MaximizeInformation(("X",)), (promise,), strata=("sex",), output="Y", joint=law)


@pytest.mark.parametrize(
    ("rule", "design"),
    [
        ("parts", lambda: solve(columns())),
        ("parts", lambda: solve(strata())),
        ("parts", lambda: solve(columns_in_strata())),
        ("groups", lambda: windows(bits(9), size=3)),
        ("groups", lambda: modular_sums(bits(9), modulus=3)),
        ("closed", lambda: modular_sums(bits(3), modulus=3)),
    ],
)
def test_what_is_solved_is_proved_by_the_kernel(rule, design):
    found = design()
    verdict = check(found.dumps())
    assert verdict.rule == rule
    assert 0 <= verdict.value - found.value < Fraction(1, 10**29)
    assert 0 <= found.bound - verdict.bound < Fraction(1, 10**29)
