"""Proofs of optimality: each kind RETURNS the bound that it proves, so rounding can loosen a proof but never break it.

A mechanism is a set of columns c_y >= 0 of a cone with sum_y c_y = 1 (see `cone`). If z.c + tau p.c >= phi(c) for
every c of that cone, then I(W; Y, K) <= sum_x z(x) + tau for every mechanism that keeps the promises.
"""

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import ceil
from typing import Any

from dalenius.certify.cone import Cone
from dalenius.core.numbers import exact
from dalenius.core.pivoting import vertices
from dalenius.core.reading import require

Box = list[tuple[Fraction, Fraction]]


def rays(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """z alone: the checker visits every extreme column by itself and raises tau to what the worst of them needs.

    Extreme under the promises of independence; the others only leave fewer columns.
    """
    z = [exact(v) for v in proof["z"]]
    require(len(z) == len(cone.mass), "z has the wrong length")
    per = [value * cone.total / m for value, m in zip(z, cone.mass)]
    need = (
        cone.phi(cone.joint(v)) - sum(per[x] * m for x, m in v.items())
        for v in vertices(len(z), cone.rows(), proof["basis"])
    )
    return sum(z, Fraction(0)) + max(need)


def cells(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """Simplicial cells of the posterior u of (W, K), a linear function a_j and multipliers lambda_j for each leaf.

    A node (flat, pre-order) gives the weights of a point on the corners of its cell; its children replace one corner of
    positive weight by that point, so they cover the cell. At a leaf a_j is shifted until a_j.g >= phi(g) at corners,
    hence a_j.u >= phi(u) on the cell. Rows of promises are = 0 or >= 0 on the cone, the latter with lambda_j >= 0. So
    l_j(x) = sum a_j p(x,w,k) + sum lambda_j row(x) has l_j.c >= phi(c) if c has its posterior in cell j. With
    z = max_j l_j that is all. Under local DP with ratio r any z does: m = min c <= p.c and c <= r m, so z.c + m tau >=
    l_j.c with tau = sum_x [r (l_j - z)_+ - (l_j - z)_-].
    """
    letters, shift = sorted({wk for target in cone.target for wk, _ in target}), dict[int, Fraction]()
    unit, cuts, tree = (
        int(proof["unit"]),
        [[int(v) for v in a] for a, *_ in proof["cuts"]],
        iter([*proof["tree"], None]),
    )
    stack = [[[Fraction(i == j) for j in range(len(letters))] for i in range(len(letters))]]
    while stack:
        cell, node = stack.pop(), next(tree)
        if isinstance(node, int):
            need = (cone.phi(dict(zip(letters, g))) * unit - sum(a * t for a, t in zip(cuts[node], g)) for g in cell)
            shift[node] = max([*need] + ([shift[node]] if node in shift else []))
            continue
        t = [exact(v) for v in node]
        require(len(t) == len(cell) and min(t) >= 0 and sum(t) == 1, "a split is not a point of its cell")
        point = [sum((a * g[w] for a, g in zip(t, cell)), Fraction(0)) for w in range(len(letters))]
        stack += [[*cell[:i], point, *cell[i + 1 :]] for i in reversed(range(len(cell))) if t[i]]
    require([*tree] == [None], "the tree does not match its cells")
    return raised(cone, proof, letters, shift)


def ranges(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """As `cells`, with boxes l <= u <= h of the posterior u of W; a node is [w, threshold], what is below it first.

    u is a mean of the p(w | x), which gives the first box. On a box phi(u) = sum u_w log2(u_w / p_w) <= a.u + the sum
    over w of the larger of e log2(e / p_w) - a_w e at its two ends e, each difference being convex; and sum u = 1.
    `given` narrows a box: [w, [[j, a_j], ...], multipliers of the equations] says that u_w is sum_j a_j u_j and what
    p(w | x) - sum_j a_j p(j | x), less the equations times their multipliers, may be at some x.
    """
    require(not cone.release.kept, "ranges are for outputs without kept columns")
    letters, shift = sorted({wk for target in cone.target for wk, _ in target}), dict[int, Fraction]()
    unit, tree, one = int(proof["unit"]), iter([*proof["tree"], None]), Fraction(1)
    cuts, phi = [[int(v) for v in a] for a, *_ in proof["cuts"]], cache(lambda wk, e: cone.phi({wk: e}, one) * unit)
    given = [[Fraction(dict(t).get(wk, 0), m) for t, m in zip(cone.target, cone.mass)] for wk in letters]
    stack, narrow = [[(min(shares), max(shares)) for shares in given]], related(cone, proof, given)
    while stack:
        box, node = stack.pop(), next(tree)
        if isinstance(node, int):
            ends = narrow(box)
            if any(low > high for low, high in ends):  # no posterior is there
                continue
            sides = zip(letters, cuts[node], ends, strict=True)
            need = sum((max(phi(wk, e) - a * e for e in pair) for wk, a, pair in sides), Fraction(0))
            shift[node] = max(need, shift.get(node, need))
            continue
        w, at = node[0], exact(node[1])
        require(0 <= w < len(box) and box[w][0] <= at <= box[w][1], "a split is outside its box")
        low, high = box[w]
        stack += [[*box[:w], half, *box[w + 1 :]] for half in ((at, high), (low, at))]
    require([*tree] == [None], "the tree does not match its boxes")
    return raised(cone, proof, letters, shift)


def related(cone: Cone, proof: dict[str, Any], given: list[list[Fraction]]) -> Callable[[Box], Box]:
    """What the affine relations of a proof leave of a box, each with the least and the largest remainder over x."""
    rows, unit, known = list(cone.rows()), int(proof["unit"]), list[tuple[int, list[tuple[int, Fraction]], Any]]()
    for w, parts, multipliers in proof.get("given", []):
        terms = [(int(j), Fraction(int(a), unit)) for j, a in parts]
        weights = [Fraction(int(v), unit) for v in multipliers]
        require(len(weights) == len(rows) and 0 <= w < len(given), "a relation does not fit")
        require(all(0 <= j < len(given) for j, _ in terms), "a relation does not fit")
        rest = [
            share
            - sum((a * given[j][x] for j, a in terms), sum((v * r[x] for v, r in zip(weights, rows)), Fraction(0)))
            for x, share in enumerate(given[w])
        ]
        known.append((w, terms, (min(rest), max(rest))))

    def narrow(box: Box) -> Box:
        ends = list(box)
        for w, terms, rest in known:
            low, high = (sum((a * box[j][(a < 0) ^ side] for j, a in terms), rest[side]) for side in (0, 1))
            ends[w] = max(ends[w][0], low), min(ends[w][1], high)
        return ends

    return narrow


def raised(cone: Cone, proof: dict[str, Any], letters: list[Any], needed: dict[int, Fraction]) -> Fraction:
    """The bound of cuts that exceed phi, each on a cell of its own, once they are raised by what they need."""
    unit, shift = int(proof["unit"]), {j: ceil(need) for j, need in needed.items()}
    cuts = [([int(v) for v in a], [int(v) for v in lam], pairs) for a, lam, *pairs in proof["cuts"]]
    exactly, bounded = len(cone.equations), len(cone.inequalities)
    fit = all(len(a) == len(letters) and len(b) == exactly + bounded for a, b, _ in cuts)
    require(unit > 0 and fit and all(v >= 0 for _, lam, _ in cuts for v in lam[exactly:]), "bad cut")
    lines, most, one = [], 0, cone.total << 64  # everything below is over the common denominator 2^64 unit total
    for j, extra in shift.items():
        line = defaultdict[Any, int](int, zip(letters, (v + extra << 64 for v in cuts[j][0])))
        rows, aside = [(row, 1, -1) for row in cone.equations] + cone.inequalities, defaultdict[Any, int](int)
        for ((i, value, k), alpha, beta), multiplier in zip(rows, cuts[j][1]):  # rounded so that z goes up
            line[i, value, k] += ceil((multiplier << 64) * alpha)
            line[k] += ceil((multiplier << 64) * beta * cone.alone[i][(value,)] / Fraction(cone.total))
        for x, other, v in (pair for pairs in cuts[j][2] for pair in pairs):
            require(int(v) >= 0, "a negative multiplier")
            aside[other] += ceil(int(v) * cone.near[x, other] * one)
            aside[x] -= int(v) * one
        lines.append((line, aside))
        most = max(most, sum(map(abs, line.values())))
    z = [int(v) * one for v in proof.get("z", [])]
    require(not z or (bool(cone.ratio) and len(z) == len(cone.mass)), "z has the wrong length")
    short, total = [Fraction(0)] * len(lines), sum(z)
    for x, (row, mass) in enumerate(zip(cone.atoms, cone.mass)):
        seen = (((i, *vk), n) for i, view in enumerate(cone.seen) for vk, n in view[x])
        cut = max(0, mass.bit_length() - 256)  # of a long mass the first bits do; `most` covers the others
        terms = [(key, n >> cut) for key, n in (*cone.target[x], *cone.beside[x], *seen)]
        more = most if cut else 0
        here = [(sum(n * line[key] for key, n in terms) + more << cut) + aside[row] for line, aside in lines]
        if z:
            over = [l - z[x] for l in here]
            short = [s + (d * cone.ratio if d > 0 else d) for s, d in zip(short, over)]
        else:
            total += max(here)
    for row in {x for _, aside in lines for x in aside}.difference(cone.atoms):  # inputs that never occur
        total += max(aside[row] for _, aside in lines)
    return (total + max([Fraction(0), *short])) / (unit * one)
