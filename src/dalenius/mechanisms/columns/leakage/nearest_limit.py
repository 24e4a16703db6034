"""Limits that cannot be kept together: how near to the first one the others let a recipe come."""

from dataclasses import replace

from dalenius.core import Distortion
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.near_rows import least_by_pairs
from dalenius.solvers.leakage import Program, Solution, search
from dalenius.solvers.leakage.simple import out_of_reach

__all__ = ["nearest_limit", "nearest_words", "refuse_impossible", "refuse_out_of_reach"]

NOBODY = "no recipe keeps all limits and guarantees together"
QUICK = 1 << 22
"""Letters times the square of rows and gauges, with which a step of a search takes a tenth of a second."""
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
    if seconds:
        _refuse_by_search(model, program, seconds)
    refuse_out_of_reach(model, program, 0.0)
    if out_of_reach(program):  # limits without an interior, in which no search can begin
        raise Infeasible(nearest_words(None))


def refuse_out_of_reach(model: Model, program: Program, seconds: float) -> None:
    """Refuse a limit that promises about pairs of rows put out of reach, before a search that might not find out.

    Parameters
    ----------
    model : Model
        Of the problem.
    program : Program
        Its program after presolving.
    seconds : float
        For a search of what can be had instead; without any, only what cannot is said.

    Raises
    ------
    Infeasible
        With a figure that no recipe is below, and one that can be had where it was found.
    """
    places = _places(model)
    for kept in program.distortions:
        least = least_by_pairs(model, program, kept[0])
        if least <= kept[1]:
            continue
        if seconds and _is_quick(program):
            _refuse_by_search(model, program, seconds)
        raise Infeasible(least_words(model.problem.limits[places[id(kept)]], least))


def _refuse_by_search(model: Model, program: Program, seconds: float) -> None:
    """Refuse a limit whose least is proved to be above it."""
    nearest = nearest_limit(model, program, seconds)
    if nearest is not None and nearest[1].bound > float(nearest[0].at_most or 0):
        raise Infeasible(nearest_words(nearest))


def _is_quick(program: Program) -> bool:
    """Whether a step of a search takes little time, by the size of what it solves."""
    compared = len(program.mass) + sum(len(gauge.parts) for gauge in program.gauges)
    return program.letters * compared**2 <= QUICK


def _places(model: Model) -> dict[int, int]:
    """The place of each limit: a presolved program has fewer than the problem, and those are the same objects."""
    return {id(limit): place for place, limit in enumerate(model.program.distortions)}


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
    places = _places(model)
    for kept in program.distortions:
        if places[id(kept)] >= len(model.problem.limits):  # of a pair of rows, see `barred_pairs`
            continue
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
    if nearest is None:
        return NOBODY
    limit, found = nearest
    return f"{least_words(limit, found.bound)}; {found.value:.9g} can be had"


def least_words(limit: Distortion, least: float) -> str:
    """That a limit is out of reach, where nothing is known that comes near.

    Parameters
    ----------
    limit : Distortion
        Of the problem.
    least : float
        What no recipe is below.

    Returns
    -------
    str
    """
    return (
        f"{NOBODY}: with the others as they are, the distortion of {', '.join(limit.of)} is at least "
        f"{least:.9g}, not {float(limit.at_most or 0):g}"
    )
