r"""Evidence from a released table against its design: tests that are valid at every sample size, with a stated error.

The table is fixed and the letters were drawn, so every count is a sum of independent 0/1 draws whose mean the design
tells exactly. Two bounds, no asymptotics:

    Pr[N >= a], Pr[N <= a]  <=  exp(-n KL(a/n || mu/n))           for a count of n rows with mean mu   (Hoeffding 1956)
    Pr[sum_x n_x D(seen_x || p(.|x)) >= t]  <=  e^-t (e t / d)^d  for t > d, d = sum_x (letters_x - 1)   (Agrawal 2020)

Each test gets an equal share of the error probability, each of its counts an equal share of that. The test of the
leakage costs nothing beyond the test of the counts: when every value of a view has the same law of letters and none of
its m counts exceeds its share, the information I in the n drawn rows, in nats, has

    n I(view; letter)  <=  sum of n_v KL(count || mean)  <=  m ln(2 m / share),   as D(f || p) <= sum_y KL(f_y || p_y).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import exp, inf, log, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import (
    Channel,
    Design,
    Kernel,
    Noise,
    Orbits,
    Pmf,
    Pram,
    Records,
    Resample,
    Staircase,
    Strata,
    Sums,
    Windows,
)
from dalenius.core.pmf import outcome_words
from dalenius.evidence import records
from dalenius.evidence.attack import Attack, attacks
from dalenius.evidence.compact import cannot_draw, kept_share, means, too_many
from dalenius.evidence.dealing import Dealt, role_counts, role_means
from dalenius.evidence.noise import expected_letters, noise_seen
from dalenius.evidence.realised import Realised, compared, realised
from dalenius.evidence.transitions import transitions

__all__ = ["Audit", "Finding", "Kept", "examine", "examine_shuffled"]

ERROR = 1e-6
BESIDE = 1 << 16  # letters times outcomes of kept columns that are counted one by one
ROUNDED = 1e-12  # what sums of doubles are off at most, as a share of themselves
LEAST = 2.0**-1000  # a positive probability is never taken for less
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """One test: what it looked at, the probability bound of seeing so much by chance, and whether that is too small."""

    what: str
    p_value: float
    threshold: float
    detail: str

    @property
    def contradicts(self) -> bool:
        return self.p_value < self.threshold


@dataclass(frozen=True)
class Kept:
    """Columns that leave as they are: the outcome of each row before and after, as numbers in one list of outcomes.

    Rows of the release stand in the order of the original where they are matched, else in their own.
    """

    names: tuple[str, ...]
    before: Counts
    after: Counts

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


@dataclass(frozen=True)
class Audit:
    """What was seen. A release that follows its design contradicts it with probability at most `error`."""

    rows: int
    paired: bool
    error: float
    findings: tuple[Finding, ...]
    leakage: tuple[dict[str, Any], ...] = ()
    attacks: tuple[Attack, ...] = ()
    transitions: tuple[dict[str, Any], ...] = ()
    distortions: tuple[Realised, ...] = ()

    @property
    def contradicts(self) -> bool:
        return any(f.contradicts for f in self.findings)

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "rows_matched_to_the_original": self.paired,
            "error_probability": self.error,
            "contradicts_the_proof": self.contradicts,
            "findings": [
                {"what": f.what, "p_value_at_most": f.p_value, "contradicts": f.contradicts, "detail": f.detail}
                for f in self.findings
            ],
            "leakage_seen": [dict(entry) for entry in self.leakage],
            "attacks": [attack.to_json() for attack in self.attacks],
            "transitions": [dict(entry) for entry in self.transitions],
            "distortions": [found.to_json() for found in self.distortions],
        }


def _kl(a: Floats, b: Floats) -> Floats:
    """Binary relative entropy in nats, 0 log 0 = 0, infinite where b excludes what a has."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(a > 0, a * np.log(a / b), 0.0)
        second = np.where(a < 1, (1 - a) * np.log((1 - a) / (1 - b)), 0.0)
    return np.asarray(np.maximum(first + second, 0.0), dtype=np.float64)


def _in_favour(seen: Floats, share: Floats) -> Floats:
    """A share that was summed in doubles, moved towards what was seen by all that the sum can be off.

    A share of 0 is a sum of zeros, and stays 0: what it excludes cannot be drawn.
    """
    above, below = share * (1 + ROUNDED), share - (1 - share) * ROUNDED - ROUNDED
    return np.where(seen > share, np.minimum(seen, above), np.maximum(seen, below))


def _rows_of(channel: Kernel) -> Floats:
    """The rows that a channel draws by, as doubles."""
    return _doubles(channel.drawn)


def _doubles(rows: Sequence[Sequence[Fraction]]) -> Floats:
    """Probabilities as doubles; what is possible stays above 0."""
    return np.array([[max(float(v), LEAST) if v else 0.0 for v in row] for row in rows])


def _counts_finding(
    what: str, seen: Counts, mean: Floats, trials: Floats, share: float, names: Sequence[str]
) -> Finding:
    """Every count against its mean by the first bound; two sides and all cells share the error."""
    n = np.broadcast_to(trials, seen.shape).astype(np.float64)
    used = n > 0
    seen, mean, n = seen[used], mean[used], n[used]
    exponents = n * _kl(seen / n, _in_favour(seen / n, np.clip(mean / n, 0.0, 1.0)))
    worst = int(np.argmax(exponents))
    p = min(1.0, 2 * len(seen) * exp(-exponents[worst])) if exponents[worst] < inf else 0.0
    label = names[np.flatnonzero(used.reshape(-1))[worst]]
    detail = f"largest deviation: {label}, seen {int(seen[worst])}, expected {mean[worst]:.1f}"
    return Finding(what, p, share, detail)


def _fit_finding(seen: Counts, law: Floats, share: float, which: str = "") -> Finding:
    """All rows of the channel at once by the second bound; a letter that its input cannot draw settles it."""
    what = f"released letters{which} follow the certified channel"
    t, d = 0.0, 0
    for counts, row in zip(seen, law, strict=True):
        possible = row > 0
        if counts[~possible].any():
            return Finding(what, 0.0, share, "a letter was released that its input cannot draw")
        if total := int(counts.sum()):
            d += int(possible.sum()) - 1
            here = counts > 0
            t += float((counts[here] * np.log(counts[here] / (total * row[here]))).sum())
    t -= ROUNDED * int(seen.sum())  # in favour of the release
    p = 1.0 if t <= d or d == 0 else min(1.0, exp(max(-700.0, d * (1 + log(t / d)) - t)))
    return Finding(what, p, share, f"statistic {t:.1f} with {d} degrees")


def _leakage_finding(view: Sequence[str], told: float, rows: int, cells: int, share: float) -> Finding:
    """The information in the drawn rows about a view that the letters do not depend on, against what chance allows."""
    p = min(1.0, 2 * cells * exp(-min(700.0, rows * told * log(2) / cells)))
    allowed = cells * log(2 * cells / share) / (rows * log(2))
    what = f"released letters tell no more about {', '.join(view)} than chance allows"
    return Finding(what, p, share, f"seen {told:.3g} bits, allowed {allowed:.3g} bits")


def _information(counts: Floats) -> float:
    """Plug-in I(row; column) of a table of counts, in bits."""
    p = counts / counts.sum()
    product = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    used = p > 0
    return float((p[used] * np.log2(p[used] / product[used])).sum())


def _parts(design: Design, *arrays: npt.NDArray[Any]) -> list[tuple[Kernel, str, list[npt.NDArray[Any]]]]:
    """What is drawn by itself: the channel, a word that tells it from others, and its column of each array."""
    if isinstance(design.channel, Strata) and len(arrays) == 2:  # beside its input a letter has its stratum
        columns = design.channel.columns
        if len(columns) == 1:
            return _by_stratum(design.channel, *arrays)
        return [one for j, part in enumerate(columns) for one in _by_stratum(part, *(a[:, j] for a in arrays))]
    if isinstance(design.channel, Windows | Sums) and len(design.channel.windows) > 1:
        return [
            (window, f" of {next(iter(window.output))}", [a[:, j] for a in arrays])
            for j, window in enumerate(design.channel.windows)
        ]
    return [(design.channel, "", list(arrays))]


def _by_stratum(
    channel: Strata, inputs: npt.NDArray[Any], letters: npt.NDArray[Any]
) -> list[tuple[Kernel, str, list[npt.NDArray[Any]]]]:
    read, stratum = np.divmod(inputs.astype(np.int64), channel.many)
    outcomes = product(*(channel.inputs[n] for n in channel.strata))
    parts: list[tuple[Kernel, str, list[npt.NDArray[Any]]]] = []
    for s, (part, outcome) in enumerate(zip(channel.channels, outcomes, strict=True)):
        here = stratum == s
        rows = np.array(part.group)[read[here]] if isinstance(part, Staircase) else read[here]
        if here.any():
            parts.append((part, f" where {outcome_words(channel.strata, outcome)}", [rows, letters[here]]))
    return parts


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
    """
    if not len(letters):
        return Audit(0, True, error, ())
    parts = _parts(design, inputs, letters)
    views = [[v for v in design.problem.views if set(v) <= set(channel.inputs)] for channel, _, _ in parts]
    measures = compared(design)
    tests = sum(2 + len(those) for those in views) if len(parts) > 1 else 2 + len(design.problem.views)
    share = error / (tests + len(measures))
    findings: list[Finding] = []
    leakage: list[dict[str, Any]] = []
    for (channel, which, (read, drawn)), those in zip(parts, views, strict=True):
        found, told = _examined(channel, which, those, read, drawn, share)
        findings += found
        leakage += told
    if kept is not None:
        findings.append(kept.equal(share))
        leakage = [_with_kept(design, inputs, letters, kept, entry) for entry in leakage]
    where = isinstance(design.channel, Strata)
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
    if too_many(channel) or not isinstance(channel, Channel) or not set(entry["view"]) <= set(channel.inputs):
        return entry
    shares, _ = _view_given_input(channel, entry["view"])
    value = shares.argmax(axis=1)[inputs.astype(np.int64)]
    _, leaves = np.unique(np.stack([letters.astype(np.int64), kept.after], axis=1), axis=0, return_inverse=True)
    leaves, wide = leaves.reshape(-1), int(leaves.max()) + 1
    counts = np.bincount(value * wide + leaves, minlength=shares.shape[1] * wide).reshape(-1, wide)
    told, rows = _information(counts.astype(np.float64)), int(counts.sum())
    degrees = (int((counts.sum(axis=1) > 0).sum()) - 1) * (int((counts.sum(axis=0) > 0).sum()) - 1)
    return {**entry, "seen_bits": told, "expected_by_chance_bits": degrees / (2 * log(2) * max(1, rows))}


def _distortion_finding(found: Realised, share: float) -> Finding:
    told = f"seen {found.seen:.6g}, expected {found.expected:.6g}, allowed {found.low:.6g} to {found.high:.6g}"
    return Finding("the realised distortion is as expected", found.p_value, share, told)


def _examined(
    channel: Kernel,
    which: str,
    views: Sequence[Sequence[str]],
    inputs: npt.NDArray[Any],
    letters: npt.NDArray[Any],
    share: float,
) -> tuple[list[Finding], list[dict[str, Any]]]:
    if isinstance(channel, Noise):
        each = 2 * share / len(channel.axes)
        return [Finding(what, p, each, told) for what, p, told in noise_seen(channel, inputs, letters)], []
    if isinstance(channel, Orbits):
        return _dealt(channel, views, inputs, letters, share)
    if isinstance(channel, Records):
        return _records(channel, views, inputs.astype(np.int64), letters.astype(np.int64), share)
    if too_many(channel):
        return _examined_without_rows(channel, which, inputs, letters, share), []
    law = _rows_of(channel)
    shape = law.shape
    seen = np.bincount(inputs.astype(np.int64) * shape[1] + letters, minlength=shape[0] * shape[1]).reshape(shape)
    n, labels = seen.sum(axis=1), [" ".join(y) for y in channel.letters()]
    findings = [_fit_finding(seen, law, share, which)]
    findings.append(
        _counts_finding(
            f"how often each letter{which} was released",
            seen.sum(axis=0),
            n @ law,
            np.array(float(n.sum())),
            share,
            labels,
        )
    )
    leakage = []
    for view in views:
        shares, names = _view_given_input(channel, view)
        counts = np.rint(shares.T @ seen).astype(np.int64)
        cells = [f"letter {y} with {', '.join(view)} = {v}" for v in names for y in labels]
        found, told = _view_findings(view, which, counts, shares.T @ (n[:, None] * law), cells, share)
        findings += found
        leakage.append(told)
    return findings, leakage


def _view_findings(
    view: Sequence[str], which: str, counts: Counts, mean: Floats, cells: Sequence[str], share: float
) -> tuple[list[Finding], dict[str, Any]]:
    """Counts of letters for each value of a view against their means: no dependence, no more leakage than by chance."""
    size = counts.sum(axis=1).astype(np.float64)
    rows = int(size.sum())
    what = f"released letters{which} do not depend on {', '.join(view)}"
    findings = [_counts_finding(what, counts, mean, size[:, None], share, cells)]
    degrees = (int((size > 0).sum()) - 1) * (int((counts.sum(axis=0) > 0).sum()) - 1)
    told, there = _information(counts.astype(np.float64)), size > 0
    rates = mean[there] / size[there, None]
    if np.ptp(rates, axis=0).max() < 1e-9:  # the table of the design: every value of the view has the same law
        findings.append(_leakage_finding(view, told, rows, rates.size, share))
    by_chance = degrees / (2 * log(2) * max(1, rows))
    return findings, {"view": list(view), "seen_bits": told, "expected_by_chance_bits": by_chance}


def _records(
    channel: Records, views: Sequence[Sequence[str]], inputs: Counts, letters: Counts, share: float
) -> tuple[list[Finding], list[dict[str, Any]]]:
    """Records that cannot be, how many stay, how often each is released; for each view, how often with each value."""
    what = "released records follow the certified channel"
    if records.impossible(channel, inputs, letters):
        return [Finding(what, 0.0, share, "a record was released that its original cannot become")], []
    n = np.bincount(inputs, minlength=len(channel.read)).astype(np.float64)
    mean, stay = records.expected(channel, n)
    stayed = np.array([int(np.count_nonzero(records.home(channel)[inputs] == letters))])
    trials, labels = np.array(float(len(letters))), records.names_of(channel)
    seen = np.bincount(letters, minlength=len(channel.records))
    findings = [
        _counts_finding(what, stayed, np.array([float(n @ stay)]), trials, share, ["records that stay as they are"]),
        _counts_finding("how often each record was released", seen, mean, trials, share, labels),
    ]
    leakage = []
    for view in views:
        of, told = records.values(channel, view)
        size = len(channel.records)
        counts = np.bincount(of[inputs] * size + letters, minlength=len(told) * size).reshape(len(told), size)
        means_of = np.stack([records.expected(channel, np.where(of == k, n, 0.0))[0] for k in range(len(told))])
        cells = [f"record {y} with {', '.join(view)} = {v}" for v in told for y in labels]
        found, entry = _view_findings(view, "", counts, means_of, cells, share)
        findings += found
        leakage.append(entry)
    return findings, leakage


def _dealt(
    channel: Orbits,
    views: Sequence[Sequence[str]],
    inputs: npt.NDArray[Any],
    letters: npt.NDArray[Any],
    share: float,
) -> tuple[list[Finding], list[dict[str, Any]]]:
    """Columns and words against the law of each type; for each sample, the roles that it plays against its value."""
    dealt, law = Dealt.read(channel, inputs, letters), _rows_of(channel)
    if (dealt.pair < 0).any():
        what = "released letters follow the certified channel"
        return [Finding(what, 0.0, share, "a letter was released that its input cannot draw")], []
    size = law.size
    seen = np.bincount(dealt.types * law.shape[1] + dealt.pair, minlength=size).reshape(law.shape)
    n = seen.sum(axis=1)
    expected = np.bincount([k for k, _ in channel.pairs], weights=n @ law).astype(np.float64)
    released, labels = np.bincount(dealt.column, minlength=len(expected)), [f"column {k}" for k in range(len(expected))]
    what, trials = "how often each column was released", np.array(float(n.sum()))
    findings = [_fit_finding(seen, law, share), _counts_finding(what, released, expected, trials, share, labels)]
    leakage, names = [], list(channel.inputs)
    for view in views:
        if len(view) > 1:
            continue
        i, alphabet = names.index(view[0]), channel.inputs[view[0]]
        of = np.bincount(dealt.types * len(alphabet) + dealt.x[:, i], minlength=len(law) * len(alphabet))
        mean, roles = role_means(channel, law, of.reshape(len(law), -1).astype(np.float64))
        cells = [f"{role} with {view[0]} = {a}" for a in alphabet for role in roles]
        found, told = _view_findings(view, "", role_counts(channel, dealt, i, roles), mean, cells, share)
        findings += found
        leakage.append(told)
    return findings, leakage


def _examined_without_rows(
    channel: Kernel, which: str, inputs: npt.NDArray[Any], letters: npt.NDArray[Any], share: float
) -> list[Finding]:
    """Too many letters to write the rows out: how many records kept theirs, of those that keep it with the same
    probability and in all; how often each letter occurs."""
    inputs, letters = inputs.astype(np.int64), letters.astype(np.int64)
    size, same, stays = channel.shape[0], inputs == letters, kept_share(channel)
    n, kept = np.bincount(inputs, minlength=size).astype(np.float64), np.bincount(inputs[same], minlength=size)
    values, classes = np.unique(stays, return_inverse=True)
    of_class = np.asarray(np.bincount(classes, weights=n), dtype=np.float64)
    what = f"how many records keep their letter{which}"
    if cannot_draw(channel, inputs, letters).any():
        first = Finding(what, 0.0, share / 2, "a letter was released that its input cannot draw")
    else:
        seen = np.bincount(classes, weights=kept).astype(np.int64)
        told = [f"records whose letter{which} is kept with probability {v:.6g}" for v in values]
        first = _counts_finding(what, seen, of_class * values, of_class, share / 2, told)
    in_all, rows = (np.array([kept.sum()]), np.array([float(stays @ n)])), np.array(float(len(letters)))
    often = np.bincount(letters, minlength=size), means(channel, n)
    labels = [" ".join(y) for y in channel.letters()]
    return [
        first,
        _counts_finding(f"how many letters{which} are kept in all", *in_all, rows, share / 2, ["kept letters"]),
        _counts_finding(f"how often each letter{which} was released", *often, rows, share, labels),
    ]


def _view_given_input(channel: Kernel, view: Sequence[str]) -> tuple[Floats, list[str]]:
    """1[view value of the channel's input], for a view that is part of the input."""
    at = [list(channel.inputs).index(name) for name in view]
    of = [", ".join(x[i] for i in at) for x in channel.outcomes()]
    values = sorted(set(of))
    return np.array([[float(v == value) for value in values] for v in of]), values


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
    """
    size = Finding(
        "as many rows as the original", 1.0 if len(letters) == rows else 0.0, error, f"{len(letters)} of {rows}"
    )
    findings, parts = [size], _parts(design, letters)
    for channel, which, (drawn,) in parts:
        if isinstance(channel, Noise):
            findings += _shuffled_numbers(channel, original, rows, drawn, error / 2)
            continue
        if isinstance(channel, Records):
            findings.append(_shuffled_records(channel, original, rows, drawn, error / 2))
            continue
        large = too_many(channel)
        law = np.zeros((channel.shape[0], 0)) if large else _rows_of(channel)
        weight = np.zeros(len(law))
        outcomes, index = original.grouped(list(channel.inputs))
        shares = np.bincount(index, weights=original.weights.astype(np.float64), minlength=len(outcomes))
        for codes, n in zip(outcomes, shares.tolist(), strict=True):
            weight[channel.drawn_row(codes)] += n / original.total * rows
        expected = means(channel, weight) if large else weight @ law
        if isinstance(channel, Orbits):  # the roles of shuffled records cannot be matched; the columns can be counted
            expected = np.bincount([k for k, _ in channel.pairs], weights=expected).astype(np.float64)
            drawn = drawn // prod(len(a) for name, a in channel.output.items() if name != channel.name)
            labels = [f"column {k}" for k in range(len(expected))]
        else:
            labels = [" ".join(y) for y in channel.letters()]
        seen = np.bincount(drawn.astype(np.int64), minlength=len(expected))
        what, trials = f"how often each letter{which} was released", np.array(float(max(1, len(letters))))
        findings.append(_counts_finding(what, seen, expected, trials, error / (2 * len(parts)), labels))
    if kept is not None:
        findings.append(kept.as_often(error))
        findings += _letters_beside(design.channel, inputs, letters, kept, error / 2)
    return Audit(len(letters), False, error, tuple(findings), attacks=attacks(design))


def _shuffled_records(channel: Records, original: Pmf, rows: int, letters: npt.NDArray[Any], share: float) -> Finding:
    """How often each record was released."""
    outcomes, index = original.grouped(list(channel.inputs))
    weights = np.bincount(index, weights=original.weights.astype(np.float64), minlength=len(outcomes))
    often = np.zeros(len(channel.read))
    for codes, n in zip(outcomes, weights.tolist(), strict=True):
        often[channel.drawn_row(codes)] += n / original.total * rows
    mean, _ = records.expected(channel, often)
    seen = np.bincount(letters.astype(np.int64), minlength=len(mean))
    trials = np.array(float(max(1, len(letters))))
    return _counts_finding("how often each record was released", seen, mean, trials, share, records.names_of(channel))


def _letters_beside(
    channel: Kernel, inputs: npt.NDArray[Any] | None, letters: npt.NDArray[Any], kept: Kept, share: float
) -> list[Finding]:
    """How often each letter stands beside each outcome of the kept columns, where a list of both is not too long."""
    written_out = isinstance(channel, Channel | Pram | Resample | Strata) and channel.few and letters.ndim == 1
    if inputs is None or not written_out or len(kept.before) != len(kept.after):
        return []
    values, before = np.unique(kept.before, return_inverse=True)
    if len(values) * channel.shape[1] > BESIDE or not np.isin(kept.after, values).all():
        return []
    law, after = _doubles(channel.rows), np.searchsorted(values, kept.after)
    reads = np.bincount(before.reshape(-1) * len(law) + inputs.astype(np.int64), minlength=len(values) * len(law))
    mean = reads.reshape(len(values), -1).astype(np.float64) @ law
    size = len(values) * channel.shape[1]
    seen = np.bincount(after * channel.shape[1] + letters.astype(np.int64), minlength=size).reshape(mean.shape)
    what = f"how often each letter stands beside {', '.join(kept.names)}"
    labels = [f"letter {' '.join(y)} beside outcome {k + 1}" for k in range(len(values)) for y in channel.letters()]
    return [_counts_finding(what, seen, mean, mean.sum(axis=1, keepdims=True).round(), share, labels)]


def _shuffled_numbers(
    channel: Noise, original: Pmf, rows: int, letters: npt.NDArray[Any], share: float
) -> list[Finding]:
    """How often each number of each column was released; nothing for noise across columns: match its rows."""
    outcomes, index = original.grouped(list(channel.inputs))
    weights = np.bincount(index, weights=original.weights.astype(np.float64), minlength=len(outcomes))
    places = np.array([channel.row_of(codes) for codes in outcomes], dtype=np.int64)
    expected = expected_letters(channel, places, weights / original.total * rows)
    if expected is None:
        return []
    sizes, found = [len(a) for a in channel.output.values()], []
    for name, drawn, mean in zip(
        channel.output, np.unravel_index(letters.astype(np.int64), sizes), expected, strict=True
    ):
        seen, trials = np.bincount(drawn, minlength=len(mean)), np.array(float(max(1, len(letters))))
        what = f"how often each number of {name} was released"
        found.append(_counts_finding(what, seen, mean, trials, share / len(sizes), list(channel.output[name])))
    return found
