"""Extreme points by the Parma Polyhedra Library, where it is installed (the extra `vertices`): a faster `vertices`.

The double description method adds one inequality after another. It lists the same exact rationals as the walk, some
four times sooner for 6,782 vertices, but it cannot be stopped at a limit and names no basis from which a checker could
walk, so it is asked for by name and never chosen silently.

References: Motzkin, Raiffa, Thompson & Thrall (1953); Bagnara, Hill & Zaffanella, "The Parma Polyhedra Library" (2008).
"""

from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from math import lcm

from dalenius.errors import Infeasible, InputError, SolverFailed, Unsupported
from dalenius.solvers.exact import Rational, Rows, as_fraction

__all__ = ["listed_vertices"]


def listed_vertices(A: Rows, b: Sequence[Rational]) -> list[tuple[Fraction, ...]]:
    """All vertices of {v >= 0 : A v = b}, exactly, sorted.

    Raises Unsupported without the library, Infeasible on an empty set and SolverFailed on an unbounded one.
    """
    try:
        ppl = import_module("ppl")
    except ImportError:
        raise Unsupported(
            "this listing of vertices needs pplpy: pip install 'dalenius[vertices]', or use solvers.vertices"
        ) from None
    if len(A) != len(b) or len({len(row) for row in A}) != 1:
        raise InputError(f"{len(A)} rows and {len(b)} right-hand sides are not one system of equations")
    n, system = len(A[0]), ppl.Constraint_System()
    for j in range(n):
        system.insert(ppl.Variable(j) >= 0)
    for row, right in zip(A, b, strict=True):
        numbers = [as_fraction(t) for t in (*row, right)]
        unit = lcm(*(t.denominator for t in numbers))
        *left, constant = (int(t * unit) for t in numbers)
        system.insert(ppl.Linear_Expression(left, -constant) == 0)
    generators = list(ppl.C_Polyhedron(system).minimized_generators())
    if not generators:
        raise Infeasible("no v >= 0 has A v = b")
    if not all(g.is_point() for g in generators):
        raise SolverFailed("the set {v >= 0 : A v = b} is unbounded")
    return sorted(tuple(Fraction(int(t), int(g.divisor())) for t in g.coefficients()) for g in generators)
