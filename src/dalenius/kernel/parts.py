r"""Optimality of what is made of parts, and of what looks at independent groups. Neither rule sees the channel.

Rule `parts`. *Strata* S leave as they are, and I(W; Y, K, S) = I(W; S) + sum_s p(s) I(W; Y, K | S = s): each summand is
bounded by a proof of its own. *Columns* that have a matrix each, of a stated level, tell sum_j I(X_j; Y_j), bounded
column by column; with both, sum_j I(X_j; Y_j, S) stratum by stratum, and there column by column. Limits, and promises
other than local DP without distances, are left out. A *variance* is bounded part by part in the same way, from below.

Rule `groups`. For independent groups b and views V that Y is independent of (kernel-parts.md),

    I(W; Y) <= sum_b I(W_b; X_b),    <= sum_b I(W_b; X_b | V_b),    <= H(X) - E max_V log2 1/p(X_V),

the last for V that are observed and inside one group: M = min_V p(X_V) is a minimum over independent groups, and
E log2 1/M is summed up over its possible values.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from dalenius.kernel.composite import Names, between, strata, told_by_strata, window
from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.groups import Groups, independent_groups
from dalenius.kernel.logs import BITS, LOG_COST, bits, log2
from dalenius.kernel.nouns import Label, Law, Setting
from dalenius.kernel.numbers import Node, Work
from dalenius.kernel.objective import Objective
from dalenius.kernel.promises import Independent, LocalDP
from dalenius.kernel.rules import proved_bound


def bound_by_parts(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """`{"rule": "parts", "proofs": [proof, ...]}`: a proof for each stratum that occurs, or for each column."""
    (proofs,) = proof.fields("rule", "proofs")[1:]
    spread = objective.aim == "variance"
    proof.require(objective.maximise or spread, "parts are for information that is maximised, and for variances")
    if setting.mechanism.strata:
        # To leave out a promise is safe; most others speak of all strata together.
        kept = tuple(promise for promise in promises if isinstance(promise, LocalDP) and promise.metric is None)
        occurring = [(many, small) for many, small in strata(setting) if many]
        bound = Fraction(0) if spread else told_by_strata(setting, objective.wanted)[1]
        for (many, small), item in zip(occurring, proofs.pair(len(occurring)), strict=True):
            bound += Fraction(many, setting.total) * proved_bound(small, kept, (), objective, item)
            setting.work.spend(1, bound.denominator.bit_length())
        return bound
    levels = setting.mechanism.each or ()
    own = objective.each or (spread and objective.about == setting.mechanism.observe)
    proof.require(own and bool(levels), "without strata the parts are columns that have a matrix each")
    bound = Fraction(0)
    for place, (level, item) in enumerate(zip(levels, proofs.pair(len(levels)), strict=True)):
        # What competes in a column keeps the level that each of its matrices may have.
        promise = LocalDP(level, None, Fraction(0), (), 1)
        aim = replace(objective, aim="variance" if spread else "information", about=objective.about[place : place + 1])
        bound += proved_bound(window(setting, place, (place,)), (promise,), (), aim, item)
    return bound


def bound_by_groups(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """`{"rule": "groups"}`: the least of I(W; X), of I(W; X | V) for each view V, and of the surprisal."""
    proof.fields("rule")
    law = independent_groups(setting.law)
    alone = objective.maximise and not setting.mechanism.beside
    proof.require(alone, "groups are for information, and for mechanisms beside which nothing leaves")
    views = [promise.secret for promise in promises if isinstance(promise, Independent)]
    about, seen, work = set(objective.about), set(setting.mechanism.observe), setting.work
    plain = [between(group, about, seen, set(), work)[1] for group in law.groups]
    told = sum(plain, Fraction(0))
    gain = Fraction(0)
    for view in views:
        own = {law.place[name] for name in view}
        less = [plain[b] - between(law.groups[b], about, seen, set(view), work)[1] for b in own]
        # One view alone: that all of them together are hidden is not promised.
        gain = max(gain, sum(less, Fraction(0)))
    return min(told - gain, _surprisal_of_groups(law, setting.mechanism.observe, views, work))


def _surprisal_of_groups(law: Groups, seen: Names, views: list[Names], work: Work) -> Fraction:
    """H(X) - E[log2 1/M] from above, M the least p(X_V) of the observed views that lie inside one group."""
    inside: list[list[Names]] = [[] for _ in law.groups]
    observed = set(seen)
    for view in views:
        places = {law.place[name] for name in view}
        # A view with a hidden column bounds no p(x | y) by p(x_V).
        if len(places) == 1 and set(view) <= observed:
            inside[places.pop()].append(view)
    least = [_least_in_group(group, own, work) for group, own in zip(law.groups, inside, strict=True)]
    values = sorted({m for one in least for m in one})
    work.spend((LOG_COST + 10) * len(values) + 4 * len(values) * sum(map(len, least)))
    rank = {m: k for k, m in enumerate(values)}
    laws = [[(rank[m], count) for m, count in one.items()] for one in least]
    # E log2 1/M = log2 1/(largest value) + sum over neighbours m < m' of log2(m'/m) P(M <= m), each from below.
    rare = log2(values[-1].denominator, values[-1].numerator)[0]
    for k, (m, following) in enumerate(pairwise(values)):
        above = 1 << BITS  # P(M > m) from above
        for group, one in zip(law.groups, laws, strict=True):
            # Up, so that P(M <= m) is from below.
            above = -(-above * sum(count for place, count in one if place > k) // group.total)
        step = following / m
        rare += log2(step.numerator, step.denominator)[0] * ((1 << BITS) - above) >> BITS
    return law.entropy(seen, work)[1] - bits(rare)


def _least_in_group(law: Law, views: list[Names], work: Work) -> Counter[Fraction]:
    """How many records of a group have each value of the least p(X_V) of some views; 1 where there is none."""
    work.spend(20 * len(law.atoms) * (1 + len(views)) * len(law.variables), law.total.bit_length())
    least = [law.total] * len(law.atoms)
    for view in views:
        labels = law.labels(view)
        alone = Counter[Label]()
        for label, (_, count) in zip(labels, law.atoms, strict=True):
            alone[label] += count
        least = [min(m, alone[label]) for m, label in zip(least, labels, strict=True)]
    found = Counter[Fraction]()
    for m, (_, count) in zip(least, law.atoms, strict=True):
        found[Fraction(m, law.total)] += count
    return found
