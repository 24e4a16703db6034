r"""The least variance of the estimated frequencies under local DP: the objective for whoever will count, not guess.

    min  tr V,   V / n the covariance of the efficient unbiased estimate of p from n released letters,

over all channels at the level: up to twelve letters by all their subsets, more by subsets that are generated, with a
bound from one positive semidefinite matrix. The cost grows like S^4 and more, so it ends at 64 letters. The channel
that tells the most can leave frequencies undetermined (errata of paper 002, E15: 3 letters where 10 frequencies are
wanted); this one never does.

References: paper 002, section 4.1; Pukelsheim, "Optimal Design of Experiments" (A-optimality).
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from dalenius.core import Certificate, Design, Kernel, Pram, Problem, Staircase
from dalenius.core.arithmetic import exp
from dalenius.errors import Unsupported
from dalenius.mechanisms.local_dp.takes import SUBSETS, VARIANCE, level_and_law
from dalenius.mechanisms.proving import proved
from dalenius.solvers.estimator import least_variance as searched
from dalenius.solvers.interior import Floats
from dalenius.solvers.many_subsets import best_size, many_subsets

__all__ = ["REMARK", "UNIT", "least_variance", "whole"]

EVERY = 12  # letters of which every subset is looked at
LETTERS = 64
SECONDS = 60.0
FAINT = 1e-7
MOST_SUBSETS = 4096
UNIT = 1 << 70
WEIGHT = 1 << 40
RESPONSE = "randomised-response"


def least_variance(
    problem: Problem,
    *,
    gap: float = 1e-9,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Minimise tr V over all channels at the level; a named form is measured, and bounded by all channels.

    >>> from dalenius.core import LocalDP, MinimizeVariance, Pmf
    >>> joint = Pmf.from_records({"X": ("a", "b")}, [(("a",), 1), (("b",), 1)])
    >>> goal = MinimizeVariance(("X",))
    >>> design = least_variance(Problem(("X",), goal, (LocalDP(Fraction(1)),), output="Y", joint=joint))
    >>> round(float(design.value), 6), design.gap < Fraction(1, 10**6)
    (2.341347, True)
    """
    VARIANCE.refuse(problem)
    promise, joint = level_and_law(problem)
    r = exp(promise.epsilon)[0]
    alphabets = joint.alphabets(problem.observe)
    sizes = [len(letters) for letters in alphabets.values()]
    S = int(np.prod(sizes))
    if not 2 <= S <= LETTERS:
        raise Unsupported(
            f"there are {S} values, and the least variance is searched for and proved for 2 to {LETTERS}; beyond, "
            f'maximize information with form = "{RESPONSE}", whose variance `dalenius estimate --rows N` prints'
        )
    if problem.form == SUBSETS and comb(S, size := best_size(S, float(r))) > MOST_SUBSETS:
        raise Unsupported(
            f"{S} values have {comb(S, size):,} subsets of {size}, and at most {MOST_SUBSETS:,} are released; leave "
            "out form, which finds fewer"
        )
    p = np.array([n / joint.total for n in joint.every().tolist()])
    if S <= EVERY:
        subsets, theta, proof = _by_all(p, float(r), gap, on_progress)
        method = "weights of subsets of the values by an interior point"
    else:
        subsets, theta, proof = _by_many(p, float(r), min(seconds, SECONDS), on_progress)
        method = "weights of generated subsets of the values by an interior point"
    channel = _channel(problem, alphabets, r, S, subsets, theta)
    method = problem.form or method
    return proved(replace(problem, joint=joint), channel, [proof], method=method, remarks=[REMARK])


Found = tuple[np.ndarray, np.ndarray, Certificate]


def _by_all(p: Floats, r: float, gap: float, on_progress: Callable[[str], None] | None) -> Found:
    """All subsets, their weights and the proof by visiting them."""
    S = len(p)
    subsets = np.array(list(product((0.0, 1.0), repeat=S)))[1:]
    rays = 1 + (r - 1) * subsets
    start = np.where(subsets.sum(axis=1) == 1, 1 / (r + S - 1), 0.0)
    D = rays[:, :-1] - rays[:, -1:]
    found = searched(D, rays @ p, rays.T, np.eye(S - 1) + 1, start, gap=min(gap, 1e-9))
    if on_progress:
        on_progress(f"between {found.bound:.9g} and {found.value:.9g}")
    return subsets, found.theta, proof_by_matrix((found.B + found.B.T) / 2, found.z)


def _by_many(p: Floats, r: float, seconds: float, on_progress: Callable[[str], None] | None) -> Found:
    """Generated subsets, their weights and the proof by a matrix."""
    found = many_subsets(p, r, seconds=seconds, on_progress=on_progress)
    E = np.maximum(found.prices.E, 0.0)
    B = (found.B + found.B.T) / 2
    np.fill_diagonal(E, 0.0)
    room = _least_eigenvalue(p, r - 1, B, found.prices.z, found.prices.d, E)
    shift = max(0.0, -room) + 1e-13 * float(np.abs(found.prices.z).sum())
    form = {"diagonal": whole(found.prices.d), "pairs": whole((E + E.T) / 2), "shift": str(int(shift * 2**80))}
    proof = proof_by_matrix(B[:-1, :-1], found.prices.z, form)
    used = found.theta > FAINT * found.theta.max()
    return found.subsets[used], found.theta[used], proof


def _least_eigenvalue(p: Floats, c: float, B: Floats, z: Floats, d: Floats, E: Floats) -> float:
    """Of the matrix N of the proof."""
    one = np.append(1.0, c * p)
    prices = np.append(z.sum(), c * z)
    N = (np.outer(one, prices) + np.outer(prices, one)) / 2
    N[1:, 1:] += np.diag(d) - E - c * c * B @ B
    N[0, 1:] -= d / 2
    N[1:, 0] -= d / 2
    return float(np.linalg.eigvalsh(N).min())


def proof_by_matrix(matrix: Floats, prices: Floats, form: dict[str, Any] | None = None) -> Certificate:
    """A matrix and prices; for many letters also the form that bounds what exceeds the prices."""
    said = {"rule": "variance", "unit": str(UNIT), "matrix": whole(matrix), "prices": whole(prices), "form": form}
    return Certificate(said)


def whole(values: Floats) -> Any:
    """Whole numbers of 1 / UNIT, as texts."""
    if values.ndim == 2:
        return [whole(row) for row in values]
    return [str(int(Fraction(float(value)) * UNIT)) for value in values]


REMARK = (
    "the variance is that of all frequencies together for one released row; divide it by the number of rows, for the "
    "population that they were taken from"
)


def _channel(
    problem: Problem, alphabets: dict[str, tuple[str, ...]], r: Fraction, S: int, subsets: np.ndarray, theta: np.ndarray
) -> Kernel:
    if problem.form == RESPONSE:
        return Pram(alphabets, alphabets, (r / (r + S - 1),) * S)
    if problem.form == SUBSETS:
        sets = list(combinations(range(S), best_size(S, float(r))))
        weight = 1 / (r * comb(S - 1, len(sets[0]) - 1) + comb(S - 1, len(sets[0])))
        columns = [(weight, members) for members in sets]
    else:
        columns = _exactly(S, r, subsets, theta)
    output = {problem.output or "Y": tuple(map(str, range(len(columns))))}
    return Staircase(alphabets, output, r, tuple(range(S)), tuple(columns))


def _exactly(S: int, r: Fraction, subsets: np.ndarray, theta: np.ndarray) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Weights that sum to one for every letter exactly: what a letter lacks of the most is added as its own column."""
    whole = {
        tuple(np.flatnonzero(subset).tolist()): Fraction(int(t * WEIGHT), WEIGHT)
        for subset, t in zip(subsets, theta, strict=True)
    }
    weights = {members: t for members, t in whole.items() if t}
    cover = [sum((t for members, t in weights.items() if x in members), Fraction(0)) for x in range(S)]
    for x, known in enumerate(cover):
        if known < max(cover):
            weights[x,] = weights.get((x,), Fraction(0)) + max(cover) - known
    one = sum(weights.values(), Fraction(0)) + (r - 1) * max(cover)
    return [(t / one, members) for members, t in weights.items()]
