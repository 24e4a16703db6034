"""What is taken by mechanisms that are one matrix over all records: disclosure, leakage, distortion and rate."""

from dalenius.core import (
    Contraction,
    Distortion,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximizeInformation,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeRate,
    Problem,
    Samples,
)
from dalenius.mechanisms.declared import MOST_NATS, Condition, Mechanism, Promised

__all__ = [
    "CATEGORICAL",
    "CONTRACTION",
    "DISCLOSURE",
    "EVERY_OUTCOME",
    "RANDOM_COLUMNS",
    "RATE",
    "ROBUST",
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


# --- laws in a ball, and secrets that nobody names --------------------------------------------------------------------
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
