"""Counts of distinct records as rows, so that whoever reads rows can read what an engine has counted."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["spread_out"]


def spread_out(counted: Iterable[Any], chunk: int) -> Iterator[Any]:
    """Batches of rows, at most `chunk` in each, from batches of distinct records whose last column is their count.

    Parameters
    ----------
    counted : iterable of RecordBatch
        Records, and how often each occurs.
    chunk : int
        Rows of a batch.

    Yields
    ------
    RecordBatch
        The columns without the counts, as dictionary arrays.

    Examples
    --------
    >>> counted = pa.record_batch({"x": ["a", "b"], "count": [2, 1]})
    >>> [batch.column(0).to_pylist() for batch in spread_out([counted], 2)]
    [['a', 'a'], ['b']]
    """
    for batch in counted:
        names = batch.schema.names[:-1]
        counts = batch.column(len(names)).to_numpy()
        of_row = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        for start in range(0, len(of_row), chunk):
            index = pa.array(of_row[start : start + chunk])
            arrays = [pa.DictionaryArray.from_arrays(index, batch.column(k)) for k in range(len(names))]
            yield pa.record_batch(arrays, names=names)
