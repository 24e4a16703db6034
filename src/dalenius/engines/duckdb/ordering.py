"""Rows in the order of the key, sorted by DuckDB: an `ORDER BY` that goes to the disk where memory ends."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dalenius.sampling.stream import Words
from dalenius.tables.duckdb import Session
from dalenius.tables.workspace import Workspace

__all__ = ["sorted_by_words"]

Array = npt.NDArray[Any]

SLICE = 1 << 18  # rows that are handed over at a time


def sorted_by_words(
    session: Session,
    stream: Words,
    rows: int,
    columns: Sequence[Array],
    workspace: Workspace,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Array]:
    """The columns with their rows in the order of the stream's words: what `in_keyed_order` gives, row by row.

    Two words distinguish all rows but for a chance of 2^-128 for each pair of them.

    Parameters
    ----------
    session : Session
        Who sorts.
    stream : Words
        The words of the rows.
    rows : int
        How many there are.
    columns : sequence of array
        Each with that many rows.
    workspace : Workspace
        Where sorted rows lie.
    on_progress : callable, optional
        Told how many rows are in their place, and how many there are.

    Returns
    -------
    list of array
        In the order of `columns`.
    """
    names = [f"c{k}" for k, _ in enumerate(columns)]
    schema = pa.schema(
        [("w0", pa.uint64()), ("w1", pa.uint64())]
        + [(name, pa.from_numpy_dtype(column.dtype)) for name, column in zip(names, columns, strict=True)]
    )

    def given() -> Iterator[Any]:
        for start in range(0, rows, SLICE):
            count = min(SLICE, rows - start)
            words = [stream.words(start, count, index) for index in (0, 1)]
            some = [np.ascontiguousarray(column[start : start + count]) for column in columns]
            yield pa.record_batch([pa.array(array) for array in (*words, *some)], schema=schema)

    tapes = [workspace.tape(column.dtype) for column in columns]
    done = 0
    query = f"select {', '.join(names)} from given order by w0, w1"
    for batch in session.batches(query, SLICE, given=given(), schema=schema):
        for k, tape in enumerate(tapes):
            tape.append(batch.column(k).to_numpy())
        done += batch.num_rows
        if on_progress is not None:
            on_progress(done, rows)
    return [tape.finished() for tape in tapes]
