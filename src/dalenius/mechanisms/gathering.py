"""What is made one after the other: when the time is over, that which is there by then is the answer."""

from collections.abc import Callable, Hashable, Iterable
from time import monotonic
from typing import TypeVar

from dalenius import stopping
from dalenius.errors import SolverFailed
from dalenius.stopping import LATEST, Stage

__all__ = ["gathered"]

Name = TypeVar("Name", bound=Hashable)
Made = TypeVar("Made")


def gathered(
    steps: Iterable[tuple[Name, Callable[[], Made | None]]], seconds: float, *, held: bool = False
) -> dict[Name, Made]:
    """What steps make, until their time is over: from the first one on, the one under way then is not waited for.

    Steps that end without an answer of their own are passed over.

    Parameters
    ----------
    steps : iterable of (name, callable)
        In the order of their worth. What a callable makes is kept under its name, unless it is None.
    seconds : float
        For all of them. Nothing is ended in its middle where a command has no clock.
    held : bool
        Whether there is something to answer already, so that the first step is not waited for either.

    Returns
    -------
    dict
        In the order in which they were made.

    Raises
    ------
    SolverFailed
        If no step has an answer, and nothing is held.

    Examples
    --------
    >>> gathered([("one", lambda: 1), ("none", lambda: None), ("two", lambda: 2)], 60.0)
    {'one': 1, 'two': 2}
    """
    found: dict[Name, Made] = {}
    failure: SolverFailed | None = None
    before = stopping.stage()
    alone = not stopping.rings()
    last = monotonic() + LATEST * seconds
    working = True

    def end() -> None:
        if working:
            raise stopping.Enough

    def hold() -> None:
        stopping.reach(Stage.HOLDING)
        if alone:
            stopping.ring(max(0.0, last - monotonic()), end)

    try:
        if held:
            hold()
        for name, make in steps:
            try:
                made = make()
            except SolverFailed as error:
                failure = failure or error
                continue
            if made is not None:
                found[name] = made
                if len(found) == 1 and not held:
                    hold()
        working = False
        stopping.reach(before)
    except stopping.Enough:
        working = False
        if not (found or held):
            raise
        stopping.reach(Stage.ENDING)
    except BaseException:
        working = False
        stopping.reach(before)
        raise
    finally:
        if alone:
            stopping.ring(0.0, None)
    if not (found or held):
        raise failure or SolverFailed("the time was over before anything was proved")
    return found
