"""Survey weights: a column of positive numbers, one for each row."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.errors import TableError
from dalenius.tables.source import Table

__all__ = ["weights_of"]


def weights_of(table: Table, name: str) -> npt.NDArray[np.float64]:
    """The weights that a column holds; only distinct values meet Python.

    Parameters
    ----------
    table : Table
        The rows.
    name : str
        The column.

    Returns
    -------
    array of float
        One a row, none below zero, and not all of them zero.

    Raises
    ------
    TableError
        If a weight is missing or below zero, or if no row has one above.

    >>> import pyarrow as pa
    >>> from dalenius.tables import open_table
    >>> weights_of(open_table(pa.table({"w": [2.5, 1.0, 2.5]})), "w").tolist()
    [2.5, 1.0, 2.5]
    """
    tape, done = table.workspace.tape(np.float64), 0
    for batch in table.batches([name]):
        column = batch.column(name)
        values = np.array([*map(_number, column.dictionary.to_pylist()), np.nan])
        at = column.indices.fill_null(len(values) - 1).to_numpy()
        here = values[at]
        if not (good := here >= 0).all():
            row = int((~good).argmax())
            raise TableError(
                f"{table.name}, row {done + row + 1}, column {name!r}: {column[row].as_py()!r} is no weight",
                do="Correct it: a weight is a number from 0 on.",
            )
        tape.append(here)
        done += len(here)
    weights = tape.finished()
    if not (weights > 0).any():
        raise TableError(
            f"{table.name}, column {name!r}: no row has a weight above 0, so that nothing counts",
            do="Name another column of weights, or leave weights out.",
        )
    return weights


def _number(text: Any) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return np.nan
    return value if np.isfinite(value) else np.nan
