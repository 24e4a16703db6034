r"""Linear and logistic regression on the original columns, from a released table: scores corrected for the draws.

With x(c) the regressors and y(c) the outcome at the original outcome c, the coefficients that a regression on the
original table would give solve

    sum_c p(c) psi(c; beta) = 0,      psi = x (y - x.beta)   or   x (y - 1 / (1 + exp(-x.beta))),

one equation for each coefficient. Every sum over p is the mean of a function of the original outcomes, so that the
release gives it without bias (`measures.moments`), whatever was drawn and whether or not the model is true; the
solution has the covariance J^-1 Cov(mean of psi) J^-T with J = sum_c p(c) x x', times the variance of y at x in the
logistic case. This is the corrected score of measurement error models; with the matrix of a card nothing is assumed.

An interval holds the b that the score does not rule out. With the others moved along the line that b asks of them, and
a with a'J = (0, .., 1, .., 0), they are those with

    (a . mean of psi)^2 <= z^2 Var(a . mean of psi)          at the coefficients on this line,

which for one regressor is Fieller's interval of a quotient. A variance at the estimate alone is too small where the
draws made the regressors vary more than they do, or moved a share away from 0 or 1, whose log odds have no bound. Where
these b have none, the end is infinite. Where the weakest direction of J is not `CLEAR` standard errors away from zero
nothing is said.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, isnan, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core.numbers import exact
from dalenius.errors import InputError, MismatchError, Unsupported
from dalenius.measures.contrasts import Figure
from dalenius.measures.estimation import quantile
from dalenius.measures.moments import Moments

__all__ = ["CLEAR", "Regression", "regressed"]

Floats = npt.NDArray[np.float64]

CLEAR = 2.0
WEAK = 0.5
"""A value whose standard error is more than this share of it carries no coefficient."""
FLAT = 1e-7
"""Where nothing varies more than this, with regressors of size one, a group is all of one kind, or empty."""
ROUNDS = 60
EQUAL = 1e-10
"""Scores smaller than this, with regressors of size one, are zero."""
FURTHER = 1.6
STEPS = 8
"""An end is looked for up to so many steps, each so much further than the one before; beyond, there is none."""
PIVOT = 1e-6
"""A regressor that varies less than this share of itself, the others given, follows from them."""


@dataclass(frozen=True, eq=False)
class Regression:
    """Coefficients by name with their intervals, and their covariance.

    `ends` are the lower ends of all coefficients and the upper ones; `slack` widens an interval on both sides.
    """

    kind: str
    outcome: str
    names: tuple[str, ...]
    estimate: Floats
    covariance: Floats
    level: float
    target: str
    rows: int
    ends: Floats
    slack: Floats | None = None

    @property
    def coefficients(self) -> dict[str, Figure]:
        """Each coefficient with its interval."""
        slack = np.zeros(len(self.names)) if self.slack is None else self.slack
        return {
            name: Figure(*map(float, figure))
            for name, *figure in zip(self.names, self.estimate, self.ends[0] - slack, self.ends[1] + slack, strict=True)
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "outcome": self.outcome,
            "coefficients": {name: figure.to_json() for name, figure in self.coefficients.items()},
            "covariance": self.covariance.tolist(),
            "level": self.level,
            "target": self.target,
            "rows": self.rows,
        }


def regressed(
    told: Moments,
    outcome: str,
    on: Sequence[str],
    *,
    value: str | None = None,
    numbers: Sequence[str] = (),
    level: float = 0.95,
) -> Regression:
    """Regress a column on others.

    Parameters
    ----------
    told : Moments
        What the release says about outcome and regressors.
    outcome : str
        The column that is explained.
    on : sequence of str
        The regressors: one coefficient for each value but the first, against the first.
    value : str, optional
        Logistic: the log odds of this value of the outcome. Without it linear: the outcome has numbers for values.
    numbers : sequence of str
        Regressors that enter as the numbers that their values are, with one coefficient each.
    level : float
        Of the intervals.

    Returns
    -------
    Regression

    Raises
    ------
    MismatchError
        A column or a value that is not there, or no number where one is needed.
    Unsupported
        The release does not determine the coefficients, or not well enough to say anything.

    Examples
    --------
    >>> from dalenius.measures.inversion import Factor, Seen
    >>> letters = {"sex": ("f", "m"), "job": ("yes", "no")}
    >>> told = Moments([Factor(letters, letters, dense=np.eye(4))], Seen.of([30, 70, 20, 80]), target="population")
    >>> fit = regressed(told, "job", ["sex"], value="yes")
    >>> fit.names, round(float(np.exp(fit.estimate[1])), 6)  # the odds ratio (20 / 80) / (30 / 70)
    (('(intercept)', 'sex = m'), 0.583333)
    """
    alphabets = told.cells.alphabets
    _there([outcome, *on], alphabets)
    if not on or outcome in on or set(numbers) - set(on):
        raise InputError(
            "an outcome is regressed on other columns, and those that enter as numbers are among them",
            do="Name other columns after --on.",
        )
    if len(set(on)) < len(on):
        raise InputError(
            "a column explains the outcome once; one is named twice", do="Name each column after --on once."
        )
    names, X = _regressors(told, on, numbers)
    if value is None:
        answer = alphabets[outcome][0]
        response = _numbers_of(told, outcome, f"Explain one of its values instead: --logistic '{outcome}={answer}'.")
    else:
        response = told.cells.which({outcome: value}).astype(float)
    scale = np.maximum(np.sqrt(np.maximum((X * X) @ np.abs(told.law), 0.0)), 1e-300)
    Z = X / scale[:, None]
    kind = "linear" if value is None else "logistic"
    beta = _linear(told.law, Z, response) if value is None else _logistic(told.law, Z, response)
    fitted, weight = _fit(beta @ Z, kind)
    J = (Z * (told.law * weight)) @ Z.T
    _clear(told, Z, weight, J)
    _, spread = told.means(Z * (response - fitted))
    back = np.linalg.inv(J)
    covariance = back @ spread @ back.T
    ends = [_ends(told, Z, response, beta, covariance, j, kind, quantile(level)) for j in range(len(beta))]
    return Regression(
        kind,
        outcome if value is None else f"{outcome} = {value}",
        tuple(names),
        beta / scale,
        covariance / np.outer(scale, scale),
        level,
        told.target,
        told.seen.rows,
        np.array(ends).T / scale,
    )


def _fit(index: Floats, kind: str) -> tuple[Floats, Floats]:
    """What is expected at each outcome, and how it varies with its index."""
    if kind == "linear":
        return index, np.ones(len(index))
    chances = _expit(index)
    return chances, chances * (1 - chances)


def _ends(
    told: Moments, Z: Floats, response: Floats, beta: Floats, covariance: Floats, j: int, kind: str, z: float
) -> tuple[float, float]:
    """The ends of the values of a coefficient that its score does not rule out."""
    half = z * max(float(covariance[j, j]), 0.0) ** 0.5
    if half < FLAT:  # known but for rounding
        return float(beta[j]) - half, float(beta[j]) + half
    line = covariance[:, j] / covariance[j, j]

    def beyond(away: float) -> float:
        """Above 0 where the score rules out the value so far away; NaN where it says nothing."""
        fitted, weight = _fit((beta + away * line) @ Z, kind)
        a = _efficient((Z * (told.law * weight)) @ Z.T, j)
        if a is None:
            return nan
        score, variance = told.means(((a @ Z) * (response - fitted))[None, :])
        return float(abs(score[0]) - z * max(float(variance[0, 0]), 0.0) ** 0.5)

    return float(beta[j]) - _crossing(beyond, -half), float(beta[j]) + _crossing(beyond, half)


def _efficient(J: Floats, j: int) -> Floats | None:
    """a with a'J = 1 in the place j, else 0; None where a regressor follows from the others."""
    size = np.sqrt(np.maximum(np.diag(J), 0.0))
    if not size.min() > 0:
        return None
    try:
        root = np.linalg.cholesky(J / np.outer(size, size))
    except np.linalg.LinAlgError:
        return None
    if np.diag(root).min() ** 2 < PIVOT:
        return None
    unit = np.eye(len(J))[j] / size
    return np.asarray(np.linalg.solve(root.T, np.linalg.solve(root, unit)) / size)


def _crossing(beyond: Callable[[float], float], start: float) -> float:
    """How far from the estimate, in the direction of `start`, a value is ruled out first; infinite where none is."""
    inside = 0.0
    out = start
    low = beyond(0.0)
    for _ in range(STEPS):
        high = beyond(out)
        if not high < 0:
            break
        inside = out
        low = high
        out *= FURTHER
    if not high >= 0:
        return inf
    for _ in range(ROUNDS):  # false position, halved where an end stays (Illinois)
        at = (inside * high - out * low) / (high - low)
        found = beyond(at)
        if isnan(found):
            return inf
        if abs(found) < EQUAL * abs(start):
            return abs(at)
        if found > 0:
            out = at
            high = found
            low /= 2
        else:
            inside = at
            low = found
            high /= 2
    return abs(out)


def _there(columns: Sequence[str], alphabets: Mapping[str, Sequence[str]]) -> None:
    for column in columns:
        if column not in alphabets:
            raise MismatchError(f"there is no column {column!r}; there are {', '.join(map(repr, alphabets))}")


def _regressors(told: Moments, on: Sequence[str], numbers: Sequence[str]) -> tuple[list[str], Floats]:
    """Names and values of the regressors at each outcome."""
    names, rows = ["(intercept)"], [np.ones(told.cells.many)]
    for column in on:
        if column in numbers:
            names.append(column)
            rows.append(
                _numbers_of(told, column, "Leave out :number behind this column, so that it enters by its values.")
            )
            continue
        letters = told.cells.alphabets[column]
        inside = np.array([told.cells.which({column: letter}) for letter in letters], dtype=float)
        shares, covariance = told.means(inside)
        for letter, share, variance in zip(letters, shares, np.diag(covariance), strict=True):
            if not share > 0 or max(variance, 0.0) ** 0.5 > WEAK * share:
                number = f"let {column} enter as a number, or " if all(map(_is_number, letters)) else ""
                raise Unsupported(
                    f"{column} = {letter} is too rare in the release for a coefficient; {number}leave {column} out"
                )
        names += [f"{column} = {letter}" for letter in letters[1:]]
        rows += list(inside[1:])
    return names, np.array(rows)


def _is_number(letter: str) -> bool:
    try:
        exact(letter)
    except (InputError, ValueError):
        return False
    return True


def _numbers_of(told: Moments, column: str, instead: str) -> Floats:
    """The numbers that the values of a column are, at each outcome; `instead` says what to do where they are none."""
    alphabets = told.cells.alphabets
    try:
        values = [float(exact(letter, column)) for letter in alphabets[column]]
    except (InputError, ValueError) as e:
        raise MismatchError(f"the values of {column!r} are not all numbers: {e}", do=instead) from None
    place = list(alphabets).index(column)
    found = [values[codes[place]] for codes in product(*(range(len(alphabet)) for alphabet in alphabets.values()))]
    return np.array(found)


def _expit(x: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


def _linear(law: Floats, Z: Floats, response: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve((Z * law) @ Z.T, Z @ (law * response)))
    except np.linalg.LinAlgError:
        raise Unsupported(
            "a regressor is determined by the others, so that there are no coefficients",
            do="Leave one of these columns out.",
        ) from None


def _logistic(law: Floats, Z: Floats, response: Floats) -> Floats:
    """The root of the corrected score: Newton, first with the shares that are not negative, then with all of them."""
    beta = np.zeros(len(Z))
    for weights in (np.maximum(law, 0.0), law):
        beta = _root(weights, Z, response, beta)
    return beta


def _root(law: Floats, Z: Floats, response: Floats, beta: Floats) -> Floats:
    def score(at: Floats) -> Floats:
        return np.asarray(Z @ (law * (response - _expit(at @ Z))))

    now = score(beta)
    for _ in range(ROUNDS):
        if np.abs(now).max() < EQUAL:
            return beta
        fitted = _expit(beta @ Z)
        try:
            step = np.linalg.solve((Z * (law * fitted * (1 - fitted))) @ Z.T, now)
        except np.linalg.LinAlgError:
            break
        for _ in range(40):  # half the step until the score is nearer to zero
            after = score(beta + step)
            if np.abs(after).sum() < np.abs(now).sum():
                break
            step = step / 2
        else:
            break
        beta, now = beta + step, after
    raise Unsupported(
        "the coefficients are not determined: a group has all of its rows with the value, or none, as far as the "
        "release reveals",
        do="Merge groups, or leave out this column.",
    )


def _clear(told: Moments, Z: Floats, weight: Floats, J: Floats) -> None:
    """Refuse where the weakest direction of the regressors is not clear of the noise."""
    sizes, directions = np.linalg.eigh(J)
    weakest = directions[:, 0]
    _, variance = told.means(((weakest @ Z) ** 2 * weight)[None, :])
    if not sizes[0] > max(CLEAR * max(float(variance[0, 0]), 0.0) ** 0.5, FLAT):
        raise Unsupported(
            "the coefficients are not determined: the noise of the release is as large as what these regressors vary, "
            "or one of them follows from the others; name fewer of them"
        )
