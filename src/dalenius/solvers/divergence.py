r"""Divergences of the rows of a channel in vectorised doubles, with an error bound that is proved.

For a channel p with rows p_x and any pmf q over its letters, in nats,

    I(w)  <=  max over priors of I  <=  max_x D(p_x || q),        I(w) = sum_x w_x D(p_x || w p).

What the doubles are allowed to do, with u = 2^-53 and the stored rows t(1 + d), |d| <= `relative`, for the true t:

    log      off by at most 4 units in the last place, hence by a factor within 1 +- 8u (numpy promises 4, has about 1);
    sums     k terms of one sign in any order, fused or not, are off by a factor within 1 +- 1.01 k u;
    so       h = sum t log t and c = -sum t log q, k terms of one sign each, are off by at most 1.01 (k + 10) u |h| and
             1.01 (k + 10) u c as sums of stored numbers, and their true values differ from those by at most
             1.01 d (|h| + 1) and 1.01 d c, because |(1 + d) log(1 + d)| <= 1.01 |d|.

Together D(t || q) = h + c is known to within  slack = 1.02 ((k + 12) u + d) (|h| + c) + 1.02 d.  Entries are zero or at
least 2^-1000, so that nothing underflows. A centre q need not sum to one: D(t || q / S) = D(t || q) + log S.
"""

from math import fsum, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError

__all__ = ["UNIT", "Laws", "cut_simplices", "halved_simplices", "times_log_ratio"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

UNIT = 2.0**-53
_SMALLEST = 2.0**-1000
_FLOOR = 1e-290  # a centre is never zero, so that every divergence is finite


class Laws:
    """Rows of a channel as doubles, each a relative error of at most `relative` away from what it stands for.

    Parameters
    ----------
    rows : array
        One law a row.
    relative : float
        The error of each entry, as a share of itself.

    >>> laws = Laws(np.array([[0.75, 0.25], [0.25, 0.75]]), 0.0)
    >>> centre, weights = np.array([0.5, 0.5]), np.array([1.0, 1.0])
    >>> low, high = laws.information(weights), laws.radius(centre)
    >>> round(low, 12), round(high, 12), 0 < high - low < 1e-14
    (0.130812035941, 0.130812035941, True)
    """

    def __init__(self, rows: Floats, relative: float = UNIT) -> None:
        if rows.ndim != 2 or not rows.size or not (np.isfinite(rows).all() and (rows >= 0).all()):
            raise InputError("rows are a matrix of finite numbers that are not negative")
        if ((rows > 0) & (rows < _SMALLEST)).any():
            raise InputError("an entry of a row is positive and below 2^-1000, too small for doubles")
        self.rows = np.ascontiguousarray(rows)
        self.relative = relative
        logs = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
        self.h: Floats = np.einsum("xy,xy->x", rows, logs)

    @classmethod
    def normalised(cls, rows: Floats) -> "Laws":
        """Rows read as exact binary numbers and divided by their exact sums.

        Parameters
        ----------
        rows : ndarray of float
            (rows, letters): not negative, with positive sums.

        Returns
        -------
        Laws
            With the error that the division leaves.
        """
        letters = rows.shape[1]
        return cls(rows / rows.sum(axis=1, keepdims=True), 1.01 * (letters + 2) * UNIT)

    def __len__(self) -> int:
        return len(self.rows)

    def divergence(self, centre: Floats, at: Places | None = None) -> Floats:
        """D(p_x || q) of the rows at some places, without its error.

        Parameters
        ----------
        centre : ndarray of float
            (letters,): q.
        at : Places, optional
            Some rows; all without them.

        Returns
        -------
        ndarray of float
            One for each row, in nats.
        """
        logs = np.log(np.clip(centre, _FLOOR, 1.0))
        return self.h - self.rows @ logs if at is None else self.h[at] - self.rows[at] @ logs

    def slack(self, divergences: Floats, negentropies: Floats) -> Floats:
        """The proved error of divergences d of rows with sum t log t = h; |h| + c = d + 2 |h|.

        Parameters
        ----------
        divergences : ndarray of float
            (rows,): d.
        negentropies : ndarray of float
            (rows,): h.

        Returns
        -------
        ndarray of float
            (rows,): what each may be off by.
        """
        letters = self.rows.shape[1]
        out: Floats = (
            1.02
            * ((letters + 12) * UNIT + self.relative)
            * (np.maximum(divergences, 0.0) + 2 * np.abs(negentropies) + 1e-14)
        )
        return out + 1.02 * self.relative

    def radius(self, centre: Floats, at: Places | None = None) -> float:
        """An upper bound of max_x D(p_x || q / sum q), hence of the capacity of the rows at these places.

        Parameters
        ----------
        centre : ndarray of float
            (letters,): q, of any positive sum.
        at : Places, optional
            Some rows; all without them.

        Returns
        -------
        float
            In nats, rounded up.
        """
        centre = np.clip(centre, _FLOOR, 1.0)
        divergences = self.divergence(centre, at)
        total = log(fsum(centre.tolist()))
        # Upwards: each divergence with its error, and the sum of the two logarithms with theirs.
        worst = float((divergences + self.slack(divergences, self.h if at is None else self.h[at])).max())
        return max(0.0, (worst + total) + 8 * UNIT * (1 + abs(worst) + abs(total)))

    def information(self, weights: Floats, at: Places | None = None) -> float:
        """A lower bound of I(w / sum w) over the rows at these places.

        w p is off by a factor within 1 +- 1.01 ((m + 4) u + d), which enters the logarithm of the centre.

        Parameters
        ----------
        weights : ndarray of float
            (rows,): w, not negative.
        at : Places, optional
            Some rows; all without them.

        Returns
        -------
        float
            In nats, rounded down.
        """
        rows = self.rows if at is None else self.rows[at]
        total = fsum(weights.tolist())
        many = len(weights)
        centre = (weights @ rows) / total
        divergences = self.divergence(centre, at)
        # Downwards: the mean, less what the sums, the divergences and the centre may be off by.
        value = float(weights @ divergences) / total
        error = (many + 12) * UNIT * float(np.abs(divergences).max()) + float(
            (weights @ self.slack(divergences, self.h if at is None else self.h[at])) / total
        )
        return max(0.0, value - 1.02 * (error + (many + 4) * UNIT + self.relative))


def times_log_ratio(masses: Floats, against: Floats) -> Floats:
    """u log(u / against) in nats, entry by entry, and 0 where u is 0; infinite where only `against` is 0.

    Parameters
    ----------
    masses, against : ndarray of float
        Not negative, of shapes that fit.

    Returns
    -------
    ndarray of float
        In nats.

    >>> times_log_ratio(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0])).round(6).tolist()
    [0.0, 0.0, 1.386294]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(masses > 0, masses * np.log(masses / against), 0.0))


def halved_simplices(simplices: Floats, one_end: Places, other_end: Places) -> Floats:
    """Every simplex cut in two at the middle of one of its edges; corners are rows, the halves stand one after another.

    Parameters
    ----------
    simplices : ndarray of float
        (simplices, corners, letters).
    one_end, other_end : Places
        (simplices,): the corners of the edge that is cut.

    Returns
    -------
    ndarray of float
        (2 simplices, corners, letters): all first halves, then all second ones.

    >>> halved_simplices(np.eye(2)[None], np.array([0]), np.array([1])).tolist()
    [[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.5, 0.5]]]
    """
    return np.concatenate(cut_simplices(simplices, one_end, other_end, np.full(len(simplices), 0.5)))


def cut_simplices(simplices: Floats, first: Places, second: Places, place: Floats) -> tuple[Floats, Floats]:
    """The two parts of each simplex: without its corner `first`, and without its corner `second`.

    They are cut at 1 - place times the one corner plus place times the other.

    Parameters
    ----------
    simplices : ndarray of float
        (simplices, corners, letters).
    first, second : Places
        (simplices,): the corners of the edge that is cut.
    place : ndarray of float
        (simplices,): between 0 and 1.

    Returns
    -------
    tuple[Floats, Floats]
        Both parts, of the shape of the simplices.
    """
    each = np.arange(len(simplices))
    point = (1 - place)[:, None] * simplices[each, first] + place[:, None] * simplices[each, second]
    one = simplices.copy()
    other = simplices.copy()
    one[each, first] = point
    other[each, second] = point
    return one, other
