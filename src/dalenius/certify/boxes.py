"""Proof of optimality when the output tells about all of the input (W = X): boxes of its columns (see `box_tree`)."""

from fractions import Fraction
from typing import Any

from dalenius.certify.box_tree import least_bound
from dalenius.certify.cone import Cone
from dalenius.core.numbers import exact
from dalenius.core.reading import require


def boxes(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """A dual vector, one number for each input or each type, and a tree of boxes."""
    require(cone.tells_itself(), "boxes are for W = X alone")
    protected = cone.seen[: cone.protected]
    require(all(len(s) == 1 for seen in protected for s in seen), "not a function of the input")
    views = [[a for (((a, _), _),) in seen] for seen in protected]
    return least_bound(cone.mass, cone.total, list(zip(*views)), [exact(v) for v in proof["dual"]], proof["tree"])
