"""Cells of all faces, each with tangents from a common pool, that prove prices to be high enough."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.divergence import cut_simplices
from dalenius.solvers.funnel.caps import Lent
from dalenius.solvers.funnel.faces import FaceDual, Faces, all_faces, cuts
from dalenius.solvers.funnel.subdivision import Tree, tree_of_splits
from dalenius.stopping import left, over

__all__ = ["FaceProof", "face_proof"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

FINE = 16  # steps of the pool in the width of a cell
CELLS = 3_000_000
WAVES = 60
CHUNK = 100_000
DEEPER = 0.5  # of the cells that there is time for, in one wave; the rest is for cells of cells


@dataclass(frozen=True, eq=False)
class FaceProof:
    """A tree for each face of so many atoms, in their order; of each gauge the tangents (lines, L); what is proved.

    ``caps`` has for each cap the multiplier and the tangent of each line; some ``lines`` may be in no leaf.
    """

    atoms: int
    trees: list[Tree]
    tangents: list[Floats]
    caps: list[list[tuple[float, Floats]]]
    top: float
    lines: int


class _Pool:
    """The tangents in use, found by the whole numbers that name them."""

    def __init__(self, given: Faces) -> None:
        self.given = given
        self.known: dict[bytes, int] = {}
        self.tangents: list[list[Floats]] = [[] for _ in given.gauges]
        self.caps: list[list[tuple[float, Floats]]] = [[] for _ in given.caps]

    def lines(self, joints: list[Floats], step: Floats, lent: list[Lent]) -> tuple[Places, list[Floats]]:
        """For each cell the number of its line, and its tangents, from the joint weights (m, L) at its centre."""
        # A power of two not above the step: a finer grid only makes a tangent touch nearer.
        level = np.floor(np.log2(step)).astype(np.intp)
        found = [g.nearest(j, np.exp2(level)) for g, j in zip(self.given.gauges, joints, strict=True)]
        names = np.column_stack(
            [level if found else 0 * level, *(name for name, _ in found), *(one.names for one in lent)]
        )
        _, first, back = np.unique(names, axis=0, return_index=True, return_inverse=True)
        numbers = np.empty(len(first), dtype=np.intp)
        tangents = [gauge.tangent(weights[first]) for gauge, (_, weights) in zip(self.given.gauges, found, strict=True)]
        for k, row in enumerate(names[first]):
            key = row.tobytes()
            if key not in self.known:
                self.known[key] = len(self.known)
                for own, tangent in zip(self.tangents, tangents, strict=True):
                    own.append(tangent[k])
                for cap, one in zip(self.caps, lent, strict=True):
                    cap.append((float(one.multipliers[first[k]]), one.tangents[first[k]]))
            numbers[k] = self.known[key]
        back = back.reshape(-1)
        return numbers[back], [tangent[back] for tangent in tangents]


def face_proof(given: Faces, dual: FaceDual, top: float, *, deadline: float, checked: float = 0.0) -> FaceProof:
    """Cut the cells of all faces until none exceeds ``top``, or as far as the time allows.

    Parameters
    ----------
    given : Faces
        What is told, and what is promised.
    dual : FaceDual
        The prices and weights that are proved.
    top : float
        What phi minus prices and tangents may come to, in nats.
    deadline : float
        Of `time.monotonic`.
    checked : float
        Seconds that it takes to check a cell afterwards, before the deadline too.

    Returns
    -------
    FaceProof
        Complete; its own ``top`` is larger where the time was too short.
    """
    atoms = given.atoms
    faces = all_faces(len(given.p), atoms)
    many = len(faces)
    cells = np.broadcast_to(np.eye(atoms), (many, atoms, atoms)).copy()
    nodes = np.arange(many)  # of each cell; the first are the roots of the faces
    leaf: dict[int, int] = {}
    split: dict[int, tuple[int, int, Fraction, int, int]] = {}
    pool, reached, count = _Pool(given), -np.inf, many
    for wave in range(WAVES):
        last = wave == WAVES - 1 or over(deadline) or 2 * len(faces) > CELLS
        tops = np.empty(len(faces))
        lines = np.empty(len(faces), dtype=np.intp)
        for start in range(0, len(faces), CHUNK):
            part = slice(start, start + CHUNK)
            tops[part], lines[part] = _tops(given, faces[part], cells[part], dual, pool)
        shut = np.ones(len(faces), dtype=bool) if last else tops <= top
        room = left(deadline) / checked - len(leaf) - len(faces) if checked else np.inf
        if (~shut).sum() > DEEPER * room:
            # Each cut is one more cell to be checked: where time lacks, the highest cells are cut, and again.
            shut[np.argsort(-tops)[int(max(0.0, DEEPER * room)) :]] = True
        reached = max(reached, float(tops[shut].max(initial=-np.inf)))
        leaf.update(zip(nodes[shut].tolist(), lines[shut].tolist(), strict=True))
        if shut.all():
            break
        faces, cells, nodes = faces[~shut], cells[~shut], nodes[~shut]
        first, second, place = cuts(given, faces, cells)
        children = count + np.arange(2 * len(faces)).reshape(2, -1)
        count += children.size
        places = [Fraction(v) for v in place.tolist()]
        rows = zip(nodes.tolist(), first.tolist(), second.tolist(), places, *children.tolist(), strict=True)
        split.update((node, (i, l, t, a, b)) for node, i, l, t, a, b in rows)
        cells = np.concatenate(cut_simplices(cells, first, second, place))
        faces = np.concatenate([faces, faces])
        nodes = children.reshape(-1)
    trees = [tree_of_splits(root, atoms, leaf, split) for root in range(many)]
    return FaceProof(atoms, trees, [np.array(own) for own in pool.tangents], pool.caps, reached, len(pool.known))


def _tops(given: Faces, faces: Places, cells: Floats, dual: FaceDual, pool: _Pool) -> tuple[Floats, Places]:
    """The most of phi minus prices and tangents at the corners of each cell, and the line of its tangents."""
    corners = [np.einsum("cim,cmk->cik", cells, gauge.shares[faces]) for gauge in given.gauges]
    centres = [joint.mean(axis=1) for joint in corners]
    plain = given.told(faces[:, None, :], cells) - (cells * dual.z[faces][:, None, :]).sum(axis=-1)

    def less(plain: Floats, tangents: list[Floats]) -> Floats:
        for weight, joint, tangent in zip(dual.weights, corners, tangents, strict=True):
            plain = plain - weight * (joint * tangent[:, None, :]).sum(axis=-1)
        return plain

    # What caps lend is found beside the tangents at the centres themselves.
    tops = less(plain, [gauge.tangent(own) for gauge, own in zip(given.gauges, centres, strict=True)])
    found: list[Lent] = []
    added = np.zeros_like(plain)
    for cap in given.caps:
        found.append(cap.lent(np.einsum("cim,cmk->cik", cells, cap.shares[faces]), tops))
        added += found[-1].worth - tops
        tops = found[-1].worth
    widths = [gauge.width(joint) for gauge, joint in zip(given.gauges, corners, strict=True)]
    width = np.max([np.zeros(len(faces)), *widths], axis=0)
    lines, tangents = pool.lines(centres, np.maximum(width, 1e-7) / FINE, found)
    return np.asarray((less(plain, tangents) + added).max(axis=1)), lines
