"""Files and folders that appear whole or not at all.

Everything is written under a temporary name beside its place, which only its owner can read, brought to the disk and
renamed when it is complete, so an error, Ctrl-C, a kill or a power failure leaves nothing half-written under the real
name. What a killed run left under a temporary name is removed by the next run on that name. What exists already is
refused unless it may be replaced.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalenius.errors import InputError
from dalenius.temporary import PARTIAL, REPLACED, clear_left_behind, remove, temporary_name, wait_for_disk

if TYPE_CHECKING:
    from dalenius.core import Problem

__all__ = [
    "CURVE",
    "FIGURES",
    "POINT",
    "RELEASE",
    "RISK",
    "Kind",
    "files_read",
    "new_file",
    "new_folder",
    "refuse_existing",
    "write_text",
]


@dataclass(frozen=True)
class Kind:
    """A kind of folder that we write: the file that each one has, one of its words, and the names of all files.

    Those in `folders` may be folders of files.
    """

    name: str
    mark: str
    says: tuple[str, ...]
    files: tuple[str, ...]
    folders: tuple[str, ...] = ()

    def foreign(self, folder: Path) -> str | None:
        """Why a folder is not one of this kind, and must not be replaced; None if it is one."""
        if folder.is_symlink() or not folder.is_dir():
            return f"{folder} is not a folder"
        mark = folder / self.mark
        text = mark.read_text(encoding="utf-8", errors="replace") if mark.is_file() else ""
        if not any(word in text for word in self.says):
            return f"{folder} does not hold a {self.name} of ours"
        others = [
            f.name
            for f in sorted(folder.iterdir())
            if (f.is_dir() and f.name not in self.folders) or not any(fnmatch(f.name, file) for file in self.files)
        ]
        return f"{folder} also holds {others[0]}, which is not part of a {self.name}" if others else None


RELEASE = Kind(
    "release",
    "card.json",
    ('"dalenius-card/',),
    (
        "card.json",
        "design.json",
        "*.about.json",
        "report*.html",
        "statement*.html",
        "released.*",
        "estimate.py",
        "estimate.R",
    ),
    ("released.parquet",),
)
CURVES = ("leakage_bits", "information_bits", '"promise"')  # a curve of each kind says one of these
CURVE = Kind("curve", "curve.json", CURVES, ("curve.json", "curve.csv", "curve.svg", "marks.json"))
POINT = Kind("point", "point.json", ('"files"',), ("*.json",))
RISK = Kind("risk map", "risk.json", ("{",), ("risk.json", "map.csv", "map.svg", "records.csv"))
FIGURES = Kind("page of figures", "index.html", ("<",), ("*.html", "*.svg", "*.csv", "*.json"))


def _exists(path: Path, *, kind: Kind | None = None, inputs: Iterable[Path] = ()) -> InputError:
    """That something is in the way, and --force only where it would help."""
    try:
        ours = kind.foreign(path) is None if kind else path.is_symlink() or path.is_file()
        ours = ours and not _read_from(path, inputs)
    except OSError:
        ours = False
    do = "Choose another name, or say --force to replace it." if ours else "Choose another name."
    return InputError(f"{path} exists already.", do=do, code="exists")


def refuse_existing(path: Path, *, force: bool, kind: Kind | None = None, inputs: Iterable[Path] = ()) -> None:
    """An existing output is an error, raised before any work is done for it.

    With `force` it is replaced unless it is, or holds, one of the `inputs` that the work reads; a folder only if it is
    one of the `kind` that will be written there, with nothing else in it.
    """
    if "\0" in str(path):
        raise InputError("the name of an output holds a NUL character", do="Choose another name.")
    clear_left_behind(path)
    if os.path.lexists(path) and not force:
        raise _exists(path, kind=kind, inputs=inputs)
    if os.path.lexists(path):
        if read := _read_from(path, inputs):
            raise InputError(
                f"{read[0]} is read here and would be lost; --force does not replace {path}", do="Choose another name."
            )
        if kind is not None and (why := kind.foreign(path)):
            raise InputError(f"{why}; --force replaces only a {kind.name}, choose another name")
        if kind is None and not (path.is_symlink() or path.is_file()):  # a folder, a device, a pipe
            raise InputError(f"{path} is not a file; --force replaces only files, choose another name")
    if not path.absolute().parent.is_dir():
        raise InputError(
            f"there is no folder {path.absolute().parent} to write {path.name} in",
            do="Make the folder first, or choose another name.",
        )


def _read_from(path: Path, inputs: Iterable[Path]) -> list[Path]:
    """The inputs that lie in a folder, or are the file itself."""
    # os.path.exists takes a name that is too long, too
    return [f for f in inputs if os.path.exists(f) and f.resolve().is_relative_to(path.resolve())]


def files_read(problem: "Problem", table: Any = None) -> list[Path]:
    """The files that a problem is read from, as far as they are files.

    Parameters
    ----------
    problem : Problem
        With its file and its source.
    table : path, Table or data frame, optional
        In the place of the table that the problem names.

    Returns
    -------
    list of Path
    """
    from dalenius.core import TableSource  # brings arrays, which a file of output does without
    from dalenius.tables import is_address, table_of

    source = table_of(problem, problem.source) if table is None and isinstance(problem.source, TableSource) else table
    return [Path(f) for f in (problem.file, source) if isinstance(f, str | Path) and not is_address(str(f))]


NAMED: list[Path] = []
"""Files and folders of this command that have their name, for whoever says what was written."""


# --- on the disk ------------------------------------------------------------------------------------------------------
def _usual_mode(place: Path, mode: int) -> None:
    """Give a file or folder the mode that it would have had without us."""
    mask = os.umask(0o077)
    os.umask(mask)
    with suppress(PermissionError):  # file systems that know no modes
        place.chmod(mode & ~mask)


def _named(partial: Path, path: Path) -> None:
    """Give a finished file its name, unless somebody made a file of that name meanwhile."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # file systems that know no second name: FAT, some of networks
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        os.replace(partial, path)


# --- files and folders ------------------------------------------------------------------------------------------------
@contextmanager
def new_file(path: Path, *, force: bool = False, private: bool = False) -> Iterator[Path]:
    """A temporary path to write to; it becomes `path` when the block ends well and vanishes when it does not."""
    refuse_existing(path, force=force)
    partial = temporary_name(path, PARTIAL)
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield partial
        wait_for_disk(partial)
        if not force:
            _named(partial, path)
        else:
            os.replace(partial, path)
        NAMED.append(path)
        if not private:  # not before it has its name: what a kill leaves under another one stays private
            _usual_mode(path, 0o666)
        wait_for_disk(path.absolute().parent)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as e:
        raise InputError(
            f"cannot write {path}: {e.strerror or e}",
            do="Check your rights and the space on the disk, or choose another folder.",
        ) from None
    finally:
        remove(partial)


@contextmanager
def new_folder(path: Path, kind: Kind, *, force: bool = False) -> Iterator[Path]:
    """A temporary folder to fill; it becomes `path` when the block ends well and vanishes when it does not.

    A folder that is replaced is moved aside first and removed last, so at every moment one of the two is whole. Only
    a folder of the same kind is replaced.
    """
    refuse_existing(path, force=force, kind=kind)
    partial = temporary_name(path, PARTIAL)
    aside = temporary_name(path, REPLACED)
    try:
        partial.mkdir(0o700)
        yield partial
        wait_for_disk(*partial.rglob("*"), partial)
        if force and os.path.lexists(path):
            refuse_existing(path, force=force, kind=kind)  # somebody may have put something into it meanwhile
            path.rename(aside)
        partial.rename(path)
        NAMED.append(path)
        _usual_mode(path, 0o777)
        wait_for_disk(path.absolute().parent)
    except OSError as e:
        raise InputError(
            f"cannot write {path}: {e.strerror or e}",
            do="Check your rights and the space on the disk, or choose another folder.",
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if os.path.lexists(path):
            remove(aside)
        elif os.path.lexists(aside):
            aside.rename(path)


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a new file; a private one is readable by its owner only, from its first byte on."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
