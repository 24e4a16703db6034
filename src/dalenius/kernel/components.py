"""Optimality part by part, when views part the inputs and the output tells about all of the input (W = X).

Inputs hang together if they share a value of a named view, one step after another. Let every named view be
independent of the letter and a function of the input. The bound is sum_b P_b times a bound for the law given part b
(kernel-rules.md). Promises that are not named only leave fewer columns.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.lines import bound_by_lines
from dalenius.kernel.nouns import Law, Setting
from dalenius.kernel.numbers import Node, Work, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.posteriors import Posteriors
from dalenius.kernel.promises import Independent, Promise
from dalenius.kernel.rows import Frame


def bound_by_components(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """The mean of the bounds of all parts, each proved by lines; parts in the order of their first inputs."""
    views, parts = proof.fields("rule", "views", "parts")[1:]
    law = setting.law
    require(objective.maximise and type(setting) is Setting, "parts are for information about columns that are read")
    require(Posteriors(setting, objective.about).tells_itself(), "parts are for W = X")
    named = [promises[node.place(len(promises))] for node in views.items()]
    require(bool(named) and len(set(named)) == len(named), "the parts name no view, or one twice")
    values = [_values(setting, promise) for promise in named]
    found = parted(values, setting.work)
    place = {x: b for b, part in enumerate(found) for x in part}
    mechanism = replace(setting.mechanism, preserve_marginals=False)  # those of a part need not be
    bound = Fraction(0)
    for b, own in enumerate(parts.pair(len(found))):
        atoms = tuple(atom for atom, x in zip(law.atoms, setting.input, strict=True) if place[x] == b)
        setting.work.spend(4 * len(law.atoms))
        mass = sum(count for _, count in atoms)
        inside = Setting(law.variables, Law(law.variables, atoms, mass, None), mechanism, setting.work)
        # Named promises alone: others need not hold for the law of a part.
        bound += Fraction(mass, setting.total) * bound_by_lines(inside, tuple(named), (), objective, own)
    return bound


def _values(setting: Setting, promise: Promise) -> dict[int, tuple[int, ...]]:
    """The value of a view for each input that occurs."""
    require(isinstance(promise, Independent), "a part needs promises of independence")
    found = Frame(setting, promise.about).by_input
    # Else an input hangs together with several parts, by halves.
    require(all(len(counts) == 1 for counts in found.values()), "a view is not a function of the input")
    return {x: counts[0][0] for x, counts in found.items()}


def parted(values: Sequence[dict[int, tuple[int, ...]]], work: Work) -> list[list[int]]:
    """Which inputs hang together, in the order of the first of them."""
    inputs = list(values[0])
    leader = {x: x for x in inputs}

    def top(x: int) -> int:
        while leader[x] != x:
            leader[x] = leader[leader[x]]
            x = leader[x]
        return x

    for view in values:
        first: dict[tuple[int, ...], int] = {}
        for x in inputs:
            old, new = top(x), top(first.setdefault(view[x], x))
            work.spend(8)
            leader[max(old, new)] = min(old, new)  # the first input of a part leads it
    parts: dict[int, list[int]] = {}
    for x in inputs:
        parts.setdefault(top(x), []).append(x)
    return list(parts.values())
