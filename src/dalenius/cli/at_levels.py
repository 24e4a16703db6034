"""`dalenius tradeoff` under promises other than a leakage: what each level of the promise costs."""

import csv
import io
from argparse import Namespace
from pathlib import Path

from dalenius.cli.sweeping import too_short, write_curve
from dalenius.core.digits import figure, many
from dalenius.core.numbers import down, up
from dalenius.core.numbers import written as as_text
from dalenius.mechanisms.levels import Level, Levels
from dalenius.papers.curve import Chart, Line
from dalenius.wording import joined

__all__ = ["written"]


def written(arguments: Namespace, folder: Path, curve: Levels) -> int:
    """Write the curve, and say what it shows.

    Parameters
    ----------
    arguments : Namespace
        Of the command.
    folder : Path
        To be made.
    curve : Levels
        What was found.

    Returns
    -------
    int
        The exit code.
    """
    return write_curve(arguments, folder, curve.steps, _table(curve), _chart(curve), _words(curve))


def _table(curve: Levels) -> str:
    """One line for each level, exact beside its decimal."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    best = "change" if curve.measure else "information_bits"
    writer.writerow(["level", "level_exact", f"{best}_at_least", f"{best}_at_most"])
    for step in curve.steps:
        exact = as_text(step.level)
        writer.writerow([f"{float(step.level):.12g}", exact, down(step.low, 15), up(step.high, 15)])
    return text.getvalue()


def _words(curve: Levels) -> list[str]:
    """A line for each level, that of the problem file marked."""
    what = "least average change of a row" if curve.measure else f"most bits about {joined(curve.wanted)}"
    lines = [
        f"{many(len(curve.steps), 'level')} of the promise, each proved: the {what}, and a bound for everybody.",
        f"  {curve.chosen.promise.axis}:",
    ]
    width = max(len(step.promise.shown) for step in curve.steps)
    for step in curve.steps:
        low, high = figure(step.low, "down", 4), figure(step.high, "up", 4)
        reached, bound = (high, low) if curve.measure else (low, high)
        mark = "  (your problem file)" if step == curve.chosen else ""
        lines.append(f"  {step.promise.shown:>{width}}   {reached:<8} {bound}{mark}")
    if curve.left_out:
        lines.append(f"{many(len(curve.left_out), 'level')} cannot be kept beside what else the problem file asks for.")
    return lines + too_short(curve.not_reached, "level")


def _chart(curve: Levels) -> Chart:
    def place(step: Level) -> tuple[float, float]:
        return float(step.promise.shown.replace(",", "")), float(step.high if curve.measure else step.low)

    least = "least change" if curve.measure else "most information"
    return Chart(
        title=f"What each level of the promise costs: the {least}",
        x=curve.chosen.promise.axis,
        y="average change of a row" if curve.measure else f"bits about {joined(curve.wanted)}",
        lines=(
            Line(f"{least}, proved", tuple(place(step) for step in curve.steps), 0, every=0),
            Line("the level of the problem file", (place(curve.chosen),), 1, joined=False),
        ),
        caption="Every point is a recipe whose promise is proved, beside a proof of how much better any recipe can be.",
    )
