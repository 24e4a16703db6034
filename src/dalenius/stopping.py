"""When a search has to end: its deadline has come, or somebody asked for what there is.

A search asks `over(deadline)` between two steps. Whoever catches a signal calls `stop`, and every search of the process
ends at its next step as if its time were up: the best design so far is proved and kept. Searches that depend on work
(steps, nodes) count it themselves; only the end of the time ends them early.
"""

import threading
import time

__all__ = ["asked", "left", "over", "resume", "stop"]

_asked = threading.Event()


def stop() -> None:
    """Let every search end at its next step."""
    _asked.set()


def asked() -> bool:
    """Whether somebody asked for what there is, so that nothing more than it needs is done.

    >>> asked()
    False
    """
    return _asked.is_set()


def resume() -> None:
    """Let searches run again: before the next command of the same process."""
    _asked.clear()


def over(deadline: float) -> bool:
    """Whether a search with this deadline (of `time.monotonic`) has to end.

    >>> over(time.monotonic() - 1), over(time.monotonic() + 60)
    (True, False)
    """
    return _asked.is_set() or time.monotonic() > deadline


def left(deadline: float) -> float:
    """The seconds that are left until a deadline, 0 when it is over."""
    return 0.0 if over(deadline) else deadline - time.monotonic()
