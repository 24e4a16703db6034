"""Limits that cannot be kept together: how near to the first one the others let a recipe come."""

from dataclasses import replace

from dalenius.core import Distortion
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.solvers.leakage import Program, Solution, search

__all__ = ["nearest_limit", "nearest_words", "refuse_impossible"]

GAP = 1e-7
"""How near to the least of a limit its search has to come."""


def refuse_impossible(model: Model, program: Program, seconds: float) -> None:
    """Refuse limits that leave nothing to be found, after a search that found nothing.

    Parameters
    ----------
    model : Model
        Of the problem.
    program : Program
        Its program after presolving.
    seconds : float
        For the search.

    Raises
    ------
    Infeasible
        With the figure of the first limit that would do.
    """
    nearest = nearest_limit(model, program, seconds)
    if nearest is not None and nearest[1].bound > float(nearest[0].at_most or 0):
        raise Infeasible(nearest_words(nearest))


def nearest_limit(model: Model, program: Program, seconds: float) -> tuple[Distortion, Solution] | None:
    """The first limit of which a search finds the least that the others leave.

    Parameters
    ----------
    model : Model
        Of the problem.
    program : Program
        Its program after presolving.
    seconds : float
        For each search.

    Returns
    -------
    tuple of Distortion and Solution, or None
        The limit and what was found; None where no limit has an answer.
    """
    # A presolved program has fewer limits than the problem; those that it has are the same objects.
    places = {id(limit): place for place, limit in enumerate(model.program.distortions)}
    for j, kept in enumerate(program.distortions):
        try:
            return model.problem.limits[places[id(kept)]], _least(program, j, seconds)
        except (Infeasible, SolverFailed):
            continue
    return None


def _least(program: Program, j: int, seconds: float) -> Solution:
    """The least of limit j that the others leave."""
    others = tuple(distortion for k, distortion in enumerate(program.distortions) if k != j)
    alone = replace(program, objective=(), cost=program.distortions[j][0], distortions=others)
    return search(alone, gap=GAP, seconds=seconds)


def nearest_words(nearest: tuple[Distortion, Solution] | None) -> str:
    """Which figure of a limit would do, when all limits together cannot be kept.

    Parameters
    ----------
    nearest : tuple of Distortion and Solution, or None
        From `nearest_limit`.

    Returns
    -------
    str
    """
    words = "no recipe keeps all limits and guarantees together"
    if nearest is None:
        return words
    limit, found = nearest
    return (
        f"{words}: with the others as they are, the distortion of {', '.join(limit.of)} is at least "
        f"{found.bound:.9g}, not {float(limit.at_most or 0):g}; {found.value:.9g} can be had"
    )
