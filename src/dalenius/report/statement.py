"""The statement: one page to read, to sign and to keep. It needs no script and loads nothing from anywhere.

Pages 1 and 2 say what is promised, what an attacker gains, what analysts lose, how it can be checked and what is not
protected; page 3 holds the details. The public statement is made from the card alone.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dalenius.core import Design, Kernel, Margins, Samples, channel_of
from dalenius.core.digits import percent
from dalenius.core.multinomial import type_law
from dalenius.core.numbers import down, up
from dalenius.evidence import Audit, Beliefs
from dalenius.evidence.before_after import BeforeAfter
from dalenius.report import plain, words
from dalenius.report.aims import KINDS
from dalenius.report.choice import choice
from dalenius.report.directions import isolated
from dalenius.report.facts import Facts, joined, shown
from dalenius.report.gains import gains, one_more
from dalenius.report.head import day, header, status
from dalenius.report.implications import lattice
from dalenius.report.limits import limits
from dalenius.report.losses import Losses, losses, losses_of_card
from dalenius.report.reproof import Reproof, reproof
from dalenius.report.tiles import recipe

if TYPE_CHECKING:
    from jinja2 import Template

    from dalenius.mechanisms.columns.leakage.curve import Curve

__all__ = ["public_statement", "statement", "template"]

MOST_RECIPES = 24  # recipes of single columns that are shown one by one
TITLED = 6  # columns that a title names one by one
SHORT = 8  # characters of the fingerprint that number the statement


@cache
def template(name: str = "statement") -> "Template":
    """A page of this package, with its style."""
    from jinja2 import Environment, StrictUndefined  # only what renders a page waits for it

    folder = files("dalenius.report")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["round1"] = lambda x: f"{x:.1f}".removesuffix(".0")
    environment.filters["thousands"] = lambda n: f"{n:,}"
    # The style is a file of this package; it reaches the page unescaped.
    environment.globals["style"] = Markup(folder.joinpath("statement.css").read_text("utf-8"))
    return environment.from_string(folder.joinpath(f"{name}.html.j2").read_text("utf-8"))


def statement(
    design: Design,
    audit: Audit | None = None,
    *,
    counts: BeforeAfter | None = None,
    beliefs: Sequence[Beliefs] = (),
    curve: "Curve | None" = None,
    tried: Sequence[str] = (),
    made: datetime | None = None,
    details: Mapping[str, str] | None = None,
) -> str:
    """The internal statement about a release. Confidential: it shows counts of the table and holds the proof file.

    Parameters
    ----------
    design : Design
        With everything that was proved.
    audit : Audit, optional
        The tests of the released table.
    counts : BeforeAfter, optional
        The rows of each value before and after.
    beliefs : sequence of Beliefs, optional
        How likely each answer can become.
    curve : Curve, optional
        Other points that could have been chosen.
    tried : sequence of str, optional
        Ways to keep what is lost, with what each costs.
    made : datetime, optional
        When the release was made, in UTC.
    details : mapping of str to str, optional
        Further lines for specialists.

    Returns
    -------
    str
        One HTML page.

    Examples
    --------
    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> statement(solve(xor())).startswith("<!doctype html>")
    True
    """
    facts = Facts.of_design(design)
    lost = losses(audit, counts, tried)
    technical = {
        **_technical(facts),
        **{shown(k): shown(v) for k, v in (details or {}).items()},
        "Versions": _versions(facts),
    }
    return _page(
        facts,
        header=header(facts, audit, made),
        status=status(facts, audit, lost),
        gains=gains(facts, beliefs),
        lost=lost,
        trade=choice(facts, curve) if curve is not None else None,
        tested=_tests(audit),
        moved=_moved(audit),
        seen=words.seen(replace(audit, attacks=(), leakage=()) if audit else None),  # guesses stand on page 1
        recipes=[
            recipe(part, weight, counted=bool(design.problem.rows)) for part, weight in _drawn(design) if part.few
        ],
        technical=technical,
        made=made,
        again=reproof(design.text, facts.fingerprint),
    )


def public_statement(
    card: Mapping[str, Any], *, text: str = "", made: datetime | None = None, channel: Kernel | None = None
) -> str:
    """The public statement, from the card alone: no counts before the release, no name of the table.

    Parameters
    ----------
    card : mapping
        `design.card()`, or the same read from its file.
    text : str, optional
        `card.json` to the letter, for the button that proves it again.
    made : datetime, optional
        When the release was made, in UTC.
    channel : Kernel, optional
        What the card writes as its channel, for who has it at hand: reading a large one takes a while.
    """
    facts = Facts.of_card(card)
    lost = losses_of_card(facts.changes)
    matrices = [] if facts.withheld else _matrices(channel or channel_of(card["channel"]))
    return _page(
        facts,
        header=header(facts, None, made),
        status=status(facts, None, lost),
        gains=gains(facts, ()),
        lost=lost,
        trade=None,
        tested=[],
        moved=[],
        seen=[],
        recipes=[recipe(part, None) for part in matrices if part.few],
        technical={**_technical(facts), "Versions": _versions(facts)},
        made=made,
        again=reproof(text, None),
    )


def _page(
    facts: Facts,
    *,
    lost: Losses | None,
    made: datetime | None,
    again: Reproof,
    **given: Any,
) -> str:
    promised = plain.promises(facts)
    best = plain.best_possible(facts)
    explained = any("bit" in p.headline for p in promised)
    if not explained and "bit" in best.sentence:
        best = replace(best, small=f"{best.small} {plain.BIT}")
    page = template().render(
        public=facts.public,
        fingerprint=facts.fingerprint,
        number=facts.fingerprint[:SHORT],
        title=shown(facts.title) if facts.title else f"Release of {_titled(facts.released)}",
        owner=shown(facts.owner) if facts.owner else "",
        made="" if made is None else day(made),
        promises=promised,
        promised=bool(promised),
        further=words.beyond_promises(facts),
        best=best,
        proved=words.proved(facts),
        lost=lost,
        limits=limits(facts),
        one_more=one_more(facts),
        lattice=lattice(facts.promises),
        notes=[_sentence(shown(remark), facts) for remark in facts.remarks if not words.special(remark)],
        remarks=[_sentence(shown(remark), facts) for remark in facts.remarks if words.special(remark)],
        use=_use(facts),
        unshown=_unshown(facts),
        uncounted=_uncounted(facts, lost),
        recounts=facts.counted is not None and not facts.prior,
        leaving=facts.leaving,
        following=facts.following,
        released=joined(facts.released),
        protected=joined(list(dict.fromkeys(n for promise in facts.promises for n in promise.secret))),
        explained=explained or "bit" in best.sentence,
        policy=Markup(again.policy),
        reproof=again.button,
        script=again.script,
        **given,
    )
    return isolated(page)


# --- details ----------------------------------------------------------------------------------------------------------
QUESTIONS = {
    "released values follow the recipe": "Were rows changed with the probabilities of the recipe?",
    "how often each value was released": "Does each combination occur as often as it should?",
    "the realised distortion is as expected": "Is the number of changed entries right?",
    "as many rows as the original": "Are there as many rows as in the original?",
}
"""What the usual tests ask, for those who read a statement; other tests are named as they name themselves."""
OF_ONE = (
    (re.compile("released values of (.+) follow the recipe"), "{}: were rows changed as the recipe says?"),
    (re.compile("how often each value of (.+) was released"), "{}: does each value occur as often as it should?"),
)
"""The same for columns that were drawn each by itself."""


def _question(what: str) -> str:
    """What a test asks.

    >>> _question("how often each value of age was released")
    'age: does each value occur as often as it should?'
    """
    for pattern, asked in OF_ONE:
        if found := pattern.fullmatch(what):
            return asked.format(found[1])
    return QUESTIONS.get(what, what)


def _tests(audit: Audit | None) -> list[dict[str, Any]]:
    return [
        {
            "what": shown(_question(f.what)),
            "detail": shown(f.detail),
            "chance": "as expected" if f.p_value >= 1 else f"chance at most {percent(f.p_value, 'up')}",
            "against": f.contradicts,
        }
        for f in (audit.findings if audit else ())
    ]


def _moved(audit: Audit | None) -> list[dict[str, Any]]:
    """From which value to which rows went, for each column that is released under its own few values."""
    return [
        {
            "what": shown(", ".join(entry["columns"]) + entry.get("where", "")),
            "values": [shown(line["letter"]) for line in entry["frequencies"]],
            "rows": entry["table"],
        }
        for entry in (audit.transitions if audit else ())
        if entry.get("table") and len(entry["columns"]) == 1
    ]


def _matrices(channel: Kernel) -> list[Kernel]:
    """What is shown of a recipe: one for each column where each has its own, else one."""
    return list(channel.pictures) if len(channel.pictures) <= MOST_RECIPES else [channel]


def _drawn(design: Design) -> list[tuple[Kernel, list[int] | None]]:
    """The recipes, and how often each combination occurs, as far as that is known."""
    law, matrices = design.problem.law, _matrices(design.channel)
    if isinstance(law, Samples):
        return [(matrices[0], [sum(row) for row in type_law(law.masses, law.kernel.rows, law.n)[1]])]
    found: list[tuple[Kernel, list[int] | None]] = []
    for matrix in matrices:
        names = list(matrix.inputs)
        weight = [0] * matrix.shape[0] if matrix.few and not design.public_prior else None
        if weight and (len(names) == 1 or not isinstance(law, Margins)):
            here = law.marginal(names) if isinstance(law, Margins) else design.problem.pmf
            for codes, n in zip(here.grouped(names)[0], here.counts(names).tolist(), strict=True):
                weight[matrix.row_of(codes)] = int(n)
        else:  # how the columns depend is not known
            weight = None
        found.append((matrix, weight))
    return found


def _technical(facts: Facts) -> dict[str, str]:
    value, bound = (down(facts.value), up(facts.bound)) if facts.maximise else (up(facts.value), down(facts.bound))
    order = "kept as in the original" if facts.order == "keep" else "shuffled by the key of the release"
    return {
        "Released": joined(facts.released),
        "Released as it is": joined(facts.kept) if facts.kept else "nothing",
        "The recipe looks at": joined(list(facts.inputs)),
        "Order of the rows": order,
        "Method": shown(facts.method),
        "Proof that nothing is better": f"{shown(facts.kind)}: {KINDS.get(facts.kind, 'see the proof file')}",
        "Value, limit, gap": f"{value}, {bound}, {up(facts.gap)} ({facts.aim.unit})",
    }


def _titled(released: Sequence[str]) -> str:
    """The released columns as a title names them; a wide table by how many there are.

    >>> _titled(["age", "sex"]), _titled([f"q{k}" for k in range(14)])
    ('age and sex', '14 columns')
    """
    return joined(released) if len(released) <= TITLED else f"{len(released)} columns"


def _unshown(facts: Facts) -> str:
    """Why no picture of the recipe is there, and who holds the recipe."""
    if facts.public and facts.withheld:
        return "The recipe would show the table, so that neither this page nor card.json holds it. The owner does."
    place = "card.json" if facts.public else "design.json"
    return f"The recipe is a rule and not a list of combinations, so that no picture of it is shown. {place} holds it."


def _uncounted(facts: Facts, lost: Losses | None) -> str:
    """That groups which lost rows are not to be counted, and what is left to do where the recipe can be inverted."""
    group = "this group" if lost is not None and len(lost.lost) == 1 else "these groups"
    if facts.withheld or not set(facts.output) <= set(facts.inputs):
        return f"Do not count or study {group} with the released table."
    return f"Do not count {group} in the released table as it is: dalenius estimate says what can be recovered."


def _use(facts: Facts) -> str:
    """What the released table can be used for, from its card."""
    estimates = "So do estimate.py and estimate.R, where they lie beside the card."
    if facts.shape.keeps_shares and not facts.prior:  # shares of the public statistics are those of no table
        right = (
            "Every combination keeps its number of rows, on average. So shares that are counted in the released table "
            "are right, up to chance."
        )
        if facts.withheld:
            return right
        return f"{right} dalenius estimate card.json released.csv adds intervals. {estimates}"
    if facts.withheld:
        return (
            "The released shares are not those of the original table, and the card does not show how rows were "
            "changed. So nobody can correct for it: do not read shares of the original table off the released one."
        )
    if set(facts.output) <= set(facts.inputs):
        return (
            "Do not count as if nothing had been changed. dalenius estimate card.json released.csv computes the shares "
            f"of the original table, with intervals. {estimates}"
        )
    return "dalenius estimate card.json released.csv says what the released values reveal about the original table."


def _versions(facts: Facts) -> str:
    return ", ".join(f"{shown(k)} {shown(v)}" for k, v in facts.versions.items()) or "not stated"


def _sentence(remark: str, facts: Facts) -> str:
    return facts.opened(remark) + ("" if remark.endswith((".", "!", "?")) else ".")
