r"""What a guess gains from a release: the measures between mutual information and the best guess, as proved brackets.

With p(s) the law of a secret and p(y | s) what is seen of it,

    min-entropy leakage    log2 ( sum_y max_s p(s, y) / max_s p(s) )
    maximal leakage        log2 sum_y max_s p(y | s)
    total variation        1/2 sum |p(s, y) - p(s) p(y)|
    Sibson, order a        a/(a-1) log2 sum_y ( sum_s p(s) p(y | s)^a )^(1/a)
    alpha-leakage          a/(a-1) log2 [ sum_y ( sum_s p(s, y)^a )^(1/a) / ( sum_s p(s)^a )^(1/a) ]    (Arimoto)

Everything is counted exactly; a power or a logarithm is taken of rationals in ball arithmetic.

References: Smith (2009); Issa, Wagner & Kamath (2020); Sibson (1969); Liao, Kosut, Sankar & Calmon (2019).
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from flint import arb, ctx, fmpq

from dalenius.core.conditional_law import Kernel
from dalenius.core.pmf import Pmf
from dalenius.errors import InputError
from dalenius.measures.bayes import guess_after, guess_before
from dalenius.measures.capacity import Bracket

__all__ = ["alpha_leakage", "maximal_leakage", "min_entropy_leakage", "sibson", "total_variation"]

PRECISION = 128  # bits of a ball


def min_entropy_leakage(joint: Pmf, names: Sequence[str], seen: Sequence[str]) -> Bracket:
    """log2 of how many times as often the best guess is right once the output is seen, in bits.

    Parameters
    ----------
    joint : Pmf
        The joint law.
    names : names
        The variables.
    seen : names
        What the attacker sees.

    Returns
    -------
    (float, float)
        A proved bracket in bits.

    >>> pair = Pmf.from_records({"X": ("a", "b"), "Y": ("c", "d")}, [(("a", "c"), 1), (("b", "d"), 1)])
    >>> min_entropy_leakage(pair, ["X"], ["Y"])
    (1.0, 1.0)
    """
    return _log2(guess_after(joint, names, seen) / guess_before(joint, names))


def maximal_leakage(channel: Kernel) -> Bracket:
    """log2 sum_y max_x p(y | x) over all inputs, in bits: what any guess of anything gains, under any prior.

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).

    Returns
    -------
    (float, float)
        A proved bracket in bits.

    >>> from dalenius.core.channel import Channel
    >>> maximal_leakage(Channel({"X": ("a", "b")}, {"Y": ("c", "d")}, ((1, 0), (0, 1))))
    (1.0, 1.0)
    """
    return _log2(sum((max(column) for column in zip(*channel.rows, strict=True)), Fraction(0)))


def total_variation(joint: Pmf, names: Sequence[str], seen: Sequence[str]) -> Fraction:
    """1/2 sum |p(s, y) - p(s) p(y)|, exact.

    Parameters
    ----------
    joint : Pmf
        The joint law.
    names : names
        The variables.
    seen : names
        What the attacker sees.

    Returns
    -------
    Fraction
        Exact.

    >>> pair = Pmf.from_records({"X": ("a", "b"), "Y": ("c", "d")}, [(("a", "c"), 1), (("b", "d"), 1)])
    >>> total_variation(pair, ["X"], ["Y"])
    Fraction(1, 2)
    """
    both, prior, out = _counted(joint, names, seen)
    total = sum(prior)
    apart = sum(
        abs(entry * total - mine * theirs)
        for row, mine in zip(both, prior, strict=True)
        for entry, theirs in zip(row, out, strict=True)
    )
    return Fraction(apart, 2 * total * total)


def sibson(joint: Pmf, names: Sequence[str], seen: Sequence[str], order: Fraction) -> Bracket:
    """Sibson's information of an order above 1, in bits.

    Parameters
    ----------
    joint : Pmf
        The joint law.
    names : names
        The variables.
    seen : names
        What the attacker sees.
    order : Fraction
        Above 1.

    Returns
    -------
    (float, float)
        A proved bracket in bits.

    >>> pair = Pmf.from_records({"X": ("a", "b"), "Y": ("c", "d")}, [(("a", "c"), 1), (("b", "d"), 1)])
    >>> [round(end, 12) for end in sibson(pair, ["X"], ["Y"], Fraction(2))]
    [1.0, 1.0]
    """
    both, prior, total = _dependent(joint, names, seen, order)
    if not both:
        return 0.0, 0.0
    rows = [
        [(Fraction(mine, total), Fraction(entry, mine)) for entry, mine in zip(column, prior, strict=True) if entry]
        for column in zip(*both, strict=True)
    ]
    with ctx.workprec(PRECISION):
        return _of_order(sum(_powers(rows, order), arb(0)), order)


def alpha_leakage(joint: Pmf, names: Sequence[str], seen: Sequence[str], order: Fraction) -> Bracket:
    """Arimoto's information of an order above 1, in bits: what an attacker gains whose loss has that order.

    Parameters
    ----------
    joint : Pmf
        The joint law.
    names : names
        The variables.
    seen : names
        What the attacker sees.
    order : Fraction
        Above 1.

    Returns
    -------
    (float, float)
        A proved bracket in bits.

    >>> pair = Pmf.from_records({"X": ("a", "b"), "Y": ("c", "d")}, [(("a", "c"), 1), (("b", "d"), 1)])
    >>> [round(end, 12) for end in alpha_leakage(pair, ["X"], ["Y"], Fraction(2))]
    [1.0, 1.0]
    """
    both, prior, total = _dependent(joint, names, seen, order)
    if not both:
        return 0.0, 0.0
    after = [[(Fraction(1), Fraction(entry, total)) for entry in column if entry] for column in zip(*both, strict=True)]
    before = [[(Fraction(1), Fraction(mine, total)) for mine in prior]]
    with ctx.workprec(PRECISION):
        return _of_order(sum(_powers(after, order), arb(0)) / sum(_powers(before, order), arb(0)), order)


def _counted(joint: Pmf, names: Sequence[str], seen: Sequence[str]) -> tuple[list[list[int]], list[int], list[int]]:
    """Counts of (s, y), and of each alone; without the outcomes that never occur."""
    rows = [[int(entry) for entry in row] for row in joint.counts(names, seen)]
    both = [row for row in rows if any(row)]
    columns = [column for column in zip(*both, strict=True) if any(column)]
    both = [list(row) for row in zip(*columns, strict=True)]
    return both, [sum(row) for row in both], [sum(column) for column in columns]


def _dependent(
    joint: Pmf, names: Sequence[str], seen: Sequence[str], order: Fraction
) -> tuple[list[list[int]], list[int], int]:
    """Counts of (s, y), of s, and of all; no counts of (s, y) where what is seen is exactly independent."""
    both, prior, out = _counted(joint, names, seen)
    return [] if order > 1 and _apart(both, prior, out) else both, prior, sum(prior)


def _apart(both: list[list[int]], prior: list[int], out: list[int]) -> bool:
    """Whether what is seen is exactly independent, so that every measure is zero and not a bracket around it."""
    total = sum(prior)
    return all(
        entry * total == mine * theirs
        for row, mine in zip(both, prior, strict=True)
        for entry, theirs in zip(row, out, strict=True)
    )


def _ball(q: Fraction) -> Any:
    return arb(fmpq(q.numerator, q.denominator))


def _powers(rows: Iterable[Sequence[tuple[Fraction, Fraction]]], order: Fraction) -> list[Any]:
    """(sum of weight times value^order)^(1 / order) of each row."""
    if not order > 1:
        raise InputError(f"the order is {order}; it must be above 1")
    top = _ball(order)
    return [sum((_ball(weight) * _ball(v) ** top for weight, v in row), arb(0)) ** (1 / top) for row in rows if row]


def _of_order(whole: Any, order: Fraction) -> Bracket:
    """order / (order - 1) log2 of a ball, outward, and never negative."""
    return _outward(_ball(order / (order - 1)) * whole.log() / arb(2).log())


def _log2(q: Fraction) -> Bracket:
    if q.denominator == 1 and q.numerator & (q.numerator - 1) == 0:
        exactly = float(q.numerator.bit_length() - 1)
        return exactly, exactly
    with ctx.workprec(PRECISION):
        return _outward(_ball(q).log() / arb(2).log())


def _outward(ball: Any) -> Bracket:
    """Doubles around a ball: its middle is rounded to the nearest one, and its radius is far below that error."""
    middle = float(ball.mid())
    radius = float(ball.rad())
    return max(0.0, nextafter(middle - radius, -inf)), max(0.0, nextafter(middle + radius, inf))
