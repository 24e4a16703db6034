r"""Tests of counts that are valid at every sample size, with a stated error.

The table is fixed and the letters were drawn, so every count is a sum of independent 0/1 draws whose mean the design
tells exactly. Three bounds, no asymptotics:

    Pr[N >= a], Pr[N <= a]  <=  exp(-n KL(a/n || mu/n))           for a count of n rows with mean mu   (Hoeffding 1956)
    Pr[sum_x n_x D(seen_x || p(.|x)) >= t]  <=  e^-t (e t / d)^d  for t > d, d = sum_x (letters_x - 1)   (Agrawal 2020)
    Pr[sum_i ln q(y_i) / p(y_i|x_i) >= t]  <=  e^-t   for any law q, as E[q(y)/p(y|x)] <= 1              (Markov)

The third, with the law q that a letter has whoever's it is, sees rows that were matched to wrong records: it has one
degree of freedom where the second has one for each letter of each row of the channel.

The test of the leakage costs nothing beyond the test of the counts: when every value of a view has the same law of
letters and none of its m counts exceeds its share, the information I in the n drawn rows, in nats, has

    n I(view; letter)  <=  sum of n_v KL(count || mean)  <=  m ln(2 m / share),   as D(f || p) <= sum_y KL(f_y || p_y).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, inf, log
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core.conditional_law import Kernel, once_each
from dalenius.measures.shannon import information_of
from dalenius.solvers.divergence import times_log_ratio

__all__ = [
    "Counts",
    "Finding",
    "Floats",
    "counts_finding",
    "doubles",
    "either",
    "fit_finding",
    "information",
    "rows_of",
    "view_findings",
    "view_given_input",
]

ROUNDED = 1e-12  # what sums of doubles are off at most, as a share of themselves
LEAST = 2.0**-1000  # a positive probability is never taken for less
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """One test: what it looked at, the probability bound of seeing so much by chance, and whether that is too small.

    Parameters
    ----------
    what : str
        What was looked at.
    p_value : float
        A bound of the probability of seeing so much by chance.
    threshold : float
        Below which it contradicts the design.
    detail : str
        The place that stands out.
    """

    what: str
    p_value: float
    threshold: float
    detail: str

    @property
    def contradicts(self) -> bool:
        return self.p_value < self.threshold


def _kl(a: Floats, b: Floats) -> Floats:
    """Binary relative entropy in nats, 0 log 0 = 0, infinite where b excludes what a has."""
    return np.asarray(np.maximum(times_log_ratio(a, b) + times_log_ratio(1 - a, 1 - b), 0.0), dtype=np.float64)


def _in_favour(seen: Floats, share: Floats) -> Floats:
    """A share that was summed in doubles, moved towards what was seen by all that the sum can be off.

    A share of 0 is a sum of zeros, and stays 0: what it excludes cannot be drawn.
    """
    above = share * (1 + ROUNDED)
    below = share - (1 - share) * ROUNDED - ROUNDED
    return np.where(seen > share, np.minimum(seen, above), np.maximum(seen, below))


def rows_of(channel: Kernel) -> Floats:
    """The rows that a channel draws by, as doubles."""
    return doubles(channel.drawn)


def doubles(rows: Sequence[Sequence[Fraction]]) -> Floats:
    """Probabilities as doubles; what is possible stays above 0."""

    def double(entry: Fraction) -> float:
        return max(entry.numerator / entry.denominator, LEAST) if entry else 0.0

    return np.array(once_each(lambda row: once_each(double, row), rows))


def counts_finding(
    what: str, seen: Counts, mean: Floats, trials: Floats, share: float, names: Sequence[str]
) -> Finding:
    """Every count against its mean by the first bound; two sides and all cells share the error.

    Parameters
    ----------
    what : str
        What is counted.
    seen : array of int
        The counts.
    mean : array
        Their exact means, in doubles.
    trials : array
        Of how many rows each is a count; broadcast.
    share : float
        Of the error probability.
    names : sequence of str
        Of the cells, flat.

    Returns
    -------
    Finding
        With the cell that deviates most.
    """
    n = np.broadcast_to(trials, seen.shape).astype(np.float64)
    used = n > 0
    seen, mean, n = seen[used], mean[used], n[used]
    exponents = n * _kl(seen / n, _in_favour(seen / n, np.clip(mean / n, 0.0, 1.0)))
    worst = int(np.argmax(exponents))
    p = min(1.0, 2 * len(seen) * exp(-exponents[worst])) if exponents[worst] < inf else 0.0
    label = names[np.flatnonzero(used.reshape(-1))[worst]]
    detail = f"largest deviation: {label}, {int(seen[worst]):,} rows; {mean[worst]:,.0f} expected"
    return Finding(what, p, share, detail)


def fit_finding(seen: Counts, law: Floats, share: float, which: str = "") -> Finding:
    """All rows of the channel by the second and the third bound; a letter that its input cannot draw settles it.

    Parameters
    ----------
    seen : array of int
        A count for each row of the law and each letter.
    law : array
        p(y | x).
    share : float
        Of the error probability.
    which : str
        Tells several windows apart.

    Returns
    -------
    Finding
        Settled by a letter that its input cannot draw.
    """
    what = f"released values{which} follow the recipe"
    t, d, apart = 0.0, 0, 0.0
    anyhow = seen.sum(axis=1) @ law / max(1, int(seen.sum()))
    for counts, row in zip(seen, law, strict=True):
        possible = row > 0
        if counts[~possible].any():
            return Finding(what, 0.0, share, "a value was released that its input cannot draw")
        if total := int(counts.sum()):
            d += int(possible.sum()) - 1
            here = counts > 0
            t += float((counts[here] * np.log(counts[here] / (total * row[here]))).sum())
            apart += float((counts[here] * np.log(anyhow[here] / row[here])).sum())
    t -= ROUNDED * int(seen.sum())  # in favour of the release
    by_counts = 1.0 if t <= d or d == 0 else min(1.0, exp(max(-700.0, d * (1 + log(t / d)) - t)))
    return either(
        Finding(what, by_counts, share, f"deviation {max(0.0, t):.1f}; up to {d} is usual"), apart, int(seen.sum())
    )


def either(finding: Finding, apart: float, rows: int) -> Finding:
    """A finding about all rows together, or the third bound where that says more; both share the error.

    Parameters
    ----------
    finding : Finding
        By one of the other bounds.
    apart : float
        The sum of ln q(y) / p(y|x) over the rows, in doubles.
    rows : int
        How many.

    Returns
    -------
    Finding
        With the smaller of both probabilities, doubled.
    """
    apart -= 1000 * ROUNDED * rows  # in favour of the release; no logarithm is above 1000
    by_rows = exp(-min(max(apart, 0.0), 700.0))
    words = f"other rows would explain them e^{apart:.0f} times better"
    detail = words if by_rows < finding.p_value else finding.detail
    return replace(finding, p_value=min(1.0, 2 * min(finding.p_value, by_rows)), detail=detail)


def view_findings(
    view: Sequence[str], which: str, counts: Counts, mean: Floats, cells: Sequence[str], share: float
) -> tuple[list[Finding], dict[str, Any]]:
    """Counts of letters for each value of a view against their means: no dependence, no more leakage than by chance.

    Parameters
    ----------
    view : names
        The columns that letters should not depend on.
    which : str
        Tells several windows apart.
    counts, mean : array
        For each value of the view and each letter.
    cells : sequence of str
        Their names, flat.
    share : float
        Of the error probability.

    Returns
    -------
    list of Finding, dict
        And what the rows tell about the view.
    """
    size = counts.sum(axis=1).astype(np.float64)
    rows = int(size.sum())
    what = f"released values{which} do not depend on {', '.join(view)}"
    findings = [counts_finding(what, counts, mean, size[:, None], share, cells)]
    degrees = (int((size > 0).sum()) - 1) * (int((counts.sum(axis=0) > 0).sum()) - 1)
    told = information(counts.astype(np.float64))
    there = size > 0
    rates = mean[there] / size[there, None]
    if np.ptp(rates, axis=0).max() < 1e-9:  # the table of the design: every value of the view has the same law
        findings.append(_leakage_finding(view, told, rows, rates.size, share))
    by_chance = degrees / (2 * log(2) * max(1, rows))
    return findings, {"view": list(view), "seen_bits": told, "expected_by_chance_bits": by_chance}


def _leakage_finding(view: Sequence[str], told: float, rows: int, cells: int, share: float) -> Finding:
    """The information in the drawn rows about a view that the letters do not depend on, against what chance allows."""
    p = min(1.0, 2 * cells * exp(-min(700.0, rows * told * log(2) / cells)))
    allowed = cells * log(2 * cells / share) / (rows * log(2))
    what = f"released values reveal no more about {', '.join(view)} than chance allows"
    return Finding(what, p, share, f"{told:.3g} bits; up to {allowed:.3g} bits by chance")


def information(counts: Floats) -> float:
    """Plug-in I(row; column) of a table of counts, in bits."""
    return information_of(counts / counts.sum())


def view_given_input(channel: Kernel, view: Sequence[str]) -> tuple[Floats, list[str]]:
    """1[view value of the channel's input], for a view that is part of the input."""
    at = [list(channel.inputs).index(name) for name in view]
    return indicators([", ".join(x[i] for i in at) for x in channel.outcomes()])


def indicators(values_of: Sequence[str], *, unknown: int = 0) -> tuple[Floats, list[str]]:
    """1[value] for each row, then rows of zeros for so many of which no value is known; and the values.

    >>> indicators(["b", "a"], unknown=1)[0].tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    values = sorted(set(values_of))
    found = np.array([[float(v == value) for value in values] for v in values_of])
    return np.concatenate([found.reshape(-1, len(values)), np.zeros((unknown, len(values)))]), values
