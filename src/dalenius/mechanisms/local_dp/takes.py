"""What is taken under local differential privacy: forms, parts, kept columns, delta, own letters, variance."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from dalenius.core import (
    LocalDP,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeVariance,
    Pmf,
    Problem,
)
from dalenius.core.numbers import written
from dalenius.mechanisms.declared import MOST_NATS, Condition, Mechanism, Promised
from dalenius.wording import joined

__all__ = [
    "BESIDE_KEPT",
    "DELTA",
    "EACH_BESIDE_KEPT",
    "FEW",
    "INVARIANT",
    "METRIC_VARIANCE",
    "OWN_LETTERS",
    "PARTS",
    "PRAM",
    "PRAM_BESIDE_KEPT",
    "PRAM_FORMS",
    "STAIRCASE",
    "SUBSETS",
    "SUBSET_SELECTION",
    "VARIANCE",
    "level_and_law",
    "level_promise",
    "levels_of",
    "under_own_law",
]

PRAM_FORMS = ("pram", "randomised-response")
SUBSETS = "subset-selection"
FEW = 20
"""Letters of a channel that is written in rows."""

_ONE_LEVEL = Promised(LocalDP, without=("metric", "delta", "given"), above_zero=True, most_nats=MOST_NATS)
_TOLD_ITSELF = "its objective is the information about the columns that it observes"
_ITSELF = Condition(lambda p: p.objective.names == p.observe, _TOLD_ITSELF)


def level_promise(problem: Problem) -> LocalDP:
    """The one promise of a level."""
    (promise,) = (guarantee for guarantee in problem.guarantees if isinstance(guarantee, LocalDP))
    return promise


def level_and_law(problem: Problem) -> tuple[LocalDP, Pmf]:
    """The one promise of a level, and the law of the columns that it is about."""
    return level_promise(problem), problem.pmf.marginal(list(problem.observe))


def under_own_law(problem: Problem) -> tuple[Problem, LocalDP, Pmf]:
    """The problem with no more than the law of its columns, its one promise of a level, and that law."""
    promise, joint = level_and_law(problem)
    return replace(problem, joint=joint), promise, joint


def with_fresh_letters(problem: Problem) -> Problem:
    """The same promise without any wish about letters, form or shares."""
    fresh = problem.fresh_output
    return replace(problem, release=(), output=fresh, form=None, forbid=(), freeze=(), preserve_marginals=False)


def _not_given(names: tuple[str, ...], within: str) -> str:
    leaves = "leaves as it is" if len(names) == 1 else "leave as they are"
    return (
        f"{joined(names)} {leaves}, so no level holds between records that differ there; say given = "
        f"{list(names)} beside local_dp to promise the level {within}"
    )


# --- matrices of form (8) -------------------------------------------------------------------------------------------
PRAM = Mechanism(
    name="pram",
    title='form = "pram"',
    designer="dalenius.mechanisms.local_dp.pram:pram",
    objectives=(MaximizeInformation,),
    promises=(Promised(LocalDP, without=("metric", "delta")),),
    forms=PRAM_FORMS,
    letters="own",
    takes=("robust", "max_rows"),
    hints=(
        Condition(
            lambda p: p.form not in PRAM_FORMS or not p.combinations,
            "it turns any value into any other, so that impossible combinations occur too; leave out form: then one "
            "recipe changes the columns together and never releases them",
        ),
    ),
    conditions=(_ITSELF,),
    sentences={"objective": _TOLD_ITSELF},
)

INVARIANT = Mechanism(
    name="invariant",
    title='form = "pram" with preserve_marginals',
    designer="dalenius.mechanisms.local_dp.invariant:invariant",
    objectives=(MaximizeInformation,),
    promises=(_ONE_LEVEL,),
    forms=("pram",),
    letters="own",
    takes=("preserve_marginals", "robust", "max_rows"),
    needs=("preserve_marginals",),
    conditions=(_ITSELF,),
    sentences={"objective": _TOLD_ITSELF, "preserve_marginals": 'it says form = "pram" and preserve_marginals'},
)


# --- one matrix for each column or stratum --------------------------------------------------------------------------
def levels_of(problem: Problem) -> dict[str, Fraction]:
    """The level of each column: as given, or the total in equal parts."""
    if isinstance(problem.each, Mapping):
        return {n: Fraction(problem.each[n]) for n in problem.observe}
    return dict.fromkeys(problem.observe, level_promise(problem).epsilon / len(problem.observe))


def _too_much(problem: Problem) -> str:
    total = sum(levels_of(problem).values(), Fraction(0))
    return (
        f"the levels of the columns add up to {written(total)}, more than local_dp = "
        f"{written(level_promise(problem).epsilon)}: columns that are perturbed one by one are charged with the sum"
    )


PARTS = Mechanism(
    name="parts",
    title="a recipe for each column or stratum under local_dp",
    designer="dalenius.mechanisms.local_dp.by_parts:by_parts",
    lists_outcomes=False,
    objectives=(MaximizeInformation, MaximizeInformationOfEach, MinimizeVariance),
    promises=(Promised(LocalDP),),
    forms=(None, *PRAM_FORMS, SUBSETS),
    letters="any",
    takes=("each", "strata", "robust", "max_rows"),
    law=(
        Condition(
            lambda p: p.each or p.strata,
            "it makes a matrix for each column (each = true) or for each stratum (strata = [...])",
        ),
        Condition(
            lambda p: not (p.each and p.combinations),
            "columns that are perturbed one by one reach every combination of values, impossible ones too; perturb "
            "them jointly: leave out each and form",
        ),
        Condition(
            lambda p: (
                not any(isinstance(guarantee, LocalDP) and guarantee.metric is not None for guarantee in p.guarantees)
            ),
            "distances between the values of several matrices are not composed; with a metric design one recipe at a "
            'time, output = "Y" and maximize = { information = [...] }; a ledger adds the levels',
        ),
        Condition(
            lambda p: not any(isinstance(guarantee, LocalDP) and guarantee.delta for guarantee in p.guarantees),
            'it promises local_dp without delta, which is had for one column at a time with output = "Y"',
        ),
    ),
    conditions=(
        Condition(
            lambda p: not p.release or (p.form in PRAM_FORMS and p.release == p.observe),
            f'released values are those of all observed columns, with form = "{PRAM_FORMS[0]}" or "{PRAM_FORMS[1]}"',
        ),
        Condition(
            lambda p: not (p.output and p.form in PRAM_FORMS),
            lambda p: f"form = {p.form!r} releases the values of its columns: say release, not output",
        ),
        Condition(
            lambda p: not p.each or p.objective in (MaximizeInformationOfEach(p.observe), MinimizeVariance(p.observe)),
            "what is said of several columns that are perturbed one by one is counted column by column: write maximize "
            "= { information_of_each = [...] } with the observed columns",
        ),
        Condition(lambda p: not p.each or min(levels_of(p).values()) > 0, "the level of every column is above 0"),
        Condition(lambda p: not p.each or sum(levels_of(p).values()) <= level_promise(p).epsilon, _too_much),
        Condition(
            lambda p: p.each or p.objective in (MaximizeInformation(p.observe), MinimizeVariance(p.observe)),
            _TOLD_ITSELF,
        ),
        Condition(
            lambda p: not isinstance(p.objective, MinimizeVariance) or p.form != PRAM_FORMS[0],
            f'the least variance has no form, or form = "{PRAM_FORMS[1]}" or "{SUBSETS}"',
        ),
        Condition(
            lambda p: not set(p.strata) & set(p.observe),
            "a stratum is not perturbed: name it in strata alone, not in observe",
        ),
        Condition(
            lambda p: not p.strata or level_promise(p).given == p.strata,
            lambda p: _not_given(p.strata, "within each stratum"),
        ),
    ),
    sentences={
        "keep": (
            "columns that leave as they are are strata, or beside keep = [...] every column has a matrix of its own: "
            "each = true, and given = [...] in the promise"
        ),
        "objective": (
            "what is said of several columns that are perturbed one by one is counted column by column: write maximize "
            "= { information_of_each = [...] } with the observed columns"
        ),
    },
)


# --- a fresh letter -------------------------------------------------------------------------------------------------
BESIDE_KEPT = Mechanism(
    name="beside-kept",
    title="a new column beside kept ones under local_dp",
    designer="dalenius.mechanisms.local_dp.beside_kept:beside_kept",
    objectives=(MaximizeInformation,),
    promises=(Promised(LocalDP, without=("metric", "delta"), above_zero=True, most_nats=MOST_NATS),),
    takes=("keep", "robust", "max_rows"),
    needs=("keep",),
    conditions=(
        _ITSELF,
        Condition(
            lambda p: level_promise(p).given == p.keep,
            lambda p: _not_given(p.keep, "between records that agree there"),
        ),
        Condition(
            lambda p: not set(p.keep) & set(p.observe),
            "a kept column is not perturbed: name it in keep alone, not in observe",
        ),
    ),
    sentences={
        "keep": "it designs a value beside kept columns, keep = [...]",
        "objective": _TOLD_ITSELF,
        "form": 'it needs a fresh list of values, output = "Y", without form',
    },
)

PRAM_BESIDE_KEPT = Mechanism(
    name="pram-beside-kept",
    title='form = "pram" beside kept columns',
    designer="dalenius.mechanisms.local_dp.pram_beside_kept:pram_beside_kept",
    objectives=(MaximizeInformation,),
    promises=(Promised(LocalDP, without=("metric", "delta"), above_zero=True, most_nats=MOST_NATS),),
    forms=PRAM_FORMS,
    letters="own",
    takes=("keep", "robust", "max_rows"),
    needs=("keep",),
    conditions=BESIDE_KEPT.conditions,
    sentences={
        "keep": "it perturbs columns beside kept ones, keep = [...]",
        "objective": _TOLD_ITSELF,
        "form": f'it is of form = "{PRAM_FORMS[0]}" or "{PRAM_FORMS[1]}"',
    },
    shows_cells="observed",  # the matrix is that of the perturbed columns without the kept ones
)

EACH_BESIDE_KEPT = Mechanism(
    name="each-beside-kept",
    title="a recipe for each column beside kept ones under local_dp",
    designer="dalenius.mechanisms.local_dp.each_beside_kept:each_beside_kept",
    objectives=(MaximizeInformationOfEach,),
    promises=(Promised(LocalDP, without=("metric", "delta"), above_zero=True, most_nats=MOST_NATS),),
    forms=(None, *PRAM_FORMS),
    letters="any",
    takes=("each", "keep", "robust", "max_rows"),
    needs=("each", "keep"),
    law=PARTS.law[1:],
    conditions=(
        *PARTS.conditions[:5],
        *BESIDE_KEPT.conditions[1:],
    ),
    sentences={
        "keep": "it perturbs columns beside kept ones, keep = [...]",
        "each": "it makes a matrix for each column: each = true",
        "objective": PARTS.sentences["objective"],
        "form": f'it is of form = "{PRAM_FORMS[0]}" or "{PRAM_FORMS[1]}", or without form where output names a column',
    },
    shows_cells="observed",
)

DELTA = Mechanism(
    name="delta",
    title="local_dp with delta",
    designer="dalenius.mechanisms.local_dp.delta:relaxed",
    objectives=(MaximizeInformation,),
    promises=(Promised(LocalDP, needs=("delta",), without=("metric", "given"), above_zero=True, most_nats=MOST_NATS),),
    takes=("robust", "max_rows"),
    law=(
        Condition(
            lambda p: any(isinstance(guarantee, LocalDP) and guarantee.delta for guarantee in p.guarantees),
            "it promises local_dp with delta and nothing else",
        ),
    ),
    conditions=(
        _ITSELF,
        Condition(lambda p: level_promise(p).delta < 1, "it promises local_dp with a delta below 1"),
    ),
    sentences={"objective": _TOLD_ITSELF, "form": 'it needs a fresh list of values, output = "Y", without form'},
)

STAIRCASE = Mechanism(
    name="staircase",
    title="staircases for many values",
    designer="dalenius.mechanisms.local_dp.staircase:local_dp",
    objectives=(MaximizeInformation,),
    promises=(Promised(LocalDP, without=("metric", "delta"), above_zero=True, most_nats=MOST_NATS),),
    count=(1, None),
    takes=("robust", "max_rows"),
    conditions=(Condition(lambda p: set(p.objective.names) == set(p.observe), _TOLD_ITSELF),),
    on_data=(
        Condition(lambda p: len(p.pmf.grouped(p.observe)[0]) > FEW, f"up to {FEW} inputs a recipe is written in rows"),
    ),
    shortcut=True,
)
"""The way of `disclose` beyond a few letters; not in the registry, for `disclose` takes the same problems."""

SUBSET_SELECTION = Mechanism(
    name=SUBSETS,
    title='form = "subset-selection"',
    designer="dalenius.mechanisms.local_dp.subset_selection:subset_selection",
    objectives=(MaximizeInformation,),
    promises=(_ONE_LEVEL,),
    forms=(SUBSETS,),
    takes=("robust", "max_rows"),
    conditions=(_ITSELF,),
    sentences={"objective": _TOLD_ITSELF, "letters": 'it releases subsets: say output = "Y"'},
)


# --- the letters of the column itself -------------------------------------------------------------------------------
OWN_LETTERS = Mechanism(
    name="own-letters",
    title="the most information in released columns under local_dp",
    designer="dalenius.mechanisms.local_dp.own_letters:own_letters",
    objectives=(MaximizeInformation,),
    promises=(_ONE_LEVEL,),
    letters="own",
    takes=("forbid", "freeze", "preserve_marginals", "robust", "max_rows"),
    law=(
        Condition(
            lambda p: (
                not any(isinstance(guarantee, LocalDP) and guarantee.metric is not None for guarantee in p.guarantees)
            ),
            "values of their own (forbid, freeze, preserve_marginals) are searched for without a metric; a metric is "
            'taken with output = "Y", whose values are fresh',
        ),
    ),
    conditions=(_ITSELF,),
    sentences={"objective": _TOLD_ITSELF, "form": "it releases exactly the columns that it observes, without form"},
)

_VARIANCE_FORMS = (
    f'say output = "Y", alone or with form = "{SUBSETS}", or release = [...] with form = "{PRAM_FORMS[1]}"'
)

METRIC_VARIANCE = Mechanism(
    name="variance-under-a-metric",
    title="the least variance of estimated shares under local_dp with a metric",
    designer="dalenius.mechanisms.local_dp.metric_variance:least_variance_under_a_metric",
    objectives=(MinimizeVariance,),
    promises=(Promised(LocalDP, needs=("metric",), without=("delta", "given"), above_zero=True, most_nats=MOST_NATS),),
    takes=("robust",),
    conditions=(
        Condition(
            lambda p: p.objective.names == p.observe,
            "the variance is that of the frequencies of the columns that it observes",
        ),
    ),
)

VARIANCE = Mechanism(
    name="variance",
    title="the least variance of estimated shares under local_dp",
    designer="dalenius.mechanisms.local_dp.variance:least_variance",
    objectives=(MinimizeVariance,),
    promises=(_ONE_LEVEL,),
    forms=(None, SUBSETS, PRAM_FORMS[1]),
    letters="any",
    takes=("robust", "max_rows"),
    conditions=(
        Condition(
            lambda p: p.objective.names == p.observe,
            "the variance is that of the frequencies of the columns that it observes",
        ),
        Condition(
            lambda p: p.release == p.observe if p.form == PRAM_FORMS[1] else p.output is not None, _VARIANCE_FORMS
        ),
    ),
    sentences={"form": _VARIANCE_FORMS},
)
