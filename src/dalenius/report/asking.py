"""What a problem file asks for, in plain sentences, before anything is solved."""

from math import prod

from dalenius.core import (
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeVariance,
    Objective,
    Pmf,
    Problem,
    TableSource,
)
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
    facts = Facts.of_problem(problem)
    promised = [headline(promise, facts) for promise in facts.promises]
    return {
        "released": _released(problem, facts),
        "promised": [*promised, *beyond_promises(facts)] or ["Nothing is promised."],
        "wanted": [_wanted(problem.objective)],
        "not_protected": not_protected(facts),
    }


def _released(problem: Problem, facts: Facts) -> list[str]:
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
        lines.append(f"{facts.on_average}, every combination keeps its number of rows.")
    return lines


def _wanted(aim: Objective) -> str:
    """The aim in one sentence."""
    match aim:
        case MinimizeDistortion():
            return f"As little change as possible: the {change(aim.measure)} is made small."
        case MaximizeInformation():
            return f"The release says as much as possible about {joined(aim.about)}."
        case MaximizeInformationOfEach():
            return f"The release says as much as possible about {joined(aim.about)}, column by column."
        case MinimizeLeakage():
            return f"The release reveals as little as possible about {joined(aim.about)}."
        case MinimizeVariance():
            return f"The shares of {joined(aim.of)} can be estimated as well as possible."
    return "The release reveals as little as possible about what the recipe looks at."


def asked_lines(found: dict[str, list[str]]) -> list[str]:
    """The same as lines of a terminal."""
    titles = {"released": "Released", "promised": "Promised", "wanted": "Wanted", "not_protected": "Not protected"}
    return [line for key, lines in found.items() for line in (f"{titles[key]}:", *(f"  {words}" for words in lines))]
