"""Forbidden changes and frozen values beside whole records: a release that keeps to them, and an interval.

What is left of the changes is no distance any more: from a to b may be forbidden, and from b to a not. So a record
that lies between others need not be open to all of them, other outcomes than records may help, and no bound of records
alone would hold for all mechanisms. What is proved instead:

From above, values that must not become each other are put into different groups, and no row changes between groups: a
limit of no change, which is stricter than what is asked for. From below, the bound of the problem without anything
forbidden: every release that keeps to more changes no less.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dalenius.core import Distortion, Problem
from dalenius.mechanisms.records.proof import Found

__all__ = ["barred", "in_between", "with_everything_allowed", "without_barred_changes"]


def barred(problem: Problem) -> bool:
    """Whether a problem forbids changes that a limit of no change does not stand for."""
    return bool(problem.forbid) or (bool(problem.freeze) and not problem.preserve_marginals)


def with_everything_allowed(problem: Problem) -> Problem:
    """The problem without forbidden changes and frozen values."""
    return replace(problem, forbid=(), freeze=())


def without_barred_changes(problem: Problem) -> Problem:
    """A stricter problem that forbids nothing by name: columns change within groups of values alone.

    Combinations that never leave do not occur in the table, so that no record has them.

    Parameters
    ----------
    problem : Problem
        A bound problem.

    Returns
    -------
    Problem
        With limits of no change between groups.

    Examples
    --------
    >>> from dalenius.testing import binary_tradeoff
    >>> asked = replace(binary_tradeoff("1/10", "1/20"), forbid=(("0", "1"),))
    >>> [(limit.of, str(limit.at_most)) for limit in without_barred_changes(asked).limits[-1:]]
    [(('X',), '0')]
    """
    limits = list(problem.limits)
    for name in problem.release:
        groups = _groups(problem.pmf.variables[name], problem)
        if len(groups) > 1:
            alike = tuple(tuple(group) for group in groups if len(group) > 1)
            limits.append(Distortion("hamming", (name,), Fraction(0), classes=alike))
    return replace(with_everything_allowed(problem), limits=tuple(limits))


def _groups(letters: Sequence[str], problem: Problem) -> list[list[str]]:
    """The values of a column in as few groups as come by themselves, none with a forbidden change inside."""
    pairs = {frozenset(pair) for pair in problem.transitions}
    groups: list[list[str]] = []
    for letter in letters:
        for group in groups:
            frozen = letter in problem.freeze or group[0] in problem.freeze
            if not frozen and not any(frozenset((letter, other)) in pairs for other in group):
                group.append(letter)
                break
        else:
            groups.append([letter])
    return groups


def in_between(stricter: Found, freer: Found) -> Found:
    """The release of a stricter problem with the bound of a freer one.

    Parameters
    ----------
    stricter, freer : Found
        Of the same table.

    Returns
    -------
    Found
    """
    remark = (
        "Values that must not become each other do not change in either direction here. The bound is that without "
        "anything forbidden, so that the least change lies between the two"
    )
    return replace(
        stricter,
        proof=freer.proof,
        others=freer.others,
        bound=freer.bound,
        remarks=(remark, *freer.remarks),
        method=f"{stricter.method}; nothing forbidden changes",
    )
