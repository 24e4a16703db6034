"""From multipliers of a rewritten program to those of the one before."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.program import Multipliers

__all__ = ["Lift", "as_they_are", "none_of"]

Lift: TypeAlias = Callable[[Multipliers], Multipliers]


def none_of(arrays: Arrays) -> Multipliers:
    """Multipliers that say nothing: all zero."""
    letters = arrays.allowed.shape[1]
    secrets = [*(secret for _, secret in arrays.objective), *(secret for secret, _ in arrays.leakages)]
    return Multipliers(
        tuple(np.zeros((secret.size, letters)) for secret in secrets),
        np.zeros(len(arrays.leakages)),
        np.zeros(len(arrays.distortions)),
        tuple(np.zeros(letters) for _ in arrays.worst),
        tuple(np.zeros((secret.size, letters)) for secret, _ in arrays.worst),
        np.zeros((len(arrays.G), letters)),
        np.zeros((len(arrays.pairs), letters)),
        tuple((np.zeros((len(rows), letters)), np.zeros((len(rows), letters))) for rows, _ in arrays.local_dp),
        tuple(np.zeros((size, letters)) for size, _ in arrays.odds),
        tuple((0.0, tuple(np.zeros((len(part), letters)) for part in parts)) for parts, _ in arrays.gauges),
    )


def as_they_are(multipliers: Multipliers) -> Multipliers:
    """The way back from a step that rewrote nothing."""
    return multipliers
