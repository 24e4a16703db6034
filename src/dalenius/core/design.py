"""`Design` and `Certificate`: a mechanism with its value, its bound and the proof of both."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from dalenius.core.document import laid_out
from dalenius.core.forms import channel_of
from dalenius.core.guarantee import LocalDP
from dalenius.core.kernel import Kernel
from dalenius.core.numbers import down, exact, up
from dalenius.core.problem import Problem
from dalenius.core.samples import Samples, joint_of
from dalenius.core.source import TableSource
from dalenius.errors import InputError

__all__ = ["CARD_FORMAT", "FORMAT", "Certificate", "Design"]

FORMAT = "dalenius-design/1"
CARD_FORMAT = "dalenius-card/1"

SHAPE = ("release", "strata", "form", "forbid", "freeze", "preserve_marginals", "each")
"""What a problem fixes beside its promises: the bound of a design is for mechanisms that have it too."""

LETTERS = (
    "With n(y) the released counts of letter y out of n, n(y)/n estimates q(y) = sum over x of p(x) p(y|x), where "
    "p(y|x) are the rows of the channel. p(x) is identified where the rows have full rank; otherwise only the "
    "functions of p that the rows determine are."
)
NUMBERS = (
    "A record with the grid places x has the values t = floor(take x + move) + N on the axes, and is released at "
    "give t + shift, rounded down. Where nothing is cut off at the ends, take is divided out of the mean of the "
    "released numbers, and the variance of N is subtracted from their variance before take is divided out of it twice; "
    "`dalenius estimate` does so, with what rounding can amount to."
)


@dataclass(frozen=True)
class Certificate:
    """What a stranger re-checks: the kind of the proof of optimality, and its data.

    The proof of privacy needs no data beside the joint pmf and the channel.
    """

    kind: str
    proof: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **self.proof}

    @classmethod
    def from_json(cls, document: object) -> Self:
        if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
            raise InputError("a certificate is an object that names its kind")
        return cls(document["kind"], {k: v for k, v in document.items() if k != "kind"})


@dataclass(frozen=True)
class Design:
    """What every family returns. Maximise: value <= optimum <= bound; minimise: bound <= optimum <= value.

    `proved` holds, guarantee by guarantee, the figures that the checker proved, `proofs` the data that it needs for
    them beside joint pmf and channel (mostly none), `realised` the figures limit by limit; `entropy` is that of the
    wanted variables in bits, to compare the value with; `decoder` says what a letter means to a user who has side
    information, and `beside` what a release that ignores that information tells together with it; `remarks` are what a
    reader must be told.

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
    certificate: Certificate
    method: str
    proved: tuple[Mapping[str, Any], ...] = ()
    proofs: tuple[Mapping[str, Any], ...] = ()
    entropy: Fraction = Fraction(0)
    remarks: tuple[str, ...] = ()
    realised: tuple[Mapping[str, Any], ...] = ()
    decoder: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    beside: Fraction | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def gap(self) -> Fraction:
        """Distance between the value and the proved bound; never negative."""
        return abs(self.bound - self.value)

    @property
    def unit(self) -> str:
        return self.problem.objective.unit

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
        counted = source.max_rows is None or all(isinstance(g, LocalDP) for g in promises)
        return source.unit if counted else "row"

    @property
    def weights(self) -> str | None:
        """The column of survey weights, if it leaves with the released table."""
        weights = self.problem.source.weights if isinstance(self.problem.source, TableSource) else None
        return weights if weights in self.problem.kept else None

    def fingerprint(self) -> str:
        """The SHA-256 of the file: what `sha256sum design.json` prints, and what card and reports show."""
        return hashlib.sha256(self.dumps().encode()).hexdigest()

    def digest(self) -> str:
        """Names what is drawn: the channel, the part each column plays and the promises; not how it was found."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        sections = self.problem.to_json()
        said = [self.channel.to_json(), sections["mechanism"], sections["objective"], sections["guarantee"]]
        said += [sections[k] for k in ("limit", "side_information", "robust") if k in sections]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """The `design.json` format, without a proof of anything that it does not contain. Confidential."""
        return self._written(self.problem.law.to_json())

    def outline(self) -> dict[str, Any]:
        """The same for those who only tell of it: without the outcomes of the joint pmf, which may be a million."""
        return self._written(self.problem.law.to_json() if isinstance(self.problem.law, Samples) else {})

    def _written(self, joint: Any) -> dict[str, Any]:
        maximise = self.problem.objective.sense == "maximize"
        value, bound = (down(self.value), up(self.bound)) if maximise else (up(self.value), down(self.bound))
        sections = self.problem.to_json()
        return {
            "confidential": True,
            "format": FORMAT,
            "unit": self.unit,
            "value": value,
            "bound": bound,
            "gap": up(abs(exact(bound) - exact(value))),
            "entropy_bits": up(self.entropy),
            "method": self.method,
            **{k: sections[k] for k in ("source", "columns") if k in sections},
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
            "certificate": self.certificate.to_json(),
            "remarks": list(self.remarks),
            "problem_digest": self.problem.digest,
            "versions": dict(self.versions),
        }

    def _limits(self, promised: list[dict[str, Any]]) -> list[dict[str, Any]]:
        figures = self.realised or ({},) * len(promised)
        return [{"promised": p, "proved": dict(f)} for p, f in zip(promised, figures, strict=True)]

    def card(self) -> dict[str, Any]:
        """The `card.json` format, public: the channel and what was proved, without counts and without the joint pmf."""
        design, source, noise = self.outline(), self.problem.source, self.certificate.kind == "noise"
        return {
            "format": CARD_FORMAT,
            "released": list(self.channel.output),
            "kept": list(self.problem.kept),
            "unit_of_privacy": self._unit_of_privacy,
            **({"max_rows": source.max_rows} if isinstance(source, TableSource) and source.max_rows else {}),
            **({"weights": self.weights} if self.weights else {}),
            "designed_on": "a public distribution" if self.public_prior else "the distribution of the original records",
            "order": self.problem.order,
            **({"shape": shape} if (shape := {k: v for k, v in design["mechanism"].items() if k in SHAPE}) else {}),
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
                "kind": self.certificate.kind,
                "digest": self.fingerprint(),
                **({k: v for k, v in self.certificate.proof.items() if k != "line"} if noise else {}),  # no counts
            },
            "estimate": NUMBERS if noise else LETTERS,
            "remarks": design["remarks"],
            "versions": design["versions"],
        }

    def dumps(self) -> str:
        """`design.json` as text, one line for each record."""
        return self._text

    @cached_property
    def _text(self) -> str:  # a release needs it for the checker, the card, the ledger and the file
        return laid_out(self.to_json())

    @classmethod
    def from_json(cls, document: object) -> Self:
        """Read back what `to_json` wrote. Nothing in it is believed before `verify` has proved it."""
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InputError(f"this is not a design file of format {FORMAT!r}")
        try:
            sections = {k: document[k] for k in ("source", "columns", "side_information", "robust") if k in document}
            if "limits" in document:
                sections["limit"] = [entry["promised"] for entry in document["limits"]]
            sections |= {"mechanism": document["mechanism"], "objective": document["objective"]}
            sections["guarantee"] = [g["promised"] for g in document["guarantees"]]
            problem = Problem.from_document(
                sections, joint=joint_of(document["joint"]), digest=str(document["problem_digest"])
            )
            return cls(
                problem=problem,
                channel=channel_of(document["channel"]),
                value=exact(document["value"], "value"),
                bound=exact(document["bound"], "bound"),
                certificate=Certificate.from_json(document["certificate"]),
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
            )
        except (KeyError, TypeError, AttributeError) as e:
            raise InputError(f"the design file is damaged: {type(e).__name__} {e}") from None
