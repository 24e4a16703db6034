"""Everything that leaves, together with the records: exact weights, and what they tell.

A `Release` answers measures; promises ask it and never the channel. The one here needs a matrix that can be written
out, or its spectrum. A form that proves the same measures from fewer numbers brings its own subclass (`RELEASES`); a
measure that it cannot prove is a refusal.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import gcd
from operator import add

from dalenius.kernel.adversary import Capacity, contraction
from dalenius.kernel.channel import Channel, Rows
from dalenius.kernel.distortion import Distortion
from dalenius.kernel.logs import LOG_COST, bits, exp, log2, nats
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Refused, Work, require
from dalenius.kernel.within import Ball, read_evidence, worst_leakage

Told = tuple[int, Label]  # a letter, and what leaves beside it
Joint = dict[tuple[Label, Label, Told], int]  # weight of (secret, given, told)
Figures = dict[str, Fraction | None]  # None: nothing bounds it
Metric = tuple[tuple[Fraction, ...], ...]
Held = list[tuple[Label, int]]  # values of a secret with their weights


def margins(
    joint: Joint,
) -> tuple[int, Counter[tuple[Label, Label]], Counter[tuple[Label, Told]], Counter[Label]]:
    """Of weights of (s, g, y): their sum, and the weights of (s, g), of (g, y) and of g."""
    of_secret = Counter[tuple[Label, Label]]()
    of_told = Counter[tuple[Label, Told]]()
    of_given = Counter[Label]()
    for (s, g, y), weight in joint.items():
        # `get` is asked in C; a missing key of a Counter is looked up in Python.
        of_secret[s, g] = of_secret.get((s, g), 0) + weight
        of_told[g, y] = of_told.get((g, y), 0) + weight
        of_given[g] = of_given.get(g, 0) + weight
    return sum(joint.values()), of_secret, of_told, of_given


def information(joint: Joint, work: Work) -> tuple[Fraction, Fraction]:
    """Bounds of I(S; Y | G) = sum p(s,g,y) log2 [p(s,g,y) p(g) / (p(s,g) p(g,y))] in bits."""
    total, of_secret, of_told, of_given = margins(joint)
    work.spend(20 * len(joint), total.bit_length())
    ratios: Counter[tuple[int, int]] = Counter()  # outcomes of one ratio share its logarithm
    for (s, g, y), weight in joint.items():
        top = weight * of_given[g]
        bottom = of_secret[s, g] * of_told[g, y]
        common = gcd(top, bottom)
        ratios[top // common, bottom // common] += weight
    work.spend(LOG_COST * len(ratios))
    work.spend(4 * len(ratios), total.bit_length())
    low = high = 0
    for (top, bottom), weight in ratios.items():
        below, above = log2(top, bottom)
        low += weight * below
        high += weight * above
    # The sum is rounded once, down and up; what is below 0 is rounding, as no information is negative.
    return bits(max(0, low // total)), bits(max(0, -(-high // total)))


def told_by_law(
    setting: Setting, about: Sequence[Label], told: Sequence[Label], given: Sequence[Label] | None = None
) -> tuple[Fraction, Fraction]:
    """Bounds in bits of I(S; T | G) under the law alone, for the label of each atom."""
    labels = zip(about, [()] * len(about) if given is None else given, told, strict=True)
    joint: Joint = {(s, g, (0, t)): n for (s, g, t), n in setting.weights(list(labels)).items()}
    return information(joint, setting.work)


def held_before(setting: Setting, secret: Sequence[str]) -> list[Held]:
    """The values of a secret with their counts, apart for each value of the side information that the user has anyway.

    That is what is known before the release.
    """
    # Strata and kept columns leave with the release: only what the user has anyway may make the guess before better.
    side = [name for name in setting.mechanism.beside if name == setting.mechanism.side]
    found: defaultdict[Label, Held] = defaultdict(list)
    for (z, s), n in setting.weights(list(zip(setting.labels(side), setting.labels(secret), strict=True))).items():
        found[z].append((s, n))
    return list(found.values())


class Release:
    """A setting, and the channel that is claimed for it."""

    def __init__(self, setting: Setting, channel: Channel) -> None:
        self.setting = setting
        self.channel = channel
        self.work = setting.work

    @cached_property
    def dense(self) -> Rows:
        """The scale and the rows, one for each input."""
        return self.channel.rows(self.work)

    def joint(self, secret: Sequence[str], given: Sequence[str] = ()) -> Joint:
        """Weight, out of total * scale, of each (secret, given, (letter, what leaves beside it))."""
        setting = self.setting
        scale, rows = self.dense
        labels = zip(setting.labels(secret), setting.labels(given), setting.beside, setting.input, strict=True)
        inputs: Counter[tuple[Label, Label, Label, int]] = Counter()
        for label, n in zip(labels, setting.counts, strict=True):
            inputs[label] += n
        self.work.spend(4 * len(inputs) * self.channel.width)
        entries = {e: sum(map(bool, rows[e])) for *_, e in inputs}  # products with nothing take no time
        self.work.spend(sum(entries[e] for *_, e in inputs), setting.total.bit_length() + scale.bit_length())
        sums: dict[tuple[Label, Label, Label], list[int]] = {}
        for (s, g, k, e), n in inputs.items():
            more = [n * v for v in rows[e]]
            known = sums.get((s, g, k))
            sums[s, g, k] = more if known is None else list(map(add, known, more))
        return {(s, g, (y, k)): w for (s, g, k), row in sums.items() for y, w in enumerate(row) if w}

    def told(self, secret: Sequence[str]) -> Figures:
        """What is released about a secret.

        On average, by the worst letter, and as odds (None: a value is ruled out); the chance of the best guess before
        and after; and the entropy of the secret.
        """
        setting, joint = self.setting, self.joint(secret)
        total, prior, out, _ = margins(joint)
        units: defaultdict[Told, int] = defaultdict(int)  # p(s, y) log2 p(s|y) / p(s), rounded up
        best: defaultdict[Told, int] = defaultdict(int)
        top = bottom = 1  # of the odds
        self.work.spend((LOG_COST + 60) * len(joint))
        self.work.spend(16 * len(joint), total.bit_length())
        for (s, _, y), weight in joint.items():
            best[y] = max(best[y], weight)
            now = weight * total
            before = prior[s, ()] * out[(), y]
            if now != before:
                common = gcd(now, before)
                now, before = now // common, before // common
                units[y] += weight * log2(now, before)[1]  # up: these are added up into what is told at most
                more, less = (now, before) if now > before else (before, now)
                if more * bottom > top * less:
                    top, bottom = more, less
        ruled_out = len(joint) < len(prior) * len(out)  # a pair without weight has odds of 0
        return {
            "leakage_bits": bits(max(0, -(-sum(units.values()) // total))),
            "worst_letter_bits": bits(max([0, *(-(-told // out[(), y]) for y, told in units.items())])),
            "odds_nats": None if ruled_out else nats(Fraction(top, bottom)),
            "guess_before": Fraction(sum(max(n for _, n in h) for h in held_before(setting, secret)), setting.total),
            "guess_after": Fraction(sum(best.values()), total),
            "entropy_bits": setting.law.entropy(secret, self.work)[0],
        }

    def independent(self, secret: Sequence[str]) -> None:
        """Refuse unless p(s, y, k) = p(s) p(y, k), exactly."""
        joint = self.joint(secret)
        total, prior, out, _ = margins(joint)
        self.work.spend(4 * len(prior) * len(out), 2 * total.bit_length())
        for s, _ in prior:
            for _, y in out:  # also letters that this value never meets: there the product must be 0, and it is not
                apart = joint.get((s, (), y), 0) * total - prior[s, ()] * out[(), y]
                require(not apart, f"the released letter number {y[0]} is not independent of {', '.join(secret)}")

    def information(self, about: Sequence[str], given: Sequence[str] = ()) -> tuple[Fraction, Fraction]:
        """Bounds in bits of I(about; all that leaves | given)."""
        return information(self.joint(about, given), self.work)

    def information_of_each(self) -> tuple[Fraction, Fraction]:
        """Bounds in bits of the sum of I(X_j; Y_j, strata) over observed columns that have a matrix each."""
        raise Refused(f"form {self.channel.form} has no matrix for each column")

    def added_capacity(self, reach: Sequence[int]) -> Fraction:
        """The capacity in bits of noise that is added to every record alike and reaches at most so many steps."""
        raise Refused(f"form {self.channel.form} is not noise that is added")

    def least_rows(self) -> int:
        """How many rows of the table the rarest record has that can be released."""
        raise Refused(f"form {self.channel.form} does not release records of the table")

    def stated(self) -> Figures:
        """Figures that hold without being promised."""
        return {}

    def level(self, given: Sequence[str], metric: Metric | None) -> Fraction:
        """The least level in nats, rounded up, with p(y | x) <= e^(level d(x, x')) p(y | x') for all y.

        Of inputs that agree in `given`; d = 1 without a metric.
        """
        worlds = self.setting.worlds(given)
        return self._plain_level(worlds) if metric is None else self._metric_level(worlds, metric)

    def by_world(self, worlds: list[Label]) -> Iterator[tuple[int, list[Fraction]]]:
        """How many letters are alike, and the different values p(y | x) of one of them, for each world by itself."""
        scale, rows = self.dense
        inputs: defaultdict[Label, list[int]] = defaultdict(list)
        for x, world in enumerate(worlds):
            inputs[world].append(x)
        self.work.spend(10 * (len(rows) + len(inputs)) * self.channel.width, scale.bit_length())
        for column in zip(*rows, strict=True):
            for members in inputs.values():
                yield 1, [Fraction(value, scale) for value in {column[x] for x in members}]

    def _plain_level(self, worlds: list[Label]) -> Fraction:
        """Of each letter and world, the largest value by the least."""
        worst = Fraction(1)
        for _, values in self.by_world(worlds):
            most = max(values, default=Fraction(0))
            if most:
                least = min(values)
                # 0 against 0 is no ratio, but 0 against more has no level at all.
                require(least > 0, "a letter has probability 0 under one input and not under another")
                worst = max(worst, most / least)
        return nats(worst)

    def largest_entries(self) -> Fraction:
        """The sum over letters, and over strata, of the largest p(y | x) of the inputs of that stratum."""
        total = Fraction(0)
        for letters, values in self.by_world(self.setting.worlds(self.setting.mechanism.strata)):
            self.work.spend(10, total.denominator.bit_length())
            total += letters * max(values, default=Fraction(0))
        return total

    def _metric_level(self, worlds: list[Label], metric: Metric) -> Fraction:
        scale, rows = self.dense
        level = Fraction(0)
        for x, row in enumerate(rows):
            self.work.spend(20 * len(rows) * (len(row) + LOG_COST), scale.bit_length())
            for z, other in enumerate(rows):
                # Equal rows have level 0 even where inputs are at distance 0, which nothing may be divided by.
                if worlds[x] != worlds[z] or row == other:
                    continue
                possible = all(b for a, b in zip(row, other, strict=True) if a)
                require(possible, "a letter has probability 0 under one input and not under another")
                distance = metric[x][z]
                require(distance > 0, "inputs at distance 0 are released differently")
                top, bottom = 0, 1  # the largest quotient so far: fractions would take a hundred times as long
                for a, b in zip(row, other, strict=True):
                    if a * bottom > top * b:
                        top, bottom = a, b
                level = max(level, nats(Fraction(top, bottom)) / distance)
        return level

    def delta(self, given: Sequence[str], epsilon: Fraction) -> Fraction:
        """max over inputs that agree in `given` of sum_y max(0, p(y | x) - e^epsilon p(y | x'))."""
        worlds = self.setting.worlds(given)
        scale, rows = self.dense
        top, bottom = exp(epsilon)[0].as_integer_ratio()  # from below: a smaller e^epsilon makes delta larger
        self.work.spend(4 * len(rows) * (1 + len(rows[0])), scale.bit_length() + top.bit_length())
        different: defaultdict[Label, dict[tuple[int, ...], None]] = defaultdict(dict)  # rows of each world
        for world, row in zip(worlds, rows, strict=True):
            different[world][tuple(row)] = None
        worst = 0
        for inside in different.values():
            lower = [[top * v for v in row] for row in inside]
            for one in inside:
                self.work.spend(4 * len(lower) * (len(one) + 1), scale.bit_length() + top.bit_length())
                own = [bottom * v for v in one]
                over = [sum([a - b for a, b in zip(own, less, strict=True) if a > b]) for less in lower]
                worst = max(worst, *over)  # of all ordered pairs: delta is not the same both ways
        return Fraction(worst, bottom * scale)

    def capacity(self, group: int, evidence: Node, rows: int = 1) -> Fraction:
        """A bound in bits of what any adversary learns about any `group` of the inputs, from so many released rows.

        In further rows every input may be tied to the group, so that each of them tells what the whole channel can.
        """
        # In n rows an input of each may be tied to the group: it is not enough to take the group n times.
        reach = group if rows == 1 else len(self.setting.sizes)
        return rows * Capacity(self.setting.sizes, *self.dense, self.work).bound(reach, evidence)

    def contraction(self) -> Fraction:
        """A bound of I(S; Y) / I(S; X) over every S and every law."""
        return contraction(self.dense[1], self.work)

    def within(self, secret: tuple[str, ...], ball: Ball, evidence: Node) -> Fraction:
        """A bound in bits of the leakage about a secret under every law of a ball."""
        return worst_leakage(self.setting, *self.dense, secret, ball, read_evidence(evidence))

    def cost(self, distortion: Distortion) -> Fraction:
        """The expected distortion, rounded up."""
        costs, unit = distortion.costs(self.setting, 1)  # end 1: rounded up, against the channel
        scale, rows = self.dense
        total = 0
        for e, cost in costs.items():
            self.work.spend(4 * len(cost), scale.bit_length() + unit.bit_length())
            for v, c in zip(rows[e], cost, strict=True):
                if c is not None:
                    total += v * c
                else:
                    require(not v, "a released letter is infinitely far from its record")
        return Fraction(total, unit * scale * self.setting.total)

    def keep_shape(self) -> None:
        """Refuse unless what is forbidden never happens, what is frozen never changes, and marginals are preserved.

        Also for inputs that never occur in the law: a record of another table may have them.
        """
        setting, mechanism = self.setting, self.setting.mechanism
        require(mechanism.each is None, "the columns do not have a matrix each")
        require(mechanism.form in ("any", self.channel.form), f"the matrix is not of form {mechanism.form}")
        if mechanism.bars:
            for e, row in enumerate(self.dense[1]):
                # Every row, not only those of inputs that occur.
                require(not any(row[t] for t in setting.barred(e)), "a forbidden letter can be released")
        if mechanism.preserve_marginals:
            scale, rows = self.dense
            before = setting.marginal()
            after = [0] * len(before)
            for e, n in setting.mass.items():
                self.work.spend(2 * len(after), scale.bit_length())
                after = [a + n * v for a, v in zip(after, rows[e], strict=True)]
            require(after == [n * scale for n in before], "a marginal is not preserved")


RELEASES: dict[type[Channel], Callable[[Setting, Channel], Release]] = {}  # of forms with measures of their own


def release_of(setting: Setting, channel: Channel) -> Release:
    """The release of a channel, by its own measures if it has some."""
    return RELEASES.get(type(channel), Release)(setting, channel)
