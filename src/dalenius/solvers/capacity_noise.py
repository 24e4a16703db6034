"""Symmetric noise on whole numbers whose capacity is least: a convex program, by a barrier and Newton's steps.

References: paper 004, Prop. 3, which is false (E2): the max-entropy laws of `solvers.noise` are not the answer.
"""

from dataclasses import dataclass
from math import exp, floor, fsum, inf, isinf, log

import numpy as np

from dalenius.errors import InputError, SolverFailed
from dalenius.solvers.noise import Floats, root
from dalenius.stopping import left_for_a_call

__all__ = ["LeastCapacity", "least_capacity_noise"]

MOST_SEARCHED = 20_000  # inputs times noise
UNIT = 1 << 48  # the largest weight


@dataclass(frozen=True)
class LeastCapacity:
    """Weights of the noise, a prior of the inputs and a slope of the limit that prove its capacity to be the least."""

    weights: tuple[int, ...]
    prior: tuple[int, ...]
    slope: float
    capacity_bits: float


def least_capacity_noise(inputs: int, p: float, limit: float, reach: int) -> LeastCapacity:
    """Symmetric noise on -reach..reach with E|N|^p <= limit (p = inf: none) whose capacity over the inputs is least.

    min t with D(W_x || q) <= t for all x is convex in noise and q together; a barrier and Newton's steps. P* is not the
    answer (E2). The multipliers of the x are the prior, that of the limit is the slope.

    >>> found = least_capacity_noise(3, inf, 1, 1)
    >>> 0.6575 < found.capacity_bits < 0.65752
    True
    """
    if inputs * (2 * reach + 1) > MOST_SEARCHED:
        raise InputError("noise of the least capacity is searched on small grids; take a larger step")
    program = _Program(inputs, p, limit, reach)
    v, tau, offers = program.start(), 1.0, []
    while tau < 1e11:
        v = program.centred(v, tau)
        tau = tau * 8
        offers.append(program.multipliers(v))
    w = program.parts(v)[0]
    offers += [program.balanced(*program.parts(v), tight) for tight in (1e-6, 1e-8)]
    prior, slope = max(offers, key=lambda offer: program.bound(w, *offer))  # slacks lose digits as they vanish
    weights = [max(1, floor(x * UNIT / w.max())) for x in w.tolist()]
    if not isinf(p):  # rounding moves no weight outwards, beyond what the middle takes up
        while 2 * fsum(k**p * weight for k, weight in enumerate(weights)) > limit * (2 * sum(weights) - weights[0]):
            weights[0] += weights[0] // 10**10 + 1
    counts = [max(0, round(x * UNIT)) for x in prior.tolist()]  # an LP may be a little below 0
    whole = counts + counts[: inputs // 2][::-1]
    return LeastCapacity(tuple(weights), tuple(whole), float(slope) / log(2), float(v[-1]) / log(2))


class _Program:
    """The variables are the noise on 0..reach, q on the first half of the outputs, and t, in nats."""

    def __init__(self, inputs: int, p: float, limit: float, reach: int) -> None:
        k = np.arange(reach + 1.0)
        self.m = inputs + 2 * reach
        self.inputs, self.limit, self.reach = inputs, limit, reach
        self.power = None if isinf(p) else k**p
        self.fold = np.where(k > 0, 2.0, 1.0)
        self.lift = np.zeros((2 * reach + 1, reach + 1))
        self.lift[np.arange(2 * reach + 1), np.abs(np.arange(-reach, reach + 1))] = 1
        at = np.arange(self.m)
        self.mirror = np.zeros((self.m, (self.m + 1) // 2))
        self.mirror[at, np.minimum(at, self.m - 1 - at)] = 1
        self.twins = np.full((inputs + 1) // 2, 2.0)  # an input and its mirror image
        if inputs % 2:
            self.twins[-1] = 1.0
        self.equations = np.zeros((2, reach + 2 + self.mirror.shape[1]))
        self.equations[0, : reach + 1], self.equations[1, reach + 1 : -1] = self.fold, self.mirror.sum(axis=0)

    def start(self) -> Floats:
        w = np.ones(self.reach + 1)
        if self.power is not None:
            power, fold = self.power, self.fold

            def moment(u: float) -> float:
                e = np.exp(-exp(u) * power)
                return float((fold * power) @ e / (fold @ e))

            u = root(lambda t: 0.7 * self.limit - moment(t), -40.0, 40.0)
            w = np.exp(-exp(u) * power)
            w = np.maximum(w, 0.05 * self.limit / (fold @ power))
        w /= self.fold @ w
        out = np.convolve(np.full(self.inputs, 1 / self.inputs), self.lift @ w)
        v = np.concatenate([w, out[: self.mirror.shape[1]], [0.0]])
        v[-1] = 1.0 - float(self.slacks(v).min())
        return v

    def parts(self, v: Floats) -> tuple[Floats, Floats]:
        return v[: self.reach + 1], v[self.reach + 1 : -1]

    def spare(self, v: Floats) -> float:
        """What is left of the limit."""
        return 1.0 if self.power is None else self.limit - float((self.fold * self.power) @ v[: self.reach + 1])

    def slacks(self, v: Floats) -> Floats:
        law = self.lift @ self.parts(v)[0]
        out = self.mirror @ self.parts(v)[1]
        own = float(law @ np.log(law))
        width = len(law)
        return np.array([v[-1] - own + law @ np.log(out[x : x + width]) for x in range(len(self.twins))])

    def multipliers(self, v: Floats) -> tuple[Floats, float]:
        """A prior on the first half of the inputs, and the slope of the limit, in nats."""
        rates = 1 / self.slacks(v)
        total = float(self.twins @ rates)
        return rates / total, 0.0 if self.power is None else 1 / (self.spare(v) * total)

    def balanced(self, w: Floats, q: Floats, tight: float) -> tuple[Floats, float]:
        """Multipliers that make the linearised bound largest, for priors whose output is nearly q."""
        from scipy.optimize import linprog

        law = self.lift @ w
        logs = np.log(self.mirror @ q)
        n = self.inputs
        power = np.zeros(self.reach + 1) if self.power is None else self.power - self.limit
        rows = [np.r_[logs[np.arange(n) + self.reach + k], -power[k], 1.0] for k in range(self.reach + 1)]
        near = np.pad(np.array([np.convolve(x, law) for x in np.eye(n)]).T, ((0, 0), (0, 2)))
        found = linprog(
            np.r_[np.zeros(n + 1), -1.0],
            A_ub=np.vstack([rows, near, -near]),
            b_ub=np.r_[np.log(w), self.mirror @ q + tight, tight - self.mirror @ q],
            A_eq=[np.r_[np.ones(n), 0, 0]],
            b_eq=[1],
            bounds=[(0, None)] * n + [(0, 0 if self.power is None else None), (None, None)],
            method="highs",
            options={"time_limit": left_for_a_call()},
        )
        if found.status:
            return np.full(len(self.twins), 1 / n), 0.0
        prior = (found.x[:n] + found.x[:n][::-1]) / 2
        return prior[: len(self.twins)] / prior.sum(), max(0.0, float(found.x[n]))

    def bound(self, w: Floats, prior: Floats, slope: float) -> float:
        """No noise within the limit has a smaller capacity: I(prior; noise) linearised at w and minimised."""
        law = self.lift @ w
        every = np.concatenate([prior, prior[: self.inputs // 2][::-1]])
        told = np.convolve(np.log(np.convolve(every, law)), every[::-1])[self.inputs - 1 :][: len(law)]
        g = (np.log(law) - told)[self.reach :]
        return float(g.min() if self.power is None else (g + slope * self.power).min() - slope * self.limit)

    def barrier(self, v: Floats, tau: float) -> float:
        if v[:-1].min() <= 0 or self.spare(v) <= 0:
            return inf
        slacks = self.slacks(v)
        if slacks.min() <= 0:
            return inf
        logs = float(self.twins @ np.log(slacks) + np.log(v[:-1]).sum() + log(self.spare(v)))
        return tau * float(v[-1]) - logs

    def derivatives(self, v: Floats, tau: float) -> tuple[Floats, Floats]:
        law = self.lift @ self.parts(v)[0]
        out = self.mirror @ self.parts(v)[1]
        slacks = self.slacks(v)
        width = len(law)
        n = len(law) + self.m + 1
        g = np.zeros(n)
        h = np.zeros((n, n))
        g[-1] = tau
        for x, slack in enumerate(slacks):
            seen = out[x : x + width]
            weight = self.twins[x] / slack
            d = np.zeros(n)  # of the slack
            d[:width], d[width + x : 2 * width + x], d[-1] = np.log(seen) - np.log(law) - 1, law / seen, 1.0
            g -= weight * d
            h += self.twins[x] / slack**2 * np.outer(d, d)
            a = np.arange(width)
            b = np.arange(width) + width + x
            h[a, a] += weight / law
            h[b, b] += weight * law / seen**2
            h[a, b] -= weight / seen
            h[b, a] -= weight / seen
        whole = np.zeros((n, len(v)))
        whole[:width, : self.reach + 1], whole[width:-1, self.reach + 1 : -1], whole[-1, -1] = self.lift, self.mirror, 1
        g = whole.T @ g
        h = whole.T @ h @ whole
        g[:-1] -= 1 / v[:-1]
        h[np.arange(len(v) - 1), np.arange(len(v) - 1)] += 1 / v[:-1] ** 2
        if self.power is not None:
            d = np.zeros(len(v))
            d[: self.reach + 1] = self.fold * self.power
            g += d / self.spare(v)
            h += np.outer(d, d) / self.spare(v) ** 2
        return g, h

    def centred(self, v: Floats, tau: float) -> Floats:
        """Newton's steps inside the two equations, with halved steps until the barrier falls."""
        e = len(self.equations)
        for _ in range(60):
            g, h = self.derivatives(v, tau)
            size = np.concatenate([v[:-1], [1.0]])  # in units of the variables themselves: better conditioned
            both = np.block(
                [[h * np.outer(size, size), (self.equations * size).T], [self.equations * size, np.zeros((e, e))]]
            )
            try:
                step = size * np.linalg.solve(both, np.concatenate([-g * size, np.zeros(e)]))[: len(v)]
            except np.linalg.LinAlgError as error:
                raise SolverFailed(f"the search for the noise of the least capacity: {error}") from None
            fall = float(-g @ step)
            share = 1.0
            here = self.barrier(v, tau)
            if fall < 1e-9:
                return v
            while self.barrier(v + share * step, tau) > here - 0.1 * share * fall:
                share /= 2
                if share < 1e-10:
                    return v
            v = v + share * step
        return v
