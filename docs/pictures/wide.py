"""Draw what a wide table tells against what is changed in it: whole records together, and column by column.

python docs/pictures/wide.py problem.toml docs/pictures/wide.svg

The problem releases columns of one table by whole records. Rivals are computed exactly, over all combinations of
values: every column drawn anew from its own law with one probability; whole records drawn anew; and each column made
independent of the secret by itself, by a mechanism that sees the secret.
"""

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dalenius import Problem
from dalenius.core import Independent
from dalenius.mechanisms.records.design import design, tradeoff
from dalenius.mechanisms.records.wide import Wide
from dalenius.tables import bind

Array = npt.NDArray[np.float64]
WIDTH, HEIGHT, LEFT, BOTTOM = 660, 330, 70, 50
SHARES = (0.6, 0.35, 0.2, 0.1, 0.04, 0.01)
COLOURS = {
    "whole records, least change": "#0f766e",
    "whole records, law preserved, tell nothing": "#1d4ed8",
    "whole records drawn anew": "#8a94a0",
    "each column drawn anew": "#c2410c",
    "each column made independent by itself": "#7c2d12",
}


def bits(t: Array) -> float:
    """I(S; Y) of the mass of each class at each outcome."""
    t = t.reshape(len(t), -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        told = np.where(t > 0, t * np.log2(t / np.outer(t.sum(axis=1), t.sum(axis=0))), 0.0)
    return float(told.sum())


def along(t: Array, axis: int, matrix: Array) -> Array:
    """One column drawn by a matrix, for all outcomes at once."""
    return np.moveaxis(np.moveaxis(t, axis, -1) @ matrix, -1, axis)


def by_columns(t: Array) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """Points of drawing each column anew, and the one point of making each column independent by itself."""
    axes = range(1, t.ndim)
    laws = {a: t.sum(axis=tuple(b for b in range(t.ndim) if b != a)) for a in axes}
    points = []
    for part in np.linspace(0.02, 0.98, 25):
        drawn, far = t, 0.0
        for a in axes:
            drawn = along(drawn, a, (1 - part) * np.eye(len(laws[a])) + part * np.tile(laws[a], (len(laws[a]), 1)))
            far += part * (1 - float((laws[a] ** 2).sum()))
        points.append((bits(drawn), far))
    alone, far = t.copy(), 0.0
    prior = t.reshape(len(t), -1).sum(axis=1)
    for s in range(len(t)):
        for a in axes:
            own = t[s].sum(axis=tuple(b - 1 for b in axes if b != a)) / prior[s]
            stays = np.minimum(own, laws[a])
            lacks = laws[a] - stays
            moves = np.divide(own - stays, own, out=np.zeros_like(own), where=own > 0)
            to = lacks / lacks.sum() if lacks.sum() > 0 else laws[a]
            alone[s] = along(alone[s], a - 1, np.diag(1 - moves) + np.outer(moves, to))
            far += float(prior[s] * (own - stays).sum())
    return points, (bits(alone), far)


def main(path: str, output: str) -> None:
    """Compute the curves and write the picture."""
    problem = bind(Problem.from_file(path))[0]
    free = replace(problem, preserve_marginals=False)
    wide = Wide.of(free)
    shape = [int(n) for n in wide.records.max(axis=0) + 1]
    t = np.zeros((len(wide.classes), *shape))
    for x, counts in zip(wide.records.tolist(), wide.by_record.tolist(), strict=True):
        t[(slice(None), *x)] = np.array(counts) / wide.total
    most = bits(t)
    secret = problem.guarantees[0].secret
    limits = [Fraction(round(1000 * share * most), 1000) for share in SHARES]
    joint = [(0.0, float(design(replace(free, guarantees=(Independent(secret),))).value))]
    joint += [
        (float(b), float(d.value)) for b, d in zip(limits, tradeoff(free, [b for b in limits if b]), strict=False)
    ]
    kept = float(design(replace(problem, preserve_marginals=True, guarantees=(Independent(secret),))).value)
    law = t.sum(axis=0)
    prior = t.reshape(len(t), -1).sum(axis=1)
    anew = sum(
        1 - float((law.sum(axis=tuple(b for b in range(law.ndim) if b != a)) ** 2).sum()) for a in range(law.ndim)
    )
    mixed = [(bits((1 - p) * t + p * np.multiply.outer(prior, law)), p * anew) for p in np.linspace(0.02, 1, 25)]
    columns, alone = by_columns(t)
    curves = {
        "whole records, least change": sorted([(most, 0.0), *joint]),
        "whole records drawn anew": sorted([(most, 0.0), *mixed]),
        "each column drawn anew": sorted([(most, 0.0), *columns]),
    }
    dots = {"whole records, law preserved, tell nothing": (0.0, kept), "each column made independent by itself": alone}
    for name, curve in curves.items():
        print(name, [(round(b, 4), round(d, 3)) for b, d in curve[:: max(1, len(curve) // 6)]])
    print(dots, "the table tells", round(most, 4))
    Path(output).write_text(picture(curves, dots), encoding="utf-8")


def picture(curves: dict[str, list[tuple[float, float]]], dots: dict[str, tuple[float, float]]) -> str:
    """The curves as SVG: bits to the right, changed entries of a row upwards."""
    right = 1.08 * max(b for curve in curves.values() for b, _ in curve)
    right = max(right, 1.08 * max(b for b, _ in dots.values()))
    top = 1.05 * max(d for curve in curves.values() for _, d in curve)

    def place(b: float, d: float) -> tuple[float, float]:
        return LEFT + (WIDTH - LEFT - 20) * b / right, HEIGHT - BOTTOM - (HEIGHT - BOTTOM - 20) * d / top

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" '
        'font-family="system-ui,sans-serif" font-size="12" fill="#1b1f24">',
        "<title>Changed entries of a row against what a row tells about the secret</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<path d="M{LEFT} 20V{HEIGHT - BOTTOM}H{WIDTH - 20}" fill="none" stroke="#1b1f24"/>',
        f'<text x="{WIDTH - 20}" y="{HEIGHT - 16}" text-anchor="end">bits that a row tells about the secret</text>',
        f'<text x="{LEFT}" y="14">changed entries of a row</text>',
    ]
    for k in range(1, 5):
        b, d = right * k / 5, top * k / 5
        x, y = place(b, d)
        lines.append(f'<text x="{x:.0f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{b:.2f}</text>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">{d:.1f}</text>')
    for name, curve in curves.items():
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*p) for p in curve))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
    for name, point in dots.items():
        x, y = place(*point)
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{COLOURS[name]}"/>')
    for k, (name, colour) in enumerate(COLOURS.items()):
        y = 34 + 18 * k
        lines.append(f'<rect x="{WIDTH - 300}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
        lines.append(f'<text x="{WIDTH - 284}" y="{y}">{name}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    main(*sys.argv[1:3])
