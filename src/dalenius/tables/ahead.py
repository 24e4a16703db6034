"""Batches that are fetched while the last ones are still worked on: a server and its client work at the same time."""

from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from queue import Empty, Queue
from threading import Event, Thread
from typing import TypeVar

__all__ = ["ahead"]

WAITING = 4  # batches that may wait; a reader that is farther ahead only takes memory

T = TypeVar("T")


def ahead(batches: Iterable[T], cancel: Callable[[], None]) -> Generator[T, None, None]:
    """The batches in their order, fetched by a thread of its own.

    Parameters
    ----------
    batches : iterable
        What is fetched; what it raises is raised here, in its turn.
    cancel : callable
        Ends a fetch that is under way when the wait for it is interrupted.

    Yields
    ------
    object
        The batches one after the other.

    Examples
    --------
    >>> list(ahead(iter([1, 2, 3]), cancel=lambda: None))
    [1, 2, 3]
    """
    queue: Queue[tuple[str, T | BaseException | None]] = Queue(WAITING)
    unwanted = Event()

    def fetch() -> None:
        try:
            for batch in batches:
                queue.put(("batch", batch))
                if unwanted.is_set():
                    return
            queue.put(("end", None))
        except BaseException as e:  # raised where the batches are wanted
            queue.put(("error", e))

    thread = Thread(target=fetch, daemon=True, name="ahead")
    thread.start()
    try:
        while True:
            try:
                kind, what = queue.get()
            except BaseException:  # an interrupt; the server may not answer for a long time
                with suppress(Exception):  # not every driver can cancel
                    cancel()
                raise
            if kind == "end":
                return
            if kind == "error":
                raise what  # type: ignore[misc]
            yield what  # type: ignore[misc]
    finally:
        unwanted.set()
        while thread.is_alive():  # a fetch that waits for room gets it, and sees that nobody wants the rest
            with suppress(Empty):
                queue.get(timeout=0.01)
