"""Promises about pairs of rows: what they cost at least is known without a search, and a recipe near it, too."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import (
    Contraction,
    Distortion,
    Leakage,
    LocalDP,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeRate,
    Pmf,
    Problem,
)
from dalenius.errors import Infeasible
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.leakage import searching
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.near_rows import least_by_pairs
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.limits import Limits
from dalenius.solvers.leakage.near_letters import near_letters
from dalenius.solvers.leakage.simple import stay_or_forget

CHANGES = Distortion("hamming", ("X",))


def line(n):
    return tuple(tuple(Fraction(abs(a - b), 4) for b in range(n)) for a in range(n))


def law(n, seed=4):
    draw = np.random.default_rng(seed)
    variables = {"X": tuple(map(str, range(n))), "S": ("a", "b")}
    cells = [((x, s), int(draw.integers(1, 30))) for x in variables["X"] for s in "ab"]
    return Pmf.from_records(variables, cells)


def asked(n, *promises, objective=None, limits=()):
    return Problem(
        joint=law(n),
        observe=("X",),
        release=("X",),
        objective=objective or MinimizeDistortion(CHANGES),
        guarantees=promises,
        limits=limits,
    )


PROMISES = {
    "plain": lambda n: LocalDP(Fraction(1)),
    "metric": lambda n: LocalDP(Fraction(1), metric=line(n)),
    "delta": lambda n: LocalDP(Fraction(1), delta=Fraction(1, 10)),
    "contraction": lambda n: Contraction(Fraction(1, 5)),
}


@pytest.mark.parametrize("name", PROMISES)
def test_no_recipe_changes_less_than_what_pairs_of_rows_cost(name):
    problem = asked(5, PROMISES[name](5))
    model = Model.of(problem)
    least = least_by_pairs(model, model.program, model.program.cost)
    best = float(solve(problem).value)
    # Among all pairs those with the nearest row are most of what a promise costs.
    assert 0.5 * best < least <= best


def test_under_a_plain_level_what_pairs_cost_is_the_least():
    problem = asked(7, LocalDP(Fraction(1)))
    model = Model.of(problem)
    assert least_by_pairs(model, model.program, model.program.cost) == pytest.approx(
        float(solve(problem).value), abs=1e-7
    )


@pytest.mark.parametrize("name", PROMISES)
@pytest.mark.parametrize("objective", [MinimizeLeakage(("S",)), MinimizeRate()])
def test_a_limit_out_of_reach_is_refused_before_a_search(name, objective, monkeypatch):
    def search(*_, **__):
        pytest.fail("a search began")

    monkeypatch.setattr(searching, "best_found", search)
    limit = replace(CHANGES, at_most=Fraction(1, 10))
    with pytest.raises(Infeasible, match=r"the distortion of X is at least 0\.\d+, not 0\.1"):
        solve(asked(12, PROMISES[name](12), objective=objective, limits=(limit,)))


def test_a_recipe_that_says_nothing_ends_the_search_for_the_least_leakage(monkeypatch):
    def search(*_, **__):
        pytest.fail("a search began")

    monkeypatch.setattr(searching, "best_found", search)
    limit = replace(CHANGES, at_most=Fraction(19, 20))
    promise = PROMISES["delta"](6)
    found = solve(asked(6, promise, objective=MinimizeLeakage(("S",)), limits=(limit,)))
    assert (found.value, found.bound) == (0, 0)


def test_near_letters_keep_a_metric_exactly_and_change_less_than_staying_now_and_then():
    program = Model.of(asked(12, PROMISES["metric"](12))).program
    exact = Limits(program)
    given = Arrays.of(program)
    found = near_letters(given)
    assert len(found) == 2
    changed = []
    for numerators, whole in found:
        assert exact.broken(numerators, whole) is None
        changed.append(given.value(given.p[:, None] * (numerators / whole).astype(float)))
    # With p(t | x) = (r - 1) / (r + 1) in the middle of a line: at least so often a value stays.
    assert changed[0] < changed[1]
    assert changed[0] <= 1 - np.tanh(1 / 8)
    assert stay_or_forget(program).value == pytest.approx(changed[0], abs=1e-2)


def test_near_letters_between_values_that_are_equally_far_apart_are_randomised_response():
    program = Model.of(asked(6, LocalDP(Fraction(1)))).program
    numerators, whole = near_letters(Arrays.of(program))[0]
    stays = float(Fraction(numerators[0, 0], whole))
    assert stays == pytest.approx(np.e / (np.e + 5), abs=1e-6)


def test_no_letters_are_near_where_rows_are_compared_with_none_that_has_one():
    program = Model.of(asked(4, LocalDP(Fraction(1)))).program
    apart = ((np.array([0, 1]), Fraction(2)), (np.array([2, 3]), Fraction(2)))
    cost = program.cost[:, :2].copy()
    two = replace(program, local_dp=apart, letters=2, cost=cost, allowed=program.allowed[:, :2])
    assert near_letters(Arrays.of(two)) == []


def test_no_letters_are_near_without_a_promise_about_pairs():
    program = Model.of(asked(4, Leakage(("S",), Fraction(1, 100)))).program
    assert near_letters(Arrays.of(program)) == []
