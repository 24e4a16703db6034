"""The grammar of the command line. Imports the page of help and the errors only, so that `--help` answers at once."""

import argparse
import re
from difflib import get_close_matches
from functools import cache
from typing import Any, NoReturn

from dalenius.cli.argument_types import Parser, count, not_negative, positive, probability, whole
from dalenius.cli.helping import commands_of, first_page
from dalenius.cli.init_grammar import dialect_options, init_command
from dalenius.cli.ledger_grammar import ledger_commands
from dalenius.cli.options import LIMIT, Command, accepts, keyed, placed, releases, searches, writes
from dalenius.cli.query_grammar import query_commands
from dalenius.errors import InputError

__all__ = ["parser"]


class _Top(argparse.ArgumentParser):
    """The program: its help groups the commands by what people want to do."""

    def format_help(self) -> str:
        return first_page(self)

    def error(self, message: str) -> NoReturn:
        """One sentence, exit 2; a command that is nearly right gets one guess."""
        if "COMMAND" in message and (said := re.search(r"invalid choice: '(.*?)'", message)):
            close = get_close_matches(said[1], commands_of(self), 1)
            guess = f"Did you mean {close[0]}? " if close else ""
            raise InputError(f'There is no command "{said[1]}".', do=f"{guess}See dalenius --help.", code="usage")
        raise InputError(f"{message};", do="See `dalenius --help`.", code="usage")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments; a flag that the command does not have gets one guess."""
        parsed, rest = self.parse_known_args(args, namespace)
        if not rest:
            return parsed
        name = next(word for word in args if word in commands_of(self))
        known = commands_of(self)[name]._option_string_actions
        close = get_close_matches(rest[0].partition("=")[0], [flag for flag in known if flag.startswith("--")], 1)
        guess = f"Did you mean {close[0]}? " if close else ""
        raise InputError(
            f"{name} does not understand {' '.join(rest)}.", do=f"{guess}See `dalenius {name} --help`.", code="usage"
        )


READ_TABLES = (
    *("init", "studio", "profile", "release", "tradeoff", "apply", "noise", "answer"),
    *("verify", "audit", "explain", "risk", "estimate", "solve"),
)
"""Commands that read tables, which may be longer than memory."""


@cache  # one grammar serves every command of a process
def parser() -> argparse.ArgumentParser:
    """All commands with their options, and an example for each."""
    top = _Top(
        prog="dalenius",
        description="Publish a table so that a secret stays secret, with proof.",
        epilog="Start with `dalenius init TABLE`. Every command has --help with an example, and --json for machines.",
    )
    top.add_argument("--version", action=Version)
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)

    def command(
        name: str, words: str, example: str, module: str | None = None, among: Any = commands
    ) -> argparse.ArgumentParser:
        sub = among.add_parser(
            name,
            help=words,
            description=words[0].upper() + words[1:] + ".",
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        assert isinstance(sub, argparse.ArgumentParser)
        sub.set_defaults(module=module or name)
        sub.add_argument("--json", action="store_true", help="print JSON for machines instead of words")
        sub.add_argument("--quiet", action="store_true", help="no progress on the terminal")
        if among is commands and name in READ_TABLES:  # not `ledger init`
            limit = "memory for rows, like 512M or 2G (half of the machine's); the rest goes to disk"
            sub.add_argument("--memory", metavar="SIZE", help=limit)
        return sub

    init_command(command)
    for declare in (_studio, _profile, _release, _solve, _tradeoff, _verify, _convert, _apply, _explain, _audit):
        declare(command)
    ledger_commands(commands, command)
    _estimate(command)
    _risk(command)
    query_commands(command)
    for declare in (_channel, _noise, _figures, _read, _completion, _help):
        declare(command)
    return top


def _studio(command: Command) -> None:
    c = command(
        "studio",
        "choose in a browser, on this computer, what to protect and what to release",
        "dalenius studio patients.csv",
    )
    c.add_argument("table", help="the table: csv, parquet or arrow, also compressed")
    c.add_argument("--folder", metavar="FOLDER", help="where releases are written (default: the current folder)")
    c.add_argument("--port", type=int, default=0, metavar="N", help="port of this computer (default: a free one)")


def _profile(command: Command) -> None:
    c = command(
        "profile",
        "look at a table: values, gaps, rare combinations, and what needs grouping before a release",
        "dalenius profile patients.csv --unit person_id",
    )
    c.add_argument("table", help="the table: csv, parquet or arrow, also compressed")
    c.add_argument("--unit", metavar="COLUMN", help="column that names the person")
    c.add_argument(
        "--keys",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="count the rows that nobody else shares these columns with",
    )
    dialect_options(c)


def _release(command: Command) -> None:
    c = command(
        "release",
        "make the released table, prove the promise, test the result, and write everything to a folder",
        "dalenius release problem.toml -o released/",
    )
    c.add_argument("problem", help="the problem file")
    writes(c, "folder to make")
    releases(c)
    searches(c)
    placed(c)
    point = c.add_mutually_exclusive_group()
    point.add_argument("--leakage", metavar="BITS", help="reveal at most so many bits, instead of what the file says")
    point.add_argument("--distortion", metavar="D", help="change at most so much, and reveal as little as possible")
    accepts(c)


def _solve(command: Command) -> None:
    c = command(
        "solve",
        "find and prove the best recipe without releasing anything",
        "dalenius solve problem.toml -o design.json",
    )
    c.add_argument("problem", help="the problem file")
    writes(c, "proof file to write (confidential)")
    searches(c)


def _tradeoff(command: Command) -> None:
    c = command(
        "tradeoff",
        "see how much must change for each level of secrecy, as a picture and a table",
        "dalenius tradeoff problem.toml --points 50 -o tradeoff/\n  dalenius tradeoff problem.toml --at 0.1 -o here/",
    )
    c.add_argument("problem", help="the problem file")
    c.add_argument(
        "--at",
        metavar="POINT",
        help="one point instead of the curve: D, or D,E, or R,D,E (see the page about trade-offs)",
    )
    c.add_argument("--points", type=count, help="points of the curve (default: 50, or 9 where each is searched alone)")
    c.add_argument(
        "--prove",
        choices=("all", "chosen"),
        default="all",
        help="prove every point (default), or only that of the problem file",
    )
    writes(c, "folder to make (default: tradeoff)", "tradeoff")
    searches(c)


def _verify(command: Command) -> None:
    c = command(
        "verify",
        "check a proof file",
        "dalenius verify design.json --table patients.csv --problem problem.toml",
    )
    c.add_argument("design", nargs="?", help="design.json or card.json")
    c.add_argument("--privacy", action="store_true", help="check the promise alone, not that it is the best possible")
    c.add_argument("--table", metavar="TABLE", help="also check that the proof is about this table")
    c.add_argument("--problem", metavar="FILE", help="also check that the proof is about this problem file")
    c.add_argument("--work", type=whole, metavar="N", help="allow a proof that needs so many steps")
    c.add_argument("--export", metavar="FILE", help="write the checker as one file that needs only Python")
    c.add_argument("--force", action="store_true", help="replace what exists already")


def _convert(command: Command) -> None:
    c = command(
        "convert",
        "check a proof file of version 1 again, and write it as version 2",
        "dalenius convert old/design.json design.json",
    )
    c.add_argument("old", help="design.json or card.json of version 1")
    c.add_argument("output", metavar="new", help="file to write")
    c.add_argument("--force", action="store_true", help="replace what exists already")


def _apply(command: Command) -> None:
    c = command(
        "apply",
        "release a table with a recipe made before; for another table the promise is checked again",
        "dalenius apply design.json patients.csv -o released.csv\n  dalenius apply card.json --value north\n  dalenius "
        "apply channel.json patients.csv -o released.csv --keep year",
    )
    c.add_argument("design", help="design.json, or a recipe of your own; with --value also card.json")
    c.add_argument("table", nargs="?", help="the table to release")
    writes(c, "released table to write: .csv, .tsv, .parquet or .arrow", "")
    keyed(c)
    c.add_argument(
        "--value",
        action="append",
        metavar="VALUE",
        help="change this one value and print the result; COLUMN=VALUE for each of several columns",
    )
    c.add_argument("--again", action="store_true", help="change a table that is a release already")
    c.add_argument(
        "--keep",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="with a recipe of your own: columns that go out as they are",
    )
    c.add_argument(
        "--beside",
        action="store_true",
        help="write the original columns too, each drawn one as COLUMN_released (confidential)",
    )


def _explain(command: Command) -> None:
    c = command(
        "explain",
        "say in plain words what a proof file or a card promises, or what a problem allows",
        "dalenius explain card.json\n  dalenius explain problem.toml --samples 5 50 500",
    )
    c.add_argument("design", help="design.json, card.json or problem.toml")
    c.add_argument("--work", type=whole, metavar="N", help="allow a proof that needs so many steps")
    c.add_argument("--samples", nargs="+", type=whole, default=[], metavar="N", help="numbers of samples to follow")
    c.add_argument("--alpha", nargs="+", default=[], metavar="BITS", help="bits that may be revealed about one sample")
    c.add_argument(
        "--whatever-secret",
        action="store_true",
        help="the least that a recipe within the limits can reveal, whatever the secret and the statistics are",
    )
    c.add_argument("--seconds", **LIMIT)


def _audit(command: Command) -> None:
    c = command(
        "audit",
        "measure what any recipe reveals, or test a released table against its proof",
        "dalenius audit channel.json --prior pmf.json\n"
        "  dalenius audit design.json --released released.csv --original patients.csv",
    )
    c.add_argument("mechanism", help="channel.json, design.json, card.json or query.toml")
    c.add_argument("--prior", metavar="FILE", help="statistics of the table, for figures that depend on them")
    c.add_argument("--released", metavar="TABLE", help="a released table, to test against its proof")
    c.add_argument("--original", metavar="TABLE", help="the table before the release")
    c.add_argument(
        "--error", type=probability, default=1e-6, help="chance of a false alarm (default: one in a million)"
    )
    c.add_argument("--seconds", **LIMIT)
    c.add_argument("--records", type=whole, metavar="N", help="records of the table that a query file asks")
    c.add_argument(
        "--unknown", type=not_negative, metavar="BITS", help="also people who lack so many bits about all records"
    )
    c.add_argument("--metrics", action="store_true", help="also every measure under --prior, and what implies what")
    c.add_argument("--together", nargs="+", default=[], metavar="FILE", help="other releases, to be seen together")
    c.add_argument("--about", nargs="+", default=[], metavar="COLUMN", help="with --together and --prior: the secret")
    c.add_argument(
        "--people", choices=["same", "other"], help="with --together, without --about: whose releases they are (same)"
    )
    keyed(c)


def _estimate(command: Command) -> None:
    c = command(
        "estimate",
        "compute the original shares from a released table and its card, or their error beforehand",
        "dalenius estimate card.json released.csv --method mle --target population",
    )
    c.add_argument("files", nargs="*", metavar="CARD... RELEASED", help="cards or designs, then the released table")
    c.add_argument("--columns", nargs="+", metavar="COLUMN", help="columns to count (default: all that were changed)")
    c.add_argument(
        "--method",
        choices=["auto", "inverse", "mle", "regularised"],
        default="auto",
        help="how to correct for the changes (default: auto)",
    )
    c.add_argument(
        "--target",
        choices=["table", "population"],
        default="table",
        help="shares of this table (default), or of the people behind it",
    )
    c.add_argument("--level", type=probability, default=0.95, help="how sure the intervals are (default: 0.95)")
    c.add_argument("--weights", metavar="COLUMN", help="column with survey weights (default: the card's)")
    c.add_argument(
        "--rows", type=count, metavar="N", help="say the errors for N rows beforehand, without a released table"
    )
    c.add_argument("--queries", metavar="FILE", help="questions to answer, as a JSON file")
    c.add_argument(
        "--compare",
        nargs=3,
        metavar=("COLUMN=VALUE", "GROUP=ONE", "GROUP=OTHER"),
        help="compare the share of a value in two groups",
    )
    c.add_argument("--given", nargs="+", metavar="COLUMN", help="shares of --columns within each group of these")
    c.add_argument("--linear", metavar="COLUMN", help="linear regression of a column whose values are numbers")
    c.add_argument("--logistic", metavar="COLUMN=VALUE", help="logistic regression of a value of a column")
    c.add_argument(
        "--on", nargs="+", metavar="COLUMN", help="what explains it; COLUMN:number lets values enter as numbers"
    )
    c.add_argument("--export", metavar="FILE", help="write a script that does it without this package; .R for R")
    c.add_argument("--force", action="store_true", help="replace what exists already")


def _risk(command: Command) -> None:
    c = command(
        "risk",
        "how many people an intruder could find, before and after a release",
        "dalenius risk survey.csv --keys age sex region --population 1200000 --target-risk 5 -o risk/",
    )
    c.add_argument("table", help="the table: csv, parquet or arrow; or a problem file with its table and weights")
    c.add_argument("--keys", nargs="+", required=True, metavar="COLUMN", help="what an intruder knows about a person")
    size = c.add_mutually_exclusive_group()
    size.add_argument("--population", type=positive, metavar="N", help="persons in the population")
    size.add_argument("--fraction", type=probability, metavar="PI", help="share of the population in the table")
    size.add_argument("--weights", metavar="COLUMN", help="column with survey weights")
    c.add_argument(
        "--model",
        choices=["main", "two-way", "negative-binomial"],
        default="main",
        help="model of the population (default: main)",
    )
    c.add_argument("--level", type=not_negative, help="risk after each key was changed at this level")
    c.add_argument("--target-risk", type=positive, metavar="T", help="find the level that leaves T correct matches")
    c.add_argument(
        "-o", "--output", metavar="FOLDER", help="write the map of risk and utility, and the risk of each row"
    )
    c.add_argument("--force", action="store_true", help="replace what exists already")


def _channel(command: Command) -> None:
    c = command(
        "channel",
        "show a recipe as JSON",
        "dalenius channel design.json --dense",
    )
    c.add_argument("file", help="a recipe, a proof file or a card")
    how = c.add_mutually_exclusive_group()
    how.add_argument("--dense", action="store_true", help="write it out, one row for each combination")
    how.add_argument(
        "--reduce",
        action="store_true",
        help="use as few released values as possible, and say no less",
    )


def _noise(command: Command) -> None:
    c = command(
        "noise",
        "release numbers with exact noise, at an error, a number of bits or a level",
        "dalenius noise patients.csv --column income --grid 0:200000:1000 --distortion 90% -o released/",
    )
    c.add_argument("table", help="the table: csv, parquet or arrow, also compressed")
    c.add_argument("--column", action="append", required=True, help="a numeric column; say it again for a further one")
    c.add_argument(
        "--grid", action="append", required=True, metavar="LOW:HIGH:STEP", help="its declared range and step"
    )
    c.add_argument("--clip", action="append", default=[], metavar="LOW:HIGH", help="its first and last released number")
    target = c.add_mutually_exclusive_group(required=True)
    target.add_argument("--distortion", metavar="D", help="average squared error, or a share of the variance as 90%%")
    target.add_argument("--leakage-bits", metavar="B", help="bits that a row may reveal about itself")
    target.add_argument("--epsilon", metavar="E", help="level of local differential privacy over the declared range")
    c.add_argument("--delta", metavar="D", help="with --epsilon and gaussian noise")
    kinds = ("best", "shrinkage", "gaussian", "laplace", "max-entropy", "minimum-capacity")
    c.add_argument(
        "--mechanism",
        choices=kinds,
        help="the kind of noise, or best: of all matrices on a small grid (default: one that can keep the promise)",
    )
    c.add_argument(
        "--missing", action="append", default=[], metavar="NUMBER", help="what a gap counts as, once for each column"
    )
    c.add_argument("--p", default="2", help="norm of the last two kinds of noise, 1 to inf (default: 2)")
    c.add_argument("--order", choices=("shuffle", "keep"), default="shuffle", help="of the rows (default: shuffle)")
    dialect_options(c)
    writes(c, "folder to make")
    releases(c)
    placed(c)
    accepts(c)
    searches(c)


def _figures(command: Command) -> None:
    c = command(
        "figures",
        "recompute the tables and figures of a paper",
        "dalenius figures 000 -o figures/",
    )
    c.add_argument("paper", help="number of the paper: 000 to 004")
    writes(c, "folder to make")


def _read(command: Command) -> None:
    c = command(
        "read",
        "read a recipe of sdcMicro or OpenDP",
        "dalenius read sdcmicro plan.csv --column plan -o plan.json\n"
        "  dalenius read opendp --values yes no --probability 3/4 --column smoker -o smoker.json",
    )
    c.add_argument(
        "tool",
        choices=("sdcmicro", "opendp"),
        help="whose recipe it is; for a hierarchy of ARX: dalenius init TABLE --hierarchy",
    )
    c.add_argument("file", nargs="?", help="sdcmicro: the matrix, as R writes it with write.csv")
    c.add_argument("--column", required=True, help="the column that the recipe is for")
    c.add_argument("--values", nargs="+", metavar="VALUE", help="opendp: the possible answers")
    c.add_argument("--probability", metavar="P", help="opendp: of the true answer, as 3/4")
    writes(c, "recipe to write (default: recipe.json)", "recipe.json")


def _completion(command: Command) -> None:
    c = command(
        "completion",
        "print a script that completes commands and options in your shell",
        'eval "$(dalenius completion bash)"',
    )
    c.add_argument("shell", choices=("bash", "zsh", "fish"), help="your shell")


def _help(command: Command) -> None:
    c = command("help", "explain an error by its code, or a command", "dalenius help small-combinations")
    c.add_argument("about", nargs="?", metavar="CODE", help="the code of an error, or the name of a command")


class Version(argparse.Action):
    """Prints the version; asked of the installed package only when wanted."""

    def __init__(self, option_strings: list[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and leave")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"dalenius {version('dalenius')}")
        parser.exit()
