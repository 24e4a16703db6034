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
    point = program.start()
    tau = 1.0
    offers = []
    while tau < 1e11:
        point = program.centred(point, tau)
        tau = tau * 8
        offers.append(program.multipliers(point))
    noise = program.parts(point)[0]
    offers += [program.balanced(*program.parts(point), tight) for tight in (1e-6, 1e-8)]
    prior, slope = max(offers, key=lambda offer: program.bound(noise, *offer))  # slacks lose digits as they vanish
    weights = [max(1, floor(entry * UNIT / noise.max())) for entry in noise.tolist()]
    if not isinf(p):  # rounding moves no weight outwards, beyond what the middle takes up
        while 2 * fsum(k**p * weight for k, weight in enumerate(weights)) > limit * (2 * sum(weights) - weights[0]):
            weights[0] += weights[0] // 10**10 + 1
    counts = [max(0, round(entry * UNIT)) for entry in prior.tolist()]  # an LP may be a little below 0
    whole = counts + counts[: inputs // 2][::-1]
    return LeastCapacity(tuple(weights), tuple(whole), float(slope) / log(2), float(point[-1]) / log(2))


class _Program:
    """The variables are the noise on 0..reach, q on the first half of the outputs, and t, in nats."""

    def __init__(self, inputs: int, p: float, limit: float, reach: int) -> None:
        k = np.arange(reach + 1.0)
        self.outputs = inputs + 2 * reach
        self.inputs = inputs
        self.limit = limit
        self.reach = reach
        self.power = None if isinf(p) else k**p
        self.fold = np.where(k > 0, 2.0, 1.0)
        self.lift = np.zeros((2 * reach + 1, reach + 1))
        self.lift[np.arange(2 * reach + 1), np.abs(np.arange(-reach, reach + 1))] = 1
        at = np.arange(self.outputs)
        self.mirror = np.zeros((self.outputs, (self.outputs + 1) // 2))
        self.mirror[at, np.minimum(at, self.outputs - 1 - at)] = 1
        self.twins = np.full((inputs + 1) // 2, 2.0)  # an input and its mirror image
        if inputs % 2:
            self.twins[-1] = 1.0
        self.equations = np.zeros((2, reach + 2 + self.mirror.shape[1]))
        self.equations[0, : reach + 1] = self.fold
        self.equations[1, reach + 1 : -1] = self.mirror.sum(axis=0)

    def start(self) -> Floats:
        noise = np.ones(self.reach + 1)
        if self.power is not None:
            power = self.power
            fold = self.fold

            def moment(exponent: float) -> float:
                decay = np.exp(-exp(exponent) * power)
                return float((fold * power) @ decay / (fold @ decay))

            exponent = root(lambda trial: 0.7 * self.limit - moment(trial), -40.0, 40.0)
            noise = np.exp(-exp(exponent) * power)
            noise = np.maximum(noise, 0.05 * self.limit / (fold @ power))
        noise /= self.fold @ noise
        out = np.convolve(np.full(self.inputs, 1 / self.inputs), self.lift @ noise)
        point = np.concatenate([noise, out[: self.mirror.shape[1]], [0.0]])
        point[-1] = 1.0 - float(self.slacks(point).min())
        return point

    def parts(self, point: Floats) -> tuple[Floats, Floats]:
        return point[: self.reach + 1], point[self.reach + 1 : -1]

    def spare(self, point: Floats) -> float:
        """What is left of the limit."""
        return 1.0 if self.power is None else self.limit - float((self.fold * self.power) @ point[: self.reach + 1])

    def laws(self, point: Floats) -> tuple[Floats, Floats]:
        """The noise and the output, written out on both sides of zero."""
        noise, output = self.parts(point)
        return self.lift @ noise, self.mirror @ output

    def slacks(self, point: Floats) -> Floats:
        law, out = self.laws(point)
        own = float(law @ np.log(law))
        width = len(law)
        return np.array([point[-1] - own + law @ np.log(out[x : x + width]) for x in range(len(self.twins))])

    def multipliers(self, point: Floats) -> tuple[Floats, float]:
        """A prior on the first half of the inputs, and the slope of the limit, in nats."""
        rates = 1 / self.slacks(point)
        total = float(self.twins @ rates)
        return rates / total, 0.0 if self.power is None else 1 / (self.spare(point) * total)

    def balanced(self, noise: Floats, q: Floats, tight: float) -> tuple[Floats, float]:
        """Multipliers that make the linearised bound largest, for priors whose output is nearly q."""
        from scipy.optimize import linprog

        law = self.lift @ noise
        logs = np.log(self.mirror @ q)
        inputs = self.inputs
        power = np.zeros(self.reach + 1) if self.power is None else self.power - self.limit
        rows = [np.r_[logs[np.arange(inputs) + self.reach + k], -power[k], 1.0] for k in range(self.reach + 1)]
        near = np.pad(np.array([np.convolve(x, law) for x in np.eye(inputs)]).T, ((0, 0), (0, 2)))
        found = linprog(
            np.r_[np.zeros(inputs + 1), -1.0],
            A_ub=np.vstack([rows, near, -near]),
            b_ub=np.r_[np.log(noise), self.mirror @ q + tight, tight - self.mirror @ q],
            A_eq=[np.r_[np.ones(inputs), 0, 0]],
            b_eq=[1],
            bounds=[(0, None)] * inputs + [(0, 0 if self.power is None else None), (None, None)],
            method="highs",
            options={"time_limit": left_for_a_call()},
        )
        if found.status:
            return np.full(len(self.twins), 1 / inputs), 0.0
        prior = (found.x[:inputs] + found.x[:inputs][::-1]) / 2
        return prior[: len(self.twins)] / prior.sum(), max(0.0, float(found.x[inputs]))

    def bound(self, noise: Floats, prior: Floats, slope: float) -> float:
        """No noise within the limit has a smaller capacity: I(prior; noise) linearised at w and minimised."""
        law = self.lift @ noise
        every = np.concatenate([prior, prior[: self.inputs // 2][::-1]])
        told = np.convolve(np.log(np.convolve(every, law)), every[::-1])[self.inputs - 1 :][: len(law)]
        gains = (np.log(law) - told)[self.reach :]
        return float(gains.min() if self.power is None else (gains + slope * self.power).min() - slope * self.limit)

    def barrier(self, point: Floats, tau: float) -> float:
        if point[:-1].min() <= 0 or self.spare(point) <= 0:
            return inf
        slacks = self.slacks(point)
        if slacks.min() <= 0:
            return inf
        logs = float(self.twins @ np.log(slacks) + np.log(point[:-1]).sum() + log(self.spare(point)))
        return tau * float(point[-1]) - logs

    def derivatives(self, point: Floats, tau: float) -> tuple[Floats, Floats]:
        law, out = self.laws(point)
        slacks = self.slacks(point)
        width = len(law)
        size = len(law) + self.outputs + 1
        gradient = np.zeros(size)
        hessian = np.zeros((size, size))
        gradient[-1] = tau
        for x, slack in enumerate(slacks):
            seen = out[x : x + width]
            weight = self.twins[x] / slack
            slope = np.zeros(size)  # of the slack
            slope[:width] = np.log(seen) - np.log(law) - 1
            slope[width + x : 2 * width + x] = law / seen
            slope[-1] = 1.0
            gradient -= weight * slope
            hessian += self.twins[x] / slack**2 * np.outer(slope, slope)
            of_noise = np.arange(width)
            of_output = np.arange(width) + width + x
            hessian[of_noise, of_noise] += weight / law
            hessian[of_output, of_output] += weight * law / seen**2
            hessian[of_noise, of_output] -= weight / seen
            hessian[of_output, of_noise] -= weight / seen
        whole = np.zeros((size, len(point)))
        whole[:width, : self.reach + 1] = self.lift
        whole[width:-1, self.reach + 1 : -1] = self.mirror
        whole[-1, -1] = 1
        gradient = whole.T @ gradient
        hessian = whole.T @ hessian @ whole
        gradient[:-1] -= 1 / point[:-1]
        hessian[np.arange(len(point) - 1), np.arange(len(point) - 1)] += 1 / point[:-1] ** 2
        if self.power is not None:
            slope = np.zeros(len(point))
            slope[: self.reach + 1] = self.fold * self.power
            gradient += slope / self.spare(point)
            hessian += np.outer(slope, slope) / self.spare(point) ** 2
        return gradient, hessian

    def centred(self, point: Floats, tau: float) -> Floats:
        """Newton's steps inside the two equations, with halved steps until the barrier falls."""
        many = len(self.equations)
        for _ in range(60):
            gradient, hessian = self.derivatives(point, tau)
            size = np.concatenate([point[:-1], [1.0]])  # in units of the variables themselves: better conditioned
            both = np.block(
                [
                    [hessian * np.outer(size, size), (self.equations * size).T],
                    [self.equations * size, np.zeros((many, many))],
                ]
            )
            try:
                step = size * np.linalg.solve(both, np.concatenate([-gradient * size, np.zeros(many)]))[: len(point)]
            except np.linalg.LinAlgError as error:
                raise SolverFailed(f"the search for the noise of the least capacity: {error}") from None
            fall = float(-gradient @ step)
            share = 1.0
            here = self.barrier(point, tau)
            if fall < 1e-9:
                return point
            while self.barrier(point + share * step, tau) > here - 0.1 * share * fall:
                share /= 2
                if share < 1e-10:
                    return point
            point = point + share * step
        return point
