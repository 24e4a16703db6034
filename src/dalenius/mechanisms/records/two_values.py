"""Promises about what single records tell, for a seen secret of two values: guesses, posteriors, worst letters.

Rows of the lighter value move by the transports of `two_sides`, whose bound is then the value. For posteriors that is
so where the light value is nowhere the likelier one; beyond, heavy rows would go to light records.

Where the law of the table is preserved, rows of both values exchange their places along the transport. For a guess that
costs no more: half as many rows of each value move, and each of them makes a guess wrong. For posteriors all of them
move, and as many heavy ones the same ways back.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dalenius.core import Guess, InformationPrivacy, WorstCaseLeakage
from dalenius.errors import Infeasible
from dalenius.mechanisms.records.exchanges import exchanged
from dalenius.mechanisms.records.guesses import most_gained
from dalenius.mechanisms.records.independent import moved_rows
from dalenius.mechanisms.records.proof import Found, record_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.two_sides import Shipped, between_ends, between_two, posterior_ends
from dalenius.mechanisms.records.wide import Wide

__all__ = ["best_guess", "bounded_posterior", "nobody_moves"]

Integers = npt.NDArray[np.int64]
Progress = Callable[[str], None] | None


def best_guess(wide: Wide, promise: Guess, on_progress: Progress, deadline: float | None = None) -> Found:
    """Change as little as a limit of the best guess allows.

    Parameters
    ----------
    wide : Wide
        With a seen secret of two values.
    promise : Guess
        Without gains.
    deadline : float, optional
        Of `time.monotonic`: the transport ends there, with what is reached and proved.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Found
        With a proof by the rule "records".

    Raises
    ------
    Infeasible
        If the limit is below what a guess without the release reaches.
    """
    sizes, light = _classes(wide)
    heavy = 1 - light
    blind = Fraction(int(sizes[heavy]), wide.total)
    limit = most_gained(wide, promise)
    if limit < blind:
        raise Infeasible(
            f"without the release a guess is right with probability {float(blind):.6g}, more than allowed",
            do="Promise at least that.",
        )
    method = "records: the cheapest part of a transport"
    found = between_two(wide, light, heavy, limit, on_progress, deadline)
    if found is None:
        return Found(nobody_moves(wide), record_proof(wide, ["0"], [[]]), method)
    if wide.starts is not None:  # rows come from elsewhere: exchanging places may cost more
        return Found(_moved(wide, light, found), found.proof, method)
    half = replace(found, have=2 * found.have, parts=2 * found.parts)
    return Found(exchanged(wide, light, half), found.proof, method)


def bounded_posterior(
    wide: Wide,
    promise: InformationPrivacy | WorstCaseLeakage,
    on_progress: Progress,
    deadline: float | None = None,
) -> Found | None:
    """Change as little as a promise about every single released record allows.

    Parameters
    ----------
    wide : Wide
        With a seen secret of two values.
    promise : InformationPrivacy or WorstCaseLeakage
        What each record may tell.
    deadline : float, optional
        Of `time.monotonic`: the transport ends there, with what is reached and proved.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Found or None
        With a proof by the rule "records". None: a record may reveal so much that the rarer value is likelier than not.
    """
    sizes, light = _classes(wide)
    prior = Fraction(int(sizes[light]), wide.total)
    preserved = wide.problem.preserve_marginals
    if posterior_ends(promise, prior)[1] > Fraction(1, 2) and not preserved:
        return None
    found = between_ends(wide, promise, np.arange(2) == light, on_progress, deadline)
    method = "records: a transport between the ends of what a record may reveal"
    if preserved:
        return Found(exchanged(wide, light, found), found.proof, method)
    return Found(_moved(wide, light, found), found.proof, method)


def _moved(wide: Wide, light: int, found: Shipped) -> Rows:
    return moved_rows(wide, {light: (found.have, found.start, found.end, found.amount)})


def _classes(wide: Wide) -> tuple[Integers, int]:
    sizes = wide.by_record.sum(axis=0)
    return sizes, int(sizes.argmin())


def nobody_moves(wide: Wide) -> Rows:
    """Every row stays as it is."""
    many = len(wide.counts)
    return Rows.gathered(many, np.arange(many), wide.record_of_input, np.ones(many, dtype=np.int64))
