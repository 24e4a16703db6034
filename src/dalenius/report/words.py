"""Plain sentences about a design, a card or an audit, shared by the statement, `explain` and the terminal.

They say what was promised, what was proved, what was seen and what is not protected, and compute nothing: figures are
only rounded, against us.
"""

from collections.abc import Iterable
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

from dalenius.core import AtLeast, Distortion, Leakage, MinimizeDistortion, MinimizeLeakage
from dalenius.core.digits import bits, chance, figure, guesses_in_thousand, many
from dalenius.core.numbers import exact, written
from dalenius.mechanisms.forms import form_named
from dalenius.report.aims import KINDS, change
from dalenius.report.facts import FOLLOWING, Facts, joined, once, shown
from dalenius.report.limits import not_protected
from dalenius.report.plain import best_possible, promises
from dalenius.wording import ONE_BY_ONE, compared

if TYPE_CHECKING:
    from dalenius.evidence import Attack, Audit

__all__ = [
    "beyond_promises",
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
def promised(facts: Facts) -> list[str]:
    """A few sentences for each guarantee of a design or a card, with its proved figures when they are there.

    Parameters
    ----------
    facts : Facts
        Of a design or a card.

    Returns
    -------
    list of str
        Sentences.

    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> promised(Facts.of_design(solve(xor())))[0]
    'A released row reveals nothing about X1: every answer stays exactly as likely as it was.'
    """
    lines = [line for one in promises(facts) for line in (one.headline, one.proved, *one.more)]
    return once([*lines, *beyond_promises(facts)]) or ["Nothing was promised."]


def beyond_promises(facts: Facts) -> list[str]:
    """What a design limits or states beside its promises: rows that are kept, change, side information.

    Parameters
    ----------
    facts : Facts
        Of a design or a card.

    Returns
    -------
    list of str
        Sentences.
    """
    lines: list[str] = []
    changes = [limited.limit for limited in facts.limits if isinstance(limited.limit, Distortion)]
    keeping = [(limit.of, limit.keeps[1]) for limit in changes if limit.keeps is not None]
    if keeping:
        columns = dict.fromkeys(name for of, _ in keeping for name in of)
        share = written(keeping[0][1])
        lines.append(
            f"{facts.on_average}, every value of {joined(list(columns))} keeps at least {share} of its rows in number."
        )
    for limited in facts.limits:
        limit, reached = limited.limit, limited.reached
        if isinstance(limit, AtLeast):
            least = bits(limit.at_least_bits, "down", 6)
            shows = f" Proved: {bits(reached, 'down')}." if reached is not None else ""
            lines.append(f"A released row says at least {least} about {joined(limit.about)}, on average.{shows}")
        elif limit.keeps is None:
            shows = f" Proved: {figure(reached, 'up')}." if reached is not None else ""
            lines.append(f"The {change(limit)} is at most {figure(limit.at_most, 'up')}.{shows}")
    lines += typical_errors(facts)
    if facts.beside is not None and isinstance(facts.objective, MinimizeLeakage):
        lines.append(
            f"The recipe ignores {shown(facts.side)}. Together with it, a released row reveals up to "
            f"{bits(facts.beside, 'up')} about {joined(facts.objective.about)}."
        )
    return lines


SPECIAL = ("estimate, outside the proof", "how the search ended: ", "relaxed levels of this recipe", "no pure level")
"""Parts of remarks that only specialists read."""


def special(remark: str) -> bool:
    """Whether a remark is for specialists alone."""
    return any(words in remark for words in SPECIAL)


def typical_errors(facts: Facts) -> list[str]:
    """How far released numbers are typically off: the root of their average squared error, where that is limited.

    And the columns of which one value is released.

    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> typical_errors(Facts.of_design(solve(xor())))
    []
    """
    found = []
    for limited in facts.limits:
        limit, reached = limited.limit, limited.reached
        squared = isinstance(limit, Distortion) and limit.distortion == "squared" and len(limit.of) == 1
        if isinstance(limit, Distortion) and squared and reached is not None:
            root = figure(sqrt(reached), "nearest", 2)
            found.append(f"A released number of {shown(limit.of[0])} is typically off by {root}.")
    return found + [
        f"{shown(name)} is {shown(letters[0])} in every released row, whatever it was."
        for name, letters in facts.output.items()
        if len(letters) == 1 and len(facts.inputs.get(name, ())) > 1
    ]


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


def proved(facts: Facts) -> list[str]:
    """Value and bound of a design or a card, how each was proved, and what a reader of a card cannot prove again.

    Parameters
    ----------
    facts : Facts
        Of a design or a card.

    Returns
    -------
    list of str
        Sentences.

    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> proved(Facts.of_design(solve(xor())))[1]
    'The release says 1 bit about W (everything about it is 1 bit). No other recipe keeps the promise and does better: \
proved exactly.'
    """
    lines = [_privacy(facts)] if facts.promises else []
    best = best_possible(facts)
    lines += [best.sentence, best.small]
    lines.append(f"How it was proved: {KINDS.get(facts.kind, shown(facts.kind))}.")
    lines += [_compared(facts)] if best.bounded else []
    form = form_named(facts.form)
    lines += form.stated(facts.stated, list(facts.output), public=bool(facts.prior))
    if _by_record(facts):
        lines.append("Changing many rows together would not help.")
    if facts.public and not (facts.promises and all(promise.kind == "local_dp" for promise in facts.promises)):
        holder = "whoever made it" if facts.origin == "pmf" else "the owner of the table"
        lines.append(
            f"The proof is in design.json, which {holder} holds. The card states its fingerprint, so that "
            "an auditor who gets the file can check it."
        )
    elif not facts.public:
        lines.append("Anyone who holds design.json can repeat the proof: dalenius verify design.json")
    return lines


def _by_record(facts: Facts) -> bool:
    """Whether the bound is about leakage and distortion alone, and so one for codes of many records too."""
    traded = type(facts.objective) in (MinimizeLeakage, MinimizeDistortion) and facts.robust is None
    leaks = all(type(promise.guarantee) is Leakage for promise in facts.promises)
    return traded and facts.kind in ONE_BY_ONE and leaks


def _compared(facts: Facts) -> str:
    limits = [limited.limit for limited in facts.limits]
    return compared(
        facts.shape,
        facts.inputs,
        by_noise=form_named(facts.form).adds_noise,
        limited=any(isinstance(limit, Distortion) for limit in limits),
        told=[(written(limit.at_least_bits), limit.about) for limit in limits if isinstance(limit, AtLeast)],
        by_record=_by_record(facts),
    )


# --- what one more attribute would give away ------------------------------------------------------------------------
def one_more(facts: Facts) -> list[str]:
    """What someone who already knows one more attribute could learn about each secret, the most first.

    Parameters
    ----------
    facts : Facts
        Of a design or a card.

    Returns
    -------
    list of str
        Sentences.
    """
    lines: list[tuple[Any, str]] = []
    both = set(facts.released) & set(facts.inputs)  # one name for the original and the draw
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
        of = f"{FOLLOWING['public']}of" if attack.public else "Of"
        lines.append(
            f"{of} 1,000 guesses of {joined(attack.secret)}{knowing}, {before:,} are right anyway, and {more} with the "
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
        f"{tests} made. A correct release fails {'it' if len(audit.findings) == 1 else 'one of them'} with a chance of "
        f"at most {rarely}.",
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
            "No draw changes that."
            if found.certain
            else f"A correct release has it between {low} and {high}, but for a chance of at most {rarely}.",
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
