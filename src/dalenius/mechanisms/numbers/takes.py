"""What is taken of numbers: noise on a grid (paper 004)."""

from dalenius.core import (
    Contraction,
    Dalenius,
    Leakage,
    LocalDP,
    MinimizeCapacity,
    MinimizeDistortion,
    MinimizeLeakage,
    Problem,
)
from dalenius.mechanisms.declared import Condition, Mechanism, Promised

__all__ = ["NOISE", "SHAPED"]

SHAPED = ("shrinkage", "gaussian", "laplace")
"""Laws of noise that are calibrated to a squared error; others have a limit by a norm."""


def _kind(problem: Problem) -> str:
    return problem.noise.kind if problem.noise is not None else ""


NOISE = Mechanism(
    name="noise",
    title="noise for numbers",
    designer="dalenius.mechanisms.numbers.design:noise",
    lists_outcomes=False,
    objectives=(MinimizeLeakage, MinimizeCapacity, MinimizeDistortion),
    promises=(
        Promised(Leakage),
        Promised(LocalDP, without=("metric",)),
        Promised(Dalenius),
        Promised(Contraction),
    ),
    count=(0, None),
    forms=("noise",),
    letters="own",
    takes=("limits", "max_rows"),
    conditions=(
        Condition(
            lambda p: len(p.measures) == 1 and set(p.measures[0].of) == set(p.observe),
            "it has one limit on the distortion of all released columns, or minimises that distortion and has none",
        ),
        Condition(
            lambda p: p.guarantees or not isinstance(p.objective, MinimizeDistortion),
            "it minimises a distortion under at least one promise",
        ),
        Condition(
            lambda p: _kind(p) not in SHAPED or p.measures[0].distortion == "squared",
            lambda p: f'{_kind(p)} noise is measured by distortion = "squared"',
        ),
        Condition(
            lambda p: _kind(p) in SHAPED or (p.measures[0].distortion == "norm" and p.limits),
            lambda p: f'{_kind(p)} noise has one limit with distortion = "norm" and p',
        ),
        Condition(
            lambda p: (
                p.noise is None
                or p.noise.kind != "minimum-capacity"
                or (p.measures[0].p in ("1", "2", "inf") and not p.noise.clip)
            ),
            "minimum-capacity noise has p = 1, 2 or inf and no clip",
        ),
    ),
    sentences={"objective": "it minimises leakage, capacity or a squared distortion"},
    shows_cells="none",  # noise depends on means and variances
)
