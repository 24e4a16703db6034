r"""Real samples: cells of equal probability and the sum of their numbers, Theorem 5 of paper 000.

Cut each sample at its K-quantiles, U_i = g_i(X_i) the number of its cell, 0..K-1, and release

    Y = U_1 + ... + U_n  mod K.                                                                              (63)

**What is promised, and to whom.** Let U_j be uniform on 0..K-1 and independent of all other samples X_-j. Given any
X_-j = x the letter Y is U_j plus a constant mod K, hence uniform: Y is independent of X_-j, the real samples themselves
and all of them jointly, not of their cells only. So if the samples are independent and their cells equiprobable, Y is
independent of every n-1 real samples jointly, in particular of each X_i, and I(X^n; Y) = H(Y) = log2 K, eq. (64). K is
free, so the capacity is infinite, eq. (62).

**What is needed.** Two of the cells (so that for each i there is a j other than i) must be exactly uniform, and each of
them independent of the other samples jointly. Pairwise independence is not enough: U_1, U_2 uniform, U_3 = U_1 - U_2
mod 3 are pairwise independent, and Y = 2 U_1 gives X_1 away. Continuity of the law is what makes equal cells exist.

**Dependent samples.** `discretised` gives the exact law of the cells of a table, for `disclose`. The promise then holds
for the cells: Y is independent of U_i. Within its cell X_i may still be correlated with the others, and Y may tell
about that; it does not if X_i - U_i - U_-i is a Markov chain.

**From a problem file.** `quantiles = K` under `[columns.x]` cuts x at the quantiles of the table, or where a stated
`cdf` says; `with_cells` adds to a design what its promise means for the real values.

For two samples log2 K is the most that can be told about the cells (Prop. 2); for more, `window_sums` tells (n-1) log2
K. The paper counts cells from 1 and has n = 2.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000), Theorem 5.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from math import isfinite
from numbers import Rational
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core import Channel, Design, Pmf, ProductPmf
from dalenius.errors import InputError, MismatchError, Unsupported
from dalenius.measures.shannon import independent, mutual_information_bounds

__all__ = [
    "ModularSumFacts",
    "cdf_cells",
    "discretised",
    "modular_sum_facts",
    "modular_sum_scheme",
    "quantile_cells",
    "with_cells",
]

_Codes: TypeAlias = NDArray[np.int64]

MOST_ENTRIES = 1 << 20
ONLY_CELLS = (
    "the promise is about the cells of the real values, not about the values within their cells, which may still be "
    "correlated with the other columns"
)


def quantile_cells(values: Sequence[Any], K: int, *, equal: bool = True) -> tuple[_Codes, tuple[Any, ...]]:
    r"""The cell 0..K-1 of each value when the values are cut at their K-quantiles, and the edges between the cells.

    A value lies in cell c when exactly c edges are below it; an edge is the largest value of its cell. Cells are found
    by ranks, so each has exactly 1/K of the values, or it is refused: when K does not divide their number, or when
    equal values stand on both sides of an edge. With `equal` false the cells are as equal as the ties allow, equal
    values together in the cell of the first of them, and there may be fewer than K.

    >>> codes, edges = quantile_cells([0.3, 7.0, 1.5, 2.5], 2)
    >>> codes.tolist(), edges
    ([0, 1, 0, 1], (1.5,))
    """
    _some_cells(K)
    numbers = [_real(v, f"value {k + 1}") for k, v in enumerate(values)]
    n = len(numbers)
    if n < K:
        raise InputError(f"{n} values do not fill {K} cells")
    if equal and n % K:
        raise InputError(
            f"{n} values cannot be cut into {K} cells of equal probability, because {n} is not a multiple of {K}; "
            "`discretised` gives the exact law of unequal cells, for which `disclose` finds a private mapping"
        )
    ranked = sorted(numbers)
    edges: list[Any] = []
    for c in range(1, K):
        edge, after = ranked[c * n // K - 1], ranked[c * n // K]
        if equal and edge == after:
            first, last = bisect_left(ranked, edge), n - sum(1 for v in ranked if v > edge)
            raise InputError(
                f"the value {edge} stands on both sides of edge {c} of {K} cells (ranks {first + 1} to {last} of {n}), "
                "so no cells have equal probability; `discretised` gives the exact law of unequal cells"
            )
        if edge != ranked[-1] and (not edges or edge != edges[-1]):
            edges.append(edge)
    codes = np.array([bisect_left(edges, v) for v in numbers], dtype=np.int64)
    return codes, tuple(edges)


def cdf_cells(values: Sequence[Any], cdf: Callable[[Any], Any], K: int) -> _Codes:
    r"""The cell floor(K F(x)) of each value for a known continuous cdf F: then U = floor(K F(X)) is uniform, eq. (63).

    That F is continuous and the law of X is an assumption, which no data can show. Exact if F answers in rationals; in
    floats an edge may move by a rounding of F.

    >>> cdf_cells([0.0, 0.2, 0.5, 1.0], lambda x: x, 4).tolist()
    [0, 0, 2, 3]
    """
    _some_cells(K)
    codes = []
    for k, value in enumerate(values):
        level = _real(cdf(_real(value, f"value {k + 1}")), f"the cdf at value {k + 1}")
        if not 0 <= level <= 1:
            raise InputError(f"the cdf at value {k + 1} is {level}, not between 0 and 1")
        codes.append(min(K - 1, int(K * Fraction(level))))
    return np.array(codes, dtype=np.int64)


def modular_sum_scheme(K: int, n: int, *, names: Sequence[str] | None = None, output: str = "Y") -> Channel:
    r"""Y = U_1 + ... + U_n mod K as a channel that reads the cells, eq. (63).

    Exactly private for independent samples with equiprobable cells; see the head of this module for what that needs.

    >>> modular_sum_scheme(3, 2).rows[5]  # cells 1 and 2
    (Fraction(1, 1), Fraction(0, 1), Fraction(0, 1))
    """
    _some_cells(K)
    if n < 2:
        raise InputError(f"a sum that hides its terms needs two samples, not {n}")
    if K ** (n + 1) > MOST_ENTRIES:
        raise Unsupported(f"{n} samples of {K} cells need a channel of more than {MOST_ENTRIES:,} entries")
    names = [f"X{k + 1}" for k in range(n)] if names is None else list(names)
    if len(names) != n or len(set(names)) != n or output in names:
        raise MismatchError(f"{n} samples need {n} different names, none of them {output!r}, not {names}")
    cells = tuple(str(c) for c in range(K))
    unit = [tuple(Fraction(int(y == s)) for y in range(K)) for s in range(K)]
    rows = tuple(unit[sum(u) % K] for u in product(range(K), repeat=n))
    return Channel(dict.fromkeys(names, cells), {output: cells}, rows)


@dataclass(frozen=True)
class ModularSumFacts:
    """What exact arithmetic says about the sum of n independent uniform cells: who learns nothing, and what is told."""

    private_views: tuple[tuple[str, ...], ...]
    leaking_views: tuple[tuple[str, ...], ...]
    information_bits: tuple[Fraction, Fraction]


def modular_sum_facts(K: int, n: int) -> ModularSumFacts:
    r"""Every group of at most n-1 cells is tested against Y on whole numbers, and I(U^n; Y) is enclosed in rationals.

    For few samples: all K^n outcomes are listed.

    >>> facts = modular_sum_facts(4, 3)
    >>> len(facts.private_views), facts.leaking_views, facts.information_bits == (2, 2)
    (6, (), True)
    """
    channel = modular_sum_scheme(K, n)
    names = list(channel.inputs)
    fair = Pmf.from_records(channel.inputs, [(u, Fraction(1, K**n)) for u in channel.outcomes()])
    joint = channel.after(fair)
    views = [view for size in range(1, n) for view in combinations(names, size)]
    private = [view for view in views if independent(joint, view, ["Y"])]
    return ModularSumFacts(
        tuple(private),
        tuple(view for view in views if view not in private),
        mutual_information_bounds(joint, names, ["Y"]),
    )


def discretised(
    columns: Mapping[str, Sequence[Any]], K: int, *, labels: Mapping[str, Sequence[str]] | None = None
) -> tuple[Pmf, dict[str, tuple[Any, ...]]]:
    r"""The exact joint law of the cells of real columns, for `disclose`, and the edges of each column.

    Rows may depend on each other in any way across columns, and ties only make cells unequal: the law is counted as it
    is. `labels` are further columns, taken as they stand, such as what the release should tell about. The note of the
    pmf says that the promise is about cells; `disclose` repeats it as a remark of the design.

    >>> pmf, edges = discretised({"X1": [1, 2, 3, 4], "X2": [0.5, 0.1, 0.9, 0.7]}, 2)
    >>> pmf.probability(X1="0", X2="0"), edges["X2"]
    (Fraction(1, 2), (0.5,))
    """
    labels = labels or {}
    if not columns or set(columns) & set(labels):
        raise MismatchError("there must be a column of real values, and none that is also a label")
    lengths = {name: len(values) for name, values in [*columns.items(), *labels.items()]}
    if len(set(lengths.values())) != 1:
        raise MismatchError(f"the columns have different lengths: {lengths}")
    alphabets: dict[str, tuple[str, ...]] = {}
    codes, edges = [], {}
    for name, values in columns.items():
        try:
            found, edges[name] = quantile_cells(values, K, equal=False)
        except InputError as e:
            raise InputError(f"column {name!r}: {e}") from None
        codes.append(found)
        alphabets[name] = tuple(str(c) for c in range(len(edges[name]) + 1))
    for name, letters in labels.items():
        alphabets[name] = tuple(sorted(set(letters)))
        codes.append(np.array([alphabets[name].index(v) for v in letters], dtype=np.int64))
    (rows,) = set(lengths.values())
    return Pmf.from_counts(alphabets, np.column_stack(codes), [1] * rows, note=ONLY_CELLS), edges


def with_cells(design: Design) -> Design:
    """The design with remarks on columns that were cut at quantiles: what is promised of their cells, and of them."""
    columns = {n: c for n, c in design.problem.columns.items() if c.quantiles and n in design.problem.variables()}
    stated = {n: c.cdf for n, c in columns.items() if c.cdf is not None}
    counted = [n for n in columns if n not in stated]
    told = []
    if counted:
        told.append(
            f"{', '.join(counted)} {'was' if len(counted) == 1 else 'were'} cut at the quantiles of this table, so the "
            "cuts are public with the card, and cells of a population have other shares than those counted here"
        )
    if stated:
        close = "" if all(cdf.exact for cdf in stated.values()) else " up to 1e-15"
        told.append(
            f"the cells of {', '.join(stated)} have equal probability{close} if the stated cdf is the law of the values"
        )
    if columns and isinstance(design.problem.law, ProductPmf) and not counted:
        told.append(
            "as the samples are taken to be independent, the promise holds for the values themselves too, and not only "
            "for their cells"
        )
    elif columns:
        told.append(ONLY_CELLS)
    return replace(design, remarks=(*design.remarks, *told)) if told else design


def _some_cells(K: int) -> None:
    if isinstance(K, bool) or not isinstance(K, int) or K < 2:
        raise InputError(f"a sample is cut into 2 or more cells, not {K!r}")


def _real(value: Any, what: str) -> Any:
    """A finite number that can be compared exactly with others; everything else is refused, missing values too."""
    value = value.item() if isinstance(value, np.generic) else value
    number = isinstance(value, float | Rational) and not isinstance(value, bool)
    if not number or (isinstance(value, float) and not isfinite(value)):
        raise InputError(f"{what} is {value!r}, not a finite number")
    return value
