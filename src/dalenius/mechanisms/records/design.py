"""Designs of form "records": which way a problem goes, and the proof of what it found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from dalenius.core import Certificate, Design, Independent, Leakage, Problem, Records
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import Unsupported
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proving import proved
from dalenius.mechanisms.records.bits import Curve
from dalenius.mechanisms.records.kept_law import PreservingCurve, unseen
from dalenius.mechanisms.records.listed import MOST_ENTRIES, listed, over_all_letters
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.words import remarks
from dalenius.mechanisms.records.zero import Found, least_change, preserving, towards

__all__ = ["certified", "design", "tradeoff"]

Progress = Callable[[str], None] | None

MOST_WRITTEN = 400_000
"""Entries of a matrix over all letters with a row for each outcome, also those that no record has."""


def design(problem: Problem, *, gap: float = GAP, seconds: float = SECONDS, on_progress: Progress = None) -> Design:
    """Change the records as little as the promises allow, and prove it.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    gap : float
        Stop when value and bound are this far apart, where every matrix is listed.
    seconds : float
        When such a search stops.

    Returns
    -------
    Design
        With a channel of form "records", proved by the kernel.

    Raises
    ------
    Unsupported
        If the form does not take the problem, with the reason and the way out.
    """
    wide = Wide.of(problem)
    return certified(wide, _found(wide, gap, seconds, on_progress, None))


def tradeoff(problem: Problem, at_most_bits: Sequence[Fraction], *, on_progress: Progress = None) -> Iterator[Design]:
    """One design for each of several limits of the leakage; each helps to find the next.

    Parameters
    ----------
    problem : Problem
        Bound to its data, with one promise about one secret; the promise is replaced.
    at_most_bits : sequence of Fraction
        The limits; 0 is an independent release.

    Yields
    ------
    Design
        In the order of the limits.
    """
    curve: Curve | PreservingCurve | None = None
    for most in at_most_bits:
        secret = problem.guarantees[0].secret
        promise = Leakage(secret, most) if most else Independent(secret)
        wide = Wide.of(replace(problem, guarantees=(promise,)))
        if curve is None and wide.problem.preserve_marginals:
            curve = PreservingCurve(wide, on_progress)
        elif curve is None and wide.seen:
            curve = Curve(wide, on_progress)
        yield certified(wide, _found(wide, GAP, SECONDS, on_progress, curve))


def certified(wide: Wide, found: Found) -> Design:
    """The design of a channel that was found, with every figure that the kernel proves.

    Raises
    ------
    NotCertified
        If the kernel does not prove a promise.
    """
    observed, released = (wide.law.alphabets(names) for names in (wide.problem.observe, wide.problem.release))
    read, _ = wide.law.grouped(wide.problem.observe)
    lines = tuple((tuple(places), tuple(weights)) for places, weights in map(found.rows.row, range(len(found.rows))))
    channel = Records(observed, released, tuple(read), tuple(map(tuple, wide.records.tolist())), lines)
    certificate = Certificate(str(found.proof["rule"]), {k: v for k, v in found.proof.items() if k != "rule"})
    asked = with_kept_rows(wide.problem)
    design = proved(asked, channel, [certificate], method=found.method, remarks=found.remarks)
    return replace(design, remarks=(*design.remarks, *remarks(design)))


def _found(
    wide: Wide, gap: float, seconds: float, on_progress: Progress, curve: Curve | PreservingCurve | None
) -> Found:
    """The channel by the way that fits the promises and the size."""
    problem = wide.problem
    one = len(problem.guarantees) == 1 and not problem.limits and problem.keep_rows is None
    promise = problem.guarantees[0]
    independent = one and type(promise) is Independent and wide.seen
    if problem.towards is not None:
        if not independent or len(wide.classes) != 2:
            raise Unsupported("towards is for an independent release, with one observed secret of two values")
        return towards(wide, problem.towards, 0.0, on_progress)
    if independent and problem.preserve_marginals:
        return preserving(wide, 0.0, on_progress)
    if independent and _majority(wide):
        return least_change(wide, 0.0, on_progress)
    if _few_letters(wide):
        found = over_all_letters(wide, gap, seconds, on_progress)
        if found is not None:
            return found
    if _few(wide):
        whole = listed(wide, gap, seconds, on_progress)
        matched = least_change(wide, 0.0, on_progress) if independent else whole
        # The channel that was listed is the best among records; the proof is the one that says more.
        return replace(whole, proof=matched.proof, remarks=matched.remarks) if matched.bound > whole.bound else whole
    if independent:
        return least_change(wide, 0.0, on_progress)
    if one and type(promise) is Leakage and problem.preserve_marginals:
        kept = curve if isinstance(curve, PreservingCurve) else PreservingCurve(wide, on_progress)
        return kept.found(promise.at_most_bits, seconds)
    if one and type(promise) is Leakage and wide.seen:
        known = curve if isinstance(curve, Curve) else Curve(wide, on_progress)
        return known.found(promise.at_most_bits)
    if one and type(promise) is Leakage:
        return unseen(wide, promise.at_most_bits, seconds, on_progress)
    raise Unsupported(
        f"with {len(wide.records):,} different records form records promises leakage, or independent of a secret that "
        "is observed: promise one of these and observe it, or group letters until there are fewer records"
    )


def _majority(wide: Wide) -> bool:
    """Whether everybody goes to the largest class: it holds half of the table."""
    return 2 * int(wide.by_record.sum(axis=0).max()) >= wide.total


def _few_letters(wide: Wide) -> bool:
    """Whether the matrix to all letters, records or not, can be searched whole."""
    letters, outcomes = (
        prod(len(alphabet) for alphabet in wide.law.alphabets(names).values())
        for names in (wide.problem.release, wide.problem.observe)
    )
    return len(wide.counts) * letters <= MOST_ENTRIES and outcomes * letters <= MOST_WRITTEN


def _few(wide: Wide) -> bool:
    return len(wide.counts) * len(wide.records) <= MOST_ENTRIES
