"""`draw`: the certified channel drawn exactly for every record of a coded table.

What a record draws depends on the key, the design, the digest of the table and the number of its row. So a release is a
function of rows: slices of a table, partitions of a cluster and a task that is run twice give the same letters.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Design, Kernel
from dalenius.errors import MismatchError
from dalenius.mechanisms.drawing import Draw
from dalenius.mechanisms.forms import draws_of, form_of
from dalenius.sampling.key import Key
from dalenius.sampling.ordering import in_keyed_order, rows_in_order
from dalenius.sampling.stream import Stream, Words
from dalenius.tables import Coded
from dalenius.tables.counting import smallest
from dalenius.tables.workspace import Tape, Workspace, put_back

__all__ = ["Drawing", "Released", "draw", "subkeys_of"]

CHUNK = 1 << 20

Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class Released:
    """What leaves, and beside it what never leaves: which input each record had and which letter it drew.

    A composition of several windows has one column of both for each window. `order` says which record each row that
    leaves is of, or has the words that say so, when they were shuffled; `kept` which columns were not drawn.
    """

    columns: Mapping[str, tuple[Array, tuple[str, ...]]]
    inputs: Array
    letters: Array
    order: Array | Words | None = None
    kept: tuple[str, ...] = ()
    workspace: Workspace = field(default_factory=Workspace)

    def __repr__(self) -> str:
        return f"Released({self.rows:,} rows of {', '.join(self.columns)})"  # never a record

    @property
    def rows(self) -> int:
        return len(self.letters)

    def unshuffled(self, column: Array) -> Array:
        """A column that leaves, in the order of the original table."""
        if self.order is None:
            return column
        order = self.order
        numbers = [order] if isinstance(order, np.ndarray) else rows_in_order(order, self.rows, self.workspace)
        width = column.shape[1] if column.ndim > 1 else None
        return put_back(_beside(numbers, column), len(column), column.dtype, self.workspace, width)


def _beside(pieces: Iterable[Array], column: Array) -> Iterator[tuple[Array, Array]]:
    """Row numbers in pieces, each with as many of the next rows of a column."""
    done = 0
    for numbers in pieces:
        yield numbers, column[done : done + len(numbers)]
        done += len(numbers)


class Drawing:
    """The draws of one release, for any rows of its table at any place.

    Parameters
    ----------
    channel : Kernel
        What is drawn from.
    kept : sequence of str
        Columns that leave as they are.
    subkeys : sequence of bytes
        One for each draw of the channel, as `subkeys_of` derives them.
    draws : sequence of Draw, optional
        Those of the channel, where they are made already.

    Examples
    --------
    >>> from dalenius.core import Channel
    >>> swap = Channel({"X": ("a", "b")}, {"X": ("a", "b")}, ((0, 1), (1, 0)))
    >>> table = Coded({"X": ("a", "b")}, {"X": np.array([0, 0, 1])})
    >>> Drawing(swap, (), [bytes(32)]).rows(table, 0)[0]["X"].tolist()
    [1, 1, 0]
    """

    def __init__(
        self, channel: Kernel, kept: Sequence[str], subkeys: Sequence[bytes], draws: Sequence[Draw] | None = None
    ) -> None:
        self.channel = channel
        self.kept = tuple(kept)
        self.draws = draws_of(channel) if draws is None else draws
        self.streams = [Stream(subkey) for subkey in subkeys]
        if len(self.streams) != len(self.draws):
            raise MismatchError(f"a recipe of {len(self.draws)} draws has {len(self.streams)} subkeys")

    @property
    def width(self) -> int:
        """How many letters are drawn for a record and tested by themselves."""
        return len(self.channel.drawn_apart)

    def letters(self, table: Coded) -> dict[str, tuple[str, ...]]:
        """The columns that leave, each with its letters."""
        drawn = {name: tuple(letters) for name, letters in self.channel.output.items()}
        return drawn | {name: table.alphabets[name] for name in self.kept}

    def rows(
        self, table: Coded, start: int, words: Callable[[Stream], Words] = lambda stream: stream
    ) -> tuple[dict[str, Array], Array, Array]:
        """What the rows start, start + 1, ... of the whole table draw, which are those of `table`.

        Parameters
        ----------
        table : Coded
            Some rows.
        start : int
            The number of the first one.
        words : callable, optional
            The words of these rows, where their numbers do not follow one another; `start` is then 0.

        Returns
        -------
        columns, inputs, letters
            Codes of the columns that leave, and for each record the row of the law that it reads and the letter drawn
            from that row: one column of both for each draw, where there are several.
        """
        channel = self.channel
        found = []
        for one, stream in zip(self.draws, self.streams, strict=True):
            inputs = one.read(table)
            found.append((inputs, one.sampler.draw(inputs, words(stream), start)))
        columns, inputs, drawn = form_of(channel).leaving(channel, table, found)
        return columns | {name: table.codes[name] for name in self.kept}, inputs, drawn


def subkeys_of(key: Key, design: Design, digest: str, draws: Sequence[Draw] | None = None) -> tuple[list[bytes], bytes]:
    """The subkeys of the draws of a release of the table with this digest, and that of the order of its rows.

    Parameters
    ----------
    key : Key
        Of the release.
    design : Design
        That is drawn from.
    digest : str
        Of the table.
    draws : sequence of Draw, optional
        Of its channel, where they are at hand.

    Returns
    -------
    subkeys, order
    """
    parts = (design.digest(), digest, *design.channel.output)
    made = draws_of(design.channel) if draws is None else draws
    return [key.derive("draw", *parts, *one.label) for one in made], key.derive("order", *parts)


def draw(
    design: Design,
    table: Coded,
    *,
    key: Key | None = None,
    digest: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    in_order: Callable[..., list[Array]] = in_keyed_order,
) -> Released:
    """Draw the released columns; without a key, from a fresh one of the operating system that is then forgotten.

    The words of a draw depend on the key, the design, the table and the row alone, never on chunks, so the same key
    gives the same table again. Rows are shuffled by the key unless the problem says `order = "keep"`.

    Parameters
    ----------
    design : Design
        What is drawn from.
    table : Coded
        The records.
    key : Key, optional
        The secret of the release.
    digest : str, optional
        That of the table, where it is known already.
    on_progress : callable, optional
        Told how many rows are drawn, and how many there are.
    in_order : callable
        Puts rows into the order of their words, as `in_keyed_order` does.

    Returns
    -------
    Released
    """
    channel, problem = design.channel, design.problem
    for name, letters in channel.inputs.items():
        if table.alphabets.get(name) != tuple(letters):
            raise MismatchError(
                f"column {name!r} has another list of values in the table than in the design",
                do="Make the lists of values equal: use the problem file of this design for the table.",
            )
    draws = draws_of(channel)
    subkeys, order = subkeys_of(key or Key.fresh(), design, digest or table.digest(), draws)
    drawing = Drawing(channel, problem.kept, subkeys, draws)
    leaving = drawing.letters(table)
    space = table.workspace
    tapes = {name: space.tape(smallest(len(leaving[name]))) for name in channel.output}
    sides: list[Tape] = []
    for start, some in table.slices(CHUNK) if table.rows else [(0, table)]:
        columns, *both = drawing.rows(some, start)
        sides = sides or [space.tape(side.dtype, side.shape[1] if side.ndim > 1 else None) for side in both]
        for name, tape in tapes.items():
            tape.append(columns[name])
        for tape, side in zip(sides, both, strict=True):
            tape.append(side)
        if on_progress:
            on_progress(start + some.rows, table.rows)
    inputs, drawn = (tape.finished() for tape in sides)
    found = {name: tape.finished() for name, tape in tapes.items()} | {name: table.codes[name] for name in problem.kept}
    shuffled = problem.order == "shuffle"
    if shuffled:
        found = dict(zip(found, in_order(Stream(order), table.rows, list(found.values()), space), strict=True))
    told = {name: (codes, leaving[name]) for name, codes in found.items()}
    return Released(told, inputs, drawn, Stream(order) if shuffled else None, tuple(problem.kept), space)
