r"""Proof for local DP when the output tells about all of the input (002, section 2.3), for any number of letters.

With the ratio r a column with minimum 1 lies in [1, r]^X, so it is a mixture of columns 1 + c 1_A, c = r - 1, and those
tell g(P) = P r log2 r - (1 + c P) log2(1 + c P) with P = p(A), a concave function. With a price y(x) for the mass of
each letter, I(X; Y) <= sum_x y p + tau, where tau is the most that g(p(A)) - sum_x y p (1 + c 1_A) is for any A, and
not below 0, because p.(1 + c 1_A) >= 1. Letters stand in runs of one price, the commonest first. Branch on how many
letters of a run are in A, if they are equally likely. At a leaf the tangent of g at any P0 lies above g, and what is
best for a line is found run by run; a run that is not told apart counts as divisible, which only raises tau.
"""

from bisect import bisect_left
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any

from dalenius.core.arithmetic import BITS, E_HIGH, E_LOW, log2, nats, times_log2
from dalenius.core.numbers import exact
from dalenius.core.reading import require


def most_told(counts: list[int], r: Fraction, proof: dict[str, Any]) -> Fraction:
    """`runs` are [letters, price]; the tree is flat, in pre-order: [run, k], more than k letters first, or a P0."""
    order, total, (c, unity) = sorted((n for n in counts if n), reverse=True), sum(counts), (r - 1).as_integer_ratio()
    runs = [(int(many), exact(price)) for many, price in proof["runs"]]
    ends = [*accumulate(many for many, _ in runs)]
    require(min(many for many, _ in runs) > 0 and ends[-1] == len(order), "the runs are not made of all letters")
    unit = [order[end - 1] if order[end - 1] == order[end - many] else 0 for end, (many, _) in zip(ends, runs)]
    mass = [sum(order[end - many : end]) for end, (many, _) in zip(ends, runs)]
    one = lcm(*(price.denominator for _, price in runs))
    price = [int(v * one) for _, v in runs]  # whole numbers: prices over `one`, masses over `total`
    cheap = sorted(range(len(runs)), key=price.__getitem__)
    sums = [*zip(*([0, *accumulate(v)] for v in ([mass[j] for j in cheap], [mass[j] * price[j] for j in cheap])))]
    rank, paid = {j: k for k, j in enumerate(cheap)}, Fraction(sums[-1][1], one * total)
    most, worst, sorted_prices = times_log2(r, r)[1], 0, [price[j] for j in cheap]
    e_low, e_high = int(E_LOW * (1 << BITS)), int(E_HIGH * (1 << BITS))  # both are whole numbers of these units
    nodes, stack = iter([*proof["tree"], None]), [dict[int, tuple[int, int]]()]
    while stack:
        known, node = stack.pop(), next(nodes)
        if isinstance(node, list):
            run, k = node
            require(type(run) is int and 0 <= run < len(runs) and bool(unit[run]), "a branch names no run of equals")
            low, high = known.get(run, (0, runs[run][0]))
            require(type(k) is int and low <= k < high, "a branch does not divide its run")
            stack += [known | {run: (low, k)}, known | {run: (k + 1, high)}]
            continue
        at = exact(node)
        require(isinstance(node, str) and 0 <= at <= 1, "a tangent outside [0, 1]")
        # The tangent is c P0 log2 e - log2(1 + c P0) + slope P, with c = c / unity and P >= 0; all of it rounded up.
        top, bottom = c * at.numerator, unity * at.denominator
        below = log2(Fraction(top + bottom, bottom))[0]
        slope = most - c * (below + e_low) // unity
        cut = bisect_left(sorted_prices, -(-slope * one * unity // (c << BITS)))  # runs worth their price: all taken
        taken, cost = sums[cut]
        for run, (low, high) in known.items():
            more = high * unit[run] - mass[run] if rank[run] < cut else low * unit[run]
            taken, cost = taken + more, cost + more * price[run]
        here = -(-top * e_high // bottom) - below - -slope * taken // total
        worst = max(worst, here - (c * cost << BITS) // (unity * one * total))
    require([*nodes] == [None], "the tree does not match its subsets")
    return max(paid, Fraction(worst, 1 << BITS))  # paid + tau, and tau is not below 0


def ceiling(r: Fraction) -> Fraction:
    """I(X; Y) <= X - 1 - ln X nats with X = r ln r / (r - 1), whatever p is: it grows with X."""
    top = nats(r) * r / (r - 1)
    return (top - 1) * E_HIGH - Fraction(log2(top)[0], 1 << BITS)
