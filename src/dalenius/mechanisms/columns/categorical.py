r"""A column released in its own letters, everything about it private, Hamming distortion: the closed form.

    keep x with probability 1 - min(1, t/p(x)), else draw from q(y) = (p(y) - t)^+ / (1 - D - t),
    D = sum_x min(p(x), t) - t,     R(D) = H(X) + (1 - D) log2(1 - D) + sum_x min'(x) log2 min'(x),

min' = min(p, t) without one letter above the level. Both ways round: the least leakage under a distortion, and the
least distortion under a leakage. Everything is rational, for a million letters as for eight.

References: Sankar, Rajagopalan & Poor (paper 003), Example 1, eq. 13-18; corrections in docs/errata.md.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import repeat
from operator import mul

from dalenius.core import (
    Certificate,
    Design,
    Leakage,
    MinimizeDistortion,
    Problem,
    Resample,
)
from dalenius.core.ratios import Ratios
from dalenius.errors import Infeasible, NotCertified, SolverFailed, Unsupported
from dalenius.mechanisms.columns.takes import CATEGORICAL
from dalenius.mechanisms.proving import proved
from dalenius.solvers.water import distortion_at_rate, water_level

__all__ = ["categorical"]

METHOD = "reverse water-filling in closed form"
MARGINS = (Fraction(0), Fraction(1, 10**15), Fraction(1, 10**13), Fraction(1, 10**11), Fraction(1, 10**9))
EDGE = Fraction(1, 10**12)


def categorical(problem: Problem) -> Design:
    """The least leakage about a column under a Hamming distortion, or the least distortion under a leakage.

    Several columns are one: a record is wrong if any of them is (003, eq. 13). Nothing is searched for, so that no gap
    and no time need be given.

    >>> from dalenius.core import Distortion, MinimizeLeakage, Pmf
    >>> joint = Pmf.from_records({"X": tuple("abcde")}, zip("abcde", (5, 5, 3, 2, 1)))
    >>> limit = Distortion("hamming", ("X",), Fraction(1, 4))
    >>> design = categorical(Problem(("X",), MinimizeLeakage(("X",)), release=("X",), limits=(limit,), joint=joint))
    >>> f"{float(design.value):.12f}", [str(v) for v in design.channel.q]
    ('0.815336347351', ['4/11', '4/11', '2/11', '1/11', '0'])
    """
    CATEGORICAL.refuse(problem)
    joint = problem.pmf
    if tuple(joint.variables) != problem.observe:
        joint = joint.marginal(problem.observe)
    problem = replace(
        problem,
        joint=joint,
        columns={name: column for name, column in problem.columns.items() if name in problem.observe},
    )
    remarks = [joint.note or problem.pmf.note] if joint.note or problem.pmf.note else []
    if isinstance(problem.objective, MinimizeDistortion):
        return _least_distortion(problem, remarks)
    most = problem.limits[0].at_most
    if most is None or most < 0:
        raise Infeasible(
            f"a distortion of at most {most} cannot be had; the smallest is 0", do="Write a limit of 0 or more."
        )
    channel, certificate = _at(problem, most)
    return proved(problem, channel, [certificate], method=METHOD, remarks=remarks)


def _least_distortion(problem: Problem, remarks: list[str]) -> Design:
    joint, promise = problem.pmf, problem.guarantees[0]
    if not isinstance(promise, Leakage):
        raise Unsupported(
            "the closed form for categories limits a leakage",
            do="Minimise the distortion under a leakage, or choose another form.",
        )
    most = Fraction(promise.at_most_bits)
    edge = 1 - Fraction(int(joint.weights.max()), joint.total)
    if most < 0:
        raise Infeasible(
            "no release leaks less than nothing; the smallest leakage is 0 bits", do="Promise 0 bits or more."
        )
    start = Fraction(distortion_at_rate(joint.weights, joint.total, float(most)))
    for margin in MARGINS:  # the smallest step beyond the float at which the leakage is proved
        channel, certificate = _at(problem, min(start + margin, edge))
        if start + margin >= edge:  # the constant release; the line touches the curve just before its end
            certificate = _at(problem, edge * (1 - EDGE))[1]
        try:
            return proved(problem, channel, [certificate], method=METHOD, remarks=remarks)
        except NotCertified:
            continue
    raise SolverFailed("the leakage of the closed form could not be proved to keep its limit")


def _at(problem: Problem, distortion: Fraction) -> tuple[Resample, Certificate]:
    """The optimal channel at a distortion, and the level and slope that prove it."""
    joint = problem.pmf
    alphabets = joint.alphabets(problem.observe)
    letters = joint.every().tolist()
    mode = int(joint.weights.max())
    if distortion >= 1 - Fraction(mode, joint.total):  # the mode, whatever the record: nothing leaks
        first = letters.index(mode)
        law = Ratios([0, 1], [1, 1], [int(k == first) for k in range(len(letters))])
        channel = Resample(alphabets, alphabets, Ratios([0], [1], [0] * len(letters)), law)
        return channel, Certificate({"rule": "water", "level": str(Fraction(mode, joint.total)), "slope": "1"})
    level = water_level(joint.weights, joint.total, distortion) if distortion else Fraction(0)
    u, v = (level * joint.total).as_integer_ratio()
    places: Sequence[int] = range(len(letters))
    many: Iterable[int] = repeat(1)
    if 2 * len(set(letters)) <= len(letters):  # few different ones are written once each
        often = Counter(letters)
        group = {n: k for k, n in enumerate(often)}
        letters, places, many = list(often), list(map(group.__getitem__, letters)), often.values()
    scaled = [letter * v for letter in letters]
    above = [n - u if n > u else 0 for n in scaled]
    one = sum(map(mul, many, above))
    keep = Ratios(above, [n or 1 for n in scaled], places)
    q = Ratios(above, [one] * len(above), places)
    slope = (1 - distortion) / level if level else Fraction(1)
    certificate = Certificate({"rule": "water", "level": str(level), "slope": str(slope)})
    return Resample(alphabets, alphabets, keep, q), certificate
