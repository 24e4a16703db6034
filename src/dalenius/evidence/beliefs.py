r"""How likely each answer about a secret can become for somebody who sees one released row.

An average hides a revealing row. With p(s, y) = sum over x of p(s, x) p(y|x), the belief in s after y is
p(s, y) / p(y); over all released combinations y it moves between a least and a largest value. The same range for the
columns as they were, unchanged, says what the release is compared with. Everything here is exact.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from dalenius.core import Design, Pmf
from dalenius.core.conditional_law import Sparse
from dalenius.core.digits import figure
from dalenius.core.guarantee import Names
from dalenius.measures.attack import Labels, secrets_of, weights_by_row, whole_rows

__all__ = ["Answer", "Beliefs", "beliefs"]

FEW = 1 << 21  # products that are formed for one secret
FEW_LISTED = 200_000  # the same where rows are lists of records; each is a fraction of its own

Weights = dict[Labels, int | Fraction]  # of each answer, in one unit
Told = dict[tuple[Labels, int], Weights]  # by what leaves as it is, and by the place of what is drawn


@dataclass(frozen=True)
class Answer:
    """One answer: its share of all rows, and the least and largest chance of it given a row.

    Parameters
    ----------
    values : tuple of str
        The values of the secret columns.
    share : Fraction
        How many of all rows have it.
    low, high : Fraction
        Over all released combinations.
    unchanged : tuple of two Fraction, or None
        The same over the original combinations of the released columns, where these are columns of the table.
    """

    values: Names
    share: Fraction
    low: Fraction
    high: Fraction
    unchanged: tuple[Fraction, Fraction] | None = None


@dataclass(frozen=True)
class Beliefs:
    """All answers about one secret, and the released combination that makes one of them likeliest by comparison.

    Parameters
    ----------
    secret : tuple of str
        The protected columns.
    answers : tuple of Answer
        Those that occur, in the order of the values.
    worst : Answer
        The one whose chance grows by the largest factor.
    combination : tuple of str
        The released combination at which it does: values of the released columns, then of those that leave as they are.
    combination_share : Fraction
        How often that combination is released.
    unchanged_guess : Fraction or None
        How often the best guess is right if the released columns leave unchanged.
    """

    secret: Names
    answers: tuple[Answer, ...]
    worst: Answer
    combination: Names
    combination_share: Fraction
    unchanged_guess: Fraction | None = None

    @property
    def times(self) -> str:
        """By what factor the chance of the worst answer grows, rounded up as a promise about it is."""
        return figure(self.worst.high / self.worst.share, "up")


def beliefs(design: Design) -> tuple[Beliefs, ...]:
    """The beliefs about each secret of a design, in the order of its promises.

    Parameters
    ----------
    design : Design
        With a recipe that is written out row by row, or lists what each row may leave as.

    Returns
    -------
    tuple of Beliefs
        Empty where the statistics are not known combination by combination, or there are too many of them.

    Examples
    --------
    >>> from dalenius import solve
    >>> from dalenius.testing import binary_tradeoff
    >>> found = beliefs(solve(binary_tradeoff("1/10", "1/20")))[0]
    >>> [answer.values for answer in found.answers], found.worst.high < found.worst.unchanged[1]
    ([('0',), ('1',)], True)
    """
    problem, channel = design.problem, design.channel
    if not isinstance(problem.joint, Pmf):
        return ()
    found = []
    for secret in secrets_of(design):
        values = prod(len(problem.joint.variables[name]) for name in secret)
        if channel.sparse is not None:
            few = values * channel.sparse.entries <= FEW_LISTED
        else:
            few = channel.few and values * prod(channel.shape) <= FEW
        if few:
            found.append(_beliefs(design, secret))
    return tuple(found)


def _told_by_rows(design: Design, secret: Names) -> tuple[Told, int, list[Names]]:
    """The weight of each answer beside all that leaves, in units of a whole; what each letter is."""
    rows, scale = whole_rows(design.channel)
    told: Told = {}
    for (answer, beside, x), n in weights_by_row(design, secret, design.problem.kept).items():
        for y, v in enumerate(rows[x]):
            if v:
                known = told.setdefault((beside, y), {})
                known[answer] = known.get(answer, 0) + n * v
    return told, scale, design.channel.letters()


def _told_by_lists(design: Design, secret: Names, listed: Sparse) -> tuple[Told, int, list[Names]]:
    """The same where rows are lists of what may leave."""
    joint = design.problem.pmf
    at = [joint.columns(list(names)) for names in (secret, design.problem.kept, design.channel.inputs)]
    told: Told = {}
    for atom, weight in zip(joint.support.tolist(), joint.weights.tolist(), strict=True):
        answer, beside, inputs = (tuple(atom[column] for column in columns) for columns in at)
        places, weights = listed.lines[inputs]
        whole = sum(weights)
        for place, v in zip(places, weights, strict=True):
            known = told.setdefault((beside, place), {})
            known[answer] = known.get(answer, 0) + Fraction(weight * v, whole)
    return told, 1, list(listed.released)


def _beliefs(design: Design, secret: Names) -> Beliefs:
    joint, channel = design.problem.pmf, design.channel
    kept = design.problem.kept
    listed = channel.sparse
    told, scale, letters = _told_by_rows(design, secret) if listed is None else _told_by_lists(design, secret, listed)
    shares: Counter[Labels] = Counter()
    answer_at = joint.columns(list(secret))
    for atom, weight in zip(joint.support.tolist(), joint.weights.tolist(), strict=True):
        shares[tuple(atom[column] for column in answer_at)] += weight
    occurring = [s for s in product(*(range(len(joint.variables[name])) for name in secret)) if shares[s]]
    ranges = _ranges(told, occurring)
    before = _unchanged(design, secret)
    unchanged = _ranges(before, occurring) if before else {}
    answers = tuple(
        Answer(
            values=tuple(joint.variables[name][k] for name, k in zip(secret, s, strict=True)),
            share=Fraction(shares[s], joint.total),
            low=ranges[s][0],
            high=ranges[s][1],
            unchanged=unchanged.get(s),
        )
        for s in occurring
    )
    worst = max(range(len(answers)), key=lambda k: answers[k].high / answers[k].share)
    place = max(told, key=lambda where: _chance(told[where], occurring[worst]))
    beside_values = tuple(joint.variables[name][k] for name, k in zip(kept, place[0], strict=True))
    guess = sum(max(known.values()) for known in before.values()) if before else 0
    return Beliefs(
        secret=secret,
        answers=answers,
        worst=answers[worst],
        combination=(*letters[place[1]], *beside_values),
        combination_share=Fraction(sum(told[place].values()), joint.total * scale),
        unchanged_guess=Fraction(guess, joint.total) if before else None,
    )


def _chance(known: Weights, answer: Labels) -> Fraction:
    """The chance of an answer where these are the weights of all of them."""
    return Fraction(known.get(answer, 0), sum(known.values()))


def _ranges(told: Mapping[Any, Weights], answers: list[Labels]) -> dict[Labels, tuple[Fraction, Fraction]]:
    """The least and the largest chance of each answer over all places."""
    found = {}
    for answer in answers:
        chances = [_chance(known, answer) for known in told.values()]
        found[answer] = (min(chances), max(chances))
    return found


def _unchanged(design: Design, secret: Names) -> dict[Labels, Weights]:
    """The weight of each answer beside each original combination of what leaves; empty where that is not comparable.

    It is not for an output of its own, whose letters the table does not have, nor where a secret itself is released.
    """
    joint = design.problem.pmf
    leaving = [*design.channel.output, *design.problem.kept]
    if not set(leaving) <= set(joint.variables) or set(secret) & set(leaving):
        return {}
    found: dict[Labels, Weights] = {}
    answer_at = joint.columns(list(secret))
    place_at = joint.columns(leaving)
    for atom, weight in zip(joint.support.tolist(), joint.weights.tolist(), strict=True):
        place = tuple(atom[i] for i in place_at)
        known = found.setdefault(place, {})
        answer = tuple(atom[i] for i in answer_at)
        known[answer] = known.get(answer, 0) + weight
    return found
