"""The mechanisms of the house, in the order in which they are asked: what is special before what is general."""

from dalenius.core import Guarantee, Objective, Problem
from dalenius.core.mechanism_section import FORMS
from dalenius.errors import InputError
from dalenius.mechanisms.alike.takes import ALIKE
from dalenius.mechanisms.chains.takes import SUMS, WINDOWS
from dalenius.mechanisms.columns.funnel.takes import BOTTLENECK, FUNNEL, NAMED, SPREAD
from dalenius.mechanisms.columns.leakage.takes import EACH, LEAST
from dalenius.mechanisms.columns.takes import CATEGORICAL, CONTRACTION, DISCLOSURE, RANDOM_COLUMNS, RATE, ROBUST
from dalenius.mechanisms.declared import Mechanism
from dalenius.mechanisms.local_dp.takes import (
    BESIDE_KEPT,
    DELTA,
    EACH_BESIDE_KEPT,
    INVARIANT,
    METRIC_VARIANCE,
    OWN_LETTERS,
    PARTS,
    PRAM,
    PRAM_BESIDE_KEPT,
    SUBSET_SELECTION,
    VARIANCE,
)
from dalenius.mechanisms.numbers.takes import NOISE
from dalenius.mechanisms.records.takes import RECORDS

__all__ = ["kept_with", "mechanisms", "register", "takers"]

_MECHANISMS: list[Mechanism] = [
    RECORDS,
    ROBUST,
    DISCLOSURE,
    ALIKE,
    WINDOWS,
    SUMS,
    RANDOM_COLUMNS,
    NOISE,
    PRAM,
    INVARIANT,
    EACH_BESIDE_KEPT,
    PARTS,
    BESIDE_KEPT,
    PRAM_BESIDE_KEPT,
    DELTA,
    SUBSET_SELECTION,
    OWN_LETTERS,
    NAMED,
    FUNNEL,
    BOTTLENECK,
    SPREAD,
    VARIANCE,
    METRIC_VARIANCE,
    # A closed form before the program that is its general case.
    CATEGORICAL,
    RATE,
    EACH,
    LEAST,
    CONTRACTION,
]


def mechanisms() -> tuple[Mechanism, ...]:
    """Every mechanism, in the order in which they are asked.

    >>> len({mechanism.name for mechanism in mechanisms()}) == len(mechanisms())
    True
    """
    return tuple(_MECHANISMS)


def takers(problem: Problem) -> tuple[Mechanism, ...]:
    """The mechanisms that take a problem, as far as can be said without its data.

    Parameters
    ----------
    problem : Problem
        Declared or bound.

    Returns
    -------
    tuple of Mechanism
        The first of them designs it.

    >>> from dalenius.testing import xor
    >>> takers(xor())[0].name
    'disclosure'
    """
    return tuple(mechanism for mechanism in _MECHANISMS if mechanism.why_not(problem) is None)


def kept_with(objective: type[Objective]) -> set[type[Guarantee]]:
    """The kinds of promises that some mechanism keeps with an objective.

    Parameters
    ----------
    objective : type of Objective
        What is best.

    Returns
    -------
    set of types of Guarantee

    >>> from dalenius.core import Leakage, MinimizeDistortion
    >>> Leakage in kept_with(MinimizeDistortion)
    True
    """
    return {promised.kind for known in _MECHANISMS if objective in known.objectives for promised in known.promises}


def register(mechanism: Mechanism) -> None:
    """Add a mechanism; those that are there already are asked first.

    Parameters
    ----------
    mechanism : Mechanism
        With a name of its own.

    Raises
    ------
    InputError
        If the name is taken.
    """
    if any(known.name == mechanism.name for known in _MECHANISMS):
        raise InputError(f"there is a mechanism called {mechanism.name!r} already", do="Choose another name.")
    _MECHANISMS.append(mechanism)
    FORMS.extend(form for form in mechanism.forms if form is not None and form not in FORMS)
