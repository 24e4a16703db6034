"""A job says itself whether it was done: a process that takes its time to end has not failed."""

import os
import queue
from typing import Any

import pytest

from dalenius.errors import InputError
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


class Pipe:
    """Keeps what is sent; nobody listens any more after `most` messages."""

    def __init__(self, most: int = 9) -> None:
        self.sent: list[dict[str, Any]] = []
        self.most = most

    def send(self, message: dict[str, Any]) -> None:
        if len(self.sent) == self.most:
            raise BrokenPipeError
        self.sent.append(message)


def refusing(_: Send) -> None:
    raise InputError("not this table")


def failing(_: Send) -> None:
    raise ZeroDivisionError("by nought")


def test_what_ends_a_job_goes_through_its_pipe() -> None:
    for work, arguments, last in (
        (counting, (2,), jobs.FINISHED),
        (refusing, (), {"failed": "not this table"}),
        (failing, (), {"failed": "Dalenius failed, not your table (ZeroDivisionError: by nought)."}),
    ):
        pipe: Any = Pipe()
        jobs._run(work, pipe, arguments)
        assert pipe.sent[-1] == last


def test_a_job_ends_where_nobody_listens() -> None:
    pipe: Any = Pipe(most=1)
    jobs._run(counting, pipe, (1000,))
    assert pipe.sent == [{"k": 0}]


class Process:
    """A process that ends when it is asked to, or only when it is killed."""

    def __init__(self, polite: bool) -> None:
        self.polite = polite
        self.alive = True
        self.done: list[str] = []

    def is_alive(self) -> bool:
        return self.alive

    def terminate(self) -> None:
        self.done.append("terminate")
        self.alive = not self.polite

    def kill(self) -> None:
        self.done.append("kill")
        self.alive = False

    def join(self, _: float) -> None:
        pass


@pytest.mark.parametrize("polite", [True, False])
def test_a_job_that_is_cancelled_is_ended_politely_first(polite: bool) -> None:
    job = Jobs()
    assert not job.cancel()
    process = job._process = Process(polite)
    assert job.busy
    assert job.cancel()
    assert process.done == (["terminate"] if polite else ["terminate", "kill"])
    assert not job.busy
    assert not job.cancel()
