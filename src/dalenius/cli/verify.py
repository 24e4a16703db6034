"""`dalenius verify`"""

from argparse import Namespace
from importlib.metadata import version
from pathlib import Path

from dalenius.certify import Verdict
from dalenius.cli.terminal import say
from dalenius.core.numbers import down, up
from dalenius.errors import InputError
from dalenius.outputs import new_file
from dalenius.report.words import WITHIN, compared
from dalenius.standalone import standalone
from dalenius.tables import read_json
from dalenius.walk import verify

LEAST = ("dual", "noise", "rate", "variance", "water")  # kinds of proof of an objective that is minimised
MANY = 8  # guarantees that a card cannot prove are counted, no longer listed


def run(arguments: Namespace) -> None:
    lines: list[str] = []
    document: dict[str, object] = {}
    if arguments.export:
        with new_file(Path(arguments.export), force=arguments.force) as place:
            place.write_text(standalone(version("dalenius")), encoding="utf-8")
        lines.append(f"Written: {arguments.export}, the checker as one file; it needs Python 3.11 and nothing else.")
        document["exported"] = arguments.export
    elif arguments.design is None:
        raise InputError("name a design.json or card.json to verify, or a file to write with --export")
    if arguments.design is not None:
        verdict = verify(arguments.design, table=arguments.table, problem=arguments.problem)
        document |= {"proved": True, "kind": verdict.kind, "guarantees": list(verdict.figures)}
        if verdict.kind == "card":
            lines.append("Proved from the card alone: every row of the channel is a probability distribution.")
            lines.append(
                "Value, bound and limits depend on the distribution of the data: only the design can prove them."
            )
        else:
            document |= _figures(verdict)
            lines += [*_words(verdict), compared(read_json(arguments.design, "design file"))]
        unproved = sum(figures is None for figures in verdict.figures)
        if unproved > MANY:
            lines.append(
                f"{unproved} guarantees depend on the distribution of the data: only the design can prove them."
            )
        for k, figures in enumerate(verdict.figures, 1):
            if figures is None and unproved > MANY:
                continue
            if figures is None:
                lines.append(f"Guarantee {k} depends on the distribution of the data: only the design can prove it.")
            elif verdict.kind == "card":
                lines.append(f"Guarantee {k} is proved from the card alone.")
        if arguments.table:
            lines.append(f"Recounted: {arguments.table} has exactly the counts of the design.")
        if arguments.problem:
            lines.append(f"Compared: the design keeps the promises of {arguments.problem}.")
    say(arguments, lines, document)


def _figures(verdict: Verdict) -> dict[str, object]:
    """What was reached and what bounds it: [lower, upper]."""
    if verdict.kind in LEAST:
        ends = [down(verdict.bound), up(verdict.value)]
        return {"least": ends, "limits": list(verdict.limits)}
    return {"value_bits": [down(verdict.value), up(verdict.bound)]}


def _words(verdict: Verdict) -> list[str]:
    if verdict.kind in LEAST:
        return [
            f"Proved: every promise and every limit is kept, and the value is at most {up(verdict.value, 15)}.",
            f"Proved: no mechanism {WITHIN.get(verdict.kind, '')}that keeps them has less than "
            f"{down(verdict.bound, 15)} ({verdict.kind}).",
        ]
    nobody, bound = f"no mechanism {WITHIN.get(verdict.kind, '')}that keeps them exceeds", up(verdict.bound, 15)
    return [
        f"Proved: every promise is kept, and the value is at least {down(verdict.value, 15)} bits.",
        f"Proved: {nobody} {bound} bits ({verdict.kind}).",
    ]
