"""What the commands share: progress on the terminal, words or JSON on standard output."""

import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["progress", "say"]

EVERY = 0.1


@contextmanager
def progress(arguments: Namespace) -> Iterator[Callable[[str, int | None, int | None], None] | None]:
    """A line on standard error that follows long work; nothing when nobody looks."""
    if arguments.quiet or arguments.json or not sys.stderr.isatty():
        yield None
        return
    last = 0.0

    def show(stage: str, done: int | None, total: int | None) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            share = f" of {total:,} ({done / total:.0%})" if total and done is not None else ""
            sys.stderr.write(f"\r\033[K{stage}" + (f": {done:,}{share}" if done is not None else ""))
            sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\033[K")


def say(arguments: Namespace, words: list[str], document: dict[str, Any]) -> None:
    """The answer of a command, once."""
    print(json.dumps(document, indent=1, ensure_ascii=False) if arguments.json else "\n".join(words))
