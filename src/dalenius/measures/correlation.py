r"""How much of what the input of a channel tells about anything passes through it: rho_m, S*, eta_KL, eta_TV.

For every S with S - X - Y, I(S; Y) <= S*(X; Y) I(S; X) under the prior of X, and I(S; Y) <= eta_KL I(S; X) under any
prior (004, Theorem 1 and (7)); in the reverse order I(S; Y) <= S*(X; S) I(X; Y). They stand in one chain,

    rho_m^2  <=  S*  <=  eta_KL  <=  eta_TV.

S* depends on the direction: S*(X; Y) perturbs the law of X. Inputs of equal rows are one input, inputs of probability
zero none: neither changes these numbers under a prior.
"""

from collections.abc import Sequence
from math import inf, log, nextafter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.kernel import Kernel
from dalenius.core.pmf import Pmf
from dalenius.errors import InputError
from dalenius.measures.capacity import Bracket, aligned, distinct_rows
from dalenius.measures.shannon import mutual_information
from dalenius.solvers.contraction import correlation, pairwise_contraction, total_variation
from dalenius.solvers.divergence import UNIT
from dalenius.solvers.ratio import at_most, best_ratio

__all__ = [
    "eta_kl",
    "eta_tv",
    "maximal_correlation",
    "reverse_bound",
    "s_star",
    "s_star_erased",
    "s_star_flipped",
    "s_star_one_sided",
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
    p, rows = np.array([joint[row] / same.total for row in at]), laws.rows[at]
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


def reverse_bound(joint: Pmf, channel: Kernel, secret: Sequence[str]) -> float:
    """S*(X; S) I(X; Y) in bits, at least I(S; Y): what the inputs tell about the secret, times what Y tells of them.

    It needs only the rate of the release, not its channel: at least I(S; Y) for every channel of that rate (004, IV-A).

    Parameters
    ----------
    joint : Pmf
        The joint law.
    channel : Kernel
        p(output | inputs).
    secret : names
        The secret S.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> bit, flip = ("0", "1"), (Fraction(9, 10), Fraction(1, 10))
    >>> law = Pmf.from_records({"S": bit, "X": bit}, [((s, x), 3 if s == x else 1) for s in bit for x in bit])
    >>> channel = Channel({"X": bit}, {"Y": bit}, (flip, flip[::-1]))
    >>> bound = reverse_bound(law, channel, ["S"])
    >>> mutual_information(channel.after(law), ["S"], ["Y"]) <= bound, round(bound, 3)  # 0.25 times I(X; Y)
    (True, 0.133)
    """
    inputs = list(channel.inputs)
    p = joint.marginal(inputs)
    counts = joint.counts(inputs, list(secret))  # one row for each input that occurs
    rows = counts / counts.sum(axis=1, keepdims=True)
    shares = np.asarray(counts.sum(axis=1) / joint.total, dtype=np.float64)
    passed = _ratio_ends(shares, np.asarray(rows, dtype=np.float64), UNIT)[1]
    told = mutual_information(channel.after(p), inputs, list(channel.output))
    return nextafter(passed * told * (1 + 1e-12), inf)


# --- closed forms ----------------------------------------------------------------------------------------------------
def s_star_flipped(p: float, flip: float) -> float:
    """S*(X; Y) of a bit with P(X = 1) = p that is flipped with this probability; (1 - 2 flip)^2 for a fair one.

    (1 - 2d) ln((1 - q) / q) / ln((1 - p) / p) with q = P(Y = 1).

    >>> round(s_star_flipped(0.2, 0.1), 12), round(s_star_flipped(0.5, 0.1), 12)
    (0.603605458995, 0.64)
    """
    _probabilities(p, flip)
    if abs(p - 0.5) < 1e-9 or flip == 0.5:
        return (1 - 2 * flip) ** 2
    q = p * (1 - flip) + (1 - p) * flip
    return (1 - 2 * flip) * log((1 - q) / q) / log((1 - p) / p)


def s_star_erased(erased: float) -> float:
    """S*(X; Y) = rho_m^2 = eta_KL of letters that are erased with this probability, whatever their law.

    >>> s_star_erased(0.25)
    0.75
    """
    _probabilities(0.5, erased)
    return 1 - erased


def s_star_one_sided(p0: float, z: float) -> float:
    """S*(X; Y) of a bit whose 1 becomes 0 with probability z and whose 0 stays; p0 = P(X = 0).

    ln P(Y = 0) / ln P(X = 0), reached at the certain 0; its supremum over p0, 1 - z, is not reached (errata E7).

    >>> round(s_star_one_sided(0.5, 0.3), 12), round(s_star_one_sided(1 - 1e-9, 0.3), 6)
    (0.621488376746, 0.7)
    """
    _probabilities(p0, z)
    return log(p0 + (1 - p0) * z) / log(p0)


def _probabilities(p: float, share: float) -> None:
    if not 0 < p < 1 or not 0 <= share <= 1:
        raise InputError(f"{p:g} and {share:g} are not a probability between 0 and 1 and a share of letters")
