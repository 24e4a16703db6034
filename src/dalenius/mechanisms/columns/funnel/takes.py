"""What is taken where as much is told as promises allow, or no more than must be, or shares are to be estimated."""

from dalenius.core import (
    Contraction,
    Dalenius,
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
    MinimizeVariance,
    Problem,
    Sibson,
    TotalVariation,
    WorstCaseLeakage,
)
from dalenius.mechanisms.columns.leakage.takes import about_all_inputs, names_letters, shaped
from dalenius.mechanisms.columns.takes import DISCLOSURE, EVERY_OUTCOME
from dalenius.mechanisms.declared import MOST_NATS, Condition, Mechanism, Promised

__all__ = ["BOTTLENECK", "FUNNEL", "NAMED", "SPREAD", "limits_a_sum"]

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


def _about_all_inputs(problem: Problem) -> str | None:
    """As `about_all_inputs`, and beside a metric: inputs that never occur have rows there, which no search here has."""
    if any(isinstance(promise, LocalDP) and promise.metric is not None for promise in problem.guarantees):
        for promise in problem.guarantees:
            if not promise.secret and (not isinstance(promise, LocalDP) or promise.delta):
                return f"{promise.key} about all inputs is not designed beside local_dp with a metric"
    return about_all_inputs(problem)


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
    takes=("robust", "forbid", "freeze", "preserve_marginals"),
    law=(
        EVERY_OUTCOME,
        Condition(
            lambda p: not (shaped(p) and any(isinstance(g, LocalDP) and g.metric is not None for g in p.guarantees)),
            lambda p: f"where information is maximised, {shaped(p)} does not go with a metric; leave one of them out",
        ),
    ),
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
            lambda p: not isinstance(p.objective, MinimizeDistortion) or names_letters(p),
            "nothing says which values may be released: give a distortion matrix, whose columns they are, or release",
        ),
        Condition(lambda p: not _about_all_inputs(p), lambda p: _about_all_inputs(p) or ""),
    ),
    sentences={
        "tells": "it needs a [[limit]] with information = [...] and at_least_bits",
    },
)

UNDETERMINED = "whatever reveals nothing about a column leaves some share of the values undetermined"

SPREAD = Mechanism(
    name="variance-under-limits",
    title="the least variance of estimated shares under other promises",
    designer="dalenius.mechanisms.columns.funnel.variance:least_variance_under_limits",
    objectives=(MinimizeVariance,),
    promises=tuple(promised for promised in FUNNEL.promises if promised.kind is not Independent),
    count=(1, None),
    law=FUNNEL.law,
    conditions=(
        Condition(
            lambda p: p.objective.names == p.observe,
            "the variance is that of the shares of the columns that it observes",
        ),
        Condition(
            lambda p: (
                any(not isinstance(promise, LocalDP) or promise.delta for promise in p.guarantees)
                or len(p.guarantees) > 1
            ),
            "under local_dp alone the least variance has a search of its own",
        ),
        FUNNEL.conditions[-1],
        Condition(
            lambda p: not any(promise.allows_nothing for promise in p.guarantees),
            f"{UNDETERMINED}, so that no variance is finite under a level of 0; allow more",
        ),
    ),
    sentences={
        "promises": (f"{UNDETERMINED}, so that no variance is finite under independent; allow some bits of leakage"),
        "letters": 'it needs a fresh list of values: say output = "Y"',
    },
)
