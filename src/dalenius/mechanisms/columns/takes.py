"""What is taken by mechanisms that are one matrix over all records: disclosure, leakage, distortion and rate."""

import json

from dalenius.core import (
    Contraction,
    Dalenius,
    Distortion,
    Guarantee,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximalLeakage,
    MaximizeInformation,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    Problem,
    Samples,
    Sibson,
    TableSource,
    TotalVariation,
    WorstCaseLeakage,
)
from dalenius.mechanisms.declared import MOST_NATS, ROWS_OF_A_PERSON, Condition, Mechanism, Promised

__all__ = [
    "BOTTLENECK",
    "CATEGORICAL",
    "CONTRACTION",
    "DISCLOSURE",
    "EACH",
    "FUNNEL",
    "LEAST",
    "NAMED",
    "RANDOM_COLUMNS",
    "RATE",
    "ROBUST",
    "limits_a_sum",
    "measure_of",
]


def measure_of(problem: Problem) -> Distortion:
    """The distortion that is limited or made small."""
    return problem.objective.measure if isinstance(problem.objective, MinimizeDistortion) else problem.limits[0]


# --- independence, local DP and information privacy, as much information as possible --------------------------------
EVERY_OUTCOME = Condition(
    lambda p: not isinstance(p.joint, Samples),
    lambda p: (
        f"it needs every outcome; name the samples {p.joint.names[0]} to {p.joint.names[-1]}"
        if isinstance(p.joint, Samples)
        else ""
    ),
)

DISCLOSURE = Mechanism(
    name="disclosure",
    title="a new column under independent, local_dp or information_privacy",
    designer="dalenius.mechanisms.columns.disclosure.design:disclose",
    objectives=(MaximizeInformation,),
    promises=(
        Promised(Independent),
        Promised(LocalDP, most_nats=MOST_NATS),
        Promised(InformationPrivacy, most_nats=MOST_NATS),
    ),
    count=(1, None),
    takes=("keep", "strata", "robust"),
    law=(
        EVERY_OUTCOME,
        Condition(
            lambda p: not any(isinstance(guarantee, LocalDP) and guarantee.delta for guarantee in p.guarantees),
            "delta > 0 limits sums over values, and is no promise about each value by itself; leave it out",
        ),
        Condition(
            lambda p: not p.kept or all(isinstance(guarantee, Independent) for guarantee in p.guarantees),
            lambda p: (
                f"{next(g.key for g in p.guarantees if not isinstance(g, Independent))} is designed without kept "
                "columns and strata"
            ),
        ),
    ),
    sentences={
        "max_rows": (
            "several rows of one person cannot be charged together under independence, because releases of 0 bits do "
            "not add up to 0 bits; leave out max_rows, and one value is drawn for each person"
        ),
    },
)

RANDOM_COLUMNS = Mechanism(
    name="random-columns",
    title='form = "random-columns"',
    designer="dalenius.mechanisms.columns.disclosure.random_columns:random_columns",
    objectives=(MaximizeInformation,),
    promises=(Promised(Independent),),
    count=(1, None),
    forms=("random-columns",),
    law=(EVERY_OUTCOME,),
    sentences={
        "keep": "it promises independence, and keeps nothing",
        "strata": "it promises independence, and keeps nothing",
    },
)


# --- the whole input is the secret ----------------------------------------------------------------------------------
def _secret_of(problem: Problem) -> set[str]:
    if isinstance(problem.objective, MinimizeDistortion):
        return set(problem.guarantees[0].secret)
    return set(problem.objective.names or problem.observe)


_ONE_LEAKAGE = "with the least distortion it takes one guarantee, leakage about all that is observed"
_WHOLE_COLUMN = (
    Condition(
        lambda p: len(p.guarantees) == 1 or not isinstance(p.objective, MinimizeDistortion),
        _ONE_LEAKAGE,
    ),
    Condition(
        lambda p: not (isinstance(p.objective, MinimizeDistortion) and p.limits),
        "with the least distortion it takes no [[limit]]",
    ),
    Condition(
        lambda p: isinstance(p.objective, MinimizeDistortion) or (not p.guarantees and len(p.limits) == 1),
        "with the least leakage or rate it takes one [[limit]] and no guarantee",
    ),
    Condition(lambda p: _secret_of(p) == set(p.observe), "the secret is not exactly what is observed"),
)


def _of_the_whole_column(name: str, title: str, designer: str, conditions: tuple[Condition, ...]) -> Mechanism:
    """A shortcut for one column that is all that is secret, observed and released."""
    return Mechanism(
        name=name,
        title=title,
        designer=f"dalenius.mechanisms.columns.{designer}",
        objectives=(MinimizeLeakage, MinimizeRate, MinimizeDistortion),
        promises=(Promised(Leakage),),
        count=(0, 1),
        letters="any",
        takes=("limits",),
        conditions=(*_WHOLE_COLUMN, *conditions),
        sentences={"promises": _ONE_LEAKAGE},
        shortcut=True,
    )


CATEGORICAL = _of_the_whole_column(
    "categorical",
    "categories in closed form",
    "categorical:categorical",
    (
        Condition(
            lambda p: measure_of(p).distortion == "hamming" and not measure_of(p).classes,
            "its distortion is hamming, without classes",
        ),
        Condition(
            lambda p: p.observe == p.release == measure_of(p).of,
            "what is observed, released and compared is not the same",
        ),
    ),
)

RATE = _of_the_whole_column(
    "rate",
    "plain rate-distortion",
    "rate:plain_rate",
    (
        Condition(
            lambda p: "kl" not in [part.distortion for part in (measure_of(p), *measure_of(p).parts)],
            "a kl distortion is not rational",
        ),
        Condition(
            lambda p: "erasure" not in [part.distortion for part in (measure_of(p), *measure_of(p).parts)],
            "an erasure leaves values that nobody may take",
        ),
        Condition(
            lambda p: set(measure_of(p).of) <= set(p.observe),
            "the distortion is about columns that are not observed",
        ),
    ),
)


# --- least leakage, distortion or rate under any of the promises ----------------------------------------------------
def _names_letters(problem: Problem) -> bool:
    """Whether the released letters are known: those of columns, or the columns of a distortion matrix."""
    parts = [part for whole in problem.measures for part in whole.summands]
    return not problem.output or any(not isinstance(d.distortion, str) or d.distortion == "erasure" for d in parts)


def _shaped(problem: Problem) -> str | None:
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
    if side.encoder == "statistically-informed" and (_shaped(problem) or len(problem.release) > 1):
        return "maps from the side information release one column, without forbid, freeze and preserve_marginals"
    return None


def _about_all_inputs(problem: Problem) -> str | None:
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
        if any(isinstance(guarantee, LocalDP) and guarantee.metric is not None for guarantee in problem.guarantees):
            return f"{promise.key} about all inputs is not designed beside local_dp with a metric"
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
        Condition(lambda p: not _about_all_inputs(p), lambda p: _about_all_inputs(p) or ""),
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
            _names_letters,
            "nothing says which values may be released: give a distortion matrix, whose columns they are, or release",
        ),
        Condition(
            lambda p: p.release or not _shaped(p),
            lambda p: f"{_shaped(p)} needs release = [...], the same lists of values before and after",
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

# --- information under limits, and limits under information ---------------------------------------------------------
_CONVEX = (
    Promised(Independent),
    Promised(LocalDP, most_nats=MOST_NATS),
    Promised(InformationPrivacy, most_nats=MOST_NATS),
    Promised(Leakage),
    Promised(WorstCaseLeakage),
    Promised(Guess),
    Promised(MaximalLeakage),
    Promised(TotalVariation),
    Promised(Sibson),
    Promised(Contraction),
    Promised(Dalenius),
)
_FRESH_LETTERS = (
    'it makes a new column, output = "Y", not release = [...]: the best one may need more values than a column has'
)
_LEVELS_ALONE = Condition(
    lambda p: not (p.kept and any(isinstance(guarantee, LocalDP) for guarantee in p.guarantees)),
    "local_dp is designed without kept columns and strata",
)


def limits_a_sum(promise: Guarantee) -> bool:
    """Whether a promise is convex in the columns, and more than a row of linear inequalities for each of them."""
    linear = isinstance(promise, Independent | InformationPrivacy | LocalDP)
    return not linear or promise.delta > 0


FUNNEL = Mechanism(
    name="funnel",
    title="a new column with the most information",
    designer="dalenius.mechanisms.columns.funnel.design:funnel",
    objectives=(MaximizeInformation,),
    promises=_CONVEX,
    count=(1, None),
    takes=("keep", "strata"),
    law=(EVERY_OUTCOME,),
    conditions=(
        Condition(
            lambda p: any(limits_a_sum(guarantee) for guarantee in p.guarantees),
            "its promises limit an average; promises about each value by itself have a mechanism of their own",
        ),
        _LEVELS_ALONE,
        Condition(lambda p: not _about_all_inputs(p), lambda p: _about_all_inputs(p) or ""),
    ),
    sentences={
        "letters": _FRESH_LETTERS,
    },
)

NAMED = Mechanism(
    name="own-letters-by-assignment",
    title="released columns with the most information",
    designer="dalenius.mechanisms.columns.disclosure.own_letters:disclose_in_own_letters",
    objectives=(MaximizeInformation,),
    promises=_CONVEX,
    count=(1, None),
    letters="own",
    takes=("robust",),
    law=(EVERY_OUTCOME,),
    conditions=(Condition(lambda p: not _about_all_inputs(p), lambda p: _about_all_inputs(p) or ""),),
    sentences=DISCLOSURE.sentences,
)

BOTTLENECK = Mechanism(
    name="bottleneck",
    title="the least change, leakage or rate with a [[limit]] on information",
    designer="dalenius.mechanisms.columns.funnel.bottleneck:bottleneck",
    objectives=(MinimizeLeakage, MinimizeLeakageAndRate, MinimizeRate, MinimizeDistortion),
    promises=tuple(promised for promised in _CONVEX if promised.kind not in (Sibson, Contraction, Dalenius)),
    count=(0, None),
    letters="any",
    takes=("tells",),
    needs=("tells",),
    law=(EVERY_OUTCOME,),
    conditions=(
        Condition(lambda p: len(p.tells) == 1, "it takes one [[limit]] with information = [...]"),
        Condition(lambda p: p.output is not None or isinstance(p.objective, MinimizeDistortion), _FRESH_LETTERS),
        Condition(
            lambda p: not isinstance(p.objective, MinimizeDistortion) or _names_letters(p),
            "nothing says which values may be released: give a distortion matrix, whose columns they are, or release",
        ),
        Condition(lambda p: not _about_all_inputs(p), lambda p: _about_all_inputs(p) or ""),
    ),
    sentences={
        "tells": "it needs a [[limit]] with information = [...] and at_least_bits",
    },
)

ROBUST = Mechanism(
    name="robust",
    title="leakage within [robust]",
    designer="dalenius.mechanisms.columns.robust_leakage:robust_leakage",
    objectives=(MinimizeDistortion,),
    promises=(Promised(Leakage), Promised(LocalDP, without=("delta",))),
    count=(1, None),
    letters="any",
    takes=("keep", "strata", "limits", "keep_rows", "robust", "ball"),
    needs=("robust",),
    conditions=(
        Condition(
            lambda p: any(isinstance(guarantee, Leakage) for guarantee in p.guarantees),
            "without leakage the promises hold under every distribution anyway; leave out [robust]",
        ),
    ),
    on_data=(
        Condition(
            lambda p: p.robust is None or p.robust.ball != "confidence" or p.robust.rows,
            "confidence needs the number of rows that the distribution was counted from: name a table, or say rows",
        ),
    ),
    sentences={
        "objective": "within a ball the bits are a promise: minimise a distortion under leakage with at_most_bits"
    },
)

_PASSED_ON = "a kept column or side information passes on everything, so that no contraction can be promised"

CONTRACTION = Mechanism(
    name="contraction",
    title="contraction",
    designer="dalenius.mechanisms.columns.contraction:contract",
    objectives=(MinimizeDistortion,),
    promises=(Promised(Contraction),),
    count=(1, None),
    letters="any",
    takes=("limits", "robust", "forbid", "freeze"),
    sentences={"keep": _PASSED_ON, "strata": _PASSED_ON, "side_information": _PASSED_ON},
)
