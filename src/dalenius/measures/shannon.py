r"""Shannon's entropy and mutual information of exact pmfs, in bits.

The floats are computed from exact integers so that small values keep their digits: with n the integer counts and

    d = (n(a,b,c) n(c) - n(a,c) n(b,c)) / (n(a,c) n(b,c)),        f(d) = (1 + d) ln(1 + d) - d >= 0,

I(A; B | C) ln 2 is the mean of f(d) under p(a|c) p(b|c) p(c). No term is negative, so nothing cancels: an exact
independence gives 0.0 and 1e-18 bits come out with fourteen digits. The `*_bounds` are rational enclosures.

References: T. Cover & J. Thomas, "Elements of Information Theory", ch. 2.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, log, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dalenius.core import Pmf
from dalenius.core.arithmetic import BITS, times_log2

__all__ = [
    "binary_entropy",
    "conditional_entropy",
    "conditional_mutual_information",
    "conditional_mutual_information_bounds",
    "entropy",
    "entropy_bounds",
    "entropy_of",
    "independent",
    "information_of",
    "mutual_information",
    "mutual_information_bounds",
]

Names: TypeAlias = Sequence[str]
Bounds: TypeAlias = tuple[Fraction, Fraction]
_Floats: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[Any]

_LN2 = log(2.0)
_FITS = 2**62
_SMALL = 0.1
_TERMS = 18  # 0.1^18 is below the last digit of the leading term


# --- of exact pmfs ----------------------------------------------------------------------------------------------------
def entropy(pmf: Pmf, names: Names) -> float:
    r"""H(A) = sum_a p(a) log2(1 / p(a)) in bits; 0.0 for no names.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    names : names
        The variables.

    Returns
    -------
    float
        In bits.

    >>> coin = Pmf.from_records({"X": ("a", "b")}, [(("a",), 1), (("b",), 3)])
    >>> entropy(coin, ["X"])
    0.8112781244591328
    """
    counts = _counts(pmf, names)
    return fsum(_surprise(counts, pmf.total)) / _LN2


def conditional_entropy(pmf: Pmf, names: Names, given: Names) -> float:
    r"""H(A | C) = sum p(a,c) log2(n(c) / n(a,c)) in bits.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    names : names
        The variables.
    given : names
        What is known.

    Returns
    -------
    float
        In bits.

    >>> pair = Pmf.from_records({"X": ("a", "b"), "Y": ("c",)}, [(("a", "c"), 1), (("b", "c"), 1)])
    >>> conditional_entropy(pair, ["X"], ["Y"]), conditional_entropy(pair, ["Y"], ["X"])
    (1.0, 0.0)
    """
    cells = _cells(pmf, names, (), given)
    return fsum(_surprise(cells.ac, cells.c) * (_ratio(cells.c, pmf.total))) / _LN2


def mutual_information(pmf: Pmf, a: Names, b: Names) -> float:
    r"""I(A; B) in bits; exactly 0.0 if and only if A and B are independent.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    a : names
        The first variables.
    b : names
        The second variables.

    Returns
    -------
    float
        In bits.

    >>> from dalenius.testing import xor
    >>> pmf = xor().pmf
    >>> mutual_information(pmf, ["X1"], ["W"]), mutual_information(pmf, ["X1", "X2"], ["W"])
    (0.0, 1.0)
    """
    return conditional_mutual_information(pmf, a, b, ())


def conditional_mutual_information(pmf: Pmf, a: Names, b: Names, given: Names) -> float:
    r"""I(A; B | C) in bits; exactly 0.0 if and only if A and B are independent given C.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    a : names
        The first variables.
    b : names
        The second variables.
    given : names
        What is known.

    Returns
    -------
    float
        In bits.

    >>> from dalenius.testing import xor
    >>> conditional_mutual_information(xor().pmf, ["X1"], ["W"], ["X2"])
    1.0
    """
    cells = _cells(pmf, a, b, given)
    # Cells of p(a|c) p(b|c) that never occur have d = -1 and f(d) = 1; their mass is what the others leave.
    occurring = np.zeros(len(cells.each_c), dtype=object)
    np.add.at(occurring, cells.of_c, cells.ac.astype(object) * cells.bc)
    missing = [(m * m - k) / (m * pmf.total) for m, k in zip(cells.each_c.tolist(), occurring.tolist(), strict=True)]
    weight = _ratio(cells.ac, cells.c) * _ratio(cells.bc, pmf.total)
    return fsum([*(weight * _deviance(cells.departure)).tolist(), *missing]) / _LN2


def independent(pmf: Pmf, a: Names, b: Names, given: Names = ()) -> bool:
    r"""Whether A and B are independent (given C), decided on integers.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    a : names
        The first variables.
    b : names
        The second variables.
    given : names
        What is known.

    Returns
    -------
    bool
        Exactly.

    >>> from dalenius.testing import xor
    >>> independent(xor().pmf, ["X1"], ["W"]), independent(xor().pmf, ["X1"], ["W"], ["X2"])
    (True, False)
    """
    cells = _cells(pmf, a, b, given)
    # Were a cell of positive product missing, another cell of the same c would exceed its product.
    return not (cells.abc.astype(object) * cells.c != cells.ac.astype(object) * cells.bc).any()


def entropy_bounds(pmf: Pmf, names: Names) -> Bounds:
    r"""A rational enclosure of H(A) in bits, narrower than 2^-140 for fewer than 2^18 distinct probabilities.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    names : names
        The variables.

    Returns
    -------
    (Fraction, Fraction)
        Below and above.

    >>> low, high = entropy_bounds(Pmf.from_records({"X": ("a", "b")}, [(("a",), 1), (("b",), 3)]), ["X"])
    >>> float(low), high - low < Fraction(1, 2**140)
    (0.8112781244591328, True)
    """
    return _enclosed(pmf.total, ((n, Fraction(pmf.total, n)) for n in _counts(pmf, names).tolist()))


def mutual_information_bounds(pmf: Pmf, a: Names, b: Names) -> Bounds:
    r"""A rational enclosure of I(A; B) in bits; (0, 0) if and only if they are independent.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    a : names
        The first variables.
    b : names
        The second variables.

    Returns
    -------
    (Fraction, Fraction)
        Below and above.

    >>> from dalenius.testing import xor
    >>> mutual_information_bounds(xor().pmf, ["X1"], ["W"])
    (Fraction(0, 1), Fraction(0, 1))
    """
    return conditional_mutual_information_bounds(pmf, a, b, ())


def conditional_mutual_information_bounds(pmf: Pmf, a: Names, b: Names, given: Names) -> Bounds:
    r"""A rational enclosure of I(A; B | C) = sum p(a,b,c) log2(n(a,b,c) n(c) / (n(a,c) n(b,c))) in bits.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    a : names
        The first variables.
    b : names
        The second variables.
    given : names
        What is known.

    Returns
    -------
    (Fraction, Fraction)
        Below and above.

    >>> from dalenius.testing import xor
    >>> conditional_mutual_information_bounds(xor().pmf, ["X1"], ["W"], ["X2"])
    (Fraction(1, 1), Fraction(1, 1))
    """
    cells = _cells(pmf, a, b, given)
    columns = (cells.abc.tolist(), cells.c.tolist(), cells.ac.tolist(), cells.bc.tolist())
    low, high = _enclosed(pmf.total, ((n, Fraction(n * c, ac * bc)) for n, c, ac, bc in zip(*columns, strict=True)))
    return max(low, Fraction(0)), high


# --- of arrays of floats ----------------------------------------------------------------------------------------------
def entropy_of(p: ArrayLike, *, axis: int = -1) -> _Floats:
    r"""Entropies in bits of probability vectors along an axis; entries of zero count nothing.

    Parameters
    ----------
    p : array
        Probability vectors.
    axis : int
        Along which they lie.

    Returns
    -------
    array
        In bits.

    >>> entropy_of([[0.5, 0.5], [1.0, 0.0]]).tolist()
    [1.0, 0.0]
    """
    mass = np.asarray(p, dtype=np.float64)
    logs = np.log2(mass, out=np.zeros_like(mass), where=mass > 0)
    bits: _Floats = np.maximum(-np.sum(mass * logs, axis=axis), 0.0)
    return bits


def binary_entropy(p: float) -> float:
    r"""h(p) = -p log2 p - (1 - p) log2(1 - p).

    Parameters
    ----------
    p : float
        A probability.

    Returns
    -------
    float
        In bits.

    >>> binary_entropy(0.5), binary_entropy(0.0)
    (1.0, 0.0)
    """
    return float(entropy_of([p, 1.0 - p]))


def information_of(joint: ArrayLike) -> float:
    r"""I(A; B) in bits of a matrix of joint probabilities, by the same sum of non-negative terms.

    Parameters
    ----------
    joint : array
        p(a, b).

    Returns
    -------
    float
        In bits.

    >>> information_of([[0.5, 0.0], [0.0, 0.5]])
    1.0
    """
    p = np.asarray(joint, dtype=np.float64)
    q = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    d = np.divide(p - q, q, out=np.zeros_like(p), where=q > 0)
    return max(0.0, fsum((q * _deviance(d)).ravel())) / _LN2


# --- kernels ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Cells:
    """Integer counts of the cells (a, b, c) that occur, of their margins, and which c each has."""

    abc: _Ints
    ac: _Ints
    bc: _Ints
    c: _Ints
    of_c: NDArray[np.intp]
    each_c: _Ints

    @property
    def departure(self) -> _Floats:
        """d of the module's head; the difference of the products is exact before it becomes a float."""
        product = self.ac * self.bc
        return _ratio(self.abc * self.c - product, product)


def _cells(pmf: Pmf, a: Names, b: Names, given: Names) -> _Cells:
    # int64 only while the products of two counts fit.
    dtype = np.int64 if pmf.total**2 < _FITS else object
    cell, first = _grouped(pmf, pmf.support, [*a, *b, *given])
    abc = _added(cell, pmf.weights.astype(dtype))
    codes = pmf.support[first]
    margins = []
    for names in ([*a, *given], [*b, *given], [*given]):
        index, _ = _grouped(pmf, codes, names)
        margins.append((index, _added(index, abc)))
    (ac, n_ac), (bc, n_bc), (c, n_c) = margins
    return _Cells(abc, n_ac[ac], n_bc[bc], n_c[c], c, n_c)


def _grouped(pmf: Pmf, codes: NDArray[np.int64], names: Names) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The group of each row when only the named columns are looked at, and the first row of each group."""
    columns = list(dict.fromkeys(pmf.columns(names)))
    sizes = [len(letters) for letters in pmf.variables.values()]
    if not columns:
        return np.zeros(len(codes), dtype=np.intp), np.zeros(1, dtype=np.intp)
    if prod(sizes[column] for column in columns) < _FITS:  # one key per row sorts ten times faster than rows
        key = np.zeros(len(codes), dtype=np.int64)
        for k in columns:
            key = key * sizes[k] + codes[:, k]
        _, first, index = np.unique(key, return_index=True, return_inverse=True)
    else:
        _, first, index = np.unique(codes[:, columns], axis=0, return_index=True, return_inverse=True)
    return index.reshape(-1), first


def _added(index: NDArray[np.intp], weights: _Ints) -> _Ints:
    total = np.zeros(int(index.max()) + 1, dtype=weights.dtype)
    np.add.at(total, index, weights)
    return total


def _counts(pmf: Pmf, names: Names) -> _Ints:
    index, _ = _grouped(pmf, pmf.support, names)
    return _added(index, pmf.weights)


def _ratio(top: _Ints, bottom: _Ints | int) -> _Floats:
    ratio: _Floats = np.true_divide(top, bottom).astype(np.float64)
    return ratio


def _surprise(n: _Ints, total: _Ints | int) -> _Floats:
    """(n / total) ln(total / n), accurate also where n is nearly the total."""
    p = _ratio(n, total)
    rest = _ratio(total - n, total)
    nats: _Floats = -p * np.where(p > 0.5, np.log1p(-rest, where=rest < 1, out=np.zeros_like(p)), np.log(p))
    return nats


def _deviance(d: _Floats) -> _Floats:
    """f(d) = (1 + d) ln(1 + d) - d, by its series sum_k (-d)^k / (k (k - 1)) where |d| is small."""
    near = np.abs(d) < _SMALL
    x = np.where(near, -d, 0.0)
    series = np.zeros_like(x)
    for k in range(_TERMS + 1, 1, -1):
        series = (series + 1.0 / (k * (k - 1))) * x
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(d > -1.0, (1.0 + d) * np.log1p(d) - d, 1.0)
    value: _Floats = np.where(near, series * x, far)
    return value


def _enclosed(total: int, terms: Iterable[tuple[int, Fraction]]) -> Bounds:
    """Ends of sum (n / total) log2(q) over terms (n, q); terms with the same q are added up first."""
    masses: Counter[Fraction] = Counter()
    for n, q in terms:
        masses[q] += n
    low = high = 0
    for q, n in masses.items():
        ends = times_log2(Fraction(n, total), q)
        low = low + ends[0]
        high = high + ends[1]
    return Fraction(low, 1 << BITS), Fraction(high, 1 << BITS)
