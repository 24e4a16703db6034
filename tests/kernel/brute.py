"""Whether a design keeps its promises, without the kernel: what this denies, the kernel must refuse.

Probabilities are rationals; only logarithms, powers and ratios of an epsilon are floats.
"""

import copy
import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction
from math import prod

from tests.kernel.written_out import MOST, Unknown, atoms_of, place, rows_of

SLACK = 1e-9


number = Fraction


class Told:
    """A design written out: the rows of its channel, the atoms, what leaves beside the letter, and the letters."""

    def __init__(self, document):
        self.document = document
        mechanism = document["mechanism"]
        self.alphabets = {variable["name"]: variable["letters"] for variable in document["variables"]}
        self.atoms = atoms_of(document["law"], self.alphabets) if "law" in document else []
        side = [mechanism["side"]["variable"]] if mechanism["side"] else []
        informed = bool(side) and mechanism["side"]["encoder"] == "informed"
        self.reads = mechanism["observe"] + mechanism["strata"] + (side if informed else [])
        self.leaving = mechanism["keep"] + mechanism["strata"]
        self.beside = self.leaving + side  # the user has side information, whoever reads it
        sizes = [len(self.alphabets[name]) for name in self.reads]
        if document["channel"]["form"] in ("records", "medians", "types") and prod(sizes) > MOST:
            raise Unknown("large")
        self.inputs = list(itertools.product(*map(range, sizes)))
        law = defaultdict(Fraction)
        for outcome, mass in self.atoms:
            law[self.read(outcome)] += mass
        released = mechanism["release"]
        self.letters = list(itertools.product(*(self.alphabets[name] for name in released))) if released else []
        if document["channel"]["form"] in ("records", "medians"):
            self.inputs = sorted(law)
            records = sorted({tuple(outcome[name] for name in released) for outcome, _ in self.atoms})
            records += map(tuple, document["channel"].get("others", []))
            self.letters = [
                tuple(self.alphabets[name][k] for name, k in zip(released, x, strict=True)) for x in records
            ]
        if document["channel"]["form"] == "noise":
            self.letters = list(itertools.product(*map(self.points, range(len(released)))))
        rows = rows_of(document["channel"], sizes, law if self.atoms else None)
        self.rows = dict(zip(self.inputs, rows, strict=True))

    def points(self, j):
        """The numbers that a column with noise is released as: its grid, continued at both ends."""
        channel, letters = self.document["channel"], self.alphabets[self.document["mechanism"]["release"][j]]
        step = number(letters[1]) - number(letters[0]) if len(letters) > 1 else 1
        first = int(channel["first"][j])
        return [str(number(letters[0]) + (first + k) * step) for k in range(channel["letters"][j])]

    def read(self, outcome):
        """The input that an outcome is."""
        return tuple(outcome[name] for name in self.reads)

    def with_rows(self, rows):
        """The same records under another channel with the same letters."""
        found = copy.copy(self)
        found.rows = rows
        return found

    def alone(self):
        """Without side information that the mechanism ignores: limits and aims speak of what leaves alone."""
        side = self.document["mechanism"]["side"]
        found = copy.copy(self)
        found.beside = self.leaving if side and side["encoder"] == "uninformed" else self.beside
        return found

    def leaves(self, outcome):
        """[(released letters or None, probability)] for one record; under maps what the user makes of the map."""
        row = self.rows[self.read(outcome)]
        maps = self.document["channel"].get("decoder")
        if maps is None:
            return list(zip(self.letters or [None] * len(row), row, strict=False))
        z = outcome[self.document["mechanism"]["side"]["variable"]]
        return [(self.letters[of[z]] if self.letters else None, p) for of, p in zip(maps, row, strict=True)]

    def joint(self, secret, atoms=None):
        found = defaultdict(Fraction)
        for outcome, mass in self.atoms if atoms is None else atoms:
            beside = tuple(outcome[name] for name in self.beside)
            for y, p in enumerate(self.rows[self.read(outcome)]):
                found[tuple(outcome[name] for name in secret), (y, beside)] += mass * p
        return {key: p for key, p in found.items() if p}

    def cost(self, parts):
        """The expected distortion; infinite where a letter is released that is infinitely far."""
        if parts[0]["distance"] == "norm":
            return max(self.norm(parts[0], *at) for at in enumerate(self.document["mechanism"]["release"]))
        found = Fraction(0)
        for outcome, mass in self.atoms:
            for letters, p in self.leaves(outcome):
                if p:
                    found += (
                        mass * p * sum(number(part["weight"]) * self.distance(part, outcome, letters) for part in parts)
                    )
        return found

    def norm(self, part, j, name):
        """The largest (E|Y - x|^p)^(1/p) of a column over all inputs."""
        worst = 0.0
        for x, row in self.rows.items():
            own = number(self.alphabets[name][x[j]])
            away = [(abs(number(y[j]) - own), p) for y, p in zip(self.letters, row, strict=True) if p]
            if part["p"] == "inf":
                worst = max(worst, max(far for far, _ in away))
            else:
                power = float(number(part["p"]))
                worst = max(worst, sum(float(p) * float(far) ** power for far, p in away) ** (1 / power))
        return worst

    def distance(self, part, outcome, letters):
        """Between a record and released letters."""
        if part["distance"] == "matrix":
            sizes = [len(self.alphabets[name]) for name in part["of"]]
            return number(part["matrix"][place([outcome[n] for n in part["of"]], sizes)][self.letters.index(letters)])
        release = self.document["mechanism"]["release"]
        if not release or letters is None:
            raise Unknown("letters of its own")
        own = [self.alphabets[name][outcome[name]] for name in part["of"]]
        new = [letters[release.index(name)] for name in part["of"]]
        match part["distance"]:
            case "hamming":
                group = {letter: k for k, members in enumerate(part["classes"]) for letter in members}
                return int([group.get(a, a) for a in own] != [group.get(b, b) for b in new])
            case "absolute":
                return sum(abs(number(a) - number(b)) for a, b in zip(own, new, strict=True))
            case "squared":
                return sum((number(a) - number(b)) ** 2 for a, b in zip(own, new, strict=True))
            case "lost":
                return int(new[0] not in part["classes"][0])
        raise Unknown(part["distance"])

    def within(self, limit, figure=None):
        """Whether a limit is kept, and is what was said to be reached."""
        if "multiplicity" in limit:
            rows = Counter()
            for *x, n in self.document["law"]["outcomes"]:
                outcome = dict(zip(self.document["law"]["variables"], x, strict=True))
                rows[tuple(self.alphabets[m][outcome[m]] for m in self.document["mechanism"]["release"])] += int(n)
            least = min(rows[y] for o, _ in self.atoms for y, p in self.leaves(o) if p)
            return least >= int(limit["multiplicity"]) and (figure is None or figure <= least)
        if "information" in limit:
            told = information(self.alone().joint(limit["information"]))
            return told >= max(number(limit["at_least_bits"]), figure or 0) - SLACK
        cost = self.cost(limit["distortion"])
        most = number(limit["at_most"]) if figure is None else min(number(limit["at_most"]), figure)
        return cost <= most + number(SLACK)  # a float would lose the slack beside a large cost


def margins(joint):
    prior, out = defaultdict(Fraction), defaultdict(Fraction)
    for (s, y), p in joint.items():
        prior[s] += p
        out[y] += p
    return prior, out


def information(joint):
    prior, out = margins(joint)
    return sum(p * math.log2(p / prior[s] / out[y]) for (s, y), p in joint.items())


def worst_letter(joint):
    prior, out = margins(joint)
    found = defaultdict(Fraction)
    for (s, y), p in joint.items():
        found[y] += p / out[y] * math.log2(p / out[y] / prior[s])
    return max(found.values())


def odds(joint):
    prior, out = margins(joint)
    ratios = [joint.get((s, y), 0) / prior[s] / out[y] for s in prior for y in out]
    return max(max(ratios), 1 / min(ratios) if min(ratios) else math.inf)


def keeps_local_dp(told, promise):
    if not set(told.leaving) <= set(promise["given"]):
        return False
    at = [k for k, name in enumerate(told.reads) if name in promise["given"]]
    epsilon = number(promise["epsilon"]) / promise["rows"]
    delta = number(promise["delta"]) / promise["rows"]
    rows = {x: list(map(float, row)) for x, row in told.rows.items()}
    for i, x in enumerate(told.inputs):
        for j, z in enumerate(told.inputs):
            if any(x[k] != z[k] for k in at):
                continue
            far = number(promise["metric"][i][j]) if promise["metric"] else 1
            ratio = math.exp(min(700, epsilon * far))
            if sum(max(0, a - ratio * b) for a, b in zip(rows[x], rows[z], strict=True)) > delta + SLACK:
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
    if told.leaving:
        return False
    group, rows = promise["group"], min(2, int(promise["rows"]))
    records = 1
    if told.document["mechanism"]["form"] == "noise":  # a group of records, each of which has noise of its own
        group, records = len(told.reads), group
    for members, law in laws_of_group(told, group, chance):
        joint = defaultdict(float)
        for x, mass in law:
            for letters in itertools.product(range(len(told.rows[x])), repeat=rows):
                p = math.prod(told.rows[x][y] for y in letters)
                joint[tuple(x[k] for k in members), letters] += mass * p
        if records * information({key: p for key, p in joint.items() if p}) > number(promise["at_most_bits"]) + SLACK:
            return False
    return True


def keeps_contraction(told, promise):
    if told.leaving:
        return False
    most = 0.0
    rows = {tuple(map(float, row)) for row in told.rows.values()}
    for p in rows:
        for q in rows:
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
            prior, out = margins(joint)
            return all(joint.get((s, y), 0) == prior[s] * out[y] for s in prior for y in out)
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


def changes(told):
    """(input by name, released letters) of all that can be released, also for inputs that never occur."""
    maps = told.document["channel"].get("decoder")
    for x, row in told.rows.items():
        before = {name: told.alphabets[name][k] for name, k in zip(told.reads, x, strict=True)}
        for t, p in enumerate(row):
            for letter in ({t} if maps is None else set(maps[t])) if p else ():
                yield before, told.letters[letter]


def keeps_shape(told):
    mechanism = told.document["mechanism"]
    if not keeps_form(told):
        return False
    if mechanism["forbid"] or mechanism["freeze"] or mechanism["never"]:
        for before, letters in changes(told):
            after = dict(zip(mechanism["release"], letters, strict=True))
            for name, new in after.items():
                old = before.get(name)
                if [old, new] in mechanism["forbid"] or (old in mechanism["freeze"] and old != new):
                    return False
            if any(all(after[z["column"]] in z["letters"] for z in zero) for zero in mechanism["never"]):
                return False
    if mechanism["preserve_marginals"]:
        drift = defaultdict(Fraction)
        for outcome, mass in told.atoms:
            drift[tuple(told.alphabets[name][outcome[name]] for name in mechanism["release"])] -= mass
            for letters, p in told.leaves(outcome):
                drift[letters] += mass * p
        return bool(told.atoms) and not any(drift.values())
    return True


def keeps_form(told):
    """A matrix of the form that is asked for; one for each column, drawn by itself, where that is said."""
    mechanism, channel = told.document["mechanism"], told.document["channel"]
    parts = channel["channels"] if channel["form"] == "strata" else [channel]
    if mechanism["each"] is not None:
        single = [[k] for k in range(len(mechanism["observe"]))]
        if any(part["form"] != "windows" or [w["reads"] for w in part["windows"]] != single for part in parts):
            return False
        parts = [window["channel"] for part in parts for window in part["windows"]]
    return mechanism["form"] == "any" or {part["form"] for part in parts} == {mechanism["form"]}


def truthful(document, chance):
    """Whether nothing is found to be false in the promises and shapes of a document."""
    told = Told(document)
    laws = all(abs(sum(row) - 1) < SLACK and min(row) >= 0 for row in told.rows.values())
    return laws and keeps_shape(told) and all(keeps(told, promise, chance) for promise in document["promises"])


FIGURES = {  # what a figure says, as a promise that is kept with it
    "leakage_bits": lambda secret, v: {"promise": "leakage", "secret": secret, "at_most_bits": v, "within": None},
    "worst_letter_bits": lambda secret, v: {"promise": "worst_case_leakage", "secret": secret, "at_most_bits": v},
    "odds_nats": lambda secret, v: {"promise": "information_privacy", "secret": secret, "epsilon": v},
    "guess_after": lambda secret, v: {
        "promise": "guess", "secret": secret, "at_most": v, "times": None, "gain": None
    },
}  # fmt: skip
LIMITS = {  # the key of a promise that one of its figures stands for
    "epsilon_nats": "epsilon",
    "delta": "delta",
    "capacity_bits": "at_most_bits",
    "eta_kl": "at_most",
    "maximal_bits": "at_most_bits",
    "total_variation": "at_most",
    "sibson_bits": "at_most_bits",
    "gain_after": "at_most",
    "within_bits": "at_most_bits",
}


def false_figures(told, promise, figures, chance):
    """The first figure of a promise that is not so, in words; None where all are, or bound nothing."""
    secret = promise.get("secret")
    for name, figure in (figures or {}).items():
        if figure is None:
            continue
        if name in ("guess_before", "gain_before", "entropy_bits"):
            true = not secret or figure <= known_before(told, promise, name) + SLACK
        elif "|" in name:
            true = given_column(told, secret, name.split("|", 1)[1]) <= figure + SLACK
        elif name in FIGURES:
            true = keeps(told, FIGURES[name](secret, str(figure)), chance)
        else:
            with_figures = {LIMITS[n]: str(v) for n, v in figures.items() if n in ("epsilon_nats", "delta")}
            other = promise | {"times": None} if "times" in promise else promise
            true = keeps(told, other | (with_figures or {LIMITS[name]: str(figure)}), chance)
        if not true:
            return f"{name} is not {float(figure)}"
    return None


def known_before(told, promise, name):
    """The best guess, the best gain, or the entropy of a secret, before anything is released."""
    joint = told.joint(promise["secret"])
    if name == "entropy_bits":
        return -sum(p * math.log2(p) for p in margins(joint)[0].values())
    return gained(told, promise if name == "gain_before" else promise | {"gain": None}, joint)[0]


def given_column(told, secret, column):
    """I(secret; all that leaves | one more column)."""
    return information(told.joint([*secret, column])) - information(told.joint([column]))


def reached(told):
    """What the channel reaches of the objective; None where that is not written out here."""
    objective, mechanism = told.document["objective"], told.document["mechanism"]
    if objective["aim"] == "distortion":
        return told.cost(objective["distortion"])
    if objective["aim"] not in ("information", "leakage"):
        return None
    told = told.alone()
    theta, found = number(objective["theta"]), 0.0
    if theta:
        found += theta * information(told.joint(objective["about"]))
    if theta < 1:
        side, about = [name for name in told.beside if name not in told.leaving], mechanism["observe"]
        found += (1 - theta) * (given_column(told, about, side[0]) if side else information(told.joint(about)))
    return Fraction(found)
