"""Plain sentences about a design, a card or an audit, shared by the statement, `explain` and the terminal.

They say what was promised, what was proved, what was seen and what is not protected. Every function reads plain JSON
(`design.to_json()`, `design.card()`, or either file) and computes nothing: figures are only rounded, against us.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

from dalenius.core.digits import bits, chance, figure, guesses_in_thousand, many
from dalenius.core.numbers import exact
from dalenius.mechanisms.forms import form_named
from dalenius.report.aims import KINDS, change
from dalenius.report.facts import Document, Facts, joined, once, shown
from dalenius.report.limits import not_protected
from dalenius.report.plain import best_possible, promises
from dalenius.wording import by_record, compared

if TYPE_CHECKING:
    from dalenius.evidence import Attack, Audit

__all__ = [
    "beyond_promises",
    "compared",
    "guesses",
    "not_protected",
    "one_more",
    "promised",
    "proved",
    "seen",
    "special",
    "typical_errors",
]


# --- what was promised ----------------------------------------------------------------------------------------------
def promised(document: Document, rows: int | None = None) -> list[str]:
    """A few sentences for each guarantee of a design or a card, with its proved figures when they are there.

    Parameters
    ----------
    document : mapping
        A design or a card as sentences read it.
    rows : int, optional
        How many were released, where that is known.

    Returns
    -------
    list of str
        Sentences.

    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> promised(solve(xor()).card())[0]
    'A released row reveals nothing about X1: every answer stays exactly as likely as it was.'
    """
    facts = replace(Facts.read(document), rows=rows)
    lines = [line for one in promises(facts) for line in (one.headline, one.proved, *one.more)]
    return once([*lines, *beyond_promises(document)]) or ["Nothing was promised."]


def beyond_promises(document: Document) -> list[str]:
    """What a design limits or states beside its promises: rows that are kept, change, side information.

    Parameters
    ----------
    document : mapping
        A design or a card as sentences read it.

    Returns
    -------
    list of str
        Sentences.
    """
    lines: list[str] = []
    limits = [(entry["promised"], entry.get("proved", {}).get("expected")) for entry in document.get("limits", ())]
    keeping = [limit for limit, _ in limits if "keeps" in limit]
    if keeping:
        columns = dict.fromkeys(name for limit in keeping for name in limit["of"])
        share = shown(keeping[0]["keeps"]["share"])
        lines.append(
            f"On average, every value of {joined(list(columns))} keeps at least {share} of its rows in number."
        )
    for limit, reached in limits:
        if "information" in limit:
            least = bits(limit["at_least_bits"], "down", 6)
            about = joined(limit["information"])
            shows = f" Proved: {bits(reached, 'down')}." if reached is not None else ""
            lines.append(f"A released row says at least {least} about {about}, on average.{shows}")
        elif "keeps" not in limit:
            shows = f" Proved: {figure(reached, 'up')}." if reached is not None else ""
            lines.append(f"The {change(limit)} is at most {figure(limit['at_most'], 'up')}.{shows}")
    lines += typical_errors(document)
    if "beside_bits" in document:
        side = (document.get("side_information") or {}).get("variable")
        about = joined(document["objective"]["minimize"]["leakage"])
        lines.append(
            f"The recipe ignores {shown(side)}. Together with it, a released row reveals up to "
            f"{bits(document['beside_bits'], 'up')} about {about}."
        )
    return lines


SPECIAL = ("estimate, outside the proof", "relaxed levels of this recipe", "no pure level")
"""Parts of remarks that only specialists read."""


def special(remark: str) -> bool:
    """Whether a remark is for specialists alone."""
    return any(words in remark for words in SPECIAL)


def typical_errors(document: Document) -> list[str]:
    """How far released numbers are typically off: the root of their average squared error, where that is limited.

    >>> limit = {"promised": {"distortion": "squared", "of": ["age"]}, "proved": {"expected": "40.9"}}
    >>> typical_errors({"limits": [limit]})
    ['A released number of age is typically off by 6.4.']
    """
    found = []
    for entry in document.get("limits", ()):
        limit = entry["promised"]
        reached = entry.get("proved", {}).get("expected")
        if limit.get("distortion") == "squared" and len(limit["of"]) == 1 and reached is not None:
            root = figure(sqrt(exact(reached)), "nearest", 2)
            found.append(f"A released number of {shown(limit['of'][0])} is typically off by {root}.")
    return found


# --- what was proved ------------------------------------------------------------------------------------------------
def _privacy(facts: Facts) -> str:
    """Which promises carry proved figures; only those are called proved."""
    sure = sum(bool(promise.figures) for promise in facts.promises)
    count = len(facts.promises)
    how = "proved, in exact arithmetic, for the recipe that was used"
    if sure == count:
        return f"Every promise is {how}." if count > 1 else f"The promise is {how}."
    if sure:
        return f"{sure} of the {count} promises are {how}. For the others this file holds no proved figure."
    return "This file holds no proved figure for what is promised."


def proved(document: Document) -> list[str]:
    """Value and bound of a design or a card, how each was proved, and what a reader of a card cannot prove again.

    Parameters
    ----------
    document : mapping
        A design or a card as sentences read it.

    Returns
    -------
    list of str
        Sentences.

    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> proved(solve(xor()).card())[1]
    'The release says 1 bit about W (everything about it is 1 bit). No other recipe keeps the promise and does better: \
proved exactly.'
    """
    facts = Facts.read(document)
    lines = [_privacy(facts)] if facts.promises else []
    best = best_possible(facts)
    lines += [best.sentence, best.small]
    lines.append(f"How it was proved: {KINDS.get(facts.kind, shown(facts.kind))}.")
    lines += [compared(document)] if best.bounded else []
    lines += form_named(document["channel"].get("form")).stated(document)
    if by_record(document):
        lines.append("Changing many rows together would not help.")
    if facts.public and not (facts.promises and all(promise.kind == "local_dp" for promise in facts.promises)):
        lines.append(
            "The proof is in design.json, which the owner of the table holds. The card states its fingerprint, so that "
            "an auditor who gets the file can check it."
        )
    elif not facts.public:
        lines.append("Anyone who holds design.json can repeat the proof: dalenius verify design.json")
    return lines


# --- what one more attribute would give away ------------------------------------------------------------------------
def one_more(document: Document) -> list[str]:
    """What someone who already knows one more attribute could learn about each secret, the most first.

    Parameters
    ----------
    document : mapping
        A design or a card as sentences read it.

    Returns
    -------
    list of str
        Sentences.
    """
    facts = Facts.read(document)
    lines: list[tuple[Any, str]] = []
    both = set(facts.released) & set(document["channel"].get("inputs", ()))  # one name for the original and the draw
    source = f"the released {facts.leaving}" if both else facts.leaving
    for promise in facts.promises:
        for name, more in promise.figures.get("with_one_more_bits", {}).items():
            knows = f"Someone who already knows {shown(name)}"
            if exact(more):
                lines.append(
                    (
                        exact(more),
                        f"{knows} could learn up to {bits(more, 'up')} about {promise.about} from {source}.",
                    )
                )
            else:
                lines.append((exact(0), f"{knows} still learns nothing about {promise.about} from {source}."))
    return once(sentence for _, sentence in sorted(lines, key=lambda t: -t[0]))


# --- what was seen --------------------------------------------------------------------------------------------------
def _estimate(x: float) -> str:
    if not isfinite(x):
        return "an unknown number of bits"
    return bits(x, "nearest") if x >= 1e-5 else "less than 0.00001 bits"


def guesses(attacks: "Iterable[Attack]") -> list[str]:
    """The best guess of every secret before and after.

    Parameters
    ----------
    attacks : iterable of Attack
        Of each secret.

    Returns
    -------
    list of str
        A sentence each.
    """
    lines = []
    for attack in attacks:
        knowing = f" by one who has {joined(attack.knowing)} anyway" if attack.knowing else ""
        before, gain = guesses_in_thousand(attack.before, attack.after)
        more = f"at most {gain:,} more" if gain else "no more"
        lines.append(
            f"Of 1,000 guesses of {joined(attack.secret)}{knowing}, {before:,} are right anyway, and {more} with the "
            "row."
        )
    return lines


def seen(audit: "Audit | None") -> list[str]:
    """What an audit of the released rows found; evidence, not proof.

    Parameters
    ----------
    audit : Audit or None
        Of the released rows.

    Returns
    -------
    list of str
        Sentences.

    >>> seen(None)
    ['The released rows were not tested.']
    """
    if audit is None:
        return ["The released rows were not tested."]
    how = "with the original, row by row" if audit.paired else "with the original, in number: their order was shuffled"
    against = [finding for finding in audit.findings if finding.contradicts]
    tests = many(len(audit.findings), "test")
    rarely = chance(audit.error)
    lines = [
        f"{many(audit.rows, 'released row')} {'was' if audit.rows == 1 else 'were'} compared {how}.",
        f"{tests} made. A correct release fails one of them with a chance of at most {rarely}.",
    ]
    lines += [
        f"{shown(', '.join(moved['columns']) + moved.get('where', ''))}: {moved['changed']:,} of "
        f"{many(moved['rows'], 'row')} changed ({moved['changed_percent']:.1f} %)."
        for moved in audit.transitions
    ]
    for found in audit.distortions:
        low = figure(found.low, "down")
        high = figure(found.high, "up")
        expected = figure(found.expected, "nearest")
        lines += [
            f"The {change(found.measure)} is {figure(found.seen, 'nearest')}; {expected} was expected.",
            f"A correct release has it between {low} and {high}, but for a chance of at most {rarely}.",
        ]
    if against:
        lines.append(f"The released table CONTRADICTS the proof: {len(against)} of {tests} failed.")
        lines += [
            f"Failed: {shown(f.what)} ({shown(f.detail)}; by chance less than once in {_times_in(f.p_value)} times)."
            for f in against
        ]
    else:
        lines.append("All tests passed: nothing contradicts the proof.")
        lines += guesses(audit.attacks)  # of the recipe: they say nothing about rows that do not follow it
    for entry in audit.leakage:
        by_chance = _estimate(entry["expected_by_chance_bits"])
        lines.append(
            f"About {joined(entry['view'])} the released rows show {_estimate(entry['seen_bits'])}; chance alone gives "
            f"{by_chance if by_chance.startswith('less') else f'about {by_chance}'}."
        )
    return lines


def _times_in(p: float) -> str:
    """How many times something is tried until it happens once by chance, in words that stay short.

    >>> _times_in(0.001), _times_in(0.0)
    ('1,000', 'a billion')
    """
    return chance(p).removeprefix("1 in ") if p > 1e-9 else "a billion"
