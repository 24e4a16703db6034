"""When a search has to end: its deadline has come, or somebody asked for what there is.

A search asks `over(deadline)` between two steps. Whoever catches a signal calls `stop`, and every search of the process
ends at its next step as if its time were up. A proof may take longer than somebody waits: where that may be asked for,
designs are proved on the way and held, and `Enough` then ends whatever runs with the one that is held.
Searches that depend on work (steps, nodes) count it themselves; only the end of the time ends them early.
"""

import threading
import time
from enum import Enum

__all__ = ["Enough", "Stage", "asked", "keep_no_more", "keeps", "left", "over", "reach", "resume", "stage", "stop"]

_asked = threading.Event()


class Enough(BaseException):
    """Somebody waits, and a proved design is held: what runs ends here."""


class Stage(Enum):
    """How far the command is, for whoever ends it."""

    BEFORE = "nothing is known yet"
    SEARCHING = "a search runs, and nothing is proved yet"
    HOLDING = "a search runs, and a proved design is held"
    ENDING = "what runs ends by itself and soon: a proved design is written, or a curve with the points that it has"


class _Command:
    """What runs: whether its best design so far may be asked for, and how far it is."""

    keeps = False
    stage = Stage.BEFORE


def stop() -> None:
    """Let every search end at its next step."""
    _asked.set()


def asked() -> bool:
    """Whether somebody asked for what there is, so that nothing more than it needs is done.

    >>> asked()
    False
    """
    return _asked.is_set()


def resume(*, keep: bool = False) -> None:
    """Let searches run again: before the next command of the same process.

    Parameters
    ----------
    keep
        Whether somebody may ask for the best design so far.
    """
    _asked.clear()
    _Command.keeps = keep
    _Command.stage = Stage.BEFORE


def keeps() -> bool:
    """Whether somebody may ask for the best design so far, so that designs are proved on the way."""
    return _Command.keeps


def keep_no_more() -> None:
    """From here on a signal ends the command as it does where nothing is to be kept."""
    _Command.keeps = False


def stage() -> Stage:
    """How far the command is."""
    return _Command.stage


def reach(stage: Stage) -> None:
    """Say how far the command is.

    Parameters
    ----------
    stage
        From here on.
    """
    _Command.stage = stage


def over(deadline: float) -> bool:
    """Whether a search with this deadline (of `time.monotonic`) has to end.

    >>> over(time.monotonic() - 1), over(time.monotonic() + 60)
    (True, False)
    """
    return _asked.is_set() or time.monotonic() > deadline


def left(deadline: float) -> float:
    """The seconds that are left until a deadline, 0 when it is over."""
    return 0.0 if over(deadline) else deadline - time.monotonic()
