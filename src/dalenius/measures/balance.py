r"""Adversaries who lack some knowledge: C_1^b over priors with H(X) >= b, and the balance function g(b) = C_1 - C_1^b.

Paper 001 leaves both open (Definition 11); for small channels they are bracketed here. What they are not: b > log |X_i|
excludes the adversary who knows all records but one, the very one of differential privacy (noiseless parity of n fair
bits has C_1^b = 0 at b = n bits and no level of differential privacy at all); and C_1^b neither composes nor extends to
groups. With three fair bits and b = 3 bits, Y_1 = x1 ^ x2 ^ x3 and Y_2 = x2 ^ x3 each tell nothing, both tell x1. So a
budget is kept in C_1, and `compose` refuses.

References: paper 001, (15)-(18), Lemma 1, Proposition 3.
"""

from collections import Counter
from itertools import product
from math import log, log2, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.conditional_law import Kernel
from dalenius.errors import InputError, Unsupported
from dalenius.measures.capacity import Bracket, bits, distinct_rows
from dalenius.measures.individual import individual_capacity
from dalenius.solvers.adversary import alternating, cells_bound, convex_bound, told
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import UNIT, Laws

__all__ = ["balance", "limited_capacity", "threshold"]

Floats: TypeAlias = NDArray[np.float64]

GAP = 1e-4  # nats between the ends, aimed at
CORNERS = 9  # input outcomes, or priors, up to which cells are made
SELECTIONS = 50_000


def _by_record(channel: Kernel) -> list[Floats]:
    """The channel as [record, others, letter], once for each record."""
    sizes = [len(letters) for letters in channel.inputs.values()]
    laws, which = distinct_rows(channel)
    table = laws.rows[which].reshape(*sizes, -1)
    return [np.moveaxis(table, record, 0).reshape(size, -1, table.shape[-1]) for record, size in enumerate(sizes)]


def _different(records: list[Floats]) -> list[Floats]:
    """Records whose channels are the same are one."""
    return list({(table.shape, table.tobytes()): table for table in records}.values())


def limited_capacity(channel: Kernel, b_bits: float, *, gap: float = GAP) -> Bracket:
    """C_1^b in bits: the most that an adversary with H(X) >= b bits learns about a record, between proved ends.

    Parameters
    ----------
    channel : Kernel
        p(output | records).
    b_bits : float
        The least entropy of the adversary's prior.
    gap : float
        At which the search may stop, in nats.

    Returns
    -------
    Bracket
        Both ends, in bits.

    Raises
    ------
    InputError
        If no prior has so much entropy.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> sure = (Fraction(1), Fraction(0))
    >>> parity = Channel({"A": ("0", "1"), "B": ("0", "1")}, {"Y": ("0", "1")}, (sure, sure[::-1], sure[::-1], sure))
    >>> limited_capacity(parity, 2.0)[1] < 1e-12
    True
    """
    outcomes = channel.shape[0]
    if not 0 <= b_bits <= log2(outcomes) * (1 + 4 * UNIT):
        raise InputError(
            f"an entropy of {b_bits} bits is asked for; {outcomes} outcomes have at most {log2(outcomes):.6g}"
        )
    whole = individual_capacity(channel)
    if not b_bits or not whole.high:
        return whole.low, whole.high
    least_entropy = b_bits * log(2)
    records = _different(_by_record(channel))
    if b_bits >= log2(outcomes) * (1 - 4 * UNIT):  # the uniform prior alone
        values = [float(told(np.full(record.shape[:2], 1 / outcomes), record)) for record in records]
        slack = 16 * (records[0].size + 40) * UNIT * (2 + log(records[0].size))
        return bits(max(0.0, max(values) - slack), max(values) + slack)
    found = [alternating(record, min(least_entropy + 1e-12, log(outcomes))) for record in records]
    low = max(value for value, _, _ in found)
    laws, which = distinct_rows(channel)
    high = min(
        whole.high * log(2) * (1 + 8 * UNIT), convex_bound(Laws(laws.rows[which]), least_entropy)
    )  # equal rows stay apart
    if outcomes <= CORNERS:
        ends = [
            cells_bound(record, low, least_entropy=least_entropy, temperature=multiplier, gap=gap)
            for record, (_, _, multiplier) in zip(records, found, strict=True)
        ]
        high = min(high, max(end[1] for end in ends))
    return bits(low, max(low, high))


def balance(channel: Kernel, b_bits: float, *, gap: float = GAP) -> Bracket:
    """g(b) = C_1 - C_1^b in bits (16)-(18): what is gained by the assumption that adversaries lack b bits.

    Parameters
    ----------
    channel : Kernel
        p(output | records).
    b_bits : float
        The least entropy of the adversary's prior.
    gap : float
        At which the search may stop, in nats.

    Returns
    -------
    Bracket
        Both ends, in bits.
    """
    whole = individual_capacity(channel)
    limited = limited_capacity(channel, b_bits, gap=gap)
    return max(0.0, whole.low - limited[1]), max(0.0, whole.high - limited[0])


def threshold(channel: Kernel) -> float:
    """b_0 in bits: g(b) = 0 if and only if b <= b_0, up to rounding.

    b_0 is the largest entropy of a prior that reaches C_1: H(w) + sum_j w_j log(others with the selected row) over the
    optimal selections, classes with one row counted together.

    Parameters
    ----------
    channel : Kernel
        p(output | records).

    Returns
    -------
    float
        b_0, in bits.

    Raises
    ------
    Unsupported
        If there are too many selections, or the best prior is not unique.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> no, yes = (Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 10), Fraction(9, 10))
    >>> round(threshold(Channel({"A": ("0", "1"), "B": ("0", "1")}, {"Y": ("0", "1")}, (no, no, no, yes))), 9)
    1.5
    """
    whole = individual_capacity(channel)
    if not whole.high:
        return log2(channel.shape[0])
    laws, which = distinct_rows(channel)
    sizes = [len(letters) for letters in channel.inputs.values()]
    best = 0.0
    for record, size in enumerate(sizes):
        lines = np.moveaxis(which.reshape(sizes), record, 0).reshape(size, -1)
        counts = [Counter(line) for line in lines.tolist()]
        if prod(map(len, counts)) > SELECTIONS:
            raise Unsupported(
                f"there are more than {SELECTIONS:,} selections of rows, too many to find the threshold",
                do="Measure fewer values at once: group them.",
            )
        seen: dict[frozenset[int], Any] = {}
        for rows in product(*counts):
            chosen = frozenset(rows)
            if chosen not in seen:
                at = np.array(sorted(chosen), dtype=np.intp)
                seen[chosen] = smallest_ball(laws, at=at) if len(at) > 1 else None
            ball = seen[chosen]
            if ball is None or ball.high < whole.low * log(2) - 1e-9:
                continue
            used = ball.weights > 1e-7
            at = ball.support[used]
            weights = ball.weights[used] / ball.weights[used].sum()
            if np.linalg.matrix_rank(laws.rows[at], tol=1e-9) < len(at):
                raise Unsupported(
                    "the best stated distribution is not unique, and the threshold is not given by a formula then",
                    do="Use the bounds instead, which hold for every distribution.",
                )
            many = [
                sum(counts[number][row] for number, other in enumerate(rows) if other == row) for row in at.tolist()
            ]
            best = max(best, float((weights * np.log2(np.array(many) / weights)).sum()))
    return best
