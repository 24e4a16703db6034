"""The tutorial for those who know sdcMicro: every command on the page is run, and prints what the page shows."""

import contextlib
import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dalenius.cli import main

PAGE = (Path(__file__).parents[1] / "docs" / "tutorials" / "pram.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def commands():
    """Each command of the page with the lines below it; folded lines are joined again."""
    for block in blocks("console"):
        for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = entry.partition("\n")
            yield command, re.sub(r"\n    (?=\S)", " ", shown).splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the survey and the problem file of the page."""
    place, home = tmp_path_factory.mktemp("pram"), Path.cwd()
    os.chdir(place)
    (source,) = blocks("python")
    exec(compile(source, "survey", "exec"), {})
    (place / "survey.toml").write_text(blocks("toml")[0])
    yield place
    os.chdir(home)


def printed(command):
    """What a command prints, on both streams; None where its program is not here."""
    program, *arguments = shlex.split(command)
    if program != "dalenius":
        path = sys.executable if program == "python3" else shutil.which(program)
        if path is None or (program == "Rscript" and subprocess.run([path, "-e", "library(jsonlite)"]).returncode):
            return None
        return subprocess.run([path, *arguments], capture_output=True, encoding="utf-8", check=True).stdout
    out, hook, handler = io.StringIO(), sys.excepthook, signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            main([*arguments, "--quiet"])
    finally:
        sys.excepthook = hook
        signal.signal(signal.SIGTERM, handler)
    return out.getvalue()


def alike(shown, line, exactly):
    """The same words, and the same numbers; near each other where another draw has other figures."""
    if exactly:
        return shown.split() == line.split()
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", line).split():
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(line), strict=True)
    numbers = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs]
    return all(abs(a - b) <= max(0.08, 0.15 * abs(a)) for a, b in numbers)


@pytest.mark.slow
def test_every_command_prints_what_the_page_shows(folder):
    ran = 0
    for command, shown in commands():
        text = printed(command)
        if text is None:
            continue
        ran += 1
        lines, exactly = iter(text.splitlines()), "release" not in command
        for wanted in shown:
            if wanted.strip() != "...":
                assert any(alike(wanted, line, exactly) for line in lines), f"{command}: {wanted!r} is not in\n{text}"
    assert ran >= 9
    assert (folder / "released" / "statement.html").read_text().count("to widowed</th>") == 1


@pytest.mark.parametrize("number", [1, *(pytest.param(k, marks=pytest.mark.slow) for k in (2, 3))])
def test_every_other_design_of_the_page_is_solved(folder, number):
    start = blocks("toml")[0]
    text = start[: start.index("[mechanism]")] + blocks("toml")[number]
    (folder / f"other{number}.toml").write_text(text)
    assert "Written" in printed(f"dalenius solve other{number}.toml -o other{number}.json")
    assert "Proved: every promise" in printed(f"dalenius verify other{number}.json --table survey.csv")
