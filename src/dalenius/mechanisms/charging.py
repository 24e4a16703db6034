r"""What a ledger takes from the file of a release: its channel, its joint pmf, and figures proved from these alone.

No figure that the file claims is used. `None` stands for "no finite figure". Figures of one channel p(y | x) are

    level          ln max p(y | x) / p(y | x')          over inputs x, x' and letters y
    guess_factor   sum_y max_x p(y | x)                 times the outcomes of kept columns
    contraction    eta_KL                               the largest share of any information that passes
    capacity_bits  max_x D(p(y | x) || q)               for any q; never less than I(X; Y) under every law of X

all of them rounded up. `charging_together` has several mechanisms on one joint pmf.
"""

import json
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np

from dalenius.core.arithmetic import BITS, exp, log2, nats, times_log2
from dalenius.core.forms import WITHHELD
from dalenius.core.numbers import exact
from dalenius.core.reading import Release, information, refusing, stochastic
from dalenius.documents import ENOUGH, digest, told_of
from dalenius.kernel.adversary import contraction
from dalenius.kernel.numbers import Work

__all__ = ["Mechanism", "silent"]

SMALL = 1 << 15  # combinations of input and letters; a larger joint channel is not recomputed
MOST_NATS = 100
LOGS = 100_000  # entries of a channel whose capacity is bounded by divergences; a larger one by its size


class Mechanism:
    """One channel and, from a design, the joint pmf it was proved on.

    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> parity = Mechanism(solve(xor()).dumps())
    >>> parity.level is None, parity.contraction, parity.capacity_bits, parity.rate_bits
    (True, Fraction(1, 1), Fraction(1, 1), Fraction(1, 1))
    """

    at_once = False
    """Whether one draw is made from all records together, whatever the rows of a person; else one for each row."""

    def __init__(self, text: str) -> None:
        with refusing():
            self._read(text)
            self._write_out()

    @classmethod
    def told(cls, document: dict[str, Any]) -> "Mechanism":
        """From a part of a document, as sentences read it.

        Parameters
        ----------
        document : dict
            As `documents.told_of` returns it.

        Returns
        -------
        Mechanism
        """
        found = cls.__new__(cls)
        found.document = document
        found.raw = document
        found.card = "joint" not in document
        found.text = ""
        found.digest = ""
        found._write_out()
        return found

    def _write_out(self) -> None:
        """The rows of the channel and the law, in whole numbers."""
        channel = self._written(self.document["channel"])
        self.inputs, self.table, self.scale = stochastic(channel)
        self.rows = sorted({tuple(row) for row in self.table})
        self.letters = len(self.table[0])
        # A model of samples is stated and never counted: no law of these people, who need not follow it.
        stated = self.card or "conditionally_iid" in self.document["joint"]
        self.law = None if stated else Release(self.document | {"channel": channel})
        self.listed = channel is self.document["channel"]
        self.release = self.law if self.listed else None
        self.kept: list[str] = list(self.document.get("kept", [])) if self.law is None else list(self.law.kept)

    def _written(self, channel: dict[str, Any]) -> dict[str, Any]:
        """The channel that is written out: the one of the document, unless a form has another."""
        return channel

    def _read(self, text: str) -> None:
        """The document, as sentences read it and as it stands, and its fingerprint."""
        self.text, self.raw, self.document = told_of(text)
        self.card = "law" not in self.raw
        self.digest = digest(self.text)

    @property
    def kind(self) -> str:
        return "card" if self.card else "design"

    @property
    def origin(self) -> str:
        """Digest of the design that this is, or that its card says it was made from; else that of the card."""
        said = str(self.document.get("proof", {}).get("digest") or "") if self.card else ""
        return said or self.digest

    @property
    def source(self) -> dict[str, Any]:
        """Where the records came from, as far as the file says it."""
        return dict(self.document.get("source", self.document))

    @property
    def channel(self) -> str:
        """What was drawn from, as text to compare; a card that does not show it is like itself alone."""
        shown = self.digest if self.raw["channel"].get("form") == WITHHELD else self.raw["channel"]
        return json.dumps([shown, list(self.inputs)], sort_keys=True)

    @property
    def described(self) -> dict[str, Any]:
        """What it reads, releases and promises, for a list of releases."""
        channel = self.document["channel"]
        return {
            "reads": list(channel["inputs"]),
            "released": [*channel["output"], *self.kept],
            "promises": [guarantee["promised"] for guarantee in self.document["guarantees"]],
        }

    @property
    def has_law(self) -> bool:
        """Whether the file has the joint pmf of the records."""
        return self.law is not None

    @property
    def follows_law(self) -> bool:
        """Whether that joint pmf is the one of the records: not of public statistics, which they need not follow.

        What travels beside a design names the public statistics. Where it is missing, only a law that was counted is
        taken for that of the records.
        """
        source = self.document.get("source", {})
        known = source or any(self.document.get(said) for said in ("counted", "versions"))
        return self.has_law and bool(known) and "prior" not in source

    @property
    def side_information(self) -> bool:
        return "side_information" in self.document

    @property
    def alphabets(self) -> dict[str, list[str]]:
        """Letters of everything that the mechanism reads or passes on; a card does not tell those of kept columns."""
        joint = {} if self.card else self.document["joint"]
        groups = [] if self.card else joint.get("independent") or joint.get("margins") or [joint]
        if "markov" in joint or "conditionally_iid" in joint:  # all samples are inputs
            groups = []
        known = {name: letters for group in groups for name, letters in group["variables"].items()} | self.inputs
        return {name: known[name] for name in dict.fromkeys([*self.inputs, *self.kept]) if name in known}

    @property
    def listed_values(self) -> dict[str, list[str]]:
        """The values of every column that the file speaks of."""
        return {variable["name"]: variable["letters"] for variable in self.raw.get("variables", ())}

    def reads_alike(self, name: str, values: list[str] | None) -> bool:
        """Whether it reads a column in these values, or not at all; in other ones, it can tell more than these hold.

        Parameters
        ----------
        name : str
            Of the column.
        values : list of str or None
            As another release reads them.

        Returns
        -------
        bool
        """
        return self.alphabets.get(name, values) == values

    @cached_property
    def passed_on(self) -> int | None:
        """How many outcomes the kept columns have; 1 when nothing is kept, None when the file does not say."""
        known = self.alphabets
        return prod(len(known[name]) for name in self.kept) if set(self.kept) <= set(known) else None

    @cached_property
    def level(self) -> Fraction | None:
        """The level of local differential privacy in nats: ln of the largest ratio in a column, over all inputs."""
        columns = [column for column in zip(*self.rows, strict=True) if max(column)]
        if self.passed_on != 1 or any(not min(column) for column in columns):
            return None
        return nats(max(Fraction(max(column), min(column)) for column in columns))

    @cached_property
    def guess_factor(self) -> Fraction | None:
        """sum_y max_x p(y | x), times the outcomes of kept columns: by how much a guess of anything becomes likelier.

        Of a channel that is not written out a bound: e^level, or the number of its inputs.
        """
        if self.passed_on is None:
            return None
        if type(self) is Mechanism and self.listed:
            return self.passed_on * Fraction(sum(map(max, zip(*self.rows, strict=True))), self.scale)
        inputs = Fraction(prod(map(len, self.inputs.values())))
        if self.level is None or self.level > MOST_NATS:
            return self.passed_on * inputs
        return self.passed_on * min(inputs, exp(self.level)[1])

    @cached_property
    def variation(self) -> Fraction:
        """The largest total variation of two rows, or 1: how far the law of any secret moves on average, at most."""
        if type(self) is not Mechanism or not self.listed or self.passed_on != 1 or len(self.rows) ** 2 > SMALL:
            return Fraction(1)
        apart = max(
            sum(abs(a - b) for a, b in zip(row, other, strict=True)) for row in self.rows for other in self.rows
        )
        return Fraction(apart, 2 * self.scale)

    @cached_property
    def contraction(self) -> Fraction:
        """eta_KL of the channel, rounded up: the largest share of any information that passes."""
        if self.passed_on != 1 or len(self.rows) * len(self.rows) * self.letters > 10 * SMALL:
            return Fraction(1)
        return contraction([list(row) for row in self.rows], Work(ENOUGH))

    @cached_property
    def capacity_bits(self) -> Fraction | None:
        """A bound of I(X; Y, K) for every distribution of the input: log2 |K| + max_x D(p(y|x) || q), for any q.

        Blahut and Arimoto's iteration proposes q in floats; the divergences are then bounded in whole numbers.
        """
        if self.passed_on is None:
            return None
        size = Fraction(log2(Fraction(min(len(self.rows), self.letters)))[1], 1 << BITS)
        kept = Fraction(log2(Fraction(self.passed_on))[1], 1 << BITS)
        if len(self.rows) * self.letters > LOGS:
            return kept + size
        shares = [[Fraction(entry, self.scale) for entry in row] for row in self.rows]
        centre = _centre(np.array([[float(share) for share in row] for row in shares]))
        # The upper end of every divergence: the capacity is at most the largest of them, whatever the centre is.
        away = [
            sum(times_log2(share, share / at)[1] for share, at in zip(row, centre, strict=True) if share)
            for row in shares
        ]
        return kept + min(size, Fraction(max(0, *away), 1 << BITS))

    @cached_property
    def rate_bits(self) -> Fraction | None:
        """I(X; Y, K) under the joint pmf of the design."""
        if self.release is None:
            return None
        return information(self.release.with_output([*self.alphabets], []))[1]

    def known_bits(self, secret: list[str], columns: list[str]) -> Fraction | None:
        """I(S; columns) under the joint pmf of the design: what is drawn from these columns tells no more.

        Parameters
        ----------
        secret : list of str
            Columns of the law.
        columns : list of str
            What is drawn from.

        Returns
        -------
        Fraction or None
            In bits; None where the law does not have all of these columns.
        """
        if self.release is None or not {*secret, *columns} <= set(self.release.names):
            return None
        outcomes = self.release.outcomes
        return information(self.release.weights(outcomes(secret), outcomes([]), outcomes(columns)))[1]

    @cached_property
    def individual_bits(self) -> Fraction | None:
        """What a proved promise `dalenius` allows about one record, when all records are the input of one draw."""
        if self.card or "table" in self.document.get("source", {"table": ""}):
            return None
        promises = [guarantee["promised"] for guarantee in self.document["guarantees"]]
        return min((exact(said["at_most_bits"]) for said in promises if "dalenius" in said), default=None)

    def group_bits(self, size: int) -> Fraction | None:
        """The same for so many rows of one person, where there is a figure.

        Parameters
        ----------
        size : int
            How many rows of one person.

        Returns
        -------
        Fraction or None
        """
        return self.individual_bits if size == 1 else None

    def about_bits(self, values: int, *, own: bool) -> Fraction | None:  # noqa: ARG002
        """What is told of something with so many values for each letter (`own`), or of somebody else's, if known.

        Parameters
        ----------
        values : int
            How many values it has.
        own : bool
            Whether each letter has one of its own.

        Returns
        -------
        Fraction or None
        """
        return None

    # --- about one record of a table whose other records are known ----------------------------------------------------
    def independent_bits(self, size: int) -> Fraction | None:
        """What is told about so many rows of one person, when records are independent: each row tells what it can.

        Parameters
        ----------
        size : int
            How many rows of one person.

        Returns
        -------
        Fraction or None
        """
        return None if self.capacity_bits is None else size * self.capacity_bits

    def guessed(self, size: int) -> Fraction | None:
        """By how much a guess about a person with so many rows becomes likelier, when records are independent.

        Parameters
        ----------
        size : int
            How many rows of one person.

        Returns
        -------
        Fraction or None
        """
        return None if self.guess_factor is None else self.guess_factor**size

    def moved(self, size: int) -> Fraction:
        """How far the law of a secret of a person with so many rows moves, when records are independent.

        Parameters
        ----------
        size : int
            How many rows of one person.

        Returns
        -------
        Fraction
        """
        return size * self.variation

    def neighbours(self, size: int) -> Fraction | None:
        """The level of differential privacy between tables that differ in so many rows; None: there is none.

        Parameters
        ----------
        size : int
            How many rows of one person.

        Returns
        -------
        Fraction or None
        """
        return None if self.level is None else size * self.level

    def concentrated(self, size: int) -> Fraction | None:
        """rho of concentrated differential privacy between such tables; None: nothing bounds it.

        Half the square of a pure level (Bun & Steinke 2016, Prop. 3.3); rows are drawn by themselves, and add up.

        Parameters
        ----------
        size : int
            How many rows of one person.

        Returns
        -------
        Fraction or None
        """
        return None if self.level is None else size * self.level * self.level / 2

    def alone(self, secret: list[str]) -> dict[str, Fraction | None] | None:  # noqa: ARG002
        """What it tells about a secret by itself, where it is not written out to be multiplied with others.

        Parameters
        ----------
        secret : list of str
            Columns of the law.

        Returns
        -------
        dict or None
            As `Together.about`.
        """
        return None

    def agrees(self, other: "Mechanism") -> bool:
        """Whether two designs can stand on one distribution: the columns that they share have the same law in both.

        Parameters
        ----------
        other : Mechanism
            Of another design.

        Returns
        -------
        bool
        """
        return self.law is not None and other.law is not None and _agree(self.law, other.law)


def silent(inputs: dict[str, list[str]]) -> dict[str, Any]:
    """A channel of the same inputs that tells nothing, where the true one is not written out.

    Parameters
    ----------
    inputs : dict
        Letters by the names of the inputs.

    Returns
    -------
    dict
        In the format of channels.
    """
    return {"inputs": inputs, "output": {"Y": ["0"]}, "rows": [["1"]] * prod(map(len, inputs.values()))}


@lru_cache(maxsize=1 << 16)
def _agree(one: Release, other: Release) -> bool:
    if one is other or (one.names, one.atoms, one.total) == (other.names, other.atoms, other.total):
        return True
    shared = [name for name in one.names if name in other.names]
    mine = one.weights(one.outcomes(shared))
    theirs = other.weights(other.outcomes(shared))
    # The same shares, compared as whole numbers over the product of both totals.
    return {x: many * other.total for x, many in mine.items()} == {x: many * one.total for x, many in theirs.items()}


def _centre(rows: np.ndarray[Any, Any]) -> list[Fraction]:
    """A pmf near the one that all rows are equally far from; positive wherever a row is."""
    weight = np.full(len(rows), 1 / len(rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(300):
            away = np.nansum(rows * np.log(rows / (weight @ rows)), axis=1)
            weight = weight * np.exp(away - away.max())
            weight = weight / weight.sum()
    mean = 0.999999999 * (weight @ rows) + 1e-9 * rows.mean(axis=0)
    units = [int(value * 2**80) + (1 if value else 0) for value in mean.tolist()]
    return [Fraction(unit, sum(units)) for unit in units]
