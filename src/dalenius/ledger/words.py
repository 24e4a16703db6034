"""A ledger in words: what was released, what it cost, what is left, what is not covered, what is to be settled."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from dalenius.core.numbers import down, exact, up
from dalenius.ledger.budget import WITH_DELTA

__all__ = ["words"]

DIGITS = 6
NOT_COVERED = (
    "What was released without being recorded here, and data that somebody else published about these people.",
    "Whoever chooses a recipe AFTER looking at values released before: lines about a secret assume it was not so.",
)
OF_COLUMNS = (
    "`dalenius` is about the columns that were read, of any one person. About a column that no release has read, the "
    "rows of other people that are tied to it can reveal more."
)
OF_SECRETS = (
    "Lines about a secret hold for a row at random from the table, whatever public statistics a recipe was designed "
    "on. They hold for somebody who knows nothing but the statistics about the other rows; `dalenius` alone covers "
    "ties between people."
)
OF_NEIGHBOURS = (
    "`differential_privacy`, `zcdp` and `independent_records` are about one person among others who are known or "
    "independent. Where people are alike or tied to each other, an answer can reveal more; `dalenius` covers that."
)


def words(status: dict[str, Any]) -> list[str]:
    """The lines that `ledger status` prints."""
    who = f" about {status['people']}" if status["people"] else ""
    lines = [f"Ledger {status['ledger']}{who}.", f"Rule {status['rule']}: {status['rule_in_words']}"]
    lines += ["", "Budget (upper bounds, proved):", *_table(("line", "at most", "spent", "left", ""), _lines(status))]
    if status["releases"]:
        head = ("id", "when", "state", "data", "reads", "released", "cost")
        lines += ["", "Releases:", *_table(head, [_release(r) for r in status["releases"]])]
    lines += ["", "How it was added up:", *(f"  {line}: {how}." for line, how in status["how"].items())]
    lines += ["", "Not covered:", *(f"  {sentence}" for sentence in _not_covered(status))]
    if status["open"]:
        lines += ["", "To be settled (charged until then):"]
        lines += [f"  {_advice(r, status['ledger'])}" for r in status["releases"] if r["id"] in status["open"]]
    if not status["within_budget"]:
        lines += [
            "",
            "OVER BUDGET: more has been released than the budget allows. Dalenius stops every further release.",
        ]
    return lines


def _lines(status: dict[str, Any]) -> Iterable[Sequence[str]]:
    for line, budget in status["budget"].items():
        spent, left = status["spent"][line], status["left"][line]
        yield (line, _down(budget), "no bound" if spent is None else _up(spent), _down(left), status["units"][line])


def _release(release: dict[str, Any]) -> Sequence[str]:
    costs = [f"{line} {'no bound' if cost is None else _up(cost)}" for line, cost in release["cost"].items()]
    cost = ", ".join(costs) or "nothing"
    columns = (" ".join(release["reads"]), " ".join(release["released"]))
    return (str(release["id"]), release["at"], release["state"], release["dataset"], *columns, cost)


def _advice(release: dict[str, Any], ledger: str) -> str:
    number = release["id"]
    finish = "run the same release with the same --key to finish it without a second charge"
    if release["state"] == "reserved":
        return (
            f"Release {number} was charged and its draw did not begin: {finish}, or take the charge back with "
            f"`dalenius ledger settle {ledger} {number} --void`."
        )
    return (
        f"Release {number} was being drawn: {finish}, or, if its folder is complete or the key is lost, "
        f"`dalenius ledger settle {ledger} {number} --released`. Its charge cannot be taken back."
    )


def _not_covered(status: dict[str, Any]) -> list[str]:
    lines = list(status["budget"])
    said = list(NOT_COVERED)
    if "dalenius" in lines:
        said.append(OF_COLUMNS)
    if any(":" in line and not line.startswith(WITH_DELTA) for line in lines):
        said.append(OF_SECRETS)
    if any(line.startswith((WITH_DELTA, "independent_records", "zcdp")) for line in lines):
        said.append(OF_NEIGHBOURS)
    named = {line.partition(":")[2] for line in lines}
    kinds = (
        "independent",
        "leakage",
        "worst_case_leakage",
        "information_privacy",
        "guess",
        "total_variation",
        "sibson",
    )
    promised = [
        p[kind]
        for r in status["releases"]
        if r["state"] != "void"
        for p in r["promises"]
        for kind in kinds
        if kind in p
    ]
    missing = sorted({",".join(names) for names in promised} - named)
    if missing:
        said.append(f"Promises about {'; '.join(missing)}: single releases make them, and no line adds them up.")
    if any(r["max_rows"] == 1 for r in status["releases"]):
        said.append("Further rows of the same person in one table, unless max_rows says how many there are.")
    return said


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    rows = [head, *body]
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _up(figure: str) -> str:
    return up(exact(figure), DIGITS)


def _down(figure: str | None) -> str:
    return "-" if figure is None else down(max(exact(figure), Fraction(0)), DIGITS)
