"""`Pmf`: a joint probability mass function over named variables with labelled alphabets, in exact rationals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, prod
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dalenius.core.numbers import exact, is_decimal, quotients, whole_texts, written
from dalenius.errors import InputError, InvalidPmf, MismatchError, Unsupported

__all__ = ["Alphabets", "Pmf", "outcome_words"]

Alphabets = Mapping[str, tuple[str, ...]]
Integers = npt.NDArray[Any]

ROUNDING = Fraction(1, 10**9)
INT64 = 2**62
MOST_CELLS = 10**8  # of an array of counts: 800 MB
RESERVED = "no variable can be called 'p': in the file formats that key is the probability"
RENAME = "Give the column p of the table another name."


def outcome_words(names: Sequence[str], letters: Sequence[str]) -> str:
    """An outcome as people read it.

    Parameters
    ----------
    names, letters : sequence of str
        Variables, and the letter of each.

    Returns
    -------
    str

    >>> outcome_words(["sex", "age"], ["f", "old"])
    'sex=f, age=old'
    """
    return ", ".join(f"{name}={letter}" for name, letter in zip(names, letters, strict=True))


def _integers(values: Iterable[int], total: int) -> Integers:
    """Exact integers: machine words while every sum fits, Python's own beyond."""
    return np.array(list(values), dtype=np.int64 if total < INT64 else object)


def _distinct(codes: Integers, sizes: Sequence[int]) -> tuple[Integers, Integers]:
    """The distinct rows of codes below these sizes, sorted, and which of them each row is."""
    if not sizes or prod(sizes) >= 1 << 62:
        return np.unique(codes, axis=0, return_inverse=True)
    # A row as one number in mixed radix: the order is the same, and numbers are sorted sooner than rows.
    found, index = np.unique(np.ravel_multi_index(tuple(codes.T), tuple(sizes)), return_inverse=True)
    return np.stack(np.unravel_index(found, tuple(sizes)), axis=1), index


@dataclass(frozen=True, eq=False)
class Pmf:
    """p(outcome) = weights / total on the outcomes of positive probability.

    `support` has one row of letter codes for each such outcome, sorted; `weights` are positive integers without a
    common factor, so two equal pmfs are stored alike. `common` is the factor that was divided out: where outcomes were
    counted, total times common is the number of rows.

    Parameters
    ----------
    variables : mapping of str to letters
        The alphabets.
    support : array, one outcome a row
        Codes of the outcomes of positive probability.
    weights : array
        A positive whole number for each.
    total : int
        Their sum.
    note : str
        What a reader must be told about the law.
    common : int
        A divisor that all counts had, to know how many there were.

    Examples
    --------
    >>> p = Pmf.from_records({"X": ("a", "b")}, [(("a",), "1/3"), (("b",), "2/3")])
    >>> p.probability(X="b")
    Fraction(2, 3)
    """

    variables: Alphabets
    support: npt.NDArray[np.int64]
    weights: Integers
    total: int
    note: str = field(default="", compare=False)
    common: int = field(default=1, compare=False)
    _groups: dict[tuple[str, ...], tuple[list[tuple[int, ...]], npt.NDArray[np.int64]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )  # what `grouped` found before

    def __repr__(self) -> str:
        """One line without a single probability: a repr ends in logs and notebooks."""
        sizes = ", ".join(f"{name}: {len(letters)}" for name, letters in self.variables.items())
        return f"Pmf({sizes}; {len(self.weights)} outcomes)"

    def __post_init__(self) -> None:
        if len(self.variables) != self.support.shape[1] or len(self.weights) != len(self.support):
            raise InvalidPmf("support and weights do not have the same shape")
        if not len(self.weights):
            raise InvalidPmf("a distribution needs at least one outcome of positive probability")
        if int(self.weights.min()) <= 0 or int(self.weights.sum()) != self.total:
            raise InvalidPmf("weights are not positive integers that add up to the total")
        if "p" in self.variables:
            raise InvalidPmf(RESERVED, do=RENAME)
        for name, letters in self.variables.items():
            if len(set(letters)) != len(letters) or not letters:
                raise InvalidPmf(f"the list of values of {name!r} is empty or lists a value twice")
        sizes = [len(letters) for letters in self.variables.values()]
        if (self.support < 0).any() or (self.support >= sizes).any():
            raise InvalidPmf("the support has a code outside the list of values")
        for array in (self.support, self.weights):
            array.setflags(write=False)

    # --- births -----------------------------------------------------------------------------------------------------
    @classmethod
    def from_counts(cls, variables: Alphabets, codes: npt.NDArray[Any], counts: Iterable[int], note: str = "") -> Self:
        """From a row of letter codes and an integer count for each outcome; equal outcomes are added up.

        Parameters
        ----------
        variables : mapping of names to letters
            In the order of the codes.
        codes : array of int
            A row for each outcome.
        counts : iterable of int
            Not negative, and not all zero.
        note : str
            What is wrong with the data, for a message.

        Returns
        -------
        Pmf
        """
        codes = np.asarray(codes, dtype=np.int64).reshape(-1, len(variables))
        raw = [int(count) for count in counts]
        if any(c < 0 for c in raw):
            raise InvalidPmf(f"a count is negative: {min(raw)}")
        total = sum(raw)
        if not total:
            raise InvalidPmf("all counts are zero")
        support, inverse = np.unique(codes, axis=0, return_inverse=True)
        weights = np.zeros(len(support), dtype=np.int64 if total < INT64 else object)
        np.add.at(weights, inverse.reshape(-1), _integers(raw, total))
        kept = weights != 0
        common = gcd(total, *(int(w) for w in weights[kept]))
        reduced = _integers((int(w) // common for w in weights[kept]), total // common)
        alphabets = {name: tuple(letters) for name, letters in variables.items()}
        return cls(alphabets, support[kept], reduced, total // common, note=note, common=common)

    @classmethod
    def from_records(cls, variables: Alphabets, records: Iterable[tuple[Sequence[str], object]]) -> Self:
        """From (outcome, number) pairs: all integers are counts, fractions must add up to one exactly.

        Decimals may miss one by their last digit (at most 1e-9 in all); they are then divided by their sum, and
        `note` says so.

        Parameters
        ----------
        variables : mapping of names to letters
        records : iterable of (outcome, number)

        Returns
        -------
        Pmf
        """
        alphabets = {name: tuple(letters) for name, letters in variables.items()}
        names = list(alphabets)
        where = [{letter: k for k, letter in enumerate(alphabet)} for alphabet in alphabets.values()]
        outcomes = []
        codes = dict[tuple[int | None, ...], None]()
        numbers = list[Any]()
        for outcome, number in records:
            if len(outcome) != len(names):
                raise InvalidPmf(
                    f"the outcome {list(outcome)} does not have one value for each of {len(names)} variables"
                )
            code = tuple(map(dict.get, where, outcome))
            if None in code:
                at = code.index(None)
                raise InvalidPmf(f"{outcome[at]!r} is not in the list of values of {names[at]!r}")
            if code in codes:
                raise InvalidPmf(f"the outcome {outcome_words(names, outcome)} is given twice")
            codes[code] = None
            outcomes.append(outcome)
            numbers.append(number)
        if not numbers:
            raise InvalidPmf("the distribution lists no outcome")
        try:
            weights, scale = whole_texts(numbers)
        except InputError:
            for outcome, number in zip(outcomes, numbers, strict=True):  # which of them it is
                exact(number, f"p({outcome_words(names, outcome)})")
            raise
        if (least := min(weights)) < 0:
            at = weights.index(least)
            told = outcome_words(names, outcomes[at])
            raise InvalidPmf(f"p({told}) is {written(Fraction(least, scale))}, which is negative")
        rounded = any(map(is_decimal, numbers))
        total, note = Fraction(sum(weights), scale), ""
        counts = not rounded and not any(weight % scale for weight in weights)
        if total != 1 and not (counts and total > 0):
            if not rounded or abs(total - 1) > ROUNDING:
                raise InvalidPmf(f"probabilities sum to {written(total)}, not 1")
            note = f"the decimals sum to 1 {float(total - 1):+.1e}; each was divided by their exact sum"
        return cls.from_counts(alphabets, np.array(list(codes)), weights, note=note)

    @classmethod
    def from_json(cls, document: object) -> Self:
        """From the `joint.json` format.

        Parameters
        ----------
        document : object
            What the file has.

        Returns
        -------
        Pmf
        """
        if not isinstance(document, dict) or not {"variables", "pmf"} <= set(document):
            raise InvalidPmf("a distribution file is an object with the keys `variables` and `pmf`")
        if extra := set(document) - {"variables", "pmf"}:
            raise InvalidPmf(f"unknown key {min(extra)!r} in a distribution file")
        variables = document["variables"]
        if not isinstance(variables, dict) or not variables or not isinstance(document["pmf"], list):
            raise InvalidPmf('"variables" maps names to lists of values and `pmf` is a list of outcomes')
        if "p" in variables:
            raise InvalidPmf(RESERVED)
        alphabets = {}
        for name, letters in variables.items():
            if not isinstance(letters, list) or not all(isinstance(letter, str) for letter in letters):
                raise InvalidPmf(f"the list of values of {name!r} is not a list of strings")
            alphabets[name] = tuple(letters)
        records, keys = [], {*alphabets, "p"}
        for k, record in enumerate(document["pmf"]):
            if not isinstance(record, dict) or record.keys() != keys:
                raise InvalidPmf(f"outcome {k + 1} of `pmf` must have exactly the keys {[*alphabets, 'p']}")
            records.append(([str(record[alphabet]) for alphabet in alphabets], record["p"]))
        return cls.from_records(alphabets, records)

    def to_json(self) -> dict[str, Any]:
        """The `joint.json` format: sparse, fractions in lowest terms."""
        columns = [
            [a[code] for code in codes]
            for a, codes in zip(self.variables.values(), self.support.T.tolist(), strict=True)
        ]
        weights = self.weights.tolist()
        keys = (*self.variables, "p")
        different = weights if 2 * len(set(weights)) > len(weights) else list(set(weights))  # few are written once each
        told = quotients(different, [self.total] * len(different))
        if different is not weights:
            told = list(map(dict(zip(different, told, strict=True)).__getitem__, weights))
        if len(columns) == 1:
            (name,), (letters,) = self.variables, columns
            records = [{name: letter, "p": p} for letter, p in zip(letters, told, strict=True)]
        else:
            records = [dict(zip(keys, r, strict=True)) for r in zip(*columns, told, strict=True)]
        return {
            "variables": {n: list(a) for n, a in self.variables.items()},
            "pmf": records,
        }

    # --- questions --------------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        """Number of outcomes of positive probability."""
        return len(self.weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pmf):
            return NotImplemented
        return (
            list(self.variables.items()) == list(other.variables.items())
            and self.total == other.total
            and np.array_equal(self.support, other.support)
            and self.weights.tolist() == other.weights.tolist()
        )

    __hash__ = None  # type: ignore[assignment]

    def columns(self, names: Sequence[str]) -> list[int]:
        """Positions of the named variables; an unknown name is refused.

        Parameters
        ----------
        names : sequence of str
            Variables of the law.

        Returns
        -------
        list of int
        """
        order = list(self.variables)
        for name in names:
            if name not in self.variables:
                raise MismatchError(f"no variable {name!r}; there are {', '.join(map(repr, order))}")
        return [order.index(n) for n in names]

    def alphabets(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The alphabets of the named variables, in that order.

        Parameters
        ----------
        names : sequence of str
            Variables of the law.

        Returns
        -------
        dict of names to tuples of str
        """
        self.columns(names)
        return {name: tuple(self.variables[name]) for name in names}

    def marginal(self, names: Sequence[str]) -> "Pmf":
        """The joint pmf of the named variables.

        Parameters
        ----------
        names : sequence of str
            Variables of the law.

        Returns
        -------
        Pmf
        """
        counts = [weight * self.common for weight in self.weights.tolist()]
        return Pmf.from_counts(self.alphabets(names), self.support[:, self.columns(names)], counts)

    def grouped(self, names: Sequence[str]) -> tuple[list[tuple[int, ...]], npt.NDArray[np.int64]]:
        """The distinct outcomes of the named variables that occur, sorted, and which of them each atom has.

        No names: one empty outcome.

        Parameters
        ----------
        names : sequence of str
            Variables of the law.

        Returns
        -------
        outcomes, places
            Outcomes by letter codes.
        """
        if (key := tuple(names)) not in self._groups:
            outcomes, index = _distinct(self.support[:, self.columns(names)], [len(self.variables[n]) for n in names])
            listed: list[tuple[int, ...]] = [tuple(row) for row in outcomes.tolist()] if names else [()]
            numbers: npt.NDArray[np.int64] = (
                index.reshape(-1).astype(np.int64) if names else np.zeros(len(self), dtype=np.int64)
            )
            numbers.setflags(write=False)
            self._groups[key] = listed, numbers
        return self._groups[key]

    def counts(self, *views: Sequence[str]) -> Integers:
        """Integer weights of the joint of several groups of variables, one axis each, in the order of `grouped`."""
        groups = [self.grouped(view) for view in views]
        if prod(len(o) for o, _ in groups) > MOST_CELLS:
            sides = " x ".join(f"{len(o):,}" for o, _ in groups)
            raise Unsupported(f"a table of {sides} outcomes has more than {MOST_CELLS:,} cells; merge values first")
        out = np.zeros([len(o) for o, _ in groups], dtype=self.weights.dtype)
        np.add.at(out, tuple(index for _, index in groups), self.weights)
        return out

    def shares(self, names: Sequence[str]) -> list[Fraction]:
        """The probabilities of the outcomes of some variables, in the order of `grouped`.

        Parameters
        ----------
        names : sequence of str
            Variables of the law.

        Returns
        -------
        list of Fraction
        """
        return [Fraction(int(n), self.total) for n in self.counts(names)]

    def often(self, names: Sequence[str], rows: int) -> list[tuple[tuple[int, ...], float]]:
        """Each outcome of some variables by letter codes, and how often it occurs in so many rows, in floats.

        Parameters
        ----------
        names : sequence of str
            Variables of the law.
        rows : int
            How many rows there are.

        Returns
        -------
        list of (codes, float)
        """
        outcomes, index = self.grouped(names)
        weights = np.bincount(index, weights=self.weights.astype(np.float64), minlength=len(outcomes))
        return list(zip(outcomes, (weights / self.total * rows).tolist(), strict=True))

    def every(self) -> Integers:
        """Integer weights of all outcomes of the alphabets, possible or not, in the order of a channel's rows."""
        sizes = [len(letters) for letters in self.variables.values()]
        out = np.zeros(prod(sizes), dtype=self.weights.dtype)
        out[np.ravel_multi_index(tuple(self.support.T), sizes)] = self.weights
        return out

    def probability(self, **letters: str) -> Fraction:
        """p of the event that the named variables take these letters."""
        mask = np.ones(len(self), dtype=bool)
        for (name, letter), column in zip(letters.items(), self.columns(list(letters)), strict=True):
            if letter not in self.variables[name]:
                raise MismatchError(f"{letter!r} is not in the list of values of {name!r}")
            mask &= self.support[:, column] == self.variables[name].index(letter)
        return Fraction(int(self.weights[mask].sum()), self.total)
