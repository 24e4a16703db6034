r"""Linear regression among original numbers behind released ones: least squares corrected for errors in all variables.

With S the covariance of the records and M their means, both told without bias, the slopes solve X S X' beta = X S y,
and the intercept is M . (y - beta X). The interval of a coefficient holds the values that its score does not rule out,
as in `measures.regression`: the residual moves by a multiple of the coefficient's line, and the variance of the score,
that of products of deviations and of the mean, is a quadratic of it.
"""

from collections.abc import Sequence
from math import inf, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Noise
from dalenius.errors import InputError, MismatchError, Unsupported
from dalenius.measures.estimation import quantile
from dalenius.measures.regression import CLEAR, Regression
from dalenius.mechanisms.numbers.collected_at_ends import Collected
from dalenius.mechanisms.numbers.estimate import Undone, known_target, undone_of

__all__ = ["regress_numbers"]

Floats = npt.NDArray[np.float64]


def regress_numbers(
    channel: Noise,
    released: Any,
    outcome: str,
    on: Sequence[str],
    *,
    target: str = "table",
    level: float = 0.95,
    weights: str | None = None,
) -> Regression:
    """Linear regression among the original columns behind numbers with noise: least squares corrected for errors in all
    variables, whose covariance the card tells.

    Parameters
    ----------
    channel : Noise
        That drew the table.
    released : path or table
        The released numbers.
    outcome : str
        The column that is explained.
    on : sequence of str
        The columns that explain it.
    target, level, weights
        As for `estimate_covariances`.

    Returns
    -------
    Regression
        Its `slack` is what rounding may add to each coefficient.

    Raises
    ------
    Unsupported
        If the noise is as large as what the regressors vary.
    """
    known_target(target)
    undone = undone_of(channel, released, weights)
    if undone.counts.few:
        raise Unsupported(
            f"weighted by {weights}, a handful of these rows count: too few for a regression",
            do="Leave out the weights, or use a table with more rows.",
        )
    for name in (outcome, *on):
        if name not in undone.names:
            if name in channel.inputs:
                raise Unsupported(
                    f"no released number depends on {name}", do="Name other columns, or ask the owner for less noise."
                )
            raise MismatchError(f"there is no column {name!r}; there are {', '.join(map(repr, undone.names))}")
    if not on or outcome in on:
        raise InputError("an outcome is regressed on other columns", do="Name other columns after --on.")
    unit = np.eye(len(undone.names))
    X = unit[[undone.names.index(name) for name in on]]
    y = unit[undone.names.index(outcome)]
    J = X @ undone.own @ X.T
    _clear(undone, X, J)
    beta = np.linalg.solve(J, X @ undone.own @ y)
    residual = y - beta @ X
    spread = undone.products(X, np.repeat(residual[None, :], len(X), axis=0), target)
    back = np.linalg.inv(J)
    slopes = back @ spread @ back.T
    means = undone.counts.mean(undone.rows)
    centre = X @ means
    law = undone.noise if target == "table" else undone.spread
    level_error = float(residual @ law @ residual) * undone.counts.share
    covariance = np.zeros((len(X) + 1, len(X) + 1))
    covariance[1:, 1:] = slopes
    covariance[0, 1:] = covariance[1:, 0] = -centre @ slopes
    covariance[0, 0] = level_error + centre @ slopes @ centre
    # Rounding moves a regressor and the residual by at most this, so each product of deviations by at most the sum.
    moved_x = np.abs(X) @ undone.slack
    moved_y = float(np.abs(residual) @ undone.slack)
    size_x = np.sqrt(np.maximum(np.diag(J), 0.0))
    size_y = float(max(residual @ undone.own @ residual, 0.0) ** 0.5)
    slack = np.abs(back) @ (moved_x * size_y + size_x * moved_y + moved_x * moved_y)
    constant = float(y @ means - beta @ centre)
    estimate = np.array([constant, *beta])
    # a . score is an error of the intercept or of a slope: of the mean of the residual, and of its products with X.
    ways = [(1.0, -centre @ back), *((0.0, row) for row in back)]
    ends = []
    for j, (mean, a) in enumerate(ways):
        line = covariance[:, j] / covariance[j, j] @ np.vstack([np.zeros(len(y)), X])  # what the residual loses
        pair = np.array([residual, line])
        spread = undone.products(np.array([a @ X] * 2), pair, target) + mean * pair @ law @ pair.T * undone.counts.share
        ends.append(_ends(spread, quantile(level)))
    return Regression(
        "linear",
        outcome,
        ("(intercept)", *on),
        estimate,
        covariance,
        level,
        target,
        len(undone.rows),
        estimate + np.array(ends).T,
        np.array([moved_y + float(np.abs(centre) @ slack), *slack]),
    )


def _ends(spread: Floats, z: float) -> tuple[float, float]:
    """The d with d^2 <= z^2 Var(error - d line), by the covariance of both; infinite where these are not bounded."""
    (own, both), (_, along) = z * z * spread
    clear = 1 - along
    if not clear > 0:
        return -inf, inf
    root = sqrt(max(both**2 + clear * own, 0.0))
    return float((-both - root) / clear), float((-both + root) / clear)


def _clear(undone: Undone | Collected, X: Floats, J: Floats) -> None:
    """Refuse where the weakest direction of the regressors is not clear of the noise."""
    scale = np.sqrt(np.maximum(np.diag(X @ undone.spread @ X.T), 1e-300))
    sizes, directions = np.linalg.eigh(J / np.outer(scale, scale))
    weakest = (directions[:, 0] / scale) @ X
    error = float(undone.products(weakest[None, :], weakest[None, :], "population")[0, 0]) ** 0.5
    if not sizes[0] > CLEAR * error:
        raise Unsupported(
            "the coefficients are not determined: the noise is as large as what these columns vary, or one of them is "
            "revealed by the others; name fewer of them"
        )
