"""From a problem to the gains of `solvers.funnel`, and back to an exact channel and a proof over cells."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import inf, log
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Certificate, Contraction, Dalenius, Kernel, MaximalLeakage, Problem, Sibson
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.exact_columns import merged_letters_of
from dalenius.mechanisms.columns.leakage.curved_promises import HAIR, Cuts, is_curved
from dalenius.mechanisms.columns.leakage.fewer_entries import fewer_entries
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.proof import LineProof
from dalenius.mechanisms.interval_words import in_bits
from dalenius.mechanisms.proof_terms import by_lines, in_units, leaf_or_split
from dalenius.solvers.funnel import Gains, Labels, most_information
from dalenius.solvers.leakage import Multipliers, Program, Solution, rational
from dalenius.solvers.leakage.arrays import Secret
from dalenius.solvers.lp import maximise
from dalenius.solvers.repair import merged_letters

__all__ = ["Wanted", "by_cells", "by_gains", "certificate", "exact_channel", "exactly", "kept_share", "tree_of"]

SPARE = 1e-8  # share of a curved promise that is left over, for exact numbers
MERGING = 0.05  # share of the gap that fewer letters may cost
BITS = log(2)  # nats

Floats = npt.NDArray[np.float64]
Progress = Callable[[str], None]


class Wanted:
    """What is told about, as the checker orders it: labels (w, k) of the values of W that are not proportional.

    Attributes
    ----------
    shares : array (n, K)
        p(w, k | x) of the inputs that occur.
    mass : array (n,)
        p(x).
    labels : Labels
        Prior and world of each label.
    """

    def __init__(self, problem: Problem, about: tuple[str, ...] | None = None) -> None:
        joint = problem.pmf
        about = problem.objective.names if about is None else about
        counts = joint.counts(problem.inputs, about, problem.kept)
        columns, world, prior = [], [], []
        for group in merged_letters_of(problem, about):
            own = counts[:, group].sum(axis=1)
            for k in range(counts.shape[2]):
                if own[:, k].any():
                    columns.append(own[:, k])
                    world.append(k)
                    prior.append(float(Fraction(int(own.sum()), joint.total)))
        weight = joint.counts(problem.inputs)
        table = np.stack(columns, axis=1)
        self.shares: Floats = np.zeros(table.shape)
        for x, k in np.argwhere(table):  # few, where what is wanted is the input itself
            self.shares[x, k] = float(Fraction(int(table[x, k]), int(weight[x])))
        self.mass: Floats = np.array([float(Fraction(int(n), joint.total)) for n in weight])
        self.labels = Labels(np.array(prior), np.array(world, dtype=np.intp))


def by_gains(
    problem: Problem, *, gap: float, seconds: float, on_progress: Progress | None = None
) -> tuple[Kernel, Certificate, str]:
    """A channel that keeps every promise, and a proof over cells of the posterior of W; `gap` in bits."""
    wanted = Wanted(problem)

    searched = by_cells(problem, wanted)
    found, model = searched(
        wanted.labels, 0.9 * gap * BITS, seconds, _ceiling(problem, wanted), in_bits(on_progress, BITS)
    )
    channel = exact_channel(problem, wanted, found.pi, loss=MERGING * gap, spare=MERGING * gap, seconds=seconds)
    method = f"{len(found.pieces)} chords of the conclusion, refined in {found.rounds} rounds, and a convex program"
    return channel, certificate(model, found), method


Searched = Callable[..., tuple[Gains, Model]]


def by_cells(problem: Problem, wanted: Wanted) -> Searched:
    """The search of `solvers.funnel` under the promises of a problem, for labels, a gap in nats and a time.

    It returns what was found, and the model of the program that proves its bound. Limits of curved promises that one
    search has found are known to the next.
    """
    cuts = Cuts.of(problem) if any(map(is_curved, problem.guarantees)) else None

    def searched(
        labels: Labels,
        gap: float,
        seconds: float,
        ceiling: float = inf,
        on_progress: Callable[[float, float], None] | None = None,
    ) -> tuple[Gains, Model]:
        models: list[Model] = []

        def program(cost: Floats) -> Program:
            models.append(Model.of(problem, fresh=exactly(cost), cuts=cuts.copied() if cuts else None))
            return models[-1].program

        found = most_information(
            wanted.shares,
            labels,
            program,
            gap=gap,
            seconds=seconds,
            ceiling=ceiling,
            share=partial(kept_share, cuts, wanted.mass) if cuts else None,
            on_progress=on_progress,
        )
        return found, models[found.proved_in]

    return searched


def _ceiling(problem: Problem, wanted: Wanted) -> float:
    """What promises about the whole release allow, in nats: the closed bounds of the checker, in doubles."""
    everything = float(wanted.labels.phi(wanted.shares * wanted.mass[:, None]).sum())
    found = [everything]
    for promise in problem.guarantees:
        if isinstance(promise, Dalenius) or (isinstance(promise, MaximalLeakage) and not promise.secret):
            found.append(float(promise.at_most_bits) * BITS)
        elif isinstance(promise, Contraction):
            found.append(float(promise.at_most) * everything)
    return min(found) if not problem.kept else everything


def kept_share(cuts: Cuts, mass: Floats, pi: Floats) -> float:
    """How often letters may be used, else a letter that says nothing: curved promises fall in proportion."""
    share, channel = 1.0, pi / mass[:, None]
    for one in cuts.bent.values():
        one.refine(channel, mass)
        over = one.excess(channel, mass)
        if over > -HAIR:
            # What a letter that says nothing uses: of Sibson's information what is kept beside it says by itself.
            silence = float(one.by_letter(mass[:, None]).sum()) if isinstance(one.promise, Sibson) else 0.0
            room = max(0.0, float(one.limit) - silence)
            share = min(share, (1 - SPARE) * room / max(over + room, HAIR))
    return share


def exact_channel(
    problem: Problem,
    wanted: Wanted,
    pi: Floats,
    *,
    loss: float,
    spare: float = 0.0,
    seconds: float = 0.0,
    held: Callable[[Floats], Floats] | None = None,
) -> Kernel:
    """The exact channel next to letters (n, J): few of them, every promise kept.

    Merging may cost `loss` bits. To leave out entries that are all but zero may cost `spare` bits, and a share of the
    `seconds` that the search was given. `held` gives figures (h, J) of letters whose sums stay as they are.
    """
    pi = _few_letters(problem, wanted, pi, held)
    letters = merged_letters(wanted.mass, wanted.shares, pi / wanted.mass[:, None], loss=loss)
    model = Model.of(problem, fresh=np.zeros(letters.shape, dtype=object))
    told = (wanted.shares.T @ (letters * wanted.mass[:, None])).T
    gains = wanted.shares @ wanted.labels.tangent(np.maximum(told, 1e-300)).T
    rows = fewer_entries(problem, letters, gains, loss=spare * BITS, seconds=seconds)
    if rows is None:
        rows = exact_rows(model, letters)
    used = [y for y in range(len(rows[0])) if any(row[y] for row in rows)]
    found, _ = Model.of(problem, fresh=np.zeros((len(letters), len(used)), dtype=object)).channel(
        [[row[y] for y in used] for row in rows]
    )
    return found


def exact_rows(model: Model, letters: Floats) -> tuple[tuple[Fraction, ...], ...]:
    """The exact recipe next to p(y|x) of the inputs that occur, for every input of the program; promises are kept.

    Parameters
    ----------
    model : Model
        With as many letters.
    letters : array (inputs that occur or all of the program, letters)
        In doubles.

    Returns
    -------
    tuple of tuple of Fraction
    """
    every = _with_unseen(model.program, letters)
    mass = model.program.mass.astype(np.float64) / float(model.program.total)
    return rational(model.program, Solution(every * mass[:, None], Multipliers(), 0.0, 0.0, 0))


def _with_unseen(program: Program, letters: Floats) -> Floats:
    """The channel with rows for the inputs that never occur, which a metric sets between those that do."""
    occur, many = letters.shape
    extra = len(program.mass) - occur
    if not extra:
        return letters
    sums = np.repeat(np.eye(extra), many, axis=1)
    rows = [sums]
    least = [np.ones(extra)]
    for i, j, ratio in program.pairs:  # row i is at most ratio times row j
        own = np.zeros((many, extra * many))
        known = np.zeros(many)
        for row, factor in ((i, -1.0), (j, float(ratio))):
            if row < occur:
                known += factor * letters[row]
            else:
                own[:, (row - occur) * many : (row - occur + 1) * many] += factor * np.eye(many)
        if max(i, j) >= occur:
            rows.append(own)
            least.append(-known)
    low = np.concatenate(least)
    high = np.append(np.ones(extra), np.full(len(low) - extra, np.inf))
    between = maximise(np.zeros(extra * many), np.concatenate(rows), low, high).x.reshape(extra, many)
    return np.concatenate([letters, between / between.sum(axis=1, keepdims=True)])


def _few_letters(problem: Problem, wanted: Wanted, pi: Floats, held: Callable[[Floats], Floats] | None) -> Floats:
    """The best weights of the same letters: a basic solution has no more of them than inputs and limits on sums.

    What letters use of a limit on their sum, and what they tell, is in proportion to their weight; a limit on single
    letters does not change with it. What is minimised must not grow.
    """
    pi = pi[:, pi.sum(axis=0) > 1e-13]
    weights = pi.sum(axis=0)
    if any(
        isinstance(promise, Dalenius | Contraction) for promise in problem.guarantees
    ):  # which are no sums over letters
        return pi
    program = Model.of(problem, fresh=np.zeros(pi.shape, dtype=object)).program
    if len(program.mass) != len(pi):
        return pi
    # Each with mass one: a linear program takes coefficients below 1e-9 for zeros.
    each = pi / weights
    terms = [*(term for term, _ in program.leakages), *(term for _, term in program.objective)]
    used = [Secret.of(term, program.mass).leakage(each) for term in terms]
    for gauge in program.gauges:
        parts = [np.maximum((np.asarray(part, dtype=np.float64) @ each).max(axis=0), 0.0) for part in gauge.parts]
        used.append(np.sum(parts, axis=0))
    used += [one.by_letter(each) for one in Cuts.of(problem).bent.values()]
    told = wanted.labels.phi((wanted.shares.T @ each).T)
    equal = each / wanted.mass[:, None] if held is None else np.concatenate([each / wanted.mass[:, None], held(each)])
    rows = np.concatenate([equal, np.array(used).reshape(len(used), pi.shape[1])])
    sums = np.append(np.ones(len(pi)), equal[len(pi) :] @ weights)
    low = np.append(sums, np.full(len(used), -np.inf))
    high = np.append(sums, [own @ weights for own in used])
    try:
        best = maximise(told, rows, low, high)
    except (Infeasible, SolverFailed):
        return pi
    letters = each[:, best.x > 0] * best.x[best.x > 0]
    return np.asarray(letters * (wanted.mass / letters.sum(axis=1))[:, None])


def certificate(model: Model, found: Gains) -> Certificate:
    """The multipliers of the promises, the linear function of each cell, and the tree of cells."""
    lines = LineProof.of(model, found.multipliers)
    slopes = [in_units(row) for row in (found.pieces / BITS).tolist()]
    leaves = [leaf | {"objective": own} for leaf, own in zip(lines.leaves(), slopes, strict=True)]
    return by_lines("simplices", [tree_of(found.tree)], leaves, promises=lines.weights, cuts=lines.cuts)


def tree_of(tree: Sequence[list[Fraction] | int], first: int = 0) -> list[Any]:
    """A tree of cells as a proof writes it, its leaves counted from a first one on."""
    return [leaf_or_split(node + first if isinstance(node, int) else node) for node in tree]


def exactly(cost: Floats) -> npt.NDArray[Any]:
    """Doubles as the fractions that they are."""
    return np.array([[Fraction(entry) for entry in row] for row in cost.tolist()], dtype=object).reshape(cost.shape)
