"""`Draw`: one independent draw for every record, by the sampler that the form of its channel brings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from dalenius.tables.counting import Coded

if TYPE_CHECKING:
    from dalenius.sampling.stream import Words  # opens cryptography, which only who draws needs

__all__ = ["Array", "Draw", "DrawsLetters"]

Array = npt.NDArray[Any]

CHUNK = 1 << 22


class DrawsLetters(Protocol):
    """An exact sampler: rows of a law in, letters out, each by the words of its own row."""

    dtype: np.dtype[Any]

    def draw(self, codes: Array, stream: "Words", start: int = 0) -> Array: ...


@dataclass(frozen=True)
class Draw:
    """One independent draw for every record: the columns that it reads and its law."""

    inputs: Sequence[str]  # the columns that are read
    sampler: DrawsLetters  # draws a letter from a row of the law
    # Tells the draws of one release apart: each has a stream of random words of its own. Empty for a single draw.
    label: tuple[str, ...] = ()
    # Which row of the law each record of a table reads, where it is not the outcome of the inputs.
    rows: Callable[[Coded], Array] | None = None

    def read(self, table: Coded) -> Array:
        """Which row of the law each record reads."""
        return self.rows(table) if self.rows is not None else table.combined(list(self.inputs))

    def drawn(
        self, table: Coded, stream: "Words", on_progress: Callable[[int], None] | None = None
    ) -> tuple[Array, Array]:
        """For each record the row of the law that it reads, and the letter drawn from that row."""
        inputs = self.read(table)
        letters = np.empty(table.rows, dtype=self.sampler.dtype)
        for start in range(0, table.rows, CHUNK):
            stop = min(start + CHUNK, table.rows)
            letters[start:stop] = self.sampler.draw(inputs[start:stop], stream, start)
            if on_progress:
                on_progress(stop)
        return inputs, letters
