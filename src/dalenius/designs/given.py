r"""The most that a letter under local DP adds to columns that leave as they are: max I(X; Y, K) over channels p(y | x).

The mechanism does not look at K; it reckons with the reader, who has it. A letter with the column 1 + (r - 1) 1_A adds
sum_k p(k) g(p(A | k)), so the design is one linear program over the subsets A, all of them for up to twelve letters.

References: paper 002, section 5 (information given the variables that are not perturbed).
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from dalenius.core import Certificate, Design, LocalDP, MaximizeInformation, Problem, Staircase
from dalenius.core.arithmetic import exp
from dalenius.core.numbers import up
from dalenius.designs.keeping import MOST_NATS
from dalenius.designs.proving import proved
from dalenius.errors import Unsupported
from dalenius.solvers import best_mixture, maximise

__all__ = ["beside_kept", "why_not"]

LETTERS = 12


def why_not(problem: Problem) -> str | None:
    """The reason why this family does not solve a problem, or None."""
    if not problem.keep or problem.strata:
        return "it designs a letter beside kept columns, keep = [...], without strata"
    if not isinstance(problem.objective, MaximizeInformation) or problem.objective.about != problem.observe:
        return "its objective is the information about the columns that it observes"
    if len(problem.guarantees) != 1 or not isinstance(promise := problem.guarantees[0], LocalDP):
        return "it promises local_dp and nothing else"
    if promise.given != problem.keep:
        return (
            f"{', '.join(problem.keep)} leaves as it is, so no level holds between records that differ in it; say "
            f"given = {list(problem.keep)} beside local_dp to promise the level between records that agree in it"
        )
    if promise.metric is not None or promise.delta or not 0 < promise.epsilon <= MOST_NATS:
        return f"it promises local_dp without metric and delta, above 0 and up to {MOST_NATS} nats"
    if problem.output is None or problem.form is not None:
        return 'it needs a fresh alphabet, output = "Y", without form'
    if reason := problem.not_taken("each", "forbid", "freeze", "preserve_marginals", "limits", "side_information"):
        return reason
    if set(problem.keep) & set(problem.observe):
        return "a kept column is not perturbed: name it in keep alone, not in observe"
    return None


def beside_kept(
    problem: Problem,
    *,
    gap: float = 0.0,  # noqa: ARG001
    seconds: float = 0.0,  # noqa: ARG001
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Maximise I(X; Y, K); the program is solved exactly, so that `gap` and `seconds` have nothing to say.

    >>> from dalenius.core import Pmf
    >>> records = [(("a", "0"), 3), (("b", "0"), 1), (("b", "1"), 2), (("c", "1"), 2)]
    >>> joint = Pmf.from_records({"X": ("a", "b", "c"), "K": ("0", "1")}, records)
    >>> goal, promise = MaximizeInformation(("X",)), LocalDP(Fraction(1), given=("K",))
    >>> design = beside_kept(Problem(("X",), goal, (promise,), output="Y", keep=("K",), joint=joint))
    >>> round(float(design.value), 6), design.gap < Fraction(1, 10**9)
    (0.796267, True)
    """
    if reason := why_not(problem):
        raise Unsupported(f"a letter beside kept columns cannot be had for this: {reason}")
    (promise,) = (g for g in problem.guarantees if isinstance(g, LocalDP))
    joint, r = problem.pmf.marginal([*problem.observe, *problem.keep]), exp(promise.epsilon)[0]
    alphabets = joint.alphabets(problem.observe)
    sizes = [len(letters) for letters in alphabets.values()]
    S = int(np.prod(sizes))
    if S > LETTERS:
        raise Unsupported(
            f"there are {S} letters, and a letter beside kept columns is designed and proved for up to {LETTERS}; "
            "merge letters, or make the kept columns strata, with a matrix for each"
        )
    codes, worlds = joint.support[:, : len(sizes)], joint.support[:, len(sizes) :]
    _, world = np.unique(worlds, axis=0, return_inverse=True)
    table = np.zeros((int(world.max()) + 1, S))
    weights = np.array([int(n) / joint.total for n in joint.weights])
    np.add.at(table, (world.reshape(-1), np.ravel_multi_index(tuple(codes.T), sizes)), weights)
    subsets = np.array(list(product((0.0, 1.0), repeat=S)))[1:]
    worth = _added(table, subsets, float(r))
    if on_progress:
        on_progress(f"{len(subsets):,} subsets")
    rays = 1 + (float(r) - 1) * subsets
    found = maximise(worth, rays.T, np.ones(S))
    used = np.flatnonzero(found.x > 1e-12)
    members = list(dict.fromkeys([*(tuple(np.flatnonzero(subsets[a]).tolist()) for a in used), tuple(range(S))]))
    points = [[Fraction(x in inside) for x in range(S)] for inside in members]
    gain = [float(_added(table, np.array([[float(x in inside) for x in range(S)]]), float(r))[0]) for inside in members]
    u = best_mixture(points, [g - found.objective for g in gain], [Fraction(1)] * S).theta
    s = 1 / (r - 1 + sum(u.values()))
    columns = tuple((s * t, members[k]) for k, t in u.items())
    names = {problem.output or "Y": tuple(map(str, range(len(columns))))}
    channel = Staircase(alphabets, names, r, tuple(range(S)), columns)
    proof = {"z": [up(Fraction(float(v)), 24) for v in found.dual]}
    told = _rank(channel, S)
    method = "all subsets of the letters in one linear program"
    return proved(replace(problem, joint=joint), channel, [Certificate("given", proof)], method=method, remarks=told)


def _added(table: np.ndarray, subsets: np.ndarray, r: float) -> np.ndarray:
    """sum_k p(k) g(p(A | k)) of each subset."""
    weight = table.sum(axis=1)
    P = subsets @ (table / weight[:, None]).T
    v = 1 + (r - 1) * P
    told: np.ndarray = (P * r * np.log2(r) - v * np.log2(v)) @ weight
    return told


def _rank(channel: Staircase, letters: int) -> list[str]:
    rank = int(np.linalg.matrix_rank(np.array([[float(v) for v in row] for row in channel.by_class])))
    if rank == letters:
        return []
    return [f"the released letters determine {rank} of {letters} frequencies: p cannot be estimated letter by letter"]
