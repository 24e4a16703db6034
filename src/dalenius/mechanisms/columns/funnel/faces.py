"""From a problem to the faces of `solvers.funnel`, and back to an exact channel and a proof over faces."""

from collections.abc import Callable
from math import comb, log
from time import monotonic

import numpy as np

from dalenius.core import (
    Certificate,
    Guess,
    Kernel,
    Leakage,
    MaximalLeakage,
    Problem,
    Sibson,
    TotalVariation,
    WorstCaseLeakage,
)
from dalenius.mechanisms.columns.funnel.gains import BITS, MERGING, Wanted, exact_channel, kept_share, tree_of
from dalenius.mechanisms.columns.leakage.curved_promises import Cuts
from dalenius.mechanisms.columns.leakage.gauges import whole_units
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.proof import LineProof
from dalenius.mechanisms.interval_words import in_bits
from dalenius.mechanisms.proof_terms import by_lines, in_units
from dalenius.solvers.funnel import (
    Cap,
    FaceProof,
    Faces,
    Facial,
    Gauge,
    LeakageGauge,
    PolyhedralGauge,
    SibsonGauge,
    by_columns_of_few,
    face_proof,
)
from dalenius.solvers.leakage import Multipliers
from dalenius.solvers.leakage.arrays import Secret

__all__ = ["MANY", "MOST", "by_faces", "faces_apply"]

MANY = 20_000  # choices of inputs, where W can be divided instead
MOST = 600_000  # choices of inputs at all
SHARE = 0.8  # of the gap, for the search; the proof takes the rest
PROOF = 0.5  # of the time, for the proof
INSIDE = 1e-9  # share of every letter that says nothing, under limits on single letters
CHECKED = 1.5e-4  # seconds in which the kernel checks a cell


def _gauges(problem: Problem) -> list[Gauge]:
    """The promises as gauges of their secrets: first the leakages, then those of finitely many rows, then Sibson's.

    At the end those that every letter keeps by itself.
    """
    program = Model.of(problem, fresh=np.zeros((len(problem.pmf.counts(problem.inputs)), 1), dtype=object)).program
    found: list[Gauge] = []
    for term, limit in program.leakages:
        own = Secret.of(term, program.mass)
        found.append(LeakageGauge(np.ascontiguousarray(own.B.T), float(limit), own.c, own.group))
    for gauge in program.gauges:
        rows = np.concatenate([np.asarray(part, dtype=np.float64) for part in gauge.parts])
        part = np.repeat(np.arange(len(gauge.parts)), [len(part) for part in gauge.parts])
        found.append(PolyhedralGauge(np.ascontiguousarray(rows.T), float(gauge.limit), part))
    for one in Cuts.of(problem).bent.values():
        assert isinstance(one.promise, Sibson)
        (shares,) = one.values.astype(np.float64)  # nothing is kept
        found.append(SibsonGauge(np.ascontiguousarray(shares.T), float(one.limit), one.prior, float(one.promise.order)))
    limits = [one.at_most_bits for one in problem.guarantees if isinstance(one, WorstCaseLeakage)]
    for term, bits in zip((term for term, _ in program.worst), limits, strict=True):  # nothing is kept
        own = Secret.of(term, program.mass)
        found.append(Cap(np.ascontiguousarray(own.B.T), float(bits) * BITS, own.c, own.group))
    return found


def _atoms(problem: Problem) -> int:
    """How many inputs a letter needs: of the independent weights of all secrets, as the checker counts them."""
    joint = problem.pmf
    labels = [
        int(np.count_nonzero(joint.counts(tuple(dict.fromkeys((*secret, *problem.kept)))))) - 1
        for secret in {promise.secret for promise in problem.guarantees}
    ]
    return min(len(joint.counts(problem.inputs)), 1 + sum(labels))


def faces_apply(problem: Problem, most: int = MOST) -> bool:
    """Whether columns of few inputs are enough, and at most so many choices of inputs to be looked at one by one."""
    for guarantee in problem.guarantees:
        sums = isinstance(guarantee, Leakage | Guess | MaximalLeakage | TotalVariation | Sibson)
        if not sums or not guarantee.secret:
            return False
        if isinstance(guarantee, Sibson | WorstCaseLeakage) and (problem.kept or not guarantee.at_most_bits):
            return False
    inputs = len(problem.pmf.counts(problem.inputs))
    if comb(inputs, _atoms(problem)) > most:
        return False
    gauges = _gauges(problem)
    return len(gauges) == len(problem.guarantees) and all(gauge.limit for gauge in gauges)


def by_faces(
    problem: Problem, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None = None
) -> tuple[Kernel, Certificate, str]:
    """A channel that keeps every promise, and a proof over cells of the faces; `gap` in bits."""
    begin = monotonic()
    wanted = Wanted(problem)
    every = _gauges(problem)
    caps = [one for one in every if isinstance(one, Cap)]
    sums = [one for one in every if not isinstance(one, Cap)]
    given = Faces(wanted.mass, wanted.shares, wanted.labels, sums, _atoms(problem), caps)

    nats = gap * log(2)
    least = 2 * CHECKED * comb(len(given.p), given.atoms)  # a cell or two of each face, checked in any case
    searching = max(0.0, min((1 - PROOF) * seconds, seconds - least))
    found = by_columns_of_few(given, gap=SHARE * nats, seconds=searching, on_progress=in_bits(on_progress, BITS))
    spent = given.p @ found.dual.z + sum(
        weight * g.limit for weight, g in zip(found.dual.weights, given.gauges, strict=True)
    )
    top = float(found.dual.bound - spent) + 0.1 * nats
    proof = face_proof(given, found.dual, top, deadline=begin + seconds, checked=CHECKED)
    pi = found.pi
    if caps:
        # A little of the law of all inputs in every letter takes it from its limit, for exact numbers.
        pi = (1 - INSIDE) * pi + INSIDE * np.outer(wanted.mass, pi.sum(axis=0))
    if cuts := Cuts.of(problem).bent:
        share = kept_share(Cuts(cuts), wanted.mass, pi)
        pi = np.column_stack([share * pi, (1 - share) * wanted.mass])
    channel = exact_channel(problem, wanted, pi, loss=0.0, spare=MERGING * gap, seconds=seconds)
    method = f"columns of {len(proof.trees):,} choices of few inputs, generated in {found.rounds} rounds"
    return channel, certificate(problem, found, proof), method


def certificate(problem: Problem, found: Facial, proof: FaceProof) -> Certificate:
    """The prices of the inputs, the weights and tangents of the promises, and a tree for each face."""
    lines = proof.lines
    model = Model.of(problem, fresh=np.zeros((len(found.dual.z), lines), dtype=object))
    many = len(model.program.leakages)
    tangents = tuple(np.ascontiguousarray(own.T) for own in proof.tangents)
    gauged = []
    for weight, rows, gauge in zip(found.dual.weights[many:], tangents[many:], model.program.gauges, strict=False):
        ends = np.cumsum([len(part) for part in gauge.parts])[:-1]
        gauged.append((float(weight), tuple(weight * part for part in np.split(rows, ends))))
    multipliers = Multipliers(
        posteriors=tangents[:many],
        leakage=found.dual.weights[:many],
        gauges=tuple(gauged),
        worst=tuple(np.array([weight for weight, _ in lent]) for lent in proof.caps),
        worst_posteriors=tuple(np.array([tangent for _, tangent in lent]).T for lent in proof.caps),
    )
    said = LineProof.of(model, multipliers)
    curved = [k for k, promise in enumerate(problem.guarantees) if isinstance(promise, Sibson)]
    first = many + len(gauged)
    for k, weight, rows in zip(curved, found.dual.weights[first:], tangents[first:], strict=True):
        # The checker divides by the dual norm: any multiple of a tangent will do.
        said.weights[k] = str(whole_units(float(weight) / BITS))
        said.rows[k] = [[[str(whole_units(entry / max(row))) for entry in row]] for row in rows.T.tolist()]
    prices = in_units((found.dual.z / BITS).tolist())
    # The faces are the choices of so many inputs, in the order of `itertools.combinations`.
    return by_lines(
        "faces", [tree_of(tree) for tree in proof.trees], said.leaves(), promises=said.weights, prices=prices
    )
