"""`Sums`: each input, or each block of inputs, is drawn into a state, and the outputs are sums of states modulo M."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar, Self

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import Kernel, Rows, alphabets
from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Alphabets
from dalenius.errors import InvalidChannel

__all__ = ["Sums"]


@dataclass(frozen=True, repr=False)
class Sums(Kernel):
    """S_i ~ states[i][x_i], drawn once for each input, and Y_k = sum of S_i over terms[k], modulo M.

    Two outputs with a common term share its state: that is no composition of windows, and tells more than one. Inputs
    of one block have a state together, drawn from all of them.

    Parameters
    ----------
    inputs : mapping of str to letters
        The alphabets of what is read.
    outputs : names
        One for each sum.
    modulus : int
        M.
    states : tuple of rows
        For each input or block the law of its state, letter by letter; of a block the last input fastest.
    terms : tuple of names
        The inputs that each output adds up: whole blocks, one after the other.
    blocks : tuple of names
        All inputs in their order, those that have a state together in one; none: each has its own.

    >>> sure = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    >>> bits = dict.fromkeys("abc", ("0", "1"))
    >>> Sums(bits, ("U", "V"), 2, (sure,) * 3, (("a", "b"), ("b", "c"))).rows[3]
    (Fraction(0, 1), Fraction(0, 1), Fraction(1, 1), Fraction(0, 1))
    """

    inputs: Alphabets
    outputs: tuple[str, ...]
    modulus: int
    states: tuple[Rows, ...]
    terms: tuple[tuple[str, ...], ...]
    blocks: tuple[tuple[str, ...], ...] = ()
    form: ClassVar[str] = "sums"

    def __post_init__(self) -> None:
        if self.modulus < 2 or not self.outputs or len(set(self.outputs)) != len(self.outputs):
            raise InvalidChannel("a recipe of form 'sums' needs a modulus above 1, and outputs with names of their own")
        if self.blocks and [n for run in self.blocks for n in run] != list(self.inputs):
            raise InvalidChannel("the blocks of form 'sums' are not all inputs in their order")
        if len(self.states) != len(self.runs) or len(self.terms) != len(self.outputs):
            raise InvalidChannel("a recipe of form 'sums' has states for each input, and terms for each output")
        for run, rows in zip(self.runs, self.states, strict=True):
            fits = len(rows) == prod(len(self.inputs[n]) for n in run) and all(len(row) == self.modulus for row in rows)
            if not fits or any(min(row) < 0 or sum(row) != 1 for row in rows):
                raise InvalidChannel(
                    f"the states of {', '.join(map(repr, run))} are not a distribution over {self.modulus} residues "
                    "for each value"
                )
        for output, names in zip(self.outputs, self.terms, strict=True):
            if not names or len(set(names)) != len(names) or not set(names) <= set(self.inputs):
                raise InvalidChannel(f"the terms of {output!r} are not some of the inputs, each once")
            if self.blocks and names != tuple(n for k in self.summed(names) for n in self.blocks[k]):
                raise InvalidChannel(f"the terms of {output!r} are not whole blocks, one after the other")
        if clash := set(self.outputs) & set(self.inputs):
            raise InvalidChannel(f"{min(clash)!r} is an input and an output at once")

    @cached_property
    def runs(self) -> tuple[tuple[str, ...], ...]:
        """The inputs that have a state together, in their order."""
        return self.blocks or tuple((name,) for name in self.inputs)

    def summed(self, names: Sequence[str]) -> list[int]:
        """The places of the states behind some inputs, each once, in the order of the inputs."""
        return list(dict.fromkeys(self._place[name] for name in names))

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: k for k, run in enumerate(self.runs) for name in run}

    @property
    def output(self) -> Alphabets:
        return dict.fromkeys(self.outputs, tuple(map(str, range(self.modulus))))

    def alone(self, k: int) -> Channel:
        """The law of output k by itself, from the inputs that it adds up."""
        one = [Fraction(1), *[Fraction(0)] * (self.modulus - 1)]
        rows = []
        for states in product(*(self.states[i] for i in self.summed(self.terms[k]))):
            law: Sequence[Fraction] = one
            for row in states:
                law = [
                    sum((law[s] * row[(t - s) % self.modulus] for s in range(self.modulus)), Fraction(0))
                    for t in range(self.modulus)
                ]
            rows.append(tuple(law))
        name = self.outputs[k]
        return Channel({n: self.inputs[n] for n in self.terms[k]}, {name: self.output[name]}, tuple(rows))

    @cached_property
    def windows(self) -> tuple[Channel, ...]:
        """Each output by itself; together they share states, so these are not a composition."""
        return tuple(self.alone(k) for k in range(len(self.outputs)))

    @property
    def drawn_apart(self) -> tuple[Kernel, ...]:
        return self.windows

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) - {"blocks"} != {"form", "inputs", "output", "modulus", "states", "sums"}:
            raise InvalidChannel(
                "a recipe of form 'sums' has exactly the keys form, inputs, output, modulus, states, sums, and blocks "
                "where there are any"
            )
        inputs = alphabets(document["inputs"], "inputs")
        output = alphabets(document["output"], "output")
        if type(document["modulus"]) is not int or any(
            len(letters) != document["modulus"] for letters in output.values()
        ):
            raise InvalidChannel("each output of form 'sums' has the residues of its modulus as values")
        states = tuple(
            tuple(tuple(exact(entry, "a recipe entry") for entry in row) for row in rows) for rows in document["states"]
        )
        terms = tuple(tuple(map(str, names)) for names in document["sums"])
        blocks = tuple(tuple(map(str, names)) for names in document.get("blocks", ()))
        found = cls(inputs, tuple(output), document["modulus"], states, terms, blocks)
        if found.output != output:
            raise InvalidChannel("the values of the outputs are not the residues 0, 1, ... in their order")
        return found

    def to_json(self) -> dict[str, Any]:
        blocks = {"blocks": [list(names) for names in self.blocks]} if self.blocks else {}
        return {
            "form": self.form,
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            "modulus": self.modulus,
            **blocks,
            "states": [[[written(entry) for entry in row] for row in rows] for rows in self.states],
            "sums": [list(names) for names in self.terms],
        }

    @cached_property
    def rows(self) -> Rows:
        self.refuse_many()
        size, terms = self.modulus, [self.summed(of) for of in self.terms]
        out = []
        for x in product(*(range(len(rows)) for rows in self.states)):
            row = [Fraction(0)] * size ** len(terms)
            for states in product(range(size), repeat=len(self.states)):
                at = 0
                for of in terms:
                    at = at * size + sum(states[i] for i in of) % size
                laws = (self.states[i][a] for i, a in enumerate(x))
                row[at] += prod((law[state] for law, state in zip(laws, states, strict=True)), start=Fraction(1))
            out.append(tuple(row))
        return tuple(out)
