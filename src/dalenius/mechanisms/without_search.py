"""A proved design without a search, for whoever has no time left: entries stay with a probability, else say nothing.

Nobody would want it where a search has ended. It is there when the time is over before anything else is proved.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain, product
from math import prod
from typing import Any

import numpy as np

from dalenius.core import Certificate, Channel, Design, Kernel, LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import DaleniusError, NotCertified, Unsupported
from dalenius.mechanisms.barred_letters import barred_letters
from dalenius.mechanisms.columns.exact_columns import channel_from_rows
from dalenius.mechanisms.proof_terms import CLOSED, by_lines
from dalenius.mechanisms.proving import proved
from dalenius.mechanisms.records.takes import by_records
from dalenius.mechanisms.value_names import refuse_inverted
from dalenius.tables import with_files

__all__ = ["at_once"]

MOST, FEW = 1_000, 256
"""Combinations of the observed values: more take too long to prove at once; where something is minimised, fewer."""
MANY = 200_000
"""Combinations for which what says nothing is proved at once."""
SHARES = tuple(Fraction(1, n) for n in (1, 2, 4, 8, 16, 32, 64, 128))
"""How often an entry stays: the first that keeps the promises."""
METHOD = "entries that stay as they are with one probability, else say nothing"
NEAR = "released values that fall off with the distance"
EARLY = "the time was over before a better recipe was proved; more of it (--seconds) finds one"


def at_once(problem: Problem) -> Iterator[Design]:
    """Designs that keep every promise, proved without a search; none where none is known.

    Parameters
    ----------
    problem : Problem
        Bound to its data.

    Yields
    ------
    Design
        One value for everybody, then a better one; with whatever bound of the best one costs nothing.

    Examples
    --------
    >>> from dalenius.testing import binary_tradeoff
    >>> [round(float(design.value), 3) for design in at_once(binary_tradeoff("1/10", "1/5"))]
    [0.22]
    """
    if isinstance(problem.joint, Pmf) and by_records(problem):
        from dalenius.mechanisms.records.at_once import at_once as of_records

        with suppress(DaleniusError):
            yield from of_records(problem)
        return
    if not isinstance(problem.joint, Pmf) or problem.form is not None or problem.each or problem.robust:
        return
    telling = isinstance(problem.objective, MaximizeInformation)
    inputs = prod(map(len, problem.pmf.alphabets(problem.inputs).values()))
    with suppress(DaleniusError):
        if inputs <= (MOST if telling else FEW):
            yield from _telling(problem) if telling else _changing(problem)
        elif telling and not problem.release and inputs <= MANY:
            nothing = channel_from_rows(problem, [(Fraction(1),)] * len(problem.pmf.counts(problem.inputs)))
            yield proved(problem, nothing, [CLOSED], method=METHOD, remarks=[EARLY])


def _telling(problem: Problem) -> Iterator[Design]:
    """Of fresh letters or of the column's own."""
    problem = with_files(problem)
    staying = _mixed(problem, CLOSED)
    best = next(staying, None)  # one value for everybody
    if best is not None:
        yield best
    # Where every pair of values has a level of its own, staying may tell nothing that falling off does.
    for design in chain(_falling_off(problem), staying):
        if best is None or design.value > best.value:
            best = design
            yield design


def _falling_off(problem: Problem) -> Iterator[Design]:
    """Letters that fall off with the distance of the values, as fast as a promise about pairs of them allows."""
    from dalenius.solvers.leakage.near_letters import HAIR, falling_off

    if problem.release:
        return
    for promise in problem.guarantees:
        if not isinstance(promise, LocalDP):
            continue
        own = promise.of_one_row  # checks every pair, so once
        if own.metric is None:
            continue
        away = float(own.epsilon) * np.array(own.metric, dtype=np.float64) * (1 - HAIR)
        for rows, whole in falling_off(away, True):
            with suppress(DaleniusError):
                channel = channel_from_rows(problem, [tuple(Fraction(v, whole) for v in row) for row in rows.tolist()])
                yield proved(problem, channel, [CLOSED], method=NEAR, remarks=[EARLY])
                break


def _changing(problem: Problem) -> Iterator[Design]:
    """The least change, leakage or rate, with a bound of nothing."""
    from dalenius.mechanisms.columns.leakage.design import checked
    from dalenius.mechanisms.columns.leakage.model import Model
    from dalenius.mechanisms.columns.leakage.searching import finished
    from dalenius.mechanisms.columns.leakage.takes import LEAST
    from dalenius.mechanisms.columns.leakage.tight_limits import presolved
    from dalenius.mechanisms.columns.takes import CONTRACTION
    from dalenius.solvers.leakage.arrays import Arrays
    from dalenius.solvers.leakage.lifting import none_of
    from dalenius.solvers.leakage.simple import stay_or_forget

    if LEAST.why_not(problem) is not None:
        if CONTRACTION.why_not(problem) is None:
            yield from _mixed(problem, _nothing(problem))
        return
    problem = checked(problem)
    model = Model.of(problem)
    program, restore = presolved(model)
    simple = stay_or_forget(program)
    if simple is not None:
        with suppress(NotCertified):  # a program does not know what curved promises ask for
            yield finished(model, program, restore, simple, 0.0, remarks=[EARLY])
            return
    yield from _mixed(problem, model.certificate(restore(none_of(Arrays.of(program)))))


def _nothing(problem: Problem) -> Certificate:
    """That no distortion is below nothing."""
    from dalenius.mechanisms.columns.leakage.model import Model

    letters = range(Model.of(replace(problem, guarantees=())).program.letters)
    leaves: list[dict[str, Any]] = [{"objective": [], "promises": [[] for _ in problem.guarantees]} for _ in letters]
    weights = ["0"] * len(problem.guarantees)
    return by_lines(
        "letters",
        [[["leaf", letter]] for letter in letters],
        leaves,
        promises=weights,
        limits=["0"] * len(problem.limits),
    )


def _mixed(problem: Problem, certificate: Certificate) -> Iterator[Design]:
    """What says nothing; then the first share of staying that is proved, the rest being what says nothing."""
    if problem.release and tuple(problem.release) != tuple(problem.inputs):
        return
    with suppress(Unsupported):  # no value is allowed to everybody
        others = _others(problem)
        # What says nothing keeps every promise and is proved first: whatever happens then, there is an answer.
        for ways in ([(Fraction(0), other) for other in others], [(share, o) for o in others for share in SHARES]):
            for share, other in ways:
                with suppress(DaleniusError):
                    channel = _channel(problem, share, other)
                    yield refuse_inverted(proved(problem, channel, [certificate], method=METHOD, remarks=[EARLY]))
                    break


def _others(problem: Problem) -> list[list[Fraction]]:
    """What is released of everybody who does not stay: one value, each value as often, values as often as they occur.

    A column that is released as often as it occurs keeps its rows, on average.
    """
    many = len(problem.pmf.counts(problem.inputs))
    if not problem.release:
        return [[Fraction(0)] * many + [Fraction(1)], [Fraction(1, many)] * many]
    every = problem.pmf.marginal(list(problem.inputs)).every().tolist()
    allowed = _for_everybody(problem, len(every))
    common = max(allowed, key=lambda x: every[x])
    found = [[Fraction(x == common) for x in range(len(every))], [Fraction(1, len(every))] * len(every)]
    as_it_is = problem.preserve_marginals or any(limit.keeps is not None for limit in with_kept_rows(problem).limits)
    return [[Fraction(n, sum(every)) for n in every], *found] if as_it_is else found


def _channel(problem: Problem, share: Fraction, other: list[Fraction]) -> Kernel:
    """Staying with a share; else what is released of everybody alike."""
    rows = [_row(other, x, share) for x in range(len(problem.pmf.counts(problem.inputs)))]
    if not problem.release:
        return channel_from_rows(problem, rows)
    alphabets = problem.pmf.alphabets(problem.inputs)
    rows = [_row(other, x, share) for x in range(len(other))]
    return Channel(alphabets, {name: alphabets[name] for name in problem.release}, tuple(rows))


def _for_everybody(problem: Problem, many: int) -> list[int]:
    """The values that everybody may be released as; a search for another recipe is not made here."""
    if not (problem.forbid or problem.freeze):
        return list(range(many))
    outcomes = list(product(*problem.pmf.alphabets(problem.inputs).values()))
    barred = set().union(*barred_letters(problem, outcomes, outcomes))
    if len(barred) == many:
        raise Unsupported("no value is allowed to everybody")
    return [x for x in range(many) if x not in barred]


def _row(other: list[Fraction], own: int, share: Fraction) -> tuple[Fraction, ...]:
    row = [(1 - share) * value for value in other]
    row[own] += share
    return tuple(row)
