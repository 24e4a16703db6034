r"""Evidence from a released table against its design: tests that are valid at every sample size, with a stated error.

`measures.counts` has the bounds. Each test gets an equal share of the error probability, each of its counts an equal
share of that; which tests there are, the form of the channel says.
"""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Design, Kernel, Pmf
from dalenius.core.digits import figure
from dalenius.errors import NotCertified
from dalenius.evidence.realised import Realised, compared, realised
from dalenius.measures.attack import Attack, attacks
from dalenius.measures.counts import Counts, Finding, counts_finding, doubles, information, view_given_input
from dalenius.measures.transitions import SLICE, pairs_of, transitions
from dalenius.mechanisms.forms import form_of

__all__ = ["Audit", "Finding", "Kept", "examine", "examine_shuffled"]

ERROR = 1e-6
COUNTED = 1 << 20  # letters times outcomes of kept columns times values of a view that are counted as they stand
BESIDE = 1 << 16  # letters times outcomes of kept columns that are counted one by one


@dataclass(frozen=True)
class Kept:
    """Columns that leave as they are: the outcome of each row before and after, as numbers in one list of outcomes.

    Rows of the release stand in the order of the original where they are matched, else in their own.

    Parameters
    ----------
    names : names
        Of the columns.
    before, after : array of int
        The outcome of each row, numbered in one list.
    called : tuple of str
        The outcomes of that list in words, where it is short.
    """

    names: tuple[str, ...]
    before: Counts
    after: Counts
    called: tuple[str, ...] = ()

    def equal(self, share: float) -> Finding:
        """Matched rows: each has the outcome that it had."""
        differ = int((self.before != self.after).sum())
        detail = f"{differ:,} of {len(self.before):,} rows differ"
        return Finding(f"{self._are} in every row", 0.0 if differ else 1.0, share, detail)

    def as_often(self, share: float) -> Finding:
        """Shuffled rows: each outcome occurs as often as it did."""
        values = np.unique(np.concatenate([self.before, self.after]))
        moved = [
            np.bincount(np.searchsorted(values, side), minlength=len(values)) for side in (self.before, self.after)
        ]
        differ = int((moved[0] != moved[1]).sum())
        detail = f"{differ:,} of {len(values):,} combinations occur more or less often"
        return Finding(f"{self._are}, counted", 0.0 if differ else 1.0, share, detail)

    @property
    def _are(self) -> str:
        return f"{', '.join(self.names)} {'is' if len(self.names) == 1 else 'are'} as in the original"


@dataclass(frozen=True, repr=False)
class Audit:
    """What was seen. A release that follows its design contradicts it with probability at most `error`.

    Parameters
    ----------
    rows : int
        How many were released.
    paired : bool
        Whether rows were matched to the original.
    error : float
        How often a true release is called a contradiction.
    findings : tuple of Finding
        The tests.
    leakage : tuple of dict
        For each view what the drawn rows tell about it.
    attacks : tuple of Attack
        The best guesses under the law of the design.
    transitions : tuple of dict
        What was changed into what.
    distortions : tuple of Realised
        Seen and expected.
    """

    rows: int
    paired: bool
    error: float
    findings: tuple[Finding, ...]
    leakage: tuple[dict[str, Any], ...] = ()
    attacks: tuple[Attack, ...] = ()
    transitions: tuple[dict[str, Any], ...] = ()
    distortions: tuple[Realised, ...] = ()

    def __repr__(self) -> str:
        passed = sum(not finding.contradicts for finding in self.findings)
        return f"Audit({self.rows:,} rows; {passed} of {len(self.findings)} tests passed)"

    @property
    def contradicts(self) -> bool:
        return any(finding.contradicts for finding in self.findings)

    def refuse_contradiction(self) -> None:
        """Let nothing be written that contradicts what it was drawn from.

        Raises
        ------
        NotCertified
            If a test failed.
        """
        if self.contradicts:
            raise NotCertified(
                "the drawn rows contradict the recipe; nothing was written",
                do="Run the command again. If it happens twice, Dalenius failed, not your file: please report it.",
            )

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "rows_matched_to_the_original": self.paired,
            "error_probability": self.error,
            "contradicts_the_proof": self.contradicts,
            "findings": [
                {
                    "what": finding.what,
                    "p_value_at_most": finding.p_value,
                    "contradicts": finding.contradicts,
                    "detail": finding.detail,
                }
                for finding in self.findings
            ],
            "leakage_seen": [dict(entry) for entry in self.leakage],
            "attacks": [attack.to_json() for attack in self.attacks],
            "transitions": [dict(entry) for entry in self.transitions],
            "distortions": [found.to_json() for found in self.distortions],
        }


def examine(
    design: Design,
    inputs: npt.NDArray[Any],
    letters: npt.NDArray[Any],
    *,
    kept: Kept | None = None,
    error: float = ERROR,
) -> Audit:
    """Test drawn letters, row by row beside the channel row that each record reads.

    `inputs` holds the index of the channel row of each record and `letters` the index of the letter drawn for it, or
    one column of both for each window of a composition; windows are then tested one by one. Columns that leave as they
    are must be equal, and count beside the letters in what the rows show about a view.

    Parameters
    ----------
    design : Design
        What was drawn from.
    inputs : array of int
        The row of the channel that each record reads.
    letters : array of int
        The letter drawn for it.
    kept : Kept, optional
        Columns that leave as they are.
    error : float
        Shared by all tests.

    Returns
    -------
    Audit
        Row by row.
    """
    if not len(letters):
        return Audit(0, True, error, ())
    parts = form_of(design.channel).parts(design.channel, inputs, letters)
    views = [[view for view in design.problem.views if set(view) <= set(channel.inputs)] for channel, _, _ in parts]
    measures = compared(design)
    tests = sum(2 + len(those) for those in views) if len(parts) > 1 else 2 + len(design.problem.views)
    # Equal shares of one error: all tests together err no more often, whatever they have in common.
    share = error / (tests + len(measures))
    findings: list[Finding] = []
    leakage: list[dict[str, Any]] = []
    for (channel, which, (read, drawn)), those in zip(parts, views, strict=True):
        found, told = form_of(channel).tested(channel, which, those, read, drawn, share)
        findings += found
        leakage += told
    if kept is not None:
        findings.append(kept.equal(share))
        leakage = [_with_kept(design, inputs, letters, kept, entry) for entry in leakage]
    where = bool(design.channel.split_by)
    moved = [(transitions(channel, *arrays), {"where": which} if where else {}) for channel, which, arrays in parts]
    found_moved = tuple({**entry, **place} for entry, place in moved if entry)
    spent = tuple(realised(design, measure, inputs, letters, share) for measure in measures)
    findings += [_distortion_finding(one, share) for one in spent]
    return Audit(len(letters), True, error, tuple(findings), tuple(leakage), attacks(design), found_moved, spent)


def _with_kept(
    design: Design, inputs: npt.NDArray[Any], letters: npt.NDArray[Any], kept: Kept, entry: dict[str, Any]
) -> dict[str, Any]:
    """What the rows show about a view by their letters and kept columns together, as they stand in the release."""
    channel = design.channel
    if channel.form is not None or not set(entry["view"]) <= set(channel.inputs):
        return entry
    shares, _ = view_given_input(channel, entry["view"])
    value = shares.argmax(axis=1)
    wide = int(kept.after.max()) + 1
    if shares.shape[1] * channel.shape[1] * wide <= COUNTED:
        counts = np.zeros((shares.shape[1], channel.shape[1] * wide), dtype=np.int64)
        for start in range(0, len(letters), SLICE):
            some = slice(start, start + SLICE)
            leaves = letters[some].astype(np.int64) * wide + kept.after[some]
            counts += pairs_of(value[inputs[some].astype(np.int64)], leaves, (counts.shape[0], counts.shape[1]))
    else:  # number the outcomes that there are
        _, leaves = np.unique(np.stack([letters.astype(np.int64), kept.after], axis=1), axis=0, return_inverse=True)
        leaves, wide = leaves.reshape(-1), int(leaves.max()) + 1
        counts = pairs_of(value[inputs.astype(np.int64)], leaves, (shares.shape[1], wide))
    told = information(counts.astype(np.float64))
    rows = int(counts.sum())
    degrees = (int((counts.sum(axis=1) > 0).sum()) - 1) * (int((counts.sum(axis=0) > 0).sum()) - 1)
    return {**entry, "seen_bits": told, "expected_by_chance_bits": degrees / (2 * log(2) * max(1, rows))}


def _distortion_finding(found: Realised, share: float) -> Finding:
    usual = f"{figure(found.low, 'down')} to {figure(found.high, 'up')} is usual"
    sentence = (
        f"{figure(found.seen, 'nearest')}; {figure(found.expected, 'nearest')} expected, "
        f"{'which no draw changes' if found.certain else usual}"
    )
    return Finding("the realised distortion is as expected", found.p_value, share, sentence)


def examine_shuffled(
    design: Design,
    original: Pmf,
    rows: int,
    letters: npt.NDArray[Any],
    *,
    inputs: npt.NDArray[Any] | None = None,
    kept: Kept | None = None,
    error: float = ERROR,
) -> Audit:
    """Test a release whose rows were shuffled: only how often each letter occurs can be compared with the original.

    Columns that leave as they are must occur as often as before; beside each of their outcomes the letters are counted
    too, where `inputs` says which row of the channel each original record reads.

    Parameters
    ----------
    design : Design
        What was drawn from.
    original : Pmf
        The law of the original table.
    rows : int
        How many records it has.
    letters : array of int
        The released letters, in any order.
    inputs : array of int, optional
        The row of the channel that each original record reads.
    kept : Kept, optional
        Columns that leave as they are.
    error : float
        Shared by all tests.

    Returns
    -------
    Audit
        By counts alone.
    """
    size = Finding(
        "as many rows as the original", 1.0 if len(letters) == rows else 0.0, error, f"{len(letters)} of {rows}"
    )
    # How many rows there are, and which columns leave as they are, no draw decides: these two take no share of the
    # error, and the counts half of it each.
    findings = [size]
    parts = form_of(design.channel).parts(design.channel, letters)
    for channel, which, (drawn,) in parts:
        findings += form_of(channel).counted(channel, which, original, rows, drawn, error / (2 * len(parts)))
    if kept is not None:
        findings.append(kept.as_often(error))
        findings += _letters_beside(design.channel, inputs, letters, kept, error / 2)
    return Audit(len(letters), False, error, tuple(findings), attacks=attacks(design))


def _letters_beside(
    channel: Kernel, inputs: npt.NDArray[Any] | None, letters: npt.NDArray[Any], kept: Kept, share: float
) -> list[Finding]:
    """How often each letter stands beside each outcome of the kept columns, where a list of both is not too long."""
    written_out = (channel.by_outcome or channel.split_by) and channel.few and letters.ndim == 1
    if inputs is None or not written_out or len(kept.before) != len(kept.after):
        return []
    values, before = np.unique(kept.before, return_inverse=True)
    if len(values) * channel.shape[1] > BESIDE or not np.isin(kept.after, values).all():
        return []
    law = doubles(channel.rows)
    after = np.searchsorted(values, kept.after)
    reads = np.bincount(before.reshape(-1) * len(law) + inputs.astype(np.int64), minlength=len(values) * len(law))
    mean = reads.reshape(len(values), -1).astype(np.float64) @ law
    size = len(values) * channel.shape[1]
    seen = np.bincount(after * channel.shape[1] + letters.astype(np.int64), minlength=size).reshape(mean.shape)
    what = f"how often each value stands beside {', '.join(kept.names)}"
    called = [kept.called[value] if kept.called else f"outcome {value + 1}" for value in values.tolist()]
    labels = [f"value {' · '.join(y)} beside {outcome}" for outcome in called for y in channel.letters()]
    return [counts_finding(what, seen, mean, mean.sum(axis=1, keepdims=True).round(), share, labels)]
