"""Trees of boxes of columns as the terms of the kernel: prices of inputs or of types, and multipliers of the views."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dalenius.core import Certificate, Independent, Problem
from dalenius.core.arithmetic import BITS, log2
from dalenius.mechanisms.columns.disclosure.view_parts import Parts
from dalenius.mechanisms.columns.exact_columns import named, view_labels
from dalenius.mechanisms.proof_terms import by_lines, in_units
from dalenius.solvers import SelfDisclosure
from dalenius.solvers.classes import refined

__all__ = ["Labels", "proof_by_boxes", "proof_by_parts"]

GRID = 1 << 40  # units of multipliers in the trees of the search


@dataclass(frozen=True)
class Labels:
    """The letters of each view, numbered alike in all views: samples are alike only if their names are.

    Attributes
    ----------
    of_atoms : list
        For each view the number of its letters at each atom.
    by_place : list
        For each view the numbers of its letters in the order of their alphabets.
    """

    of_atoms: list[list[int]]
    by_place: list[list[int]]

    @classmethod
    def of(cls, problem: Problem) -> "Labels":
        """Those of a problem whose input tells every view."""
        letters = [named(problem, view) for view in problem.views]
        number = {name: k for k, name in enumerate(sorted({name for view in letters for name in view}))}
        places = [view_labels(problem, view) for view in problem.views]
        by_place = [[number[name] for name in own] for own in letters]
        return cls([[own[a] for a in of] for own, of in zip(by_place, places, strict=True) if of is not None], by_place)


def _places(problem: Problem) -> list[int]:
    """Where the views stand among the promises."""
    return [k for k, promise in enumerate(problem.guarantees) if isinstance(promise, Independent)]


def proof_by_boxes(problem: Problem, labels: Labels, found: SelfDisclosure) -> Certificate:
    """The proof of one search: a price for each input, or for each type of samples that are alike."""
    atoms = range(len(problem.pmf.grouped(problem.inputs)[0]))
    if len(found.dual) != len(atoms):
        return _by_orbits(labels, found)
    every = range(len(labels.of_atoms))
    return _by_boxes(problem, labels, every, found, atoms, _places(problem), len(problem.guarantees))


def proof_by_parts(problem: Problem, labels: Labels, parts: Parts, found: Sequence[SelfDisclosure]) -> Certificate:
    """A proof for each part of the inputs, under the views that tell all others."""
    slots = range(len(parts.views))
    proofs = [
        _by_boxes(problem, labels, parts.views, one, atoms, slots, len(slots)).proof
        for atoms, one in zip(parts.atoms, found, strict=True)
    ]
    places = _places(problem)
    return Certificate({"rule": "components", "views": [places[view] for view in parts.views], "parts": proofs})


def _by_boxes(
    problem: Problem,
    labels: Labels,
    views: Sequence[int],
    found: SelfDisclosure,
    atoms: Sequence[int],
    slots: Sequence[int],
    promises: int,
) -> Certificate:
    """The tree over some inputs; each view has its slot among so many promises."""
    joint = problem.pmf
    mass = joint.counts(problem.inputs)
    counts = [int(mass[atom]) for atom in atoms]
    total = sum(counts)
    logs = [Fraction(-log2(Fraction(count, total))[0], 1 << BITS) for count in counts]
    # Boxes are over the posteriors of what is told, in the order of the columns that the objective names.
    outcomes = joint.grouped(problem.inputs)[0]
    at = [problem.inputs.index(name) for name in problem.objective.names]
    ranked = sorted(range(len(atoms)), key=lambda x: [outcomes[atoms[x]][k] for k in at])
    spot = {x: k for k, x in enumerate(ranked)}
    margins: list[Counter[int]] = []
    for k in views:
        margin = Counter[int]()
        for x, n in zip(atoms, counts, strict=True):
            margin[labels.of_atoms[k][x]] += n
        margins.append(margin)
    tree: list[Any] = []
    leaves: list[dict[str, Any]] = []
    for node in found.tree:
        if isinstance(node, dict):
            tree.append(["split", spot[node["x"]], str(Fraction(node["at"]))])
            continue
        numbers = iter([Fraction(int(v), GRID) for v in node])
        sigma = next(numbers, Fraction(0))
        rows: list[list[str]] = [[] for _ in range(promises)]
        for k, slot, margin in zip(views, slots, margins, strict=True):
            # The search fixes the multiplier of the first letter at zero, because those of a view add up to a constant.
            value = {a: next(numbers, Fraction(0)) if j else Fraction(0) for j, a in enumerate(sorted(margin))}
            rows[slot] = in_units(value[a] for a in labels.by_place[k] if a in margin)
            sigma += sum((value[a] * n for a, n in margin.items()), Fraction(0)) / total
        tree.append(["leaf", len(leaves)])
        leaves.append({"objective": in_units([sigma]), "promises": rows})
    prices = in_units(own - y for own, y in zip(logs, found.dual, strict=True))
    return by_lines("boxes", [tree], leaves, promises=["0"] * promises, prices=prices)


def _by_orbits(labels: Labels, found: SelfDisclosure) -> Certificate:
    """A tree with one price for each type; views have the same letters, whose places are those in the first view."""
    place = {a: k for k, a in enumerate(labels.by_place[0])}
    atoms = list(zip(*labels.of_atoms, strict=True))
    kinds = sorted({tuple(sorted(atom)) for atom in atoms})
    price = {tuple(sorted(place[a] for a in kind)): d for kind, d in zip(kinds, found.dual, strict=True)}
    prices = in_units(price[kind] for kind in sorted(price))
    return Certificate({"rule": "orbits", "prices": prices, "tree": list(_orbit_tree(found, atoms, place))})


def _orbit_tree(found: SelfDisclosure, atoms: list[tuple[int, ...]], place: dict[int, int]) -> Iterator[list[Any]]:
    """The nodes; a leaf has a multiplier for each letter of each class of views that its splits do not tell apart."""
    values = sorted(place)
    order = sorted(range(len(values)), key=lambda k: place[values[k]])
    stack = [(0,) * len(atoms[0])]
    for node in found.tree:
        colours = stack.pop()
        if isinstance(node, dict):
            stack += [refined(colours, atoms[node["x"]]), colours]
            yield ["split", node["x"], str(Fraction(node["at"]))]
            continue
        numbers = iter(node)
        leaf = [Fraction(int(next(numbers, 0)), GRID)]
        for _ in range(max(colours) + 1):
            own = [Fraction(int(next(numbers, 0)) if k else 0, GRID) for k in range(len(values))]
            leaf += [own[k] for k in order]
        yield ["leaf", *in_units(leaf)]
