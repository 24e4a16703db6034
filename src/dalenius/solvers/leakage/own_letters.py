r"""The fewest changes under one level of local DP, in closed form.

Row x costs least at a letter of its own, and the same at all others: w(x) is what it saves there, its mass included. To
save the most is

    max  sum_x w(x) W(x|x)     s.t.  W(y|x) <= r W(y|x').

Let c(y) be the least entry of column y. Then W(y|y) <= r c(y), and row x sums to one, so that sum_y c(y) + (r - 1) c(x)
<= 1. For a given sum of c that is a knapsack: the c of the largest w are filled first, and the most is a concave
function of the sum, linear between the points where k letters are full. There all c are 1 / (k - 1 + r), and

    saved = max_k  r P(k) / (k - 1 + r),    P(k) the sum of the k largest w.

One more letter is worth it while w (k - 1 + r) >= P(k). Rows of letters that are never released are drawn evenly among
those that are. Prices v(x) = (r w(x) - saved) / (r - 1) of the rows of the k letters, else 0, show that no other recipe
saves more: sum v = saved, and sum v + (r - 1) v(y) >= r w(y) for every y.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.lifting import none_of
from dalenius.solvers.leakage.program import Exact, Ints, Program, Solution

__all__ = ["fewest_changes"]


def fewest_changes(program: Program, given: Arrays) -> Solution | None:
    """The exact optimum of a program of this kind, with its multipliers; None of any other."""
    own = _own_letters(program, given)
    if own is None:
        return None
    ((_, r),) = program.local_dp
    rows = np.arange(len(own))
    price = program.cost[rows, own - 1]  # that of any other letter
    worth: Exact = program.mass * (price - program.cost[rows, own])
    kept: list[int] = []
    together = Fraction(0)
    for x in sorted(rows.tolist(), key=lambda x: -worth[x]):
        if worth[x] * (len(kept) - 1 + r) < together:
            break
        kept.append(x)
        together += Fraction(worth[x])
    least = 1 / (len(kept) - 1 + r)
    W = np.full(given.allowed.shape, Fraction(0), dtype=object)
    W[:, own[kept]] = Fraction(1, len(kept))
    W[np.array(kept)[:, None], own[kept]] = least
    W[kept, own[kept]] = r * least
    saved = r * together * least
    prices = np.zeros(len(own))
    prices[kept] = [float((r * worth[x] - saved) / (r - 1) / program.total) for x in kept]
    # A letter of its own is above the floor where what it saves is more than its price, and so at the ceiling.
    above = np.repeat(prices[:, None], program.letters, axis=1)
    more = worth.astype(np.float64) / float(program.total) - prices
    below = np.zeros_like(above)
    above[rows, own] = np.maximum(-more, 0.0)
    below[rows, own] = np.maximum(more, 0.0)
    y = replace(none_of(given), floors=((above, below),))
    pi = W.astype(np.float64) * given.p[:, None]
    return Solution(pi, y, given.value(pi), given.bound(y), 0, None, tuple(map(tuple, W.tolist())))


def _own_letters(program: Program, given: Arrays) -> Ints | None:
    """The letter at which each row costs least, if they differ, all others cost it the same, and one level is all."""
    limits = (given.objective, given.distortions, given.leakages, given.worst, given.pairs, given.gauges)
    if any(map(len, limits)) or len(given.G) or len(given.A) or len(given.local_dp) != 1:
        return None
    inputs, letters = given.allowed.shape
    ((together, ratio),) = given.local_dp
    if len(together) < inputs or ratio <= 1 or letters < 2 or not given.allowed.all():
        return None
    own = given.cost.argmin(axis=1)
    rows = np.arange(inputs)
    others = program.cost != program.cost[rows, own - 1][:, None]
    others[rows, own] = False
    return None if others.any() or len(set(own.tolist())) < inputs else own
