"""What a release by a channel in rows shows: letters against the rows that their records read, and distortions.

Row x of the law was read n(x) times. So the letter y was drawn n(x) p(y | x) times on average after x, and a value v of
a view occurs sum_x 1[v(x) = v] n(x) p(y | x) times beside y: counts are held against these means, by bounds that hold
at every size (`measures.counts`). The cost grows with the entries of the channel and with the records.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dalenius.core import Distortion, Kernel
from dalenius.core.conditional_law import in_doubles, once_each
from dalenius.core.distorting import distortions
from dalenius.measures.counts import Finding, Floats, counts_finding, fit_finding, rows_of, view_findings
from dalenius.measures.transitions import pairs_of
from dalenius.mechanisms.drawing import Array

__all__ = ["Distorted", "Found", "any_change", "distorted_rows", "tested_rows"]

Found = tuple[list[Finding], list[dict[str, Any]]]
"""Findings, and for each view what the drawn rows tell about it."""
Distorted = tuple[Floats, Floats, float, float]
"""For each row of the law the mean of the distortion and of its square; the average that was seen; the span."""


def tested_rows(
    channel: Kernel,
    which: str,
    views: Sequence[Sequence[str]],
    inputs: Array,
    letters: Array,
    share: float,
    view_values: Callable[[Any, Sequence[str]], tuple[Floats, list[str]]],
) -> Found:
    """Letters against the rows that their records read: as often as the law says, and no more about a view.

    Parameters
    ----------
    channel : Kernel
        Few enough entries to be written out.
    which : str
        Tells one part from others in the words of a finding; empty where there is one.
    views : sequence of names
        The protected columns.
    inputs, letters : array of int
        For each record the row that it read and the letter that was released.
    share : float
        Of the error probability, for each test.
    view_values : callable
        Which value of a view each row of the law belongs to, as indicators, and what the values are called.

    Returns
    -------
    findings, leakage
    """
    law = rows_of(channel)
    seen = pairs_of(inputs, letters, law.shape)
    n = seen.sum(axis=1)
    labels = [" · ".join(y) for y in channel.letters()]
    what = f"how often each value{which} was released"
    trials = np.array(float(n.sum()))
    findings = [fit_finding(seen, law, share, which)]
    findings.append(counts_finding(what, seen.sum(axis=0), n @ law, trials, share, labels))
    leakage = []
    for view in views:
        shares, names = view_values(channel, view)
        counts = np.rint(shares.T @ seen).astype(np.int64)
        cells = [f"value {label} with {', '.join(view)} = {name}" for name in names for label in labels]
        found, told = view_findings(view, which, counts, shares.T @ (n[:, None] * law), cells, share)
        findings += found
        leakage.append(told)
    return findings, leakage


def distorted_rows(channel: Kernel, measure: Distortion, inputs: Array, letters: Array) -> Distorted:
    """The distortion of letters from the records that they were released for.

    Parameters
    ----------
    channel : Kernel
        With a row for each outcome of the inputs.
    measure : Distortion
        Of columns that it reads.
    inputs, letters : array of int
        As for `tested_rows`.

    Returns
    -------
    Distorted
    """
    names = list(channel.inputs)
    outcomes = channel.letters()
    records = [tuple(x[names.index(c)] for c in measure.of) for x in channel.outcomes()]
    low, high, unit = distortions(measure, dict(channel.inputs), records, list(channel.output), outcomes)
    apart = np.array(
        [[_middle(a, b, unit) for a, b in zip(*ends, strict=True)] for ends in zip(low, high, strict=True)]
    )
    law = np.array(once_each(in_doubles, channel.rows))
    possible = law > 0
    # An infinite distortion that cannot occur counts nothing; 0 times infinity would be no number.
    apart = np.where(possible | np.isfinite(apart), apart, 0.0)
    pairs = pairs_of(inputs, letters, apart.shape)
    occurs = pairs > 0
    seen = float((apart[occurs] * pairs[occurs]).sum() / len(letters))
    read = pairs.any(axis=1)
    reached = apart[read][possible[read]]
    span = float(reached.max() - reached.min())
    return (law * apart).sum(axis=1), (law * apart * apart).sum(axis=1), seen, span


def any_change(measure: Distortion, channel: Kernel) -> bool:
    """Whether a measure only asks if the letter is the record's own, so that no table of it is needed."""
    plain = measure.distortion == "hamming" and not measure.classes
    return plain and measure.of == tuple(channel.output) and [*channel.inputs.items()] == [*channel.output.items()]


def _middle(low: int | None, high: int | None, unit: int) -> float:
    return float("inf") if low is None or high is None else (low + high) / (2 * unit)
