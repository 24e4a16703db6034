"""Limits that cannot be kept together: how near to the first one the others let a recipe come."""

from dataclasses import replace

from dalenius.core import Distortion
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.solvers.leakage import Program, Solution, search
from dalenius.solvers.leakage.simple import out_of_reach

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
        For the search; without any, the linear limits alone decide.

    Raises
    ------
    Infeasible
        With the figure of the first limit that would do, where there is one.
    """
    nearest = nearest_limit(model, program, seconds) if seconds else None
    if nearest is not None and nearest[1].bound > float(nearest[0].at_most or 0):
        raise Infeasible(nearest_words(nearest))
    if out_of_reach(program):  # limits without an interior, in which no search can begin
        raise Infeasible(nearest_words(None))


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
    for kept in program.distortions:
        others = tuple(distortion for distortion in program.distortions if distortion is not kept)
        alone = replace(program, objective=(), cost=kept[0], distortions=others)
        try:
            return model.problem.limits[places[id(kept)]], search(alone, gap=GAP, seconds=seconds)
        except (Infeasible, SolverFailed):
            continue
    return None


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
