"""What the commands share: progress on the terminal, words or JSON on standard output."""

import json
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dalenius.cli.waiting import TOO_SHORT, Waiting, title_of
from dalenius.wording import unsteered

if TYPE_CHECKING:
    from dalenius.core.source import Dialect

__all__ = ["dialect_of", "progress", "say"]

EVERY = 0.1
LONG = 5.0  # seconds from which on a log shows where a command is


@contextmanager
def progress(arguments: Namespace) -> Iterator[Callable[[str, int | None, int | None], None] | None]:
    """A line on standard error that follows long work; in a log, once it lasts, one line for each stage."""
    waiting = Waiting()
    begun = time.monotonic()
    stages: list[str] = []

    def log(stage: str, _done: int | None, _total: int | None) -> None:
        title = title_of(stage)
        long = time.monotonic() - begun >= LONG
        if long and title not in stages and not arguments.json:
            stages.append(title)
            print(title, file=sys.stderr, flush=True)
        if TOO_SHORT in stage and (lasting := waiting.lasting(stage)):
            print(f"dalenius: {lasting}", file=sys.stderr)

    if arguments.quiet or arguments.json or not sys.stderr.isatty():
        yield None if arguments.quiet else log
        return
    last = 0.0

    def show(stage: str, done: int | None, total: int | None) -> None:
        nonlocal last
        if lasting := waiting.lasting(stage):
            sys.stderr.write(f"\r\033[K{lasting}\n")
        line = waiting.line(stage, done, total)
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\033[K{line[:width]}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\033[K")


def dialect_of(arguments: Namespace) -> "Dialect":
    """How a text file is written, as the options say it."""
    from dalenius.core.source import Dialect  # brings arrays, which `verify` does without

    return Dialect(delimiter=arguments.delimiter, encoding=arguments.encoding, decimal=arguments.decimal)


def say(arguments: Namespace, words: list[str], document: dict[str, Any]) -> None:
    """The answer of a command, once."""
    arguments.answered = True
    # Names and values of the data stand in sentences: none of them may steer the terminal.
    print(json.dumps(document, indent=1, ensure_ascii=False) if arguments.json else unsteered("\n".join(words)))
