r"""Draw from an exact channel: the law of every draw IS the certified row, not a float near it.

The uniform number of a row is the infinite binary fraction U = 0.w0 w1 w2 ... of its 64-bit words, and

    letter = #{j : c_j <= U},     c_j = W(0|x) + ... + W(j|x)  exact,                            (inverse cdf)

so p(letter | x) is exactly W(letter|x), whatever the denominators. Up to four looks decide it, each exact:

    1. a table on (x, leading bits of w0), wherever no threshold lies strictly inside the table's cell;
    2. where many cells have one inside: the next 16 bits of w0 against those of that threshold, unless they are equal;
    3. else w0 against floor(2^64 c_j), by bisection among the thresholds of that cell;
    4. else, when w0 equals such an integer, exact integers, with as many of the words 1, 2, ... as it takes.

Thresholds of letters with probability zero are left out, so such a letter has no way to be drawn. The
last look has probability 2^-64 for each threshold and ends with probability one. How long a draw takes
depends on x and w0 (looks 1 to 3): whoever can time single draws learns something about both.

References: Devroye, "Non-Uniform Random Variate Generation", II.2 (inversion); Knuth & Yao (1976) for lazy bits.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dalenius.core.conditional_law import in_units
from dalenius.errors import InputError, InvalidChannel
from dalenius.sampling.stream import Words, fill, words_of

__all__ = ["InPieces", "Sampler", "checked_codes", "decided", "passed_tops", "refuse_unknown"]

Integers: TypeAlias = npt.NDArray[np.integer[Any]]
Letters: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
Rows: TypeAlias = npt.NDArray[np.int64]

_WORD = 64
_CHUNK = 1 << 19  # rows that are looked up at a time: fewer calls cost more than a nearer cache saves
# Cells of the table: in all (memory), in all while they stay in the cache, for each letter at most and at least: more
# of them decide a little more at once, fewer leave too much to bisection.
_CELLS = 1 << 22
_CELLS_IN_CACHE = 1 << 20
_CELLS_PER_LETTER = 1 << 9
_LEAST_PER_LETTER = 1 << 6
# With fewer cells for each threshold than this, the second look costs less than the bisections that it saves; it needs
# few cells, for only those with two thresholds inside are left to bisection.
_PLAIN_PER_THRESHOLD = 1 << 6
_SPLIT_PER_THRESHOLD = 1 << 3
_HALF = 16  # bits of the second look
_PIECE = 1 << 16  # rows that other draws look at together


class Sampler:
    r"""Exact draws from a row-stochastic matrix; rows are inputs, columns are letters.

    Parameters
    ----------
    rows : sequence of rows of Fraction
        Each sums to one.

    Raises
    ------
    InvalidChannel
        If a row is no pmf.

    >>> from dalenius.sampling.key import Key
    >>> from dalenius.sampling.stream import Stream
    >>> third = Fraction(1, 3)
    >>> sampler = Sampler([[third, 2 * third, 0], [0, 0, 1]])
    >>> stream = Stream(Key.unsafe(7).derive("example"))
    >>> drawn = sampler.draw(np.array([0, 1] * 30000), stream)
    >>> np.bincount(drawn[0::2]), np.bincount(drawn[1::2])
    (array([10021, 19979]), array([    0,     0, 30000]))
    """

    def __init__(self, rows: Sequence[Sequence[Fraction | int]]) -> None:
        self._rows = tuple(tuple(row) for row in rows)
        self.inputs = len(self._rows)
        self.letters = len(self._rows[0]) if self._rows else 0
        if not self.letters:
            raise InvalidChannel("a recipe has at least one input and one value")
        # One value more than there are letters: it marks the undecided cells of the table.
        self.dtype = np.min_scalar_type(self.letters)
        self._tabulate()

    def _tabulate(self) -> None:
        """Thresholds of all inputs end to end, and the table over their leading bits."""
        tops: list[int] = []
        fractional: list[bool] = []
        letters: list[int] = []
        sizes: list[int] = []
        known: dict[int, tuple[list[int], list[bool], list[int]]] = {}  # many inputs may have one and the same row
        for code, row in enumerate(self._rows):
            if id(row) not in known:
                known[id(row)] = _thresholds(row, code, self.letters)
            own, beyond, possible = known[id(row)]
            tops += own
            fractional += beyond
            letters += possible
            sizes.append(len(own))

        # One threshold more, never counted: bisection may look one place beyond the end.
        self._tops = np.array([*tops, 0], dtype=np.uint64)
        # An input has one letter more than thresholds, so what lies before it shifts its letters by its code.
        self._letters = np.array(letters, dtype=self.dtype)

        self._bits, self._splits = self._resolution(len(tops))
        cells = self.inputs << self._bits
        leading = self._tops[:-1]
        low = np.uint64(_WORD - self._bits)
        owner = np.repeat(np.arange(self.inputs, dtype=np.int64), sizes)
        cell = (owner << self._bits) + (leading >> low).astype(np.int64)
        inside = np.array(fractional, dtype=np.bool_) | (leading & ((np.uint64(1) << low) - np.uint64(1)) > 0)
        # first[cell] = thresholds (of all inputs so far) at or below the lower end of the cell. A threshold
        # above the last edge of its input counts from the first cell of the next input on, as it should.
        self._first: Integers = np.bincount(cell + inside, minlength=cells + 1).cumsum()
        if len(letters) < 1 << 30:  # the sum of two places fits, too
            self._first = self._first.astype(np.int32)
        place = self._first[:-1].reshape(self.inputs, -1) + np.arange(self.inputs, dtype=np.int32)[:, None]
        self._table: Letters = self._letters[place].reshape(-1)
        if self._splits:
            self._table = self._split(self._table, cell[inside], np.flatnonzero(inside), owner[inside])
        else:
            self._table[cell[inside]] = self.letters
        import pyarrow as pa  # takes as long as all other imports of a command together: only who draws needs it

        self._values = pa.array(self._table)
        # The number of a cell in 16 bits where that is enough: what is moved for a row is half as much.
        self._cell = np.dtype(np.uint16 if cells <= 1 << 16 and not self._splits else np.uint32)

    def _resolution(self, thresholds: int) -> tuple[int, bool]:
        """Leading bits of a word that name a cell, and whether those with one threshold inside are looked at twice."""
        fast = min(_CELLS_IN_CACHE // self.inputs, _CELLS_PER_LETTER * self.letters)
        cells = max(fast, min(_CELLS // self.inputs, _LEAST_PER_LETTER * self.letters))
        of_each = thresholds // self.inputs
        splits = self.letters >> _HALF == 0 and of_each * _PLAIN_PER_THRESHOLD > cells
        if splits:
            cells = min(cells, of_each * _SPLIT_PER_THRESHOLD, 1 << _HALF)
        return max(1, cells.bit_length() - 1), splits

    def _split(
        self, letters: Letters, cell: Rows, threshold: npt.NDArray[np.intp], owner: Rows
    ) -> npt.NDArray[np.uint32]:
        """The table with two halves of 16 bits each: adding the bits beyond the cell gives its letter in the upper one.

        A cell of letter a, with one threshold inside whose next 16 bits are t, holds a 2^16 + (2^16 - t): bits below t
        leave a, bits above t carry to a + 1, and bits equal to t leave zeros in the lower half, that is: undecided. In
        every other cell zeros mean the same, which costs one row of 2^16 a bisection and changes nothing.
        """
        table = letters.astype(np.uint32) << np.uint32(_HALF)
        alone = np.bincount(cell, minlength=table.size)[cell] == 1
        # Where letters that cannot be drawn lie between the two, a carry would give one of them.
        following = self._letters[threshold + owner + 1] == self._letters[threshold + owner] + 1
        table[cell] = self.letters << _HALF
        decided_by_carry = alone & following
        threshold = threshold[decided_by_carry]
        beyond = (self._tops[threshold] << np.uint64(self._bits)) >> np.uint64(_WORD - _HALF)
        lower = self._letters[threshold + owner[decided_by_carry]].astype(np.uint32) << np.uint32(_HALF)
        table[cell[decided_by_carry]] = lower + (np.uint32(1 << _HALF) - beyond.astype(np.uint32))
        return table

    def draw(self, codes: Integers, stream: Words, start: int = 0) -> Letters:
        """The letters of the rows start, start + 1, ... whose inputs are `codes`.

        Parameters
        ----------
        codes : Integers
            (rows,): the input of each row.
        stream : Words
            Where words come from.
        start : int
            The first row.

        Returns
        -------
        Letters
            (rows,).

        >>> from dalenius.sampling.stream import Stream
        >>> Sampler([[0, 1], [1, 0]]).draw(np.array([0, 1, 1]), Stream(bytes(32)))
        array([1, 0, 0], dtype=uint8)
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        codes = checked_codes(codes, self.inputs, start)
        letters = np.empty(codes.size, dtype=self.dtype)
        words = np.empty(min(codes.size, _CHUNK), dtype=self._cell)
        inputs = np.empty_like(words)
        cells = np.empty_like(words) if self._splits else words  # the second look reads the words once more
        undecided = [np.empty(0, dtype=np.intp)]
        for begin in range(0, codes.size, _CHUNK):
            chunk = letters[begin : begin + _CHUNK]
            words = words[: chunk.size]
            cells = cells[: chunk.size]
            inputs = inputs[: chunk.size]
            fill(stream, start + begin, words)
            np.right_shift(words, self._cell.type(8 * self._cell.itemsize - self._bits), out=cells)
            inputs[:] = codes[begin : begin + _CHUNK]
            inputs <<= self._cell.type(self._bits)
            cells |= inputs
            # All cells exist, for codes are checked above. Arrow takes them as they are, numpy in 64 bits each.
            found = pc.take(self._values, pa.array(cells), boundscheck=False)
            if self._splits:
                words <<= np.uint32(self._bits)
                words >>= np.uint32(_HALF)
                words += found.to_numpy()
                chunk[:] = np.right_shift(words, np.uint32(_HALF), out=cells)
                words <<= np.uint32(_HALF)
                chunk[words == 0] = self.letters
            else:
                chunk[:] = found
            undecided.append(np.flatnonzero(chunk == self.letters) + begin)
        places = np.concatenate(undecided)
        if places.size:  # all of them at once: few are left of each chunk
            letters[places] = self._bisected(codes[places].astype(np.int64), places, stream, start)
        return letters

    def _bisected(
        self, inputs: npt.NDArray[np.int64], places: npt.NDArray[np.intp], stream: Words, start: int
    ) -> Letters:
        """Letters of rows whose cell has a threshold inside; `places` + `start` are their numbers."""
        words = words_of(stream, places.astype(np.uint64) + np.uint64(start))  # rows go up to 2^64 - 1
        cells = inputs << self._bits | (words >> np.uint64(_WORD - self._bits)).astype(np.int64)
        count = passed_tops(self._tops, words, self._first[cells], self._first[cells + 1])
        letters: Letters = self._letters[count + inputs]
        # The word equals a top: the fraction beyond 64 bits, if there is one, decides. (Now and then, that is
        # once in 2^64 draws, the top is of another cell or has no fraction; then integers say the same again.)
        for at in np.flatnonzero(self._tops[count - 1] == words):
            letters[at] = self.draw_one(int(inputs[at]), stream, start + int(places[at]))
        return letters

    def draw_one(self, code: int, stream: Words, row: int) -> int:
        """The letter of one row in integers alone: the definition that `draw` must match, and its last resort.

        Parameters
        ----------
        code : int
            The input of the row.
        stream : Words
            Where words come from.
        row : int
            Which.

        Returns
        -------
        int

        >>> from dalenius.sampling.stream import Stream
        >>> Sampler([[Fraction(1, 3), Fraction(2, 3)]]).draw_one(0, Stream(bytes(32)), 0)
        1
        """
        refuse_unknown(code, self.inputs, row)
        numerators, total = _scaled(self._rows[code], code, self.letters)
        return decided(enumerate(numerators), total, stream, row)


class InPieces:
    """Draws that look at some rows at a time, and say in `_drawn` what they find there."""

    inputs: int
    dtype: np.dtype[Any]

    def draw(self, codes: Integers, stream: Words, start: int = 0) -> npt.NDArray[Any]:
        """The letters of the rows start, start + 1, ... whose inputs are `codes`.

        Parameters
        ----------
        codes : Integers
            (rows,): the input of each row.
        stream : Words
            Where words come from.
        start : int
            The first row.

        Returns
        -------
        Letters
            (rows,).
        """
        codes = checked_codes(codes, self.inputs, start)
        letters = np.empty(codes.size, dtype=self.dtype)
        for begin in range(0, codes.size, _PIECE):
            some = codes[begin : begin + _PIECE].astype(np.int64)
            letters[begin : begin + _PIECE] = self._drawn(some, stream, start + begin)
        return letters

    def _drawn(self, codes: Rows, stream: Words, start: int) -> npt.NDArray[Any]:
        raise NotImplementedError


def _thresholds(row: Sequence[Fraction | int], code: int, many: int) -> tuple[list[int], list[bool], list[int]]:
    """floor(2^64 c_j) of a row, whether anything was cut off, and the letters that are possible: one more of them."""
    numerators, total = _scaled(row, code, many)
    tops: list[int] = []
    fractional: list[bool] = []
    letters: list[int] = []
    reached = 0
    for letter, numerator in enumerate(numerators):
        if numerator:
            letters.append(letter)
            reached += numerator
            if reached < total:
                # The floor alone decides every word but its own; that one is open only where a fraction was cut off.
                top, rest = divmod(reached << _WORD, total)
                tops.append(top)
                fractional.append(rest > 0)
    return tops, fractional, letters


def passed_tops(tops: npt.NDArray[np.uint64], words: npt.NDArray[np.uint64], begin: Rows, end: Rows) -> Rows:
    """For each word the first place from `begin` up to `end` whose top is above it, by bisection.

    Parameters
    ----------
    tops : ndarray of uint64
        Rising from `begin` to `end` of each word.
    words : ndarray of uint64
        (words,).
    begin, end : ndarray of int
        (words,): places in `tops`.

    Returns
    -------
    ndarray of int
        (words,).

    >>> tops, words = np.array([2, 5, 9, 0], dtype=np.uint64), np.array([1, 5, 9], dtype=np.uint64)
    >>> passed_tops(tops, words, np.zeros(3, dtype=np.int64), np.full(3, 3)).tolist()
    [0, 2, 3]
    """
    count = begin
    # Invariant: tops[begin:count] <= word < tops[end:] up to the first end. A place at the end itself is only read.
    for _ in range(int((end - begin).max(initial=0)).bit_length()):
        middle = (count + end) >> 1
        passed = (tops[middle] <= words) & (count < end)
        count = np.where(passed, middle + 1, count)
        end = np.where(passed, end, middle)
    return count


def decided(weighted: Iterable[tuple[int, int]], total: int, stream: Words, row: int) -> int:
    """The letter of one row, of pairs (letter, weight) whose weights sum to `total`: the definition of every draw.

    After k words U lies in [v, v + 1) / 2^(64 k): a letter is decided once no threshold cuts that interval.

    Parameters
    ----------
    weighted : Iterable[tuple[int, int]]
        Letters and their weights, in order.
    total : int
        The sum of the weights.
    stream : Words
        Where words come from.
    row : int
        Which.

    Returns
    -------
    int
    """
    letters = list(weighted)
    value = bits = index = 0
    while True:
        value = value << _WORD | stream.word(row, index)
        bits += _WORD
        index += 1
        reached = 0
        for letter, weight in letters:
            reached += weight
            # The whole interval lies below the threshold: whatever the further words are, this is the letter.
            if (value + 1) * total <= reached << bits:
                return letter
            if value * total < reached << bits:
                break  # the threshold lies within the interval: one more word


def checked_codes(codes: Integers, inputs: int, start: int = 0) -> Integers:
    """Codes of the rows start, start + 1, ... as one column of integers, each of them an input."""
    codes = np.asarray(codes)
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InputError(f"codes are one column of integers, not {codes.dtype} of shape {codes.shape}")
    if codes.size and ((codes.dtype.kind == "i" and codes.min() < 0) or codes.max() >= inputs):
        at = int(np.flatnonzero((codes < 0) | (codes >= inputs))[0])
        refuse_unknown(int(codes[at]), inputs, start + at)
    return codes


def refuse_unknown(code: int, inputs: int, row: int) -> None:
    """Refuse a code that is no input."""
    if not 0 <= code < inputs:
        raise InputError(f"code {code} of row {row} is not in 0..{inputs - 1}")


def _scaled(row: Sequence[Fraction | int], code: int, letters: int) -> tuple[list[int], int]:
    """A row as integers over one denominator; refused unless it is exact, non-negative and sums to one."""
    if len(row) != letters:
        raise InvalidChannel(f"row {code} has {len(row)} entries, row 0 has {letters}")
    different = {id(entry): entry for entry in row}.values()  # a million letters share few numbers
    for entry in different:
        if not isinstance(entry, Fraction | int):
            raise InvalidChannel(f"row {code} holds {entry!r} of type {type(entry).__name__}, not a Fraction")
        if entry.numerator < 0:
            raise InvalidChannel(f"row {code} holds the negative entry {entry}")
    total = math.lcm(*{entry.denominator for entry in different})
    numerators = in_units(row, total)
    if sum(numerators) != total:
        raise InvalidChannel(f"row {code} sums to {Fraction(sum(numerators), total)}, not 1")
    return numerators, total
