"""Designs of form "records": which way a problem goes, and the proof of what it found."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import inf, prod

from dalenius import stopping
from dalenius.core import (
    Certificate,
    Design,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    Problem,
    Records,
    WorstCaseLeakage,
)
from dalenius.core.held_columns import with_held_columns
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import Infeasible, SolverFailed, Unsupported
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proving import proved
from dalenius.mechanisms.records.barred import barred, in_between, with_everything_allowed, without_barred_changes
from dalenius.mechanisms.records.bits import Curve
from dalenius.mechanisms.records.common import among_common
from dalenius.mechanisms.records.limited import behind_walls, is_wall, within_limits
from dalenius.mechanisms.records.listed import MOST_ENTRIES, listed, over_all_letters
from dalenius.mechanisms.records.medians import towards_medians
from dalenius.mechanisms.records.odds import best_guess, bounded_posterior
from dalenius.mechanisms.records.preflight import refuse_too_large
from dalenius.mechanisms.records.priced import PricedRecords
from dalenius.mechanisms.records.several import all_together
from dalenius.mechanisms.records.takes import FORM, RECORDS
from dalenius.mechanisms.records.unseen import cancelled
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.words import held_words, remarks
from dalenius.mechanisms.records.zero import PROVED, Found, affordable, least_change, preserving, towards
from dalenius.tables import with_gains

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
    RECORDS.refuse(replace(problem, form=FORM))
    held = with_held_columns(with_gains(problem, problem.pmf.variables))
    wide = Wide.of(held)
    refuse_too_large(wide)

    search = _within_bars if barred(held) else _found
    found = search(wide, gap, seconds, on_progress, None)
    design = certified(wide, found, seconds)
    return replace(design, remarks=(*design.remarks, *held_words(problem)))


def _within_bars(
    wide: Wide, gap: float, seconds: float, on_progress: Progress, curve: Curve | PricedRecords | None
) -> Found:
    """A release that makes no forbidden change: the best one of few records, else one with the bound of freer ones."""
    problem = wide.problem
    if problem.min_multiplicity is None and (_few_letters(wide) or _few(wide)):
        found = over_all_letters(wide, gap, seconds, on_progress) if _few_letters(wide) else None
        if found is not None:
            return found
        try:
            best = listed(wide, gap, seconds / 2, on_progress)
        except Infeasible as e:
            raise Infeasible(
                f"among the records of the table {e}; whether other combinations would is not known"
            ) from None
        freer = _found(Wide.of(with_everything_allowed(problem)), gap, seconds / 2, on_progress, curve)
        return replace(best, others=(freer.proof, *freer.others))
    try:
        stricter = _found(Wide.of(without_barred_changes(problem)), gap, seconds / 2, on_progress, curve)
    except (Infeasible, SolverFailed) as e:
        raise Unsupported(
            "form records keeps to forbidden and frozen values by changing nothing between them and others, and under "
            f"the promise that cannot be: {e}. Forbid less, or release fewer columns together, so that one matrix is "
            "enough"
        ) from None
    freer = _found(Wide.of(with_everything_allowed(problem)), gap, seconds / 2, on_progress, curve)
    return in_between(stricter, freer)


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
    curve: Curve | PricedRecords | None = None
    for most in at_most_bits:
        secret = problem.guarantees[0].secret
        promise = Leakage(secret, most) if most else Independent(secret)
        wide = Wide.of(with_held_columns(replace(problem, guarantees=(promise,))))
        search = _within_bars if barred(wide.problem) else _found
        if search is _within_bars:
            pass  # two searches for each point, of which neither is the next one's
        elif curve is None and wide.problem.preserve_marginals:
            curve = PricedRecords(wide, on_progress)
        elif curve is None and wide.seen:
            curve = Curve(behind_walls(wide), on_progress)
        # A curve is not cut short: its first point is dear, and all others stand on it.
        seconds = inf if isinstance(curve, Curve) else SECONDS
        yield certified(wide, search(wide, GAP, seconds, on_progress, curve), seconds)


def certified(wide: Wide, found: Found, seconds: float = inf) -> Design:
    """The design of a channel that was found, with every figure that the kernel proves.

    Parameters
    ----------
    wide : Wide
        The problem.
    found : Found
        A channel, and proofs of what nobody passes.
    seconds : float
        For everything; dear proofs are made coarser.

    Raises
    ------
    NotCertified
        If the kernel does not prove a promise.
    """
    observed, released = (wide.law.alphabets(names) for names in (wide.problem.observe, wide.problem.release))
    read, _ = wide.law.grouped(wide.problem.observe)
    lines = tuple((tuple(places), tuple(weights)) for places, weights in map(found.rows.row, range(len(found.rows))))
    outputs = [*wide.records.tolist(), *([] if found.outputs is None else found.outputs.tolist())]
    channel = Records(observed, released, tuple(read), tuple(map(tuple, outputs)), lines)
    # Whoever asked for what there is gets the promise proved, with the bound that costs least.
    proofs = (found.proof,) if stopping.asked() else (found.proof, *found.others)
    spare = 0.0 if stopping.asked() else PROVED * seconds / len(proofs)
    certificates = [Certificate(affordable(wide, proof, spare)) for proof in proofs]
    asked = with_kept_rows(wide.problem)
    design = proved(asked, channel, certificates, method=found.method, remarks=found.remarks)
    return replace(design, remarks=(*design.remarks, *remarks(design)))


def _found(wide: Wide, gap: float, seconds: float, on_progress: Progress, curve: Curve | PricedRecords | None) -> Found:
    """The channel by the way that fits the promises and the size."""
    problem = wide.problem
    walled = behind_walls(wide)
    limited = bool(problem.limits) or problem.keep_rows is not None or problem.min_multiplicity is not None
    independent = len(problem.guarantees) == 1 and type(problem.guarantees[0]) is Independent and wide.seen
    if problem.towards == "median":
        if not independent or limited:
            raise Unsupported(
                'towards = "median" is for an independent release, with one observed secret and without limits'
            )
        return towards_medians(wide, 0.0, on_progress)
    if problem.towards is not None:
        if not independent or limited or len(wide.classes) != 2:
            raise Unsupported(
                "towards is for an independent release, with one observed secret of two values and without limits"
            )
        return towards(wide, problem.towards, 0.0, on_progress)
    if independent and not limited and (problem.preserve_marginals or _majority(wide)):
        return _at_any_size(wide, seconds, on_progress, curve)  # exact, and sooner
    if walled.wall is not None and independent and not _other_than_walls(wide):
        return _at_any_size(walled, seconds, on_progress, curve)
    if problem.min_multiplicity is None and _few_letters(wide):
        found = over_all_letters(wide, gap, seconds, on_progress)
        if found is not None:
            return found
    if _few(wide):
        whole = listed(wide, gap, seconds, on_progress)
        matched = least_change(wide, 0.0, on_progress) if independent and not limited else whole
        # The channel that was listed is the best among records; the proof is the one that says more.
        return replace(whole, proof=matched.proof, remarks=matched.remarks) if matched.bound > whole.bound else whole

    def search(priced: Wide, preserving: bool) -> Found:
        if problem.min_multiplicity is not None:
            whole = partial(_at_any_size, seconds=seconds, on_progress=on_progress, curve=None)
            return among_common(priced, whole, on_progress, preserving=preserving)
        kept = replace(priced.problem, preserve_marginals=preserving)
        return _at_any_size(replace(priced, problem=kept), seconds, on_progress, None)

    if walled.wall is not None:
        _refuse_behind_walls(wide)
        if not _other_than_walls(wide):
            return _at_any_size(walled, seconds, on_progress, curve)
        return within_limits(walled, search)
    if problem.limits or problem.keep_rows is not None:
        return within_limits(wide, search)
    if limited:
        return search(wide, False)
    return _at_any_size(wide, seconds, on_progress, curve)


def _other_than_walls(wide: Wide) -> bool:
    """Whether anything is limited that may change a little."""
    problem = wide.problem
    held = all(map(is_wall, problem.limits))
    return not held or problem.keep_rows is not None or problem.min_multiplicity is not None


def _refuse_behind_walls(wide: Wide) -> None:
    """What flows between many records do not do where a column or a value is held fast."""
    problem = wide.problem
    promise = problem.guarantees[0]
    free = type(promise) is Leakage and not problem.preserve_marginals
    alone = len(problem.guarantees) == 1 and wide.seen and problem.min_multiplicity is None
    if not alone or not (free or type(promise) is Independent):
        what = (
            "holds a column or a value fast under one promise about an observed secret: a leakage without "
            "preserve_marginals, or independent"
        )
        raise Unsupported(_too_many(wide, what))


def _at_any_size(wide: Wide, seconds: float, on_progress: Progress, curve: Curve | PricedRecords | None) -> Found:
    """The best release for one promise, by flows between records; limits are left to prices in the distance."""
    problem = wide.problem
    promise = problem.guarantees[0]
    several = len(problem.guarantees) > 1
    flows = wide.seen and wide.starts is None and not problem.preserve_marginals
    if type(promise) is Leakage and not several and not flows:
        priced = curve if isinstance(curve, PricedRecords) else PricedRecords(wide, on_progress)
        return priced.found(promise.at_most_bits, seconds)
    found = None if several else _by_itself(wide, seconds, on_progress, curve)
    if found is not None:
        return found
    deadline = time.monotonic() + seconds / 2  # the rest is for the proofs
    return all_together(wide, lambda one: _by_itself(one, seconds, on_progress, None), deadline, on_progress)


def _by_itself(wide: Wide, seconds: float, on_progress: Progress, curve: Curve | PricedRecords | None) -> Found | None:
    """The best release for one promise; None: flows do not find it."""
    promise = wide.problem.guarantees[0]
    if not wide.seen:
        if type(promise) is not Independent or len(wide.classes) != 2 or wide.problem.preserve_marginals:
            return None
        return cancelled(wide, on_progress)
    if type(promise) is Independent:
        return (preserving if wide.problem.preserve_marginals else least_change)(wide, 0.0, on_progress)
    if type(promise) is Leakage:
        known = curve if isinstance(curve, Curve) else Curve(wide, on_progress)
        # Behind a wall nothing is known that tells nothing.
        quiet = None if wide.wall is not None else lambda: PricedRecords(wide).quiet.flow
        return known.found(promise.at_most_bits, seconds, quiet)
    if wide.problem.preserve_marginals or len(wide.classes) != 2:
        return None
    if isinstance(promise, Guess):
        return best_guess(wide, promise, on_progress) if promise.gain is None else None
    assert isinstance(promise, InformationPrivacy | WorstCaseLeakage)
    return bounded_posterior(wide, promise, on_progress)


def _too_many(wide: Wide, what: str) -> str:
    return (
        f"with {len(wide.records):,} different records form records {what}; or group values until there are fewer "
        "records"
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
