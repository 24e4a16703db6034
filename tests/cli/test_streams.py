"""Streams that are closed, full or know no umlauts, a folder that is gone: one sentence, and no fault of ours."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dalenius.cli import main
from dalenius.cli.streams import fault_outside

TABLE = "sex,größe\nm,ä\nf,ö\nm,ö\nf,ä\n"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "t.csv"


def ended(redirected: str, *, locale: str = "C.UTF-8", unbuffered: str = "") -> subprocess.CompletedProcess[str]:
    """A command with its streams as a shell sets them."""
    words = f"{sys.executable} -m dalenius profile t.csv {redirected}"
    told = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    told["PYTHONUNBUFFERED"] = unbuffered
    return subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False, env=told)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("machines", [[], ["--json"]])
def test_a_full_standard_output_is_no_fault_of_ours(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], machines: list[str]
) -> None:
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["profile", "t.csv", *machines]) == 2
    assert capsys.readouterr().err == (
        "dalenius: the answer cannot be written to standard output: No space left on device. Write the answer to "
        "a file: add > FILE to the command, on a disk with room. Files that the command wrote before are "
        "whole and stay.\n"
    )


def test_a_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fault_outside() is None
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert "the current folder is gone" in str(fault_outside())


@pytest.mark.long
@pytest.mark.parametrize("redirected", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_end_nothing(table: Path, redirected: str) -> None:
    assert ended(redirected).returncode == 0


@pytest.mark.long
def test_a_stream_without_umlauts_shows_their_numbers(table: Path) -> None:
    found = ended("", locale="C")
    assert (found.returncode, found.stderr) == (0, "")
    assert "gr\\xf6\\xdfe" in found.stdout


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "redirected", [">/dev/full", "--json >/dev/full", "2>/dev/full --bad", "--json --bad >/dev/full"]
)
def test_full_streams_end_in_two(table: Path, redirected: str, unbuffered: str) -> None:
    assert ended(redirected, unbuffered=unbuffered).returncode == 2


LONG = 300_000
RINGING = f"""
import os, signal
from dalenius.cli.streams import prepared
prepared()
signal.signal(signal.SIGALRM, lambda *_: os.write(2, b"."))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
print("x" * {LONG})
signal.setitimer(signal.ITIMER_REAL, 0)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no clock that rings here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_long_answer_is_whole_though_a_clock_rings_while_it_is_written(unbuffered: str) -> None:
    told = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(
        [sys.executable, "-c", RINGING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=told
    ) as process:
        assert process.stderr is not None
        assert process.stderr.read(20) == b"." * 20  # the pipe has long been full, and nobody has read it
        answer, _ = process.communicate()
    assert process.returncode == 0
    assert len(answer) == LONG + len(os.linesep)
