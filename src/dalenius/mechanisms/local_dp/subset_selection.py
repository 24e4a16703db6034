r"""Subset selection: k of the S letters are released, r times as likely if the own is one of them; no law enters.

    p(A | x) = r w if x is in A, and w if not,   |A| = k,   w = 1 / (r C(S-1, k-1) + C(S-1, k)),

with k the size at which it tells the most about a letter when all are alike, S g(k/S) / (k r + S - k), where it is the
best of all channels. Unlike most optima it keeps every frequency estimable (1 <= k < S).

References: Ye & Barg (2018); Kairouz, Oh & Viswanath (2016); errata of paper 002, E15.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import comb

from dalenius.core import Design, Problem, Staircase
from dalenius.core.arithmetic import exp
from dalenius.errors import Unsupported
from dalenius.mechanisms.local_dp import staircase
from dalenius.mechanisms.local_dp.takes import SUBSET_SELECTION, level_promise
from dalenius.mechanisms.proving import proved

__all__ = ["best_size", "subset_selection"]

MOST = 20_000  # released letters, the subsets, that are written down


def best_size(letters: int, ratio: float) -> int:
    """The k at which subset selection tells the most about one of so many letters, all alike.

    >>> [best_size(10, 2.718281828**alpha) for alpha in (0.5, 1.0, 1.5, 2.0)]
    [4, 3, 3, 2]
    """
    sizes = range(1, max(letters, 2))
    return max(sizes, key=lambda k: staircase.told_by(k / letters, ratio) / (1 + (ratio - 1) * k / letters))


def subset_selection(
    problem: Problem,
    *,
    gap: float = staircase.RELATIVE,
    seconds: float = 120.0,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """The channel above; the bound is that of all channels at this level for the law of the problem.

    >>> from fractions import Fraction
    >>> from dalenius.core import LocalDP, MaximizeInformation, Pmf
    >>> joint = Pmf.from_records({"X": tuple("abcd")}, [((x,), 1) for x in "abcd"])
    >>> goal, promise = MaximizeInformation(("X",)), LocalDP(Fraction(1))
    >>> asked = Problem(("X",), goal, (promise,), output="Y", form="subset-selection", joint=joint)
    >>> design = subset_selection(asked)
    >>> design.channel.shape, design.gap < Fraction(1, 10**6)
    ((4, 4), True)
    """
    SUBSET_SELECTION.refuse(problem)
    promise = level_promise(problem)
    best = staircase.in_form(replace(problem, form=None), gap=gap, seconds=seconds, on_progress=on_progress)
    alphabets, ratio = best.channel.inputs, exp(promise.epsilon)[0]
    letters = best.channel.shape[0]
    k = best_size(letters, float(ratio))
    if (many := comb(letters, k)) > MOST:
        raise Unsupported(
            f"subset selection of {k} of {letters} values releases one of {many:,} subsets, more than {MOST:,}; "
            'form = "randomised-response" releases one of the values'
        )
    weight = 1 / (ratio * comb(letters - 1, k - 1) + comb(letters - 1, k))
    columns = tuple((weight, members) for members in combinations(range(letters), k))
    output = {problem.output or "Y": tuple(map(str, range(many)))}
    channel = Staircase(alphabets, output, ratio, tuple(range(letters)), columns)
    law = problem.pmf.marginal(list(problem.observe))
    method = f"subsets of {k} of {letters} values, whatever their frequencies"
    return proved(replace(problem, joint=law), channel, [best.certificate], method=method)
