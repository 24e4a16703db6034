"""Delimited text (CSV, TSV): a header, then one record a line, every field text.

Blanks around fields and blank lines do not count, a quote may follow a blank, records may end in CR LF, and a record
with too few or too many fields is refused with its row number. The columnar reader of Arrow does the work; it takes a
quote after a blank for a letter and no line longer than a block, so files with such quotes or lines go through the
slower reader of the standard library.

A file that ends in .gz, .zst, .bz2 or .lz4 is decompressed on the way. Nothing is mapped into memory: a file that
somebody cuts short while it is read must give an error, not end the process.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from dalenius.core.source import Dialect
from dalenius.errors import TableError
from dalenius.tables.text import TEXT

__all__ = ["Delimited"]

LONG_LINE = 1 << 20
LEAST_BLOCK = 2 * LONG_LINE
SCANNED = 1 << 24
LOOKED_AT = 1 << 16
"""Bytes of a file that are looked at to find its delimiter."""

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LONGEST_FIELD = (1 << 31) - 1
CANDIDATES = (",", ";", "\t", "|")
BLANK_LINE = re.compile(rb"(?:^|\n)[ \t]+\r?(?:\n|\Z)")


@dataclass(frozen=True)
class Delimited:
    """A delimited file whose header has been read and whose way of quoting is known."""

    path: Path
    delimiter: str
    header: tuple[str, ...]
    header_lines: int
    quotes: str
    dialect: Dialect = field(default_factory=Dialect)

    @classmethod
    def open(cls, path: Path, usual: str, dialect: Dialect | None = None) -> "Delimited":
        """Read the header, and look once how it quotes: not, plainly, after a blank, with one left open; or long lines.

        Parameters
        ----------
        path : Path
            The file.
        usual : str
            The delimiter that its name stands for; another one is taken where the first lines show it.
        dialect : Dialect, optional
            What the problem file says about the way it is written.

        Returns
        -------
        Delimited

        Raises
        ------
        TableError
            If the file is empty or not readable as text.
        """
        dialect = dialect or Dialect()
        delimiter = dialect.delimiter or _found_delimiter(path, usual, dialect)
        quotes = _quotes(path, delimiter, dialect)
        file = cls(path, delimiter, (), 0, quotes, dialect)
        with _readable(path, dialect), file._lines() as lines:
            reader = file._reader(lines)
            header = next((r for r in reader if any(value.strip() for value in r)), None)
            if header is None:
                raise TableError(
                    f"{path.name} is empty; its first line should name the columns",
                    do="Give a table with a header and rows.",
                )
            if header[0].strip().lower().startswith("sep="):
                raise TableError(f"{path.name}: its first line, sep=..., is a note to Excel; remove it")
            return cls(path, delimiter, tuple(value.strip() for value in header), reader.line_num, quotes, dialect)

    def batches(self, columns: Sequence[str], chunk: int) -> Iterator[Any]:
        """Record batches of the named columns, in row order, about `chunk` rows each."""
        if self.quotes in ("blank", "open", "long"):
            yield from self._slow(columns, chunk)
        else:
            yield from self._fast(columns, chunk)

    def _fast(self, columns: Sequence[str], chunk: int) -> Iterator[Any]:
        from pyarrow import csv as arrow_csv

        wanted = list(columns)
        quoted = self.quotes == "plain"
        try:
            with closing(_bytes(self.path, self.dialect)) as stream:
                reader = arrow_csv.open_csv(
                    stream,
                    read_options=arrow_csv.ReadOptions(
                        column_names=list(self.header),
                        skip_rows=self.header_lines,
                        block_size=max(LEAST_BLOCK, 32 * chunk),
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
                for batch in reader:
                    for start in range(0, batch.num_rows, chunk):
                        yield batch.slice(start, chunk)
        except pa.ArrowInvalid as e:
            if "Could not skip initial" in str(e) or "Empty CSV file" in str(e):
                return  # a header without an end of line: no rows
            for _ in self.records():  # finds the row of a ragged record, and text that is not UTF-8
                pass
            raise TableError(
                f"cannot read {self.path.name}: {str(e).splitlines()[0]}",
                do="Check the file: it may be damaged or cut off.",
            ) from None
        except UnicodeDecodeError:
            raise _not_text(self.path, self.dialect) from None

    def _slow(self, columns: Sequence[str], chunk: int) -> Iterator[Any]:
        at = [self.header.index(column) for column in columns]
        rows = self.records()
        while block := list(islice(rows, chunk)):
            fields = list(zip(*block, strict=True))
            yield pa.record_batch([pa.array(fields[k], pa.string()) for k in at], names=list(columns))

    def records(self) -> Iterator[list[str]]:
        """The records one by one, by the reader of the standard library; refuses a ragged one."""
        width = len(self.header)
        with _readable(self.path, self.dialect), self._lines() as lines:
            for _ in range(self.header_lines):
                next(lines)
            row = 0
            for fields in self._reader(lines):
                if not fields or (width > 1 and len(fields) == 1 and not fields[0].strip()):
                    continue
                row += 1
                if len(fields) != width:
                    there = f"{len(fields)} field{'s' if len(fields) != 1 else ''}"
                    raise TableError(
                        f"{self.path.name}, row {row}: {there} where the header has {width}"
                        + (_headless(len(fields), width) if row == 1 else ""),
                        do="Correct this row, or name the delimiter in [source].",
                    )
                yield fields

    def _lines(self) -> Any:
        stream = io.BufferedReader(_bytes(self.path, self.dialect))
        return io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")

    def _reader(self, lines: Any) -> Any:
        csv.field_size_limit(LONGEST_FIELD)
        # Only the strict reader complains about a quote that is never closed.
        return csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True, strict=self.quotes == "open")


def _headless(fields: int, width: int) -> str:
    """What may be wrong with a header that does not fit the first row."""
    if fields == width + 1:
        return "; R writes names of rows so, unless row.names = FALSE is given"
    return "; the first line of the file must name the columns" if fields > width else ""


def _bytes(path: Path, dialect: Dialect) -> Any:
    """The text of a file as UTF-8, decompressed if its name says that it is compressed."""
    # pyarrow decides by the suffix; a plain file is read through its own descriptor, never mapped.
    stream = pa.input_stream(str(path), compression="detect")
    if dialect.encoding in (None, "utf-8", "utf-8-sig"):
        return stream
    return pa.transcoding_input_stream(stream, dialect.encoding, "utf-8")


def _not_text(path: Path, dialect: Dialect) -> TableError:
    if dialect.encoding not in (None, "utf-8", "utf-8-sig"):
        return TableError(
            f"{path.name} is not text in the encoding {dialect.encoding!r} that [source] names",
            do="Correct encoding in [source], or save the table as UTF-8.",
        )
    with path.open("rb") as file:
        likely = _likely(file.read(64))
    return TableError(
        f"{path.name} is not UTF-8 text.",
        # Not every command that reads a table takes the flag, so what works everywhere comes first.
        do=f"Save it as UTF-8; or say --encoding {likely} to init, profile, noise or answer, or "
        f'encoding = "{likely}" in [source] of a problem file.',
    )


def _likely(head: bytes) -> str:
    """The encoding that the first bytes of a file speak for: half of those of English in UTF-16 are zero.

    >>> _likely("a,b".encode("utf-16")), _likely("a,b".encode("utf-16-le")), _likely("é,b".encode("latin-1"))
    ('utf-16', 'utf-16-le', 'latin-1')
    """
    if head[:2] in UTF_16:
        return "utf-16"
    first = head[0::2].count(0)
    second = head[1::2].count(0)
    if 4 * max(first, second) < len(head):
        return "latin-1"
    return "utf-16-le" if second > first else "utf-16-be"


@contextmanager
def _readable(path: Path, dialect: Dialect) -> Iterator[None]:
    """Errors of the readers in one sentence."""
    try:
        yield
    except UnicodeError:
        raise _not_text(path, dialect) from None
    except csv.Error as e:
        raise TableError(f"cannot read {path.name}: {e}", do="Check the file: it may be damaged or cut off.") from None


def _found_delimiter(path: Path, usual: str, dialect: Dialect) -> str:
    """The usual delimiter, unless it divides nothing and another one divides the first lines all alike."""
    with _readable(path, dialect), closing(_bytes(path, dialect)) as stream:
        start = stream.read(LOOKED_AT)
    if not start:
        raise TableError(
            f"{path.name} is empty; its first line should name the columns", do="Give a table with a header and rows."
        )
    whole, _, _ = start.rpartition(b"\n")  # a line that was cut would have too few fields
    lines = (whole or start).decode("utf-8-sig", "replace").splitlines()
    lines = [line for line in lines if line.strip()]
    if not lines or usual in lines[0]:
        return usual
    for candidate in CANDIDATES:
        widths = {len(record) for record in csv.reader(lines, delimiter=candidate, skipinitialspace=True)}
        if len(widths) == 1 and widths != {1}:
            return candidate
    return usual


def _quotes(path: Path, delimiter: str, dialect: Dialect) -> str:
    """How a file quotes; one scan in pieces that end where a line ends.

    Lines of nothing but blanks go the way of quotes after a blank: Arrow would take them for records.
    """
    after_blank = re.compile(rb"(?:^|[\r\n" + re.escape(delimiter.encode()) + rb'])[ ]+"')
    many = 0
    blanks = False
    long = False
    with _readable(path, dialect), closing(_bytes(path, dialect)) as stream:
        for piece in _pieces(stream):
            if (b"\n " in piece or b"\n\t" in piece or piece[:1] in (b" ", b"\t")) and BLANK_LINE.search(piece):
                return "blank"
            long = long or _has_long_line(piece)
            quotes = piece.count(b'"')
            many += quotes
            blanks = blanks or (quotes > 0 and b' "' in piece and after_blank.search(piece) is not None)
    if many % 2:
        return "open"
    if blanks:
        return "blank"
    if long:
        return "long"
    return "plain" if many else "none"


def _has_long_line(piece: bytes) -> bool:
    """Whether some stretch of LONG_LINE bytes has no end of line; if none has, no line is twice as long."""
    starts = range(0, len(piece) - LONG_LINE + 1, LONG_LINE)
    return any(piece.find(b"\n", start, start + LONG_LINE) < 0 for start in starts)


def _pieces(stream: Any) -> Iterator[bytes]:
    """The bytes of a stream in pieces that begin at the beginning of a line."""
    rest = b""
    while block := stream.read(SCANNED):
        whole, end, tail = (rest + block).rpartition(b"\n")
        if end:
            yield whole + end
            rest = tail
        else:  # one line longer than a piece
            rest = tail
    if rest:
        yield rest
