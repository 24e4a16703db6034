"""The grammar of `dalenius ledger`."""

import argparse
from typing import Any

from dalenius.cli.argument_types import Parser
from dalenius.cli.options import Command

__all__ = ["ledger_commands"]


def ledger_commands(commands: Any, command: Command) -> None:
    """The commands around the account of several releases about the same people."""
    words = "add up what several releases about the same people reveal, and stop at a limit"
    top = commands.add_parser(
        "ledger",
        help=words,
        description=words[0].upper() + words[1:] + ".",
        epilog="examples:\n  dalenius ledger init people.ledger --budget local_dp=2 --budget leakage:diagnosis=0.1\n"
        "  dalenius release problem.toml -o out/ --new-key out.key --ledger people.ledger\n"
        "  dalenius ledger status people.ledger",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = top.add_subparsers(metavar="ACTION", required=True, parser_class=Parser)

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
        help="a limit, as leakage:income=0.1 or local_dp=2, for answers differential_privacy=1; say it again for more",
    )
    c.add_argument(
        "--rule",
        choices=["joint", "prior-free", "disjoint"],
        default="joint",
        help="how charges add up; 'disjoint': different names are different people",
    )
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
        help="a query: the column that it reads",
    )
    c.add_argument(
        "--again", action="store_true", help="it was drawn once more: charge it although it is there already"
    )
    c.add_argument("--already-released", action="store_true", help="record the fact even if it exceeds the budget")
    action("status", "show what was released, what it cost and what is left", "status people.ledger")
    action("check", "prove every entry and every sum again; exit 6 when over budget", "check people.ledger")
    c = action("settle", "say what became of a release that was interrupted", "settle people.ledger 3 --released")
    c.add_argument("id", type=int, help="the number of the release")
    how = c.add_mutually_exclusive_group(required=True)
    how.add_argument("--released", action="store_true", help="it is complete, or must be counted as such")
    how.add_argument("--void", action="store_true", help="nothing was drawn; allowed only while that is certain")
    c.add_argument("--card", metavar="FILE", help="the card.json that went with it")
