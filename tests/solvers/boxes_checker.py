"""The kernel's bound of a tree of boxes on bare arrays: a problem of self-disclosure made of them."""

from types import SimpleNamespace

from dalenius.core import Channel, Independent, MaximizeInformation, Pmf, Problem
from dalenius.core.drafting import drafted
from dalenius.core.reading import require
from dalenius.documents import proved_text
from dalenius.errors import NotCertified
from dalenius.kernel.numbers import Refused
from dalenius.mechanisms.columns.disclosure.box_proof import Labels, proof_by_boxes


def boxes_bound(p, views, dual, tree):
    """The bound that a tree of boxes proves for the pmf p with these views."""
    require(len(p) == len(views[0]) and min(p) > 0 and sum(p) == 1, "not a pmf with its views")
    letters = tuple(f"x{k:04d}" for k in range(len(p)))
    names = [f"V{i}" for i in range(len(views))]
    alphabets = {"X": letters}
    for name, view in zip(names, views, strict=True):
        alphabets[name] = tuple(f"v{v:04d}" for v in sorted(set(view)))
    records = [((letters[k], *(f"v{view[k]:04d}" for view in views)), p[k]) for k in range(len(p))]
    promises = tuple(Independent((name,)) for name in names)
    joint = Pmf.from_records(alphabets, records)
    problem = Problem(("X",), MaximizeInformation(("X",)), promises, output="Y", joint=joint)
    draft = drafted(problem, Channel.constant({"X": letters}, "Y"))
    try:
        proof = proof_by_boxes(problem, Labels.of(problem), SimpleNamespace(dual=dual, tree=tree)).proof
        return proved_text(draft, [proof]).bound
    except (Refused, IndexError, KeyError, TypeError, ValueError) as e:
        raise NotCertified(f"the proof is damaged: {e}") from None
