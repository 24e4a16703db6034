"""What a task does with its rows: it codes them, names their persons, and draws for them.

Tasks travel to the machines that hold the rows, with the subkeys of the release. Columns are called by plain names
there, because Spark's Python functions stumble over dots and backticks in a name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dalenius.core import Design
from dalenius.core.source import MISSING, Column, Dialect
from dalenius.engines.spark.session import BATCH
from dalenius.errors import TableError
from dalenius.mechanisms.applying import Drawing
from dalenius.sampling.stream import RowWords, Stream
from dalenius.tables import Coded, encode, open_table
from dalenius.tables.counting import BLOCK, smallest
from dalenius.tables.persons import identifiers

__all__ = ["NUMBER", "ORDERING", "PERSON", "PLACE", "Coding", "Task", "plain", "schema", "ticked"]

NUMBER = "dalenius row"  # columns of ours beside those of the table
PLACE = "dalenius place"
PERSON = "dalenius person"
ORDERING = (NUMBER, "dalenius word 0", "dalenius word 1")
SIGN = np.uint64(1 << 63)


@dataclass(frozen=True)
class Coding:
    """How a task turns rows of the table into codes: what it takes to read a value as everywhere else."""

    columns: Mapping[str, Column]  # what the letters of each column are
    names: tuple[str, ...]  # the columns in their order
    dialect: Dialect  # how values are written
    # Where rows come as codes already: the letters that they stand for.
    letters: dict[str, tuple[str, ...]] | None = None

    @property
    def plain(self) -> list[str]:
        """The columns as frames call them."""
        return plain("column", self.names)

    def coded(self, batch: Any) -> Coded:
        """The codes of a batch of rows."""
        if self.letters is not None:
            found = {name: batch.column(p).to_numpy() for name, p in zip(self.names, self.plain, strict=True)}
            return Coded(dict(self.letters), {n: c.astype(smallest(len(self.letters[n]))) for n, c in found.items()})
        table = pa.Table.from_batches([batch]).select(self.plain).rename_columns(list(self.names))
        return encode(open_table(table, dialect=self.dialect, chunk=BATCH), self.columns, self.names)

    def blocks(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The codes of each row beside its number, and the block of the hash tree that it is in."""
        for numbers, some in self._numbered(batches):
            yield self._batch(some, {PLACE: pa.array(numbers // BLOCK), NUMBER: pa.array(numbers)})

    def persons(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The codes of each row beside its number and the name of its person, null where there is none."""
        for batch in batches:
            for numbers, some in self._numbered(iter([batch])):
                raw = open_table(pa.table({PERSON: batch.column(PERSON)}), dialect=self.dialect, chunk=BATCH)
                names = pa.concat_arrays([identifiers(part.column(0)) for part in raw.batches([PERSON])])
                yield self._batch(some, {PERSON: names, NUMBER: pa.array(numbers)})

    def _numbered(self, batches: Iterator[Any]) -> Iterator[tuple[Any, Coded]]:
        for batch in batches:
            if batch.num_rows:
                yield batch.column(NUMBER).to_numpy(), self.coded(batch)

    def _batch(self, some: Coded, beside: dict[str, Any]) -> Any:
        arrays = [*beside.values(), *(pa.array(some.codes[name].astype(np.int32)) for name in self.names)]
        return pa.record_batch(arrays, names=[*beside, *self.plain])


class Task:
    """The draws of a release for the rows that a task holds."""

    def __init__(
        self,
        design: Design,
        draws: Sequence[bytes],
        order: bytes,
        coding: Coding,
        alphabets: dict[str, tuple[str, ...]],
    ) -> None:
        self.channel, self.kept = design.channel, tuple(design.problem.kept)
        self.subkeys, self.order = tuple(draws), order
        self.coding, self.alphabets = coding, alphabets
        drawing = Drawing(self.channel, self.kept, self.subkeys)
        nobody = Coded(alphabets, {alphabet: np.zeros(1, dtype=np.uint8) for alphabet in alphabets})
        self.leaving = drawing.letters(nobody)
        self.width = drawing.width

    def _drawn(self, batches: Iterator[Any]) -> Iterator[tuple[Any, Coded, Any]]:
        drawing = Drawing(self.channel, self.kept, self.subkeys)
        for batch in batches:
            if not batch.num_rows:
                continue
            some = self.coding.coded(batch)
            if some.alphabets != self.alphabets:
                raise TableError(
                    "a task read other values than were counted; the table changed",
                    do="Wait until nobody writes to the table, or copy it, then run the command again.",
                )
            numbers = batch.column(NUMBER).to_numpy()
            yield numbers, some, drawing.rows(some, 0, partial(RowWords, rows=numbers))

    def pairs(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Each record beside what it drew, in codes."""
        for _, some, (columns, inputs, letters) in self._drawn(batches):
            arrays = [some.codes[alphabet] for alphabet in self.alphabets] + [columns[n] for n in self.leaving]
            for side in (inputs, letters):
                arrays += [side] if side.ndim == 1 else list(side.T)
            yield pa.record_batch([pa.array(array.astype(np.int64)) for array in arrays], names=self.pair_names())

    def pair_names(self) -> list[str]:
        """The columns of `pairs`: codes as they were read, codes as they leave, inputs and letters of the draws."""
        sides = [f"{side} {k}" for side in ("input", "letter") for k in range(self.width)]
        return [*plain("read", self.alphabets), *plain("leaves", self.leaving), *sides]

    def rows(self, batches: Iterator[Any]) -> Iterator[Any]:
        """What leaves of each record, as text, with its number and the words that it is sorted by."""
        letters = {
            n: pa.array([None if value == MISSING else value for value in a], pa.string())
            for n, a in self.leaving.items()
        }
        stream = Stream(self.order)
        for numbers, _, (columns, _, _) in self._drawn(batches):
            # Spark compares signed numbers; with its first bit turned over a word keeps its rank among them.
            words = [(stream.words_at(numbers, k) ^ SIGN).view(np.int64) for k in (0, 1)]
            arrays = [pa.array(numbers), *map(pa.array, words)]
            arrays += [letters[n].take(pa.array(columns[n].astype(np.int64))) for n in self.leaving]
            yield pa.record_batch(arrays, names=[*ORDERING, *plain("leaves", self.leaving)])


def ticked(name: str) -> str:
    """A name of a column as Spark's expressions take it, whatever signs are in it."""
    return "`" + name.replace("`", "``") + "`"


def plain(word: str, names: Iterable[str]) -> list[str]:
    """A name without signs for each of these.

    >>> plain("column", ["a.b", "`c`"])
    ['column 0', 'column 1']
    """
    return [f"{word} {k}" for k, name in enumerate(names)]


def schema(*parts: Any) -> str:
    """Names and their type, in turn, as a schema of Spark.

    >>> schema(["row"], "long", ["x 0", "x 1"], "string")
    '`row` long, `x 0` string, `x 1` string'
    """
    typed = zip(parts[0::2], parts[1::2], strict=True)
    return ", ".join(f"{ticked(name)} {kind}" for names, kind in typed for name in names)
