"""One line for whoever waits: what is done now, how far it is, and how long it will take."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite, log10

from dalenius.stopping import keeps

__all__ = ["Waiting", "about", "title_of"]

STAGES = {
    "reading": "Reading the table",
    "designing": "Looking for the best recipe",
    "drawing": "Drawing the released rows",
    "writing": "Writing",
    "tracing": "Tracing the curve",
}
PAIR = re.compile(r"(?:step \d+: |between )(\S+?),? (?:at least|and) (\S+)")
SHARE = re.compile(r"gap ([\d.]+)%")
SIZE = re.compile(r"about ([\d.]+) (s|minutes|hours)\b")
TOO_SHORT = "left of --seconds"
"""What every sentence says that foretells more time than there is."""
LONG = {"s": 10.0, "minutes": 0.0, "hours": 0.0}
"""An estimate beyond this many of its unit is worth a line of its own that stays."""

CLOSE = -6.0
"""Decades: a search is over when value and bound agree to a millionth."""


def title_of(stage: str) -> str:
    """What is done now, in a few words.

    Parameters
    ----------
    stage : str
        As the work calls it, with anything after a comma.

    Returns
    -------
    str

    Examples
    --------
    >>> title_of("designing, step 3: inf, at least -inf"), title_of("counting")
    ('Looking for the best recipe', 'Counting')
    """
    name = stage.partition(", ")[0]
    return STAGES.get(name, name[:1].upper() + name[1:])


@dataclass
class Waiting:
    """What to show at each moment of a long command.

    >>> Waiting().line("drawing", 500, 1000)
    'Drawing the released rows: 500 of 1,000 (50 %)'
    >>> Waiting().line("designing, step 3: inf, at least -inf", None, None)
    'Looking for the best recipe: no answer yet'
    """

    clock: Callable[[], float] = time.monotonic  # seconds since some moment; replaced by tests
    _stage: str = ""
    _started: float = 0.0
    _decades: list[tuple[float, float]] = field(default_factory=list)

    def line(self, stage: str, done: int | None, total: int | None) -> str:
        """The line for a stage with so much done of a total."""
        name, _, words = stage.partition(", ")
        if name != self._stage:
            self._stage = name
            self._started = self.clock()
            self._decades = []
        title = title_of(stage)
        if done is not None:
            return f"{title}: {self._counted(done, total)}"
        return f"{title}: {self._searched(words)}" if words else title

    def lasting(self, stage: str) -> str | None:
        """A sentence that is worth a line of its own: a search will take long, or longer than it may."""
        words = stage.partition(", ")[2]
        if TOO_SHORT in words:
            return f"Note: {words}."
        found = SIZE.search(words)
        if found is None or "combinations" not in words or float(found[1]) < LONG[found[2]]:
            return None
        left = "keeps the best recipe that is proved" if keeps() else "stops it, and nothing is written"
        return f"This takes a while: {words}. Ctrl-C {left}."

    def _counted(self, done: int, total: int | None) -> str:
        if not total:
            return f"{done:,} rows"
        passed = self.clock() - self._started
        left = f", {about(passed * (total - done) / done)} left" if 0 < done < total and passed > 1 else ""
        return f"{done:,} of {total:,} ({100 * done // total} %){left}"

    def _searched(self, words: str) -> str:
        """How far value and bound are apart, and when they will meet at the pace of the last decades."""
        gap = _gap(words)
        if gap is None:
            return words if "at least" not in words else "no answer yet"
        if gap == 0:
            return "proved"
        decades = log10(gap)
        self._decades.append((self.clock(), decades))
        share = f"{100 * gap:.2g}" if gap >= 1e-4 else f"{100 * gap:.6f}".rstrip("0")
        return f"proved within {share} %, {self._left(decades)}"

    def _left(self, decades: float) -> str:
        first_time, first = self._decades[0]
        won = first - decades
        passed = self.clock() - first_time
        if won < 1 or passed <= 0:
            return "no estimate yet"
        return f"{about(max(0.0, decades - CLOSE) * passed / won)} left"


def _gap(words: str) -> float | None:
    """The share by which value and bound differ, where both are known."""
    if share := SHARE.search(words):
        return float(share[1]) / 100
    pair = PAIR.search(words)
    if pair is None:
        return None
    try:
        one = float(pair[1])
        other = float(pair[2])
    except ValueError:
        return None
    size = max(abs(one), abs(other))
    return abs(one - other) / size if isfinite(size) and size else None


def about(seconds: float) -> str:
    """About how long, in the unit that people would use.

    >>> about(2.2), about(100), about(7000)
    ('about 2 s', 'about 2 minutes', 'about 2 hours')
    """
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} minutes" if seconds < 5400 else f"about {round(seconds / 3600)} hours"
