"""What a release of records shows: which records moved, by class and by column, and what attackers make of it.

An attacker who knows all of a person's record and that it is in the table sees whether it is missing from the release.
No mechanism can hide that such a record was moved, because in a wide table the record determines the secret; how often
records of each class move says how much it is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Design, Distortion, Pmf, Records
from dalenius.core.pmf import outcome_words
from dalenius.measures.counts import Finding, counts_finding, view_findings

__all__ = [
    "RecordFigures",
    "apart",
    "expected",
    "figures",
    "impossible",
    "names_of",
    "record_findings",
    "shuffled_records",
    "values",
]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RecordFigures:
    """Figures of a design of form records, computed from its channel and its law."""

    # For each value of the secret, the share of its rows that are released as another record.
    moved: dict[str, Fraction]
    changed: dict[str, Fraction]  # for each released column, the share of rows whose letter changes
    unique: Fraction  # the share of rows whose record occurs once
    released_unique: Fraction  # the expected share of released rows that show such a record
    records: int  # different records
    # For each column, the bits that a released row reveals about the secret to whoever knows that column of its
    # original: I(S; Y | column), in floating point.
    one_more: dict[str, float]


def figures(design: Design) -> RecordFigures:
    """What a design of form records moves and shows, exactly."""
    channel = design.channel
    assert isinstance(channel, Records)
    law = design.problem.pmf
    secret = next(promise.secret for promise in design.problem.guarantees)
    classes, class_of_atom = law.grouped(secret)
    _, input_of_atom = law.grouped(list(channel.inputs))
    counts = np.zeros((len(channel.read), len(classes)), dtype=np.int64)
    np.add.at(counts, (input_of_atom, class_of_atom), law.weights)
    names = list(channel.output)
    sizes = counts.sum(axis=0)
    own = channel.home
    multiplicity = np.bincount(own, counts.sum(axis=1), len(channel.records)).astype(np.int64).tolist()
    moved = _Sums(len(classes))
    changed = _Sums(len(names))
    unique = _Sums(1)
    for here, (places, weights), by_class in zip(own.tolist(), channel.lines, counts.tolist(), strict=True):
        record = channel.records[here]
        rows = sum(by_class)
        one = sum(weights)
        stay = 0
        for place, weight in zip(places, weights, strict=True):
            if multiplicity[place] == 1:
                unique.add(0, rows * weight, one)
            if place == here:
                stay = weight
                continue
            for j, (a, b) in enumerate(zip(record, channel.records[place], strict=True)):
                if a != b:
                    changed.add(j, rows * weight, one)
        for s, n in enumerate(by_class):
            if n and stay != one:
                moved.add(s, n * (one - stay), one)
    total = int(law.total)
    alphabets = [law.variables[name] for name in secret]
    labels = [
        outcome_words(secret, [alphabet[k] for alphabet, k in zip(alphabets, label, strict=True)]) for label in classes
    ]
    return RecordFigures(
        {name: moved.of(s) / int(size) for s, (name, size) in enumerate(zip(labels, sizes.tolist(), strict=True))},
        {name: changed.of(j) / total for j, name in enumerate(names)},
        Fraction(multiplicity.count(1), total),
        unique.of(0) / total,
        len(channel.records),
        {name: _given_one_more(channel, counts, name) for name in channel.inputs if name not in secret},
    )


def _given_one_more(channel: Records, counts: Integers, name: str) -> float:
    """I(S; Y | X) in bits, X a column that is read: sum of p(s, x, y) log2 (p(s, x, y) p(x) / (p(s, x) p(x, y)))."""
    row, record, share = channel.shares
    code = np.array([outcome[list(channel.inputs).index(name)] for outcome in channel.read], dtype=np.int64)
    cell, place = np.unique(record * len(channel.inputs[name]) + code[row], return_inverse=True)
    with_record = np.stack([np.bincount(place, n[row] * share, len(cell)) for n in counts.T])
    alone = np.stack([np.bincount(code, n, len(channel.inputs[name])) for n in counts.T])
    at = cell % len(channel.inputs[name])
    some = with_record > 0
    ratio = with_record * alone.sum(axis=0)[at] / np.where(some, alone[:, at] * with_record.sum(axis=0), 1.0)
    return max(0.0, float((with_record[some] * np.log2(ratio[some])).sum() / counts.sum()))


class _Sums:
    """Exact sums of fractions at some places; fractions of one denominator are added as whole numbers."""

    def __init__(self, places: int) -> None:
        self.parts: list[dict[int, int]] = [{} for _ in range(places)]

    def add(self, place: int, top: int, bottom: int) -> None:
        part = self.parts[place]
        part[bottom] = part.get(bottom, 0) + top

    def of(self, place: int) -> Fraction:
        return sum((Fraction(top, bottom) for bottom, top in self.parts[place].items()), Fraction(0))


def expected(channel: Records, rows: Floats) -> tuple[Floats, Floats]:
    """How often each record is expected where each outcome occurs so often, and how often each outcome stays.

    Parameters
    ----------
    channel : Records
        Of the release.
    rows : array of float
        How often each outcome occurs.

    Returns
    -------
    records, stays
    """
    row, record, share = channel.shares
    mean = np.bincount(record, rows[row] * share, len(channel.records))
    stay = np.bincount(row, np.where(record == channel.home[row], share, 0.0), len(channel.read))
    return np.asarray(mean, dtype=np.float64), np.asarray(stay, dtype=np.float64)


def apart(channel: Records, measure: Distortion, rows: Integers, records: Integers) -> Floats:
    """The distortion between outcomes and records, pair by pair.

    Parameters
    ----------
    channel : Records
        Of the release.
    measure : Distortion
        Hamming or absolute, or a sum of these.
    rows, records : array of int
        Places of outcomes and of records, pair by pair.

    Returns
    -------
    array of float
    """
    before = np.array(channel.read, dtype=np.int64)[rows]
    after = np.array(channel.records, dtype=np.int64)[records]
    found = np.zeros(len(rows))
    for part in measure.summands:
        weight = float(part.weight)
        group = {letter: k for k, members in enumerate(part.classes) for letter in members}
        differ = np.zeros(len(rows), dtype=np.bool_)
        for name in part.of:
            letters = channel.output[name]
            old = before[:, list(channel.inputs).index(name)]
            new = after[:, list(channel.output).index(name)]
            if part.distortion == "absolute":
                value = np.array([float(Fraction(letter)) for letter in letters])
                found += weight * np.abs(value[old] - value[new])
            else:
                merged: dict[int | str, int] = {}
                code = np.array([merged.setdefault(group.get(a, a), len(merged)) for a in letters])
                differ |= code[old] != code[new]
        if part.distortion != "absolute":
            found += weight * differ
    return found


def impossible(channel: Records, inputs: Integers, letters: Integers) -> bool:
    """Whether a record was released that its outcome cannot become.

    Parameters
    ----------
    channel : Records
        Of the release.
    inputs, letters : array of int
        For each row the outcome that it had and the record that was released.

    Returns
    -------
    bool
    """
    possible = {(e, place) for e, (places, _) in enumerate(channel.lines) for place in places}
    pairs = np.unique(np.stack([inputs.astype(np.int64), letters.astype(np.int64)], axis=1), axis=0)
    return any((e, y) not in possible for e, y in pairs.tolist())


def values(channel: Records, view: Sequence[str]) -> tuple[Integers, list[str]]:
    """Which value of a view each outcome has, and the values in words."""
    at = [list(channel.inputs).index(name) for name in view]
    labels = [tuple(outcome[k] for k in at) for outcome in channel.read]
    different = sorted(set(labels))
    place = {label: k for k, label in enumerate(different)}
    alphabets = [channel.inputs[name] for name in view]
    names = [", ".join(alphabet[k] for alphabet, k in zip(alphabets, label, strict=True)) for label in different]
    return np.array([place[label] for label in labels], dtype=np.int64), names


def names_of(channel: Records) -> list[str]:
    """The records in words."""
    alphabets: list[Any] = list(channel.output.values())
    return [
        " · ".join(alphabet[k] for alphabet, k in zip(alphabets, record, strict=True)) for record in channel.records
    ]


def record_findings(
    channel: Records, views: Sequence[Sequence[str]], inputs: Integers, letters: Integers, share: float
) -> tuple[list[Finding], list[dict[str, Any]]]:
    """Records that cannot be, how many stay, how often each is released; for each view, how often with each value.

    Parameters
    ----------
    channel : Records
        Of the release.
    views : sequence of names
        The protected columns.
    inputs, letters : array of int
        For each row the outcome that it had and the record that was released.
    share : float
        Of the error probability, for each test.

    Returns
    -------
    findings, leakage
        Findings, and for each view what the released records tell about it.
    """
    what = "released records follow the recipe"
    if impossible(channel, inputs, letters):
        return [Finding(what, 0.0, share, "a record was released that its original cannot become")], []
    n = np.bincount(inputs, minlength=len(channel.read)).astype(np.float64)
    mean, stay = expected(channel, n)
    stayed = np.array([int(np.count_nonzero(channel.home[inputs] == letters))])
    trials = np.array(float(len(letters)))
    labels = names_of(channel)
    seen = np.bincount(letters, minlength=len(channel.records))
    findings = [
        counts_finding(what, stayed, np.array([float(n @ stay)]), trials, share, ["records that stay as they are"]),
        counts_finding("how often each record was released", seen, mean, trials, share, labels),
    ]
    leakage = []
    for view in views:
        of, told = values(channel, view)
        size = len(channel.records)
        counts = np.bincount(of[inputs] * size + letters, minlength=len(told) * size).reshape(len(told), size)
        means_of = np.stack([expected(channel, np.where(of == k, n, 0.0))[0] for k in range(len(told))])
        cells = [f"record {label} with {', '.join(view)} = {v}" for v in told for label in labels]
        found, entry = view_findings(view, "", counts, means_of, cells, share)
        findings += found
        leakage.append(entry)
    return findings, leakage


def shuffled_records(channel: Records, original: Pmf, rows: int, letters: npt.NDArray[Any], share: float) -> Finding:
    """How often each record was released.

    Parameters
    ----------
    channel : Records
        Of the release.
    original : Pmf
        The law of the table.
    rows : int
        How many there are.
    letters : array of int
        Released records, in any order.
    share : float
        Of the error probability.

    Returns
    -------
    Finding
    """
    often = np.zeros(len(channel.read))
    for codes, many in original.often(list(channel.inputs), rows):
        often[channel.drawn_row(codes)] += many
    mean, _ = expected(channel, often)
    seen = np.bincount(letters.astype(np.int64), minlength=len(mean))
    trials = np.array(float(max(1, len(letters))))
    return counts_finding("how often each record was released", seen, mean, trials, share, names_of(channel))
