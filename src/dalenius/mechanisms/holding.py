"""A search that may be asked for its best design so far: one is proved early, and better ones on the way.

The proof of a wide table takes longer than somebody waits who pressed Ctrl-C. So the search is made several times, each
time four times as long: what each one finds is proved and held, and all but the last take a third of the time together.
"""

import time
from collections.abc import Callable

from dalenius import stopping
from dalenius.core import Design
from dalenius.errors import SolverFailed, Unsupported
from dalenius.stopping import Stage

__all__ = ["best_held"]

FIRST = 4.0  # seconds of the second search; the first one takes what there is at once
LONGER = 4.0  # times as long is the next one
AGAIN = 2.0  # times what a search took with its proof, the next one has at least


def best_held(design: Callable[[float], Design], gap: float, seconds: float) -> Design:
    """The best design that a search finds in its time, or the best that was proved when somebody asked for it.

    Parameters
    ----------
    design : callable
        A proved design in so many seconds.
    gap : float
        Value and bound so close end the search.
    seconds : float
        For everything.

    Returns
    -------
    Design
        Proved.

    Raises
    ------
    DaleniusError
        If the longest search has no design, and no shorter one had.
    """
    deadline = time.monotonic() + seconds
    best: Design | None = None
    share = 0.0
    stopping.reach(Stage.SEARCHING)
    try:
        while True:
            began = time.monotonic()
            rest = stopping.left(deadline)
            last = LONGER * share >= rest
            found = best if last else None  # a longer search may have a design where this one has none
            try:
                found = design(rest if last else share)
            except (SolverFailed, Unsupported):
                if last and best is None:
                    raise
            if found is not None:
                ended = last or stopping.asked() or found.gap <= gap or (best is not None and _equal(found, best))
                best = found if best is None else _better(best, found)
                # Inside the block: a signal comes before this line, and is caught below, or finds the search ended.
                stopping.reach(Stage.ENDING if ended else Stage.HOLDING)
                if ended:
                    return best
            share = max(FIRST, LONGER * share, AGAIN * (time.monotonic() - began))
    except stopping.Enough:
        assert best is not None  # raised only where a design is held
        stopping.reach(Stage.ENDING)
        return best
    except BaseException:
        stopping.reach(Stage.BEFORE)
        raise


def _equal(one: Design, other: Design) -> bool:
    """Whether more time changed nothing: the search ends before it is over."""
    return one.value == other.value and one.bound == other.bound


def _better(one: Design, other: Design) -> Design:
    """The design that reaches more; of equal ones that with the better bound."""
    if one.value == other.value:
        return min(one, other, key=lambda design: design.gap)
    maximised = one.value < one.bound or other.value < other.bound
    return max(one, other, key=lambda design: design.value if maximised else -design.value)
