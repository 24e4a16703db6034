"""What is taken record by record: tables that say so, or whose columns have many letters together."""

from math import prod

from dalenius.core import (
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    MinimizeDistortion,
    Pmf,
    Problem,
    WorstCaseLeakage,
)
from dalenius.mechanisms.declared import Condition, Mechanism, Promised
from dalenius.wording import joined

__all__ = ["MOST_CLASSES", "MOST_LETTERS", "RECORDS", "by_records"]

FORM = "records"
PROMISES = (Independent, Leakage, InformationPrivacy, WorstCaseLeakage, Guess)
MOST_LETTERS = 1500
"""Letters of the released columns together, beyond which a release of records is designed record by record."""
MOST_PRESERVED = 600
"""The same where their law is preserved: that is as many more equations, and nothing but records can be released."""

MOST_CLASSES = 16
"""Values of a secret beyond which a record is rarely seen with two of them, and transports become many."""

MOST_UNSEEN = 250_000
"""Entries of a matrix, beyond which a release that does not see its secret is designed record by record."""

MOST_OTHERS = 2_000_000
"""The same for promises of which the best release of records is known within an interval alone."""


def _unlike(problem: Problem) -> str | None:
    """The first distortion that records are not compared by."""
    assert isinstance(problem.objective, MinimizeDistortion)
    measures = (problem.objective.measure, *(limit for limit in problem.limits if not limit.keeps))
    kinds = [part.distortion for measure in measures for part in measure.summands]
    other = next((kind for kind in kinds if kind not in ("hamming", "absolute")), None)
    return other if other is None or isinstance(other, str) else "a matrix"


def _nearly_exact(problem: Problem) -> bool:
    """Whether value and bound are near each other at any size: one promise, independent or leakage, about a secret.

    It is observed, or leaks at most so much.
    """
    if len(problem.guarantees) != 1:
        return False
    (promise,) = problem.guarantees
    return type(promise) is Leakage or (type(promise) is Independent and _seen(problem))


def _seen(problem: Problem) -> bool:
    """Whether every secret is observed."""
    return all(set(promise.secret) <= set(problem.observe) for promise in problem.guarantees)


def _wide(problem: Problem) -> bool:
    """Whether the released columns have many letters together; not where the law is not one pmf."""
    if not isinstance(problem.joint, Pmf):
        return False
    most = MOST_PRESERVED if problem.preserve_marginals else MOST_LETTERS
    letters = prod(len(problem.joint.variables[name]) for name in problem.release)
    if not _nearly_exact(problem):
        return letters * len(problem.joint.grouped(problem.observe)[0]) > MOST_OTHERS
    if problem.preserve_marginals or _seen(problem):
        return letters > most
    return letters * len(problem.joint.grouped(problem.observe)[0]) > MOST_UNSEEN


def _not_promised(problem: Problem) -> str | None:
    """The first promise that records are not exchanged under."""
    return next((promise.key for promise in problem.guarantees if type(promise) not in PROMISES), None)


RECORDS = Mechanism(
    name="records",
    title='form = "records"',
    designer="dalenius.mechanisms.records.design:design",
    objectives=(MinimizeDistortion,),
    promises=tuple(map(Promised, PROMISES)),
    count=(1, None),
    forms=(FORM, None),
    letters="any",
    takes=("preserve_marginals", "limits", "keep_rows", "keep", "strata", "freeze", "forbid"),
    law=(
        Condition(
            lambda p: p.form != FORM or not _not_promised(p),
            lambda p: f"it promises {joined([promise.key for promise in PROMISES])}, and not {_not_promised(p)}",
        ),
    ),
    conditions=(
        Condition(lambda p: p.release, "form records releases columns of the table: say release = [...]"),
        Condition(
            lambda p: set(p.release) <= set(p.observe),
            lambda p: (
                "form records observes every column that it releases; add "
                f"{next(name for name in p.release if name not in p.observe)} to observe"
            ),
        ),
        Condition(
            lambda p: set(p.keep) <= set(p.observe),
            lambda p: (
                "form records looks at every column that leaves as it is: say strata in the place of keep for "
                f"{next(name for name in p.keep if name not in p.observe)}"
            ),
        ),
        Condition(
            lambda p: not _unlike(p),
            lambda p: f"form records compares records by hamming and absolute, not by {_unlike(p)}",
        ),
    ),
    on_data=(
        Condition(
            lambda p: p.form == FORM or _wide(p),
            f"up to {MOST_LETTERS} values ({MOST_PRESERVED} where their distribution is preserved) a problem "
            f"goes record by "
            'record only with form = "records"',
        ),
    ),
    sentences={
        "objective": "form records changes records as little as it can: its objective is minimize = { distortion, of }",
        "max_rows": (
            "form records speaks of one row, and several of one person do not add up; leave out unit and max_rows"
        ),
    },
    shortcut=True,
    lists_outcomes=False,
    shows_cells="none",  # a card does not show the channel, and tells shares of many rows alone
)


def by_records(problem: Problem) -> bool:
    """Whether a problem goes record by record: it says so, or its released columns have many letters together.

    Parameters
    ----------
    problem : Problem
        Bound to its data; of one that is only declared, only what it says counts.

    Returns
    -------
    bool
    """
    return problem.form == FORM or (problem.joint is not None and RECORDS.why_not(problem) is None)
