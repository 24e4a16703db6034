"""What noise needs beside its numbers for its proof: laws that bound the capacities of its axes, and variances."""

from fractions import Fraction

from dalenius.core import Noise, Pmf
from dalenius.core.drafting import Axes
from dalenius.core.numbers import up, written
from dalenius.solvers.noise import capacity_weights

__all__ = ["axes_of"]

DIGITS = 6  # of a variance, from above: a larger one only loosens a bound


def axes_of(channel: Noise, records: Pmf | None, *, priors: bool = True, exactly: bool = False) -> Axes:
    """For each axis a law of its shifts, and the variance of what it takes from the records.

    Parameters
    ----------
    channel : Noise
        The recipe.
    records : Pmf or None
        The law of its columns, in their order; without it no variance is known.
    priors : bool
        Whether to search for laws that bound the capacities well; else any law is taken.
    exactly : bool
        Whether variances are written with all digits.

    Returns
    -------
    Axes
        As documents write them.
    """
    sizes = [len(letters) for letters in channel.inputs.values()]
    laws = []
    for axis in channel.axes:
        first, last = axis.ends(sizes)
        found = capacity_weights(first, last, axis.low, axis.high, list(axis.weights)) if priors else [[first, 1]]
        laws.append(found)
    variances = [Fraction(0) if records is None else axis.variance(records) for axis in channel.axes]
    return Axes(laws, [written(variance) if exactly else up(variance, DIGITS) for variance in variances])
