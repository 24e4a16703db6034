"""A release next to its original, for whoever holds both: what was drawn for each record, in the order of the table."""

from typing import Any

import numpy.typing as npt

from dalenius.core import Column
from dalenius.errors import InputError, MismatchError
from dalenius.mechanisms.applying import Released
from dalenius.tables import encode, open_table

__all__ = ["SUFFIX", "beside"]

SUFFIX = "_released"


def beside(table: Any, released: Released) -> dict[str, tuple[npt.NDArray[Any], tuple[str, ...]]]:
    """Every column of the original, then each drawn column as NAME_released, as (codes, letters).

    As confidential as the original: the two together undo every promise. Kept columns are there once.

    >>> import numpy as np
    >>> import pyarrow as pa
    >>> drawn = Released({"X": (np.array([1, 0]), ("a", "b"))}, np.array([0, 1]), np.array([0, 1]), np.array([1, 0]))
    >>> [(n, [a[c] for c in codes]) for n, (codes, a) in beside(pa.table({"X": ["a", "a"]}), drawn).items()]
    [('X', ['a', 'a']), ('X_released', ['a', 'b'])]
    """
    opened = open_table(table)
    names = list(opened.names)
    coded = encode(opened, dict.fromkeys(names, Column(missing="category")), names).trimmed()
    if coded.rows != released.rows:
        raise InputError(
            f"one record was drawn for each person, {released.rows:,} for {coded.rows:,} rows; they cannot stand side "
            "by side"
        )
    found = {n: (coded.codes[n], coded.alphabets[n]) for n in names}
    for name, (codes, letters) in released.columns.items():
        if name in released.kept:
            continue
        if (beside_it := name + SUFFIX) in names:
            raise MismatchError(
                f"the table has a column {beside_it!r} already", do="Rename this column, or leave out --beside."
            )
        found[beside_it] = (released.unshuffled(codes), letters)
    return found
