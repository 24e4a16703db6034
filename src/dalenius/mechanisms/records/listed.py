"""Few records: every channel from inputs to records is a matrix that can be written out, and one program finds it.

The mechanism that reads a letter for each input and releases a letter for each record is a problem of the
leakage-distortion family. Its matrix is the channel, and its multipliers, one set for each record, are the proof.
"""

from collections.abc import Callable, Iterator, Sequence
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
    Guarantee,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    MinimizeDistortion,
    Pmf,
    Problem,
    WorstCaseLeakage,
)
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import SolverFailed
from dalenius.kernel.rows import UNIT
from dalenius.mechanisms.columns.leakage import least
from dalenius.mechanisms.records.common import common_records
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide, distance_between
from dalenius.mechanisms.records.zero import Found, record_proof
from dalenius.solvers.flows.distances import blocks

__all__ = ["MOST_ENTRIES", "listed", "over_all_letters"]

MOST_ENTRIES = 40_000
"""Entries of a matrix from inputs to records that is searched whole."""

Integers = npt.NDArray[np.int64]
Numbers = list[list[Any]]  # for each record the multipliers of a promise


def over_all_letters(wide: Wide, gap: float, seconds: float, on_progress: Callable[[str], None] | None) -> Found | None:
    """The best channel from inputs to records, with a proof about every mechanism, whatever letters it releases.

    Parameters
    ----------
    wide : Wide
        Its released columns have few letters together.
    gap, seconds
        When the search ends.

    Returns
    -------
    Found or None
        The proof is that of the dense program over all letters, which sees no channel. None: it has another form.
    """
    whole = least(replace(wide.problem, form=None), gap=gap, seconds=seconds, on_progress=on_progress)
    if whole.certificate.kind != "dual" or not isinstance(whole.channel, Channel):
        return None
    rows = _among_records(wide, whole.channel)
    if rows is None:  # some letter is no record: none of them is better, but for few promises and many values
        rows = _rows(wide, least(_as_matrix(wide), gap=gap, seconds=seconds, on_progress=on_progress))
    proof = {"rule": "dual", **whole.certificate.proof}
    return Found(rows, proof, "records: one program over all values", (), whole.bound)


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
    proof = _proof(wide, problem, dict(design.certificate.proof))
    return Found(rows, proof, "records: one program over all matrices", (), bound)


def _rows(wide: Wide, design: Design) -> Rows:
    """The rows of the channel between numbers of records."""
    if design.certificate.kind != "dual" or not isinstance(design.channel, Channel):
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
    own, copy = _fresh("record", wide.secret), _fresh("copy", wide.secret)
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
        joint=Pmf.from_counts(variables, codes, law.weights.tolist()),
    )


def _fresh(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _matrix(wide: Wide, measure: Distortion, own: str) -> Distortion:
    """A distortion as a matrix between records."""
    if measure.keeps is not None:
        (name,) = measure.of
        code = wide.law.variables[name].index(measure.keeps[0])
        row = tuple(Fraction(int(v != code)) for v in wide.records[:, wide.problem.release.index(name)].tolist())
        row = tuple(row[y] for y in common_records(wide).tolist())
        return Distortion((row,) * len(wide.records), (own,), keeps=measure.keeps)
    metric, points, unit = distance_between(measure, wide.problem.release, wide.law, wide.records)
    distances = np.concatenate([block for _, block in blocks(metric, points, points[common_records(wide)])])
    return Distortion(tuple(tuple(Fraction(int(d), unit) for d in row) for row in distances.tolist()), (own,))


def _proof(wide: Wide, problem: Problem, certificate: dict[str, Any]) -> dict[str, object]:
    """The multipliers of a certificate as the kernel orders them: a weight for each promise, a list for each record."""
    open_ = common_records(wide).tolist()
    reader = _Multipliers(problem.pmf, certificate, len(open_))
    leakages = iter(certificate.get("leakage", []))
    found: dict[int, Numbers] = {}
    weights = ["0"] * len(problem.guarantees)
    # The certificate has its lists in the order of the kinds of promises, not of the promises.
    for kind in (Leakage, WorstCaseLeakage, InformationPrivacy, Independent):
        for k, guarantee in enumerate(problem.guarantees):
            if type(guarantee) is kind:
                found[k] = reader.of(guarantee)
                if kind is Leakage:
                    weights[k] = str(next(leakages))
    gauges = iter(certificate.get("gauges", []))
    for k, guarantee in enumerate(problem.guarantees):
        if isinstance(guarantee, Guess):
            gauge = next(gauges)
            weights[k], found[k] = str(gauge["weight"]), reader.weighed(guarantee, gauge["parts"])
    law = [str(int(v)) for v in reader.rest()] if problem.preserve_marginals else ()
    # What depends on the released record alone is no distance: such limits only loosen the bound.
    prices = [
        "0" if limit.keeps else str(Fraction(int(v), 1 << UNIT))
        for limit, v in zip(problem.limits, certificate["distortion"], strict=True)
    ] + ["0"] * (wide.problem.min_multiplicity is not None)
    records = []
    for k, guarantee in enumerate(problem.guarantees):
        # Records that are closed do not compete; their multipliers are any.
        any_ = ["1"] * len(reader.values(guarantee.secret)) if type(guarantee) is Leakage else []
        whole: list[Any] = [any_] * len(wide.records)
        for y, numbers in zip(open_, found[k], strict=True):
            whole[y] = numbers
        records.append(whole)
    return record_proof(replace(wide, prices=tuple(prices)), weights, records, law)


class _Multipliers:
    """The lists of a certificate, each read once, with the values of a secret in the order of their places.

    The certificate lists values of a secret by their names.
    """

    def __init__(self, law: Pmf, certificate: dict[str, Any], many: int) -> None:
        self.law = law
        self.many = many
        self.lists: dict[str, Iterator[Any]] = {
            key: iter(certificate.get(key, [])) for key in ("posteriors", "worst", "worst_posteriors", "odds", "equal")
        }

    def values(self, secret: tuple[str, ...]) -> list[int]:
        """For each value of a secret by its places, where it stands among all of them by their names."""
        labels, _ = self.law.grouped(secret)
        alphabets = [self.law.variables[name] for name in secret]
        names = [tuple(alphabet[k] for alphabet, k in zip(alphabets, label, strict=True)) for label in labels]
        order = sorted(names)
        return [order.index(name) for name in names]

    def rest(self) -> list[Any]:
        """What the equalities end with: a number for each record whose law is preserved."""
        return list(next(self.lists["equal"]))

    def weighed(self, guarantee: Guess, parts: Sequence[Any]) -> Numbers:
        """For each record, the weights of the values of the secret, or of the actions of a gain."""
        (rows,) = parts
        at = self.values(guarantee.secret) if guarantee.gain is None else range(len(rows))
        return [[[str(rows[i][y]) for i in at]] for y in range(self.many)]

    def of(self, guarantee: Guarantee) -> Numbers:
        """For each record, the multipliers of one promise as the kernel reads them."""
        at = self.values(guarantee.secret)
        if isinstance(guarantee, WorstCaseLeakage):
            weights, posterior = next(self.lists["worst"]), next(self.lists["worst_posteriors"])
            return [
                [[str(weights[y]), [str(posterior[i][y]) for i in at] if weights[y] else []]] for y in range(self.many)
            ]
        if isinstance(guarantee, Leakage):
            posterior = next(self.lists["posteriors"])
            return [[str(posterior[i][y]) for i in at] for y in range(self.many)]
        if isinstance(guarantee, InformationPrivacy):
            odds = next(self.lists["odds"])
            return [[[str(odds[i][y]) for i in at], [str(odds[len(at) + i][y]) for i in at]] for y in range(self.many)]
        equal = [next(self.lists["equal"]) for _ in range(len(at) - 1)]
        equal.append([0] * self.many)  # one of the equalities follows from the others
        return [[str(equal[i][y]) for i in at] for y in range(self.many)]
