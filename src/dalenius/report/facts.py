"""What a design, a card or a problem says, with its types: the words of the report are made from these facts alone.

A design and a problem are read as the nouns that they are. A card has no noun of its own: `Facts.of_card` is the one
place where its file is read, by the readers of the problem file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from math import prod
from typing import Any, Self

from dalenius.core import (
    AtLeast,
    Design,
    Distortion,
    Guarantee,
    Mismatch,
    Objective,
    Problem,
    Samples,
    TableSource,
)
from dalenius.core.forms import WITHHELD
from dalenius.core.guarantee import Names
from dalenius.core.numbers import down, exact, up
from dalenius.core.pmf import Alphabets
from dalenius.core.problem_file import Promised, promised_in
from dalenius.core.source import Source, in_groups
from dalenius.errors import InputError
from dalenius.wording import Shape, joined, once, shown

__all__ = ["FOLLOWING", "Change", "Facts", "Limited", "Promise", "joined", "once", "shown"]

Document = Mapping[str, Any]

ANY_STATISTICS = ("local_dp", "dalenius", "maximal_leakage", "contraction")
"""Promises that hold whatever the statistics of the rows are, where they name no secret."""

FOLLOWING = {
    "uniform": "For rows in which all values are equally frequent, ",
    "public": "For rows that follow the public statistics, ",
}
"""Whose figures these are, where they are not those of the rows of the table."""

NO_AIM = "the card says nothing about what was reached: that stands in the file beside it, NAME.about.json"


@dataclass(frozen=True)
class Promise:
    """One guarantee, and the figures that were proved for it."""

    guarantee: Guarantee
    figures: Document = field(default_factory=dict)
    samples: int = 0  # how many samples the name of the secret stands for, each alone

    @property
    def kind(self) -> str:
        """The word that names it in a problem file."""
        return self.guarantee.key

    @property
    def secret(self) -> Names:
        """The columns that it is about; none for a promise about whole rows."""
        return self.guarantee.secret

    @property
    def any_statistics(self) -> bool:
        """Whether it holds whatever the statistics of the rows are."""
        return self.kind in ANY_STATISTICS and not self.secret

    @property
    def about(self) -> str:
        """The secret in words; several names are one secret."""
        if self.samples > 1 and len(self.secret) == 1:
            return f"any one of the {self.samples} samples {shown(self.secret[0])}"
        return joined(self.secret) + (" together" if len(self.secret) > 1 else "")


@dataclass(frozen=True)
class Limited:
    """A limit beside the promises, and what was reached of it where that is known."""

    limit: Distortion | AtLeast
    reached: Fraction | None = None


@dataclass(frozen=True)
class Change:
    """What a card says about a value: its rows after the release, and their change in per cent."""

    column: str
    value: str
    rows_after: int
    per_cent: int | None


@dataclass(frozen=True)
class Facts:
    """A design or a problem (`public` false) or a card (`public` true), as far as sentences speak of it."""

    public: bool  # whether it is a card
    # What the recipe looks at, samples that are alike under one name, and what it writes.
    inputs: Alphabets
    output: Alphabets
    form: str | None  # of the channel
    shape: Shape  # what others have to keep, for none of them to be better
    # The columns that leave changed, and those that leave as they are.
    released: Names
    kept: Names
    # With their proved figures.
    promises: tuple[Promise, ...]
    limits: tuple[Limited, ...] = ()
    objective: Objective | None = None  # a card whose file beside it is missing has none
    # As the file says them, rounded against us.
    value: Fraction = Fraction(0)
    bound: Fraction = Fraction(0)
    gap: Fraction = Fraction(0)
    # Of what is wanted; and what a release that ignores side information tells together with it.
    entropy: Fraction = Fraction(0)
    beside: Fraction | None = None
    robust: Mismatch | None = None
    stated: Document = field(default_factory=dict)
    kind: str = ""  # the word for the proof that nothing is better
    method: str = ""
    # Whom a promise is about.
    unit: str = "row"
    max_rows: int | None = None
    prior: str = ""  # which statistics the figures are for, where not those of the table
    origin: str = "unknown"  # what was counted
    source: Source | None = None
    order: str = "shuffle"
    from_table: bool = False  # whether lists of values were taken from the table itself
    grouped: Names = ()  # protected columns whose values were put into groups
    withheld: bool = False  # whether no card shows the recipe, because it would show the table
    remarks: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    title: str | None = None
    owner: str | None = None
    # Rows of the table that were counted, and rows that were released, where that is known.
    counted: int | None = None
    rows: int | None = None
    changes: tuple[Change, ...] = ()
    fingerprint: str = ""

    @property
    def following(self) -> str:
        """How a sentence begins whose figures are for public statistics: the rows of the table may follow others."""
        return FOLLOWING.get(self.prior, "")

    @property
    def on_average(self) -> str:
        """How a sentence begins that is true on average over such rows."""
        return f"{self.following}on average" if self.following else "On average"

    # --- births -------------------------------------------------------------------------------------------------------
    @classmethod
    def of_problem(cls, problem: Problem) -> Self:
        """Of a problem that is bound, before anything is solved."""
        values = problem.law.variables
        names = problem.release or ("Y",)
        return cls(
            inputs={name: values.get(name, ()) for name in problem.observe},
            output={name: values.get(name, ()) for name in names},
            form=None,
            promises=tuple(map(Promise, problem.guarantees)),
            limits=tuple(Limited(limit) for limit in _limits(problem)),
            prior=_prior(problem),
            **_asked(problem, names),
        )

    @classmethod
    def of_design(cls, design: Design, rows: int | None = None) -> Self:
        """Of a design; `rows` were released by it, where that is known."""
        problem, channel = design.problem, design.channel
        maximise = problem.objective.sense == "maximize"
        value = exact(down(design.value) if maximise else up(design.value))
        bound = exact(up(design.bound) if maximise else down(design.bound))
        proved = design.proved or ({},) * len(problem.guarantees)
        limits = _limits(problem)
        realised = design.realised or ({},) * len(limits)
        return cls(
            inputs=channel.named_inputs,
            output=channel.output,
            form=channel.form,
            withheld=channel.shows_the_table,
            promises=tuple(
                Promise(guarantee, figures, channel.samples)
                for guarantee, figures in zip(problem.guarantees, proved, strict=True)
            ),
            limits=tuple(
                Limited(limit, exact(figures["expected"]) if "expected" in figures else None)
                for limit, figures in zip(limits, realised, strict=False)  # a number of rows to keep has none
            ),
            value=value,
            bound=bound,
            gap=abs(bound - value) if design.gap else Fraction(0),
            entropy=exact(up(design.entropy)),
            beside=None if design.beside is None else exact(up(design.beside)),
            stated=design.stated,
            kind=design.kind,
            method=design.method,
            prior=_prior(problem) or ("model" if isinstance(problem.joint, Samples) else ""),
            remarks=design.remarks,
            versions=design.versions,
            counted=problem.rows,
            rows=rows,
            fingerprint=design.fingerprint(),
            **_asked(problem, tuple(channel.output)),
        )

    @classmethod
    def of_card(cls, card: Document) -> Self:
        """Of `design.card()`, or of the same read back from its file.

        Raises
        ------
        InputError
            If it is no card.
        """
        try:
            return cls._of_card(card)
        except (KeyError, TypeError, AttributeError) as e:
            raise InputError(f"this is no card: {type(e).__name__} {e}", do="Name a card.json.") from None

    @classmethod
    def _of_card(cls, card: Document) -> Self:
        channel = card["channel"]
        said = promised_in(card)
        shape = card.get("shape", {})
        strata = tuple(shape.get("strata", ()))
        kept = tuple(card.get("kept", ()))
        inputs = _letters(channel.get("inputs", {}))
        alike = channel.get("n", 0)
        if alike and "columns" in channel:  # samples that have names of their own
            inputs = dict.fromkeys(channel["columns"], next(iter(inputs.values())))
            alike = 0
        limits = card.get("limits", ())
        return cls(
            public=True,
            inputs=inputs,
            output=_letters(channel.get("output", {})),
            form=channel.get("form"),
            withheld=channel.get("form") == WITHHELD,
            shape=Shape(
                strata=strata,
                kept=tuple(name for name in kept if name not in strata),
                release=tuple(shape.get("release", ())),
                freeze=tuple(shape.get("freeze", ())),
                each=bool(shape.get("each")),
                forbids=bool(shape.get("forbid")),
                keeps_shares=bool(shape.get("preserve_marginals") or card.get("marginals_preserved")),
                side=said.side_information.variable if said.side_information else None,
            ),
            released=tuple(card.get("released", channel.get("output", ()))),
            kept=kept,
            promises=tuple(
                Promise(guarantee, entry.get("proved") or {}, alike)
                for guarantee, entry in zip(said.guarantees, card["guarantees"], strict=True)
            ),
            limits=_reached(said, [entry.get("proved", {}).get("expected") for entry in limits]),
            objective=said.objective,
            value=exact(card.get("value", 0), "value"),
            bound=exact(card.get("bound", 0), "bound"),
            gap=exact(card.get("gap", 0), "gap"),
            entropy=exact(card.get("entropy_bits", 0)),
            beside=exact(card["beside_bits"]) if "beside_bits" in card else None,
            robust=said.robust,
            stated=card["proof"].get("stated", {}),
            kind=card["proof"]["kind"],
            method=str(card.get("method", "")),
            unit=card.get("unit_of_privacy", "row"),
            max_rows=card.get("max_rows"),
            prior="public" if card.get("designed_on") == "a public distribution" else "",
            origin="pmf" if card.get("designed_on") == "a stated distribution" else "unknown",
            order=card.get("order", "shuffle"),
            grouped=tuple(card.get("grouped_secrets", ())),
            remarks=tuple(card.get("remarks", ())),
            versions=card.get("versions", {}),
            title=card.get("title"),
            owner=card.get("owner"),
            changes=tuple(
                Change(entry["column"], entry["value"], entry["rows_after"], entry["change_percent"])
                for entry in card.get("changes") or ()
            ),
            fingerprint=card["proof"].get("digest", ""),
        )

    # --- questions ----------------------------------------------------------------------------------------------------
    @property
    def aim(self) -> Objective:
        """What was made as large or as small as possible."""
        if self.objective is None:
            raise InputError(NO_AIM, do="Put that file beside the card, or ask for both again.")
        return self.objective

    @property
    def maximise(self) -> bool:
        """Whether the value is one that is wanted large."""
        return self.aim.sense == "maximize"

    @property
    def side(self) -> str | None:
        """What the user has anyway and every leakage counts."""
        return self.shape.side

    def person(self, rows: int) -> str:
        """One person with so many rows at most, by the name of its column where that is known."""
        return f"one {'person' if self.unit == 'row' else shown(self.unit)} (at most {rows} rows)"

    @property
    def leaving(self) -> str:
        """Everything that leaves: the released columns and the kept ones."""
        return joined((*self.released, *self.kept))

    def opened(self, text: str) -> str:
        """A sentence with a capital, unless it begins with the name of a column, which has none.

        Parameters
        ----------
        text : str
            Of a remark.

        Returns
        -------
        str
        """
        names = {shown(name) for name in (*self.inputs, *self.output, *self.released, *self.kept)}
        named = any(text.startswith(name) and not text[len(name) : len(name) + 1].isalnum() for name in names if name)
        return text if named else text[:1].upper() + text[1:]

    @property
    def assumed(self) -> str:
        """The statistics that an attacker is taken to know."""
        if self.prior == "public":
            return "the public statistics"
        return "the stated statistics" if self.origin == "pmf" else "the statistics of the table"

    def letter(self, index: object) -> str:
        """The released combination of that number, as `Y = 2` or `a · b · c`; empty when there is none."""
        if not isinstance(index, int) or not 0 <= index < prod(map(len, self.output.values())) or not self.output:
            return ""
        letters = next(islice(product(*self.output.values()), index, None))
        if len(letters) == 1:
            return f"{shown(next(iter(self.output)))} = {shown(letters[0])}"
        return " · ".join(map(shown, letters))


def _asked(problem: Problem, released: Names) -> dict[str, Any]:
    """The facts that a design shares with its problem."""
    source = problem.source if isinstance(problem.source, TableSource) else None
    return {
        "public": False,
        "shape": Shape(
            strata=problem.strata,
            kept=tuple(name for name in problem.keep if name not in problem.strata),
            release=problem.release,
            freeze=problem.freeze,
            each=bool(problem.each),
            forbids=bool(problem.forbid),
            keeps_shares=problem.preserve_marginals,
            side=problem.side_information.variable if problem.side_information else None,
        ),
        "released": released,
        "kept": (*problem.keep, *problem.strata),
        "objective": problem.objective,
        "robust": problem.robust,
        "unit": source.unit if source else "row",
        "max_rows": source.max_rows if source else None,
        "origin": "table" if source else "pmf",
        "source": problem.source,
        "order": problem.order,
        "grouped": in_groups(problem.columns, problem.guarantees),
        "from_table": any(column.from_table for column in problem.columns.values()),
        "title": source.title if source else None,
        "owner": source.owner if source else None,
    }


def _limits(problem: Problem) -> tuple[Distortion | AtLeast, ...]:
    """In the order of files."""
    return (*problem.limits, *problem.tells)


def _prior(problem: Problem) -> str:
    """Which public statistics a problem names: all values alike, or those of a file."""
    prior = problem.source.prior if isinstance(problem.source, TableSource) else None
    return "" if prior is None else "uniform" if prior == "uniform" else "public"


def _letters(said: Mapping[str, Any]) -> Alphabets:
    return {name: tuple(letters) for name, letters in said.items()}


def _reached(said: Promised, figures: list[Any]) -> tuple[Limited, ...]:
    """The limits of a card with what its design reached, in the order of the file."""
    return tuple(
        Limited(limit, None if reached is None else exact(reached))
        for limit, reached in zip(said.limits, figures, strict=True)
    )
