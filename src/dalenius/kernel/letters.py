"""What a released letter adds to a line: costs with their weights, and margins that are preserved."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from dalenius.kernel.cases import leaves
from dalenius.kernel.distortion import Distortion
from dalenius.kernel.document import AtLeast, Limit, Limits
from dalenius.kernel.maps import informed
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Refused, Work, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.rows import UNIT, UP

Gains = dict[int, list[int | None]]  # for each input that occurs and each letter; None: it may not be released
Map = tuple[int | None, ...]  # a letter for each value of the side information; None: any letter


class Letters:
    """The weights of limits and margins, what they allow in all, and what each letter then adds for an input.

    A limit on a distortion d is  sum over records of d(x, t) c_t(x) <= at_most, so that a weight w >= 0 adds w at_most
    to the constant and -w d(x, t) to the line of letter t; a distortion that is minimised adds -d(x, t). Margins are
    preserved if sum_x p(x) c_t(x) = p(t): any number m adds m p(t) to the constant and -m p(x) to the line.
    So many bits that must be told about W, I(W; Y, K) - bits >= 0, take w bits from the constant; what w phi adds is
    bounded in cells of posteriors.
    Numbers are in units of 2^-UNIT.
    """

    def __init__(
        self, setting: Setting, limits: Limits, objective: Objective, by_limit: list[int], margins: list[int]
    ) -> None:
        self.setting = setting
        self.margins = margins
        self.constant = Fraction(0)
        self.weighed: list[tuple[Distortion, int]] = []
        if objective.distortion is not None:
            self.weighed.append((objective.distortion, 1 << UNIT))
        self.wanted: list[tuple[tuple[str, ...], int]] = []  # what must be told about, and the weight of that
        for limit, weight in zip(limits, by_limit, strict=True):
            if isinstance(limit, AtLeast):
                # Minus: a limit from below lends what is told above its bits.
                self.constant -= Fraction(weight, 1 << UNIT) * limit.bits
                self.wanted += [(limit.about, weight)] if weight else []
                continue
            if not weight:
                continue
            if not isinstance(limit, Limit):
                raise Refused("this limit has no weight for letters")
            self.constant += Fraction(weight, 1 << UNIT) * limit.at_most
            self.weighed.append((limit.distortion, weight))
        if margins:
            require(setting.mechanism.preserve_marginals, "margins that are not preserved prove nothing")
            before = setting.marginal()
            require(len(before) == len(margins), "not a multiplier for each letter")
            sums = sum(value * count for value, count in zip(margins, before, strict=True))
            self.constant += Fraction(sums, setting.total << UNIT)

    @property
    def matter(self) -> bool:
        """Whether one letter adds other numbers than the next."""
        return bool(self.weighed or self.margins)

    def gains(self, setting: Setting) -> Gains:
        """What each letter adds for each input that occurs, in units of 2^-SCORE / total, from above."""
        width = len(setting.released or ())
        found: Gains = {x: [0] * width for x in setting.mass}
        for distortion, weight in self.weighed:
            costs, unit = distortion.costs(setting, 0)  # end 0: a cost from below, against the bound
            setting.work.spend(3 * width * len(costs), weight.bit_length())
            for x, row in costs.items():
                found[x] = [
                    # // rounds the cost down: the gain of a letter may be too large, never too small.
                    None if gain is None or cost is None else gain - (weight * cost << UP) // unit
                    for gain, cost in zip(found[x], row, strict=True)
                ]
        return found

    def released(self, inputs: Iterable[int]) -> Gains:
        """As `gains`, with margins and without what is forbidden, for these inputs, also those that never occur."""
        found = self.gains(self.setting)
        width = len(self.setting.released or ())
        for x in inputs:
            self.setting.work.spend(4 * width)
            row = found.get(x, [0] * width)
            n = self.setting.mass.get(x, 0)
            if n and self.margins:
                row = [None if v is None else v - (m * n << UP) for v, m in zip(row, self.margins, strict=True)]
            barred = self.setting.barred(x)
            # What is forbidden competes with nothing.
            found[x] = [None if t in barred else v for t, v in enumerate(row)] if barred else row
        return found


def maps_of(tree: Node, worlds: int, letters: int, work: Work) -> Iterator[tuple[Map, Node]]:
    """The leaves of a tree of maps from values of the side information to letters; every map is below one of them.

    A split names a value that no letter is known for, and has one part for each letter.
    """

    def split(known: Map, node: Node) -> list[Map]:
        z = node.pair()[1].place(worlds)
        if known[z] is not None:
            raise node.refuse("this value of the side information has its letter already")
        work.spend(letters * (worlds + 2))
        return [(*known[:z], t, *known[z + 1 :]) for t in range(letters)]

    root: Map = (None,) * worlds
    return leaves(tree, root, split, work)


def gains_of_maps(letters: Letters, maps: Sequence[Map]) -> Gains:
    """What each map adds for each input that occurs: the sum over z of its letter, or of the best one where it is open.

    Costs of records with input x and side information z are those of the input (x, z) of an informed mechanism.
    """
    setting = letters.setting
    with_side = informed(setting)
    worlds = with_side.sizes[-1]
    rows = letters.gains(with_side)
    found: Gains = {x: [0] * len(maps) for x in setting.mass}
    setting.work.spend(3 * len(rows) * len(maps))
    for place, row in rows.items():
        x, z = divmod(place, worlds)
        known: dict[int | None, int | None] = dict(enumerate(row))
        # An open letter may be the best one.
        known[None] = max((value for value in row if value is not None), default=None)
        more = [known[letter[z]] for letter in maps]
        found[x] = [None if a is None or b is None else a + b for a, b in zip(found[x], more, strict=True)]
    return found
