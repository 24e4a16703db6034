"""What is taken where change, leakage or rate is made as small as any of the promises allow."""

import json

from dalenius.core import (
    Contraction,
    Dalenius,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximalLeakage,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    Problem,
    Sibson,
    TableSource,
    TotalVariation,
    WorstCaseLeakage,
)
from dalenius.mechanisms.declared import ROWS_OF_A_PERSON, Condition, Mechanism, Promised

__all__ = ["EACH", "LEAST", "about_all_inputs", "names_letters", "shaped"]


def names_letters(problem: Problem) -> bool:
    """Whether the released letters are known: those of columns, or the columns of a distortion matrix."""
    parts = [part for whole in problem.measures for part in whole.summands]
    return not problem.output or any(not isinstance(d.distortion, str) or d.distortion == "erasure" for d in parts)


def shaped(problem: Problem) -> str | None:
    """The first key that only released columns have a meaning for."""
    keys = ("forbid", "freeze", "preserve_marginals")
    return next((key for key in keys if getattr(problem, key)), None)


def _about_the_user(problem: Problem) -> str | None:
    """Why side information of the user does not go with the rest, or None."""
    side = problem.side_information
    if side is None:
        return None
    if side.variable in problem.observe + problem.kept:
        return f"the side information {side.variable} is observed or kept already"
    if side.encoder == "uninformed" and any(not isinstance(promise, LocalDP) for promise in problem.guarantees):
        return (
            f"a promise about a user who has {side.variable} needs an encoder that knows of it (encoder = "
            '"statistically-informed" or "informed")'
        )
    if side.encoder == "statistically-informed" and (shaped(problem) or len(problem.release) > 1):
        return "maps from the side information release one column, without forbid, freeze and preserve_marginals"
    return None


def about_all_inputs(problem: Problem) -> str | None:
    """The reason against a promise that speaks of all inputs, or of every law of them; None where there is none."""
    for promise in problem.guarantees:
        everything = isinstance(promise, MaximalLeakage) and not promise.about
        every_law = isinstance(promise, Contraction | Dalenius)
        relaxed = isinstance(promise, LocalDP) and promise.delta
        if everything and problem.keep:
            kept = ", ".join(problem.keep)
            return f"{kept} is kept and not read, so that no maximal leakage about everything is bounded"
        if not (everything or every_law or relaxed):
            continue
        if every_law and (problem.kept or problem.side_information):
            return f"a kept column or side information passes on everything, so that no {promise.key} can be promised"
        if isinstance(promise, Dalenius) and (promise.rows != 1 or promise.group < len(problem.observe)):
            return (
                "it promises dalenius about all observed columns together (group = how many they are), "
                "of one released row"
            )
        if isinstance(promise, Contraction) and not promise.at_most:
            return f"a share of 0 is independence: say independent = {json.dumps(problem.observe)}"
    return None


ROWS_ADD_UP = Condition(
    lambda p: (
        not (isinstance(p.source, TableSource) and p.source.max_rows)
        or (bool(p.guarantees) and all(isinstance(guarantee, LocalDP) for guarantee in p.guarantees))
    ),
    ROWS_OF_A_PERSON,
)
"""Levels of local_dp add up over the rows of a person; no other promise of one row says anything about several, nor
does what is minimised without one."""


LEAST = Mechanism(
    name="least",
    title="the least change, leakage or rate",
    designer="dalenius.mechanisms.columns.leakage.design:least",
    objectives=(MinimizeLeakage, MinimizeLeakageAndRate, MinimizeDistortion, MinimizeRate),
    promises=(
        Promised(Independent),
        Promised(LocalDP),
        Promised(InformationPrivacy),
        Promised(Leakage),
        Promised(WorstCaseLeakage),
        Promised(Guess),
        Promised(MaximalLeakage),
        Promised(TotalVariation),
        Promised(Sibson),
        Promised(Contraction),
        Promised(Dalenius),
    ),
    count=(0, None),
    letters="any",
    takes=(
        "keep",
        "strata",
        "forbid",
        "freeze",
        "preserve_marginals",
        "limits",
        "keep_rows",
        "side_information",
        "robust",
        "max_rows",
    ),
    conditions=(
        ROWS_ADD_UP,
        Condition(
            lambda p: (
                not p.kept or all(guarantee.given for guarantee in p.guarantees if isinstance(guarantee, LocalDP))
            ),
            lambda p: (
                f"what is kept ({', '.join(p.kept)}) sets records apart, so that no level holds between those that "
                f"differ in it; say given = {json.dumps(p.kept)} for a level between those that agree"
            ),
        ),
        Condition(lambda p: not about_all_inputs(p), lambda p: about_all_inputs(p) or ""),
        Condition(
            lambda p: (
                not isinstance(p.objective, MinimizeDistortion)
                or {type(guarantee) for guarantee in p.guarantees} != {Contraction}
            ),
            "the least distortion under contraction alone is a cone program of its own",
        ),
        Condition(
            lambda p: not (p.kept and isinstance(p.objective, MinimizeRate | MinimizeLeakageAndRate)),
            "the rate is that of a release without kept columns and strata",
        ),
        Condition(
            names_letters,
            "nothing says which values may be released: give a distortion matrix, whose columns they are, or release",
        ),
        Condition(
            lambda p: p.release or not shaped(p),
            lambda p: f"{shaped(p)} needs release = [...], the same lists of values before and after",
        ),
        Condition(lambda p: not _about_the_user(p), lambda p: _about_the_user(p) or ""),
    ),
    sentences={
        "objective": (
            "its objective is minimize = { leakage }, { distortion, of }, { sum }, { rate } or { leakage, rate, theta }"
        ),
        "form": "it finds dense recipes, without form",
    },
)


def _column_by_column(problem: Problem) -> bool:
    """Whether the objective is a sum of distortions of one column each."""
    assert isinstance(problem.objective, MinimizeDistortion)
    measure = problem.objective.measure
    return all(len(part.of) == 1 for part in measure.summands)


EACH = Mechanism(
    name="each",
    title="a recipe for each column under leakage",
    designer="dalenius.mechanisms.columns.leakage.column_by_column:each_column",
    objectives=(MinimizeDistortion,),
    promises=(Promised(Leakage),),
    letters="own",
    takes=("each", "keep"),
    needs=("each",),
    conditions=(
        Condition(lambda p: p.each is True, "each = { ... } gives levels of local_dp; with leakage say each = true"),
        Condition(lambda p: p.release == p.observe, "every observed column is released, and nothing else"),
        Condition(
            _column_by_column,
            "columns that are changed one by one are compared one by one: minimize = { sum = [...] }, a column in each",
        ),
    ),
    sentences={
        "objective": "it minimises a distortion, column by column: minimize = { sum = [{ distortion, of }, ...] }",
    },
)
