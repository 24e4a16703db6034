r"""The truth behind released letters: unbiased, most likely and regularised estimates, with their covariance.

Row x of M is the law of what is released for x; the letters that leave have the law m = p M. Any A with A M' = I gives
the unbiased estimate A f from the released frequencies f. With weights w_i (one for each row, or all one), W = sum w_i
and the sums of squares v_y = sum of w_i^2 over the rows released as y,

    table        Cov = (A diag(v) A' - diag(A v)) / W^2,                       unbiased for the given table,
    population   Cov = n/(n-1) (A diag(v) A' - (Av) p' - p (Av)' + (sum v) p p') / W^2.

The first is the randomisation alone: given x the estimate of its indicator has covariance A diag(M_x) A' - e_x e_x'.
Without weights the second is (1/(n-1)) A (diag f - f f') A', the classical M^-T (diag m - m m') M^-1 / n (002, 4.1);
the two differ by (diag p - p p') / n, what drawing the table from the population adds.

Where much of a variance comes from released letters that are expected a few times only, the normal limit is far away
and the variance itself is guessed from a handful of rows. Such an interval is replaced by an exact one, which is wider
(`exact_intervals`); for the population behind weighted rows it holds if weights have nothing to do with values, and is
marked as narrow.

What the released law does not determine, or only to within half of all rows, is undetermined: there the interval holds
every share that the released letters do not rule out, and the estimate is one of them, the most likely law that the
interior point ends at. Where a matrix is singular or nearly so, all estimates are those of the most likely law: the
inverse of a nearly singular matrix multiplies noise, and the constraint p >= 0 takes most of it back.

Several released columns that were perturbed on their own have the Kronecker product of their matrices, and everything
here is done axis by axis: A as well as its squared entries, which give the variances, are Kronecker products too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError, Unsupported
from dalenius.measures.exact_intervals import boundable, bounded_half, exact_intervals
from dalenius.measures.inversion import SINGULAR, Factor, Seen, along
from dalenius.measures.moments import TARGETS, Moments, few_rows
from dalenius.measures.outcomes import Cells
from dalenius.solvers.likelihood import Fit, maximum_likelihood, projection

__all__ = [
    "METHODS",
    "TARGETS",
    "Estimate",
    "estimate_law",
    "identified_words",
    "multiplied",
    "quantile",
    "replaceable",
    "thin_letters",
]

Array = npt.NDArray[Any]

METHODS = ("auto", "inverse", "mle", "regularised")
CELLS = 1 << 22
COVARIANCE = 512  # cells; beyond, the variances only
LIKELIHOOD = 1024  # cells of a matrix without a compact form
FEW, SHARE = 10, 0.1  # a letter expected fewer times is thin; a variance with more than this share from thin ones, too
WIDE = 0.5  # a share that is known only to within this many rows of one is not known
SOME = 0.02  # an interval that is no narrower than everything by so much says nothing
ILL = 100.0  # the condition from which on the likelihood takes the place of the inverse
WIDER = 1.03  # for a variance that is itself estimated from what was released
EXACT = 256  # cells; beyond, intervals that rest on thin letters are marked, not replaced


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated probabilities of the outcomes of the named columns (last fastest), with intervals.

    Where the released law does not determine the probability `identified` is false: the interval holds every value that
    it does not rule out, and the estimate is one of them; NaN where there are no such intervals (weights, many cells),
    and for the estimates of the inverse. `exact` marks the intervals that do not rely on the normal limit, `narrow`
    those that do although they should not.

    Parameters
    ----------
    columns : names
        Of the outcomes.
    estimate : array
        The shares.
    low : array
        Lower ends.
    high : array
        Upper ends.
    variance : array
        Of each share.
    covariance : array or None
        Of all shares.
    identified : array of bool
        Which shares the release determines.
    level : float
        Of the intervals.
    method : str
        Which estimator it was.
    target : str
        "table" or "population".
    rows : int
        Released.
    exact : array of bool
        Intervals that do not rely on the normal limit.
    narrow : array of bool
        Those that rest on few rows and may be too narrow: by weights that were drawn, or with too many combinations.
    gap : float, optional
        Of the likelihood.
    shrinkage : float, optional
        How far the shares were drawn together.
    """

    columns: Mapping[str, tuple[str, ...]]
    estimate: Array
    low: Array
    high: Array
    variance: Array
    covariance: Array | None
    identified: Array
    level: float
    method: str
    target: str
    rows: int
    exact: Array
    narrow: Array
    gap: float | None = None
    shrinkage: float | None = None

    def outcomes(self) -> list[tuple[str, ...]]:
        """The outcomes in the order of the numbers."""
        sizes = [len(column) for column in self.columns.values()]
        codes = np.stack(np.unravel_index(np.arange(prod(sizes)), sizes), axis=1)
        letters = list(self.columns.values())
        return [tuple(letters[j][entry] for j, entry in enumerate(row)) for row in codes.tolist()]

    def to_json(self) -> dict[str, Any]:
        """Lists in the order of `outcomes`; null where nothing is identified."""

        def numbers(values: Array) -> list[float | None]:
            return [None if np.isnan(value) else float(value) for value in values]

        return {
            "columns": list(self.columns),
            "outcomes": [list(x) for x in self.outcomes()],
            "estimate": numbers(self.estimate),
            "low": numbers(self.low),
            "high": numbers(self.high),
            "level": self.level,
            "standard_error": numbers(np.sqrt(self.variance)),
            "covariance": None if self.covariance is None else [numbers(row) for row in self.covariance],
            "method": self.method,
            "target": self.target,
            "rows": self.rows,
            "identified": [bool(v) for v in self.identified],
            "exact": [bool(v) for v in self.exact],
            "narrow": [bool(v) for v in self.narrow],
            "log_likelihood_gap": self.gap,
            "shrinkage": self.shrinkage,
        }


def _outer(vectors: Sequence[Array]) -> Array:
    out = np.ones(())
    for vector in vectors:
        out = np.multiply.outer(out, vector)
    return out


def quantile(level: float) -> float:
    """The normal quantile of a two-sided interval.

    >>> round(quantile(0.95), 6)
    1.959964
    """
    from statistics import NormalDist

    if not 0 < level < 1:
        raise InputError(f"the level {level} is not between 0 and 1")
    return NormalDist().inv_cdf((1 + level) / 2)


def estimate_law(
    factors: Sequence[Factor],
    seen: Seen,
    *,
    columns: Sequence[str] | None = None,
    method: str = "auto",
    target: str = "table",
    level: float = 0.95,
    preserved: str = "",
) -> Estimate:
    """Estimate the law of the wanted columns from counts with one axis for each factor.

    Intervals are those of the unbiased estimate, at every method. For `mle` and `regularised`, which lie in the
    simplex, they are cut to [0, 1] and stretched to hold the estimate, so that they cover at least as often. `auto` is
    the inverse, or `mle` where a matrix is singular or nearly so; with `preserved`, when the channel was made to leave
    the law of this very table as it is, the released shares themselves, which nothing else comes near.

    Parameters
    ----------
    factors : sequence of Factor
        One matrix for each axis.
    seen : Seen
        The released counts.
    columns : names, optional
        The wanted columns; all unless said.
    method : str
        "auto", or the name of an estimator.
    target : {"table", "population"}
        Whose shares.
    level : float
        Of the intervals.
    preserved : str
        Why the channel leaves the law of this table as it is; empty where it does not.

    Returns
    -------
    Estimate
        With intervals.

    >>> M = np.array([[0.8, 0.2], [0.3, 0.7]])
    >>> fit = estimate_law([Factor({"X": ("a", "b")}, {"X": ("a", "b")}, dense=M)], Seen.of([60, 40]))
    >>> fit.estimate.round(3).tolist(), np.sqrt(fit.variance).round(4).tolist()
    ([0.6, 0.4], [0.0849, 0.0849])
    """
    if method not in METHODS:
        raise InputError(f"there is no method {method!r}; there are {', '.join(METHODS)}")
    if target not in TARGETS:
        raise InputError(f"there is no target {target!r}; there are {', '.join(TARGETS)}")
    z = quantile(level)
    cells = Cells(factors, columns)
    _drawn_by(factors, seen)
    if preserved == "withheld" and method != "auto":
        raise InputError(
            "the card does not show its recipe: the released shares are the only estimate (method auto)",
            do="Leave out --method.",
        )
    if preserved and method == "auto":
        told = Moments(factors, seen, columns, target=target, preserved=preserved)
        if told.preserved:
            return _as_released(told, level)
    if method == "mle" and not _has_likelihood(factors):
        raise Unsupported(
            f"the likelihood of {prod(factor.letters for factor in factors):,} cells is not maximised "
            f"(at most {LIKELIHOOD:,}); take the inverse or the regularised estimate, or fewer columns"
        )
    known = _identified(factors, cells)
    value, variance, covariance = _unbiased(factors, cells, seen, target)
    half = z * np.sqrt(variance)
    if method != "inverse" and _condition(factors) > ILL:
        known &= half < WIDE  # an inverse that multiplies the noise beyond that determines nothing
    low = value - half
    high = value + half
    narrow = known & _thin(factors, cells, seen, target)
    bounded = (narrow | ~known) & replaceable(factors, seen)
    exact = bounded.copy()
    if bounded.any():
        queries = list(cells.indicators()[bounded])
        counts = seen.sums.ravel()
        low[bounded], high[bounded] = exact_intervals(multiplied(factors), counts, queries, level=level, target=target)
    elif narrow.any() and cells.many * seen.sums.size <= CELLS:
        exact |= narrow & boundable(seen, target)
        half = bounded_half(_map_of(factors, cells), seen, level=level)
        low = np.where(narrow, np.maximum(value - half, 0.0), low)
        high = np.where(narrow, np.minimum(value + half, 1.0), high)
    _refuse_nothing_known(factors, method, known, bounded & (high - low < 1 - SOME))
    if method == "auto":
        method = _method(factors, known)
    gap = shrinkage = None
    if method == "mle":
        fit = _most_likely(factors, seen)
        value, gap = cells.summed(fit.p), fit.gap
    elif method == "regularised":
        value, shrinkage = _shrunk(value, variance)
    if method != "inverse":
        low = np.clip(low, 0.0, 1.0)
        high = np.clip(high, 0.0, 1.0)
    # An interval holds its estimate, also one that is impossible; of the inverse that says something of known shares.
    held = known | (method != "inverse")
    low = np.where(held, np.minimum(low, value), low)
    high = np.where(held, np.maximum(high, value), high)
    ends = known | bounded
    value = np.where(known if method == "inverse" else ends, value, np.nan)
    low = np.where(ends, low, np.nan)
    high = np.where(ends, high, np.nan)
    variance = np.where(known, variance, np.nan)
    if covariance is not None:
        covariance = np.where(np.logical_and.outer(known, known), covariance, np.nan)
    return Estimate(
        columns=cells.alphabets,
        estimate=value,
        low=low,
        high=high,
        variance=variance,
        covariance=covariance,
        identified=known,
        level=level,
        method=method,
        target=target,
        rows=seen.rows,
        exact=exact,
        narrow=narrow & ~exact,
        gap=gap,
        shrinkage=shrinkage,
    )


def _as_released(told: Moments, level: float) -> Estimate:
    """The released shares: p M = p makes them unbiased for the table, and only the draws of its rows vary.

    z^2/2 rows on both sides are for shares that rest on a handful of rows; a share that no draw changes is known.
    """
    z, rows, many = quantile(level), told.seen.rows, told.cells.many
    value, variance = told.law, told.share_variances()
    covariance = told.means(np.eye(many))[1] if many <= COVARIANCE else None
    half = WIDER * z * np.sqrt(variance) + np.where(told.steady_shares(), 0.0, few_rows(value, rows, z))
    known = np.ones(many, dtype=bool)
    return Estimate(
        columns=told.cells.alphabets,
        estimate=value,
        low=np.maximum(value - half, 0.0),
        high=np.minimum(value + half, 1.0),
        variance=variance,
        covariance=covariance,
        identified=known,
        level=level,
        method="preserved",
        target=told.target,
        rows=rows,
        exact=~known,
        narrow=~known,
    )


def _condition(factors: Sequence[Factor]) -> float:
    """The condition of the Kronecker product of all matrices, which is the product of theirs."""
    return prod(factor.condition for factor in factors)


def _method(factors: Sequence[Factor], known: Array) -> str:
    """The inverse, unless a matrix is singular or nearly so and the likelihood can be had."""
    fine = known.all() and _condition(factors) <= ILL
    return "inverse" if fine or not _has_likelihood(factors) else "mle"


def _has_likelihood(factors: Sequence[Factor]) -> bool:
    """Whether the likelihood can be maximised: one compact matrix, or few cells."""
    compact = len(factors) == 1 and factors[0].law is not None
    return compact or prod(factor.letters for factor in factors) <= LIKELIHOOD


def _refuse_nothing_known(factors: Sequence[Factor], method: str, known: Array, bounded: Array) -> None:
    """Refuse where no share is determined or bounded, and a method that needs an inverse where there is none."""
    if known.all() or (known.any() and method != "regularised") or (bounded.any() and method != "regularised"):
        return
    if not known.any() and all(factor.identified.all() for factor in factors):
        raise Unsupported(
            "so few of the released rows reveal anything about the original values that no share is determined: every "
            "interval would be as wide as everything",
            do="Estimate fewer columns (--columns), or ask the owner for a recipe that changes less.",
        )
    need = "a regularised estimate needs an invertible one" if known.any() else "no outcome is determined by itself"
    raise Unsupported(
        f"the matrix of the recipe is singular ({identified_words(factors)}), and {need}; what it does determine are "
        "sums over outcomes",
        do="Estimate fewer columns (--columns), or sums of several values (--queries).",
    )


def _drawn_by(factors: Sequence[Factor], seen: Seen) -> None:
    """Refuse rows that these channels cannot have drawn."""
    if seen.rows < 2:
        raise InputError(f"{seen.rows} released rows are too few to estimate from", do="Use the whole released table.")
    for k, factor in enumerate(factors):
        here = np.moveaxis(seen.sums, k, 0).reshape(factor.seen, -1).sum(axis=1)
        if (here[factor.constant] > 0).any():
            raise InputError(
                "a released value has probability 0 for every input: this recipe did not draw the table",
                do="Name the card that belongs to the released table.",
            )


def _identified(factors: Sequence[Factor], cells: Cells) -> Array:
    """Which wanted outcomes c the released law determines: those with E[(A'c)(released) | x] = c(x) for every x."""
    whole = _outer([f.identified for f in factors]).ravel() > 0
    if whole.all():
        return np.ones(cells.many, dtype=bool)
    if cells.all or cells.many * len(whole) > CELLS:
        return np.asarray(np.isclose(cells.summed(np.where(whole, 0.0, 1.0)), 0))
    back = _map_of(factors, cells).reshape(cells.many, *(f.seen for f in factors))
    for k, factor in enumerate(factors, 1):
        back = np.moveaxis(factor.mean(np.moveaxis(back, k, -1)), -1, k)
    return np.asarray(np.abs(back.reshape(cells.many, -1) - cells.indicators()).max(axis=1) < 1e-7)


def _unbiased(factors: Sequence[Factor], cells: Cells, seen: Seen, target: str) -> tuple[Array, Array, Array | None]:
    """The unbiased estimate, its variances, and its covariance while it is small."""
    W = float(seen.sums.sum())
    mean = cells.summed(along(seen.sums / W, factors, "back").ravel())
    own = cells.summed(along(seen.squares / W**2, factors, "back").ravel())
    variance, covariance = _spread(factors, cells, seen.squares / W**2)
    if target == "table":
        variance = variance - own
        covariance = None if covariance is None else covariance - np.diag(own)
    else:
        total = float(seen.squares.sum()) / W**2
        more = seen.rows / (seen.rows - 1)
        variance = more * (variance - 2 * mean * own + total * mean**2)
        if covariance is not None:
            cross = np.outer(own, mean)
            covariance = more * (covariance - cross - cross.T + total * np.outer(mean, mean))
    return mean, np.maximum(variance, 0.0), covariance


def _thin(factors: Sequence[Factor], cells: Cells, seen: Seen, target: str) -> Array:
    """Which variances come to a good part from released letters that are expected a few times only."""
    out = np.zeros(cells.many, dtype=bool)
    for p, m, few in thin_letters(factors, seen):
        rare, every = (_spread(factors, cells, np.where(kept, m, 0.0))[0] for kept in (few, np.ones_like(few)))
        share = cells.summed(p.ravel())
        true = every - (share if target == "table" else share**2)
        out |= (rare > SHARE * every) & (true > 1e-9 * every)
    return out


def thin_letters(factors: Sequence[Factor], seen: Seen) -> list[tuple[Array, Array, Array]]:
    """Laws p, what is released of them, and which of its letters are expected a few times only; if there are any.

    The laws are the one that is estimated, and one half way to the uniform law: an estimate that rests on thin letters
    is no good witness.
    """
    nearest = projection(along(seen.sums / seen.sums.sum(), factors, "back").ravel())
    found = []
    for p in (nearest, (nearest + 1 / len(nearest)) / 2):
        law = p.reshape([factor.letters for factor in factors])
        m = np.maximum(along(law, factors, "forward"), 0.0)
        if (few := m * seen.counting < FEW).any():
            found.append((law, m, few))
    return found


def replaceable(factors: Sequence[Factor], seen: Seen) -> bool:
    """Whether exact intervals can be had: rows that count once, and few cells."""
    return seen.plain and max(prod(factor.letters for factor in factors), seen.sums.size) <= EXACT


def identified_words(factors: Sequence[Factor]) -> str:
    """The rank of each singular matrix, in words."""
    words = []
    for factor in factors:
        if factor.dense is not None and not factor.identified.all():
            rank = int(np.linalg.matrix_rank(factor.dense, tol=SINGULAR))
            words.append(f"rank {rank} for {factor.letters} outcomes of {', '.join(factor.inputs)}")
    return "; ".join(words) or "every outcome is identified"


def _spread(factors: Sequence[Factor], cells: Cells, v: Array) -> tuple[Array, Array | None]:
    """The diagonal of A diag(v) A', and the whole of it while it is small."""
    if cells.many <= COVARIANCE and v.size * cells.many <= CELLS:
        A = _map_of(factors, cells)
        whole = (A * v.ravel()) @ A.T
        return whole.diagonal().copy(), whole
    if not cells.all:
        raise Unsupported(f"{cells.many:,} sums of cells are too many for their variances; estimate all columns")
    return along(v, factors, "squared").ravel(), None


def _map_of(factors: Sequence[Factor], cells: Cells) -> Array:
    """The matrix from released letters to the wanted outcomes: sums of rows of the Kronecker product of all A."""
    tensor = cells.indicators().reshape(cells.many, *(f.letters for f in factors))
    for k, factor in enumerate(factors, 1):
        tensor = np.moveaxis(factor.transposed(np.moveaxis(tensor, k, -1)), -1, k)
    return tensor.reshape(cells.many, -1)


def _most_likely(factors: Sequence[Factor], seen: Seen) -> Fit:
    if len(factors) == 1 and factors[0].law is not None:
        return maximum_likelihood(factors[0].law, seen.sums.ravel())
    return maximum_likelihood(multiplied(factors), seen.sums.ravel())


def multiplied(factors: Sequence[Factor]) -> Array:
    """The matrix of all factors, written out."""
    M: Array = np.ones((1, 1))
    for factor in factors:
        M = np.kron(M, factor.forward(np.eye(factor.letters)))
    return M


def _shrunk(mean: Array, variance: Array) -> tuple[Array, float]:
    """The mean of p given the unbiased estimate, when p scatters around the uniform law as much as the data say.

    With E |p_hat - u|^2 = |p - u|^2 + sum of variances, the share t = (sum of variances) / |p_hat - u|^2 of the
    distance is noise. Cutting to the simplex moves nearer to every law.
    """
    uniform = 1 / len(mean)
    distance = float(((mean - uniform) ** 2).sum())
    noise = float(variance.sum())
    t = 1.0 if noise >= distance else noise / distance
    return projection((1 - t) * mean + t * uniform), t
