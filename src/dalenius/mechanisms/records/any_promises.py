"""Any promises about secrets at once, for many records: a release that keeps them all, and an interval.

Two ways from above. Staying is mixed with a release that is independent of all secrets together. Where that preserves
the law of the table, every posterior is 1 - t times what it is in the table plus t times what it is without a release,
t the share that follows it, so that every promise is kept from some t on. Where all promises are leakages or
independence, and the law need not stay, a promise about all secrets together keeps each of them; its level is raised as
far as they allow.

From below: what one of the promises alone demands, all of it where its best release is known, else what it demands of
two sides of the values of its secret, or of the guess that a record suggests. Others and preserved laws only add to it.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, exp

import numpy as np
import numpy.typing as npt

from dalenius.core import (
    Guarantee,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    WorstCaseLeakage,
)
from dalenius.errors import Infeasible, Unsupported
from dalenius.mechanisms.records.any_promises_by_prices import charged, values_of_classes
from dalenius.mechanisms.records.exchanges import exchanged_tops
from dalenius.mechanisms.records.guesses import gained_blindly, gains_of, most_gained, priced_actions
from dalenius.mechanisms.records.independent import least_change
from dalenius.mechanisms.records.independent_unseen import as_if_seen, quiet
from dalenius.mechanisms.records.leakage import Curve
from dalenius.mechanisms.records.leakage_by_prices import PricedRecords
from dalenius.mechanisms.records.proof import Found
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.two_sides import bounds_by_sides
from dalenius.mechanisms.records.two_values import nobody_moves
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.distances import pairwise
from dalenius.stopping import left, over

__all__ = ["SEARCHED", "all_together", "cost", "kept_by_a_mixture"]

Floats = npt.NDArray[np.float64]
Progress = Callable[[str], None] | None
Search = Callable[[Wide, float], Found | None]

PARTS = 1 << 20
"""Parts of the share of rows that follow the independent release."""
ROOM = 1e-9
"""Share of a limit that is left free for the doubles in which it is looked at."""
SILENT, CLIMBED, ALONE, SEARCHED = 0.2, 0.4, 0.5, 0.6
"""Shares of the time after which these end: the release that reveals nothing, the program of all promises together,
what single promises demand, and all searches."""
TRIES, MORE = 6, 1.01
"""How often a little more of a release that reveals nothing is tried where limits of guesses have no room."""
SURE = 1e-9
"""Share of a limit of guesses by which doubles may miss it before whole numbers decide."""
LEVELS = 5
"""Levels that are tried for all secrets together."""
NEAR = 0.97
"""Share of the strictest limit that is used up when no further level is tried."""


def all_together(wide: Wide, search: Search, seconds: float, on_progress: Progress) -> Found:
    """A release that keeps all promises, with the bounds of all together and of those that have one by themselves.

    Parameters
    ----------
    wide : Wide
        With secrets, all of which make up its classes.
    search : callable
        The best release for one promise without a preserved law in so many seconds, or None.
    seconds : float
        For everything, the proofs too.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Found
        Value and bound may be far apart; the remark says so.
    """
    start = time.monotonic()
    promises = wide.problem.guarantees
    for promise in promises:
        _refuse_below_blind(wide, promise)
    silent, why = _silent(wide, on_progress, start + SILENT * seconds)
    nearly, together = charged(wide, silent, lambda: over(start + CLIMBED * seconds), on_progress)
    proofs = [together]
    for k, promise in enumerate(promises):
        one = _of_one(wide, promise)
        until = start + ALONE * seconds
        found = search(one, left(until))
        alone = bounds_by_sides(one, promise, until, on_progress) if found is None else [found.proof]
        if isinstance(promise, Guess) and found is None:
            alone.append(priced_actions(wide.about(promise.secret), promise))
        proofs += [_one_of_many(proof, k, len(promises)) for proof in alone]
    rows = _kept_by_all(wide, silent, not why, nearly, search, on_progress, start + SEARCHED * seconds)
    if rows is None:
        raise Unsupported(why)
    remark = (
        "For so many records these promises have no exact optimum. This release keeps all of them, and the least "
        "change lies between value and bound"
    )
    return Found(rows, proofs[0], "records: all promises together", (remark,), others=tuple(proofs[1:]))


def _refuse_below_blind(wide: Wide, promise: Guarantee) -> None:
    """Refuse a guess that is right more often without any release."""
    if isinstance(promise, Guess) and (blind := gained_blindly(wide, promise)) > most_gained(wide, promise):
        raise Infeasible(
            f"the best guess of {', '.join(promise.secret)} is worth {float(blind):.6g} without the release, more "
            f"than the promised {float(most_gained(wide, promise)):.6g}"
        )


def _kept_by_all(
    wide: Wide,
    silent: Rows,
    exact: bool,
    nearly: Sequence[Rows],
    search: Search,
    on_progress: Progress,
    deadline: float,
) -> Rows | None:
    """The cheapest release that is known to keep all promises; None: there is none."""
    promises = wide.problem.guarantees
    equal = [promise for promise in promises if isinstance(promise, Independent)]
    if not equal:
        found = [_mixed(wide, base, silent, promises, exact) for base in (nobody_moves(wide), *nearly)]
    elif len(equal) == len(promises):
        found = [silent]
    else:
        # Releases that reveal nothing about some secrets are mixed with one that reveals nothing about any.
        names = tuple(dict.fromkeys(name for promise in equal for name in promise.secret))
        rest = [promise for promise in promises if promise not in equal]
        own = _independent_alone(wide, names, search, on_progress, deadline)
        found = [_mixed(wide, own, silent, rest)]
    plain = wide.seen and wide.starts is None and all(type(p) in (Independent, Leakage) for p in promises)
    if plain and not wide.problem.preserve_marginals:
        found.append(_at_one_level(wide, on_progress, deadline))
    (first, *others) = promises
    if isinstance(first, Guess) and first.gain is None and not others and wide.seen and wide.starts is None:
        found.append(exchanged_tops(wide, first, on_progress, deadline))
    known = [rows for rows in found if rows is not None]
    return min(known, key=lambda rows: cost(wide, rows)) if known else None


def _independent_alone(
    wide: Wide, secret: tuple[str, ...], search: Search, on_progress: Progress, deadline: float
) -> Rows:
    """A release that reveals nothing about some of the secrets."""
    alone = replace(wide.problem, guarantees=(Independent(secret),))
    one = replace(wide.about(secret), problem=alone)
    found = None if one.wall is not None else search(one, left(deadline))
    return quiet(one, on_progress, deadline) if found is None else found.rows


def cost(wide: Wide, rows: Rows) -> float:
    """The mean distance of what is released, in units of the metric.

    Parameters
    ----------
    wide : Wide
        The table.
    rows : Rows
        The release.

    Returns
    -------
    float
    """
    of, share = _shares(rows)
    far = pairwise(wide.metric, wide.origins[of], wide.points[rows.record])
    return float((wide.counts.sum(axis=1)[of] * share) @ far) / wide.total


def _of_one(wide: Wide, promise: Guarantee) -> Wide:
    """The same table and distance under one promise."""
    alone = replace(wide.problem, guarantees=(promise,), preserve_marginals=False)
    one = replace(wide.about(promise.secret), problem=alone)
    # What a mechanism that sees the secret must change, one that does not see it must change as well.
    return one if one.seen or (type(promise) is Independent and len(one.classes) == 2) else as_if_seen(one)


def _one_of_many(proof: dict[str, object], place: int, many: int) -> dict[str, object]:
    """A proof of one promise as one of several, of which the others have no multipliers."""
    if proof["rule"] == "transports":
        return proof | {"promise": place}
    weights: list[object] = ["0"] * many
    numbers: list[object] = [[]] * many
    (weights[place],) = proof["promises"]  # type: ignore[misc]
    (numbers[place],) = proof["records"]  # type: ignore[misc]
    return proof | {"promises": weights, "records": numbers}


def _at_one_level(wide: Wide, on_progress: Progress, deadline: float) -> Rows:
    """A release that reveals so little about all secrets together that it keeps a promise about each."""
    promises = wide.problem.guarantees
    if any(isinstance(promise, Independent) for promise in promises):
        return least_change(wide, 0.0, on_progress, deadline).rows
    limits = [promise.at_most_bits for promise in promises if isinstance(promise, Leakage)]
    curve = Curve(replace(wide, problem=replace(wide.problem, guarantees=promises[:1])), on_progress)
    level, beyond = min(limits), None

    def searched(bits: Fraction) -> Rows:
        return curve.found(bits, left(deadline), lambda: PricedRecords(curve.wide).quiet.flow).rows

    best = searched(level)
    for _ in range(LEVELS):
        used = max(_used(wide, best, promise) for promise in promises)
        if used > NEAR or level >= curve.most or over(deadline):
            break
        raised = level / Fraction(max(used, 0.1)).limit_denominator(1000) * Fraction(99, 100)
        higher = raised if beyond is None else min(raised, (level + beyond) / 2)
        rows = searched(higher)
        if max(_used(wide, rows, promise) for promise in promises) > 1:
            beyond = higher
        else:
            level, best = higher, rows
    return best


def kept_by_a_mixture(wide: Wide, base: Rows, silent: Rows) -> Rows | None:
    """A release, mixed with as little of one that tells nothing as the promises need.

    Parameters
    ----------
    wide : Wide
        None of whose promises is independence.
    base, silent : Rows
        Both.

    Returns
    -------
    Rows or None
        None: even what tells nothing does not keep them.
    """
    return _mixed(wide, base, silent, wide.problem.guarantees)


def _used(wide: Wide, rows: Rows, promise: Guarantee) -> float:
    """What a release reveals about the secret of a leakage, as a share of what it may; a little room is left."""
    assert isinstance(promise, Leakage)
    arrived = _arrived(wide, rows) @ values_of_classes(wide, promise.secret).T
    return _Posteriors(wide, arrived, arrived).mean_bits(0.0) / float(promise.at_most_bits) * (1 + ROOM)


def _shares(rows: Rows) -> tuple[npt.NDArray[np.int64], Floats]:
    """The input of each entry of a release, and its share."""
    of = rows.input_of_entry
    whole = np.array([float(sum(rows.row(e)[1])) for e in range(len(rows))])
    return of, np.array([float(w) for w in rows.weight]) / whole[of]


def _arrived(wide: Wide, rows: Rows) -> Floats:
    """How often each record leaves with each value of the secrets."""
    arrived = np.zeros((len(wide.records), len(wide.classes)))
    of, share = _shares(rows)
    np.add.at(arrived, rows.record, wide.counts[of] * share[:, None])
    return arrived


def _mixed(wide: Wide, base: Rows, silent: Rows, promises: Sequence[Guarantee], exact: bool = True) -> Rows | None:
    """A release, mixed with as little of one that reveals little as promises need; None: all of it reveals too much."""
    # What both releases keep, their mixtures keep.
    promises = [promise for promise in promises if not _gains_no_more(wide, base, promise)]
    before = _arrived(wide, base)
    after = _arrived(wide, silent)
    of = [values_of_classes(wide, promise.secret).T for promise in promises]
    tables = [_Posteriors(wide, before @ values, after @ values) for values in of]

    def fits(part: float) -> bool:
        return all(table.keeps(promise, part) for table, promise in zip(tables, promises, strict=True))

    if fits(0.0):
        return base
    if not exact and not fits(1.0):
        return None
    low, share = 0.0, 1.0
    for _ in range(60):
        middle = (low + share) / 2
        low, share = (low, middle) if fits(middle) else (middle, share)
    for _ in range(TRIES):
        # Rounded up: more of what reveals nothing only helps the promises.
        part = Fraction(min(PARTS, ceil(share * PARTS)), PARTS)
        found = Rows.mixed([(1 - part, base), (part, silent)])
        # Where nothing may be gained doubles do not decide.
        tight = [p for p in promises if isinstance(p, Guess) and most_gained(wide, p) == gained_blindly(wide, p)]
        if all(_gains_no_more(wide, found, promise) for promise in tight):
            return found
        share *= MORE
    return silent


def _gains_no_more(wide: Wide, rows: Rows, promise: Guarantee) -> bool:
    """Whether a limit of guesses is kept exactly, which doubles do not see where nothing may be gained."""
    if not isinstance(promise, Guess):
        return False
    gains = gains_of(wide, promise)
    counts = wide.about(promise.secret).counts.tolist()
    most = most_gained(wide, promise) * wide.total
    about = _gained_about(rows, gains, counts, len(wide.records))
    if abs(about - float(most)) > SURE * float(most):  # doubles see it
        return about < most
    gained = [[Fraction(0)] * len(gains) for record in wide.records]
    for e, own in enumerate(counts):
        places, weights = rows.row(e)
        whole = sum(weights)
        worth = [sum((entry * n for entry, n in zip(row, own, strict=True)), Fraction(0)) for row in gains]
        for place, weight in zip(places, weights, strict=True):
            gained[place] = [value + w * weight / whole for value, w in zip(gained[place], worth, strict=True)]
    return sum(map(max, gained)) <= most


def _gained_about(rows: Rows, gains: Sequence[Sequence[Fraction]], counts: list[list[int]], records: int) -> float:
    """What the best guess gains from all released records, in doubles: right to about twelve digits."""
    worth = np.array(counts, dtype=np.float64) @ np.array([[float(gain) for gain in row] for row in gains]).T
    of, share = _shares(rows)
    gained = np.zeros((records, len(gains)))
    np.add.at(gained, rows.record, worth[of] * share[:, None])
    return float(gained.max(axis=1).sum())


def _silent(wide: Wide, on_progress: Progress, deadline: float) -> tuple[Rows, str]:
    """A release that reveals nothing; where none is known, one that reveals little, and why.

    Where every single record counts, every record leaves as often as it occurs.
    """
    every = any(
        isinstance(promise, InformationPrivacy | WorstCaseLeakage | Guess) for promise in wide.problem.guarantees
    )
    if every and not wide.problem.preserve_marginals:
        try:
            return quiet(
                replace(wide, problem=replace(wide.problem, preserve_marginals=True)), on_progress, deadline
            ), ""
        except Unsupported:
            pass  # the law need not stay
    try:
        return quiet(wide, on_progress, deadline), ""
    except Unsupported as why:
        if any(isinstance(promise, Independent) for promise in wide.problem.guarantees):
            raise
        priced = PricedRecords(wide, on_progress)
        return priced.whole(priced.in_blocks()), str(why)


class _Posteriors:
    """How much likelier each value of a secret is at each record than in the table.

    Parameters
    ----------
    wide : Wide
        The table.
    before, after : array, records by values
        How often they occur together in the table, and after a release that some of the rows follow.
    """

    def __init__(self, wide: Wide, before: Floats, after: Floats) -> None:
        self.wide = wide
        self.prior = before.sum(axis=0) / before.sum()
        self.before = before / before.sum()
        self.after = after / after.sum()

    def _joint(self, share: float) -> Floats:
        """Records and values where this share of the rows follows the release."""
        joint = (1 - share) * self.before + share * self.after
        return np.asarray(joint[joint.sum(axis=1) > 0])

    def at(self, share: float) -> Floats:
        """The ratios where this share of the rows follows the release."""
        joint = self._joint(share)
        return np.asarray(joint / np.outer(joint.sum(axis=1), self.prior))

    def bits(self, share: float) -> Floats:
        """What each record reveals."""
        ratio = self.at(share)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(ratio > 0, ratio * np.log2(ratio), 0.0) @ self.prior)

    def mean_bits(self, share: float) -> float:
        """What the records reveal on average."""
        return max(0.0, float(self._joint(share).sum(axis=1) @ self.bits(share)))

    def keeps(self, promise: Guarantee, share: float) -> bool:
        """Whether a promise is kept with this share, with a little room."""
        less = 1 - ROOM
        if isinstance(promise, WorstCaseLeakage):
            return float(self.bits(share).max()) <= float(promise.at_most_bits) * less
        if isinstance(promise, Leakage):
            return self.mean_bits(share) <= float(promise.at_most_bits) * less
        if isinstance(promise, InformationPrivacy):
            ratio = self.at(share)
            most = exp(float(promise.epsilon)) * less
            return float(ratio.max()) <= most and float(ratio.min()) * most >= 1
        assert isinstance(promise, Guess)
        return self._gains_no_more(promise, share)

    def _gains_no_more(self, promise: Guess, share: float) -> bool:
        """Whether guesses gain at most the limit; nothing is gained where one action is the best one everywhere."""
        gain = np.array([[float(entry) for entry in row] for row in gains_of(self.wide, promise)])
        gained = self._joint(share) @ gain.T
        if float(gained.max(axis=1).sum()) <= float(most_gained(self.wide, promise)) * (1 - ROOM):
            return True
        blind = gained[:, [int(gained.sum(axis=0).argmax())]]
        return bool((gained <= blind * (1 + ROOM)).all())
