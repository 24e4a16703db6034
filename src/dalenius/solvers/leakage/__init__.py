"""Least leakage, distortion or rate under any mixture of limits: floats with a bound, and exact channels.

Imports scipy; whoever needs a short start imports this package only when it solves.
"""

from dalenius.solvers.leakage.layout import Snapshot
from dalenius.solvers.leakage.program import Gauge, Multipliers, NoChannel, Program, Solution, Term, Unfinished
from dalenius.solvers.leakage.rational import rational
from dalenius.solvers.leakage.searching import search

__all__ = [
    "Gauge",
    "Multipliers",
    "NoChannel",
    "Program",
    "Snapshot",
    "Solution",
    "Term",
    "Unfinished",
    "rational",
    "search",
]
