"""A small table with the quirks of real ones, and the command line run in this process."""

import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from dalenius import releasing
from dalenius.cli import main, terminal
from dalenius.mechanisms.numbers import compared
from tests.cli.script_runs import HERE, runner
from tests.effort import effort

PROBLEM = """\
[source]
table = "t.csv"
[columns.sex]
values = ["f", "m"]
[columns.age]
values = ["young", "old"]
missing = "category"
[columns.out]
values = ["yes", "no"]
[mechanism]
observe = ["sex", "age"]
output = "Y"
[objective]
maximize = { information = ["out"] }
[[guarantee]]
independent = ["sex"]
[[guarantee]]
independent = ["age"]
"""


def rows(n: int = 3000, seed: int = 5) -> list[list[str]]:
    """Records of the small table, a list of its own each time."""
    return [list(record) for record in _records(n, seed)]


@cache
def _records(n: int, seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    out = []
    for _ in range(n):
        sex, age = rng.choice("fm"), rng.choice(["young", "old", "?"])
        p = 0.2 + 0.3 * (sex == "f") + 0.3 * (age == "old") - 0.2 * (sex == "f" and age == "old")
        out.append([sex, age, "yes" if rng.random() < p else "no", str(rng.randrange(10**9))])
    return out


def write_csv(path: Path, records: list[list[str]], header: str = "sex, age, out, id") -> None:
    path.write_text(header + "\n" + "".join(", ".join(r) + "\n" for r in records) + "\n")


@dataclass
class Place:
    folder: Path

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def problem(self, *swaps: tuple[str, str], name: str = "p.toml") -> str:
        text = PROBLEM
        for old, new in swaps:
            assert old in text
            text = text.replace(old, new, 1)
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def names(self) -> list[str]:
        return sorted(p.name for p in self.folder.iterdir())


@pytest.fixture(autouse=True, scope="session")
def _few_points() -> Iterator[None]:
    """By default a curve in a statement has three points, and noise on a grid of many is compared with no matrix."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(releasing, "POINTS", effort(3, releasing.POINTS))
        patch.setattr(compared, "FEW", effort(32, compared.FEW))
        yield


@pytest.fixture
def place(tmp_path: Path) -> Place:
    write_csv(tmp_path / "t.csv", rows())
    here = Place(tmp_path)
    here.problem()
    return here


@contextmanager
def leaving_the_process_as_it_was() -> Iterator[None]:
    hook, handler = sys.excepthook, signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        sys.excepthook = hook
        signal.signal(signal.SIGTERM, handler)


def released_in(folder: Path, *options: str) -> Path:
    """The folder with p.toml released to out: what tests that begin with a release copy, each for itself."""
    with leaving_the_process_as_it_was():
        assert main(["release", str(folder / "p.toml"), "-o", str(folder / "out"), *options]) == 0
    return folder


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., tuple[int, str, str]]]:
    """Run a command: (exit code, standard output, standard error); wrong usage counts as an exit too."""
    monkeypatch.setattr(terminal, "LONG", float("inf"))  # a busy machine takes long, and then says what it is doing

    def command(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main([str(a) for a in arguments])
        except SystemExit as e:
            code = int(e.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    with leaving_the_process_as_it_was():
        yield command


@pytest.fixture(
    params=[
        HERE,
        pytest.param("estimate.py", marks=pytest.mark.long),
        pytest.param("estimate.R", marks=pytest.mark.slow),
    ]
)
def told(request, tmp_path):
    """Run a script on a card: its exit code, its lines, what it says when it refuses."""
    return runner(request.param, tmp_path)
