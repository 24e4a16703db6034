"""Programs without a logarithm: HiGHS finds a vertex and its multipliers, exact arithmetic solves the vertex again."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, sqrt
from typing import Any

import numpy as np

from dalenius.errors import Infeasible, SolverFailed
from dalenius.solvers.exact import solve_sparse
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.lifting import none_of
from dalenius.solvers.leakage.limits import Limits, whole
from dalenius.solvers.leakage.met_limits import steep
from dalenius.solvers.leakage.program import Multipliers, Program, Solution, is_zero
from dalenius.solvers.lp import Optimum, OutOfTime, maximise

__all__ = ["is_linear", "linear_optimum", "quickly_written", "row_count"]

_EXACT = 1_500  # unknowns of the largest system that is solved exactly
_A_SECOND = 600  # unknowns that are solved for in a second; the time grows with their square
_A_ROW = 1e-4  # seconds to write one limit, and to hand it over
_AN_ENTRY = 1.5e-6  # seconds for each of its entries
_AT_ONCE = 0.1  # seconds that are always there
_QUARTER = 0.25  # of the time, for writing all of them


def is_linear(given: Arrays) -> bool:
    """Whether no logarithm matters: no term with two values in a group has a weight or a positive limit."""
    terms = [*((secret, theta) for theta, secret in given.objective), *given.leakages]
    terms += [(secret, float(np.abs(most).max())) for secret, most in given.worst]
    return all(weight == 0 or len(secret.B) == len(secret.G) for secret, weight in terms)


@dataclass(frozen=True, eq=False)
class _Row:
    """low <= sum of coefficients W(t|e) <= high; rows e >= n are the floors y(k, t) of local_dp, e = n + k.

    ``kind`` and ``index`` say which multiplier belongs to it.
    """

    kind: str
    index: tuple[int, ...]
    entries: dict[tuple[int, int], Fraction]
    low: Fraction | None
    high: Fraction | None


def _rows(program: Program) -> Iterator[_Row]:
    """Every limit of the program, exact."""
    writing = _Writing(program)
    letters = range(program.letters)
    for e in range(writing.inputs):
        yield _Row("sum", (e,), {(e, t): Fraction(1) for t in letters}, Fraction(1), Fraction(1))
    yield from writing.distortions()
    yield from writing.equalities()
    yield from writing.silences()
    yield from writing.odds()
    yield from writing.gauges()
    for k, (i, j, r) in enumerate(program.pairs):
        for t in letters:
            yield _Row("pair", (k, t), {(j, t): r, (i, t): Fraction(-1)}, Fraction(0), None)
    yield from writing.floors()


class _Writing:
    """The limits of a program that take more than a line; e is an input and t a letter, as in W(t|e)."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.inputs = len(program.mass)
        self.shares = [Fraction(int(mass), program.total) for mass in program.mass]

    def distortions(self) -> Iterator[_Row]:
        """What may be changed on average."""
        for j, (costs, most) in enumerate(self.program.distortions):
            spent: dict[tuple[int, int], Fraction] = {}
            for e, row in enumerate(costs.tolist()):
                # A row has few different costs: each is multiplied once.
                paid = {cost: Fraction(cost) * self.shares[e] for cost in set(row) if cost}
                spent.update({(e, t): paid[cost] for t, cost in enumerate(row) if cost})
            yield _Row("distortion", (j,), spent, None, most)

    def equalities(self) -> Iterator[_Row]:
        """Independence, all but the last value of each view, then the law of the letters that is preserved."""
        program = self.program
        rows = [row for counts in program.independent for row in counts[:-1]]
        for at, row in enumerate(rows):
            yield from self._alike("equal", (at,), row, program.mass)
        for t, r in enumerate(program.marginal or ()):
            yield _Row("equal", (len(rows), t), {(e, t): share for e, share in enumerate(self.shares)}, r, r)

    def silences(self) -> Iterator[_Row]:
        """Limits of zero on what is told: within each group every letter is as likely with each value."""
        for k, (term, limit) in enumerate((*self.program.leakages, *self.program.worst)):
            if not is_zero(limit):  # a limit on a secret of one value
                continue
            for i, row in enumerate(term.counts):
                if row.sum():
                    yield from self._alike("silent", (k, i), row, term.counts[term.group == term.group[i]].sum(axis=0))

    def _alike(self, kind: str, index: tuple[int, ...], row: Any, whole: Any) -> Iterator[_Row]:
        """Every letter has the part `row` of the mass `whole` that the inputs have."""
        share = Fraction(int(row.sum()), int(sum(whole)))
        net = [(int(row[e]) - share * int(whole[e])) / self.program.total for e in range(self.inputs)]
        for t in range(self.program.letters):
            entries = {(e, t): value for e, value in enumerate(net) if value}
            yield _Row(kind, (*index, t), entries, Fraction(0), Fraction(0))

    def odds(self) -> Iterator[_Row]:
        """Odds from below, then from above."""
        for k, (counts, against, r) in enumerate(self.program.odds):
            for i, (row, other) in enumerate(zip(counts, against, strict=True)):
                below = [int(one) - Fraction(two) / r for one, two in zip(row, other, strict=True)]
                above = [r * Fraction(two) - int(one) for one, two in zip(row, other, strict=True)]
                for t in range(self.program.letters):
                    for place, side in ((i, below), (len(counts) + i, above)):
                        entries = {(e, t): value / self.program.total for e, value in enumerate(side)}
                        yield _Row("odds", (k, place, t), entries, Fraction(0), None)

    def gauges(self) -> Iterator[_Row]:
        """Unknowns beside W that no row of their part exceeds, and the limit of their sum."""
        letters = range(self.program.letters)
        first = self.inputs + len(self.program.local_dp)
        for k, gauge in enumerate(self.program.gauges):
            parts = range(first, first + len(gauge.parts))
            yield _Row("spent", (k,), {(at, t): Fraction(1) for at in parts for t in letters}, None, gauge.limit)
            for i, (place, part) in enumerate(zip(parts, gauge.parts, strict=True)):
                for q, coefficients in enumerate(part):
                    used = {
                        e: -Fraction(coefficients[e]) * self.shares[e] for e in range(self.inputs) if coefficients[e]
                    }
                    for t in letters:
                        entries = {(e, t): value for e, value in used.items()} | {(place, t): Fraction(1)}
                        yield _Row("gauge", (k, i, q, t), entries, Fraction(0), None)
            first += len(gauge.parts)

    def floors(self) -> Iterator[_Row]:
        """Every entry of a column between its floor and the ratio times that."""
        for k, (own, r) in enumerate(self.program.local_dp):
            floor = self.inputs + k
            for q, e in enumerate(map(int, own)):
                for t in range(self.program.letters):
                    yield _Row("above", (k, q, t), {(e, t): Fraction(1), (floor, t): Fraction(-1)}, Fraction(0), None)
                    yield _Row("below", (k, q, t), {(floor, t): r, (e, t): Fraction(-1)}, Fraction(0), None)


def row_count(program: Program) -> int:
    """How many limits `linear_optimum` writes out, about."""
    silent = sum(len(term.counts) for term, limit in (*program.leakages, *program.worst) if is_zero(limit))
    odds = sum(2 * len(counts) for counts, _, _ in program.odds)
    gauges = sum(len(part) for gauge in program.gauges for part in gauge.parts)
    floors = sum(2 * len(own) for own, _ in program.local_dp)
    equal = sum(len(counts) for counts in program.independent) + 1
    by_letter = equal + silent + odds + gauges + len(program.pairs) + floors
    return len(program.mass) + len(program.distortions) + program.letters * by_letter


def quickly_written(program: Program, seconds: float) -> bool:
    """Whether `linear_optimum` would not spend most of the time on writing its limits out."""
    inputs = len(program.mass)
    written = sum(int(np.count_nonzero(costs)) for costs, _ in program.distortions)
    # A limit of single letters has an entry for each input, but for one that compares two of them.
    by_letter = row_count(program) - inputs - len(program.distortions) - 2 * program.letters * len(program.pairs)
    written += inputs * max(0, by_letter)
    return _A_ROW * row_count(program) + _AN_ENTRY * written <= _QUARTER * seconds


def _in_time(rows: Iterator[_Row], seconds: float) -> Iterator[_Row]:
    """The limits, while writing them takes no longer by their count: the same on a busy machine."""
    spent = 0.0
    for k, row in enumerate(rows):
        spent += _A_ROW + _AN_ENTRY * len(row.entries)
        if spent > max(seconds, _AT_ONCE):
            raise OutOfTime(f"the linear program of more than {k} rows takes longer to write than there is time")
        yield row


def linear_optimum(
    program: Program, given: Arrays, *, loss: float, exact: bool = True, seconds: float = inf
) -> Solution:
    """The optimum of a program without logarithms; exact if the vertex is small, and that is asked for.

    Raises Infeasible or SolverFailed, OutOfTime where HiGHS needs more than ``seconds``.
    """
    inputs, letters = given.allowed.shape
    rows = list(_in_time(_rows(program), seconds))
    variables = [(int(e), int(t)) for e, t in np.argwhere(program.allowed)]
    further = len(program.local_dp) + sum(len(gauge.parts) for gauge in program.gauges)
    variables += [(inputs + k, t) for k in range(further) for t in range(letters)]
    number = {variable: j for j, variable in enumerate(variables)}
    columns: list[dict[int, float]] = [{} for variable in variables]
    for i, row in enumerate(rows):
        for entry, value in row.entries.items():
            if entry in number:
                columns[number[entry]][i] = float(value)
    costs = [-float(given.cost[e, t] * given.p[e]) if e < inputs else 0.0 for e, t in variables]
    low = [-np.inf if row.low is None else float(row.low) for row in rows]
    high = [np.inf if row.high is None else float(row.high) for row in rows]
    best = maximise(costs, columns, low, high, seconds=seconds)
    pi = np.zeros((inputs, letters))
    for (e, t), share in zip(variables, best.x, strict=True):
        if e < inputs:
            pi[e, t] = max(share, 0.0) * given.p[e]
    multipliers = _multipliers(given, rows, best, loss)
    small = len(best.basic_columns) <= min(_EXACT, _A_SECOND * sqrt(max(seconds, 0.0)))
    channel = _vertex(program, rows, variables, best) if exact and small else None
    if channel is not None:
        pi = np.array([[float(v) for v in row] for row in channel]) * given.p[:, None]
    return Solution(pi, multipliers, given.value(pi), given.bound(multipliers), 0, None, channel)


def _multipliers(given: Arrays, rows: list[_Row], best: Optimum, loss: float) -> Multipliers:
    multipliers = none_of(given)
    limits = [*given.leakages, *given.worst]
    silent = {
        k: np.zeros((secret.size, given.allowed.shape[1])) for k, (secret, limit) in enumerate(limits) if is_zero(limit)
    }
    weights = [0.0] * len(given.gauges)
    parts = {"distortion": multipliers.distortion, "equal": multipliers.equal, "pair": multipliers.pairs}
    for row, dual in zip(rows, best.dual.tolist(), strict=True):
        if dual == 0 or row.kind == "sum":
            continue
        if row.kind in parts:
            # An upper limit has a dual >= 0; the rows of the other kinds are subtracted in the bound.
            parts[row.kind][row.index] = dual if row.kind == "distortion" else -dual
        elif row.kind == "silent":
            silent[row.index[0]][row.index[1:]] = -dual
        elif row.kind == "odds":
            multipliers.odds[row.index[0]][row.index[1:]] = -dual
        elif row.kind == "spent":
            weights[row.index[0]] = dual
        elif row.kind == "gauge":
            multipliers.gauges[row.index[0]][1][row.index[1]][row.index[2:]] = -dual
        else:
            multipliers.floors[row.index[0]][row.kind == "below"][row.index[1:]] = -dual
    posteriors = list(multipliers.posteriors)
    worst = list(multipliers.worst)
    alone = list(multipliers.worst_posteriors)
    for k, eta in silent.items():
        secret = limits[k][0]
        average = k < len(given.leakages)
        lam, logs = steep(secret, eta[secret.kept], loss, shared=average)
        if average:
            multipliers.leakage[k] = lam[0]
            posteriors[len(given.objective) + k] = secret.spread(logs)
        else:
            worst[k - len(given.leakages)] = lam
            alone[k - len(given.leakages)] = secret.spread(logs)
    gauges = tuple((weight, rhos) for weight, (_, rhos) in zip(weights, multipliers.gauges, strict=True))
    return replace(
        multipliers, posteriors=tuple(posteriors), worst=tuple(worst), worst_posteriors=tuple(alone), gauges=gauges
    )


def _vertex(
    program: Program, rows: list[_Row], variables: list[tuple[int, int]], best: Optimum
) -> tuple[tuple[Fraction, ...], ...] | None:
    """The vertex of the basis in Fractions, checked; None if it does not keep every limit."""
    at = {variables[column]: k for k, column in enumerate(best.basic_columns)}
    slack = set(best.basic_rows)
    A, b = [], []
    for i, row in enumerate(rows):
        if i not in slack:
            right = row.high if row.low is None else row.low
            assert right is not None
            A.append({at[entry]: value for entry, value in row.entries.items() if entry in at and value})
            b.append(right)
    try:
        x = solve_sparse(A, b, len(at))
    except (SolverFailed, Infeasible):
        return None
    inputs, letters = len(program.mass), program.letters
    W = tuple(tuple(x[at[e, t]] if (e, t) in at else Fraction(0) for t in range(letters)) for e in range(inputs))
    K, den = whole(np.array(W, dtype=object))
    return W if Limits(program).broken(K, den) is None else None
