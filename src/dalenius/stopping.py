"""When a search has to end: its deadline has come, or somebody asked for what there is.

A search asks `over(deadline)` between two steps. Whoever catches a signal calls `stop`, and every search of the process
ends at its next step as if its time were up. A proof may take longer than somebody waits: where that may be asked for,
designs are proved on the way and held, and `Enough` then ends whatever runs with the one that is held. So does the
clock of a command when its time is over (`ring`).
Searches that depend on work (steps, nodes) count it themselves; only the end of the time ends them early.

Steps of a search set deadlines of their own. Inside `limited` none of them is later than the end of the whole, so that
whoever gives a step some seconds need not know how many are left.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from math import inf

__all__ = [
    "LATEST",
    "Enough",
    "Stage",
    "asked",
    "keep_no_more",
    "keeps",
    "left",
    "left_for_a_call",
    "limited",
    "over",
    "reach",
    "resume",
    "ring",
    "rings",
    "rung",
    "stage",
    "stop",
]

LATEST = 1.1  # times the time of a command: a proof under way is not waited for beyond it, and whoever waited is told
SOON = 0.001  # seconds: a clock that is set to 0 never rings
LAST_CALL = 0.5  # seconds for a call of a library after the end, so that what is nearly done gets done
SHARE = 0.05  # of the whole time, if that is more

_asked = threading.Event()
_end: ContextVar[float] = ContextVar("end", default=inf)  # of everything, of `time.monotonic`
_whole: ContextVar[float] = ContextVar("whole", default=inf)  # seconds that everything has


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
    clock: Callable[[float], None] | None = None
    bell: Callable[[], None] | None = None


def stop() -> None:
    """Let every search end at its next step."""
    _asked.set()


def asked() -> bool:
    """Whether somebody asked for what there is, so that nothing more than it needs is done.

    >>> asked()
    False
    """
    return _asked.is_set()


def resume(*, keep: bool = False, clock: Callable[[float], None] | None = None) -> None:
    """Let searches run again: before the next command of the same process.

    Parameters
    ----------
    keep
        Whether somebody may ask for the best design so far.
    clock
        Has `rung` called after so many seconds, in the middle of whatever runs; 0 for never. None: there is none.
    """
    _asked.clear()
    _Command.keeps = keep
    _Command.stage = Stage.BEFORE
    _Command.clock = clock
    _Command.bell = None


def ring(seconds: float, bell: Callable[[], None] | None) -> bool:
    """Have a function called after some seconds, once, in the middle of whatever runs; where a command has a clock.

    Parameters
    ----------
    seconds
        From now on.
    bell
        The function; None for none, whatever was asked for before.

    Returns
    -------
    bool
        Whether it will be called.
    """
    if _Command.clock is None:
        return False
    _Command.bell = bell
    _Command.clock(0.0 if bell is None else max(seconds, SOON))
    return bell is not None


def rung() -> None:
    """The clock of the command rings."""
    bell, _Command.bell = _Command.bell, None
    if bell is not None:
        bell()


def rings() -> bool:
    """Whether somebody waits for the clock already."""
    return _Command.bell is not None


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
    """Say how far the command is."""
    _Command.stage = stage


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Let no deadline inside the block be later than the end of so many seconds; that of a block outside still counts.

    Parameters
    ----------
    seconds
        For everything in the block.

    Examples
    --------
    >>> with limited(60), limited(600):
    ...     left() <= 60
    True
    """
    before = _end.set(min(_end.get(), time.monotonic() + seconds))
    whole = _whole.set(min(_whole.get(), seconds))
    try:
        yield
    finally:
        _end.reset(before)
        _whole.reset(whole)


def over(deadline: float = inf) -> bool:
    """Whether a search with this deadline (of `time.monotonic`) has to end.

    >>> over(time.monotonic() - 1), over(time.monotonic() + 60)
    (True, False)
    """
    return _asked.is_set() or time.monotonic() > min(deadline, _end.get())


def left(deadline: float = inf) -> float:
    """The seconds that are left until a deadline, 0 when it is over."""
    return 0.0 if over(deadline) else max(0.0, min(deadline, _end.get()) - time.monotonic())


def left_for_a_call() -> float:
    """The seconds that one call of a library may take, which nobody can end from outside.

    Until the end of everything; after it a little, because what ends a search may need one more call.

    >>> with limited(0):
    ...     left_for_a_call()
    0.5
    """
    whole = _whole.get()
    little = LAST_CALL if _asked.is_set() or whole == inf else max(LAST_CALL, SHARE * whole)
    return max(left(), little)
