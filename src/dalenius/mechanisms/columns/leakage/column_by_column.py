r"""A recipe for each column, and a limit of what all of them together tell about a secret.

Columns that are changed one by one tell together what no sum of theirs says (neither bound holds), so the leakage is
that of the product of the recipes, written out. Each column has a few recipes, the best ones for shares of the limit,
and one that tells nothing; of all ways to choose one for each, the one that changes least within the limit is taken. No
recipe that reads all columns together, which could do at least as well, changes less than the bound.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from dalenius.core import Channel, Design, Distortion, Kernel, Leakage, MinimizeDistortion, Problem, Product
from dalenius.errors import SolverFailed, Unsupported
from dalenius.measures.shannon import mutual_information_bounds
from dalenius.mechanisms.columns.leakage.design import least
from dalenius.mechanisms.columns.leakage.takes import EACH
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proving import proved

__all__ = ["each_column"]

Recipe = tuple[float, Kernel]
"""What changes by it, and the channel of one column."""

MOST_ENTRIES = 1 << 20
"""Entries of the product of all recipes, written out."""
LEVELS = tuple(Fraction(part, 100) for part in (100, 75, 50, 30, 15, 5, 1))
"""Shares of the limit that a column may tell by itself."""
MANY = 4
"""Columns up to which all mixtures of levels are tried; beyond, of every third level."""
JOINT = 0.5
"""Share of the time for the bound, which is that of all columns read together."""


def each_column(
    problem: Problem, *, gap: float = GAP, seconds: float = SECONDS, on_progress: Callable[[str], None] | None = None
) -> Design:
    """The least change by recipes that read one column each.

    Parameters
    ----------
    problem : Problem
        Bound, with one promise of leakage.
    gap, seconds : float
        When the searches end.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Design
        With a channel of form "product".

    Raises
    ------
    Unsupported
        If the product of the recipes is too large to be written out.
    """
    EACH.refuse(problem)
    entries = prod(len(problem.pmf.variables[name]) ** 2 for name in problem.observe)
    if entries > MOST_ENTRIES:
        raise Unsupported(
            f"the recipes of {', '.join(problem.observe)} have {entries:,} entries together, more than "
            f"{MOST_ENTRIES:,}: group values, or release fewer columns with each = true"
        )
    (promise,) = problem.guarantees
    assert isinstance(promise, Leakage)
    together = least(replace(problem, each=False), gap=gap, seconds=JOINT * seconds, on_progress=on_progress)
    # What is kept tells something by itself, and every column may tell that as well.
    anyway = mutual_information_bounds(problem.pmf, promise.secret, problem.kept)[1] if problem.kept else Fraction(0)
    room = promise.at_most_bits - anyway
    levels = LEVELS if len(problem.observe) <= MANY else LEVELS[::3]
    each = (1 - JOINT) * seconds / len(levels) / len(problem.observe)
    single = [
        [_silent(problem, n), *(_single(problem, promise, n, anyway + part * room, gap, each) for part in levels)]
        for n in problem.observe
    ]
    found = []
    for chosen in product(*single):
        channel = Product(problem.pmf.alphabets(problem.observe), tuple(recipe for _, recipe in chosen))
        if _leakage(problem, channel, promise.secret) <= float(promise.at_most_bits) * (1 - 1e-9):
            found.append((sum(changed for changed, _ in chosen), channel))
    if not found:
        raise SolverFailed("no recipes that read one column each were found that keep the promise together")
    words = "a recipe for each column, which reveal together what they may; bounded by all columns read together"
    return proved(problem, min(found, key=lambda one: one[0])[1], [together.certificate], method=words)


def _alone(problem: Problem, name: str) -> Distortion:
    """How one column is compared."""
    assert isinstance(problem.objective, MinimizeDistortion)
    measure = problem.objective.measure
    parts = [part for part in measure.summands if part.of == (name,)]
    return Distortion.sum_of(parts) if parts else replace(Distortion("hamming", (name,)), weight=Fraction(0))


def _silent(problem: Problem, name: str) -> Recipe:
    """Everybody gets the commonest value: nothing is told."""
    alphabets = problem.pmf.alphabets((name,))
    letters = problem.pmf.variables[name]
    outcomes = problem.pmf.marginal((name,)).support[:, 0]
    weights = problem.pmf.marginal((name,)).weights
    common = int(outcomes[int(np.argmax(weights))])
    row = tuple(Fraction(int(k == common)) for k in range(len(letters)))
    changed = 1 - float(max(weights)) / float(problem.pmf.total)
    return changed * float(sum(part.weight for part in _alone(problem, name).parts)), Channel(
        alphabets, alphabets, (row,) * len(letters)
    )


def _single(problem: Problem, promise: Leakage, name: str, bits: Fraction, gap: float, seconds: float) -> Recipe:
    """What changes by, and the recipe of one column that changes least where it may tell so many bits by itself."""
    alone = replace(
        problem,
        observe=(name,),
        release=(name,),
        each=False,
        objective=MinimizeDistortion(_alone(problem, name)),
        guarantees=(replace(promise, at_most_bits=bits),),
    )
    design = least(alone, gap=gap, seconds=seconds)
    return float(design.value), design.channel


def _leakage(problem: Problem, channel: Product, secret: tuple[str, ...]) -> float:
    """I(S; Y, K) in bits, in floating point: it guides the search."""
    law = problem.pmf
    about = law.grouped(secret)[1]
    kept = law.grouped(problem.kept)[1]
    sizes = [len(law.variables[name]) for name in problem.observe]
    joint = np.zeros((about.max() + 1, kept.max() + 1, *sizes))
    columns = [law.support[:, k] for k in law.columns(problem.observe)]
    np.add.at(joint, (about, kept, *columns), law.weights.astype(np.float64) / float(law.total))
    for axis, window in enumerate(channel.windows):
        matrix = np.array([[float(entry) for entry in row] for row in window.rows])
        joint = np.moveaxis(np.tensordot(joint, matrix, axes=(2 + axis, 0)), -1, 2 + axis)
    joint = joint.reshape(len(joint), -1)
    blind = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    some = joint > 0
    return float((joint[some] * np.log2(joint[some] / blind[some])).sum())
