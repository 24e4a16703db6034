"""Frames of other libraries in and out, by way of Arrow; none of those libraries is imported here."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from dalenius.core import MISSING
from dalenius.errors import TableError

__all__ = ["returning", "typed"]


def returning(data: Any) -> Callable[[pa.Table], Any]:
    """How to make an Arrow table a frame of the kind that the caller gave.

    Parameters
    ----------
    data : DataFrame, pyarrow.Table or path
        What the caller gave; a path gives Arrow back.

    Returns
    -------
    callable
        From a `pyarrow.Table` to a frame.

    Examples
    --------
    >>> returning(pa.table({"a": [1]}))(pa.table({"b": [2]})).column_names
    ['b']
    """
    for module, make in (("pandas", _to_pandas), ("polars", _to_polars)):
        library = sys.modules.get(module)
        if library is not None and isinstance(data, library.DataFrame):
            return make(data)
    if isinstance(data, str | Path | pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return lambda table: table
    if hasattr(data, "__arrow_c_stream__"):
        return lambda table: table
    raise TableError(
        f"A table is a file or a frame of pandas, polars or Arrow; this is a {type(data).__name__}.",
        do="Pass one of these.",
    )


def _to_pandas(data: Any) -> Callable[[pa.Table], Any]:
    """Into types that pandas alone knows too, such as whole numbers beside missing values, where they were there."""
    kinds = {name: kind for name, kind in zip(data.columns, data.dtypes, strict=True) if _is_of_pandas(kind)}

    def made(table: pa.Table) -> Any:
        frame = table.to_pandas()
        for name in table.column_names:
            if name in kinds and pa.types.is_primitive(table[name].type):
                frame[name] = kinds[name].__from_arrow__(table[name])
        return frame

    return made


def _is_of_pandas(kind: Any) -> bool:
    """Whether a type of a column is one of the nullable numbers of pandas."""
    return hasattr(kind, "__from_arrow__") and hasattr(kind, "numpy_dtype")


def _to_polars(data: Any) -> Callable[[pa.Table], Any]:  # noqa: ARG001
    return lambda table: sys.modules["polars"].from_arrow(table)


def typed(
    released: pa.Table, original: pa.Schema | None, labels: Mapping[str, Sequence[str]], ranges: Sequence[str]
) -> pa.Table:
    """Released text in the types of the original columns; grouped columns as categories in their order.

    Parameters
    ----------
    released : pyarrow.Table
        As it was written: text, with null where a value is missing.
    original : pyarrow.Schema or None
        Types of the table before the release.
    labels : mapping
        For each grouped column its groups in order.
    ranges : sequence of str
        Columns whose groups are ranges of numbers or dates, so that their order means something.

    Returns
    -------
    pyarrow.Table
    """
    columns = []
    for name in released.column_names:
        column = released[name].combine_chunks().cast(pa.string())
        if name in labels:
            listed = pa.array([label for label in labels[name] if label != MISSING], pa.string())
            places = pc.index_in(column, value_set=listed).cast(pa.int8() if len(listed) < 127 else pa.int32())
            column = pa.DictionaryArray.from_arrays(places, listed, ordered=name in ranges)
        elif original is not None and name in original.names:
            column = _cast(column, original.field(name).type)
        columns.append(column)
    return pa.table(dict(zip(released.column_names, columns, strict=True)))


def _cast(column: Any, kind: Any) -> Any:
    """Text in a type; text that does not fit it stays text."""
    try:
        if pa.types.is_dictionary(kind):
            return column.dictionary_encode().cast(kind)
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column
