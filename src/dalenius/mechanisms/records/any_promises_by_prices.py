"""Any promises at once by one concave program in prices of the records: a release that nearly keeps them, and a bound.

What promises limit is charged at the records (`solvers.flows.charges`), and the program is climbed as for a leakage
(`solvers.flows.smoothing`). The flow at its top keeps the promises nearly, so that it is mixed with a little of a
release that reveals nothing (`any_promises`); the unknowns are multipliers of the rule "records" for all promises
together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np
import numpy.typing as npt

from dalenius.core import Guarantee, Guess, Independent, InformationPrivacy, Leakage, WorstCaseLeakage
from dalenius.mechanisms.proof_terms import ONE, in_units
from dalenius.mechanisms.records.guesses import gained_blindly, gains_of, most_gained
from dalenius.mechanisms.records.leakage_by_prices import STAY, PricedRecords
from dalenius.mechanisms.records.proof import Json, laws_in_numbers, record_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.charges import BestAction, BitsOfEach, Charge, MeanBits, RatioOfEach
from dalenius.solvers.flows.leaking import LN2, Flow
from dalenius.solvers.flows.smoothing import Climbed, climbed, thinned

__all__ = ["charged", "values_of_classes"]

Floats = npt.NDArray[np.float64]
Progress = Callable[[str], None] | None

GAP = 0.002
"""Share of the distance by which flow and bound may differ."""
LESS = 0.998
"""Share of each limit that is aimed at."""
MARGIN = 0.02
"""Share of what the best action gains beyond the second best one, by which it is to be better everywhere."""
MANY = 5_000
"""Inputs beyond which one flow is tried."""
POSTERIOR = 40
"""Bits after the point of a posterior in a proof."""


@dataclass(frozen=True, eq=False)
class _Asked:
    """A promise, the prices that it has, and how their unknowns are written as multipliers of the kernel."""

    charge: Charge
    written: Callable[[Floats], tuple[int, list[list[object]]]]


def charged(wide: Wide, silent: Rows, done: Callable[[], bool], on_progress: Progress) -> tuple[list[Rows], Json]:
    """Releases that keep all promises nearly, and a proof of what they demand together.

    Parameters
    ----------
    wide : Wide
        With any promises about secrets, seen or not.
    silent : Rows
        Reveals nothing; the search begins with its arcs.
    done : callable
        Whether the time is up.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    list of Rows, dict
        Where the law of the table is to be preserved it is; the proof is by the rule "records".
    """
    priced = PricedRecords(wide, on_progress)
    crowd, keeps = priced.crowd, priced.keeps
    asked = [_asked(wide, promise, crowd.prior, crowd.scale) for promise in wide.problem.guarantees]
    known = priced.flow_of(silent)
    near = priced.arcs_nearby()
    nothing = np.zeros(0)
    start = Flow(np.concatenate([known.atom, *near[:1]]), np.concatenate([known.point, *near[1:]]), nothing, nothing)
    flows, proof = climbed(
        crowd, [one.charge for one in asked], start, keeps=keeps, gap=GAP, done=done, say=on_progress
    )
    if len(crowd.at) > MANY:
        flows = flows[-1:]
    rows = [priced.whole(thinned(crowd, flow, STAY, keeps)) for flow in flows]
    return rows, _proof(wide, asked, proof)


def values_of_classes(wide: Wide, secret: Sequence[str]) -> Floats:
    """Which value of one secret each class has: values by classes, rising.

    Parameters
    ----------
    wide : Wide
        Its classes are the values of all secrets together.
    secret : names
        One of them.

    Returns
    -------
    array of 0 and 1
    """
    values, of_class = wide.values_of(secret)
    return np.eye(len(values))[of_class].T


def _asked(wide: Wide, promise: Guarantee, prior: Floats, scale: Floats) -> _Asked:
    """The charge of a promise, a little stricter than it is."""
    of_class = values_of_classes(wide, promise.secret)
    far = wide.metric.farthest / wide.unit
    if isinstance(promise, WorstCaseLeakage):
        each = BitsOfEach(of_class, prior, scale, LESS * float(promise.at_most_bits))
        return _Asked(each, lambda x: (0, _of_each(each, x)))
    if isinstance(promise, Leakage):
        mean = MeanBits(of_class, prior, scale, LESS * float(promise.at_most_bits), far)
        return _Asked(mean, lambda x: _of_mean(mean, x))
    if isinstance(promise, InformationPrivacy):
        ratio = RatioOfEach(of_class, prior, scale, exp(LESS * float(promise.epsilon)))
        return _Asked(ratio, lambda x: (0, _of_ratio(ratio, x)))
    if isinstance(promise, Guess):
        gain, limit = _aimed_at(wide, promise, of_class @ prior)
        likely = (gain @ of_class @ wide.by_record.T).argmax(axis=0)
        action = BestAction(of_class, prior, scale, gain, limit, likely, far)
        return _Asked(action, lambda x: _of_action(action, x))
    assert isinstance(promise, Independent)
    equal = RatioOfEach(of_class, prior, scale, 1.0)
    return _Asked(equal, lambda x: (0, [list(column) for column in _units(-equal.values(x))]))


def _aimed_at(wide: Wide, promise: Guess, prior: Floats) -> tuple[Floats, float]:
    """Gains and a limit a little stricter than those of a promise; multipliers of the ones hold for the others.

    Where nothing may be gained, one action has to be the best one everywhere: the others seem to gain a little more.
    """
    gain = np.array([[float(entry) for entry in row] for row in gains_of(wide, promise)])
    limit = most_gained(wide, promise)
    blind = gained_blindly(wide, promise)
    if limit > blind:
        return gain, float(blind + Fraction(LESS) * (limit - blind))
    worth = gain @ prior
    best = int(worth.argmax())
    others = np.arange(len(gain)) != best
    margin = float(worth[best] - worth[others].max(initial=0.0))
    return gain + MARGIN * margin * others[:, None], float(blind)


def _proof(wide: Wide, asked: Sequence[_Asked], proof: Climbed) -> Json:
    """Multipliers of all promises together."""
    written = [one.written(x) for one, x in zip(asked, proof.unknowns, strict=True)]
    law = in_units(proof.numbers.tolist()) if wide.problem.preserve_marginals else ()
    return record_proof(wide, [str(weight) for weight, _ in written], [numbers for _, numbers in written], law)


def _units(values: Floats) -> list[list[str]]:
    """Numbers in whole units, for each point those of all values."""
    return [in_units(column) for column in values.T.tolist()]


def _of_mean(charge: MeanBits, x: Floats) -> tuple[int, list[list[object]]]:
    """The price of a bit, and a posterior for each record."""
    posterior = charge.prior[:, None] * np.exp(charge.prices(x, 0.0) / charge.price(x))
    return round(charge.price(x) * LN2 * ONE), laws_in_numbers(posterior, POSTERIOR)


def _of_each(charge: BitsOfEach, x: Floats) -> list[list[object]]:
    """For each record the price of a bit there, and the posterior that pays most within the limit."""
    price, law, _ = charge.tilted(charge.values(x), 0.0)
    units = [round(value * LN2 * ONE) for value in price.tolist()]
    return [
        [[str(unit), own]] if unit else [["0", []]]
        for unit, own in zip(units, laws_in_numbers(law, POSTERIOR), strict=True)
    ]


def _of_ratio(charge: RatioOfEach, x: Floats) -> list[list[object]]:
    """For each record the prices of values that are too rare, and of those that are too frequent."""
    v = charge.values(x)
    return [list(both) for both in zip(_units(np.maximum(-v, 0.0)), _units(np.maximum(v, 0.0)), strict=True)]


def _of_action(charge: BestAction, x: Floats) -> tuple[int, list[list[object]]]:
    """The price of what is gained, and its parts for the actions at each record, rounded down."""
    whole = [[int(entry * ONE) for entry in column] for column in charge.weights(x).T.tolist()]
    return max(map(sum, whole)), [[[str(entry) for entry in column]] for column in whole]
