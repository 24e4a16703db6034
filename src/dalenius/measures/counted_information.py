"""The information that counts show, corrected for its bias: from pairs, or from released letters alone."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError
from dalenius.measures.inversion import Factor, Seen, along, surprise
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import Laws

__all__ = ["entropy_miller_madow", "information_from_counts", "information_kept"]

SMALL = 256  # values of a matrix whose capacity is looked for


def entropy_miller_madow(counts: npt.ArrayLike) -> float:
    """Entropy in bits from counts, with the first-order correction (letters seen - 1) / (2 n) of its bias.

    Parameters
    ----------
    counts : array
        How often each occurs.

    Returns
    -------
    float
        In bits.

    Raises
    ------
    InputError
        If nothing was counted.

    >>> round(entropy_miller_madow([50, 50]), 4)
    1.0072
    """
    table = np.asarray(counts, dtype=float).ravel()
    if (total := float(table.sum())) <= 0:
        raise InputError("there is nothing to count")
    return float(surprise(table / total).sum()) + float((np.count_nonzero(table) - 1) / (2 * total * np.log(2)))


def information_from_counts(counts: npt.ArrayLike, *, corrected: bool = True) -> float:
    """I(X; Z) = H(X) + H(Z) - H(X, Z) in bits from a table of paired counts (002, Fig. 6).

    The plug-in value is too large by about (|X| - 1)(|Z| - 1) / (2 n ln 2); `corrected` takes the Miller-Madow
    correction of the three entropies.

    Parameters
    ----------
    counts : array, two axes
        Of pairs.
    corrected : bool
        For the bias of few rows.

    Returns
    -------
    float
        In bits.

    Raises
    ------
    InputError
        If the counts are no table.

    >>> round(information_from_counts([[25, 25], [25, 25]], corrected=False), 6)
    0.0
    """
    table = np.asarray(counts, dtype=float)
    if table.ndim != 2:
        raise InputError("paired counts have two axes")
    parts = (table.sum(axis=1), table.sum(axis=0), table)
    if corrected:
        first, second, both = (entropy_miller_madow(part) for part in parts)
    else:
        first, second, both = (float(surprise(part / table.sum()).sum()) for part in parts)
    return first + second - both


def information_kept(factors: Sequence[Factor], seen: Seen, beside: Sequence[str] = ()) -> tuple[float, float]:
    """I(X; Z) in bits between original and released letters from the released ones alone, and its standard error.

    H(Z) is estimated with the correction of its bias, H(Z|X) = sum_x p(x) H(M_x) without bias; the standard error is
    that of the linearisation and covers the draw of the table from its population as well. Columns K that leave as they
    are, `beside` the drawn ones, tell themselves; H(K) is taken off, which leaves I(X; Z | K). The correction may lead
    beyond what the matrices let through whatever the records are; the estimate ends there.

    Parameters
    ----------
    factors : sequence of Factor
        One matrix for each axis.
    seen : Seen
        The released counts.
    beside : names
        Kept columns.

    Returns
    -------
    tuple[float, float]
        Both in bits.
    """
    rows = np.zeros([factor.letters for factor in factors])
    for axis, factor in enumerate(factors):
        shape = [1] * len(factors)
        shape[axis] = factor.letters
        rows = rows + factor.row_entropies().reshape(shape)
    shares = seen.sums / seen.sums.sum()
    counterpart = along(rows, factors, "transposed")
    kept = _margin(shares, factors, beside)
    correction = (np.count_nonzero(shares) - np.count_nonzero(kept.ravel())) / (2 * seen.rows * np.log(2))
    value = (
        float(surprise(shares).sum()) - float(surprise(kept).sum()) + correction - float((shares * counterpart).sum())
    )
    told = np.broadcast_to(kept, [len(letters) for factor in factors for letters in factor.output.values()]).reshape(
        shares.shape
    )
    influence = np.log2(np.where(shares > 0, told / np.where(shares > 0, shares, 1.0), 1.0)) - counterpart
    spread = float((shares * influence**2).sum() - (shares * influence).sum() ** 2)
    noise = float((seen.squares / seen.sums.sum() ** 2).sum())
    return min(value, _passed_at_most(factors, beside)), float(np.sqrt(max(spread, 0.0) * noise))


def _passed_at_most(factors: Sequence[Factor], beside: Sequence[str]) -> float:
    """The capacity in bits of all matrices that draw something, where each is small."""
    total = 0.0
    for factor in factors:
        if set(factor.output) <= set(beside):
            continue
        if max(factor.letters, factor.seen) > SMALL:
            return np.inf
        rows = factor.forward(np.eye(factor.letters))
        total += smallest_ball(Laws(np.unique(rows, axis=0), 1e-12)).high / np.log(2)
    return total


def _margin(
    shares: npt.NDArray[np.float64], factors: Sequence[Factor], names: Sequence[str]
) -> npt.NDArray[np.float64]:
    """The law of some released columns, one axis for each released column; the others are summed out."""
    outputs = [(name, len(letters)) for factor in factors for name, letters in factor.output.items()]
    axes = tuple(axis for axis, (name, _) in enumerate(outputs) if name not in names)
    return np.asarray(shares.reshape([size for _, size in outputs]).sum(axis=axes, keepdims=True))
