"""A query under Gaussian or Laplace noise: values of f on a line, told apart by their distance."""

from fractions import Fraction
from math import erfc, exp, inf, log, log1p, nextafter, prod, sqrt
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from dalenius.core.numbers import exact
from dalenius.core.query import Interval, Query, Reach, label
from dalenius.errors import Unsupported
from dalenius.measures.capacity import Bracket, bits
from dalenius.measures.individual import SEEN, Belief, Individual, most_bits
from dalenius.solvers.divergence import UNIT
from dalenius.solvers.selection import best_selection
from dalenius.solvers.smith import LARGEST, WIDEST, Input, interval_capacity, points_capacity, sampled

__all__ = ["ManyRecords", "RealNoise", "most_nats", "names_of"]


Floats: TypeAlias = NDArray[np.float64]
Family: TypeAlias = Literal["gaussian", "laplace"]

SEARCHED = 40  # values of f up to which the best choice among them is searched


def most_nats(letters: int) -> float:
    """ln of a number of letters, rounded up."""
    return log(letters) * (1 + 4 * UNIT)


def names_of(reach: Reach) -> tuple[str, ...]:
    """The records of a group, as they are written."""
    return tuple(f"X{i + 1}" for i in reach.group)


class RealNoise:
    """What a query tells under real noise, from the distances between its values in units of the noise."""

    def __init__(self, query: Query, listed: bool = True) -> None:
        assert query.parameter is not None
        self.query, self.family = query, cast(Family, query.noise)
        self.parameter = query.parameter
        self.remarks = (f"{query.noise} noise is real; rounding of a sampler is not part of these figures",)
        if listed and not isinstance(query.letters, Interval):
            self.values = np.array(
                [[float(c) for c in value] for value in query.values if not isinstance(value, str)], dtype=np.float64
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
                low = max(low, ends[0])
                total = total + ends[1]
            # The noise of the coordinates is independent: what they tell adds up at most, and is no more than which
            # value it is.
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
            # Any input between the ends may be chosen there, which never tells less.
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
            top = max(top, min(high, most_nats(len(reach.letters))))  # no more than these records hold
            if at is None or low > best[0]:
                best = (low, tuple((reach.letters[k], w, int(v)) for k, w, v in chosen))
                at = reach
        assert at is not None
        labels = self.query.labels()
        beliefs = tuple(Belief(word, w, (labels[v],)) for word, w, v in best[1])
        low, high = bits(best[0], max(top, best[0]))
        high = min(high, max(most_bits(len(reach.letters)) for reach in self.query.reaches(group)))
        return Individual(low, high, names_of(at), ("f",), beliefs)

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
                low = apart
                chosen = [(k, 1 / len(spread), value) for k, value in enumerate(spread)]
            return low, max(top, low), chosen
        middle = (numbers.max() + numbers.min()) / 2
        place = {int(value): k for k, value in enumerate(union)}
        laws = sampled(self.family, (numbers - middle) / self.unit, reach)
        local = [np.array([place[int(value)] for value in c]) for c in classes]
        # Only the lower end is read off the search: of many values the first selections do, and no row is a mixture.
        many = len(union) > SEARCHED
        found = best_selection(laws, local, gap=gap, nodes=1 if many else 200, whole=many)
        used = [
            (k, union[row], float(weight))
            for k, (row, weight) in enumerate(zip(found.rows, found.weights, strict=True))
            if weight > SEEN
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
        step = (
            min(float(self._distances(np.array(chosen[:k]), value).min()) for k, value in enumerate(chosen) if k)
            / self.unit
        )
        one = erfc(step / sqrt(8)) / 2 if self.family == "gaussian" else exp(-step / 2) / 2
        # Upwards, by the union of all others; beyond an even guess the entropy would fall again.
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
            raise Unsupported("too many pairs of vectors to compare", do="Use a coarser grid.")
        for a in range(len(classes)):
            for b in range(a + 1, len(classes)):
                if values.shape[1] == 1:
                    x = values[classes[a], 0]
                    y = values[classes[b], 0]
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
        # What somebody learns who knows all others is no more than what anybody can learn.
        if len(patterns) > 200:
            return 0.0, self.individual(1, gap).high
        for places in patterns.values():
            if self.values.shape[1] > 1:
                single = [np.array([value]) for value in np.unique(places)]
                ends = self._selection(single, gap)[:2] if len(single) > 1 else (0.0, 0.0)
            else:
                ends = self._points(places)
            low = max(low, ends[0])
            high = max(high, ends[1])
        # Patterns are alike up to nine decimals, so that one may stand for another a little wider.
        return bits(low, high * (1 + 1e-8))

    def level(self, neighbours: bool) -> float | None:
        """Gaussian noise has none; Laplace noise the largest distance, summed over coordinates, over the scale."""
        if self.family == "gaussian":
            return None
        if isinstance(self.query.letters, Interval):
            low, high = self.query.ends
            moved = (high - low) / (self.query.records if neighbours else 1)
            # The quotient is exact until it becomes a double, which may be the one below it.
            return nextafter(float(moved / self.parameter), inf)
        lines = [r.lines for r in self.query.reaches(1)] if neighbours else [(tuple(range(len(self.values))),)]
        far = 0.0
        for line in {line for some in lines for line in some}:
            at = self.values[list(dict.fromkeys(line))]
            if len(at) > 3000:
                raise Unsupported("too many values to compare", do="Use a coarser grid.")
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
        numbers = [Fraction(letter == query.counted) if query.kind == "count" else exact(letter) for letter in letters]
        over = query.records if query.kind == "mean" else 1
        self.moves = np.array(sorted({float(number / over) for number in numbers}))
        self.span = (max(numbers) - min(numbers)) / over
        self.least = query.records * min(numbers) / over

    def _farthest_apart(self) -> float:
        return self._steps(self.query.records * self.span)

    def individual(self, group: int, gap: float) -> Individual:  # noqa: ARG002
        many = len(self.query.alphabets[0]) ** group
        low, high = self._pair(self._farthest_apart())
        if many > 2:
            high = max(low, min(most_nats(many), self._span(self.query.records * self.span / 2)[1]))
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
