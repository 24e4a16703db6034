r"""Form (8) that preserves the margin: keep x with probability 1 - c/p(x), else one of the others, all alike.

p M = p asks that as much leaves every letter as comes: p(x) (1 - q_x) is the same number c for all x, and c alone is
left to choose. With r = e^epsilon and S letters, column y keeps the level iff

    p(x) <= r p(x'),     1 - c/p(y) <= r c / ((S - 1) p(x)),     c / ((S - 1) p(x)) <= r (1 - c/p(y)),     x, x' != y,

an interval of c, empty when one letter is more than r times as frequent as another (three letters or more). I(X; Z) is
convex in c, so an end of the interval is the best of the form. The bound is that of all channels at the level.

References: paper 002, eq. 8, and section 2.2 for invariant PRAM.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log, prod

import numpy as np

from dalenius.core import Design, Pram, Problem
from dalenius.core.arithmetic import exp
from dalenius.errors import Infeasible, Unsupported
from dalenius.measures.shannon import information_of
from dalenius.mechanisms.local_dp import staircase
from dalenius.mechanisms.local_dp.takes import INVARIANT, under_own_law, with_fresh_letters
from dalenius.mechanisms.proof_terms import CLOSED
from dalenius.mechanisms.proving import proved

__all__ = ["invariant"]

LETTERS = 64
WAY_OUT = "without form, preserve_marginals takes any matrix in these values"


def invariant(
    problem: Problem,
    *,
    gap: float = staircase.RELATIVE,
    seconds: float = 60.0,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """The best matrix of form (8) that preserves the margin, with the bound of all channels.

    >>> from dalenius.core import LocalDP, MaximizeInformation, Pmf
    >>> joint = Pmf.from_records({"X": ("a", "b", "c")}, [(("a",), 5), (("b",), 3), (("c",), 2)])
    >>> goal, promise = MaximizeInformation(("X",)), LocalDP(Fraction(1))
    >>> asked = Problem(("X",), goal, (promise,), release=("X",), form="pram", preserve_marginals=True, joint=joint)
    >>> len({n * (1 - q) for n, q in zip((5, 3, 2), invariant(asked).channel.q)})
    1
    """
    INVARIANT.refuse(problem)
    problem, promise, joint = under_own_law(problem)
    alphabets = joint.alphabets(problem.observe)
    if (S := prod(map(len, alphabets.values()))) > LETTERS:
        raise Unsupported(f'there are {S} values; form = "pram" preserves the margins of up to {LETTERS}')
    p = [Fraction(n, joint.total) for n in joint.every().tolist()]
    if min(p) == 0:
        raise Infeasible(
            'a value that never occurs can come from no other when margins are preserved, and form = "pram" turns any '
            f"value into any other; {WAY_OUT}, or declare fewer values"
        )
    ends = interval(p, exp(promise.epsilon)[0])  # from below: a smaller ratio gives a smaller interval
    if ends is None:
        raise Infeasible(
            f'form = "pram" preserves these margins from the level {least_level(p):.6g} on, not at '
            f"{float(promise.epsilon):g}, because one value is far more frequent than another; {WAY_OUT}"
        )
    matrices = [Pram(alphabets, alphabets, tuple(1 - end / value for value in p)) for end in ends]
    # The other end inverts values: it may tell more to those who correct for the changes, and misleads everybody else.
    channel = max(matrices, key=lambda matrix: round(_told(p, matrix), 12)) if problem.allow_inverted else matrices[0]
    best = staircase.in_form(with_fresh_letters(problem), gap=gap, seconds=seconds, on_progress=on_progress)
    certificates = [CLOSED, best.certificate]
    remarks = ['the best of form = "pram" that preserves the margins; the bound is that of all recipes at the level']
    return proved(problem, channel, certificates, method="the better end of the interval of c", remarks=remarks)


def interval(p: Sequence[Fraction], r: Fraction) -> tuple[Fraction, Fraction] | None:
    """The least and the largest c = p(x) (1 - q_x) at the level log r, or None where there is none.

    >>> interval([Fraction(1, 2)] * 2, Fraction(3))
    (Fraction(1, 8), Fraction(3, 8))
    >>> interval([Fraction(8, 10), Fraction(1, 10), Fraction(1, 10)], Fraction(3)) is None
    True
    """
    S = len(p)
    low = Fraction(0)
    high = min(p)
    if S > 2 and max(p) > r * min(p):
        return None
    for y, here in enumerate(p):
        others = [value for x, value in enumerate(p) if x != y]
        low = max(low, 1 / (1 / here + r / ((S - 1) * max(others))))
        high = min(high, r / (1 / ((S - 1) * min(others)) + r / here))
    return (low, high) if low <= high else None


def least_level(p: Sequence[Fraction]) -> float:
    """The smallest level at which there is such a matrix, a hair above.

    >>> round(least_level([Fraction(8, 10), Fraction(1, 10), Fraction(1, 10)]), 6)
    2.079442
    """
    low, high = 0.0, 2 * log(len(p) * max(p) / min(p)) + 1
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if interval(p, exp(Fraction(middle))[0]) else (middle, high)
    return high


def _told(p: Sequence[Fraction], matrix: Pram) -> float:
    return float(
        information_of(
            np.array([[float(value * entry) for entry in row] for value, row in zip(p, matrix.rows, strict=True)])
        )
    )
