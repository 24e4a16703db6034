"""A job says itself whether it was done: a process that takes its time to end has not failed."""

import os
import queue
from typing import Any

import pytest

from dalenius.studio import jobs
from dalenius.studio.jobs import Jobs, Send


def counting(send: Send, many: int) -> None:
    for k in range(many):
        send({"k": k})


def crashing(send: Send) -> None:
    send({"k": 0})
    os._exit(3)


def heard(work: Any, *arguments: Any) -> list[dict[str, Any]]:
    """Every message of a job up to its end."""
    messages: queue.Queue[dict[str, Any]] = queue.Queue()
    Jobs().start(work, arguments, messages.put)
    found = [messages.get(timeout=60)]
    while "ended" not in found[-1]:
        found.append(messages.get(timeout=60))
    return found


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a process: none has ended when its job is judged."""
    monkeypatch.setattr(jobs, "PATIENCE", 0.0)


def test_work_that_was_done_is_not_called_unfinished() -> None:
    assert heard(counting, 2) == [{"k": 0}, {"k": 1}, {"ended": True}]


def test_work_that_crashed_is() -> None:
    assert heard(crashing) == [{"k": 0}, {"ended": False}]
