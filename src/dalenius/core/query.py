r"""`Query`: a number, a vector or a label computed from n records, and the noise under which it leaves (paper 001).

    Y = noise(f(x_1, ..., x_n))

A query is a description: what f is, over which letters, with which noise. Noise of a finite kind has an exact kernel
(`core.query_noise`); Gaussian and Laplace noise are densities. `measures.query` says what the pair
tells about one record.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise, product
from math import comb, gcd, lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.numbers import exact, written
from dalenius.errors import InputError, Unsupported

__all__ = ["ADDED", "FINITE", "KINDS", "NOISES", "Interval", "Query", "Reach", "Value", "different", "label"]

Value: TypeAlias = tuple[Fraction, ...] | str
"""A vector of exact numbers (of length one for a number), or a label."""

State: TypeAlias = tuple[int, ...]

ADDED = ("count", "sum", "mean")
KINDS = ("count", "sum", "mean", "histogram", "parity")
FINITE = ("randomised-response", "geometric", "exponential", "table")
NOISES = (*FINITE, "gaussian", "laplace")
MOST = 1 << 21  # pairs of a rest and a letter
RANGE = 1 << 22  # between the least and the largest sum that are looked at as one array


def different(letters: Sequence[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """The different lists of letters. Most records share one: only lists that are not the same object are compared.

    Parameters
    ----------
    letters : sequence of tuple of str
        Of each record.

    Returns
    -------
    set

    Examples
    --------
    >>> one = ("0", "1")
    >>> different([one] * 3) == {one}
    True
    """
    return set({id(letter): letter for letter in letters}.values())


@dataclass(frozen=True)
class Interval:
    """Records that are numbers between two ends."""

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(f"an interval of values needs low < high, not {self.low} and {self.high}")


@dataclass(frozen=True)
class Reach:
    """What a group of records can do to f: one line for each state of the others, one place for each of its letters.

    Entries are places in `Query.values`.
    """

    group: tuple[int, ...]
    letters: tuple[tuple[str, ...], ...]
    lines: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Query:
    """f over `records` records and its noise.

    `letters` is one alphabet for all records, or one for each of them (with a table), or an interval (sum and mean
    under Gaussian or Laplace noise). `parameter` is the probability of another answer (randomised response), the ratio
    of neighbouring probabilities (geometric), the rate (exponential), the variance (Gaussian) or the scale (Laplace).

    >>> q = Query(3, (("0", "1"),) * 3, "count", "geometric", Fraction(1, 2))
    >>> len(q.values), q.reaches(1)[0].lines
    (4, ((0, 1), (1, 2), (2, 3)))
    """

    records: int
    letters: tuple[tuple[str, ...], ...] | Interval
    kind: str
    noise: str
    parameter: Fraction | None = None
    letter: str | None = None
    table: tuple[Value, ...] | None = None
    kernel: tuple[tuple[str, ...], tuple[tuple[Fraction, ...], ...]] | None = None

    def __post_init__(self) -> None:
        if self.records < 1:
            raise InputError(f"a query is over at least one record, not {self.records}")
        if self.noise not in NOISES:
            raise InputError(f"there is no noise {self.noise!r}; there are {', '.join(NOISES)}")
        if self.kind not in (*KINDS, "table"):
            raise InputError(f"there is no query {self.kind!r}; there are {', '.join(KINDS)} and a table")
        if (self.kind == "table") != (self.table is not None):
            raise InputError("a query by table needs its table, and no other query has one")
        if (self.noise == "table") != (self.kernel is not None):
            raise InputError("noise by table needs its table, and no other noise has one")
        if isinstance(self.letters, Interval):
            if self.kind not in ("sum", "mean") or self.noise not in ("gaussian", "laplace"):
                raise InputError("`letters` of an interval need the query sum or mean and gaussian or laplace noise")
        else:
            self._check_letters(self.letters)
        self._check_parameter()
        if not isinstance(self.letters, Interval):
            if self.kernel is not None and len(self.kernel[1]) != len(self.values):
                raise InputError(
                    f"the table of noise has {len(self.kernel[1])} rows for {len(self.values)} values of f"
                )
            if self.noise in FINITE or self.kind == "histogram":
                _ = self.values  # too many are refused at once
            numbers_only = self.noise in ("geometric", "gaussian", "laplace")
            if numbers_only and any(isinstance(value, str) for value in self.table or ()):
                raise InputError(f"{self.noise} noise is for numbers, and f has labels for values")

    def _check_letters(self, letters: tuple[tuple[str, ...], ...]) -> None:
        lists = different(letters)
        if len(letters) != self.records or any(not letter or len(set(letter)) != len(letter) for letter in lists):
            raise InputError("`letters` is one list of different values, or one such list for each record")
        if self.kind != "table" and len(lists) > 1:
            raise InputError(f"a {self.kind} is over records with the same values; lists for each record need a table")
        if self.kind == "count" and self.counted not in letters[0]:
            raise InputError(f"the counted value {self.letter!r} is not among the values")
        if self.kind != "count" and self.letter is not None:
            raise InputError("only a count has a value to be counted")
        if self.kind in ("sum", "mean", "parity"):
            numbers = [exact(v, f"the value {v!r} of a {self.kind}") for v in letters[0]]
            if self.kind == "parity" and any(number.denominator != 1 for number in numbers):
                raise InputError("a parity is over values that are integers")
        if self.table is not None:
            size = 1
            for a in letters:
                size *= len(a)
            if len(self.table) != size:
                raise InputError(f"the table of f has {len(self.table)} values for {size} outcomes of the records")
            if len({None if isinstance(value, str) else len(value) for value in self.table}) > 1:
                raise InputError("the values of f are all labels, all numbers, or all lists of one length")

    def _check_parameter(self) -> None:
        p = self.parameter
        if self.noise == "table":
            if p is not None:
                raise InputError("noise by table has no parameter")
            return
        if p is None:
            raise InputError(f"{self.noise} noise needs its parameter")
        if self.noise == "geometric" and not 0 < p < 1:
            raise InputError(f"the parameter of geometric noise lies between 0 and 1; {written(p)} does not")
        if self.noise == "randomised-response" and not 0 <= p <= 1:
            raise InputError(f"the parameter of randomised response is a probability; {written(p)} is not")
        if self.noise in ("exponential", "gaussian", "laplace") and p <= 0:
            raise InputError(f"the parameter of {self.noise} noise is above 0; {written(p)} is not")
        if self.noise == "exponential" and p > 100:
            raise InputError("the rate of exponential noise is at most 100")

    def at(self, parameter: Fraction) -> "Query":
        """The same query with another parameter; what f can be is not worked out again."""
        _ = self._reaches  # made now, so that the two share it
        other = copy(self)
        object.__setattr__(other, "parameter", parameter)
        other._check_parameter()
        return other

    @property
    def counted(self) -> str | None:
        """The letter that a count counts: the last unless one is named."""
        return None if isinstance(self.letters, Interval) else self.letter or self.letters[0][-1]

    @property
    def alphabets(self) -> tuple[tuple[str, ...], ...]:
        """The letters of each record; an interval has none."""
        if isinstance(self.letters, Interval):
            raise Unsupported(
                "the records are numbers of an interval, which has no list of values",
                do="Write a list of numbers as letters.",
            )
        return self.letters

    # --- what f can be ----------------------------------------------------------------------------------------------
    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The values that f takes, each once: numbers in their order, labels by first appearance."""
        if self.table is not None:
            found: set[Value] | dict[Value, None] = dict.fromkeys(self.table)
        else:
            found = {self._value(s) for s in self._states(self.records)}
        if any(isinstance(value, str) for value in found):
            return tuple(found)
        return tuple(sorted(found))

    @cached_property
    def _scale(self) -> int:
        """States are kept in whole numbers of 1 / scale."""
        numbers = self.kind in ("sum", "mean")
        return lcm(*(exact(value).denominator for value in self.alphabets[0])) if numbers else 1

    def _steps(self) -> list[State]:
        """What each letter adds to the state of an exchangeable query."""
        letters = self.alphabets[0]
        if self.kind == "count":
            return [(int(letter == self.counted),) for letter in letters]
        if self.kind == "histogram":
            return [tuple(int(letter == u) for u in letters) for letter in letters]
        return [(int(exact(letter) * self._scale),) for letter in letters]

    def _added(self, state: State, step: State) -> State:
        moved = tuple(a + b for a, b in zip(state, step, strict=True))
        return tuple(a % 2 for a in moved) if self.kind == "parity" else moved

    def _value(self, state: State) -> Value:
        return tuple(Fraction(a, self._scale * (self.records if self.kind == "mean" else 1)) for a in state)

    def _states(self, records: int) -> set[State]:
        """The states that so many records can reach, without the table of all outcomes."""
        if self.kind == "histogram":  # counted before anything is made: a step is as long as the list of values
            cells = len(self.alphabets[0])
            # C(n, k) grows with k up to n / 2, and from k = 22 on it is more than enough.
            self._few(comb(records + cells - 1, min(records, cells - 1, 22)))
            return set(_histograms(records, cells))
        steps = self._steps()
        if self.kind == "parity":
            odd = {step[0] % 2 for step in steps}
            return {((records * value) % 2,) for value in odd} if len(odd) == 1 or not records else {(0,), (1,)}
        least = min(steps)[0]
        step = gcd(*(v - min(steps)[0] for (v,) in steps)) or 1
        moves = sorted({(v - least) // step for (v,) in steps})
        self._few(records * (len(moves) - 1) + 1)  # sums of n numbers out of m take at least n (m - 1) + 1 values
        found = _sums(moves, records, MOST // len(steps))
        self._few(len(found))
        return {(records * least + step * k,) for k in found}

    def _few(self, states: int) -> None:
        many = states * len(self.alphabets[0]) > MOST
        # Numbers under Gaussian or Laplace noise are measured by their ends, and histograms have none.
        if self.noise in FINITE and states * states > MOST and not (many and self.kind == "histogram"):
            raise Unsupported(
                f"{self.noise} noise over {states:,} values is too large a kernel; take gaussian or laplace noise"
            )
        if many:
            raise Unsupported(
                f"the query takes more than {MOST // len(self.alphabets[0]):,} values",
                do="Ask about fewer records or fewer values.",
            )

    def value(self, outcome: Sequence[str]) -> Value:
        """f of one outcome of the records.

        >>> Query(3, (("0", "1"),) * 3, "mean", "gaussian", Fraction(1)).value(["0", "1", "1"])
        (Fraction(2, 3),)
        """
        if self.table is not None:
            index = 0
            for v, alphabet in zip(outcome, self.alphabets, strict=True):
                index = index * len(alphabet) + alphabet.index(v)
            return self.table[index]
        steps = dict(zip(self.alphabets[0], self._steps(), strict=True))
        state = tuple(0 for _ in next(iter(steps.values())))
        for v in outcome:
            state = self._added(state, steps[v])
        return self._value(state)

    def multiplicities(self) -> list[int]:
        """How many outcomes of the records each value of f has, in the order of `values`.

        The powers of a polynomial with one term for each letter are read off one long integer.

        >>> Query(3, (("0", "1"),) * 3, "count", "gaussian", Fraction(1)).multiplicities()
        [1, 3, 3, 1]
        """
        if self.table is not None:
            often = Counter(self.table)
            return [often[value] for value in self.values]
        letters = len(self.alphabets[0])
        if self.kind == "histogram":
            return [_ways([int(c) for c in value if not isinstance(c, str)]) for value in self.values]
        steps = [step for (step,) in self._steps()]
        size = self.records * letters.bit_length()  # bits that hold the number of all outcomes
        if size * self.records * (max(steps) - min(steps)) > 1 << 31:
            raise Unsupported(
                "too many outcomes of the records to be counted", do="Ask about fewer records or fewer values."
            )
        power = sum(1 << size * (step - min(steps)) for step in steps) ** self.records
        found: Counter[Value] = Counter()
        state = self.records * min(steps)
        mask = (1 << size) - 1
        while power:
            if power & mask:
                found[self._value((state % 2 if self.kind == "parity" else state,))] += power & mask
            power >>= size
            state += 1
        return [found[value] for value in self.values]

    def reaches(self, size: int) -> list[Reach]:
        """For each group of so many records, what it can do to f; one group stands for all when records are alike."""
        if not 1 <= size <= self.records:
            raise InputError(f"a group of {size} records is asked for; the query has {self.records}")
        if size not in self._reaches:
            self._reaches[size] = self._reached(size)
        return self._reaches[size]

    @cached_property
    def _reaches(self) -> dict[int, list[Reach]]:
        return {}

    def _reached(self, size: int) -> list[Reach]:
        place = {value: k for k, value in enumerate(self.values)}
        if self.table is not None:
            return [self._reach_by_table(members, place) for members in combinations(range(self.records), size)]
        steps = self._steps()
        words = tuple(product(self.alphabets[0], repeat=size))
        moves = []
        for word in product(range(len(steps)), repeat=size):
            total = tuple(0 for _ in steps[0])
            for k in word:
                total = self._added(total, steps[k])
            moves.append(total)
        rests = sorted(self._states(self.records - size))
        if len(rests) * len(moves) > MOST:
            raise Unsupported(
                f"groups of {size} records have too many states to be listed",
                do="Ask about fewer records or fewer values.",
            )
        lines = tuple(tuple(place[self._value(self._added(rest, move))] for move in moves) for rest in rests)
        return [Reach(tuple(range(size)), words, lines)]

    def _reach_by_table(self, members: tuple[int, ...], place: dict[Value, int]) -> Reach:
        assert self.table is not None
        lines: dict[tuple[str, ...], list[int]] = {}
        own = [self.alphabets[member] for member in members]
        at = {word: k for k, word in enumerate(product(*own))}
        for outcome, value in zip(product(*self.alphabets), self.table, strict=True):
            rest = tuple(v for i, v in enumerate(outcome) if i not in members)
            line = lines.setdefault(rest, [0] * len(at))
            line[at[tuple(outcome[member] for member in members)]] = place[value]
        return Reach(members, tuple(at), tuple(dict.fromkeys(map(tuple, lines.values()))))

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the largest value of f, a number."""
        many = 1 if self.kind == "mean" else self.records
        if isinstance(self.letters, Interval):
            return self.letters.low * many, self.letters.high * many
        if self.kind not in ADDED:
            numbers = list(self.coordinate(0))
            return min(numbers), max(numbers)
        # All values of a million records are not listed for this.
        moved = [Fraction(v == self.counted) if self.kind == "count" else exact(v) for v in self.letters[0]]
        return min(moved) * many, max(moved) * many

    def coordinate(self, k: int) -> Iterator[Fraction]:
        """One coordinate of every value."""
        for value in self.values:
            if isinstance(value, str):
                raise InputError("the values of f are labels")
            yield value[k]

    @property
    def width(self) -> int:
        """How many coordinates f has; a label counts as one."""
        first = None if self.kind in ADDED else self.values[0]
        return len(first) if isinstance(first, tuple) else 1

    # --- words ------------------------------------------------------------------------------------------------------
    def labels(self) -> list[str]:
        """The values of f as files write them."""
        return [label(value) for value in self.values]

    def to_json(self) -> dict[str, Any]:
        """The keys of the query file; what that names as files is written out."""
        letters: Any
        if isinstance(self.letters, Interval):
            letters = {"low": written(self.letters.low), "high": written(self.letters.high)}
        else:
            alike = len(different(self.letters)) == 1
            letters = list(self.letters[0]) if alike else [list(letter) for letter in self.letters]
        document: dict[str, Any] = {"records": self.records, "letters": letters, "query": self.kind}
        if self.table is not None:
            document["query"] = {
                "values": [value if isinstance(value, str) else [written(c) for c in value] for value in self.table]
            }
        if self.letter is not None:
            document["letter"] = self.letter
        document["noise"] = self.noise
        if self.kernel is not None:
            rows = [[written(entry) for entry in row] for row in self.kernel[1]]
            document["noise"] = {"letters": list(self.kernel[0]), "rows": rows}
        if self.parameter is not None:
            document["parameter"] = written(self.parameter)
        return document


def _ways(counts: Sequence[int]) -> int:
    """In how many orders records can come that have each letter so often."""
    found, total = 1, 0
    for count in counts:
        total += count
        found *= comb(total, count)
    return found


def _histograms(records: int, letters: int) -> Iterator[State]:
    """Every way to share out so many records over some letters."""
    for bars in combinations(range(records + letters - 1), letters - 1):
        ends = (-1, *bars, records + letters - 1)
        yield tuple(b - a - 1 for a, b in pairwise(ends))


def _sums(moves: Sequence[int], records: int, most: int) -> list[int]:
    """The sums of so many of some numbers, the least of which is 0; a few more than `most` of them when there are more.

    >>> _sums([0, 2, 5], 2, 100)
    [0, 2, 4, 5, 7, 10]
    """
    if moves[-1] * max(records, 1) <= RANGE:
        return _dense(moves, records)
    found = {0}
    for _ in range(records):
        found = {a + b for a in found for b in moves}
        if len(found) > most:
            break
    return sorted(found)


def _dense(moves: Sequence[int], records: int) -> list[int]:
    """By repeated doubling: the set of sums is where a convolution of indicators is not 0.

    Its entries are whole numbers up to 2^24, which a transform in doubles keeps apart from 0 by far.
    """

    def together(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> NDArray[np.bool_]:
        size = len(a) + len(b) - 1
        both = np.fft.irfft(np.fft.rfft(a, 2 * size) * np.fft.rfft(b, 2 * size), 2 * size)[:size]
        return np.asarray(both > 0.5)

    power = np.isin(np.arange(moves[-1] + 1), moves)
    total = np.ones(1, dtype=np.bool_)
    while records:
        if records & 1:
            total = together(total, power)
        records >>= 1
        if records:
            power = together(power, power)
    return [int(k) for k in np.flatnonzero(total)]


def label(value: Value) -> str:
    """A value of f in words."""
    return value if isinstance(value, str) else ", ".join(map(written, value))
