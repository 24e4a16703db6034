r"""Releases that show common records alone: each of them has at least so many rows in the table.

An independent release of an observed secret: the heaviest class goes to its nearest common records, which makes a law
Q, and every other class goes to Q by transport. With the potentials beta_s of these transports a row of class s pays
d - c beta_s(y) and a heavy one d + c sum_s beta_s(y) p_s / p_heavy, where c = 1, or less so that the sum changes by at
most d: the least of these over all common records is a bound. A heavy row might have done better elsewhere for the sake
of the others: that is the gap.

All other promises: everybody takes the place of the nearest common record. The rows are then a table without other
records, and what is released of it reveals as much as the same release of the rows as they were. A leakage counts the
distances from where the rows come from. For other promises each class is sent anew, at the least cost from its own
records, to the records that it is released as: which values they are released with, and so what is revealed, stays as
it is. The multipliers of that table are multipliers of the common records: what they prove is completed by the kernel
with the distances of all rows, and other records do not compete.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Independent, Leakage
from dalenius.errors import Infeasible
from dalenius.mechanisms.proof_terms import in_units
from dalenius.mechanisms.records.independent import arcs_of, move, rows_of_class
from dalenius.mechanisms.records.proof import Found, Json, record_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.pricing import cheapest
from dalenius.solvers.flows.transport import conjugate

__all__ = ["among_common", "common_records"]

Integers = npt.NDArray[np.int64]
Progress = Callable[[str], None] | None

MOST_PARTS = 1 << 44
"""Parts of all rows together for which a transport in machine integers is tried."""


def common_records(wide: Wide) -> Integers:
    """The records that may be released: those with at least `min_multiplicity` rows.

    Raises
    ------
    Infeasible
        If there are none.
    """
    found = np.flatnonzero(wide.by_record.sum(axis=1) >= (wide.problem.min_multiplicity or 0))
    if not len(found):
        most = int(wide.by_record.sum(axis=1).max())
        raise Infeasible(
            f"no record has {wide.problem.min_multiplicity} rows; the most common one has {most}",
            do="Lower min_multiplicity to that, or group values.",
        )
    return found


def among_common(
    wide: Wide, search: Callable[[Wide], Found], on_progress: Progress, *, preserving: bool = False
) -> Found:
    """A release of common records.

    Parameters
    ----------
    wide : Wide
        With `min_multiplicity`.
    search : callable
        The best release of a table all records of which may be released.
    preserving : bool
        Whether every common record is to be released as often as rows have it as their nearest one.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Found
        With proofs by the rule "records", in which the other records do not compete.
    """
    promises = wide.problem.guarantees
    common = common_records(wide)
    nearest = _nearest(wide, common)
    if len(promises) == 1 and type(promises[0]) is Independent and wide.seen and not preserving:
        return _to_one_law(wide, common, nearest, on_progress)
    place = np.searchsorted(common, nearest)
    table = replace(
        wide,
        problem=replace(wide.problem, min_multiplicity=None, preserve_marginals=preserving),
        records=wide.records[common],
        points=wide.points[common],
        record_of_input=place[wide.record_of_input],
        starts=wide.points[wide.record_of_input],
    )
    found = search(table)
    rows = Rows(found.rows.first, common[found.rows.record], found.rows.weight)
    leaking = len(promises) == 1 and type(promises[0]) is Leakage  # found with these distances
    if wide.seen and not leaking:
        rows = _sent_anew(wide, rows, on_progress)
    proofs = [_among_all(wide, common, _of_records(table, proof)) for proof in (found.proof, *found.others)]
    # Without multipliers: the way of all rows to their nearest common record.
    proofs.append(record_proof(wide, ["0"] * len(promises), [[] for promise in promises]) | {"limits": _free(wide)})
    return Found(rows, proofs[0], f"{found.method}, among common records", found.remarks, others=tuple(proofs[1:]))


def _nearest(wide: Wide, common: Integers) -> Integers:
    """The nearest common record of each record."""
    nothing = (np.zeros(len(wide.points), dtype=np.int64), np.zeros(len(common), dtype=np.int64))
    nearest, _ = cheapest(wide.metric, wide.points, wide.points[common], *nothing, 1, None, 0)
    target = np.empty(len(wide.points), dtype=np.int64)
    target[nearest.row] = common[nearest.column]
    target[common] = common
    return target


def _to_one_law(wide: Wide, common: Integers, nearest: Integers, on_progress: Progress) -> Found:
    """An independent release: the heaviest class to its nearest common records, the others to the same law."""
    sizes = [int(n) for n in wide.by_record.sum(axis=0)]
    heavy = int(np.argmax(sizes))
    law = np.bincount(nearest, wide.by_record[:, heavy], len(nearest)).astype(np.int64)
    mine = np.flatnonzero(wide.class_of_input == heavy)
    parts = [(mine, nearest[wide.record_of_input[mine]], np.ones(len(mine), dtype=np.int64))]
    scores = np.zeros((len(sizes), len(common)), dtype=object)
    part = min(Fraction(1), Fraction(sizes[heavy], sum(sizes) - sizes[heavy]))
    for s in range(len(sizes)):
        if s == heavy:
            continue
        found = move(wide, wide.by_record[:, s], law, 0.0, on_progress)
        parts.append(rows_of_class(wide, s, wide.by_record[:, s] * (found.scale // sizes[s]), *arcs_of(found)))
        if found.plan is not None:
            beta = conjugate(wide.metric, wide.points[common], wide.points[found.supply], found.plan.row_potential)
            scores[s] = [Fraction(value, wide.unit) * part for value in beta.tolist()]
            scores[heavy] = scores[heavy] - scores[s] * Fraction(sizes[s], sizes[heavy])
    row, record, weight = (np.concatenate(side) for side in zip(*parts, strict=True))
    numbers: list[list[str]] = [[] for _ in range(len(wide.records))]
    for y, column in zip(common.tolist(), scores.T.tolist(), strict=True):
        numbers[y] = in_units(column)
    proof = record_proof(wide, ["0"], [numbers]) | {"limits": _free(wide)}
    rows = Rows.gathered(len(wide.counts), row, record, weight)
    return Found(rows, proof, "records: to common records, and transport to the largest class")


def _free(wide: Wide) -> list[str]:
    """The prices of the limits, the last of which is that of common records."""
    limits: Any = record_proof(replace(wide, problem=replace(wide.problem, min_multiplicity=None)), [], [])["limits"]
    return [*limits, "0"]


def _of_records(table: Wide, proof: Json) -> Json:
    """A proof by transports between classes as multipliers of records: potentials are numbers of all of them.

    Class s pays d - w f / p_s and class t pays d + w f / p_t for a transport of weight w with potential f.
    """
    if proof["rule"] != "transports":
        return proof
    promises = table.problem.guarantees
    which: Any = proof["promise"]
    one = table.about(promises[which].secret)
    sizes = [int(n) for n in one.by_record.sum(axis=0)]
    scores = np.zeros((len(sizes), len(one.points)), dtype=object)
    transports: Any = proof["transports"]
    for s, t, weight, numbers in transports:
        law = one.by_record.sum(axis=1) if t is None else one.by_record[:, t]
        demand = np.flatnonzero(one.by_record[:, s] * int(law.sum()) < law * sizes[s])
        if not len(demand):
            continue
        potential = -conjugate(one.metric, one.points, one.points[demand], np.array(numbers, dtype=np.int64))
        paid = np.array([Fraction(value, one.unit) * Fraction(weight) * one.total for value in potential.tolist()])
        scores[s] = scores[s] + paid / sizes[s]
        if t is not None:
            scores[t] = scores[t] - paid / sizes[t]
    numbers = [in_units(column) for column in scores.T.tolist()]
    records: list[list[Any]] = [numbers if k == which else [] for k in range(len(promises))]
    return record_proof(table, ["0"] * len(promises), records)


def _among_all(wide: Wide, common: Integers, proof: Json) -> Json:
    """A proof about common records with any multipliers for the others, which do not compete."""
    whole = []
    promises = wide.problem.guarantees
    for promise, numbers in zip(promises, proof["records"], strict=True):  # type: ignore[call-overload]
        nobody = ["1"] * len(wide.about(promise.secret).classes) if type(promise) is Leakage else []
        spread: list[object] = [nobody] * len(wide.records) if numbers else []
        for y, own in zip(common.tolist() if numbers else [], numbers, strict=True):
            spread[y] = own
        whole.append(spread)
    return proof | {"records": whole, "limits": _free(wide)}


def _sent_anew(wide: Wide, rows: Rows, on_progress: Progress) -> Rows:
    """Each class from its own records to those that it is released as, at the least cost."""
    of = rows.input_of_entry
    whole = [sum(rows.row(e)[1]) for e in range(len(rows))]
    many = [int(n) for n in wide.counts.sum(axis=1)]
    scale = lcm(*(one // gcd(one, n) for one, n in zip(whole, many, strict=True)))
    if scale * wide.total > MOST_PARTS:
        return rows  # too many parts: the way over the nearest common record
    amount = np.array([many[e] * w * scale // whole[e] for e, w in zip(of.tolist(), rows.weight, strict=True)])
    parts = []
    for s in range(len(wide.classes)):
        mine = wide.class_of_input[of] == s
        arrived = np.zeros(len(wide.records), dtype=np.int64)
        np.add.at(arrived, rows.record[mine], amount[mine])
        found = move(wide, wide.by_record[:, s] * scale, arrived, 0.0, on_progress)
        times = found.scale // int(wide.by_record[:, s].sum())
        parts.append(rows_of_class(wide, s, wide.by_record[:, s] * times, *arcs_of(found)))
    return Rows.together(len(wide.counts), parts)
