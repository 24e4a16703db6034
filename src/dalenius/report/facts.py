"""What a design file or a card says, read alike: the words of the report are made from these facts and no others."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Any

from dalenius.errors import InputError
from dalenius.wording import joined, once, shown

__all__ = ["Document", "Facts", "Promise", "joined", "once", "shown"]

Document = Mapping[str, Any]

ABOUT_SECRETS = (
    *("independent", "leakage", "worst_case_leakage", "information_privacy"),
    *("guess", "maximal_leakage", "total_variation", "sibson"),
)
"""Promises whose key names the columns of a secret; maximal leakage may also be about everything."""
ABOUT_RECORDS = ("local_dp", "dalenius", "contraction")


@dataclass(frozen=True)
class Promise:
    """One guarantee: its kind, what it is about, how it was written and the figures that were proved for it."""

    kind: str
    secret: tuple[str, ...]
    written: Document
    figures: Document
    samples: int = 0  # how many samples the name of the secret stands for, each alone

    @classmethod
    def read(cls, guarantee: Document, samples: int = 0) -> "Promise":
        written = guarantee["promised"]
        figures = guarantee.get("proved") or {}
        kind = next((k for k in (*ABOUT_SECRETS, *ABOUT_RECORDS) if k in written), "")
        secret = written[kind] if kind in ABOUT_SECRETS and written[kind] is not True else ()
        return cls(kind, (secret,) if isinstance(secret, str) else tuple(secret), written, figures, samples)

    @property
    def about(self) -> str:
        """The secret in words; several names are one secret."""
        if self.samples > 1 and len(self.secret) == 1:
            return f"any one of the {self.samples} samples {shown(self.secret[0])}"
        return joined(self.secret) + (" together" if len(self.secret) > 1 else "")


@dataclass(frozen=True)
class Facts:
    """A design (`public` false) or a card (`public` true); `origin` says what the figures were counted from."""

    document: Document
    public: bool
    released: tuple[str, ...]
    kept: tuple[str, ...]
    unit: str
    max_rows: int | None
    prior: bool
    origin: str
    order: str
    promises: tuple[Promise, ...]
    remarks: tuple[str, ...]
    kind: str
    rows: int | None = None  # how many were released, where that is known

    @classmethod
    def read(cls, document: Document) -> "Facts":
        """From `design.to_json()` or `design.card()`, or from the same read back from a file."""
        try:
            return cls._read(document)
        except (KeyError, TypeError, AttributeError) as e:
            raise InputError(
                f"this is neither a design nor a card: {type(e).__name__} {e}", do="Name a design.json or a card.json."
            ) from None

    @classmethod
    def _read(cls, document: Document) -> "Facts":
        channel = document["channel"]
        samples = channel["n"] if channel.get("form") == "types" and "columns" not in channel else 0
        promises = tuple(Promise.read(g, samples) for g in document["guarantees"])
        remarks = tuple(document.get("remarks", ()))
        released = tuple(document["channel"].get("output", ()))
        if "mechanism" not in document:
            return cls(
                document=document,
                public=True,
                released=tuple(document.get("released", released)),
                kept=tuple(document.get("kept", ())),
                unit=document.get("unit_of_privacy", "row"),
                max_rows=document.get("max_rows"),
                prior=document.get("designed_on") == "a public distribution",
                origin="unknown",
                order=document.get("order", "shuffle"),
                promises=promises,
                remarks=remarks,
                kind=document["proof"]["kind"],
            )
        mechanism, source = document["mechanism"], document.get("source", {})
        return cls(
            document=document,
            public=False,
            released=released,
            kept=(*mechanism.get("keep", ()), *mechanism.get("strata", ())),
            unit=source.get("unit", "row"),
            max_rows=source.get("max_rows"),
            prior="prior" in source or "conditionally_iid" in document.get("joint", ()),
            origin="table" if "table" in source else "pmf",
            order=mechanism.get("order", "shuffle"),
            promises=promises,
            remarks=remarks,
            kind=document["certificate"]["kind"],
        )

    def person(self, rows: int) -> str:
        """One person with so many rows at most, by the name of its column where that is known."""
        return f"one {'person' if self.unit == 'row' else shown(self.unit)} (at most {rows} rows)"

    @property
    def leaving(self) -> str:
        """Everything that leaves: the released columns and the kept ones."""
        return joined((*self.released, *self.kept))

    @property
    def side(self) -> str | None:
        """What the user has anyway and every leakage counts."""
        return (self.document.get("side_information") or {}).get("variable")

    def letter(self, index: object) -> str:
        """The released combination of that number, as `Y = 2` or `a · b · c`; empty when there is none."""
        output = self.document["channel"].get("output", {})
        if not isinstance(index, int) or not 0 <= index < prod(map(len, output.values())) or not output:
            return ""
        letters = next(islice(product(*output.values()), index, None))
        if len(letters) == 1:
            return f"{shown(next(iter(output)))} = {shown(letters[0])}"
        return " · ".join(map(shown, letters))
