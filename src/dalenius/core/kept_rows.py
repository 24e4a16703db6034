"""`[[limit]] keep_rows`: every value of every released column keeps a share of its rows, as limits of a distortion.

Let v be a value of column j with probability p(v). "The released column has v at least `share` times as often" is

    P(Y_j != v) <= 1 - share p(v),

the expected distortion "lost", which is 0 where the released letter has v and 1 elsewhere, whatever the record is. It
is linear, with one multiplier for each value; so search, repair and proof take it as any limit of a distortion.
"""

from dataclasses import replace

from dalenius.core.objective import Distortion
from dalenius.core.problem import Problem

__all__ = ["with_kept_rows"]


def with_kept_rows(problem: Problem) -> Problem:
    """The problem with a limit for each value of each released column in the place of `keep_rows`.

    Parameters
    ----------
    problem
        A bound problem: the shares are those of its law.

    Returns
    -------
    Problem
        The same where nothing is said about kept rows.

    Raises
    ------
    ProblemFileError
        Nothing is released under its own values.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dalenius.testing import binary_tradeoff
    >>> asked = replace(binary_tradeoff("1/10", "1/20"), keep_rows=Fraction(3, 4))
    >>> [limit.keeps for limit in with_kept_rows(asked).limits[1:]]
    [('0', Fraction(3, 4)), ('1', Fraction(3, 4))]
    """
    share = problem.keep_rows
    if share is None:
        return problem
    if not problem.release:
        raise problem.error(("limit",), "keep_rows needs release = [...]: rows keep values that are released")
    variables = problem.pmf.variables
    limits = list(problem.limits)
    for name in problem.release:
        alone = problem.pmf.marginal([name])
        for value in variables[name]:
            if not (probability := alone.probability(**{name: value})):
                continue  # a value that nobody has has no rows to keep
            most = 1 - share * probability
            limits.append(Distortion("lost", (name,), most, classes=((value,),), keeps=(value, share)))
    return replace(problem, limits=tuple(limits), keep_rows=None)
