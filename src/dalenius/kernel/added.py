r"""Noise on the whole numbers with weights e^-E(t), drawn exactly and known in closed form: discrete Laplace, Gaussian.

    laplace    E(t) = |t| / scale            gaussian   E(t) = t^2 / (2 variance)
    geometric  weights ratio^|t|: Laplace noise whose ratio e^(-1 / scale) is given and not its scale

All figures are bounds from above, in bits, of what the noise lets through. Those about shifts use that the noise is
log-concave: of two shifts, those farther apart are told apart better by every test, so that the farthest count.

    two or more shifts    max_s D(N + s || q), q any mixture of shifted noises: no law of the shifts tells more
    every shift of a width d
        by variance       1/2 log2 (2 pi e (d^2/4 + var N + 1/12)) - H(N): N plus a shift plus a uniform number has a
                          density, and no density of its variance has more entropy
        by level          ratios of at most e^l in every letter tell at most l^2/8 nats: with r = p(y|x) / p(y) and
                          psi(h) = ln E r^h, psi(0) = psi(1) = 0, so that E r ln r = psi'(1) = psi''(h)/2 for some h,
                          and psi'' is the variance of a number within l of itself

For the Gaussian, Z = sum e^-E >= sqrt(2 pi v) and E N^2 = v - 8 pi^2 v^2 (q + 4 q^4 + ...) / (1 + ...) with
q = e^(-2 pi^2 v), by Poisson summation; from v = 1 on the last is below 10^-6 v.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isqrt

from dalenius.kernel.logs import E_HIGH, E_LOW, LOG_COST, TWO_PI_E, exp, log2_of
from dalenius.kernel.numbers import Node, Work, require

MOST_CELLS = 1 << 13  # values that are looked at one by one
MOST_BLOCKS = 1 << 11  # of a tail
AFTER_POINT = 160  # bits after the point of a probability
LARGEST_EXPONENT = 100
FAR = 100  # an energy from which on two shifts tell one bit, up to some billionths
GAUSSIAN_LEAST = Fraction(1)  # variance in grid steps
LAPLACE_LEAST = Fraction(1, 8)  # scale in grid steps
NOISE_MOST = Fraction(1 << 100)  # of scale and variance: a wider noise is too flat for numbers of AFTER_POINT bits
RATIO_LEAST = Fraction(1, 1000)  # a scale of more than 1/8
LESS_VARIANCE = Fraction(1, 10**6)  # share by which the variance may be below v, from v = 1 on
NAUGHT = Fraction(0)
TWO_PI_LOW = Fraction("6.2831853071795864769252867")

NoiseCell = tuple[int, Fraction, Fraction]  # a value, and bounds of the probability of all values that it stands for


def falling(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of e^-x, for x >= 0.

    >>> falling(Fraction(0))
    (Fraction(1, 1), Fraction(1, 1))
    """
    if x > LARGEST_EXPONENT:
        # Far away: surely between nothing and e^-100.
        return NAUGHT, 1 / exp(Fraction(LARGEST_EXPONENT), AFTER_POINT)[0]
    low, high = exp(x, AFTER_POINT)
    return _below(1 / high), _above(1 / low)  # the inverse turns the ends round


def _below(q: Fraction) -> Fraction:
    return Fraction((q.numerator << AFTER_POINT) // q.denominator, 1 << AFTER_POINT)


def _above(q: Fraction) -> Fraction:
    return -_below(-q)


def by_level(level: Fraction) -> Fraction:
    """What laws tell whose ratios are at most e^level, in bits."""
    return level * level / 8 * E_HIGH


class Added(ABC):
    """A symmetric, log-concave law N on the whole numbers that is added to a number of grid steps."""

    def __init__(self, parameter: Fraction, work: Work) -> None:
        self.work = work
        own = parameter.numerator.bit_length() + parameter.denominator.bit_length()
        self.length = max(2 * AFTER_POINT, own)  # bits of an energy

    @abstractmethod
    def energy(self, t: int) -> Fraction:
        """E(t) in nats: the weight of t is e^-E(t)."""

    @abstractmethod
    def cells(self, shift: int, first: int, last: int) -> tuple[list[NoiseCell], Fraction] | None:
        """The law of N + shift, and how much of it is left out at most; None where it has too many cells.

        Values that no shift from `first` to `last` tells apart may stand together.
        """

    @abstractmethod
    def by_variance(self, width: int) -> Fraction:
        """What any law of shifts within this width tells, from the variance alone."""

    @abstractmethod
    def level(self, distance: int) -> Fraction | None:
        """The largest ratio of the laws of two shifts so far apart, in nats; None: there is none."""

    @abstractmethod
    def concentrated(self, distances: Sequence[int]) -> Fraction:
        """rho with Renyi divergences of order a of at most rho a, a > 1, of shifts so far apart in each number."""

    @abstractmethod
    def outside(self, steps: int) -> Fraction:
        """P(|N| > steps) from above."""

    def divergence(self, shift: int, mixture: Mapping[int, int]) -> Fraction | None:
        """D(N + shift || q), q the mixture of N + s with these weights; None where it is too long to be added up.

        At a value t the ratio is 1 / sum_s p_s e^(E(t - shift) - E(t - s)). The largest exponent is taken out, and
        what is negligible beside it is left out of the sum: that makes the ratio larger.
        """
        require(shift in mixture, "the mixture leaves out the shift itself")
        found = self.cells(shift, min(mixture), max(mixture))
        if found is None:
            return None
        cells, rest = found
        whole = sum(mixture.values())
        self.work.spend(6 * LOG_COST * len(cells) * len(mixture), self.length + whole.bit_length())
        told = rest * log2_of(Fraction(whole, mixture[shift]))[1]  # of no value the ratio is larger
        for t, low, high in cells:
            exponents = [self.energy(t - shift) - self.energy(t - s) for s in mixture]
            most = max(exponents)  # at least 0, the exponent of the shift itself
            near = sum((n * falling(most - x)[0] for n, x in zip(mixture.values(), exponents, strict=True)), NAUGHT)
            # From below, as it is subtracted; with the larger probability only where that makes the figure larger.
            less = most * E_LOW + log2_of(near / whole)[0]  # minus log2 of the ratio, from below
            told -= less * (low if less > 0 else high)
        return max(NAUGHT, told)

    def within(self, width: int) -> Fraction:
        """What any law of shifts within this width tells, in bits."""
        return self.of_two(width) if width <= 1 else self._spread(width)

    def of_two(self, width: int) -> Fraction:
        """What two shifts at most so far apart tell: never more than one bit."""
        if not width:
            return NAUGHT
        found = min(Fraction(1), self._spread(width))
        if self.energy(width) >= FAR:
            return found
        pair = self.divergence(0, {0: 1, width: 1})
        return found if pair is None else min(found, pair)

    def _spread(self, width: int) -> Fraction:
        self.work.spend(4 * LOG_COST, self.length)
        level = self.level(width)
        found = self.by_variance(width)
        return found if level is None else min(found, by_level(level))

    def excess(self, distance: int, epsilon: Fraction) -> Fraction:
        """sum_t max(0, P(N = t) - e^epsilon P(N + distance = t)) from above; 1 where it is too long to be added up."""
        level = self.level(distance)
        if not distance or (level is not None and level <= epsilon):
            return NAUGHT
        found = self.cells(0, 0, distance)
        if found is None:
            return Fraction(1)
        cells, rest = found
        self.work.spend(4 * LOG_COST * len(cells), self.length + epsilon.denominator.bit_length())
        total = rest
        for t, _, high in cells:
            # Exact; below 0 the law here is more than e^epsilon times the other.
            gap = epsilon + self.energy(t) - self.energy(t - distance)  # ln of e^epsilon times the ratio
            if gap < 0:
                total += high * (1 - falling(-gap)[0])  # up, and what is taken off down
        return min(Fraction(1), total)


class Laplace(Added):
    """P(N = t) = (1 - a) / (1 + a) a^|t| with a = e^(-1 / scale)."""

    def __init__(self, scale: Fraction, work: Work) -> None:
        super().__init__(scale, work)
        self.scale = scale

    def energy(self, t: int) -> Fraction:
        return abs(t) / self.scale

    def cells(self, shift: int, first: int, last: int) -> tuple[list[NoiseCell], Fraction] | None:
        """Below the first shift and above the last one the ratio of two laws does not change."""
        if last - first > MOST_CELLS:
            return None
        self.work.spend(4 * LOG_COST * (last - first + 1), self.length)
        low, high = falling(1 / self.scale)

        def mass(t: int, end: bool) -> NoiseCell:
            least, most = falling(self.energy(t - shift))
            if end:  # all values from t on
                return t, _below(least / (1 + high)), _above(most / (1 + low))
            return t, _below(least * (1 - high) / (1 + high)), _above(most * (1 - low) / (1 + low))

        if first == last:
            return [(first, Fraction(1), Fraction(1))], NAUGHT
        inside = [mass(t, False) for t in range(first + 1, last)]
        return [mass(first, True), *inside, mass(last, True)], NAUGHT

    def by_variance(self, width: int) -> Fraction:
        low, high = falling(1 / self.scale)
        variance = 2 * high / (1 - high) ** 2  # grows with a, so that the upper end counts
        # Grows with a as well, and is subtracted: the lower end.
        entropy = log2_of((1 + low) / (1 - low))[0] + 2 * low / (1 - low * low) / self.scale * E_LOW
        return max(NAUGHT, half_log2_2pie(Fraction(width * width, 4) + variance + Fraction(1, 12)) - entropy)

    def level(self, distance: int) -> Fraction | None:
        return distance / self.scale

    def concentrated(self, distances: Sequence[int]) -> Fraction:
        """Half the square of the level (Bun and Steinke 2016, Proposition 3.3)."""
        return (sum(distances) / self.scale) ** 2 / 2

    def outside(self, steps: int) -> Fraction:
        low = falling(1 / self.scale)[0]
        return min(Fraction(1), 2 * falling((steps + 1) / self.scale)[1] / (1 + low))


class Geometric(Laplace):
    """P(N = t) = (1 - a) / (1 + a) a^|t|, a given: its figures are those of Laplace noise of a rational scale below.

    Noise of ratio a is noise of a ratio b <= a with more noise added: their characteristic functions have the quotient
    (1 - a)^2 / (1 - b)^2 times (1 + b^2 - 2 b cos h) / (1 + a^2 - 2 a cos h), and the last is b / a plus
    (1 - b / a) (1 - a b) / (1 + a^2 - 2 a cos h): a mixture of no noise and of noise of ratio a. So it tells no more.
    """

    def __init__(self, ratio: Fraction, work: Work) -> None:
        low, high = log2_of(1 / ratio)
        # A scale from below: less noise than there is, which tells more.
        super().__init__(_below(E_LOW / high), work)
        self.ratio = ratio
        # Only for the reach: more noise than there is, which errs more.
        self._wider = _above(E_HIGH / low)

    def outside(self, steps: int) -> Fraction:
        """Tails grow with the scale."""
        return Laplace(self._wider, self.work).outside(steps)


class Gaussian(Added):
    """P(N = t) in proportion to e^(-t^2 / (2 variance))."""

    def __init__(self, variance: Fraction, work: Work) -> None:
        super().__init__(variance, work)
        self.variance = variance
        self.reach = isqrt(int(100 * variance)) + 1  # 10 deviations: weights of e^-50 and less beyond
        self._weights: list[tuple[Fraction, Fraction]] = []
        self._total = (NAUGHT, NAUGHT)

    def energy(self, t: int) -> Fraction:
        return t * t / (2 * self.variance)

    def _weighed(self) -> bool:
        """Write the weights out from 0 to the reach, and their sum; False where they are too many."""
        if self.reach > MOST_CELLS:
            return False
        if not self._weights:
            self.work.spend(2 * LOG_COST * self.reach, self.length)
            self._weights = [falling(self.energy(t)) for t in range(self.reach + 1)]
            low = 2 * sum((weight for weight, _ in self._weights), NAUGHT) - 1  # 0 stands once in the sum of both sides
            high = 2 * sum((weight for _, weight in self._weights), NAUGHT) - 1 + self._beyond(self.reach)
            self._total = low, high
        return True

    def _beyond(self, steps: int) -> Fraction:
        """The weight of |t| > steps: the first one, and each next one smaller by at least e^(-steps / variance)."""
        ratio = falling(Fraction(steps) / self.variance)[1]
        return 2 * falling(self.energy(steps + 1))[1] / (1 - ratio)

    def cells(self, shift: int, first: int, last: int) -> tuple[list[NoiseCell], Fraction] | None:
        if not self._weighed():
            return None
        low, high = self._total
        found = [
            (shift + t, _below(self._weights[abs(t)][0] / high), _above(self._weights[abs(t)][1] / low))
            for t in range(-self.reach, self.reach + 1)
        ]
        return found, self._beyond(self.reach) / low

    def by_variance(self, width: int) -> Fraction:
        """1/2 log2 (2 pi e (d^2/4 + v + 1/12)) - 1/2 log2 (2 pi v) - E N^2 / (2 v) log2 e."""
        more = 1 + Fraction(width * width, 4) / self.variance + Fraction(1, 12) / self.variance
        return log2_of(more)[1] / 2 + LESS_VARIANCE / 2 * E_HIGH

    def level(self, distance: int) -> Fraction | None:
        return None if distance else NAUGHT

    def concentrated(self, distances: Sequence[int]) -> Fraction:
        """As for Gaussian numbers (Canonne, Kamath and Steinke 2020, Theorem 14)."""
        return sum(d * d for d in distances) / (2 * self.variance)

    def outside(self, steps: int) -> Fraction:
        """In blocks of values, each counted with the weight of its first, over Z >= sqrt(2 pi v)."""
        if steps >= self.reach:
            return min(Fraction(1), self._beyond(steps) / self._least_total)
        block = 1 + self.reach // MOST_BLOCKS
        starts = range(steps + 1, self.reach + 1, block)
        self.work.spend(2 * LOG_COST * len(starts), self.length)
        found = 2 * block * sum((falling(self.energy(t))[1] for t in starts), NAUGHT) + self._beyond(self.reach)
        return min(Fraction(1), found / self._least_total)

    @property
    def _least_total(self) -> Fraction:
        """sqrt(2 pi v) from below."""
        square = TWO_PI_LOW * self.variance
        return Fraction(isqrt((square.numerator << 2 * AFTER_POINT) // square.denominator), 1 << AFTER_POINT)


def half_log2_2pie(variance: Fraction) -> Fraction:
    """1/2 log2 (2 pi e variance) from above."""
    return log2_of(TWO_PI_E * variance)[1] / 2


NOISES: dict[str, tuple[Callable[[Fraction, Work], Added], str, Fraction, Fraction, str]] = {
    "laplace": (Laplace, "scale", LAPLACE_LEAST, NOISE_MOST, "the scale is below 1/8 of a grid step, or too large"),
    "geometric": (Geometric, "ratio", RATIO_LEAST, 1 - 1 / NOISE_MOST, "the ratio lies between 1/1000 and 1"),
    "gaussian": (
        *(Gaussian, "variance", GAUSSIAN_LEAST, NOISE_MOST),
        "the variance is below 1: the grid is too coarse; or it is too large",
    ),
}


def read_added(node: Node, work: Work) -> Added:
    """Laplace, geometric or Gaussian noise with its parameter in grid steps."""
    noise, key, least, most, otherwise = NOISES[node.tag(*NOISES)]
    value = node.fields("noise", key)[1]
    value.require(least <= value.number() <= most, otherwise)
    return noise(value.number(), work)
