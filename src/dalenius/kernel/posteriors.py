r"""What a column tells about W: a convex function of its posterior.

What leaves is (Y, K), K the columns that leave as they are. With u(w, k) = sum_x p(x, w, k) c(x) and its sums s(k),

    I(W; Y, K) = sum over columns of phi(u),    phi(u) = sum u(w, k) log2( u(w, k) / (p(w) s(k)) ).

phi is a sum of relative entropies, so it is convex and 1-homogeneous, and a linear function that is not below phi at
the corners of a cell is not below it anywhere in the cone over that cell.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import gcd

from dalenius.kernel.logs import LOG_COST, log2
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.rows import Frame


def merged(setting: Setting, about: Sequence[str]) -> list[Label]:
    """For each outcome of the law its value w, under the first name among values of proportional weights p(x, w, k).

    Their terms of phi have one logarithm, so that adding them up changes no phi.
    """
    weights: defaultdict[Label, dict[tuple[int, Label], int]] = defaultdict(dict)
    labels = setting.labels(about)
    for (w, x, k), n in setting.weights(list(zip(labels, setting.input, setting.beside, strict=True))).items():
        weights[w][x, k] = n
    first: dict[frozenset[tuple[tuple[int, Label], int]], Label] = {}
    name: dict[Label, Label] = {}
    setting.work.spend(4 * len(labels))
    for w in sorted(weights):
        common = gcd(*weights[w].values())
        shape = frozenset((where, n // common) for where, n in weights[w].items())
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
