r"""Rule "noise": what numbers on grids must tell, or must err, and the least capacity of noise that is added.

For every Y with squared errors D_j, X - E[X | Y] plus a uniform number on the grid has a density of variance at most
D_j / step_j^2 + 1/12 in steps, so that H(X | Y) <= sum_j 1/2 log2 (2 pi e (D_j / step_j^2 + 1/12)), at most
k/2 log2 (2 pi e (sum_j D_j + sum_j step_j^2 / 12) / k) - sum_j log2 step_j for k columns. I(S; Y) >= I(S; X) - H(X|Y).
For one column and Y on its grid, continued at both ends, Blahut's dual says more: for any s > 0 and positive weights a,

    I(X; Y) >= sum_x p log2 a - log2 max_y sum_x p a 2^(-s (x - y)^2) - s E (X - Y)^2      in steps.

Noise V that is added and reaches no further than W: with any prior r, I(r; V) >= sum_k V(k) g_k,
g_k = log2 W(k) - sum_x r_x log2 (r * W)(x + k), since the difference is D(V || W) - D(r * V || r * W). With E|N|^p <= M
and any slope >= 0 that is at least min_k (g_k + slope |k|^p) - slope M. For independent columns capacities add.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from dalenius.kernel.axes import LOG_BITS, NOTHING, convolved, weighed
from dalenius.kernel.distortion import Distortion
from dalenius.kernel.document import Limit, Limits, Promises
from dalenius.kernel.lines import bound_by_lines
from dalenius.kernel.logs import E_HIGH, LOG_COST, TWO_PI_E, bits, log2, two_to
from dalenius.kernel.noise import Grids
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node
from dalenius.kernel.objective import Objective
from dalenius.kernel.promises import Contraction, Dalenius, Leakage, LocalDP


def bound_of_noise(setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node) -> Fraction:
    """A lower bound of the objective, over every mechanism that keeps the promises and the limits."""
    _, line, least = proof.fields("rule", "line", "least")
    m = setting.mechanism
    proof.require(m.form == "noise" and m.reads == m.observe == m.release and not m.beside, "this rule is for noise")
    grids = Grids(setting)
    if objective.reach is not None:
        line.require(line.is_null(), "the least capacity needs no line")
        return _least_capacity(setting, grids, limits, objective.reach, least)
    least.require(least.length() == 0, "this is for the least capacity")
    unknown = Unknown(setting, grids, line)
    if objective.distortion is not None:
        proof.require(_all_squared(objective.distortion, grids), "this rule is for the squared error of all columns")
        return max([NOTHING, *(unknown.least_error(*told) for told in _told(setting, grids, promises))])
    proof.require(objective.aim == "leakage" and objective.theta == 1, "this rule is for the least leakage")
    costs = [limit for limit in limits if isinstance(limit, Limit)]
    errors = [limit.at_most for limit in costs if _all_squared(limit.distortion, grids)]
    norms = [limit.at_most for limit in costs if limit.distortion.parts[0].power == 2]  # (E|N|^2)^(1/2) of every column
    errors += [most**2 * len(grids.names) for most in norms]
    return max([NOTHING, *(unknown.least_told(objective.about, error) for error in errors)])


def bound_on_grid(setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node) -> Fraction:
    """Rule "grid": a bound by lines for every matrix from grid to grid, which holds for numbers beyond its ends too.

    A number beyond an end, moved to that end, is nearer to every record in each column, and what is released then is a
    function of what was: it tells no more, and every level stays.
    """
    _, lines = proof.fields("rule", "lines")
    m = setting.mechanism
    proof.require(m.form == "noise" and m.reads == m.observe == m.release and not m.beside, "this rule is for noise")
    known = all(isinstance(promise, Leakage | LocalDP) for promise in promises)
    proof.require(known, "on the grid leakage and levels of local DP are bounded")
    grids = Grids(setting)
    costs = [limit.distortion if isinstance(limit, Limit) else None for limit in limits]
    costs += [objective.distortion] if objective.distortion is not None else []
    squared = all(cost is not None and _all_squared(cost, grids) for cost in costs)
    proof.require(squared, "this rule is for the squared error of all columns")
    lines.tag("lines")
    plain = Setting(setting.variables, setting.law, replace(m, form="any"), setting.work)
    return bound_by_lines(plain, promises, limits, objective, lines)


def _all_squared(distortion: Distortion, grids: Grids) -> bool:
    """Whether a distortion is the squared error of all columns, each with its own unit."""
    part = distortion.parts[0]
    plain = part.kind == "squared" and part.weight == 1 and set(part.of) == set(grids.names)
    return plain and len(distortion.parts) == 1


def _told(setting: Setting, grids: Grids, promises: Promises) -> list[tuple[tuple[str, ...], Fraction]]:
    """Secrets, and what every mechanism that keeps the promises tells about them at most."""
    names = grids.names
    found = list[tuple[tuple[str, ...], Fraction]]()
    for promise in promises:
        if isinstance(promise, Leakage):
            found.append((promise.secret, promise.at_most))
        elif isinstance(promise, Dalenius):  # any number of records, each with noise of its own
            found.append((names, promise.at_most / promise.group))
        elif isinstance(promise, Contraction):
            found.append((names, promise.at_most * setting.law.entropy(names, setting.work)[1]))
        elif isinstance(promise, LocalDP) and not (promise.delta or promise.metric or promise.given):
            epsilon = promise.epsilon_of_one_row  # I <= epsilon min(1, epsilon / 2) nats
            found.append((names, epsilon * min(Fraction(1), epsilon / 2) * E_HIGH))
    return found


class Unknown:
    """H(X | Y) from above, for every Y of a squared error: by its variance, and by a line below the rate."""

    def __init__(self, setting: Setting, grids: Grids, line: Node) -> None:
        self.setting = setting
        self.grids = grids
        self.many = len(grids.steps)
        self.blur = sum((step**2 for step in grids.steps), NOTHING) / 12
        self.size = sum((bits(log2(*step.as_integer_ratio())[0]) for step in grids.steps), NOTHING)  # from below
        self.start, self.slope = (NOTHING, NOTHING) if line.is_null() else self._line(line)

    def _line(self, node: Node) -> tuple[Fraction, Fraction]:
        """(b, s) with H(X | Y) <= b + s E (X - Y)^2 for every Y on the grid of the one column X."""
        steepness, given = node.fields("slope", "weights")
        node.require(self.many == 1, "a line is for one column")
        slope = steepness.number(0)
        steepness.require(slope > 0, "a line has no slope")
        (size,) = self.grids.sizes
        weights = weighed(given, 0, size - 1)
        law, work = self.setting.mass, self.setting.work
        given.require(set(law) <= set(weights), "a number that occurs has no weight")
        work.spend(LOG_COST * (size + len(law)))
        power = [
            # Up: the largest of these sums is subtracted from what must be told.
            ceil(two_to(-slope * k * k)[1] * (1 << LOG_BITS)) if slope * k * k < LOG_BITS else 1
            for k in range(size)
        ]
        masses = [law.get(i, 0) * weights.get(i, 0) for i in range(size)]
        # Beyond the ends of the grid the sums are smaller.
        most = max(convolved(masses, power[:0:-1] + power, work)[size - 1 : 2 * size - 1])
        total = self.setting.total
        told = sum(count * log2(weights[i])[0] for i, count in law.items()) // total
        rate = bits(told - log2(most, total << LOG_BITS)[1])  # told from below, the largest sum from above
        return self.setting.law.entropy(self.grids.names, work)[1] - rate, slope / self.grids.steps[0] ** 2

    def least_told(self, secret: tuple[str, ...], squared: Fraction) -> Fraction:
        """I(S; Y) from below for every Y of at most this squared error: I(S; X) less what stays unknown."""
        inside = TWO_PI_E * (squared + self.blur) / self.many
        # From above: what stays unknown is taken off what must be told.
        unknown = Fraction(self.many, 2) * bits(log2(*inside.as_integer_ratio())[1]) - self.size
        if self.slope:
            unknown = min(unknown, self.start + self.slope * squared)
        return self.grids.known(self.setting, secret) - unknown

    def least_error(self, secret: tuple[str, ...], told: Fraction) -> Fraction:
        """The squared error from below of every Y that tells no more about S: the other way round."""
        unknown = self.grids.known(self.setting, secret) - told
        found = self.many / TWO_PI_E * two_to(2 * (unknown + self.size) / self.many)[0] - self.blur
        return max(found, (unknown - self.start) / self.slope) if self.slope else found


def _least_capacity(setting: Setting, grids: Grids, limits: Limits, reach: tuple[int, ...], proofs: Node) -> Fraction:
    """The sum over columns of the least capacity of noise within a norm."""
    if proofs.length() == 0:
        return NOTHING  # no capacity is negative
    costs = [limit for limit in limits if isinstance(limit, Limit)]
    norms = [limit for limit in costs if limit.distortion.parts[0].kind == "norm"]
    proofs.require(bool(norms), "the least capacity is within a norm")
    limit = norms[0]
    power = limit.distortion.parts[0].power
    proofs.require(power in (None, 1, 2), "the least capacity is within the norm of p = 1, 2 or inf")
    found = NOTHING
    for j, item in enumerate(proofs.pair(len(grids.names))):
        most = limit.at_most / grids.steps[j]
        # In the largest norm noise beyond the limit is not allowed at all.
        furthest = min(reach[j], floor(most)) if power is None else reach[j]
        found += _of_column(setting, item, grids.sizes[j], furthest, most, power)
    return found


def _of_column(setting: Setting, node: Node, size: int, reach: int, most: Fraction, power: Fraction | None) -> Fraction:
    steepness, given, weights = node.fields("slope", "prior", "weights")
    slope = steepness.number(0)
    prior = weighed(given, 0, size - 1)
    half = weights.wholes(1)
    weights.require(len(half) > reach, "noise of a larger reach competes")
    work = setting.work
    work.spend((LOG_COST + 4 * len(prior)) * (size + 2 * len(half)))
    line = [prior.get(x, 0) for x in range(size)]
    whole = half[:0:-1] + half
    logs = [log2(value, sum(whole) * sum(line))[1] if value else 0 for value in convolved(line, whole, work)]
    found = list[Fraction]()
    for k in range(-reach, reach + 1):
        seen = sum(count * logs[x + k + len(half) - 1] for x, count in prior.items())
        own = log2(half[abs(k)], sum(whole))[0]
        cost = slope * Fraction(abs(k)) ** int(power) if power is not None else NOTHING
        found.append(bits(own - Fraction(seen, sum(line))) + cost)
    # The least: V may be where W has it.
    least = min(found) - (slope * most ** int(power) if power is not None else NOTHING)
    return max(NOTHING, least)
