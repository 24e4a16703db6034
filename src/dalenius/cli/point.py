"""`dalenius tradeoff --at`: the figures of paper 003 at one distortion, and whether a point (R, D, E) can be had."""

import json
from argparse import Namespace
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius.api import region
from dalenius.cli.interrupts import seconds_left
from dalenius.cli.terminal import say
from dalenius.core import Design, Problem
from dalenius.core.numbers import down, exact, up, written
from dalenius.documents import about_file
from dalenius.errors import Infeasible, InputError
from dalenius.mechanisms.columns.regions import Membership, Region
from dalenius.outputs import POINT, new_folder, refuse_existing, write_text
from dalenius.stopping import limited

SEARCHES = 4  # of a point, each with its share of the time
OUTSIDE = Infeasible.exit_code
FORMS = "--at D, --at D,E or --at R,D,E: rate R in bits, distortion D, equivocation E in bits"

Answer = tuple[list[str], dict[str, Any], dict[str, Design]]


def run(arguments: Namespace) -> int:
    """Answer, with a design file behind every figure; a point that cannot be had ends with the code of infeasible."""
    numbers = [exact(part.strip(), "--at") for part in arguments.at.split(",")]
    if len(numbers) > 3 or min(numbers) < 0:
        raise InputError(
            f"{arguments.at!r} is none of {FORMS}; no number is negative",
            do="Write one of these forms with numbers from 0 on.",
        )
    folder = Path(arguments.output)
    refuse_existing(folder, force=arguments.force, kind=POINT)
    code = 0
    with limited(seconds := seconds_left(arguments)):
        asked = region(Problem.from_file(arguments.problem), gap=arguments.gap, seconds=seconds / SEARCHES)
        if len(numbers) == 3:
            found = asked.membership(*numbers)
            code = 0 if found.inside else OUTSIDE
            lines, document, designs = _member(found, numbers)
        elif len(numbers) == 2:
            lines, document, designs = _rate(asked, *numbers)
        else:
            lines, document, designs = _figures(asked, numbers[0])
    names = {key: f"{key.replace('_', '-')}.json" for key in designs}
    document |= {"files": names}
    with new_folder(folder, POINT, force=arguments.force) as place:
        write_text(place / "point.json", json.dumps(document, indent=1) + "\n", private=True)
        for key, design in designs.items():
            write_text(place / names[key], design.dumps(), private=True)
            write_text(about_file(place / names[key]), design.about(), private=True)
    files = ", ".join(["point.json", *names.values()])
    say(arguments, [*lines, f"Written: {folder}/ with {files} (confidential)."], document)
    return code


def _enclosed(low: Fraction, high: Fraction) -> str:
    return f"between {down(low, 9)} and {up(high, 9)}"


def _both(design: Design) -> list[float]:
    return [float(design.bound), float(design.value)]


def _figures(asked: Region, d: Fraction) -> Answer:
    found = asked.figures(d)
    about, (low, high) = ", ".join(asked.trade.secret), found.equivocation
    quiet = found.designs["least_leakage"]
    slope, ends = found.slope, found.ends
    sentence = "not known at D_min, where it may be infinite"
    marks = {"D_min": ends.least, "D_0": ends.private, "D_max": ends.silent}
    lines = [
        f"At a distortion of {float(d):.9g}:",
        f"  least leakage about {about}, L(D): {_enclosed(quiet.bound, quiet.value)} bits",
        f"  most that can stay unknown of {about}, Gamma(D): {_enclosed(low, high)} bits",
        "  slope, -dL/dD: " + (sentence if slope is None else f"{float(slope):.9g} bits for each unit of distortion"),
    ]
    document: dict[str, Any] = {
        "distortion": float(d),
        "distortion_exact": written(d),
        "leakage_bits": _both(quiet),
        "equivocation_bits": [float(low), float(high)],
        "slope_bits": None if slope is None else float(slope),
    }
    near = f"least rate within {float(found.slack):g} bits of L(D)"
    rates = {"least_rate": "least rate, R(D)", "least_rate_at_least_leakage": near}
    for key, words in rates.items():
        if design := found.designs.get(key):
            lines.append(f"  {words}: {_enclosed(design.bound, design.value)} bits")
            document["rate_bits" if key == "least_rate" else "rate_at_least_leakage_bits"] = _both(design)
    if asked.problem.kept:
        lines.append("  no rates: the rate is that of a release without kept columns")
    known = [f"{name} = {float(value):.9g}" for name, value in marks.items() if value is not None]
    lines.append(f"Ends of the curve: {', '.join(known)}.")
    document["ends"] = {name: None if value is None else float(value) for name, value in marks.items()}
    return lines, document, dict(found.designs)


def _rate(asked: Region, d: Fraction, e: Fraction) -> Answer:
    design = asked.least_rate(d, e)
    words = f"At a distortion of {float(d):.9g} and with {float(e):.9g} bits unknown, the least rate R(D, E) is"
    document = {"distortion": float(d), "equivocation_bits": float(e), "rate_bits": _both(design)}
    return [f"{words} {_enclosed(design.bound, design.value)} bits."], document, {"least_rate": design}


def _member(found: Membership, point: list[Fraction]) -> Answer:
    r, d, e = (float(value) for value in point)
    document: dict[str, Any] = {"rate_bits": r, "distortion": d, "equivocation_bits": e, "inside": found.inside}
    where = f"(R, D, E) = ({r:.9g}, {d:.9g}, {e:.9g})"
    if found.witness:
        design = found.witness
        document["least_rate_bits"] = _both(design)
        line = f"{where} can be had: witness.json keeps D and E with a rate of {up(design.value, 9)} bits."
        return [line], document, {"witness": design}
    beyond = found.separation
    assert beyond is not None
    prices: Mapping[str, Fraction] = {"R": beyond.rate, "D": beyond.distortion, "E": -beyond.equivocation}
    sides = " + ".join(f"{float(v):.9g} {name}" for name, v in prices.items() if v).replace("+ -", "- ")
    reached = beyond.at(*point)
    document["reason"] = found.reason
    document["separation"] = {
        "prices": {name: written(v) for name, v in prices.items()},
        "at_least": written(beyond.least),
        "here": written(reached),
    }
    ends = _enclosed(beyond.design.bound, beyond.design.value)
    unit = "bits" if beyond.design.unit == "bits" else "of distortion"
    least = {"distortion": "least distortion", "bits": "least rate" if beyond.rate else "least leakage"}
    return (
        [
            f"{where} cannot be had: {found.reason}.",
            f"  The {least[beyond.design.unit]} there is {ends} {unit}.",
            f"  Whatever can be had has {sides} >= {down(beyond.least, 9)}; here it is {up(reached, 9)}.",
            "  separation.json proves it.",
        ],
        document,
        {"separation": beyond.design},
    )
