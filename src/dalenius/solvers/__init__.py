"""Arrays in, arrays out: exact linear algebra, linear programs, extreme points."""

from dalenius.solvers.exact import Rational, Rows, as_fraction, exp_bounds, log2_bounds, null_space, rank, rref, solve
from dalenius.solvers.extremal import Mixture, Walk, best_mixture, vertices, walk
from dalenius.solvers.lp import Optimum, exact_basic_solution, exact_dual, maximise
from dalenius.solvers.tableau import Tableau, feasible_tableau

__all__ = [
    "Mixture",
    "Optimum",
    "Rational",
    "Rows",
    "Tableau",
    "Walk",
    "as_fraction",
    "best_mixture",
    "exact_basic_solution",
    "exact_dual",
    "exp_bounds",
    "feasible_tableau",
    "log2_bounds",
    "maximise",
    "null_space",
    "rank",
    "rref",
    "solve",
    "vertices",
    "walk",
]
