r"""Columns of a table that are exchangeable: the channel reads how often each letter occurs, not in which column.

If p(w, x_1, ..., x_n) does not change when samples change places and every single sample is protected, averaging a
mechanism over all orders keeps what it tells and what it hides (`core.reading_types`). So the best one reads the type
t, and the problem shrinks to one input, t, and one view, a sample drawn at random: p(w, t, x) = p(w, t) t_x / n. Its
multipliers lambda(x) become lambda(x) / n for each of the n views.

References: Rassouli, Rosas & Gündüz (paper 000), section IV; the reduction to types is not in the paper.
"""

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from math import factorial, prod
from typing import Any

import numpy as np

from dalenius.core import Certificate, Independent, Kernel, MaximizeInformation, Pmf, Problem, Types
from dalenius.core.multinomial import MOST_TYPES, list_types
from dalenius.mechanisms.columns.disclosure.cells import by_posterior_cells
from dalenius.mechanisms.columns.exact_columns import channel_from_rows

__all__ = ["by_exchange", "exchanged"]

DENSE = 1 << 14  # entries of a channel that are written row by row
FEWEST = 3  # samples


def exchanged(problem: Problem) -> dict[tuple[int, ...], list[int]] | None:
    """Counts of each type with each outcome of W, if the law is exchangeable and all samples are protected.

    >>> from dalenius.testing import self_disclosure
    >>> exchanged(self_disclosure(["1/2", "1/2"], 3)) is None  # W is the input, and not the same for all of a type
    True
    """
    names, joint = problem.inputs, problem.pmf
    alike = len(names) >= FEWEST and len({joint.variables[name] for name in names}) == 1
    single = sorted(view for view in problem.views) == sorted((name,) for name in names)
    if not alike or not single or problem.kept or set(problem.objective.names) & set(names):
        return None
    codes = joint.grouped(names)[0]
    counts = joint.counts(names, problem.objective.names)
    size = len(joint.variables[names[0]])
    found = dict[tuple[int, ...], list[int]]()
    seen = defaultdict[tuple[int, ...], int](int)
    for code, row in zip(codes, counts, strict=True):
        t = tuple(np.bincount(code, minlength=size).tolist())
        weights = [int(entry) for entry in row]
        if found.setdefault(t, weights) != weights:
            return None
        seen[t] += 1
    orders = {t: factorial(len(names)) // prod(map(factorial, t)) for t in found}
    if len(found) > MOST_TYPES or any(seen[t] != many for t, many in orders.items()):
        return None
    return {t: [weight * orders[t] for weight in weights] for t, weights in found.items()}


def by_exchange(
    problem: Problem,
    found: dict[tuple[int, ...], list[int]],
    *,
    gap: float,
    seconds: float,
    on_progress: Callable[[str], None] | None = None,
) -> tuple[Kernel, Certificate, str]:
    """A channel that reads the type, a certificate for all outcomes, and the method in words."""
    names = problem.inputs
    letters, n = problem.pmf.variables[names[0]], len(names)
    types = [t for t in list_types(n, len(letters)) if t in found]
    outcomes = range(len(next(iter(found.values()))))
    variables = {
        "type": tuple(map(str, range(len(types)))),
        "sample": letters,
        "target": tuple(map(str, outcomes)),
    }
    codes = [(k, a, outcome) for k in range(len(types)) for a in range(len(letters)) for outcome in outcomes]
    small = Problem(
        joint=Pmf.from_counts(variables, np.array(codes), [types[k][a] * found[types[k]][w] for k, a, w in codes]),
        observe=("type",),
        output=problem.output,
        objective=MaximizeInformation(("target",)),
        guarantees=(Independent(("sample",)),),
    )
    channel, certificate, method = by_posterior_cells(small, gap=gap, seconds=seconds, on_progress=on_progress)
    row = dict(zip(types, channel.rows, strict=True))
    written = _written(problem, row, channel)
    by_type = isinstance(written, Types)
    proof = {"rule": "alike", "proof": certificate.proof} if by_type else _for_all_views(certificate, n)
    return written, Certificate(proof), f"{method}, over {len(types)} types"


def _for_all_views(certificate: Certificate, n: int) -> dict[str, Any]:
    """The proof about one sample drawn at random as one about each of n views: lambda / n for every one of them."""
    proof = certificate.proof

    def shared(rows: list[list[str]]) -> list[list[str]]:
        (own,) = rows
        return [[str(round(Fraction(int(value), n))) for value in own]] * n

    leaves = [leaf | {"promises": shared(leaf["promises"])} for leaf in proof["leaves"]]
    relations = [[w, parts, shared(rows)] for w, parts, rows in proof["relations"]]
    return {**proof, "promises": ["0"] * n, "leaves": leaves, "relations": relations}


def _written(problem: Problem, row: dict[tuple[int, ...], tuple[Fraction, ...]], channel: Kernel) -> Kernel:
    names, joint = problem.inputs, problem.pmf
    letters, (output,) = joint.variables[names[0]], channel.output.values()
    if len(letters) ** len(names) * len(output) <= DENSE:
        outcomes = joint.grouped(names)[0]
        return channel_from_rows(
            problem, [row[tuple(np.bincount(outcome, minlength=len(letters)).tolist())] for outcome in outcomes]
        )
    alone = {t: sum(weights) for t, weights in (exchanged(problem) or {}).items()}
    everywhere = tuple(
        sum((Fraction(m, joint.total) * row[t][y] for t, m in alone.items()), Fraction(0)) for y in range(len(output))
    )
    rows = tuple(row.get(t, everywhere) for t in list_types(len(names), len(letters)))
    return Types("X", letters, len(names), {problem.output or "Y": output}, rows, tuple(names))
