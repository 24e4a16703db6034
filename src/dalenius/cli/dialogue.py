"""The questions of `dalenius init`: five at most, each with an answer that Enter takes; `?` explains it."""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from math import ceil
from typing import TypeVar

from dalenius.core.digits import many
from dalenius.errors import NOTHING_DONE, InputError
from dalenius.starting import Look, level_of, look_at
from dalenius.starting.choosing import secret_groups
from dalenius.starting.columns import there
from dalenius.starting.wishes import Wish, joined_names, names_in
from dalenius.tables import Table
from dalenius.wording import joined, unsteered

__all__ = ["ask", "ask_again"]

LARGE = 50  # per cent of all there is to know: then a promise of so many bits says little

Answer = TypeVar("Answer")
Promised = tuple[str, str]

SECRET = "The release is made so that nobody learns much about this column, for instance an income or a diagnosis."
RELEASED = (
    "These columns are published. Some entries are changed at random, as few as possible. Example: 2-4, or age,sex"
)
PERSON = "With several rows of one person the promise must cover them all together. Answer y and the column that names "
PERSON += "the person, as in: y person_id"
GROUPS = (
    "Rows in one group look alike in the release. Where one recipe changes all columns together, groups were chosen so "
    "that no combination has few rows. Numbers can be cut elsewhere, as in: visits=1,3,7. The file lists all groups; "
    "you can also edit them there."
)
PROMISE = (
    "1 limits how often a guess is right. 2 limits what a row reveals on average; one bit is the answer to one fair "
)
PROMISE += "yes-or-no question. 3 reveals nothing, and changes most. 4 holds whatever an attacker knows. 5 holds "
PROMISE += "for every single row. Example: 1 80%, or 2, or 4 2"


def ask(
    arguments: Namespace,
    table: Table,
    left_out: Mapping[str, str],
    sensitive: str | None,
    promised: Promised | None,
) -> tuple[Namespace, Promised]:
    """Ask for whatever the flags do not say.

    Parameters
    ----------
    arguments : Namespace
        Of the command; it is not changed.
    table : Table
        The table to speak of.
    left_out : mapping
        Columns that should stay at home, with the reason.
    sensitive : str or None
        A column that looks sensitive.
    promised : tuple or None
        The promise of the flags and its level.

    Returns
    -------
    tuple
        The arguments with the answers in them, and the promise.

    Raises
    ------
    InputError
        When the answers end too early.
    """
    answered = copy(arguments)
    offered = [name for name in table.names if name not in left_out]
    if len(offered) < 2:
        raise InputError(
            f"{table.name} has no two columns that can be used: one must stay secret, and one is released.",
            why=" ".join(f"{name} is left out: {why}." for name, why in left_out.items()),
            do="Add a column, or name the columns yourself with --protect and --release.",
        )
    looks = look_at(table, offered)
    _tell(f"{table.name}: {many(looks[offered[0]].rows, 'row')}.")
    width = max(map(len, offered))
    for number, name in enumerate(offered, 1):
        _tell(f"  {number:>2} {name:<{width}}  {looks[name].words()}")
    for name, why in left_out.items():
        _tell(f"   - {name:<{width}}  left out: {why}")
    if not answered.protect:
        suggested = f" [{sensitive}]" if sensitive else ""
        found = _until(
            f"Which column must stay secret?{suggested}",
            SECRET,
            joined_names([sensitive]) if sensitive else None,
            lambda text: _named(text, offered, table),
        )
        answered.protect = [joined_names([name]) for name in found]
    secrets = {name for view in answered.protect for name in names_in(view)}
    if not answered.release:
        others = [name for name in offered if name not in secrets]
        found = _until(
            "Which columns do you want to publish? [all others]",
            RELEASED,
            joined_names(others),
            lambda text: _named(text, offered, table),
        )
        answered.release = joined_names(found)
    if promised is None and not answered.person:
        answered.person = _until(
            "Can one person have several rows? [n]o, [y]es and the column, [d]on't know [d]",
            PERSON,
            "d",
            lambda text: _person(text, table),
        )
    if promised is None:
        secret = joined(sorted(secrets))
        _tell("What do you promise?")
        anyway, share = _anyway(looks, secrets)
        _tell(f"  1  An attacker guesses {secret} right at most __ % of the time{anyway}")
        _tell(f"  2  A row reveals at most 0.01 bits about {secret}, on average{share} (suggested)")
        _tell("  3  Nothing at all is revealed")
        _tell("  4  Every person can deny: no entry more than __ times likelier for one than for another")
        _tell(f"  5  No row makes an answer about {secret} more than __ times as likely")
        promised = _until("[2]", PROMISE, "2", _promise)
    return answered, promised


def ask_again(groups: Sequence[str], smallest: str) -> str:
    """Show the groups that were chosen, and ask whether they are right.

    Parameters
    ----------
    groups : sequence of str
        A line for each column.
    smallest : str
        The sentence about the rarest combination.

    Returns
    -------
    str
        Empty where they are, else other cuts for one column, as `visits=1,3,7`.
    """
    _tell("Groups:")
    for line in groups:
        _tell(line)
    return _until(f"{smallest} Are the groups right? [yes], or cut a column elsewhere", GROUPS, "yes", _agreed)


def _agreed(text: str) -> str:
    if text.lower() in ("y", "yes"):
        return ""
    if "=" not in text:
        raise InputError("Press Enter for yes, or write a column and where its groups begin: visits=1,3,7")
    return text


def _anyway(looks: Mapping[str, Look], secrets: set[str]) -> tuple[str, str]:
    """How often the best guess of one secret is right without any data, and what 0.01 bits are of all about it."""
    if len(secrets) > 1 or (look := looks.get(min(secrets))) is None:
        return "", ""
    groups = secret_groups(look, Wish(((look.name,),), ("",), "nothing"))
    best = 100 * groups.counts.max() / groups.counts.sum()
    share = ceil(1 / groups.bits) if groups.bits else 100
    part = f": less than {share} % of all there is to know" if share < LARGE else ""
    return f" ({best:.1f} % without any data)", part


def _tell(line: str) -> None:
    print(unsteered(line), file=sys.stderr)


def _until(question: str, help_: str, default: str | None, read: Callable[[str], Answer]) -> Answer:
    """Ask until the answer can be read; `?` explains, an empty answer takes the default."""
    while True:
        _tell(question)
        try:
            text = input("> ").strip()
        except EOFError:
            raise InputError(
                "The answers ended too early.",
                state=NOTHING_DONE,
                do="Answer every question, or say everything by flags: dalenius init --help.",
            ) from None
        if text == "?":
            _tell(help_)
            continue
        if not text and default is None:
            _tell("Name a column.")
            continue
        try:
            return read(text or default or "")
        except InputError as problem:
            _tell(str(problem))


def _named(text: str, offered: list[str], table: Table) -> list[str]:
    """Columns by name, by number, or by a range of numbers."""
    found = []
    for part in names_in(text):
        low, dash, high = part.partition("-")
        if part in table.names:
            found.append(part)
        elif low.isdigit() and (not dash or high.isdigit()):
            last = int(high) if dash else int(low)
            if not 1 <= int(low) <= last <= len(offered):
                raise InputError(
                    f"The columns are numbered from 1 to {len(offered)}.",
                    do="Write these numbers or the names, separated by commas.",
                )
            found += offered[int(low) - 1 : last]
        elif part:
            there(table, [part])
    if not found:
        raise InputError("Name at least one column.")
    return list(dict.fromkeys(found))


def _person(text: str, table: Table) -> str | None:
    """The column that names the person, or None."""
    first, _, column = text.partition(" ")
    if first.lower() in ("n", "no"):
        return None
    if first.lower() in ("d", "don't"):
        _tell("  Then the promise is about one row. The statement will say so.")
        return None
    if first.lower() in ("y", "yes") and column.strip(" ,"):
        there(table, [column.strip(" ,")])
        return column.strip(" ,")
    raise InputError("Answer n, d, or y and the column that names the person.")


def _promise(text: str) -> Promised:
    """The number of a promise, and its level where it has one."""
    number, _, level = text.partition(" ")
    kinds = {"1": "guess", "2": "reveal", "3": "nothing", "4": "deny", "5": "times"}
    if number not in kinds:
        raise InputError("Answer 1, 2, 3, 4 or 5.")
    kind, level = kinds[number], level.strip()
    if kind == "guess" and not level:
        level = _until("At most how often, in per cent?", PROMISE, None, str)
        level = level if "%" in level else f"{level}%"
    if kind in ("deny", "times") and not level:
        level = _until("How many times at most? [2]", PROMISE, "2", str)
    level = level or "0.01"
    level_of(kind, level)
    return kind, level
