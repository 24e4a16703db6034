r"""Noise for numbers on a grid: the mechanisms of paper 004 (and 001, 003), each calibrated and then proved.

Only the mean and the variance v of a column are used, beside the declared grid. For a squared error D

    shrinkage    Y = a (X - m) + m + N,  a = 1 - D/v,  var N = D a      tells at most 1/2 log2 (v / D)
    gaussian     Y = X + N,              var N = D                      tells at most 1/2 log2 (1 + v / D)

whatever the law of X (004, E4): the first is never worse, and at D = v it is the constant Y = m. Several columns get
their noise one by one, their shares of D by reverse water-filling (shrinkage) or equation (12) (added noise).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from math import ceil, exp, floor, inf, isinf, log2, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.certify.noise import NoiseProof, column, least_capacity, totals
from dalenius.core import Grid, Noise
from dalenius.core.numbers import down, exact, up, written
from dalenius.errors import InputError, SolverFailed, Unsupported
from dalenius.solvers.noise import (
    allocated_additive,
    allocated_shrinkage,
    capacity_prior,
    gaussian_sigma,
    geometric_weights,
    information,
    least_capacity_noise,
    max_entropy,
    power_weights,
    root,
)

__all__ = ["FORMAT", "MECHANISMS", "NoiseDesign", "NoiseWanted", "add_noise"]

FORMAT = "dalenius-noise/1"
MECHANISMS = ("shrinkage", "gaussian", "laplace", "max-entropy", "minimum-capacity")
PRIOR = 1 << 40
COARSE = 400  # atoms of the prior that bounds the capacity
COARSE_VARIANCE = 400  # in steps: beyond, rounding is nothing
MARGIN = 1e-12  # floats propose a noise that is so much inside the limit


@dataclass(frozen=True)
class NoiseWanted:
    """What is asked of the noise: a mechanism, and one of a squared error, a leakage and a level of local_dp.

    `share`: the squared error as a share of the variance. For `max-entropy` and `minimum-capacity` the distortion is
    the norm (E|N|^p)^(1/p) in the unit of the column. `clip` names the first and last released number of a column.
    """

    mechanism: str = "shrinkage"
    distortion: Fraction | None = None
    share: Fraction | None = None
    leakage_bits: Fraction | None = None
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    p: float = 2.0
    clip: Mapping[str, tuple[Fraction, Fraction]] | None = None

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise InputError(f"mechanism {self.mechanism!r} is not known; there are {', '.join(MECHANISMS)}")
        asked = [v for v in (self.distortion, self.share, self.leakage_bits, self.epsilon) if v is not None]
        if len(asked) != 1:
            raise InputError("say exactly one of a distortion, a leakage and an epsilon")
        if asked[0] <= 0:
            raise InputError("what is asked of the noise is a number above 0")
        if self.epsilon is not None and self.mechanism not in ("laplace", "gaussian"):
            raise Unsupported(
                f"an epsilon is kept by laplace, or by gaussian with a delta, not by {self.mechanism}; the report of "
                "every mechanism says which level it has"
            )
        if self.epsilon is not None and (self.mechanism == "gaussian") != (self.delta is not None):
            raise InputError("gaussian noise needs an epsilon and a delta; laplace needs an epsilon alone")
        if self.delta is not None and (self.epsilon is None or not 0 < self.delta < 1):
            raise InputError("delta goes with an epsilon and lies between 0 and 1")
        entropic = self.mechanism in ("max-entropy", "minimum-capacity")
        if entropic and self.distortion is None:
            raise Unsupported(f"{self.mechanism} is calibrated to a distortion")
        if not self.p >= 1 or (self.mechanism == "minimum-capacity" and self.p not in (1, 2, inf)):
            raise InputError("p is at least 1; for minimum-capacity it is 1, 2 or inf")


@dataclass(frozen=True)
class NoiseDesign:
    """The channel of each column, and the document that proves its figures."""

    channels: tuple[Noise, ...]
    document: Mapping[str, Any]

    @property
    def figures(self) -> Mapping[str, Any]:
        """The sums over all columns, as proved."""
        found: Mapping[str, Any] = self.document["proved"]
        return found

    def card(self) -> dict[str, Any]:
        """The document without counts: what holds for every distribution is proved from it alone."""
        columns = [{k: v for k, v in c.items() if k != "counts"} for c in self.document["columns"]]
        return {**self.document, "confidential": False, "columns": columns}


@dataclass(frozen=True)
class _Column:
    """Counts on the points of a grid, and their moments in steps."""

    name: str
    grid: Grid
    counts: NDArray[np.int64]

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def mean(self) -> Fraction:
        return Fraction(sum(i * int(n) for i, n in self.seen()), self.total)

    @cached_property
    def variance(self) -> Fraction:
        return Fraction(sum(i * i * int(n) for i, n in self.seen()), self.total) - self.mean**2

    @cached_property
    def constant(self) -> Fraction:
        """The squared error of releasing the grid point nearest to the mean for every record."""
        return self.variance + (self.mean - round(self.mean)) ** 2

    def seen(self) -> list[tuple[int, int]]:
        return [(int(i), int(self.counts[i])) for i in np.flatnonzero(self.counts)]

    def channel(self, keep: Fraction, weights: Sequence[int], clip: tuple[int, int] | None) -> Noise:
        return Noise.on_grid(self.name, self.grid.points(), keep, self.centre(keep), weights, clip)

    def centre(self, keep: Fraction) -> Fraction:
        """The mean to a hundredth of a step; a whole step where nothing but the centre is released."""
        return Fraction(round(self.mean * 100), 100) if 0 < keep < 1 else Fraction(round(self.mean) * (keep == 0))

    def moved(self, keep: Fraction) -> tuple[NDArray[np.float64], int, float]:
        """The law of the shifts, the first of them, and the mean squared shift, all before noise."""
        move = (1 - keep) * self.centre(keep) + Fraction(1, 2)
        one = keep.denominator * move.denominator
        shifts = (int(keep * one) * np.arange(len(self.counts)) + int(move * one)) // one
        share = self.counts / self.total
        law = np.bincount(shifts - shifts[0], weights=share).astype(float)
        gap = shifts - np.arange(len(shifts))
        return law, int(shifts[0]), float(share @ (gap.astype(float) ** 2))


def add_noise(columns: Mapping[str, tuple[Grid, NDArray[Any]]], wanted: NoiseWanted) -> NoiseDesign:
    """Noise for columns given by their grids and the codes of their records, calibrated and proved.

    >>> codes = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9] * 10)
    >>> grid = Grid(Fraction(0), Fraction(9), Fraction(1))
    >>> design = add_noise({"age": (grid, codes)}, NoiseWanted(share=Fraction(1, 2)))
    >>> float(exact(design.figures["distortion"])) <= 4.125, 0.3 < float(exact(design.figures["leakage_bits"])) < 0.55
    (True, True)
    """
    known = [
        _Column(name, grid, np.bincount(np.asarray(codes, dtype=np.int64), minlength=len(grid.points())))
        for name, (grid, codes) in columns.items()
    ]
    for c in known:
        if not c.total:
            raise InputError(f"column {c.name!r} has no record")
    shares, remarks = _distortions(known, wanted)
    remarks += _axes(known, [codes for _, codes in columns.values()], wanted)
    drafts = [_calibrated(c, wanted, d, len(known)) for c, d in zip(known, shares, strict=True)]
    return _proved(known, drafts, wanted, remarks)


@dataclass(frozen=True)
class _Draft:
    channel: Noise
    least: dict[str, Any] | None = None


def _distortions(known: Sequence[_Column], wanted: NoiseWanted) -> tuple[list[float | None], list[str]]:
    """The share of the squared error of each column, in its unit; None where it is not the target."""
    shrinks = wanted.mechanism == "shrinkage"
    spread = [float((c.constant if shrinks else c.variance) * c.grid.step**2) for c in known]
    if wanted.mechanism not in ("shrinkage", "gaussian", "laplace") or wanted.epsilon is not None:
        return [None] * len(known), []
    split = allocated_shrinkage if shrinks else allocated_additive
    if wanted.leakage_bits is not None:
        target = float(wanted.leakage_bits) * (1 - 1e-9)
        if not any(spread):
            return [0.0] * len(known), []

        def told(u: float) -> float:
            parts = split(spread, exp(u))
            return sum(_leaks(c, wanted, *_shape(c, wanted, d)) for c, d in zip(known, parts, strict=True))

        low, high = np.log(sum(spread)) - 30, np.log(sum(spread)) + (0 if shrinks else 20)
        for _ in range(45):
            middle = (low + high) / 2
            low, high = (middle, high) if told(middle) > target else (low, middle)
        return list(split(spread, exp(high))), []
    whole = sum(c.variance * c.grid.step**2 for c in known)
    d = float(wanted.distortion if wanted.distortion is not None else (wanted.share or 0) * whole)
    remarks = []
    if shrinks and d >= sum(spread):
        remarks.append(
            f"the distortion allowed, {d:g}, is not below the variance, {float(whole):g}: the mean is released for "
            "every record, which tells nothing"
        )
    return list(split(spread, d)) if any(spread) else [d] * len(known), remarks


def _axes(known: Sequence[_Column], codes: Sequence[NDArray[Any]], wanted: NoiseWanted) -> list[str]:
    """What noise along the principal axes of the covariance (004, Theorem 3) could save for Gaussian records."""
    if len(known) < 2 or wanted.mechanism not in ("shrinkage", "gaussian") or wanted.epsilon or wanted.leakage_bits:
        return []
    steps = [float(c.grid.step) for c in known]
    covariance = np.cov(
        np.array([np.asarray(x, dtype=float) * s for x, s in zip(codes, steps, strict=True)]), bias=True
    )
    spread, axes = np.diag(covariance).tolist(), np.maximum(np.linalg.eigvalsh(covariance), 0.0).tolist()
    d = float(wanted.distortion) if wanted.distortion is not None else float(wanted.share or 0) * sum(spread)

    def told(values: list[float]) -> float:
        if wanted.mechanism == "shrinkage":
            return sum(
                0.5 * log2(v / e) for v, e in zip(values, allocated_shrinkage(values, d), strict=True) if v > e > 0
            )
        added = allocated_additive(values, d)
        return sum(0.5 * log2(1 + v / e) for v, e in zip(values, added, strict=True) if e > 0)

    return [
        f"the columns get their noise one by one: ideally {told(spread):.4g} bits; for Gaussian records, noise along "
        f"the principal axes of their covariance would tell {told(axes):.4g} bits"
    ]


def _shape(c: _Column, wanted: NoiseWanted, d: float) -> tuple[Fraction, float]:
    """The share that is kept, and the variance of the noise in steps, for a squared error d of the column."""
    steps, v = d / float(c.grid.step) ** 2, float(c.variance)
    if wanted.mechanism != "shrinkage":
        return Fraction(1), steps
    if steps >= float(c.constant):
        return Fraction(0), 0.0
    keep = max(Fraction(0), Fraction(round((1 - steps / v) * 10**6), 10**6))
    plain = keep, steps - c.moved(keep)[2]
    if v > COARSE_VARIANCE and plain[1] > 0:
        return plain
    # On a coarse grid rounding costs as much as noise: keeping a little more can tell less.
    offers = [(k, steps - c.moved(k)[2]) for k in (keep + (1 - keep) * Fraction(j, 12) for j in range(13))]
    return min(offers, key=lambda offer: _leaks(c, wanted, *offer))  # the last, keep = 1, is always possible


def _law(wanted: NoiseWanted, variance: float) -> tuple[float, float]:
    """(p, scale) of the noise of that variance."""
    if wanted.mechanism == "laplace":  # E N^2 = 2 r / (1 - r)^2, r = e^(-1 / scale)
        r = 1 + 1 / variance - sqrt((1 + 1 / variance) ** 2 - 1)
        return 1.0, -1 / np.log(r)
    return 2.0, max_entropy(2, sqrt(variance)).scale


def _leaks(c: _Column, wanted: NoiseWanted, keep: Fraction, variance: float) -> float:
    """The leakage of a candidate, in floats; the variance of its noise in steps."""
    if variance <= 0:
        return 0.0 if keep == 0 else inf
    p, scale = (2.0, sqrt(2 * variance)) if wanted.mechanism != "laplace" and variance > 1 else _law(wanted, variance)
    reach = min(ceil(scale * 43 ** (1 / p)) + 1, 1 << 20)
    weights = np.exp(-((np.arange(reach) / scale) ** p))
    prior, first, _ = c.moved(keep)
    return information(prior, weights.tolist(), first, first - reach, first + len(prior) + reach)


def _calibrated(c: _Column, wanted: NoiseWanted, d: float | None, many: int) -> _Draft:
    step, n = c.grid.step, len(c.counts)
    clip = _clip(c, wanted)
    if d is not None:
        keep, variance = _shape(c, wanted, d)
        if keep == 0:
            return _Draft(c.channel(keep, (1,), clip))
        p, scale = _law(wanted, variance * (1 - MARGIN))
        return _Draft(c.channel(keep, power_weights(p, scale), clip))
    if wanted.epsilon is not None:
        epsilon = float(wanted.epsilon) / many
        if n == 1:
            return _Draft(c.channel(Fraction(1), (1,), clip))
        if wanted.mechanism == "laplace":
            inside = clip or (0, n - 1)
            reach = max(n - 1 - inside[0], inside[1])
            return _Draft(c.channel(Fraction(1), geometric_weights(epsilon / (n - 1) * (1 - MARGIN), reach), inside))
        return _Draft(_gaussian(c, Fraction(wanted.epsilon, many), Fraction(wanted.delta or 0) / many, clip))
    size = float((wanted.distortion or Fraction(0)) / step)
    if wanted.mechanism == "max-entropy":
        scale = max_entropy(wanted.p, size * (1 - MARGIN)).scale if not isinf(wanted.p) else size
        return _Draft(c.channel(Fraction(1), power_weights(wanted.p, scale), clip))
    if clip:
        raise Unsupported("minimum-capacity noise is not clipped: its bound is for noise that is added")
    reach = floor(size) if isinf(wanted.p) else ceil((14 if wanted.p == 1 else 6) * size) + 1
    limit = Fraction(wanted.distortion or 0) / step
    limit = limit if wanted.p == 1 else limit**2
    found = least_capacity_noise(n, wanted.p, float(limit), reach)
    proof = {
        "p": "inf" if isinf(wanted.p) else str(int(wanted.p)),
        "limit": written(limit),
        "slope": up(Fraction(found.slope), 20),
        "prior": [[k, v] for k, v in enumerate(found.prior) if v],
    }
    return _Draft(c.channel(Fraction(1), found.weights, None), proof)


def _clip(c: _Column, wanted: NoiseWanted) -> tuple[int, int] | None:
    if not wanted.clip or c.name not in wanted.clip:
        return None
    low, high = ((v - c.grid.low) / c.grid.step for v in wanted.clip[c.name])
    if low.denominator != 1 or high.denominator != 1 or low > high:
        raise InputError(f"column {c.name!r}: the released range does not begin and end on the grid")
    return int(low), int(high)


def _gaussian(c: _Column, epsilon: Fraction, delta: Fraction, clip: tuple[int, int] | None) -> Noise:
    """Discrete Gaussian noise with the least scale that is proved to keep (epsilon, delta) over the declared range."""
    far = len(c.counts) - 1

    def short(sigma: float) -> float:
        k = np.arange(-ceil(9.3 * sigma) - 1, ceil(9.3 * sigma) + 2)
        law = np.exp(-(k**2) / (2 * sigma**2))
        below = np.concatenate([[0.0], np.cumsum(law / law.sum())])
        late = np.concatenate([np.zeros(min(far, len(below))), below[: max(0, len(below) - far)]])
        return float(delta) - float((below - exp(float(epsilon)) * late).max())

    about = gaussian_sigma(float(epsilon), float(delta), far)
    sigma = root(short, about / 4, about * 2)
    for _ in range(40):
        channel = c.channel(Fraction(1), power_weights(2, sigma * sqrt(2)), clip)
        if NoiseProof(channel.to_json()).excess(epsilon) <= delta:
            return channel
        sigma *= 1 + 1e-9 * 2**_
    raise SolverFailed("no Gaussian noise was proved to keep epsilon and delta")


def _prior(channel: Noise) -> list[list[int]]:
    """A law of the shifts whose output bounds the capacity."""
    n = channel.shape[0]
    first, last = channel.shifted(0), channel.shifted(n - 1)
    low, high = channel.offset, channel.offset + channel.shape[1] - 1
    if first == last or low == high:
        return [[first, 1]]
    far = max(1, (last - first) // COARSE)  # atoms so far apart are enough on a fine grid
    reach, many = len(channel.weights) - 1, (last - first) // far + 1
    if reach < 8 * far:
        far, many = 1, last - first + 1
    ends = (low - first) // far, -((first - high) // far)
    found = capacity_prior(many, channel.weights[::far], 0, *ends, 600)
    counts = {first + far * k: round(v * PRIOR) for k, v in enumerate(found.tolist())}
    kept, since = [], first
    for c in sorted({*counts, last}):
        v = counts.get(c, 0)
        # Every released number must have a positive weight: no gap wider than the noise.
        if v or c in (first, last) or c + far - since > reach:
            kept.append([c, max(v, 1)])
            since = c
    return kept


def _proved(
    known: Sequence[_Column], drafts: Sequence[_Draft], wanted: NoiseWanted, remarks: Sequence[str]
) -> NoiseDesign:
    entries: list[dict[str, Any]] = []
    shown = []
    for c, draft in zip(known, drafts, strict=True):
        letters = draft.channel.inputs[c.name]
        entry: dict[str, Any] = {
            "channel": draft.channel.to_json(),
            "counts": {letters[i]: n for i, n in c.seen()},
            "prior": _prior(draft.channel),
            "variance": up(c.variance * c.grid.step**2, 6),
        }
        if wanted.epsilon is not None:
            entry["epsilon"] = written(Fraction(wanted.epsilon, len(known)))
        if draft.least:
            entry["least"] = draft.least
        figures = column(entry, exact(entry["epsilon"]) if "epsilon" in entry else None)
        entry["claimed"] = {k: v if v is None or k == "delta" else up(exact(v), 9) for k, v in figures.items()}
        if draft.least:
            least = least_capacity(NoiseProof(entry["channel"]), draft.least)
            entry["claimed"]["least_capacity_bits"] = down(least, 12)
        entries.append(entry)
        shown.append(figures)
    proved = totals(shown)
    promised = {k: up(exact(proved[k]), 6) for k in ("leakage_bits", "capacity_bits") if proved[k] is not None}
    promised["distortion"] = written(_allowed(known, wanted, proved))
    if wanted.leakage_bits is not None:
        if exact(proved["leakage_bits"]) > wanted.leakage_bits:
            raise SolverFailed(
                f"the noise that was found tells {proved['leakage_bits'][:12]} bits, more than asked for"
            )
        promised["leakage_bits"] = written(wanted.leakage_bits)
    if wanted.epsilon is not None and wanted.delta is None:
        promised["epsilon_nats"] = written(wanted.epsilon)
    if wanted.delta is not None:
        promised["delta"] = written(wanted.delta)
    document = {
        "confidential": True,
        "format": FORMAT,
        "mechanism": wanted.mechanism,
        **({"epsilon": written(wanted.epsilon)} if wanted.epsilon is not None else {}),
        "promised": promised,
        "columns": entries,
        "proved": {k: v if v is None or k == "delta" else up(exact(v), 9) for k, v in proved.items()},
        "remarks": [*remarks, *_told_in_words(known, wanted, proved)],
        "versions": {"dalenius": _version()},
    }
    return NoiseDesign(tuple(d.channel for d in drafts), document)


def _allowed(known: Sequence[_Column], wanted: NoiseWanted, proved: Mapping[str, Any]) -> Fraction:
    """The squared error that is promised: what was allowed, else what was proved."""
    reached = exact(proved["distortion"])
    asked = wanted.distortion if wanted.mechanism in ("shrinkage", "gaussian", "laplace") else None
    if wanted.share is not None:
        asked = wanted.share * sum(c.variance * c.grid.step**2 for c in known)
    if asked is not None and reached > asked:
        raise SolverFailed(
            f"the noise that was found has a squared error of {float(reached):g}, above {float(asked):g}"
        )
    return exact(up(reached, 6)) if asked is None else asked


def _told_in_words(known: Sequence[_Column], wanted: NoiseWanted, proved: Mapping[str, Any]) -> list[str]:
    spread = [float(c.variance * c.grid.step**2) for c in known]
    reached, told = float(exact(proved["distortion"])), []
    if wanted.mechanism == "shrinkage" and 0 < reached < sum(spread):
        rival = NoiseWanted("gaussian", distortion=Fraction(reached))
        added = sum(
            NoiseProof(_calibrated(c, rival, d, 1).channel.to_json()).leakage(dict(c.seen()))
            for c, d in zip(known, allocated_additive(spread, reached), strict=True)
        )
        told.append(
            f"added Gaussian noise of the same squared error would tell {float(added):.4g} bits, "
            f"{float(added / max(exact(proved['leakage_bits']), Fraction(1, 10**9))):.3g} times as much"
        )
    if proved["epsilon_nats"] is None:
        told.append("the noise has an end, so that there is no pure level of local_dp; delta is stated where asked for")
    return told


def _version() -> str:
    try:
        return version("dalenius")
    except PackageNotFoundError:
        return "not installed as a package"
