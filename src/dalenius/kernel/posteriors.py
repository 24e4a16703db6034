"""What a column tells about W: a convex function of its posterior.

What leaves is (Y, K), K the columns that leave as they are. With u(w, k) = sum_x p(x, w, k) c(x) and its sums s(k),

    I(W; Y, K) = sum over columns of phi(u),    phi(u) = sum u(w, k) log2( u(w, k) / (p(w) s(k)) ),

which is convex and 1-homogeneous: a linear function that is not below phi at the corners of a cell is not below it
anywhere in the cone over that cell.

*Faces* (kernel-rules.md): where promises speak of secrets alone, only columns of few inputs need to be bounded,

    atoms = 1 + sum over the secrets of (labels - 1),     or all inputs where these are fewer.

On each choice of inputs, with v(x) = p(x) c(x) of mass one, a price z(x) of v(x) and the multipliers of a leaf,
phi(v) + sum_x [line(x) / p(x) - z(x)] v(x) is convex on its cell, hence largest at a corner. With tau the largest of
them all, no mechanism tells more than sum_x p(x) z(x) + tau + (multipliers times what is allowed).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, gcd, lcm, prod
from typing import NamedTuple

from dalenius.kernel.cases import leaves
from dalenius.kernel.logs import BITS, LOG_COST, log2
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Work, common_denominator, require
from dalenius.kernel.rows import SCORE, UNIT, Frame, Numbers


def merged(setting: Setting, about: Sequence[str]) -> list[Label]:
    """For each outcome of the law its value w, under the first name among values of proportional weights p(x, w, k).

    Their terms of phi have one logarithm, so that adding them up changes no phi.
    """
    weights: defaultdict[Label, dict[tuple[int, Label], int]] = defaultdict(dict)
    labels = setting.labels(about)
    for (w, x, k), count in setting.weights(list(zip(labels, setting.input, setting.beside, strict=True))).items():
        weights[w][x, k] = count
    first: dict[frozenset[tuple[tuple[int, Label], int]], Label] = {}
    name: dict[Label, Label] = {}
    setting.work.spend(4 * len(labels))
    for w in sorted(weights):
        # Proportional weights have one shape: their terms of phi have one logarithm.
        common = gcd(*weights[w].values())
        shape = frozenset((where, count // common) for where, count in weights[w].items())
        name[w] = first.setdefault(shape, w)
    return [name[w] for w in labels]


class Posteriors(Frame):
    """The labels (w, k) of what a mechanism tells about, merged, and phi of a posterior over them."""

    def __init__(self, setting: Setting, about: Sequence[str]) -> None:
        super().__init__(setting, about, merged(setting, about))
        place = {k: i for i, k in enumerate(self.worlds)}
        self.prior = [self.alone[key[: self.cut]] for key in self.keys]
        self.world = [place[key[self.cut :]] for key in self.keys]
        self.place = {key: i for i, key in enumerate(self.keys)}

    @cached_property
    def _placed(self) -> dict[int, list[tuple[int, int]]]:
        """For each input that occurs, the places of its labels and how many of its records have them."""
        return {x: [(self.place[key], count) for key, count in counts] for x, counts in self.by_input.items()}

    def phi_of_column(self, column: Iterable[tuple[int, int]], whole: int) -> int:
        """An upper bound of phi in units of 2^-BITS for a column c(x) / whole, given by inputs and their c(x) > 0."""
        u: dict[int, int] = {}
        for x, c in column:
            for i, n in self._placed[x]:
                u[i] = u.get(i, 0) + c * n
        return self.phi_of(u, whole)

    def phi(self, u: Sequence[int], whole: int) -> int:
        """An upper bound of phi(u / whole) in units of 2^-BITS, for u >= 0 in the order of the labels."""
        return self.phi_of({i: t for i, t in enumerate(u) if t}, whole)

    def phi_of(self, u: Mapping[int, int], whole: int) -> int:
        """The same for the labels at some places, each with its u > 0; all others have none."""
        sums = [0] * len(self.worlds)
        for i, t in u.items():
            sums[self.world[i]] += t
        self.setting.work.spend(LOG_COST * len(u), whole.bit_length())
        total = 0
        for i, t in u.items():
            # phi from above: lines have to stand above it.
            total += t * log2(t * self.setting.total, self.prior[i] * sums[self.world[i]])[1]
        return -(-total // whole)

    def tells_itself(self) -> bool:
        """Whether W is the input up to names, and nothing leaves beside the letter."""
        alone = all(len(found) == 1 for found in self.by_input.values()) and len(self.by_input) == len(self.keys)
        return alone and not self.setting.mechanism.beside

    def owners(self) -> list[int]:
        """For each label the input that has it, when W is the input."""
        owner = {found[0][0]: x for x, found in self.by_input.items()}
        return [owner[key] for key in self.keys]


Phi = Callable[[list[int], int], int]


class Corner(NamedTuple):
    """A point u / whole of a simplex, and phi there from above, in units of 2^-BITS."""

    u: list[int]
    whole: int
    phi: int


def cells_of(tree: Node, root: list[Corner], phi: Phi, work: Work) -> Iterator[tuple[list[Corner], Node]]:
    """The cells of a tree that cover the simplex of its root, each with the node of its leaf.

    A split gives the weights of a point on the corners of its cell, and its parts replace one corner of positive weight
    by that point: they cover the cell, because every point of it is in the part whose replaced corner loses its weight
    first on the ray from the point.
    """

    def split(cell: list[Corner], node: Node) -> list[list[Corner]]:
        weights = [v.number(0) for v in node.items()[1:]]
        common_denominator(weights, work)  # refuses before their sum becomes too long
        if len(weights) != len(root) or sum(weights) != 1:
            raise node.refuse("a split is not a point of its cell")
        point = _mixture(weights, cell, phi, work)
        # Only corners of positive weight: without it the part would have no inside.
        return [[*cell[:i], point, *cell[i + 1 :]] for i, t in enumerate(weights) if t]

    return leaves(tree, root, split, work)


def raised_on_simplices(tree: Node, told: Posteriors, slopes: Sequence[Sequence[int]], times: int) -> dict[int, int]:
    """How much the linear function of each leaf has to be raised to lie above `times` phi on its cells, in 2^-SCORE.

    The first cell has the unit vectors as corners. If a.g + n >= phi(g) at the corners g of a cell, all of mass one,
    then a.u + n >= phi(u) on the cell: phi is convex and 1-homogeneous. `slopes` are the a of all lines, and `times`
    is a weight of phi; both in units of 2^-UNIT.
    """
    work, many = told.setting.work, len(told.keys)
    root = []
    for i in range(many):
        unit = [int(i == j) for j in range(many)]
        root.append(Corner(unit, 1, told.phi(unit, 1)))
    needs: dict[int, int] = {}
    for cell, node in cells_of(tree, root, told.phi, work):
        j = node.pair()[1].place(len(slopes))
        work.spend(4 * many * (many + 4), cell[0].whole.bit_length())
        for u, whole, phi in cell:
            line = sum(a * t for a, t in zip(slopes[j], u, strict=True) if t) << BITS
            # -(a // b) rounds up: raised too little, a line would cut through phi.
            need = -((line - times * phi * whole) // (whole << BITS - SCORE + UNIT))
            # One shift for all cells of a leaf: the largest that any of them needs.
            if need > needs.get(j, need - 1):
                needs[j] = need
    return needs


def _mixture(weights: list[Fraction], cell: list[Corner], phi: Phi, work: Work) -> Corner:
    """The point with these weights on the corners of a cell."""
    used = [(t, corner) for t, corner in zip(weights, cell, strict=True) if t]
    whole = lcm(*(t.denominator * corner.whole for t, corner in used))
    work.spend(4 * len(used) * (len(cell) + 10), whole.bit_length())
    require(whole.bit_length() <= 1 << 14, "a point of a cell has no small common denominator")
    u = [0] * len(cell)
    for t, corner in used:
        times = t.numerator * (whole // (t.denominator * corner.whole))
        u = [a + times * b for a, b in zip(u, corner.u, strict=True)]
    common = gcd(whole, *u)
    u = [a // common for a in u]
    return Corner(u, whole // common, phi(u, whole // common))


def phi_on_face(told: Posteriors, face: Sequence[int]) -> Phi:
    """An upper bound of phi at weights of some inputs out of a whole, in units of 2^-BITS."""
    mass = [told.setting.mass[x] for x in face]
    told.setting.work.spend(4 * len(face), len(face) * told.setting.total.bit_length())
    one = prod(mass)

    def phi(weights: list[int], whole: int) -> int:
        column = [(x, weight * (one // m)) for x, m, weight in zip(face, mass, weights, strict=True) if weight]
        return told.phi_of_column(column, whole * one)

    return phi


def most_on_faces(trees: Sequence[Node], atoms: int, told: Posteriors, over: Mapping[int, Numbers]) -> int:
    """The largest phi(v) + sum_x over(x, case) v(x) of all columns v of mass one with so many inputs, 2^-SCORE.

    `over` has for each input that occurs, and each case, what its line is above its price.
    """
    setting = told.setting
    inputs = list(setting.mass)
    # A choice of inputs without a tree would have columns without a bound.
    require(len(trees) == comb(len(inputs), atoms), "there is not a tree for each choice of inputs")
    setting.work.spend((50 + 20 * atoms) * len(trees))
    alone = {x: phi_on_face(told, [x])([1], 1) for x in inputs}
    values: list[int] = []
    for face, tree in zip(combinations(inputs, atoms), trees, strict=True):
        rows = [over[x] for x in face]
        root = [Corner([int(i == j) for j in range(atoms)], 1, alone[x]) for i, x in enumerate(face)]
        for cell, node in cells_of(tree, root, phi_on_face(told, face), setting.work):
            case = node.pair()[1].place(len(rows[0]))
            setting.work.spend(4 * atoms * (atoms + 4), cell[0].whole.bit_length())
            for u, whole, phi in cell:
                linear = sum(t * row[case] for t, row in zip(u, rows, strict=True))
                values.append(-(-linear // whole) - (-phi >> BITS - SCORE))  # both rounded upwards
    return max(values)
