"""`Strata`: one channel for each value of columns that leave as they are."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

from dalenius.core.conditional_law import Kernel, Rows, alphabets
from dalenius.core.forms.windows import Product
from dalenius.core.pmf import Alphabets
from dalenius.errors import InvalidChannel

__all__ = ["Strata"]


@dataclass(frozen=True, repr=False)
class Strata(Kernel):
    """p(y | x, s) = p_s(y | x), with a channel p_s of any form for each outcome s of the strata, the last inputs.

    Parameters
    ----------
    inputs : mapping of str to letters
        The alphabets of what is read.
    strata : names
        The last inputs.
    channels : tuple of Kernel
        One for each outcome of the strata.

    >>> from dalenius.core import Channel
    >>> tell, hide = (Channel({"X": ("a", "b")}, {"Y": ("a", "b")}, rows) for rows in (((1, 0), (0, 1)), ((1, 0),) * 2))
    >>> Strata({"X": ("a", "b"), "sex": ("f", "m")}, ("sex",), (tell, hide)).rows[1:3]
    ((1, 0), (0, 1))
    """

    inputs: Alphabets
    strata: tuple[str, ...]
    channels: tuple[Kernel, ...]
    form: ClassVar[str] = "strata"

    def __post_init__(self) -> None:
        if not self.strata or tuple(self.inputs)[-len(self.strata) :] != self.strata:
            raise InvalidChannel("the strata of a recipe are its last inputs")
        if len(self.channels) != self.many:
            raise InvalidChannel(f"there are {self.many} strata and {len(self.channels)} recipes")
        for channel in self.channels:
            if dict(channel.inputs) != self.read or dict(channel.output) != dict(self.output):
                raise InvalidChannel("the recipes of the strata read or release other values than each other")

    @property
    def output(self) -> Alphabets:
        return self.channels[0].output

    @property
    def read(self) -> dict[str, tuple[str, ...]]:
        """The inputs of the channel of each stratum."""
        return {name: tuple(letters) for name, letters in self.inputs.items() if name not in self.strata}

    @property
    def many(self) -> int:
        """How many strata there are; the stratum of input outcome x is x modulo this."""
        return prod(len(self.inputs[stratum]) for stratum in self.strata)

    @property
    def split_by(self) -> tuple[str, ...]:
        return self.strata

    @property
    def in_strata(self) -> tuple[Kernel, ...]:
        return self.channels

    @property
    def drawn_apart(self) -> tuple[Kernel, ...]:
        return self.columns

    @property
    def columns(self) -> "tuple[Strata, ...]":
        """One for each released column where every stratum draws its columns independently, else this one alone."""
        if not all(isinstance(channel, Product) for channel in self.channels):
            return (self,)
        windows = zip(*(channel.windows for channel in self.channels if isinstance(channel, Product)), strict=True)
        kept = {stratum: self.inputs[stratum] for stratum in self.strata}
        return tuple(Strata({**parts[0].inputs, **kept}, self.strata, parts) for parts in windows)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        from dalenius.core.forms import channel_of  # a stratum has any form, so it is read by the reader of all

        if set(document) != {"form", "inputs", "output", "strata", "channels"}:
            raise InvalidChannel(
                "a recipe of form 'strata' has exactly the keys form, inputs, output, strata, `channels`"
            )
        inputs = alphabets(document["inputs"], "inputs")
        strata = document["strata"]
        if not isinstance(strata, list) or not isinstance(document["channels"], list):
            raise InvalidChannel(
                '"strata" names the last inputs, and `channels` has a recipe for each of their outcomes'
            )
        sides = {
            "inputs": {name: list(letters) for name, letters in inputs.items() if name not in strata},
            "output": document["output"],
        }
        parts = [part for part in document["channels"] if isinstance(part, dict)]
        return cls(inputs, tuple(map(str, strata)), tuple(channel_of({**part, **sides}) for part in parts))

    def to_json(self) -> dict[str, Any]:
        told = [channel.to_json() for channel in self.channels]
        return {
            "form": self.form,
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            "strata": list(self.strata),
            "channels": [{k: v for k, v in part.items() if k not in ("inputs", "output")} for part in told],
        }

    @cached_property
    def rows(self) -> Rows:
        self.refuse_many()
        return tuple(row for rows in zip(*(channel.rows for channel in self.channels), strict=True) for row in rows)
