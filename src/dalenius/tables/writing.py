"""Released tables out: columns of codes as text, in chunks, without building rows in Python.

A missing value (the letter "(missing)") is written as `?` in CSV and TSV and as null in Parquet and Arrow, so that
reading the file back gives the same codes. If `?` is a letter of that alphabet, text says "(missing)" instead.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dalenius.core.source import MISSING
from dalenius.errors import MismatchError, TableError
from dalenius.tables.counting import Codes
from dalenius.tables.source import Progress

__all__ = ["released_name", "write_table"]

SUFFIX = {"csv": ".csv", "tsv": ".tsv", "parquet": ".parquet", "arrow": ".arrow"}


def released_name(format: str) -> str:  # noqa: A002 - the word of the file formats
    """The file name of a released table.

    Parameters
    ----------
    format : str
        Of the original table.

    Returns
    -------
    str
        Such as "released.csv".

    >>> released_name("parquet")
    'released.parquet'
    """
    if format not in SUFFIX:
        raise TableError(f"no table can be written as {format!r}; there are {', '.join(SUFFIX)}")
    return "released" + SUFFIX[format]


def write_table(
    path: str | Path,
    format: str,  # noqa: A002
    columns: Mapping[str, tuple[Codes, tuple[str, ...]]],
    *,
    chunk: int = 1 << 20,
    on_progress: Progress | None = None,
) -> None:
    """Write columns of (codes, letters). A file that could not be finished is removed.

    Parameters
    ----------
    path : str or Path
        The file.
    format : str
        "csv", "parquet" or "arrow".
    columns : mapping of str to (codes, letters)
        What leaves.
    chunk : int
        Rows that are written at a time.
    on_progress : callable, optional
        Told how many rows are done, and how many there are.
    """
    released_name(format)
    lengths = {len(codes) for codes, _ in columns.values()}
    if len(lengths) != 1:
        raise MismatchError("the released columns do not have the same number of rows, or there are none")
    for name, (codes, letters) in columns.items():
        if len(codes) and (int(codes.min()) < 0 or int(codes.max()) >= len(letters)):
            raise MismatchError(f"column {name!r} has a code outside its {len(letters)} values")
    (rows,) = lengths
    path = Path(path)
    text = {"csv": ",", "tsv": "\t"}.get(format)
    writer = _text_writer(path, text, columns) if text else _arrow_writer(path, format, columns)
    try:
        with writer as write:
            for start in range(0, rows, chunk):
                stop = min(rows, start + chunk)
                write(start, stop)
                if on_progress is not None:
                    on_progress(stop, rows)
    except BaseException as e:
        path.unlink(missing_ok=True)
        if isinstance(e, OSError):
            raise TableError(
                f"cannot write {path}: {e.strerror or e}",
                do="Check your rights and the space on the disk, or choose another folder.",
            ) from None
        raise


_SPECIAL = re.compile('[,\t"\r\n]').search


def _field(text: str) -> str:
    """A field of a CSV or TSV file, in quotes only where it needs them.

    >>> _field("plain"), _field("a, b")
    ('plain', '"a, b"')
    """
    if not _SPECIAL(text):
        return text
    quoted = text.replace('"', '""')
    return f'"{quoted}"'


@contextmanager
def _text_writer(path: Path, delimiter: str, columns: Mapping[str, tuple[Codes, tuple[str, ...]]]) -> Iterator[Any]:
    fields, last = [], list(columns)[-1]
    for name, (_, letters) in columns.items():
        sign = MISSING if "?" in letters else "?"
        end = "\n" if name == last else delimiter
        fields.append(
            pa.array([_field(sign if letter == MISSING else letter) + end for letter in letters], pa.large_string())
        )
    with path.open("wb") as file:
        file.write((delimiter.join(map(_field, columns)) + "\n").encode())

        def write(start: int, stop: int) -> None:
            parts = [
                field.take(pa.array(c[start:stop])) for field, (c, _) in zip(fields, columns.values(), strict=True)
            ]
            lines = pc.binary_join_element_wise(*parts, pa.scalar("", pa.large_string()))
            # The characters of a string array lie end to end: they are the text of the file.
            offsets = np.frombuffer(lines.buffers()[1], dtype=np.int64)[lines.offset : lines.offset + len(lines) + 1]
            file.write(memoryview(lines.buffers()[2])[int(offsets[0]) : int(offsets[-1])])

        yield write


@contextmanager
def _arrow_writer(path: Path, kind: str, columns: Mapping[str, tuple[Codes, tuple[str, ...]]]) -> Iterator[Any]:
    text = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([pa.field(name, text) for name in columns])
    # Codes as positions among the letters that are not missing; null where the letter is MISSING.
    kept = {n: [letter for letter in letters if letter != MISSING] for n, (_, letters) in columns.items()}
    places = {}
    for name, (_, letters) in columns.items():
        number = iter(range(len(letters)))
        places[name] = pa.array([None if letter == MISSING else next(number) for letter in letters], pa.int32())
    letters_of = {column: pa.array(kept[column], pa.string()) for column in columns}
    if kind == "parquet":
        from pyarrow import parquet

        opened = parquet.ParquetWriter(path, schema)
    else:
        opened = pa.ipc.new_file(str(path), schema)
    with opened as file:

        def write(start: int, stop: int) -> None:
            arrays = [
                pa.DictionaryArray.from_arrays(places[n].take(pa.array(codes[start:stop])), letters_of[n])
                for n, (codes, _) in columns.items()
            ]
            file.write_batch(pa.record_batch(arrays, schema=schema))

        yield write
