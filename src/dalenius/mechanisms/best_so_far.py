"""A search that may be asked for its best design so far: one is proved early, and better ones on the way.

The proof of a wide table takes longer than somebody waits who pressed Ctrl-C. So the search is made several times, each
time four times as long: what each one finds is proved and held, and all but the last take a third of the time together.

Where nobody asked for that, a search is made once. When half of its time is over, a design that needs no search is made
in the middle of it, and held: if exact repair or the proof then take longer than there is time, that one is the answer.
"""

import time
from collections.abc import Callable, Iterable, Iterator

from dalenius import stopping
from dalenius.core import Design
from dalenius.errors import DaleniusError, SolverFailed, Unsupported
from dalenius.stopping import Stage

__all__ = ["best_held", "in_time"]

FIRST = 4.0  # seconds of the second search; the first one takes what there is at once
LONGER = 4.0  # times as long is the next one
HALF = 0.5  # of the time, after which a design that needs no search is made
LEAST = 0.1  # of the time, for that design in any case
MOMENT = 2.0  # seconds for it in any case
AGAIN = 2.0  # times what a search took with its proof, the next one has at least


def in_time(search: Callable[[], Design], simple: Callable[[], Iterator[Design]], seconds: float) -> Design:
    """What a search finds; what needs no search where it finds nothing, or is still at work when its time is over.

    Parameters
    ----------
    search : callable
        A proved design.
    simple : callable
        Designs that are proved at once, if there are any; each is better than the one before.
    seconds : float
        For everything: search, repair and proof. Nothing ends earlier where a command has no clock.

    Returns
    -------
    Design
        Proved.

    Raises
    ------
    DaleniusError
        If the search has no design, and there is no simple one.
    """
    if stopping.rings():  # a search inside another one, which has the clock
        return search()
    held: Design | None = None
    found: Design | None = None
    failure: SolverFailed | None = None
    working, making, made = True, False, False
    deadline = time.monotonic() + seconds

    def for_the_simple() -> float:
        """Seconds for the design that needs no search: what is left, and never less than a moment."""
        return max(deadline - time.monotonic(), LEAST * seconds, MOMENT)

    def half() -> None:
        nonlocal held, making, made
        # First, so that this does not last either; a long call of a library may have let the half pass by.
        stopping.ring(for_the_simple(), end)
        making = True
        try:
            for one in simple():
                held = one
            made = True
        except stopping.Enough:  # it took too long, and would so a second time
            making, made = False, True
            end()
        except (DaleniusError, ImportError, AttributeError, NameError):
            pass  # a module that the search is just importing is not whole yet; made once more where nothing is found
        making = False
        if held is not None:  # the moment was for this one: the search has no more than its own time
            stopping.ring(max(deadline - time.monotonic(), 0.0), end)

    def end() -> None:
        if making or (working and (held is not None or stopping.stage() is Stage.HOLDING)):
            raise stopping.Enough

    stopping.ring(HALF * seconds, half)
    try:
        try:
            found = search()
        except SolverFailed as error:
            failure = error
        finally:
            working = False
    except stopping.Enough:
        found = held
    finally:
        stopping.ring(0.0, None)
    if found is not None and held is not None:
        found = _better(found, held)  # a search that was cut short need not have come as far
    if found is None:
        found = held if held is not None or made else _first(simple, for_the_simple())
        if stopping.stage() is Stage.SEARCHING:
            stopping.reach(Stage.BEFORE if found is None else Stage.ENDING)
    if found is None:
        raise failure or SolverFailed("the time was over before a recipe was proved")
    return found


def _first(simple: Callable[[], Iterator[Design]], seconds: float) -> Design | None:
    """The best design that needs no search, if there is one in so many seconds."""
    making = True
    best: Design | None = None

    def end() -> None:
        if making:
            raise stopping.Enough

    stopping.ring(seconds, end)
    try:
        try:
            for one in simple():
                best = one
        finally:
            making = False
    except stopping.Enough:
        pass
    finally:
        stopping.ring(0.0, None)
    return best


def best_held(
    design: Callable[[float], Design], gap: float, seconds: float, simple: Callable[[], Iterable[Design]] = tuple
) -> Design:
    """The best design that a search finds in its time, or the best that was proved when somebody asked for it.

    Parameters
    ----------
    design : callable
        A proved design in so many seconds.
    gap : float
        Value and bound so close end the search.
    seconds : float
        For everything.
    simple : callable
        Designs that are proved at once: the first one is held while nothing better is.

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
    stopping.reach(Stage.SEARCHING)
    best = first = next(iter(simple()), None)
    share = 0.0
    stopping.reach(Stage.SEARCHING if first is None else Stage.HOLDING)
    try:
        while True:
            began = time.monotonic()
            rest = stopping.left(deadline)
            last = LONGER * share >= rest
            found = best if last else None  # a longer search may have a design where this one has none
            try:
                found = design(rest if last else share)
            except (SolverFailed, Unsupported) as error:
                if last and (best is None or (best is first and isinstance(error, Unsupported))):
                    raise
            if found is not None:
                # A search without time may find what needs none: that says nothing about a longer one.
                settled = best is not None and best is not first and _equal(found, best)
                ended = last or stopping.asked() or found.gap <= gap or settled
                best = found if best is None else _better(best, found)
                # Inside the block: a signal comes before this line, and is caught below, or finds the search ended.
                stopping.reach(Stage.ENDING if ended else Stage.HOLDING)
                if ended:
                    return best
            share = max(FIRST, LONGER * share, AGAIN * (time.monotonic() - began))
    except stopping.Enough:
        if best is None:  # it is held by whoever called
            raise
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
