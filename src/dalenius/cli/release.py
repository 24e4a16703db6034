"""`dalenius release`"""

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dalenius import stopping
from dalenius.api import Outcome, at_point, release
from dalenius.cli.interrupts import Interrupted, overtime, seconds_left
from dalenius.cli.solve import write_design
from dalenius.cli.summary import after_release
from dalenius.cli.terminal import progress, say
from dalenius.core import Design, Problem
from dalenius.core.numbers import exact
from dalenius.errors import InputError
from dalenius.ledger import Ledger
from dalenius.outputs import refuse_existing
from dalenius.report import words
from dalenius.report.facts import Facts
from dalenius.sampling import Key
from dalenius.tables.workspace import memory_of

WARNINGS = 40  # lines of warnings in the terminal


def run(arguments: Namespace) -> None:
    refuse_contradictions(arguments)
    problem = Problem.from_file(arguments.problem)
    if arguments.leakage is not None:
        problem = at_point(problem, leakage=exact(arguments.leakage, "--leakage"))
    if arguments.distortion is not None:
        problem = at_point(problem, distortion=exact(arguments.distortion, "--distortion"))
    released(arguments, problem)


def refuse_contradictions(arguments: Namespace) -> None:
    """Options of which one makes no sense with, or without, another; said before any file is read."""
    if arguments.key and arguments.new_key:
        raise InputError("say either --key or --new-key, not both")
    if arguments.dataset and not arguments.ledger:
        raise InputError("--dataset names the data in a ledger; say --ledger too")


def released(arguments: Namespace, problem: Problem) -> None:
    """Release a problem as the arguments say, and tell what came of it."""
    kept = _Kept(Path(f"{Path(arguments.output)}.design.json"), arguments.force)
    with kept.if_stopped(), progress(arguments) as show, _key(arguments) as key:
        outcome = release(
            problem,
            arguments.output,
            key=key,
            ledger=arguments.ledger,
            dataset=arguments.dataset,
            accept_small_cells="small-combinations" in arguments.accept,
            force=arguments.force,
            gap=arguments.gap,
            seconds=seconds_left(arguments),
            engine=arguments.engine,
            memory=None if arguments.memory is None else memory_of(arguments.memory),
            into=tuple(arguments.into) if arguments.into else None,
            on_progress=show,
            on_design=kept.take,
        )
    document = outcome.design.outline()
    into = arguments.into[1] if arguments.into else None
    lines = after_release(outcome, key_file=arguments.new_key or arguments.key, into=into)
    if arguments.details:
        lines += _details(outcome)
    lines += overtime(arguments)
    files = sorted(f.name for f in outcome.folder.iterdir())
    if outcome.charged:
        lines.append(f"Charged     release {outcome.charged.id} of {arguments.ledger}; see `dalenius ledger status`.")
    figures = {k: document[k] for k in ("value", "bound", "gap", "unit", "method", "guarantees", "remarks")}
    say(
        arguments,
        lines,
        figures
        | {
            "seen": outcome.audit.to_json(),
            "before_after": None if outcome.counts is None else outcome.counts.to_json(),
            "tried": list(outcome.tried),
            "folder": str(outcome.folder),
            "files": files,
            "ledger": None if outcome.charged is None else {"id": outcome.charged.id, "state": outcome.charged.state},
        },
    )


class _Kept:
    """The design of a release, for whoever stops it and asked to keep that.

    Parameters
    ----------
    place : Path
        Where it is kept, beside the folder that does not come about.
    force : bool
        Whether what is there may be replaced.
    """

    def __init__(self, place: Path, force: bool) -> None:
        self.place, self.force = place, force
        self.design: Design | None = None
        if stopping.keeps():
            refuse_existing(place, force=force)

    def take(self, design: Design) -> None:
        """Before anything is charged or drawn: whoever asked for what there is gets the design, and nothing else."""
        if not stopping.keeps():
            return
        self.design = design
        if stopping.asked():
            raise KeyboardInterrupt
        stopping.keep_no_more()  # rows are drawn in a time that nobody knows: the next signal ends that

    @contextmanager
    def if_stopped(self) -> Iterator[None]:
        """Write the design where the block is stopped after it was found."""
        try:
            yield
        except KeyboardInterrupt:
            if self.design is None:
                raise
            write_design(self.design, self.place, force=self.force)
            raise Interrupted(
                "interrupted before the rows were released.",
                do=f"Draw them later: dalenius apply {self.place} TABLE -o FILE.",
                state=f"The proved recipe is kept in {self.place} (confidential). No rows were released.",
            ) from None


def _details(outcome: Outcome) -> list[str]:
    """Everything else that is known, for specialists."""
    facts = Facts.of_design(outcome.design, rows=outcome.audit.rows)
    lines = ["Promised:", *_indented(words.promised(facts))]
    lines += ["Proved:", *_indented(words.proved(facts))]
    lines += ["Seen:", *_indented(words.seen(outcome.audit))]
    if outcome.counts is not None:
        lines += ["Rows before → after:", *_indented(outcome.counts.lines())]
        warnings = outcome.counts.warnings()
        lines += [f"Warning: {line}." for line in warnings[:WARNINGS]]
        more = len(warnings) - WARNINGS
        lines += [f"Warning: {more} more values; statement.html and --json name all."] if more > 0 else []
        lines += [f"Tried: {line}." for line in outcome.tried]
    return [*lines, *(f"Note: {remark}." for remark in outcome.design.remarks)]


@contextmanager
def _key(arguments: Namespace) -> Iterator[Key]:
    """The key to draw with; a new one is on disk before anything is drawn, and gone again if nothing was released."""
    if arguments.new_key:
        key = Key.write_new(arguments.new_key)
    else:
        key = Key.from_file(arguments.key) if arguments.key else Key.fresh()
    try:
        yield key
    except BaseException:
        if not (arguments.ledger and _stands(arguments, key)) and arguments.new_key:
            Path(arguments.new_key).unlink(missing_ok=True)
        raise


def _stands(arguments: Namespace, key: Key) -> bool:
    """Whether the ledger has charged a draw with this key that did not end: say so, and keep the key to finish it."""
    if not Path(arguments.ledger).is_file():
        return False
    try:
        entry = Ledger(arguments.ledger).waiting_for(key.fingerprint())
    except InputError:
        return True  # it cannot be asked now; a key too many does no harm
    if entry is not None:
        file = arguments.new_key or arguments.key
        finish = f"run the same release with --key {file} to finish it without a second charge"
        print(
            f"dalenius: release {entry.id} of {arguments.ledger} stays charged; "
            + (finish if file else "its key was not kept, so it cannot be finished"),
            file=sys.stderr,
        )
    return entry is not None


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
