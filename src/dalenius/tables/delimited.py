"""Delimited text (CSV, TSV): a header, then one record a line, every field text.

Blanks around fields and blank lines do not count, a quote may follow a blank, records may end in CR LF, and a record
with too few or too many fields is refused with its row number. The columnar reader of Arrow does the work; it takes a
quote after a blank for a letter, so files with such quotes go through the slower reader of the standard library.
"""

import csv
import mmap
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from dalenius.errors import TableError
from dalenius.tables.text import TEXT

__all__ = ["Delimited"]

LEAST_BLOCK = 1 << 12


@dataclass(frozen=True)
class Delimited:
    """A delimited file whose header has been read and whose way of quoting is known."""

    path: Path
    delimiter: str
    header: tuple[str, ...]
    header_lines: int
    quotes: str

    @classmethod
    def open(cls, path: Path, delimiter: str) -> "Delimited":
        """Read the header, and look once for quotes: none, plain, after a blank, or an odd number (one left open?)."""
        if not path.stat().st_size:
            raise TableError(f"{path.name} is empty; its first line should name the columns")
        quotes = _quotes(path, delimiter)
        file = cls(path, delimiter, (), 0, quotes)
        with file._lines() as lines:
            reader = file._reader(lines)
            with _readable(path):
                header = next((r for r in reader if any(v.strip() for v in r)), None)
            if header is None:
                raise TableError(f"{path.name} is empty; its first line should name the columns")
            return cls(path, delimiter, tuple(v.strip() for v in header), reader.line_num, quotes)

    def batches(self, columns: Sequence[str], chunk: int) -> Iterator[Any]:
        """Record batches of the named columns, in row order, about `chunk` rows each."""
        if self.quotes in ("blank", "open"):
            yield from self._slow(columns, chunk)
        else:
            yield from self._fast(columns, chunk)

    def _fast(self, columns: Sequence[str], chunk: int) -> Iterator[Any]:
        from pyarrow import csv as arrow_csv

        wanted = list(columns)
        quoted = self.quotes == "plain"
        try:
            reader = arrow_csv.open_csv(
                self.path,
                read_options=arrow_csv.ReadOptions(
                    column_names=list(self.header), skip_rows=self.header_lines, block_size=max(LEAST_BLOCK, 32 * chunk)
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.delimiter,
                    quote_char='"' if quoted else False,
                    newlines_in_values=quoted,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    strings_can_be_null=False, include_columns=wanted, column_types=dict.fromkeys(wanted, TEXT)
                ),
            )
            yield from reader
        except pa.ArrowInvalid as e:
            if "Could not skip initial" in str(e):
                return  # a header without an end of line: no rows
            for _ in self.records():  # finds the row of a ragged record, and text that is not UTF-8
                pass
            raise TableError(f"cannot read {self.path.name}: {str(e).splitlines()[0]}") from None

    def _slow(self, columns: Sequence[str], chunk: int) -> Iterator[Any]:
        at = [self.header.index(n) for n in columns]
        rows = self.records()
        while block := list(islice(rows, chunk)):
            fields = list(zip(*block, strict=True))
            yield pa.record_batch([pa.array(fields[k], pa.string()) for k in at], names=list(columns))

    def records(self) -> Iterator[list[str]]:
        """The records one by one, by the reader of the standard library; refuses a ragged one."""
        width = len(self.header)
        with self._lines() as lines, _readable(self.path):
            for _ in range(self.header_lines):
                next(lines)
            row = 0
            for fields in self._reader(lines):
                if not fields or (width > 1 and len(fields) == 1 and not fields[0].strip()):
                    continue
                row += 1
                if len(fields) != width:
                    there = f"{len(fields)} field{'s' if len(fields) != 1 else ''}"
                    raise TableError(f"{self.path.name}, row {row}: {there} where the header has {width}")
                yield fields

    def _lines(self) -> Any:
        return self.path.open(encoding="utf-8-sig", newline="")

    def _reader(self, lines: Any) -> Any:
        # Only the strict reader complains about a quote that is never closed.
        return csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True, strict=self.quotes == "open")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Errors of the readers in one sentence."""
    try:
        yield
    except UnicodeDecodeError:
        raise TableError(f"{path.name} is not UTF-8 text; save it as UTF-8") from None
    except csv.Error as e:
        raise TableError(f"cannot read {path.name}: {e}") from None


def _quotes(path: Path, delimiter: str) -> str:
    """How a file quotes; one scan at the speed of memory.

    Lines of nothing but blanks go the way of quotes after a blank: Arrow would take them for records.
    """
    with path.open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
        if any(m.find(b"\n" + blank) >= 0 for blank in (b" ", b"\t")) and re.search(rb"\n[ \t]+\r?(?:\n|\Z)", m):
            return "blank"
        if m.find(b'"') < 0:
            return "none"
        step: int = 1 << 24
        if sum(m[k : k + step].count(b'"') for k in range(0, len(m), step)) % 2:
            return "open"
        after_blank = re.compile(rb"(?:^|[\r\n" + re.escape(delimiter.encode()) + rb'])[ ]+"')
        return "blank" if m.find(b' "') >= 0 and after_blank.search(m) else "plain"
