"""Channels: a law of the released letter for each input, as rows of whole numbers over one scale."""

from collections.abc import Callable
from dataclasses import dataclass

from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Refused, Work

Rows = tuple[int, list[list[int]]]  # the scale, and a row for each input
ENTRIES = 1 << 22  # numbers of a matrix that are ever written out


class Channel:
    """A law of the released letter for each input."""

    form: str
    width: int  # how many letters

    def rows(self, work: Work) -> Rows:
        """The matrix written out, or a refusal where it is too large or says too little."""
        raise Refused(f"form {self.form} does not prove this")


@dataclass(frozen=True)
class Dense(Channel):
    """A matrix of whole numbers over one scale."""

    scale: int
    table: tuple[tuple[int, ...], ...]
    width: int
    form = "dense"

    def rows(self, work: Work) -> Rows:
        work.spend(len(self.table) * self.width)
        return self.scale, [list(row) for row in self.table]


FormReader = Callable[[Node, Setting], Channel]


def read_channel(node: Node, setting: Setting) -> Channel:
    """A channel with a row for each input and a number for each letter, proved to be one, by the reader of its form."""
    return FORMS[node.tag(*FORMS)](node, setting)


def read_dense(node: Node, setting: Setting) -> Channel:
    """`dense`: rows of whole numbers that each sum to the scale."""
    _, width, scale, rows = node.fields("form", "letters", "scale", "rows")
    return read_matrix(rows, setting.many, scale.whole(1), read_width(width, setting), setting.work)


def read_width(node: Node, setting: Setting) -> int:
    """How many letters a matrix has: those of the problem, where it names them."""
    letters = node.place(ENTRIES, 1)
    node.require(setting.width in (None, letters), "the released letters are not those of the problem")
    return letters


def read_matrix(rows: Node, many: int, one: int, letters: int, work: Work) -> Dense:
    """So many rows of whole numbers, one for each letter, that each sum to one scale."""
    rows.require(rows.length() == many, "there is not one row for each input")
    work.spend(2 * many * letters, one.bit_length())
    table = []
    for row in rows.items():
        numbers = tuple(row.wholes(0))
        # Exactly one scale: with more in a row, letters would have weights that no input sends.
        if len(numbers) != letters or sum(numbers) != one:
            raise row.refuse("the row is not a law of the letters: its numbers do not sum to the scale")
        table.append(numbers)
    return Dense(one, tuple(table), letters)


FORMS: dict[str, FormReader] = {
    "dense": read_dense,
}
