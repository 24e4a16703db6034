"""The attacker's best guess of an outcome in one try, before and after the output is seen, exact."""

from collections.abc import Sequence
from fractions import Fraction

from dalenius.core.pmf import Pmf

__all__ = ["guess_after", "guess_before"]


def guess_before(joint: Pmf, names: Sequence[str]) -> Fraction:
    """max_s p(s).

    Parameters
    ----------
    joint : Pmf
        The joint law.
    names : names
        The variables.

    Returns
    -------
    Fraction
        Exact.

    >>> guess_before(Pmf.from_records({"X": ("a", "b")}, [(("a",), 1), (("b",), 3)]), ["X"])
    Fraction(3, 4)
    """
    return Fraction(int(joint.counts(names).max()), joint.total)


def guess_after(joint: Pmf, names: Sequence[str], seen: Sequence[str]) -> Fraction:
    """sum_y max_s p(s, y).

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

    >>> pair = Pmf.from_records({"X": ("a", "b"), "Y": ("c", "d")}, [(("a", "c"), 1), (("b", "d"), 3)])
    >>> guess_after(pair, ["X"], ["Y"])
    Fraction(1, 1)
    """
    return Fraction(int(joint.counts(names, seen).max(axis=0).sum()), joint.total)
