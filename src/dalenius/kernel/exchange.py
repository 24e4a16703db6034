r"""Bounds for laws that do not change when views change places: over types, and over boxes of one column per orbit.

Rule "alike": all observed columns are alike, and Y must be independent of each: a bound over types, with that one
promise, bounds every mechanism (kernel-alike.md).

Rule "orbits": what is told is all of the input, W = X, and X is known from its values in the independent views; the law
of these does not change when views change places. Every t(x) = p(x | y) has the margins of p in each view; for any d

    I(X; Y) = H(p) - E H(t) <= H(p) - d.p - min over all such t of [H(t) - d.t].                                    (1)

On a box l <= t <= u, after multipliers sigma of sum t = 1 and v of the margins, each term is least at an end. Boxes
divide by orbits: either ALL of an orbit is <= m, or SOME atom of it is >= m, without loss the named one, if the box so
far does not change under the group of the orbit. The group lets views of one class change places; where an atom is
named, views stay in one class where it has one value. A box is a lower end for named atoms, which are orbits by
themselves, and an upper end for every orbit.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import factorial, gcd, lcm, prod
from operator import add

from dalenius.kernel.alike import quotient
from dalenius.kernel.cases import leaves
from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.logs import BITS, LOG_COST, bits, entropy, times_log2
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, common_denominator, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.promises import Independent
from dalenius.kernel.rows import UNIT
from dalenius.kernel.rules import proved_bound

Atom = tuple[Label, ...]  # the value of each view
OrbitBox = tuple[Label, dict[int, int], list[int]]  # the class of each view, lower ends of atoms, upper ends of orbits


def bound_by_types(setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node) -> Fraction:
    """The bound of the inner rule for the types of the observed columns."""
    _, inner = proof.fields("rule", "proof")
    proof.require(objective.maximise, "this rule is for information that is maximised")
    alone = {promise.secret for promise in promises if isinstance(promise, Independent)}
    reads = setting.mechanism.reads
    proof.require(all((name,) in alone for name in reads), "not every single column is promised to be independent")
    small = quotient(setting, objective.about)
    return proved_bound(small, (Independent(reads[:1]),), (), objective, inner)


def bound_by_orbits(
    setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node
) -> Fraction:
    """The bound (1) from prices d, one for each orbit, and a tree of boxes."""
    _, prices, tree = proof.fields("rule", "prices", "tree")
    proof.require(objective.maximise and not setting.mechanism.beside, "this rule is for all of the input alone")
    return Exchange(setting, promises, objective).bound(prices, tree)


@dataclass(frozen=True)
class OrbitTable:
    """Atoms up to a group: the first atom and the size of each orbit, the orbit and the cells of each atom.

    A cell is a class of views and a value; `mass` is what the law gives it, `often` for how many views it speaks.
    """

    first: list[int]
    size: list[int]
    place: list[int]
    cells: list[tuple[int, ...]]
    mass: list[int]
    often: list[int]


class Exchange:
    """The law of the views, proved to be exchangeable, in whole numbers."""

    def __init__(self, setting: Setting, promises: Promises, objective: Objective) -> None:
        self.work = setting.work
        self.total = setting.total
        secrets = list(dict.fromkeys(promise.secret for promise in promises if isinstance(promise, Independent)))
        require(len(secrets) > 1, "this rule needs at least two independent views")
        itself = set(zip(setting.labels(objective.about), setting.input, strict=True))
        # One to one: an input with two names would be told about less than all of it.
        same = len(itself) == len(setting.mass) == len({told for told, _ in itself})
        require(same, "this rule is for information about all of the input")
        values: list[Atom] = list(zip(*(setting.labels(secret) for secret in secrets), strict=True))
        seen = dict(zip(setting.input, values, strict=True))
        self.work.spend(10 * len(values) * len(secrets))
        known = all(seen[e] == x for e, x in zip(setting.input, values, strict=True))
        self.atoms = [seen[e] for e in setting.mass]
        self.mass = list(setting.mass.values())
        require(known and len(set(self.atoms)) == len(self.atoms), "the views are not another name of the input")
        self.work.spend(10 * len(self.atoms) * len(secrets))
        self.kinds = [tuple(sorted(x)) for x in self.atoms]
        for (kind, _), many in Counter(zip(self.kinds, self.mass, strict=True)).items():
            arranged = factorial(len(kind)) // prod(map(factorial, Counter(kind).values()))
            # All orders of a type, each with one mass: then the law does not change with the order.
            require(many == arranged, "the law changes when views change places")
        margin: Counter[Label] = Counter()  # the law of one view, and so of every one
        for x, count in zip(self.atoms, self.mass, strict=True):
            margin[x[0]] += count
        self.margin = {value: margin[value] for value in sorted(margin)}
        number = {value: place for place, value in enumerate(self.margin)}
        self.places = [tuple(map(number.__getitem__, x)) for x in self.atoms]
        self.one = self.total // gcd(self.total, *self.margin.values())  # unit of mass; thresholds make it finer
        self.slope = list[int]()
        self._spreads: dict[int, int] = {}

    def bound(self, prices: Node, tree: Node) -> Fraction:
        """The bound (1), by the least box."""
        types = sorted(set(self.kinds))
        prices.require(prices.length() == len(types), "there is not one price for each type")
        price = dict(zip(types, prices.wholes(), strict=True))
        self.slope = [price[kind] for kind in self.kinds]
        self.one = lcm(self.one, common_denominator(_thresholds(tree), self.work))
        orbits = cache(self._orbits)
        start = orbits((0,) * len(self.atoms[0]))
        top = [min(start.mass[cell] for cell in start.cells[first]) for first in start.first]

        def split(box: OrbitBox, node: Node) -> list[OrbitBox]:
            """All of an orbit below a threshold; or the named atom above it, told apart from the others."""
            colours, low, high = box
            _, atom, threshold = node.pair(3)
            x = atom.place(len(self.atoms))
            at = int(threshold.number(0) * self.one)
            here = orbits(colours)
            own = here.place[x]
            signs = list(zip(colours, self.atoms[x], strict=True))
            names = {sign: c for c, sign in enumerate(dict.fromkeys(signs))}
            finer = tuple(names[sign] for sign in signs)
            self.work.spend(len(high))
            # All of the orbit below, or some atom above: without loss the named one, as the box is alike for all.
            below = [*high[:own], min(high[own], at), *high[own + 1 :]]
            above = [high[here.place[first]] for first in orbits(finer).first]
            return [(colours, low, below), (finer, low | {x: max(at, low.get(x, 0))}, above)]

        root: OrbitBox = ((0,) * len(self.atoms[0]), {}, top)
        found = [self._least(orbits(box[0]), box, node) for box, node in leaves(tree, root, split, self.work)]
        least = [value for value in found if value is not None]
        tree.require(bool(least), "no box has a column")
        paid = Fraction(sum(count * d for count, d in zip(self.mass, self.slope, strict=True)), self.total << UNIT)
        # H from above; the least box is subtracted from below.
        return entropy(self.mass, self.work)[1] - paid - bits(Fraction(min(least), self.one << UNIT))

    def _orbits(self, colours: Label) -> OrbitTable:
        """The orbits of the group that lets views of one colour change places; colours are numbered from 0 on."""
        self.work.spend(len(self.atoms) * (len(colours) + 2))
        many, values = max(colours) + 1, len(self.margin)
        base = [colour * values for colour in colours]
        cells = [tuple(map(add, base, places)) for places in self.places]
        unit = [(len(colours) + 1) ** k for k in range(many * values)]  # their sum says how often each cell is there
        members: dict[int, list[int]] = {}
        for k, own in enumerate(cells):
            members.setdefault(sum(map(unit.__getitem__, own)), []).append(k)
        place = [0] * len(cells)
        for orbit, inside in enumerate(members.values()):
            for k in inside:
                place[k] = orbit
        first = [inside[0] for inside in members.values()]
        size = [len(inside) for inside in members.values()]
        mass = [count * self.one // self.total for count in self.margin.values()] * many
        return OrbitTable(
            first, size, place, cells, mass, [colours.count(c) for c in range(many) for _ in range(values)]
        )

    def _spread(self, mass: int) -> int:
        """-t log2 t from below for t = mass / one, in units of 2^-(UNIT + BITS) / one, as every sum of `_least`."""
        if mass not in self._spreads:
            self.work.spend(LOG_COST, self.one.bit_length())
            t = Fraction(mass, self.one)
            self._spreads[mass] = -times_log2(t, t)[1] * self.one << UNIT  # minus the upper end: from below
        return self._spreads[mass]

    def _least(self, orbits: OrbitTable, box: OrbitBox, node: Node) -> int | None:
        """The least H(t) - d.t in a box, from below; None if no t with these margins is there."""
        _, low, high = box
        sigma, *multipliers = [item.whole() for item in node.items()[1:]] or [0]
        node.require(len(multipliers) == len(orbits.mass), "a leaf has not a multiplier for each value of a class")
        slack = list(orbits.mass)
        for x, at in low.items():
            for cell in set(orbits.cells[x]):
                # What named atoms have at least, no other atom of the cell can have.
                slack[cell] -= at
        if min(slack) < 0:
            return None
        self.work.spend(len(high) * (8 + len(self.atoms[0])))
        paid = sum(count * v * t for count, v, t in zip(orbits.often, multipliers, orbits.mass, strict=True))
        found = (sigma * self.one + paid) << BITS
        price = multipliers.__getitem__
        left = slack.__getitem__
        for first, size, most in zip(orbits.first, orbits.size, high, strict=True):
            cells = orbits.cells[first]
            bottom = low.get(first, 0)
            top = min(most, bottom + min(map(left, cells)))  # Frechet: at most what its cells have left
            if top < bottom:
                return None
            slope = self.slope[first] + sigma + sum(map(price, cells))
            least = self._spread(top) - (slope * top << BITS)  # concave minus linear: least at an end
            other = self._spread(bottom) - (slope * bottom << BITS) if bottom else 0
            found += size * min(least, other)
        return found


def _thresholds(tree: Node) -> Iterator[Fraction]:
    for item in tree.items():
        match item.value:
            case ["split", _, _]:
                yield item.pair(3)[2].number(0)
