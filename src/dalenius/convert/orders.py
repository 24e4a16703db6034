"""The orders of both versions: version 1 by the texts of letters, version 2 by their places."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import gcd
from typing import Any

from dalenius.documents.text import number

__all__ = ["Json", "Orders", "Place", "division"]


Json = dict[str, Any]


Place = tuple[int, ...]


class Orders:
    """The records of a design of version 1, and the orders of both versions.

    Attributes
    ----------
    atoms : list
        Each outcome that occurs, with its whole-number weight out of `total`.
    beside_then, beside : list of str
        What leaves beside the letter, in the order of version 1 and of version 2.
    occur_then, occur : list of int
        The inputs that occur by their places in version 2: in the order of version 1, and rising.
    """

    def __init__(self, design: Json) -> None:
        self.design = design
        joint = _multiplied(design["joint"])
        self.alphabets: dict[str, list[str]] = joint["variables"]
        self.code = {name: {letter: k for k, letter in enumerate(letters)} for name, letters in self.alphabets.items()}
        shares = [(record, number(record["p"])) for record in joint["pmf"]]
        scale = 1
        for bottom in {share.denominator for _, share in shares}:
            scale = scale * bottom // gcd(scale, bottom)
        self.records = [record for record, _ in shares]
        self.atoms = [(record, int(share * scale)) for record, share in shares if share]
        self.total = sum(n for _, n in self.atoms)
        mechanism = design["mechanism"]
        side = design.get("side_information") or {}
        observe, strata, keep = division(mechanism)
        held = [side["variable"]] if side and side["encoder"] != "uninformed" else []
        self.side: str = side.get("variable", "")
        self.encoder = side.get("encoder")
        self.reads = [*observe, *strata, *(held if self.encoder == "informed" else [])]
        self.beside = [*keep, *strata, *held]
        self.beside_then = [*mechanism.get("keep", []), *mechanism.get("strata", []), *held]
        self.input = [self._number(self.reads, record) for record, _ in self.atoms]
        self.occur = sorted(set(self.input))
        self.reads_then = list(design["channel"].get("inputs", {})) or self.reads
        then = [self._number(self.reads_then, record) for record, _ in self.atoms]
        at = dict(zip(self.input, then, strict=True))
        self.occur_then = sorted(self.occur, key=at.__getitem__)
        self.promises: list[Json] = [entry["promised"] for entry in design["guarantees"]]

    @cached_property
    def inputs(self) -> list[int]:
        """For each row of the channel of version 1 the place of the same input in version 2."""
        return [
            self._number(self.reads, dict(zip(self.reads_then, letters, strict=True)))
            for letters in product(*(self.alphabets[name] for name in self.reads_then))
        ]

    def _number(self, names: Sequence[str], record: Json) -> int:
        place = 0
        for name in names:
            place = place * len(self.alphabets[name]) + self.code[name][record[name]]
        return place

    def labels(self, names: Sequence[str]) -> list[Place]:
        """For each atom its outcome of these columns, by places."""
        return [tuple(self.code[name][record[name]] for name in names) for record, _ in self.atoms]

    def keys(self, names: Sequence[str], beside: bool = False) -> tuple[list[Place], list[Place]]:
        """The outcomes that occur, by places, in the orders of version 1 and of version 2."""
        then = [*names, *(self.beside_then if beside else [])]
        now = [*names, *(self.beside if beside else [])]
        texts = [tuple(record[name] for name in then) for record, _ in self.atoms]
        found = dict(zip(texts, self.labels(now), strict=True))
        old = [found[key] for key in sorted(found)]
        return old, sorted(old)

    def worlds(self) -> tuple[list[Place], list[Place]]:
        """The values of what leaves beside the letter."""
        return self.keys([], beside=True)

    def counts(self, labels: Sequence[Any]) -> Counter[Any]:
        """How many records have each label."""
        found: Counter[Any] = Counter()
        for label, (_, n) in zip(labels, self.atoms, strict=True):
            found[label] += n
        return found

    def by_input(self, values: Sequence[Any]) -> list[Any]:
        """A list along the inputs that occur, from the order of version 1 to that of version 2."""
        return [value for _, value in sorted(zip(self.occur_then, values, strict=True), key=lambda pair: pair[0])]

    def having(self, kind: str) -> list[int]:
        """The places of the promises of one kind."""
        return [k for k, promise in enumerate(self.promises) if kind in promise]


def _multiplied(joint: Json) -> Json:
    """The joint law written out."""
    if "independent" not in joint:
        return joint
    variables: Json = {}
    pmf: list[Json] = [{"p": Fraction(1)}]
    for group in joint["independent"]:
        variables |= group["variables"]
        pmf = [a | b | {"p": a["p"] * number(b["p"])} for a in pmf for b in group["pmf"]]
    return {"variables": variables, "pmf": pmf}


def division(mechanism: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """The columns that version 2 calls observe, strata and keep.

    Version 1 allows a column to be looked at and kept at once; that is a stratum.

    >>> division({"observe": ["A", "B"], "keep": ["B", "C"]})
    (['A'], ['B'], ['C'])
    """
    observed = list(mechanism["observe"])
    kept = list(mechanism.get("keep", []))
    strata = list(mechanism.get("strata", []))
    leaving = [*kept, *strata]
    both = [name for name in kept if name in observed]
    return (
        [name for name in observed if name not in leaving],
        [*strata, *both],
        [name for name in kept if name not in both],
    )
