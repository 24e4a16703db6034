"""Damaged documents of samples that are alike, noise and filled columns: what is still proved is true of the matrix."""

import json
import random
import time
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product
from math import exp, log, log2, prod

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.alike import types
from dalenius.kernel.numbers import canonical
from tests.effort import effort
from tests.kernel.alike_documents import HONEST, noise_matrix, real
from tests.kernel.mutations import damaged

SLACK = 1e-9
LARGE = ("three records", "four samples of three letters")
SMALL = [document for name, document in HONEST.items() if name not in LARGE]
SMALL += [real(name) for name in ("water_skewed_told", "water_skewed_lost", "water_zero")]


class Written:
    """A document in floats: atoms (outcome by name, mass, input), and the row of each input."""

    def __init__(self, document):
        self.document = document
        self.alphabets = {entry["name"]: entry["letters"] for entry in document["variables"]}
        self.observe = document["mechanism"]["observe"]
        law, channel = document["law"], document["channel"]
        self.sizes = [len(self.alphabets[name]) for name in self.observe]
        if law["law"] == "alike":
            self.atoms = list(self.drawn(law))
        else:
            total = sum(int(outcome[-1]) for outcome in law["outcomes"])
            self.atoms = []
            for *places, n in law["outcomes"]:
                named = dict(zip(law["variables"], places, strict=True))
                self.atoms.append((named, int(n) / total, tuple(named[name] for name in self.observe)))
        self.rows = getattr(self, channel["form"])(channel)

    def drawn(self, law):
        masses, rows, n = (
            [int(v) for v in law["prior"]],
            [[int(v) for v in row] for row in law["kernel"]],
            law["samples"],
        )
        names = law["variables"]
        for w, *x in product(range(len(masses)), *[range(len(rows[0]))] * n):
            p = masses[w] / sum(masses) * prod(rows[w][a] / sum(rows[w]) for a in x)
            pairs = list(permutations(range(n), 2)) or [(0,)]
            for pair in pairs if p else ():
                named = dict(zip(names, (w, *(x[i] for i in pair)), strict=True))
                yield named, p / len(pairs), tuple(x)

    def types(self, channel):
        model = self.document["law"]["law"] == "alike"
        letters = len(self.alphabets[self.observe[0]])
        table = {}
        for t, (scale, entries) in zip(types(channel["samples"], letters), channel["rows"], strict=True):
            row = [0.0] * channel["letters"]
            for y, v in entries:
                row[y] = int(v) / int(scale)
            table[t] = row
        assert model
        return lambda x: table[tuple(x.count(a) for a in range(letters))]

    def orbits(self, channel):
        found = defaultdict(lambda: defaultdict(float))
        mass = Counter()
        for _, p, x in self.atoms:
            mass[x] += p
        n = len(self.observe)
        for k, (weight, words) in enumerate(channel["columns"]):
            places = list(zip(*(word for _, word in words), strict=True))
            for order in permutations(range(n)):
                letter = (k, tuple(places[i] for i in order))
                for share, word in words:
                    x = tuple(word[i] for i in order)
                    found[x][letter] += (
                        float(Fraction(weight) * Fraction(share)) / len(list(permutations(range(n)))) / mass[x]
                    )
        letters = sorted({letter for row in found.values() for letter in row})
        return lambda x: [found[x][letter] for letter in letters]

    def noise(self, channel):
        rows = noise_matrix(channel, self.sizes)
        table = {x: [v / sum(row) for v in row] for x, row in zip(product(*map(range, self.sizes)), rows, strict=True)}
        return table.__getitem__

    def filled(self, channel):
        counts = Counter()
        for _, p, x in self.atoms:
            counts[x] += p
        inputs = list(product(*map(range, self.sizes)))
        level = float(Fraction(channel["level"]))
        above = [max(counts[x] - level, 0) for x in inputs]
        if max(above) < 1e-12:
            most = max(inputs, key=counts.__getitem__)
            return lambda _: [float(y == most) for y in inputs]
        drawn = [a / sum(above) for a in above]
        stay = {x: a / counts[x] if counts[x] else 0.0 for x, a in zip(inputs, above, strict=True)}
        return lambda x: [(1 - stay[x]) * q + stay[x] * (x == y) for y, q in zip(inputs, drawn, strict=True)]

    def joint(self, names):
        found = defaultdict(float)
        for named, p, x in self.atoms:
            for y, v in enumerate(self.rows(x)):
                found[tuple(named[name] for name in names), y] += p * v
        return found

    def information(self, names):
        q, s, y = self.joint(names), Counter(), Counter()
        for (a, b), p in q.items():
            s[a] += p
            y[b] += p
        return sum(p * log2(p / (s[a] * y[b])) for (a, b), p in q.items() if p > 1e-15)

    def all_rows(self):
        if self.document["law"]["law"] == "alike":
            letters = len(self.alphabets[self.observe[0]])
            return [self.rows(x) for x in product(range(letters), repeat=self.document["law"]["samples"])]
        return [self.rows(x) for x in product(*map(range, self.sizes))]


def false(document, verdict):
    """Which proved figure the matrix denies; None if there is none."""
    written = Written(document)
    for promise, figures in zip(document["promises"], verdict.kept.promises, strict=True):
        kind = promise["promise"]
        if "secret" in promise:
            told = written.information(promise["secret"])
            if told > float(figures["leakage_bits"]) + SLACK:
                return f"{kind}: {told}"
            if kind == "independent" and told > SLACK:
                return f"{kind}: {told}"
        if kind == "local_dp":
            rows, k = written.all_rows(), promise["rows"]
            epsilon = float(Fraction(promise["epsilon"])) / k
            if Fraction(promise["delta"]):
                worst = max(
                    sum(max(0, u - exp(epsilon) * v) for u, v in zip(p, q, strict=True)) for p in rows for q in rows
                )
                if k * worst > float(figures["delta"]) + SLACK:
                    return f"delta: {worst}"
            else:
                pairs = [(u, v) for p in rows for q in rows for u, v in zip(p, q, strict=True) if u > 1e-15]
                if any(v < 1e-15 or k * log(u / v) > float(figures["epsilon_nats"]) + SLACK for u, v in pairs):
                    return "level"
    objective = document["objective"]
    if objective["aim"] in ("information", "leakage") and objective["about"] and Fraction(objective["theta"]) == 1:
        told, value = written.information(objective["about"]), float(verdict.value)
        if (value - told if objective["aim"] == "information" else told - value) > SLACK:
            return f"value: {value} and not {told}"
    return None


@pytest.mark.long
def test_what_is_proved_of_a_damaged_document_is_true():
    chance = random.Random(11)
    proved, slowest = Counter(), 0.0
    for _ in range(effort(400, 60_000)):
        document = damaged(chance.choice(SMALL), chance)
        text = canonical(document)
        begun = time.perf_counter()
        try:
            verdict = check(text)
        except Refused:
            continue
        finally:
            slowest = max(slowest, time.perf_counter() - begun)
        proved[document["channel"]["form"]] += 1
        assert false(json.loads(text), verdict) is None, text
    assert slowest < 5
    assert set(proved) >= {"types", "orbits", "noise", "filled"}


def test_honest_documents_are_true_and_a_false_one_is_seen():
    for document in SMALL:
        verdict = check(canonical(document))
        assert false(document, verdict) is None
    document = json.loads(canonical(HONEST["two samples"]))
    verdict = check(canonical(document))
    document["channel"]["rows"][0] = ["1", [[0, "1"]]]
    assert false(document, verdict) is not None
