"""The grammar of `dalenius init`."""

import argparse
from typing import Any

from dalenius.cli.argument_types import count, whole
from dalenius.cli.options import Command, writes

__all__ = ["dialect_options", "init_command"]


def init_command(command: Command) -> None:
    """What to protect, what to release and what to promise."""
    c = command(
        "init",
        "answer a few questions about a table, get a file that says what to protect and what to release",
        "dalenius init adult.csv --protect income --release age,education,sex --reveal 0.01",
    )
    c.add_argument("table", help="the table: csv, parquet or arrow, also compressed")
    c.add_argument(
        "--protect",
        action="append",
        metavar="COLUMN",
        help="must stay secret; say it again for a second column, or a,b to protect two together",
    )
    c.add_argument("--release", metavar="COLUMNS", help="go out, changed as little as possible: a,b,c")
    promise = c.add_argument_group("promise", "Choose one.")
    promise.add_argument(
        "--reveal", "--reveal-at-most", metavar="BITS", help="a row reveals at most so many bits, on average"
    )
    promise.add_argument("--guess-at-most", metavar="SHARE", help="an attacker guesses right at most so often, as 80%%")
    promise.add_argument("--nothing", "--reveal-nothing", action="store_true", help="a row reveals nothing")
    promise.add_argument(
        "--deny", metavar="FACTOR", help="no entry is more than so many times likelier for one person than another"
    )
    promise.add_argument(
        "--times-at-most",
        metavar="FACTOR",
        help="no answer gets more than so many times as likely; also beside any other promise",
    )
    more = c.add_argument_group("more")
    more.add_argument("--keep", metavar="COLUMNS", help="go out as they are, and count as known to everybody: a,b")
    more.add_argument("--person", metavar="COLUMN", help="names the person, where one person has several rows")
    more.add_argument(
        "--keep-rows",
        default="all",
        metavar="SHARE",
        help="every value keeps this share of its rows on average: all (default), 3/4, or 0",
    )
    more.add_argument("--groups", type=count, default=5, help="the most groups of a column of numbers (default: 5)")
    more.add_argument("--no-groups", action="store_true", help="leave every value as it is")
    more.add_argument(
        "--cut",
        action="append",
        default=[],
        metavar="COLUMN=N,N",
        help="where groups begin, as visits=1,3,7; dates by year or month",
    )
    more.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="COLUMN=GROUPS",
        help="groups with their names, as a JSON object",
    )
    more.add_argument(
        "--hierarchy",
        action="append",
        default=[],
        metavar="COLUMN=FILE:LEVEL",
        help="groups from a level of an ARX hierarchy",
    )
    more.add_argument("--min-rows", type=whole, default=10, help="a combination with fewer rows is small (default: 10)")
    more.add_argument(
        "--form",
        choices=("dense", "records", "each"),
        help="one recipe for all columns, an exchange of whole records, or a recipe for each column",
    )
    dialect_options(more)
    more.add_argument("--title", help="what the release is called, for the statement")
    more.add_argument("--owner", help="whose table it is, for the statement")
    more.add_argument("--yes", action="store_true", help="ask nothing")
    more.add_argument("--dry-run", action="store_true", help="write nothing, show the file")
    other = c.add_argument_group(
        "another job", "One new column that says much about one column and nothing, or little, about another."
    )
    other.add_argument("--useful", "--about", nargs="+", metavar="COLUMN", help="what the new column should say")
    other.add_argument("--look-at", "--observe", nargs="+", metavar="COLUMN", help="what decides the new column")
    other.add_argument("--independent", dest="protect", action="append", metavar="COLUMN", help=argparse.SUPPRESS)
    other.add_argument("--as", dest="name", default="Y", metavar="NAME", help="name of the new column (default: Y)")
    other.add_argument("--name", dest="name", help=argparse.SUPPRESS)
    writes(c, "problem file to write (default: problem.toml)", "problem.toml")


def dialect_options(c: Any) -> None:
    """How a text file is written, where that is not found by looking at it."""
    c.add_argument("--delimiter", help="what stands between the fields of a text file (found by itself)")
    c.add_argument("--encoding", help="how a text file is encoded (default: utf-8)")
    c.add_argument("--decimal", choices=(".", ","), default=".", help="the decimal sign (default: .)")
