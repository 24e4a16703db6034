"""Outputs appear whole or not at all; what a killed run left is private, and taken away by the next one."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dalenius import outputs
from dalenius.errors import InputError
from dalenius.outputs import CURVE, new_file, new_folder, refuse_existing

KILLED = """
import os, signal, sys
from pathlib import Path
from dalenius.outputs import CURVE, new_file, new_folder, write_text
path = Path(sys.argv[1])
with (new_folder(path, CURVE, force=True) if sys.argv[2] == "folder" else new_file(path)) as place:
    write_text(place / "curve.json", "leakage_bits") if place.is_dir() else place.write_text("half")
    if sys.argv[3] == "moved":
        Path.rename = lambda self, to, rename=Path.rename: (rename(self, to), os.kill(os.getpid(), signal.SIGKILL))
    else:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(path: Path, kind: str, when: str = "writing") -> list[Path]:
    """What a run leaves that is killed while it writes, or after it moved aside what it replaces."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), kind, when], check=False)
    assert done.returncode == -9
    return [entry for entry in path.parent.iterdir() if entry != path]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_next_run_takes_away_what_a_killed_one_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    (left,) = killed(tmp_path / "out", kind)
    assert left.name.startswith(".out.partial-")
    assert mode(left) == (0o700 if kind == "folder" else 0o600)
    (tmp_path / ".other.partial-1").mkdir()
    refuse_existing(tmp_path / "out", force=False)
    assert [entry.name for entry in tmp_path.iterdir()] == [".other.partial-1"]
    assert f"removed {left.name}, left by a run that was killed" in capsys.readouterr().err


def test_what_a_run_that_is_alive_or_elsewhere_writes_is_left_alone(tmp_path: Path) -> None:
    with new_folder(tmp_path / "out", CURVE) as place:
        refuse_existing(tmp_path / "out", force=False)
        assert place.is_dir()
        outputs.write_text(place / "curve.json", "leakage_bits")
    elsewhere = tmp_path / ".out.partial-00000000-999999999-00000000"
    elsewhere.mkdir()
    refuse_existing(tmp_path / "out", force=True, kind=CURVE)
    assert elsewhere.is_dir()


def test_what_was_moved_aside_by_a_killed_run_is_put_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with new_folder(tmp_path / "out", CURVE) as place:
        outputs.write_text(place / "curve.json", "the leakage_bits of before")
    killed(tmp_path / "out", "folder", "moved")
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="exists already"):
        refuse_existing(tmp_path / "out", force=False)
    assert (tmp_path / "out" / "curve.json").read_text() == "the leakage_bits of before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    assert "which a run that was killed had moved aside" in capsys.readouterr().err


def test_modes_are_those_of_the_umask_and_private_ones_stay(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with new_folder(tmp_path / "folder", CURVE) as place:
            assert mode(place) == 0o700
        for private in (False, True):
            with new_file(tmp_path / f"file {private}", private=private) as place:
                assert mode(place) == 0o600
    finally:
        os.umask(before)
    assert mode(tmp_path / "folder") == 0o750
    assert mode(tmp_path / "file False") == 0o640
    assert mode(tmp_path / "file True") == 0o600


def test_everything_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not tell which files are open")
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.readlink(f"/proc/self/fd/{descriptor}")))
    renamed: list[int] = []
    rename = Path.rename
    monkeypatch.setattr(Path, "rename", lambda self, to: (renamed.append(len(synced)), rename(self, to))[1])
    with new_folder(tmp_path / "out", CURVE) as place:
        (place / "curve.json").write_text("{}")
    assert [Path(name).name for name in synced] == ["curve.json", place.name, tmp_path.name]
    assert renamed == [2]


def test_only_files_are_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):  # a device is neither; a test must not put one at risk
        with pytest.raises(InputError, match="is not a file; --force replaces only files"):
            refuse_existing(tmp_path / name, force=True)
    with pytest.raises(InputError, match="holds a NUL character"):
        refuse_existing(tmp_path / "a\0b", force=True)
    (tmp_path / "old").write_text("")
    refuse_existing(tmp_path / "old", force=True, inputs=[Path("a" * 300)])


def test_file_systems_without_second_names_and_modes_take_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(Path, "chmod", refuse)
    with new_file(tmp_path / "a") as partial:
        partial.write_text("ours")
    assert (tmp_path / "a").read_text() == "ours"
    with pytest.raises(InputError, match="exists already"), new_file(tmp_path / "c"):
        (tmp_path / "c").write_text("of somebody else")
    assert (tmp_path / "c").read_text() == "of somebody else"
    assert not list(tmp_path.glob(".*"))


def test_a_disk_that_became_read_only_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    def from_now_on() -> None:
        for where, name in ((Path, "unlink"), (os, "link"), (os, "open")):
            monkeypatch.setattr(where, name, refuse)

    with pytest.raises(InputError, match=r"cannot write .*: Read-only file system"), new_file(tmp_path / "a"):
        from_now_on()
