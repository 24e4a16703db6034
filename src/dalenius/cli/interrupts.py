"""Ctrl-C and a polite kill: end within two seconds, with nothing or with the best design that is proved.

Python runs its signal handlers between two of its own instructions, and a long call of a numerical library is one
instruction. So the signal is also written to a pipe, at once and by the interpreter itself; a thread reads it and ends
the process if the handler has not done so in time. Outputs appear whole or not at all, so that nothing half-written is
left under its name.
"""

import os
import signal
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from dalenius import stopping
from dalenius.errors import DaleniusError, SolverFailed
from dalenius.stopping import Stage

__all__ = ["CODE", "Interrupted", "interruptible", "overtime", "seconds_left", "within"]

CODE = 130
PATIENCE = 1.0  # seconds that a clean end may take: with what a busy machine adds, less than two
AGAIN = 0.2  # seconds until the clock rings once more: for somebody who waits, and for what did not hear it
SOON = 0.01  # seconds by which a clock may ring early
LONGEST = 1.6  # seconds after which nothing that is not proved is waited for
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(DaleniusError):
    """Somebody ended the command, and something of it was kept."""

    exit_code = CODE
    code = "interrupted"


@contextmanager
def interruptible(*, keep: bool) -> Iterator[None]:
    """While the block runs, signals end it: by KeyboardInterrupt, or with `keep` by ending searches where they are.

    Parameters
    ----------
    keep
        Whether the first signal ends searches with the best design that is proved, or is within a second; the second
        one gives up.
    """
    if threading.current_thread() is not threading.main_thread():  # signals reach the main thread only
        yield
        return
    timed = hasattr(signal, "setitimer")  # without it a proof that is under way is waited for
    asked = 0
    since = 0.0

    def clock(seconds: float) -> None:
        if not asked:
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def handler(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked, since
        asked += 1
        if stopping.keeps() and asked == 1:
            since = time.monotonic()
            stopping.stop()
            if timed:
                signal.setitimer(signal.ITIMER_REAL, PATIENCE, AGAIN)
            print("dalenius: ending with the best recipe that is proved; once more to give up", file=sys.stderr)
            return
        raise KeyboardInterrupt

    def late(_number: int, _frame: FrameType | None) -> None:
        """What was asked for did not end by itself: end it with what is held, or with nothing."""
        if not asked:
            stopping.rung()
            return
        stage = stopping.stage()
        if stage is Stage.HOLDING:
            raise stopping.Enough
        if stage is Stage.BEFORE or (stage is Stage.SEARCHING and time.monotonic() - since > LONGEST):
            print("dalenius: no recipe is proved yet, so that none is kept", file=sys.stderr)
            raise KeyboardInterrupt

    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def watch() -> None:
        seen = 0
        with open(reading, "rb", buffering=0) as signals:
            while seen < (2 if stopping.keeps() else 1):
                received = signals.read(1)
                if not received:
                    return
                seen += received[0] in SIGNALS
            if not done.wait(PATIENCE):  # with the pipe open: further signals are still written to it
                os._exit(CODE)

    done = threading.Event()
    stopping.resume(keep=keep, clock=clock if timed else None)
    before = {number: signal.signal(number, handler) for number in SIGNALS}
    if timed:
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, late)
    waking = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=watch, daemon=True, name="interrupts").start()
    try:
        yield
    finally:
        if timed:
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.set_wakeup_fd(waking)
        done.set()
        for number, known in before.items():
            signal.signal(number, known)
        os.close(writing)  # the thread reads the end of the pipe and is done
        stopping.resume()


def seconds_left(arguments: Namespace) -> float:
    """What the start of the command has left of `--seconds`; a tenth of it at least."""
    spent = time.monotonic() - float(arguments.began)
    seconds = float(arguments.seconds)
    return max(seconds - spent, 0.1 * seconds)


def overtime(arguments: Namespace) -> list[str]:
    """A line for whoever said less time than the command took; nothing within a tenth of `--seconds`."""
    spent = time.monotonic() - float(arguments.began)
    if spent <= stopping.LATEST * float(arguments.seconds):
        return []
    return [
        f"Note: This took {spent:.1f} s, longer than --seconds {arguments.seconds:g}. Reading the table, proving one "
        "recipe and writing it are never cut short."
    ]


@contextmanager
def within(seconds: float, what: str, left: float | None = None) -> Iterator[None]:
    """Let the block run for so long, then end it with exit 5 and one sentence.

    A block that holds something worth telling (`Stage.HOLDING`) is asked for it when the time is over, and has a tenth
    more of it to tell that.

    Parameters
    ----------
    seconds
        How long.
    what
        What did not end, for the sentence.
    left
        The seconds that are left of them; all where None.

    Raises
    ------
    SolverFailed
        When the time is over.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    sentence = f"{what} did not end within {seconds:g} s; --seconds allows more"
    left = seconds if left is None else left
    done = threading.Event()
    end = time.monotonic() + left
    last = end + max(AGAIN, (stopping.LATEST - 1) * seconds)

    def late(_number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, AGAIN if now >= end - SOON else end - now, AGAIN)
        if stopping.rings():  # a search inside the block has set the clock for itself
            stopping.rung()
        elif now >= end - SOON:
            stage = stopping.stage()
            if stage is Stage.HOLDING:
                stopping.reach(Stage.ENDING)
                raise stopping.Enough
            if not (stage is Stage.ENDING and now < last) and not _is_on_its_way(sentence):
                raise SolverFailed(sentence)  # what tidies up then is not disturbed

    def watch() -> None:
        """A long call of a library lets no handler run; then the process is ended from here."""
        if not done.wait(last - time.monotonic() + PATIENCE):
            print(f"dalenius: {sentence}", file=sys.stderr, flush=True)
            os._exit(SolverFailed.exit_code)

    threading.Thread(target=watch, daemon=True, name="time limit").start()  # before the clock: `late` must not break it
    before = signal.signal(signal.SIGALRM, late)
    try:
        # Again and again: an error that is raised while an object is finalised, or a module imported, is swallowed.
        signal.setitimer(signal.ITIMER_REAL, left, AGAIN)
        yield
    finally:
        try:  # the signal may come as late as in the next line
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            done.set()
            signal.signal(signal.SIGALRM, before)


def _is_on_its_way(sentence: str) -> bool:
    """Whether `finally` or `except` runs because of the failure with this sentence, or of an error that followed it."""
    error = sys.exception()
    while error is not None and not (isinstance(error, SolverFailed) and str(error) == sentence):
        error = error.__context__
    return error is not None
