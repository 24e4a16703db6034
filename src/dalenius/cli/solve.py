"""`dalenius solve`"""

from argparse import Namespace
from pathlib import Path

from dalenius.cli.terminal import progress, say
from dalenius.core import Problem
from dalenius.outputs import new_file, refuse_existing
from dalenius.report import words
from dalenius.walk import solve


def run(arguments: Namespace) -> None:
    output = Path(arguments.output)
    refuse_existing(output, force=arguments.force, inputs=[Path(arguments.problem)])
    with progress(arguments) as show:
        design = solve(
            Problem.from_file(arguments.problem),
            gap=arguments.gap,
            seconds=arguments.seconds,
            on_progress=(lambda words: show(words, None, None)) if show else None,
        )
    with new_file(output, force=arguments.force, private=True) as place:
        place.write_text(design.dumps(), encoding="utf-8")
    document = design.outline()
    lines = [*words.promised(document), *words.proved(document), *design.remarks, f"Written: {output} (confidential)."]
    say(
        arguments, lines, {k: document[k] for k in ("value", "bound", "gap", "unit", "method", "guarantees", "remarks")}
    )
