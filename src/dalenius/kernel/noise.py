r"""Form "noise": numbers on grids, noise along axes, given back on the grids; figures from the weights of the noise.

A record with the places x of its columns has the values t on the axes (`axes`), with independent noise on each. Column
j is released as the grid point of number floor(give_j t + shift_j), counted from its first released one, or the nearest
one where that is outside. What is released is a function of all T, so that informations, levels and deltas of the axes
add, and 1 - eta multiplies: I(S; T1, T2) <= I(S; T1) + I(X; T2).
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import isqrt, prod

from dalenius.kernel.axes import COMPARED, NOTHING, Axis
from dalenius.kernel.channel import Channel
from dalenius.kernel.distortion import Distortion
from dalenius.kernel.logs import bits, exp, log2, nats, two_to
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Refused, common_denominator, fraction, require
from dalenius.kernel.release import RELEASES, Figures, Metric, Release, told_by_law

LEVELS = ("1/2", "1", "2", "4")  # at which delta is stated
WIDEST = 1 << 31
HALF = Fraction(1, 2)


class Grids:
    """The columns as points first + step * place."""

    def __init__(self, setting: Setting) -> None:
        self.names = setting.mechanism.observe
        self.sizes = [len(setting.alphabets[name]) for name in self.names]
        self.steps = list[Fraction]()
        for name in self.names:
            points = [fraction(letter) for letter in setting.alphabets[name]]
            known = [point for point in points if point is not None]
            setting.work.spend(10 * len(points))
            require(len(known) == len(points), f"a letter of {name} is not a number")
            step = known[1] - known[0] if len(known) > 1 else Fraction(1)
            # A step of 0 would put all records at one point.
            even = step > 0 and all(point == known[0] + place * step for place, point in enumerate(known))
            require(even, f"the numbers of {name} are not the points of a grid")
            self.steps.append(step)

    def known(self, setting: Setting, secret: Sequence[str]) -> Fraction:
        """I(S; X) from below, in bits."""
        return told_by_law(setting, setting.labels(secret), setting.labels(self.names))[0]


class Noise(Channel):
    """Axes, and how their values become letters.

    It is `plain` when every column is an axis of its own, whose values are the letters.
    """

    form = "noise"

    def __init__(self, node: Node, setting: Setting) -> None:
        _, first, letters, axes, give, shift = node.fields("form", "first", "letters", "axes", "give", "shift")
        m = setting.mechanism
        # What is told is summed over the axes alone: a column beside them would have to be counted, too.
        asked = m.form == "noise" and m.reads == m.observe == m.release and not m.leaving and m.side is None
        node.require(asked, "noise releases the columns that it reads and no others, under a mechanism of form noise")
        self.grids = Grids(setting)
        many = len(self.grids.names)
        self.offsets = first.wholes()
        self.widths = [item.place(WIDEST, 1) for item in letters.pair(many)]
        first.require(len(self.offsets) == many, "there is not a first letter for each column")
        self.axes = [Axis(item, self.grids.sizes, setting.work) for item in axes.items()]
        axes.require(bool(self.axes), "there is no axis")
        self.give = [[value.number() for value in row.pair(len(self.axes))] for row in give.pair(many)]
        self.shift = [value.number() for value in shift.pair(many)]
        self.width = prod(self.widths)
        self.plain = self._plain()
        inside = all(o <= 0 and o + w >= n for o, w, n in zip(self.offsets, self.widths, self.grids.sizes, strict=True))
        across = inside and all(axis.free for axis in self.axes)
        node.require(self.plain or across, "axes across columns are cut off within the range")

    def _plain(self) -> bool:
        many = len(self.grids.names)
        same = self.give == [[Fraction(j == i) for i in range(many)] for j in range(len(self.axes))]
        if not same:
            return False
        alone = all(axis.take[k] == 0 for j, axis in enumerate(self.axes) for k in range(many) if k != j)
        told = zip(self.axes, self.offsets, self.widths, self.shift, strict=True)
        return alone and all(a.low == o == -s and a.high == o + width - 1 for a, o, width, s in told)

    def squared(self, setting: Setting, j: int) -> Fraction:
        """The expected squared error of a column in steps: exactly, or with half a step of rounding at most."""
        atoms = setting.weights(setting.labels(self.grids.names)).items()
        setting.work.spend(20 * len(atoms) * len(self.axes), setting.total.bit_length())
        if self.plain:
            axis = self.axes[j]
            seen: Counter[tuple[int, int]] = Counter()
            for x, count in atoms:
                seen[axis.shift(x), x[j]] += count
            setting.work.spend(40 * len(seen), axis.total.bit_length())
            return sum((count * axis.error(c, i) for (c, i), count in seen.items()), NOTHING) / setting.total
        # Before it is rounded, the number is give t + shift - 1/2; what is cut off at the ends comes nearer.
        move = self.shift[j] - HALF + self.offsets[j]
        one = common_denominator((move, *self.give[j]), setting.work)
        give = [int(value * one) for value in self.give[j]]
        off = 0
        for x, count in atoms:
            told = sum(value * axis.shift(x) for value, axis in zip(give, self.axes, strict=True))
            off += count * (told + int(move * one) - x[j] * one) ** 2
        mean = Fraction(off, setting.total * one**2)
        mean += sum(v * v * axis.moment(Fraction(2)) for v, axis in zip(self.give[j], self.axes, strict=True))
        size = Fraction(isqrt(int(mean * 10**24) + 1) + 1, 10**12)  # its root, rounded up
        return (size + HALF) ** 2

    def worst(self) -> Fraction | None:
        """The squared error of the worst record of the range, where it is known."""
        if not self.plain:
            return None
        found = NOTHING
        for j, (axis, step, size) in enumerate(zip(self.axes, self.grids.steps, self.grids.sizes, strict=True)):
            axis.work.spend(40 * size, axis.total.bit_length())
            at = ([i if k == j else 0 for k in range(len(self.axes))] for i in range(size))
            found += max(axis.error(axis.shift(x), x[j]) for x in at) * step**2
        return found

    @property
    def added(self) -> bool:
        """Whether the noise is added to every record as it is, and nothing is collected."""
        alike = all(axis.take[j] == axis.one and axis.free for j, axis in enumerate(self.axes))
        return self.plain and alike and all(0 <= axis.move < axis.one for axis in self.axes)  # rounded down: no shift

    def norm(self, p: Fraction | None) -> Fraction:
        """The largest (E|Y - x|^p)^(1/p) of a column, from above; None: the largest |Y - x|."""
        require(self.added, "a norm is that of noise which is added")
        found = NOTHING
        for axis, step in zip(self.axes, self.grids.steps, strict=True):
            size = Fraction(axis.reach)
            if p is not None:
                size = axis.moment(p)  # from above, and the root of it up
                size = two_to(bits(log2(*size.as_integer_ratio())[1]) / p)[1] if size else size
            found = max(found, size * step)
        return found


class Noisy(Release):
    """What noise releases. Records are needed for what is told about a secret, and for the squared error."""

    channel: Noise

    def __init__(self, setting: Setting, channel: Channel) -> None:
        super().__init__(setting, channel)
        self.noise = self.channel
        self.axes = self.channel.axes
        self.known: dict[tuple[str, ...], Fraction] = {}  # what is told about some columns: asked for again and again
        if setting.has_law:
            for axis in self.axes:
                # The figures by variance hold for records that vary no more than is said.
                require(self._variance(axis) <= axis.variance, "the records have a larger variance than said")

    @cached_property
    def records(self) -> Counter[Label]:
        """The weight of each outcome of the columns."""
        return self.setting.weights(self.setting.labels(self.noise.grids.names))

    def _variance(self, axis: Axis) -> Fraction:
        """Of take x."""
        self.work.spend(20 * len(self.records), self.setting.total.bit_length())
        u = [(sum(a * i for a, i in zip(axis.take, x, strict=True)), count) for x, count in self.records.items()]
        mean = Fraction(sum(value * count for value, count in u), self.setting.total)
        return (Fraction(sum(value * value * count for value, count in u), self.setting.total) - mean**2) / axis.one**2

    def _leakage(self, secret: Sequence[str]) -> Fraction:
        if tuple(secret) not in self.known:
            self.known[tuple(secret)] = self._told_about(secret)
        return self.known[tuple(secret)]

    def _told_about(self, secret: Sequence[str]) -> Fraction:
        """I(S; Y) from above: of every axis all of I(X; T), of one of them I(S; T)."""
        names = self.noise.grids.names
        everything = set(names) <= set(secret)
        together = list(zip(self.setting.labels(secret), self.setting.labels(names), strict=True))
        weights = self.setting.weights(together)
        own, less = NOTHING, NOTHING
        for axis in self.axes:
            every: Counter[int] = Counter()
            groups: defaultdict[Label, Counter[int]] = defaultdict(Counter)
            self.work.spend(20 * len(weights))
            for (s, x), count in weights.items():
                c = axis.shift(x)
                every[c] += count
                groups[s][c] += count
            all_of_it = axis.leakage(every, [{c: count} for c, count in every.items()])
            own += all_of_it
            if not everything and len(groups) * (axis.high - axis.low) <= COMPARED:
                # Of one axis only: I(S; T1, T2) <= I(S; T1) + I(X; T2).
                less = min(less, axis.leakage(every, list(groups.values())) - all_of_it)
        return own + less

    def told(self, secret: Sequence[str]) -> Figures:
        entropy = self.setting.law.entropy(secret, self.work)[0]
        return {"leakage_bits": self._leakage(secret), "entropy_bits": entropy}

    def information(self, about: Sequence[str], given: Sequence[str] = ()) -> tuple[Fraction, Fraction]:
        """Bounds in bits of I(about; Y); the lower one says nothing."""
        require(not given, "form noise does not prove what is told given a column")
        return NOTHING, self._leakage(about)

    def level(self, given: Sequence[str], metric: Metric | None) -> Fraction:
        require(not given and metric is None, "form noise does not prove local_dp with a metric or a given column")
        found = self._level()
        if found is None:
            raise Refused("the noise has an end: it has no pure level of local_dp")
        return found

    def _level(self) -> Fraction | None:
        ratios = [axis.ratio() for axis in self.axes]
        known = [ratio for ratio in ratios if ratio is not None]
        # One axis without a level is enough to have none.
        return nats(prod(known, start=Fraction(1))) if len(known) == len(ratios) else None

    def delta(self, given: Sequence[str], epsilon: Fraction) -> Fraction:
        require(not given, "form noise does not prove local_dp with a given column")
        much = exp(epsilon / len(self.axes))[0]  # from below: a smaller e^epsilon makes delta larger
        return sum((axis.excess(much) for axis in self.axes), NOTHING)

    def capacity(self, group: int, evidence: Node, rows: int = 1) -> Fraction:
        """Of `group` records, or of so many rows: each has noise of its own, so that what is told of them adds up."""
        evidence.require(evidence.is_null(), "the axes have all that proves their capacity")
        require(rows == 1 or rows >= group, "there are fewer rows than the group has records")
        # The records of a group may be in any rows: all of these count.
        return max(group, rows) * self._capacity

    @cached_property
    def _capacity(self) -> Fraction:
        return sum((axis.capacity() for axis in self.axes), NOTHING)

    def contraction(self) -> Fraction:
        return 1 - prod((1 - axis.passed() for axis in self.axes), start=Fraction(1))

    def cost(self, distortion: Distortion) -> Fraction:
        """The expected squared error, or the norm of the noise."""
        grids = self.noise.grids
        found = NOTHING
        for part in distortion.parts:
            if part.kind == "norm":
                require(len(distortion.parts) == 1, "a norm stands alone")
                return self.noise.norm(part.power)
            require(part.kind == "squared", "noise has a squared distortion or a norm")
            for j in map(grids.names.index, part.of):
                found += part.weight * self.noise.squared(self.setting, j) * grids.steps[j] ** 2
        return found

    def added_capacity(self, reach: Sequence[int]) -> Fraction:
        require(self.noise.added, "the noise is not added to every record alike")
        # Noise that reaches further competes with others: the bound would not speak of it.
        within = all(axis.reach <= most for axis, most in zip(self.axes, reach, strict=True))
        require(within, "the noise reaches further than those that it is compared with")
        return self._capacity

    def keep_shape(self) -> None:
        mechanism = self.setting.mechanism
        held = mechanism.bars or mechanism.preserve_marginals
        require(not held and mechanism.each is None, "noise keeps no letter and no marginal, and is one matrix")

    def stated(self) -> Figures:
        """What holds whatever the secret and the law of the records are; with records also what holds for these."""
        found: Figures = {
            "capacity_bits": self._capacity,
            "variance_bits": sum((axis.from_variance() for axis in self.axes), NOTHING),
            "eta_kl": self.contraction(),
            "epsilon_nats": self._level(),
            **{f"delta_at_{level}": self.delta((), Fraction(level)) for level in LEVELS},
            "worst_distortion": self.noise.worst(),
        }
        if self.setting.has_law:
            names = self.noise.grids.names
            found["leakage_bits"] = self._leakage(names)
            errors = (self.noise.squared(self.setting, j) * step**2 for j, step in enumerate(self.noise.grids.steps))
            found["distortion"] = sum(errors, NOTHING)
        return found


RELEASES |= {Noise: Noisy}
