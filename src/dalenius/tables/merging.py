"""Which two values of a column to merge so that no combination is small, tried before it is named."""

from collections.abc import Sequence

import numpy as np

from dalenius.tables.counting import Coded

__all__ = ["smaller"]

TRIED = 200  # merges that are tried


def smaller(table: Coded, names: Sequence[str], columns: Sequence[str], least: int) -> str:
    """One merge after which every combination has enough rows, in one sentence.

    Parameters
    ----------
    table : Coded
        The table.
    names : sequence of str
        The columns whose combinations count.
    columns : sequence of str
        Those of them whose values may be merged.
    least : int
        Rows of a combination that is not small.

    Returns
    -------
    str
        Empty where no single merge of neighbouring values is enough.

    Examples
    --------
    >>> codes = {"a": np.array([0] * 20 + [1] * 20 + [2])}
    >>> smaller(Coded({"a": ("none", "few", "many")}, codes), ["a"], ["a"], 10)
    'Merge a "many" into "few": then the smallest has 20 rows.'
    """
    places, rows = table.counts(names)
    best: tuple[int, str] | None = None
    tried = 0
    for column in columns:
        at = list(names).index(column)
        values = table.alphabets[column]
        for k in range(len(values) - 1):
            tried += 1
            if tried > TRIED or len(values) <= 2:
                break
            merged = places.copy()
            merged[:, at] = np.where(merged[:, at] == k + 1, k, merged[:, at])
            found, inverse = np.unique(merged, axis=0, return_inverse=True)
            smallest = int(np.bincount(inverse.reshape(-1), weights=rows, minlength=len(found)).min())
            if smallest >= least and (best is None or smallest > best[0]):
                counts = np.bincount(table.codes[column], minlength=len(values))
                rare, other = (k, k + 1) if counts[k] < counts[k + 1] else (k + 1, k)
                told = f'Merge {column} "{values[rare]}" into "{values[other]}": then the smallest has {smallest} rows.'
                best = (smallest, told)
    return best[1] if best else ""
