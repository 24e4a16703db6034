r"""Proof for matrices of form (8) under local differential privacy (002): no S x S table is ever written out.

M(q) keeps letter x with probability q_x and spreads b(q_x) = (1 - q_x) / (S - 1) over the others. With a >= e^alpha the
promise says q_k <= a b(q_l), b(q_l) <= a q_k and, for S >= 3, b(q_k) <= a b(q_l), k != l. Two letters above
v+ = a / (a + S - 1) would break the first, two below v- = 1 / (1 + a (S - 1)) the second; letters in [v-, v+] break
none. So every allowed q has at most one letter above, at s, and one below, at t, and the others range between low(s, t)
and high(s, t), the largest and the smallest of a few linear functions. I(X; Z) is convex in q, so it is largest where
these pieces meet and every other letter is at an end: a `shape`. For any pmf r, I(X; Z) <= sum_x p_x D(M_x(q_x) || r).
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, combinations, product
from math import lcm
from operator import mul
from typing import Any

from dalenius.certify.privacy import Figures
from dalenius.core.arithmetic import BITS, entropy, exp, log2, logs2, nats, times_log2
from dalenius.core.numbers import exact, up
from dalenius.core.reading import require, whole, whole_texts

SLACK = 9  # units of 2^-BITS: 6 of a logarithm in a row of them, 3 of one by itself
Shape = tuple[Fraction | None, Fraction | None, Fraction, Fraction]


def level(q: list[Fraction], many: list[int]) -> Fraction | None:
    """The least a for which M keeps the promise, q in distinct values; None: a letter is ruled out by some input."""
    worst, S = Fraction(1), sum(many)
    rest = sorted((1 - v) / (S - 1) for v, n in zip(q, many) for _ in range(min(n, 2))) if S > 1 else []
    for v in q if rest else ():
        others = list(rest)
        others.remove((1 - v) / (S - 1))  # its own row has v in this column
        low, high = min(v, others[0]), max(v, others[-1])
        if high and not low:
            return None
        worst = max(worst, high / low) if high else worst
    return worst


def shapes(S: int, a: Fraction) -> list[Shape]:
    """(s, t, low, high) where linear pieces meet, sorted; s or t is None when no letter is above or below."""
    n = Fraction(S - 1)
    plus, minus = a / (a + n), 1 / (1 + a * n)
    high: list[Any] = [(0, 0, plus), (-n / a, 0, 1), (-a / n, 0, a / n)] + [(0, 1 / a, 1 - 1 / a)] * (S > 2)
    low: list[Any] = [(0, 0, minus), (0, -n * a, 1), (0, -1 / (a * n), 1 / (a * n))] + [(a, 0, 1 - a)] * (S > 2)
    both = [(-1, -a / n, a / n), (-a / n, -1, a / n), (a, 1 / n, -1 / n), (1 / n, a, -1 / n)]
    both += [(1 / n, -a / n, (a - 1) / n), (-a / n, 1 / n, (a - 1) / n)] * (S > 2)
    found: set[Any] = {(None, None, minus, plus)}

    def at(lines: list[Any], s: Fraction, t: Fraction) -> list[Fraction]:
        return [x * s + y * t + c for x, y, c in lines]

    def meeting(lines: Any) -> Iterator[tuple[Fraction, Fraction]]:
        for (x, y, c), (u, v, d) in combinations(sorted({tuple(whole(line)[0]) for line in lines}), 2):
            if x * v != y * u:
                yield Fraction(y * d - c * v, x * v - y * u), Fraction(c * u - x * d, x * v - y * u)

    for above, below in ((True, True), (True, False), (False, True)):
        top, bottom = ([f for f in fs if (above or not f[0]) and (below or not f[1])] for fs in (high, low))
        if S == 2 and above and below:
            top = bottom = [(0, 0, plus)]  # no letter is left to be held back
        bends = [tuple(e - f for e, f in zip(*fg)) for fs in (top, bottom) for fg in combinations(fs, 2)]
        bends += [tuple(e - f for e, f in zip(*fg)) for fg in product(top, bottom)] + [(1, 0, -plus), (0, 1, -minus)]
        edges = [(1, 0, -1), (0, 1, 0), *both] if above and below else [(1, 0, -1), (0, 1, 0)]
        for s, t in meeting([*bends, *edges]):
            if not (plus <= s <= 1 and 0 <= t <= minus and (s > plus or not above) and (t < minus or not below)):
                continue
            least, most = max(at(bottom, s, t)), min(at(top, s, t))
            if least <= most and (not (above and below) or min(at(both, s, t)) >= 0):
                found.add((s if above else None, t if below else None, least, most))
    return sorted(found, key=lambda shape: tuple((v is not None, v or 0) for v in shape))


class Marginal:
    """The pmf r of the output of M(base), letters sorted by log2 r, to add up the bounds of all letters at once."""

    def __init__(self, counts: list[int], commonest: list[int], codes: list[int], base: list[Fraction]) -> None:
        require(all(0 <= v <= 1 for v in base), "a base is not made of probabilities")
        out, one = released(counts, codes, base)
        require(min(out) > 0, "a base leaves out a letter")
        self.S, self.counts, self.order = len(counts), counts, sorted(commonest, key=out.__getitem__)
        less = log2(Fraction(one))[1]
        rising = [v - less for v in logs2(out[x] for x in self.order)]  # from below by at most SLACK units
        self.logs = [0] * len(counts)
        for x, told in zip(self.order, rising):
            self.logs[x] = told
        self.rising, self.sum, mass = rising, sum(rising), [counts[x] for x in self.order]
        self.mass = [0, *accumulate(mass)]
        self.moment = [0, *accumulate(map(mul, mass, rising))]

    def line(self, q: Fraction) -> tuple[Fraction, Fraction]:
        """(u, v) with D(M_x(q) || r) <= u - v log2 r(x), give or take the units of that logarithm."""
        b = (1 - q) / (self.S - 1)
        return times_log2(q, q)[1] + times_log2(1 - q, b)[1] - b * self.sum, q - b

    def bounds(self, shape: Shape, fixed: dict[int, int], first: list[int]) -> dict[int | None, int]:
        """For each letter that deviates first: a bound for all corners of a shape with some letters fixed.

        In units of 2^-BITS / total. Lines are compared and added up over one common denominator.
        """
        s, t, *ends = shape
        lines = [self.line(v) for v in (*ends, *(v for v in (s, t) if v is not None))]
        one = lcm(*(c.denominator for line in lines for c in line))
        (u0, v0), (u1, v1), *away = [(int(u * one), int(v * one)) for u, v in lines]
        # v1 >= v0: letters with the least log2 r are better off at the high end, those from `cut` on at the low one.
        cut = bisect_left(self.rising, True, key=lambda told: u1 - u0 < (v1 - v0) * told)
        edge = self.rising[cut] if cut < self.S else self.rising[-1] + 1
        total = u1 * self.mass[cut] - v1 * self.moment[cut]
        total += u0 * (self.mass[-1] - self.mass[cut]) - v0 * (self.moment[-1] - self.moment[cut])

        def at(x: int, line: tuple[int, int]) -> int:
            return self.counts[x] * (line[0] - line[1] * self.logs[x])

        def most(x: int) -> int:
            return at(x, (u1, v1) if self.logs[x] < edge else (u0, v0))

        def taken(x: int) -> int:
            return at(x, ((u0, v0), (u1, v1))[fixed[x]]) if x in fixed else most(x)

        total += sum(taken(x) - most(x) for x in fixed if x < self.S)
        more: dict[int | None, int] = {} if away else {None: 0}
        for x in first if away else ():
            u, v = (u1, v1) if self.logs[x] < edge else (u0, v0)
            more[x] = self.counts[x] * (away[0][0] - u - (away[0][1] - v) * self.logs[x])
        more |= {x: at(x, away[0]) - taken(x) for x in fixed if x in more}
        if len(away) == 2:
            named = [x - self.S for x, yes in fixed.items() if yes and x >= self.S]
            below = named[:1] or [x for x in range(self.S) if self.S + x not in fixed]
            two = sorted(((at(x, away[1]) - taken(x), x) for x in below), reverse=True)[:2]
            more = {
                x: extra + max(m for m, y in two if y != x) for x, extra in more.items() if [x] != [y for _, y in two]
            }
        return {x: -(-(total + extra) // one) + SLACK * self.mass[-1] for x, extra in more.items()}


def released(counts: list[int], codes: list[int], q: list[Fraction]) -> tuple[list[int], int]:
    """The pmf of the output when letter x keeps itself with probability q[codes[x]], as integers over the second."""
    rest = [(1 - v) / (len(counts) - 1) for v in q]
    one = lcm(*(v.denominator for v in [*q, *rest]))
    spread, slope = [int(b * one) for b in rest], [int((v - b) * one) for v, b in zip(q, rest)]
    moved = sum(n * spread[c] for n, c in zip(counts, codes))
    return [moved + n * slope[c] for n, c in zip(counts, codes)], sum(counts) * one


def value(counts: list[int], codes: list[int], q: list[Fraction]) -> Fraction:
    """I(X; Z) from below: sum_x p_x [q log2 q + (S - 1) b log2 b] - sum_z m log2 m."""
    (out, one), total, share = released(counts, codes, q), sum(counts), [0] * len(q)
    for n, c in zip(counts, codes):
        share[c] += n
    rest = [(1 - v) / (len(counts) - 1) for v in q]
    told = Fraction(0)
    for n, v, b in zip(share, q, rest):
        told += times_log2(n * v / total, v)[0] + times_log2(n * (1 - v) / total, b)[0]
    told += Fraction(entropy(Counter(out), one), one) - SLACK  # above by no more than that
    return max(told / (1 << BITS), Fraction(0))


def bound(counts: list[int], a: Fraction, proof: dict[str, Any]) -> Fraction:
    """No M(q) that keeps the promise with a tells more: the worst leaf of the trees, one tree for each shape.

    A tree is flat, in pre-order: a letter x whose two ends are told apart (low first); S + x: whether x is the letter
    below (no first); or a leaf, a list of bases. A base lists q in runs [many, q] over the letters, commonest first.
    Letters of equal p are alike, so that the first of them stands for all as the one that deviates first.
    """
    S, boxes = len(counts), shapes(len(counts), a)
    order = sorted(range(S), key=lambda x: (-counts[x], x))
    first = [x for k, x in enumerate(order) if not k or counts[order[k - 1]] != counts[x]]
    marginals = []
    for runs in proof["bases"]:
        run = [c for c, (many, _) in enumerate(runs) for _ in range(int(many))]
        require(len(run) == S, "a base has the wrong length")
        codes = [0] * S
        for x, c in zip(order, run):
            codes[x] = c
        marginals.append(Marginal(counts, order, codes, [exact(v) for _, v in runs]))
    require(len(proof["trees"]) == len(boxes), "there is not one tree for each shape")
    worst = 0
    for shape, tree in zip(boxes, proof["trees"]):
        nodes, stack = iter([*tree, None]), [dict[int, int]()]
        while stack:
            fixed, node = stack.pop(), next(nodes)
            if isinstance(node, int):
                require(0 <= node < 2 * S and node not in fixed, "a tree names no letter, or one twice")
                stack += [{**fixed, node: 1}, {**fixed, node: 0}]
                continue
            found = [marginals[k].bounds(shape, fixed, first) for k in node]
            require(bool(found), "a leaf names no base")
            worst = max([worst, *(min(f[x] for f in found) for x in found[0])])
        require([*nodes] == [None], "a tree does not match its shape")
    return Fraction(worst, sum(counts) << BITS)


def pram(design: dict[str, Any]) -> tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction]:
    """Figures of the promise, value, bound and entropy of a design of form (8), from its numbers alone."""
    channel, joint, names = design["channel"], design["joint"], design["mechanism"]["observe"]
    promises = [guarantee["promised"] for guarantee in design["guarantees"]]
    letters = [*product(*(channel["inputs"][n] for n in names))]
    require(
        [*channel["inputs"]] == names == [*channel["output"]], "the channel reads or writes other columns than said"
    )
    require(channel["inputs"] == channel["output"] == joint["variables"], "an alphabet differs from the joint pmf's")
    require(design["objective"] == {"maximize": {"information": names}}, "form pram is proved for W = X alone")
    require(len(promises) == 1 and not {"keep", "strata"} & set(design["mechanism"]), "form pram is proved by itself")
    p, total = whole_texts([record["p"] for record in joint["pmf"]])
    place = dict.fromkeys(letters, 0)
    for record, n in zip(joint["pmf"], p):
        outcome = tuple(record[name] for name in names)
        require(outcome in place and not place[outcome] and n >= 0, "an outcome of the joint pmf is unknown or twice")
        place[outcome] = n
    texts = {text: c for c, text in enumerate(dict.fromkeys(channel["q"]))}
    counts, codes, q = list(place.values()), [texts[text] for text in channel["q"]], [exact(v) for v in texts]
    require(sum(counts) == total and len(set(letters)) == len(letters), "the joint pmf does not sum to one")
    figures = prove_level(channel["q"], promises[0])
    require(len(codes) == len(counts), "q is not one probability for each letter")
    hidden = Fraction(entropy(Counter(counts), total), total << BITS)
    if len(counts) == 1:
        return (figures,), "pram", Fraction(0), Fraction(0), Fraction(0)
    limit = bound(counts, exp(exact(promises[0]["local_dp"]))[1], design["certificate"])
    return (figures,), "pram", value(counts, codes, q), limit, hidden


def prove_level(texts: list[str], promise: dict[str, Any]) -> Figures:
    """The level of local_dp of M(q), proved to be what is promised."""
    require(set(promise) == {"local_dp"}, "matrices of form pram are proved under local_dp alone")
    many = Counter(texts)
    q = [exact(text) for text in many]
    require(all(0 <= v <= 1 for v in q) and (len(texts) > 1 or q == [1]), "q is not made of probabilities")
    found = level(q, list(many.values()))
    require(found is not None, "a letter has probability 0 under one input and not under another")
    figure = nats(found or Fraction(1))
    require(figure <= exact(promise["local_dp"]), f"the level of local_dp is {up(figure, 12)}, more than promised")
    return {"epsilon_nats": up(figure)}


def levels(document: dict[str, Any]) -> tuple[Figures, ...]:
    """The figures of every promise of a design or a card, from the channel alone."""
    require(not document.get("kept"), "form pram is proved by itself")
    return tuple(prove_level(document["channel"]["q"], g["promised"]) for g in document["guarantees"])
