"""What is drawn for each form of channel: one letter from all inputs, or one for each window from what it sees."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Kernel, Noise, Orbits, Pram, Records, Resample, Staircase, Strata, Sums, Types, Windows
from dalenius.errors import Unsupported
from dalenius.sampling.dealer import Dealer
from dalenius.sampling.keeper import Keeper
from dalenius.sampling.noise import NoiseSampler
from dalenius.sampling.resampler import Resampler
from dalenius.sampling.sampler import Sampler
from dalenius.sampling.sparse import SparseSampler
from dalenius.sampling.stream import Words
from dalenius.tables import Coded

__all__ = ["Draw", "draws_of", "matched", "rows_read"]

CHUNK = 1 << 22
TABULATED = 256  # letters of form (8) that are drawn from a table of the rows, by one word each


@dataclass(frozen=True)
class Draw:
    """One independent draw for every record: the columns that it reads and its law.

    `label` tells the draws of one release apart: each has a stream of random words of its own. It is empty when there
    is one draw only. `form` is the channel when the draw reads the type or the class of its inputs, not their outcome.
    """

    inputs: Sequence[str]
    sampler: "Sampler | SparseSampler | Resampler | Keeper | NoiseSampler | Dealer | Stratified"
    label: tuple[str, ...] = ()
    form: Types | Staircase | Records | None = None

    def drawn(
        self, table: Coded, stream: Words, on_progress: Callable[[int], None] | None = None
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """For each record the row of the law that it reads, and the letter drawn from that row."""
        inputs = rows_read(self.form, table) if self.form else table.combined(list(self.inputs))
        letters = np.empty(table.rows, dtype=self.sampler.dtype)
        for start in range(0, table.rows, CHUNK):
            stop = min(start + CHUNK, table.rows)
            letters[start:stop] = self.sampler.draw(inputs[start:stop], stream, start)
            if on_progress:
                on_progress(stop)
        return inputs, letters


class Stratified:
    """Draws by the law of each record's stratum; inputs are numbered with the strata fastest."""

    def __init__(self, channels: Sequence[Kernel]) -> None:
        self.draws = [draws_of(channel)[0] for channel in channels]
        self.groups = [np.array(c.group) if isinstance(c, Staircase) else None for c in channels]
        self.dtype: np.dtype[Any] = np.min_scalar_type(max(channel.shape[1] for channel in channels))

    def draw(self, codes: npt.NDArray[Any], stream: Words, start: int = 0) -> npt.NDArray[Any]:
        """The letters of the rows start, start + 1, ...; each row uses its own words, whatever its stratum."""
        inputs, stratum = np.divmod(codes.astype(np.int64), len(self.draws))
        letters = np.zeros(len(codes), dtype=self.dtype)
        for s, (one, group) in enumerate(zip(self.draws, self.groups, strict=True)):
            here = stratum == s
            if here.any():
                read = np.where(here, inputs, 0) if group is None else group[np.where(here, inputs, 0)]
                letters[here] = one.sampler.draw(read, stream, start)[here]
        return letters


def draws_of(channel: Kernel) -> list[Draw]:
    """The draws that realise a channel of any form exactly; a form without draws of its own is drawn from its rows.

    >>> from dalenius.core import Channel
    >>> [draw.inputs for draw in draws_of(Channel.constant({"X": ("a", "b")}, "Y"))]
    [['X']]
    """
    if isinstance(channel, Windows):
        dense = [w for w in channel.windows if w.form is None]
        samplers = {rows: Sampler(rows) for rows in {w.rows for w in dense}}  # windows are often alike
        draws = {id(w): Draw(list(w.inputs), samplers[w.rows]) for w in dense}
        return [replace(draws.get(id(w)) or draws_of(w)[0], label=("window", *w.output)) for w in channel.windows]
    if isinstance(channel, Strata) and len(channel.columns) > 1:
        return [replace(draws_of(part)[0], label=("window", *part.output)) for part in channel.columns]
    if isinstance(channel, Strata) and not channel.few:
        return [Draw(list(channel.inputs), Stratified(channel.channels))]
    if isinstance(channel, Noise):
        return [Draw(list(channel.inputs), NoiseSampler(channel))]
    if isinstance(channel, Sums):
        samplers = {rows: Sampler(rows) for rows in set(channel.states)}
        return [
            Draw([name], samplers[rows], ("state", name))
            for name, rows in zip(channel.inputs, channel.states, strict=True)
        ]
    if isinstance(channel, Types):
        return [Draw(list(channel.inputs), Sampler(channel.of_type), form=channel)]
    if isinstance(channel, Staircase):
        return [Draw(list(channel.inputs), Sampler(channel.by_class), form=channel)]
    if isinstance(channel, Records):
        return [Draw(list(channel.inputs), SparseSampler(channel.lines, len(channel.records)), form=channel)]
    if isinstance(channel, Orbits):
        return [Draw(list(channel.inputs), Dealer(channel))]
    if isinstance(channel, Pram) and len(channel.q) > TABULATED:
        return [Draw(list(channel.inputs), Keeper(channel.q))]
    if isinstance(channel, Resample):
        return [Draw(list(channel.inputs), Resampler(channel.keep, channel.q))]
    return [Draw(list(channel.inputs), Sampler(channel.rows))]


def rows_read(channel: Kernel, table: Coded) -> npt.NDArray[Any]:
    """Which row of the law each record reads: its outcome, its class, or the type of its samples."""
    if isinstance(channel, Staircase):
        return np.array(channel.group)[table.combined(list(channel.inputs))]
    if isinstance(channel, Records):
        return _places(channel, list(channel.inputs), channel.read, table)
    if not isinstance(channel, Types):
        return table.combined(list(channel.inputs))
    counts = np.zeros((table.rows, len(channel.alphabet)), dtype=np.int64)
    for name in channel.inputs:
        counts[np.arange(table.rows), table.codes[name]] += 1
    found, which = np.unique(counts, axis=0, return_inverse=True)
    places = np.array([channel.place[tuple(t)] for t in found.tolist()], dtype=np.int64)
    return places[which.reshape(-1)]


def _places(
    channel: Records, names: Sequence[str], known: Sequence[tuple[int, ...]], table: Coded
) -> npt.NDArray[np.int64]:
    """Where the outcome of each row stands among those that are known; an unknown one is refused."""
    codes = np.stack([table.codes[name].astype(np.int64) for name in names], axis=1)
    found, which = np.unique(codes, axis=0, return_inverse=True)
    place = {outcome: k for k, outcome in enumerate(known)}
    for outcome in map(tuple, found.tolist()):
        if outcome not in place:
            alphabets = channel.inputs if known is channel.read else channel.output
            told = ", ".join(f"{n}={alphabets[n][k]}" for n, k in zip(names, outcome, strict=True))
            raise Unsupported(
                f"the record {told} is not in the table of this design, and form records releases records of that "
                "table alone; design the release of this table anew"
            )
    return np.array([place[tuple(outcome)] for outcome in found.tolist()], dtype=np.int64)[which.reshape(-1)]


def matched(channel: Kernel, original: Coded, released: Coded) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The rows of the law that the records read and the letters that were released, as `Draw.drawn` numbers them.

    One column of both for each window, when there are several.
    """
    if isinstance(channel, Windows | Sums) and len(channel.windows) > 1:
        read = [original.combined(list(w.inputs)) for w in channel.windows]
        seen = [released.combined(list(w.output)) for w in channel.windows]
        return np.stack(read, axis=1), np.stack(seen, axis=1)
    if isinstance(channel, Strata) and len(channel.columns) > 1:
        pairs = [matched(part, original, released) for part in channel.columns]
        return np.stack([a for a, _ in pairs], axis=1), np.stack([b for _, b in pairs], axis=1)
    if isinstance(channel, Records):
        return rows_read(channel, original), _places(channel, list(channel.output), channel.records, released)
    return rows_read(channel, original), released.combined(list(channel.output))
