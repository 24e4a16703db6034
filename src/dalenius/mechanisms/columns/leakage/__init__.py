"""Least leakage, distortion or rate (papers 003 and 004).

design                        what is solved
terms, model                  a problem as arrays, and as the convex program of `solvers.leakage`
gauges, local_dp_rows, ball_of_laws, curved_promises      promises as limits of that program, by their kind
strategies                    side information with more maps than can be listed
searching                     presolve, search, exact repair; `fewer_letters` and `fewer_entries` tidy it up
proof                         multipliers as terms of the kernel
nearest_limit                 how near to a limit one can come, where all together cannot be kept
column_by_column              a recipe for each column
curve, trade, curve_picture   the trade-off curve
preflight                     what a search will take, said before it
"""

from typing import TYPE_CHECKING

from dalenius import rooms

if TYPE_CHECKING:
    from dalenius.mechanisms.columns.leakage.design import least

__all__ = ["least"]

if not TYPE_CHECKING:
    __getattr__ = rooms.opened_when_asked(__name__)
