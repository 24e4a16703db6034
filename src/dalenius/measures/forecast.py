"""What a release will be good for before it is made, and the information that released data show."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError, Unsupported
from dalenius.measures.estimation import CELLS, TARGETS
from dalenius.measures.inversion import Factor, Seen, along, surprise

__all__ = ["entropy_miller_madow", "expected_error", "information_from_counts", "information_kept"]

Array = npt.NDArray[Any]


def expected_error(
    factors: Sequence[Factor],
    rows: int,
    queries: Mapping[str, npt.ArrayLike],
    *,
    target: str = "table",
    prior: npt.ArrayLike | None = None,
) -> dict[str, dict[str, float]]:
    r"""Standard errors of the unbiased estimates of linear queries sum_x c(x) p(x), before anything is released.

    With h = A'c the estimate is the mean of h over the released letters. Its variance for a table of law p is
    sum_x p(x) e(x) / n with e(x) = sum_y M_xy h(y)^2 - c(x)^2, linear in p, so that `worst` is max e. For a population
    it is (sum_x p(x) (e(x) + c(x)^2) - (c.p)^2) / n, whose maximum is min over s of max_x e(x) + (c(x) - s)^2.

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
    shape = [f.letters for f in factors]
    if prod(shape) > CELLS or prod(f.seen for f in factors) > CELLS:
        raise Unsupported(f"more than {CELLS:,} cells; ask about fewer columns")
    out = {}
    for name, coefficients in queries.items():
        c = np.asarray(coefficients, dtype=float).reshape(shape)
        h = along(c, factors, "transposed")
        if not np.allclose(along(h, factors, "mean"), c, atol=1e-7 * max(1.0, float(np.abs(c).max()))):
            raise Unsupported(f"the released letters do not determine {name!r}: the matrix of the channel is singular")
        excess = np.maximum(along(h**2, factors, "mean") - c**2, 0.0)
        out[name] = {"worst": float(np.sqrt(_worst(excess, c, target) / rows))}
        laws = {"uniform": np.full(shape, 1 / prod(shape))}
        if prior is not None:
            laws["design"] = np.asarray(prior, dtype=float).reshape(shape)
        for law, p in laws.items():
            more = 0.0 if target == "table" else float((p * c**2).sum() - (p * c).sum() ** 2)
            out[name][law] = float(np.sqrt((float((p * excess).sum()) + max(more, 0.0)) / rows))
    return out


def _worst(excess: Array, c: Array, target: str) -> float:
    if target == "table":
        return float(excess.max())
    low, high = float(c.min()), float(c.max())
    for _ in range(200):  # convex in s; every s gives an upper bound, so stopping early is safe
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if (excess + (c - a) ** 2).max() <= (excess + (c - b) ** 2).max():
            high = b
        else:
            low = a
    return float((excess + (c - (low + high) / 2) ** 2).max())


def entropy_miller_madow(counts: npt.ArrayLike) -> float:
    """Entropy in bits from counts, with the first-order correction (letters seen - 1) / (2 n) of its bias.

    >>> round(entropy_miller_madow([50, 50]), 4)
    1.0072
    """
    n = np.asarray(counts, dtype=float).ravel()
    if (total := float(n.sum())) <= 0:
        raise InputError("there is nothing to count")
    return float(surprise(n / total).sum()) + float((np.count_nonzero(n) - 1) / (2 * total * np.log(2)))


def information_from_counts(counts: npt.ArrayLike, *, corrected: bool = True) -> float:
    """I(X; Z) = H(X) + H(Z) - H(X, Z) in bits from a table of paired counts (002, Fig. 6).

    The plug-in value is too large by about (|X| - 1)(|Z| - 1) / (2 n ln 2); `corrected` takes the Miller-Madow
    correction of the three entropies.

    >>> round(information_from_counts([[25, 25], [25, 25]], corrected=False), 6)
    0.0
    """
    n = np.asarray(counts, dtype=float)
    if n.ndim != 2:
        raise InputError("paired counts have two axes")
    parts = (n.sum(axis=1), n.sum(axis=0), n)
    if corrected:
        x, z, both = (entropy_miller_madow(v) for v in parts)
    else:
        x, z, both = (float(surprise(v / n.sum()).sum()) for v in parts)
    return x + z - both


def information_kept(factors: Sequence[Factor], seen: Seen) -> tuple[float, float]:
    """I(X; Z) in bits between original and released letters from the released ones alone, and its standard error.

    H(Z) is estimated with the correction of its bias, H(Z|X) = sum_x p(x) H(M_x) without bias; the standard error is
    that of the linearisation and covers the draw of the table from its population as well.
    """
    rows = np.zeros([f.letters for f in factors])
    for k, factor in enumerate(factors):
        shape = [1] * len(factors)
        shape[k] = factor.letters
        rows = rows + factor.row_entropies().reshape(shape)
    f = seen.sums / seen.sums.sum()
    h = along(rows, factors, "transposed")
    correction = (np.count_nonzero(f) - 1) / (2 * seen.rows * np.log(2))
    value = float(surprise(f).sum()) + correction - float((f * h).sum())
    influence = -np.log2(np.where(f > 0, f, 1.0)) - h
    spread = float((f * influence**2).sum() - (f * influence).sum() ** 2)
    noise = float((seen.squares / seen.sums.sum() ** 2).sum())
    return value, float(np.sqrt(max(spread, 0.0) * noise))
