r"""A rational channel next to a float one that meets column equalities G W_t = h_t exactly.

Round W to multiples of 2^-b. Every row has a sink, a letter that takes what is missing to one; every letter but the
first sink has pivot rows, as many as G has rank, which are solved for so that its equalities hold. Letters are settled
in the order (those that are no sink, last sink, ..., first sink): when a sink is settled, the other entries of its rows
are known; pivot rows of a sink belong to earlier sinks. The first sink needs no pivots, because G 1 = sum_t h_t. Sinks
and pivots avoid forbidden and tiny entries. Where the same pivots serve all letters, one determinant enters the
denominator.
"""

from fractions import Fraction
from math import gcd, lcm

import numpy as np
from flint import fmpq_mat, fmpz_mat

from dalenius.errors import SolverFailed
from dalenius.solvers.lapack import pivoted
from dalenius.solvers.leakage.limits import whole
from dalenius.solvers.leakage.program import Exact, Floats, Program, Term, is_zero

__all__ = ["Equalities", "rounded"]


class Equalities:
    """Independent rows G (r, n) and h (r, m) in whole numbers: G W_t = h_t."""

    def __init__(self, program: Program) -> None:
        inputs, letters, total = len(program.mass), program.letters, program.total
        mass = [int(value) for value in program.mass]
        rows: list[tuple[list[int], list[int]]] = []

        def add(coefficients: list[int], right: list[int]) -> None:
            shared = gcd(*coefficients, *right)
            if shared:
                rows.append(
                    ([coefficient // shared for coefficient in coefficients], [value // shared for value in right])
                )

        def apart(counts: Exact, together: list[int]) -> None:
            whole_ = sum(together)
            for row in counts[:-1]:
                seen = int(row.sum())
                add(
                    [int(entry) * whole_ - seen * share for entry, share in zip(row, together, strict=True)],
                    [0] * letters,
                )

        for counts in program.independent:
            apart(counts, mass)
        for counts, against, ratio in program.odds:
            for row, other in zip(counts, against, strict=True) if ratio == 1 else ():
                add(
                    [
                        int(value)
                        for value in whole(np.array([[Fraction(a) - b for a, b in zip(row, other, strict=True)]]))[0][0]
                    ],
                    [0] * letters,
                )
        for term, limit in (*program.leakages, *program.worst):
            if is_zero(limit):
                for part in _groups(term):
                    apart(part, [int(value) for value in part.sum(axis=0)])
        for row in (row for gauge in program.gauges for row in gauge.ties(program.mass)):
            weighed = [Fraction(entry) * value for entry, value in zip(row, mass, strict=True)]
            add([int(value) for value in whole(np.array([weighed]))[0][0]], [0] * letters)
        ties = [(int(own[0]), int(tied)) for own, ratio in program.local_dp if ratio == 1 for tied in own[1:]]
        for i, j in ties + [(i, j) for i, j, ratio in program.pairs if ratio == 1 and (j, i, ratio) in program.pairs]:
            add([int(place == i) - int(place == j) for place in range(inputs)], [0] * letters)
        if program.marginal is not None:
            right, below = whole(np.array(program.marginal, dtype=object))
            add([below * value for value in mass], [int(value) * total for value in right])
        # Equations that repeat others would leave no pivots to solve for.
        independent = _first_independent([line for line, _ in rows], inputs)
        self.G = np.array([rows[k][0] for k in independent], dtype=object).reshape(-1, inputs)
        self.h = np.array([rows[k][1] for k in independent], dtype=object).reshape(-1, letters)

    def in_doubles(self, p: Floats) -> tuple[Floats, Floats]:
        """The same for pi(e, t) = p(e) W(t|e), each row in units of its largest coefficient."""
        slopes, right = self.slopes()
        slopes = slopes / p
        tops = np.abs(slopes).max(axis=1, keepdims=True, initial=0.0)
        return slopes / tops, right / tops

    def slopes(self) -> tuple[Floats, Floats]:
        """G and h, each row in units of the largest entry of G; whole numbers may be longer than any double."""
        tops = [max(abs(int(entry)) for entry in row) for row in self.G]
        G = np.array([[int(entry) / top for entry in row] for row, top in zip(self.G, tops, strict=True)])
        h = np.array([[int(entry) / top for entry in row] for row, top in zip(self.h, tops, strict=True)])
        return G.reshape(self.G.shape), h.reshape(self.h.shape)


def _groups(term: Term) -> list[Exact]:
    return [term.counts[term.group == g] for g in np.unique(term.group)]


def _first_independent(rows: list[list[int]], width: int) -> list[int]:
    """The first rows that span all of them."""
    if not rows:
        return []
    reduced, size = fmpz_mat(width, len(rows), [row[column] for column in range(width) for row in rows]).rref()[0::2]
    return [next(j for j in range(len(rows)) if reduced[i, j] != 0) for i in range(size)]


def rounded(W: Floats, allowed: Exact, equal: Equalities, bits: int, tiny: float) -> tuple[Exact, int]:
    """Numerators (n, m) and one denominator: rows sum to one and G W_t = h_t, exactly; entries may come out negative.

    Entries up to ``tiny`` take nothing that is missing in their row or their letter, unless no other can. Raises
    SolverFailed if no pivots can be found.
    """
    inputs, letters = W.shape
    kept = np.where(allowed, W, 0.0)
    idle = (kept.max(axis=0) < 2.0**-bits) & np.array(
        [all(value == 0 for value in equal.h[:, letter]) for letter in range(letters)]
    )
    kept[:, idle] = 0.0
    # Downwards: what is missing to one goes to the sinks, which have room for it, and never to an entry near zero.
    grid = np.array([int(value) for value in np.ldexp(kept, bits).ravel()], dtype=object).reshape(inputs, letters)
    if not len(equal.G):
        grid[np.arange(inputs), kept.argmax(axis=1)] += (1 << bits) - grid.sum(axis=1)
        return grid, 1 << bits
    sinks, sink_of = _sinks(kept, tiny)
    pivots = _pivots(kept, equal, sinks, sink_of, idle, tiny)
    scale = 1
    for letter, (_, _, _, det) in pivots.items():
        scale = scale if letter in sinks else lcm(scale, det)
    for letter in sinks[1:]:
        scale *= pivots[letter][3]
    numerators = grid * scale
    for letter, (rows, _, _, _) in pivots.items():
        numerators[rows, letter] = 0
    numerators[np.arange(inputs), [sinks[k] for k in sink_of]] = 0
    one = scale << bits
    plain = [pivot for pivot in pivots if pivot not in sinks]
    G = fmpz_mat(*equal.G.shape, [int(value) for value in equal.G.ravel()])
    fixed = G * fmpz_mat(inputs, letters, [int(value) for value in numerators.ravel()])
    for letter in plain:
        _settle(
            numerators,
            letter,
            pivots[letter],
            [int(equal.h[i, letter]) * one - int(fixed[i, letter]) for i in range(len(equal.G))],
        )
    # The last sink first: its pivot rows belong to earlier sinks, which then take what is still missing.
    for k in range(len(sinks) - 1, -1, -1):
        letter = sinks[k]
        own = np.flatnonzero(sink_of == k)
        numerators[own, letter] = one - numerators[own].sum(axis=1)
        if k:
            _settle(
                numerators,
                letter,
                pivots[letter],
                [
                    int(value) * one - int(line @ numerators[:, letter])
                    for line, value in zip(equal.G, equal.h[:, letter], strict=True)
                ],
            )
    return numerators, one


def _settle(numerators: Exact, letter: int, pivot: "_Pivot", missing: list[int]) -> None:
    rows, equations, inverse, det = pivot
    for row, line in zip(rows, inverse, strict=True):
        numerators[row, letter] = (
            sum(value * missing[equation] for value, equation in zip(line, equations, strict=True)) // det
        )


_Pivot = tuple[list[int], list[int], list[list[int]], int]


def _sinks(W: Floats, tiny: float) -> tuple[list[int], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Letters that together hold a sizeable entry of every row, and the number of the sink of each row."""
    fit = (tiny < W) | (W.max(axis=1, keepdims=True) == W)
    sinks: list[int] = []
    sink_of = np.full(len(W), -1, dtype=np.int64)
    while (sink_of < 0).any():
        open_ = fit & (sink_of < 0)[:, None]
        held = open_.sum(axis=0) + np.where(open_, W, 1.0).min(axis=0)
        held[sinks] = -1
        letter = int(held.argmax())
        sink_of[open_[:, letter]] = len(sinks)
        sinks.append(letter)
    return sinks, sink_of


def _pivots(
    W: Floats, equal: Equalities, sinks: list[int], sink_of: Exact, idle: Exact, tiny: float
) -> dict[int, _Pivot]:
    """For every letter but the first sink: pivot rows, the equations they solve, det G_B^-1 and det."""
    G, (slopes, _) = equal.G, equal.slopes()
    place = {letter: k for k, letter in enumerate(sinks)}
    live = [letter for letter in range(W.shape[1]) if not idle[letter] and place.get(letter, 1) > 0]
    weights = {letter: np.where(sink_of < place.get(letter, len(W)), W[:, letter], 0.0) for letter in live}
    out: dict[int, _Pivot] = {}
    left = live
    while left:
        # Rows with room in all the letters that are left; failing that, in most of them; failing that, one by one.
        stack = np.array([weights[letter] for letter in left])
        roomy = stack > np.minimum(tiny, 1e-3 * stack.max(axis=1, keepdims=True))
        size = np.exp(np.log(np.maximum(stack, 1e-30)).mean(axis=0))
        common = _basis(slopes, np.where(roomy.all(axis=0), size, 0.0))
        if len(common) < len(slopes):
            common = _basis(slopes, size * roomy.mean(axis=0) ** 20)
        served = [letter for letter, row in zip(left, roomy, strict=True) if row[common].all()]
        if len(common) < len(slopes) or not served:
            served = left[:1]
            common = _basis(slopes, weights[served[0]])
        pivot = _inverse(G, common)
        out |= dict.fromkeys(served, pivot)
        left = [letter for letter in left if letter not in out]
    return out


def _basis(slopes: Floats, weight: Floats) -> list[int]:
    """Pivot rows: columns of G, scaled by the room they have, that are as independent as can be."""
    scaled = slopes * weight
    diagonal, order = pivoted(scaled)
    sizes = np.abs(diagonal)
    rank = int((sizes > 1e-12 * sizes.max(initial=0.0)).sum())
    return [int(place) for place in order[:rank] if weight[place] > 0]


def _inverse(G: Exact, rows: list[int]) -> _Pivot:
    """Whole numbers det G_B^-1 and det, on as many independent equations as there are pivot rows."""
    if not rows:
        return [], [], [], 1
    equations = _first_independent([[int(value) for value in g[rows]] for g in G], len(rows))
    if len(equations) < len(rows):
        raise SolverFailed("the pivots of a value are dependent")
    square = fmpz_mat(len(rows), len(rows), [int(G[equation, row]) for equation in equations for row in rows])
    inverse = fmpq_mat(square).inv()
    entries = [[inverse[i, j] for j in range(len(rows))] for i in range(len(rows))]
    det = lcm(*(int(value.q) for line in entries for value in line))
    return rows, equations, [[int(value.p) * (det // int(value.q)) for value in line] for line in entries], det
