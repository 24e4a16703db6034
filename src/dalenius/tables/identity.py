"""Which files a table was opened from, so that a source that changes while it is read is noticed and refused."""

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from dalenius.errors import TableError

__all__ = ["Identity"]

SETTLED_NS = 50_000_000
"""A file written less than this before it is opened might be written again within one tick of the file system's clock,
and would look the same; opening waits until the tick is over."""

Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Identity:
    """Device, inode, size and times of the last change of each file of a source; its contents where it is read twice.

    The time of modification can be set back by whoever may write to the file, that of the last change (`st_ctime`)
    cannot. Where the rows come from one pass, they are what they are; what is put together from several passes is held
    to the digests of the files before the first pass and after the last one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "t.csv"
    ...     _ = file.write_text("a\\n1\\n")
    ...     known = Identity.of([file])
    ...     known.check("t.csv")
    ...     _ = file.write_text("a\\n2\\n")
    ...     known.changed()
    True
    """

    files: tuple[Path, ...]
    stamps: tuple[Stamp, ...]
    contents: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, files: Sequence[Path]) -> Self:
        """The identity of these files as they are now.

        Parameters
        ----------
        files : sequence of Path
            The files that a table is read from, in their order.

        Returns
        -------
        Identity
        """
        stamps = tuple(map(_stamp, files))
        youngest = max(max(stamp[3:]) for stamp in stamps)
        wait = youngest + SETTLED_NS - time.time_ns()
        if 0 < wait <= SETTLED_NS:  # a clock that is far off is not waited for
            time.sleep(wait / 1e9)
            stamps = tuple(map(_stamp, files))
        return cls(tuple(files), stamps)

    def with_contents(self) -> Self:
        """The same with a digest of every file, which is read for it."""
        return replace(self, contents=tuple(map(_digest, self.files)))

    def changed(self, *, contents: bool = False) -> bool:
        """Whether a file is another one, longer, shorter, newer or gone, or says something else.

        Parameters
        ----------
        contents : bool
            Whether the files are read again, where their digests are known.
        """
        try:
            if contents and self.contents and tuple(map(_digest, self.files)) != self.contents:
                return True
            return tuple(map(_stamp, self.files)) != self.stamps
        except OSError:
            return True

    def check(self, name: str, *, contents: bool = False) -> None:
        """Refuse a source that is not what it was when it was opened.

        Parameters
        ----------
        name : str
            What the table is called in the message.
        contents : bool
            As in `changed`.

        Raises
        ------
        TableError
            If a file changed.
        """
        if self.changed(contents=contents):
            raise TableError(
                f"{name} changed while it was read, so that what was counted is not what would be released; nothing "
                "was written; run again when nobody writes to it, or copy it first"
            )


def _stamp(path: Path) -> Stamp:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
