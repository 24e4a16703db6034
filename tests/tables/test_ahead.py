import threading
from collections.abc import Iterator

import pytest

from dalenius.tables.ahead import WAITING, ahead


def never() -> None:
    raise AssertionError("nothing was interrupted")


def test_batches_come_in_their_order_and_while_others_are_fetched() -> None:
    fetched = threading.Event()

    def batches() -> Iterator[int]:
        yield 0
        yield 1
        fetched.set()  # with nobody asking for a third batch
        yield 2

    found = ahead(batches(), never)
    assert next(found) == 0
    assert fetched.wait(10)
    assert list(found) == [1, 2]


def test_an_error_is_raised_in_its_turn() -> None:
    def batches() -> Iterator[int]:
        yield 7
        raise ValueError("cut short")

    found = ahead(batches(), never)
    assert next(found) == 7
    with pytest.raises(ValueError, match="cut short"):
        next(found)


def test_a_reader_that_is_left_ends_its_thread_and_reads_no_further() -> None:
    seen = []

    def batches() -> Iterator[int]:
        for k in range(1000):
            seen.append(k)
            yield k

    before = threading.active_count()
    found = ahead(batches(), never)
    assert next(found) == 0
    found.close()
    assert threading.active_count() == before
    assert len(seen) <= 3 * WAITING


def test_an_interrupt_cancels_the_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled = threading.Event()

    def batches() -> Iterator[int]:
        assert cancelled.wait(10)
        yield 0

    def interrupted(*_: object, **__: object) -> None:
        if not cancelled.is_set():
            raise KeyboardInterrupt

    monkeypatch.setattr("dalenius.tables.ahead.Queue.get", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(ahead(batches(), cancelled.set))
