r"""Releases that show common records alone: each of them has at least so many rows in the table.

Two values of the secret, observed, and nothing told about it. The heavier class goes to its nearest common records,
which makes a law Q; the lighter class goes to Q by transport. With the potentials beta of that transport a light row
pays d - beta(y) and a heavy one d + beta(y) p_light / p_heavy; the least of both over all common records is a bound. A
heavy row might have done better elsewhere for the sake of the light ones: that is the gap.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dalenius.errors import Infeasible
from dalenius.kernel.rows import UNIT
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.zero import Found, arcs_of, move, record_proof, rows_of_class
from dalenius.solvers.flows.pricing import cheapest
from dalenius.solvers.flows.transport import conjugate

__all__ = ["among_common", "common_records"]


def common_records(wide: Wide) -> np.ndarray:
    """The records that may be released: those with at least `min_multiplicity` rows.

    Raises
    ------
    Infeasible
        If there are none.
    """
    found = np.flatnonzero(wide.by_record.sum(axis=1) >= (wide.problem.min_multiplicity or 0))
    if not len(found):
        most = int(wide.by_record.sum(axis=1).max())
        raise Infeasible(f"no record has {wide.problem.min_multiplicity} rows; the most common one has {most}")
    return found


def among_common(wide: Wide, on_progress: Callable[[str], None] | None) -> Found:
    """An independent release of common records, for two observed values.

    Parameters
    ----------
    wide : Wide
        With `min_multiplicity`.

    Returns
    -------
    Found
        With a proof by the rule "records", in which the other records do not compete.
    """
    sizes = wide.by_record.sum(axis=0)
    light = int(sizes.argmin())
    heavy = 1 - light
    common = common_records(wide)
    nothing = (np.zeros(len(wide.points), dtype=np.int64), np.zeros(len(common), dtype=np.int64))
    nearest, _ = cheapest(wide.metric, wide.points, wide.points[common], *nothing, 1, None, 0)
    target = np.empty(len(wide.points), dtype=np.int64)
    target[nearest.row] = common[nearest.column]
    target[common] = common
    law = np.bincount(target, wide.by_record[:, heavy], len(target)).astype(np.int64)
    found = move(wide, wide.by_record[:, light], law, 0.0, on_progress)
    have = wide.by_record[:, light] * (found.scale // int(sizes[light]))
    mine = np.flatnonzero(wide.class_of_input == heavy)
    stay = (mine, target[wide.record_of_input[mine]], np.ones(len(mine), dtype=np.int64))
    parts = [stay, rows_of_class(wide, light, have, *arcs_of(found))]
    row, record, weight = (np.concatenate(side) for side in zip(*parts, strict=True))
    rows = Rows.gathered(len(wide.counts), row, record, weight)
    numbers: list[list[str]] = [[] for _ in range(len(wide.records))]
    if found.plan is not None:
        beta = conjugate(wide.metric, wide.points[common], wide.points[found.supply], found.plan.row_potential)
        share = Fraction(wide.total, int(sizes[heavy]) * wide.unit)
        for y, v in zip(common.tolist(), beta.tolist(), strict=True):
            both = ["0", "0"]
            both[light] = str(round(share * v * (1 << UNIT)))
            numbers[y] = both
    proof = record_proof(wide, ["0"], [numbers])
    return Found(rows, proof, "records: to common records, and transport to the largest class")
