"""Where the rows of a release lie while it is made: in memory as long as they fit, then in files that have no name.

Codes are written once, in row order, and read again in slices, so that a tape that is too long for memory costs one
sequential write. Its file lies beside the output, is of mode 0600 and is unlinked as soon as it is made: however the
process ends, the system takes it away.
"""

import os
import tempfile
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError, TableError

__all__ = ["Tape", "Workspace", "memory_of", "memory_told", "put_back", "usual"]

HELD = 4  # tapes may hold one part in so many of the limit; slices, buckets and the libraries need the rest
LEAST_MEMORY = 1 << 28
SPAN = 1 << 20  # rows that are put into their places at a time

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def memory_of(text: str) -> int:
    """A number of bytes as people write it; refused if it is less than the program itself needs.

    >>> memory_of("2G"), memory_of("512M")
    (2147483648, 536870912)
    """
    bare = text.strip().upper().removesuffix("IB").removesuffix("B")
    unit = bare[-1:] if bare[-1:] in UNITS and not bare[-1:].isdigit() else ""
    digits = bare.removesuffix(unit).strip()
    if not digits.isdecimal():
        raise InputError(f"--memory takes a size like 512M or 2G, not {text!r}", do="Write such a size.")
    size = int(digits) * UNITS[unit]
    if size < LEAST_MEMORY:
        raise InputError(f"--memory {text} is less than the program itself needs; say 256M or more")
    return size


memory_told: ContextVar[int | None] = ContextVar("memory_told", default=None)
"""The limit of the command that runs, where it was told one."""


def usual() -> "Workspace":
    """The workspace of tables that are opened without one: half of the machine's memory, or what the command was told.

    The rest goes to the folder for temporary files.
    """
    return Workspace(None, memory_told.get() or Workspace.half_of_the_machine())


@dataclass
class Workspace:
    """A limit of memory, and the folder that takes what exceeds it; without a limit everything stays in memory.

    >>> tape = Workspace().tape(np.uint8)
    >>> tape.append(np.array([1, 2])), tape.append(np.array([3])), tape.finished().tolist()
    (None, None, [1, 2, 3])
    """

    folder: Path | None = None  # where the files go; the folder for temporary files unless given
    memory: int | None = None  # the limit in bytes
    held: int = field(default=0, init=False)

    @staticmethod
    def half_of_the_machine() -> int | None:
        """Half of the memory that this machine has, as far as it says."""
        try:
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        except (AttributeError, ValueError, OSError):
            return None

    def tape(self, dtype: npt.DTypeLike, width: int | None = None) -> "Tape":
        """An empty tape for codes of this type, `width` of them in each row."""
        return Tape(self, np.dtype(dtype), width)

    def fits(self, size: int) -> bool:
        """Whether so many bytes more may be held in memory."""
        return self.memory is None or self.held + size <= self.memory // HELD

    def finished(self, parts: Iterable[npt.NDArray[Any]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """The parts of one column end to end."""
        tape = self.tape(dtype)
        for part in parts:
            tape.append(part)
        return tape.finished()


class Tape:
    """One column, written from its first row to its last, then read at any place."""

    def __init__(self, workspace: Workspace, dtype: np.dtype[Any], width: int | None = None) -> None:
        self.workspace = workspace
        self.dtype = dtype
        self.shape = () if width is None else (width,)
        self.rows = 0
        self._parts: list[npt.NDArray[Any]] = []
        self._file: IO[bytes] | None = None

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Write the next rows; a full disk is an error here and not a signal later."""
        part = np.ascontiguousarray(rows, dtype=self.dtype)
        self.rows += len(part)
        if not part.size:
            return
        if self._file is None and self.workspace.fits(part.nbytes):
            self.workspace.held += part.nbytes
            self._parts.append(part if part.base is None else part.copy())  # a view would hold all it is a part of
            return
        try:
            if self._file is None:
                self._spill()
            self._write(part)
        except OSError as e:
            place = self.workspace.folder or "the folder for temporary files (TMPDIR)"
            raise TableError(
                f"cannot keep the rows in {place}: {e.strerror or e}",
                do="Free some space there, or set TMPDIR to a folder on a larger disk.",
            ) from None

    def _spill(self) -> None:
        """Move what was held in memory so far to a file."""
        self._file = tempfile.TemporaryFile(dir=self.workspace.folder, buffering=0)  # noqa: SIM115
        weakref.finalize(self, self._file.close)  # the array that is mapped to it needs no open file
        for part in self._parts:
            self._write(part)
            self.workspace.held -= part.nbytes
        self._parts.clear()

    def _write(self, part: npt.NDArray[Any]) -> None:
        assert self._file is not None
        left = part.data.cast("B")
        while left:
            left = left[self._file.write(left) :]

    def reader(self) -> Callable[[int, int], npt.NDArray[Any]]:
        """The rows from one number to another, read from the file each time and not mapped into memory."""
        if self._file is None:
            parts = list(self._parts)  # not put together: rows that were appended together are read together
            ends = list(accumulate(map(len, parts)))

            def held(start: int, stop: int) -> npt.NDArray[Any]:
                k = bisect_right(ends, start)
                if k == len(ends) or stop > ends[k]:
                    return self.finished()[start:stop]
                first = ends[k] - len(parts[k])
                return parts[k][start - first : stop - first]

            return held
        descriptor = self._file
        size = self.dtype.itemsize * (self.shape[0] if self.shape else 1)

        def read(start: int, stop: int) -> npt.NDArray[Any]:
            descriptor.seek(start * size)
            found = np.empty((stop - start, *self.shape), dtype=self.dtype)
            left = found.data.cast("B") if found.size else memoryview(b"")
            while left:
                left = left[descriptor.readinto(left) :]  # type: ignore[attr-defined]
            return found

        return read

    def finished(self) -> npt.NDArray[Any]:
        """All rows as one array, which is not to be written to."""
        shape = (self.rows, *self.shape)
        if self._file is not None:
            self._file.flush()
            found: npt.NDArray[Any] = np.memmap(self._file, dtype=self.dtype, mode="r", shape=shape).view(np.ndarray)
        elif self._parts:
            found = self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)
            self._parts = [found]
        else:
            found = np.empty(shape, dtype=self.dtype)
        found.setflags(write=False)
        return found


def put_back(
    pieces: Iterable[tuple[npt.NDArray[np.int64], npt.NDArray[Any]]],
    rows: int,
    dtype: npt.DTypeLike,
    workspace: Workspace,
    width: int | None = None,
) -> npt.NDArray[Any]:
    """A column from values that come in any order, each with the number of its row; 0 where none came.

    Parameters
    ----------
    pieces : iterable of (numbers, values)
        No number comes twice.
    rows : int
        How many the column has.
    dtype : dtype
        Of its values.
    workspace : Workspace
        Where it lies, and where the values lie that wait for their place.
    width : int, optional
        How many values stand in each row.

    Returns
    -------
    array

    Examples
    --------
    >>> put_back([(np.array([3, 0]), np.array([7, 8])), (np.array([1]), np.array([9]))], 4, np.uint8, Workspace())
    array([8, 9, 0, 7], dtype=uint8)
    """
    kind = np.dtype(dtype)
    shape = () if width is None else (width,)
    if workspace.fits(rows * kind.itemsize * (width or 1)):
        found = np.zeros((rows, *shape), dtype=kind)
        for numbers, values in pieces:
            found[numbers] = values
        return found
    numbers_tape = workspace.tape(np.int64)
    values_tape = workspace.tape(kind, width)
    ends = np.arange(SPAN, rows + SPAN, SPAN)
    edges, done = [], 0
    for numbers, values in _heaps(pieces):
        order = np.argsort(numbers)
        edges.append(np.concatenate(([done], done + np.searchsorted(numbers[order], ends))))
        numbers_tape.append(numbers[order])
        values_tape.append(values[order])
        done += len(numbers)
    read_number = numbers_tape.reader()
    read_value = values_tape.reader()
    placed = workspace.tape(kind, width)
    for k, end in enumerate(ends.tolist()):
        some = np.zeros((min(rows, end) - (end - SPAN), *shape), dtype=kind)
        for edge in edges:
            begin = int(edge[k])
            stop = int(edge[k + 1])
            if begin < stop:
                some[read_number(begin, stop) - (end - SPAN)] = read_value(begin, stop)
        placed.append(some)
    return placed.finished()


def _heaps(
    pieces: Iterable[tuple[npt.NDArray[np.int64], npt.NDArray[Any]]],
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[Any]]]:
    """Short pieces put together, so that what is read later is not cut too small."""
    held: list[tuple[npt.NDArray[np.int64], npt.NDArray[Any]]] = []

    def together() -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        return np.concatenate([numbers for numbers, _ in held]), np.concatenate([values for _, values in held])

    for piece in pieces:
        held.append(piece)
        if sum(len(numbers) for numbers, _ in held) >= SPAN:
            yield together()
            held.clear()
    if held:
        yield together()
