r"""Proof for noise on a grid: every figure of a release of numbers, from the weights of the noise, in whole numbers.

Input i is released as clip(c(i) + N): c(i) = floor(keep (i - centre) + centre + 1/2) takes all whole values from c(0)
to c(n - 1), as keep <= 1, and N is symmetric. So W_c is one law, shifted and then collected at the ends, and sums over
all shifts are products of two long numbers. With F the distribution function of N:

    I(X; Y) = sum_c p_c sum_y W_c log2 W_c - sum_y P_Y log2 P_Y                      for the counts that are given
    I(X; Y) <= max_c D(W_c || q)                                                     for every X, whatever the law q
    I(X; Y) <= 1/2 log2 (2 pi e (var c(X) + var N + 1/12)) - H(N)                    for every X of so much variance
    sum_y (W_c - e^eps W_d)^+ <= max_t F(t - c(0)) - e^eps F(t - c(n - 1))           (and from above), N log-concave.

The third: c(X) + N plus a uniform number has a density whose differential entropy is H(Y), and no density of that
variance has more. The last: for c < d the ratio of the two laws falls with y, so that the best set is a half-line, and
F(t - c) - e^eps F(t - d) falls with c and rises with d.
"""

from collections import Counter
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import isqrt
from typing import Any

from dalenius.certify.privacy import Figures
from dalenius.core.arithmetic import BITS, exp, log2, nats, times_log2
from dalenius.core.numbers import exact, up
from dalenius.core.reading import no_better, require
from dalenius.core.shifting import Shifts, convolved

TWO_PI_E = Fraction("17.0794684453471341309271018")  # from above
PAIRS = 1 << 22  # entries that are compared one by one when the noise is not log-concave


def entropic(n: int, total: int, end: int) -> int:
    """Floor (end 0) or ceiling (end 1) of 2^BITS (n / total) log2(n / total)."""
    return times_log2(Fraction(n, total), Fraction(n, total))[end]


class NoiseProof(Shifts):
    """The figures of a channel of form noise, each a bound on the safe side."""

    @cached_property
    def surprise(self) -> list[list[int]]:
        """Prefix sums over N of w log2 w, from below and from above."""
        found = {v: times_log2(Fraction(v, self.total), Fraction(v, self.total)) for v in set(self.half) if v}
        return [[0, *accumulate(found[v][end] if v else 0 for v in self.w)] for end in (0, 1)]

    def certain(self, c: int) -> int:
        """An upper bound of sum_y W_c log2 W_c, in units of 2^-BITS."""
        return self.inside(self.surprise[1], c) + sum(entropic(v, self.total, 1) for v in self.collected(c) if v)

    def leakage(self, counts: dict[int, int]) -> Fraction:
        """I(X; Y) from above for these counts of the inputs."""
        if self.low == self.high or self.first == self.last:
            return Fraction(0)
        prior: Counter[int] = Counter()
        for i, n in counts.items():
            prior[self.c[i]] += n
        many, out = sum(prior.values()), self.output(prior)
        told = sum((Fraction(n * self.certain(c), many) for c, n in prior.items()), Fraction(0))
        told -= sum(entropic(v, self.total * many, 0) for v in out if v)
        return max(Fraction(0), told) / (1 << BITS)

    def capacity(self, prior: dict[int, int]) -> Fraction:
        """max_c D(W_c || q) from above, q the law of Y under a prior of the shifts; no X tells more."""
        if self.low == self.high or self.first == self.last:
            return Fraction(0)
        require(all(isinstance(n, int) and n > 0 for n in prior.values()), "a prior has a weight that is not positive")
        require(bool(prior) and self.first <= min(prior) <= max(prior) <= self.last, "a prior is not on the shifts")
        out = self.output(prior)
        many = self.total * sum(prior.values())
        cost = {y: -(log2(Fraction(v, many))[0] >> BITS - 96) for y, v in enumerate(out, self.low) if v}
        reachable = range(
            max(self.low, min(self.first - self.reach, self.high)), min(self.high, self.last + self.reach) + 1
        )
        require(all(y in cost for y in reachable), "the prior leaves out a released number")
        line = [
            cost[min(max(t, self.low), self.high)] for t in range(self.first - self.reach, self.last + self.reach + 1)
        ]
        mixed = convolved(line, self.w)[2 * self.reach : len(line)]  # by symmetry of N: sum over N of cost(c + N)
        worst = max(self.certain(c) + (-(-v // self.total) << BITS - 96) for c, v in enumerate(mixed, self.first))
        return Fraction(max(worst, 0), 1 << BITS)

    def from_variance(self, variance: Fraction) -> Fraction:
        """I(X; Y) from above for every X of at most this variance, in the unit of the column."""
        if self.first == self.last:
            return Fraction(0)
        square = variance / self.step**2 * self.keep**2
        if self.rounded:  # the deviation of c(X) is at most keep times that of X, and 1/2 for rounding
            square += Fraction(isqrt(int(square * 10**12) + 1) + 1, 10**6) + Fraction(1, 4)
        spread = square + Fraction(self.twice[-1], self.total) + Fraction(1, 12)
        return max(Fraction(0), Fraction(log2(TWO_PI_E * spread)[1], 2) + self.surprise[1][-1]) / (1 << BITS)

    def columns(self) -> Any:
        """For each output the shifts among which its largest and its least weight are."""
        every = range(self.first, self.last + 1)
        require(self.log_concave or len(every) * (self.high - self.low + 1) <= PAIRS, "too many pairs to compare")
        for y in range(self.low, self.high + 1):
            # Log-concave weights rise up to N = 0 and fall beyond: the least at an end, the largest next to 0.
            yield y, {self.first, min(max(y, self.first), self.last), self.last} if self.log_concave else every

    def level(self) -> Fraction | None:
        """The least epsilon of local_dp, from above; None when there is none."""
        worst = Fraction(1)
        for y, shifts in self.columns():
            seen = [self.entry(c, y) for c in shifts]
            if max(seen) and not min(seen):
                return None
            worst = max(worst, Fraction(max(seen), min(seen))) if max(seen) else worst
        return nats(worst)

    def excess(self, epsilon: Fraction) -> Fraction:
        """The least delta of (epsilon, delta)-differential privacy, from above."""
        much = exp(epsilon)[0]
        if self.log_concave:
            least, most, worst = self.first, self.last, Fraction(0)
            for t in range(self.low, self.high):
                a, b = self.at_most(t - least), self.at_most(t - most)
                worst = max(worst, a - much * b, self.total - b - much * (self.total - a))
            return worst / self.total
        every = range(self.first, self.last + 1)
        require(len(every) ** 2 * (self.high - self.low + 1) <= PAIRS, "too many pairs to compare")
        laws = [[self.entry(c, y) for y in range(self.low, self.high + 1)] for c in every]
        found = (sum((max(Fraction(0), u - much * v) for u, v in zip(a, b)), Fraction(0)) for a in laws for b in laws)
        return max(found) / self.total

    def error(self, i: int) -> Fraction:
        """E (Y - x_i)^2, in steps."""
        c, (a, b) = self.c[i], self.collected(self.c[i])
        gap = c - i
        inner = self.inside(self.twice, c) + 2 * gap * self.inside(self.once, c) + gap**2 * self.inside(self.below, c)
        return Fraction(inner + (self.low - i) ** 2 * a + (self.high - i) ** 2 * b, self.total)


def least_capacity(shifts: Shifts, proof: dict[str, Any]) -> Fraction:
    """No symmetric or other noise within the same limit has a smaller capacity: sum of r_x W log2 (W / q) linearised.

    f(V) = I(r; V) is convex in the noise V and f(V) >= sum_k g_k V_k, g_k = log2 W(k) - sum_x r_x log2 q(x + k), for W
    the noise of the channel and q = r * W. With E|N|^p <= M: f >= min_k (g_k + slope |k|^p) - slope M; where p is
    "inf", |N| <= reach. Support is that of W, whose reach is part of the claim.
    """
    p, limit, slope = proof["p"], exact(proof["limit"]), exact(proof["slope"])
    require(p in ("1", "2", "inf") and slope >= 0 and min(shifts.half) > 0, "the limit on the noise is not known")
    require(not shifts.rounded and shifts.keep == 1, "the bound is for noise that is added")
    whole = shifts.low <= shifts.first - shifts.reach and shifts.high >= shifts.last + shifts.reach
    require(whole, "the bound is for noise that is not collected")
    spent = sum(k ** int(p) * v for k, v in enumerate(shifts.half)) * 2 if p != "inf" else 0
    require(p == "inf" or Fraction(spent, shifts.total) <= limit, "the noise itself exceeds its limit")
    prior = {int(c): int(n) for c, n in proof["prior"]}
    require(shifts.first <= min(prior) <= max(prior) <= shifts.last and min(prior.values()) > 0, "a prior is wrong")
    many, out = sum(prior.values()), shifts.output(prior)
    logs = [log2(Fraction(v, shifts.total * many))[1] if v else None for v in out]
    found = []
    for k in range(-shifts.reach, shifts.reach + 1):
        seen = [(n, logs[c + k - shifts.low]) for c, n in prior.items()]
        g = log2(Fraction(shifts.half[abs(k)], shifts.total))[0] - Fraction(sum(n * (v or 0) for n, v in seen), many)
        found.append(g / (1 << BITS) + (slope * abs(k) ** int(p) if p != "inf" else 0))
    return max(Fraction(0), min(found) - (slope * limit if p != "inf" else 0))


def column(entry: dict[str, Any], epsilon: Fraction | None) -> Figures:
    """Every figure of one column; those of its own records only where the counts are there."""
    shifts, variance = NoiseProof(entry["channel"]), exact(entry["variance"])
    square, level = shifts.step**2, shifts.level()
    found: Figures = {
        "capacity_bits": up(shifts.capacity({int(c): int(n) for c, n in entry["prior"]})),
        "variance_bits": up(shifts.from_variance(variance)),
        "epsilon_nats": None if level is None else up(level),
        "worst_distortion": up(max(shifts.error(i) for i in range(len(shifts.c))) * square),
    }
    if epsilon is not None:
        found["delta"] = up(shifts.excess(epsilon), 40)
    if "counts" in entry:
        place = {letter: i for i, letter in enumerate(shifts.letters)}
        counts = {place[letter]: int(n) for letter, n in entry["counts"].items()}
        require(min(counts.values()) > 0, "a count is not positive")
        many = sum(counts.values())
        mean, power = (Fraction(sum(i**k * n for i, n in counts.items()), many) for k in (1, 2))
        require((power - mean**2) * square <= variance, "the records have a larger variance than said")
        found["leakage_bits"] = up(shifts.leakage(counts))
        found["distortion"] = up(sum(n * shifts.error(i) for i, n in counts.items()) * square / many)
    return found


def totals(columns: list[Figures]) -> Figures:
    """Noise of several columns is independent, so that leakages, capacities, levels, deltas and errors add."""
    out: Figures = {}
    for key in columns[0]:
        parts = [c[key] for c in columns]
        out[key] = None if None in parts else up(sum((exact(v) for v in parts), Fraction(0)), 40)
    return out


def noise(document: dict[str, Any]) -> tuple[Figures, ...]:
    """The figures of each column of a noise document and their sums, proved and no worse than claimed and promised."""
    epsilon = exact(document["epsilon"]) if document.get("epsilon") is not None else None
    found = []
    for entry in document["columns"]:
        level = exact(entry["epsilon"]) if entry.get("epsilon") is not None else None
        require((level is None) == (epsilon is None), "delta is stated at a level for each column")
        found.append(column(entry, level))
        if "least_capacity_bits" in entry["claimed"]:
            least = least_capacity(NoiseProof(entry["channel"]), entry["least"])
            require(exact(entry["claimed"]["least_capacity_bits"]) <= least, "a smaller capacity is not ruled out")
        claimed = {k: v for k, v in entry["claimed"].items() if k in found[-1]}
        require(no_better(claimed, found[-1]), f"a claimed figure of column {len(found)} is not proved")
    if epsilon is not None:
        spent = sum(exact(entry["epsilon"]) for entry in document["columns"])
        require(spent <= epsilon, "the levels of the columns add up to more than epsilon")
    names = [next(iter(entry["channel"]["inputs"])) for entry in document["columns"]]
    require(bool(names) and len(set(names)) == len(names), "a column is released twice")
    total = totals(found)
    require(no_better({k: document["proved"][k] for k in total}, total), "a claimed sum of figures is not proved")
    for key, limit in document["promised"].items():
        if key in total:
            require(total[key] is not None and exact(total[key]) <= exact(limit), f"the promised {key} is exceeded")
        else:
            require("counts" not in document["columns"][0], f"there is no figure {key} to promise")
    return (*found, total)
