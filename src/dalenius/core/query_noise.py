r"""Kernels of finite noise on the values of a query, in exact rationals.

    randomised-response  p    the value itself with probability 1 - p, each of the k - 1 others with p / (k - 1)    (49)
    geometric            a    v + Z on the lattice of the values, P(Z = z) = a^|z| (1 - a) / (1 + a), cut to the range
                              of f: what falls beyond an end is released as that end. Vectors coordinate by coordinate
    exponential          l    the values y of f in the order of their distance from f(x), the j-th (from 0) with a
                              probability in proportion to e^(-l j)                                            (66)-(68)
    table                     a row of probabilities for each value

The order of the exponential kernel depends on f(x) only: distances are |y - f(x)| (summed over coordinates; 0 or 1
between labels), and ties go to the smaller y. Ties broken by x itself would leak even between records with the same
f(x). The weights e^(-l j) enter as multiples of 2^-96, rounded up and never zero; the rational kernel is the mechanism.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, gcd, lcm, prod

import numpy as np
from numpy.typing import NDArray

from dalenius.core.arithmetic import exp
from dalenius.core.channel import Channel
from dalenius.core.query import Query, Value, label
from dalenius.errors import Unsupported

__all__ = ["Kernels", "channel_of_query", "exponential_law", "kernel_of", "kernel_on", "permuted"]

MOST = 1 << 21
_UNIT = 1 << 96


@dataclass(frozen=True)
class Kernels:
    """One law over the letters for each value of f: `entries` at `places`, so that equal numbers stand once."""

    letters: tuple[str, ...]
    entries: tuple[Fraction, ...]
    places: NDArray[np.intp]

    @property
    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """The laws, written out."""
        return tuple(tuple(self.entries[k] for k in line) for line in self.places.tolist())


def kernel_of(query: Query) -> Kernels:
    """The kernel of a query with noise of a finite kind.

    Parameters
    ----------
    query : Query
        With its noise.

    Returns
    -------
    Kernels

    >>> from dalenius.core.query import Query
    >>> q = Query(2, (("0", "1"),) * 2, "count", "geometric", Fraction(1, 2))
    >>> [str(v) for v in kernel_of(q).rows[0]]
    ['2/3', '1/6', '1/6']
    """
    if query.kernel is not None:
        letters, rows = query.kernel
        flat = list(dict.fromkeys(entry for row in rows for entry in row))
        at = {value: k for k, value in enumerate(flat)}
        return Kernels(letters, tuple(flat), np.array([[at[entry] for entry in row] for row in rows], dtype=np.intp))
    if query.noise not in ("randomised-response", "geometric", "exponential") or query.parameter is None:
        raise Unsupported(f"{query.noise} noise is a density; it has no finite kernel")
    return kernel_on(query.values, query.noise, query.parameter)


def kernel_on(values: Sequence[Value], noise: str, p: Fraction) -> Kernels:
    """The kernel of a finite kind of noise on a list of values.

    Parameters
    ----------
    values : sequence
        That f can take.
    noise : str
        The kind.
    p : Fraction
        Its parameter.

    Returns
    -------
    Kernels

    >>> [str(v) for v in kernel_on([(Fraction(0),), (Fraction(1),)], "randomised-response", Fraction(1, 3)).rows[0]]
    ['2/3', '1/3']
    """
    if noise == "geometric":
        return _geometric([value for value in values if not isinstance(value, str)], p)
    k = len(values)
    if k * k > MOST:
        raise Unsupported(f"a kernel over {k:,} values is too large", do="Group values until there are fewer.")
    letters = tuple(map(label, values))
    if noise == "randomised-response":
        others = p / (k - 1) if k > 1 else Fraction(0)
        return Kernels(letters, (1 - p if k > 1 else Fraction(1), others), 1 - np.eye(k, dtype=np.intp))
    return Kernels(letters, exponential_law(k, p), _ranks(values))


def exponential_law(k: int, rate: Fraction) -> tuple[Fraction, ...]:
    """The law of the rank Z, P(Z = j) in proportion to e^(-rate j) for j < k, (71)."""
    weights = []
    for j in range(k):
        x = rate * j
        # No weight is zero, so that the ratio of two neighbours is bounded; above x = 100 all are the least one.
        weights.append(max(1, ceil(_UNIT / exp(x, 128)[0])) if x <= 100 else 1)
    total = sum(weights)
    return tuple(Fraction(weight, total) for weight in weights)


def _ranks(values: Sequence[Value]) -> NDArray[np.intp]:
    k = len(values)
    if any(isinstance(value, str) for value in values):
        distance = np.ones((k, k), dtype=object) - np.eye(k, dtype=np.intp)
    else:
        vectors = [value for value in values if not isinstance(value, str)]
        scale = lcm(*(entry.denominator for vector in vectors for entry in vector))
        whole = np.array([[int(entry * scale) for entry in vector] for vector in vectors], dtype=object)
        if max(abs(int(c)) for c in whole.flat) < 1 << 40:
            whole = whole.astype(np.int64)
        distance = sum(abs(whole[:, None, c] - whole[None, :, c]) for c in range(whole.shape[1]))
    order = np.argsort(distance, axis=1, kind="stable")
    ranks = np.empty((k, k), dtype=np.intp)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(k), (k, k)), axis=1)
    return ranks


def _lattice(numbers: Sequence[Fraction]) -> tuple[Fraction, Fraction, int]:
    """Start, step and number of points of the coarsest lattice through some numbers."""
    start = min(numbers)
    scale = lcm(*(number.denominator for number in numbers))
    step = Fraction(gcd(*(int((number - start) * scale) for number in numbers)), scale)
    return start, step, int((max(numbers) - start) / step) + 1 if step else 1


def _geometric(values: Sequence[tuple[Fraction, ...]], a: Fraction) -> Kernels:
    width = len(values[0])
    lattices = [_lattice([value[c] for value in values]) for c in range(width)]
    size = prod(m for _, _, m in lattices)
    if size * len(values) > MOST:
        raise Unsupported(
            f"geometric noise would have {size:,} released values for {len(values):,} true ones, too many",
            do="Choose less noise, or a coarser grid.",
        )
    longest = max(m for _, _, m in lattices)
    powers = [Fraction(1)]
    for _ in range(longest):
        powers.append(powers[-1] * a)
    inner = [(1 - a) / (1 + a) * power for power in powers]
    outer = [power / (1 + a) for power in powers]
    single = [*inner, *outer, Fraction(1)]

    def law(v: Fraction, lattice: tuple[Fraction, Fraction, int]) -> NDArray[np.intp]:
        start, step, m = lattice
        if m == 1:
            return np.array([len(single) - 1])
        out = np.abs(np.arange(m) - int((v - start) / step))
        out[[0, -1]] += len(inner)
        return out

    names = [[label((start + step * y,)) for y in range(m)] for start, step, m in lattices]
    letters = tuple(", ".join(words) for words in product(*names))
    if width == 1:
        return Kernels(letters, tuple(single), np.array([law(v[0], lattices[0]) for v in values], dtype=np.intp))
    found: dict[tuple[int, ...], int] = {}
    places = []
    for v in values:
        laws = [law(c, lattice).tolist() for c, lattice in zip(v, lattices, strict=True)]
        places.append([found.setdefault(tuple(sorted(word)), len(found)) for word in product(*laws)])
    entries = tuple(prod((single[k] for k in word), start=Fraction(1)) for word in found)
    return Kernels(letters, entries, np.array(places, dtype=np.intp))


def permuted(rows: Sequence[Sequence[Fraction]]) -> bool:
    """Whether every row holds the same numbers in some order: a data-independent channel (Def. 12)."""
    first = sorted(rows[0])
    return all(sorted(row) == first for row in rows)


def channel_of_query(query: Query) -> Channel:
    """The dense channel from the records to what is released, while it is small."""
    alphabets, kernel = query.alphabets, kernel_of(query)
    size = prod(map(len, alphabets)) * len(kernel.letters)
    if size > 1 << 16:
        raise Unsupported(
            f"the recipe of this query has {size:,} entries when it is written out",
            do="Ask about fewer records or fewer values.",
        )
    rows, place = kernel.rows, {value: k for k, value in enumerate(query.values)}
    out = [rows[place[query.value(outcome)]] for outcome in product(*alphabets)]
    inputs = {f"X{i + 1}": alphabet for i, alphabet in enumerate(alphabets)}
    return Channel(inputs, {"Y": kernel.letters}, tuple(out))
