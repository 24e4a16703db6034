"""Arrays in, arrays out: exact linear algebra, linear programs, extreme points, capacities."""

from typing import TYPE_CHECKING

from dalenius import rooms

if TYPE_CHECKING:
    from dalenius.solvers.capacity import Ball, smallest_ball
    from dalenius.solvers.divergence import Laws
    from dalenius.solvers.exact import Rational, Rows, as_fraction, null_space, rank, solve
    from dalenius.solvers.extremal import Mixture, Walk, best_mixture, vertices, walk
    from dalenius.solvers.likelihood import Fit, RankOne, maximum_likelihood, projection, water_filling
    from dalenius.solvers.lp import Optimum, exact_basic_solution, exact_dual, maximise
    from dalenius.solvers.maxaffine import MaxAffine, max_affine
    from dalenius.solvers.orbital import SelfDisclosure, self_disclosure
    from dalenius.solvers.repair import Repaired, repaired
    from dalenius.solvers.selection import Selection, best_selection
    from dalenius.solvers.tableau import Tableau, feasible_tableau

__all__ = [
    "Ball",
    "Fit",
    "Laws",
    "MaxAffine",
    "Mixture",
    "Optimum",
    "RankOne",
    "Rational",
    "Repaired",
    "Rows",
    "Selection",
    "SelfDisclosure",
    "Tableau",
    "Walk",
    "as_fraction",
    "best_mixture",
    "best_selection",
    "exact_basic_solution",
    "exact_dual",
    "feasible_tableau",
    "max_affine",
    "maximise",
    "maximum_likelihood",
    "null_space",
    "projection",
    "rank",
    "repaired",
    "self_disclosure",
    "smallest_ball",
    "solve",
    "vertices",
    "walk",
    "water_filling",
]

if not TYPE_CHECKING:
    __getattr__ = rooms.opened_when_asked(__name__)
