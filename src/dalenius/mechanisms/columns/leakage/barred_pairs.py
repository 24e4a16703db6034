r"""Two inputs under a contraction, of which one may not have what the other may: one linear limit.

For rows p and q the coefficient is at least b (1-b) sum_t (p - q)^2 / (b p + (1-b) q) for every b between 0 and 1.
Where p(t) = 0 the letter t adds b q(t), and all others add nothing as b goes to 1:

    sum of q(t) over the letters that p may not have <= limit,

which no finite slope of the other cuts says: theirs at these letters is -1 / (1 - b).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dalenius.core import Contraction, Problem
from dalenius.errors import Infeasible
from dalenius.solvers.leakage.program import Exact

if TYPE_CHECKING:
    from dalenius.mechanisms.columns.leakage.curved_promises import Cuts

__all__ = ["NEXT_TO_ONE", "BarredPair", "barred_pairs"]

NEXT_TO_ONE = 1 - Fraction(1, 1 << 40)
"""The b of the cut that proves such a limit: it loses this share of it."""


@dataclass(frozen=True, eq=False)
class BarredPair:
    """The input `second` has the letters that `first` may not have with probability `limit` at most.

    Attributes
    ----------
    promise : int
        Its place among the promises.
    first, second : int
        Rows of the program.
    letters : array of bool
        Those that the second may have and the first may not.
    limit : Fraction
        Of their probability.
    """

    promise: int
    first: int
    second: int
    letters: NDArray[np.bool_]
    limit: Fraction

    def cost(self, mass: Exact) -> Exact:
        """The limit as one of distortion: the cost of each row and letter, for each unit of mass.

        Parameters
        ----------
        mass : array of int
            Of the rows.

        Returns
        -------
        array of Fraction, (rows, letters)
        """
        cost = np.zeros((len(mass), len(self.letters)), dtype=object)
        cost[self.second, self.letters] = Fraction(int(sum(mass)), int(mass[self.second]))
        return cost

    def slopes(self) -> list[Fraction]:
        """For each letter the slope of the cut that says so, next to b = 1.

        Returns
        -------
        list of Fraction
        """
        return [-1 / (1 - NEXT_TO_ONE) if own else Fraction(0) for own in self.letters]


def barred_pairs(problem: Problem, cuts: "Cuts", allowed: NDArray[np.bool_], names: Sequence[str]) -> list[BarredPair]:
    """All such limits that do not follow from another one.

    Parameters
    ----------
    problem : Problem
        With its promises.
    cuts : Cuts
        What is known of them, and by how much their limits are tightened.
    allowed : array of bool (rows, letters)
        What each input that occurs may be released as.
    names : sequence of str
        Of the rows.

    Returns
    -------
    list of BarredPair

    Raises
    ------
    Infeasible
        If two inputs have no value in common, and the promised coefficient is below 1.
    """
    found = []
    for place, bent in cuts.bent.items():
        if not isinstance(problem.guarantees[place], Contraction) or bent.limit >= 1:
            continue
        limit = bent.tightened(cuts.less)
        for first, second in _largest(allowed):
            letters = allowed[second] & ~allowed[first]
            if letters.sum() == allowed[second].sum():
                one, other = sorted((first, second))
                raise Infeasible(
                    f"the inputs {names[one]} and {names[other]} have no value that both may be released as, so that "
                    f"the contraction coefficient is 1, not {float(bent.limit):g}",
                    do="Forbid or freeze less, or promise 1.",
                )
            found.append(BarredPair(place, first, second, letters, limit))
    return found


def _largest(allowed: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Pairs of rows whose barred letters are not among those of another pair of the same second row."""
    for second in range(len(allowed)):
        known: list[tuple[NDArray[np.bool_], int]] = []
        barred = [(allowed[second] & ~row, first) for first, row in enumerate(allowed)]
        for letters, first in sorted(barred, key=lambda one: -int(one[0].sum())):
            if letters.any() and not any((letters & ~other).sum() == 0 for other, _ in known):
                known.append((letters, first))
                yield first, second
