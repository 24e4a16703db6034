r"""Plans of noise for numeric columns: for a squared error D, the axes, the shares that are kept and the noise on each.

For a column (an axis) of variance v and a squared error D

    shrinkage    Y = a (X - m) + m + N,  a = 1 - D/v,  var N = D a      tells at most 1/2 log2 (v / D)
    gaussian     Y = X + N,              var N = D                      tells at most 1/2 log2 (1 + v / D)

whatever the law of X (004, E4). Several columns share D by reverse water-filling (shrinkage) or equation (12) (added
noise), over their variances when each has noise of its own, or over the eigenvalues of their covariance when the noise
is drawn along its principal axes (004, Theorem 3; Karhunen and Loeve).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import asinh, ceil, floor, inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.core import Noise, Pmf
from dalenius.core.forms.noise import HALF, NoiseAxis, step_of
from dalenius.core.numbers import exact
from dalenius.documents.text import as_decimal
from dalenius.errors import InputError, Unsupported
from dalenius.solvers.noise import allocated_additive, allocated_shrinkage, information, max_entropy, power_weights

__all__ = ["ColumnPlan", "Draft", "Numbers", "PrincipalPlan"]

COARSE_VARIANCE = 400  # in steps: beyond, rounding is nothing
MARGIN = 1e-11  # floats propose a noise that is so much inside the limit
FINE = 16  # units of a principal axis in one deviation of its noise
SMOOTH = 25.0  # beyond, the discrete Gaussian has the variance of the continuous one to 200 digits
WIDE = 1 << 16  # units of a principal axis at most
BITS = 24  # of the numbers of a principal axis


@dataclass(frozen=True)
class Numbers:
    """Columns of numbers on grids: for each outcome that occurs its places on the grids and its weight, and moments."""

    letters: dict[str, tuple[str, ...]]
    places: NDArray[np.int64]
    weights: NDArray[Any]
    total: int

    @classmethod
    def of(cls, joint: Pmf, names: Sequence[str]) -> "Numbers":
        letters = {n: tuple(joint.variables[n]) for n in names}
        for name, points in letters.items():
            try:
                x = [exact(point) for point in points]
            except InputError:
                raise Unsupported(
                    f"noise needs numbers, and {name!r} has a value that is none; declare [columns.{name}] with "
                    "grid = { low, high, step } and without missing values"
                ) from None
            if len({b - a for a, b in pairwise(x)}) > 1 or (len(x) > 1 and x[1] < x[0]):
                raise Unsupported(f"noise needs a grid, and the numbers of {name!r} are not one; declare its grid")
        at = joint.columns(list(names))
        return cls(letters, joint.support[:, at].astype(np.int64), joint.weights, joint.total)

    @property
    def names(self) -> list[str]:
        return list(self.letters)

    @cached_property
    def sizes(self) -> list[int]:
        return [len(letter) for letter in self.letters.values()]

    @cached_property
    def grids(self) -> list[list[Fraction]]:
        return [[exact(letter) for letter in letters] for letters in self.letters.values()]

    @cached_property
    def steps(self) -> list[Fraction]:
        return [step_of(grid) for grid in self.grids]

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        return np.array([int(weight) / self.total for weight in self.weights])

    def moment(self, j: int, k: int) -> Fraction:
        return Fraction(
            sum(int(i) ** k * int(weight) for i, weight in zip(self.places[:, j], self.weights, strict=True)),
            self.total,
        )

    @cached_property
    def means(self) -> list[Fraction]:
        """In steps."""
        return [self.moment(j, 1) for j in range(len(self.sizes))]

    @cached_property
    def variances(self) -> list[Fraction]:
        """In steps."""
        return [self.moment(j, 2) - mean**2 for j, mean in enumerate(self.means)]

    @property
    def variance(self) -> Fraction:
        """Of all columns together, in their unit."""
        return sum((value * step**2 for value, step in zip(self.variances, self.steps, strict=True)), Fraction(0))


@dataclass(frozen=True)
class Draft:
    """One axis before it is exact: what it takes, the shift of each outcome, and the p and scale of its noise."""

    take: tuple[Fraction, ...]
    move: Fraction
    p: float
    scale: float
    shifts: NDArray[np.int64]

    @classmethod
    def of(cls, numbers: Numbers, take: Sequence[Fraction], move: Fraction, p: float, scale: float) -> "Draft":
        one = np.lcm.reduce([move.denominator, *(value.denominator for value in take)], dtype=object)
        parts = [int(value * one) for value in take]
        if (
            sum(abs(part) * size for part, size in zip(parts, numbers.sizes, strict=True)) + abs(int(move * one))
            >= 1 << 62
        ):
            raise Unsupported("the noise needs numbers that are too long; take a larger step")
        return cls(tuple(take), move, p, scale, (numbers.places @ np.array(parts) + int(move * one)) // int(one))

    @cached_property
    def law(self) -> list[float]:
        """Weights of 0, 1, ... in floats."""
        if self.scale <= 0:
            return [1.0]
        # exp(-43) is below 2^-62, where weights are cut.
        reach = min(ceil(self.scale * 43 ** (1 / self.p)) + 1, 1 << 20)
        return [float(value) for value in np.exp(-((np.arange(reach) / self.scale) ** self.p))]

    def told(self, shares: NDArray[np.float64], groups: NDArray[np.int64] | None = None) -> float:
        """I(X; T), or I(S; T) for the number of the group that each outcome is in, in bits."""
        if self.scale <= 0:
            return 0.0 if len(set(self.shifts.tolist())) == 1 else inf
        first = int(self.shifts.min())
        reach = len(self.law) - 1
        prior = np.bincount(self.shifts - first, weights=shares).astype(float)
        ends = first - reach, first + len(prior) - 1 + reach
        own = information(prior, self.law, first, *ends)
        if groups is None:
            return own
        apart = 0.0  # I(X; T | S)
        for s in np.unique(groups):
            inside = groups == s
            there = shares[groups == s].sum()
            law = np.bincount(self.shifts[inside] - first, weights=shares[inside] / there, minlength=len(prior)).astype(
                float
            )
            apart += float(there) * information(law, self.law, first, *ends)
        return max(0.0, own - apart)

    def ends(self, sizes: Sequence[int]) -> tuple[int, int]:
        """The first and the last shift of the declared range."""
        axis = NoiseAxis.open(self.take, self.move, sizes, (1,))
        return axis.low, axis.high

    def axis(self, sizes: Sequence[int]) -> NoiseAxis:
        weights = power_weights(self.p, self.scale) if self.scale > 0 else (1,)
        return NoiseAxis.open(self.take, self.move, sizes, weights)


def law_of_variance(kind: str, variance: float) -> tuple[float, float]:
    """(p, scale) of the noise of that variance in steps."""
    if kind == "laplace":  # E N^2 = 2 r / (1 - r)^2 = 1 / (2 sinh^2(1 / (2 scale))), r = e^(-1 / scale)
        return 1.0, 1 / (2 * asinh(1 / sqrt(2 * variance)))
    if variance > SMOOTH:
        return 2.0, sqrt(2 * variance)
    return 2.0, max_entropy(2, sqrt(variance)).scale


class ColumnPlan:
    """Each column has noise of its own."""

    words = "noise for each column"

    def __init__(self, numbers: Numbers, kind: str) -> None:
        self.numbers, self.kind = numbers, kind
        # Of a column that is shrunk to nothing the grid point nearest to its mean is released.
        constant = [
            value + (mean - round(mean)) ** 2 for value, mean in zip(numbers.variances, numbers.means, strict=True)
        ]
        spread = constant if kind == "shrinkage" else numbers.variances
        self.constant = constant
        self.most = [float(value * step**2) for value, step in zip(spread, numbers.steps, strict=True)]

    def shares(self, d: float) -> list[float]:
        """The squared error of each column, in its unit."""
        if not any(self.most):
            return [d] * len(self.most)
        return (allocated_shrinkage if self.kind == "shrinkage" else allocated_additive)(self.most, d)

    def drafts(self, d: float) -> list[Draft]:
        return [self._draft(j, share) for j, share in enumerate(self.shares(d))]

    def _moved(self, j: int, keep: Fraction) -> tuple[Fraction, float]:
        """The move of a share that is kept, and the mean squared error of shifting and rounding, in steps."""
        mean = self.numbers.means[j]
        # The mean to a hundredth of a step; a whole step where nothing but the centre is released.
        centre = Fraction(round(mean * 100), 100) if 0 < keep < 1 else Fraction(round(mean) * (keep == 0))
        move = (1 - keep) * centre + HALF
        draft = Draft.of(self.numbers, self._take(j, keep), move, 2.0, 0.0)
        gap = (draft.shifts - self.numbers.places[:, j]).astype(float)
        return move, float(self.numbers.shares @ gap**2)

    def _take(self, j: int, keep: Fraction) -> list[Fraction]:
        return [keep if k == j else Fraction(0) for k in range(len(self.numbers.sizes))]

    def _candidate(self, j: int, keep: Fraction, steps: float) -> Draft | None:
        move, spent = self._moved(j, keep)
        left = steps * (1 - MARGIN) - spent
        if (left <= 0 and keep) or spent > steps * (1 + 1e-12):  # a constant needs no room for noise, only for itself
            return None
        p, scale = law_of_variance(self.kind, left) if keep else (2.0, 0.0)
        return Draft.of(self.numbers, self._take(j, keep), move, p, scale)

    def _draft(self, j: int, share: float) -> Draft:
        steps = share / float(self.numbers.steps[j]) ** 2
        v = float(self.numbers.variances[j])
        if self.kind == "shrinkage" and steps >= float(self.constant[j]):
            return self._candidate(j, Fraction(0), steps) or self._unmet(j)
        if self.kind != "shrinkage":
            return self._candidate(j, Fraction(1), steps) or self._unmet(j)
        keep = max(Fraction(0), Fraction(round((1 - steps / v) * 10**6), 10**6))
        plain = self._candidate(j, keep, steps)
        if v > COARSE_VARIANCE and plain:
            return plain
        # On a coarse grid rounding costs as much as noise: keeping a little more can tell less.
        more = [self._candidate(j, keep + (1 - keep) * Fraction(k, 12), steps) for k in range(13)]
        return min((c for c in more if c), key=lambda c: c.told(self.numbers.shares), default=None) or self._unmet(j)

    def _unmet(self, j: int) -> Draft:
        raise Unsupported(
            f"the distortion leaves no room for noise on {self.numbers.names[j]!r}", do="Raise the limit."
        )

    def channel(self, d: float) -> Noise:
        drafts, numbers = self.drafts(d), self.numbers
        return Noise.side_by_side(
            [_alone(name, grid, draft, j) for j, (name, grid, draft) in enumerate(
                zip(numbers.names, numbers.grids, drafts, strict=True))]
        )  # fmt: skip


def _alone(name: str, grid: list[Fraction], draft: Draft, j: int) -> Noise:
    keep = draft.take[j]
    weights = power_weights(draft.p, draft.scale) if draft.scale > 0 else (1,)
    centre = (draft.move - HALF) / (1 - keep) if keep < 1 else Fraction(0)
    return Noise.on_grid(name, grid, keep, centre, weights)


class PrincipalPlan:
    """Noise along the principal axes of the covariance of all columns; the result is rounded to the grids.

    Rounding costs at most half a step: D leaves room for it, (sqrt(error before rounding) + step / 2)^2 in each column.
    """

    words = "noise along the principal axes"

    def __init__(self, numbers: Numbers, kind: str) -> None:
        self.numbers, self.kind = numbers, kind
        self.steps = np.array([float(step) for step in numbers.steps])
        self.mean = np.array([float(mean) for mean in numbers.means])
        x = (numbers.places - self.mean) * self.steps
        values, axes = np.linalg.eigh((x * numbers.shares[:, None]).T @ x)
        self.axes = axes.T * np.sign(axes.T[np.arange(len(values)), np.abs(axes).argmax(axis=0)])[:, None]
        self.values = np.maximum(values, 0.0)

    def _inner(self, d: float) -> tuple[list[float], float]:
        """The errors along the axes, and that of all columns with rounding, for an error d before it."""
        if self.kind == "shrinkage":
            parts = allocated_shrinkage(self.values.tolist(), d)
        else:
            parts = allocated_additive(self.values.tolist(), d)
        columns = (np.array(parts)[:, None] * self.axes**2).sum(axis=0)
        return parts, float(((np.sqrt(columns) + self.steps / 2) ** 2).sum())

    def _parts(self, d: float) -> list[float]:
        low, high = 0.0, d
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._inner(middle)[1] <= d * (1 - 1e-6) else (low, middle)
        if low <= 0:
            raise Unsupported("the distortion leaves no room for noise beside rounding; take a smaller step")
        return self._inner(low)[0]

    def _drawn(self, d: float) -> tuple[list[Draft], list[float]]:
        """The axes that tell something, and the unit of each: within d for these records, rounding and all."""
        target = d
        for _ in range(8):
            found = self._tried(target)
            error = self._error(*found)
            if error <= d * (1 - 1e-9):
                return found
            target *= d / error * (1 - 1e-6)
        raise Unsupported("the distortion leaves no room for noise beside rounding; take a smaller step")

    def _back(self, units: list[float]) -> NDArray[np.float64]:
        """Steps of each column for a unit of each axis that is drawn: those of the largest eigenvalues."""
        which = [k for k, value in enumerate(self.values.tolist()) if value > 0]
        kept = which[len(which) - len(units) :]
        return np.asarray((self.axes[kept] * np.array(units)[:, None] / self.steps).T)

    def _error(self, drafts: list[Draft], units: list[float]) -> float:
        back, shares = self._back(units), self.numbers.shares
        shifts = np.stack([draft.shifts for draft in drafts], axis=1) if drafts else np.zeros((len(shares), 0))
        off = shifts @ back.T + self.mean - self.numbers.places
        noise = [float((np.arange(len(d.law)) ** 2 * np.array(d.law)).sum() * 2) / (2 * sum(d.law) - 1) for d in drafts]
        columns = shares @ off**2 + (back**2) @ np.array(noise)
        return float(((np.sqrt(columns) + 0.5) ** 2 * self.steps**2).sum())

    def _tried(self, d: float) -> tuple[list[Draft], list[float]]:
        found, units = [], []
        for axis, v, error in zip(self.axes, self.values.tolist(), self._parts(d), strict=True):
            keep = 1 - error / v if self.kind == "shrinkage" and v > 0 else 1.0
            noise = error * keep
            if v <= 0 or keep <= 1e-9:
                continue
            span = float(np.abs(axis * self.steps * (np.array(self.numbers.sizes) - 1)).sum()) * keep
            unit = max(sqrt(noise) / FINE, span / WIDE)
            take = [
                Fraction(round(value * (1 << BITS)), 1 << BITS) for value in (keep * axis * self.steps / unit).tolist()
            ]
            centre = sum((t * Fraction(m) for t, m in zip(take, self.mean.tolist(), strict=True)), Fraction(0))
            move = Fraction(round((HALF - centre) * (1 << BITS)), 1 << BITS)
            rounding = 1 / 12  # of the unit
            scale = law_of_variance("gaussian", max(noise / unit**2 - rounding, 0.05))[1]
            found.append(Draft.of(self.numbers, take, move, 2.0, scale))
            units.append(unit)
        return found, units

    def drafts(self, d: float) -> list[Draft]:
        return self._drawn(d)[0]

    def channel(self, d: float) -> Noise:
        drafts, units = self._drawn(d)
        if not drafts:
            raise Unsupported(
                "the distortion is not below the variance: there is no axis left",
                do="Lower the limit of the distortion.",
            )
        letters = self.numbers.letters
        sizes = self.numbers.sizes
        back = self._back(units)
        give = tuple(tuple(Fraction(round(entry * (1 << BITS)), 1 << BITS) for entry in row) for row in back.tolist())
        shift = [Fraction(round((m + 0.5) * (1 << BITS)), 1 << BITS) for m in self.mean.tolist()]
        axes, told = tuple(draft.axis(sizes) for draft in drafts), {}
        for j, (name, grid) in enumerate(zip(letters, self.numbers.grids, strict=True)):
            ends = [sorted((g * axis.low, g * axis.high)) for g, axis in zip(give[j], axes, strict=True)]
            low, high = (floor(sum(side, shift[j])) for side in zip(*ends, strict=True))
            low = min(low, 0)
            high = max(high, len(grid) - 1)
            told[name] = tuple(as_decimal(grid[0] + k * self.numbers.steps[j]) for k in range(low, high + 1))
            shift[j] -= low
        return Noise(letters, told, axes, give, tuple(shift))
