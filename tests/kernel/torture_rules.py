"""Damaged and random proofs through the rules: no bound may be passed by the value of a channel that is allowed.

python -m tests.kernel.torture_rules COUNT [SEED]

Damaged: the proofs of the corpus, whose designs are within a hair of the best, changed in one place or several; a rule
that is too generous anywhere proves a bound below the value. Random: small problems with a random channel, promises
that it just keeps, and multipliers that are far too large.
"""

import copy
import itertools
import json
import random
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

from dalenius.kernel import Refused
from dalenius.kernel.check import proved_bound, reached
from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import down, up
from dalenius.kernel.posteriors import Posteriors
from dalenius.kernel.rows import Frame
from tests.kernel.directed import leaf, lines
from tests.kernel.documents import design, distance, independent, local_dp, text_of
from tests.kernel.golden import CORPUS, texts_of

UNIT = 1 << 60
ALLOWED = 10**10
LONGEST = 12_000  # characters of a text of the corpus that is damaged


@dataclass
class Count:
    """What happened: bounds proved and refused, texts of false bounds, and of what raised something else."""

    proved: Counter = field(default_factory=Counter)
    refused: int = 0
    false: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)


def judge(document, value, found, name):
    """Count what the rules say about a document whose channel has this value; how far they leave it from the bound."""
    text = text_of(document)
    try:
        read = read_document(text, ALLOWED)
        bound = proved_bound(read.setting, read.promises, read.limits, read.objective, read.proof)
    except Refused:
        found.refused += 1
        return None
    except Exception:  # whatever is raised is what we look for
        found.raised.append(text)
        return None
    found.proved[name] += 1
    apart = bound - value if read.objective.maximise else value - bound
    if apart < 0:
        found.false.append(text)
    return apart


# --- damaged proofs ---------------------------------------------------------------------------------------------------
@cache
def corpus():
    """[(document, value)] of the short texts of the corpus whose proofs have numbers."""
    found = []
    for text in texts_of(CORPUS / "rules").values():
        document = json.loads(text)
        if len(text) <= LONGEST and document["proof"] != {"rule": "closed"}:
            read = read_document(text, ALLOWED)
            found.append((document, reached(read, read.objective)))
    return found


def places(node, path=()):
    """The paths of all numbers and lists below a value."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from places(value, (*path, key))
    elif isinstance(node, list):
        yield path, node
        for k, value in enumerate(node):
            yield from places(value, (*path, k))
    elif isinstance(node, str | int) and path and path[-1] not in ("rule", "division"):
        yield path, node


def changed(value, chance):
    """Another number instead of this one."""
    if isinstance(value, int):
        return max(0, value + chance.choice([-1, 1, 2]))
    try:
        number = Fraction(value)
    except ValueError:
        return value
    times = chance.choice([0, -1, Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(11, 10), 2, 1000])
    moved = number * times + chance.choice([0, 0, 0, 1, -1, UNIT >> 20, -(UNIT >> 20)])
    return str(round(moved)) if number.denominator == 1 and "." not in value else str(moved)


def damaged(proof, chance):
    """The proof with a few numbers changed, entries of lists exchanged, left out or repeated."""
    proof = copy.deepcopy(proof)
    for _ in range(chance.choice([1, 1, 2, 3, 8])):
        everything = list(places(proof))
        if not everything:
            return proof
        path, value = chance.choice(everything)
        if isinstance(value, list):
            if len(value) > 1:
                i, j = chance.sample(range(len(value)), 2)
                match chance.randrange(3):
                    case 0:
                        value[i], value[j] = value[j], value[i]
                    case 1:
                        del value[i]
                    case 2:
                        value[i] = copy.deepcopy(value[j])
            continue
        above = proof
        for key in path[:-1]:
            above = above[key]
        above[path[-1]] = changed(value, chance)
    return proof


def damage_proofs(many, seed):
    """Damage so many proofs of the corpus."""
    chance, found = random.Random(seed), Count()
    for _ in range(many):
        document, value = chance.choice(corpus())
        judge(document | {"proof": damaged(document["proof"], chance)}, value, found, document["proof"]["rule"])
    return found


def climb_proofs(many, seed):
    """An adversary that keeps every damage which tightens a bound, and hopes to pass the value in so many steps."""
    chance, found = random.Random(seed), Count()
    steps = 30
    for _ in range(-(-many // steps)):
        document, value = chance.choice(corpus())
        proof, best = document["proof"], None
        for _ in range(steps):
            tried = damaged(proof, chance)
            bound = judge(document | {"proof": tried}, value, found, tried["rule"])
            if bound is not None and (best is None or bound <= best):
                proof, best = tried, bound
    return found


# --- random proofs ----------------------------------------------------------------------------------------------------
class Problem:
    """A random small problem, a random channel, and promises that the channel just keeps."""

    def __init__(self, chance):
        self.chance = chance
        self.sizes = {"S": chance.choice([2, 3]), "A": chance.choice([2, 3]), "B": chance.choice([1, 2])}
        self.sizes |= {"K": chance.choice([1, 2]), "W": 2}
        self.alone = chance.random() < 0.3  # S is independent of all the rest
        self.keep = chance.choice([[], [], ["K"]])
        self.strata = [] if self.keep else chance.choice([[], [], ["K"]])
        self.observe = chance.choice([["A"], ["A", "B"], ["B", "A"]])
        self.release = chance.choice([[], ["A"], self.observe])
        self.fresh = None if self.release or chance.random() < 0.5 else ["0", "1", "2"]
        self.document = self.with_promises(self.plain())

    def outcomes(self):
        chance, names = self.chance, list(self.sizes)
        rest = list(itertools.product(*(range(self.sizes[name]) for name in names[1:])))
        if self.alone:
            shares = [chance.randrange(1, 9) for _ in range(self.sizes["S"])]
            counts = {o: chance.choice([0, 1, 2, 5, 9]) for o in rest}
            counts[rest[0]] = 3
            return [[s, *o, str(n * counts[o])] for s, n in enumerate(shares) for o in rest if counts[o]]
        found = [
            [*o, str(n)]
            for o in itertools.product(*(range(size) for size in self.sizes.values()))
            if (n := chance.choice([0, 0, 1, 2, 5, 9, 30]))
        ]
        return found or [[0] * len(names) + ["1"]]

    def channel(self):
        chance = self.chance
        many, width = 1, 1
        for name in self.observe + self.strata:
            many *= self.sizes[name]
        for name in self.release:
            width *= self.sizes[name]
        width = width if self.release else 3
        kind = chance.random()
        weights = [0, 1, 3, 10, 40] if kind < 0.4 else range(8, 12) if kind < 0.7 else range(1, 40)
        rows = [[chance.choice(weights) for _ in range(width)] for _ in range(many)]
        for row in rows:
            row[chance.randrange(width)] += 1
        if chance.random() < 0.15:
            rows = [rows[0]] * many
        scale = 1
        for row in rows:
            scale *= sum(row)
        table = [[str(v * scale // sum(row)) for v in row] for row in rows]
        return {"form": "dense", "letters": width, "scale": str(scale), "rows": table}

    def objective(self):
        chance = self.chance
        if chance.random() < 0.5:
            about = chance.choice([["W"], self.observe, self.observe[::-1], ["A"], ["S", "W"]])
            return {"aim": "information", "about": about, "theta": "1"}
        if chance.random() < 0.6 or not self.release:
            theta = "1" if self.keep + self.strata else chance.choice(["1", "1/2", "0"])
            return {"aim": "leakage", "about": ["S"] if theta != "0" else [], "theta": theta}
        return {"aim": "distortion", "distortion": [self.distance()]}

    def distance(self):
        return distance("hamming", *(["A"] if "A" in self.release else self.release))

    def plain(self):
        mechanism = {"observe": self.observe, "strata": self.strata, "keep": self.keep, "release": self.release}
        return design(
            {name: [f"{name}{i}" for i in range(size)] for name, size in self.sizes.items()},
            self.outcomes(),
            mechanism | {"fresh": self.fresh},
            objective=self.objective(),
            channel=self.channel(),
            work=ALLOWED,
        )

    def with_promises(self, document):
        """Promises a hair above the figures of the channel, and a limit a hair above its distortion."""
        chance, release = self.chance, read_document(text_of(document), ALLOWED).release
        told, beside = release.told(("S",)), self.keep + self.strata

        def hair(figure):
            return up(figure + Fraction(1, 10**15), 20)

        promises = [independent("S")] if self.alone and chance.random() < 0.8 else []
        if chance.random() < 0.5:
            most = hair(told["leakage_bits"])
            promises.append({"promise": "leakage", "secret": ["S"], "at_most_bits": most, "within": None})
        if chance.random() < 0.5:
            most = hair(told["worst_letter_bits"])
            promises.append({"promise": "worst_case_leakage", "secret": ["S"], "at_most_bits": most})
        if chance.random() < 0.5 and told["odds_nats"] is not None and told["odds_nats"] < 50:
            most = hair(told["odds_nats"])
            promises.append({"promise": "information_privacy", "secret": ["S"], "epsilon": most})
        promises += self.levels(release, beside, hair)
        limits = []
        if self.release and chance.random() < 0.5:
            other = document | {"objective": {"aim": "distortion", "distortion": [self.distance()]}}
            read = read_document(text_of(other), ALLOWED)
            limits = [{"distortion": [self.distance()], "at_most": hair(reached(read, read.objective))}]
        if document["objective"]["aim"] == "leakage" and chance.random() < 0.4:
            least = max(Fraction(0), release.information(("W",))[0] - Fraction(1, 10**15))
            limits = [{"information": ["W"], "at_least_bits": down(least, 20)}]
        reached_ = ["0" if "information" in limit else "99" for limit in limits]
        claims = {**document["claims"], "promises": [[] for _ in promises], "limits": reached_}
        evidence = [None] * len(promises)
        return document | {"promises": promises, "limits": limits, "evidence": evidence, "claims": claims}

    def levels(self, release, beside, hair):
        chance, found = self.chance, []
        if chance.random() < 0.6:
            with suppress(Refused):
                found.append(local_dp(hair(release.level(beside, None)), *beside))
        if chance.random() < 0.3:
            epsilon = Fraction(chance.randrange(0, 20), 10)
            delta = release.delta(beside, epsilon)
            if 0 < delta < 1:
                found.append(local_dp(up(epsilon, 3), *beside, delta=hair(delta)))
        if chance.random() < 0.3 and not beside:
            found.append({"promise": "contraction", "at_most": hair(release.contraction())})
        return found


class Proofs:
    """Random proofs of one problem."""

    def __init__(self, document, chance):
        self.document = document
        self.chance = chance
        self.read = read_document(text_of(document), ALLOWED)
        self.setting = self.read.setting
        self.secret = Frame(self.setting, ("S",))
        self.maximise = self.read.objective.maximise
        self.told = Posteriors(self.setting, self.read.objective.about) if self.maximise else None
        self.asked = any("information" in limit for limit in document["limits"])
        if self.asked:
            self.told = Posteriors(self.setting, ("W",))

    def large(self):
        return str(int(2 ** self.chance.uniform(40, 63)) * self.chance.choice([0, 1, 1, 1]))

    def law(self, many):
        return [str(self.chance.randrange(1, 1 << self.chance.choice([1, 8, 60]))) for _ in range(many)]

    def rows(self, promise):
        chance, frame = self.chance, self.secret
        match promise["promise"]:
            case "independent":
                return [chance.choice(["", "-"]) + self.large() for _ in frame.pairs]
            case "leakage":
                return self.law(len(frame.keys))
            case "information_privacy" if chance.random() < 0.7:
                return [[self.large() for _ in frame.pairs] for _ in range(2)]
            case "worst_case_leakage" if chance.random() < 0.7:
                sizes = [sum(key[frame.cut :] == k for key in frame.keys) for k in frame.worlds]
                return [[self.large(), self.law(size)] for size in sizes]
            case "local_dp" if promise["delta"] == "0":
                many = self.setting.many
                return [
                    [chance.randrange(many), chance.randrange(many), self.large()] for _ in range(chance.randrange(4))
                ]
        return []

    def objective(self, division):
        chance = self.chance
        slopes = []
        if self.told is not None and division != "letters":
            many = {"boxes": 1, "faces": 0}.get(division, len(self.told.keys))
            slopes = [str(int(chance.uniform(-3, 5) * UNIT)) for _ in range(many)]
        if self.maximise:
            return slopes
        aim = self.document["objective"]
        if aim["aim"] == "distortion":
            return []
        found = [self.law(len(self.secret.keys))] if aim["theta"] != "0" else []
        observed = Frame(self.setting, self.setting.mechanism.observe)
        found += [self.law(len(observed.keys))] if aim["theta"] != "1" else []
        return found + ([slopes] if division == "simplices" else [])

    def tree(self, division, leaves, depth=0):
        chance = self.chance
        if division == "letters" or depth > 2 or chance.random() < 0.4:
            leaves.append(leaf(self.objective(division), *map(self.rows, self.document["promises"])))
            return [["leaf", len(leaves) - 1]]
        many = len(self.told.keys)
        if division != "simplices":
            first = ["split", chance.randrange(many), f"{chance.randrange(17)}/16"]
            return [first, *self.tree(division, leaves, depth + 1), *self.tree(division, leaves, depth + 1)]
        weights = [chance.randrange(3) for _ in range(many)]
        weights[chance.randrange(many)] += 1
        found = [["split", *(str(Fraction(w, sum(weights))) for w in weights)]]
        for w in weights:
            found += self.tree(division, leaves, depth + 1) if w else []
        return found

    def faces(self):
        """Columns of few inputs: a tree for each choice of them, with lines from a common list."""
        chance, promises = self.chance, self.document["promises"]
        about = [promise for promise in promises if "secret" in promise]
        leaves = []
        for _ in range(chance.randrange(1, 4)):
            rows = [self.rows(promise) if promise in about else [] for promise in promises]
            leaves.append(leaf([], *rows))
        weights = [self.large() if promise["promise"] == "leakage" else "0" for promise in promises]
        used = any(weight != "0" for weight in weights) or any(row for one in leaves for row in one["promises"])
        inputs = len(self.setting.mass)
        atoms = min(inputs, len(self.secret.keys) if used else 1)

        def tree(depth=0):
            if depth > 2 or chance.random() < 0.4:
                return [["leaf", chance.randrange(len(leaves))]]
            parts = [chance.randrange(3) for _ in range(atoms)]
            parts[chance.randrange(atoms)] += 1
            found = [["split", *(str(Fraction(w, sum(parts))) for w in parts)]]
            for w in parts:
                found += tree(depth + 1) if w else []
            return found

        trees = [tree() for _ in itertools.combinations(range(inputs), atoms)]
        prices = [str(int(chance.uniform(-1, 3) * UNIT)) for _ in range(inputs)]
        nothing = ["0"] * len(self.document["limits"])
        return lines("faces", trees, leaves, promises=weights, limits=nothing, prices=prices)

    def lines(self):
        chance, setting, promises = self.chance, self.setting, self.document["promises"]
        per = setting.width or 1
        division, trees = "letters", per
        if self.asked and chance.random() < 0.8:
            division, trees = "simplices", 1
        if self.maximise:
            divisions = ["simplices"] if setting.mechanism.beside else ["simplices", "ranges"]
            divisions += ["boxes"] if self.told.tells_itself() else []
            division = chance.choice(divisions)
            trees = 1 if not self.document["limits"] or chance.random() < 0.5 else per
        prices = [str(int(chance.uniform(-1, 5) * UNIT)) for _ in setting.mass]
        if division == "letters" or self.asked or (division != "boxes" and chance.random() < 0.5):
            prices = []
        leaves = []
        grown = [self.tree(division, leaves) for _ in range(trees)]
        by_letter = trees == per and setting.width is not None
        cuts = [
            {"promise": k, "first": 0, "second": setting.many - 1, "at": "1/3", "weight": str(chance.randrange(50))}
            | {"slopes": [str(chance.randrange(-3, 4)) for _ in leaves]}
            for k, promise in enumerate(promises)
            if promise["promise"] == "contraction" and setting.many > 1
        ]
        weights = [self.large() if promise["promise"] == "leakage" else "0" for promise in promises]
        limits = [self.large() if by_letter or self.asked else "0" for _ in self.document["limits"]]
        return lines(division, grown, leaves, promises=weights, limits=limits, cuts=cuts, prices=prices)

    def subsets(self):
        chance = self.chance
        many, worlds = len(self.setting.mass), len(set(self.setting.beside))
        sizes = [1] * many if chance.random() < 0.5 else [many]
        runs = [[str(size), [str(Fraction(chance.randrange(-20, 60), 40))]] for size in sizes]

        def tree(depth=0):
            if depth > 2 or chance.random() < 0.4 or len(sizes) == 1:
                return [["leaf", *(f"{chance.randrange(9)}/8" for _ in range(worlds))]]
            return [["split", depth % len(sizes), 0], *tree(depth + 1), *tree(depth + 1)]

        return {"rule": "subsets", "runs": runs, "tree": tree()}

    def corners(self):
        prices = [str(int(self.chance.uniform(-1, 4) * 2**100)) for _ in self.setting.mass]
        return {"rule": "corners", "prices": prices, "basis": [self.chance.randrange(len(prices))]}

    def any(self):
        kinds = [self.lines] * 6
        if self.maximise:
            kinds += [self.subsets, self.subsets, self.corners, lambda: {"rule": "closed"}]
            kinds += [self.faces] * 3
        return self.chance.choice(kinds)()


def random_proofs(many, seed):
    """Try so many random proofs, a few for each random problem."""
    chance, found = random.Random(seed), Count()
    for _ in range(-(-many // 5)):
        problem = Problem(chance)
        proofs = Proofs(problem.document, chance)
        value = reached(proofs.read, proofs.read.objective)
        for _ in range(5):
            proof = proofs.any()
            name = proof.get("division", proof["rule"])
            judge(problem.document | {"proof": proof}, value, found, name)
    return found


def told(name, found):
    by_rule = ", ".join(f"{rule} {n:,}" for rule, n in sorted(found.proved.items()))
    print(
        f"{name}: {found.proved.total():,} prove a bound ({by_rule}), {found.refused:,} are refused, "
        f"{len(found.false)} bounds are false, {len(found.raised)} raised something else"
    )
    for text in found.false + found.raised:
        print(text[:3000])
    return bool(found.false or found.raised)


def main():
    many, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    wrong = told("damaged proofs", damage_proofs(many, seed))
    wrong |= told("proofs that are tightened", climb_proofs(many, seed))
    wrong |= told("random proofs", random_proofs(many, seed))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
