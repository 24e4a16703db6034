"""Designs of form "records": which way a problem goes, and the proof of what it found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dalenius.core import Certificate, Design, Independent, Leakage, Problem, Records
from dalenius.errors import Unsupported
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proving import proved
from dalenius.mechanisms.records.bits import Curve
from dalenius.mechanisms.records.kept_law import PreservingCurve
from dalenius.mechanisms.records.listed import MOST_ENTRIES, listed
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.words import remarks
from dalenius.mechanisms.records.zero import Found, least_change, preserving, towards

__all__ = ["certified", "design", "tradeoff"]

Progress = Callable[[str], None] | None


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
    design = proved(wide.problem, channel, [certificate], method=found.method, remarks=found.remarks)
    return replace(design, remarks=(*design.remarks, *remarks(design)))


def _found(
    wide: Wide, gap: float, seconds: float, on_progress: Progress, curve: Curve | PreservingCurve | None
) -> Found:
    """The channel by the way that fits the promises and the size."""
    problem = wide.problem
    independent = len(problem.guarantees) == 1 and isinstance(problem.guarantees[0], Independent)
    if problem.towards is not None and not (independent and wide.seen and len(wide.classes) == 2):
        raise Unsupported("towards is for an independent release, with one observed secret of two values")
    if problem.preserve_marginals:
        promise = problem.guarantees[0]
        if len(problem.guarantees) == 1 and type(promise) is Leakage:
            kept = curve if isinstance(curve, PreservingCurve) else PreservingCurve(wide, on_progress)
            return kept.found(promise.at_most_bits, seconds)
        if not independent or not wide.seen:
            raise Unsupported(
                "form records preserves the law of the table under one promise, a leakage, or independent of a secret "
                "that is observed; promise one of these, or leave out preserve_marginals"
            )
        return preserving(wide, 0.0, on_progress)
    if independent and wide.seen:
        return _independent(wide, gap, seconds, on_progress)
    if _few(wide):
        return listed(wide, gap, seconds, on_progress)
    promise = problem.guarantees[0]
    if len(problem.guarantees) == 1 and type(promise) is Leakage and wide.seen:
        known = curve if isinstance(curve, Curve) else Curve(wide, on_progress)
        return known.found(promise.at_most_bits)
    raise Unsupported(
        f"with {len(wide.records):,} different records form records promises independent or leakage, about one secret "
        "that is observed: promise one of these and observe it, or group letters until there are fewer records"
    )


def _independent(wide: Wide, gap: float, seconds: float, on_progress: Progress) -> Found:
    """Transports, which are optimal where one class holds half of the table; else what lists every matrix, too."""
    if wide.problem.towards is not None:
        return towards(wide, wide.problem.towards, 0.0, on_progress)
    matched = least_change(wide, 0.0, on_progress)
    sizes = wide.by_record.sum(axis=0)
    if len(sizes) <= 2 or 2 * int(sizes.max()) >= wide.total or not _few(wide):
        return matched
    whole = listed(wide, gap, seconds, on_progress)
    # The channel of the second is the best among records; the proof is the one that says more.
    proof = matched.proof if matched.bound >= whole.bound else whole.proof
    return replace(whole, proof=proof, remarks=matched.remarks)


def _few(wide: Wide) -> bool:
    return len(wide.counts) * len(wide.records) <= MOST_ENTRIES
