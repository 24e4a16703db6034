"""What the mechanisms of a problem compete for. The proof of privacy needs nothing of it."""

from dataclasses import dataclass
from fractions import Fraction

from dalenius.kernel.distortion import Distortion, read_distortion
from dalenius.kernel.nouns import Setting, names_in
from dalenius.kernel.numbers import Node


@dataclass(frozen=True)
class Objective:
    """What is best: least or most of one figure.

    `aim` is "information": most I(about; all that leaves). "information_of_each": most of the sum of I(X_j; Y_j,
    strata) over columns that have a matrix each. "leakage": least theta I(about; ...) + (1 - theta) rate. "distortion":
    least of it. "variance": least variance of the estimated frequencies of `about`. "capacity": least of noise.
    """

    aim: str
    about: tuple[str, ...]
    theta: Fraction
    distortion: Distortion | None
    reach: tuple[int, ...] | None = None  # least capacity of noise that is added and reaches so many steps

    @property
    def each(self) -> bool:
        """Whether columns are counted one by one."""
        return self.aim == "information_of_each"

    @property
    def wanted(self) -> list[tuple[str, ...]]:
        """What information is wanted about: all named columns together, or each by itself."""
        return [(name,) for name in self.about] if self.each else [self.about]

    @property
    def maximise(self) -> bool:
        """Whether more is better."""
        return self.aim in ("information", "information_of_each")


def read_objective(node: Node, setting: Setting) -> Objective:
    """An aim, with every name and number that it needs."""
    aim = node.tag("information", "information_of_each", "leakage", "distortion", "variance", "capacity")
    if aim == "distortion":
        _, parts = node.fields("aim", "distortion")
        return Objective(aim, (), Fraction(0), read_distortion(parts, setting))
    if aim == "variance":
        _, about = node.fields("aim", "about")
        return Objective(aim, names_in(about, setting.alphabets), Fraction(0), None)
    if aim == "capacity":
        _, reach = node.fields("aim", "reach")
        node.require(setting.mechanism.form == "noise", "the least capacity is that of noise")
        steps = tuple(item.place(1 << 20) for item in reach.pair(len(setting.mechanism.observe)))
        return Objective(aim, (), Fraction(0), None, steps)
    _, about, theta = node.fields("aim", "about", "theta")
    names = names_in(about, setting.alphabets)
    share = theta.number(0)
    theta.require(share <= 1, "theta lies between 0 and 1")
    # A share of what is maximised would leave the rest without an aim.
    theta.require(share == 1 or aim == "leakage", "theta is 1 where information is wanted")
    # With theta 0 a named column would be shown as one that counts.
    about.require(bool(names) == (share > 0), "columns are named where they count, and nowhere else")
    mechanism = setting.mechanism
    node.require(
        share == 1 or not mechanism.keep + mechanism.strata, "a rate is without columns that leave as they are"
    )
    if aim == "information_of_each":
        node.require(mechanism.each is not None, "columns are counted one by one where each has a matrix of its own")
        about.require(names == mechanism.observe, "these are not the observed columns, in their order")
    return Objective(aim, names, share, None)
