r"""The least variance of the estimated frequencies under local DP: the objective for whoever will count, not guess.

    min  tr V,   V / n the covariance of the efficient unbiased estimate of p from n released letters,

over all channels at the level, for up to twelve letters. The channel that tells the most can leave frequencies
undetermined (errata of paper 002, E15: 3 letters where 10 frequencies are wanted); this one never does.

References: paper 002, section 4.1; Pukelsheim, "Optimal Design of Experiments" (A-optimality).
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np

from dalenius.core import Certificate, Design, Kernel, LocalDP, MinimizeVariance, Pram, Problem, Staircase
from dalenius.core.arithmetic import exp
from dalenius.designs.keeping import why_not_one_level
from dalenius.designs.proving import proved
from dalenius.designs.subset_selection import FORM
from dalenius.errors import Unsupported

__all__ = ["least_variance", "why_not"]

LETTERS = 12
UNIT = 1 << 70
WEIGHT = 1 << 40
RESPONSE = "randomised-response"


def why_not(problem: Problem) -> str | None:
    """The reason why this family does not solve a problem, or None."""
    if not isinstance(problem.objective, MinimizeVariance):
        return "its objective is minimize = { variance = [...] }"
    if problem.objective.of != problem.observe:
        return "the variance is that of the frequencies of the columns that it observes"
    if reason := why_not_one_level(problem):
        return reason
    if reason := problem.not_taken(
        "keep", "strata", "each", "forbid", "freeze", "preserve_marginals", "limits", "side_information"
    ):
        return reason
    if problem.output and problem.form in (None, FORM):
        return None
    if problem.release == problem.observe and problem.form == RESPONSE:
        return None
    return f'say output = "Y", alone or with form = "{FORM}", or release = [...] with form = "{RESPONSE}"'


def least_variance(
    problem: Problem,
    *,
    gap: float = 1e-9,
    seconds: float = 0.0,  # noqa: ARG001
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Minimise tr V over all channels at the level; a named form is measured, and bounded by all channels.

    >>> from dalenius.core import Pmf
    >>> joint = Pmf.from_records({"X": ("a", "b")}, [(("a",), 1), (("b",), 1)])
    >>> goal = MinimizeVariance(("X",))
    >>> design = least_variance(Problem(("X",), goal, (LocalDP(Fraction(1)),), output="Y", joint=joint))
    >>> round(float(design.value), 6), design.gap < Fraction(1, 10**6)
    (2.341347, True)
    """
    if reason := why_not(problem):
        raise Unsupported(f"the least variance cannot be had for this: {reason}")
    from dalenius.solvers.estimator import least_variance as searched

    (promise,) = (g for g in problem.guarantees if isinstance(g, LocalDP))
    joint, r = problem.pmf.marginal(list(problem.observe)), exp(promise.epsilon)[0]
    alphabets = joint.alphabets(problem.observe)
    sizes = [len(letters) for letters in alphabets.values()]
    S = int(np.prod(sizes))
    if not 2 <= S <= LETTERS:
        raise Unsupported(
            f"there are {S} letters, and the least variance is searched for and proved for 2 to {LETTERS}; beyond, "
            f'maximize information with form = "{RESPONSE}", whose variance `dalenius estimate --rows N` tells'
        )
    p = np.zeros(S)
    p[np.ravel_multi_index(tuple(joint.support.T), sizes)] = [int(n) / joint.total for n in joint.weights]
    subsets = np.array(list(product((0.0, 1.0), repeat=S)))[1:]
    rays = 1 + (float(r) - 1) * subsets
    start = np.where(subsets.sum(axis=1) == 1, 1 / (float(r) + S - 1), 0.0)
    D = rays[:, :-1] - rays[:, -1:]
    found = searched(D, rays @ p, rays.T, np.eye(S - 1) + 1, start, gap=min(gap, 1e-9))
    if on_progress:
        on_progress(f"between {found.bound:.9g} and {found.value:.9g}")
    B = np.rint((found.B + found.B.T) / 2 * 2.0**70).astype(object)
    whole = [[int(v) for v in row] for row in B]
    proof = {
        "unit": str(UNIT),
        "B": [[str(v) for v in row] for row in whole],
        "z": [str(int(v * UNIT)) for v in found.z],
    }
    channel = _channel(problem, alphabets, r, S, subsets, found.theta)
    method = "weights of subsets of the letters by an interior point" if problem.form is None else problem.form
    certificates = [Certificate("variance", proof)]
    return proved(replace(problem, joint=joint), channel, certificates, method=method, remarks=[_REMARK])


_REMARK = (
    "the variance is that of all frequencies together for one released row; divide it by the number of rows, for the "
    "population that they were drawn from"
)


def _channel(
    problem: Problem, alphabets: dict[str, tuple[str, ...]], r: Fraction, S: int, subsets: np.ndarray, theta: np.ndarray
) -> Kernel:
    if problem.form == RESPONSE:
        return Pram(alphabets, alphabets, (r / (r + S - 1),) * S)
    if problem.form == FORM:
        sets = _best_subsets(S, r)
        weight = 1 / (r * comb(S - 1, len(sets[0]) - 1) + comb(S - 1, len(sets[0])))
        columns = [(weight, members) for members in sets]
    else:
        columns = _exactly(S, r, subsets, theta)
    output = {problem.output or "Y": tuple(map(str, range(len(columns))))}
    return Staircase(alphabets, output, r, tuple(range(S)), tuple(columns))


def _best_subsets(S: int, r: Fraction) -> list[tuple[int, ...]]:
    """The size with the least variance when all letters are alike: p is the same everywhere, so G is too."""

    def spread(k: int) -> float:
        weight = 1 / (float(r) * comb(S - 1, k - 1) + comb(S - 1, k))
        inside = comb(S - 2, k - 1)  # columns with the one letter of a pair and not the other
        return (1 + (float(r) - 1) * k / S) / (weight * (float(r) - 1) ** 2 * inside)

    k = min(range(1, S), key=spread)
    return list(combinations(range(S), k))


def _exactly(S: int, r: Fraction, subsets: np.ndarray, theta: np.ndarray) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Weights that sum to one for every letter exactly: what a letter lacks of the most is added as its own column."""
    whole = {
        tuple(np.flatnonzero(a).tolist()): Fraction(int(t * WEIGHT), WEIGHT)
        for a, t in zip(subsets, theta, strict=True)
    }
    weights = {members: t for members, t in whole.items() if t}
    cover = [sum((t for members, t in weights.items() if x in members), Fraction(0)) for x in range(S)]
    for x, known in enumerate(cover):
        if known < max(cover):
            weights[x,] = weights.get((x,), Fraction(0)) + max(cover) - known
    one = sum(weights.values(), Fraction(0)) + (r - 1) * max(cover)
    return [(t / one, members) for members, t in weights.items()]
