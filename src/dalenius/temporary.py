"""Names of what is not finished yet, which say whose it is: the next run takes away what a killed one left."""

import hashlib
import os
import platform
import re
import secrets
import shutil
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["PARTIAL", "REPLACED", "clear_left_behind", "remove", "temporary_name", "wait_for_disk"]

PARTIAL = "partial"  # what is not whole yet
REPLACED = "replaced"  # what was whole and is being replaced


def _machine() -> str:
    """Names this machine, so that its processes are told from those of others that write to the same disk."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def temporary_name(path: Path, what: str) -> Path:
    """A name beside a path that nothing has yet, with the number of this process in it.

    Parameters
    ----------
    path : Path
        What it will become.
    what : str
        `PARTIAL` or `REPLACED`.

    Returns
    -------
    Path
    """
    return path.absolute().parent / f".{path.name}.{what}-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def clear_left_behind(path: Path) -> None:
    """Take away what runs on this name left that were killed; put back what one of them had moved aside."""
    folder = path.absolute().parent
    if not folder.is_dir():
        return
    ours = rf"({PARTIAL}|{REPLACED})-{_machine()}-(\d+)-[0-9a-f]{{8}}(-journal)?"  # that of a ledger in the making
    left = re.compile(re.escape(f".{path.name}.") + ours)
    for entry in sorted(folder.iterdir()):
        found = left.fullmatch(entry.name)
        if found is None or _is_running(int(found[2])):
            continue
        if found[1] == REPLACED and not os.path.lexists(path):
            with suppress(FileNotFoundError):  # another run on this name may be quicker
                entry.rename(path)
                print(f"dalenius: put {path} back, which a run that was killed had moved aside", file=sys.stderr)
        else:
            remove(entry)
            if os.path.lexists(entry):
                continue
            print(f"dalenius: removed {entry.name}, left by a run that was killed", file=sys.stderr)


def wait_for_disk(*places: Path) -> None:
    """Wait until these files and the names in these folders are on the disk."""
    for place in places if os.name == "posix" else ():
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it; nothing happens where there is none, or where it cannot go.

    Parameters
    ----------
    path : Path
        What goes.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):  # a disk that became read-only: what went wrong before is what counts
            path.unlink()
