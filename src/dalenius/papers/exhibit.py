"""What a page of figures is made of, as plain data: tables whose cells are exact, a chart, and a few words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Literal, TypeAlias

from dalenius.papers.curve import Chart
from dalenius.papers.enclosure import Enclosure

__all__ = ["DIGITS", "Cell", "Exhibit", "Figure", "Progress", "Table", "agrees", "both_ends", "computed"]

DIGITS = 18
"""Decimals of a figure in a CSV file."""

Progress: TypeAlias = Callable[[str, int | None, int | None], None]


@dataclass(frozen=True)
class Figure:
    """A number and the side to which its decimals are cut: what is attained down, what bounds it up.

    Parameters
    ----------
    value : number
        Exact or a float.
    side : str
        To which decimals are cut.
    """

    value: Fraction
    side: Literal["down", "up"]

    def text(self, digits: int = DIGITS) -> str:
        """So many decimals; what ends sooner is written as it is.

        >>> Figure(Fraction(1, 3), "up").text(4), Figure(Fraction(1, 4), "up").text(4)
        ('0.3334', '0.25')
        """
        units = (floor if self.side == "down" else ceil)(self.value * 10**digits)
        text = str(abs(units)).rjust(digits + 1, "0")
        text = f"{'-' * (units < 0)}{text[:-digits]}.{text[-digits:]}"
        return text.rstrip("0").rstrip(".") if Fraction(units, 10**digits) == self.value else text


Cell: TypeAlias = str | Figure


def both_ends(found: Enclosure) -> tuple[Figure, Figure]:
    """The cells `ours` and `bound`."""
    return Figure(found.low, "down"), Figure(found.high, "up")


def agrees(printed: str, found: Enclosure) -> bool:
    """Whether a printed decimal is the number up to half a unit of its last digit.

    >>> agrees("0.0134", Enclosure.of("0.01342")), agrees("0.0134", Enclosure.of("0.0136"))
    (True, False)
    """
    number = Decimal(printed)
    exponent = number.as_tuple().exponent
    half = Fraction(Decimal(5).scaleb(exponent - 1)) if isinstance(exponent, int) else Fraction(0)
    return abs(found.low - Fraction(number)) <= half and abs(found.high - Fraction(number)) <= half


@dataclass(frozen=True)
class Table:
    """A table of cells; the page shows every row, or those that are `shown`; the file always has all.

    Parameters
    ----------
    name, caption : str
        Of its file, and above it.
    head : sequence of str
        Of its columns.
    rows : sequence of cells
        All of them.
    shown : sequence of int, optional
        Those that the page shows.
    """

    name: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    shown: tuple[int, ...] | None = None

    @property
    def visible(self) -> tuple[tuple[Cell, ...], ...]:
        """The rows of the page; its template asks for them."""
        return self.rows if self.shown is None else tuple(self.rows[k] for k in self.shown)


@dataclass(frozen=True)
class Exhibit:
    """One example, table or figure of a paper: its words, its tables and its picture; `key` names its files.

    Parameters
    ----------
    key, title : str
        The name of its files, and its heading.
    words : sequence of str
        Paragraphs.
    tables : sequence of Table
        With every figure.
    chart : Chart, optional
        Its picture.
    """

    key: str
    title: str
    words: tuple[str, ...]
    tables: tuple[Table, ...]
    chart: Chart | None = None


def computed(
    exhibits: Sequence[tuple[str, Callable[[], Exhibit]]], on_progress: Progress | None = None
) -> list[Exhibit]:
    """All exhibits of a paper, in its order; each is named while it is computed."""
    found = []
    for done, (name, compute) in enumerate(exhibits):
        if on_progress:
            on_progress(f"computing {name}", done, len(exhibits))
        found.append(compute())
    return found
