r"""Columns of few inputs: what a mechanism tells at most where promises speak of secrets alone.

Take a column c and everything that the promises see of it: the joint weights J(s, k) of each secret that they are
about. All columns with these weights are a polytope; its corners have at most as many inputs as there are independent
weights,

    atoms = 1 + sum over the secrets of (labels - 1),     or all inputs where these are fewer,

and c is a sum of multiples of them. Each part keeps every promise that c keeps for a single letter, and uses its
share of what c uses of the others, because these are functions of J that are 1-homogeneous. What is told, phi, is
convex and 1-homogeneous: the parts together tell no less. So only columns of that many inputs need to be bounded, and
on each choice of inputs (a face) by cells, as in `simplices`: with v(x) = p(x) c(x) of mass one, a price z(x) of v(x)
and the multipliers of a leaf

    phi(v) + sum_x [line(x) / p(x) - z(x)] v(x)

is convex on its cell, hence largest at a corner. With tau the largest of them all, no mechanism tells more than
sum_x p(x) z(x) + tau + (multipliers times what is allowed).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb, prod

from dalenius.kernel.logs import BITS
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.posteriors import Posteriors
from dalenius.kernel.rows import SCORE, Numbers
from dalenius.kernel.simplices import Corner, cells_of


class Face:
    """Some inputs, and what columns of them alone tell."""

    def __init__(self, told: Posteriors, inputs: Sequence[int]) -> None:
        mass = [told.setting.mass[x] for x in inputs]
        self.told = told
        self.whole = prod(mass)
        self.counts = [
            [(key, n * (self.whole // m)) for key, n in told.by_input[x]] for x, m in zip(inputs, mass, strict=True)
        ]

    def phi(self, weights: list[int], whole: int) -> int:
        """An upper bound of phi at these weights of the inputs, out of `whole`, in units of 2^-BITS."""
        found: dict[int, int] = {}
        for weight, counts in zip(weights, self.counts, strict=True):
            for key, n in counts if weight else ():
                place = self.told.place[key]
                found[place] = found.get(place, 0) + weight * n
        return self.told.phi_of(found, whole * self.whole)


def most_on_faces(trees: Sequence[Node], atoms: int, told: Posteriors, over: Mapping[int, Numbers]) -> int:
    """The largest phi(v) + sum_x over(x, case) v(x) of all columns v of mass one with so many inputs, 2^-SCORE.

    `over` has for each input that occurs, and each case, what its line is above its price.
    """
    setting = told.setting
    inputs = list(setting.mass)
    require(len(trees) == comb(len(inputs), atoms), "there is not a tree for each choice of inputs")
    setting.work.spend((50 + 20 * atoms) * len(trees))
    alone = {x: Face(told, [x]).phi([1], 1) for x in inputs}
    values: list[int] = []
    for face, tree in zip(combinations(inputs, atoms), trees, strict=True):
        own = Face(told, face)
        rows = [over[x] for x in face]
        root = [Corner([int(i == j) for j in range(atoms)], 1, alone[x]) for i, x in enumerate(face)]
        for cell, node in cells_of(tree, root, own.phi, setting.work):
            case = node.pair()[1].place(len(rows[0]))
            setting.work.spend(4 * atoms * (atoms + 4), cell[0].whole.bit_length())
            for u, whole, phi in cell:
                linear = sum(t * row[case] for t, row in zip(u, rows, strict=True))
                values.append(-(-linear // whole) - (-phi >> BITS - SCORE))  # both rounded upwards
    return max(values)
