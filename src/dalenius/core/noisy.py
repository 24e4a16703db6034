"""A channel of form noise with its columns, read strictly, and its expected distortion; whole numbers alone."""

from collections import Counter, defaultdict
from fractions import Fraction
from math import ceil, isqrt, lcm
from typing import Any

from dalenius.core.arithmetic import BITS, log2, two_to
from dalenius.core.numbers import exact
from dalenius.core.reading import information, multiplied, require, whole
from dalenius.core.shifting import Axis, convolved

__all__ = ["NoisyChannel", "Records"]

HALF = Fraction(1, 2)


class NoisyChannel:
    """A channel of form noise: `name`s and `steps` of its columns, its axes, and how values become letters.

    It is `plain` when every column is an axis of its own, whose values are the letters.
    """

    def __init__(self, channel: Any, kind: type[Axis] = Axis) -> None:
        keys = {"form", "inputs", "output", "axes", "give", "shift"}
        require(set(channel) == keys and channel["form"] == "noise", "the recipe is not of form noise")
        self.inputs, output = channel["inputs"], channel["output"]
        self.names, sizes = list(self.inputs), [len(letters) for letters in self.inputs.values()]
        require(list(output) == self.names and min(sizes) > 0, "the recipe releases other columns")
        self.steps, self.offsets, self.widths = [], [], [len(letters) for letters in output.values()]
        for letters, told in zip(self.inputs.values(), output.values(), strict=True):
            x = [exact(v) for v in letters]
            y = [exact(v) for v in told]
            step = x[1] - x[0] if len(x) > 1 else y[1] - y[0] if len(y) > 1 else Fraction(1)
            require(step > 0 and x == [x[0] + i * step for i in range(len(x))], "the inputs are not points of a grid")
            offset = (y[0] - x[0]) / step
            on_grid = offset.denominator == 1 and y == [y[0] + j * step for j in range(len(y))]
            require(on_grid, "the output is not on that grid")
            self.steps.append(step)
            self.offsets.append(int(offset))
        self.axes = [kind(axis, sizes) for axis in channel["axes"]]
        self.give = [[exact(v) for v in row] for row in channel["give"]]
        self.shift, many = [exact(v) for v in channel["shift"]], len(self.names)
        shaped = [len(row) for row in self.give] == [len(self.axes)] * many and len(self.shift) == many
        require(shaped and bool(self.axes), "give and shift do not fit the columns and the axes")
        same = [[Fraction(j == i) for i in range(many)] for j in range(many)]
        alone = all(a.a[k] == 0 for j, a in enumerate(self.axes) for k in range(many) if k != j)
        ends = [(a.low, a.high, -a.low) for a in self.axes]
        told = [(o, o + w - 1, int(s)) for o, w, s in zip(self.offsets, self.widths, self.shift, strict=True)]
        self.plain = self.give == same and alone and ends == told and all(s.denominator == 1 for s in self.shift)
        inside = all(o <= 0 and o + w >= n for o, w, n in zip(self.offsets, self.widths, sizes, strict=True))
        require(self.plain or (inside and all(a.free for a in self.axes)), "axes across columns end within the range")

    def squared(self, records: "Records") -> Fraction:
        """The expected squared error: exactly, or with half a step of rounding at most for axes across columns."""
        total = Fraction(0)
        for j, (step, row) in enumerate(zip(self.steps, self.give, strict=True)):
            if self.plain:
                seen = Counter[Any]()
                for x, _, w in records.atoms:
                    seen[self.axes[j].c(x), x[j]] += w
                total += sum(w * self.axes[j].error(c, i) for (c, i), w in seen.items()) * step**2 / records.total
                continue
            # Before it is rounded, the number is give t + shift - 1/2; what is cut off at the ends comes nearer.
            one = lcm(*(v.denominator for v in (*row, self.shift[j] - HALF)))
            whole_row = [int(v * one) for v in row]
            move = int((self.shift[j] - HALF + self.offsets[j]) * one)
            off = 0
            for x, _, w in records.atoms:
                off += w * (sum(v * a.c(x) for v, a in zip(whole_row, self.axes, strict=True)) + move - x[j] * one) ** 2
            mean = Fraction(off, records.total * one**2)
            mean += sum(v * v * a.moment(Fraction(2)) for v, a in zip(row, self.axes, strict=True))
            size = Fraction(isqrt(int(mean * 10**24) + 1) + 1, 10**12)
            total += (size + HALF) ** 2 * step**2
        return total

    def distortion(self, measure: dict[str, Any], records: "Records") -> Fraction:
        """The expected squared distortion of the records, or the norm of the noise."""
        require(sorted(measure["of"]) == sorted(self.names), "a distortion is that of all released columns")
        require(measure["distortion"] in ("squared", "norm"), "noise has a squared distortion or a norm")
        return self.norm(measure["p"]) if measure["distortion"] == "norm" else self.squared(records)

    @property
    def blur(self) -> tuple[int, Fraction, Fraction]:
        """How many columns there are, the sum of step^2 / 12, and the sum of log2 step, from below."""
        size = Fraction(sum(log2(step)[0] for step in self.steps), 1 << BITS)
        return len(self.steps), sum((step**2 for step in self.steps), Fraction(0)) / 12, size

    def worst(self) -> Fraction | None:
        """The squared error of the worst record of the range, where it is known."""
        if not self.plain:
            return None
        found = Fraction(0)
        for j, (step, letters) in enumerate(zip(self.steps, self.inputs.values(), strict=True)):
            at = ([i if k == j else 0 for k in range(len(self.names))] for i in range(len(letters)))
            found += max(self.axes[j].error(self.axes[j].c(tuple(x)), x[j]) for x in at) * step**2
        return found

    def norm(self, p: str) -> Fraction:
        """The largest (E|Y - x|^p)^(1/p) of a column, from above, for noise that is added to every x alike."""
        added = self.plain and all(a.a[j] == a.one and a.free for j, a in enumerate(self.axes))
        require(added, "a norm is that of noise which is added")
        size = [Fraction(a.reach) if p == "inf" else a.moment(exact(p)) for a in self.axes]
        if p != "inf":
            size = [two_to(Fraction(log2(v)[1], 1 << BITS) / exact(p))[1] if v else v for v in size]
        return max(v * step for v, step in zip(size, self.steps, strict=True))


class Records:
    """The joint pmf of a design: for each outcome the places on the grids, the whole outcome and its weight.

    `places` are those of the first column.
    """

    def __init__(self, joint: Any, channel: NoisyChannel) -> None:
        joint = multiplied(joint)
        p, self.total = whole([exact(record["p"]) for record in joint["pmf"]])
        keys = {*joint["variables"], "p"}
        require(min(p) >= 0 and sum(p) == self.total, "the distribution is negative somewhere or does not sum to one")
        require(
            all(set(record) == keys for record in joint["pmf"]), "an outcome of the distribution has other variables"
        )
        same = all(joint["variables"][name] == letters for name, letters in channel.inputs.items())
        require(same, "a list of values differs from the distribution's")
        self.places = range(len(channel.inputs[channel.names[0]]))
        places = {n: {letter: i for i, letter in enumerate(letters)} for n, letters in channel.inputs.items()}
        self.atoms = [
            (tuple(place[record[n]] for n, place in places.items()), record, w)
            for record, w in zip(joint["pmf"], p, strict=True)
            if w
        ]

    def shifts(self, axis: Axis, secret: list[str]) -> tuple[Counter[int], dict[Any, Counter[int]]]:
        """The weights of the shifts on an axis, of all records and for each value of a secret."""
        every, groups = Counter[int](), defaultdict[Any, Counter[int]](Counter)
        for x, record, w in self.atoms:
            c = axis.c(x)
            every[c] += w
            groups[tuple(record[n] for n in secret)][c] += w
        return every, groups

    def known(self, secret: list[str]) -> tuple[Fraction, Fraction]:
        """I(S; X) from below and H(S) from above, in bits."""
        pairs, alone = Counter[Any](), Counter[Any]()
        for x, record, w in self.atoms:
            s = tuple(record[n] for n in secret)
            pairs[s, (), x] += w
            alone[s, (), s] += w
        return information(pairs)[0], information(alone)[1]

    def unknown(self, proof: dict[str, Any], channel: NoisyChannel) -> tuple[Fraction, Fraction]:
        """(b, s) with H(X | Y) <= b + s E (X - Y)^2 for every Y on the grid of the one column X.

        By Blahut's dual: for any s > 0 and positive weights, I(X; Y) >= sum_x p log2 weight - log2 max_y sum_x p weight
        2^(-s (x - y)^2) - s E (X - Y)^2, in steps. Beyond the ends of the grid the sums are smaller.
        """
        (step,) = channel.steps
        slope = exact(proof["slope"])
        weights = {int(i): int(v) for i, v in proof["weights"]}
        law, size = Counter[int](), len(self.places)
        for (i,), _, w in self.atoms:
            law[i] += w
        require(
            slope > 0 and min(weights.get(i, 0) for i in law) > 0, "a line below the rate has a bad slope or weight"
        )
        half = [ceil(two_to(-slope * k * k)[1] * (1 << 96)) for k in range(size)]
        line = [law[i] * weights.get(i, 0) for i in range(size)]
        most = max(convolved(line, half[:0:-1] + half)[size - 1 : 2 * size - 1])
        told = sum(w * log2(Fraction(weights[i]))[0] for i, w in law.items()) // self.total
        rate = Fraction(told - log2(Fraction(most, self.total << 96))[1], 1 << BITS)
        return self.known(channel.names)[1] - rate, slope / step**2

    def variance(self, axis: Axis) -> Fraction:
        """The variance of take x."""
        u = [(sum(a * i for a, i in zip(axis.a, x, strict=True)), w) for x, _, w in self.atoms]
        mean, power = (Fraction(sum(v**k * w for v, w in u), self.total) for k in (1, 2))
        return (power - mean**2) / axis.one**2
