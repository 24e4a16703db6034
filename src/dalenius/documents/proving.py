"""The kernel's word on a draft: its figures become the claims, so that the written document passes as it stands."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dalenius.documents.cards import OF_RECORDS
from dalenius.documents.telling import proved_of
from dalenius.documents.text import canonical, text
from dalenius.kernel.check import reached
from dalenius.kernel.document import AtLeast, Document, Limit, allowed_work, read_document
from dalenius.kernel.maps import beside_side_information
from dalenius.kernel.numbers import Node, Refused, down, require, up
from dalenius.kernel.privacy import Kept, check_privacy
from dalenius.kernel.promises import LOWER, Leakage
from dalenius.kernel.rules import proved_bound

__all__ = [
    "ENOUGH",
    "Proved",
    "bounds_within",
    "figures_claimed",
    "proved_again",
    "proved_text",
    "stated_figures",
    "with_work",
    "work_declared",
]

Json = dict[str, Any]

ENOUGH = 10**12
"""Work that is allowed to a document of our own making."""

TIGHT = Fraction(1, 10**12)
SHORT = 200  # characters of an exact figure
DIGITS = 30  # of a decimal
MAXIMISED = ("information", "information_of_each")
FEW, NEXT = 20, 3  # columns that are all tried, and else how far from the secret
ONE_MORE, SUMS = 20_000, 500_000  # atoms times inputs, and times letters; beyond, no further column is tried


@dataclass(frozen=True)
class Proved:
    """A document of version 2 that the kernel has proved, and what it proved.

    Attributes
    ----------
    document : dict
        The document as plain values; `text` is its canonical text, whose digest is its fingerprint.
    kept : Kept
        The figures of promises and limits.
    value, bound : Fraction
        What the channel reaches, and what no mechanism passes.
    place : int
        Which of the offered certificates proved the bound.

    Parameters
    ----------
    document : dict
        Of version 2, as plain values.
    text : str
        Its canonical text.
    kept : Kept
        What the kernel found of each promise.
    value, bound : Fraction
        Proved.
    place : int
        Which of the offered proofs was taken.
    entropy, beside, stated : optional
        Further figures.
    """

    document: Json
    text: str
    kept: Kept
    value: Fraction
    bound: Fraction
    place: int
    entropy: Fraction = Fraction(0)
    beside: Fraction | None = None
    stated: Mapping[str, Any] = field(default_factory=dict)


def proved_text(draft: Json, proofs: Iterable[Json]) -> Proved:
    """Prove a drafted document by the tightest of several proofs of optimality.

    Privacy and value are proved once, bounds for one proof after the other, in their order; the first that leaves a
    gap below `TIGHT` ends the search.

    Parameters
    ----------
    draft : dict
        All keys of `dalenius-design/2`; its claims and its proof are replaced.
    proofs : iterable of dict
        As the rules of the kernel read them.

    Returns
    -------
    Proved
        With claims that are what the kernel proved, rounded against us.

    Raises
    ------
    Refused
        If a promise, a limit or a shape is not kept, or no bound is proved.
    """
    draft = draft | {"work": str(ENOUGH)}
    maximise = draft["objective"]["aim"] in MAXIMISED
    document, kept = None, None
    more: list[dict[str, Fraction]] = []
    value = Fraction(0)
    private = 0
    found: list[tuple[Fraction, int, Json, int]] = []
    for place, proof in enumerate(proofs):
        if document is None:
            document = read_document(canonical(draft | {"proof": proof}), ENOUGH)
            assert document.objective is not None
            kept = check_privacy(document)
            more = _one_more(document, draft)
            value = reached(document, document.objective)
            private = document.work.spent
        assert document.objective is not None
        document.work.spent = private  # each proof stands by itself
        bound = proved_bound(document.setting, document.promises, document.limits, document.objective, Node(proof))
        found.append((bound if maximise else -bound, place, proof, document.work.spent))
        if abs(bound - value) <= TIGHT:
            break
    if document is None or kept is None or document.objective is None:
        raise ValueError("a design needs at least one proof")
    best, place, proof, spent = min(found, key=lambda one: one[0])
    bound = best if maximise else -best
    draft["proof"] = proof
    draft["claims"] = _claims(kept, more, value, bound, maximise=maximise)
    if draft["channel"]["form"] in OF_RECORDS:  # their optimum is a fraction that is reached, and written as it is
        draft["claims"] |= _as_they_are(draft["claims"], value, bound)
    written = with_work(draft, spent)
    objective = document.objective
    # Of columns that are estimated one by one no joint law needs to be stated, and nothing is compared with its bits.
    apart = objective.aim == "variance" and document.setting.mechanism.each is not None
    wanted = [] if apart else [names for names in objective.wanted if names]
    entropy = sum((document.setting.law.entropy(names, document.work)[1] for names in wanted), Fraction(0))
    beside = beside_side_information(document.release, objective.about)
    return Proved(draft, written, kept, value, bound, place, entropy, beside, stated_figures(kept))


def stated_figures(kept: Kept) -> Json:
    """What was proved beyond the promises; deltas at several levels stand together.

    Parameters
    ----------
    kept : Kept
        Of a verdict.

    Returns
    -------
    dict
        Figures as texts, rounded upwards; None where nothing bounds one.
    """
    found: Json = {}
    for name, value in kept.stated.items():
        rounded = None if value is None else up(value)
        figure, at, level = name.partition("_at_")
        if at:
            found.setdefault(figure, {})[level] = rounded
        else:
            found[name] = rounded
    return found


def _one_more(document: Document, draft: Json) -> list[dict[str, Fraction]]:
    """What each secret leaks given one more column, as far as the form of the channel proves it and it is cheap."""
    mechanism, law = document.setting.mechanism, draft["law"]
    names = [variable.name for variable in document.setting.variables]
    columns = list(mechanism.reads)
    if law["law"] == "alike":
        columns = [name for name in names if name.startswith("another ")]
    written = draft["channel"]["form"] in ("dense", "listed", "maps", *OF_RECORDS) and "outcomes" in law
    size = len(law.get("outcomes", ())) * len(columns)
    if written and (size > ONE_MORE or size * draft["channel"].get("letters", 1) > SUMS):
        columns = []
    found: list[dict[str, Fraction]] = []
    for promise in document.promises:
        told: dict[str, Fraction] = {}
        for name in _near(promise.about, columns):
            with suppress(Refused):  # a form need not prove this
                told[name] = document.release.information(promise.about, (name,))[1]
        found.append(told)
    return found


def _near(secret: Sequence[str], columns: list[str]) -> list[str]:
    """The columns beside a secret; of very many only its neighbours."""
    others = [name for name in columns if secret and name not in secret]
    if len(others) <= FEW:
        return others
    near = set[str]()
    for name in secret:
        if name in columns:
            place = columns.index(name)
            near |= set(columns[max(0, place - NEXT) : place + NEXT + 1])
    return [name for name in others if name in near]


def _claims(kept: Kept, more: list[dict[str, Fraction]], value: Fraction, bound: Fraction, *, maximise: bool) -> Json:
    """Every figure that was proved, rounded against us to the digits of the format."""
    ends = (down(value), up(bound)) if maximise else (up(value), down(bound))
    return {
        "promises": figures_claimed(kept, more),
        "limits": limits_claimed(kept),
        "value": ends[0],
        "bound": ends[1],
        "gap": up(abs(Fraction(ends[1]) - Fraction(ends[0]))),
    }


def _as_they_are(claims: Json, value: Fraction, bound: Fraction) -> Json:
    """Value and bound as fractions, where these are not longer than decimals, and the gap between them."""
    ends = [
        written if len(written := text(number)) <= 2 * DIGITS else claims[key]
        for key, number in (("value", value), ("bound", bound))
    ]
    return {"value": ends[0], "bound": ends[1], "gap": up(abs(Fraction(ends[1]) - Fraction(ends[0])))}


def limits_claimed(kept: Kept) -> list[str]:
    """What each limit came to as it is, while that is short; else rounded against us."""
    found = []
    for reached_, below in zip(kept.limits, kept.from_below, strict=True):
        written = text(reached_)
        rounded = down(reached_) if below else up(reached_)
        found.append(written if len(written) <= SHORT else rounded)
    return found


def figures_claimed(kept: Kept, more: Sequence[dict[str, Fraction]] = ()) -> list[list[Json]]:
    """The proved figures of each promise as claims: from below where less is claimed, else from above.

    Parameters
    ----------
    kept : Kept
        What the kernel proved.
    more : sequence of dict
        Further figures of each promise.

    Returns
    -------
    list of list of dict
    """
    found = []
    for figures, given in zip(kept.promises, more or [{}] * len(kept.promises), strict=True):
        claims = [_claim(name, None, value) for name, value in (figures or {}).items()]
        claims += [_claim("leakage_bits", name, value) for name, value in given.items()]
        found.append(claims)
    return found


def _claim(figure: str, given: str | None, value: Fraction | None) -> Json:
    rounded = None if value is None else down(value) if figure in LOWER else up(value)
    return {"figure": figure, "given": given, "value": rounded}


def with_work(draft: Json, spent: int) -> str:
    """The text of a document that declares the work of its proof, which its margin makes depend on its own length.

    Parameters
    ----------
    draft : dict
        The document, which declares `ENOUGH`; told what it declares from now on.
    spent : int
        By the kernel.

    Returns
    -------
    str
    """
    longer = canonical(draft)
    draft["work"] = work_declared(spent, longer)
    # The second key of every format: nothing that an owner wrote stands before it.
    return longer.replace(f'"work":"{ENOUGH}"', f'"work":"{draft["work"]}"', 1)


def work_declared(spent: int, text: str) -> str:
    """The work that the document declares: what its proof took, with a little more for its own length.

    No more than a file of its length may ask for, where that is enough: else `verify` would refuse it for the margin.
    """
    enough = spent + spent // 8 + 4 * len(text) + 10_000
    digits = max(len(str(enough)) - 2, 0)
    rounded = -(-enough // 10**digits) * 10**digits
    allowed = allowed_work(text)
    return str(allowed if spent + spent // 8 + 10_000 <= allowed < rounded else rounded)


def proved_again(draft: Json) -> tuple[list[Json], list[str]]:
    """Prove the promises, limits and shapes of a document with another law than its own.

    Parameters
    ----------
    draft : dict
        The document with the other law; its claims are not used.

    Returns
    -------
    tuple
        The figures of each promise by name, and the distortion of each limit, rounded against us.

    Raises
    ------
    Refused
        If a promise does not hold for them.
    """
    read = read_document(canonical(draft), ENOUGH)
    kept = check_privacy(read)
    more = _one_more(read, draft)
    return [proved_of(claims) for claims in figures_claimed(kept, more)], limits_claimed(kept)


def bounds_within(draft: Json) -> list[tuple[Fraction, Fraction]]:
    """Of each leakage that is promised for all laws of a ball: what is proved, and what is promised.

    Parameters
    ----------
    draft : dict
        A drafted document with the multipliers of its promises. Limits must be kept.

    Returns
    -------
    list of two Fraction

    Raises
    ------
    Refused
        If a limit is not kept.
    """
    document = read_document(canonical(draft | {"proof": {"rule": "closed"}}), ENOUGH)
    release = document.release
    for limit in document.limits:
        if isinstance(limit, AtLeast):
            require(release.information(limit.about)[0] >= limit.bits, "a limit is not kept")
        elif isinstance(limit, Limit):
            require(release.cost(limit.distortion) <= limit.at_most, "a limit is not kept")
    found = []
    for promise, evidence in zip(document.promises, document.evidence, strict=True):
        if isinstance(promise, Leakage) and promise.within is not None:
            found.append((release.within(promise.secret, promise.within, evidence), promise.at_most))
    return found
