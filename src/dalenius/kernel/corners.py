"""Optimality by corners: prices z alone; every extreme column under the promises of independence is visited.

The columns of mass one, v(x) = p(x) c(x), are the polytope {v >= 0, sum v = 1, rows . v = 0}. What they tell is convex,
so that what it exceeds z.c by is largest at a corner; the other promises only leave fewer columns. If it is at most tau
at all of them, no mechanism tells more than sum z + tau.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm

from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.logs import BITS
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Refused, Work, common_denominator, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.posteriors import Posteriors
from dalenius.kernel.promises import Independent, Promise
from dalenius.kernel.rows import SCORE, Frame

Tableau = list[list[int]]
Vertex = frozenset[tuple[int, int, int]]  # (place of an input, numerator, denominator) of its positive entries


def bound_by_corners(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """sum z + the most that phi exceeds z by at a corner; prices in units of 2^-SCORE."""
    require(objective.maximise, "corners are for information")
    prices, basis = proof.fields("rule", "prices", "basis")[1:]
    z = prices.wholes()
    inputs = list(setting.mass)
    require(len(z) == len(inputs), "there is not one price for each input that occurs")
    told = Posteriors(setting, objective.about)
    mass = [setting.mass[x] for x in inputs]
    start = sorted(b.place(len(inputs)) for b in basis.items())
    basis.require(len(set(start)) == len(start), "an input stands twice")
    needs = list[int]()  # in units of 2^-BITS
    for vertex in vertices(len(inputs), equations(setting, promises, inputs), start, setting.work):
        whole = lcm(*(bottom * mass[i] for i, _, bottom in vertex))
        column = [(i, top * (whole // (bottom * mass[i]))) for i, top, bottom in vertex]
        price = sum(c * z[i] for i, c in column) * setting.total
        # phi from above, the price from below: a need that is too large is still a bound.
        needs.append(told.phi_of_column(((inputs[i], c) for i, c in column), whole) - (price << BITS - SCORE) // whole)
    require(bool(needs), "no column keeps the promises")
    return Fraction(sum(z), 1 << SCORE) + Fraction(max(needs), 1 << BITS)


def equations(setting: Setting, promises: Sequence[Promise], inputs: Sequence[int]) -> Iterator[list[Fraction]]:
    """sum_x [p(a, k | x) - p(a) p(k | x)] v(x) = 0 for each value a of an independent view and each k."""
    for promise in promises:
        if not isinstance(promise, Independent):
            continue
        view = Frame(setting, promise.secret)
        found = [dict(view.by_input[x]) for x in inputs]
        setting.work.spend(20 * view.many_pairs * len(inputs), setting.total.bit_length())
        beside = [dict.fromkeys(view.worlds, 0) for _ in inputs]
        for here, counts in zip(beside, found, strict=True):
            for key, count in counts.items():
                here[key[view.cut :]] += count
        for s, k in view.pairs:
            yield [
                Fraction(
                    counts.get(s + k, 0) * setting.total - view.alone[s] * here[k], setting.total * setting.mass[x]
                )
                for x, counts, here in zip(inputs, found, beside, strict=True)
            ]


def vertices(n: int, rows: Iterator[list[Fraction]], start: list[int], work: Work) -> Iterator[Vertex]:
    """Every vertex of {v in R^n : v >= 0, sum v = 1, rows . v = 0}; the columns of a starting basis rise.

    The polytope is bounded; perturbed along the columns of the starting basis it is simple, so that its graph is
    connected and a walk over all lexicographically feasible bases meets every vertex. Tableaux hold integers over a
    common determinant, the right side in units of 1 / scale.
    """
    tableau, scale = _levelled(n, rows, work)
    d = 1
    for r, j in enumerate(start):
        i = next((i for i in range(r, len(tableau)) if tableau[i][j]), -1)
        require(i >= 0, "the starting basis is singular")
        tableau[r], tableau[i] = tableau[i], tableau[r]
        tableau, d = _pivot(tableau, r, j, d, work)
    # An equation that is left over would allow corners that are not met.
    require(not any(any(row) for row in tableau[len(start) :]), "the starting basis does not span the constraints")
    require(all(row[n] >= 0 for row in tableau), "the starting basis is infeasible")
    # A set of columns is the sum of their bits. An edge has two ends, and is looked at from the first one that is met:
    # `back` has the columns that lead from a basis along edges which led to it.
    own = sum(1 << j for j in start)
    long = scale.bit_length() >> 8  # a right side times an entry takes so much longer
    back = {own: 0}
    met = set[Vertex]()
    stack = [(own, start, tableau[: len(start)], d)]
    while stack:
        own, base, tableau, d = stack.pop()
        vertex = frozenset(_entries(base, tableau, n, d * scale))
        if vertex not in met:
            met.add(vertex)
            yield vertex
        work.spend(((10 + long) * len(tableau) + 20) * (n - len(base)))
        known = own | back[own]
        for j in range(n):
            if known >> j & 1:
                continue
            i = _leaving(tableau, j, (n, *start))
            after = own ^ 1 << j ^ 1 << base[i]
            # Each basis once; its edge back is not followed again.
            if after not in back:
                back[after] = 0
                stack.append((after, [*base[:i], j, *base[i + 1 :]], *_pivot(tableau, i, j, d, work)))
            back[after] |= 1 << base[i]


def _levelled(n: int, rows: Iterator[list[Fraction]], work: Work) -> tuple[Tableau, int]:
    """The equations in whole numbers, the right side in units of 1 / scale, and that scale.

    What all entries of a row have in common is moved to the right, as v sums to one: determinants stay small.
    """
    tableau = [[1] * n]
    levels = [Fraction(1)]
    for row in rows:
        scale = common_denominator(row, work)
        work.spend(8 * n, scale.bit_length())
        whole = [v.numerator * (scale // v.denominator) for v in row]
        low = min(whole)
        common = gcd(*(v - low for v in whole)) or 1
        tableau.append([(v - low) // common for v in whole])
        levels.append(Fraction(-low, common))
    scale = common_denominator(levels, work)
    return [[*row, int(level * scale)] for row, level in zip(tableau, levels, strict=True)], scale


def _entries(base: list[int], tableau: Tableau, n: int, d: int) -> Iterator[tuple[int, int, int]]:
    for j, row in zip(base, tableau, strict=True):
        if row[n]:
            common = gcd(row[n], d)
            yield j, row[n] // common, d // common


def _leaving(tableau: Tableau, j: int, order: tuple[int, ...]) -> int:
    """The row that leaves the basis when j enters: the lexicographic ratio test, along these columns."""
    rows = [i for i, row in enumerate(tableau) if row[j] > 0]
    require(bool(rows), "the columns are unbounded")
    for o in order:
        least = tableau[rows[0]]
        ties: list[int] = []
        for i in rows:
            above = tableau[i][o] * least[j] - least[o] * tableau[i][j]
            if above < 0:
                least = tableau[i]
                ties = [i]
            elif not above:
                ties.append(i)
        if len(ties) == 1:
            return ties[0]
        rows = ties
    raise Refused("a tie that no perturbation breaks")


def _pivot(tableau: Tableau, i: int, j: int, d: int, work: Work) -> tuple[Tableau, int]:
    """Column j becomes the unit vector of row i; entries are integers over the new determinant, kept positive."""
    e, base = tableau[i][j], tableau[i]
    if e < 0:
        e, base = -e, [-a for a in base]
    work.spend(2 * len(tableau) * len(base), d.bit_length())
    after = []
    for r, row in enumerate(tableau):
        if r == i:
            after.append(base)
        else:
            f = row[j]
            # Exact: d divides every minor of the next order (Bareiss).
            after.append([(a * e - f * b) // d for a, b in zip(row, base, strict=True)])
    return after, e
