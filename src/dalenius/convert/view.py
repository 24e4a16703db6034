"""A design of version 1 with its records numbered both ways: by the text of their letters, and by their places.

Version 1 orders the values of a secret by their texts, version 2 by the places of their letters in the alphabets.
Proofs are lists along such an order, so that a converter needs both.
"""

from collections import Counter
from collections.abc import Sequence
from math import lcm
from typing import Any

from dalenius.convert.text import number

__all__ = ["View", "division"]

Label = tuple[str, ...]
Place = tuple[int, ...]


def division(mechanism: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """The columns that version 2 calls observe, strata and keep.

    Version 1 allows a column to be looked at and kept at once; that is a stratum.

    >>> division({"observe": ["A", "B"], "keep": ["B", "C"]})
    (['A'], ['B'], ['C'])
    """
    observed, kept = list(mechanism["observe"]), list(mechanism.get("keep", []))
    strata = list(mechanism.get("strata", []))
    leaving = [*kept, *strata]
    both = [name for name in kept if name in observed]
    return (
        [name for name in observed if name not in leaving],
        [*strata, *both],
        [name for name in kept if name not in both],
    )


class View:
    """What a design says about its records, in the orders of both versions.

    Attributes
    ----------
    document : dict
        The design of version 1.
    alphabets : dict
        The letters of each variable; empty where the law is no joint pmf.
    atoms : list
        Each outcome that occurs, with its whole-number weight out of `total`.
    reads, kept, side : list of str
        The inputs of the channel, what leaves beside the letter, and the side information that the encoder knows.
    input : list of int
        The place of the input of each atom, last variable fastest; `occur` are those that occur, rising.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = self.d = document
        joint, mechanism = document["joint"], document["mechanism"]
        observe, strata, keep = division(mechanism)
        side = document.get("side_information", {})
        self.side = [side["variable"]] if side.get("encoder") == "informed" else []
        self.reads = [*observe, *strata, *self.side]
        self.kept = [*keep, *strata, *self.side]
        self.alphabets: dict[str, list[str]] = joint.get("variables", {})
        records = [(record, number(record["p"])) for record in joint.get("pmf", [])]
        scale = lcm(*(share.denominator for _, share in records))
        self.atoms = [(record, int(share * scale)) for record, share in records if share]
        self.total = sum(weight for _, weight in self.atoms)
        self.place = {name: {a: k for k, a in enumerate(letters)} for name, letters in self.alphabets.items()}
        self.input = [self._number(record) for record, _ in self.atoms]
        self.occur = sorted(set(self.input))

    def _number(self, record: dict[str, str]) -> int:
        found = 0
        for name in self.reads:
            found = found * len(self.alphabets[name]) + self.place[name][record[name]]
        return found

    def labels(self, names: Sequence[str]) -> list[Label]:
        """The outcome of the named variables in each atom."""
        return [tuple(record[name] for name in names) for record, _ in self.atoms]

    def places(self, names: Sequence[str], label: Sequence[str]) -> Place:
        """An outcome of the named variables by the places of its letters."""
        return tuple(self.place[name][letter] for name, letter in zip(names, label, strict=True))

    def keys(self, names: Sequence[str]) -> tuple[list[Label], list[Label]]:
        """The outcomes that occur, by text (version 1) and by place (version 2)."""
        by_text = sorted(set(self.labels(names)))
        return by_text, sorted(by_text, key=lambda label: self.places(names, label))

    def mass(self) -> Counter[int]:
        """The weight of each input that occurs."""
        found: Counter[int] = Counter()
        for place, (_, weight) in zip(self.input, self.atoms, strict=True):
            found[place] += weight
        return found
