"""Few records: every channel from inputs to records is a matrix that can be written out, and one program finds it.

The mechanism that reads a letter for each input and releases a letter for each record is a problem of the
leakage-distortion family. Its matrix is the channel, and its multipliers, one set for each record, are the proof.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dalenius.core import (
    Channel,
    Distortion,
    Guarantee,
    Independent,
    InformationPrivacy,
    Leakage,
    MinimizeDistortion,
    Pmf,
    Problem,
    WorstCaseLeakage,
)
from dalenius.errors import SolverFailed
from dalenius.mechanisms.columns.leakage import least
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.zero import Found
from dalenius.solvers.flows.distances import blocks

__all__ = ["MOST_ENTRIES", "listed"]

MOST_ENTRIES = 40_000
"""Entries of a matrix from inputs to records that is searched whole."""

Numbers = list[list[Any]]  # for each record the multipliers of a promise


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
    if design.certificate.kind != "dual" or not isinstance(design.channel, Channel):
        raise SolverFailed(f"a matrix of {len(wide.counts)} inputs came back in another form")
    row: list[int] = []
    record: list[int] = []
    weight: list[int] = []
    for e, entries in enumerate(design.channel.rows):
        scale = int(np.lcm.reduce([v.denominator for v in entries], dtype=object))
        for y, value in enumerate(entries):
            if value:
                row.append(e)
                record.append(y)
                weight.append(int(value * scale))
    rows = Rows.gathered(len(wide.counts), row, record, np.array(weight, dtype=object))
    # Other letters than records may change less, by this factor: see the rule "records" of the kernel.
    values = len(wide.classes)
    bound = design.bound / (2 - Fraction(2, values)) if values > 2 else design.bound
    proof = _proof(wide, problem, dict(design.certificate.proof))
    return Found(rows, proof, "records: one program over all matrices", (), bound)


def _as_matrix(wide: Wide) -> Problem:
    """The problem whose letters are the inputs and the records by their numbers."""
    law = wide.law
    _, input_of_atom = law.grouped(wide.problem.observe)
    name = "input"
    while name in wide.secret:
        name += "_"
    variables = {name: tuple(str(e) for e in range(len(wide.counts))), **law.alphabets(wide.secret)}
    codes = np.column_stack([input_of_atom, law.support[:, law.columns(wide.secret)]])
    distances = np.concatenate([block for _, block in blocks(wide.metric, wide.points, wide.points)])
    matrix = tuple(tuple(Fraction(int(d), wide.unit) for d in distances[x]) for x in wide.record_of_input.tolist())
    return Problem(
        observe=(name,),
        output="record" if name != "record" else "released",
        objective=MinimizeDistortion(Distortion(matrix, (name,))),
        guarantees=wide.problem.guarantees,
        joint=Pmf.from_counts(variables, codes, law.weights.tolist()),
    )


def _proof(wide: Wide, problem: Problem, certificate: dict[str, Any]) -> dict[str, object]:
    """The multipliers of a certificate as the kernel orders them: a weight for each promise, a list for each record."""
    many = len(wide.records)
    reader = _Multipliers(problem.pmf, certificate, many)
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
    return {"rule": "records", "promises": weights, "records": [found[k] for k in range(len(problem.guarantees))]}


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
