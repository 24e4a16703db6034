"""Rows of a system of equations."""

from dalenius.solvers import rank


def independent(rows):
    """The first rows of which none is a combination of those before."""
    kept = []
    for row in rows:
        if rank([*kept, row]) > len(kept):
            kept.append(row)
    return kept
