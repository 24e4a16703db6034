r"""Linear queries sum_x c(x) p(x): what released letters say about them, and how well they will before the release.

For a channel M with an inverse A the mean of h = A'c over released letters is unbiased for sum_x c(x) p(x): in the code
c is the ``query`` and h its ``counterpart``. Matrices are factors, one for each axis, so that a query costs one product
along each axis and nothing is written out over all pairs of cells.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError, Unsupported
from dalenius.measures.estimation import (
    CELLS,
    SHARE,
    TARGETS,
    multiplied,
    quantile,
    replaceable,
    thin_letters,
)
from dalenius.measures.exact_intervals import boundable, bounded_half, exact_intervals
from dalenius.measures.inversion import Factor, Seen, along

__all__ = ["estimate_queries", "expected_error"]

Array = npt.NDArray[Any]


def _counterpart(factors: Sequence[Factor], name: str, coefficients: npt.ArrayLike) -> tuple[Array, Array]:
    """The query c as an array of the inputs, and h = A'c, whose mean over released letters is unbiased for it."""
    shape = [factor.letters for factor in factors]
    if prod(shape) > CELLS or prod(factor.seen for factor in factors) > CELLS:
        raise Unsupported(f"more than {CELLS:,} cells; ask about fewer columns")
    query = np.asarray(coefficients, dtype=float).reshape(shape)
    counterpart = along(query, factors, "transposed")
    if not np.allclose(along(counterpart, factors, "mean"), query, atol=1e-7 * max(1.0, float(np.abs(query).max()))):
        raise Unsupported(
            f"the released values do not determine {name!r}: the matrix of the recipe is singular",
            do="Ask for a sum of several values instead.",
        )
    return query, counterpart


def estimate_queries(
    factors: Sequence[Factor],
    seen: Seen,
    queries: Mapping[str, npt.ArrayLike],
    *,
    target: str = "table",
    level: float = 0.95,
) -> dict[str, dict[str, Any]]:
    """Unbiased estimates of linear queries from released counts, with standard errors and intervals.

    An interval that rests on released letters which are expected a few times only is exact (`exact`) or, where that
    cannot be had, marked (`narrow`), as for frequencies.

    With h = A'c the estimate is the weighted mean of h, and its variance is, in the letters of `measures.estimation`,
    sum_y v_y (h^2 - A'c^2)(y) for the table, n/(n-1) sum_y v_y (h(y) - estimate)^2 for the population.

    Parameters
    ----------
    factors : sequence of Factor
        One matrix for each axis.
    seen : Seen
        The released counts.
    queries : mapping
        Coefficients for each outcome.
    target : {"table", "population"}
        Whose shares.
    level : float
        Of the intervals.

    Returns
    -------
    dict[str, dict[str, Any]]
        For each query its estimate, standard error, ends of the interval, and whether it is exact or narrow.

    Raises
    ------
    InputError
        If the target is unknown, or rows are too few.
    Unsupported
        If the released values do not determine a query, or there are too many cells.

    >>> M = np.array([[0.8, 0.2], [0.3, 0.7]])
    >>> f = Factor({"X": ("a", "b")}, {"X": ("a", "b")}, dense=M)
    >>> found = estimate_queries([f], Seen.of([60, 40]), {"a": [1, 0]})["a"]
    >>> round(found["estimate"], 6), round(found["standard_error"], 4)
    (0.6, 0.0849)
    """
    if target not in TARGETS:
        raise InputError(f"there is no target {target!r}; there are {', '.join(TARGETS)}")
    deviations = quantile(level)
    total = float(seen.sums.sum())
    if seen.rows < 2:
        raise InputError(f"{seen.rows} released rows are too few to estimate from", do="Use the whole released table.")
    spread = seen.squares / total**2
    out = dict[str, dict[str, Any]]()
    thin = thin_letters(factors, seen)
    can = replaceable(factors, seen)
    for name, coefficients in queries.items():
        query, counterpart = _counterpart(factors, name, coefficients)
        value = float((seen.sums * counterpart).sum()) / total
        if target == "table":
            variance = float((spread * (counterpart**2 - along(query**2, factors, "transposed"))).sum())
        else:
            variance = float((spread * (counterpart - value) ** 2).sum()) * seen.rows / (seen.rows - 1)
        error = float(np.sqrt(max(variance, 0.0)))
        low = value - deviations * error
        high = value + deviations * error
        narrow = _narrow(thin, query, counterpart, target)
        if narrow and can:
            counts = seen.sums.ravel()
            ends = exact_intervals(multiplied(factors), counts, [query.ravel()], level=level, target=target)
            low, high = (float(end[0]) for end in ends)
            low = min(low, value)  # also of an estimate that is impossible
            high = max(high, value)
        elif narrow:
            half = float(bounded_half(counterpart.reshape(1, -1), seen, level=level)[0])
            low = min(max(value - half, float(query.min())), value)
            high = max(min(value + half, float(query.max())), value)
        exact = narrow and (can or boundable(seen, target))
        told = {"exact": exact, "narrow": narrow and not exact}
        out[name] = {"estimate": value, "low": low, "high": high, "standard_error": error, **told}
    return out


def _narrow(thin: Sequence[tuple[Array, Array, Array]], query: Array, counterpart: Array, target: str) -> bool:
    """Whether the variance of a query comes to a good part from thin letters, under one of the laws."""
    for law, expected, few in thin:
        rare = float((counterpart**2 * expected)[few].sum())
        every = float((counterpart**2 * expected).sum())
        true = every - (float((query**2 * law).sum()) if target == "table" else float((query * law).sum()) ** 2)
        if rare > SHARE * every and true > 1e-9 * every:
            return True
    return False


def expected_error(
    factors: Sequence[Factor],
    rows: int,
    queries: Mapping[str, npt.ArrayLike],
    *,
    target: str = "table",
    prior: npt.ArrayLike | None = None,
) -> dict[str, dict[str, float]]:
    """Standard errors of the unbiased estimates of linear queries sum_x c(x) p(x), before anything is released.

    With h = A'c the estimate is the mean of h over the released letters. Its variance for a table of law p is
    sum_x p(x) e(x) / n with e(x) = sum_y M_xy h(y)^2 - c(x)^2, linear in p, so that `worst` is max e. For a population
    it is (sum_x p(x) (e(x) + c(x)^2) - (c.p)^2) / n, whose maximum is min over s of max_x e(x) + (c(x) - s)^2.

    Parameters
    ----------
    factors : sequence of Factor
        One matrix for each axis.
    rows : int
        That will be released.
    queries : mapping
        Coefficients for each outcome.
    target : {"table", "population"}
        Whose shares.
    prior : array, optional
        A law of the data.

    Returns
    -------
    dict[str, dict[str, float]]
        For each query the standard error of the worst law, of the uniform one, and of the prior if there is one.

    Raises
    ------
    InputError
        If the target is unknown, or there is no row.
    Unsupported
        If the released values do not determine a query, or there are too many cells.

    >>> M = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> share = {"a": [1, 0]}
    >>> error = expected_error([Factor({"X": ("a", "b")}, {"X": ("a", "b")}, dense=M)], 300, share)
    >>> round(error["a"]["worst"], 9)
    0.05
    """
    if target not in TARGETS:
        raise InputError(f"there is no target {target!r}; there are {', '.join(TARGETS)}")
    if rows < 1:
        raise InputError(f"{rows} rows: an expected error needs at least one")
    shape = [factor.letters for factor in factors]
    out = {}
    for name, coefficients in queries.items():
        query, counterpart = _counterpart(factors, name, coefficients)
        # A variance does not change with a shift; of large numbers that are nearly equal nothing would be left.
        middle = float(query.mean())
        excess = np.maximum(along((counterpart - middle) ** 2, factors, "mean") - (query - middle) ** 2, 0.0)
        out[name] = {"worst": float(np.sqrt(_worst(excess, query, target) / rows))}
        laws = {"uniform": np.full(shape, 1 / prod(shape))}
        if prior is not None:
            laws["design"] = np.asarray(prior, dtype=float).reshape(shape)
        for law, masses in laws.items():
            more = 0.0 if target == "table" else float((masses * query**2).sum() - (masses * query).sum() ** 2)
            out[name][law] = float(np.sqrt((float((masses * excess).sum()) + max(more, 0.0)) / rows))
    return out


def _worst(excess: Array, query: Array, target: str) -> float:
    if target == "table":
        return float(excess.max())
    low = float(query.min())
    high = float(query.max())
    for _ in range(200):  # convex in s; every s gives an upper bound, so stopping early is safe
        left = low + (high - low) / 3
        right = high - (high - low) / 3
        if (excess + (query - left) ** 2).max() <= (excess + (query - right) ** 2).max():
            high = right
        else:
            low = left
    return float((excess + (query - (low + high) / 2) ** 2).max())
