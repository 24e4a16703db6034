r"""Evidence about released numbers: on every axis the noise of each record, as far as it can be told, against its law.

A released letter of column j says that give_j t + shift_j lies in [letter, letter + 1), or beyond an end where it is
the first or the last one. A left inverse of `give` turns that into an interval of each t, and of N = t - c, so that

    #{interval ends at or before k}  <=  #{N <= k}  <=  #{interval begins at or before k},

and the middle is a sum of independent 0/1 draws of probability F(k). Where nothing was rounded the ends meet, and the
chance of each number for its own record is held against that of being released for some record (`measures.counts`).
"""

from bisect import bisect_left
from fractions import Fraction
from itertools import accumulate
from math import exp, inf, log, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Leakage, Noise, Pmf
from dalenius.core.digits import many
from dalenius.core.drafting import Axes, release_of
from dalenius.core.forms.noise import NoiseAxis
from dalenius.core.numbers import double_above
from dalenius.measures.counts import ROUNDED, Finding, counts_finding, either
from dalenius.measures.individual import Individual, most_bits
from dalenius.mechanisms.auditing import MechanismAudit, kept_promises, short
from dalenius.mechanisms.numbers.axes import axes_of
from dalenius.solvers.noise import information

__all__ = ["examine_noise", "expected_letters", "noise_seen", "shuffled_numbers"]

Floats = npt.NDArray[np.float64]
PLACES = 65  # thresholds k on each axis
FLOAT = 2.0**-52
SLACK = 1e-6  # of a left inverse in floats
COMPARED = 1 << 24  # pairs of a released number and a place whose chance is worked out


def _law(axis: NoiseAxis) -> Floats:
    half = np.array([weight / sum(axis.weights) for weight in axis.weights])
    law = np.concatenate([half[:0:-1], half])
    return np.asarray(law / law.sum())


def _intervals(channel: Noise, letters: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """Where the value of each record lies on each axis, one column each."""
    widths = [len(a) for a in channel.output.values()]
    told = np.stack(np.unravel_index(letters.astype(np.int64), widths), axis=1).astype(float)
    shift = np.array([float(value) for value in channel.shift])
    low = np.where(told == 0, -inf, told - shift)
    high = np.where(told == np.array(widths) - 1, inf, told - shift + 1)
    give = np.array([[float(entry) for entry in row] for row in channel.give])
    if (give == np.eye(*give.shape)).all():  # values are whole numbers, and so are their ends
        return low, high - 1
    back, ends = np.linalg.pinv(give), []
    for above in (False, True):
        sides = [np.where((row > 0) == above, high, low) for row in back]
        with np.errstate(invalid="ignore"):
            parts = [np.where(row == 0, 0.0, row * side).sum(axis=1) for row, side in zip(back, sides, strict=True)]
        ends.append(np.stack(parts, axis=1))
    return ends[0] - SLACK, ends[1] + SLACK


def _apart(axis: NoiseAxis, shift: npt.NDArray[Any], low: Floats, high: Floats) -> float:
    """The sum over the rows of ln q / p: how likely a number is for a record of the table, and for its own."""
    below = np.concatenate([[0.0], np.cumsum(_law(axis))])

    def chance(first: Floats, last: Floats) -> Floats:
        ends = (np.clip(end + axis.reach, 0, len(below) - 1).astype(np.int64) for end in (first, last + 1))
        return np.asarray(-np.subtract(*(below[end] for end in ends)))

    moved, often = np.unique(shift, return_counts=True)
    told, which = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
    if len(moved) * told.shape[1] > COMPARED:
        return 0.0
    anyhow = chance(told[0][:, None] - moved, told[1][:, None] - moved) @ (often / len(shift))
    own = chance(low - shift, high - shift) + ROUNDED  # in favour of the release: sums of doubles are not off by more
    return float(np.log(np.maximum(anyhow[which.reshape(-1)], ROUNDED) / own).sum())


def noise_seen(
    channel: Noise, inputs: npt.NDArray[Any], letters: npt.NDArray[Any], error: float = 1e-6
) -> list[Finding]:
    """For each axis what was looked at, a bound of the probability of seeing so much by chance, and the worst place.

    Parameters
    ----------
    channel : Noise
        That drew the letters.
    inputs, letters : array of int
        For each record its outcome and the letter that was released.
    error : float
        How often an axis of a true release is called a contradiction.

    Returns
    -------
    list of Finding
        One for each axis.
    """
    apart = _own_axes(channel)
    n, shifts, (low, high) = len(letters), channel.shifts(inputs), _intervals(channel, letters)
    found, many = list[Finding](), len(channel.axes)
    for i, (axis, shift) in enumerate(zip(channel.axes, shifts, strict=True)):
        name = f" of {list(channel.inputs)[i]}" if many == len(channel.inputs) > 1 and len(channel.axes) > 1 else ""
        what = (
            f"the noise{name} on axis {i + 1} follows its distribution"
            if many > 1
            else "the noise follows its distribution"
        )
        begins = np.sort(low[:, i] - shift)
        ends = np.sort(high[:, i] - shift)
        if begins[-1] > axis.reach + SLACK or ends[0] < -axis.reach - SLACK:
            found.append(Finding(what, 0.0, error, "a number was released that its record cannot draw"))
            continue
        below = list(accumulate(axis.weights[:0:-1] + axis.weights))  # integers: the last is all of the mass
        places = sorted({bisect_left(below, below[-1] * k // (PLACES + 1)) for k in range(1, PLACES + 1)})
        worst, at = 0.0, places[0] - axis.reach
        for k in places:
            share = Fraction(below[k], below[-1])
            value = k - axis.reach
            least, most = (Fraction(int(np.searchsorted(side, value, side="right")), n) for side in (ends, begins))
            exponent = _exponent(n, least if least > share else most if most < share else share, share)
            worst, at = max((worst, at), (exponent, value))
        p = min(1.0, 2 * len(places) * exp(-min(worst, 700.0)))
        seen = int(np.searchsorted(ends, at, side="right")), int(np.searchsorted(begins, at, side="right"))
        expected = n * float(Fraction(below[at + axis.reach], below[-1]))
        told = f"noise of at most {at} steps of the grid: {_rows(*seen)}; {expected:,.0f} expected"
        better = _apart(axis, shift, low[:, i], high[:, i]) if apart else 0.0
        found.append(either(Finding(what, p, error, told), better, n))
    return found


def _rows(least: int, most: int) -> str:
    """
    >>> _rows(16944, 16944), _rows(3, 5)
    ('16,944 rows', '3 to 5 rows')
    """
    return many(most, "row") if least == most else f"{least:,} to {most:,} rows"


def _exponent(n: int, seen: Fraction, share: Fraction) -> float:
    """n times the binary relative entropy of two exact shares in nats, rounded in favour of the release.

    >>> _exponent(400, Fraction(1), Fraction(1)), _exponent(4, Fraction(1, 2), Fraction(0))
    (0.0, inf)
    """
    if seen == share:
        return 0.0
    parts = [(a, b) for a, b in ((seen, share), (1 - seen, 1 - share)) if a]
    if not all(b for _, b in parts):
        return inf
    told = sum(float(a) * (log(a.numerator * b.denominator) - log(b.numerator * a.denominator)) for a, b in parts)
    sizes = [value.bit_length() for a, b in parts for value in (*a.as_integer_ratio(), *b.as_integer_ratio())]
    return max(0.0, n * (told - 8 * FLOAT * max(sizes)))  # each logarithm is right to a rounding of itself


def expected_letters(channel: Noise, places: npt.NDArray[Any], weights: Floats) -> list[Floats] | None:
    """How often each letter of each column is released on average; None for axes across columns.

    `places` are the inputs that occur (combined codes) and `weights` how many records have them.
    """
    if not _own_axes(channel):
        return None
    found = []
    for axis, shift in zip(channel.axes, channel.shifts(places), strict=True):
        first = int(shift.min())
        counts = np.bincount(shift - first, weights=weights)
        spread = np.convolve(counts, _law(axis))
        at = np.clip(np.arange(len(spread)) + first - axis.reach, axis.low, axis.high) - axis.low
        found.append(np.bincount(at, weights=spread, minlength=axis.high - axis.low + 1).astype(float))
    return found


def _own_axes(channel: Noise) -> bool:
    """Whether each released number is the value of one axis."""
    return channel.give == tuple(
        tuple(int(i == j) for i in range(len(channel.axes))) for j in range(len(channel.inputs))
    )


def examine_noise(channel: Noise, prior: Pmf | None = None, *, remarks: tuple[str, ...] = ()) -> MechanismAudit:
    """Audit a channel of form noise along its axes, without its rows; all columns count as one record."""
    names = tuple(channel.inputs)
    axes = axes_of(channel, None if prior is None else prior.marginal(names), exactly=True)
    release = release_of(channel, prior, axes)
    stated = release.stated()
    level = stated["epsilon_nats"]
    capacity, contraction = (stated[name] or Fraction(0) for name in ("capacity_bits", "eta_kl"))
    low = _told(channel, axes) if len(channel.axes) == 1 else 0.0
    held = most_bits(prod(len(letters) for letters in channel.inputs.values()))
    high = min(double_above(capacity), held)
    apart = min(Fraction(1), release.delta((), Fraction(0)))
    met = kept_promises(capacity, contraction, level)
    met += [] if prior is None else [Leakage(names, short(stated["leakage_bits"] or Fraction(0)))]
    whole = Individual(min(low, high), high, names, (), ())
    ends = whole.low, high
    most = None if level is None else double_above(level)
    return MechanismAudit(
        names, ends, {1: whole}, ends, most, most, double_above(contraction), double_above(apart), None, tuple(met),
        (*remarks, "audited along its axes: all columns count as one record, and upper ends are sums over the axes"),
    )  # fmt: skip


def _told(channel: Noise, axes: Axes) -> float:
    """What the only axis tells under the law of its shifts, in floats and a little less."""
    (axis,), (law,) = channel.axes, axes.priors
    first, last = axis.ends([len(letters) for letters in channel.inputs.values()])
    prior = np.zeros(last - first + 1)
    for c, n in law:
        prior[c - first] = n
    return max(0.0, information(prior / prior.sum(), list(axis.weights), first, axis.low, axis.high) - 1e-9)


def shuffled_numbers(
    channel: Noise, original: Pmf, rows: int, letters: npt.NDArray[Any], share: float
) -> list[Finding]:
    """How often each number of each column was released; nothing for noise across columns: match its rows."""
    often = original.often(list(channel.inputs), rows)
    places = np.array([channel.row_of(codes) for codes, _ in often], dtype=np.int64)
    expected = expected_letters(channel, places, np.array([many for _, many in often]))
    if expected is None:
        return []
    sizes, found = [len(a) for a in channel.output.values()], []
    for name, drawn, mean in zip(
        channel.output, np.unravel_index(letters.astype(np.int64), sizes), expected, strict=True
    ):
        seen = np.bincount(drawn, minlength=len(mean))
        trials = np.array(float(max(1, len(letters))))
        what = f"how often each number of {name} was released"
        found.append(counts_finding(what, seen, mean, trials, share / len(sizes), list(channel.output[name])))
    return found
