"""How exposed the records of a sample are by their keys, and how much of that k-ary randomised response takes away."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Column
from dalenius.errors import Infeasible, InputError, MismatchError
from dalenius.measures.risk import (
    main_effects,
    matched_uniques,
    negative_binomial_risk,
    overdispersion,
    randomised_response,
    two_way,
)
from dalenius.tables import Coded, encode, open_table, weights_of
from dalenius.tables.counting import SLICE, smallest

__all__ = ["MODELS", "Risk", "risk"]

Array = npt.NDArray[Any]

MODELS = ("main", "two-way", "negative-binomial")
LEVELS = tuple(np.round(np.arange(0.0, 8.01, 0.25), 2).tolist())
BEYOND = (8.5, 9.0, 10.0, 12.0, 16.0, 24.0, 32.0, 48.0)  # where hardly anything is perturbed any more
RISKIEST = 10


@dataclass(frozen=True, eq=False)
class Risk:
    """The key combinations that occur, with their counts, and r1, r2 (002, 1) for each of them.

    `cell` is the combination of each row; r1 is 0 and r2 = E[1/F] where a combination occurs more than once.
    `overdispersion` is the variance of the gamma factors where the model is negative binomial.

    Parameters
    ----------
    keys : names
        The key columns.
    cell, codes, counts : array
        Of each combination that occurs: its place, its letters, its rows.
    lam, pi : array
        The fitted rate and the sampling fraction.
    r1, r2 : array
        The probability that a unique row is unique in the population, and the expected share of right matches.
    model : str
        Which log-linear model was fitted.
    overdispersion : float
        Of the rates.
    """

    keys: dict[str, tuple[str, ...]]
    cell: Array
    codes: Array
    counts: Array
    lam: Array
    pi: Array
    r1: Array
    r2: Array
    model: str
    overdispersion: float = 0.0

    @property
    def rows(self) -> int:
        return len(self.cell)

    @property
    def uniques(self) -> Array:
        """Which combinations occur once."""
        return np.asarray(self.counts == 1)

    @property
    def tau(self) -> tuple[float, float]:
        """tau1 and tau2 (002, 2): sums over the sample uniques."""
        return float(self.r1[self.uniques].sum()), float(self.r2[self.uniques].sum())

    def after(self, level: float) -> tuple[float, float]:
        """tau1 and tau2 to expect when every key leaves by k-ary randomised response of this level, given the sample.

        A match is right when the record that alone shows the target's key is the target's own. Records that were not
        unique can become so; they count.
        """
        channels = [randomised_response(level, len(key)) for key in self.keys.values()]
        alone = matched_uniques(self.codes, self.counts, channels)
        return float((alone * self.r1).sum()), float((alone * self.r2).sum())

    def information(self, level: float) -> float:
        """The share of the entropy of the keys, one by one, that is still told after randomised response."""
        told = known = 0.0
        for k, letters in enumerate(self.keys.values()):
            p = np.bincount(self.codes[:, k], weights=self.counts, minlength=len(letters)) / self.rows
            stay, away = randomised_response(level, len(letters))
            rest = _entropy(np.array([stay])) + (len(letters) - 1) * _entropy(np.array([away]))
            told += _entropy(away + (stay - away) * p) - rest
            known += _entropy(p)
        return told / known if known > 0 else 0.0

    def curve(self, levels: Sequence[float] = LEVELS) -> list[dict[str, float]]:
        """The risk-utility map: for each level of a key, the charge of all keys, the risk and the information."""
        return [
            {
                "level": level,
                "level_of_all_keys": level * len(self.keys),
                "tau1": (taus := self.after(level))[0],
                "tau2": taus[1],
                "information_share": self.information(level),
            }
            for level in levels
        ]

    def level_for(self, target: float) -> float:
        """The level up to which tau2 after randomised response stays within the target.

        The risk need not grow with the level all the way: perturbation makes new uniques. So the levels are scanned
        from 0 upwards and the first crossing is halved down to 1e-9, from the safe side. Infinite where the risk stays
        within the target at every level: the keys need no perturbation.
        """
        if not target > 0:
            raise InputError(f"the target risk {target} is not above 0", do="Write a number above 0, such as 1.")
        if (least := self.after(0.0)[1]) > target:
            raise Infeasible(
                f"even keys that reveal nothing leave an expected {least:.4g} correct matches, above the target "
                f"{target:.4g}: fewer keys, fewer records or a coarser table",
                do="Raise the target, release fewer of these columns, or group their values.",
            )
        before = 0.0
        for level in (*LEVELS[1:], *BEYOND):
            if self.after(level)[1] > target:
                low, high = before, level
                while high - low > 1e-9:
                    middle = (low + high) / 2
                    low, high = (middle, high) if self.after(middle)[1] <= target else (low, middle)
                return low
            before = level
        return inf

    def to_json(self) -> dict[str, Any]:
        """Figures, without rows."""
        tau1, tau2 = self.tau
        sizes, many = np.unique(self.counts, return_counts=True)
        once = np.flatnonzero(self.uniques)
        worst = once[np.argsort(-self.r2[once], kind="stable")][:RISKIEST]
        letters = list(self.keys.values())
        return {
            "keys": list(self.keys),
            "rows": self.rows,
            "combinations": len(self.counts),
            "combinations_by_count": {str(size): int(m) for size, m in zip(sizes[:10], many[:10], strict=True)},
            "sample_uniques": len(once),
            "sampling_fraction": float(self.rows / (self.counts / self.pi).sum()),
            "model": self.model,
            "overdispersion": self.overdispersion,
            "tau1": tau1,
            "tau2": tau2,
            "riskiest": [
                {
                    "key": [letters[j][c] for j, c in enumerate(self.codes[k].tolist())],
                    "r1": float(self.r1[k]),
                    "r2": float(self.r2[k]),
                }
                for k in worst.tolist()
            ],
        }


def _entropy(p: Array) -> float:
    return float(-(p * np.log2(np.where(p > 0, p, 1.0))).sum())


def risk(
    table: Any,
    keys: Sequence[str],
    *,
    population: float | None = None,
    fraction: float | None = None,
    weights: str | None = None,
    model: str = "main",
) -> Risk:
    """Disclosure risk of the combinations of key columns; the sampling fraction is given in one of three ways.

    Parameters
    ----------
    table : path, Table or data frame
        The sample.
    keys : sequence of str
        Columns that an intruder may know.
    population : int, optional
        How many people there are.
    fraction : float, optional
        Of the population that is in the table.
    weights : str, optional
        A column of weights, in place of both.
    model : str
        "main", "two-way" or "negative-binomial".

    Returns
    -------
    Risk
        For each combination that occurs.

    Raises
    ------
    InputError
        If the sampling fraction is not given in exactly one way.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = risk(pa.table({"a": list("xxxy"), "b": list("uuvv")}), ["a", "b"], fraction=0.5)
    >>> int(found.uniques.sum()), round(found.tau[1], 4)
    (2, 1.3049)
    """
    if sum(value is not None for value in (population, fraction, weights)) != 1:
        raise InputError(
            "It is not said, or said twice, how large the population is.",
            do="Say one of --population, --fraction and --weights (in Python: population, fraction, weights).",
        )
    if model not in MODELS:
        raise InputError(f"there is no model {model!r}; there are {', '.join(MODELS)}")
    if not keys or len(set(keys)) != len(keys):
        raise MismatchError("name each key column once, and at least one")
    if fraction is not None and not 0 < fraction < 1:
        raise InputError(
            f"the fraction {fraction} is not between 0 and 1",
            do="Write the share of the population that the table holds, such as 0.01.",
        )
    opened = open_table(table)
    coded = encode(opened, dict.fromkeys(keys, Column(missing="category")), list(keys)).trimmed()
    alphabets = {key: coded.alphabets[key] for key in keys}
    codes, counts, cell = _cells(coded, list(keys))
    if population is not None and not population > coded.rows:
        raise InputError(
            f"a population of {population:g} is not larger than the sample of {coded.rows:,} rows",
            do="Write how many people the table was taken from.",
        )
    pi = np.full(len(counts), fraction if fraction is not None else coded.rows / (population or np.inf))
    if weights is not None:
        w = weights_of(opened, weights)
        if w.min() < 1:
            row = int(w.argmin())
            raise InputError(
                f"row {row + 1} has the weight {w[row]:g}: a row stands for itself at least, so for 1",
                do="If the weights were scaled, multiply them so that they add up to the population; or say "
                "--population N.",
            )
        sums = np.zeros(len(counts))
        for start in range(0, len(w), SLICE):
            some = slice(start, start + SLICE)
            sums += np.bincount(cell[some], weights=w[some], minlength=len(counts))
        pi = counts / sums
    used, sizes = _occurring(codes)
    mean = two_way(used, counts, sizes) if model == "two-way" else main_effects(codes, counts)
    lam = mean / pi
    phi = overdispersion(codes, counts) if model == "negative-binomial" else 0.0
    r1, r2 = negative_binomial_risk(lam, pi, counts, phi)
    return Risk(alphabets, cell, codes, counts, lam, pi, r1, r2, model, phi)


def _cells(coded: Coded, keys: list[str]) -> tuple[Array, Array, Array]:
    """The combinations that occur, their counts, and the combination of each row."""
    codes, counts = coded.counts(keys)
    place = np.ravel_multi_index(tuple(codes.T), tuple(len(coded.alphabets[key]) for key in keys))
    # A slice at a time, in the fewest bytes: a table longer than memory has a cell for each row all the same.
    found = (np.searchsorted(place, some.combined(keys).astype(np.int64)) for _, some in coded.slices(SLICE))
    return codes, counts, coded.workspace.finished(found, smallest(len(counts)))


def _occurring(codes: Array) -> tuple[Array, list[int]]:
    """Codes among the letters that occur: the others have empty margins and cells."""
    columns, sizes = [], []
    for column in codes.T:
        letters, at = np.unique(column, return_inverse=True)
        columns.append(at.reshape(-1))
        sizes.append(len(letters))
    return np.stack(columns, axis=1), sizes
