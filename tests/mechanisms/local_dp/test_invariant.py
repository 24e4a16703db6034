"""Form (8) with preserved margins: one number to choose, at an end of its interval; margins, bounds, refusals."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from contract import DesignContract, information

from dalenius.core import LocalDP, MaximizeInformation, Pmf, Pram, Problem
from dalenius.core.numbers import exact
from dalenius.documents import checked as check
from dalenius.errors import Infeasible, Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.local_dp.invariant import interval, invariant, least_level


def problem(p=(5, 3, 2), epsilon=1, **rest):
    letters = tuple("abcdefgh"[: len(p)])
    joint = Pmf.from_records({"X": letters}, [((x,), n) for x, n in zip(letters, p, strict=True)])
    said = {
        "release": ("X",),
        "form": "pram",
        "preserve_marginals": True,
        "joint": joint,
        "allow_inverted": True,
    } | rest
    return Problem(("X",), MaximizeInformation(("X",)), (LocalDP(epsilon),), **said)


class TestContract(DesignContract):
    def problems(self):
        return {"three letters": problem()}

    def infeasible(self):
        return {"far apart": problem((50, 20, 10))}

    test_rows_of_impossible_inputs_repeat_the_output_pmf = None  # every input occurs


def test_a_value_that_never_occurs_is_refused_with_a_way_out():
    with pytest.raises(Infeasible, match=r"can come from no other when margins are.* or declare fewer values"):
        solve(problem((5, 0, 3)))


@pytest.mark.parametrize(("p", "epsilon"), [((5, 3, 2), 1), ((7, 1), 1), ((1,) * 6, 1), ((4, 3, 2), 2)])
def test_margins_are_preserved_exactly_and_no_other_matrix_of_the_form_tells_more(p, epsilon):
    design = solve(problem(p, epsilon))
    check(design.dumps())
    rows, total, S = design.channel.rows, sum(p), len(p)
    assert [sum(n * row[y] for n, row in zip(p, rows, strict=True)) for y in range(S)] == list(p)
    assert isinstance(design.channel, Pram)
    shares = [Fraction(n, total) for n in p]
    low, high = interval(shares, exact(np.e**epsilon))
    for t in np.linspace(0, 1, 9):  # every other invariant matrix of form (8)
        c = low + Fraction(float(t)) * (high - low)
        other = Pram(design.channel.inputs, design.channel.output, tuple(1 - c / v for v in shares))
        assert information(problem(p), other.rows, ["X"]) <= float(design.value) + 1e-12


def test_the_interval_is_that_of_the_level():
    """Just inside the level holds, just outside it does not."""
    p, r = [Fraction(n, 9) for n in (4, 3, 2)], Fraction(3)
    letters = {"X": ("a", "b", "c")}

    def level(c):
        rows = Pram(letters, letters, tuple(1 - c / v for v in p)).rows
        return max(max(column) / min(column) for column in zip(*rows, strict=True))

    low, high = interval(p, r)
    hair = Fraction(1, 10**9)
    assert level(low) == r == level(high) or max(level(low), level(high)) <= r
    assert level(low - hair) > r
    assert level(high + hair) > r


def test_what_cannot_be_says_from_which_level_on_it_can():
    with pytest.raises(Infeasible, match=r"from the level 0\.916291 on, not at 0\.5"):
        solve(problem(epsilon="1/2"))
    shares = [Fraction(n, 10) for n in (5, 3, 2)]
    level = least_level(shares)
    assert solve(problem(epsilon=exact(level) + Fraction(1, 10**6))).value > 0
    with pytest.raises(Infeasible, match="never occurs"):
        solve(problem((5, 0, 3)))


def test_every_matrix_in_the_letters_tells_at_least_as_much():
    assert solve(problem()).value < solve(problem(form=None)).value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"freeze": ("a",)}, "does not take freeze"),
        ({"guarantees": (LocalDP(1, delta="1/100"),)}, "without metric, delta and given"),
        ({"joint": Pmf.from_records({"X": tuple(map(str, range(65)))}, [(("0",), 1)])}, "65 values"),
    ],
)
def test_what_it_does_not_solve_is_said(change, message):
    with pytest.raises(Unsupported, match=message):
        invariant(replace(problem(), **change))
