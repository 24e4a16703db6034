"""Fewer letters for the same figures: columns of a channel are mixed anew, as few of them as a basis has."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dalenius.errors import SolverFailed
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.solvers import exact_basic_solution, maximise
from dalenius.solvers.leakage.arrays import Secret

__all__ = ["fewer_letters"]

Rows = Sequence[Sequence[Fraction]]


def fewer_letters(model: Model, rows: Rows) -> Rows:
    """The columns p(e|t) of a channel, at most rows + limits of them (003, errata S10: |U| <= |X| + 1 for L(D)).

    Information and distortion of a channel are sums over its columns, so re-weighting columns under the same margins
    is a linear program, and a basic solution of it uses no more columns than it has rows.
    """
    program = model.program
    if program.leakages or program.worst or program.marginal or program.independent or program.odds:
        return rows
    if program.local_dp or program.pairs or program.gauges:
        return rows
    n = len(rows)
    mass = [int(value) for value in program.mass]
    used = [t for t in range(len(rows[0])) if any(row[t] for row in rows)]
    weight = [sum((m * row[t] for m, row in zip(mass, rows, strict=True)), Fraction(0)) for t in used]
    if len(used) <= n + len(program.distortions):
        return rows
    columns = [[m * row[t] / w for m, row in zip(mass, rows, strict=True)] for t, w in zip(used, weight, strict=True)]
    costs = [
        [
            sum((entry * Fraction(C[e, t]) for e, entry in enumerate(column)), Fraction(0))
            for t, column in zip(used, columns, strict=True)
        ]
        for C, _ in program.distortions
    ]
    total = program.total
    spent = [sum((w * c for w, c in zip(weight, cost, strict=True)), Fraction(0)) for cost in costs]
    told = np.array(
        [
            sum((entry * Fraction(program.cost[e, t]) for e, entry in enumerate(column)), Fraction(0))
            for t, column in zip(used, columns, strict=True)
        ],
        dtype=np.float64,
    )
    masses = np.array([[float(entry) for entry in column] for column in columns]).T
    for theta, term in program.objective:
        told += float(theta) * Secret.of(term, program.mass).leakage(masses)
    # One more column each for the slack of a limit.
    rows_of = [[*column, *(cost[k] for cost in costs)] for k, column in enumerate(columns)]
    slack = [[Fraction(0)] * n + [Fraction(int(i == j)) for i in range(len(costs))] for j in range(len(costs))]
    right = [Fraction(m, total) for m in mass] + [s / total for s in spent]
    matrix = np.array([[float(entry) for entry in column] for column in rows_of + slack]).T
    try:
        found = maximise(np.append(-told, np.zeros(len(slack))), matrix, np.array([float(value) for value in right]))
        shares = exact_basic_solution(rows_of + slack, right, found.basic_columns)
    except SolverFailed:
        return rows
    out = [[Fraction(0)] * len(rows[0]) for _ in rows]
    for k, share in shares.items():
        if k < len(used):
            for e, v in enumerate(columns[k]):
                out[e][used[k]] = share * total * v / mass[e]
    return out
