"""The rules by which bounds are proved. No rule sees the channel."""

from collections.abc import Callable
from fractions import Fraction

from dalenius.kernel.document import Limit, Objective
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node
from dalenius.kernel.promises import Promise

Rule = Callable[[Setting, tuple[Promise, ...], tuple[Limit, ...], Objective, Node], Fraction]

RULES: dict[str, Rule] = {}


def proved_bound(
    setting: Setting, promises: tuple[Promise, ...], limits: tuple[Limit, ...], objective: Objective, proof: Node
) -> Fraction:
    """What no mechanism passes that keeps the promises, the limits and the shape."""
    rule = proof.tag(*RULES)
    # With a matrix for each column the mechanisms that compete are products, and what they tell is added up.
    proof.require(setting.mechanism.each is None or rule == "parts", "columns with a matrix each are bounded by parts")
    return RULES[rule](setting, promises, limits, objective, proof)
