"""What a problem file asks for, in plain sentences, before anything is solved."""

from math import prod
from typing import Any

from dalenius.core import Pmf, Problem, TableSource
from dalenius.core.digits import many
from dalenius.report.aims import change
from dalenius.report.facts import Facts, joined
from dalenius.report.limits import not_protected
from dalenius.report.promising import headline
from dalenius.report.words import beyond_promises

__all__ = ["asked_for", "asked_lines"]


def asked_for(problem: Problem) -> dict[str, list[str]]:
    """What a problem file releases, promises and wants, and what it would not protect.

    Parameters
    ----------
    problem : Problem
        Read, and bound to its statistics.

    Returns
    -------
    dict of str to list of str
        Sentences under "released", "promised", "wanted" and "not_protected".

    Examples
    --------
    >>> from dalenius.testing import binary_tradeoff
    >>> asked_for(binary_tradeoff("1/10", "1/20"))["released"][0]
    'The recipe looks at X and writes X.'
    """
    document = _document(problem)
    facts = Facts.read(document)
    promised = [headline(promise, facts) for promise in facts.promises]
    return {
        "released": _released(problem),
        "promised": [*promised, *beyond_promises(document)] or ["Nothing is promised."],
        "wanted": [_wanted(document["objective"])],
        "not_protected": not_protected(document),
    }


def _document(problem: Problem) -> dict[str, Any]:
    """The problem as sentences read a design: without a recipe, value and proof."""
    sections = problem.to_json()
    values = problem.law.variables
    names = list(problem.release) or ["Y"]
    outputs = {name: list(values.get(name, ())) for name in names}
    return {
        **{
            k: sections[k] for k in ("source", "columns", "mechanism", "objective", "side_information") if k in sections
        },
        "channel": {"inputs": {name: list(values.get(name, ())) for name in problem.observe}, "output": outputs},
        "guarantees": [{"promised": promised} for promised in sections.get("guarantee", [])],
        "limits": [{"promised": limit} for limit in sections.get("limit", []) if "keep_rows" not in limit],
        "certificate": {"kind": ""},
    }


def _released(problem: Problem) -> list[str]:
    out = joined(problem.release) if problem.release else "a new column"
    lines = [f"The recipe looks at {joined(problem.observe)} and writes {out}."]
    if problem.kept:
        lines.append(f"{joined(problem.kept)} {'goes' if len(problem.kept) == 1 else 'go'} out unchanged.")
    law = problem.law
    if isinstance(law, Pmf):
        possible = prod(len(law.variables[name]) for name in problem.observe)
        found = len(law.grouped(list(problem.observe))[0])
        lines.append(f"{found:,} of {many(possible, 'possible combination')} occur.")
        if isinstance(problem.source, TableSource) and problem.source.prior is None:
            lines.append(f"The table has {many(int(law.total), 'row')}.")
    if problem.preserve_marginals:
        lines.append("On average, every combination keeps its number of rows.")
    return lines


def _wanted(objective: dict[str, Any]) -> str:
    """The aim in one sentence."""
    aim = objective.get("maximize") or objective.get("minimize") or {}
    if "distortion" in aim or "sum" in aim:
        return f"As little change as possible: the {change(aim)} is made small."
    for key, words in (
        ("information", "The release says as much as possible about {}."),
        ("information_of_each", "The release says as much as possible about {}, column by column."),
        ("leakage", "The release reveals as little as possible about {}."),
        ("variance", "The shares of {} can be estimated as well as possible."),
    ):
        if key in aim:
            return words.format(joined(aim[key]))
    return "The release reveals as little as possible about what the recipe looks at."


def asked_lines(found: dict[str, list[str]]) -> list[str]:
    """The same as lines of a terminal."""
    titles = {"released": "Released", "promised": "Promised", "wanted": "Wanted", "not_protected": "Not protected"}
    return [line for key, lines in found.items() for line in (f"{titles[key]}:", *(f"  {words}" for words in lines))]
