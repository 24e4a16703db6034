"""What a release changed, for whoever holds the original: how many records, from which letter to which.

These figures are about the original table and as confidential as it is; they stand in the internal report only.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Kernel

__all__ = ["transitions"]

FREQUENCIES = 1000  # letters whose counts before and after are listed
TABLE = 20  # letters whose transitions are listed one by one


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
    changed = int(np.count_nonzero(inputs != letters))
    told: dict[str, Any] = {
        "columns": list(channel.output),
        "rows": len(letters),
        "changed": changed,
        "changed_percent": 100 * changed / len(letters) if len(letters) else 0.0,
    }
    if size <= FREQUENCIES:
        before, after = (np.bincount(side.astype(np.int64), minlength=size).tolist() for side in (inputs, letters))
        names = [" ".join(y) for y in channel.letters()]
        told["frequencies"] = [
            {"letter": y, "before": a, "after": b} for y, a, b in zip(names, before, after, strict=True)
        ]
    if size <= TABLE:
        pairs = np.bincount(inputs.astype(np.int64) * size + letters, minlength=size * size).reshape(size, size)
        told["table"] = pairs.tolist()
    return told
