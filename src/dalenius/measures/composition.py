r"""What several releases tell about one record together, against any adversary; brackets in bits.

    basic      the same data, fresh draws             C_1(y1, y2) <= C_1(y1) + C_1(y2)                        Theorem 5
    adaptive   the second chosen by the first output  C_1(y1, y2) <= C_1(y1) + max_{y1} C_1(y2 | y1)
    general    several datasets of the same people    letters (x_i^1, x_i^2) of one record: exact while small, else
                                                      sum_j C_1 of channel j with every class of a letter repeated once
                                                      for each letter of the same person elsewhere           (150)-(165)
    parallel   datasets of disjoint people            own block + what the others tell through correlation   (175)-(177)
    group      k records                              C_k <= k C_1                                            Theorem 4

Independent people do not add up to nothing: an adversary that believes the second person to copy the first looks twice
at the same bit, so parallel releases are charged tau > 0. Marginal figures of draws that share noise say nothing at all
(Y1 = x ^ Z, Y2 = Z), so every rule here is for draws that are independent given the data. What limited adversaries
learn (C_1^b) does not compose; `balance.compose` refuses.

References: paper 001, sections 6 and 7.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, log, nextafter, prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.conditional_law import Kernel
from dalenius.core.pmf import Pmf
from dalenius.errors import InputError, MismatchError, Unsupported
from dalenius.measures.capacity import Bracket, bits, distinct_rows
from dalenius.measures.individual import GAP, NODES, individual_capacity, outcome_classes
from dalenius.measures.shannon import mutual_information_bounds
from dalenius.solvers.divergence import UNIT, Laws
from dalenius.solvers.selection import best_selection

__all__ = [
    "Composed",
    "basic",
    "cross_capacity",
    "general",
    "general_bound",
    "parallel",
    "predictive_information",
]

Places: TypeAlias = NDArray[np.intp]

MOST = 1 << 21  # entries of a joint channel that is written out


@dataclass(frozen=True)
class Composed:
    """What several releases tell together, and by which rule."""

    together: Bracket  # the individual capacity of all releases together, in bits
    alone: tuple[Bracket, ...]  # that of each alone
    rule: str  # which rule gave the figure

    @property
    def tau(self) -> Bracket:
        """What comes on top of the worst single release."""
        low = max(bracket[0] for bracket in self.alone)
        high = max(bracket[1] for bracket in self.alone)
        return max(0.0, self.together[0] - high), max(0.0, self.together[1] - low)


def _up(value: float) -> float:
    return nextafter(value, inf)


def basic(charges: Sequence[float]) -> float:
    """A bound for fresh draws from the same data: proved upper ends add up.

    Parameters
    ----------
    charges : sequence of float
        In bits, each an upper end.

    Returns
    -------
    float
        In bits, every sum rounded up.

    Raises
    ------
    InputError
        If a charge is negative.

    >>> basic([0.25, 0.5]) >= 0.75
    True
    """
    if any(not charge >= 0 for charge in charges):
        raise InputError("a charge in bits is not negative")
    total = 0.0
    for charge in charges:
        total = _up(total + charge) if charge else total
    return total


def _selected(laws: Laws, classes: Sequence[Places], known: float = 0.0) -> tuple[float, float]:
    if len(laws) == 1:
        return 0.0, 0.0
    found = best_selection(laws, classes, gap=GAP, known=known, nodes=NODES)
    return found.low, min(found.high, log(len(classes)) * (1 + 4 * UNIT))


def _worst_person(laws: Laws, people: Iterable[Sequence[Places]]) -> Bracket:
    """The most that is told about any person, whose values are these classes of rows; in bits."""
    low = high = 0.0
    for classes in people:
        found = _selected(laws, classes, low)
        low = max(low, found[0])
        high = max(high, found[1])
    return bits(low, high)


def cross_capacity(channel: Kernel, letters: int) -> Bracket:
    """What a channel tells about something with so many values, however it hangs together with the records (Prop. 6).

    Not always more than C_1: a perfect ternary channel tells log 2 about a bit and log 3 about its own record (E15).

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).
    letters : int
        How many values it has.

    Returns
    -------
    Bracket
        Both ends, in bits.

    >>> sure = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> same = Channel({"X": tuple("abc")}, {"Y": tuple("abc")}, tuple(tuple(map(Fraction, r)) for r in sure))
    >>> [round(v, 9) for v in cross_capacity(same, 2)]
    [1.0, 1.0]
    """
    laws, which = distinct_rows(channel)
    return bits(*_selected(laws, [np.unique(which)] * letters))


def _repeated(channel: Kernel, times: Sequence[int]) -> Bracket:
    """C_1 with every class of record i repeated times[i] times."""
    laws, which = distinct_rows(channel)
    return _worst_person(
        laws,
        (
            [np.unique(which[line]) for line in outcome_classes(channel, [person])] * many
            for person, many in enumerate(times)
        ),
    )


def _product(channels: Sequence[Kernel]) -> tuple[Laws, list[Places]]:
    """Rows of the joint output for every outcome of all inputs of disjoint channels, and which row each has in part."""
    parts = [distinct_rows(channel) for channel in channels]
    size = prod(len(laws) * laws.rows.shape[1] for laws, _ in parts)
    if size > MOST:
        raise Unsupported(
            f"the releases together have {size:,} entries when they are written out",
            do="Put fewer releases together, or group values.",
        )
    rows = parts[0][0].rows
    for laws, _ in parts[1:]:
        rows = np.kron(rows, laws.rows).astype(np.float64, copy=False)
    return Laws(rows, 1.01 * (2 * len(parts)) * UNIT), [which for _, which in parts]


def _joint_row(counts: Sequence[int], chosen: Sequence[Places]) -> Places:
    """Rows of the product for every choice of one row in each part."""
    out = np.zeros(1, dtype=np.intp)
    for count, rows in zip(counts, chosen, strict=True):
        out = (out[:, None] * count + rows).ravel()
    return out


def _alone(channels: Sequence[Kernel]) -> tuple[Bracket, ...]:
    """The individual capacity of each release."""
    found = [individual_capacity(channel) for channel in channels]
    return tuple((each.low, each.high) for each in found)


def _elsewhere(sizes: Sequence[Sequence[int]], own: int) -> list[int]:
    """For each person, how many letters it has in all datasets but one, together."""
    others = [letters for number, letters in enumerate(sizes) if number != own]
    return [prod(letters[person] for letters in others) for person in range(len(sizes[own]))]


def general(channels: Sequence[Kernel]) -> Composed:
    """Several datasets of the same people, each released by its own channel; record i of all of them is one person's.

    Exact (to the gap of the search) while the joint channel is small, else the improved bound of the docstring above,
    which is never above (162) of the paper.

    Parameters
    ----------
    channels : sequence of Kernel
        One for each dataset, with one input for each person, in the same order.

    Returns
    -------
    Composed

    Raises
    ------
    MismatchError
        If they are not of the same people.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> flip = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    >>> one = Channel({"A": ("0", "1")}, {"Y": ("0", "1")}, flip)
    >>> found = general([one, one])
    >>> round(found.together[0], 6), found.rule.split(",")[0]
    (0.377444, 'exact')
    """
    people = len(channels[0].inputs) if channels else 0
    if not people or any(len(channel.inputs) != people for channel in channels):
        raise MismatchError("general composition needs datasets of the same people, one input for each in every recipe")
    sizes = [[len(letters) for letters in channel.inputs.values()] for channel in channels]
    alone = _alone(channels)
    try:
        laws, which = _product(channels)
        counts = [int(rows.max()) + 1 for rows in which]
        choices = (product(*(outcome_classes(channel, [person]) for channel in channels)) for person in range(people))
        classes = (
            [
                np.unique(_joint_row(counts, [np.unique(rows[line]) for rows, line in zip(which, chosen, strict=True)]))
                for chosen in lines
            ]
            for lines in choices
        )
        return Composed(_worst_person(laws, classes), alone, "exact, over the values of one person in all datasets")
    except Unsupported:
        charges = []
        for number, channel in enumerate(channels):
            times = _elsewhere(sizes, number)
            charges.append(_repeated(channel, times)[1])
        return Composed(
            (max(bracket[0] for bracket in alone), basic(charges)), alone, "bound, classes of values repeated"
        )


def general_bound(channels: Sequence[Kernel]) -> float:
    """The improved bound alone, also when the exact figure can be had.

    Parameters
    ----------
    channels : sequence of Kernel
        As for `general`.

    Returns
    -------
    float
        In bits.
    """
    sizes = [[len(letters) for letters in channel.inputs.values()] for channel in channels]
    return basic([_repeated(channel, _elsewhere(sizes, number))[1] for number, channel in enumerate(channels)])


def parallel(channels: Sequence[Kernel]) -> Composed:
    """Disjoint people, one channel for each block, all outputs seen: exact while small, else own block plus the rest.

    Parameters
    ----------
    channels : sequence of Kernel
        One for each block of people.

    Returns
    -------
    Composed

    Raises
    ------
    InputError
        If there is none.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> flip = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    >>> blocks = [Channel({"A": ("0", "1")}, {"Y": ("0", "1")}, flip)] * 2
    >>> found = parallel(blocks)
    >>> round(found.together[0] * log(2), 9), round(found.tau[0] * log(2), 9)
    (0.230040129, 0.099228094)
    """
    if not channels:
        raise InputError("there is no release to compose")
    alone = _alone(channels)
    try:
        laws, which = _product(channels)
    except Unsupported:
        letters = max(len(values) for channel in channels for values in channel.inputs.values())
        others = [cross_capacity(channel, letters)[1] for channel in channels]
        worst = max(basic([own[1], *others[:block], *others[block + 1 :]]) for block, own in enumerate(alone))
        low = max(bracket[0] for bracket in alone)
        return Composed((low, max(low, min(worst, _up(log(letters) / log(2))))), alone, "bound, own block and the rest")
    counts = [int(rows.max()) + 1 for rows in which]
    every = [np.unique(rows) for rows in which]
    people = []
    for block, channel in enumerate(channels):
        if any(channel.rows == earlier.rows and channel.inputs == earlier.inputs for earlier in channels[:block]):
            continue  # a block like an earlier one has the same worst adversary
        people += [(block, person) for person in range(len(channel.inputs))]
    classes = (
        [
            np.unique(_joint_row(counts, [*every[:block], np.unique(which[block][line]), *every[block + 1 :]]))
            for line in outcome_classes(channels[block], [person])
        ]
        for block, person in people
    )
    return Composed(_worst_person(laws, classes), alone, "exact, over all disjoint releases")


def predictive_information(
    joint: Pmf, secret: str, seen: str, attackers: Sequence[Callable[[str], str]]
) -> tuple[float, float]:
    """The most that a stated family of attackers predicts about a secret, as predictive information in bits.

    An attacker is a feature of the output: it sees feature(y) and forecasts as well as anybody could from that. The
    figure speaks of this family and of nobody else. It is not computational security: that speaks of all attackers of
    bounded running time as problems grow, which no finite computation shows (paper 001, section 8; E18).

    Parameters
    ----------
    joint : Pmf
        The law of the secret and of what is seen.
    secret, seen : str
        Names of the two.
    attackers : Sequence[Callable[[str], str]]
        What each keeps of a seen value.

    Returns
    -------
    tuple[float, float]
        Both ends, in bits.

    Raises
    ------
    InputError
        If there is no attacker.

    >>> from fractions import Fraction
    >>> both = [((a, b), Fraction(1, 4)) for a, b in (("0", "00"), ("0", "01"), ("1", "10"), ("1", "11"))]
    >>> law = Pmf.from_records({"X": ("0", "1"), "Y": ("00", "01", "10", "11")}, both)
    >>> predictive_information(law, "X", "Y", [lambda y: y[1]]), predictive_information(law, "X", "Y", [lambda y: y[0]])
    ((0.0, 0.0), (1.0, 1.0))
    """
    if not attackers:
        raise InputError("name at least one attacker; the figure speaks of the family that is stated")
    low = high = 0.0
    pair = joint.marginal([secret, seen])
    names = list(pair.variables.values())
    for attacker in attackers:
        told = [attacker(value) for value in names[1]]
        letters = tuple(dict.fromkeys(told))
        counts: dict[tuple[str, str], int] = {}
        for (secret_code, seen_code), weight in zip(pair.support.tolist(), pair.weights.tolist(), strict=True):
            key = names[0][secret_code], told[seen_code]
            counts[key] = counts.get(key, 0) + int(weight)
        law = Pmf.from_records({secret: tuple(names[0]), "feature": letters}, list(counts.items()))
        ends = mutual_information_bounds(law, [secret], ["feature"])
        low = max(low, float(ends[0]))
        high = max(high, float(ends[1]))
    return low, high
