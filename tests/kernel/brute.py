"""Whether a design keeps its promises, in floats and without the kernel: what it denies, the kernel must refuse."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction

SLACK = 1e-9


def number(text):
    return float(Fraction(text))


class Told:
    """A design written out: the matrix, the atoms, and what leaves beside the letter."""

    def __init__(self, document):
        self.document = document
        mechanism = document["mechanism"]
        self.alphabets = {variable["name"]: variable["letters"] for variable in document["variables"]}
        side = [mechanism["side"]["variable"]] if mechanism["side"] else []
        self.reads = mechanism["observe"] + mechanism["strata"] + side
        self.beside = mechanism["keep"] + mechanism["strata"] + side
        self.inputs = list(itertools.product(*(range(len(self.alphabets[name])) for name in self.reads)))
        self.rows = dict(zip(self.inputs, self.matrix(document["channel"]), strict=True))
        self.atoms = self.law(document["law"]) if "law" in document else []

    def matrix(self, channel):
        match channel["form"]:
            case "dense":
                return [[int(v) / int(channel["scale"]) for v in row] for row in channel["rows"]]
            case "pram":
                stay = [number(v) for v in channel["stay"]]
                others = max(1, len(stay) - 1)
                return [[q if x == y else (1 - q) / others for y in range(len(stay))] for x, q in enumerate(stay)]
            case "resample":
                stay, draw = ([number(v) for v in channel[key]] for key in ("stay", "others"))
                return [[(1 - q) * p + q * (x == y) for y, p in enumerate(draw)] for x, q in enumerate(stay)]
            case "staircase":
                ratio = number(channel["ratio"])
                return [
                    [number(weight) * (ratio if c in members else 1) for weight, members in channel["columns"]]
                    for c in channel["classes"]
                ]

    def law(self, law):
        """[(outcome by name, mass)]"""
        if law["law"] == "independent":
            parts = [self.law(group) for group in law["groups"]]
            found = []
            for atoms in itertools.product(*parts):
                outcome = {name: k for atom, _ in atoms for name, k in atom.items()}
                found.append((outcome, math.prod(mass for _, mass in atoms)))
            return found
        total = sum(int(outcome[-1]) for outcome in law["outcomes"])
        return [
            (dict(zip(law["variables"], outcome[:-1], strict=True)), int(outcome[-1]) / total)
            for outcome in law["outcomes"]
        ]

    def joint(self, secret, atoms=None):
        found = defaultdict(float)
        for outcome, mass in self.atoms if atoms is None else atoms:
            beside = tuple(outcome[name] for name in self.beside)
            row = self.rows[tuple(outcome[name] for name in self.reads)]
            for y, p in enumerate(row):
                found[tuple(outcome[name] for name in secret), (y, beside)] += mass * p
        return {key: p for key, p in found.items() if p}


def margins(joint):
    prior, out = defaultdict(float), defaultdict(float)
    for (s, y), p in joint.items():
        prior[s] += p
        out[y] += p
    return prior, out


def information(joint):
    prior, out = margins(joint)
    return sum(p * math.log2(p / prior[s] / out[y]) for (s, y), p in joint.items())


def worst_letter(joint):
    prior, out = margins(joint)
    found = defaultdict(float)
    for (s, y), p in joint.items():
        found[y] += p / out[y] * math.log2(p / out[y] / prior[s])
    return max(found.values())


def odds(joint):
    prior, out = margins(joint)
    ratios = [joint.get((s, y), 0) / prior[s] / out[y] for s in prior for y in out]
    return max(max(ratios), 1 / min(ratios) if min(ratios) else math.inf)


def keeps_local_dp(told, promise):
    if not set(told.beside) <= set(promise["given"]):
        return False
    at = [k for k, name in enumerate(told.reads) if name in promise["given"]]
    epsilon = number(promise["epsilon"]) / promise["rows"]
    delta = number(promise["delta"]) / promise["rows"]
    for i, x in enumerate(told.inputs):
        for j, z in enumerate(told.inputs):
            if any(x[k] != z[k] for k in at):
                continue
            far = number(promise["metric"][i][j]) if promise["metric"] else 1
            ratio = math.exp(min(700, epsilon * far))
            if sum(max(0, a - ratio * b) for a, b in zip(told.rows[x], told.rows[z], strict=True)) > delta + SLACK:
                return False
    return True


def laws_of_group(told, group, chance):
    """Some laws under which an adversary may look at a group of inputs."""
    members = chance.sample(range(len(told.reads)), group)
    for _ in range(6):
        weights = {x: chance.random() ** 4 for x in told.inputs if chance.random() < 0.7}
        if weights:
            yield members, [(x, w / sum(weights.values())) for x, w in weights.items()]


def keeps_dalenius(told, promise, chance):
    """No law that we try tells more about a group; rows of one person repeat their values."""
    if told.beside:
        return False
    for members, law in laws_of_group(told, promise["group"], chance):
        joint = defaultdict(float)
        for x, mass in law:
            for letters in itertools.product(range(len(told.rows[x])), repeat=min(2, int(promise["rows"]))):
                p = math.prod(told.rows[x][y] for y in letters)
                joint[tuple(x[k] for k in members), letters] += mass * p
        if information({key: p for key, p in joint.items() if p}) > number(promise["at_most_bits"]) + SLACK:
            return False
    return True


def keeps_contraction(told, promise):
    if told.beside:
        return False
    most = 0.0
    for p in told.rows.values():
        for q in told.rows.values():
            for b in (0.2, 0.35, 0.5, 0.65, 0.8):
                mixed = [(b * u + (1 - b) * v, u - v) for u, v in zip(p, q, strict=True) if u or v]
                most = max(most, b * (1 - b) * sum(apart**2 / m for m, apart in mixed))
    return most <= number(promise["at_most"]) + SLACK


def keeps_within(told, promise, chance):
    """No law of the ball that we try leaks more."""
    ball, radius = promise["within"]["ball"], number(promise["within"]["radius"])
    names = list(told.alphabets)
    everything = [
        dict(zip(names, k, strict=True)) for k in itertools.product(*(range(len(told.alphabets[n])) for n in names))
    ]
    stated = {tuple(outcome.items()): mass for outcome, mass in told.atoms}
    law = [(outcome, stated.get(tuple(outcome.items()), 0.0)) for outcome in everything]
    for _ in range(8):
        if ball == "total_variation":
            moved = [chance.random() ** 3 for _ in law]
            other = [(o, (1 - radius) * p + radius * m / sum(moved)) for (o, p), m in zip(law, moved, strict=True)]
        elif ball == "kl_bits":
            tilt = [math.exp(chance.gauss(0, 1) * min(1, math.sqrt(radius))) for _ in law]
            whole = sum(p * t for (_, p), t in zip(law, tilt, strict=True))
            other = [(o, p * t / whole) for (o, p), t in zip(law, tilt, strict=True)]
            if sum(p * math.log2(p / q) for (_, p), (_, q) in zip(other, law, strict=True) if p) > radius:
                continue
        else:
            if told.document["law"]["law"] != "table":
                return False
            total = sum(int(outcome[-1]) for outcome in told.document["law"]["outcomes"])
            # a quarter of a standard deviation of every cell lies in any region of half confidence and more
            other = [(o, max(0.0, p + chance.gauss(0, 0.05) * math.sqrt(p / total))) for o, p in law]
            whole = sum(p for _, p in other)
            other = [(o, p / whole) for o, p in other]
        if information(told.joint(promise["secret"], other)) > number(promise["at_most_bits"]) + SLACK:
            return False
    return True


def gained(told, promise, joint):
    """The best action of every letter, and without a letter; side information is known in both."""
    sizes = [len(told.alphabets[name]) for name in promise["secret"]]
    values = list(itertools.product(*map(range, sizes)))
    rows = promise["gain"] or [[str(int(s == t)) for s in values] for t in values]
    side = told.document["mechanism"]["side"]
    known = lambda y: y[1][-1:] if side else ()  # noqa: E731
    after, before = defaultdict(lambda: [0.0] * len(rows)), defaultdict(lambda: [0.0] * len(rows))
    for (s, y), p in joint.items():
        for a, row in enumerate(rows):
            more = number(row[values.index(s)]) * p
            after[y][a] += more
            before[known(y)][a] += more
    return sum(map(max, before.values())), sum(map(max, after.values()))


def keeps_guess(told, promise, joint):
    before, after = gained(told, promise, joint)
    limit = number(promise["times"]) * before if promise["at_most"] is None else number(promise["at_most"])
    return after <= limit + SLACK


def keeps_maximal(told, promise):
    if told.document["mechanism"]["keep"]:
        return False
    best = defaultdict(float)
    layers = [k for k, name in enumerate(told.reads) if name in told.document["mechanism"]["strata"]]
    for x, row in told.rows.items():
        for y, p in enumerate(row):
            key = y, tuple(x[k] for k in layers)
            best[key] = max(best[key], p)
    return math.log2(sum(best.values())) <= number(promise["at_most_bits"]) + SLACK


def keeps_maximal_about(_, promise, joint):
    prior, out = margins(joint)
    best = sum(max(joint.get((s, y), 0) / prior[s] for s in prior) for y in out)
    return math.log2(best) <= number(promise["at_most_bits"]) + SLACK


def keeps_variation(_, promise, joint):
    prior, out = margins(joint)
    apart = sum(abs(joint.get((s, y), 0) - prior[s] * out[y]) for s in prior for y in out)
    return apart / 2 <= number(promise["at_most"]) + SLACK


def keeps_sibson(_, promise, joint):
    a = number(promise["order"])
    prior, out = margins(joint)
    whole = sum(sum(p * (joint.get((s, y), 0) / p) ** a for s, p in prior.items()) ** (1 / a) for y in out)
    return a / (a - 1) * math.log2(whole) <= number(promise["at_most_bits"]) + SLACK


GAUGES = {
    "guess": keeps_guess,
    "maximal_leakage": keeps_maximal_about,
    "total_variation": keeps_variation,
    "sibson": keeps_sibson,
}


def keeps(told, promise, chance):
    """Whether one promise is kept, as far as floats and a few tries can tell."""
    kind = promise["promise"]
    if promise.get("secret"):
        if not told.atoms:
            return True  # a card does not claim it
        joint = told.joint(promise["secret"])
        if kind == "independent":
            return information(joint) <= SLACK
        if kind == "information_privacy":
            return math.log(odds(joint)) <= number(promise["epsilon"]) + SLACK
        if kind == "worst_case_leakage":
            return worst_letter(joint) <= number(promise["at_most_bits"]) + SLACK
        if kind in GAUGES:
            return GAUGES[kind](told, promise, joint)
        plain = information(joint) <= number(promise["at_most_bits"]) + SLACK
        return plain and (promise["within"] is None or keeps_within(told, promise, chance))
    if kind == "local_dp":
        return keeps_local_dp(told, promise)
    if kind == "maximal_leakage":
        return keeps_maximal(told, promise)
    return keeps_dalenius(told, promise, chance) if kind == "dalenius" else keeps_contraction(told, promise)


def keeps_shape(told):
    mechanism = told.document["mechanism"]
    letters = list(itertools.product(*(told.alphabets[name] for name in mechanism["release"])))
    for x, row in told.rows.items():
        before = {name: told.alphabets[name][k] for name, k in zip(told.reads, x, strict=True)}
        for t, p in enumerate(row):
            if not p or not mechanism["release"]:
                continue
            after = dict(zip(mechanism["release"], letters[t], strict=True))
            for name, new in after.items():
                old = before.get(name)
                if [old, new] in mechanism["forbid"] or (old in mechanism["freeze"] and old != new):
                    return False
            if any(all(after[z["column"]] in z["letters"] for z in zero) for zero in mechanism["never"]):
                return False
    if mechanism["preserve_marginals"]:
        drift = defaultdict(float)
        for outcome, mass in told.atoms:
            drift[tuple(told.alphabets[name][outcome[name]] for name in mechanism["release"])] -= mass
            for t, p in enumerate(told.rows[tuple(outcome[name] for name in told.reads)]):
                drift[letters[t]] += mass * p
        return bool(told.atoms) and all(abs(apart) < SLACK for apart in drift.values())
    return True


def truthful(document, chance):
    """Whether floats find nothing false in the promises and shapes of a document."""
    told = Told(document)
    laws = all(abs(sum(row) - 1) < SLACK and min(row) >= 0 for row in told.rows.values())
    return laws and keeps_shape(told) and all(keeps(told, promise, chance) for promise in document["promises"])
