"""Where the numbers of a problem come from: a table, a pmf or samples, and the declared alphabet of each column."""

import codecs
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Self

from dalenius.core.cdf import Cdf
from dalenius.core.guarantee import Guarantee, Names
from dalenius.core.numbers import exact, written
from dalenius.documents.text import as_decimal
from dalenius.errors import InputError

__all__ = [
    "MISSING",
    "Column",
    "ConditionallyIid",
    "Dialect",
    "Grid",
    "MarkovSource",
    "PmfSource",
    "Source",
    "TableSource",
    "in_groups",
    "is_address",
]

MISSING = "(missing)"
"""The letter that stands for a missing value; inside every proof like any other letter."""


POSTGRESQL = ("postgresql://", "postgres://")
SQLITE = "sqlite:"


def is_address(source: object) -> bool:
    """Whether a source names a database and not a file.

    Parameters
    ----------
    source : object
        What a problem file or a call gives as its table.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_address("postgresql://localhost/survey"), is_address("sqlite:survey.db"), is_address("survey.csv")
    (True, True, False)
    """
    return isinstance(source, str) and source.lower().startswith((*POSTGRESQL, SQLITE))


@dataclass(frozen=True)
class Dialect:
    """How a text file writes its records, where that is not found by looking at it.

    >>> Dialect(delimiter=";", decimal=",").to_json()
    {'delimiter': ';', 'decimal': ','}
    """

    delimiter: str | None = None  # what stands between two fields; None lets the reader look at the first lines
    encoding: str | None = None  # the character encoding; None means UTF-8
    decimal: str = "."  # the decimal sign of numbers, "." or ","
    missing_words: tuple[str, ...] = ()  # texts that stand for a missing value, beside the empty field

    def __post_init__(self) -> None:
        delimiter = self.delimiter
        if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
            raise InputError(f"'delimiter' is {delimiter!r}; it must be one character, as in delimiter = \";\"")
        if self.decimal not in (".", ","):
            raise InputError(f"'decimal' is {self.decimal!r}; it must be one of '.', ','")
        if self.decimal == delimiter:
            raise InputError("'decimal' and 'delimiter' are the same character")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _text_encoding(self.encoding))

    def to_json(self) -> dict[str, Any]:
        """The keys of [source] that say it; what is not said is left out."""
        stated: dict[str, Any] = {}
        if self.delimiter is not None:
            stated["delimiter"] = self.delimiter
        if self.encoding is not None:
            stated["encoding"] = self.encoding
        if self.decimal != ".":
            stated["decimal"] = self.decimal
        if self.missing_words:
            stated["missing_words"] = list(self.missing_words)
        return stated


def _text_encoding(name: str) -> str:
    """The usual name of a character encoding; what turns bytes into bytes, as base64 does, is none."""
    try:
        known = codecs.lookup(name)
        known.decode(array("B", "a".encode(known.name)))  # streams hand over buffers
    except (LookupError, ValueError, AttributeError):
        raise InputError(
            f"'encoding' is {name!r}, which is no known character encoding; try utf-8, latin-1 or utf-16"
        ) from None
    return known.name


@dataclass(frozen=True)
class TableSource:
    """A table of records, or a database query; the joint pmf is counted from it.

    Parameters
    ----------
    table : str
        A path, or the address of a database.
    unit : str
        Whom the promise is about: "row", or the column that names a person.
    max_rows : int, optional
        Rows that a person has at most.
    prior : str, optional
        A public law, in place of the one of the table.
    weights : str, optional
        The column of survey weights.
    min_cell : int
        Records that a cell needs for a public card.
    dialect : Dialect
        How a text file is written.
    query : str, optional
        The query of a database.
    title, owner : str, optional
        What the release is called and whose table it is, for the statements.
    row_number : str, optional
        The column that numbers the rows of a table on a cluster.
    """

    table: str
    unit: str = "row"
    max_rows: int | None = None
    prior: str | None = None
    weights: str | None = None
    min_cell: int = 10
    dialect: Dialect = Dialect()
    query: str | None = None
    title: str | None = None
    owner: str | None = None
    row_number: str | None = None

    def to_json(self) -> dict[str, Any]:
        optional = ("query", "max_rows", "prior", "weights", "title", "owner", "row_number")
        given = {k: v for k in optional if (v := getattr(self, k)) is not None}
        told = self.dialect.to_json()
        return {"table": self.table, "unit": self.unit, "min_cell": self.min_cell, **given, **told}


@dataclass(frozen=True)
class PmfSource:
    """A joint pmf in a file of its own.

    Parameters
    ----------
    pmf : str
        The file.
    """

    pmf: str

    def to_json(self) -> dict[str, Any]:
        return {"pmf": self.pmf}


@dataclass(frozen=True)
class MarkovSource:
    """Samples of a stationary Markov chain, written in the problem file itself."""

    letters: tuple[str, ...]
    initial: tuple[Fraction, ...]
    transition: tuple[tuple[Fraction, ...], ...]
    n: int

    def to_json(self) -> dict[str, Any]:
        rows = [[written(entry) for entry in row] for row in self.transition]
        model = {
            "letters": list(self.letters),
            "initial": [written(value) for value in self.initial],
            "transition": rows,
        }
        return {"markov": model | {"n": self.n}}


@dataclass(frozen=True)
class ConditionallyIid:
    """n samples, independent and alike given a hidden variable (000, section IV).

    Parameters
    ----------
    hidden : str
        The variable W.
    prior, kernel : str
        Files with p(w) and p(x | w).
    n : int
        How many samples.
    """

    hidden: str
    prior: str
    kernel: str
    n: int

    def to_json(self) -> dict[str, Any]:
        return {"conditionally_iid": {k: getattr(self, k) for k in ("hidden", "prior", "kernel", "n")}}


Source = TableSource | PmfSource | ConditionallyIid | MarkovSource


@dataclass(frozen=True)
class Grid:
    """The points low, low + step, ..., high on which a number is released.

    Parameters
    ----------
    low, high, step : Fraction
        The ends and the distance of neighbours.
    """

    low: Fraction
    high: Fraction
    step: Fraction

    def points(self) -> list[Fraction]:
        return [self.low + k * self.step for k in range(int((self.high - self.low) / self.step) + 1)]

    def to_json(self) -> dict[str, str]:
        return {k: written(getattr(self, k)) for k in ("low", "high", "step")}


@dataclass(frozen=True)
class Column:
    """The declared alphabet of a column: letters, a file of letters, a grid, or what the table happens to hold.

    With `cuts` or `groups` the letters in `values` stand for groups of the values of the table: letter k for the
    numbers from cut k - 1 up to below cut k, or for the values in group k. With `quantiles` the cuts make that many
    cells of equal probability, under a stated `cdf` or, without one, in the table itself once it has been read. With
    `dates`, "year" or "month", the values of the table are dates and all of this is about their years or months.

    Parameters
    ----------
    values : tuple of str, optional
        The letters.
    values_file : str, optional
        A file of letters.
    grid : Grid, optional
        The points of a number.
    missing : str
        "refuse", or "category" for a letter of its own; on a grid also a number, which a gap then counts as.
    cuts, groups, quantiles, cdf, dates : optional
        How values become letters.

    >>> Column.cut([18, 65]).values
    ('under 18', '18 to under 65', '65 or more')
    >>> Column(quantiles=2, cdf=Cdf.of({"uniform": [0, 5]})).values
    ('under 2.5', '2.5 or more')
    """

    values: Names | None = None
    values_file: str | None = None
    grid: Grid | None = None
    missing: str = "refuse"
    cuts: tuple[Fraction, ...] = ()
    groups: tuple[Names, ...] = ()
    quantiles: int = 0
    cdf: Cdf | None = None
    dates: str = ""

    def __post_init__(self) -> None:
        if self.cdf is not None and not self.cuts:
            cut = self.cut_at(self.cdf.cuts(self.quantiles))
            object.__setattr__(self, "cuts", cut.cuts)
            object.__setattr__(self, "values", cut.values)

    @property
    def puts_together(self) -> bool:
        """Whether one letter can stand for several values of the table.

        >>> [column.puts_together for column in (Column.cut([1]), Column.grouped({"a": ["x"], "b": ["y"]}))]
        [True, False]
        """
        return bool(self.cuts or self.quantiles or self.dates) or any(len(group) > 1 for group in self.groups)

    def cut_at(self, cuts: Sequence[Fraction]) -> Self:
        """The same column cut at these numbers, its cells named by their ends."""
        return self.cut([as_decimal(cut) for cut in cuts], missing=self.missing)

    @classmethod
    def cut(cls, cuts: Sequence[Any], labels: Sequence[str] = (), *, missing: str = "refuse") -> Self:
        """Numbers in groups that begin at each of the cuts; without labels the groups are named by their ends."""
        ends = tuple(exact(cut, "cuts") for cut in cuts)
        if not ends or any(a >= b for a, b in pairwise(ends)):
            raise InputError("cuts are numbers that grow, at least one")
        told = [str(cut) for cut in cuts]
        inner = (f"{a} to under {b}" for a, b in pairwise(told))
        letters = tuple(labels) or (f"under {told[0]}", *inner, f"{told[-1]} or more")
        if len(letters) != len(ends) + 1:
            raise InputError(f"{len(ends)} cuts make {len(ends) + 1} groups, and there are {len(letters)} labels")
        return cls(values=letters, missing=missing, cuts=ends)

    @classmethod
    def grouped(cls, groups: Mapping[str, Sequence[str]], *, missing: str = "refuse") -> Self:
        """Values of the table by the letter that stands for them; every value belongs to one group."""
        often = Counter(value for group in groups.values() for value in group)
        if not groups or not all(groups.values()):
            raise InputError("groups names the values of each group, at least one")
        if twice := [v for v, n in often.items() if n > 1]:
            raise InputError(f"groups lists the value {twice[0]!r} twice")
        return cls(values=tuple(groups), missing=missing, groups=tuple(map(tuple, groups.values())))

    @property
    def from_table(self) -> bool:
        if self.quantiles:
            return self.cdf is None
        return self.values is None and self.values_file is None and self.grid is None

    def to_json(self) -> dict[str, Any]:
        return {**self._letters(), **({"dates": self.dates} if self.dates else {})}

    def _letters(self) -> dict[str, Any]:
        if self.grid:
            return {"grid": self.grid.to_json(), "missing": self.missing}
        if self.cuts or self.quantiles:
            cells = {"quantiles": self.quantiles} if self.quantiles else {}
            stated = {"cdf": self.cdf.to_json()} if self.cdf else {}
            cuts = {"cuts": [written(cut) for cut in self.cuts], "labels": list(self.values or ())} if self.cuts else {}
            return {**cells, **stated, **cuts, "missing": self.missing}
        if self.groups:
            named = zip(self.values or (), self.groups, strict=True)
            return {"groups": {label: list(group) for label, group in named}, "missing": self.missing}
        values = list(self.values) if self.values is not None else self.values_file or "from-table"
        return {"values": values, "missing": self.missing}


def in_groups(columns: Mapping[str, Column], guarantees: Iterable[Guarantee]) -> Names:
    """Protected columns whose values were put into groups: within a group nothing is promised."""
    secret = dict.fromkeys(name for guarantee in guarantees for name in guarantee.secret)
    return tuple(name for name in secret if name in columns and columns[name].puts_together)
