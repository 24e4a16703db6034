"""Proof of optimality when the output tells about all of the input (W = X) under local DP, for a channel in rows."""

from fractions import Fraction
from typing import Any

from dalenius.certify.cone import Cone
from dalenius.certify.staircase import most_told
from dalenius.core.reading import require


def subsets(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """Prices and a tree that divides the subsets of the inputs, as `staircase` explains."""
    require(cone.tells_itself() and cone.ratio > 1, "subsets are for W = X under local_dp")
    return most_told(cone.mass, cone.ratio, proof)
