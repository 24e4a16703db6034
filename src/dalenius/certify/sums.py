"""Sums modulo M of independent samples that were made uniform, proved without writing rows (000, Example 5, any M).

Each X_i is drawn into a state S_i, uniform on Z_M, and Y = A S with rows of zeros and ones. The states are independent
and X acts on Y through S alone. Let V be some samples. If the columns of A outside V map onto all of Z_M^m, then Y is
uniform whatever the states of V are: Y is independent of S_V, hence of X_V. They do if the outputs can be taken away
one after the other, each by a term outside V that no output left has: then the system can be solved for any y.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

from dalenius.certify.groups import Groups
from dalenius.certify.privacy import Figures
from dalenius.core.arithmetic import BITS, log2, times_log2
from dalenius.core.numbers import down, exact, up
from dalenius.core.reading import require

CONVOLVED = 1 << 12
ADDED = 1 << 9  # values of a sum of noises


class TwoStages:
    """The states of each input and the sums of them, read strictly: every row of states is proved to be a pmf."""

    def __init__(self, channel: dict[str, Any]) -> None:
        require(set(channel) == {"form", "inputs", "output", "modulus", "states", "sums"}, "a channel has other keys")
        self.size, names = channel["modulus"], channel["inputs"]
        require(
            type(self.size) is int and self.size > 1 and channel["form"] == "sums", "not sums modulo a number above 1"
        )
        residues = [str(a) for a in range(self.size)]
        require(all(a == residues for a in channel["output"].values()), "an output has other letters than the residues")
        require(len(channel["states"]) == len(names), "there are not states for each input")
        self.rows = {n: [[exact(v) for v in row] for row in rows] for n, rows in zip(names, channel["states"])}
        for name, rows in self.rows.items():
            fit = len(rows) == len(names[name]) and all(
                len(r) == self.size and min(r) >= 0 and sum(r) == 1 for r in rows
            )
            require(fit, f"the states of {name} are not a channel")
        self.sums = [list(terms) for terms in channel["sums"]]
        known = all(terms and len(set(terms)) == len(terms) and set(terms) <= set(names) for terms in self.sums)
        require(known and len(self.sums) == len(channel["output"]), "the sums are not of some inputs, each once")


def sums_card(document: dict[str, Any]) -> tuple[None, ...]:
    """A card proves that the channel is one; that the states are uniform depends on the prior."""
    TwoStages(document["channel"])
    return (None,) * len(document["guarantees"])


class StatedSums(TwoStages):
    """The states are proved uniform under the joint pmf, and the outputs onto."""

    def __init__(self, design: dict[str, Any]) -> None:
        super().__init__(design["channel"])
        self.composed, self.prior = Groups(design), dict[str, list[Fraction]]()
        for name, letters in design["channel"]["inputs"].items():
            group = self.composed.groups[self.composed.place[name]]
            require(group["variables"] == {name: letters}, f"{name} is not independent of every other variable")
            mass = {record[name]: exact(record["p"]) for record in group["pmf"]}
            self.prior[name] = p = [mass.get(a, Fraction(0)) for a in letters]
            rows = self.rows[name]
            uniform = all(sum(q * r[s] for q, r in zip(p, rows)) * self.size == 1 for s in range(self.size))
            require(uniform, f"the state of {name} is not uniform")
        require(self.onto([]), "the outputs are not independent of each other")

    def onto(self, view: list[str]) -> bool:
        """Whether the outputs can be taken away one by one, each by a term outside the view that no other has."""
        left, used = dict(enumerate(self.sums)), Counter(name for terms in self.sums for name in terms)
        where: dict[str, list[int]] = {name: [] for name in used}
        for k, terms in left.items():
            for name in terms:
                where[name].append(k)
        ready = [name for name, many in used.items() if many == 1 and name not in view]
        while ready:
            of = where[ready.pop()]
            for name in next((left.pop(k) for k in of if k in left), []):
                used[name] -= 1
                ready += [name] if used[name] == 1 and name not in view else []
        return not left

    def noise(self, name: str) -> list[tuple[Fraction, int, int]]:
        """Of each letter x of a sample its chance, and H(S | X = x) from both sides, in units of 2^-BITS."""
        found = []
        for q, row in zip(self.prior[name], self.rows[name]):
            ends = [times_log2(t, t) for t in row if t]
            found.append((q, -sum(high for _, high in ends), -sum(low for low, _ in ends)))
        return [(q, low, high) for q, low, high in found if q]

    def private(self, view: list[str]) -> Figures:
        """Refused unless the view is hidden. With any one more sample V gives at most I(X_V; S_V) away."""
        require(self.onto(view), f"the sums are not proved independent of {', '.join(view)}")
        noise = [sum((q * low for q, low, _ in self.noise(name)), Fraction(0)) for name in view if name in self.rows]
        told = [max(Fraction(0), log2(Fraction(self.size))[1] - low) for low in noise]
        near = {name for terms in self.sums if set(terms) & set(view) for name in terms} - set(view)
        more = dict.fromkeys(sorted(near), up(sum(told, Fraction(0)) / (1 << BITS)))
        guess, zero = self.composed.guess(view), {"leakage_bits": "0", "worst_letter_bits": "0", "odds_nats": "0"}
        return zero | {"guess_before": down(guess), "guess_after": up(guess), "with_one_more_bits": more}

    def together(self) -> Fraction:
        """E max(0, m log2 M - sum_i H(S_i | X_i = x_i)), as H(Y | x) is at most that sum, and at most m log2 M.

        The law of the sum is added up sample by sample. When it has too many values, it is replaced by its mean: that
        only lowers the figure, because max(0, .) is convex.
        """
        law, most = {0: Fraction(1)}, log2(Fraction(self.size))[0] * len(self.sums)
        for name in dict.fromkeys(name for terms in self.sums for name in terms):
            after: dict[int, Fraction] = {}
            for q, _, high in self.noise(name):
                for noise, p in law.items():
                    after[noise + high] = after.get(noise + high, Fraction(0)) + p * q
            law = after
            if len(law) > ADDED:
                law = {int(-(-sum(noise * p for noise, p in law.items()) // 1)): Fraction(1)}
        return sum((max(0, most - noise) * p for noise, p in law.items()), Fraction(0))

    def alone(self, terms: list[str]) -> int:
        """What a sum tells by itself, from below."""
        noise, shifts = Fraction(0), range(self.size)
        for x in product(*(range(len(self.rows[name])) for name in terms)):
            law, mass = [Fraction(1), *[Fraction(0)] * (self.size - 1)], Fraction(1)
            for name, a in zip(terms, x):
                law = [sum((law[s] * self.rows[name][a][t - s] for s in shifts), Fraction(0)) for t in shifts]
                mass *= self.prior[name][a]
            noise -= mass * sum(times_log2(t, t)[0] for t in law if t)
        return log2(Fraction(self.size))[0] + int(-noise // 1)

    def value(self, about: list[str]) -> Fraction:
        """I(X; Y) = m log2 M - H(Y | X), as Y is uniform; or the sum of what each output tells by itself."""
        require(set(about) == set(self.rows), "the value is proved for all samples together")
        apart, known = 0, dict[str, int]()
        if all(self.size ** len(terms) <= CONVOLVED for terms in self.sums):
            for terms in self.sums:
                like = repr([(self.prior[name], self.rows[name]) for name in terms])  # sums are often alike
                known[like] = known[like] if like in known else self.alone(terms)
                apart += known[like]
        return max(Fraction(apart), self.together()) / (1 << BITS)


def sums_promises(design: dict[str, Any], stated: StatedSums | None = None) -> tuple[Figures, ...]:
    """The figures of every promise; only independence is proved."""
    stated, given = stated or StatedSums(design), [g["promised"] for g in design["guarantees"]]
    require(all(set(p) == {"independent"} for p in given), "sums are proved to be independent, nothing else")
    return tuple(stated.private(p["independent"]) for p in given)


def sums(design: dict[str, Any]) -> tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction]:
    """Promises, value, bound and entropy, all proved."""
    stated, about = StatedSums(design), design["objective"]["maximize"]["information"]
    views = [g["promised"]["independent"] for g in design["guarantees"]]
    shown, composed = sums_promises(design, stated), stated.composed
    return shown, "sums", stated.value(about), composed.bound(about, views), composed.entropy(about)
