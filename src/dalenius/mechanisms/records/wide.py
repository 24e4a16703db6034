"""What form "records" takes, and a problem in its arrays: records, inputs, classes of the secret, distances.

The orders are those of the kernel: inputs by the letters of the observed columns, records by the letters of the
released ones, classes by the letters of the secret, all rising.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
import numpy.typing as npt

from dalenius.core import Distortion, MinimizeDistortion, Pmf, Problem
from dalenius.core.numbers import exact
from dalenius.errors import InputError, Unsupported
from dalenius.mechanisms.records.takes import FORM, MOST_CLASSES, RECORDS
from dalenius.solvers.flows.distances import Metric

__all__ = ["Wide", "distance_between"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Wide:
    """The arrays of a problem for form "records".

    Parameters
    ----------
    problem : Problem
        Bound, and taken by this form.
    law : Pmf
        Of the variables that matter, in the order of the file.
    secret : tuple of str
        All columns that a promise is about.
    records : array, one record a row
        Different outcomes of the released columns.
    record_of_input : array
        For each different outcome of the observed columns, its record.
    counts : array, inputs by classes
        How often an input occurs with each value of the secret.
    classes : list
        The values of the secret, as places in their alphabets.
    metric : Metric
        The distance in whole units.
    points : array, one point a row
        The records along the axes of the metric.
    unit : int
        How many whole units are a distortion of one.
    prices : tuple of str
        What a unit of each limited distortion costs beyond the objective; the metric has these costs in it.
    wall : int or None
        A distance from which on no record may become another; None: there is none.
    already : float
        Bits that what cannot change reveals about the secret, whatever else is released.
    starts : array, one point a row, or None
        Where each input comes from, if that is none of the records; its record is then the nearest of them.
    """

    problem: Problem
    law: Pmf
    secret: tuple[str, ...]
    records: Integers
    record_of_input: Integers
    counts: Integers
    classes: list[tuple[int, ...]]
    metric: Metric
    points: Integers
    unit: int
    prices: tuple[str, ...] = ()  # of the limits; they are part of the metric
    wall: int | None = None
    already: float = 0.0
    starts: Integers | None = None

    @classmethod
    def of(cls, problem: Problem) -> "Wide":
        """The arrays of a bound problem.

        Raises
        ------
        Unsupported
            If this form does not take the problem, with the reason.
        """
        RECORDS.refuse(replace(problem, form=problem.form or FORM))
        assert isinstance(problem.objective, MinimizeDistortion)
        secret = tuple(dict.fromkeys(name for guarantee in problem.guarantees for name in guarantee.secret))
        named = set(problem.observe) | set(secret)
        law = problem.pmf.marginal([name for name in problem.pmf.variables if name in named])
        if law.weights.dtype == object:
            raise Unsupported("the probabilities have too many digits for form records; give counts, or round them")
        inputs, input_of_atom = law.grouped(problem.observe)
        outcomes, record_of_atom = law.grouped(problem.release)
        classes, class_of_atom = law.grouped(secret)
        if len(classes) > MOST_CLASSES:
            raise Unsupported(
                f"the secret {', '.join(secret)} has {len(classes)} values; form records takes up to {MOST_CLASSES}: "
                "group them"
            )
        counts = np.zeros((len(inputs), len(classes)), dtype=np.int64)
        np.add.at(counts, (input_of_atom, class_of_atom), law.weights)
        record_of_input = np.zeros(len(inputs), dtype=np.int64)
        record_of_input[input_of_atom] = record_of_atom
        records = np.array(outcomes, dtype=np.int64).reshape(len(outcomes), -1)
        metric, points, unit = distance_between(problem.objective.measure, problem.release, law, records)
        return cls(problem, law, secret, records, record_of_input, counts, classes, metric, points, unit)

    @property
    def total(self) -> int:
        """The number of rows."""
        return int(self.law.total)

    @cached_property
    def by_record(self) -> Integers:
        """How often each record occurs with each value of the secret."""
        found = np.zeros((len(self.records), len(self.classes)), dtype=np.int64)
        np.add.at(found, self.record_of_input, self.counts)
        return found

    @cached_property
    def origins(self) -> Integers:
        """Where each input comes from, along the axes of the metric."""
        return self.points[self.record_of_input] if self.starts is None else self.starts

    def lose(self, measure: Distortion) -> npt.NDArray[np.bool_]:
        """Which records do not have the value that a measure of kept rows is about."""
        assert measure.keeps is not None
        (name,) = measure.of
        code = self.law.variables[name].index(measure.keeps[0])
        return np.asarray(self.records[:, self.problem.release.index(name)] != code)

    def about(self, secret: Sequence[str]) -> "Wide":
        """The same table with the values of one of its secrets as classes."""
        values, of_class = self.values_of(secret)
        merged = np.eye(len(values), dtype=np.int64)[of_class]
        return replace(self, secret=tuple(secret), counts=self.counts @ merged, classes=values)

    def values_of(self, secret: Sequence[str]) -> tuple[list[tuple[int, ...]], list[int]]:
        """The values of one of the secrets that occur, rising, and which of them each class has."""
        at = [self.secret.index(name) for name in secret]
        labels = [tuple(label[k] for k in at) for label in self.classes]
        values = sorted(set(labels))
        place = {value: k for k, value in enumerate(values)}
        return values, [place[label] for label in labels]

    @cached_property
    def seen(self) -> bool:
        """Whether the observed columns determine the secret."""
        return bool(((self.counts > 0).sum(axis=1) == 1).all())

    @cached_property
    def class_of_input(self) -> Integers:
        """Where the secret is seen: the class of each input."""
        return np.asarray(self.counts.argmax(axis=1), dtype=np.int64)


def distance_between(
    measure: Distortion, release: Sequence[str], law: Pmf, records: Integers
) -> tuple[Metric, Integers, int]:
    """What a distortion is between records: the metric in whole units, the records along its axes, and the unit.

    Parameters
    ----------
    measure : Distortion
        A weighted sum of `hamming` and `absolute`.
    release : sequence of str
        The columns of the records.
    law : Pmf
        Has the alphabets.
    records : array, one record a row
        Codes of letters.

    Returns
    -------
    metric, points, unit
    """
    columns: list[Integers] = []
    axes: list[tuple[Fraction, bool]] = []  # the weight of one step, and whether steps are counted
    for part in measure.summands:
        if not part.weight:
            continue
        at = [release.index(name) for name in part.of]
        letters = [law.variables[name] for name in part.of]
        if part.distortion == "hamming":
            columns.append(_classes(part, letters, records[:, at]))
            axes.append((part.weight, False))
            continue
        for name, place, alphabet in zip(part.of, at, letters, strict=True):
            values = [_number(letter, name) for letter in alphabet]
            step = lcm(*(value.denominator for value in values))
            codes = np.array([int(value * step) for value in values], dtype=np.int64)[records[:, place]]
            columns.append(codes - codes.min())
            axes.append((part.weight / step, True))
    unit = lcm(*(weight.denominator for weight, _ in axes)) if axes else 1
    points = np.array(columns, dtype=np.int64).reshape(len(columns), len(records))
    metric = Metric(
        tuple(int(weight * unit) for weight, _ in axes),
        tuple(ordered for _, ordered in axes),
        tuple(int(row.max()) if ordered else 1 for row, (_, ordered) in zip(points, axes, strict=True)),
    )
    return metric, np.ascontiguousarray(points.T), unit


def _classes(part: Distortion, letters: Sequence[Sequence[str]], labels: Integers) -> Integers:
    """A number for each label, the same exactly for labels whose letters are in the same classes."""
    group = {letter: k for k, members in enumerate(part.classes) for letter in members}
    merged = []
    for alphabet, codes in zip(letters, labels.T, strict=True):
        place: dict[int | str, int] = {}
        merged.append(np.array([place.setdefault(group.get(a, a), len(place)) for a in alphabet])[codes])
    if len(merged) == 1:
        return np.asarray(merged[0], dtype=np.int64)
    return np.asarray(np.unique(np.column_stack(merged), axis=0, return_inverse=True)[1].ravel(), dtype=np.int64)


def _number(letter: str, column: str) -> Fraction:
    try:
        return exact(letter)
    except InputError:
        raise InputError(
            f"the value {letter!r} of {column} is not a number, so that absolute cannot compare it; use hamming"
        ) from None
