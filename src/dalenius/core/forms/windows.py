"""`Windows` and `Product`: several outputs, each drawn on its own from a few of the inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar, Self, TypeVar

from dalenius.core.conditional_law import Kernel, Rows, alphabets
from dalenius.core.pmf import Alphabets
from dalenius.errors import DaleniusError, InputError, InvalidChannel

__all__ = ["Product", "Windows", "chain", "sliding"]

LEAK = (
    "four bits with P(1) = 2/5 in windows of three, sharing two: 0.152 bits about X1, and two letters that make X4 = 1 "
    "certain"
)
N = TypeVar("N")
WRITTEN_OUT = 1 << 16  # entries; the windows themselves say the same in fewer


@dataclass(frozen=True, repr=False)
class Windows(Kernel):
    """p(y_1 ... y_m | x) = prod_j p_j(y_j | x_{e_j}): each output has a channel that sees the inputs of its window.

    Windows may overlap; the draws are independent given the inputs. Whether the outputs together are private is
    another matter, and not for a channel to say.

    Parameters
    ----------
    inputs : mapping of str to letters
        The alphabets of what is read.
    windows : tuple of Kernel
        One for each output.

    >>> from dalenius.core import Channel
    >>> bits = ("0", "1")
    >>> tell = [Channel({x: bits, z: bits}, {y: bits}, ((1, 0), (0, 1), (0, 1), (1, 0))) for x, z, y in ("abU", "bcV")]
    >>> Windows(dict.fromkeys("abc", bits), tuple(tell)).shape
    (8, 4)
    """

    inputs: Alphabets
    windows: tuple[Kernel, ...]
    form: ClassVar[str] = "windows"

    def __post_init__(self) -> None:
        if not self.windows:
            raise InvalidChannel(f"a recipe of form {self.form!r} needs at least one window")
        for window in self.windows:
            if len(window.output) != 1:
                raise InvalidChannel("a window draws one output")
            for name, letters in window.inputs.items():
                if name not in self.inputs:
                    raise InvalidChannel(f"a window sees {name!r}, which is not an input")
                if tuple(self.inputs[name]) != tuple(letters):
                    raise InvalidChannel(f"{name!r} has another list of values in a window than among the inputs")
        if len(self.output) != len(self.windows):
            raise InvalidChannel("two windows draw the same output")
        own = {n for window in self.windows if window.inputs == window.output for n in window.output}
        if clash := set(self.output) & set(self.inputs) - own:
            raise InvalidChannel(f"{min(clash)!r} is an input and an output at once")

    @property
    def output(self) -> Alphabets:
        return {name: letters for window in self.windows for name, letters in window.output.items()}

    @property
    def drawn_apart(self) -> tuple[Kernel, ...]:
        return self.windows

    @property
    def apart_given_inputs(self) -> tuple[Kernel, ...]:
        return self.windows

    @property
    def few(self) -> bool:
        return prod(self.shape) <= WRITTEN_OUT

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) != {"form", "inputs", "output", "channels"}:
            raise InvalidChannel(f"a recipe of form {cls.form!r} has exactly the keys form, inputs, output, `channels`")
        from dalenius.core.forms import channel_of  # a window has any form, so it is read by the reader of all

        inputs = alphabets(document["inputs"], "inputs")
        output = alphabets(document["output"], "output")
        channels = document["channels"]
        if not isinstance(channels, list) or len(channels) != len(output):
            raise InvalidChannel("`channels` is a list with one recipe for each output")
        windows = []
        for number, (name, channel) in enumerate(zip(output, channels, strict=True), 1):
            where = f"recipe {number} of form {cls.form!r}"
            if not isinstance(channel, dict) or not set(channel) > {"inputs", "output"}:
                raise InvalidChannel(f"{where} has exactly the keys inputs, output and rows, or those of its form")
            if channel["output"] != name:
                raise InvalidChannel(f"{where} draws {channel['output']!r}; in the order of the outputs it is {name!r}")
            seen = channel["inputs"]
            if not isinstance(seen, list) or len(set(map(str, seen))) != len(seen) or not set(seen) <= set(inputs):
                raise InvalidChannel(f'{where}: "inputs" names some of the inputs, each once, not {seen!r}')
            try:
                sides = {"inputs": {n: list(inputs[n]) for n in seen}, "output": {name: list(output[name])}}
                windows.append(channel_of({**channel, **sides}))
            except DaleniusError as e:
                raise InvalidChannel(f"{where}: {e}") from None
        return cls(inputs, tuple(windows))

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            "channels": [
                {**window.to_json(), "inputs": list(window.inputs), "output": next(iter(window.output))}
                for window in self.windows
            ],
        }

    @cached_property
    def rows(self) -> Rows:
        self.refuse_many()
        names = list(self.inputs)
        places = [[names.index(name) for name in window.inputs] for window in self.windows]
        out = []
        for x in product(*(range(len(letters)) for letters in self.inputs.values())):
            row = [Fraction(1)]
            for at, window in zip(places, self.windows, strict=True):
                row = [entry * b for entry in row for b in window.rows[window.row_of([x[i] for i in at])]]
            out.append(tuple(row))
        return tuple(out)


@dataclass(frozen=True)
class Product(Windows):
    """Windows without a common input: independent channels side by side.

    Parameters
    ----------
    inputs : mapping of str to letters
        The alphabets of what is read.
    windows : tuple of Kernel
        No two read the same input.
    """

    form: ClassVar[str] = "product"

    def __post_init__(self) -> None:
        super().__post_init__()
        seen = [name for window in self.windows for name in window.inputs]
        if twice := [n for n in seen if seen.count(n) > 1]:
            raise InvalidChannel(f"two recipes of a product see {twice[0]!r}; windows that overlap have form 'windows'")

    @property
    def independent_parts(self) -> tuple[Kernel, ...]:
        return self.windows


def chain(names: Sequence[str], size: int, overlap: int = 1) -> tuple[tuple[str, ...], ...]:
    """Windows of so many names along a list, neighbours with `overlap` of them in common, 0 or 1; the last is shorter.

    >>> chain("abcdef", 3)
    (('a', 'b', 'c'), ('c', 'd', 'e'), ('e', 'f'))
    >>> chain("abcde", 2, 0)
    (('a', 'b'), ('c', 'd', 'e'))
    """
    if overlap not in (0, 1):
        raise InputError(
            f"neighbouring windows would share {overlap} samples; windows that share more than one leak in general, "
            f'even when each of them is private ({LEAK}), so overlap is 0 or 1; form = "sums" may overlap more'
        )
    if size < 2 or len(names) < 2:
        raise InputError(f"windows of {size} among {len(names)} samples: a window needs at least two samples")
    ends = list(range(size, len(names), size - overlap))
    windows = [tuple(names[end - size : end]) for end in ends]
    rest = tuple(names[ends[-1] - overlap :]) if ends else tuple(names)
    if len(rest) == 1:  # nothing can be told about one sample alone
        return (*windows[:-1], windows[-1] + rest)
    return (*windows, rest)


def sliding(names: Sequence[N], size: int) -> tuple[tuple[N, ...], ...]:
    """Every run of so many neighbours: what the outputs of form `sums` add up.

    >>> sliding("abcd", 3)
    (('a', 'b', 'c'), ('b', 'c', 'd'))
    """
    return tuple(tuple(names[i : i + size]) for i in range(len(names) - size + 1))
