r"""The convex program behind every mixture of limits on what a released letter says, and its dual bound.

Rows e = 0..n-1 have whole-number masses N(e) with sum N, p(e) = N(e) / N; columns t = 0..m-1 are letters. Over
pi(e, t) = p(e) W(t|e) >= 0 with row sums p(e),

    min  <C, pi> + sum_k theta_k f_k(pi)          s.t.  <C_j, pi> <= D_j,   f_k(pi) <= L_k,   and column by column
    f(pi) = sum_t f_t,  f_t = sum_k J log(J / (Q_g c)),   J = B pi,  Q = sums of J over the group g of k,  c = p(k|g)

worst cases f_t <= <L, pi_t>, equalities G pi_t = h_t, ratios W(t|i) <= r W(t|j), and odds 1/r <= J / J' <= r of two
sums J = M pi_t and J' = M' pi_t; and gauges sum_t sum_i max(0, max_r <y_ir, pi_t>) <= M. Units are nats. f is convex
and positively homogeneous, f(pi) = max over subnormalised b of <B' log(b/c), pi>, so that for ANY posteriors b and ANY
multipliers of the right sign

    optimum >= sum_e p(e) min_t R(e, t) + const,

    R = C + sum_k theta_k B_k' log(b_k/c_k) + sum_k lambda_k B_k' log(b_k/c_k) + sum_j s_j C_j
          + omega_t (B' log(b/c) - L) - A' nu - G' eta,      const = sum_t eta_t h_t - lambda L - s D        (*)

and for a gauge with weight mu and rho_irt >= 0, sum_r rho_irt <= mu: R += sum_ir rho_irt y_ir, const -= mu M.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import Infeasible, InputError, SolverFailed

__all__ = ["Gauge", "Multipliers", "NoChannel", "Program", "Solution", "Term", "Unfinished", "is_zero"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Exact: TypeAlias = NDArray[Any]  # dtype object: Python's integers or Fractions


@dataclass(frozen=True, eq=False)
class Term:
    """f(pi) of one secret: I(S;T), or I(S;T|Z) with rows k = (s, z) in groups g = z.

    ``counts`` (K, n) are whole-number joint weights N(k, e) out of the total N; B[k, e] = N(k, e) / N(e).
    ``group`` (K,) says which rows share a normaliser: all 0 without side information. With ``foreign`` the rows e have
    other weights than N(e) here: information under another law than that of the program.
    """

    counts: Exact
    group: Ints
    foreign: bool = False


@dataclass(frozen=True, eq=False)
class Gauge:
    """sum over letters and parts of max(0, largest of <row, pi_t>) <= limit; ``parts`` (R, n) in units of pi."""

    parts: tuple[Exact, ...]
    limit: Fraction

    def at_constant(self, mass: Exact) -> list[list[Fraction]]:
        """The rows of each part at the constant channel, <row, p>."""
        total = int(sum(mass))
        return [
            [
                sum((entry * int(n) for entry, n in zip(row, mass, strict=True) if entry), Fraction(0)) / total
                for row in part
            ]
            for part in self.parts
        ]

    def floor(self, mass: Exact) -> Fraction:
        """What every channel reaches at least, by convexity: the gauge of the constant channel."""
        return sum((max(Fraction(0), *values) for values in self.at_constant(mass)), Fraction(0))

    def ties(self, mass: Exact) -> Iterator[Exact]:
        """Rows with <row, pi_t> = 0 in every letter, where the limit is this floor: what is best stays equal."""
        if self.limit > self.floor(mass):
            return
        for part, values in zip(self.parts, self.at_constant(mass), strict=True):
            most = max(Fraction(0), *values)
            best = [row for row, value in zip(part, values, strict=True) if value == most]
            if not most:  # as good as nothing
                best.insert(0, np.zeros(len(mass), dtype=object))
            yield from (row - best[0] for row in best[1:])


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise over pi(e, t) = p(e) W(t|e); every figure is a whole number or a Fraction, limits of leakage in nats.

    ``mass`` (n,) N(e) > 0; ``allowed`` (n, m) false where a transition is forbidden; ``cost`` (n, m) per unit of pi;
    ``objective`` (theta, term); ``distortions`` (matrix, limit); ``leakages`` (term, limit); ``worst`` (term, L (n,)):
    f_t <= sum_e L(e) pi(e, t); ``independent`` counts (V, n) of each view; ``marginal`` the law of the letters;
    ``local_dp`` (rows, r): W(t|i) <= r W(t|j) for all i, j in rows; ``pairs`` (i, j, r): W(t|i) <= r W(t|j); ``odds``
    (counts, against, r): counts W_t between against W_t / r and r against W_t, both (K, n); ``gauges`` see `Gauge`;
    ``beginning`` a law of the letters inside the limits, where the search should begin.
    """

    mass: Exact
    letters: int
    allowed: NDArray[np.bool_]
    cost: Exact
    objective: tuple[tuple[Fraction, Term], ...] = ()
    distortions: tuple[tuple[Exact, Fraction], ...] = ()
    leakages: tuple[tuple[Term, Fraction], ...] = ()
    worst: tuple[tuple[Term, Exact], ...] = ()
    independent: tuple[Exact, ...] = ()
    marginal: tuple[Fraction, ...] | None = None
    local_dp: tuple[tuple[Ints, Fraction], ...] = ()
    pairs: tuple[tuple[int, int, Fraction], ...] = ()
    odds: tuple[tuple[Exact, Exact, Fraction], ...] = ()
    gauges: tuple[Gauge, ...] = ()
    beginning: tuple[Fraction, ...] | None = None

    def __post_init__(self) -> None:
        n, m = len(self.mass), self.letters
        if n == 0 or m == 0:
            raise InputError(f"a recipe needs rows and values; there are {n} and {m}")
        if min(self.mass) <= 0:
            raise InputError(f"row {int(np.argmin(self.mass))} has no mass; leave it out")
        shapes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]]
        shapes = {"allowed": (self.allowed.shape, (n, m)), "cost": (self.cost.shape, (n, m))}
        shapes |= {f"distortion {j}": (C.shape, (n, m)) for j, (C, _) in enumerate(self.distortions)}
        terms = [*(t for _, t in self.objective), *(t for t, _ in self.leakages), *(t for t, _ in self.worst)]
        shapes |= {f"term {k}": (term.counts.shape, (len(term.group), n)) for k, term in enumerate(terms)}
        shapes |= {f"view {k}": (value.shape[1:], (n,)) for k, value in enumerate(self.independent)}
        shapes |= {f"worst case {k}": (most.shape, (n,)) for k, (_, most) in enumerate(self.worst)}
        shapes |= {f"odds {k}": (against.shape, (len(v), n)) for k, (v, against, _) in enumerate(self.odds)}
        shapes |= {
            f"gauge {k}, {i}": (part.shape[1:], (n,))
            for k, g in enumerate(self.gauges)
            for i, part in enumerate(g.parts)
        }
        shapes |= {} if self.marginal is None else {"marginal": ((len(self.marginal),), (m,))}
        for name, (found, wanted) in shapes.items():
            if found != wanted:
                raise InputError(f"{name} has shape {found}, not {wanted}")
        tables = [*(term.counts for term in terms if not term.foreign), *self.independent]
        for k, counts in enumerate(tables):
            if ((sums := counts.sum(axis=0)) != self.mass)[sums != 0].any():  # a row may have no part in a table
                raise InputError(f"table {k} of counts does not add up to the mass of every row")
        ratios = [*(r for _, r in self.local_dp), *(r for *_, r in self.pairs), *(r for *_, r in self.odds)]
        if any(ratio < 1 for ratio in ratios):
            raise InputError(f"a ratio of probabilities is bounded by {min(ratios)} < 1")
        if self.marginal is not None and (min(self.marginal) < 0 or sum(self.marginal) != 1):
            raise InputError("the distribution of the values is not a probability vector")

    @property
    def total(self) -> int:
        return int(sum(self.mass))


@dataclass(frozen=True, eq=False)
class Multipliers:
    """What (*) needs; natural logarithms.

    ``posteriors`` log(b/c) (K, m) per objective term, then per leakage limit; ``leakage`` and ``distortion`` >= 0 per
    limit; ``worst`` (m,) >= 0 and ``worst_posteriors`` (K, m) per worst case; ``equal`` (rows, m) of either sign: rows
    p(v|e) - p(v) of each view without its last value, then a row of ones for the marginal; ``pairs`` (#, m) >= 0 for
    r W(t|j) - W(t|i) >= 0; ``floors`` per local_dp the (R, m) multipliers >= 0 of W - y >= 0 and of r y - W >= 0;
    ``odds`` (2K, m) >= 0 for (counts - against / r) / N(e), then for (r against - counts) / N(e); ``gauges`` mu >= 0
    and for each part rho (R, m) >= 0.
    """

    posteriors: tuple[Floats, ...] = ()
    leakage: Floats = field(default_factory=lambda: np.zeros(0))
    distortion: Floats = field(default_factory=lambda: np.zeros(0))
    worst: tuple[Floats, ...] = ()
    worst_posteriors: tuple[Floats, ...] = ()
    equal: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    pairs: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    floors: tuple[tuple[Floats, Floats], ...] = ()
    odds: tuple[Floats, ...] = ()
    gauges: tuple[tuple[float, tuple[Floats, ...]], ...] = ()


@dataclass(frozen=True, eq=False)
class Solution:
    """A float channel ``pi``, with ``value`` and a ``bound`` from ``multipliers`` (in doubles).

    ``inner`` is a point well inside the limits, for repairs; ``channel`` is the exact vertex where the program is
    linear; ``snapshot`` starts the search of the program with other limits, ``nearby`` that with fewer entries.
    """

    pi: Floats
    multipliers: Multipliers
    value: float
    bound: float
    iterations: int
    inner: Floats | None = None
    channel: tuple[tuple[Fraction, ...], ...] | None = None
    snapshot: Any = None
    nearby: Any = None


def is_zero(limit: Any) -> bool:
    """Whether a limit of leakage, one number or one for every row, is zero."""
    return not np.any(limit)


class Unfinished(SolverFailed):
    """The gap was not reached: the best ``solution`` if there is one, ``multipliers`` of a bound, the ``last`` iterate.

    The last iterate may miss limits by a little.
    """

    def __init__(
        self, message: str, solution: Solution | None, multipliers: Multipliers | None, last: Floats | None
    ) -> None:
        super().__init__(message)
        self.solution, self.multipliers, self.last = solution, multipliers, last


class NoChannel(Infeasible):
    """No channel keeps every limit: the bound of the multipliers without the objective is above 0, which proves it."""

    def __init__(self, message: str, multipliers: Multipliers | None = None, bound: float = np.inf) -> None:
        super().__init__(message)
        self.multipliers, self.bound = multipliers, bound
