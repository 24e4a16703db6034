r"""Proof of the least estimator variance under local DP (002, section 4.1): all of it is rational, but for e^epsilon.

From n released letters the most likely law, and every efficient unbiased estimate, has covariance V / n with

    V = D G^-1 D',   G = sum_y v_y v_y' / p.c_y,   v_y = D' c_y,   D' = (I | -1),

for a square matrix the covariance of its inverse. The objective is tr V = tr(K G^-1), K = D'D = I + 11'. For any
symmetric B, tr(K G^-1) >= 2 tr(K B) - sum_y v_y' B K B v_y / p.c_y. A column is a mixture of columns 1 + (r - 1) 1_A,
and psi(c) = v' Q v / p.c, Q = B K B, is convex, so with prices z and tau the most that psi exceeds z by on any of
these, not below 0, tr V >= 2 tr(K B) - sum z - tau, because p.(1 + (r - 1) 1_A) >= 1. Up to 12 letters all 2^S subsets
are visited. Of more, with c = r - 1 and M = D Q D', a 0/1 vector a has a_i^2 = a_i and a_i a_j >= 0, so that

    N = (1 + c p.a) z.(1 + c a) - c^2 a'Ma + sum_i d_i (a_i^2 - a_i) - a'Ea,   E >= 0 and empty on its diagonal,

a quadratic form of (1, a), is at most (z.(1 + c a) - psi)(1 + c p.a) there: if N + s I is positive semidefinite, tau is
at most (S + 1) s. That it is, up to a little more s, the checker sees from a factorisation of its own.
"""

from fractions import Fraction
from itertools import product
from math import gcd, isqrt
from operator import mul
from typing import Any

from dalenius.certify.local_dp import dp_level
from dalenius.certify.privacy import Figures
from dalenius.core.arithmetic import exp
from dalenius.core.numbers import exact
from dalenius.core.reading import counted, require, stochastic

Matrix = list[list[int]]
LETTERS = 12  # of which every subset is visited
GRAM_BITS, FINE_BITS = 160, 320  # bits after the point of G, and of its inverse
FORM_BITS, ROOT_BITS = 80, 100  # of N, and of its factor


def total_variance(rows: list[list[int]], scale: int, counts: list[int]) -> Fraction:
    """tr(K G^-1), from above: the factor of each v v' is rounded down, which makes G smaller and its inverse larger."""
    n, total = len(rows) - 1, sum(counts)
    G = [[0] * n for _ in range(n)]
    for column in zip(*rows):
        v = [c - column[-1] for c in column[:-1]]
        if (mass := sum(a * b for a, b in zip(counts, column))) and (whole := gcd(*v)):
            weight, places = (
                (whole * whole * total << GRAM_BITS) // (mass * scale),
                [(i, a // whole) for i, a in enumerate(v) if a],
            )
            for i, a in places:
                for j, b in places:
                    G[i][j] += weight * a * b
    return trace_of_inverse(G)


def trace_of_inverse(G: Matrix) -> Fraction:
    """tr(K G^-1) from above, for a positive semidefinite G in units of 2^-GRAM_BITS.

    With X near G^-1 and the rows of |I - G X| summing to at most e < 1, G is regular, G^-1 = X (I - (I - G X))^-1, and
    no row of |G^-1 - X| sums to more than e / (1 - e) of the largest row of |X|.
    """
    n, one = len(G), 1 << FINE_BITS
    rows = [
        [*(v << FINE_BITS - GRAM_BITS for v in row), *(one * (i == j) for j in range(n))] for i, row in enumerate(G)
    ]
    for k in range(n):
        require(rows[k][k] > 0, "the released letters do not determine every frequency")
        rows[k] = [(v << FINE_BITS) // rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k and (factor := rows[i][k]):
                rows[i] = [a - (factor * b >> FINE_BITS) for a, b in zip(rows[i], rows[k])]
    X = [row[n:] for row in rows]
    unit, across = 1 << GRAM_BITS + FINE_BITS, list(zip(*X))
    missed = max(
        sum(abs(unit * (i == j) - sum(map(mul, row, x))) for j, x in enumerate(across)) for i, row in enumerate(G)
    )
    require(2 * missed < unit, "the released letters hardly determine some frequency")
    spread = Fraction(2 * n * missed * max(sum(map(abs, row)) for row in X), (unit - missed) * one)
    return Fraction(sum(map(sum, X)) + sum(X[i][i] for i in range(n)), one) + spread


def least(counts: list[int], r: Fraction, proof: dict[str, Any]) -> Fraction:
    """The bound above: B and z in whole numbers of 1 / unit."""
    S, total, unit, c = len(counts), sum(counts), int(proof["unit"]), r - 1
    n, B, z = S - 1, [[int(v) for v in row] for row in proof["B"]], [int(v) for v in proof["z"]]
    fit = len(B) == n and len(z) == S and all(len(row) == n for row in B)
    require(fit and all(B[i][j] == B[j][i] for i in range(n) for j in range(i)), "B is not a symmetric matrix")
    sums = [sum(row) for row in B]
    trace = sum(B[i][i] for i in range(n)) + sum(sums)  # tr(K B)
    require(S >= 2 and unit > 0, "the unit of a proof is not positive")
    if "d" in proof:
        return Fraction(2 * trace - sum(z), unit) - most_excess(counts, c, B, z, proof)
    require(S <= LETTERS, f"the subsets of more than {LETTERS} letters are not visited one by one")
    Q = [[sum(map(mul, B[i], B[j])) + sums[i] * sums[j] for j in range(n)] for i in range(n)]  # K = I + 11'
    tau = Fraction(0)
    for A in product((0, 1), repeat=S):
        v, mass = [a - A[-1] for a in A[:-1]], sum(n for n, a in zip(counts, A) if a)
        square = sum(x * sum(q * y for q, y in zip(row, v) if y) for row, x in zip(Q, v) if x)
        told = c * c * Fraction(square, unit * unit) / (1 + c * Fraction(mass, total))
        tau = max(tau, told - Fraction(sum(z), unit) - c * Fraction(sum(p for p, a in zip(z, A) if a), unit))
    return Fraction(2 * trace - sum(z), unit) - tau


def most_excess(counts: list[int], c: Fraction, B: Matrix, z: list[int], proof: dict[str, Any]) -> Fraction:
    """tau from the matrix N."""
    S, total, unit = len(counts), sum(counts), int(proof["unit"])
    d, E, s = [int(v) for v in proof["d"]], [[int(v) for v in row] for row in proof["E"]], int(proof["s"])
    require(len(d) == S and len(E) == S and all(len(row) == S for row in E) and s >= 0, "d or E has the wrong size")
    good = all(E[i][i] == 0 and E[i][j] == E[j][i] >= 0 for i in range(S) for j in range(S))
    require(good, "E is negative somewhere, not symmetric or has a diagonal")
    whole = [[*row, -sum(row)] for row in B]
    whole.append([-sum(column) for column in zip(*whole)])  # D B D'
    c_top, c_low = c.as_integer_ratio()
    one = 2 * c_low**2 * unit**2 * total  # N is over this
    N = [[0] * (S + 1) for _ in range(S + 1)]
    N[0][0] = 2 * c_low**2 * unit * total * sum(z)
    for i in range(S):
        line = c_top * c_low * (total * z[i] + counts[i] * sum(z)) - c_low**2 * total * d[i]
        N[0][i + 1] = N[i + 1][0] = line * unit
        for j in range(i + 1):
            both = c_top**2 * (
                unit * (counts[i] * z[j] + counts[j] * z[i]) - 2 * total * sum(map(mul, whole[i], whole[j]))
            )
            here = both + 2 * c_low**2 * unit * total * ((d[i] if i == j else 0) - E[i][j])
            N[i + 1][j + 1] = N[j + 1][i + 1] = here
    n = [[(v << FORM_BITS) // one for v in row] for row in N]  # each entry loses less than one unit of 2^-FORM_BITS
    shift = Fraction(s + S + 1, 1 << FORM_BITS) + lacking(
        [[v + (s if i == j else 0) for j, v in enumerate(row)] for i, row in enumerate(n)]
    )
    return (S + 1) * shift


def lacking(n: Matrix) -> Fraction:
    """How much of I a matrix in units of 2^-FORM_BITS lacks at most to be semidefinite, when it has a factor L.

    What n exceeds L L' by has no row whose absolute values sum to more.
    """
    L, left = [[0] * len(n) for _ in n], [0] * len(n)
    for j in range(len(n)):
        for i in range(j, len(n)):
            rest = (n[i][j] << 2 * ROOT_BITS - FORM_BITS) - sum(map(mul, L[i][:j], L[j][:j]))
            require(i > j or rest > 0, "the matrix of the proof is not positive semidefinite")
            L[i][j] = isqrt(rest) if i == j else rest // L[j][j]
            rest -= L[i][j] * L[j][j]
            left[i] += abs(rest)
            left[j] += abs(rest) if i > j else 0
    return Fraction(max(left), 1 << 2 * ROOT_BITS)


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
