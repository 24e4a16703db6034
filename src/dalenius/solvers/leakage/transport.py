r"""An exact channel with stated row sums and a stated law of the letters, on a sparse support: a transport plan.

X(e, t) = N(e) W(t|e) has row sums N(e) and column sums N r(t). The entries of a spanning forest of the support, the
largest ones, are solved for; all others are rounded down. Going from the leaves of a tree inwards every entry is what
its leaf still lacks, so that each row gets the denominator N(e) and no determinant.
"""

from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.leakage.program import Floats

__all__ = ["transported"]

_BITS = 36  # of a row of the table; doubles have no more for tables of a hundred thousand rows

Rows = tuple[tuple[Fraction, ...], ...]


def transported(channel: Floats, support: NDArray[np.bool_], mass: list[int], law: tuple[Fraction, ...]) -> Rows:
    """Rows of W near `channel`, zero off the support, with sum_e N(e) W(t|e) = N law(t) exactly.

    Parameters
    ----------
    channel
        W in doubles (n, m), nearly with these sums.
    support
        Where W may be positive.
    mass
        N(e), whole numbers.
    law
        The law of the letters.

    Returns
    -------
    tuple of tuple of Fraction
        The rows; entries may come out negative where the doubles were not near enough.

    Raises
    ------
    SolverFailed
        The rows and letters of a connected part of the support do not have the same mass.

    Examples
    --------
    >>> third = np.array([[2 / 3, 1 / 3], [0.0, 1.0]])
    >>> transported(third, third > 0, [3, 1], (Fraction(1, 2), Fraction(1, 2)))[0]
    (Fraction(2, 3), Fraction(1, 3))
    """
    n, m = channel.shape
    total = sum(mass)
    unit = lcm(*((total * r).denominator for r in law)) << _BITS
    plan: dict[tuple[int, int], int] = {}
    tree: list[dict[int, int]] = [{} for _ in range(n + m)]  # of a node, its neighbours
    parts = list(range(n + m))

    def part_of(node: int) -> int:
        while parts[node] != node:
            parts[node] = parts[parts[node]]
            node = parts[node]
        return node

    rows, letters = np.nonzero(support)
    weights = channel[rows, letters] * np.array(mass, dtype=np.float64)[rows]
    missing = [value * unit for value in mass] + [int(total * r * unit) for r in law]
    for k in np.argsort(-weights, kind="stable").tolist():
        e = int(rows[k])
        t = int(letters[k])
        one = part_of(e)
        other = part_of(n + t)
        if one != other:
            parts[one] = other
            tree[e][n + t] = tree[n + t][e] = 1
            continue
        above, below = max(float(weights[k]), 0.0).as_integer_ratio()
        entry = above * unit // below
        plan[e, t] = entry
        missing[e] -= entry
        missing[n + t] -= entry
    leaves = [node for node in range(n + m) if len(tree[node]) <= 1]
    while leaves:
        leaf = leaves.pop()
        if not tree[leaf]:
            if missing[leaf]:
                raise SolverFailed("a part of the support cannot carry the distribution of its values")
            continue
        ((near, _),) = tree[leaf].items()
        plan[(leaf, near - n) if leaf < n else (near, leaf - n)] = missing[leaf]
        missing[near] -= missing[leaf]
        missing[leaf] = 0
        del tree[near][leaf]
        tree[leaf].clear()
        if len(tree[near]) <= 1:
            leaves.append(near)
    zero = Fraction(0)
    return tuple(
        tuple(Fraction(plan[e, t], mass[e] * unit) if plan.get((e, t)) else zero for t in range(m)) for e in range(n)
    )
