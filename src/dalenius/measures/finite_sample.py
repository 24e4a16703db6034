r"""What a release tells about a secret in the POPULATION that the rows of a table were drawn from, with confidence.

A design is exact for the table. If its N rows are independent draws from an unknown law P of (S, X), then for any
reference law Q, with i(s, y) = ln Q(s, y) / (Q(s) Q(y)) after the channel W and g(s, x) = sum_y W(y|x) i(s, y),

    I_P(S; Y)  =  E_P g + D(P_SY || Q_SY) - D(P_S || Q_S) - D(P_Y || Q_Y)  <=  E_P g + eta_KL(W) D(P_SX || Q_SX),

because D(P_SY || Q_SY) - D(P_S || Q_S) = sum_s P(s) D(P_Y|s || Q_Y|s), each of them contracted by the channel. What is
left is a sum over cells of convex functions of P(s, x), bounded in one of two ways, Q the counts plus one half:

box    every cell lies in its Clopper-Pearson interval of level beta / cells, all of them at once; the maximum over the
       box and the simplex is at most  nu + sum_k max over both ends of [f_k(p) - nu p],  for every nu. It holds for all
       channels at once, hence also for one that was designed on these very counts.
split  Q and g come from one half of the rows, and E_P g from the other by the empirical Bernstein inequality; the
       divergence from the box at beta / 2. Tighter from some thousand rows on, but only for a channel that does NOT
       depend on these rows (a public prior, or a design from elsewhere).

References: paper 004, section IV (7); Clopper & Pearson (1934); Maurer & Pontil (2009), Theorem 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log, nextafter, prod, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.conditional_law import Kernel, once_each
from dalenius.core.pmf import Pmf
from dalenius.errors import InputError, SolverFailed
from dalenius.measures.capacity import with_kept
from dalenius.measures.correlation import eta_kl

__all__ = ["CELLS", "Population", "cells_of", "intervals", "most_within", "population_leakage", "score"]

Floats: TypeAlias = NDArray[np.float64]

CELLS = 1 << 20
SPLIT_FROM = 5_000  # rows; said in advance, because a method chosen by its figure would not keep its confidence
_OUTWARD = 1e-9  # relative; the incomplete beta function of scipy is known to about 1e-12


@dataclass(frozen=True)
class Population:
    """With probability 1 - beta over the drawing of the rows, I(S; Y) in the population is at most `bits`.

    Parameters
    ----------
    bits : float
        The bound.
    beta : float
        The probability that the bound fails.
    rows : int
        That were drawn.
    method : str
        How it was found.
    """

    bits: float
    beta: float
    rows: int
    method: str


def intervals(counts: NDArray[np.int64], rows: int, beta: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson intervals of all cells that hold together with probability 1 - beta, widened outward.

    >>> low, high = intervals(np.array([0, 10]), 10, 0.05)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.6452], [0.3548, 1.0])
    """
    from dalenius.solvers.special import betainc, betaincinv  # opens scipy

    tail = beta / (2 * len(counts))
    c = counts.astype(float)
    n = float(rows)
    some = np.maximum(c, 1.0)
    rest = np.maximum(n - c, 1.0)
    low = np.where(c > 0, betaincinv(some, n - some + 1, tail) * (1 - _OUTWARD), 0.0)
    far = betaincinv(rest, c + 1, tail)  # 1 - upper end: the tail of the complement
    high = np.where(c < n, 1 - far * (1 - _OUTWARD), 1.0)
    held = (c == 0) | (betainc(some, n - some + 1, low) <= tail)
    held &= (c == n) | (betainc(rest, c + 1, 1 - high) <= tail)
    if not held.all():
        raise SolverFailed("an interval of a cell could not be confirmed")
    return low, np.minimum(1.0, high)


def most_within(linear: Floats, eta: float, reference: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """A bound of max sum_k p_k linear_k + eta p_k ln(p_k / reference_k) over low <= p <= high, sum p = 1; and its nu.

    The dual function of one number nu is convex and piecewise linear with a corner where the two ends of a cell tie; it
    is least where the ends chosen pass sum p = 1. Any nu gives a bound.
    """

    def at(p: Floats) -> Floats:
        return p * linear + eta * p * np.log(np.where(p > 0, p / reference, 1.0))

    bottom = at(low)
    top = at(high)
    width = high - low
    corners = np.divide(top - bottom, width, out=np.full(len(low), -inf), where=width > 0)
    order = np.argsort(-corners, kind="stable")
    mass = low.sum() + np.cumsum(width[order])
    nu = float(corners[order[min(int(np.searchsorted(mass, 1.0)), len(order) - 1)]])
    if nu == -inf:
        return float(top.sum()), 0.0
    parts = np.maximum(bottom - nu * low, top - nu * high)
    return nu + float(parts.sum()) + 8e-16 * len(low) * (abs(nu) + float(np.abs(parts).sum())), nu


def score(law: Floats, secret: NDArray[np.intp], where: NDArray[np.intp], rows: Floats) -> Floats:
    """g of each cell under a law with no zeros: sum_y W(y | x) ln Q(s, y) / (Q(s) Q(y))."""
    sx = np.zeros((int(secret.max()) + 1, len(rows)))
    np.add.at(sx, (secret, where), law)
    sy = sx @ rows
    product = np.outer(sy.sum(axis=1), sy.sum(axis=0))
    ratio = np.divide(sy, product, out=np.ones_like(sy), where=sy > 0)
    score: Floats = np.einsum("ky,ky->k", rows[where], np.log(ratio)[secret])
    return score


def population_leakage(
    joint: Pmf,
    rows: int,
    channel: Kernel,
    secret: Sequence[str],
    *,
    kept: Sequence[str] = (),
    beta: float = 0.05,
    designed_elsewhere: bool = False,
    split: bool | None = None,
) -> Population:
    """A bound of I(S; Y, kept) for the population, from the joint pmf of `rows` independent rows.

    `designed_elsewhere` says that the channel does not depend on these rows; only then may they be split, and are by
    default from 5,000 rows on.

    Parameters
    ----------
    joint : Pmf
        The joint law.
    rows : int
        That the law was counted from.
    channel : Kernel
        p(output | inputs).
    secret : names
        The secret S.
    kept : names
        Columns that leave as they are.
    beta : float
        The probability that the bound fails.
    designed_elsewhere : bool
        Whether the channel was designed without these rows.
    split : float, optional
        How the error is shared.

    Returns
    -------
    Population
        A bound with confidence.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> flip = Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, ((Fraction(3, 5), Fraction(2, 5)),) * 2)
    >>> law = Pmf.from_records({"S": ("a", "b"), "X": ("0", "1")}, [(("a", "0"), 60), (("b", "1"), 40)])
    >>> population_leakage(law, 100, flip, ["S"]).bits < 1e-12
    True
    """
    if not 0 < beta < 1:
        raise InputError(f"beta is {beta}; it is a probability strictly between 0 and 1")
    if rows % joint.total:
        raise InputError(
            f"the distribution has denominators of {joint.total:,}, so it was not counted from {rows:,} rows",
            do="Give the number of rows that were counted.",
        )
    if split and not designed_elsewhere:
        raise InputError(
            "the rows can be split only for a recipe that does not depend on them", do="Leave out the split."
        )
    split = designed_elsewhere and rows >= SPLIT_FROM if split is None else split
    law, s, x, rows_of, whole = cells_of(joint, channel, secret, kept)
    counts = np.rint(law * rows).astype(np.int64)
    passed = eta_kl(whole)[1]
    bits = _bound(counts, rows, s, x, rows_of, passed, beta, split=split)
    least = log(len(set(s.tolist())))
    bits = min(bits, passed * least) / log(2)  # whatever the rows say: eta_KL H(S)
    # Up by more than the few roundings of the bound: what is stated must hold with probability 1 - beta.
    return Population(nextafter(max(0.0, bits) * (1 + 1e-12), inf) if bits > 0 else 0.0, beta, rows, _NAMES[split])


def cells_of(
    joint: Pmf, channel: Kernel, secret: Sequence[str], kept: Sequence[str] = ()
) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp], Floats, Kernel]:
    """Every cell of secret and inputs: probability, secret, row; the rows, and the channel of all that leaves."""
    whole = with_kept(channel, {n: tuple(joint.variables[n]) for n in kept})
    names = list(dict.fromkeys([*secret, *whole.inputs]))
    sizes = [len(joint.variables[name]) for name in names]
    if prod(sizes) > CELLS:
        raise InputError(
            f"the secret and the inputs have {prod(sizes):,} cells, too many for a bound by cells",
            do="Group values, or look at fewer columns.",
        )
    marginal = joint.marginal(names)
    cells = np.indices(sizes).reshape(len(sizes), -1)
    law = np.zeros(sizes)
    law[tuple(marginal.support.T)] = [int(weight) / marginal.total for weight in marginal.weights.tolist()]
    rows = np.array(once_each(lambda row: once_each(float, row), whole.rows))
    secrets = _index(cells, names, sizes, secret)
    return law.reshape(-1), secrets, _index(cells, names, sizes, list(whole.inputs)), rows, whole


_NAMES = {False: "box", True: "split"}


def _index(cells: NDArray[np.intp], names: list[str], sizes: list[int], wanted: Sequence[str]) -> NDArray[np.intp]:
    out = np.zeros(cells.shape[1], dtype=np.intp)
    for name in wanted:
        at = names.index(name)
        out = out * sizes[at] + cells[at]
    return out


def _bound(
    counts: NDArray[np.int64],
    n: int,
    s: NDArray[np.intp],
    x: NDArray[np.intp],
    rows: Floats,
    eta: float,
    beta: float,
    *,
    split: bool,
) -> float:
    """The bound in nats, by the box or by the split."""
    k = len(counts)
    if not split:
        reference = np.asarray((counts + 0.5) / (n + 0.5 * k), dtype=np.float64)
        return most_within(score(reference, s, x, rows), eta, reference, *intervals(counts, n, beta))[0]
    # Which rows fall in which half is decided by a fixed stream: it cannot depend on what they hold.
    first = np.random.Generator(np.random.Philox(4)).multivariate_hypergeometric(counts, n // 2, method="marginals")
    reference = np.asarray((first + 0.5) / (n // 2 + 0.5 * k), dtype=np.float64)
    second = counts - first
    m = n - n // 2
    g = score(reference, s, x, rows)
    mean = float(second @ g) / m
    variance = float(second @ (g - mean) ** 2) / (m - 1)
    confidence = log(4 / beta)
    spread = float(g.max() - g.min())
    linear = mean + sqrt(2 * variance * confidence / m) + 7 * spread * confidence / (3 * (m - 1))
    return linear + most_within(np.zeros(k), eta, reference, *intervals(counts, n, beta / 2))[0]
