r"""The most informative letters under linear promises, between a channel and a max-affine bound.

Atoms x have weights p(x) > 0, W(x) is a pmf over k outcomes, and E M = 0. Letters are c_j(x) >= 0 with sum_j c_j = 1
and E[c_j M] = 0; letter j has mass theta_j = E c_j and posterior u_j = E[c_j W] / theta_j. Sought is
the largest sum_j theta_j D(u_j || E W).

Every feasible c is a lower end. For the upper end cover the simplex by cells, and give cell j a piece a_j with
a_j . u >= D(u || E W) on the cell and any multipliers lambda_j: for every choice of them

    optimum <= E max_j [ a_j . W(X) + lambda_j . M(X) ].

Proof: with z(x) = max_j [...], a letter c whose posterior u lies in cell j has E[c z] >= E[c (a_j . W + lambda_j . M)]
= theta a_j . u >= theta D(u || E W); sum over the letters.
Nothing about c or lambda needs to be optimal for either end to hold, so a float search can propose both.

Further promises: E[c Q] >= 0 adds nu_j . Q with nu_j >= 0 to line j, and c(x) <= f c(x') adds mu_j (f 1_x' - 1_x).
Under local DP, c <= r min c, z need not be the maximum: a letter has E[c z] + tau min c >= E[c l_j] with l_j its line
and tau = E[r (l_j - z)_+ - (l_j - z)_-], and min c <= theta.
"""

from time import monotonic

import numpy as np
from numpy.typing import ArrayLike

from dalenius.errors import InputError
from dalenius.solvers.affine_search import Cone, MaxAffine, Progress
from dalenius.solvers.chord_search import Chords
from dalenius.solvers.interior import Floats
from dalenius.solvers.letter_programs import Near
from dalenius.solvers.tangent_search import Tangents
from dalenius.solvers.threads import one_thread

__all__ = ["MaxAffine", "max_affine"]


def max_affine(
    p: ArrayLike,
    W: ArrayLike,
    M: ArrayLike,
    *,
    Q: ArrayLike | None = None,
    ratio: float | None = None,
    near: Near | None = None,
    gap: float,
    seconds: float = np.inf,
    on_progress: Progress | None = None,
) -> MaxAffine:
    r"""Search until bound - value <= gap, or until the time is over; then with the gap that was reached.

    p (N,), W (N, k) with rows that sum to one, M (N, r) of full column rank with E M = 0, best orthonormal under p.
    Q (N, q) has E Q > 0; ``ratio`` > 1 is that of local DP; ``near`` are pairs (x, x') with the factor of each, which
    stand in for a ratio, and only with them atoms of weight zero may be given.
    k = 2: pieces are chords of D between sorted posteriors, and the intervals that carry most of the error are split at
    their letter's posterior; the linear program over all chords gives c and lambda at once. k >= 3: pieces of the
    program are tangents at posteriors, and the tree of ``cells`` finds where z is still below D and proves the bound;
    many outcomes: the tree of ``ranges``, and, if the gap stays open, some time for better letters alone.
    ``on_progress(value, bound)`` is called after each round.

    Parameters
    ----------
    p : array_like
        (N,): weights of the atoms, positive, with sum one.
    W : array_like
        (N, k): a pmf over the outcomes for each atom.
    M : array_like
        (N, r): moments that every letter keeps at zero, with E M = 0.
    Q : array_like, optional
        (N, q): what must not be negative in the mean of any letter.
    ratio : float, optional
        How much likelier a letter may be at one atom than at another, under local DP.
    near : mapping, optional
        The same for single pairs of atoms, each with its factor.
    gap : float
        In bits.
    seconds : float
        The time allowed.
    on_progress : callable, optional
        Told value and bound.

    Returns
    -------
    MaxAffine

    Raises
    ------
    InputError
        If arrays do not fit together, or are no pmfs and moments.
    SolverFailed
        If the search gave no finite bound.

    >>> best = max_affine([0.25] * 4, [[1, 0], [0, 1], [0, 1], [1, 0]], [[1, 1], [1, -1], [-1, 1], [-1, -1]], gap=1e-6)
    >>> abs(best.value - 1) < 1e-6, best.value <= best.bound
    (True, True)
    """
    weights, given, moments = _checked(p, W, M, zeros=bool(near))
    if not gap > 0:
        raise InputError(f"the gap must be positive, not {gap}")
    if ratio is not None and (near or not ratio > 1):
        raise InputError("a ratio is more than one, and pairs stand in for it")
    priced = np.zeros((len(weights), 0)) if Q is None else np.ascontiguousarray(Q, dtype=np.float64)
    cone = Cone(moments, priced, ratio, near or {})
    way = Chords if given.shape[1] == 2 else Tangents
    with one_thread():
        return way(weights, given, cone, gap, monotonic() + seconds, on_progress).run()


def _checked(p: ArrayLike, W: ArrayLike, M: ArrayLike, *, zeros: bool) -> tuple[Floats, Floats, Floats]:
    weights, given, moments = (np.ascontiguousarray(value, dtype=np.float64) for value in (p, W, M))
    if weights.ndim != 1 or given.ndim != 2 or moments.ndim != 2 or not len(weights) == len(given) == len(moments):
        raise InputError(f"weights {weights.shape}, W {given.shape} and M {moments.shape} do not fit together")
    if not all(np.isfinite(value).all() for value in (weights, given, moments)):
        raise InputError("weights, W and M must be finite")
    if not len(weights) or weights.min() < 0 or (not zeros and weights.min() <= 0) or abs(weights.sum() - 1) > 1e-9:
        raise InputError("weights must be positive and sum to one; leave out atoms of weight zero")
    if given.min() < 0 or np.abs(given.sum(axis=1) - 1).max() > 1e-9:
        raise InputError("each row of W must be a distribution")
    if given.shape[1] < 2 or given.max(axis=0).min() <= 0:
        raise InputError("W needs at least two outcomes, each of positive probability")
    scale = np.sqrt(weights @ moments**2)
    if moments.shape[1] and (scale.min() <= 0 or np.abs(weights @ moments / scale).max() > 1e-9):
        raise InputError("each column of M must have mean zero and must not vanish")
    if moments.shape[1] and np.linalg.cond(moments * np.sqrt(weights)[:, None] / scale) > 1e9:
        raise InputError("the columns of M are dependent, or nearly so; pass a basis")
    return weights, given, moments
