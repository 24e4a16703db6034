"""What a ledger takes from the file of a release: its channel, its joint pmf, and figures proved from these alone.

No figure that the file claims is used. `None` stands for "no finite figure".
"""

import json
from collections import Counter
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from dalenius.convert import ENOUGH, checked, digest, told_of
from dalenius.core import channel_of
from dalenius.core.arithmetic import BITS, log2, nats, times_log2
from dalenius.core.expanding import DENSE, parts_of
from dalenius.core.numbers import exact
from dalenius.core.reading import Release, figures, information, margins, refusing, require, stochastic
from dalenius.kernel.adversary import contraction
from dalenius.kernel.numbers import Work
from dalenius.ledger.rules import added, percolated

__all__ = ["Mechanism", "Together", "silent"]

SMALL = 1 << 15  # combinations of input and letters; a larger joint channel is not recomputed
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
        """From a part of a document, as sentences read it."""
        found = cls.__new__(cls)
        found.document, found.raw, found.card = document, document, "joint" not in document
        found.text, found.digest = "", ""
        found._write_out()
        return found

    def _write_out(self) -> None:
        """The rows of the channel and the law, in whole numbers."""
        channel = self.document["channel"]
        noisy = channel.get("form") == "noise"  # whose figures are proved along its axes
        self.noise = checked(self.text, work=ENOUGH, privacy=True).kept.stated if noisy else None
        if self.noise is not None and not channel_of(channel).few:  # never written out
            channel = silent(channel["inputs"])
        self.inputs, self.table, self.scale = stochastic(channel)
        self.rows = sorted({tuple(row) for row in self.table})
        self.letters = len(self.table[0])
        self.law = None if self.card else Release(self.document | {"channel": channel})
        self.release = self.law if channel is self.document["channel"] else None
        self.kept: list[str] = list(self.document["kept"]) if self.law is None else list(self.law.kept)

    def _read(self, text: str) -> None:
        """The document, as sentences read it and as it stands, and its fingerprint."""
        self.text, self.raw, self.document = told_of(text)
        self.card = "law" not in self.raw
        self.digest = digest(self.text)

    @staticmethod
    @lru_cache(maxsize=512)
    def read(text: str) -> "Mechanism":
        """From the text of a design or a card; read once."""
        with refusing():
            document = told_of(text)[2]
            channel = document["channel"]
            size = prod(len(a) for side in ("inputs", "output") for a in channel[side].values())
            card = "mechanism" not in document
            apart = "margins" in document.get("joint", {}) or (card and size > DENSE)
            return ColumnByColumn(text) if channel.get("form") == "product" and apart else Mechanism(text)

    @property
    def kind(self) -> str:
        return "card" if self.card else "design"

    @property
    def origin(self) -> str:
        """Digest of the design that this is, or that its card says it was made from."""
        return str(self.document.get("proof", {}).get("digest")) if self.card else self.digest

    @property
    def channel(self) -> str:
        """What was drawn from, as text to compare."""
        return json.dumps([self.raw["channel"], list(self.inputs)], sort_keys=True)

    @property
    def described(self) -> dict[str, Any]:
        """What it reads, releases and promises, for a list of releases."""
        channel = self.document["channel"]
        return {
            "reads": list(channel["inputs"]),
            "released": [*channel["output"], *self.kept],
            "promises": [g["promised"] for g in self.document["guarantees"]],
        }

    @property
    def has_law(self) -> bool:
        """Whether the file has the joint pmf of the records."""
        return self.law is not None

    @property
    def side_information(self) -> bool:
        return "side_information" in self.document

    @property
    def alphabets(self) -> dict[str, list[str]]:
        """Letters of everything that the mechanism reads or passes on; a card does not tell those of kept columns."""
        joint = {} if self.card else self.document["joint"]
        groups = [] if self.card else joint.get("independent") or joint.get("margins") or [joint]
        known = {n: a for group in groups for n, a in group["variables"].items()} | self.inputs
        return {n: known[n] for n in dict.fromkeys([*self.inputs, *self.kept]) if n in known}

    @cached_property
    def passed_on(self) -> int | None:
        """How many outcomes the kept columns have; 1 when nothing is kept, None when the file does not say."""
        known = self.alphabets
        return prod(len(known[n]) for n in self.kept) if set(self.kept) <= set(known) else None

    @cached_property
    def level(self) -> Fraction | None:
        """The level of local differential privacy in nats: ln of the largest ratio in a column, over all inputs."""
        if self.noise is not None:
            return self.noise["epsilon_nats"]
        columns = [c for c in zip(*self.rows, strict=True) if max(c)]
        if self.passed_on != 1 or any(not min(c) for c in columns):
            return None
        return nats(max(Fraction(max(c), min(c)) for c in columns))

    @cached_property
    def contraction(self) -> Fraction:
        """eta_KL of the channel, rounded up: the largest share of any information that passes."""
        if self.noise is not None:
            return self.noise["eta_kl"] or Fraction(0)
        if self.passed_on != 1 or len(self.rows) * len(self.rows) * self.letters > 10 * SMALL:
            return Fraction(1)
        return contraction([list(row) for row in self.rows], Work(ENOUGH))

    @cached_property
    def capacity_bits(self) -> Fraction | None:
        """A bound of I(X; Y, K) for every distribution of the input: log2 |K| + max_x D(p(y|x) || q), for any q.

        Blahut and Arimoto's iteration proposes q in floats; the divergences are then bounded in whole numbers.
        """
        if self.noise is not None:
            return self.noise["capacity_bits"]
        if self.passed_on is None:
            return None
        size = Fraction(log2(Fraction(min(len(self.rows), self.letters)))[1], 1 << BITS)
        kept = Fraction(log2(Fraction(self.passed_on))[1], 1 << BITS)
        if len(self.rows) * self.letters > LOGS:
            return kept + size
        q = _centre(np.array([[float(Fraction(v, self.scale)) for v in row] for row in self.rows]))
        away = (
            sum(
                times_log2(Fraction(v, self.scale), Fraction(v, self.scale) / t)[1]
                for v, t in zip(row, q, strict=True)
                if v
            )
            for row in self.rows
        )
        return kept + min(size, Fraction(max(0, *away), 1 << BITS))

    @cached_property
    def rate_bits(self) -> Fraction | None:
        """I(X; Y, K) under the joint pmf of the design."""
        if self.noise is not None and self.law is not None:
            return self.noise["leakage_bits"]
        if self.release is None:
            return None
        return information(self.release.with_output([*self.alphabets], []))[1]

    @cached_property
    def individual_bits(self) -> Fraction | None:
        """What a proved promise `dalenius` allows about one record, when all records are the input of one draw."""
        if self.card or self.noise is not None or "table" in self.document.get("source", {"table": ""}):
            return None  # noise is drawn for each record by itself
        found = [
            exact(g["promised"]["at_most_bits"]) for g in self.document["guarantees"] if "dalenius" in g["promised"]
        ]
        return min(found, default=None)

    def group_bits(self, size: int) -> Fraction | None:
        """The same for so many rows of one person, where there is a figure."""
        return self.individual_bits if size == 1 else None

    def alone(self, secret: list[str]) -> dict[str, Fraction | None] | None:  # noqa: ARG002
        """What it tells about a secret by itself, where it is not written out to be multiplied with others."""
        return None

    def agrees(self, other: "Mechanism") -> bool:
        """Whether two designs can stand on one distribution: the columns that they share have the same law in both."""
        return self.law is not None and other.law is not None and _agree(self.law, other.law)


def silent(inputs: dict[str, list[str]]) -> dict[str, Any]:
    """A channel of the same inputs that tells nothing, where the true one is not written out."""
    return {"inputs": inputs, "output": {"Y": ["0"]}, "rows": [["1"]] * prod(map(len, inputs.values()))}


class ColumnByColumn(Mechanism):
    """Columns that are perturbed each by a channel of its own: what they are charged adds up, nothing is multiplied.

    For independent draws I(X; Y) <= sum_j I(X_j; Y_j), however the columns depend on each other.
    """

    def __init__(self, text: str) -> None:
        with refusing():
            self._read(text)
            self.noise, self.law, self.release = None, None, None
            self.kept = list(self.document.get("kept", []))
            require(not self.kept, "columns that are perturbed one by one are charged without kept columns")
            self.inputs = self.document["channel"]["inputs"]
            laws = self.document.get("joint", {}).get("margins") or []
            self.parts = []
            for k, part in enumerate(parts_of(self.document["channel"])):
                single: dict[str, Any] = {"channel": part, "kept": [], "guarantees": []}
                if laws:
                    single |= {"joint": laws[k], "mechanism": {"observe": list(part["inputs"])}}
                self.parts.append(Mechanism.told(single))

    @cached_property
    def level(self) -> Fraction | None:
        """The sum of the levels of the columns."""
        return added(part.level for part in self.parts)

    @cached_property
    def contraction(self) -> Fraction:
        """1 - prod (1 - eta_KL of each column): a record loses more by passing through all of them."""
        return percolated(part.contraction for part in self.parts)

    @cached_property
    def capacity_bits(self) -> Fraction | None:
        return added(part.capacity_bits for part in self.parts)

    @cached_property
    def rate_bits(self) -> Fraction | None:
        """A bound of I(X; Y): the sum over the columns."""
        return added(part.rate_bits for part in self.parts)

    def agrees(self, other: "Mechanism") -> bool:
        """Margins do not say whether two designs stand on one joint distribution; the same file does."""
        return self is other


@lru_cache(maxsize=1 << 16)
def _agree(one: Release, other: Release) -> bool:
    if one is other or (one.names, one.atoms, one.total) == (other.names, other.atoms, other.total):
        return True
    shared = [n for n in one.names if n in other.names]
    a, b = (r.weights(r.outcomes(shared)) for r in (one, other))
    return {x: n * other.total for x, n in a.items()} == {x: n * one.total for x, n in b.items()}


def _centre(rows: np.ndarray[Any, Any]) -> list[Fraction]:
    """A pmf near the one that all rows are equally far from; positive wherever a row is."""
    weight = np.full(len(rows), 1 / len(rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(300):
            away = np.nansum(rows * np.log(rows / (weight @ rows)), axis=1)
            weight = weight * np.exp(away - away.max())
            weight = weight / weight.sum()
    mean = 0.999999999 * (weight @ rows) + 1e-9 * rows.mean(axis=0)
    units = [int(v * 2**80) + (1 if v else 0) for v in mean.tolist()]
    return [Fraction(n, sum(units)) for n in units]


class Together(Release):
    """Several mechanisms, drawn independently, on one joint pmf: what leaves is all their letters and kept columns.

    p(s, y_1, ..., y_k) = sum_x p(s, x) prod_j p_j(y_j | x), in whole numbers out of total * scale.
    """

    def __init__(self, host: Mechanism, members: list[Mechanism]) -> None:
        require(host.release is not None, "a card holds no joint pmf")
        assert host.release is not None
        self.names, self.atoms, self.total = host.release.names, host.release.atoms, host.release.total
        self.members, self.inputs, self.scale = members, [], prod(m.scale for m in members)
        places = []
        for member in members:
            row = [0] * len(self.atoms)
            for name, letters in member.inputs.items():
                place = {letter: k for k, letter in enumerate(letters)}
                row = [r * len(place) + place[x] for r, (x,) in zip(row, self.outcomes([name]), strict=True)]
            places.append(row)
        self.places = list(zip(*places, strict=True))
        self.kept = self.leaving = list(dict.fromkeys(n for m in members for n in m.kept))
        self.width = prod(len(m.table[0]) for m in members)

    def size(self, secret: list[str]) -> int:
        """How many combinations `with_output` adds up."""
        kinds = set(zip(self.outcomes(secret), self.outcomes(self.kept), self.places, strict=True))
        return len(kinds) * prod(m.letters for m in self.members)

    def with_output(self, secret: list[str], given: list[str], kept: list[str] | None = None) -> Counter[Any]:
        """Weight of each (secret, given, (letters, kept columns))."""
        beside = self.outcomes(self.kept if kept is None else kept)
        inputs = self.weights(self.outcomes(secret), self.outcomes(given), beside, self.places)
        out: Counter[Any] = Counter()
        for (s, g, k, places), w in inputs.items():
            rows = [[(y, v) for y, v in enumerate(m.table[x]) if v] for m, x in zip(self.members, places, strict=True)]
            for letters in product(*rows):
                out[s, g, (tuple(y for y, _ in letters), k)] += w * prod(v for _, v in letters)
        return out

    def about(self, secret: list[str]) -> dict[str, Fraction | None]:
        """Bits on average and of the worst letter, and nats of odds, about a secret; exactly 0 when independent."""
        q = self.with_output(secret, [])
        total, prior, out, _ = margins(q)
        if all(q[s, (), y] * total == prior[s, ()] * out[(), y] for s, _ in prior for _, y in out):
            return dict.fromkeys(("leakage_bits", "worst_letter_bits", "odds_nats"), Fraction(0))
        shown = figures(self, secret)
        return {
            k: None if shown[k] is None else exact(shown[k]) for k in ("leakage_bits", "worst_letter_bits", "odds_nats")
        }
