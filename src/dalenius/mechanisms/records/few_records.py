"""Few records: every channel from inputs to records is a matrix that can be written out, and one program finds it.

The mechanism that reads a letter for each input and releases a letter for each record is a problem of the
leakage-distortion family. Its matrix is the channel, and its multipliers, one set for each record, are the proof.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import (
    Channel,
    Design,
    Distortion,
    Leakage,
    MinimizeDistortion,
    Pmf,
    Problem,
)
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.leakage import least
from dalenius.mechanisms.proof_terms import ONE
from dalenius.mechanisms.records.common_records import common_records
from dalenius.mechanisms.records.proof import Found, record_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide, distance_between
from dalenius.solvers.flows.distances import blocks

__all__ = ["MOST_ENTRIES", "listed", "over_all_letters"]

MOST_ENTRIES = 40_000
"""Entries of a matrix from inputs to records that is searched whole."""

Integers = npt.NDArray[np.int64]


def over_all_letters(wide: Wide, gap: float, seconds: float, on_progress: Callable[[str], None] | None) -> Found | None:
    """The best channel from inputs to records, with a proof about every mechanism, whatever letters it releases.

    Parameters
    ----------
    wide : Wide
        Its released columns have few letters together.
    gap, seconds
        When the search ends.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Found or None
        The proof is that of the dense program over all letters, which sees no channel. None: it has another form.

    Raises
    ------
    Infeasible
        If nothing keeps the promises, or no record does where other letters would.
    """
    whole = least(replace(wide.problem, form=None), gap=gap, seconds=seconds, on_progress=on_progress)
    if not _over_letters(whole) or not isinstance(whole.channel, Channel):
        return None
    rows = _among_records(wide, whole.channel)
    if rows is None:  # some letter is no record: none of them is better, but for few promises and many values
        try:
            rows = _rows(wide, least(_as_matrix(wide), gap=gap, seconds=seconds, on_progress=on_progress))
        except Infeasible as e:
            raise Infeasible(
                f"among the records of the table {e}; other combinations of values would: leave out form"
            ) from None
    return Found(rows, dict(whole.certificate.proof), "records: one program over all values", (), whole.bound)


def _over_letters(design: Design) -> bool:
    """Whether its proof has multipliers for each letter."""
    return design.certificate.proof.get("division") == "letters"


def _among_records(wide: Wide, channel: Channel) -> Rows | None:
    """The rows of a channel over all letters, where it releases nothing but records."""
    sizes = [len(letters) for letters in wide.law.alphabets(wide.problem.release).values()]
    letter = np.ravel_multi_index(tuple(wide.records.T), sizes)
    place = {int(k): y for y, k in enumerate(letter.tolist())}
    inputs = np.array(wide.law.grouped(wide.problem.observe)[0], dtype=np.int64)
    many = [len(letters) for letters in wide.law.alphabets(wide.problem.observe).values()]
    entries: list[tuple[int, int, Fraction]] = []
    for e, x in enumerate(np.ravel_multi_index(tuple(inputs.T), many).tolist()):
        for k, value in enumerate(channel.rows[x]):
            if value:
                if k not in place:
                    return None
                entries.append((e, place[k], value))
    return _whole(len(inputs), entries)


def _whole(inputs: int, entries: Sequence[tuple[int, int, Fraction]]) -> Rows:
    """Entries (input, record, probability) as whole weights."""
    scale = [1] * inputs
    for e, _, value in entries:
        scale[e] = lcm(scale[e], value.denominator)
    weight = np.array([int(value * scale[e]) for e, _, value in entries], dtype=object)
    return Rows.gathered(inputs, [e for e, _, _ in entries], [y for _, y, _ in entries], weight)


def listed(wide: Wide, gap: float, seconds: float, on_progress: Callable[[str], None] | None) -> Found:
    """The best channel from inputs to records, with the multipliers of its promises for each record.

    Parameters
    ----------
    wide : Wide
        With few inputs and records.
    gap, seconds
        When the search ends.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Found
        Its proof is by the rule "records" of the kernel.
    """
    problem = _as_matrix(wide)
    design = least(problem, gap=gap, seconds=seconds, on_progress=on_progress)
    rows = _rows(wide, design)
    # Other letters than records may change less, by this factor: see the rule "records" of the kernel.
    values = len(wide.classes)
    divided = values > 2 and not (wide.problem.preserve_marginals or wide.problem.min_multiplicity)
    bound = design.bound / (2 - Fraction(2, values)) if divided else design.bound
    proof = _proof(wide, problem, design.certificate.proof)
    return Found(rows, proof, "records: one program over all matrices", (), bound)


def _rows(wide: Wide, design: Design) -> Rows:
    """The rows of the channel between numbers of records."""
    if not _over_letters(design) or not isinstance(design.channel, Channel):
        raise SolverFailed(f"a matrix of {len(wide.counts)} inputs came back in another form")
    copies = len(design.channel.rows) // len(wide.records)
    at = wide.record_of_input * copies + _copies(wide)
    open_ = common_records(wide).tolist()
    entries = [
        (e, open_[y], value)
        for e, x in enumerate(at.tolist())
        for y, value in enumerate(design.channel.rows[x])
        if value
    ]
    return _whole(len(wide.counts), entries)


def _copies(wide: Wide) -> Integers:
    """For each input, how many others of its record stand before it."""
    order = np.argsort(wide.record_of_input, kind="stable")
    ranked = wide.record_of_input[order]
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.arange(len(order)) - np.searchsorted(ranked, ranked)
    return found


def _as_matrix(wide: Wide) -> Problem:
    """The problem whose letters are the records by their numbers, and which of the inputs of its record an input is."""
    law = wide.law
    problem = with_kept_rows(wide.problem)
    _, input_of_atom = law.grouped(problem.observe)
    own = _fresh("record", wide.secret)
    copy = _fresh("copy", wide.secret)
    copies = _copies(wide)
    variables = {
        own: tuple(map(str, range(len(wide.records)))),
        copy: tuple(map(str, range(int(copies.max()) + 1))),
        **law.alphabets(wide.secret),
    }
    codes = np.column_stack(
        [wide.record_of_input[input_of_atom], copies[input_of_atom], law.support[:, law.columns(wide.secret)]]
    )
    limits = tuple(replace(_matrix(wide, limit, own), at_most=limit.at_most) for limit in problem.limits)
    assert isinstance(problem.objective, MinimizeDistortion)
    # With all records to choose from the letters are those of the input; some of them are letters of their own.
    everything = problem.min_multiplicity is None
    return Problem(
        observe=(own, copy),
        release=(own,) if everything else (),
        output=None if everything else _fresh("released", (own, copy, *wide.secret)),
        preserve_marginals=problem.preserve_marginals,
        objective=MinimizeDistortion(_matrix(wide, problem.objective.measure, own)),
        guarantees=problem.guarantees,
        limits=limits,
        forbid=_barred_pairs(wide),
        joint=Pmf.from_counts(variables, codes, law.weights.tolist()),
    )


def _barred_pairs(wide: Wide) -> tuple[tuple[str, str], ...]:
    """Records that must not become each other, by their numbers."""
    problem = wide.problem
    barred = np.zeros((len(wide.records), len(wide.records)), dtype=np.bool_)
    for place, name in enumerate(problem.release):
        letters = wide.law.variables[name]
        codes = wide.records[:, place]
        for before, after in problem.transitions:
            if before in letters and after in letters:
                barred |= (codes == letters.index(before))[:, None] & (codes == letters.index(after))[None, :]
        for letter in set(problem.freeze) & set(letters):
            barred |= (codes == letters.index(letter))[:, None] & (codes != letters.index(letter))[None, :]
    return tuple((str(x), str(y)) for x, y in zip(*(side.tolist() for side in np.nonzero(barred)), strict=True))


def _fresh(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _matrix(wide: Wide, measure: Distortion, own: str) -> Distortion:
    """A distortion as a matrix between records."""
    if measure.keeps is not None:
        row = tuple(Fraction(int(lost)) for lost in wide.lose(measure)[common_records(wide)].tolist())
        return Distortion((row,) * len(wide.records), (own,), keeps=measure.keeps)
    metric, points, unit = distance_between(measure, wide.problem.release, wide.law, wide.records)
    distances = np.concatenate([block for _, block in blocks(metric, points, points[common_records(wide)])])
    return Distortion(tuple(tuple(Fraction(int(entry), unit) for entry in row) for row in distances.tolist()), (own,))


def _proof(wide: Wide, problem: Problem, proof: Mapping[str, Any]) -> dict[str, object]:
    """The multipliers of a proof over letters as those of records: a weight for each promise, numbers for each."""
    open_ = common_records(wide).tolist()
    leaves = proof["leaves"]
    # What depends on the released record alone is no distance: such limits only loosen the bound.
    prices = [
        "0" if limit.keeps else str(Fraction(int(value), ONE))
        for limit, value in zip(problem.limits, proof["limits"], strict=True)
    ] + ["0"] * (wide.problem.min_multiplicity is not None)
    records = []
    for k, guarantee in enumerate(problem.guarantees):
        # Records that are closed do not compete; their multipliers are any.
        many = len(problem.pmf.grouped(guarantee.secret)[0])
        whole: list[Any] = [["1"] * many if type(guarantee) is Leakage else []] * len(wide.records)
        for y, leaf in zip(open_, leaves, strict=True):
            whole[y] = leaf["promises"][k]
        records.append(whole)
    # The law of the records is preserved with the opposite sign.
    law = [str(-int(value)) for value in proof["margins"]]
    return record_proof(replace(wide, prices=tuple(prices)), list(proof["promises"]), records, law)
