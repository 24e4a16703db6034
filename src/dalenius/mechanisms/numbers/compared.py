"""Noise beside what else could be done: one number for everybody, and the best matrix on the same grid."""

import json
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

from dalenius.core import Design, Leakage, LocalDP, MinimizeDistortion, Problem
from dalenius.core.digits import figure
from dalenius.documents.text import as_decimal
from dalenius.errors import Infeasible, SolverFailed, Unsupported
from dalenius.mechanisms.columns.leakage import least
from dalenius.mechanisms.numbers.plans import Numbers
from dalenius.wording import joined

__all__ = ["best_matrix", "bounded_by", "compared", "rounded"]

FEW = 128
"""Points of all grids together for which every matrix is searched."""
SECONDS = 20.0
CLEARLY = Fraction(99, 100)


def best_matrix(problem: Problem) -> Design | None:
    """The matrix from grid to grid that errs least under the same promises; None where it is not searched or not found.

    Parameters
    ----------
    problem : Problem
        Of form noise, with the least squared error for its objective.

    Returns
    -------
    Design or None
        Its bound is one for the noise too: a number beyond an end of the grid is nearer to every record at that end.
    """
    small = prod(len(problem.pmf.variables[name]) for name in problem.observe) <= FEW
    plain = all(
        isinstance(promise, Leakage) or (isinstance(promise, LocalDP) and not promise.delta)
        for promise in problem.guarantees
    )
    if not small or not plain or not isinstance(problem.objective, MinimizeDistortion):
        return None
    try:
        return least(replace(problem, form=None, noise=None), seconds=SECONDS)
    except (Infeasible, SolverFailed, Unsupported):
        return None


def bounded_by(best: Design | None) -> dict[str, Any]:
    """The lines that prove how little any matrix on the grid errs: they bound the noise as well."""
    proof = json.loads(best.text)["proof"] if best is not None else {}
    return {"lines": proof} if proof.get("rule") == "lines" else {}


def compared(numbers: Numbers, reached: Fraction, best: Design | None) -> list[str]:
    """What else could be released under the same promises, where it errs clearly less.

    Parameters
    ----------
    numbers : Numbers
        The columns.
    reached : Fraction
        The squared error of the noise that was found.
    best : Design or None
        The best matrix on the grid, where it was found.

    Returns
    -------
    list of str
        Sentences.
    """
    lines = []
    if reached > numbers.variance:
        lines.append(
            f"the squared error of {figure(reached, 'up')} is more than the variance of "
            f"{figure(numbers.variance, 'down')}: one number for everybody, the mean, would be nearer to the truth "
            "than this release; allow a higher level, a narrower range (clip), or estimate totals and means only"
        )
    if best is not None and best.value < CLEARLY * reached:
        lines.append(
            f"of all matrices on this grid that keep the same promise the best has a squared error of "
            f"{figure(best.value, 'up')}, and none less than {figure(best.bound, 'down')}: say --mechanism best, or "
            "leave out form and noise in [mechanism]"
        )
    return lines


def rounded(problem: Problem, numbers: Numbers) -> list[str]:
    """What rounding to declared grids means for what is said of a column; a table is not asked how it lay between.

    Parameters
    ----------
    problem : Problem
        With the declared columns.
    numbers : Numbers
        Its numeric columns.

    Returns
    -------
    list of str
        One sentence, or none where no grid was declared.
    """
    moved = [
        f"{name} by up to {as_decimal(step / 2)}"
        for name, step in zip(numbers.names, numbers.steps, strict=True)
        if name in problem.columns and problem.columns[name].grid is not None
    ]
    if not moved:
        return []
    return [
        f"before the noise a number that lies between the points of its grid goes to the nearest one, halfway "
        f"downwards: {joined(moved)}; what is said of means and errors is said of the rounded numbers"
    ]
