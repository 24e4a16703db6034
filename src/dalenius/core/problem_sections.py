"""A problem as the sections of its file: what `core.problem_file` reads, written."""

from collections.abc import Mapping
from typing import Any

from dalenius.core.numbers import written
from dalenius.core.problem import Problem

__all__ = ["sections_of"]


def sections_of(problem: Problem) -> dict[str, Any]:
    """The sections of the problem file as plain values, without the joint pmf: what `from_document` reads."""
    document: dict[str, Any] = {}
    if problem.source:
        document["source"] = problem.source.to_json()
    if problem.columns:
        document["columns"] = {name: column.to_json() for name, column in problem.columns.items()}
    document |= {"mechanism": _mechanism(problem), "objective": problem.objective.to_json()}
    document["guarantee"] = [promise.to_json() for promise in problem.guarantees]
    if problem.limits or problem.tells or problem.keep_rows is not None:
        kept = [] if problem.keep_rows is None else [{"keep_rows": written(problem.keep_rows)}]
        information = [least.to_json() for least in problem.tells]
        document["limit"] = [*(limit.to_json() for limit in problem.limits), *information, *kept]
    if problem.side_information:
        document["side_information"] = problem.side_information.to_json()
    if problem.robust:
        document["robust"] = problem.robust.to_json()
    return document


def _mechanism(problem: Problem) -> dict[str, Any]:
    """Keys that stand for themselves are left out, so that a file says no more than somebody wrote."""
    mechanism: dict[str, Any] = {"observe": list(problem.observe)}
    mechanism |= {"output": problem.output} if problem.output else {"release": list(problem.release)}
    for key in ("keep", "strata", "freeze"):
        if names := getattr(problem, key):
            mechanism[key] = list(names)
    if problem.forbid:
        mechanism["forbid"] = [*map(list, problem.transitions), *(zero.to_json() for zero in problem.combinations)]
    if problem.preserve_marginals:
        mechanism["preserve_marginals"] = True
    if problem.allow_inverted:
        mechanism["allow_inverted"] = True
    if problem.form:
        mechanism["form"] = problem.form
    if problem.windows:
        mechanism["windows"] = [list(window) for window in problem.windows]
    if problem.modulus:
        mechanism["modulus"] = problem.modulus
    if problem.each:
        levels = problem.each if isinstance(problem.each, Mapping) else {}
        mechanism["each"] = {n: written(v) for n, v in levels.items()} or True
    if problem.noise:
        mechanism |= problem.noise.to_json()
    if problem.towards is not None:
        mechanism["towards"] = problem.towards if isinstance(problem.towards, str) else written(problem.towards)
    if problem.min_multiplicity is not None:
        mechanism["min_multiplicity"] = problem.min_multiplicity
    if problem.order != "shuffle":
        mechanism["order"] = problem.order
    return mechanism
