"""`apply`: the certified channel drawn exactly for every record of a coded table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Design, Records, Sums
from dalenius.errors import MismatchError
from dalenius.sampling.forms import draws_of
from dalenius.sampling.key import Key
from dalenius.sampling.sampler import permutation
from dalenius.sampling.stream import Stream
from dalenius.tables import Coded

__all__ = ["Released", "draw"]


@dataclass(frozen=True)
class Released:
    """What leaves, and beside it what never leaves: which input each record had and which letter it drew.

    A composition of several windows has one column of both for each window. `order` says which record each row that
    leaves is of, when they were shuffled, and `kept` which columns were not drawn.
    """

    columns: Mapping[str, tuple[npt.NDArray[Any], tuple[str, ...]]]
    inputs: npt.NDArray[Any]
    letters: npt.NDArray[Any]
    order: npt.NDArray[Any] | None = None
    kept: tuple[str, ...] = ()

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
    draws, found = draws_of(channel), []
    for k, one in enumerate(draws):
        stream = Stream(secret.derive("draw", *parts, *one.label))
        progress = _share(on_progress, k, len(draws), table.rows)
        found.append(one.drawn(table, stream, progress))
    if isinstance(channel, Records):
        ((inputs, drawn),) = found
        told = np.array(channel.records, dtype=np.int64)[drawn]
        columns = {n: (told[:, j], tuple(a)) for j, (n, a) in enumerate(channel.output.items())}
    elif len(draws) == 1:
        ((inputs, drawn),) = found
        sizes = [len(a) for a in channel.output.values()]
        codes = dict(zip(channel.output, np.unravel_index(drawn, sizes), strict=True)) if len(sizes) > 1 else {}
        columns = {n: (codes.get(n, drawn), tuple(a)) for n, a in channel.output.items()}
    elif isinstance(channel, Sums):  # the states never leave; their sums do
        states = {n: s.astype(np.int64) for n, (_, s) in zip(channel.inputs, found, strict=True)}
        added = [np.sum([states[n] for n in names], axis=0) % channel.modulus for names in channel.terms]
        columns = {n: (y, tuple(a)) for (n, a), y in zip(channel.output.items(), added, strict=True)}
        read = [table.combined(list(names)) for names in channel.terms]
        inputs, drawn = (side[0] if len(side) == 1 else np.stack(side, axis=1) for side in (read, added))
    else:
        columns = {n: (y, tuple(a)) for (n, a), (_, y) in zip(channel.output.items(), found, strict=True)}
        inputs, drawn = (np.stack(side, axis=1) for side in zip(*found, strict=True))
    columns |= {n: (table.codes[n], table.alphabets[n]) for n in problem.kept}
    order = None
    if problem.order == "shuffle":
        order = permutation(Stream(secret.derive("order", *parts)), table.rows)
        columns = {n: (c[order], a) for n, (c, a) in columns.items()}
    return Released(columns, inputs, drawn, order, tuple(problem.kept))


def _share(
    on_progress: Callable[[int, int], None] | None, done: int, draws: int, rows: int
) -> Callable[[int], None] | None:
    """Progress of one draw among several, in rows."""
    if on_progress is None:
        return None
    return lambda row: on_progress((done * rows + row) // draws, rows)
