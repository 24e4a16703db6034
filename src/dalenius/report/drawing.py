"""Where the marks of the pictures stand: a thousand guesses as dots, and the trade-off curve."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

__all__ = ["Area", "CurvePicture", "Mark", "Tick", "curve_picture", "dots"]

HIGH = 20  # dots in a column of the picture
SIDE = 10  # of the square that a dot stands in
THOUSAND = 1000


@dataclass(frozen=True)
class Area:
    """A rectangle that is filled with dots of one kind: right anyway, right because of the row, or wrong."""

    x: int
    y: int
    width: int
    height: int
    kind: str


def dots(right: int, gain: int) -> list[Area]:
    """A thousand dots in columns of twenty: first those that are right anyway, then the gain, then the wrong ones.

    >>> [(a.kind, a.width * a.height // 100) for a in dots(20, 30)]
    [('base', 20), ('extra', 20), ('extra', 10), ('none', 10), ('none', 940)]
    """
    right = min(right, THOUSAND)
    ends = [("base", 0, right), ("extra", right, min(right + gain, THOUSAND)), ("none", right + gain, THOUSAND)]
    found = []
    for kind, begin, end in ends:
        while begin < end:
            column, row = divmod(begin, HIGH)
            columns = (end - begin) // HIGH if row == 0 else 0
            if columns:
                found.append(Area(column * SIDE, 0, columns * SIDE, HIGH * SIDE, kind))
                begin += columns * HIGH
            else:  # the rest of a column that another kind begins, or the beginning of the last one
                many = min(HIGH - row, end - begin)
                found.append(Area(column * SIDE, row * SIDE, SIDE, many * SIDE, kind))
                begin += many
    return found


@dataclass(frozen=True)
class Tick:
    """A number at an axis, at its place."""

    at: float
    text: str


@dataclass(frozen=True)
class Mark:
    """A point of the curve at its place."""

    x: float
    y: float


@dataclass(frozen=True)
class CurvePicture:
    """A curve with its axes, in the coordinates of its picture."""

    width: int
    height: int
    left: float
    right: float
    floor: float
    line: str
    below: str
    marks: tuple[Mark, ...]
    chosen: Mark | None
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def _steps(most: float) -> list[float]:
    """Round numbers from 0 to not far above the largest value, three to six of them.

    >>> _steps(0.0578), _steps(41.6), _steps(0.0)
    ([0.0, 0.02, 0.04, 0.06], [0.0, 10.0, 20.0, 30.0, 40.0, 50.0], [0.0, 1.0])
    >>> _steps(6.4e-17)
    [0.0, 2e-17, 4e-17, 6e-17, 8e-17]
    """
    if most <= 0:
        return [0.0, 1.0]
    unit = 10.0 ** floor(log10(most))
    step = next(s * unit for s in (0.1, 0.2, 0.5, 1.0, 2.0) if most / (s * unit) <= 5)
    # So many digits of the number, not of its fraction: the largest value may be 1e-16.
    return [float(f"{k * step:.9g}") for k in range(ceil(most / step - 1e-9) + 1)]


def curve_picture(
    points: Sequence[tuple[float, float]], chosen: tuple[float, float] | None, width: int, height: int
) -> CurvePicture:
    """The curve through the points (change, bits) and the chosen one, in a picture of this size."""
    left, right, top, bottom = 46.0, width - 14.0, 16.0, height - 46.0
    everything = sorted({*points, *([chosen] if chosen else [])})
    across = _steps(max(x for x, _ in everything))
    up = _steps(max(y for _, y in everything))

    def place(point: tuple[float, float]) -> Mark:
        return Mark(
            round(left + point[0] / across[-1] * (right - left), 1),
            round(bottom - point[1] / up[-1] * (bottom - top), 1),
        )

    marks = [place(p) for p in everything]
    line = "M" + " L".join(f"{m.x:g},{m.y:g}" for m in marks)
    return CurvePicture(
        width=width,
        height=height,
        left=left,
        right=right,
        floor=bottom,
        line=line,
        below=f"{line} L{marks[-1].x:g},{bottom:g} L{marks[0].x:g},{bottom:g} Z",
        marks=tuple(marks),
        chosen=place(chosen) if chosen else None,
        across=tuple(Tick(place((v, 0)).x, f"{v:g}") for v in across),
        up=tuple(Tick(place((0, v)).y, f"{v:g}") for v in up),
    )
