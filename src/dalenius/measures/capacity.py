r"""Capacity of a channel: the most that any prior lets its output tell about its input, as a proved bracket in bits.

    max_w I(w)  =  min_q max_x D(p(. | x) || q)

A prior gives the lower end and a law q of the output the upper end, both evaluated with a proved error
(`solvers.divergence`): rational rows enter as the nearest doubles, 2^-53 of themselves away.

References: C. Shannon (1948); paper 001, section 2.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, nextafter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import Kernel, in_doubles, once_each
from dalenius.core.pmf import Pmf
from dalenius.errors import InvalidPmf, Unsupported
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import Laws

__all__ = [
    "Bracket",
    "Capacity",
    "Ends",
    "aligned",
    "bits",
    "capacity",
    "distinct_rows",
    "joint_with_output",
    "outward",
    "upward",
    "with_kept",
]

Bracket: TypeAlias = tuple[float, float]
Ends: TypeAlias = tuple[Fraction, Fraction]
Places: TypeAlias = NDArray[np.intp]

GAP = 1e-10  # nats


@dataclass(frozen=True)
class Capacity:
    """low <= capacity <= high in bits; `prior` reaches low, one weight for each input outcome.

    Parameters
    ----------
    low : float
        A lower bound.
    high : float
        An upper bound.
    prior : tuple of float
        Reaches `low`.
    """

    low: float
    high: float
    prior: tuple[float, ...]


def upward(figure: float, dust: float = 1e-14) -> float:
    """A figure computed in doubles as one that is not below the true one; dust is nothing.

    Parameters
    ----------
    figure : float
        Off by less than 1e-12 of itself and less than the dust.
    dust : float
        What counts as 0.

    Returns
    -------
    float
        Rounded up.

    Examples
    --------
    >>> upward(0.0), upward(1e-15), upward(1.0) > 1.0
    (0.0, 0.0, True)
    """
    return nextafter(figure * (1 + 1e-12) + dust, inf) if figure > dust else 0.0


def outward(ends: Ends) -> Bracket:
    """A rational bracket as doubles, rounded outward.

    Parameters
    ----------
    ends : tuple of two Fraction
        From below and from above.

    Returns
    -------
    tuple of two floats
        The nearest doubles that are not inside.

    Examples
    --------
    >>> low, high = outward((Fraction(1, 10), Fraction(1, 10)))
    >>> low < Fraction(1, 10) < high
    True
    """
    low = float(ends[0])
    high = float(ends[1])
    # A conversion rounds to the nearest double, which may lie on the wrong side: then the next one is taken.
    return (nextafter(low, -inf) if low > ends[0] else low), (nextafter(high, inf) if high < ends[1] else high)


def bits(low: float, high: float) -> Bracket:
    """A bracket in nats as one in bits, rounded outward; four roundings cover the quotient by ln 2.

    >>> bits(0.0, 0.0)
    (0.0, 0.0)
    """
    return (_stepped(low / log(2), -inf) if low else 0.0), (_stepped(high / log(2), inf) if high else 0.0)


def _stepped(x: float, to: float) -> float:
    for _ in range(4):
        x = nextafter(x, to)
    return max(0.0, x)


def distinct_rows(channel: Kernel) -> tuple[Laws, Places]:
    """The different rows of a channel, and which of them each input outcome has."""
    different: list[tuple[Fraction, ...]] = []
    floats: list[list[float]] = []
    near: dict[tuple[float, ...], list[int]] = {}

    def place(row: tuple[Fraction, ...]) -> int:
        # Equal rows have equal floats, which are hashed a hundred times faster; unequal ones are told apart exactly.
        rounded = in_doubles(row)
        for known in (alike := near.setdefault(tuple(rounded), [])):
            if different[known] == row:
                return known
        alike.append(len(different))
        different.append(row)
        floats.append(rounded)
        return alike[-1]

    which = np.array(once_each(place, channel.rows), dtype=np.intp)
    return Laws(np.array(floats)), which


def capacity(channel: Kernel, *, gap: float = GAP) -> Capacity:
    """The capacity of a channel, its inputs taken as one.

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).
    gap : float
        How far the two ends may be apart.

    Returns
    -------
    Capacity
        A proved bracket.

    >>> flip = Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, ((Fraction(3, 4), Fraction(1, 4)),) * 2)
    >>> capacity(flip).high
    0.0
    """
    laws, which = distinct_rows(channel)
    prior = np.zeros(len(which))
    if len(laws) == 1:
        prior[0] = 1.0
        return Capacity(0.0, 0.0, tuple(prior.tolist()))
    ball = smallest_ball(laws, gap=gap)
    # Inputs of the same row are one to the search; the first of them gets the weight of all.
    first = {int(row): x for x, row in reversed(list(enumerate(which.tolist())))}
    for row, weight in zip(ball.support.tolist(), ball.weights.tolist(), strict=True):
        prior[first[row]] = weight
    return Capacity(*bits(ball.low, ball.high), tuple((prior / prior.sum()).tolist()))


def aligned(prior: Pmf, channel: Kernel) -> Pmf:
    """A prior over the inputs of a channel, in its letters and their order; other variables are summed out.

    >>> prior = Pmf.from_records({"X": ("b", "a")}, [(("a",), 1), (("b",), 3)])
    >>> aligned(prior, Channel.constant({"X": ("a", "b", "c")}, "Y")).variables
    {'X': ('a', 'b', 'c')}
    """
    names = list(channel.inputs)
    marginal = prior.marginal(names)
    letters = list(marginal.variables.values())
    records = [
        (tuple(a[entry] for a, entry in zip(letters, row, strict=True)), weight)
        for row, weight in zip(marginal.support.tolist(), marginal.weights.tolist(), strict=True)
    ]
    for name, letter in ((n, value) for outcome, _ in records for n, value in zip(names, outcome, strict=True)):
        if letter not in channel.inputs[name]:
            raise InvalidPmf(
                f"the stated distribution gives {name} the value {letter!r}, which the recipe does not know"
            )
    return Pmf.from_records({n: tuple(channel.inputs[n]) for n in names}, records)


def joint_with_output(prior: Pmf, channel: Kernel) -> tuple[Pmf, list[str]]:
    """The joint pmf of inputs and output under a prior, and the names of the output, apart from those of inputs.

    >>> copy = Channel({"X": ("0", "1")}, {"X": ("0", "1")}, ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))))
    >>> joint_with_output(Pmf.from_records({"X": ("0", "1")}, [("0", 1), ("1", 1)]), copy)[1]
    ['X, released']
    """
    output = {f"{name}, released" if name in channel.inputs else name: tuple(a) for name, a in channel.output.items()}
    same = Channel({name: tuple(letters) for name, letters in channel.inputs.items()}, output, channel.rows)
    return same.after(aligned(prior, channel)), list(output)


def with_kept(channel: Kernel, kept: dict[str, tuple[str, ...]]) -> Kernel:
    """The channel of everything that leaves when some columns are released as they are beside its letter.

    A kept column that the channel does not read becomes a further input, and each kept column a further output.

    >>> flip = Channel({"X": ("0", "1")}, {"Y": ("0",)}, ((Fraction(1),),) * 2)
    >>> with_kept(flip, {"X": ("0", "1")}).rows
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(0, 1), Fraction(1, 1)))
    """
    if not kept:
        return channel
    names = list(channel.inputs)
    inputs = {n: tuple(letters) for n, letters in channel.inputs.items()} | {
        n: a for n, a in kept.items() if n not in names
    }
    output = {n: tuple(letters) for n, letters in channel.output.items()} | {
        _beside(n, channel): a for n, a in kept.items()
    }
    free = Channel.constant(inputs, "Y").outcomes() if _size(inputs, output) else []
    seen = list(kept.values())
    outcomes = list(np.ndindex(*(len(a) for a in seen)))
    rows = []
    for outcome in free:
        at = dict(zip(inputs, outcome, strict=True))
        row = channel.rows[channel.row_of([channel.inputs[name].index(at[name]) for name in names])]
        there = tuple(a.index(at[n]) for n, a in kept.items())
        rows.append(tuple(entry if k == there else Fraction(0) for entry in row for k in outcomes))
    return Channel(inputs, output, tuple(rows))


def _beside(name: str, channel: Kernel) -> str:
    return f"{name} (kept)" if name in channel.output else name


def _size(inputs: dict[str, tuple[str, ...]], output: dict[str, tuple[str, ...]]) -> int:
    size = 1
    for letters in [*inputs.values(), *output.values()]:
        size *= len(letters)
    if size > 1 << 22:
        raise Unsupported(
            f"a recipe with its kept columns has {size:,} entries, too many to be written out",
            do="Group values, or keep fewer columns.",
        )
    return size
