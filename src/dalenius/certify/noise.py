r"""Proof for numbers with noise on a grid: every figure from the weights of the noise, in whole numbers.

On each axis a record has a shift c, and W_c is one symmetric law, shifted and collected at the ends. T its value there:

    I(X; T) = sum_c p_c sum_t W_c log2 W_c - sum_t P_T log2 P_T                      for the records that are given
    I(X; T) <= max_c D(W_c || q)                                                     for every X, whatever the law q
    I(X; T) <= 1/2 log2 (2 pi e (var c(X) + var N + 1/12)) - H(N)                    for every X of so much variance

The third: c(X) + N plus a uniform number has a density whose differential entropy is H(T), and no density of that
variance has more. If N is log-concave, the two ends are the pair of inputs that is told apart best in every sense (see
`Axis`), and eta_KL <= 1 - (sum_t sqrt(W_first W_last))^2 by Cauchy and Schwarz in the two-point formula.

N is independent from axis to axis and what is released is a function of all T, so that informations, levels and deltas
of the axes add, and 1 - eta multiplies: I(S; T1, T2) <= I(S; T1) + I(X; T2). Optimality: for every Y of any alphabet
with squared errors D_j, H(X | Y) <= sum_j 1/2 log2 (2 pi e (D_j / step_j^2 + 1/12)); I(S; Y) >= I(S; X) - H(X | Y).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import isqrt, prod
from typing import Any, cast

from dalenius.certify.privacy import Figures
from dalenius.core.arithmetic import BITS, E_HIGH, exp, log2, nats, times_log2, two_to
from dalenius.core.noisy import NoisyChannel, Records
from dalenius.core.numbers import exact, up, written
from dalenius.core.reading import no_better, require
from dalenius.core.rows import draws_of
from dalenius.core.shifting import PAIRS, Axis

TWO_PI_E = Fraction("17.0794684453471341309271018")  # from above
AT = ("1/2", "1", "2", "4")  # levels at which delta is stated
NO = Fraction(0)


def entropic(n: int, total: int, end: int) -> int:
    """Floor (end 0) or ceiling (end 1) of 2^BITS (n / total) log2(n / total)."""
    return times_log2(Fraction(n, total), Fraction(n, total))[end]


class AxisProof(Axis):
    """The figures of one axis, each a bound on the safe side."""

    @cached_property
    def surprise(self) -> list[list[int]]:
        """Prefix sums over N of w log2 w, from below and from above."""
        found = {v: times_log2(Fraction(v, self.total), Fraction(v, self.total)) for v in set(self.half) if v}
        return [[0, *accumulate(found[v][end] if v else 0 for v in self.w)] for end in (0, 1)]

    def certain(self, c: int) -> int:
        """An upper bound of sum_y W_c log2 W_c, in units of 2^-BITS."""
        return self.inside(self.surprise[1], c) + sum(entropic(v, self.total, 1) for v in self.collected(c) if v)

    def mixed(self, prior: dict[int, int], end: int) -> int:
        """A bound of sum_t P_T log2 P_T under weights of the shifts, in units of 2^-BITS."""
        many = self.total * sum(prior.values())
        return sum(entropic(v, many, end) for v in self.output(prior) if v)

    def leakage(self, prior: dict[int, int], groups: list[dict[int, int]]) -> Fraction:
        """I(S; T) from above, for the weights of the shifts, in all and under each value of S."""
        if self.low == self.high or self.first == self.last:
            return NO
        many = sum(prior.values())
        told = sum(sum(g.values()) * (self.certain(*g) if len(g) == 1 else self.mixed(g, 1)) for g in groups)
        return max(NO, Fraction(told - many * self.mixed(prior, 0), many << BITS))

    def capacity(self, prior: dict[int, int]) -> Fraction:
        """max_c D(W_c || q) from above, q the law of Y under a prior of the shifts; no X tells more."""
        if self.low == self.high or self.first == self.last:
            return NO
        inside = bool(prior) and self.first <= min(prior) <= max(prior) <= self.last
        require(inside and min(prior.values()) > 0, "a prior is not on the shifts, or not positive")
        out, many = self.output(prior), self.total * sum(prior.values())
        cost = {y: -(log2(Fraction(v, many))[0] >> BITS - 96) for y, v in enumerate(out, self.low) if v}
        require(self.reached <= set(cost), "the prior leaves out a released number")
        mixed = enumerate(self.smoothed(cost), self.first)
        worst = max(self.certain(c) + (-(-v // self.total) << BITS - 96) for c, v in mixed)
        return Fraction(max(worst, 0), 1 << BITS)

    def from_variance(self, variance: Fraction) -> Fraction:
        """I(X; T) from above for every X whose take x has at most this variance."""
        if self.rounded:  # the deviation of a rounded number is larger by at most 1/2
            variance += Fraction(isqrt(int(variance * 10**12) + 1) + 1, 10**6) + Fraction(1, 4)
        spread = variance + Fraction(self.twice[-1], self.total) + Fraction(1, 12)
        told = (Fraction(log2(TWO_PI_E * spread)[1], 2) + self.surprise[1][-1]) / (1 << BITS)
        return max(NO, told) if self.first < self.last else NO


def least_capacity(axis: AxisProof, p: str, limit: Fraction, proof: dict[str, Any]) -> Fraction:
    """No noise within the same limit has a smaller capacity: f(V) = I(r; V) is convex in V and f(V) >= sum_k g_k V_k,
    g_k = log2 W(k) - sum_x r_x log2 q(x + k), for W the noise of the axis and q = r * W. With E|N|^p <= M: f >= min_k
    (g_k + slope |k|^p) - slope M; where p is "inf", |N| <= reach. The reach of W is part of the claim.
    """
    slope, prior = exact(proof["slope"]), {int(c): int(n) for c, n in proof["prior"]}
    moment = limit ** int(p) if p != "inf" else NO
    require(p in ("1", "2", "inf") and slope >= 0 and min(axis.half) > 0, "the limit on the noise is not known")
    require(axis.free and sum(map(abs, axis.a)) == axis.one, "the bound is for noise that is added and not collected")
    require(p != "inf" or limit < axis.reach + 1, "noise of a larger reach is within the limit")
    require(axis.first <= min(prior) <= max(prior) <= axis.last and min(prior.values()) > 0, "a prior is wrong")
    many, out = sum(prior.values()), axis.output(prior)
    logs = [log2(Fraction(v, axis.total * many))[1] if v else 0 for v in out]
    found = []
    for k in range(-axis.reach, axis.reach + 1):
        seen = sum(n * logs[c + k - axis.low] for c, n in prior.items())
        g = log2(Fraction(axis.half[abs(k)], axis.total))[0] - Fraction(seen, many)
        found.append(g / (1 << BITS) + (slope * abs(k) ** int(p) if p != "inf" else 0))
    return max(NO, min(found) - slope * moment)


class NoiseProof:
    """A design or a card whose channel is of form noise; a card has no records."""

    def __init__(self, document: dict[str, Any], certificate: dict[str, Any]) -> None:
        self.channel = NoisyChannel(document["channel"], AxisProof)
        self.axes: list[Any] = self.channel.axes
        self.records = cast(Any, Records(document["joint"], self.channel) if "joint" in document else None)
        self.priors = [{int(c): int(n) for c, n in prior} for prior in certificate["priors"]]
        self.variances = [exact(v) for v in certificate["variances"]]
        require(len(self.priors) == len(self.variances) == len(self.axes), "there is not one prior for each axis")
        found = [self.records.variance(axis) for axis in self.axes] if self.records else []
        require(all(v <= c for v, c in zip(found, self.variances)), "the records have a larger variance than said")
        told = self.records and certificate.get("line")  # H(X | Y) <= b + s D for every Y on the grid, if s > 0
        self.line = self.records.unknown(told, self.channel) if told else (NO, NO)

    def told(self, secret: list[str]) -> Fraction:
        """I(S; Y) from above for the records."""
        own, about = [], []
        for axis in self.axes:
            every, groups = self.records.shifts(axis, secret)
            own.append(axis.leakage(every, [{c: n} for c, n in every.items()]))
            few = not set(self.channel.names) <= set(secret) and len(groups) * (axis.high - axis.low) <= PAIRS
            about.append(axis.leakage(every, list(groups.values())) if few else own[-1])
        return sum(own, NO) + min((a - b for a, b in zip(about, own)), default=NO)

    @cached_property
    def capacity(self) -> Fraction:
        return sum((axis.capacity(prior) for axis, prior in zip(self.axes, self.priors)), NO)

    @cached_property
    def level(self) -> Fraction | None:
        found = [axis.ratio() for axis in self.axes]
        return None if None in found else nats(prod(found, start=Fraction(1)))

    def excess(self, epsilon: Fraction) -> Fraction:
        return sum((axis.excess(exp(epsilon / len(self.axes))[0]) for axis in self.axes), NO)

    @cached_property
    def contraction(self) -> Fraction:
        passed = [min(1 - axis.affinity() ** 2, axis.excess(Fraction(1))) for axis in self.axes]
        return 1 - prod((1 - share for share in passed), start=Fraction(1))

    def stated(self) -> Figures:
        """What holds whatever the secret and the law of the records are, and what holds for these records."""
        level, worst = self.level, self.channel.worst()
        told: Figures = {
            "capacity_bits": up(self.capacity),
            "variance_bits": up(sum((a.from_variance(v) for a, v in zip(self.axes, self.variances)), NO)),
            "eta_kl": up(self.contraction),
            "epsilon_nats": None if level is None else up(level),
            "delta": {epsilon: up(self.excess(exact(epsilon))) for epsilon in AT},
            "worst_distortion": None if worst is None else up(worst),
        }
        if not self.records:
            return told
        more = {"leakage_bits": self.told(self.channel.names), "distortion": self.channel.squared(self.records)}
        return told | {k: up(v) for k, v in more.items()}

    def learned(self, promised: dict[str, Any]) -> Fraction:
        """What any adversary learns at most about a group of records from so many rows, each drawn by itself.

        Rows are drawn independently, so that capacities add up: over the rows of the group, or over all rows that are
        looked at, which may all be tied to the group; then no more than its columns hold.
        """
        group, rows = draws_of(promised)
        if rows == 1:
            return group * self.capacity
        held = Fraction(log2(Fraction(prod(map(len, self.channel.inputs.values()))))[1], 1 << BITS)
        return min(rows * self.capacity, group * held)

    def promise(self, promised: dict[str, Any]) -> Figures | None:
        """The figure of a promise, which is kept; None where it needs the records and there are none."""
        kinds: dict[tuple[str, ...], tuple[str, Callable[[], Any], str]] = {
            ("at_most_bits", "leakage"): ("leakage_bits", lambda: self.told(promised["leakage"]), "at_most_bits"),
            ("at_most_bits", "dalenius"): ("capacity_bits", lambda: self.learned(promised), "at_most_bits"),
            ("contraction",): ("eta_kl", lambda: self.contraction, "contraction"),
            ("local_dp",): ("epsilon_nats", lambda: self.level, "local_dp"),
            ("delta", "local_dp"): ("delta", lambda: self.excess(exact(promised["local_dp"])), "delta"),
        }
        counts = {"group", "rows"} if "dalenius" in promised else set[str]()
        words = tuple(sorted(set(promised) - counts))
        require(words in kinds, f"this checker cannot prove the promise {list(words)} of noise")
        if "leakage" in words and not self.records:
            return None
        name, found, limit = kinds[words]
        kept = (figure := found()) is not None and figure <= exact(promised[limit])
        require(kept, f"the promise is exceeded: {name} is {'infinite' if figure is None else up(figure, 12)}")
        return {name: up(figure)}

    def least_told(self, secret: list[str], squared: Fraction) -> Fraction:
        """I(S; Y) from below for every Y of at most this squared error: I(S; X) less what stays unknown."""
        (many, blur, size), (b, s) = self.channel.blur, self.line
        unknown = Fraction(many * log2(TWO_PI_E * (squared + blur) / many)[1], 2 << BITS) - size
        return Fraction(self.records.known(secret)[0] - (min(unknown, b + s * squared) if s else unknown))

    def least_error(self, secret: list[str], told: Fraction) -> Fraction:
        """The squared error from below of every Y that tells no more about S: the other way round."""
        (many, blur, size), (b, s) = self.channel.blur, self.line
        unknown = self.records.known(secret)[0] - told
        found = many / TWO_PI_E * two_to(2 * (unknown + size) / many)[0] - blur
        return max(found, (unknown - b) / s) if s else found


def _least(proof: NoiseProof, design: dict[str, Any], aim: dict[str, Any]) -> Fraction:
    """A lower bound of the objective, over every mechanism that keeps the promises and the limits."""
    names, limits = proof.channel.names, [entry["promised"] for entry in design.get("limits", [])]
    if "capacity" in aim:
        (limit,), least = limits, design["certificate"].get("least", [])
        parts = zip(proof.axes, proof.channel.steps, least)
        return sum((least_capacity(a, limit["p"], exact(limit["at_most"]) / s, l) for a, s, l in parts), NO)
    if "leakage" in aim:
        errors = [exact(v["at_most"]) for v in limits if v["distortion"] == "squared"]
        errors += [exact(v["at_most"]) ** 2 * len(names) for v in limits if v.get("p") == "2"]
        return max([NO, *(proof.least_told(aim["leakage"], d) for d in errors)])
    found = [NO]
    for promised in (g["promised"] for g in design["guarantees"]):
        epsilon = exact(promised["local_dp"]) if set(promised) == {"local_dp"} else NO  # I <= eps min(1, eps/2) nats
        if "at_most_bits" in promised:  # independent records of a group tell the sum of what each tells
            each = exact(promised["at_most_bits"]) / (draws_of(promised)[0] if "dalenius" in promised else 1)
            found.append(proof.least_error(promised.get("leakage", names), each))
        elif "contraction" in promised:
            found.append(proof.least_error(names, exact(promised["contraction"]) * proof.records.known(names)[1]))
        elif epsilon:
            found.append(proof.least_error(names, epsilon * min(Fraction(1), epsilon / 2) * E_HIGH))
    return max(found)


def noise_promises(document: dict[str, Any]) -> tuple[Any, ...]:
    """The figures of every promise of a design; of a card those that need no records, and what it states as well."""
    proof = NoiseProof(document, document.get("certificate") or document["proof"])
    shown = tuple(proof.promise(g["promised"]) for g in document["guarantees"])
    if "proof" in document:
        found, stated = proof.stated(), document["proof"]["stated"]
        fair = not document["kept"] and no_better({k: stated[k] for k in found}, found)
        require(fair, "a stated figure is not proved, or a column is kept")
    return shown


def noise(design: dict[str, Any]) -> Any:
    """Figures of the promises, kind, value, bound, entropy and figures of the limits."""
    proof, mechanism = NoiseProof(design, design["certificate"]), design["mechanism"]
    aim, distortion = design["objective"]["minimize"], proof.channel.distortion
    plain = set(mechanism) <= {"observe", "release", "form", "noise", "clip", "order"}
    require(plain and "side_information" not in design, "noise is proved without kept columns and side information")
    require(mechanism["observe"] == mechanism["release"] == proof.channel.names, "the channel releases other columns")
    limits = []
    for measure in (entry["promised"] for entry in design.get("limits", [])):
        limits.append({"expected": written(figure := distortion(measure, proof.records))})
        require(figure <= exact(measure["at_most"]), "a distortion is larger than its limit")
    about = aim.get("leakage")
    value = proof.capacity if "capacity" in aim else proof.told(about) if about else distortion(aim, proof.records)
    if "stated" in design["certificate"]:
        require(no_better(design["certificate"]["stated"], proof.stated()), "a stated figure is not proved")
    shown = tuple(proof.promise(g["promised"]) for g in design["guarantees"])
    entropy = proof.records.known(about)[1] if about else NO
    return shown, "noise", value, _least(proof, design, aim), entropy, tuple(limits)
