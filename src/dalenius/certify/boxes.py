"""Proof of optimality when the output tells about all of the input (W = X): boxes of its columns (see `box_tree`).

Views may part the inputs: those that share no value in the named views, one step after another, never trade mass. Every
column then has the mass P_b of p in each part b, so I(X; Y) <= sum_b P_b (bound of p given b). Views that are not named
only restrict the columns further, and no bound is lost without them.
"""

from fractions import Fraction
from typing import Any

from dalenius.certify.box_tree import least_bound
from dalenius.certify.cone import Cone
from dalenius.core.numbers import exact
from dalenius.core.reading import require


def boxes(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """A dual vector, one number for each input or each type, and a tree of boxes; or both for each of the `parts`."""
    require(cone.tells_itself(), "boxes are for W = X alone")
    protected = cone.seen[: cone.protected]
    require(all(len(s) == 1 for seen in protected for s in seen), "not a function of the input")
    views = [[a for (((a, _), _),) in seen] for seen in protected]
    if "parts" not in proof:
        return _bound(cone.mass, list(zip(*views)), proof)
    require(bool(proof["views"]) and all(k in range(len(views)) for k in proof["views"]), "the parts name no view")
    atoms = list(zip(*(views[k] for k in proof["views"])))
    parts = parted(atoms)
    require(len(parts) == len(proof["parts"]), "there is not one proof for each part")
    bound = Fraction(0)
    for part, own in zip(parts, proof["parts"]):
        mass = [cone.mass[x] for x in part]
        bound += Fraction(sum(mass), cone.total) * _bound(mass, [atoms[x] for x in part], own)
    return bound


def _bound(mass: list[int], atoms: list[tuple[Any, ...]], proof: dict[str, Any]) -> Fraction:
    return least_bound(mass, sum(mass), atoms, [exact(v) for v in proof["dual"]], proof["tree"])


def parted(atoms: list[tuple[Any, ...]]) -> list[list[int]]:
    """Which atoms hang together: those with the same value in some view, one step after another."""
    part = list(range(len(atoms)))
    for view in zip(*atoms):
        first: dict[Any, int] = {}
        for x, a in enumerate(view):
            old, new = part[x], part[first.setdefault(a, x)]
            part = [new if k == old else k for k in part] if old != new else part
    return [[x for x, k in enumerate(part) if k == own] for own in dict.fromkeys(part)]
