"""Trees of a search as the flat lists that proofs have: a node stands before its children."""

from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["pre_order"]

Node = TypeVar("Node")
Item = TypeVar("Item")


def pre_order(root: Node, visit: Callable[[Node], tuple[Item, Sequence[Node]]]) -> list[Item]:
    """What is written of every node of a tree, in pre-order; no depth is too much for it.

    Parameters
    ----------
    root : object
        A node, in whatever way the tree names its nodes.
    visit : callable
        From a node to what is written of it and to its children in their order, none for a leaf.

    Returns
    -------
    list
        A node before its children, and the first child with all below it before the second.

    Examples
    --------
    >>> pre_order(1, lambda k: (k, [2 * k, 2 * k + 1] if k < 4 else []))
    [1, 2, 4, 5, 3, 6, 7]
    """
    flat: list[Item] = []
    stack = [root]
    while stack:
        item, children = visit(stack.pop())
        flat.append(item)
        stack += reversed(children)  # the last to be put down is the first to be taken up
    return flat
