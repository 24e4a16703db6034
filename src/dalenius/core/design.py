"""`Design` and `Certificate`: a mechanism with its value, its bound and the proof of both."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from dalenius.core.conditional_law import Kernel
from dalenius.core.digits import digits_agreed
from dalenius.core.forms import WITHHELD, channel_of
from dalenius.core.numbers import down, exact, strict_json, up
from dalenius.core.odds_guarantees import LocalDP
from dalenius.core.problem import Problem
from dalenius.core.samples import Samples, joint_of
from dalenius.core.source import PmfSource, TableSource, in_groups
from dalenius.documents import about_of, belongs, canonical, card_text, digest, shape_in, told_design
from dalenius.errors import InputError

__all__ = ["CARD_FORMAT", "FORMAT", "Certificate", "Design"]

FORMAT = "dalenius-design/2"
CARD_FORMAT = "dalenius-card/2"

LETTERS = (
    "With n(y) the released counts of value y out of n, n(y)/n estimates q(y) = sum over x of p(x) p(y|x), where "
    "p(y|x) are the rows of the recipe. p(x) is identified where the rows have full rank; otherwise only the "
    "functions of p that the rows determine are."
)
NUMBERS = (
    "A record with the grid places x has the values t = floor(take x + move) + N on the axes, and is released at "
    "give t + shift, rounded down. Where nothing is cut off at the ends, take is divided out of the mean of the "
    "released numbers, and the variance of N is subtracted from their variance before take is divided out of it twice; "
    "`dalenius estimate` does so, with what rounding can amount to."
)
RECORDS = (
    "The card does not show how records were changed, because that would show the table. Where the distribution "
    "of the table is "
    "preserved, counts of the released table estimate those of the original as they are; elsewhere no estimate can be "
    "made from the card."
)


@dataclass(frozen=True, repr=False)
class Certificate:
    """What a stranger re-checks: the proof of optimality as the kernel reads it.

    The proof of privacy needs no data beside the joint pmf and the channel.

    Parameters
    ----------
    proof : mapping
        A rule of the kernel, and the numbers that the rule reads. Empty: nothing is claimed to be best.

    Examples
    --------
    >>> Certificate({"rule": "lines"}).kind
    'lines'
    """

    proof: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Certificate({self.kind})"

    @property
    def kind(self) -> str:
        """The rule that proves the bound."""
        return str(self.proof.get("rule", "none"))


@dataclass(frozen=True)
class Design:
    """What every family returns. Maximise: value <= optimum <= bound; minimise: bound <= optimum <= value.

    `text` is the document that the kernel proved, `design.json` to the letter; its digest is the fingerprint of the
    design. `proved` holds, guarantee by guarantee, the figures that the kernel proved, `proofs` the data that it needs
    for them beside joint pmf and channel (mostly none), `realised` the figures limit by limit, `stated` what it proved
    beyond the promises. Outside the proof: `entropy` is that of the wanted variables in bits, to compare the value
    with; `decoder` says what a letter means to a user who has side information, and `beside` what a release that
    ignores that information tells together with it; `remarks` are what a reader must be told. `rule` is the
    word for the proof of optimality, `certificate` that proof as the family found it: of a design that was read from
    its file only the kind is known.

    Parameters
    ----------
    problem : Problem
        With its law.
    channel : Kernel
        What is drawn from, in rationals.
    value, bound : Fraction
        What it reaches and what no mechanism surpasses.
    certificate : Certificate
        Proves the bound.
    method : str
        How it was found.
    proved, proofs : tuple of mapping
        The figures of each promise, and the numbers that prove those which need some.
    entropy, realised, beside, stated : optional
        Further proved figures.
    decoder : mapping
        Which letter a drawn map is, for each value of the side information.
    remarks : tuple of str
        What a reader must be told.
    versions, rule, text : optional
        Who made it, which rule proved it, and the document that was proved.

    Examples
    --------
    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> design = solve(xor())
    >>> float(design.value), design.gap
    (1.0, Fraction(0, 1))
    """

    problem: Problem
    channel: Kernel
    value: Fraction
    bound: Fraction
    certificate: Certificate = field(compare=False)
    method: str
    proved: tuple[Mapping[str, Any], ...] = ()
    proofs: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    entropy: Fraction = Fraction(0)
    remarks: tuple[str, ...] = ()
    realised: tuple[Mapping[str, Any], ...] = ()
    decoder: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    beside: Fraction | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    stated: Mapping[str, Any] = field(default_factory=dict)
    rule: str = ""
    text: str = field(default="", repr=False)

    def __repr__(self) -> str:
        """One line that never shows the statistics of the table: a repr ends in logs and notebooks."""
        digits = digits_agreed(self.value, self.bound)
        proved = "exactly" if digits is None else f"to {digits} digits"
        return f"Design({self.problem!r}, {float(self.value):.6g} {self.unit}, proved {proved})"

    @property
    def gap(self) -> Fraction:
        """Distance between the value and the proved bound; never negative."""
        return abs(self.bound - self.value)

    @property
    def unit(self) -> str:
        return self.problem.objective.unit

    @property
    def kind(self) -> str:
        """The word for the kind of proof that bounds every mechanism."""
        return self.rule or self.certificate.kind

    @property
    def public_prior(self) -> bool:
        """Whether the design stands on a public distribution, so that its card tells nothing about the records."""
        stated = isinstance(self.problem.source, TableSource) and self.problem.source.prior is not None
        return stated or isinstance(self.problem.joint, Samples)

    @property
    def _unit_of_privacy(self) -> str:
        """Whom every promise is about: the person, also with several rows if each promise counts them; else a row."""
        source, promises = self.problem.source, self.problem.guarantees
        if not isinstance(source, TableSource):
            return "row"
        counted = source.max_rows is None or all(isinstance(promise, LocalDP) for promise in promises)
        return source.unit if counted else "row"

    @property
    def weights(self) -> str | None:
        """The column of survey weights, if it leaves with the released table."""
        weights = self.problem.source.weights if isinstance(self.problem.source, TableSource) else None
        return weights if weights in self.problem.kept else None

    def fingerprint(self) -> str:
        """The SHA-256 of the file: what `sha256sum design.json` prints, and what card and reports show."""
        return self.digest()

    def digest(self) -> str:
        """The fingerprint of the design: what `sha256sum` says of `design.json`."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return digest(self.text or canonical(self._written({})))

    # --- for those who only tell of it --------------------------------------------------------------------------------
    def to_json(self) -> dict[str, Any]:
        """The design as sentences read it, with the whole joint pmf. Nothing is proved from this."""
        return self._written(self.problem.law.to_json())

    def outline(self) -> dict[str, Any]:
        """The same without the outcomes of the joint pmf, which may be a million."""
        return self._written(self.problem.law.to_json() if isinstance(self.problem.law, Samples) else {})

    def _written(self, joint: Any) -> dict[str, Any]:
        maximise = self.problem.objective.sense == "maximize"
        value, bound = (down(self.value), up(self.bound)) if maximise else (up(self.value), down(self.bound))
        sections = self.problem.to_json()
        rows = self.problem.rows
        return {
            "confidential": True,
            "format": FORMAT,
            **({"fingerprint": self.digest()} if self.text else {}),
            "unit": self.unit,
            "value": value,
            "bound": bound,
            "gap": up(abs(exact(bound) - exact(value))) if self.gap else "0",
            "entropy_bits": up(self.entropy),
            "method": self.method,
            **{k: sections[k] for k in ("source", "columns") if k in sections},
            **({"rows": rows} if rows else {}),
            "mechanism": sections["mechanism"],
            "objective": sections["objective"],
            "guarantees": [
                {"promised": promised, "proved": dict(proved), **({"proof": dict(proof)} if proof else {})}
                for promised, proved, proof in zip(
                    sections["guarantee"],
                    self.proved or ({},) * len(sections["guarantee"]),
                    self.proofs or ({},) * len(sections["guarantee"]),
                    strict=True,
                )
            ],
            **({"limits": self._limits(sections["limit"])} if "limit" in sections else {}),
            **{k: sections[k] for k in ("side_information", "robust") if k in sections},
            **({"beside_bits": up(self.beside)} if self.beside is not None else {}),
            **({"decoder": {y: dict(told) for y, told in self.decoder.items()}} if self.decoder else {}),
            "joint": joint,
            "channel": self.channel.to_json(),
            "certificate": {"kind": self.kind} | ({"stated": dict(self.stated)} if self.stated else {}),
            "remarks": list(self.remarks),
            "problem_digest": self.problem.digest,
            "versions": dict(self.versions),
        }

    def _limits(self, promised: list[dict[str, Any]]) -> list[dict[str, Any]]:
        figures = self.realised or ({},) * len(promised)
        return [{"promised": p, "proved": dict(figure)} for p, figure in zip(promised, figures, strict=True)]

    @property
    def _designed_on(self) -> str:
        """Whose statistics the figures are."""
        if self.public_prior:
            return "a public distribution"
        # A design that says nothing of its source may be one of records: the more cautious of the two.
        stated = isinstance(self.problem.source, PmfSource)
        return "a stated distribution" if stated else "the distribution of the original records"

    def card(self) -> dict[str, Any]:
        """The card as sentences read it: the channel and what was proved, without counts and without the joint pmf."""
        design = self.outline()
        source = self.problem.source
        noise = self.channel.form == "noise"
        if self.channel.shows_the_table:
            design["channel"] = {k: design["channel"][k] for k in ("inputs", "output")} | {"form": WITHHELD}
        return {
            "format": CARD_FORMAT,
            "released": list(self.channel.output),
            "kept": list(self.problem.kept),
            "unit_of_privacy": self._unit_of_privacy,
            **({"max_rows": source.max_rows} if isinstance(source, TableSource) and source.max_rows else {}),
            **({"weights": self.weights} if self.weights else {}),
            "designed_on": self._designed_on,
            "order": self.problem.order,
            **(
                {"grouped_secrets": list(grouped)}
                if (grouped := in_groups(self.problem.columns, self.problem.guarantees))
                else {}
            ),
            **({"shape": shape} if (shape := shape_in(design["mechanism"])) else {}),
            **{
                k: design[k]
                for k in (
                    "unit",
                    "value",
                    "bound",
                    "gap",
                    "entropy_bits",
                    "method",
                    "objective",
                    "guarantees",
                    "channel",
                )
            },
            **{k: design[k] for k in ("limits", "side_information", "robust", "beside_bits", "decoder") if k in design},
            "proof": {
                "kind": self.kind,
                "digest": self.digest(),
                **({"stated": dict(self.stated)} if self.stated else {}),
            },
            "estimate": NUMBERS if noise else RECORDS if self.channel.form == "records" else LETTERS,
            "remarks": design["remarks"],
            "versions": design["versions"],
        }

    # --- files --------------------------------------------------------------------------------------------------------
    def dumps(self) -> str:
        """`design.json` to the letter: the document that the kernel proved. Confidential."""
        if not self.text:
            raise ValueError("this design was not proved, so that there is nothing to write")
        return self.text

    def about(self) -> str:
        """`design.about.json`: what travels beside the design and proves nothing. Confidential."""
        return canonical(about_of(self.outline(), self.dumps())) + "\n"

    def card_text(self) -> str:
        """`card.json` to the letter: the public part of the document, without law, value and bound."""
        return self._card_text

    @cached_property
    def _card_text(self) -> str:
        return card_text(json.loads(self.dumps()))

    @classmethod
    def from_text(cls, text: str, about: Mapping[str, Any] | None = None) -> Self:
        """Read `design.json` and what travels beside it. Nothing in it is believed before `verify` has proved it.

        Parameters
        ----------
        text : str
            The document.
        about : mapping, optional
            What travels beside it; without it, names of own columns, units and remarks are not known.

        Returns
        -------
        Design

        Raises
        ------
        InputError
            If it is no design of version 2, or what travels beside it belongs to another one.
        """
        document = _of_this_format(strict_json(text))
        if about and not belongs(about, text):
            raise InputError("the file design.about.json beside it is about another design; leave it out")
        try:
            told = told_design(document, dict(about or {}))
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as e:
            raise _damaged(e) from None
        return cls.from_json(told, text)

    @classmethod
    def from_json(cls, document: object, text: str = "") -> Self:
        """From the design as sentences read it; `text` is the document that it was told from."""
        document = _of_this_format(document)
        try:
            sections: dict[str, Any] = {
                k: document[k] for k in ("source", "columns", "side_information", "robust") if k in document
            }
            if "limits" in document:
                sections["limit"] = [entry["promised"] for entry in document["limits"]]
            sections |= {"mechanism": document["mechanism"], "objective": document["objective"]}
            sections["guarantee"] = [g["promised"] for g in document["guarantees"]]
            problem = Problem.from_document(
                sections, joint=joint_of(document["joint"]), digest=str(document["problem_digest"])
            )
            stated = dict(document["certificate"].get("stated", {}))
            return cls(
                problem=problem,
                channel=channel_of(document["channel"]),
                value=exact(document["value"], "value"),
                bound=exact(document["bound"], "bound"),
                certificate=Certificate(),
                method=str(document["method"]),
                entropy=exact(document["entropy_bits"], "entropy_bits"),
                proved=tuple(dict(g["proved"]) for g in document["guarantees"]),
                proofs=tuple(dict(g.get("proof", {})) for g in document["guarantees"])
                if any("proof" in g for g in document["guarantees"])
                else (),
                remarks=tuple(document["remarks"]),
                realised=tuple(dict(entry["proved"]) for entry in document.get("limits", [])),
                decoder={y: dict(told) for y, told in document.get("decoder", {}).items()},
                beside=exact(document["beside_bits"], "beside_bits") if "beside_bits" in document else None,
                versions=dict(document["versions"]),
                stated=stated,
                rule=str(document["certificate"]["kind"]),
                text=text,
            )
        except (KeyError, TypeError, AttributeError) as e:
            raise _damaged(e) from None


def _of_this_format(document: object) -> dict[str, Any]:
    if isinstance(document, dict) and "format" not in document and "output" in document:
        raise InputError(
            "this is a recipe alone, without a proof and without the table's statistics.",
            do="Name the design.json of a release.",
        )
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"this is not a design file of format {FORMAT!r}", do="Name the design.json of a release.")
    return document


def _damaged(error: Exception) -> InputError:
    return InputError(
        f"the design file is damaged: {type(error).__name__} {error}",
        do="Ask for the original file, or make the design again.",
    )
