r"""Promises that no finite number of rows says: Sibson's information, the capacity, the contraction coefficient.

Each of them is the largest of simpler limits, and a program needs only those that matter at its optimum:

    sibson         a gauge, the largest of linear functions y: tangents at the posteriors of the letters;
    dalenius       the information under every law of the inputs: that under the law that tells most;
    contraction    b (1-b) sum_t (p - q)^2 / (b p + (1-b) q) for every pair of rows and every b, and each of them the
                   largest of 2 a (p - q) - a^2 (b p + (1-b) q) over slopes a, one for each letter.

A program with some of these limits bounds the one with all of them; its solution shows which are missed, and these are
added until a channel that keeps all promises, made by mixing in a little of a constant one, is as good as the bound.
"""

from copy import deepcopy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from math import frexp

import numpy as np

from dalenius.core import Contraction, Dalenius, Guarantee, Problem, Sibson
from dalenius.core.arithmetic import two_to
from dalenius.errors import Infeasible
from dalenius.mechanisms.columns.leakage.ball_of_laws import NearLaws
from dalenius.mechanisms.columns.leakage.gauges import Weighed, whole_units
from dalenius.mechanisms.columns.leakage.local_dp_rows import Nearness
from dalenius.mechanisms.columns.leakage.terms import LN2
from dalenius.mechanisms.proof_terms import ONE
from dalenius.solvers.capacity import Ball, smallest_ball
from dalenius.solvers.divergence import Laws
from dalenius.solvers.leakage import Gauge, Term
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.program import Exact, Floats

__all__ = ["HAIR", "Bent", "Cuts", "is_curved"]

HAIR = 2e-10
"""What a channel stays below its curved limits, so that rounding does not pass them: so much of their room."""
LEAST_HAIR = 2e-13  # rounding itself
TOLERATED = 1e-9  # of other limits, which the exact repair restores
NEIGHBOURS = 8  # slopes around each letter that are kept from round to round
LESS = 5e-10  # of their room, by which limits are tightened where a constant channel cannot be mixed in
GRAIN = 1 << 52
FIRST_SLOPES = tuple(Fraction(a, 4) for a in range(-8, 9))
FEW = 1e-4  # a law of less weight than this share of the largest is left out
MOST_DOUBLED = 30  # how often a limit is doubled at most
ENDS = 1e-9  # of b, at which the cut of a contraction says nothing
NEAR = 1e-3  # points b of one pair that are no further apart are one


def is_curved(promise: Guarantee) -> bool:
    """Whether no finite number of rows says it: of a capacity of 0 the equality of all rows does."""
    return isinstance(promise, Sibson | Dalenius | Contraction) and not promise.allows_nothing


def _rational(value: float) -> Fraction:
    return Fraction(round(value * GRAIN), GRAIN)


@dataclass(eq=False)
class Bent:
    """The limits of one promise that are known so far."""

    promise: Guarantee
    values: Exact  # of a secret p(s, k | e), (K, S, n); of others the inputs
    prior: Floats
    tangents: list[list[list[Fraction]]] = field(default_factory=list)  # for each k the functions y(s)
    laws: list[list[int]] = field(default_factory=list)
    points: dict[tuple[int, int, Fraction], list[Fraction]] = field(default_factory=dict)  # slopes of (i, j, b)
    rows: dict[tuple[int, tuple[Fraction, ...]], list[Fraction]] = field(default_factory=dict)  # of (k, y), see `_row`
    room: float = 1.0  # from what a constant channel reaches to the limit

    @property
    def hair(self) -> float:
        """What a channel stays below this limit: where there is little room, little of it."""
        return max(HAIR * min(1.0, self.room), LEAST_HAIR)

    @property
    def _size(self) -> int:
        """What is above the functions y = 1 is multiplied by this, so that its limit is about one."""
        return 1 << max(0, min(MOST_DOUBLED, -frexp(float(self.limit) - 1)[1])) if self.limit > 1 else 1

    def tightened(self, less: Fraction) -> Fraction:
        """The limit tightened by so much, or by that share of its room."""
        return self.limit - less * _rational(min(1.0, self.room))

    @property
    def limit(self) -> Fraction:
        """What the promise allows, from below: of Sibson's information as the sum of the gauge, of others as it is."""
        if isinstance(self.promise, Sibson):  # 2^x from below, so that the gauge keeps to less than was promised
            return two_to(self.promise.at_most_bits * (self.promise.order - 1) / self.promise.order)[0]
        if isinstance(self.promise, Dalenius):
            return self.promise.at_most_bits
        assert isinstance(self.promise, Contraction)
        return self.promise.at_most

    @property
    def many_gauges(self) -> int:
        """How many limits are gauges."""
        return 1 if isinstance(self.promise, Sibson) else len(self.points)

    @property
    def many_laws(self) -> int:
        """How many limits on information there are."""
        return len(self.laws)

    def gauges(self, mass: Exact, total: int, less: Fraction) -> list[Gauge]:
        """The known limits that are gauges, for rows of these masses, of which those that occur add up to the total."""
        if isinstance(self.promise, Sibson):
            # All functions y = 1 add up to 1: what is above them is all that is limited, and it is made about one.
            parts = [
                np.array([self._row(k, y) for y in known], dtype=object)
                - np.array(self._row(k, known[0]), dtype=object)
                for k, known in enumerate(self.tangents)
            ]
            return [Gauge(tuple(part * self._size for part in parts), (self.tightened(less) - 1) * self._size)]
        found = []
        for (i, j, b), slopes in self.points.items():
            rows = np.zeros((len(slopes), len(mass)), dtype=object)
            unit_i = b * (1 - b) * Fraction(total, int(mass[i]))
            unit_j = b * (1 - b) * Fraction(total, int(mass[j]))
            for row, a in zip(rows, slopes, strict=True):
                row[i] = unit_i * (2 * a - a * a * b)
                row[j] = unit_j * (-2 * a - a * a * (1 - b))
            found.append(Gauge((rows,), self.tightened(less)))
        return found

    def _row(self, k: int, tangent: list[Fraction]) -> list[Fraction]:
        """sum_s y(s) p(s, k | e) of each input, worked out once: a tangent stays from round to round."""
        known = (k, tuple(tangent))
        if known not in self.rows:
            shares = self.values[k].T
            self.rows[known] = [
                sum((y * value for y, value in zip(tangent, share, strict=True)), Fraction(0)) for share in shares
            ]
        return self.rows[known]

    def leakages(self, mass: Exact, total: int, less: Fraction) -> list[tuple[Term, Fraction]]:
        """The known limits on information under another law of the inputs, in nats."""
        group = np.zeros(len(mass), dtype=np.int64)
        found = []
        for law in self.laws:
            counts = np.zeros((len(law), len(law)), dtype=object)
            for e, n in enumerate(law):
                counts[e, e] = Fraction(n * total, sum(law))
            found.append((Term(counts, group, foreign=True), self.tightened(less) * LN2))
        return found

    def occurring(self, channel: Floats, masses: Floats) -> tuple[Floats, Floats]:
        """The rows that the promise is about, which are first, and their law; a program may have others behind them."""
        many = self.values.shape[-1]
        own = masses[:many]
        return channel[:many], own / own.sum()

    def excess(self, channel: Floats, masses: Floats) -> float:
        """By how much a channel exceeds the promise."""
        if isinstance(self.promise, Sibson):
            return float(self.by_letter(channel * masses[:, None]).sum()) - float(self.limit)
        if isinstance(self.promise, Dalenius):
            return _ball(channel).high / float(np.log(2)) - float(self.limit)
        pairs = combinations(range(len(channel)), 2)
        return max((_contraction(channel[i], channel[j])[0] for i, j in pairs), default=0.0) - float(self.limit)

    def by_letter(self, pi: Floats) -> Floats:
        """What each letter adds to the gauge of Sibson's information, in proportion to its weight."""
        assert isinstance(self.promise, Sibson)
        order = float(self.promise.order)
        seen = [(shares.astype(np.float64) @ pi) / self.prior[:, None] for shares in self.values]  # p(y, k | s)
        return np.asarray(sum((self.prior @ value**order) ** (1 / order) for value in seen))

    def refine(self, channel: Floats, masses: Floats) -> None:
        """Add the limits that this channel touches or misses, and leave out those that are far from it."""
        if isinstance(self.promise, Sibson):
            self._add_tangents(channel * masses[:, None])
        elif isinstance(self.promise, Dalenius):
            ball = _ball(channel)
            law = np.zeros(len(channel))
            law[ball.support] = ball.weights
            self.laws.append(_whole_law(law))
        else:
            self._add_points(channel)

    def _add_tangents(self, pi: Floats) -> None:
        assert isinstance(self.promise, Sibson)
        order = float(self.promise.order)
        for world, shares in enumerate(self.values):
            v = (shares.astype(np.float64) @ pi) / self.prior[:, None]
            sizes = (self.prior @ v**order) ** (1 / order)
            mine = [
                self.tangent((column / size) ** (order - 1))
                for column, size in zip(v.T, sizes, strict=True)
                if size > 1e-12
            ]
            first = self.tangents[world][: 1 + len(self.prior)]
            later = self.tangents[world][1 + len(self.prior) :]
            self.tangents[world] = [*first, *later, *(y for y in mine if y not in later)]

    def tangent(self, u: Floats) -> list[Fraction]:
        """y(s) with sum_s y(s) p(s) v(s) <= the gauge of v: u divided by its dual norm."""
        assert isinstance(self.promise, Sibson)
        dual = float(self.promise.order / (self.promise.order - 1))
        norm = float(self.prior @ u**dual) ** (1 / dual)
        return [_rational(float(x) / norm) for x in u]

    def _add_points(self, channel: Floats) -> None:
        limit = float(self.limit)
        for i, j in combinations(range(len(channel)), 2):
            eta, b = _contraction(channel[i], channel[j])
            own = [point for point in self.points if point[:2] == (i, j)]
            far = min((abs(float(point[2]) - b) for point in own), default=1.0)
            # f(b) is flat at its top, so that a point nearby does until the limit is all but kept.
            # At its ends nothing is said; what one row has alone there is a limit of its own (`barred_pairs`).
            if eta > limit - 1e-4 and far > (NEAR if eta > limit + 1e-5 else 1e-5) and ENDS < b < 1 - ENDS:
                self.points[i, j, _rational(b)] = list(FIRST_SLOPES)
        for (i, j, point), slopes in self.points.items():
            b = float(point)
            mixed = b * channel[i] + (1 - b) * channel[j]
            ratios = (channel[i] - channel[j])[mixed > 1e-12] / mixed[mixed > 1e-12]
            known = np.array([float(a) for a in slopes])
            near = np.argsort(np.abs(known[:, None] - ratios), axis=0)[:NEIGHBOURS]
            kept = {*FIRST_SLOPES, *(slopes[k] for k in near.ravel().tolist())}
            slopes[:] = sorted(kept | set(map(_rational, ratios.tolist())))

    def combine(self, weights: Floats) -> None:
        """Take the mean of the known laws by the weight that each has at the optimum, and leave out those without.

        Information is concave in the law: that under the mean is at least the mean of that under each of them.
        """
        if not isinstance(self.promise, Dalenius) or len(weights) < 2 or weights.max() <= 0:
            return
        shares = np.array([[n / sum(law) for n in law] for law in self.laws])
        used = weights > FEW * weights.max()
        self.laws = [law for law, one in zip(self.laws, used, strict=True) if one]
        if len(self.laws) > 1:
            self.laws.append(_whole_law(weights[used] @ shares[used]))

    def copied(self) -> "Bent":
        """The same limits in lists of their own; rows that were worked out serve both."""
        return replace(
            self,
            tangents=[list(known) for known in self.tangents],
            laws=list(self.laws),
            points={point: list(slopes) for point, slopes in self.points.items()},
        )

    def weighed(self, multipliers: Weighed, factor: float) -> tuple[int, list[list[list[int]]]]:
        """The weight, and u(s) of each letter: the tangents that are used, added up."""
        mu = multipliers[0] * self._size
        rhos = [np.maximum(rho, 0.0) * self._size for rho in multipliers[1]]
        parts = []
        for rho, known in zip(rhos, self.tangents, strict=True):
            # What is left of the weight is that of y = 1, which was taken from all of them.
            u = np.array([[float(entry) for entry in row] for row in known]).T @ rho
            u += np.maximum(mu - rho.sum(axis=0), 0.0)
            size = np.maximum(u.max(axis=0), 1e-300)
            parts.append([[int(entry * GRAIN) for entry in row] for row in u / size])
        return whole_units(mu * factor), parts

    def of_laws(
        self, multipliers: list[tuple[float, Floats]], factor: float
    ) -> list[tuple[list[int], list[list[int]]]]:
        """For each law its weights, of the rows of the program, and the posteriors of each letter up to their sum."""
        found = []
        for law, (weight, logs) in zip(self.laws, multipliers, strict=True):
            total = sum(law)
            weights = [whole_units(weight * factor * n / total) for n in law]
            share = np.array([n / total for n in law])[:, None]
            posteriors = share * np.exp(np.clip(logs - logs.max(axis=0), -600.0, 0.0))
            posteriors /= posteriors.sum(axis=0)
            columns = [[max(1, int(entry * ONE)) for entry in column] for column in posteriors.T]
            if weight > 0:
                found.append((weights, columns))
        return found

    def of_points(
        self, multipliers: list[Weighed], factor: float
    ) -> list[tuple[tuple[int, int, Fraction], Fraction, list[Fraction]]]:
        """For each pair and point the weight, and the mean slope of each letter (Jensen: no worse than the slopes)."""
        found = []
        for (point, slopes), (mu, (rho,)) in zip(self.points.items(), multipliers, strict=True):
            if mu <= 0:
                continue
            means = np.array([float(a) for a in slopes]) @ np.maximum(rho, 0.0) / mu
            found.append((point, Fraction(mu * factor), [_rational(mean) for mean in means.tolist()]))
        return found


def _ball(channel: Floats) -> Ball:
    rows = np.where(channel > 1e-200, channel, 0.0)
    return smallest_ball(Laws(rows / rows.sum(axis=1, keepdims=True)), gap=1e-12)


def _whole_law(law: Floats) -> list[int]:
    """A law in whole numbers, every input with a little of it: without it the others would have no posterior."""
    # Any law proves a bound; a floor of 2^-40 costs about as little of it.
    return [max(1 << 12, round(float(w) * GRAIN)) for w in law / law.sum()]


def _contraction(p: Floats, q: Floats) -> tuple[float, float]:
    """max over 0 <= b <= 1 of 1 - sum p q / (b p + (1-b) q), which is concave in b, and where it is reached."""
    both = (p > 0) & (q > 0)
    product, p, q = p[both] * q[both], p[both], q[both]

    def slope(b: float) -> float:
        return float((product * (p - q) / (b * p + (1 - b) * q) ** 2).sum())

    low, high = 0.0, 1.0
    for _ in range(60):
        b = (low + high) / 2
        low, high = (b, high) if slope(b) > 0 else (low, b)
    b = (low + high) / 2
    return 1 - float((product / (b * p + (1 - b) * q)).sum()), b


@dataclass(eq=False)
class Cuts:
    """All that is known of the curved promises of a problem."""

    bent: dict[int, Bent]  # by the place of the promise
    less: Fraction = Fraction(0)  # by which their limits are tightened
    hairs: float = 1.0  # how many hairs a channel stays below them
    near: list[NearLaws] = field(default_factory=list)  # of every leakage that is promised within a ball

    @property
    def limits(self) -> list[Bent | NearLaws]:
        """Everything that adds limits to a program, in the order in which it does."""
        return [*self.bent.values(), *self.near]

    @property
    def pairs(self) -> int:
        """Limits about pairs of inputs."""
        return sum(bent.many_gauges for bent in self.bent.values() if isinstance(bent.promise, Contraction))

    @classmethod
    def of(cls, problem: Problem, near: Nearness | None = None) -> "Cuts":
        """The first limits: those that a constant channel and the letters of the inputs themselves show.

        `near` has the rows of inputs that never occur, about which a capacity and a contraction are as well.
        """
        joint = problem.pmf
        mass = joint.counts(problem.inputs).astype(object)
        everybody = mass if near is None else near.everybody(mass)
        found: dict[int, Bent] = {}
        for k, promise in enumerate(problem.guarantees):
            if isinstance(promise, Sibson):
                found[k] = _about_secret(problem, promise, mass)
            elif is_curved(promise):
                found[k] = Bent(promise, everybody, (everybody / joint.total).astype(np.float64))
                found[k].room = float(found[k].limit)
        for one in found.values():
            if isinstance(one.promise, Dalenius):
                one.laws += [_whole_law(np.ones(len(everybody))), _whole_law(one.prior)]
            elif isinstance(one.promise, Contraction):
                for i, j in combinations(range(len(everybody)), 2):
                    one.points[i, j, Fraction(1, 2)] = list(FIRST_SLOPES)
        return cls(found, _rational(LESS) if problem.limits or problem.forbid or problem.freeze else Fraction(0))

    def combine(self, leakage: Floats) -> None:
        """Put limits on information together by their multipliers, which stand last among those of a program."""
        own = self.limits
        at = len(leakage) - sum(one.many_laws for one in own)
        for one in own:
            many = one.many_laws
            if isinstance(one, Bent) and many == len(one.laws):
                one.combine(leakage[at : at + many])
            at += many

    def refine(self, channel: Floats, masses: Floats) -> None:
        """Add to every promise what this channel shows."""
        for one in self.bent.values():
            one.refine(*one.occurring(channel, masses))

    def kept(self, pi: Floats, given: Arrays) -> Floats | None:
        """pi with the least share of a constant channel that keeps every promise; None if that misses another limit.

        What the promises bound is convex, and the constant channel reaches the least of it, so that a share s leaves
        at most (1 - s) of the excess over that.
        """
        p = given.p
        law = np.where(given.allowed.all(axis=0), pi.sum(axis=0), 0.0)  # of letters that every input may have
        constant = np.outer(p, law / law.sum()) if law.sum() > 0 else None
        share = 0.0
        for one in self.bent.values():
            over = one.excess(*one.occurring(pi / p[:, None], p)) + self.hairs * one.hair
            if over > 0:
                if constant is None:
                    return None
                room = -one.excess(*one.occurring(constant / p[:, None], p))
                share = max(share, over / (over + room) if room > 0 else 1.0)
        mixed = pi if constant is None else (1 - share) * pi + share * constant
        return None if given.violation(mixed) > TOLERATED or not share <= 1 else mixed

    def excess(self, channel: Floats, masses: Floats) -> float:
        """By how much a channel exceeds a promise, at worst, and by a hair more: rounding must not pass it."""
        found = ((one.excess(*one.occurring(channel, masses)), one.hair) for one in self.bent.values())
        return max(excess + self.hairs * hair for excess, hair in found)

    def tightened(self) -> "Cuts":
        """What is known now, with limits that leave room for what is not."""
        return replace(self.copied(), less=max(self.less, _rational(LESS)))

    def copied(self) -> "Cuts":
        """What is known now; what is found later is added to one of the two alone."""
        return replace(self, bent={k: one.copied() for k, one in self.bent.items()}, near=deepcopy(self.near))


def _about_secret(problem: Problem, promise: Sibson, mass: Exact) -> Bent:
    joint = problem.pmf
    table = joint.counts(problem.inputs, promise.secret, problem.beside).astype(object)
    shares = np.array(
        [
            [[Fraction(int(n), int(m)) for n, m in zip(own, mass, strict=True)] for own in world]
            for world in table.T.transpose(0, 1, 2)
        ],
        dtype=object,
    )
    prior = (table.sum(axis=(0, 2)) / joint.total).astype(np.float64)
    bent = Bent(promise, shares, prior)
    flat = [_rational(1.0)] * len(prior)
    single = [bent.tangent(row) for row in np.eye(len(prior))]
    bent.tangents += [[flat, *single] for share in shares]
    floor = sum(
        float(
            (
                prior
                @ ((world.astype(np.float64) @ (mass / joint.total).astype(np.float64)) / prior) ** float(promise.order)
            )
            ** (1 / float(promise.order))
        )
        for world in shares
    )
    if floor > float(bent.limit) + 1e-12:
        reached = float(promise.order / (promise.order - 1)) * float(np.log2(floor))
        raise Infeasible(
            f"{', '.join(problem.beside)} alone has {reached:.9g} bits of Sibson's information about "
            f"{', '.join(promise.about)}, more than the limit; the smallest that can be kept is {reached:.9g} bits",
            do="Raise the limit to that, or take the column out of keep.",
        )
    bent.room = float(bent.limit) - floor
    return bent
