"""Which files a table was opened from, so that a source that changes while it is read is noticed and refused."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from dalenius.errors import TableError

__all__ = ["Identity"]

SETTLED_NS = 50_000_000
"""A file written less than this before it is opened might be written again within one tick of the file system's clock,
and would look the same; opening waits until the tick is over."""

Stamp = tuple[int, int, int, int]


@dataclass(frozen=True)
class Identity:
    """Device, inode, size and time of the last change of each file of a source.

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
        youngest = max(stamp[3] for stamp in stamps)
        wait = youngest + SETTLED_NS - time.time_ns()
        if 0 < wait <= SETTLED_NS:  # a clock that is far off is not waited for
            time.sleep(wait / 1e9)
            stamps = tuple(map(_stamp, files))
        return cls(tuple(files), stamps)

    def changed(self) -> bool:
        """Whether a file is another one, longer, shorter, newer or gone."""
        try:
            return tuple(map(_stamp, self.files)) != self.stamps
        except OSError:
            return True

    def check(self, name: str) -> None:
        """Refuse a source that is not what it was when it was opened.

        Parameters
        ----------
        name : str
            What the table is called in the message.

        Raises
        ------
        TableError
            If a file changed.
        """
        if self.changed():
            raise TableError(
                f"{name} changed while it was read, so that what was counted is not what would be released; nothing "
                "was written; run again when nobody writes to it, or copy it first"
            )


def _stamp(path: Path) -> Stamp:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
