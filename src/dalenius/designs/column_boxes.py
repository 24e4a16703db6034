"""The route for outputs that tell about all of the input (W = X): columns generated, optimality proved by boxes."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from dalenius.core import Certificate, Channel, Problem
from dalenius.core.numbers import written
from dalenius.designs.columns import channel_of, named, view_labels
from dalenius.errors import InputError, SolverFailed
from dalenius.solvers import SelfDisclosure, best_mixture, self_disclosure
from dalenius.solvers.couplings import eta
from dalenius.solvers.orbital import orbit

__all__ = ["boxes_apply", "by_column_boxes"]

MOST_IMAGES = 20_000


def boxes_apply(problem: Problem) -> bool:
    """Whether the output is to tell about the whole input, nothing is kept, and the input tells every view."""
    told = all(view_labels(problem, view) is not None for view in problem.views)
    return set(problem.objective.names) == set(problem.inputs) and not problem.kept and told


def by_column_boxes(
    problem: Problem, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None = None
) -> tuple[Channel, Certificate, str]:
    """A channel, a certificate and the method in words; the gap is met unless the time ends first.

    Exchangeable samples are searched modulo their permutations; their columns are then spread over the orbits again,
    and a linear program picks no more letters than there are inputs.
    """
    joint = problem.pmf
    p = [Fraction(int(n), joint.total) for n in joint.counts(problem.inputs)]
    views = _labels(problem)
    told = (lambda value, bound: on_progress(f"between {value:.6g} and {bound:.6g} bits")) if on_progress else None
    try:
        found = self_disclosure(p, views, gap=gap / 2, seconds=seconds, symmetric=len(views) > 1, on_progress=told)
    except InputError:  # not exchangeable
        found = self_disclosure(p, views, gap=gap / 2, seconds=seconds, on_progress=told)
    channel = channel_of(problem, _columns(found, views, p), p)
    proof = {"dual": [written(v) for v in found.dual], "tree": found.tree}
    alike = "exchangeable columns" if found.symmetric else "columns"
    return channel, Certificate("boxes", proof), f"{alike} generated one by one, closed by branch and bound"


def _labels(problem: Problem) -> list[list[int]]:
    """The letters of each view at each atom, numbered alike in all views: samples are alike only if their names are."""
    letters = [sorted(named(problem, view)) for view in problem.views]
    number = {name: k for k, name in enumerate(sorted({name for view in letters for name in view}))}
    labels = [view_labels(problem, view) for view in problem.views]
    return [[number[own[a]] for a in of] for own, of in zip(letters, labels, strict=True) if of is not None]


def _columns(found: SelfDisclosure, views: list[list[int]], p: list[Fraction]) -> list[list[Fraction]]:
    """theta t for every letter, with the mean p exactly."""
    if not found.symmetric:
        return [_dense(t, len(p), theta) for t, theta in zip(found.columns, found.theta, strict=True) if theta]
    images: list[list[Fraction]] = []
    for t, theta in zip(found.columns, found.theta, strict=True):
        for image in orbit(t, views) if theta else ():
            images.append(_dense(image, len(p), Fraction(1)))
            if len(images) > MOST_IMAGES:
                raise SolverFailed(
                    f"the optimum lies between {found.value:.9g} and {found.bound:.9g} bits, but its channel has more "
                    f"than {MOST_IMAGES:,} columns by symmetry and cannot be written row by row"
                )
    worth = [-float(eta(np.array([float(m) for m in t])).sum()) for t in images]
    mixture = best_mixture(images, worth, p)
    return [[theta * m for m in images[k]] for k, theta in mixture.theta.items()]


def _dense(t: Mapping[int, Fraction], atoms: int, scale: Fraction) -> list[Fraction]:
    return [scale * t.get(x, Fraction(0)) for x in range(atoms)]
