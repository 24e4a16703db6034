"""A design or a card, read strictly: every key is there, in its order, once; null says none."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256

from dalenius.kernel.channel import Channel, read_channel
from dalenius.kernel.distortion import Distortion, read_distortion
from dalenius.kernel.nouns import Setting, names_in, read_law, read_mechanism, read_variables
from dalenius.kernel.numbers import Node, Work, granted, parsed
from dalenius.kernel.objective import Objective, read_objective
from dalenius.kernel.promises import Leakage, Promise, read_promise
from dalenius.kernel.release import Release, release_of

DESIGN = "dalenius-design/2"
CARD = "dalenius-card/2"
CARD_KEYS = ("format", "work", "variables", "mechanism", "promises", "channel", "evidence", "claims")
DESIGN_KEYS = (
    *("format", "work", "variables", "law", "mechanism", "objective", "promises", "limits", "channel", "evidence"),
    *("claims", "proof"),
)
CLAIMED = ("promises", "limits", "value", "bound", "gap")  # of a card the first alone
MOST_WORK = 20_000_000  # for files of up to a million characters, and for each half million of longer ones: two seconds
UNINFORMED = "a promise about a secret counts what the user has, so the mechanism may not ignore it"
MOST_PROMISES = 1000


@dataclass(frozen=True)
class Limit:
    """A distortion that must not be passed."""

    distortion: Distortion
    at_most: Fraction


@dataclass(frozen=True)
class AtLeast:
    """So many bits that everything that leaves must tell about some columns."""

    about: tuple[str, ...]
    bits: Fraction


@dataclass(frozen=True)
class Multiplicity:
    """So many rows of the table that every released record has at least (form "records")."""

    rows: int


Promises = tuple[Promise, ...]
Limits = tuple[Limit | AtLeast | Multiplicity, ...]


@dataclass(frozen=True)
class Claim:
    """A figure of a promise, perhaps of the secret given one more column; None: nothing is claimed to bound it."""

    figure: str
    given: str | None
    value: Fraction | None


@dataclass(frozen=True)
class Claims:
    """All that a file says was reached; of a card only the figures of its promises."""

    promises: tuple[tuple[Claim, ...], ...]
    limits: tuple[Fraction, ...] = ()
    value: Fraction = Fraction(0)
    bound: Fraction = Fraction(0)
    gap: Fraction = Fraction(0)


@dataclass(frozen=True)
class Document:
    """What is asked for (`setting`, `promises`, `limits`, `objective`), what is claimed, and what should prove it."""

    setting: Setting
    promises: tuple[Promise, ...]
    limits: Limits
    objective: Objective | None  # None: a card
    channel: Channel
    evidence: tuple[Node, ...]
    claims: Claims
    proof: Node | None
    work: Work
    digest: str

    @cached_property
    def release(self) -> Release:
        """What leaves; made once, so that its matrix is written out once."""
        return release_of(self.setting, self.channel)


def allowed_work(text: str) -> int:
    """The work that a file of this length may ask for, unless somebody allows more."""
    return MOST_WORK * max(1, len(text) >> 19)


def read_document(text: str, allowed: int | None = None) -> Document:
    """The document of a text: everything in it has its type, and nothing of it is proved but that the channel is one.

    `allowed` is the work that the file may declare; None: what `allowed_work` says. Refused at the first place that is
    not as the format says.
    """
    root = parsed(text)
    design = root.tag(DESIGN, CARD) == DESIGN
    keys = DESIGN_KEYS if design else CARD_KEYS
    part = dict(zip(keys, root.fields(*keys), strict=True))
    work = granted(part["work"], allowed_work(text) if allowed is None else allowed, text)
    variables = read_variables(part["variables"])
    mechanism = read_mechanism(part["mechanism"], variables)
    law = read_law(part["law"], variables, work) if design else None
    # The law first: the inputs of samples that are alike are types.
    setting = law.setting(mechanism, work) if law else Setting(variables, None, mechanism, work)
    promises = _read_promises(part["promises"], setting)
    limits = tuple(_read_limit(item, setting) for item in part["limits"].items()) if design else ()
    objective = read_objective(part["objective"], setting) if design else None
    channel = read_channel(part["channel"], setting)
    claims = _read_claims(part["claims"], promises, limits, setting)
    evidence = tuple(part["evidence"].pair(len(promises)))
    digest = sha256(text.encode()).hexdigest()
    return Document(setting, promises, limits, objective, channel, evidence, claims, part.get("proof"), work, digest)


def _read_promises(node: Node, setting: Setting) -> tuple[Promise, ...]:
    node.require(node.length() <= MOST_PROMISES, f"there are more than {MOST_PROMISES:,} promises")
    promises = [read_promise(item, setting) for item in node.items()]
    node.require(len(set(promises)) == len(promises), "a promise stands twice")
    node.require(setting.mechanism.encoder != "uninformed" or not any(p.about for p in promises), UNINFORMED)
    balls = [promise.within for promise in promises if isinstance(promise, Leakage) and promise.within is not None]
    # All of them fail together with at most the chance of one, so that each has its share of it.
    sharing = sum(ball.kind == "confidence" for ball in balls)
    for k, promise in enumerate(promises):
        if isinstance(promise, Leakage) and promise.within is not None:
            promises[k] = replace(promise, within=replace(promise.within, sharing=max(1, sharing)))
    return tuple(promises)


def _read_limit(node: Node, setting: Setting) -> Limit | AtLeast | Multiplicity:
    keys = node.value if isinstance(node.value, dict) else ()
    if "multiplicity" in keys:
        return Multiplicity(node.fields("multiplicity")[0].whole(1))
    if "information" in keys:
        about, least = node.fields("information", "at_least_bits")
        names = names_in(about, setting.alphabets)
        about.require(bool(names), "no column is named")
        return AtLeast(names, least.number(0))
    parts, most = node.fields("distortion", "at_most")
    return Limit(read_distortion(parts, setting), most.number(0))


def _read_claims(node: Node, promises: tuple[Promise, ...], limits: Limits, setting: Setting) -> Claims:
    figures, *others = node.fields(*(CLAIMED if setting.has_law else CLAIMED[:1]))
    found = []
    for promise, item in zip(promises, figures.pair(len(promises)), strict=True):
        # A figure that a card cannot prove is refused, and not shown as one that was.
        known = setting.has_law or not promise.needs_law or item.length() == 0
        item.require(known, "without the law a card proves no such figure")
        claims = [_read_claim(one, setting) for one in item.items()]
        different = {(claim.figure, claim.given) for claim in claims}
        item.require(len(different) == len(claims), "a figure stands twice")
        found.append(tuple(claims))
    if not others:
        return Claims(tuple(found))
    limited, value, bound, gap = others
    reached = tuple(item.number(0) for item in limited.pair(len(limits)))
    return Claims(tuple(found), reached, value.number(), bound.number(), gap.number(0))


def _read_claim(node: Node, setting: Setting) -> Claim:
    figure, given, value = node.fields("figure", "given", "value")
    column = None if given.is_null() else given.text()
    given.require(column is None or column in setting.alphabets, "there is no such variable")
    return Claim(figure.text(), column, None if value.is_null() else value.number())
