r"""What a query under noise tells about one record, or a few, to any adversary; proved brackets in bits.

By Theorem 2 of paper 001 the worst adversary believes that the others are a function of the record, so all that counts
is which values of f each letter of the record can go with:

    C_1 = max over records i and over one reachable value v(a) for each letter a of  capacity {noise(v(a))}.

The classes of reachable values come from dynamic programming over the records (`Query.reaches`), never from the table
of all outcomes. Finite noise goes to the branch and bound of any channel. Under Gaussian or Laplace noise a record with
two letters is worth the two values farthest apart; with more letters a choice of values gives the lower end, and the
best law on all values, or log of the number of letters, the upper one. Records of an interval reach every law on the
range of f: Smith's capacity, which (115) only bounds.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, nextafter

import numpy as np

from dalenius.core.query import FINITE, Interval, Query
from dalenius.core.query_noise import Kernels, kernel_of
from dalenius.errors import Unsupported
from dalenius.measures.capacity import Bracket, bits
from dalenius.measures.individual import SEEN, Belief, Individual, largest_of_sets, most_bits, ordered
from dalenius.measures.real_noise import ManyRecords, RealNoise, most_nats, names_of
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import UNIT, Laws
from dalenius.solvers.selection import best_selection

__all__ = [
    "QueryMeasures",
    "learned",
    "measures_of_query",
    "query_capacity",
    "query_dp_epsilon",
    "query_independent",
    "query_whole",
]

GAP = 1e-9  # nats
NODES = 3000
MANY = 3000  # records from which on a sum is measured by its ends, and its values are not listed
FEW = 64  # values of f up to which groups are searched, and not only bounded
_TINY = 2.0**-1000


@dataclass(frozen=True)
class QueryMeasures:
    """Brackets in bits; levels of differential privacy rounded up, None is infinite."""

    groups: dict[int, Individual]
    independent: Bracket
    capacity: Bracket
    dp_epsilon: float | None
    strong_dp_epsilon: float | None
    remarks: tuple[str, ...]

    @property
    def worst(self) -> Individual:
        """One record against all adversaries."""
        return self.groups[1]


def _measured(query: Query) -> "FiniteNoise | RealNoise":
    """What measures a query: its finite kernel, its values, or the ends of a sum of many records."""
    if query.noise in FINITE:
        return FiniteNoise(query)
    added = query.kind in ("count", "sum", "mean") and not isinstance(query.letters, Interval)
    return ManyRecords(query) if added and query.records > MANY else RealNoise(query)


def query_capacity(query: Query, *, group: int = 1, gap: float = GAP) -> Individual:
    """C_1 of a query under its noise, or C_k for groups of k records.

    >>> q = Query(2, (("0", "1"),) * 2, "parity", "randomised-response", Fraction(1, 4))
    >>> found = query_capacity(q)
    >>> round(found.low, 9), found.high - found.low < 1e-9
    (0.188721876, True)
    """
    return _measured(query).individual(group, gap)


def learned(query: Query, adversary: Individual) -> float | None:
    """A lower end, in bits, of what an adversary learns that believes in the same values of f, at odds of its choice.

    None under Gaussian or Laplace noise, where a whole measure costs no more.

    >>> q = Query(2, (("0", "1"),) * 2, "parity", "randomised-response", Fraction(1, 4))
    >>> round(learned(q.at(Fraction(1, 10)), query_capacity(q)), 9)
    0.531004406
    """
    return FiniteNoise(query).learned(adversary) if query.noise in FINITE else None


def query_independent(query: Query, *, gap: float = GAP) -> Bracket:
    """C_1 against adversaries for whom the records are independent: the others are known to the worst of them.

    >>> q = Query(2, (("0", "1"),) * 2, "count", "laplace", Fraction(1))
    >>> low, high = query_independent(q)
    >>> round(low, 6), high - low < 1e-6
    (0.127707, True)
    """
    return _measured(query).independent(gap)


def query_whole(query: Query, *, gap: float = GAP) -> Bracket:
    """The capacity of a query under its noise: what it tells about all records together."""
    return _measured(query).capacity(gap)


def query_about(query: Query, values: int, *, own: bool) -> float:
    """What an answer tells about something of a person with so many values, in bits, from above (001, Prop. 6).

    With `own` each letter of a record has so many of them, as where other columns of the same person are read too; else
    it is about somebody whose records are not among those that were asked about, and anything may be tied to them.

    >>> q = Query(2, (("0", "1"),) * 2, "parity", "randomised-response", Fraction(1, 4))
    >>> round(query_about(q, 2, own=True), 9), round(query_about(q, 1, own=False), 9)
    (0.188721876, 0.0)
    """
    sized = _measured(query)
    if isinstance(query.letters, Interval):
        return sized.capacity(GAP)[1] if own else min(sized.capacity(GAP)[1], most_bits(values))
    if isinstance(sized, FiniteNoise) and len(query.values) <= FEW:
        return sized.about(values, own)
    letters = max(map(len, query.alphabets)) if own else 1
    return min(sized.capacity(GAP)[1], most_bits(letters * values))


def query_dp_epsilon(query: Query, *, neighbours: bool = True) -> float | None:
    """The level of differential privacy, rounded up, between neighbours or between any two inputs; None is infinite."""
    return _measured(query).level(neighbours)


def measures_of_query(query: Query, *, gap: float = GAP) -> QueryMeasures:
    """Every measure of a query; groups of two and three records are bounded by Theorem 4 when a search is too long."""
    sized = _measured(query)
    groups = {1: sized.individual(1, gap)}
    whole = sized.capacity(gap)
    remarks = list(sized.remarks)
    few = not isinstance(query.letters, Interval) and query.records <= MANY and len(query.values) <= FEW
    for k in range(2, min(query.records, 3) + 1):
        one = groups[1]
        try:
            if not few:
                raise Unsupported("")
            groups[k] = sized.individual(k, gap)
        except Unsupported:
            # k records tell at most k times what one tells, and no more than all.
            high = min(nextafter(k * one.high, inf), whole[1])
            groups[k] = Individual(one.low, max(one.low, high), (), (), ())
            remarks.append(f"C_{k} is bounded by C_1 below and by {k} C_1 and the capacity above, not searched")
    independent, groups[1] = ordered(sized.independent(gap), groups[1], _most_held(query))
    whole = max(whole[0], *(group.low for group in groups.values())), whole[1]  # all records tell no less than some
    return QueryMeasures(groups, independent, whole, sized.level(neighbours=True), sized.level(False), tuple(remarks))


def _most_held(query: Query) -> float:
    """The most bits that one record holds, rounded up; a record of an interval holds any number."""
    if isinstance(query.letters, Interval):
        return inf
    return max(most_bits(len(alphabet)) for alphabet in query.letters)


# --- finite noise -----------------------------------------------------------------------------------------------------
class FiniteNoise:
    def __init__(self, query: Query) -> None:
        self.query = query
        kernel: Kernels = kernel_of(query)
        once: dict[tuple[int, int], int] = {}  # the hash of a pair of integers is much quicker than that of a fraction
        same = np.array([once.setdefault(entry.as_integer_ratio(), k) for k, entry in enumerate(kernel.entries)])
        places, self.which = np.unique(same[kernel.places], axis=0, return_inverse=True)
        entries = np.array([float(entry) for entry in kernel.entries])
        entries[entries < _TINY] = 0.0  # together far below the last digit of any bracket
        self.laws = Laws(entries[places])
        self.entries, self.places, self.letters = kernel.entries, places, kernel.letters
        self.remarks: tuple[str, ...] = ()

    def individual(self, group: int, gap: float) -> Individual:
        best, high, at = None, 0.0, None
        for reach in self.query.reaches(group):
            lines = self.which[np.array(reach.lines)]
            known = best.low if best else 0.0
            classes = [np.unique(lines[:, k]) for k in range(lines.shape[1])]
            found = best_selection(self.laws, classes, gap=gap, known=known, nodes=NODES)
            high = max(high, min(found.high, most_nats(len(reach.letters))))  # no more than these records hold
            if best is None or found.low > best.low:
                best, at = found, reach
        assert best is not None
        assert at is not None
        low, high = bits(best.low, high) if len(self.laws) > 1 else (0.0, 0.0)
        high = min(high, max(most_bits(len(reach.letters)) for reach in self.query.reaches(group)))
        total = float(best.weights.sum())
        labels = self.query.labels()
        first = {int(r): k for k, r in reversed(list(enumerate(self.which.tolist())))}
        beliefs = tuple(
            Belief(word, weight / total, (labels[first[row]],))
            for word, row, weight in zip(at.letters, best.rows, best.weights.tolist(), strict=True)
            if weight > SEEN
        )
        return Individual(low, high, names_of(at), ("f",), beliefs)

    def about(self, values: int, own: bool) -> float:
        """C_1 with each class of a letter so often, or with so many classes of all rows; never above the capacity."""
        whole, high = self.capacity(GAP)[1], 0.0
        for reach in self.query.reaches(1) if len(self.laws) > 1 else ():
            lines = self.which[np.array(reach.lines)]
            classes = [np.unique(lines[:, k]) for k in range(lines.shape[1])] if own else [np.unique(self.which)]
            many = len(classes) * values
            searched = whole
            if many <= FEW:
                searched = bits(0.0, best_selection(self.laws, classes * values, gap=GAP, known=0.0, nodes=NODES).high)[
                    1
                ]
            high = max(high, min(searched, most_bits(many)))
        return min(whole, high)

    def learned(self, adversary: Individual) -> float:
        place = {label: k for k, label in enumerate(self.query.labels())}
        rows = np.unique(self.which[[place[belief.others[0]] for belief in adversary.beliefs]])
        return bits(smallest_ball(self.laws, at=rows, gap=1e-13).low, 0.0)[0]

    def capacity(self, gap: float) -> Bracket:
        if len(self.laws) == 1:
            return 0.0, 0.0
        ball = smallest_ball(self.laws, gap=gap)
        return bits(ball.low, ball.high)

    def independent(self, gap: float) -> Bracket:
        low = high = 0.0
        for reach in self.query.reaches(1):
            ends = largest_of_sets(self.laws, self.which[np.array(reach.lines)], gap=gap, known=low)
            low = max(low, ends[0])
            high = max(high, ends[1])
        return bits(low, max(low, high))

    def level(self, neighbours: bool) -> float | None:
        """The largest ratio of two entries in one column, over lines of neighbours or over all rows."""
        order = sorted(range(len(self.entries)), key=lambda k: self.entries[k])
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        ranked = rank[self.places]
        lines = [np.arange(len(ranked))[None, :]]
        if neighbours:
            lines = [np.unique(self.which[np.array(r.lines)], axis=0) for r in self.query.reaches(1)]
        pairs: set[tuple[int, int]] = set()
        for part in (line for some in lines for line in some):
            cells = ranked[np.unique(part)]
            pairs |= set(zip(cells.max(axis=0).tolist(), cells.min(axis=0).tolist(), strict=True))
        worst = Fraction(1)
        for top, low in pairs:
            above = self.entries[order[top]]
            below = self.entries[order[low]]
            if above and not below:
                return None
            if above > worst * below:
                worst = above / below
        return _log_up(worst)


def _log_up(q: Fraction) -> float:
    """ln q rounded up, for q >= 1 of any size."""
    if q == 1:
        return 0.0
    # A quotient beyond the range of doubles: its leading bits and a power of two, whose logarithms add up.
    shift = max(0, q.numerator.bit_length() - q.denominator.bit_length() - 60)
    return nextafter((log(float(q / (1 << shift))) + shift * log(2)) * (1 + 8 * UNIT) + 4 * UNIT, inf)


# --- Gaussian and Laplace noise ---------------------------------------------------------------------------------------
