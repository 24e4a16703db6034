r"""Limits of what a guess gains, for any number of values and any gains: a price for the action that a record suggests.

An attacker who sees the record y may take the action a(y) that gains most there in the table, whatever is released. So
no release whose guesses gain at most the limit costs less than

    sum_e p_e min_y [ d(e, y) + mu sum_s p(s | e) g(a(y), s) ] - mu times the limit,        mu >= 0.              (*)

Where the table itself gains more than the limit this is above zero for small mu: a row that saves mu g by going
elsewhere pays more than that for the way. (*) is concave in mu, and its largest value is taken.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dalenius.core import Guess
from dalenius.mechanisms.proof_terms import ONE
from dalenius.mechanisms.records.proof import Json, record_proof
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.distances import blocks
from dalenius.solvers.sections import narrowed

__all__ = ["gained_blindly", "gains_of", "most_gained", "priced_actions"]

Floats = npt.NDArray[np.float64]

NARROWER = 100
"""Times that the interval of the price is cut."""
SAMPLE = 5_000
"""Inputs from which the price is chosen; the bound is proved over all of them."""


def gains_of(wide: Wide, promise: Guess) -> list[list[Fraction]]:
    """What each action gains at each value of the secret that occurs; without gains a guess is right or wrong.

    Parameters
    ----------
    wide : Wide
        The table.
    promise : Guess
        About one of its secrets.

    Returns
    -------
    list of list of Fraction
        Actions by values, rising.
    """
    values, _ = wide.values_of(promise.secret)
    if promise.gain is None:
        return [[Fraction(int(value == s)) for s in values] for value in values]
    sizes = [len(wide.law.variables[name]) for name in promise.secret]
    places = np.ravel_multi_index(tuple(np.array(values).T), sizes).tolist()
    return [[Fraction(row[place]) for place in places] for row in promise.gain]


def most_gained(wide: Wide, promise: Guess) -> Fraction:
    """What guesses may gain altogether."""
    if promise.at_most is not None:
        return promise.at_most
    return (promise.times or Fraction(1)) * gained_blindly(wide, promise)


def gained_blindly(wide: Wide, promise: Guess) -> Fraction:
    """What the best action gains without any release."""
    sizes = [int(n) for n in wide.about(promise.secret).counts.sum(axis=0)]
    rows = gains_of(wide, promise)
    return (
        max(sum((entry * size for entry, size in zip(row, sizes, strict=True)), Fraction(0)) for row in rows)
        / wide.total
    )


def priced_actions(wide: Wide, promise: Guess) -> Json:
    """A bound under a limit of what guesses gain, by the rule "records".

    Parameters
    ----------
    wide : Wide
        Its classes are the values of the promise's secret, which may be seen or not.
    promise : Guess
        With gains or without.

    Returns
    -------
    dict
        The price mu for the best action of each record.
    """
    rows = gains_of(wide, promise)
    limit = most_gained(wide, promise)
    gain = np.array([[float(entry) for entry in row] for row in rows])
    best = (wide.by_record @ gain.T).argmax(axis=1)
    price = int(_best_price(wide, gain, best, float(limit)) * ONE)
    numbers = [[[str(price if a == action else 0) for a in range(len(rows))]] for action in best.tolist()]
    return record_proof(wide, [str(price)], [numbers])


def _best_price(wide: Wide, gain: Floats, best: npt.NDArray[np.int64], limit: float) -> float:
    """The price at which (*) is largest, by some of the inputs."""
    some = np.unique(np.linspace(0, len(wide.counts) - 1, min(SAMPLE, len(wide.counts))).astype(np.int64))
    far = np.full((len(some), len(gain)), np.inf)  # to the nearest record at which an action is the best one
    places = {action: np.flatnonzero(best == action) for action in np.unique(best).tolist()}
    for first, block in blocks(wide.metric, wide.origins[some], wide.points):
        for action, columns in places.items():
            far[first : first + len(block), action] = block[:, columns].min(axis=1) / wide.unit
    rows = wide.counts[some].sum(axis=1)
    gained = (wide.counts[some] @ gain.T) / rows[:, None]
    # A limit is of the whole table, which gains more or less than these inputs.
    whole = float((wide.by_record @ gain.T).max(axis=1).sum()) / wide.total
    here = float(rows @ gained[np.arange(len(some)), best[wide.record_of_input[some]]]) / float(rows.sum())

    def proved(price: float) -> float:
        paid = (far + price * gained).min(axis=1)
        return float(rows @ paid) / float(rows.sum()) - price * (limit + here - whole)

    apart = np.diff(np.sort(gained, axis=1), axis=1)
    dearest = 2 * wide.metric.farthest / wide.unit / float(apart[apart > 0].min(initial=1.0))
    return float(narrowed(proved, 0.0, dearest, NARROWER)[0])
