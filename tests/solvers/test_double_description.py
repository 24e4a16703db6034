"""The optional listing of vertices against the walk, where its library is installed, and its refusals."""

import math
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dalenius.errors import Infeasible, InputError, SolverFailed, Unsupported
from dalenius.solvers import vertices
from dalenius.solvers.double_description import listed_vertices


def margins(p, n):
    A = [[int(x[i] == a) for x in product((0, 1), repeat=n)] for i in range(n) for a in (0, 1)]
    return A, [sum(t for a, t in zip(row, p, strict=True) if a) for row in A]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_it_lists_what_the_walk_visits(n):
    pytest.importorskip("ppl")
    q = Fraction(37, 100)
    alike = [math.prod(q if bit else 1 - q for bit in x) for x in product((0, 1), repeat=n)]
    counts = np.random.default_rng(n).integers(1, 1000, 2**n).tolist()
    for p in (alike, [Fraction(c, sum(counts)) for c in counts], [Fraction(1, 2**n)] * 2**n):
        assert listed_vertices(*margins(p, n)) == sorted(vertices(*margins(p, n)))


def test_sets_without_vertices_or_without_end_are_refused():
    pytest.importorskip("ppl")
    with pytest.raises(Infeasible, match="no v >= 0"):
        listed_vertices([[1, 1]], [-1])
    with pytest.raises(SolverFailed, match="unbounded"):
        listed_vertices([[1, -1]], [0])
    with pytest.raises(InputError, match="not one system"):
        listed_vertices([[1, 1]], [1, 2])


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ppl", None)
    with pytest.raises(Unsupported, match=r"dalenius\[vertices\]"):
        listed_vertices([[1, 1]], [1])
