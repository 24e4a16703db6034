"""The channel as a picture: where each rectangle and word of the heat map stands. The template only writes it down."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dalenius.core import Kernel
from dalenius.core.digits import figure, share_of_one
from dalenius.core.numbers import written
from dalenius.report.facts import shown

__all__ = ["Cell", "Exact", "Picture", "Word", "chosen", "exact_rows", "picture"]

ROWS, LETTERS = 40, 50
TABLE_ROWS, TABLE_LETTERS = 100, 24
TITLED = 800
"""Up to so many cells each carry their own words for a pointer that rests on them."""

_CHARACTER, _HEIGHT, _GROUP, _EDGE = 7.2, 24, 7, 10


@dataclass(frozen=True)
class Word:
    """A label: where it stands, what is written, what it says in full, and whether it stands upright."""

    x: float
    y: float
    text: str
    full: str
    upright: bool = False


@dataclass(frozen=True)
class Cell:
    """One probability: its place, its opacity, the shade of the ink that can be read on it, and its number."""

    x: float
    y: float
    opacity: str
    shade: int
    number: str
    says: str


@dataclass(frozen=True)
class Picture:
    """A drawn channel and what was left out of it."""

    width: float
    height: float
    cell: tuple[float, float]
    corner: tuple[float, float]
    names: tuple[Word, ...]
    letters: tuple[Word, ...]
    outcomes: tuple[Word, ...]
    absent: tuple[Word, ...]
    cells: tuple[Cell, ...]
    peak: str
    output: str
    rows: int
    hidden_rows: int
    hidden_letters: int


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _shade(p: Fraction) -> int:
    """0 for nothing, else 1, 2, 3: where the ink must turn, first on the dark page and then on the light one."""
    return (p > 0) + (p > Fraction(58, 100)) + (p > Fraction(76, 100))


def chosen(count: int, most: int, weight: Sequence[int] | None) -> list[int]:
    """At most so many row numbers, in order: the most probable ones when weights are known, else the first.

    >>> chosen(4, 2, [1, 9, 0, 3]), chosen(4, 2, None)
    ([1, 3], [0, 1])
    """
    ranked = range(count) if weight is None else sorted(range(count), key=lambda x: -weight[x])
    return sorted(list(ranked)[:most])


def picture(channel: Kernel, weight: Sequence[int] | None = None) -> Picture:
    """The heat map of a channel; `weight` ranks its rows and marks those that do not occur."""
    outcomes, names = channel.outcomes(), list(channel.inputs)
    rows, letters = chosen(len(outcomes), ROWS, weight), channel.letters()[:LETTERS]
    labels = [" / ".join(map(shown, y)) for y in letters]
    wide = 60 if len(letters) <= 10 else 44 if len(letters) <= 16 else 22 if len(letters) <= 30 else 15
    numbers = wide >= 44
    fractions = all(p.denominator < 100 for x in rows for p in channel.rows[x][:LETTERS])

    # Many letters are all rare: then the darkest colour stands for the likeliest of them, and the legend says so.
    largest = max(max(channel.rows[x][:LETTERS]) for x in rows)
    peak = largest if 0 < largest < Fraction(1, 2) else Fraction(1)

    widths = []
    for k, name in enumerate(names):
        longest = max([len(shown(name)), *(len(shown(outcomes[x][k])) for x in rows)])
        widths.append(min(longest, 18) * _CHARACTER + 16)
    left = sum(widths) + 4
    upright = max(map(len, labels)) * _CHARACTER > wide - 4
    top = 30 + (min(max(map(len, labels)), 18) * _CHARACTER + 8 if upright else 22)

    ys, y, before = [], top, None
    for x in rows:
        if before is not None and len(names) > 1 and outcomes[x][:-1] != before:
            y += _GROUP
        ys.append(y)
        y, before = y + _HEIGHT, outcomes[x][:-1]
    bottom = y

    said: list[Word] = []
    previous: tuple[str, ...] = ()
    for x, y in zip(rows, ys, strict=True):
        place, fresh = 0.0, False
        for k, letter in enumerate(outcomes[x]):
            fresh |= not previous or previous[k] != letter
            if fresh:
                said.append(
                    Word(place, y + _HEIGHT / 2, _short(shown(letter), 18), f"{shown(names[k])} = {shown(letter)}")
                )
            place += widths[k]
        previous = outcomes[x]

    right = left + wide * len(letters)
    absent = [
        Word(right + 10, y + _HEIGHT / 2, "does not occur", "no record has these values")
        for x, y in zip(rows, ys, strict=True)
        if weight is not None and not weight[x]
    ]
    cells = []
    titled = len(rows) * len(letters) <= TITLED
    for x, y in zip(rows, ys, strict=True):
        given = ", ".join(f"{shown(n)} = {shown(v)}" for n, v in zip(names, outcomes[x], strict=True))
        for k, (label, p) in enumerate(zip(labels, channel.rows[x][:LETTERS], strict=True)):
            says = f"{given}: {label} with probability {_exactly(p)}" if titled else ""
            number = share_of_one(p, fraction=fractions) if numbers else ""
            cells.append(Cell(left + wide * k, y, f"{float(p / peak):.3f}", _shade(p / peak), number, says))

    where = [sum(widths[:k]) for k in range(len(names))]
    return Picture(
        width=max(right, left + 90) + (110 if absent else 0) + _EDGE,
        height=bottom + _EDGE,
        cell=(wide, _HEIGHT),
        corner=(left, top),
        names=tuple(Word(x, top - 10, _short(shown(n), 18), shown(n)) for x, n in zip(where, names, strict=True)),
        letters=tuple(
            Word(left + wide * (k + 0.5), top - 10, _short(label, 18), label, upright) for k, label in enumerate(labels)
        ),
        outcomes=tuple(said),
        absent=tuple(absent),
        cells=tuple(cells),
        peak=share_of_one(peak, fraction=fractions),
        output=" / ".join(map(shown, channel.output)),
        rows=len(rows),
        hidden_rows=len(outcomes) - len(rows),
        hidden_letters=len(channel.letters()) - len(letters),
    )


def _exactly(p: Fraction) -> str:
    """The fraction itself, or its decimal when it is too long to read."""
    text = written(p)
    return text if len(text) <= 40 else f"about {figure(p, 'nearest', 12)}"


@dataclass(frozen=True)
class Exact:
    """The channel in fractions, capped."""

    names: tuple[str, ...]
    letters: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    hidden_rows: int
    hidden_letters: int


def exact_rows(channel: Kernel, weight: Sequence[int] | None = None) -> Exact:
    """The rows of a channel as fractions, at most a hundred of them."""
    outcomes, letters = channel.outcomes(), channel.letters()
    rows = chosen(len(outcomes), TABLE_ROWS, weight)
    return Exact(
        names=tuple(map(shown, channel.inputs)),
        letters=tuple(" / ".join(map(shown, y)) for y in letters[:TABLE_LETTERS]),
        rows=tuple(
            (tuple(map(shown, outcomes[x])), tuple(_exactly(p) for p in channel.rows[x][:TABLE_LETTERS])) for x in rows
        ),
        hidden_rows=len(outcomes) - len(rows),
        hidden_letters=max(0, len(letters) - TABLE_LETTERS),
    )
