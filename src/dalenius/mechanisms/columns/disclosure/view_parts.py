r"""Views that part the inputs: the best columns of each part, one part after another.

Drop every view that another one tells. Inputs hang together when they have the same value in one of the others, one
step after another. A column t has the margins of p in every view, so in each part b it has the mass P_b of p, and

    I(X; Y) = H(p) - E H(t) = sum_b P_b [H(p given b) - E H(t given b)]:

the parts do not compete, and any coupling of their best mixtures is best. One uniform number picks the column of every
part, which takes sum_b (K_b - 1) + 1 letters at most. With the views (X1, X2) and (X2, X3) the parts are the values
of X2; with a single view they are its own values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from time import monotonic

from dalenius.solvers import SelfDisclosure, self_disclosure
from dalenius.solvers.exact import Rational

__all__ = ["FINE", "Parts", "by_parts", "parts_of"]

FINE = 1e-9  # bits that the search goes on to, while that is cheap

Views = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Parts:
    """The views that tell all others, and the inputs that hang together by them."""

    views: list[int]
    atoms: list[list[int]]


def parts_of(views: Views) -> Parts | None:
    """The parts, or None where all inputs hang together.

    >>> parts_of([[0, 0, 1, 1], [0, 1, 2, 3]]).atoms
    [[0], [1], [2], [3]]
    >>> parts_of([[0, 0, 1, 1], [0, 1, 0, 1]]) is None
    True
    """
    kept: list[int] = []
    for k in sorted(range(len(views)), key=lambda k: -len(set(views[k]))):
        if not any(len(set(zip(views[j], views[k], strict=True))) == len(set(views[j])) for j in kept):
            kept.append(k)
    kept.sort()
    atoms = parted(list(zip(*(views[k] for k in kept), strict=True)))
    return Parts(kept, atoms) if len(atoms) > 1 else None


def parted(atoms: Sequence[tuple[int, ...]]) -> list[list[int]]:
    """Which atoms hang together: those with the same value in some view, one step after another.

    >>> parted([(0, 0), (0, 1), (1, 2)])
    [[0, 1], [2]]
    """
    part = list(range(len(atoms)))
    for view in zip(*atoms, strict=True):
        first: dict[int, int] = {}
        for x, a in enumerate(view):
            old, new = part[x], part[first.setdefault(a, x)]
            part = [new if k == old else k for k in part] if old != new else part
    return [[x for x, k in enumerate(part) if k == own] for own in dict.fromkeys(part)]


def by_parts(
    p: list[Fraction],
    views: Views,
    parts: Parts,
    *,
    gap: float,
    seconds: float,
    on_progress: Callable[[float, float], None] | None = None,
) -> tuple[list[list[Rational]], list[SelfDisclosure]]:
    """theta t for every letter, with the mean p exactly, and what was found in each part."""
    end = monotonic() + seconds
    all_found = list[SelfDisclosure]()
    mixtures = []
    value = bound = 0.0
    for done, atoms in enumerate(parts.atoms):
        mass = sum((p[atom] for atom in atoms), Fraction(0))
        found = self_disclosure(
            [p[atom] / mass for atom in atoms],
            [[views[view][atom] for atom in atoms] for view in parts.views],
            gap=gap,
            fine=FINE,
            seconds=max(0.0, end - monotonic()) / (len(parts.atoms) - done),
        )
        all_found.append(found)
        used = [(theta, column) for theta, column in zip(found.theta, found.columns, strict=True) if theta]
        mixtures.append([(theta, {atoms[x]: mass * v for x, v in t.items()}) for theta, t in used])
        value = value + float(mass) * found.value
        bound = bound + float(mass) * found.bound
        if on_progress is not None:
            on_progress(value, bound)
    return _together(mixtures, len(p)), all_found


def _together(mixtures: Sequence[list[tuple[Fraction, dict[int, Fraction]]]], atoms: int) -> list[list[Rational]]:
    """One uniform number picks a column of every mixture: a letter for each interval on which none of them changes."""
    ends = [list(accumulate(theta for theta, _ in mixture)) for mixture in mixtures]
    at = [0] * len(mixtures)
    columns = list[list[Rational]]()
    begin = Fraction(0)
    for end in sorted({e for own in ends for e in own}):
        column: list[Rational] = [0] * atoms
        for b, mixture in enumerate(mixtures):
            for x, v in mixture[at[b]][1].items():
                column[x] = (end - begin) * v
            at[b] += ends[b][at[b]] == end
        columns.append(column)
        begin = end
    return columns
