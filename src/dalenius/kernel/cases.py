"""The one tree of cases: flat, in pre-order, ["split", ...] or ["leaf", ...].

Its leaves cover everything because every split replaces a case by cases that cover it, and every case that a split
leaves has to end in a leaf.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from dalenius.kernel.numbers import Node, Work, require

Case = TypeVar("Case")


def leaves(
    tree: Node, root: Case, split: Callable[[Case, Node], list[Case]], work: Work
) -> Iterator[tuple[Case, Node]]:
    """Each leaf with its case and its node, in the order of the tree.

    `split` takes a case and the node that splits it, and gives the cases that cover it, in the order of the tree.
    """
    stack = [root]
    nodes = tree.items()
    work.spend(30 * len(nodes))
    for node in nodes:
        if not stack:
            raise node.refuse("the tree goes on after its last leaf")
        match node.value:
            case ["split", *_]:
                stack += reversed(split(stack.pop(), node))  # reversed: the first part is the next to be looked at
            case ["leaf", *_]:
                yield stack.pop(), node
            case _:
                raise node.refuse("a node is a split or a leaf")
    require(not stack, "a tree of cases lacks leaves")  # A case without a leaf has no bound.
