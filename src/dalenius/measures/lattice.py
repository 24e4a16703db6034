r"""Privacy metrics of one channel and prior, and which of them imply which: a table that can be run.

S is the input of the channel, records its variables; levels in nats.

    dp                 max ln p(y|s) / p(y|s') over s, s' that differ in one record
    strong_dp          the same over all s, s'
    epsilon_delta      the least delta with p(A|s) <= e^epsilon p(A|s') + delta, one record different, at epsilon = 1
    information        max |ln p(s|y) / p(s)|
    worst_entropy      H(S) - min_y H(S | Y = y)                       (the paper's worst case)
    worst_divergence   max_y D(P_(S|y) || P_S)                         (what the paper's proof is about)
    leakage            I(S; Y)
    maximal_leakage    ln sum_y max_s p(y|s): the gain of any guess of any function of S, under any prior
    capacity           max over priors of I(S; Y)
    dalenius           max over priors and records of I(S_i; Y)

An implication is a function from the level of one metric to a level that the other cannot exceed. Item 3 of
Proposition 4 (information e gives worst_entropy e) is NOT among them: it is false (errata), and stands among the
counterexamples with its two repairs beside it.

References: paper 004, Definition 7 and Proposition 4, corrected; paper 001 for dalenius; Issa, Wagner & Kamath (2020).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, prod, tanh
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import Kernel
from dalenius.core.pmf import Pmf
from dalenius.measures.capacity import aligned, capacity, upward
from dalenius.measures.dp import dp_epsilon, information_of_dp, strong_dp_epsilon
from dalenius.measures.individual import individual_capacity

__all__ = [
    "IMPLICATIONS",
    "METRICS",
    "NON_IMPLICATIONS",
    "Context",
    "Implication",
    "NonImplication",
    "delta_at",
    "implied",
    "law_and_rows",
    "levels",
]

Floats: TypeAlias = NDArray[np.float64]

METRICS = {
    "dp": "differential privacy",
    "strong_dp": "strong (local) differential privacy",
    "epsilon_delta": "(1, delta) differential privacy",
    "information": "information privacy",
    "worst_entropy": "worst-case entropy loss",
    "worst_divergence": "worst-case divergence",
    "leakage": "leakage on average",
    "maximal_leakage": "maximal leakage",
    "capacity": "capacity",
    "dalenius": "Dalenius (any attacker)",
}
EPSILON = 1.0  # of (epsilon, delta)


@dataclass(frozen=True)
class Context:
    """What an implication may depend on beside the level: the number of records, H(S) in nats, and full support.

    Parameters
    ----------
    records : int
        How many.
    entropy : float
        H(S) in nats.
    full : bool
        Whether every outcome is possible.
    """

    records: int
    entropy: float
    full: bool = True


@dataclass(frozen=True)
class Implication:
    """`premise` at a level gives `conclusion` at level(level, context); None when the prior must not have zeros."""

    premise: str
    conclusion: str
    level: Callable[[float, Context], float]
    why: str
    full_support: bool = False


@dataclass(frozen=True)
class NonImplication:
    """A prior and a channel whose `conclusion` is larger than `premise` allows if it implied it at the same level."""

    premise: str
    conclusion: str
    why: str
    example: Callable[[], tuple[Pmf, Channel]]


def _delta(level: float, _: Context) -> float:
    """(e^level - e^epsilon) / (e^level + 1), reached by randomised response (Kairouz, Oh & Viswanath 2017)."""
    return max(0.0, (1 - exp(EPSILON - level)) / (1 + exp(-level)))


IMPLICATIONS = (
    Implication("strong_dp", "dp", lambda e, _: e, "neighbours are pairs"),
    Implication("dp", "strong_dp", lambda e, c: c.records * e, "a path of one record at a time"),
    Implication("dp", "epsilon_delta", _delta, "randomised response is the worst recipe of its level"),
    Implication("strong_dp", "information", lambda e, _: e, "p(y) is an average of p(y|s); Prop. 4, 1"),
    Implication("information", "strong_dp", lambda e, _: 2 * e, "through p(y); Prop. 4, 2", full_support=True),
    Implication("information", "worst_divergence", lambda e, _: e, "an average of ln p(s|y) / p(s)"),
    Implication(
        "information",
        "worst_entropy",
        lambda e, c: (1 - exp(-e)) * c.entropy + e * exp(-e),
        "Prop. 4, 3 repaired: p(s|y) >= e^-e p(s)",
    ),
    Implication("strong_dp", "worst_divergence", lambda e, _: e * tanh(e / 2), "the conclusion within e^e of itself"),
    Implication("worst_divergence", "leakage", lambda w, _: w, "an average over y"),
    Implication("worst_entropy", "leakage", lambda w, _: w, "an average over y; Prop. 4, 4"),
    Implication("strong_dp", "maximal_leakage", lambda e, _: e, "max_s p(y|s) <= e^e p(y|s')"),
    Implication("maximal_leakage", "capacity", lambda m, _: m, "Renyi information grows with its order"),
    Implication("strong_dp", "capacity", lambda e, _: information_of_dp(e) * log(2), "001, Theorem 1 made tight"),
    Implication("capacity", "leakage", lambda c, _: c, "these statistics are some of all"),
    Implication("capacity", "dalenius", lambda c, _: c, "a record is a function of all"),
    Implication("dalenius", "leakage", lambda d, c: c.records * d, "chain rule: each step has some statistics"),
    Implication("dalenius", "capacity", lambda d, c: c.records * d, "chain rule: each step has some statistics"),
)


def law_and_rows(prior: Pmf, channel: Kernel) -> tuple[Floats, Floats]:
    """p(s) and p(y|s) over the inputs that occur."""
    same = aligned(prior, channel)
    at = [channel.row_of(codes) for codes in same.support.tolist()]
    p = np.array([weight / same.total for weight in same.weights.tolist()])
    return p, np.array([[float(value) for value in channel.rows[x]] for x in at])


def delta_at(channel: Kernel, epsilon: float) -> float:
    """The least delta of (epsilon, delta) differential privacy between inputs that differ in one record, rounded up.

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).
    epsilon : float
        A level in nats.

    Returns
    -------
    float

    >>> coin = (Fraction(3, 4), Fraction(1, 4))
    >>> flip = Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, (coin, coin[::-1]))
    >>> round(delta_at(flip, 0.0), 9), delta_at(flip, 1.2)
    (0.5, 0.0)
    """
    rows = np.array([[float(entry) for entry in row] for row in channel.rows])
    sizes = [len(letters) for letters in channel.inputs.values()]
    worst = 0.0
    for i, size in enumerate(sizes):
        cells = rows.reshape(prod(sizes[:i]), size, prod(sizes[i + 1 :]), -1)
        for a in range(size):
            over = np.maximum(cells[:, [a]] - exp(epsilon) * cells, 0.0).sum(axis=-1)
            worst = max(worst, float(over.max()))
    return upward(worst) if worst > 1e-13 else 0.0


def levels(prior: Pmf, channel: Kernel) -> dict[str, float | None]:
    """Every metric of the channel under the prior, in nats and rounded up; None is infinite.

    Parameters
    ----------
    prior : Pmf
        The law of the inputs.
    channel : Kernel
        p(output | inputs).

    Returns
    -------
    dict
        By the name of the metric.

    >>> coin = (Fraction(3, 4), Fraction(1, 4))
    >>> flip = Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, (coin, coin[::-1]))
    >>> found = levels(Pmf.from_records({"X": ("0", "1")}, [("0", 1), ("1", 1)]), flip)
    >>> {name: round(found[name], 6) for name in ("strong_dp", "information", "leakage", "maximal_leakage")}
    {'strong_dp': 1.098612, 'information': 0.693147, 'leakage': 0.130812, 'maximal_leakage': 0.405465}
    """
    p, v = law_and_rows(prior, channel)
    out = p @ v
    v = v[:, out > 0]
    out = out[out > 0]
    posterior = p[:, None] * v / out
    ratio = v / out
    logs = np.log(np.where(ratio > 0, ratio, 1.0))
    told = (posterior * logs).sum(axis=0)
    entropy = float(-(p * np.log(p)).sum())
    left = -(posterior * np.log(np.where(posterior > 0, posterior, 1.0))).sum(axis=0)
    everything = np.array([[float(entry) for entry in row] for row in channel.rows])
    return {
        "dp": dp_epsilon(channel),
        "strong_dp": strong_dp_epsilon(channel),
        "epsilon_delta": delta_at(channel, EPSILON),
        "information": upward(float(np.abs(logs).max())) if (ratio > 0).all() else None,
        "worst_entropy": upward(max(0.0, entropy - float(left.min()))),
        "worst_divergence": upward(max(0.0, float(told.max()))),
        "leakage": upward(max(0.0, float(out @ told))),
        "maximal_leakage": upward(max(0.0, log(float(everything.max(axis=0).sum())))),
        "capacity": upward(capacity(channel).high * log(2)),
        "dalenius": upward(individual_capacity(channel).high * log(2)),
    }


def implied(premise: str, level: float, context: Context) -> dict[str, tuple[float, tuple[Implication, ...]]]:
    """What a metric at a level implies: for each other metric the least level that follows, and the steps to it.

    Parameters
    ----------
    premise : str
        The metric that is known.
    level : float
        Its level.
    context : Context
        What else is known.

    Returns
    -------
    dict
        For each metric its level and the steps.

    >>> found = implied("strong_dp", 1.0, Context(records=2, entropy=1.0))
    >>> found["information"][0], round(found["leakage"][0], 6), [step.conclusion for step in found["leakage"][1]]
    (1.0, 0.123302, ['capacity', 'leakage'])
    >>> "dp" in implied("leakage", 0.1, Context(2, 1.0))
    False
    """
    best: dict[str, tuple[float, tuple[Implication, ...]]] = {premise: (level, ())}
    for _ in METRICS:
        for step in IMPLICATIONS:
            if step.premise not in best or (step.full_support and not context.full):
                continue
            known, path = best[step.premise]
            reached = step.level(known, context)
            if step.conclusion not in best or reached < best[step.conclusion][0] * (1 - 1e-12):
                best[step.conclusion] = (reached, (*path, step))
    best.pop(premise)
    return best


# --- what does not follow, each with a channel that shows it ----------------------------------------------------------
def _law(sizes: dict[str, int], weights: list[int]) -> Pmf:
    letters = {n: tuple(map(str, range(k))) for n, k in sizes.items()}
    codes = np.indices(list(sizes.values())).reshape(len(sizes), -1).T
    return Pmf.from_counts(letters, codes, weights)


def _channel(sizes: dict[str, int], rows: list[list[str]]) -> Channel:
    letters = {n: tuple(map(str, range(k))) for n, k in sizes.items()}
    return Channel(
        letters, {"Y": tuple(map(str, range(len(rows[0]))))}, tuple(tuple(map(Fraction, row)) for row in rows)
    )


def _flip_of_one() -> tuple[Pmf, Channel]:
    """A fair bit through randomised response with noise 1/4: strong_dp ln 3, odds within 2."""
    return _law({"S": 2}, [1, 1]), _channel({"S": 2}, [["3/4", "1/4"], ["1/4", "3/4"]])


def _two_looks() -> tuple[Pmf, Channel]:
    """Two fair records, each through its own randomised response."""
    keep = ("3/4", "1/4")
    other = ("1/4", "3/4")
    rows = [
        [str(Fraction(a) * Fraction(b)) for a in one for b in two] for one in (keep, other) for two in (keep, other)
    ]
    return _law({"A": 2, "B": 2}, [1, 1, 1, 1]), _channel({"A": 2, "B": 2}, rows)


def _skewed() -> tuple[Pmf, Channel]:
    """One value of probability 1/2, ten of 1/20: the letter moves all of them a little, the entropy much (errata)."""
    return _law({"S": 11}, [10] + [1] * 10), _channel({"S": 11}, [["11/20", "9/20"]] + [["9/20", "11/20"]] * 10)


def _rare_letter() -> tuple[Pmf, Channel]:
    """A letter of probability 1/100 that gives everything away, else nothing."""
    return _law({"S": 2}, [1, 1]), _channel({"S": 2}, [["99/100", "1/100", "0"], ["99/100", "0", "1/100"]])


def _one_ruled_out() -> tuple[Pmf, Channel]:
    """Each letter rules out one of four values and tells nothing else."""
    rows = [["0" if x == y else "1/3" for y in range(4)] for x in range(4)]
    return _law({"S": 4}, [1] * 4), _channel({"S": 4}, rows)


NON_IMPLICATIONS = (
    NonImplication("dp", "strong_dp", "records that change together change the value more", _two_looks),
    NonImplication("information", "strong_dp", "both ends of the odds may be used: twice the level", _flip_of_one),
    NonImplication("information", "worst_entropy", "Prop. 4, 3 is false: entropy is no divergence", _skewed),
    NonImplication("leakage", "worst_divergence", "a rare row may reveal everything", _rare_letter),
    NonImplication("leakage", "worst_entropy", "a rare row may reveal everything", _rare_letter),
    NonImplication("leakage", "information", "a rare row may exclude an answer", _rare_letter),
    NonImplication("leakage", "dp", "a rare row may exclude an answer", _rare_letter),
    NonImplication("epsilon_delta", "dp", "delta is the chance of a value that reveals everything", _rare_letter),
    NonImplication("epsilon_delta", "worst_divergence", "with probability delta all is shown", _rare_letter),
    NonImplication("worst_divergence", "information", "a value can be ruled out for few bits", _one_ruled_out),
    NonImplication("worst_divergence", "strong_dp", "a value can be ruled out for few bits", _one_ruled_out),
    NonImplication("worst_entropy", "information", "a value can be ruled out for few bits", _one_ruled_out),
    NonImplication("maximal_leakage", "dp", "guessing well on average bounds no ratio", _rare_letter),
    NonImplication("maximal_leakage", "worst_divergence", "a rare row may reveal everything", _rare_letter),
    NonImplication("capacity", "worst_divergence", "a rare row may reveal everything", _rare_letter),
    NonImplication("capacity", "dp", "a rare row may exclude an answer", _rare_letter),
    NonImplication("dalenius", "capacity", "it is about one record, not about all of them", _two_looks),
    NonImplication("dalenius", "dp", "a rare row may exclude an answer", _rare_letter),
)
