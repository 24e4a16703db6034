"""The fewest changes under one level of local DP in closed form, against the linear program that it is."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.solvers.leakage import Program, search
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.limits import Limits, whole
from dalenius.solvers.leakage.linear import linear_optimum
from dalenius.solvers.leakage.own_letters import fewest_changes

RATIO = Fraction(27182818, 10**7)


def changes(mass, own, letters, costs=None, ratio=RATIO):
    """Row x changes unless it is released as own[x]; a change of it costs costs[x]."""
    cost = np.repeat(np.array(costs or [1] * len(mass), dtype=object)[:, None], letters, axis=1)
    cost[np.arange(len(mass)), own] = 0
    return Program(
        np.array(mass, dtype=object),
        letters,
        np.ones((len(mass), letters), dtype=bool),
        cost,
        local_dp=((np.arange(len(mass)), ratio),),
    )


CASES = {
    "one letter is left": ([97, 2, 1], [0, 1, 2], 3, None, RATIO),
    "all stay": ([5, 4, 4, 3], [0, 1, 2, 3], 4, None, RATIO),
    "the last one stays by a hair": ([3, 3, 2], [0, 1, 2], 3, None, Fraction(2)),
    "other places, a letter of nobody": ([9, 1, 5, 7], [3, 0, 4, 1], 5, None, RATIO),
    "changes that differ": ([9, 1, 5], [0, 1, 2], 3, [1, 40, Fraction(1, 3)], RATIO),
    "two values": ([2, 1], [1, 0], 2, None, Fraction(3, 2)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_closed_form_is_the_optimum_of_the_linear_program(case):
    program = changes(*case)
    given = Arrays.of(program)
    found, best = fewest_changes(program, given), linear_optimum(program, given, loss=1e-12)
    assert found is not None
    assert found.value == pytest.approx(best.value, abs=1e-12)
    assert found.bound == pytest.approx(found.value, abs=1e-12)
    assert Limits(program).broken(*whole(np.array(found.channel, dtype=object))) is None
    assert search(program, gap=1e-9, seconds=1).channel == found.channel


@pytest.mark.parametrize("many", [3, 7, 12])
def test_random_laws_and_levels(many):
    rng = np.random.default_rng(many)
    for _ in range(10):
        mass = (1 + rng.multinomial(1000, rng.dirichlet(np.full(many, 0.4)))).tolist()
        program = changes(mass, rng.permutation(many), many, ratio=Fraction(int(rng.integers(11, 80)), 10))
        given = Arrays.of(program)
        found = fewest_changes(program, given)
        assert found is not None
        assert found.value == pytest.approx(linear_optimum(program, given, loss=1e-12, exact=False).value, abs=1e-9)
        assert found.bound == pytest.approx(found.value, abs=1e-12)


def test_other_programs_are_left_to_the_simplex_method():
    program = changes([5, 4, 4], [0, 1, 2], 3)
    forbidden = program.allowed.copy()
    forbidden[0, 1] = False
    dearer = program.cost.copy()
    dearer[0, 1] = 2
    same = changes([5, 4, 4], [0, 0, 2], 3)
    others = [
        same,
        replace(program, allowed=forbidden),
        replace(program, cost=dearer),
        replace(program, distortions=((program.cost, Fraction(1, 2)),)),
        replace(program, marginal=(Fraction(1, 3),) * 3),
        replace(program, pairs=((0, 1, RATIO),)),
        replace(program, local_dp=()),
        replace(program, local_dp=((np.arange(2), RATIO),)),
        replace(program, local_dp=((np.arange(3), Fraction(1)),)),
    ]
    assert [fewest_changes(other, Arrays.of(other)) for other in others] == [None] * len(others)
