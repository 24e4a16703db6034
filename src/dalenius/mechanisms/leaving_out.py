"""What can be left out of a problem that no mechanism takes, so that one does; every way is asked of them first."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from dalenius.core import Problem, TableSource
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import DaleniusError
from dalenius.mechanisms.registry import mechanisms

__all__ = ["ways_out"]

OPTIONS = {
    "keep_rows": "keep_rows",
    "limits": "[[limit]]",
    "tells": "[[limit]] with information",
    "side_information": "[side_information]",
    "robust": "[robust]",
    "windows": "windows",
    "noise": "noise",
} | {
    name: name
    for name in ("preserve_marginals", "min_multiplicity", "allow_inverted", "forbid", "freeze", "form", "each", "keep")
}
"""Parts of a problem file that it can do without, in its words."""

SHOWN = 2


def ways_out(problem: Problem, design: Callable[[Problem], object]) -> str:
    """What to leave out, as a sentence; empty where no single part stands in the way.

    Parameters
    ----------
    problem : Problem
        One that no mechanism takes.
    design : callable
        Designs a problem as a trial, or raises.

    Returns
    -------
    str

    Examples
    --------
    >>> from dalenius.testing import xor
    >>> ways_out(replace(xor(), freeze=("X1",)), lambda problem: None)
    'Leave out freeze: then there is a mechanism for the rest.'
    """
    found: list[str] = []
    for words, less in _less(problem):
        if len(found) < SHOWN and _taken(less):
            if _designed(less, design):
                found.append(words)
            elif less.release and not less.allow_inverted and _designed(replace(less, allow_inverted=True), design):
                found.append(f"{words} and say allow_inverted = true in [mechanism]")
    return f"Leave out {' or '.join(found)}: then there is a mechanism for the rest." if found else ""


def _designed(problem: Problem, design: Callable[[Problem], object]) -> bool:
    """Whether a problem that some mechanism takes is designed, too: what its data show may still stand in the way."""
    try:
        design(problem)
    except DaleniusError:
        return False
    return True


def _less(problem: Problem) -> Iterator[tuple[str, Problem]]:
    """The problem without one of its parts, promises last."""
    defaults: dict[str, Any] = {field.name: field.default for field in fields(Problem)}
    for name, words in OPTIONS.items():
        if getattr(problem, name) != defaults[name]:
            with suppress(DaleniusError):
                yield words, replace(problem, **{name: defaults[name]})
    if isinstance(problem.source, TableSource) and problem.source.max_rows is not None:
        yield "unit and max_rows", replace(problem, source=replace(problem.source, unit="row", max_rows=None))
    if len(problem.guarantees) > 1:
        for promise in problem.guarantees:
            with suppress(DaleniusError):
                rest = tuple(other for other in problem.guarantees if other is not promise)
                yield f"the promise of {promise.key}", replace(problem, guarantees=rest)


def _taken(problem: Problem) -> bool:
    with suppress(DaleniusError):
        if problem.keep_rows is not None:
            if problem.joint is None:
                return False
            problem = with_kept_rows(problem)
        return any(mechanism.why_not(problem) is None for mechanism in mechanisms())
    return False
