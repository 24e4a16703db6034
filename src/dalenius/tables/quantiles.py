"""Columns that are cut at the quantiles of the table itself: the cuts, found by ranks in exact numbers."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate

import numpy as np

from dalenius.core.numbers import exact
from dalenius.core.source import MISSING, Column
from dalenius.errors import TableError
from dalenius.tables.coding import encode, is_number
from dalenius.tables.source import Progress, Table

__all__ = ["cut_at_quantiles"]


def cut_at_quantiles(
    table: Table, columns: Mapping[str, Column], names: Sequence[str], *, on_progress: Progress | None = None
) -> dict[str, Column]:
    """The declarations, with cuts for each of the named columns that asks for quantiles of the table.

    Each cell holds 1/K of the values that are there, as nearly as equal values allow, which stay together; where many
    are equal there are fewer cells.

    >>> import pyarrow as pa
    >>> from dalenius.tables import open_table
    >>> t = open_table(pa.table({"x": [0.3, 7.0, 1.5, 2.5]}))
    >>> cut_at_quantiles(t, {"x": Column(quantiles=2)}, ["x"])["x"].values
    ('under 2.5', '2.5 or more')
    """
    asked = [n for n in dict.fromkeys(names) if n in columns and columns[n].quantiles and not columns[n].cuts]
    if not asked:
        return dict(columns)
    coded = encode(table, dict.fromkeys(asked, Column(missing="category")), asked, on_progress=on_progress)
    found = dict(columns)
    for name in asked:
        texts = [text for text in coded.alphabets[name] if text != MISSING]
        if words := [text for text in texts if not is_number(text)]:
            raise TableError(
                f"{table.name}, column {name!r}: {words[0]!r} is not a number, and quantiles are of numbers",
                do="Group this column by groups, or correct the table.",
            )
        many = np.bincount(coded.codes[name], minlength=len(coded.alphabets[name]))[: len(texts)]
        values = [exact(text) for text in texts]
        ranks = list(accumulate(many.tolist()))
        cells = columns[name].quantiles
        cuts: list[Fraction] = []
        for c in range(1, cells):
            last = bisect_left(ranks, -(-c * ranks[-1] // cells))  # the largest value of cell c
            above = bisect_right(values, values[last])
            if above < len(values) and (not cuts or values[above] > cuts[-1]):
                cuts.append(values[above])
        if not cuts:
            raise TableError(
                f"{table.name}, column {name!r}: its values leave one cell only; most of them are equal",
                do="Write cuts by hand, or leave this column out.",
            )
        found[name] = replace(columns[name].cut_at(cuts), quantiles=cells)
    return found
