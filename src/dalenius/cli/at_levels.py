"""`dalenius tradeoff` under promises other than a leakage: what each level of the promise costs."""

import csv
import io
from argparse import Namespace
from pathlib import Path

from dalenius.cli.sweeping import write_curve
from dalenius.core import Guarantee
from dalenius.core.digits import factor, figure, many
from dalenius.core.numbers import down, up
from dalenius.core.numbers import written as as_text
from dalenius.mechanisms.levels import Level, Levels
from dalenius.papers.curve import Chart, Line
from dalenius.wording import joined

__all__ = ["written"]

AXES = {
    "guess": "right guesses of {secret} in 1,000, at most",
    "information_privacy": "factor by which an answer about {secret} becomes likelier or less likely, at most",
    "local_dp": "factor by which an entry is likelier for one person than for another, at most",
    "worst_case_leakage": "bits that any one row reveals about {secret}, at most",
    "maximal_leakage": "bits by which any guess of {secret} gains, at most",
    "sibson": "bits of Sibson's information about {secret}, at most",
    "total_variation": "distance by which beliefs about {secret} move, at most",
    "dalenius": "bits about any one row, at most",
    "contraction": "share of any information that passes, at most",
}
EVERYTHING = "anything"


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
    steps = [step.to_json() for step in curve.steps]
    return write_curve(arguments, folder, steps, _table(curve), _chart(curve), _words(curve))


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


def _axis(promise: Guarantee) -> str:
    """What the level of a promise counts."""
    if promise.key == "guess" and getattr(promise, "times", None) is not None:
        return f"right guesses of {joined(promise.secret)} as a multiple of those without the release, at most"
    return AXES.get(promise.key, "level").format(secret=joined(promise.secret) or EVERYTHING)


def _level(step: Level) -> str:
    """The level as people read it; rounded up, because it is a limit."""
    if step.promise.key in ("information_privacy", "local_dp"):
        return factor(step.level)
    thousands = step.promise.key == "guess" and getattr(step.promise, "times", None) is None
    return figure(1000 * step.level if thousands else step.level, "up", 4)


def _words(curve: Levels) -> list[str]:
    """A line for each level, that of the problem file marked."""
    what = "least average change of a row" if curve.measure else f"most bits about {joined(curve.wanted)}"
    lines = [
        f"{many(len(curve.steps), 'level')} of the promise, each proved: the {what}, and a bound for everybody.",
        f"  {_axis(curve.chosen.promise)}:",
    ]
    width = max(len(_level(step)) for step in curve.steps)
    for step in curve.steps:
        low, high = figure(step.low, "down", 4), figure(step.high, "up", 4)
        reached, bound = (high, low) if curve.measure else (low, high)
        mark = "  (your problem file)" if step == curve.chosen else ""
        lines.append(f"  {_level(step):>{width}}   {reached:<8} {bound}{mark}")
    if curve.left_out:
        lines.append(f"{many(len(curve.left_out), 'level')} cannot be kept beside what else the problem file asks for.")
    if curve.not_reached:
        lines.append(
            f"The time was too short for {many(curve.not_reached, 'more level')}; a longer --seconds shows all."
        )
    return lines


def _chart(curve: Levels) -> Chart:
    def place(step: Level) -> tuple[float, float]:
        return float(_level(step).replace(",", "")), float(step.high if curve.measure else step.low)

    least = "least change" if curve.measure else "most information"
    return Chart(
        title=f"What each level of the promise costs: the {least}",
        x=_axis(curve.chosen.promise),
        y="average change of a row" if curve.measure else f"bits about {joined(curve.wanted)}",
        lines=(
            Line(f"{least}, proved", tuple(place(step) for step in curve.steps), 0, every=0),
            Line("the level of the problem file", (place(curve.chosen),), 1, joined=False),
        ),
        caption="Every point is a recipe whose promise is proved, beside a proof of how much better any recipe can be.",
    )
