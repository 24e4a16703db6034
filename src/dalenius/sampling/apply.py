"""`apply`: the certified channel drawn exactly for every record of a coded table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Design
from dalenius.errors import MismatchError
from dalenius.sampling.forms import sampler_of
from dalenius.sampling.key import Key
from dalenius.sampling.sampler import permutation
from dalenius.sampling.stream import Stream
from dalenius.tables import Coded

__all__ = ["Released", "draw"]

CHUNK = 1 << 22


@dataclass(frozen=True)
class Released:
    """What leaves, and beside it what never leaves: which input each record had and which letter it drew."""

    columns: Mapping[str, tuple[npt.NDArray[Any], tuple[str, ...]]]
    inputs: npt.NDArray[Any]
    letters: npt.NDArray[Any]

    @property
    def rows(self) -> int:
        return len(self.letters)


def draw(
    design: Design, table: Coded, *, key: Key | None = None, on_progress: Callable[[int, int], None] | None = None
) -> Released:
    """Draw the released columns; without a key, from a fresh one of the operating system that is then forgotten.

    The words of a draw depend on the key, the design, the table and the row alone, never on chunks, so the same key
    gives the same table again. Rows are shuffled by the key unless the problem says `order = "keep"`.
    """
    channel, problem = design.channel, design.problem
    for name, letters in channel.inputs.items():
        if table.alphabets.get(name) != tuple(letters):
            raise MismatchError(f"column {name!r} has another alphabet in the table than in the design")
    secret = key or Key.fresh()
    parts = (design.digest(), table.digest(), *channel.output)
    sampler, stream = sampler_of(channel), Stream(secret.derive("draw", *parts))
    inputs = table.combined(list(channel.inputs))
    drawn = np.empty(table.rows, dtype=sampler.dtype)
    for start in range(0, table.rows, CHUNK):
        stop = min(start + CHUNK, table.rows)
        drawn[start:stop] = sampler.draw(inputs[start:stop], stream, start)
        if on_progress:
            on_progress(stop, table.rows)
    sizes = [len(a) for a in channel.output.values()]
    codes = dict(zip(channel.output, np.unravel_index(drawn, sizes), strict=True)) if len(sizes) > 1 else {}
    columns = {n: (codes.get(n, drawn), tuple(a)) for n, a in channel.output.items()}
    columns |= {n: (table.codes[n], table.alphabets[n]) for n in problem.kept}
    if problem.order == "shuffle":
        order = permutation(Stream(secret.derive("order", *parts)), table.rows)
        columns = {n: (c[order], a) for n, (c, a) in columns.items()}
    return Released(columns, inputs, drawn)
