r"""Proof of the least estimator variance under local DP (002, section 4.1): all of it is rational, but for e^epsilon.

From n released letters the most likely law, and every efficient unbiased estimate, has covariance V / n with

    V = D G^-1 D',   G = sum_y v_y v_y' / p.c_y,   v_y = D' c_y,   D' = (I | -1),

for a square matrix the covariance of its inverse. The objective is tr V = tr(K G^-1), K = D'D = I + 11'. For any
symmetric B, tr(K G^-1) >= 2 tr(K B) - sum_y v_y' B K B v_y / p.c_y. A column is a mixture of columns 1 + (r - 1) 1_A,
and psi(c) = v' Q v / p.c, Q = B K B, is convex, so with prices z and tau the most that psi exceeds z by on any of
these, not below 0, tr V >= 2 tr(K B) - sum z - tau, because p.(1 + (r - 1) 1_A) >= 1. All 2^S subsets are visited.
"""

from fractions import Fraction
from itertools import product
from typing import Any

from dalenius.certify.privacy import Figures, dp_level
from dalenius.core.arithmetic import exp
from dalenius.core.numbers import exact
from dalenius.core.reading import counted, require, stochastic

Matrix = list[list[Fraction]]
LETTERS = 12
GRAIN = 1 << 160  # of G, rounded down as a quadratic form


def total_variance(rows: list[list[int]], scale: int, counts: list[int]) -> Fraction:
    """tr(K G^-1), from above: G is rounded entry by entry, and what that may miss is taken from its diagonal."""
    S, total, n = len(rows), sum(counts), len(rows) - 1
    G = [[0] * n for _ in range(n)]
    terms = 0
    for column in zip(*rows):
        if mass := sum(a * b for a, b in zip(counts, column)):
            terms, v = terms + 1, [c - column[-1] for c in column[:-1]]
            for i, a in enumerate(v):
                G[i] = [g + GRAIN * a * b * total // (mass * scale) for g, b in zip(G[i], v)]
    low = [[Fraction(g - (S * terms if i == j else 0)) for j, g in enumerate(row)] for i, row in enumerate(G)]
    entries = ((1 + (i == j)) * v for i, row in enumerate(inverse(low)) for j, v in enumerate(row))
    return GRAIN * sum(entries, Fraction(0))


def inverse(G: Matrix) -> Matrix:
    """Of a positive definite matrix, which it is proved to be: every pivot on the diagonal is positive."""
    n, rows = len(G), [[*row, *(Fraction(i == j) for j in range(len(G)))] for i, row in enumerate(G)]
    for k in range(n):
        pivot = rows[k][k]
        require(pivot > 0, "the released letters do not determine every frequency")
        rows[k] = [v / pivot for v in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]


def least(counts: list[int], r: Fraction, proof: dict[str, Any]) -> Fraction:
    """The bound above: B and z in whole numbers of 1 / unit."""
    S, total, unit, c = len(counts), sum(counts), int(proof["unit"]), r - 1
    n, B, z = S - 1, [[int(v) for v in row] for row in proof["B"]], [int(v) for v in proof["z"]]
    require(2 <= S <= LETTERS and unit > 0, f"the least variance is proved for 2 to {LETTERS} letters")
    fit = len(B) == n and len(z) == S and all(len(row) == n for row in B)
    require(fit and all(B[i][j] == B[j][i] for i in range(n) for j in range(i)), "B is not a symmetric matrix")
    sums = [sum(row) for row in B]  # K = I + 11', so B K B = B B + (B 1)(B 1)'
    Q = [[sum(a * b for a, b in zip(B[i], B[j])) + sums[i] * sums[j] for j in range(n)] for i in range(n)]
    tau = Fraction(0)
    for A in product((0, 1), repeat=S):
        v, mass = [a - A[-1] for a in A[:-1]], sum(n for n, a in zip(counts, A) if a)
        square = sum(x * sum(q * y for q, y in zip(row, v) if y) for row, x in zip(Q, v) if x)
        told = c * c * Fraction(square, unit * unit) / (1 + c * Fraction(mass, total))
        tau = max(tau, told - Fraction(sum(z), unit) - c * Fraction(sum(p for p, a in zip(z, A) if a), unit))
    trace = sum(B[i][i] for i in range(n)) + sum(sums)  # tr(K B)
    return Fraction(2 * trace - sum(z), unit) - tau


def variance_levels(design: dict[str, Any]) -> tuple[Figures, ...]:
    """The level of each promise, from the rows."""
    kept = {"keep", "strata", "forbid", "freeze", "preserve_marginals", "each"} & set(design["mechanism"])
    require(not kept and not {"limits", "side_information"} & set(design), "this proof has no such limits")
    _, rows, _ = stochastic(design["channel"])
    promises = [guarantee["promised"] for guarantee in design["guarantees"]]
    require(len(promises) == 1 and set(promises[0]) == {"local_dp"}, "the variance is proved under local_dp alone")
    return (dp_level(rows, [], promises[0], [], []),)


def variance(design: dict[str, Any]) -> tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction]:
    """Figures of the promise, value and bound of tr V, for one released letter."""
    names, channel = design["mechanism"]["observe"], design["channel"]
    figures, counts = variance_levels(design), counted(design["joint"], channel["inputs"])
    require([*channel["inputs"]] == names, "the channel reads other columns than said")
    require(design["objective"] == {"minimize": {"variance": names}}, "this proof has another objective")
    _, rows, scale = stochastic(channel)
    r = exp(exact(design["guarantees"][0]["promised"]["local_dp"]))[1]
    return (
        figures,
        "variance",
        total_variance(rows, scale, counts),
        least(counts, r, design["certificate"]),
        Fraction(0),
    )
