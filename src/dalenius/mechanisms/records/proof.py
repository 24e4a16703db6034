r"""Proofs about whole records as the terms of the kernel, and what a search hands over to be proved.

Two rules bound what any release with the promises changes at least. "transports" has plans between classes of the
secret, whose potentials prove their costs; "records" has a number for each record y and each value s of the secret,

    sum_e p_e min_y [ d(e, y) + sum_s p(s | e) price(s, y) ] - what the promises allow at these prices,

which the kernel computes over all pairs of an input e and a record y. Inputs in which the values of the secret are
mixed alike are priced together, so that its time grows with the different mixtures times the records; `affordable`
makes the mixtures coarser where that takes too long. Prices may be rounded: any of the right sign prove some bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core.kept_rows import with_kept_rows
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.leaking import LN2

__all__ = [
    "PROVED",
    "Found",
    "Json",
    "affordable",
    "laws_in_numbers",
    "posterior_numbers",
    "proof_seconds",
    "record_proof",
    "transport_proof",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Json = dict[str, object]

POSTERIOR = 32
"""Bits after the point of a posterior in a proof."""
MIXTURE = 5e-6
"""Seconds of a proof for each record and each mixture of values of the secret that some input has."""
PROVED = 0.25
"""Share of the time that proofs may take; dearer ones are made coarser."""
MOST_STEPS = 1 << 12
"""Into so many steps mixtures are taken apart at most."""


@dataclass(frozen=True, eq=False)
class Found:
    """A channel that was found, what should prove its bound, and how it came about."""

    rows: Rows  # the channel
    proof: Json  # the terms of a rule of the kernel
    method: str  # how it was found, in words
    remarks: tuple[str, ...] = ()  # what a reader of the design must know
    bound: Fraction = Fraction(0)  # what the search expects to be proved, where it knows that
    others: tuple[Json, ...] = ()  # further proofs; the kernel takes the one that proves most
    # Outcomes that are no records, one a row; in `rows` they are counted after the records.
    outputs: Integers | None = None


def transport_proof(wide: Wide, transports: list[list[object]]) -> Json:
    """A proof by the rule "transports" of the kernel.

    Parameters
    ----------
    wide : Wide
        The problem.
    transports : list of [from, to, weight, numbers]
        Between two classes, or from a class to the law of the table (None), with the potentials of the plan.

    Returns
    -------
    dict
    """
    return {"rule": "transports", "promise": 0, "limits": _prices(wide), "transports": transports}


def posterior_numbers(prior: Floats, prices: Floats, price_of_bit: float) -> list[list[object]]:
    """A posterior of the secret for each record, in whole numbers: prior times e^(price / price of a nat).

    Parameters
    ----------
    prior : array (values)
        The law of the secret.
    prices : array (values, records)
        What a row of each value pays at each record.
    price_of_bit : float
        In the units of the prices.

    Returns
    -------
    list of list of str
        For each record a law that is not normalised.
    """
    price_of_nat = price_of_bit / LN2
    with np.errstate(under="ignore"):
        posterior = prior[:, None] * np.exp(prices / price_of_nat)
    return laws_in_numbers(posterior)


def laws_in_numbers(laws: Floats, bits: int = POSTERIOR) -> list[list[object]]:
    """Laws of the secret in whole numbers, one for each record.

    Parameters
    ----------
    laws : array (values, records)
        Which need not be normalised: the kernel divides by their sums.
    bits : int
        After the point of each number.

    Returns
    -------
    list of list of str
    """
    # Never 0: a value that a posterior leaves out has an infinite divergence there, and the line bounds nothing.
    whole = np.maximum(1, np.round(laws * (1 << bits))).astype(np.int64)
    return [[str(entry) for entry in column] for column in whole.T.tolist()]


def record_proof(wide: Wide, promises: list[str], records: list[list[Any]], law: Sequence[str] = ()) -> Json:
    """A proof by the rule "records" of the kernel.

    Parameters
    ----------
    wide : Wide
        The problem.
    promises : list of str
        The weight of each promise.
    records : list of list
        For each promise its multipliers, record by record.
    law : sequence of str
        A number for each record where the law of the table is preserved, else none.

    Returns
    -------
    dict
    """
    return {"rule": "records", "promises": promises, "limits": _prices(wide), "records": records, "law": list(law)}


def affordable(wide: Wide, proof: Json, seconds: float) -> Json:
    """The same proof, or a coarser one where it would take longer than this: inputs of fewer mixtures of values.

    Parameters
    ----------
    wide : Wide
        The problem, with a secret that need not be seen.
    proof : dict
        By any rule.
    seconds : float
        For the proof alone.

    Returns
    -------
    dict
        By the rule "coarse" where that is needed, with as many steps as fit.
    """
    if proof["rule"] != "records" or proof_seconds(wide) <= seconds:
        return proof
    values = len(wide.classes)
    steps = MOST_STEPS
    while steps > 1 and MIXTURE * comb(steps + values - 1, values - 1) * len(wide.records) > seconds:
        steps //= 2
    return {"rule": "coarse", "steps": str(steps)} | {key: value for key, value in proof.items() if key != "rule"}


def proof_seconds(wide: Wide) -> float:
    """What a proof by the rule "records" takes."""
    counts = wide.counts
    mixtures = len(np.unique(counts // np.gcd.reduce(counts, axis=1)[:, None], axis=0))
    return MIXTURE * mixtures * len(wide.records)


def _prices(wide: Wide) -> list[str]:
    """The price of each limit; without prices all limits are free, which only loosens a bound."""
    more = wide.problem.min_multiplicity is not None
    return list(wide.prices) or ["0"] * (len(with_kept_rows(wide.problem).limits) + more)
