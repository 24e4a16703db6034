"""A small leakage program, and its solution checked in every figure."""

from fractions import Fraction
from math import log

import numpy as np
import pytest

from dalenius.solvers.leakage import Program, rational, search
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.limits import Limits, whole
from tests.leakage_instances import (
    hamming,
    term,
)

BIT = log(2)
GAP = 1e-6 * BIT


def coin(distortion, **parts):
    """A fair bit, its own secret, with Hamming distortion."""
    mass = np.array([1, 1], object)
    parts.setdefault("objective", ((Fraction(1), term(np.diag(mass))),))
    parts.setdefault("cost", np.zeros((2, 2), object))
    return Program(mass, 2, np.ones((2, 2), bool), distortions=((hamming(2), distortion),), **parts)


def solved(program, gap=GAP):
    """A solution whose figures hold, and whose exact channel keeps every limit and is within the gap too."""
    solution = search(program, gap=gap, seconds=60)
    assert solution.value - solution.bound <= 1.001 * gap
    assert solution.bound <= solution.value + 1e-12
    assert solution.bound == pytest.approx(Arrays.of(program).bound(solution.multipliers), abs=1e-12)
    W = rational(program, solution)
    assert Limits(program).broken(*whole(np.array(W, object))) is None
    pi = np.array([[float(v) for v in row] for row in W]) * Arrays.of(program).p[:, None]
    assert Arrays.of(program).value(pi) - solution.bound <= 1.2 * gap
    return solution, W
