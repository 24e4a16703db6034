"""What a release changed, for whoever holds the original: how many records, from which letter to which.

These figures are about the original table and as confidential as it is; they stand in the internal report only.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Kernel

__all__ = ["pairs_of", "transitions"]

FREQUENCIES = 1000  # letters whose counts before and after are listed
TABLE = 20  # letters whose transitions are listed one by one
SLICE = 1 << 20  # rows that are counted at a time


def pairs_of(inputs: npt.NDArray[Any], letters: npt.NDArray[Any], shape: tuple[int, int]) -> npt.NDArray[np.int64]:
    """How often each letter was drawn for each input, without an array of wide numbers as long as the table.

    >>> pairs_of(np.array([0, 1, 1]), np.array([2, 0, 0]), (2, 3)).tolist()
    [[0, 0, 1], [2, 0, 0]]
    """
    seen = np.zeros(shape[0] * shape[1], dtype=np.int64)
    for start in range(0, len(letters), SLICE):
        index = inputs[start : start + SLICE].astype(np.int64) * shape[1] + letters[start : start + SLICE]
        seen += np.bincount(index, minlength=len(seen))
    return seen.reshape(shape)


def transitions(channel: Kernel, inputs: npt.NDArray[Any], letters: npt.NDArray[Any]) -> dict[str, Any] | None:
    """Changed records of a column that is released in its own letters, or None for another.

    >>> from dalenius.core import Channel
    >>> flip = Channel({"X": ("a", "b")}, {"X": ("a", "b")}, ((0, 1), (1, 0)))
    >>> transitions(flip, np.array([0, 0, 1]), np.array([1, 0, 0]))["changed"]
    2
    """
    if [*channel.inputs.items()] != [*channel.output.items()]:
        return None
    size = channel.shape[0]
    changed = sum(
        int(np.count_nonzero(inputs[start : start + SLICE] != letters[start : start + SLICE]))
        for start in range(0, len(letters), SLICE)
    )
    found: dict[str, Any] = {
        "columns": list(channel.output),
        "rows": len(letters),
        "changed": changed,
        "changed_percent": 100 * changed / len(letters) if len(letters) else 0.0,
    }
    if size <= FREQUENCIES:
        pairs = pairs_of(inputs, letters, (size, size))
        before = pairs.sum(axis=1).tolist()
        after = pairs.sum(axis=0).tolist()
        names = [" · ".join(y) for y in channel.letters()]
        found["frequencies"] = [
            {"letter": name, "before": a, "after": b} for name, a, b in zip(names, before, after, strict=True)
        ]
        if size <= TABLE:
            found["table"] = pairs.tolist()
    return found
