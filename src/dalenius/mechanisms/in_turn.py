"""Measures one after the other, while there is time: what has none left gets a figure that needs none."""

from collections.abc import Callable
from typing import TypeVar

from dalenius import stopping
from dalenius.stopping import Stage

__all__ = ["InTurn"]

Measured = TypeVar("Measured")


class InTurn:
    """Takes measures in their order; each is ended in its middle where the time of the command is over.

    Attributes
    ----------
    missed : list of str
        What was not measured.

    Examples
    --------
    >>> turn = InTurn()
    >>> turn.take("a sum", lambda: 1 + 1, 0), turn.missed
    (2, [])
    """

    def __init__(self) -> None:
        self.missed: list[str] = []

    def take(self, what: str, measure: Callable[[], Measured], otherwise: Measured) -> Measured:
        """The measure, or what holds without it.

        Parameters
        ----------
        what : str
            Its name, for whoever has to know that it is missing.
        measure : callable
            Without arguments.
        otherwise
            A figure that holds in any case.

        Returns
        -------
        Measured
        """
        if not self.missed and not stopping.over():
            before = stopping.stage()
            try:
                stopping.reach(Stage.HOLDING)
                found = measure()
                stopping.reach(before)
                return found
            except stopping.Enough:
                pass
            except BaseException:
                stopping.reach(before)
                raise
        self.missed.append(what)
        return otherwise

    def words(self) -> tuple[str, ...]:
        """What was not measured, for people; nothing where everything was."""
        if not self.missed:
            return ()
        named = ", ".join(self.missed)
        return (
            f"the time was over before this was measured: {named}. What holds in any case is shown; --seconds allows "
            "more",
        )
