"""A small line chart as SVG: axes, lines, marks, a legend and a caption, readable on light and on dark pages.

Every line differs in colour, in the shape of its marks and, when it is dashed, in its stroke, so that no reader depends
on colours. The picture asks for nothing from outside and runs nothing.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isfinite, log10

from dalenius.errors import InputError

__all__ = ["COLOURS", "STYLE", "Chart", "Line", "draw", "ticks"]

COLOURS = 5
WIDTH, PLOT, LEFT, RIGHT, TOP = 720.0, 330.0, 62.0, 20.0, 14.0
LINE, WRAPPED = 19.0, 108

STYLE = """\
.chart { --c0: #1f4e79; --c1: #b3261e; --c2: #177245; --c3: #8a5a00; --c4: #6b4fa0; --page: #fff; --ink: #1b1f24;
  --soft: #56606b; --line: #dfe3e8; font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans",
  Arial, sans-serif; }
@media (prefers-color-scheme: dark) { .chart { --c0: #8fbcf0; --c1: #ff9c94; --c2: #7ddba3; --c3: #f0c36d;
  --c4: #c5b0f5; --page: #15181c; --ink: #e8eaed; --soft: #a6afb9; --line: #343a42; } }
@media print { .chart { --c0: #1f4e79; --c1: #b3261e; --c2: #177245; --c3: #8a5a00; --c4: #6b4fa0; --page: #fff;
  --ink: #000; --soft: #444; --line: #ccc; } }
.chart .page { fill: var(--page); }
.chart text { fill: var(--ink); font-size: 13px; }
.chart .tick { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
.chart .middle { text-anchor: middle; } .chart .end { text-anchor: end; }
.chart .grid { stroke: var(--line); stroke-width: 1; } .chart .axis { stroke: var(--soft); stroke-width: 1; }
.chart polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
.chart .dashed { stroke-dasharray: 7 4; }
.chart .k0 { stroke: var(--c0); } .chart .k1 { stroke: var(--c1); } .chart .k2 { stroke: var(--c2); }
.chart .k3 { stroke: var(--c3); } .chart .k4 { stroke: var(--c4); }
.chart .mark { fill: var(--page); stroke-width: 1.75; }
"""


@dataclass(frozen=True)
class Line:
    """A curve: its name in the legend, its points, one of the colours 0..4, and how it is drawn.

    `every` marks each so-manieth point, 0 none; a line that is not `joined` is its marks only.

    Parameters
    ----------
    name : str
        In the legend.
    points : sequence of (x, y)
        In their order.
    colour : int
        0 to 4.
    dashed, joined : bool
        How it is drawn.
    every : int
        Every so many points are marked.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    colour: int
    dashed: bool = False
    joined: bool = True
    every: int = 1

    def __post_init__(self) -> None:
        if not self.points or not all(isfinite(value) for point in self.points for value in point):
            raise InputError(f"the curve {self.name!r} has no points, or one that is not finite")
        if not 0 <= self.colour < COLOURS:
            raise InputError(f"there are {COLOURS} colours, not a colour {self.colour}")


@dataclass(frozen=True)
class Chart:
    """Lines over one pair of axes; the vertical one starts at zero.

    Parameters
    ----------
    title, caption : str
        Above and below.
    x, y : str
        What stands on the axes.
    lines : sequence of Line
        The curves.
    log_x : bool
        Whether the horizontal axis is logarithmic.
    """

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    caption: str
    log_x: bool = False


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers between two numbers.

    >>> ticks(0, 3.2), ticks(0.05, 0.5)
    ([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0], [0.1, 0.2, 0.3, 0.4, 0.5])
    """
    rough = (high - low) / most or 1.0
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= rough * (1 - 1e-9))
    first = ceil(low / step - 1e-9)
    last = floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def _decades(low: float, high: float) -> list[float]:
    every = [m * 10.0**e for e in range(floor(log10(low)), ceil(log10(high)) + 1) for m in (1, 2, 5)]
    return [value for value in every if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]


def _number(v: float) -> str:
    return f"{v:.6g}"


def _at(v: float) -> str:
    return f"{v:.1f}".removesuffix(".0")


def _mark(shape: int, x: float, y: float, says: str = "") -> str:
    """A circle, square, diamond, triangle or triangle on its head, with its words for a pointer that rests on it."""
    if shape == 0:
        drawn = f'<circle class="mark k0" cx="{_at(x)}" cy="{_at(y)}" r="3.6"'
    else:
        corners = {
            1: [(-3.3, -3.3), (3.3, -3.3), (3.3, 3.3), (-3.3, 3.3)],
            2: [(0, -4.8), (4.8, 0), (0, 4.8), (-4.8, 0)],
            3: [(0, -4.5), (4.3, 3.4), (-4.3, 3.4)],
            4: [(0, 4.5), (4.3, -3.4), (-4.3, -3.4)],
        }[shape]
        where = " ".join(f"{_at(x + a)},{_at(y + b)}" for a, b in corners)
        drawn = f'<polygon class="mark k{shape}" points="{where}"'
    return f"{drawn}><title>{escape(says)}</title></{drawn[1:].split()[0]}>" if says else f"{drawn}/>"


def _stroke(line: Line) -> str:
    return f"k{line.colour}{' dashed' if line.dashed else ''}"


def draw(chart: Chart, *, standalone: bool = True) -> str:
    """The chart as SVG; one that stands alone brings its style, its ground and its caption, else the page does.

    Parameters
    ----------
    chart : Chart
        What is drawn.
    standalone : bool
        Whether it brings its own style.

    Returns
    -------
    str
        SVG.

    >>> text = draw(Chart("T", "x", "y", (Line("<a>", ((0, 0), (1, 2)), 0),), "c"))
    >>> text.startswith("<svg") and "&lt;a&gt;" in text
    True
    """
    if not chart.lines:
        raise InputError(f"the chart {chart.title!r} has no lines")
    plot = _Plot(chart)
    legend, bottom = plot.legend()
    caption = textwrap.wrap(chart.caption, WRAPPED) if standalone else []
    for row in caption:
        legend.append(f'<text class="tick" x="12" y="{_at(bottom + 8)}">{escape(row)}</text>')
        bottom += 17
    height = _at(bottom + (4 if standalone else -8))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {_at(WIDTH)} {height}" role="img"'
    own = f'<style>\n{STYLE}</style><rect class="page" width="{_at(WIDTH)}" height="{height}"/>' if standalone else ""
    size = f' width="{_at(WIDTH)}" height="{height}"' if standalone else ""
    said = f"<title>{escape(chart.title)}</title>" + (f"<desc>{escape(chart.caption)}</desc>" if standalone else "")
    body = [*plot.axes(), *plot.curves(), *legend]
    return f"{head}{size}>{said}{own}\n" + "\n".join(body) + "\n</svg>\n"


class _Plot:
    """Where the numbers of a chart lie, and what is drawn there."""

    def __init__(self, chart: Chart) -> None:
        xs = [x for line in chart.lines for x, _ in line.points]
        ys = [y for line in chart.lines for _, y in line.points]
        if min(ys) < 0 or (chart.log_x and min(xs) <= 0):
            raise InputError(f"the chart {chart.title!r} has a negative number, or none that is positive on a log axis")
        self.chart = chart
        self.low = min(xs)
        self.high = max(xs)
        self.scale = log10 if chart.log_x else float
        self.span = self.scale(self.high) - self.scale(self.low) or 1.0
        peak = max(ys) or 1.0
        self.marked = ticks(0.0, peak)
        self.roof = max(peak, self.marked[-1]) * 1.03
        self.bottom = TOP + PLOT

    def _across(self, x: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (self.scale(x) - self.scale(self.low)) / self.span

    def _up(self, y: float) -> float:
        return self.bottom - PLOT * y / self.roof

    def axes(self) -> Iterator[str]:
        """Lines and numbers for each tick, the horizontal axis, and what stands on both."""
        ends = f'x1="{_at(LEFT)}" x2="{_at(WIDTH - RIGHT)}"'
        for y in self.marked:
            up = self._up(y)
            yield f'<line class="grid" {ends} y1="{_at(up)}" y2="{_at(up)}"/>'
            yield f'<text class="tick end" x="{_at(LEFT - 8)}" y="{_at(up + 4)}">{_number(y)}</text>'
        below = _at(self.bottom)
        for x in _decades(self.low, self.high) if self.chart.log_x else ticks(self.low, self.high, 10):
            at = _at(self._across(x))
            yield f'<line class="axis" x1="{at}" x2="{at}" y1="{below}" y2="{_at(self.bottom + 5)}"/>'
            yield f'<text class="tick middle" x="{at}" y="{_at(self.bottom + 20)}">{_number(x)}</text>'
        yield f'<line class="axis" {ends} y1="{below}" y2="{below}"/>'
        centre = f'x="{_at((LEFT + WIDTH - RIGHT) / 2)}" y="{_at(self.bottom + 41)}"'
        yield f'<text class="middle" {centre}>{escape(self.chart.x)}</text>'
        middle = _at(TOP + PLOT / 2)
        turned = f'transform="rotate(-90 15 {middle})" x="15" y="{middle}"'
        yield f'<text class="middle" {turned}>{escape(self.chart.y)}</text>'

    def curves(self) -> Iterator[str]:
        """All strokes, then all marks above them."""
        for line in self.chart.lines:
            if line.joined and len(line.points) > 1:
                where = " ".join(f"{_at(self._across(x))},{_at(self._up(y))}" for x, y in line.points)
                yield f'<polyline class="{_stroke(line)}" points="{where}"/>'
        for line in self.chart.lines:
            for x, y in line.points[:: line.every] if line.every else ():
                says = f"{line.name}: {_number(x)}, {_number(y)}"
                yield _mark(line.colour, self._across(x), self._up(y), says)

    def legend(self) -> tuple[list[str], float]:
        """A stroke, a mark and a name for each line, and where they end."""
        found = []
        y = self.bottom + 66
        for line in self.chart.lines:
            if line.joined:
                where = f"{_at(LEFT)},{_at(y - 4)} {_at(LEFT + 34)},{_at(y - 4)}"
                found.append(f'<polyline class="{_stroke(line)}" points="{where}"/>')
            if line.every:
                found.append(_mark(line.colour, LEFT + 17, y - 4))
            found.append(f'<text x="{_at(LEFT + 44)}" y="{_at(y)}">{escape(line.name)}</text>')
            y += LINE
        return found, y
