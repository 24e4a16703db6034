"""The route for outputs that tell about all of the input (W = X): columns generated, optimality proved by boxes."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import islice
from math import fsum, log2

from dalenius.core import Certificate, Kernel, Orbit, Orbits, Problem
from dalenius.errors import InputError, SolverFailed
from dalenius.mechanisms.columns.disclosure.box_proof import Labels, proof_by_boxes, proof_by_parts
from dalenius.mechanisms.columns.disclosure.peeling import by_peeling
from dalenius.mechanisms.columns.disclosure.view_parts import FINE, by_parts, parts_of
from dalenius.mechanisms.columns.exact_columns import channel_of, dense_column, view_labels
from dalenius.mechanisms.interval_words import in_bits
from dalenius.mechanisms.proof_terms import CLOSED
from dalenius.solvers import SelfDisclosure, best_mixture, exact_basic_solution, maximise, self_disclosure
from dalenius.solvers.exact import Rational
from dalenius.solvers.orbital import orbit

__all__ = ["boxes_apply", "by_column_boxes"]

MOST_IMAGES = 20_000  # columns in all orders that a linear program weighs
MOST_ATOMS = 256  # beyond so many that are not alike, boxes prove less than closed bounds, and columns are peeled off
OUTCOMES = 256  # beyond so many, fewer: its cost grows with the square of the outcomes


def boxes_apply(problem: Problem) -> bool:
    """Whether the output is to tell about the whole input, nothing is kept, and the input tells every view."""
    told = all(view_labels(problem, view) is not None for view in problem.views)
    return set(problem.objective.names) == set(problem.inputs) and not problem.kept and told


def by_column_boxes(
    problem: Problem, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None = None
) -> tuple[Kernel, Certificate, str]:
    """A channel, a certificate and the method in words; the gap is met unless the time ends first.

    Views may part the inputs; then each part is a problem of its own. Exchangeable samples are searched modulo their
    permutations. Their columns are then spread over the orbits again, and a linear program picks no more letters than
    there are inputs; or, where that would be too many columns, each is written once, and the order is drawn. Of very
    many inputs that are not alike columns are peeled off, and the bound is a closed one.
    """
    joint = problem.pmf
    p = joint.shares(problem.inputs)
    labels = Labels.of(problem)
    views = labels.of_atoms
    say = in_bits(on_progress)
    if parts := parts_of(views):
        letters, in_parts = by_parts(p, views, parts, gap=gap, seconds=seconds, on_progress=say)
        method = f"columns generated one by one in {len(parts.atoms)} parts of the inputs, closed by branch and bound"
        return channel_of(problem, letters, p), proof_by_parts(problem, labels, parts, in_parts), method
    try:
        alike = len(views) > 1
        found = self_disclosure(p, views, gap=gap, fine=FINE, seconds=seconds, symmetric=alike, on_progress=say)
    except InputError:  # not exchangeable
        if len(p) > MOST_ATOMS:
            channel, method = by_peeling(problem, seconds=seconds, on_progress=on_progress)
            return channel, CLOSED, method
        found = self_disclosure(p, views, gap=gap, fine=FINE, seconds=seconds, on_progress=say)
    proof = proof_by_boxes(problem, labels, found)
    kind = "exchangeable columns" if found.symmetric else "columns"
    method = f"{kind} generated one by one, closed by branch and bound"
    columns = _columns(found, views, p)
    if columns is not None:
        return channel_of(problem, columns, p), proof, method
    if not _samples(problem):
        raise SolverFailed(
            f"the optimum lies between {found.value:.9g} and {found.bound:.9g} bits, but its recipe has too many "
            "columns by symmetry and cannot be written row by row"
        )
    return _orbits(problem, found), proof, method


def _samples(problem: Problem) -> bool:
    """Whether the views are the inputs, one by one, all with the same letters, and every outcome is possible."""
    alphabets = [tuple(a) for a in problem.pmf.alphabets(problem.inputs).values()]
    single = len(problem.views) == len(alphabets) and set(problem.views) == {(name,) for name in problem.inputs}
    every = len(problem.pmf.grouped(problem.inputs)[0]) == len(alphabets[0]) ** len(alphabets)
    return single and len(set(alphabets)) == 1 and every


def _orbits(problem: Problem, found: SelfDisclosure) -> Orbits:
    """Each column once, for all orders of the samples."""
    codes = [tuple(int(a) for a in x) for x in problem.pmf.grouped(problem.inputs)[0]]
    columns = [
        Orbit(theta, tuple(column[x] for x in sorted(column)), tuple(codes[x] for x in sorted(column)))
        for column, theta in zip(found.columns, found.theta, strict=True)
        if theta
    ]
    return Orbits(problem.pmf.alphabets(problem.inputs), problem.output or "Y", tuple(columns))


def _columns(found: SelfDisclosure, views: list[list[int]], p: list[Fraction]) -> list[list[Rational]] | None:
    """theta t for every letter, with the mean p exactly; None where symmetry makes too many of them."""
    used = [(column, theta) for column, theta in zip(found.columns, found.theta, strict=True) if theta]
    if not found.symmetric:
        return [_times(theta, column, len(p)) for column, theta in used]
    most = MOST_IMAGES * OUTCOMES**2 // max(OUTCOMES, len(p)) ** 2
    sparse = list(islice((image for t, _ in used for image in orbit(t, views)), most + 1))
    if len(sparse) > most:
        return None
    worth = [fsum(t * log2(t) for t in map(float, image.values())) for image in sparse]
    images = [dense_column(t, len(p)) for t in sparse]
    best = maximise(worth, [{x: float(t) for x, t in image.items()} for image in sparse], [float(t) for t in p])
    try:
        weights = exact_basic_solution(images, p, best.basic_columns)
    except SolverFailed:  # infeasible by a hair
        weights = best_mixture(images, worth, p).theta
    return [_times(theta, sparse[k], len(p)) for k, theta in weights.items()]


def _times(theta: Rational, column: Mapping[int, Fraction], inputs: int) -> list[Rational]:
    """A column times its weight, written out."""
    return dense_column({x: theta * mass for x, mass in column.items()}, inputs)
