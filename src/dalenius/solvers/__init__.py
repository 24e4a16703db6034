"""Arrays in, arrays out: exact linear algebra, linear programs, extreme points."""

from dalenius.solvers.exact import Rational, Rows, as_fraction, null_space, rank, rref, solve
from dalenius.solvers.extremal import Mixture, Walk, best_mixture, vertices, walk
from dalenius.solvers.lp import Optimum, exact_basic_solution, exact_dual, maximise
from dalenius.solvers.maxaffine import MaxAffine, max_affine
from dalenius.solvers.orbital import SelfDisclosure, self_disclosure
from dalenius.solvers.repair import Repaired, repaired
from dalenius.solvers.tableau import Tableau, feasible_tableau

__all__ = [
    "MaxAffine",
    "Mixture",
    "Optimum",
    "Rational",
    "Repaired",
    "Rows",
    "SelfDisclosure",
    "Tableau",
    "Walk",
    "as_fraction",
    "best_mixture",
    "exact_basic_solution",
    "exact_dual",
    "feasible_tableau",
    "max_affine",
    "maximise",
    "null_space",
    "rank",
    "repaired",
    "rref",
    "self_disclosure",
    "solve",
    "vertices",
    "walk",
]
