"""The grammar of the command line. Imports nothing of ours, so that `--help` answers at once."""

import argparse
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

__all__ = ["parser"]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence, exit 2."""
        self.exit(2, f"dalenius: {message}; see `{self.prog} --help`\n")


@cache  # one grammar serves every command of a process
def parser() -> argparse.ArgumentParser:
    """All commands with their options, and an example for each."""
    top = _Parser(
        prog="dalenius",
        description="Release data with a proof of privacy: design the best mechanism, prove it, apply it, audit it.",
        epilog="Start with `dalenius init TABLE`. Every command has --help with an example, and --json for machines.",
    )
    top.add_argument("--version", action=_Version)
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)

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
        return sub

    def writes(sub: argparse.ArgumentParser, what: str, default: str | None = None) -> None:
        sub.add_argument("-o", "--output", metavar="PATH", required=default is None, default=default, help=what)
        sub.add_argument("--force", action="store_true", help="replace what exists already")

    def keyed(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--key", metavar="FILE", help="file with the release key, 64 hex digits, mode 600")

    def releases(sub: argparse.ArgumentParser) -> None:
        keyed(sub)
        sub.add_argument(
            "--new-key", metavar="FILE", help="make a fresh key, keep it in this file, and release with it"
        )
        sub.add_argument("--ledger", metavar="LEDGER", help="charge the release to this ledger before it is drawn")
        sub.add_argument("--dataset", metavar="NAME", help="name of the data in the ledger (default: the table's name)")

    def searches(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--gap", type=_positive, default=1e-6, help="bits between value and bound to aim at (1e-6)")
        sub.add_argument(
            "--seconds", type=_positive, default=120.0, help="time for everything, proof and writing too (120)"
        )
        sub.add_argument(
            "--on-interrupt",
            choices=["stop", "keep"],
            default="stop",
            help="at Ctrl-C or a kill: stop at once, or end the search and keep the best design (default: stop)",
        )

    c = command(
        "init",
        "look at a table, ask what is private and what must stay useful, and write a commented problem file",
        "dalenius init patients.csv --observe age sex --independent age --independent sex --about outcome",
    )
    c.add_argument("table", help="the table: csv, parquet or arrow")
    c.add_argument("--observe", nargs="+", metavar="COLUMN", help="columns that the mechanism may look at")
    c.add_argument("--about", nargs="+", metavar="COLUMN", help="columns that the release should tell about")
    c.add_argument(
        "--independent", nargs="+", action="append", metavar="COLUMN", help="a view to protect; repeat for more views"
    )
    c.add_argument("--name", default="Y", help="name of the released column (default: Y)")
    writes(c, "problem file to write (default: problem.toml)", "problem.toml")

    c = command(
        "profile",
        "what a table holds: letters, missing values, uniques, small cells, rows per person, what would be refused",
        "dalenius profile patients.csv --unit person_id",
    )
    c.add_argument("table", help="the table: csv, parquet or arrow")
    c.add_argument("--unit", metavar="COLUMN", help="column that names the person")
    c.add_argument("--keys", nargs="+", default=[], metavar="COLUMN", help="count rows alone with these columns")

    c = command(
        "release",
        "the whole walk: design, prove, draw, audit, and write a folder with table, certificate, card and reports",
        "dalenius release problem.toml -o released/",
    )
    c.add_argument("problem", help="the problem file")
    writes(c, "folder to make")
    releases(c)
    searches(c)
    point = c.add_mutually_exclusive_group()
    point.add_argument("--leakage", metavar="BITS", help="the least distortion at this leakage, instead of the file's")
    point.add_argument("--distortion", metavar="D", help="the least leakage at this distortion, instead of the file's")
    c.add_argument(
        "--accept",
        action="append",
        default=[],
        choices=["small-cells"],
        help="accept a named risk (see docs/limits.md)",
    )

    c = command(
        "solve",
        "design the best mechanism of a problem file and prove it",
        "dalenius solve problem.toml -o design.json",
    )
    c.add_argument("problem", help="the problem file")
    writes(c, "design file to write (confidential)")
    searches(c)

    c = command(
        "tradeoff",
        "trace the certified curve of least leakage against distortion, as a table and a picture; or ask at one point",
        "dalenius tradeoff problem.toml --points 50 -o tradeoff/\n  dalenius tradeoff problem.toml --at 0.1 -o here/",
    )
    c.add_argument("problem", help="the problem file")
    c.add_argument(
        "--at",
        metavar="POINT",
        help="no curve, but: D (distortion) for L(D), Gamma(D), slope and rates there; D,E (bits unknown) for the "
        "least rate R(D,E); R,D,E for whether all three can be had, with a witness or a proof that not (exit code 3)",
    )
    c.add_argument("--points", type=_count, default=50, help="points of the curve (default: 50)")
    c.add_argument(
        "--prove",
        choices=("all", "chosen"),
        default="all",
        help="prove every point (default), or only that of the problem file; the others are then searched, not proved",
    )
    writes(c, "folder to make (default: tradeoff)", "tradeoff")
    searches(c)

    c = command(
        "verify",
        "re-prove a design or a card from itself alone",
        "dalenius verify design.json --table patients.csv --problem problem.toml",
    )
    c.add_argument("design", nargs="?", help="design.json or card.json")
    c.add_argument("--privacy", action="store_true", help="prove promises, limits and shapes alone")
    c.add_argument("--table", metavar="TABLE", help="also recount the rows and counts of this table")
    c.add_argument("--problem", metavar="FILE", help="also compare promises, limits and shapes with this file")
    c.add_argument("--work", type=_whole, metavar="N", help="allow a proof that declares so many operations")
    c.add_argument("--export", metavar="FILE", help="write the checker as one file that needs only Python")
    c.add_argument("--force", action="store_true", help="replace what exists already")

    c = command(
        "convert",
        "prove a design or a card of version 1 again, and write it as version 2",
        "dalenius convert old/design.json design.json",
    )
    c.add_argument("old", help="design.json or card.json of version 1")
    c.add_argument("output", metavar="new", help="file to write")
    c.add_argument("--force", action="store_true", help="replace what exists already")

    c = command(
        "apply",
        "draw a released table by a design; another table than the design's is recounted and re-proved; or one value, "
        "from the card alone",
        "dalenius apply design.json patients.csv -o released.csv\n  dalenius apply card.json --value north\n  dalenius "
        "apply channel.json patients.csv -o released.csv --keep year",
    )
    c.add_argument("design", help="design.json, or a channel of your own; with --value also card.json")
    c.add_argument("table", nargs="?", help="the table to release")
    writes(c, "released table to write: .csv, .tsv, .parquet or .arrow", "")
    keyed(c)
    c.add_argument(
        "--value",
        action="append",
        metavar="VALUE",
        help="randomise this one value and print the released one; COLUMN=VALUE, once for each column, where the "
        "mechanism reads several",
    )
    c.add_argument("--again", action="store_true", help="perturb a table that is a release already")
    c.add_argument(
        "--keep", nargs="+", default=[], metavar="COLUMN", help="with a channel: columns that leave as they are"
    )
    c.add_argument(
        "--beside",
        action="store_true",
        help="keep the original: write all its columns, in its order, and each drawn one as COLUMN_released "
        "(confidential; not a release)",
    )

    c = command(
        "explain",
        "say in plain words what a design or a card promises and proves; or what a problem of independence allows, "
        "before it is solved",
        "dalenius explain card.json\n  dalenius explain problem.toml --samples 5 50 500",
    )
    c.add_argument("design", help="design.json, card.json or problem.toml")
    c.add_argument("--samples", nargs="+", type=_whole, default=[], metavar="N", help="numbers of samples to follow")
    c.add_argument("--alpha", nargs="+", default=[], metavar="BITS", help="leakages about a sample, for C_1 and C_2")

    c = command(
        "audit",
        "measure what any mechanism lets out, proved; or test a released table against its design (exit 4 when the "
        "evidence contradicts the proof)",
        "dalenius audit channel.json --prior pmf.json\n"
        "  dalenius audit design.json --released released.csv --original patients.csv",
    )
    c.add_argument("mechanism", help="channel.json, design.json, card.json or query.toml")
    c.add_argument("--prior", metavar="FILE", help="joint pmf of the inputs, for what depends on one")
    c.add_argument("--released", metavar="TABLE", help="a released table, to test against its design")
    c.add_argument("--original", metavar="TABLE", help="the table that it was drawn from")
    c.add_argument("--error", type=_probability, default=1e-6, help="probability of a false alarm (default: 1e-6)")
    keyed(c)

    _ledger(commands, command)

    c = command(
        "estimate",
        "estimate the original frequencies from a released table and its card, or their error before the release",
        "dalenius estimate card.json released.csv --method mle --target population",
    )
    c.add_argument("files", nargs="*", metavar="CARD... RELEASED", help="cards or designs, then the released table")
    c.add_argument(
        "--columns", nargs="+", metavar="COLUMN", help="original columns to tabulate (default: all perturbed)"
    )
    c.add_argument(
        "--method",
        choices=["auto", "inverse", "mle", "regularised"],
        default="auto",
        help="auto: the inverse, or the most likely law where the inverse would multiply noise (default)",
    )
    c.add_argument("--target", choices=["table", "population"], default="table", help="whose frequencies (table)")
    c.add_argument("--level", type=_probability, default=0.95, help="level of the intervals (default: 0.95)")
    c.add_argument("--weights", metavar="COLUMN", help="kept column with survey weights (default: the card's)")
    c.add_argument("--rows", type=_count, metavar="N", help="forecast the errors for N rows; no released table")
    c.add_argument("--queries", metavar="FILE", help="linear queries to answer or forecast (JSON)")
    c.add_argument("--export", metavar="FILE", help="write a script that estimates without this package; .R for R")
    c.add_argument("--force", action="store_true", help="replace what exists already")

    c = command(
        "risk",
        "disclosure risk of key combinations in a sample, before and after randomised response",
        "dalenius risk survey.csv --keys age sex region --population 1200000 --target-risk 5 -o risk/",
    )
    c.add_argument("table", help="the table: csv, parquet or arrow; or a problem file with its table and weights")
    c.add_argument("--keys", nargs="+", required=True, metavar="COLUMN", help="what an intruder knows about a person")
    size = c.add_mutually_exclusive_group()
    size.add_argument("--population", type=_positive, metavar="N", help="persons in the population")
    size.add_argument("--fraction", type=_probability, metavar="PI", help="share of the population in the table")
    size.add_argument("--weights", metavar="COLUMN", help="column with survey weights")
    c.add_argument(
        "--model",
        choices=["main", "two-way", "negative-binomial"],
        default="main",
        help="log-linear model of the population, or main effects with gamma factors (default: main)",
    )
    c.add_argument("--level", type=_not_negative, help="risk after randomised response at this level for each key")
    c.add_argument("--target-risk", type=_positive, metavar="T", help="find the level that leaves T correct matches")
    c.add_argument(
        "-o", "--output", metavar="FOLDER", help="write the map of risk and utility, and the risk of each row"
    )
    c.add_argument("--force", action="store_true", help="replace what exists already")

    c = command(
        "calibrate",
        "find the least noise under which a query keeps to a budget of bits against any adversary, and prove it",
        "dalenius calibrate query.toml --at-most-bits 0.1",
    )
    c.add_argument("query", help="query.toml; its parameter may be left out")
    c.add_argument("--at-most-bits", metavar="BITS", required=True, help="what anybody may learn about any one record")
    c.add_argument("--resolution", type=_positive, default=1e-9, help="relative step of the parameter (default: 1e-9)")
    c.add_argument("--compare", action="store_true", help="also Laplace and Gaussian noise at the same meaning")

    c = command(
        "channel",
        "show a channel as JSON: as it is written, or row by row with --dense while it is small",
        "dalenius channel design.json --dense",
    )
    c.add_argument("file", help="a channel, design or card file")
    how = c.add_mutually_exclusive_group()
    how.add_argument("--dense", action="store_true", help="write a compact form out, one row for each input")
    how.add_argument(
        "--reduce",
        action="store_true",
        help="of a design that promises independence: as few letters as its support lemma allows, telling no less",
    )

    c = command(
        "noise",
        "release numbers with exact noise on a grid, at a distortion, a leakage or an epsilon; every figure proved",
        "dalenius noise patients.csv --column income --grid 0:200000:1000 --distortion 90% -o released/",
    )
    c.add_argument("table", help="the table: csv, parquet or arrow")
    c.add_argument("--column", action="append", required=True, help="a numeric column; say it again for a further one")
    c.add_argument(
        "--grid", action="append", required=True, metavar="LOW:HIGH:STEP", help="its declared range and step"
    )
    c.add_argument("--clip", action="append", default=[], metavar="LOW:HIGH", help="its first and last released number")
    target = c.add_mutually_exclusive_group(required=True)
    target.add_argument("--distortion", metavar="D", help="expected squared error, or a share of the variance as 90%%")
    target.add_argument("--leakage-bits", metavar="B", help="bits that a record may tell about itself")
    target.add_argument("--epsilon", metavar="E", help="level of local differential privacy over the declared range")
    c.add_argument("--delta", metavar="D", help="with --epsilon and gaussian noise")
    kinds = ("shrinkage", "gaussian", "laplace", "max-entropy", "minimum-capacity")
    c.add_argument("--mechanism", choices=kinds, default="shrinkage", help="the kind of noise (default: shrinkage)")
    c.add_argument("--p", default="2", help="norm of max-entropy and minimum-capacity noise, 1 to inf (default: 2)")
    c.add_argument("--order", choices=("shuffle", "keep"), default="shuffle", help="of the rows (default: shuffle)")
    writes(c, "folder to make")
    releases(c)
    c.set_defaults(accept=[], gap=1e-6, seconds=120.0)

    c = command(
        "figures",
        "recompute the tables and figures of a paper, beside what it prints, and write them as files and a page",
        "dalenius figures 000 -o figures/",
    )
    c.add_argument("paper", help="number of the paper: 000 to 004")
    writes(c, "folder to make")
    return top


def _ledger(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """The commands around the account of several releases about the same people."""
    words = "keep account of all releases about the same people, and refuse what would exceed their budget"
    top = commands.add_parser(
        "ledger",
        help=words,
        description=words[0].upper() + words[1:] + ".",
        epilog="examples:\n  dalenius ledger init people.ledger --budget local_dp=2 --budget leakage:diagnosis=0.1\n"
        "  dalenius release problem.toml -o out/ --new-key out.key --ledger people.ledger\n"
        "  dalenius ledger status people.ledger",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = top.add_subparsers(metavar="ACTION", required=True, parser_class=_Parser)

    def action(name: str, words: str, example: str) -> argparse.ArgumentParser:
        sub = command(name, words, f"dalenius ledger {example}", "ledger", among=actions)
        sub.set_defaults(action=name)
        sub.add_argument("ledger", help="the file of the ledger")
        return sub

    c = action("init", "make a ledger with its budget", "init people.ledger --budget leakage:diagnosis=0.1")
    c.add_argument(
        "--budget",
        metavar="LINE",
        action="append",
        required=True,
        help="KIND=LIMIT with local_dp (nats), dalenius (bits) or contraction (share); KIND:COLUMN[,COLUMN]=LIMIT with "
        "leakage, worst_case_leakage (bits) or information_privacy (nats); independent:COLUMN; repeat for more lines",
    )
    c.add_argument("--rule", choices=["joint", "prior-free"], default="joint", help="how charges about secrets add up")
    c.add_argument("--people", default="", metavar="WORDS", help="who the releases are about, in words")
    c = action(
        "add",
        "record a release from its design or card, or an answer from its query",
        "add people.ledger design.json --dataset patients\n"
        "  dalenius ledger add people.ledger query.toml --dataset patients --reads smoker",
    )
    c.add_argument(
        "document", help="design.json or card.json, its proof is checked; query.toml, or what calibrate --json printed"
    )
    c.add_argument("--dataset", metavar="NAME", help="the data it is about (default: the table that the design names)")
    c.add_argument("--rows", type=int, metavar="N", help="how many records it was drawn for; a query: 1")
    c.add_argument("--max-rows", type=int, metavar="N", help="rows of one person (default: as the file says, else 1)")
    c.add_argument(
        "--reads",
        metavar="COLUMN",
        help="a query: the column that it reads; answers about one column add up by C_1",
    )
    c.add_argument(
        "--again", action="store_true", help="it was drawn once more: charge it although it is there already"
    )
    c.add_argument("--already-released", action="store_true", help="record the fact even if it exceeds the budget")
    action("status", "what was released, what it cost and what is left", "status people.ledger")
    action("check", "prove every entry and every sum again; exit 6 when over budget", "check people.ledger")
    c = action("settle", "say what became of a release that was interrupted", "settle people.ledger 3 --released")
    c.add_argument("id", type=int, help="the number of the release")
    how = c.add_mutually_exclusive_group(required=True)
    how.add_argument("--released", action="store_true", help="it is complete, or must be counted as such")
    how.add_argument("--void", action="store_true", help="nothing was drawn; allowed only while that is certain")
    c.add_argument("--card", metavar="FILE", help="the card.json that went with it")


def _count(text: str) -> int:
    value = int(text)
    if value < 2:
        raise argparse.ArgumentTypeError(f"{text} is not at least 2")
    return value


def _whole(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def _positive(text: str) -> float:
    value = _number(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _not_negative(text: str) -> float:
    value = _number(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def _probability(text: str) -> float:
    value = _number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


class _Version(argparse.Action):
    """Prints the version; asked of the installed package only when wanted."""

    def __init__(self, option_strings: list[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and leave")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"dalenius {version('dalenius')}")
        parser.exit()
