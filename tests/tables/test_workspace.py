"""Tapes: the same rows in memory and on disk, mode and name of the file, a full disk."""

import os
import stat
import tempfile
from pathlib import Path

import numpy as np
import pytest

from dalenius.errors import InputError, TableError
from dalenius.tables.workspace import Tape, Workspace, memory_of, memory_told, usual


def filled(space: Workspace, parts: int) -> Tape:
    tape = space.tape(np.uint16)
    for k in range(parts):
        tape.append(np.arange(1_000) + k)
    return tape


def test_rows_are_the_same_in_memory_and_on_disk(tmp_path: Path) -> None:
    held, spilled = filled(Workspace(), 9), filled(Workspace(tmp_path, 16_000), 9)
    assert (held.finished() == spilled.finished()).all()
    assert spilled.reader()(3_500, 3_503).tolist() == [503, 504, 505]
    assert held.reader()(3_500, 3_503).tolist() == [503, 504, 505]


def test_the_file_is_private_and_has_no_name(tmp_path: Path) -> None:
    tape = filled(Workspace(tmp_path, 4_000), 3)
    assert tape._file is not None
    status = os.fstat(tape._file.fileno())
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert status.st_size == 6_000
    assert list(tmp_path.iterdir()) == []


def test_rows_of_several_columns_stay_together(tmp_path: Path) -> None:
    for space in (Workspace(), Workspace(tmp_path, 4)):
        tape = space.tape(np.uint8, 3)
        tape.append(np.array([[1, 2, 3], [4, 5, 6]]))
        tape.append(np.array([[7, 8, 9]]))
        assert tape.reader()(1, 3).tolist() == [[4, 5, 6], [7, 8, 9]]


def test_a_full_disk_is_one_sentence() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    tape = Workspace(Path("/"), 4).tape(np.uint8)
    with full.open("wb", buffering=0) as tape._file, pytest.raises(TableError, match="cannot keep the rows in"):
        tape.append(np.zeros(10))


def test_sizes_are_read_as_people_write_them() -> None:
    assert [memory_of(t) for t in ("2G", "2 GiB", "2048mb", "2147483648")] == [2**31] * 4
    for wrong in ("", "two", "-1G", "1.5G", "10X"):
        with pytest.raises(InputError, match="takes a size like 512M or 2G"):
            memory_of(wrong)
    with pytest.raises(InputError, match="less than the program itself needs"):
        memory_of("100M")


def test_a_table_that_fits_needs_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/there/is/no/such/folder")
    assert filled(usual(), 2).finished().shape == (2_000,)
    told = memory_told.set(4)
    try:
        with pytest.raises(TableError, match=r"cannot keep the rows in the folder for temporary files \(TMPDIR\)"):
            filled(usual(), 2)
    finally:
        memory_told.reset(told)
