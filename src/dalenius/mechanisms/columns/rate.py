r"""Everything observed is the secret and the distortion is any: plain rate-distortion with an exact channel and proof.

    R(D) = min I(X; Y)  over channels with  E d(X, Y) <= D,        and the least distortion with I(X; Y) <= L.

The search is an interior point on the output law alone (`solvers.rate`); its channel is rounded to rationals that keep
the limit exactly, and the weights 1/(A q)(x) with their slope prove the bound.

References: Sankar, Rajagopalan & Poor (paper 003), Proposition 2 with X_h = X.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core import Certificate, Channel, Design, Leakage, MinimizeDistortion, Problem
from dalenius.core.distorting import distortions
from dalenius.errors import Infeasible, NotCertified, SolverFailed, Unsupported
from dalenius.mechanisms.columns.takes import RATE, measure_of
from dalenius.mechanisms.declared import GAP
from dalenius.mechanisms.proof_terms import by_lines, texts
from dalenius.mechanisms.proving import proved
from dalenius.solvers.rate import at_slope, on_few_letters, rate_distortion
from dalenius.solvers.repair import in_multiples

__all__ = ["plain_rate"]

Floats: TypeAlias = NDArray[np.float64]

METHOD = "an interior point on the output distribution, rounded to rationals"
TICKS = 50  # bits after the point of a probability of the channel
WEIGHTS = 60
FAINT = 1e-14
TOL = 3e-10  # nats; the proof loses about as much again
NEAR = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8)
STEEP = 38.0  # nats that make a letter that is not nearest impossible
MOST = 1 << 21  # entries of the distortion


def plain_rate(problem: Problem, *, gap: float = GAP, on_progress: Callable[[str], None] | None = None) -> Design:
    """The least rate under a distortion, or the least distortion under a rate, whatever the distortion.

    >>> from dalenius.core import Distortion, MinimizeRate, Pmf
    >>> joint = Pmf.from_records({"X": tuple("012")}, zip("012", (1, 1, 1)))
    >>> limit = Distortion("absolute", ("X",), Fraction(1, 3))
    >>> design = plain_rate(Problem(("X",), MinimizeRate(), release=("X",), limits=(limit,), joint=joint))
    >>> f"{float(design.value):.6f}", design.gap < 1e-8
    ('0.459148', True)
    """
    RATE.refuse(problem)
    note = problem.pmf.note
    if tuple(problem.pmf.variables) != problem.observe:
        problem = replace(problem, joint=problem.pmf.marginal(problem.observe))
    case = _Case(problem, min(TOL, gap / 20))
    if on_progress:
        on_progress(f"{len(case.p)} records, {len(case.letters)} values")
    least = isinstance(problem.objective, MinimizeDistortion)
    channel, certificate = _least_distortion(case) if least else _least_rate(case)
    return proved(problem, channel, [certificate], method=METHOD, remarks=[note] if note else [])


class _Case:
    """The records that occur, their weights, and the distortion of each from each letter, as integers out of `unit`."""

    def __init__(self, problem: Problem, tol: float) -> None:
        joint, measure = problem.pmf, measure_of(problem)
        self.tol = tol
        self.problem = problem
        self.inputs = joint.alphabets(problem.observe)
        if problem.release:
            self.output = joint.alphabets(problem.release)
        elif isinstance(measure.distortion, str):
            raise Unsupported(
                'with output = "Y" the distortion is a matrix; its columns define the values',
                do="Write the distortion as a matrix, or leave out output.",
            )
        else:
            self.output = {str(problem.output): tuple(str(k) for k in range(len(measure.distortion[0])))}
        letters = list(product(*self.output.values()))
        names = list(self.inputs)
        if len(joint) * len(letters) > MOST:
            raise Unsupported(
                f"{len(joint)} records and {len(letters)} values are too many for a dense recipe",
                do="Group values, or release fewer columns together.",
            )
        records = [tuple(self.inputs[n][row[names.index(n)]] for n in measure.of) for row in joint.support.tolist()]
        low, _, self.unit = distortions(measure, dict(self.inputs), records, list(self.output), letters)
        self.d, self.total, self.letters = low, joint.total, letters
        self.weights = [int(weight) for weight in joint.weights]
        self.p = np.array([weight / self.total for weight in self.weights])
        self.far = np.array([[np.inf if entry is None else entry / self.unit for entry in row] for row in low])
        nearest = [min(entry for entry in row if entry is not None) for row in low]
        self.bottom = Fraction(
            sum(weight * value for weight, value in zip(self.weights, nearest, strict=True)), self.total * self.unit
        )
        self.most: Fraction | None = None
        self.constant = 0  # distortion and place of the best constant letter
        for t in range(len(letters)):
            column = [row[t] for row in low]
            if None not in column:
                cost = Fraction(sum(weight * (entry or 0) for weight, entry in zip(self.weights, column, strict=True)))
                cost /= self.total * self.unit
                if self.most is None or cost < self.most:
                    self.most, self.constant = cost, t

    def rounded(self, channel: Floats) -> list[list[int]]:
        """Whole ticks of 2^-TICKS, the rest of each row to its largest entry."""
        channel = np.where(channel < FAINT, 0.0, channel)
        ticks: list[list[int]] = in_multiples(channel / channel.sum(axis=1, keepdims=True), TICKS).tolist()
        return ticks

    def cost(self, ticks: list[list[int]]) -> Fraction:
        """The exact expected distortion."""
        total = sum(
            weight * sum(entry * d for entry, d in zip(row, far, strict=True) if entry and d is not None)
            for weight, row, far in zip(self.weights, ticks, self.d, strict=True)
        )
        return Fraction(total, (self.total * self.unit) << TICKS)

    def channel(self, ticks: list[list[int]]) -> Channel:
        """The channel of ticks; rows of impossible records repeat the output law."""
        known: dict[int, Fraction] = {}

        def share(t: int) -> Fraction:
            if t not in known:
                known[t] = Fraction(t, 1 << TICKS)
            return known[t]

        sizes = [len(letters) for letters in self.inputs.values()]
        places = np.ravel_multi_index(tuple(self.problem.pmf.support.T), sizes).tolist()
        rows: dict[int, Any] = {place: tuple(map(share, row)) for place, row in zip(places, ticks, strict=True)}
        outcomes = int(np.prod(sizes))
        if len(rows) < outcomes:
            sums = [0] * len(self.letters)
            for weight, row in zip(self.weights, ticks, strict=True):
                sums = [a + weight * entry for a, entry in zip(sums, row, strict=True)]
            law = tuple(Fraction(v, self.total << TICKS) for v in sums)
            rows = {x: rows.get(x, law) for x in range(outcomes)}
        return Channel(self.inputs, self.output, tuple(rows[x] for x in range(outcomes)))

    def certificate(self, weights: Floats, slope: float) -> Certificate:
        # Any positive weights prove some line below the curve; none may be zero, because its logarithm is taken.
        scaled = [max(1, round(float(w) * (1 << WEIGHTS))) for w in weights / weights.max()]
        return Certificate({"rule": "slope", "weights": texts(scaled), "slope": str(Fraction(slope))})

    def unlimited(self) -> Certificate:
        """No letter is nearer than the nearest, whatever may leak: the promise has the weight 0."""
        anything = ["1"] * len(self.weights)
        leaf = {"objective": [], "promises": [anything]}
        letters = range(len(self.letters))
        return by_lines("letters", [[["leaf", t]] for t in letters], [leaf for _ in letters], promises=["0"])

    def said_once(self) -> tuple[Channel, Certificate]:
        """The best constant letter: nothing leaks."""
        ticks = [[(1 << TICKS) * (t == self.constant) for t in range(len(self.letters))] for weight in self.weights]
        return self.channel(ticks), self.certificate(np.ones(len(self.p)), 0.0)


def _least_rate(case: _Case) -> tuple[Channel, Certificate]:
    most = case.problem.limits[0].at_most
    if most is None or most < case.bottom:
        raise Infeasible(
            f"no release has an expected distortion of at most {float(most or 0):.12g}; the smallest is "
            f"{float(case.bottom):.12g}",
            do="Raise the limit to that.",
        )
    if case.most is not None and most >= case.most:
        return case.said_once()
    if most == case.bottom:
        return _nearest(case)
    goal = float(most - case.bottom)
    for near in NEAR:
        aim = float(case.bottom) + goal * (1 - near)
        found, line = rate_distortion(case.p, case.far, distortion=aim, tol=case.tol)
        ticks = case.rounded(on_few_letters(case.p, case.far, found, line, distortion=aim, tol=case.tol))
        if case.cost(ticks) <= most:
            return case.channel(ticks), case.certificate(line.weights, line.slope)
    raise SolverFailed("no rounding of the recipe keeps the distortion")


def _nearest(case: _Case) -> tuple[Channel, Certificate]:
    """Only letters nearest to the record: the slope beyond which no other is worth its distortion."""
    least = case.far.min(axis=1, keepdims=True)
    beyond = (case.far - least)[(case.far > least) & np.isfinite(case.far)]
    slope = STEEP / float(beyond.min()) if beyond.size else 1.0
    point = at_slope(case.p, np.where(case.far > least, np.inf, case.far), 1.0, tol=1e-11)
    weights = (
        point.weights
        / np.exp(least[:, 0] - least.max())
        * np.exp(np.maximum(-600.0, slope * (least[:, 0] - least.max())))
    )
    return case.channel(case.rounded(point.channel)), case.certificate(weights, slope)


def _least_distortion(case: _Case) -> tuple[Channel, Certificate]:
    promise = case.problem.guarantees[0]
    if not isinstance(promise, Leakage):
        raise Unsupported(
            "plain rate-distortion limits a leakage",
            do="Minimise the distortion under a leakage, or the leakage under a distortion.",
        )
    limit = float(promise.at_most_bits) * float(np.log(2.0))
    nearest, _ = _nearest(case)
    certificate = case.unlimited()
    try:  # the least distortion of all, if it leaks little enough
        proved(case.problem, nearest, [certificate], method=METHOD)
        return nearest, certificate
    except NotCertified:
        pass
    if not limit:
        return _silent(case)
    for near in NEAR[1:]:
        aim = limit * (1 - near)
        found, line = rate_distortion(case.p, case.far, rate=aim, tol=case.tol)
        found = on_few_letters(case.p, case.far, found, line, rate=aim, tol=case.tol)
        channel = case.channel(case.rounded(found))
        certificate = case.certificate(line.weights, line.slope)
        try:
            proved(case.problem, channel, [certificate], method=METHOD)
            return channel, certificate
        except NotCertified:
            continue
    raise SolverFailed("no rounding of the recipe keeps the leakage")


def _silent(case: _Case) -> tuple[Channel, Certificate]:
    """Nothing may leak: the best constant letter, proved by a line that touches the curve close to its end."""
    if case.most is None:
        raise Infeasible(
            "no value is within a finite distance of every record; the smallest leakage is not 0",
            do="Allow some bits, or a distortion without forbidden changes.",
        )
    channel, _ = case.said_once()
    goal = float(case.bottom) + float(case.most - case.bottom) * (1 - 1e-6)
    _, line = rate_distortion(case.p, case.far, distortion=goal)
    return channel, case.certificate(line.weights, line.slope)
