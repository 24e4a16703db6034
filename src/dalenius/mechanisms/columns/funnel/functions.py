r"""The closed form where the secret is a function of the input: g(b) = H(X|S) + b.

I(X; Y) = I(S; Y) + I(X; Y | S) <= b + H(X | S). It is reached: put the inputs of each value s side by side on an
interval of length one, each as long as p(x | s), and draw a point U of the interval of x. U is uniform for every s,
so independent of S, and X is a function of (S, U): what is released is U, up to the pieces that all the ends cut it
into, and beside it S itself with a probability of b / H(S), else nothing.

And where the secret itself is wanted, W = S: g(b) = min(b, I(S; X)), by the input with a probability of b / I(S; X),
else nothing."""

from collections import defaultdict
from fractions import Fraction
from itertools import accumulate, pairwise

from dalenius.core import Certificate, Kernel, Leakage, Problem, WorstCaseLeakage
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.measures import mutual_information
from dalenius.mechanisms.columns.exact_columns import Target, channel_of, view_labels
from dalenius.mechanisms.proof_terms import CLOSED

__all__ = ["by_erasure", "by_function", "erasure_applies", "function_applies"]

MOST = 150  # inputs
GRAIN = 2**60


def function_applies(problem: Problem) -> bool:
    """Whether all is wanted, nothing is kept beside it, and one leakage of a function of the input is limited."""
    promise = _one_leakage(problem)
    if promise is None or set(problem.objective.names) != set(problem.inputs):
        return False
    return len(problem.pmf.counts(problem.inputs)) <= MOST and view_labels(problem, promise.about) is not None


def erasure_applies(problem: Problem) -> bool:
    """Whether what is wanted is the very secret of which one leakage is limited, and nothing is kept beside it."""
    promise = _one_leakage(problem)
    if promise is None or set(problem.objective.names) != set(promise.about):
        return False
    return len(problem.pmf.counts(problem.inputs)) <= MOST


def _one_leakage(problem: Problem) -> Leakage | None:
    """The promise of a problem that has one, about the average and the stated law, without kept columns."""
    if len(problem.guarantees) != 1 or problem.kept or problem.robust:
        return None
    promise = problem.guarantees[0]
    return promise if isinstance(promise, Leakage) and not isinstance(promise, WorstCaseLeakage) else None


def by_erasure(problem: Problem) -> tuple[Kernel, list[Certificate], str]:
    """The input now and then; I(S; Y) is that share of I(S; X), and the bound is a closed one."""
    promise = _one_leakage(problem)
    assert promise is not None
    joint = problem.pmf
    p = joint.shares(problem.inputs)
    told = mutual_information(joint, promise.about, problem.inputs) * (1 + 1e-12)  # more than it is
    share = min(Fraction(1), promise.at_most_bits / Fraction(told)) if told else Fraction(1)
    share = Fraction(int(share * GRAIN), GRAIN)
    columns = [[p[x] * share * (x == own) for x in range(len(p))] for own in range(len(p))]
    columns.append([v * (1 - share) for v in p])
    return _drawn(problem, columns, p), [CLOSED], "the input now and then, else nothing"


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
