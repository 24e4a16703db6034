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
from math import erfc, exp, inf, log, log1p, nextafter, prod, sqrt
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from dalenius.core.noise import Kernels, kernel_of
from dalenius.core.numbers import exact
from dalenius.core.query import FINITE, Interval, Query, Reach, label
from dalenius.errors import Unsupported
from dalenius.measures.capacity import Bracket, bits
from dalenius.measures.individual import SEEN, Belief, Individual, largest_of_sets, most_bits, ordered
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import UNIT, Laws
from dalenius.solvers.selection import best_selection
from dalenius.solvers.smith import LARGEST, WIDEST, Input, interval_capacity, points_capacity, sampled

__all__ = [
    "QueryMeasures",
    "learned",
    "measures_of_query",
    "query_capacity",
    "query_dp_epsilon",
    "query_independent",
    "query_whole",
]

Floats: TypeAlias = NDArray[np.float64]
Family: TypeAlias = Literal["gaussian", "laplace"]

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


def query_dp_epsilon(query: Query, *, neighbours: bool = True) -> float | None:
    """The level of differential privacy, rounded up, between neighbours or between any two inputs; None is infinite."""
    return _measured(query).level(neighbours)


def measures_of_query(query: Query, *, gap: float = GAP) -> QueryMeasures:
    """Every measure of a query; groups of two and three records are bounded by Theorem 4 when a search is too long."""
    sized = _measured(query)
    groups = {1: sized.individual(1, gap)}
    whole, remarks = sized.capacity(gap), list(sized.remarks)
    few = not isinstance(query.letters, Interval) and query.records <= MANY and len(query.values) <= FEW
    for k in range(2, min(query.records, 3) + 1):
        one = groups[1]
        try:
            if not few:
                raise Unsupported("")
            groups[k] = sized.individual(k, gap)
        except Unsupported:
            high = min(nextafter(k * one.high, inf), whole[1])
            groups[k] = Individual(one.low, max(one.low, high), (), (), ())
            remarks.append(f"C_{k} is bounded by C_1 below and by {k} C_1 and the capacity above, not searched")
    independent, groups[1] = ordered(sized.independent(gap), groups[1], _most_held(query))
    whole = max(whole[0], *(g.low for g in groups.values())), whole[1]  # all records tell no less than some
    return QueryMeasures(groups, independent, whole, sized.level(neighbours=True), sized.level(False), tuple(remarks))


def _most_held(query: Query) -> float:
    """The most bits that one record holds, rounded up; a record of an interval holds any number."""
    if isinstance(query.letters, Interval):
        return inf
    return max(most_bits(len(alphabet)) for alphabet in query.letters)


def _most_nats(letters: int) -> float:
    """ln of a number of letters, rounded up."""
    return log(letters) * (1 + 4 * UNIT)


def _named(reach: Reach) -> tuple[str, ...]:
    return tuple(f"X{i + 1}" for i in reach.group)


# --- finite noise -----------------------------------------------------------------------------------------------------
class FiniteNoise:
    def __init__(self, query: Query) -> None:
        self.query = query
        kernel: Kernels = kernel_of(query)
        once: dict[tuple[int, int], int] = {}  # the hash of a pair of integers is much quicker than that of a fraction
        same = np.array([once.setdefault(v.as_integer_ratio(), k) for k, v in enumerate(kernel.entries)])
        places, self.which = np.unique(same[kernel.places], axis=0, return_inverse=True)
        entries = np.array([float(v) for v in kernel.entries])
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
            high = max(high, min(found.high, _most_nats(len(reach.letters))))  # no more than these records hold
            if best is None or found.low > best.low:
                best, at = found, reach
        assert best is not None
        assert at is not None
        low, high = bits(best.low, high) if len(self.laws) > 1 else (0.0, 0.0)
        high = min(high, max(most_bits(len(reach.letters)) for reach in self.query.reaches(group)))
        total, labels = float(best.weights.sum()), self.query.labels()
        first = {int(r): k for k, r in reversed(list(enumerate(self.which.tolist())))}
        beliefs = tuple(
            Belief(word, w / total, (labels[first[row]],))
            for word, row, w in zip(at.letters, best.rows, best.weights.tolist(), strict=True)
            if w > SEEN
        )
        return Individual(low, high, _named(at), ("f",), beliefs)

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
            low, high = max(low, ends[0]), max(high, ends[1])
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
            above, below = self.entries[order[top]], self.entries[order[low]]
            if above and not below:
                return None
            if above > worst * below:
                worst = above / below
        return _log_up(worst)


def _log_up(q: Fraction) -> float:
    """ln q rounded up, for q >= 1 of any size."""
    if q == 1:
        return 0.0
    shift = max(0, q.numerator.bit_length() - q.denominator.bit_length() - 60)
    return nextafter((log(float(q / (1 << shift))) + shift * log(2)) * (1 + 8 * UNIT) + 4 * UNIT, inf)


# --- Gaussian and Laplace noise ---------------------------------------------------------------------------------------
class RealNoise:
    def __init__(self, query: Query, listed: bool = True) -> None:
        assert query.parameter is not None
        self.query, self.family = query, cast(Family, query.noise)
        self.parameter = query.parameter
        self.remarks = (f"{query.noise} noise is real; rounding of a sampler is not part of these figures",)
        if listed and not isinstance(query.letters, Interval):
            self.values = np.array(
                [[float(c) for c in v] for v in query.values if not isinstance(v, str)], dtype=np.float64
            )

    def _steps(self, distance: Fraction) -> float:
        """A distance in units of the noise."""
        if self.family == "laplace":
            return float(distance / self.parameter)
        square = distance * distance / self.parameter
        return sqrt(float(square)) if square > Fraction(1, 10**300) else 0.0

    @property
    def unit(self) -> float:
        return sqrt(float(self.parameter)) if self.family == "gaussian" else float(self.parameter)

    def _loosened(self, found: Input, reach: float) -> tuple[float, float]:
        """Inputs are off by a few roundings; dC / dlog(scale) <= 1 for Gaussian noise, |D'| <= 1 for Laplace noise."""
        slack = 16 * UNIT * (2 * reach + 4)
        return max(0.0, found.low - slack), found.high + slack

    def _span(self, half: Fraction) -> tuple[float, float]:
        """Every input between -half and half."""
        reach = self._steps(half)
        return self._loosened(interval_capacity(self.family, reach), reach)

    def _pair(self, distance: float) -> tuple[float, float]:
        """Two inputs at a distance in units of the noise."""
        reach = distance / 2
        if reach > WIDEST:  # nearly one bit, and never more; closer inputs tell less
            return self._loosened(points_capacity(self.family, np.array([-WIDEST, WIDEST])), WIDEST)[0], log(2)
        low, high = self._loosened(points_capacity(self.family, np.array([-reach, reach])), reach)
        return low, min(high, log(2))

    def _points(self, places: NDArray[np.intp]) -> tuple[float, float]:
        """Any law on some values of f."""
        values = self.values[np.unique(places)]
        if values.shape[1] > 1:
            low, total = 0.0, 0.0
            for c in range(values.shape[1]):
                ends = self._line(np.unique(values[:, c]))
                low, total = max(low, ends[0]), total + ends[1]
            return low, min(total * (1 + 4 * UNIT), log(len(values)) * (1 + 4 * UNIT))
        return self._line(np.unique(values[:, 0]))

    def _line(self, numbers: Floats) -> tuple[float, float]:
        middle = (numbers[0] + numbers[-1]) / 2
        scaled = (numbers - middle) / self.unit
        reach = float(np.abs(scaled).max())
        if len(numbers) == 1:
            return 0.0, 0.0
        if len(numbers) == 2:
            return self._pair(2 * reach)
        most = log(len(numbers)) * (1 + 4 * UNIT)
        if reach > LARGEST or len(numbers) > 1500:
            wide = self._loosened(interval_capacity(self.family, reach), reach)
            return self._pair(2 * reach)[0], min(wide[1], most)
        low, high = self._loosened(points_capacity(self.family, scaled), reach)
        return low, min(high, most)

    def individual(self, group: int, gap: float) -> Individual:
        if isinstance(self.query.letters, Interval):
            low, high = self._span((self.query.ends[1] - self.query.ends[0]) / 2)
            return Individual(*bits(low, high), tuple(f"X{i + 1}" for i in range(group)), ("f",), ())
        best: tuple[float, tuple[tuple[tuple[str, ...], float, int], ...]] = (0.0, ())
        top, at = 0.0, None
        for reach in self.query.reaches(group):
            lines = np.array(reach.lines)
            classes = [np.unique(lines[:, k]) for k in range(lines.shape[1])]
            low, high, chosen = self._selection(classes, gap)
            top = max(top, min(high, _most_nats(len(reach.letters))))  # no more than these records hold
            if at is None or low > best[0]:
                best, at = (low, tuple((reach.letters[k], w, int(v)) for k, w, v in chosen)), reach
        assert at is not None
        labels = self.query.labels()
        beliefs = tuple(Belief(word, w, (labels[v],)) for word, w, v in best[1])
        low, high = bits(best[0], max(top, best[0]))
        high = min(high, max(most_bits(len(reach.letters)) for reach in self.query.reaches(group)))
        return Individual(low, high, _named(at), ("f",), beliefs)

    def _selection(
        self, classes: list[NDArray[np.intp]], gap: float
    ) -> tuple[float, float, list[tuple[int, float, int]]]:
        """Bracket in nats of one value for each class, and (class, weight, value) of what reaches the lower end."""
        a, b, (u, v), distance = self._farthest(classes)
        low, high = self._pair(distance)
        pair = [(a, 0.5, u), (b, 0.5, v)] if distance else [(a, 1.0, u)]
        if len(classes) == 2 or not distance:
            if self.values.shape[1] == 1 or self.family == "gaussian":
                return low, high, pair
            low = 0.0  # along several coordinates Laplace noise is not one number; the best coordinate bounds it below
            for c in range(self.values.shape[1]):
                low = max(low, self._pair(self._farthest(classes, c)[3])[0])
            union = np.unique(np.concatenate(classes))
            return low, min(self._points(union)[1], log(2)), pair
        union = np.unique(np.concatenate(classes))
        top = min(self._points(union)[1], log(len(classes)) * (1 + 4 * UNIT))
        chosen = pair
        numbers = self.values[union, 0]
        reach = float(numbers.max() - numbers.min()) / 2 / self.unit
        if self.values.shape[1] > 1 or reach > LARGEST or len(union) > 300:
            if self.family == "laplace" and self.values.shape[1] > 1:
                low = max(self._pair(self._farthest(classes, c)[3])[0] for c in range(self.values.shape[1]))
                return low, max(top, low), chosen
            spread = self._spread(classes)
            apart = self._told_apart(spread)
            if apart > low:
                low, chosen = apart, [(k, 1 / len(spread), v) for k, v in enumerate(spread)]
            return low, max(top, low), chosen
        middle = (numbers.max() + numbers.min()) / 2
        place = {int(v): k for k, v in enumerate(union)}
        laws = sampled(self.family, (numbers - middle) / self.unit, reach)
        local = [np.array([place[int(v)] for v in c]) for c in classes]
        found = best_selection(laws, local, gap=gap, nodes=200)
        used = [
            (k, union[r], float(w)) for k, (r, w) in enumerate(zip(found.rows, found.weights, strict=True)) if w > SEEN
        ]
        ends = self._points(np.array([v for _, v, _ in used]))
        if ends[0] > low:
            total = sum(w for _, _, w in used)
            low, chosen = ends[0], [(k, w / total, int(v)) for k, v, w in used]
        return low, max(top, low), chosen

    def _spread(self, classes: list[NDArray[np.intp]]) -> list[int]:
        """One value for each class, each as far as it can be from those chosen before it."""
        first, second, (u, v), _ = self._farthest(classes)
        chosen = {first: u, second: v}
        for k in (k for k in range(len(classes)) if k not in chosen):
            nearest = np.min([self._distances(classes[k], at) for at in chosen.values()], axis=0)
            chosen[k] = int(classes[k][int(nearest.argmax())])
        return [chosen[k] for k in range(len(classes))]

    def _distances(self, places: NDArray[np.intp], at: int) -> Floats:
        found: Floats = np.sqrt(((self.values[places] - self.values[at]) ** 2).sum(axis=1))
        return found

    def _told_apart(self, chosen: list[int]) -> float:
        """A lower end in nats for equally likely values: the nearest one to what is seen is rarely wrong, and Fano.

        Another value than the right one is nearest only if the noise reaches half the distance between the two;
        Laplace noise is one number here.
        """
        many = len(chosen)
        step = min(float(self._distances(np.array(chosen[:k]), v).min()) for k, v in enumerate(chosen) if k) / self.unit
        one = erfc(step / sqrt(8)) / 2 if self.family == "gaussian" else exp(-step / 2) / 2
        wrong = min(1 - 1 / many, (many - 1) * one * (1 + 1e-9))
        if wrong <= 0:
            return max(0.0, log(many) * (1 - 8 * UNIT))
        unsure = -wrong * log(wrong) - (1 - wrong) * log1p(-wrong) + wrong * log(max(1, many - 1))
        return max(0.0, (log(many) - unsure) - 1e-14 * many)

    def _farthest(
        self, classes: list[NDArray[np.intp]], coordinate: int | None = None
    ) -> tuple[int, int, tuple[int, int], float]:
        """Two classes and a value of each, as far apart as they come, by Euclid or along one coordinate."""
        best = (0, 0, (int(classes[0][0]), int(classes[0][0])), 0.0)
        values = self.values if coordinate is None else self.values[:, [coordinate]]
        if values.shape[1] > 1 and prod(max(map(len, classes)) for _ in range(2)) > 1 << 22:
            raise Unsupported("too many pairs of vectors to compare")
        for a in range(len(classes)):
            for b in range(a + 1, len(classes)):
                if values.shape[1] == 1:
                    x, y = values[classes[a], 0], values[classes[b], 0]
                    ends = [(int(x.argmin()), int(y.argmax())), (int(x.argmax()), int(y.argmin()))]
                    i, j = max(ends, key=lambda e: abs(x[e[0]] - y[e[1]]))
                    far = float(abs(x[i] - y[j]))
                else:
                    square = ((values[classes[a]][:, None] - values[classes[b]][None]) ** 2).sum(axis=2)
                    i, j = divmod(int(square.argmax()), square.shape[1])
                    far = sqrt(float(square[i, j]))
                if far / self.unit > best[3]:
                    best = (a, b, (int(classes[a][i]), int(classes[b][j])), far / self.unit)
        return best

    def capacity(self, _gap: float) -> Bracket:
        if isinstance(self.query.letters, Interval):
            return bits(*self._span((self.query.ends[1] - self.query.ends[0]) / 2))
        return bits(*self._points(np.arange(len(self.values))))

    def independent(self, gap: float) -> Bracket:
        if isinstance(self.query.letters, Interval):
            moved = self.query.letters.high - self.query.letters.low
            return bits(*self._span(moved / (2 if self.query.kind == "sum" else 2 * self.query.records)))
        patterns: dict[tuple[float, ...], NDArray[np.intp]] = {}
        for reach in self.query.reaches(1):
            for line in reach.lines:
                shape = self.values[list(line)] - self.values[line[0]]
                patterns.setdefault(tuple(np.round(shape.ravel(), 9).tolist()), np.array(line))
        low = high = 0.0
        if len(patterns) > 200:
            return 0.0, self.individual(1, gap).high
        for places in patterns.values():
            if self.values.shape[1] > 1:
                single = [np.array([v]) for v in np.unique(places)]
                ends = self._selection(single, gap)[:2] if len(single) > 1 else (0.0, 0.0)
            else:
                ends = self._points(places)
            low, high = max(low, ends[0]), max(high, ends[1])
        return bits(low, high * (1 + 1e-8))

    def level(self, neighbours: bool) -> float | None:
        """Gaussian noise has none; Laplace noise the largest distance, summed over coordinates, over the scale."""
        if self.family == "gaussian":
            return None
        if isinstance(self.query.letters, Interval):
            low, high = self.query.ends
            moved = (high - low) / (self.query.records if neighbours else 1)
            return nextafter(float(moved / self.parameter), inf)
        lines = [r.lines for r in self.query.reaches(1)] if neighbours else [(tuple(range(len(self.values))),)]
        far = 0.0
        for line in {line for some in lines for line in some}:
            at = self.values[list(dict.fromkeys(line))]
            if len(at) > 3000:
                raise Unsupported("too many values to compare")
            far = max(far, float(np.abs(at[:, None] - at[None]).sum(axis=2).max()))
        return nextafter(far / self.unit * (1 + 8 * UNIT), inf)


class ManyRecords(RealNoise):
    """A count, sum or mean over so many records that its values are not listed: all counts by its ends.

    A record with two letters can be tied to the two ends of the range; more letters tell at most what any law on the
    range tells. All others known, a record moves f by its own letters alone.
    """

    def __init__(self, query: Query) -> None:
        super().__init__(query, listed=False)
        letters = query.alphabets[0]
        numbers = [Fraction(v == query.counted) if query.kind == "count" else exact(v) for v in letters]
        over = query.records if query.kind == "mean" else 1
        self.moves = np.array(sorted({float(v / over) for v in numbers}))
        self.span = (max(numbers) - min(numbers)) / over
        self.least = query.records * min(numbers) / over

    def _farthest_apart(self) -> float:
        return self._steps(self.query.records * self.span)

    def individual(self, group: int, gap: float) -> Individual:  # noqa: ARG002
        many = len(self.query.alphabets[0]) ** group
        low, high = self._pair(self._farthest_apart())
        if many > 2:
            high = max(low, min(_most_nats(many), self._span(self.query.records * self.span / 2)[1]))
        ends = label((self.least,)), label((self.least + self.query.records * self.span,))
        letters = sorted(self.query.alphabets[0], key=lambda v: v == self.query.counted)
        words = [letters[0], letters[-1]]
        if self.query.kind != "count":
            words = [min(letters, key=exact), max(letters, key=exact)]
        beliefs = tuple(Belief((word,), 0.5, (end,)) for word, end in zip(words, ends, strict=True))
        names = tuple(f"X{i + 1}" for i in range(group))
        return Individual(*bits(low, high), names, ("f",), beliefs if group == 1 and self.span else ())

    def capacity(self, _gap: float) -> Bracket:
        low = self._pair(self._farthest_apart())[0]
        return bits(low, max(low, self._span(self.query.records * self.span / 2)[1]))

    def independent(self, gap: float) -> Bracket:  # noqa: ARG002
        return bits(*self._line(self.moves))

    def level(self, neighbours: bool) -> float | None:
        if self.family == "gaussian":
            return None
        moved = self.span * (1 if neighbours else self.query.records)
        return nextafter(float(moved / self.parameter), inf)
