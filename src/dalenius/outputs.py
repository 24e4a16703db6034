"""Files and folders that appear whole or not at all.

Everything is written under a temporary name beside its place and renamed when it is complete, so an error, Ctrl-C or a
kill leaves nothing half-written under the real name. What exists already is refused unless it may be replaced.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dalenius.errors import InputError

__all__ = ["new_file", "new_folder", "refuse_existing", "write_text"]


def refuse_existing(path: Path, *, force: bool) -> None:
    """An existing output is an error, raised before any work is done for it."""
    if os.path.lexists(path) and not force:
        raise InputError(f"{path} exists already; choose another name or say --force to replace it")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {path.absolute().parent} to write {path.name} in")


def _partial(path: Path) -> Path:
    return path.absolute().parent / f".{path.name}.partial-{secrets.token_hex(4)}"


@contextmanager
def new_file(path: Path, *, force: bool = False, private: bool = False) -> Iterator[Path]:
    """A temporary path to write to; it becomes `path` when the block ends well and vanishes when it does not."""
    refuse_existing(path, force=force)
    partial = _partial(path)
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
        yield partial
        if not force:
            os.link(partial, path)  # fails if somebody made the file meanwhile
            partial.unlink()
        else:
            os.replace(partial, path)
    except FileExistsError:
        raise InputError(f"{path} exists already; choose another name or say --force to replace it") from None
    except OSError as e:
        raise InputError(f"cannot write {path}: {e.strerror or e}") from None
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A temporary folder to fill; it becomes `path` when the block ends well and vanishes when it does not.

    A folder that is replaced is moved aside first and removed last, so at every moment one of the two is whole.
    """
    refuse_existing(path, force=force)
    partial, aside = _partial(path), _partial(path)
    try:
        partial.mkdir()
        yield partial
        if force and os.path.lexists(path):
            path.rename(aside)
        partial.rename(path)
    except OSError as e:
        raise InputError(f"cannot write {path}: {e.strerror or e}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if os.path.lexists(path):
            _remove(aside)
        elif os.path.lexists(aside):
            aside.rename(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a new file; a private one is readable by its owner only, from its first byte on."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
