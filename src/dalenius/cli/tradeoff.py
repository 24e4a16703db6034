"""`dalenius tradeoff`"""

import csv
import io
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from dalenius.cli import point as one_point
from dalenius.cli.terminal import progress, say
from dalenius.core import Problem
from dalenius.core.numbers import down, up, written
from dalenius.designs.leakage.curve import Curve, Point
from dalenius.figures.curve import Chart, Line, draw
from dalenius.outputs import CURVE, new_folder, refuse_existing, write_text
from dalenius.walk import tradeoff

FILES = "curve.csv, curve.json, marks.json and curve.svg"


def run(arguments: Namespace) -> int:
    if arguments.at is not None:
        return one_point.run(arguments)
    folder = Path(arguments.output)
    refuse_existing(folder, force=arguments.force, kind=CURVE)
    with progress(arguments) as show:
        curve = tradeoff(
            Problem.from_file(arguments.problem),
            arguments.points,
            prove=arguments.prove,
            gap=arguments.gap,
            seconds=arguments.seconds,
            on_progress=show,
        )
    points = [point.to_json() for point in curve.points]
    with new_folder(folder, CURVE, force=arguments.force) as place:
        write_text(place / "curve.json", json.dumps(points, indent=1) + "\n", private=True)
        write_text(place / "curve.csv", _table(curve), private=True)
        write_text(place / "marks.json", json.dumps(_marks(curve), indent=1) + "\n", private=True)
        write_text(place / "curve.svg", draw(_chart(curve)), private=True)
    if arguments.json:
        print(json.dumps(points, indent=1))
        return 0
    say(arguments, [*_words(curve), f"Written: {folder}/ with {FILES} (confidential)."], {})
    return 0


def _table(curve: Curve) -> str:
    """One line for each point, exact distortions beside decimals, and whether they are proved."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    bits = ["leakage_bits_at_least", "leakage_bits_at_most", "slope_bits"]
    writer.writerow(["distortion", "distortion_exact", *bits, "proved"])
    for point in curve.points:
        d, ends = point.distortion, [down(point.low, 15), up(point.high, 15)]
        slope = "" if point.slope is None else f"{point.slope:.9g}"
        writer.writerow([f"{float(d):.12g}", written(d), *ends, slope, _status(point)])
    return text.getvalue()


def _marks(curve: Curve) -> dict[str, Any]:
    """What the picture marks: where the curve begins, where nothing leaks, silence, and the point of the problem."""
    ends, chosen = curve.ends, curve.chosen
    marks = {"D_min": ends.least, "D_0": ends.private, "D_max": ends.silent}
    numbers = {name: None if value is None else float(value) for name, value in marks.items()}
    return {**numbers, "chosen": chosen and chosen.to_json()}


def _status(point: Point) -> str:
    return "proved" if point.proved else "searched, not proved"


def _words(curve: Curve) -> list[str]:
    ends, first, last = curve.ends, curve.points[0], curve.points[-1]
    gap = max(point.high - point.low for point in curve.points)
    about = ", ".join(curve.trade.secret)
    told = [
        f"{len(curve.points)} points of the least leakage about {about}, "
        f"{_status(first)}, each within {up(gap, 12)} bits.",
        f"At the smallest distortion, {float(ends.least):.9g}, at least {down(first.low, 9)} bits leak."
        if first.distortion == ends.least
        else f"The smallest distortion is {float(ends.least):.9g}; at {float(first.distortion):.9g}, where the curve "
        f"begins, at least {down(first.low, 9)} bits leak.",
    ]
    if ends.private is not None:
        anyway = f" beside the {up(last.high, 9)} bits that are told anyway" if last.high else ""
        told.append(f"From a distortion of {float(ends.private):.9g} on, nothing needs to leak{anyway}.")
    else:
        told.append(f"At a distortion of {float(last.distortion):.9g}, {up(last.high, 9)} bits are told anyway.")
    if ends.silent is not None:
        told.append(f"One letter for everybody has the distortion {float(ends.silent):.9g}.")
    if curve.chosen:
        told.append(
            f"The point of the problem file, proved: distortion {float(curve.chosen.distortion):.9g}, between "
            f"{down(curve.chosen.low, 9)} and {up(curve.chosen.high, 9)} bits."
        )
    return told


def _chart(curve: Curve) -> Chart:
    ends = curve.ends
    line = tuple((float(point.distortion), float(point.high)) for point in curve.points)
    lowest = line[-1][1]
    proved = curve.points[0].proved
    lines = [Line(f"least leakage, {_status(curve.points[0])}", line, 0, every=0)]
    if ends.private is not None:
        lines.append(Line("D0: nothing needs to leak", ((float(ends.private), lowest),), 2, joined=False))
    if ends.silent is not None:
        lines.append(Line("D_max: one letter for everybody", ((float(ends.silent), lowest),), 3, joined=False))
    if curve.chosen:
        chosen = (float(curve.chosen.distortion), float(curve.chosen.high))
        lines.append(Line("the point of the problem file, proved", (chosen,), 1, joined=False))
    about = ", ".join(curve.trade.secret)
    return Chart(
        title=f"Leakage about {about} against distortion",
        x="expected distortion",
        y="bits",
        lines=tuple(lines),
        caption="Every point is a channel whose leakage is proved, beside a proof that no channel leaks less."
        if proved
        else "Only the point of the problem file is proved; the others were searched in floating point.",
    )
