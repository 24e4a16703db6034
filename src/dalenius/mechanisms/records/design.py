"""Designs of form "records": which way a problem goes, and the proof of what it found."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import inf, prod
from typing import NoReturn

from dalenius import stopping
from dalenius.core import (
    Design,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    MinimizeDistortion,
    Problem,
    WorstCaseLeakage,
)
from dalenius.core.held_columns import with_held_columns
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import Infeasible, SolverFailed, Unsupported
from dalenius.mechanisms.columns.leakage.preflight import late_words
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.records.any_promises import SEARCHED, all_together
from dalenius.mechanisms.records.at_once import at_once, cheaper
from dalenius.mechanisms.records.certifying import certified
from dalenius.mechanisms.records.common_records import among_common
from dalenius.mechanisms.records.few_records import MOST_ENTRIES, listed, over_all_letters
from dalenius.mechanisms.records.forbidden_changes import (
    barred,
    in_between,
    with_everything_allowed,
    without_barred_changes,
)
from dalenius.mechanisms.records.independent import least_change, preserving, towards
from dalenius.mechanisms.records.independent_medians import towards_medians
from dalenius.mechanisms.records.independent_unseen import cancelled
from dalenius.mechanisms.records.leakage import Curve
from dalenius.mechanisms.records.leakage_by_prices import PricedRecords
from dalenius.mechanisms.records.limits import NothingWithin, behind_walls, is_wall, within_limits
from dalenius.mechanisms.records.preflight import (
    least_seconds,
    limit_seconds,
    refuse_too_large,
    search_seconds,
    whole_words,
)
from dalenius.mechanisms.records.proof import Found
from dalenius.mechanisms.records.takes import FORM, RECORDS
from dalenius.mechanisms.records.two_values import best_guess, bounded_posterior
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.words import held_words
from dalenius.tables import with_files

__all__ = ["design", "tradeoff"]

Progress = Callable[[str], None] | None

TRANSPORTED = 0.6
"""Share of the time after which a transport ends with what it has; the proof and the writing take the rest."""

WHOLE = 0.7
"""Share of the time for the search of a whole matrix; where it has none by then, flows take the rest."""

ROUND = 0.5
"""Share of what is left of the time, for each search within limits; each leaves some for a proof."""

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
    on_progress : callable, optional
        Told what is done.

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
    held = with_held_columns(with_files(problem))
    wide = Wide.of(held)
    refuse_too_large(wide)
    late = late_words(f"{len(wide.counts):,} different records", least_seconds(wide), seconds)
    if on_progress is not None:
        on_progress(late or whole_words(wide, seconds))
    task = _Task(wide, gap, seconds, on_progress)
    design = next(at_once(problem), None) if late else None
    if design is None:
        found = task.found()
        design = certified(wide, cheaper(wide, found) if task.bare else found, seconds)
    return replace(design, remarks=(*design.remarks, *held_words(problem)))


def tradeoff(problem: Problem, at_most_bits: Sequence[Fraction], *, on_progress: Progress = None) -> Iterator[Design]:
    """One design for each of several limits of the leakage; each helps to find the next.

    Parameters
    ----------
    problem : Problem
        Bound to its data, with one promise about one secret; the promise is replaced.
    at_most_bits : sequence of Fraction
        The limits; 0 is an independent release.
    on_progress : callable, optional
        Told what is done.

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
        if barred(wide.problem):
            pass  # two searches for each point, of which neither is the next one's
        elif curve is None and wide.problem.preserve_marginals:
            curve = PricedRecords(wide, on_progress)
        elif curve is None and wide.seen:
            curve = Curve(behind_walls(wide), on_progress)
        # A curve is not cut short: its first point is dear, and all others stand on it.
        seconds = inf if isinstance(curve, Curve) else SECONDS
        yield certified(wide, _Task(wide, GAP, seconds, on_progress, curve).found(), seconds)


@dataclass(frozen=True, eq=False)
class _Task:
    """A table to be released, with what decides the way."""

    wide: Wide  # the problem in its arrays
    # When a search ends.
    gap: float
    seconds: float
    on_progress: Progress = None
    curve: Curve | PricedRecords | None = None  # what earlier points of a curve have found

    @property
    def problem(self) -> Problem:
        return self.wide.problem

    @cached_property
    def walled(self) -> Wide:
        """The table behind its walls; the table itself where it has none."""
        return behind_walls(self.wide)

    @property
    def limited(self) -> bool:
        """Whether more is limited than what promises say."""
        problem = self.problem
        return bool(problem.limits) or problem.keep_rows is not None or problem.min_multiplicity is not None

    @property
    def has_prices(self) -> bool:
        """Whether anything is limited that may change a little."""
        return not all(map(is_wall, self.problem.limits)) or self.problem.keep_rows is not None

    @property
    def independent(self) -> bool:
        """Whether one secret is observed, and nothing may be revealed about it."""
        promises = self.problem.guarantees
        return len(promises) == 1 and type(promises[0]) is Independent and self.wide.seen

    @property
    def only_walls(self) -> bool:
        """Whether nothing but walls is beside the promises."""
        walls = self.walled.wall is not None
        return walls and not self.has_prices and self.problem.min_multiplicity is None

    @property
    def known_exactly(self) -> bool:
        """Whether flows find the best release, and sooner than a program over all matrices."""
        only_walls = self.only_walls  # refuses what walls make impossible
        free = not self.limited and (self.problem.preserve_marginals or _majority(self.wide))
        return self.independent and (free or only_walls)

    @property
    def bare(self) -> bool:
        """Whether nothing is asked for beside the promises."""
        problem = self.problem
        return not (self.limited or problem.towards is not None or barred(problem)) and self.walled.wall is None

    @property
    def few_letters(self) -> bool:
        """Whether the matrix to all letters, records or not, can be searched whole."""
        letters, outcomes = (
            prod(len(alphabet) for alphabet in self.wide.law.alphabets(names).values())
            for names in (self.problem.release, self.problem.observe)
        )
        small = len(self.wide.counts) * letters <= MOST_ENTRIES and outcomes * letters <= MOST_WRITTEN
        return small and self.problem.min_multiplicity is None

    @property
    def few(self) -> bool:
        """Whether the matrix to all records can be searched whole."""
        return len(self.wide.counts) * len(self.wide.records) <= MOST_ENTRIES

    @property
    def too_much_behind_walls(self) -> bool:
        """Whether flows between many records do not do what is asked where a column or a value is held fast."""
        promise = self.problem.guarantees[0]
        free = type(promise) is Leakage and not self.problem.preserve_marginals
        alone = len(self.problem.guarantees) == 1 and self.wide.seen and self.problem.min_multiplicity is None
        return self.walled.wall is not None and not (alone and (free or type(promise) is Independent))

    def of(self, problem: Problem, seconds: float) -> "_Task":
        """The same for another problem of the same table."""
        return replace(self, wide=Wide.of(problem), seconds=seconds)

    def found(self) -> Found:
        """The channel by the first way that fits the promises and the size, and finds one."""
        return self.first(WAYS)

    def first(self, ways: "Ways") -> Found:
        """The channel by the first of these ways that fits and finds one."""
        tried = (way(self) for fits, way in ways if fits(self))
        return next(found for found in tried if found is not None)


def _beside_bars(task: _Task) -> Found:
    """A release that makes no forbidden change: the best one of few records, else one with the bound of freer ones."""
    problem = task.problem
    freer = partial(task.of, with_everything_allowed(problem), task.seconds / 2)
    if task.few_letters and (found := _over_all_letters(task)) is not None:
        return found
    if problem.min_multiplicity is None and task.few:
        try:
            best = listed(task.wide, task.gap, task.seconds / 2, task.on_progress)
        except Infeasible as e:
            raise Infeasible(
                f"among the records of the table {e}; whether other combinations would is not known",
                do="Allow more change, promise less, or leave out form.",
            ) from None
        known = freer().found()
        return replace(best, others=(known.proof, *known.others))
    try:
        stricter = task.of(without_barred_changes(problem), task.seconds / 2).found()
    except (Infeasible, SolverFailed) as e:
        raise Unsupported(
            "form records keeps to forbidden and frozen values by changing nothing between them and others, and under "
            f"the promise that cannot be: {e}. Forbid less, or release fewer columns together, so that one matrix is "
            "enough"
        ) from None
    return in_between(stricter, freer().found())


def _to_medians(task: _Task) -> Found:
    if not task.independent or task.limited:
        raise Unsupported(
            'towards = "median" is for an independent release, with one observed secret and without limits',
            do="Leave out towards.",
        )
    return towards_medians(task.wide, 0.0, task.on_progress, _ending(task.wide, task.seconds))


def _in_one_direction(task: _Task) -> Found:
    share = task.problem.towards
    if not isinstance(share, Fraction) or not task.independent or task.limited or len(task.wide.classes) != 2:
        raise Unsupported(
            "towards is for an independent release, with one observed secret of two values and without limits",
            do="Leave out towards.",
        )
    return towards(task.wide, share, 0.0, task.on_progress, _ending(task.wide, task.seconds))


def _over_all_letters(task: _Task) -> Found | None:
    return over_all_letters(task.wide, task.gap, task.seconds, task.on_progress)


def _over_a_matrix(task: _Task) -> Found | None:
    """The best channel that can be written out; what flows find where the search for it has none in its time."""
    whole = replace(task, seconds=WHOLE * task.seconds)
    try:
        found = _over_all_letters(whole) if task.few_letters else None
        return _over_all_records(whole) if found is None and task.few else found
    except SolverFailed as failure:
        try:
            return replace(task, seconds=(1 - WHOLE) * task.seconds).first(FLOWS)
        except (SolverFailed, Unsupported):  # what flows do not do says nothing about the matrix
            raise failure from None


def _over_all_records(task: _Task) -> Found:
    whole = listed(task.wide, task.gap, task.seconds, task.on_progress)
    plain = task.independent and not task.limited
    matched = least_change(task.wide, 0.0, task.on_progress, _ending(task.wide, task.seconds)) if plain else whole
    # The channel that was listed is the best among records; the proof is the one that says more.
    return replace(whole, proof=matched.proof, remarks=matched.remarks) if matched.bound > whole.bound else whole


def _refused_behind_walls(task: _Task) -> NoReturn:
    raise Unsupported(
        f"with {len(task.wide.records):,} different records form records holds a column or a value fast under one "
        "promise about an observed secret: a leakage without preserve_marginals, or independent; or group values until "
        "there are fewer records"
    )


def _within_limits(task: _Task) -> Found:
    """A mixture within the limits; without one, what is known of the limit that none keeps."""
    limits = with_kept_rows(task.problem).limits
    apart = sum(limit.keeps is None for limit in limits)
    deadline = time.monotonic() + task.seconds - limit_seconds(task.wide, apart, len(limits) - apart)
    # Kept rows have no prices: one search beside the one that preserves the law, and no further rounds.
    rounds = apart > 0

    def search(priced: Wide, preserving: bool) -> Found:
        last = not rounds and preserving == task.problem.preserve_marginals
        again = replace(task, wide=priced, curve=None, seconds=(1 if last else ROUND) * stopping.left(deadline))
        if task.problem.min_multiplicity is not None:
            return _among_common(again, preserving)
        return _at_any_size(again, replace(priced, problem=replace(priced.problem, preserve_marginals=preserving)))

    try:
        return within_limits(task.walled, search, deadline)
    except NothingWithin as nothing:
        raise _beyond(task, nothing, stopping.left(deadline)) from None


def _beyond(task: _Task, nothing: NothingWithin, seconds: float) -> Infeasible | Unsupported:
    """Why no release was found within the limits: there is none, or it is not known."""
    limit = nothing.limit
    do = "promise less, or group values until there are fewer records, so that one matrix is enough"
    if limit is None:
        return Unsupported(f"no release was found that keeps all limits together: allow more of one of them, {do}")
    named = ", ".join(limit.of)
    if limit.keeps:
        what = f"{named} = {limit.keeps[0]} keeps so many of its rows"
        return Unsupported(f"no release was found in which {what}: let values keep fewer rows, {do}")
    measure = replace(limit, at_most=None)
    freed = replace(task.problem, objective=MinimizeDistortion(measure), limits=(), keep_rows=None)
    spare = seconds - least_seconds(task.wide)  # which a proof takes
    freer = task.of(freed, spare)
    least = certified(freer.wide, freer.found(), freer.seconds).bound if spare > 0 else Fraction(0)
    if least > (limit.at_most or 0):
        return Infeasible(
            f"no release keeps the promises with a distortion of {named} below {float(least):.6g}, and its limit is "
            f"{limit.at_most}; {nothing.reached:.6g} can be had",
            do="Raise the limit to that.",
        )
    return Unsupported(
        f"no release was found with a distortion of {named} below {nothing.reached:.6g}, and its limit is "
        f"{limit.at_most}: raise the limit, {do}"
    )


def _among_common(task: _Task, preserving: bool = False) -> Found:
    search = partial(_at_any_size, replace(task, curve=None))
    return among_common(task.wide, search, task.on_progress, preserving=preserving)


def _at_any_size(task: _Task, table: Wide | None = None) -> Found:
    """The best release for all promises, by flows between records; limits are left to prices in the distance."""
    wide = task.walled if table is None else table
    problem = wide.problem
    promise = problem.guarantees[0]
    several = len(problem.guarantees) > 1
    flows = wide.seen and wide.starts is None and not problem.preserve_marginals
    if type(promise) is Leakage and not several and not flows:
        known = task.curve
        priced = known
        if not isinstance(priced, PricedRecords):
            priced = PricedRecords(wide, task.on_progress, _ending(task.wide, task.seconds))
        return priced.found(promise.at_most_bits, task.seconds)
    found = None if several else _by_itself(wide, task.seconds, on_progress=task.on_progress, curve=task.curve)
    if found is not None:
        return found
    alone = partial(_by_itself, on_progress=task.on_progress, curve=None)
    searching = search_seconds(wide, task.seconds, SEARCHED)
    return all_together(wide, alone, searching / SEARCHED, task.on_progress)


Ways = tuple[tuple[Callable[[_Task], bool], Callable[[_Task], Found | None]], ...]
FLOWS: Ways = (
    (lambda task: task.too_much_behind_walls, _refused_behind_walls),
    (lambda task: task.has_prices, _within_limits),
    (lambda task: task.problem.min_multiplicity is not None, _among_common),
    (lambda _: True, _at_any_size),
)
"""Ways between records of any number."""

WAYS: Ways = (
    (lambda task: barred(task.problem), _beside_bars),
    (lambda task: task.problem.towards == "median", _to_medians),
    (lambda task: task.problem.towards is not None, _in_one_direction),
    (lambda task: task.known_exactly, _at_any_size),
    (lambda task: task.few_letters or task.few, _over_a_matrix),
    *FLOWS,
)
"""Ways to a channel, and when they fit: the first that fits and finds one is taken."""


def _ending(wide: Wide, seconds: float) -> float:
    """When a transport has to end, of `time.monotonic`; whoever asks for what there is ends it in any case."""
    return time.monotonic() + search_seconds(wide, seconds, TRANSPORTED)


def _by_itself(
    wide: Wide, seconds: float, *, on_progress: Progress, curve: Curve | PricedRecords | None
) -> Found | None:
    """The best release for one promise; None: flows do not find it."""
    promise = wide.problem.guarantees[0]
    if not wide.seen:
        if type(promise) is not Independent or len(wide.classes) != 2 or wide.problem.preserve_marginals:
            return None
        return cancelled(wide, on_progress, _ending(wide, seconds))
    if type(promise) is Independent:
        transported = preserving if wide.problem.preserve_marginals else least_change
        return transported(wide, 0.0, on_progress, _ending(wide, seconds))
    if type(promise) is Leakage:
        known = curve if isinstance(curve, Curve) else Curve(wide, on_progress)
        # Behind a wall nothing is known that tells nothing.
        quiet = None if wide.wall is not None else lambda: PricedRecords(wide).quiet.flow
        return known.found(promise.at_most_bits, seconds, quiet)
    if len(wide.classes) != 2:
        return None
    if isinstance(promise, Guess):
        return best_guess(wide, promise, on_progress, _ending(wide, seconds)) if promise.gain is None else None
    assert isinstance(promise, InformationPrivacy | WorstCaseLeakage)
    return bounded_posterior(wide, promise, on_progress, _ending(wide, seconds))


def _majority(wide: Wide) -> bool:
    """Whether everybody goes to the largest class: it holds half of the table."""
    return 2 * int(wide.by_record.sum(axis=0).max()) >= wide.total
