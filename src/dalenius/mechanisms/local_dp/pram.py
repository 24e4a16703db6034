"""PRAM under local differential privacy: the matrix of form (8) that tells the most, for any number of categories.

References: Ayed, Battiston & Camerlenghi, "An information theoretic approach to post randomization methods under
differential privacy" (paper 002), eq. 7 and 8.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import factorial, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Certificate, Design, Pram, Problem, TableSource
from dalenius.core.arithmetic import exp
from dalenius.documents.text import text
from dalenius.mechanisms.local_dp.takes import PRAM, under_own_law
from dalenius.mechanisms.proving import proved
from dalenius.solvers.pram import HIGH, LOW, Best, Shape, search, shapes

__all__ = ["pram"]

RELATIVE = 1e-11
LISTED = 8  # matrices that tell as much, told one by one
"""The best matrix of the form for the law of the records, and the one that is best when all letters are alike."""


def pram(
    problem: Problem,
    *,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    r"""Maximise I(X; Z) over q, where p(x|x) = q_x and p(z|x) = (1 - q_x) / (S - 1), at level epsilon.              (7)

    A convex function over a polytope is largest at a vertex; the vertices of all three regimes of e^epsilon are known
    (`solvers.pram`), and a separable bound with shallow branching leaves few of them to look at. The paper solves (7)
    locally: of its Tables 1, 2 and 4 nine rows are not the optimum, and Prop. 3.2 as printed can break the promise.
    The search takes well under a second for 100,000 letters, so that it is never cut short.

    >>> from dalenius.core import LocalDP, MaximizeInformation, Pmf
    >>> joint = Pmf.from_records({"X": ("a", "b", "c")}, [(("a",), 5), (("b",), 3), (("c",), 2)])
    >>> about = MaximizeInformation(("X",))
    >>> design = pram(Problem(("X",), about, (LocalDP(Fraction(1)),), release=("X",), form="pram", joint=joint))
    >>> round(float(design.value), 6), design.gap < Fraction(1, 10**11)
    (0.164641, True)
    """
    PRAM.refuse(problem)
    problem, promise, joint = under_own_law(problem)
    alphabets = joint.alphabets(problem.observe)
    counts = joint.every().tolist()
    boxes = shapes(len(counts), exp(promise.epsilon)[0])  # the ratio from below, so that every vertex keeps the level
    if on_progress:
        on_progress(f"{len(counts):,} values, {len(boxes)} kinds of vertices")
    best = search(np.array([count / joint.total for count in counts]), boxes, gap=RELATIVE)
    q = _corner(best, boxes, counts)
    # A value that is kept less often than it becomes a certain other one misleads who reads the table as it is.
    inverting = any(value * len(q) < 1 for value in q) and len(q) > 2
    refused = inverting and isinstance(problem.source, TableSource) and not problem.allow_inverted
    if refused:  # the bound stays that of all matrices of the form
        upright = _upright(boxes, len(q))
        shares = np.array([count / joint.total for count in counts])
        q = _corner(search(shares, upright, gap=RELATIVE), upright, counts)
    if len(q) == 2:  # two letters that trade their names tell as much: take the names that keep the most rows
        kept = [
            (sum(count * name for count, name in zip(counts, names, strict=True)), sum(names)) for names in _both(q)
        ]
        q = max(zip(kept, _both(q), strict=True))[1]
    alike = ties(q, counts, boxes)
    if problem.form == "randomised-response" or sum(n > 0 for n in counts) == 1:  # of one value nothing can be told
        q = (boxes[0].high,) * len(counts)  # the corner of the cube that no law of the records enters
    order = np.array(sorted(range(len(counts)), key=lambda x: -counts[x]))  # the commonest first, as the checker has it
    trees = [[["split", n] if isinstance(n, int) else ["leaf", *n] for n in tree] for tree in best.trees]
    proof = {"rule": "marginals", "bases": [_runs(base[order]) for base in best.bases], "trees": trees}
    many = f"{alike:,}" if alike < 10**12 else "very many"
    remarks = [f"{many} matrices of this form say as much; this is one of them"] if alike > 1 else []
    if 1 < alike <= LISTED:
        others = (f"({', '.join(f'{float(v):.6g}' for v in other)})" for other in tied(q, counts) if other != q)
        remarks[0] += f", and others keep the values with the probabilities {', '.join(others)}"
    if refused:
        remarks = [
            "the matrix of this form that says the most would release some values as another one more often than as "
            "themselves; this is the best without that (allow_inverted = true in [mechanism] takes the other)"
        ]
    elif inverting:
        remarks += [
            "this matrix says the most, and releases some values as another one more often than as themselves: "
            'estimate with its card, do not read the table as it is, or take form = "randomised-response"'
        ]
    remarks = remarks if problem.form == "pram" else []
    method = f"every kind of vertex ({len(boxes)}), {len(best.bases)} separable bounds"
    return proved(problem, Pram(alphabets, alphabets, q), [Certificate(proof)], method=method, remarks=remarks)


def _corner(best: Best, boxes: Sequence[Shape], counts: Sequence[int]) -> tuple[Fraction, ...]:
    """The probabilities of keeping at the best corner of a search; a letter that never occurs is kept if it may be."""
    shape = boxes[best.shape]
    roles = [HIGH if k == LOW and not count else k for k, count in zip(best.roles.tolist(), counts, strict=True)]
    return tuple(v for k in roles if (v := shape[k]) is not None)


def _upright(boxes: Sequence[Shape], letters: int) -> list[Shape]:
    """The parts of the shapes where no value is kept less often than it becomes a certain other one, q >= 1/S.

    Between its two ends every value moves freely, so that a lower end below 1/S may be raised to it.
    """
    even = Fraction(1, letters)
    kept = [shape for shape in boxes if shape.high >= even and (shape.below is None or shape.below >= even)]
    return [shape._replace(low=max(shape.low, even)) for shape in kept]


def _both(q: tuple[Fraction, ...]) -> tuple[tuple[Fraction, ...], ...]:
    """The probabilities of keeping two letters, and those after the letters trade their names."""
    return q, tuple(1 - value for value in q)


def ties(q: Sequence[Fraction | float], counts: Sequence[int], boxes: Sequence[Shape]) -> int:
    """How many vertices tell as much as q: letters of equal probability may trade places, two letters their names.

    >>> ties([0.9, 0.1, 0.1], [5, 5, 1], [])
    2
    """
    alike = Counter(counts)
    apart = Counter(zip(counts, q, strict=True))
    many = prod(factorial(n) for n in alike.values() if n > 1) // prod(factorial(n) for n in apart.values() if n > 1)
    return many * (2 if len(q) == 2 and boxes else 1)


def tied(q: Sequence[Fraction], counts: Sequence[int]) -> set[tuple[Fraction, ...]]:
    """The vertices that `ties` counts, while they are few.

    >>> sorted(tied([Fraction(9, 10), Fraction(1, 10), Fraction(1, 10)], [5, 5, 1]))[0]
    (Fraction(1, 10), Fraction(9, 10), Fraction(1, 10))
    """
    found = {tuple(q)}
    for x, z in combinations(range(len(q)), 2):
        if counts[x] == counts[z]:
            found |= {(*value[:x], value[z], *value[x + 1 : z], value[x], *value[z + 1 :]) for value in found}
    return found | {tuple(1 - value for value in one) for one in found if len(q) == 2}


def _runs(base: npt.NDArray[np.float64]) -> list[list[Any]]:
    """The entries of a base, letter by letter, as [how many, value]."""
    ends = np.flatnonzero(np.append(base[1:] != base[:-1], True)) + 1
    return [
        [str(n), text(repr(float(value)))] for n, value in zip(np.diff(ends, prepend=0), base[ends - 1], strict=True)
    ]
