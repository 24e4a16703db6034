r"""How much of what the input of a channel tells about anything passes through it: rho_m, S*, eta_KL, eta_TV.

For every S with S - X - Y, I(S; Y) <= S*(X; Y) I(S; X) under the prior of X, and I(S; Y) <= eta_KL I(S; X) under any
prior (004, Theorem 1 and (7)); in the reverse order I(S; Y) <= S*(X; S) I(X; Y). They stand in one chain,

    rho_m^2  <=  S*  <=  eta_KL  <=  eta_TV.

S* depends on the direction: S*(X; Y) perturbs the law of X. Inputs of equal rows are one input, inputs of probability
zero none: neither changes these numbers under a prior.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.conditional_law import Kernel
from dalenius.core.pmf import Pmf
from dalenius.measures.capacity import Bracket, aligned, distinct_rows
from dalenius.solvers.contraction import correlation, pairwise_contraction, total_variation
from dalenius.solvers.divergence import UNIT
from dalenius.solvers.ratio import at_most, best_ratio

__all__ = [
    "eta_kl",
    "eta_tv",
    "maximal_correlation",
    "s_star",
]

Floats: TypeAlias = NDArray[np.float64]

PAIRS = 1 << 29  # entries of all pairs of rows; beyond, eta_KL is bounded by eta_TV
COVERED = 6  # inputs up to which S* is bounded by a cover
WIDTHS = (0.2, 0.05, 5e-4)
CELLS = (1_500_000, 400_000, 400_000)  # of the covers that prove them: a coarse end for six inputs is worth seconds


def eta_tv(channel: Kernel) -> float:
    """The largest total variation between two rows, rounded up (Dobrushin's coefficient).

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).

    Returns
    -------
    float
        Between 0 and 1, rounded up.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> eta_tv(Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))))
    1.0
    """
    laws, _ = distinct_rows(channel)
    return total_variation(laws.rows)[0] if len(laws) > 1 else 0.0


def eta_kl(channel: Kernel) -> Bracket:
    """The largest factor by which the channel passes on information, over all priors and all S (004, (7)).

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).

    Returns
    -------
    (float, float)
        A proved bracket.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> flip = (Fraction(9, 10), Fraction(1, 10))
    >>> [round(end, 12) for end in eta_kl(Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, (flip, flip[::-1])))]
    [0.64, 0.64]
    """
    laws, _ = distinct_rows(channel)
    if len(laws) == 1:
        return 0.0, 0.0
    high, distance = total_variation(laws.rows)
    if len(laws) ** 2 * laws.rows.shape[1] > PAIRS:
        return 0.0, high
    low, top = pairwise_contraction(laws.rows, distance)
    return low, min(top, high)


def _merged(prior: Pmf, channel: Kernel, *, reverse: bool) -> tuple[Floats, Floats]:
    """p(x) and p(y | x) over the different rows that occur; in reverse, p(y) and p(x | y)."""
    joint: dict[int, int] = {}
    laws, which = distinct_rows(channel)
    same = aligned(prior, channel)
    for codes, weight in zip(same.support.tolist(), same.weights.tolist(), strict=True):
        row = int(which[channel.row_of(codes)])
        joint[row] = joint.get(row, 0) + weight
    at = sorted(joint)
    p = np.array([joint[row] / same.total for row in at])
    rows = laws.rows[at]
    if reverse:
        both = p[:, None] * rows
        both = both[:, both.any(axis=0)]
        out = both.sum(axis=0)
        return out, (both / out).T
    return p, rows


def maximal_correlation(prior: Pmf, channel: Kernel) -> Bracket:
    """rho_m(X; Y) = sup of the correlation of f(X) and g(Y) (004, (6)).

    Parameters
    ----------
    prior : Pmf
        The law of the inputs.
    channel : Kernel
        p(output | inputs).

    Returns
    -------
    (float, float)
        A proved bracket.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> flip, fair = (Fraction(9, 10), Fraction(1, 10)), Pmf.from_records({"X": ("0", "1")}, [("0", 1), ("1", 1)])
    >>> channel = Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, (flip, flip[::-1]))
    >>> [round(end, 12) for end in maximal_correlation(fair, channel)]
    [0.8, 0.8]
    """
    p, rows = _merged(prior, channel, reverse=False)
    return correlation(p, rows)[:2] if len(p) > 1 else (0.0, 0.0)


def s_star(prior: Pmf, channel: Kernel, *, reverse: bool = False) -> Bracket:
    """S*(X; Y) (004, Def. 4), or S*(Y; X) in reverse, where the law of Y is perturbed.

    The ends are half a thousandth apart up to four inputs and mostly for five, a fifth for six; beyond, the upper end
    is eta_KL.

    Parameters
    ----------
    prior : Pmf
        The law of the inputs.
    channel : Kernel
        p(output | inputs).
    reverse : bool
        Whether the law of Y is perturbed.

    Returns
    -------
    Bracket

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> flip, p = (Fraction(3, 4), Fraction(1, 4)), Pmf.from_records({"X": ("0", "1")}, [("0", 1), ("1", 2)])
    >>> low, high = s_star(p, Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, (flip, flip[::-1])))
    >>> round(low, 9), high / low < 1.001
    (0.242713414, True)
    """
    p, rows = _merged(prior, channel, reverse=reverse)
    # How far a row may be off: a posterior is a quotient of sums, a row of a channel a rounded rational.
    return _ratio_ends(p, rows, (len(rows) + rows.shape[1] + 8) * UNIT if reverse else UNIT)


def _ratio_ends(p: Floats, rows: Floats, error: float) -> Bracket:
    if len(p) == 1:
        return 0.0, 0.0
    low, rho, direction = correlation(p, rows)
    least = max(low**2 * (1 - 1e-15), best_ratio(p, rows, direction))
    tv, distance = total_variation(rows, error)
    most = min(tv, pairwise_contraction(rows, distance, error)[1]) if rows.size * len(rows) <= PAIRS else tv
    if len(p) <= COVERED:
        for width, cells in list(zip(WIDTHS, CELLS, strict=True))[0 if len(p) > 4 else -1 :]:
            bound = least + min(width * least, 0.09)  # a tenth apart at most, whatever S* is
            if bound < most:
                if not at_most(p, rows, bound, rho, cells=cells):
                    break
                most = bound
    return least, max(least, most)


# --- closed forms ----------------------------------------------------------------------------------------------------
