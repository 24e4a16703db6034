"""`dalenius tradeoff`"""

import csv
import io
import json
from argparse import Namespace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius import stopping
from dalenius.api import tradeoff
from dalenius.cli import at_levels, sweeping
from dalenius.cli import point as one_point
from dalenius.cli.interrupts import seconds_left
from dalenius.cli.terminal import progress, say
from dalenius.core import Problem, TableSource
from dalenius.core.digits import Direction, figure
from dalenius.core.numbers import down, up, written
from dalenius.mechanisms.columns.funnel.sweep import Sweep
from dalenius.mechanisms.columns.leakage.curve import Curve, Point
from dalenius.mechanisms.levels import Levels
from dalenius.outputs import CURVE, new_folder, refuse_existing, write_text
from dalenius.papers.curve import Chart, Line, draw
from dalenius.report.facts import FOLLOWING
from dalenius.stopping import Stage

TINY = Fraction(1, 10_000)
FILES = "curve.csv, curve.json, marks.json and curve.svg"


def run(arguments: Namespace) -> int:
    stopping.reach(Stage.ENDING)  # whoever asks for what there is gets every point, each without further search
    if arguments.at is not None:
        return one_point.run(arguments)
    folder = Path(arguments.output)
    refuse_existing(folder, force=arguments.force, kind=CURVE)
    problem = Problem.from_file(arguments.problem)
    arguments.whose = _whose(problem)
    with progress(arguments) as show:
        curve = tradeoff(
            problem,
            arguments.points,
            prove=arguments.prove,
            gap=arguments.gap,
            seconds=seconds_left(arguments),
            on_progress=show,
        )
    if isinstance(curve, Sweep):
        return sweeping.written(arguments, folder, curve)
    if isinstance(curve, Levels):
        return at_levels.written(arguments, folder, curve)
    points = [point.to_json() for point in curve.points]
    with new_folder(folder, CURVE, force=arguments.force) as place:
        write_text(place / "curve.json", json.dumps(points, indent=1) + "\n", private=True)
        write_text(place / "curve.csv", _table(curve), private=True)
        write_text(place / "marks.json", json.dumps(_marks(curve), indent=1) + "\n", private=True)
        write_text(place / "curve.svg", draw(_chart(curve)), private=True)
    if arguments.json:
        print(json.dumps(points, indent=1))
        return 0
    say(arguments, [*arguments.whose, *_words(curve), f"Written: {folder}/ with {FILES} (confidential)."], {})
    return 0


def _whose(problem: Problem) -> list[str]:
    """Whose figures these are, where they are not those of the rows of the table."""
    prior = problem.source.prior if isinstance(problem.source, TableSource) else None
    if prior is None:
        return []
    return [f"{FOLLOWING['uniform' if prior == 'uniform' else 'public']}these are the points."]


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
    """Where the curve begins and ends, and the point of the problem file."""
    ends, first, last = curve.ends, curve.points[0], curve.points[-1]
    about = ", ".join(curve.trade.secret)
    least = _short(first.distortion, "down")
    lines = [
        f"{len(curve.points)} points, {_status(first)}: the least that must be revealed about {about} for each change.",
        f"With no more change than {least}, at least {down(first.low, 4)} bits are revealed.",
    ]
    if ends.private is not None:
        anyway = f" beside the {up(last.high, 4)} bits that are revealed anyway" if last.high else ""
        change = _short(ends.private, "up")
        lines.append(f"From an average change of {change} on, nothing needs to be revealed{anyway}.")
    else:
        change = _short(last.distortion, "up")
        lines.append(f"At an average change of {change}, {up(last.high, 4)} bits are revealed anyway.")
    if ends.silent is not None:
        lines.append(f"One value for everybody is an average change of {_short(ends.silent)}.")
    if curve.chosen:
        lines.append(
            f"Your problem file, proved: an average change of {_short(curve.chosen.distortion)}, about "
            f"{_short(curve.chosen.high)} bits."
        )
    return lines + sweeping.too_short(curve.not_reached, "point")


def _short(amount: Fraction, direction: Direction = "nearest") -> str:
    """A change, or bits, with few digits and no exponent: less change reveals more, so its side is chosen against us.

    >>> _short(Fraction(531105859, 10**9), "up"), _short(Fraction(5, 10**7), "down"), _short(Fraction(5, 10**7), "up")
    ('0.532', '0', '0.0001')
    """
    if amount >= TINY:
        return figure(amount, direction, 3)
    return str(float(TINY)) if amount and direction == "up" else "0"


def _chart(curve: Curve) -> Chart:
    ends = curve.ends
    line = tuple((float(point.distortion), float(point.high)) for point in curve.points)
    lowest = line[-1][1]
    proved = curve.points[0].proved
    lines = [Line(f"the least, {_status(curve.points[0])}", line, 0, every=0)]
    if ends.private is not None:
        lines.append(Line("nothing needs to be revealed", ((float(ends.private), lowest),), 2, joined=False))
    if ends.silent is not None:
        lines.append(Line("one value for everybody", ((float(ends.silent), lowest),), 3, joined=False))
    if curve.chosen:
        chosen = (float(curve.chosen.distortion), float(curve.chosen.high))
        lines.append(Line("the point of the problem file, proved", (chosen,), 1, joined=False))
    about = ", ".join(curve.trade.secret)
    return Chart(
        title=f"What is revealed about {about}, for each amount of change",
        x="average change",
        y="bits",
        lines=tuple(lines),
        caption="At every point a recipe was found and proved, beside a proof that nobody can reveal less."
        if proved
        else "Only the point of the problem file is proved; the others were searched in floating point.",
    )
