"""Least leakage, distortion or rate: what a design reaches, the limits it keeps, and a bound that no mechanism passes.

Rows e are the inputs that occur, N(e) records out of N; letters t. With J(k, t) = sum_e N(k, e) W(t|e) / N for the
values k of a secret (and of what stands beside it, in groups g), c = p(k|g) and any pmfs b(.|g, t),

    I(S; T | G) = sum_t sum_k J log2(J / (J_g c))  >=  sum_e,t p(e) W(t|e) sum_k p(k|e) log2(b(k|t) / c(k)),

so that for any multipliers of the right sign every mechanism that keeps the promises has an objective of at least

    sum_e p(e) min_t R(e, t) + const,    R = objective + multipliers x (left side - right side of each promise).    (1)
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

from dalenius.certify.cuts import cuts
from dalenius.certify.privacy import Figures
from dalenius.core.arithmetic import BITS, exp, log2
from dalenius.core.letters import Row, Scheme
from dalenius.core.numbers import exact, written
from dalenius.core.reading import Release, information, refusing, require, worlds_of

UNIT = 60  # bits after the point of every multiplier


def kept_limits(scheme: Scheme, design: dict[str, Any]) -> tuple[Figures, ...]:
    """What is forbidden never happens, margins are preserved, and the figure of every limit is at most that."""
    for x, barred in zip(scheme.occur, scheme.barred):
        require(not any(scheme.release.rows[x][t] for t in barred), "a forbidden letter can be released")
    impossible = (row[t] for row in scheme.release.rows for t in scheme.never)
    require(not any(impossible), "an impossible combination can be released")
    if design["mechanism"].get("preserve_marginals"):
        seen = [0] * len(scheme.told)
        for x, n in zip(scheme.occur, scheme.mass):
            seen = [a + n * v for a, v in zip(seen, scheme.release.rows[x])]
        require(seen == [n * scheme.release.scale for n in scheme.margin()], "a marginal is not preserved")
    shown = []
    for k, measure in enumerate(scheme.measures):
        figure = scheme.expected(measure)
        require(figure <= exact(measure["at_most"]), f"the distortion of limit {k + 1} is {written(figure)}")
        shown.append({"expected": written(figure)})
    return tuple(shown)


class Tilt:
    """The secret of one leakage: its values beside what the user has, their weights, log2(b / c) for posteriors b.

    With `only` one value of what the user has, the records with it alone count, and c = p(s) of all records.
    """

    def __init__(
        self, scheme: Scheme, secret: list[str], given: list[str], only: tuple[str, ...] | None = None
    ) -> None:
        release = scheme.release
        labels = release.outcomes(secret + given)
        self.keys, self.counts = sorted(set(labels)), scheme.by_row(labels)
        self.weight, self.beside = release.weights(labels), Counter[Any]()
        if only is not None:
            self.keys = [key for key in self.keys if key[len(secret) :] == only]
            self.counts = [Counter({key: found[key] for key in self.keys if found[key]}) for found in self.counts]
            alone = release.weights(release.outcomes(secret))
            self.weight = Counter({(key,): alone[(key[: len(secret)],)] for key in self.keys})
        self.group = [key[len(secret) :] for key in self.keys]
        for key, g in zip(self.keys, self.group):
            self.beside[g] += self.weight[(key,)]
        if only is not None:
            self.beside[only] = release.total

    def logs(self, posteriors: Any, weights: list[int]) -> list[Row]:
        """floor(weight_t log2(b(k|t) / c(k))), b being the given numbers divided by their sum in each group."""
        require(len(posteriors) == len(self.keys), "a posterior lacks a value of its secret")
        out: list[Row] = [[] for _ in self.keys]
        for column, w in zip(zip(*posteriors, strict=True), weights, strict=True):
            sums = Counter[Any]()
            for v, g in zip(column, self.group):
                require(isinstance(v, int) and v > 0, "a posterior is not positive")
                sums[g] += v
            for k, (key, g, v) in enumerate(zip(self.keys, self.group, column)):
                ratio = Fraction(v * self.beside[g], sums[g] * self.weight[(key,)])
                out[k].append(w * log2(ratio)[0] >> BITS if w else 0)
        return out

    def add(self, rows: list[Row], logs: list[Row]) -> None:
        place = {key: k for k, key in enumerate(self.keys)}
        for e, found in enumerate(self.counts):
            for key, n in found.items():
                rows[e] = [a + n * v for a, v in zip(rows[e], logs[place[key]])]


def prove_limits(design: dict[str, Any]) -> tuple[Figures, ...]:
    """The figures of every limit, from the joint pmf and the channel alone; or a refusal."""
    with refusing():
        if "minimize" in design["objective"]:
            return kept_limits(Scheme(Release(design), design), design)
        shaped = {"forbid", "freeze", "preserve_marginals"} & {*design["mechanism"]}
        bare = {k: v for k, v in design.items() if k != "certificate"}  # its tree is one of subsets, not of maps
        return kept_limits(Scheme(Release(design), bare), design) if shaped else ()


def proved_least(
    release: Release, design: dict[str, Any]
) -> tuple[Fraction, Fraction, Fraction, tuple[Figures, ...], Fraction]:
    """Value, bound and entropy, the figures of the limits, and what is told beside side information."""
    certificate = design["certificate"]
    require(certificate["kind"] == "dual", "this checker knows no such proof of a least value")
    scheme = Scheme(release, design)
    value, entropy, beside = reached(scheme, design["objective"]["minimize"])
    return value, max(Fraction(0), dual(scheme, design, certificate)), entropy, kept_limits(scheme, design), beside


def reached(scheme: Scheme, aim: dict[str, Any]) -> tuple[Fraction, Fraction, Fraction]:
    """The value of the channel, the entropy of what it should not tell, and I(S; Y, Z) if Z was ignored; from above."""
    release, value, entropy, beside = scheme.release, Fraction(0), Fraction(0), Fraction(0)
    if "distortion" in aim or "sum" in aim:
        return scheme.expected(aim), entropy, beside
    nothing = [()] * len(release.atoms)
    for share, secret, given in told_about(scheme, aim):
        value += share * information(release.with_output(secret, given))[1]
        here = release.outcomes(secret)
        entropy += share * information(release.weights(here, nothing, here))[1]
    if release.encoder == "uninformed" and "leakage" in aim:
        beside = information(release.with_output(aim["leakage"], [], release.leaving + release.side))[1]
    return value, entropy, beside


def told_about(scheme: Scheme, aim: dict[str, Any]) -> list[tuple[Fraction, list[str], list[str]]]:
    """(share, secret, given) of each information in an objective: the leakage, the rate, or both with weight theta."""
    release, theta = scheme.release, exact(aim.get("theta", int("leakage" in aim)))
    require(
        0 <= theta <= 1 and ("theta" in aim) == ("leakage" in aim and "rate" in aim), "an objective without a sense"
    )
    found = [(theta, list(aim["leakage"]), list[str]())] if "leakage" in aim else []
    if "rate" in aim:
        require(not release.leaving, "the rate is that of a release without kept columns")
        side = release.side if release.encoder != "uninformed" else []
        found.append((1 - theta, [n for n in release.inputs if n not in side], side))
    return [entry for entry in found if entry[0]]


def dual(scheme: Scheme, design: dict[str, Any], proof: dict[str, Any]) -> Fraction:
    """The bound (1); every multiplier in units of 2^-UNIT, every rounding downwards."""
    aim, release, one, letters = design["objective"]["minimize"], scheme.release, 1 << UNIT, len(scheme.maps)
    rows: list[Row] = [[0] * letters for _ in scheme.mass]
    barred = [set(b) for b in scheme.barred]
    promises = [g["promised"] for g in design["guarantees"]]
    nothing, kept = [()] * len(release.atoms), release.outcomes(release.kept)
    const, total, posteriors = Fraction(0), release.total, iter(proof["posteriors"])

    def positive(values: Any, length: int) -> Row:
        require(len(values) == length and all(isinstance(v, int) and v >= 0 for v in values), "a multiplier has a sign")
        return list(values)

    def already(secret: list[str]) -> Fraction:  # what the kept columns and the side information tell by themselves
        return information(release.weights(release.outcomes(secret), nothing, kept))[0]

    def distorted(measure: dict[str, Any], s: int) -> None:
        costs, unit = scheme.costs(measure, 0, scheme.maps)
        for e, cost in enumerate(costs):
            barred[e].update(t for t, c in enumerate(cost) if c is None)
            rows[e] = [a + s * (c or 0) // unit for a, c in zip(rows[e], cost)]

    if "distortion" in aim or "sum" in aim:
        distorted(aim, one)
    else:
        for share, secret, given in told_about(scheme, aim):
            tilt = Tilt(scheme, secret, given or release.kept)
            tilt.add(rows, tilt.logs(next(posteriors, ()), [int(share * one)] * letters))
            const += share * already(secret) if not given else 0
    for measure, s in zip(scheme.measures, positive(proof["distortion"], len(scheme.measures))):
        distorted(measure, s)
        const -= Fraction(s, one) * exact(measure["at_most"])
    leaks = [p for p in promises if "leakage" in p]
    for promise, w in zip(leaks, positive(proof["leakage"], len(leaks))):
        tilt = Tilt(scheme, promise["leakage"], release.kept)
        tilt.add(rows, tilt.logs(next(posteriors, ()), [w] * letters))
        const -= Fraction(w, one) * (exact(promise["at_most_bits"]) - already(promise["leakage"]))
    singles, worlds = iter(zip(proof.get("worst_posteriors", []), proof.get("worst", []))), sorted(set(kept))
    for promise in [p for p in promises if "worst_case_leakage" in p]:
        for world, (given_logs, given_w) in zip(worlds, singles):
            tilt, w = Tilt(scheme, promise["worst_case_leakage"], release.kept, only=world), positive(given_w, letters)
            tilt.add(rows, tilt.logs(given_logs, w))
            level = exact(promise["at_most_bits"])
            for e, n in enumerate(sum(found.values()) for found in tilt.counts):
                rows[e] = [a - -(-v * n * level.numerator // level.denominator) for a, v in zip(rows[e], w)]
    for promise, nu in zip([p for p in promises if "information_privacy" in p], proof.get("odds", [])):
        secret, r = promise["information_privacy"], exp(exact(promise["epsilon"]))[1]
        alone, both = release.weights(release.outcomes(secret)), Tilt(scheme, secret, release.kept).counts
        keys, here = list(product(sorted(s for (s,) in alone), worlds)), scheme.by_row(kept)
        for k, row in enumerate(positive(v, letters) for v in nu):
            s, world = keys[k % len(keys)]
            for e, found in enumerate(both):
                c, share = found[s + world], Fraction(alone[(s,)] * here[e][world], total)
                q = c - share / r if k < len(keys) else r * share - c
                rows[e] = [a + -v * q.numerator // q.denominator for a, v in zip(rows[e], row)]
    equal = iter(proof.get("equal", []))
    beside = scheme.by_row(kept)
    for view in [p["independent"] for p in promises if "independent" in p] if proof.get("equal") else []:
        tilt, alone = Tilt(scheme, view, release.kept), release.weights(release.outcomes(view))
        for world, (a,) in product(worlds, sorted(alone)[:-1]):  # p(a, world | e) - p(a) p(world | e)
            eta = [int(v) for v in next(equal, ())]
            for e in range(len(rows)):
                g = total * tilt.counts[e][a + world] - alone[(a,)] * beside[e][world]
                rows[e] = [r + -v * g // total for r, v in zip(rows[e], eta, strict=True)]
    if design["mechanism"].get("preserve_marginals") and proof.get("equal"):
        eta = [int(v) for v in next(equal, ())]
        const += sum((Fraction(v * n, one * total) for v, n in zip(eta, scheme.margin(), strict=True)), Fraction(0))
        for e, n in enumerate(scheme.mass):
            rows[e] = [a - v * n for a, v in zip(rows[e], eta)]
    levels, numbers = [p for p in promises if "local_dp" in p], scheme.occur
    if any("metric" in p for p in levels):  # which rows of inputs that never occur have to keep too
        numbers = numbers + [x for x in range(len(release.rows)) if x not in {*numbers}]
        rows += [[0] * letters for _ in numbers[len(rows) :]]
        barred += [set() for _ in numbers[len(barred) :]]
    among = dict(enumerate(worlds_of(release.inputs, release.sizes, release.leaving)))
    for promise, pairs in zip(levels, proof.get("near", [])):
        _near(rows, {x: (e, among[x]) for e, x in enumerate(numbers)}, promise, pairs, total)
    for promise, given_cuts in zip([p for p in promises if "contraction" in p], proof.get("contraction", [])):
        const -= cuts(rows, given_cuts, promise, total * one)
    least = [min((v for t, v in enumerate(row) if t not in b), default=None) for row, b in zip(rows, barred)]
    require(None not in least, "an input has no letter that it may be released as")
    return Fraction(sum(v for v in least if v is not None), total * one) + const


def _near(rows: list[Row], place: dict[int, Any], promise: dict[str, Any], proof: Any, total: int) -> None:
    """e^(epsilon d) W(t|j) - W(t|i) >= 0 times v, for the [i, j, v] of each letter t: rows i and j of one world."""
    require(len(proof) == len(rows[0]), "local_dp lacks multipliers")
    metric, known = promise.get("metric"), dict[Any, tuple[int, int]]()
    for t, pairs in enumerate(proof):
        for i, j, v in pairs:
            (e, here), (z, there), d = place[i], place[j], metric[i][j] if metric else "1"
            require(here == there, "local_dp does not speak of these two inputs")
            require(isinstance(v, int) and v >= 0, "a multiplier has a sign")
            if d not in known:
                known[d] = exp(exact(promise["local_dp"]) * exact(d))[1].as_integer_ratio()
            rows[e][t] += total * v
            rows[z][t] += -total * v * known[d][0] // known[d][1]
