"""Limits that cannot be kept together: the refusal names the one, and the figure that would do."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dalenius.core import Distortion, Independent, Leakage, LocalDP, MinimizeLeakage, MinimizeRate, Pmf, Problem
from dalenius.errors import Infeasible
from dalenius.mechanisms import solve
from dalenius.testing import binary_tradeoff


def test_the_smallest_distortion_is_said():
    matrix = Distortion(((1, 2), (2, 1)), ("X",), Fraction(1, 2))
    with pytest.raises(Infeasible, match=r"the smallest possible is 1 \("):
        solve(replace(binary_tradeoff("1/10", 1), limits=(matrix,)))


def test_a_limit_that_guarantees_exclude_names_the_distortion_that_can_be_had():
    with pytest.raises(Infeasible, match=r"is at least 0\.\d+, not 0\.1"):
        solve(replace(binary_tradeoff("1/10", "1/10"), guarantees=(Independent("S"),)))


def test_the_refused_limit_is_the_one_that_cannot_be_kept():
    """The limit of A is kept by its cheapest values alone and leaves the program; the words are about B."""
    fair = Pmf.from_records({"A": "01", "B": "01"}, [((a, b), "1/4") for a, b in product("01", repeat=2)])
    limits = (Distortion("hamming", ("A",), 0), Distortion("hamming", ("B",), "1/10"))
    both = ("A", "B")
    problem = Problem(joint=fair, observe=both, release=both, objective=MinimizeLeakage("B"), limits=limits)
    with pytest.raises(Infeasible, match=r"the distortion of B is at least 0\.316\d+, not 0\.1"):
        solve(replace(problem, guarantees=(Leakage("B", "1/10"),)))


@pytest.mark.long
def test_a_search_that_finds_nothing_says_whether_there_is_anything():
    """Ten values under level 1: 0.7456 of the rows change at least, and the search for a rate does not notice."""
    counts = np.array([160, 198, 224, 128, 191, 176, 56, 187, 150, 106])
    law = Pmf.from_counts({"X": "0123456789"}, np.arange(10)[:, None], counts)
    problem = Problem(
        joint=law,
        observe=("X",),
        release=("X",),
        objective=MinimizeRate(),
        guarantees=(LocalDP("1"),),
        limits=(Distortion("hamming", ("X",), "9/20"),),
    )
    with pytest.raises(Infeasible, match=r"the distortion of X is at least 0\.7\d+, not 0\.45"):
        solve(problem)
