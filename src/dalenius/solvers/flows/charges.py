r"""What points charge for the classes that come to them, where limits are set to what the classes reveal there.

A charge has unknowns, and from them a price V_s(y) of every value s at every point y, such that flows within its limit
pay at most `allowed` altogether: sum_y sum_s t_s(y) V_s(y) <= allowed, t_s(y) the mass of value s that comes to y. So

    D(m)  >=  sum_e p_e min_y [ d(e, y) + sum_s g_e(s) V_s(y) ] - allowed

for all unknowns. With q(y) = sum_s t_s(y), p_s the mass of value s everywhere, and tau = t / q the posterior of y:

- `MeanBits`: sum_y q(y) KL(tau || p) <= b. V_s = v_s - lam log sum_s p_s exp(v_s / lam), allowed = lam b.
- `BitsOfEach`: KL(tau || p) <= b at every point. V_s = v_s - max { tau . v : KL(tau || p) <= b }, and the maximum is
  min over lam of lam log sum_s p_s exp(v_s / lam) + lam b.
- `RatioOfEach`: p_s / r <= tau_s <= r p_s at every point. V_s = v_s - sum_s p_s (r v_s^+ - v_s^- / r).
- `BestAction`: sum_y max_a g_a . t(y) <= limit. V_s = sum_a w_a g_as, w_a >= 0 of the sum mu everywhere, allowed =
  mu limit.

Maxima have edges, at which quasi-Newton steps end too soon. `smooth` rounds them off, by at most a number in proportion
to it; at zero the prices are the exact ones. Weights of actions would end at one of them too soon: more is allowed, in
proportion to `smooth` and to how far the weights at each point are from equal ones, and less for all of them together,
as far as the limit has room.
"""

from abc import ABC, abstractmethod
from math import log
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.leaking import LN2

__all__ = ["BestAction", "BitsOfEach", "Charge", "MeanBits", "RatioOfEach"]

Floats = npt.NDArray[np.float64]

_STEPS = 48  # that a price of a bit is halved in between two ends
_STEEPEST = 1e-6  # the least price of a bit, in units of what values differ by
_HIGHEST = 1e4  # times a high price: beyond, digits are lost
_WAKE = 0.05  # share of a high price, from which a search goes on
_LIKELY = 1.5  # how much the best action of the table is preferred at first


class Charge(ABC):
    """Prices of values at points, and the unknowns they are made of.

    Parameters
    ----------
    of_class : array, values by classes
        One where a class has a value: a limit may speak of fewer values than there are classes.
    prior : array of float
        The mass of each class.
    scale : array of float
        By which the unknowns of each point are multiplied.
    """

    has_edges: ClassVar[bool] = False

    def __init__(self, of_class: Floats, prior: Floats, scale: Floats) -> None:
        self.of_class = of_class
        self.prior = of_class @ prior
        self.scale = scale
        self.shape = (len(of_class), len(scale))

    @property
    def many(self) -> int:
        """The number of unknowns."""
        return self.shape[0] * self.shape[1]

    def begin(self) -> Floats:
        """Unknowns to start from."""
        return np.zeros(self.many)

    def woken(self, x: Floats) -> Floats:
        """The unknowns with no price so low that its slope vanishes."""
        return x

    def allowed(self, _x: Floats, _smooth: float = 0.0) -> float:
        """What flows within the limit pay at most altogether."""
        return 0.0

    @abstractmethod
    def prices(self, x: Floats, smooth: float) -> Floats:
        """V: values by points."""

    @abstractmethod
    def slopes(self, x: Floats, smooth: float, arrived: Floats) -> Floats:
        """How sum_y sum_s arrived_s(y) V_s(y) - allowed changes with the unknowns."""

    def values(self, x: Floats) -> Floats:
        """The numbers v: values by points."""
        return x.reshape(self.shape) * self.scale


class MeanBits(Charge):
    """A limit of the bits that points reveal on average.

    Parameters
    ----------
    of_class, prior, scale
        See `Charge`.
    bits : float
        The limit.
    far : float
        A large distance.
    """

    def __init__(self, of_class: Floats, prior: Floats, scale: Floats, bits: float, far: float) -> None:
        super().__init__(of_class, prior, scale)
        self.nats = bits * LN2
        self.far = far

    @property
    def many(self) -> int:
        return (self.shape[0] - 1) * self.shape[1] + 1  # the first value has no number: only differences count

    def begin(self) -> Floats:
        x = np.zeros(self.many)
        x[-1] = log(self.far)
        return x

    def price(self, x: Floats) -> float:
        """The price of a nat."""
        return float(np.exp(x[-1]))

    def allowed(self, x: Floats, _smooth: float = 0.0) -> float:
        return self.price(x) * self.nats

    def values(self, x: Floats) -> Floats:
        return x[:-1].reshape(self.shape[0] - 1, self.shape[1]) * self.scale

    def prices(self, x: Floats, _smooth: float) -> Floats:
        apart = self.values(x)
        first = self._posterior(apart, self.price(x))[1]
        return np.vstack([first, first + apart])

    def slopes(self, x: Floats, _smooth: float, arrived: Floats) -> Floats:
        apart = self.values(x)
        price = self.price(x)
        posterior, first = self._posterior(apart, price)
        total = arrived.sum(axis=0)
        told = (posterior * apart).sum(axis=0) / price + first / price
        found = (arrived[1:] - total * posterior) * self.scale
        return np.append(found.ravel(), price * (float(total @ told) - self.nats))

    def _posterior(self, apart: Floats, price: float) -> tuple[Floats, Floats]:
        """The posteriors of all values but the first, and the price of the first."""
        top = np.maximum(apart.max(axis=0), 0.0)
        weight = self.prior[1:, None] * np.exp((apart - top) / price)
        total = self.prior[0] * np.exp(-top / price) + weight.sum(axis=0)
        return weight / total, -top - price * np.log(total)


class BitsOfEach(Charge):
    """A limit of the bits that every single point reveals.

    Parameters
    ----------
    of_class, prior, scale
        See `Charge`.
    bits : float
        The limit.
    """

    has_edges = True

    def __init__(self, of_class: Floats, prior: Floats, scale: Floats, bits: float) -> None:
        super().__init__(of_class, prior, scale)
        self.nats = bits * LN2

    def prices(self, x: Floats, smooth: float) -> Floats:
        v = self.values(x)
        return np.asarray(v - self.tilted(v, smooth)[2])

    def slopes(self, x: Floats, smooth: float, arrived: Floats) -> Floats:
        posterior = self.tilted(self.values(x), smooth)[1]
        return np.asarray(((arrived - arrived.sum(axis=0) * posterior) * self.scale).ravel())

    def tilted(self, v: Floats, smooth: float) -> tuple[Floats, Floats, Floats]:
        """For each point the price of a nat, the posterior that pays most within the limit, and what it pays."""
        span = v.max(axis=0) - v.min(axis=0)
        low = np.maximum(smooth, _STEEPEST * span) + 1e-12
        # The divergence of the tilted law is at most span^2 / (8 price^2), by Hoeffding's lemma.
        high = np.maximum(low, span / np.sqrt(8 * max(self.nats, 1e-12)))
        least = low
        for _ in range(_STEPS):
            middle = np.sqrt(low * high)
            far = self._law(v, middle)[2] > self.nats
            low = np.where(far, middle, low)
            high = np.where(far, high, middle)
        law, mean, _ = self._law(v, high)
        return high, law, mean + (high - least * (smooth > 0)) * self.nats

    def _law(self, v: Floats, price: Floats) -> tuple[Floats, Floats, Floats]:
        """The law p exp(v / price), price times the logarithm of its total, and its divergence in nats."""
        top = v.max(axis=0)
        apart = (v - top) / price
        weight = self.prior[:, None] * np.exp(apart)
        total = weight.sum(axis=0)
        law = weight / total
        return law, top + price * np.log(total), (law * apart).sum(axis=0) - np.log(total)


class RatioOfEach(Charge):
    """A limit of how much likelier or less likely a value becomes at every single point; ratio 1: as likely.

    Parameters
    ----------
    of_class, prior, scale
        See `Charge`.
    ratio : float
        The limit, from 1 on.
    """

    has_edges = True

    def __init__(self, of_class: Floats, prior: Floats, scale: Floats, ratio: float) -> None:
        super().__init__(of_class, prior, scale)
        self.ratio = ratio

    def prices(self, x: Floats, smooth: float) -> Floats:
        v = self.values(x)
        positive = np.maximum(v, 0.0)
        if smooth:
            positive = np.where(v < smooth, positive**2 / (2 * smooth), v - smooth / 2)
        paid = v / self.ratio + (self.ratio - 1 / self.ratio) * positive
        return np.asarray(v - self.prior @ paid)

    def slopes(self, x: Floats, smooth: float, arrived: Floats) -> Floats:
        v = self.values(x)
        rising = np.clip(v / smooth, 0.0, 1.0) if smooth else (v > 0).astype(np.float64)
        share = self.prior[:, None] * (1 / self.ratio + (self.ratio - 1 / self.ratio) * rising)
        return np.asarray(((arrived - arrived.sum(axis=0) * share) * self.scale).ravel())


class BestAction(Charge):
    """A limit of what the best action at each point gains, altogether.

    Parameters
    ----------
    of_class, prior, scale
        See `Charge`.
    gain : array, actions by values
        What an action gains at a value.
    limit : float
        Of the sum over points.
    likely : array of int
        An action for each point that is probably the best one.
    far : float
        A large distance.
    """

    has_edges = True

    def __init__(
        self,
        of_class: Floats,
        prior: Floats,
        scale: Floats,
        gain: Floats,
        limit: float,
        likely: npt.NDArray[np.int64],
        far: float,
    ) -> None:
        super().__init__(of_class, prior, scale)
        self.gain, self.limit, self.likely = gain, limit, likely
        self.mass = 1 / scale**2
        self.room = max(0.0, limit - float((gain @ self.prior).max())) / 2
        self.dear = far / max(float(gain.max()), 1e-12)  # a price at which nobody gains anything

    @property
    def many(self) -> int:
        return len(self.gain) * self.shape[1] + 1

    def begin(self) -> Floats:
        preferred = _LIKELY * (np.arange(len(self.gain))[:, None] == self.likely) / self.scale
        return np.append(preferred.ravel(), log(self.dear))

    def woken(self, x: Floats) -> Floats:
        return np.append(x[:-1], max(float(x[-1]), log(_WAKE * self.dear)))

    def allowed(self, x: Floats, smooth: float = 0.0) -> float:
        share = self._shares(x)
        uneven = float(self.mass @ (share * self._logarithms(share)).sum(axis=0))
        more = smooth / self.dear
        return self._price(x) * (self.limit + more * uneven - min(more * log(len(self.gain)), self.room))

    def _logarithms(self, share: Floats) -> Floats:
        """Of shares against equal ones."""
        return np.log(np.maximum(share * len(self.gain), 1e-300))

    def _price(self, x: Floats) -> float:
        return float(np.exp(min(x[-1], log(_HIGHEST * self.dear))))

    def _shares(self, x: Floats) -> Floats:
        preferred = x[:-1].reshape(len(self.gain), self.shape[1]) * self.scale
        share = np.exp(preferred - preferred.max(axis=0))
        return np.asarray(share / share.sum(axis=0))

    def weights(self, x: Floats) -> Floats:
        """The weight of each action at each point: actions by points."""
        return self._price(x) * self._shares(x)

    def prices(self, x: Floats, _smooth: float) -> Floats:
        return np.asarray(self.gain.T @ self.weights(x))

    def slopes(self, x: Floats, smooth: float, arrived: Floats) -> Floats:
        share = self._shares(x)
        gained = self._price(x) * self.gain @ arrived
        less = gained - self._price(x) * smooth / self.dear * self.mass * self._logarithms(share)
        moved = share * (less - (share * less).sum(axis=0)) * self.scale
        return np.append(moved.ravel(), float((share * gained).sum()) - self.allowed(x, smooth))
