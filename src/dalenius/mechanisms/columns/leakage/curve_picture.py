"""The trade-off curve as a small picture for a notebook: one line, four numbers, no script."""

from collections.abc import Sequence
from html import escape

__all__ = ["curve_html"]

WIDTH, HEIGHT, MARGIN = 420.0, 220.0, 44.0


def curve_html(points: Sequence[tuple[float, float]], about: str, here: tuple[float, float] | None = None) -> str:
    """An SVG of the least bits against the average change.

    Parameters
    ----------
    points : sequence of tuple of float
        Change and bits, by rising change.
    about : str
        What is protected.
    here : tuple of float, optional
        The point of the problem, which is marked.

    Returns
    -------
    str
        HTML that asks for nothing from outside.

    Examples
    --------
    >>> curve_html([(0.0, 1.0), (0.5, 0.0)], "health").count("<polyline")
    1
    """
    far = max(x for x, _ in points) or 1.0
    high = max(y for _, y in points) or 1.0
    across = WIDTH - 2 * MARGIN
    up = HEIGHT - 2 * MARGIN

    def place(x: float, y: float) -> tuple[str, str]:
        return f"{MARGIN + across * x / far:.1f}", f"{HEIGHT - MARGIN - up * y / high:.1f}"

    places = [place(x, y) for x, y in points]
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="3"/>' for x, y in places)
    mark = ""
    if here is not None:
        x, y = place(*here)
        mark = (
            f'<circle cx="{x}" cy="{y}" r="6" fill="#a8420a"><title>your problem: {here[1]:.3g} bits</title></circle>'
        )
    line = " ".join(",".join(both) for both in places)
    right = WIDTH - MARGIN
    bottom = HEIGHT - MARGIN
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" role="img" font-family="sans-serif" font-size="12">'
        f"<title>Bits revealed about {escape(about)} for each amount of change</title>"
        f'<path d="M{MARGIN:g} {MARGIN:g}V{bottom:g}H{right:g}" fill="none" stroke="currentColor"/>'
        f'<polyline points="{line}" fill="none" stroke="#1f6fb2" stroke-width="2"/><g fill="#1f6fb2">{dots}</g>{mark}'
        f'<g fill="currentColor"><text x="{MARGIN:g}" y="{MARGIN - 8:g}">{high:.3g} bits about {escape(about)}</text>'
        f'<text x="{MARGIN:g}" y="{bottom + 18:g}">0</text>'
        f'<text x="{right:g}" y="{bottom + 18:g}" text-anchor="end">average change {far:.3g}</text></g></svg>'
    )
