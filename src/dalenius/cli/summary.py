"""What the terminal says after a release: ten lines, losses first; the rest is in the statement."""

import hashlib
import json
import re
from pathlib import Path

from dalenius.api import Outcome
from dalenius.core.digits import figure, many, one_in
from dalenius.evidence import Beliefs
from dalenius.kernel.document import allowed_work
from dalenius.report import plain
from dalenius.report.aims import reached
from dalenius.report.facts import Facts, joined
from dalenius.report.limits import limits
from dalenius.report.losses import Losses, losses
from dalenius.report.words import special, typical_errors
from dalenius.wording import shown

__all__ = ["after_release", "check_command"]

PUBLIC = ("card.json", "statement-public.html")
PRIVATE = ("design.json", "statement.html")
TRIPPED = ("a second release", "people outside the table", "other statistics")
NAMED = 3  # losses that the terminal names; the statement names all
NOTES = 2  # remarks that the terminal shows
SHORT = 200  # characters of one


def after_release(outcome: Outcome, *, key_file: str | None = None, into: str | None = None) -> list[str]:
    """Ten lines about a release, what was lost before what was promised.

    Parameters
    ----------
    outcome : Outcome
        Of the release.
    key_file : str, optional
        Where its key is kept.
    into : str, optional
        The table of a database that the rows went into, if they are not in the folder.

    Returns
    -------
    list of str
    """
    facts = Facts.of_design(outcome.design)
    folder = outcome.folder
    place = f"table {into} of the database" if into else str(next(iter(sorted(folder.glob("released.*")))))
    beside = f", with {joined(facts.kept)} as {'it is' if len(facts.kept) == 1 else 'they are'}," if facts.kept else ""
    lines = [f"Released {many(outcome.audit.rows, 'row')} of {joined(facts.released)}{beside} to {place}."]
    found = losses(outcome.audit, outcome.counts, outcome.tried)
    if found is not None:
        lines += [_line("LOST", text) for text in _lost(found)]
        lines += [_line("Instead", way) for way in found.ways if found.lost]
    lines += [_line("LOST", text) for text in typical_errors(facts)]
    promises = plain.promises(facts)
    several = len({promise.about for promise in promises if promise.gain is not None}) > 1
    guesses = []
    for promise in promises:
        proved = "" if "Proved" in promise.headline else " Proved."
        lines.append(_line("Promise", f"{promise.headline}{proved}"))
        lines += [_line("Beyond", " ".join(promise.beyond))] * bool(promise.beyond)
        if promise.before is not None and promise.gain is not None:
            more = f"at most {promise.gain} more with the row" if promise.gain else "and no more with the row"
            what = f"1,000 guesses of {promise.about}," if several else "1,000 guesses"
            of = f"{facts.following}of" if facts.following else "Of"
            guesses.append(_line("Attacker", f"{of} {what} {promise.before:,} are right anyway, {more}."))
    if not promises:
        lines.append(_line("Promise", "none: the problem file promises nothing about any column."))
    lines += dict.fromkeys(guesses)  # several promises about one secret say the same
    read = set(facts.inputs)
    new = [name for name in facts.released if name not in read]
    worst = [text for text in (_worst(known, new) for known in outcome.beliefs) if text]
    lines += [_line("Worst row", f"{facts.following}{text}") for text in worst]
    lines.append(_line("Says" if new else "Changed", _changed(outcome, facts, new)))
    lines += [_line("Note", text) for text in _notes(outcome, facts)]
    lines.append(_line("Not covered", f"{_not_covered(facts)}."))
    public = [f"table {into}" if into else Path(place).name, *(name for name in PUBLIC if (folder / name).exists())]
    private = [name for name in PRIVATE if (folder / name).exists()]
    lines.append(_line("To sign", f"{folder / private[-1]}    To publish: {', '.join(public)}"))
    lines.append(_line("Keep safe", ", ".join([*private, *([key_file] if key_file else [])])))
    lines.append(_line("Check", f"{check_command(folder / 'design.json')}    (fingerprint {_fingerprint(folder)})"))
    return lines


def _line(title: str, text: str) -> str:
    return f"{title:<11} {text}"


def _notes(outcome: Outcome, facts: Facts) -> list[str]:
    """The first remarks in short, without those for specialists; the statement has all of them."""
    found = [remark for remark in outcome.design.remarks if not special(remark)]
    more = len(found) - NOTES
    lines = [_in_short(f"{facts.opened(remark)}.") for remark in found[:NOTES]]
    return (
        [*lines, f"{many(more, 'more remark')} {'is' if more == 1 else 'are'} in the statement."] if more > 0 else lines
    )


def _in_short(remark: str) -> str:
    """The first sentences of a remark, as many as fit on two lines.

    >>> _in_short("One. Two.") + _in_short("One. " + "x" * SHORT + ".")
    'One. Two.One.'
    """
    first, *others = re.split(r"(?<=\.) ", remark)
    for sentence in others:
        if len(first) + len(sentence) >= SHORT:
            break
        first += f" {sentence}"
    return first


def _not_covered(facts: Facts) -> str:
    """Of the limits of the statement those that people trip over: several rows or groups, releases, other people."""
    first, *others = (limit.name.lower() for limit in limits(facts))
    return ", ".join([first, *(name for name in others if name in TRIPPED)])


def _lost(found: Losses) -> list[str]:
    """Values that lost over a quarter of their rows and combinations that are gone, the largest first."""
    if not found.counted:
        return ["not counted: noise moves numbers, so that no value keeps its own rows."]
    named = list(found.lost[:NAMED])
    more = len(found.lost) - NAMED
    whose = "its" if more == 1 else "their"
    named += [f"{many(more, 'more value')} lost over a quarter of {whose} rows; the statement names all."] * (more > 0)
    named += [found.vanished] if found.vanished else []
    return named or ["nothing: no value lost over a quarter of its rows."]


def _worst(known: Beliefs, new: list[str]) -> str:
    """The released combination that says the most, and by how much; values of a new column with its name."""
    worst = known.worst
    if worst.high == worst.share:
        return ""
    times = f"{int(known.times):,}" if known.times.isdigit() else known.times
    before = figure(100 * worst.share, "nearest")
    after = figure(100 * worst.high, "up")
    answer = " · ".join(map(shown, worst.values))
    seen = [shown(value) for value in known.combination]
    row = " · ".join([*new, *seen]) if len(new) != 1 else f"{new[0]} {' · '.join(seen)}"
    return f'{row}: "{answer}" is {times} times as likely ({before} → {after} %).'


def _changed(outcome: Outcome, facts: Facts, new: list[str]) -> str:
    """How many rows differ, that nobody can do with less, and that the tests passed."""
    best = plain.best_possible(facts)
    moved = [entry for entry in outcome.audit.transitions if "changed" in entry]
    lines = []
    changed, compared = (sum(entry[key] for entry in moved) for key in ("changed", "rows"))
    fields = plain.fields_compared(facts.aim)
    unseen = not compared and 0 < fields == len(facts.shape.release)  # shuffled
    if not changed and (compared or unseen) and not facts.value:
        kept = "the table keeps the promise as it is" if facts.promises else "nothing is promised"
        lines.append(f"No row: {kept}.")
    elif compared:
        what = many(changed, "row") if len(moved) == 1 else f"{changed:,} {'entry' if changed == 1 else 'entries'}"
        lines.append(f"{what} ({one_in(changed / compared)}).")
    elif best.agrees and fields:
        lines.append(f"About {plain.changed_entries(facts.value, fields)}.")
    if best.agrees and facts.maximise:
        lines.append(reached(facts)[0].removeprefix("The release says ") if new else reached(facts)[0])
    lines.append(f"{best.short}." if best.agrees else best.sentence)
    tests = outcome.audit.findings
    lines.append(f"{sum(not test.contradicts for test in tests)} of {many(len(tests), 'test')} passed.")
    return " ".join(lines)


def check_command(design: Path) -> str:
    """The command that proves a design again, with the work that a long proof needs."""
    text = design.read_text(encoding="utf-8")
    work = int(json.loads(text)["work"])
    return f"dalenius verify {design}{f' --work {work}' if work > allowed_work(text) else ''}"


def _fingerprint(folder: Path) -> str:
    """The beginning of what `sha256sum design.json` prints."""
    digest = hashlib.sha256((folder / "design.json").read_bytes()).hexdigest()
    return f"{digest[:8]} {digest[8:16]}"
