r"""Closed forms. Where the secret is a function of the input: g(b) = H(X|S) + b.

I(X; Y) = I(S; Y) + I(X; Y | S) <= b + H(X | S). It is reached: put the inputs of each value s side by side on an
interval of length one, each as long as p(x | s), and draw a point U of the interval of x. U is uniform for every s,
so independent of S, and X is a function of (S, U): what is released is U, up to the pieces that all the ends cut it
into, and beside it S itself with a probability of b / H(S), else nothing.

Where the secret itself is wanted, W = S: g(b) = min(b, I(S; X)), by the input with a probability of b / I(S; X), else
nothing. And under a contraction, whatever is wanted: a share c of I(W; X), by the input with a probability of c. Beside
each other these keep all of their promises at the smallest share, which is the best if one that says so asks for it.

Where all inputs are wanted and no adversary may learn more than b bits (`dalenius`), nothing tells more than b. It is
reached if every row is as far from the law of what is released: D(W_x || pW) = b for all x, so that p is the law under
which most is learnt. Input x stays itself with a share a(x) and else becomes a letter drawn by r, r(y) proportional to
p(y) a(y): then pW = r, and D grows with a(x) up to log 1/r(x). No row tells more than log 1/p(x), so that b is not
reached where one value has a larger share than 2^-b; then a search is left.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from dalenius.core import Certificate, Contraction, Dalenius, Guarantee, Kernel, Leakage, Problem, WorstCaseLeakage
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.measures import mutual_information
from dalenius.mechanisms.columns.exact_columns import Target, channel_of, view_labels
from dalenius.mechanisms.proof_terms import CLOSED

__all__ = ["by_erasure", "by_function", "by_staying", "erasure_applies", "function_applies", "staying_applies"]

MOST = 150  # inputs
GRAIN = 2**60
HAIR = 1e-9  # bits of a capacity: how near its proof comes
ROUNDS = 1000  # in which the shares of staying settle; a few dozen mostly do
HALVINGS = 60

Floats = npt.NDArray[np.float64]


def function_applies(problem: Problem) -> bool:
    """Whether all is wanted, nothing is kept beside it, and one leakage of a function of the input is limited."""
    promise = _one_leakage(problem)
    if promise is None or set(problem.objective.names) != set(problem.inputs):
        return False
    return len(problem.pmf.counts(problem.inputs)) <= MOST and view_labels(problem, promise.about) is not None


def erasure_applies(problem: Problem) -> bool:
    """Whether every promise is one of what a row says on average, and the strictest of them bounds what is wanted."""
    if problem.kept or problem.robust or len(problem.pmf.counts(problem.inputs)) > MOST:
        return False
    promises = problem.guarantees
    if any(type(promise) not in (Leakage, Contraction) for promise in promises):
        return False
    shares = [_share(problem, promise) for promise in promises]
    wanted = set(problem.objective.names)
    strictest = [promise for promise, share in zip(promises, shares, strict=True) if share == min(shares)]
    return min(shares) == 1 or any(not isinstance(g, Leakage) or set(g.about) == wanted for g in strictest)


def _one_leakage(problem: Problem) -> Leakage | None:
    """The promise of a problem that has one, about the average and the stated law, without kept columns."""
    if len(problem.guarantees) != 1 or problem.kept or problem.robust:
        return None
    promise = problem.guarantees[0]
    return promise if isinstance(promise, Leakage) and not isinstance(promise, WorstCaseLeakage) else None


def _share(problem: Problem, promise: Guarantee) -> Fraction:
    """How often the input may be said under one promise, rounded down."""
    share = Fraction(1)
    if isinstance(promise, Contraction):
        share = min(share, promise.at_most)
    elif isinstance(promise, Leakage):
        told = mutual_information(problem.pmf, promise.about, problem.inputs) * (1 + 1e-12)  # more than it is
        share = min(share, promise.at_most_bits / Fraction(told)) if told else share
    return Fraction(int(share * GRAIN), GRAIN)


def by_erasure(problem: Problem) -> tuple[Kernel, list[Certificate], str]:
    """The input now and then; I(W; Y) is that share of I(W; X), and the bound is a closed one."""
    p = problem.pmf.shares(problem.inputs)
    share = min(_share(problem, promise) for promise in problem.guarantees)
    columns = [[p[x] * share * (x == own) for x in range(len(p))] for own in range(len(p))]
    columns.append([v * (1 - share) for v in p])
    return _drawn(problem, columns, p), [CLOSED], "the input now and then, else nothing"


def staying_applies(problem: Problem) -> bool:
    """Whether all is wanted under one limit for every adversary, and all rows can be as far from their mean as it."""
    if len(problem.guarantees) != 1 or not isinstance(problem.guarantees[0], Dalenius) or problem.robust:
        return False
    if set(problem.objective.names) != set(problem.inputs) or len(problem.pmf.counts(problem.inputs)) > MOST:
        return False
    return _staying(problem) is not None


def _staying(problem: Problem) -> Floats | None:
    """The shares a(x) with D(W_x || r) = b for every input that occurs; None where there are none."""
    promise = problem.guarantees[0]
    assert isinstance(promise, Dalenius)
    limit = float(promise.at_most_bits)
    limit -= min(HAIR, limit / 10)
    p = np.array(problem.pmf.shares(problem.inputs), dtype=np.float64)
    if not 0 < limit <= -np.log2(p.max()):
        return None
    law = p
    for _ in range(ROUNDS):
        low = np.zeros(len(p))
        high = np.ones(len(p))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            under = _distance(middle, law) < limit
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        before, law = law, p * low / (p @ low)
        if np.abs(law - before).max() < 1e-15:
            break
    told = _distance(low, law)
    return low if told.max() - limit <= HAIR / 10 and limit - p @ told <= HAIR else None


def _distance(stays: Floats, law: Floats) -> Floats:
    """D((1 - a) r + a e_x || r) for each input x, in bits."""
    own = (1 - stays) * law + stays
    others = (1 - stays) * (1 - law) * np.log2(np.maximum(1 - stays, 1e-300))
    return np.asarray(others + own * np.log2(own / law))


def by_staying(problem: Problem) -> tuple[Kernel, list[Certificate], str]:
    """Each input itself with a share of its own, else a letter that says nothing; the bound is a closed one."""
    found = _staying(problem)
    assert found is not None
    p = problem.pmf.shares(problem.inputs)
    stays = [Fraction(int(share * GRAIN), GRAIN) for share in found.tolist()]
    whole = sum((m * a for m, a in zip(p, stays, strict=True)), Fraction(0))
    columns = [
        [p[x] * ((1 - stays[x]) * p[y] * stays[y] / whole + stays[x] * (x == y)) for x in range(len(p))]
        for y in range(len(p))
    ]
    return _drawn(problem, columns, p), [CLOSED], "each input itself with a share of its own, else any value"


def _drawn(problem: Problem, columns: list[list[Fraction]], p: list[Fraction]) -> Kernel:
    """The channel whose letters have these masses with each input; letters that tell the same are one."""
    weighted = [(sum(column, Fraction(0)), column) for column in columns if any(column)]
    letters = Target(problem).merged([(whole, [entry / whole for entry in column]) for whole, column in weighted])
    return channel_of(problem, letters, p)


def by_function(problem: Problem) -> tuple[Kernel, list[Certificate], str]:
    """The channel in exact numbers; the bound is a closed one."""
    promise = problem.guarantees[0]
    assert isinstance(promise, Leakage)
    labels = view_labels(problem, promise.about)
    assert labels is not None
    joint = problem.pmf
    p = joint.shares(problem.inputs)
    members: defaultdict[int, list[int]] = defaultdict(list)
    for x, label in enumerate(labels.tolist()):
        members[label].append(x)
    interval: dict[int, tuple[Fraction, Fraction]] = {}
    for own in members.values():
        whole = sum((p[x] for x in own), Fraction(0))
        ends = accumulate((p[x] / whole for x in own), initial=Fraction(0))
        interval |= dict(zip(own, pairwise(ends), strict=True))
    cuts = sorted({end for ends in interval.values() for end in ends})
    share = _said(promise.at_most_bits, [sum((p[x] for x in own), Fraction(0)) for own in members.values()])
    columns = []
    for low, high in pairwise(cuts):
        inside = {
            x: (high - low) / (last - first) for x, (first, last) in interval.items() if first <= low and high <= last
        }
        columns.append([p[x] * inside.get(x, Fraction(0)) * (1 - share) for x in range(len(p))])
        columns += [
            [p[x] * inside.get(x, Fraction(0)) * share if x in own else Fraction(0) for x in range(len(p))]
            for own in members.values()
        ]
    method = "a point drawn on an interval that no value of the secret changes, and the secret now and then"
    return _drawn(problem, columns, p), [CLOSED], method


def _said(bits: Fraction, shares: list[Fraction]) -> Fraction:
    """How often the secret itself is said: b / H(S), rounded down."""
    entropy = Fraction(sum(times_log2(share, 1 / share)[1] for share in shares), 1 << BITS)
    if bits >= entropy:
        return Fraction(1)
    return Fraction(int(bits / entropy * GRAIN), GRAIN)
