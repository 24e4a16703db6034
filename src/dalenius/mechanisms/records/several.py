"""Any promises about secrets at once, for many records: a release that keeps them all, and an interval.

Two ways from above. Staying is mixed with a release that is independent of all secrets together. Where that preserves
the law of the table, every posterior is 1 - t times what it is in the table plus t times what it is without a release,
t the share that follows it, so that every promise is kept from some t on. Where all promises are leakages or
independence, and the law need not stay, a promise about all secrets together keeps each of them; its level is raised as
far as they allow.

From below: what one of the promises alone demands, all of it where its best release is known, else what it demands of
two sides of the values of its secret, or of the guess that a record suggests. Others and preserved laws only add to it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, inf

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
from dalenius.mechanisms.records.bits import Curve
from dalenius.mechanisms.records.guesses import gains_of, priced_actions
from dalenius.mechanisms.records.odds import nobody_moves
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.splits import bounds_by_sides
from dalenius.mechanisms.records.unseen import as_if_seen, quiet
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.zero import Found, least_change, record_proof

__all__ = ["all_together"]

Floats = npt.NDArray[np.float64]
Progress = Callable[[str], None] | None

PARTS = 1 << 20
"""Parts of the share of rows that follow the independent release."""
ROOM = 1e-9
"""Share of a limit that is left free for the doubles in which it is looked at."""
LEVELS = 5
"""Levels that are tried for all secrets together."""
NEAR = 0.97
"""Share of the strictest limit that is used up when no further level is tried."""


def all_together(wide: Wide, search: Callable[[Wide], Found | None], deadline: float, on_progress: Progress) -> Found:
    """A release that keeps all promises, with the bounds of those that have one by themselves.

    Parameters
    ----------
    wide : Wide
        With secrets, all of which make up its classes.
    search : callable
        The best release for one promise without a preserved law, or None.
    deadline : float
        After which no further bound is tried.

    Returns
    -------
    Found
        Value and bound may be far apart; the remark says so.
    """
    promises = wide.problem.guarantees
    plain = wide.seen and all(type(promise) in (Independent, Leakage) for promise in promises)
    rows = _at_one_level(wide, on_progress) if plain and not wide.problem.preserve_marginals else None
    if rows is None:
        rows = _with_staying(wide, on_progress)
    proofs = []
    for k, promise in enumerate(promises):
        one = _of_one(wide, promise)
        found = search(one)
        alone = bounds_by_sides(one, promise, deadline, on_progress) if found is None else [found.proof]
        if isinstance(promise, Guess) and found is None:
            alone.append(priced_actions(wide.about(promise.secret), promise))
        proofs += [_one_of_many(proof, k, len(promises)) for proof in alone]
    if not proofs:  # nothing but that no change is negative
        proofs = [record_proof(wide, ["0"] * len(promises), [[] for _ in promises])]
    remark = (
        "For so many records these promises have no exact optimum. This release keeps all of them. The bound is what "
        "one of the promises alone demands, and the least change lies between the two"
    )
    return Found(rows, proofs[0], "records: all promises together", (remark,), others=tuple(proofs[1:]))


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


def _at_one_level(wide: Wide, on_progress: Progress) -> Rows:
    """A release that reveals so little about all secrets together that it keeps a promise about each."""
    promises = wide.problem.guarantees
    if any(isinstance(promise, Independent) for promise in promises):
        return least_change(wide, 0.0, on_progress).rows
    limits = [promise.at_most_bits for promise in promises if isinstance(promise, Leakage)]
    curve = Curve(replace(wide, problem=replace(wide.problem, guarantees=promises[:1])), on_progress)
    level, beyond = min(limits), None
    best = curve.found(level).rows
    for _ in range(LEVELS):
        used = max(_used(wide, best, promise) for promise in promises)
        if used > NEAR or level >= curve.most:
            break
        raised = level / Fraction(max(used, 0.1)).limit_denominator(1000) * Fraction(99, 100)
        higher = raised if beyond is None else min(raised, (level + beyond) / 2)
        rows = curve.found(higher).rows
        if max(_used(wide, rows, promise) for promise in promises) > 1:
            beyond = higher
        else:
            level, best = higher, rows
    return best


def _used(wide: Wide, rows: Rows, promise: Guarantee) -> float:
    """What a release reveals about the secret of a leakage, as a share of what it may; a little room is left."""
    assert isinstance(promise, Leakage)
    arrived = _arrived(wide, rows) @ _values(wide, promise.secret)
    return _Posteriors(wide, arrived, arrived).mean_bits(0.0) / float(promise.at_most_bits) * (1 + ROOM)


def _arrived(wide: Wide, rows: Rows) -> Floats:
    """How often each record leaves with each value of the secrets."""
    arrived = np.zeros((len(wide.records), len(wide.classes)))
    of = np.repeat(np.arange(len(rows)), np.diff(rows.first))
    whole = np.array([float(sum(rows.row(e)[1])) for e in range(len(rows))])
    share = np.array([float(w) for w in rows.weight]) / whole[of]
    np.add.at(arrived, rows.record, wide.counts[of] * share[:, None])
    return arrived


def _with_staying(wide: Wide, on_progress: Progress) -> Rows:
    """Staying, mixed with as little as can be of a release that reveals nothing."""
    promises = wide.problem.guarantees
    silent = _silent(wide, on_progress)
    after = _arrived(wide, silent)
    of = [_values(wide, promise.secret) for promise in promises]
    tables = [_Posteriors(wide, wide.by_record @ values, after @ values) for values in of]
    for table, promise in zip(tables, promises, strict=True):
        table.refuse_below_blind(promise)

    def fits(part: float) -> bool:
        return all(table.keeps(promise, part) for table, promise in zip(tables, promises, strict=True))

    if fits(0.0):
        return nobody_moves(wide)
    low, share = 0.0, 1.0
    for _ in range(60):
        middle = (low + share) / 2
        low, share = (low, middle) if fits(middle) else (middle, share)
    part = Fraction(min(PARTS, ceil(share * PARTS)), PARTS)
    return Rows.mixed([(1 - part, nobody_moves(wide)), (part, silent)])


def _silent(wide: Wide, on_progress: Progress) -> Rows:
    """A release that reveals nothing; where every single record counts, one that leaves each as often as it is."""
    every = any(isinstance(promise, InformationPrivacy | WorstCaseLeakage) for promise in wide.problem.guarantees)
    if every and not wide.problem.preserve_marginals:
        try:
            return quiet(replace(wide, problem=replace(wide.problem, preserve_marginals=True)), on_progress)
        except Unsupported:
            pass  # the law need not stay
    return quiet(wide, on_progress)


def _values(wide: Wide, secret: Sequence[str]) -> Floats:
    """Which value of one secret each class is: classes by values, rising."""
    at = [wide.secret.index(name) for name in secret]
    labels = [tuple(label[k] for k in at) for label in wide.classes]
    different = sorted(set(labels))
    return np.array([[float(label == value) for value in different] for label in labels])


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
            ratio, most = self.at(share), exp(float(promise.epsilon)) * less
            return float(ratio.max()) <= most and float(ratio.min()) * most >= 1
        if isinstance(promise, Guess):
            return self._gained(promise, share) <= self._limit(promise) * less
        return share == 1.0 or float(np.abs(self.at(share) - 1).max()) == 0

    def refuse_below_blind(self, promise: Guarantee) -> None:
        """Refuse a guess that is right more often without any release."""
        if isinstance(promise, Guess) and (blind := self._blind(promise)) > self._limit(promise) * (1 + ROOM):
            raise Infeasible(
                f"the best guess of {', '.join(promise.secret)} is worth {blind:.6g} without the release, more than "
                f"the promised {self._limit(promise):.6g}"
            )

    def _gain(self, promise: Guess) -> Floats:
        return np.array([[float(v) for v in row] for row in gains_of(self.wide, promise)])

    def _gained(self, promise: Guess, share: float) -> float:
        return float((self._joint(share) @ self._gain(promise).T).max(axis=1).sum())

    def _blind(self, promise: Guess) -> float:
        """What the best action gains without a release."""
        return float((self._gain(promise) @ self.prior).max())

    def _limit(self, promise: Guess) -> float:
        if promise.at_most is not None:
            return float(promise.at_most)
        return float(promise.times or inf) * self._blind(promise)
