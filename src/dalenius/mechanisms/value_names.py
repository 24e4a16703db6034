"""Which value a released letter is called: the names that keep the most rows, and matrices that invert a value.

What a channel tells does not depend on the names of its letters, so that many designs are equally good until they are
named. A reader takes a released value for the original one; so of all equal designs the one that keeps the largest
expected share of rows is taken, and one that still releases a value as another more often than as itself is refused
unless the problem says `allow_inverted = true`.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dalenius.core import (
    Design,
    Kernel,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeVariance,
    Pram,
    Product,
    Strata,
    TableSource,
)
from dalenius.errors import Infeasible

CLEARLY = 1 + Fraction(1, 10**9)  # a difference that rounding makes inverts nothing

__all__ = ["inverted", "names_that_keep", "refuse_inverted"]

Floats = npt.NDArray[np.float64]
NAMELESS = (MaximizeInformation, MaximizeInformationOfEach, MinimizeVariance)
"""Objectives that do not ask how letters are called; a distortion says itself which value should become which."""


def names_that_keep(p: Floats, matrix: Floats, margin: Floats | None = None) -> list[int]:
    """Which column of a matrix each value should be, so that the expected share of unchanged rows is largest.

    Parameters
    ----------
    p
        The share of rows of each value.
    matrix
        p(letter | value), rows and columns in the order of the values.
    margin
        The shares that the released values must have: then only values with equal shares trade their names.

    Returns
    -------
    list of int
        For each value the column that gets its name.

    Examples
    --------
    >>> names_that_keep(np.array([0.7, 0.3]), np.array([[0.1, 0.9], [0.9, 0.1]]))
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment  # imports scipy, which takes a second

    kept = p[:, None] * matrix
    if margin is not None:
        kept = np.where(margin[:, None] == margin[None, :], kept, -1.0)
    # A name that is kept already stays where another is only as good.
    kept[np.diag_indices(len(kept))] += 1e-12
    return [int(y) for y in linear_sum_assignment(-kept)[1]]


def inverted(channel: Kernel, shares: Sequence[Fraction] | None = None) -> Iterator[tuple[tuple[str, ...], Fraction]]:
    """The values that a channel releases as some other value more often than as themselves, each with its share kept.

    Where margins are preserved a rare value cannot but become a common one more often than it stays; there a value is
    inverted when its own rows are released with it more rarely than all rows are.

    Parameters
    ----------
    channel
        A channel whose letters are the values of its inputs, in their order; other channels have nothing to invert.
    shares
        The shares of the values, where the channel preserves them.

    Yields
    ------
    tuple
        The value (one entry for each column) and the probability that it is kept.

    Examples
    --------
    >>> turned = Pram({"sex": ("f", "m")}, {"sex": ("f", "m")}, (Fraction(1, 8), Fraction(1, 8)))
    >>> [value for value, kept in inverted(turned)]
    [('f',), ('m',)]
    """
    if isinstance(channel, Product):
        for window in channel.windows:
            yield from inverted(window)
        return
    if isinstance(channel, Strata):
        for part in channel.channels:
            yield from inverted(part)
        return
    if dict(channel.inputs) != dict(channel.output):
        return
    if isinstance(channel, Pram):
        others = len(channel.q) - 1
        changed = [(1 - q) / others if others else Fraction(0) for q in channel.q]
        entries = zip(channel.q, changed, strict=True)
    else:
        written = channel.rows if channel.few else ()
        entries = zip([row[x] for x, row in enumerate(written)], map(max, written), strict=True)
    for x, (kept, most) in enumerate(entries):
        if kept * CLEARLY < (most if shares is None else min(most, shares[x])):
            yield _value(channel, x), kept


def _value(channel: Kernel, row: int) -> tuple[str, ...]:
    codes = np.unravel_index(row, [len(letters) for letters in channel.inputs.values()])
    return tuple(letters[int(code)] for letters, code in zip(channel.inputs.values(), codes, strict=True))


def refuse_inverted(design: Design) -> Design:
    """The design itself, or a refusal where it releases a value as another one more often than as itself.

    Parameters
    ----------
    design
        A proved design.

    Returns
    -------
    Design
        The same.

    Raises
    ------
    Infeasible
        The best design inverts a value and the problem does not say `allow_inverted = true`.
    """
    problem = design.problem
    if problem.allow_inverted or not problem.release or not isinstance(problem.objective, NAMELESS):
        return design
    if problem.form == "pram" and not problem.preserve_marginals and not isinstance(problem.source, TableSource):
        return design  # of statistics the best of the form is asked for, and no rows leave; its remarks say the rest
    if problem.forbid or problem.freeze:  # which values may be released is the wish of the problem
        return design
    shares = None
    if problem.preserve_marginals:
        joint = problem.pmf.marginal(list(problem.observe))
        shares = [Fraction(n, joint.total) for n in joint.every().tolist()]
    found = next(inverted(design.channel, shares), None)
    if found is None:
        return design
    value, kept = found
    raise Infeasible(
        f"the design that says the most would release {' · '.join(value)!r} as another value more often than as "
        f"itself (kept with probability {float(kept):.3g}). Readers would be misled; say "
        "allow_inverted = true in [mechanism] for readers who correct for the changes"
    )
