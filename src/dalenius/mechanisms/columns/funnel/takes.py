"""What is taken where the shares of values are to be estimated as well as promises allow."""

from dalenius.core import Independent, LocalDP, MinimizeVariance
from dalenius.mechanisms.columns.takes import FUNNEL
from dalenius.mechanisms.declared import Condition, Mechanism

__all__ = ["SPREAD"]

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
