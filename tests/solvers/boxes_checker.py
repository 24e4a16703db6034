"""The checker's box proof on bare arrays: what `certify.boxes` reads of a cone, and nothing else."""

from math import lcm
from types import SimpleNamespace

from dalenius.certify.boxes import boxes
from dalenius.core.reading import refusing, require


def boxes_bound(p, views, dual, tree):
    """The bound that a tree of boxes proves for the pmf p with these views."""
    require(len(p) == len(views[0]) and min(p) > 0 and sum(p) == 1, "not a pmf with its views")
    total = lcm(*(t.denominator for t in p))
    mass = [int(t * total) for t in p]
    cone = SimpleNamespace(
        total=total,
        mass=mass,
        tells_itself=lambda: True,
        protected=len(views),
        seen=[[[((label, ()), m)] for label, m in zip(view, mass, strict=True)] for view in views],
    )
    with refusing():
        return boxes(cone, {"dual": list(dual), "tree": tree})
