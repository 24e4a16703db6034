r"""What a query tells about one record to adversaries who lack b bits of all records: C_1^b, by the structure of f.

Over the priors with H(X) >= b (Assumption 3 of paper 001), for every law q and every nu > 0,

    C_1^b <= max I(X; Y) <= nu ln sum_v m_v exp(D(noise(v) || q) / nu) - nu b,

where m_v outcomes of the records have f = v: the multiplicities stand in the place of a table of all outcomes. For
Gaussian noise q is Gaussian, and every divergence has a closed form. Small channels have a bracket with a lower end
(`balance`); here it is 0 where none is known.

What this is not: b above the bits of one record excludes the adversary who knows all records but one; and such
figures neither add up over several answers nor extend to groups, so that no ledger takes them.
"""

from math import e, exp, inf, log, pi, prod

import numpy as np
from numpy.typing import NDArray

from dalenius.core.query import FINITE, Query
from dalenius.core.query_noise import channel_of_query, kernel_of
from dalenius.errors import InputError, Unsupported
from dalenius.measures.balance import limited_capacity
from dalenius.measures.capacity import Bracket, bits
from dalenius.measures.individual import most_bits
from dalenius.measures.query import query_capacity
from dalenius.solvers.adversary import convex_bound
from dalenius.solvers.divergence import Laws

__all__ = ["gaussian_limited", "query_limited"]

SMALL = 64  # outcomes up to which the channel is written out
SAMPLED = 1 << 12  # values that a search looks at
MOST = 1 << 22  # entries of a matrix of laws
_TINY = 2.0**-1000


def query_limited(query: Query, b_bits: float) -> Bracket:
    """C_1^b of a query in bits, between proved ends.

    Parameters
    ----------
    query : Query
        With letters that are listed.
    b_bits : float
        How many bits about all records together the adversary lacks at least.

    Returns
    -------
    tuple of float
        The lower end is 0 unless the channel is small.

    Examples
    --------
    >>> from fractions import Fraction
    >>> q = Query(500, (("0", "1"),) * 500, "count", "gaussian", Fraction(10000))
    >>> low, high = query_limited(q, 450.0)
    >>> low, round(high, 3), round(query_capacity(q).high, 3)
    (0.0, 0.462, 0.975)
    """
    alphabets = query.alphabets
    outcomes = sum(log(len(alphabet)) for alphabet in alphabets) / log(2)
    if not 0 <= b_bits <= outcomes * (1 + 1e-12):
        raise InputError(f"{b_bits:g} bits are unknown to the attacker; the records hold at most {outcomes:.6g}")
    if query.noise in FINITE and prod(map(len, alphabets)) <= SMALL:
        return limited_capacity(channel_of_query(query), b_bits)
    # With more than two letters the figure against anybody is a search of its own; what a record holds bounds it too.
    whole = query_capacity(query).high if max(map(len, alphabets)) == 2 else max(most_bits(len(a)) for a in alphabets)
    if not b_bits:
        return 0.0, whole
    many = np.array([_log(m) for m in query.multiplicities()])
    b = b_bits * log(2)
    if query.noise == "gaussian" and query.width == 1:
        assert query.parameter is not None
        found = gaussian_limited(
            np.array([float(value) for value in query.coordinate(0)]), many, float(query.parameter), b
        )
    elif query.noise in FINITE:
        kernel = kernel_of(query)
        if kernel.places.size > MOST:
            raise Unsupported("the kernel of this noise is too large; take gaussian noise")
        entries = np.array([float(entry) for entry in kernel.entries])
        entries[entries < _TINY] = 0.0
        found = convex_bound(Laws(entries[kernel.places]), b, many)
    else:
        raise Unsupported(f"{query.noise} noise is not measured against attackers who lack bits; take gaussian noise")
    return 0.0, min(whole, bits(0.0, found)[1])


def gaussian_limited(
    values: NDArray[np.float64],
    many: NDArray[np.float64],
    variance: float,
    b: float,
    slack: float = 0.0,
    entropy: float | None = None,
    *,
    centre: float | None = None,
    looks: int = 1,
    cells: int = 1,
    added: float = 0.0,
) -> float:
    """The bound in nats for q Gaussian, of a mean and a variance t that make it small.

    For noise of a variance s, D(noise at v || N(m, t)) = 1/2 ln(2 pi t) + (s + (v - m)^2) / 2t - H(noise); that of
    Gaussian noise is 1/2 ln(2 pi e s), of other noise `entropy` says it, from below. `slack` is what a grid may add.
    So many `looks` are taken at each value, with noise of their own. Where several cells are answered, `many` and
    `added` are such that the sum over all outcomes of the records is at most that of one cell to the power of `cells`,
    times e^added.
    """
    centre = float((values.min() + values.max()) / 2) if centre is None else centre
    reach = max(float(values.max() - centre), 1e-300)
    unsure = log(2 * pi * e * variance) / 2 if entropy is None else entropy

    def at(log_nu: float, log_wide: float, step: int) -> float:
        nu = exp(log_nu)
        wide = variance * exp(log_wide)
        d = log(2 * pi * wide) / 2 + (variance + (values[::step] - centre) ** 2) / (2 * wide) - unsure + slack
        exponents = looks * d / nu + many[::step]
        top = float(exponents.max())
        whole = cells * (top + log(float(np.exp(exponents - top).sum()) * step)) + added
        return nu * (whole - b) + 1e-12 * (1 + nu * (cells * abs(top) + abs(added) + b))

    # From coarse to fine around the best pair so far. Any pair bounds, so that the search need not be right: of many
    # values it looks at some, and the pair that it finds is evaluated with all of them.
    sampled = max(1, len(values) // SAMPLED)
    widest = log(1 + (reach * reach) / variance)
    nus = np.linspace(-12, 12 + 2 * log(max(1.0, len(values) / SAMPLED)), 25)
    wides = np.linspace(0, max(widest, 1e-9), 25)
    best = (inf, 0.0, 0.0)
    for _ in range(6):
        best = min([best, *((at(float(u), float(w), sampled), float(u), float(w)) for u in nus for w in wides)])
        step_nu = float(nus[1] - nus[0])
        step_wide = float(wides[1] - wides[0])
        nus = np.linspace(best[1] - step_nu, best[1] + step_nu, 11)
        wides = np.linspace(max(0.0, best[2] - step_wide), best[2] + step_wide, 11)
    return max(0.0, best[0] if sampled == 1 else at(best[1], best[2], 1))


def _log(count: int) -> float:
    """ln of a positive integer of any size, rounded up."""
    shift = max(0, count.bit_length() - 60)
    return (log(count >> shift) + shift * log(2)) * (1 + 1e-15) + 1e-15 if count > 1 else 0.0
