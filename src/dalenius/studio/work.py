"""What runs in a process of its own: the points of the trade-off, and the release."""

import hashlib
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from dalenius.api import release, solve
from dalenius.core import Guarantee, Guess, Problem
from dalenius.core.problem_file import parse, read_toml
from dalenius.core.section import key_lines
from dalenius.errors import DaleniusError, InputError
from dalenius.mechanisms.levels import ends, upwards
from dalenius.outputs import write_text
from dalenius.report import plain
from dalenius.report.facts import Facts
from dalenius.sampling import Key
from dalenius.starting import RECORDS, Wish
from dalenius.studio.jobs import Send
from dalenius.studio.points import point
from dalenius.tables import bind

__all__ = ["at_level", "levels_of", "problem_of", "release_table", "solve_points"]

SHARES = [Fraction(n, 1000) for n in (1000, 750, 550, 400, 280, 180, 120, 70, 40, 20, 8)]
"""Levels between all that the unchanged columns reveal and nothing, by share."""
RECORD_SHARES = [Fraction(1, 2), Fraction(1, 8)]
"""The same where whole records are exchanged, and a point takes longer."""
FACTORS = [Fraction(n, 4) for n in (5, 6, 8, 12, 20, 40)]
THOUSANDTH = Fraction(1, 1000)
SECONDS = 60.0  # for one point


def problem_of(text: str, file: Path) -> Problem:
    """The problem of a text that is, or will be, in this file."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return parse(Problem, read_toml(text, file.name), file=file, lines=key_lines(text), digest=digest)


def at_level(text: str, wish: Wish, level: Fraction | None) -> str:
    """The problem file of a wish as it is written for another level of its promise."""
    before, after = (_guarantees(w) for w in (wish, replace(wish, level=level)))
    if text.count(before) != 1:
        raise InputError("the problem file is not the one of this wish", do="Open the page again.")
    return text.replace(before, after)


def _guarantees(wish: Wish) -> str:
    return "\n\n".join("\n".join(["[[guarantee]]", *lines]) for lines in wish.guarantees())


def levels_of(bound: Problem, wish: Wish) -> list[Fraction | None]:
    """The levels to solve at: the chosen one first, then the others, upwards."""
    if wish.level is None:
        return [None]
    promise = bound.guarantees[0]
    others = FACTORS
    if between := ends(bound, promise):
        least, most = between
        shares = RECORD_SHARES if bound.form == RECORDS and not least else SHARES
        others = [_rounded(least + share * (most - least), promise) for share in (*shares, Fraction(0))]
    return [wish.level, *sorted(set(others) - {wish.level})]


def _rounded(level: Fraction, promise: Guarantee) -> Fraction:
    """Two digits, or whole guesses in 1,000; upwards, so that the largest level lets everything pass.

    >>> [_rounded(Fraction(n, 10**6), Guarantee()) for n in (57771, 0)]
    [Fraction(29, 500), Fraction(0, 1)]
    """
    if isinstance(promise, Guess):
        return upwards(level, THOUSANDTH)
    unit = Fraction(1)
    while 0 < level < 10 * unit:
        unit /= 10
    return upwards(level, unit)


def solve_points(send: Send, text: str, file: str, wish: Wish) -> None:
    """Solve the problem at several levels of its promise and send each point as it is proved.

    Parameters
    ----------
    send : callable
        Takes messages: {"levels": n}, then {"point": ...} or {"skipped": reason} for each of them.
    text : str
        The problem file of the wish.
    file : str
        Where the problem file is, or will be; the table is found from there.
    wish : Wish
        What was asked for.
    """
    place = Path(file)
    bound, _ = bind(problem_of(text, place), rows=False)
    levels = levels_of(bound, wish)
    send({"levels": len(levels)})
    for level in levels:
        began = time.monotonic()
        problem = problem_of(at_level(text, wish, level), place)
        try:
            design = solve(problem.bound(bound.law, bound.columns), seconds=SECONDS)
        except DaleniusError as e:
            send({"skipped": str(e)})
            continue
        send({"point": point(design, level, wish.promise) | {"seconds": time.monotonic() - began}})


def release_table(send: Send, text: str, file: str, staging: str, name: str, ledger: str | None = None) -> None:
    """Release the table of a problem into a folder beside its place, with the problem file and a new key.

    Parameters
    ----------
    send : callable
        Takes messages: {"stage": words, "done": n, "total": n}, at the end {"released": {...}}.
    text : str
        The problem file.
    file : str
        Where the problem file will be.
    staging : str
        A new folder; whoever called moves what it holds to its place, or removes it.
    name : str
        Of the folder, the problem file and the key.
    ledger : str, optional
        The book that is charged before anything is drawn.
    """
    place = Path(staging)
    place.mkdir(mode=0o700)
    write_text(place / f"{name}.toml", text)
    key = Key.write_new(place / f"{name}.key")
    last = 0.0

    def progress(stage: str, done: int | None, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.1 or not done:
            last = now
            send({"stage": stage, "done": done, "total": total})

    outcome = release(problem_of(text, Path(file)), place / name, key=key, ledger=ledger, on_progress=progress)
    facts = Facts.of_design(outcome.design)
    send(
        {
            "released": {
                "rows": outcome.audit.rows,
                "tests": len(outcome.audit.findings),
                "fingerprint": outcome.design.fingerprint(),
                "promise": [promised.headline for promised in plain.promises(facts)],
                "lost": [value.words() for value in (outcome.counts.single if outcome.counts else ()) if value.lost],
                "changed": [
                    f"{entry['changed']:,} of {entry['rows']:,} rows were changed."
                    for entry in outcome.audit.transitions
                    if "changed" in entry
                ],
                "files": sorted(f.name for f in outcome.folder.iterdir()),
            }
        }
    )
