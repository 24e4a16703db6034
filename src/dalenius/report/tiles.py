"""The recipe as tiles and as a list: which combinations are changed how often, and where their rows go.

A square picture of a large recipe is a diagonal and nothing else. One tile stands for one original combination, placed
by its columns, so that every label is that of a column and none is cut; outer columns divide the tiles into small
tables that flow with the width of the page. A column by itself, whose values are all treated alike, is one sentence.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise, product

from dalenius.core import Kernel
from dalenius.core.digits import figure
from dalenius.report.facts import shown

__all__ = ["Flow", "Part", "Recipe", "Tile", "TileTable", "combination", "recipe"]

MOST_TILES = 1500
WITH_COUNTS = 64  # tiles that also carry the number of their rows
MOST_FLOWS = 6
MOST_PARTS = 4
MANY_NUMBERS = 40  # released values of a number that are shown by ranges
STEPS = tuple(Fraction(n, 10_000) for n in (5, 1000, 3500, 6500, 9000))
HARDLY = Fraction(1, 2000)


@dataclass(frozen=True)
class Tile:
    """One original combination: the share that is changed as a word, its step of colour, and its rows if known."""

    word: str
    step: int
    rows: str = ""


@dataclass(frozen=True)
class TileTable:
    """The tiles of one combination of the outer columns."""

    caption: str
    corner: str
    across: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Tile, ...]], ...]


@dataclass(frozen=True)
class Part:
    """A share of the rows of a combination and what they become; `kept` if that is what they were."""

    width: float
    share: str
    words: str
    kind: str


@dataclass(frozen=True)
class Flow:
    """One combination: its name, what is said about it, and where its rows go."""

    name: str
    note: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Recipe:
    """What the page shows of a recipe."""

    title: str
    tables: tuple[TileTable, ...]
    flows: tuple[Flow, ...]
    still: int
    combinations: int
    alike: str = ""  # one sentence instead of tiles and list


def combination(values: Sequence[object]) -> str:
    """The values of several columns as one name.

    >>> combination(["free care", "7 or more", "16 or more"])
    'free care · 7 or more · 16 or more'
    """
    return " · ".join(shown(value) for value in values)


def share(q: Fraction) -> str:
    """A share of rows: a whole per cent, and never a false 0 or 100.

    >>> share(Fraction(0)), share(Fraction(1, 5000)), share(Fraction(31, 100)), share(Fraction(9999, 10000))
    ('0', '0', '31 %', 'all')
    """
    if q < HARDLY:
        return "0"
    if q > 1 - HARDLY:
        return "all"
    return f"{figure(100 * q, 'nearest', 1 if q < Fraction(1, 100) else 2)} %"


def recipe(channel: Kernel, weight: Sequence[int] | None, *, counted: bool = True) -> Recipe:
    """Tiles and list of one recipe that is written out row by row.

    Parameters
    ----------
    channel : Kernel
        With few rows.
    weight : sequence of int, or None
        How often each combination occurs, where that may be shown.
    counted : bool
        Whether these are rows of the table; else only their order counts, and no number is shown.

    Returns
    -------
    Recipe
        Without tiles where the released values are not those of the table.
    """
    own = [*channel.inputs.items()] == [*channel.output.items()]
    outcomes = channel.outcomes()
    same = _unchanged(channel)
    changed = [1 - row[y] for row, y in zip(channel.rows, same, strict=True)] if same else []
    alike = _alike(channel) if own and len(channel.inputs) == 1 else ""
    drawn = own and not alike and len(outcomes) <= MOST_TILES
    return Recipe(
        title=", ".join(map(shown, channel.inputs)),
        tables=tuple(_tables(channel, changed, weight if counted else None)) if drawn else (),
        flows=() if alike else tuple(_flows(channel, same, weight, counted=counted)),
        still=sum(c < HARDLY for c in changed),
        combinations=len(outcomes),
        alike=alike,
    )


def _unchanged(channel: Kernel) -> list[int]:
    """For each combination that the recipe looks at the released one that changes nothing; empty if there is none."""
    names = list(channel.inputs)
    if not channel.output.keys() <= channel.inputs.keys():
        return []
    at = [names.index(name) for name in channel.output]
    place = {values: y for y, values in enumerate(channel.letters())}
    found = [place.get(tuple(values[k] for k in at)) for values in channel.outcomes()]
    return [y for y in found if y is not None] if None not in found else []


def _alike(channel: Kernel) -> str:
    """The sentence for a column that treats all its values alike; empty if it does not."""
    stays = {row[x] for x, row in enumerate(channel.rows)}
    goes = {entry for x, row in enumerate(channel.rows) for y, entry in enumerate(row) if y != x}
    others = len(channel.rows) - 1
    if len(stays) != 1 or len(goes) != 1 or not others:
        return ""
    (stay,), (go,) = stays, goes
    if others == 1:
        return (
            f"Of each value {share(stay)} of the rows stay as they are; the others get the other value ({share(go)})."
        )
    return (
        f"Of each value {share(stay)} of the rows stay as they are; the others get one of the {others} other values, "
        f"each as often ({share(go)})."
    )


def _axes(channel: Kernel) -> tuple[str, str]:
    """The columns that are written down and across a table: the two with the most values, the shorter labels across."""
    sizes = {name: len(values) for name, values in channel.inputs.items()}
    names = list(sizes)
    # Of columns with as many values the last ones, in their order.
    most = sorted(names, key=lambda name: (sizes[name], names.index(name)))[-2:]
    down, across = sorted(most, key=names.index)
    width = {name: sum(len(shown(value)) for value in channel.inputs[name]) for name in most}
    return (across, down) if width[across] > 2 * width[down] else (down, across)


def _tables(channel: Kernel, changed: Sequence[Fraction], weight: Sequence[int] | None) -> list[TileTable]:
    names = list(channel.inputs)
    counts = weight if weight is not None and len(changed) <= WITH_COUNTS else None
    tiles = dict(
        zip(
            channel.outcomes(),
            (_tile(share, None if counts is None else counts[x]) for x, share in enumerate(changed)),
            strict=True,
        )
    )
    if len(names) == 1:
        lines = tuple((shown(value), (tiles[value,],)) for value in channel.inputs[names[0]])
        return [TileTable(shown(names[0]), shown(names[0]), "rows", ("changed",), lines)]
    down, across = _axes(channel)
    outer = [name for name in names if name not in (down, across)]
    tables = []
    for values in product(*(channel.inputs[name] for name in outer)):
        here = dict(zip(outer, values, strict=True))

        def tile(row: str, column: str, here: dict[str, str] = here) -> Tile:
            place = here | {down: row, across: column}
            return tiles[tuple(place[name] for name in names)]

        tables.append(
            TileTable(
                caption=", ".join(f"{shown(n)} {shown(v)}" for n, v in here.items()) or ", ".join(map(shown, names)),
                corner=shown(down),
                across=shown(across),
                head=tuple(map(shown, channel.inputs[across])),
                lines=tuple(
                    (shown(row), tuple(tile(row, column) for column in channel.inputs[across]))
                    for row in channel.inputs[down]
                ),
            )
        )
    return tables


def _tile(changed: Fraction, rows: int | None) -> Tile:
    if rows == 0:
        return Tile("–", 0, "no row")
    return Tile(share(changed), sum(changed > step for step in STEPS), "" if rows is None else f"of {rows:,}")


def _flows(channel: Kernel, same: Sequence[int], weight: Sequence[int] | None, *, counted: bool) -> list[Flow]:
    outcomes = channel.outcomes()
    letters = channel.letters()
    names = list(channel.output)
    along = _scale(channel)
    changed = [1 - row[y] for row, y in zip(channel.rows, same, strict=True)] if same else []

    def importance(x: int) -> Fraction:
        moved = changed[x] if changed else Fraction(1)
        return -moved * (weight[x] if weight is not None else 1)

    flows = []
    for x in sorted(range(len(outcomes)), key=importance)[:MOST_FLOWS]:
        if changed and changed[x] < HARDLY:
            break
        row = channel.rows[x]
        note = f"{weight[x]:,} row{'s' * (weight[x] != 1)}" if counted and weight is not None else ""
        if along:
            flows.append(Flow(combination(outcomes[x]), note, tuple(_spread(row, along))))
            continue
        went = sorted(
            (y for y in range(len(row)) if row[y] >= Fraction(1, 200) and not (same and y == same[x])),
            key=lambda y: -row[y],
        )
        parts = (
            [Part(float(100 * row[same[x]]), share(row[same[x]]), "stay as they are", "keep")]
            if same and row[same[x]] >= HARDLY
            else []
        )
        for rank, y in enumerate(went[:MOST_PARTS]):
            moved = [
                f"{shown(name)} {shown(v)}"
                for name, v, stays in zip(
                    names, letters[y], letters[same[x]] if same else [None] * len(names), strict=True
                )
                if v != stays
            ]
            parts.append(Part(float(100 * row[y]), share(row[y]), ", ".join(moved), f"go s{rank}"))
        rest = 1 - sum((row[y] for y in went[:MOST_PARTS]), row[same[x]] if same else Fraction(0))
        if rest >= HARDLY:
            parts.append(Part(float(100 * rest), share(rest), "elsewhere", "rest"))
        flows.append(Flow(combination(outcomes[x]), note, tuple(parts)))
    return flows


def _scale(channel: Kernel) -> list[str]:
    """The released values of one column of numbers that are too many to be named one by one; else none."""
    letters = channel.letters()
    if len(channel.output) > 1 or len(letters) < MANY_NUMBERS:
        return []
    try:
        numbers = [float(y) for (y,) in letters]
    except ValueError:
        return []
    return [y for (y,) in letters] if numbers == sorted(numbers) else []


def _spread(row: Sequence[Fraction], along: Sequence[str]) -> list[Part]:
    """Where most of the rows of one number go: ranges that hold about 5, 20, 50, 20 and 5 in 100 of them.

    >>> [f"{part.share} {part.words}" for part in _spread([Fraction(1, 40)] * 40, [str(k) for k in range(40)])]
    ['5 % under 2', '20 % 2 to 9', '50 % 10 to 29', '20 % 30 to 37', '5 % over 37']
    """
    below = list(accumulate(row))
    cuts = [0, *(bisect_left(below, Fraction(k, 20)) + 1 for k in (1, 5, 15, 19)), len(row)]
    last = len(cuts) - 2
    parts = []
    for k, (begin, end) in enumerate(pairwise(cuts)):
        here = sum(row[begin:end], Fraction(0))
        words = f"{shown(along[begin])} to {shown(along[end - 1])}" if begin < end else ""
        words = f"under {shown(along[end])}" if not k else f"over {shown(along[begin - 1])}" if k == last else words
        if here >= HARDLY:
            parts.append(Part(float(100 * here), share(here), words, ("rest", "go s2", "go s0", "go s2", "rest")[k]))
    return parts
