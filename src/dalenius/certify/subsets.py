"""Proof of optimality when the output tells about all of the input (W = X) under local DP with the ratio r.

A column with minimum 1 lies in [1, r]^X, so it is a mixture of columns 1 + (r - 1) 1_A, and for those phi depends on
P = p(A) alone: phi = g(P) = P r log2 r - (1 + c P) log2(1 + c P) with c = r - 1, which is concave. Any vector z
bounds I(X; Y) by sum z + tau, where tau is the most that g(p(A)) - z.(1 + c 1_A) is for any A, and not below 0,
because p.(1 + c 1_A) >= 1. Branch on "x in A?"; at a leaf the tangent of g at any P0 lies above g, and the best A for a
line is found atom by atom.
"""

from fractions import Fraction
from typing import Any

from dalenius.certify.cone import Cone
from dalenius.certify.universal import E_HIGH, E_LOW
from dalenius.core.arithmetic import BITS, log2, times_log2
from dalenius.core.numbers import exact
from dalenius.core.reading import require


def subsets(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """The tree is flat, in pre-order: the number of an atom (in A first), or the P0 of a leaf as text."""
    z, r = [exact(v) for v in proof["z"]], cone.ratio
    require(cone.tells_itself() and r > 1, "subsets are for W = X under local_dp")
    require(len(z) == len(cone.mass), "z has the wrong length")
    most, c = Fraction(times_log2(r, r)[1], 1 << BITS), r - 1
    gains, tau = {x: (Fraction(n, cone.total), c * v) for x, (n, v) in enumerate(zip(cone.mass, z))}, Fraction(0)
    nodes, stack = iter([*proof["tree"], None]), [dict[int, bool]()]
    while stack:
        known, node = stack.pop(), next(nodes)
        if isinstance(node, int):
            require(node in gains and node not in known, "a branch names no free atom")
            stack += [known | {node: False}, known | {node: True}]
            continue
        at = exact(node)
        require(isinstance(node, str) and 0 <= at <= 1, "a tangent outside [0, 1]")
        low = Fraction(log2(1 + c * at)[0], 1 << BITS)
        # The tangent is c P0 log2 e - log2(1 + c P0) + slope P; both ends rounded up, P >= 0.
        total, slope = c * at * E_HIGH - low, most - c * (low + E_LOW)
        for x, (p, cost) in gains.items():
            gain = slope * p - cost
            total += gain if known.get(x, gain > 0) else 0
        tau = max(tau, total - sum(z))
    require([*nodes] == [None], "the tree does not match its subsets")
    return sum(z) + tau
