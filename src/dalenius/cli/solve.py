"""`dalenius solve`"""

from argparse import Namespace
from pathlib import Path

from dalenius.cli.interrupts import overtime, seconds_left
from dalenius.cli.terminal import progress, say
from dalenius.core import Design, Problem
from dalenius.documents import about_file
from dalenius.mechanisms import solve
from dalenius.outputs import files_read, new_file, refuse_existing
from dalenius.report import words
from dalenius.report.facts import Facts


def run(arguments: Namespace) -> None:
    output = Path(arguments.output)
    problem = Problem.from_file(arguments.problem)
    refuse_existing(output, force=arguments.force, inputs=files_read(problem))
    with progress(arguments) as show:
        design = solve(
            problem,
            gap=arguments.gap,
            seconds=seconds_left(arguments),
            on_progress=(lambda words: show(f"designing, {words}", None, None)) if show else None,
        )
    beside = write_design(design, output, force=arguments.force)
    document = design.outline()
    facts = Facts.of_design(design)
    lines = [*words.promised(facts), *words.proved(facts), *(f"Note: {remark}." for remark in design.remarks)]
    lines += overtime(arguments)
    lines += [f"Written: {output} and {beside.name} (confidential); SHA-256 {design.digest()}."]
    figures = ("value", "bound", "gap", "unit", "method", "guarantees", "remarks", "fingerprint")
    say(arguments, lines, {key: document[key] for key in figures})


def write_design(design: Design, output: Path, *, force: bool) -> Path:
    """Write a proof file and what belongs to it, both or neither; the name of the second one."""
    beside = about_file(output)
    with new_file(beside, force=True, private=True) as place:
        place.write_bytes(design.about().encode())
        with new_file(output, force=force, private=True) as main:
            main.write_bytes(design.dumps().encode())
    return beside
