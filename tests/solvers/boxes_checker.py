"""The kernel's bound of a tree of boxes on bare arrays: a problem of self-disclosure made of them."""

from dalenius.convert import CannotConvert, proved_text
from dalenius.core.reading import require
from dalenius.errors import NotCertified
from dalenius.kernel.numbers import Refused


def boxes_bound(p, views, dual, tree):
    """The bound that a tree of boxes proves for the pmf p with these views."""
    require(len(p) == len(views[0]) and min(p) > 0 and sum(p) == 1, "not a pmf with its views")
    letters = [f"x{k:04d}" for k in range(len(p))]
    alphabets = {"X": letters} | {f"V{i}": [f"v{v:04d}" for v in sorted(set(view))] for i, view in enumerate(views)}
    pmf = [
        {"X": letter, **{f"V{i}": f"v{view[k]:04d}" for i, view in enumerate(views)}, "p": str(p[k])}
        for k, letter in enumerate(letters)
    ]
    design = {
        "mechanism": {"observe": ["X"], "output": "Y"},
        "objective": {"maximize": {"information": ["X"]}},
        "guarantees": [{"promised": {"independent": [f"V{i}"]}, "proved": {}} for i in range(len(views))],
        "joint": {"variables": alphabets, "pmf": pmf},
        "channel": {"inputs": {"X": letters}, "output": {"Y": ["0"]}, "rows": [["1"]] * len(p)},
    }
    certificate = {"kind": "boxes", "dual": [str(d) for d in dual], "tree": tree}
    try:
        return proved_text(design | {"certificate": certificate}, [certificate]).bound
    except (Refused, CannotConvert, IndexError, KeyError, TypeError, ValueError) as e:
        raise NotCertified(f"the proof is damaged: {e}") from None
