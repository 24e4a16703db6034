r"""Most information about all of the input under a limit on maximal leakage: columns of zeros and ones.

A column of largest value m is m times a mixture of columns 1_A, and what a column tells is convex. 1_A tells

    h(A) = g(p(A)),    g(P) = -P log2 P    (concave).

With a price y(x) for the mass of each input, and tau the most that h(A) exceeds sum_A y p by, not below 0, a column
tells at most sum_x y p c + m tau. The m of all letters sum up to at most 2^at_most, so no mechanism tells more than

    sum_x y p + 2^at_most tau.

Inputs of one count and one price are a run. Cases: how many inputs of a run are in A. At a leaf the tangent of g at any
P0 > 0 lies above g, g(P) <= P0 log2 e - P (log2 P0 + log2 e), and what is best for a line is found run by run.
"""

from collections import Counter
from fractions import Fraction

from dalenius.kernel.cases import leaves
from dalenius.kernel.document import Limits, Objective, Promises
from dalenius.kernel.gauge_rows import gauge_limit
from dalenius.kernel.gauges import MaximalLeakage
from dalenius.kernel.logs import BITS, LOG_COST, log2
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.rows import UNIT
from dalenius.kernel.subsets import HIGH, LOW, Known, runs_divided, tells_all


def bound_by_blocks(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """The bound of I(X; Y) for every mechanism that keeps a promise of maximal leakage about everything."""
    require(tells_all(setting, objective), "blocks are for what tells about all of its input")
    require(not setting.mechanism.beside, "blocks are for a letter alone")
    limits = [gauge_limit(promise, setting) for promise in promises if isinstance(promise, MaximalLeakage)]
    require(bool(limits), "blocks need a promise of maximal leakage about everything")
    _rule, prices, tree = proof.fields("rule", "prices", "tree")
    y = prices.wholes()
    require(len(y) == len(setting.mass), "there is not one price for each input that occurs")
    blocks = Blocks(setting, y)
    paid = sum(price * n for price, n in zip(y, setting.mass.values(), strict=True))
    return Fraction(paid, setting.total << UNIT) + min(limits) * blocks.most(tree)


class Blocks:
    """Inputs in runs of one count and one price, in the order in which they first occur."""

    def __init__(self, setting: Setting, prices: list[int]) -> None:
        self.setting = setting
        runs = Counter(zip(setting.mass.values(), prices, strict=True))
        self.count = [n for n, _ in runs]
        self.price = [price << BITS - UNIT for _, price in runs]
        self.size = list(runs.values())

    def most(self, tree: Node) -> Fraction:
        """tau. Split [run, k]: more than k inputs of the run are in A, or at most k. Leaf: P0."""
        worst = 0
        for known, node in leaves(tree, Known(), runs_divided(self.size, self.setting.work), self.setting.work):
            at = node.pair()[1].number(0)
            if not 0 < at <= 1:
                raise node.refuse("a leaf has not a point above 0 and up to 1")
            self.setting.work.spend(LOG_COST + 10 * len(self.size))
            worst = max(worst, self._best(known, at))
        return Fraction(worst, self.setting.total << BITS)

    def _best(self, known: Known, at: Fraction) -> int:
        """The most of the tangent at P0 minus prices, in units of 2^-BITS / total, rounded upwards."""
        slope = -log2(at.numerator, at.denominator)[0] - LOW
        found = -(-self.setting.total * at.numerator * HIGH // at.denominator)
        for run, (n, price) in enumerate(zip(self.count, self.price, strict=True)):
            low, high = known.get(run, (0, self.size[run]))
            worth = n * (slope - price)
            found += worth * (high if worth > 0 else low)
        return found
