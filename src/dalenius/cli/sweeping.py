"""`dalenius tradeoff` where information is maximised: the most that is told against the limit on a leakage."""

import csv
import io
import json
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from dalenius.cli.terminal import say
from dalenius.core.digits import many
from dalenius.core.numbers import down, up
from dalenius.core.numbers import written as as_text
from dalenius.mechanisms.columns.funnel.sweep import Sweep
from dalenius.outputs import CURVE, new_folder, write_text
from dalenius.papers.curve import Chart, Line, draw

__all__ = ["foreseen", "too_short", "write_curve", "written"]

FILES = "curve.csv, curve.json and curve.svg"


class Written(Protocol):
    """A point of a curve."""

    def to_json(self) -> dict[str, Any]: ...


def written(arguments: Namespace, folder: Path, curve: Sweep) -> int:
    """Write the curve, and say what it shows."""
    return write_curve(arguments, folder, curve.steps, _table(curve), _chart(curve), _words(curve))


def write_curve(
    arguments: Namespace, folder: Path, steps: Sequence[Written], table: str, chart: Chart, words: list[str]
) -> int:
    """Write a curve to a folder: as JSON, as a table and as a picture; then say what it shows.

    Parameters
    ----------
    arguments : Namespace
        Of the command.
    folder : Path
        To be made.
    steps : sequence
        The points of the curve.
    table : str
        The same as CSV.
    chart : Chart
        The same as a picture.
    words : list of str
        For the terminal.

    Returns
    -------
    int
        The exit code.
    """
    document = json.dumps([step.to_json() for step in steps], indent=1)
    with new_folder(folder, CURVE, force=arguments.force) as place:
        write_text(place / "curve.json", f"{document}\n", private=True)
        write_text(place / "curve.csv", table, private=True)
        write_text(place / "curve.svg", draw(chart), private=True)
    if arguments.json:
        print(document)
        return 0
    say(arguments, [*arguments.whose, *words, f"Written: {folder}/ with {FILES} (confidential)."], {})
    return 0


def foreseen(curve: Sweep) -> list[str]:
    """What `explain` says of a problem: the ends of the curve, the limit, and what one more bit of it buys."""
    return _words(curve)[1:]


def _table(curve: Sweep) -> str:
    """One line for each step, the exact limit beside its decimal."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    figures = ["information_bits_at_least", "information_bits_at_most", "price"]
    writer.writerow(["at_most_bits", "at_most_bits_exact", *figures])
    for step in curve.steps:
        price = "" if step.price is None else f"{step.price:.9g}"
        ends = [down(step.low, 15), up(step.high, 15)]
        writer.writerow([f"{float(step.at_most_bits):.12g}", as_text(step.at_most_bits), *ends, price])
    return text.getvalue()


def _words(curve: Sweep) -> list[str]:
    secret = ", ".join(curve.secret)
    wanted = ", ".join(curve.wanted)
    chosen = curve.chosen
    gap = max(step.high - step.low for step in (*curve.steps, chosen))
    lines = [
        f"{many(len(curve.steps), 'step')} of the most that can be said about {wanted} under a limit on what is "
        f"revealed about {secret}, each proved within {up(gap, 9)} bits.",
    ]
    if curve.steps and not curve.steps[0].at_most_bits:
        first, last = curve.steps[0], curve.steps[-1]
        free = f"; with no limit up to {up(last.high, 9)} bits" if last is not first else ""
        most = f"up to {up(first.high, 9)} bits can be said about {wanted}"
        lines.append(f"While nothing is revealed about {secret}, {most}{free}.")
    lines.append(
        f"At the limit of the problem file, {float(chosen.at_most_bits):.9g} bits, between {down(chosen.low, 9)} and "
        f"{up(chosen.high, 9)} bits can be said."
    )
    if chosen.price is not None:
        lines.append(f"There, each further bit of leakage buys at most {chosen.price:.3g} bits about {wanted}.")
    return lines + too_short(curve.not_reached, "step")


def too_short(missing: int, what: str) -> list[str]:
    """A line where a curve has fewer points than were asked for.

    Parameters
    ----------
    missing : int
        How many the time did not reach.
    what : str
        A point, in the words of the curve.

    Returns
    -------
    list of str

    Examples
    --------
    >>> too_short(2, "level"), too_short(0, "level")
    (['The time was too short for 2 more levels; a longer --seconds shows all.'], [])
    """
    if not missing:
        return []
    return [f"The time was too short for {many(missing, f'more {what}')}; a longer --seconds shows all."]


def _chart(curve: Sweep) -> Chart:
    secret = ", ".join(curve.secret)
    wanted = ", ".join(curve.wanted)
    line = tuple((float(step.at_most_bits), float(step.low)) for step in curve.steps)
    chosen = (float(curve.chosen.at_most_bits), float(curve.chosen.low))
    return Chart(
        title=f"What is said about {wanted} against what is revealed about {secret}",
        x=f"bits about {secret}, at most",
        y=f"bits about {wanted}",
        lines=(
            Line("most information, proved", line, 0, every=0),
            Line("the limit of the problem file", (chosen,), 1, joined=False),
        ),
        caption="Every point is a recipe whose information is proved, beside a proof that no recipe reveals more.",
    )
