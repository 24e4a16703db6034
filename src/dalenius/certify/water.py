"""Proof for a column released in its own letters under Hamming distortion, never written out (003, eq. 16-18).

The channel keeps x with probability keep(x) and draws from q otherwise. Only the different triples (p, keep, q) matter,
so a million letters cost as much as their counts differ. Nothing is taken to be optimal: any keep and q are examined.
Very many different ones are looked at by `Filled` first, which is quick where it applies.
"""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from math import gcd, lcm
from operator import itemgetter, mul
from typing import Any

from dalenius.certify.asked import NO, Figures, Proved, question
from dalenius.certify.filled import Filled, bits
from dalenius.core.arithmetic import BITS, FEW, log2, nats, sum_log2
from dalenius.core.numbers import down, exact, ratio, up, written
from dalenius.core.reading import require


def over_one(*lists: list[tuple[int, int]]) -> tuple[Any, ...]:
    """Lists of fractions (numerator, denominator) as lists of integers over one denominator, which comes last."""
    one = lcm(*{d // gcd(n, d) for ratios in lists for n, d in ratios})
    return *([n * one // d for n, d in ratios] for ratios in lists), one


def stated(design: dict[str, Any]) -> tuple[list[str], list[Any], list[Any], list[Any]]:
    """The columns, and p, keep and q of all their letters as the file writes them."""
    channel, mechanism = design["channel"], design["mechanism"]
    names = list(channel["inputs"])
    require(set(channel) == {"form", "inputs", "output", "keep", "q"}, "a channel has other keys than it may")
    require(channel["form"] == "resample" and channel["inputs"] == channel["output"], "not a channel that resamples")
    require(mechanism["observe"] == names == mechanism["release"], "other columns are released than seen")
    require(not {"keep", "strata"} & set(mechanism) and "side_information" not in design, "more leaves than proved")
    require(design["joint"]["variables"] == channel["inputs"], "the joint pmf has other variables than the channel")
    for letters in channel["inputs"].values():
        require(isinstance(letters, list) and len(set(letters)) == len(letters), "a channel has a bad alphabet")
    sides, records = list(channel["inputs"].values()), design["joint"]["pmf"]
    letters = list(product(*sides)) if len(sides) > 1 else sides[0]
    told, shares = list(map(itemgetter(*names), records)), list(map(itemgetter("p"), records))
    if told != letters:
        found = dict(zip(told, shares))
        require(len(found) == len(records), "an outcome of the joint pmf stands twice")
        shares = list(map(found.get, letters))
    fit = len(letters) == len(records) + shares.count(None) == len(channel["keep"]) == len(channel["q"])
    require(fit, "letters and numbers do not match")
    return names, ["0" if p is None else p for p in shares], channel["keep"], channel["q"]


class Resampled:
    """Letters x with p(x), lost(x) = p(x) (1 - keep(x)) and q(x), equal ones grouped, in whole numbers.

    p and lost are out of `one`, q is out of `all`. p(x, y) = lost(x) q(y) for y != x, and p(x, x) = `same`; p(y) is
    `out` = p - lost + c q with c the sum of lost; both are out of one * all.
    """

    def __init__(self, *numbers: list[Any]) -> None:
        self.letters = list(zip(*numbers))
        self.triples = Counter(self.letters)
        known = {number: ratio(number) for number in {n for triple in self.triples for n in triple}}
        p, keep, q = (list(map(known.__getitem__, numbers)) for numbers in zip(*self.triples))
        require(all(0 <= n <= d for n, d in p + keep + q), "a probability is out of range")
        self.often = list(self.triples.values())
        self.p, lost, self.one = over_one(p, [(n * (b - a), d * b) for (n, d), (a, b) in zip(p, keep)])
        self.q, self.all = over_one(q)
        require(self.sum(self.p) == self.one and self.sum(self.q) == self.all, "the joint pmf or q does not sum to one")
        self.lost, self.c = lost, self.sum(lost)
        self.unit = self.one * self.all
        self.same = [(a - e) * self.all + e * b for a, e, b in zip(self.p, lost, self.q)]
        self.out = [(a - e) * self.all + self.c * b for a, e, b in zip(self.p, lost, self.q)]
        self.distortion = Fraction(self.sum(e * (self.all - b) for e, b in zip(lost, self.q)), self.unit)  # Pr(Y != X)

    def sum(self, values: Iterable[int]) -> int:
        """Over all letters, from one value for each group."""
        return sum(map(mul, self.often, values))

    def entropy(self) -> tuple[Fraction, Fraction]:
        """Bounds of H(X)."""
        return sum_log2(((n * a, self.one, a) for n, a in zip(self.often, self.p) if a), self.one)

    def information(self) -> Fraction:
        """An upper bound of I(X; Y), by the sum over x of its own letter and, in one, of all the others."""
        terms = []
        for n, a, e, b, same, out in zip(self.often, self.p, self.lost, self.q, self.same, self.out):
            if b and self.c > e:
                terms.append((n * (self.c - e) * b, b * self.one, out))
            if e and b < self.all:
                terms.append((n * e * (self.all - b), e, a))
            if same:
                terms.append((n * same, same * self.one, a * out))
        return max(NO, sum_log2(terms, self.unit)[1])

    def line(self, level: Fraction, slope: Fraction) -> tuple[Fraction, Fraction]:
        """(a, b), with I(X; Y) >= a - b Pr(Y != X) in bits for EVERY channel: a from below, b from above.

        For any weights w(x) with sum_x w(x) 2^(-s [x != y]) <= 1 for all y, I >= sum p log2(w/p) - s Pr(Y != X). Here
        2^s = slope, w = slope min(p, level) / C, and C the largest of these sums, sum_x min(p, level) + (slope - 1)
        max_y min(p(y), level).
        """
        require(level > 0 and slope >= 1, "level and slope of the proof are not in their range")
        top, d = (level * self.one).as_integer_ratio()  # min(p, level) is out of one * d
        least = [min(a * d, top) for a in self.p]
        most = (self.sum(least) + (slope - 1) * max(least)) / (self.one * d)
        above = ((n * a, a * d, top) for n, a in zip(self.often, self.p) if a * d > top)
        return bits(slope / most)[0] - sum_log2(above, self.one)[1], bits(slope)[1]

    def figures(self) -> Figures:
        """What the release tells about X: average, worst letter, odds, best guess before and after.

        What x != y contribute to a letter y is the whole sum less the term of y; the largest and the smallest of the
        others is the first or, when y has it itself, the second of all.
        """
        rows = list(zip(self.often, self.p, self.lost, self.q, self.same, self.out))
        logs = [log2(Fraction(e, a))[1] if e else 0 for _, a, e, *_ in rows]  # of 1 - keep
        others = sum(n * e * l for (n, _, e, *_), l in zip(rows, logs))
        ranked = sorted(e for n, _, e, *_ in rows for _ in range(min(n, 2)))[-2:]
        shares = sorted(Fraction(e, a) for n, a, e, *_ in rows if a for _ in range(min(n, 2)))
        worst, odds, after = [], list[Fraction](), 0
        for (n, a, e, b, same, out), l in zip(rows, logs):
            after += n * max(same, b * (ranked[-1] if e != ranked[-1] else ranked[0] if len(ranked) > 1 else 0))
            ratio = Fraction(b * self.one, out) if out else NO  # q(y) / p(y)
            told = Fraction(same, out) * log2(Fraction(same * self.one, a * out))[1] if same else NO
            if ratio:
                told += ratio * (others - e * l + (self.c - e) * log2(ratio)[1]) / self.one
            worst.append(told / (1 << BITS))
            if out and len(shares) > 1:
                mine = Fraction(e, a) if a else None
                odds += [ratio * shares[mine == shares[0]], ratio * shares[-2 if mine == shares[-1] else -1]]
            odds += [Fraction(same * self.one, a * out)] if out and a else []
        k = max(range(len(worst)), key=worst.__getitem__)
        return {
            "leakage_bits": up(self.information()),
            "worst_letter_bits": up(max(NO, worst[k])),
            "worst_letter": self.letters.index(list(self.triples)[k]),
            "odds_nats": up(nats(max(max(r, 1 / r) for r in odds))) if all(odds) else None,
            "guess_before": down(Fraction(max(self.p), self.one)),
            "guess_after": up(Fraction(after, self.unit)),
            "with_one_more_bits": {},
        }


def water(design: dict[str, Any]) -> Proved:
    """The least leakage under a distortion, or the least distortion under a leakage."""
    (names, *numbers), proof = stated(design), design["certificate"]
    measure, most, leaks = question(design, names)
    plain = set(measure) <= {"distortion", "of", "at_most"} and measure["of"] == names
    require(plain and measure["distortion"] == "hamming", "this proof is for the Hamming distortion")
    release = (Filled.of(*numbers) if len(set(numbers[0])) > FEW else None) or Resampled(*numbers)
    level, slope, entropy = exact(proof["level"]), exact(proof["slope"]), release.entropy()
    if leaks is not None:
        shown = release.figures()
        require(exact(shown["leakage_bits"]) <= leaks, "leakage is exceeded")
        a, b = release.line(level, slope) if level else (NO, NO)
        return (shown,), "water", release.distortion, max(NO, (a - leaks) / b) if b else NO, entropy[1], ()
    require(release.distortion <= most, "the distortion is exceeded")
    require(level > 0 or most == 0, "a proof without a level is for no distortion at all")  # then the entropy leaves
    a, b = release.line(level, slope) if level else (entropy[0], NO)
    limits = ({"expected": written(release.distortion)},)
    return (), "water", release.information(), max(NO, a - b * most), entropy[1], limits
