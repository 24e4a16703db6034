"""A small table, and a session whose jobs run at once and in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dalenius.errors import DaleniusError
from dalenius.studio import session as sessions
from dalenius.studio import work
from dalenius.studio.jobs import Send
from dalenius.studio.session import Session

Beginning = Callable[..., Session]


class AtOnce:
    """Jobs that are over when `start` returns, with the same messages as those in a process of their own."""

    busy = False

    def start(self, doing: Any, arguments: tuple[Any, ...], on_message: Send) -> None:
        try:
            doing(on_message, *arguments)
        except DaleniusError as e:
            on_message({"failed": str(e)})
            on_message({"ended": False})
        else:
            on_message({"ended": True})

    def cancel(self) -> bool:
        return False


def write_table(path: Path, rows: int = 400) -> None:
    """Whom somebody votes for, how they go to work, their age: each says something about the others."""
    draw = np.random.default_rng(20260101)
    vote = draw.integers(0, 2, rows)
    way = np.where(draw.random(rows) < 0.6, vote, draw.integers(0, 2, rows))
    age = 20 + 10 * draw.integers(0, 4, rows)
    lines = ["vote,way,age"]
    lines += [f"{'no' if v else 'yes'},{'car' if w else 'train'},{a}" for v, w, a in zip(vote, way, age, strict=True)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "votes.csv"
    write_table(path)
    return path


@pytest.fixture
def begin(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Beginning:
    """A function that opens the table with these columns protected, released, or left out."""
    monkeypatch.setattr(sessions, "Jobs", AtOnce)
    monkeypatch.setattr(work, "SHARES", work.SHARES[::5])  # three points and both ends are a curve

    def opened(promise: str = "reveal", level: str = "0.01", path: Path = table, **further: Any) -> Session:
        session = Session(path, tmp_path)
        roles = {"vote": "protect", "way": "release", "age": "out"} | further.pop("roles", {})
        session.choose(sessions.Choices(roles, promise, level, **further))
        return session

    return opened
