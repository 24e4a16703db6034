"""Options that several commands of the command line share."""

import argparse
from collections.abc import Callable
from typing import Any, TypeAlias

from dalenius.cli.argument_types import accepted, positive

__all__ = ["LIMIT", "Command", "accepts", "keyed", "placed", "releases", "searches", "writes"]

Command: TypeAlias = Callable[..., argparse.ArgumentParser]
"""Makes a command of its name, what it does and an example."""

LIMIT: dict[str, Any] = {
    "type": positive,
    "default": 120.0,
    "help": "stop after so long, with exit code 5 (default: 120)",
}
"""The option of a time limit."""


def writes(sub: argparse.ArgumentParser, what: str, default: str | None = None) -> None:
    """Where a command writes, and whether it may replace what is there."""
    sub.add_argument("-o", "--output", metavar="PATH", required=default is None, default=default, help=what)
    sub.add_argument("--force", action="store_true", help="replace what exists already")


def keyed(sub: argparse.ArgumentParser) -> None:
    """The key of a draw."""
    sub.add_argument("--key", metavar="FILE", help="file with the key of the draw, which only you may read")


def releases(sub: argparse.ArgumentParser) -> None:
    """What every command that draws has: its key, the book that is charged, and details."""
    keyed(sub)
    sub.add_argument("--new-key", metavar="FILE", help="make a new key, keep it in this file, and release with it")
    sub.add_argument(
        "--ledger", metavar="LEDGER", help="charge the release to this book of all releases about the same people"
    )
    sub.add_argument("--dataset", metavar="NAME", help="name of the data in the ledger (default: the table's name)")
    sub.add_argument("--details", action="store_true", help="print everything that is known, for specialists")


def accepts(sub: argparse.ArgumentParser) -> None:
    """Risks that are accepted on record."""
    sub.add_argument(
        "--accept",
        action="append",
        default=[],
        type=accepted,
        metavar="RISK",
        help="small-combinations: release although few people share a combination; the statement says so",
    )


def placed(sub: argparse.ArgumentParser) -> None:
    """Who counts and draws, and where the rows go."""
    sub.add_argument(
        "--engine",
        choices=["local", "duckdb", "spark"],
        default="local",
        help="where rows are counted and drawn (local)",
    )
    sub.add_argument(
        "--into",
        nargs=2,
        metavar=("DATABASE", "TABLE"),
        help="write the released rows into a new table of a database, or of Spark (spark:), not into the folder",
    )


def searches(sub: argparse.ArgumentParser) -> None:
    """How long and how closely a search looks."""
    sub.add_argument(
        "--gap",
        type=positive,
        default=1e-6,
        help="how close to the best possible the search must come (default: a millionth)",
    )
    sub.add_argument(
        "--seconds", type=positive, default=120.0, help="time for everything, proof and writing too (default: 120)"
    )
    sub.add_argument(
        "--on-interrupt",
        choices=["stop", "keep"],
        default="stop",
        help="at Ctrl-C: stop at once (default), or keep the best recipe that is proved so far",
    )
