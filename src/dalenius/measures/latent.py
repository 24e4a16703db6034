r"""Samples that are independent and alike given a hidden W: what n of them tell about it, by types.

p(x_1..x_n | w) depends on x only through its type, the vector of letter counts t, so sums over |X|^n outcomes become
sums over C(n + |X| - 1, |X| - 1) types. Type probabilities use Loader's saddle-point form of the multinomial law,
accurate to about 1e-13 relative for thousands of samples where differences of log-gammas lose four digits.

References: Rassouli, Rosas & Gündüz (paper 000), section IV; C. Loader, "Fast and accurate computation of binomial
probabilities" (2000).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, floor, fsum, lgamma, log, log2, pi
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dalenius.core.numbers import exact, is_decimal, written
from dalenius.errors import InputError, InvalidChannel, InvalidPmf, MismatchError, Unsupported
from dalenius.measures.shannon import binary_entropy, entropy_of, information_of

__all__ = [
    "LatentModel",
    "decode",
    "decoder_error",
    "equivocation",
    "fano_bound",
    "information",
    "latent_entropy",
    "log_posterior",
    "log_type_law",
    "outside_leakage",
    "type_counts",
    "typical_epsilon",
    "weak_deviation",
]

_Floats: TypeAlias = NDArray[np.float64]
_Types: TypeAlias = NDArray[np.int64]

ROUNDING = Fraction(1, 10**9)
MOST_TYPES = 5_000_000


@dataclass(frozen=True)
class LatentModel:
    """p(w) > 0 and rows p(x | w), exact; the marginal of one sample is `sample`.

    Parameters
    ----------
    prior : sequence of Fraction
        p(w).
    kernel : rows of Fraction
        p(x | w).

    >>> model = LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]])
    >>> model.sample
    (Fraction(19, 30), Fraction(11, 30))
    """

    prior: tuple[Fraction, ...]
    kernel: tuple[tuple[Fraction, ...], ...]

    @classmethod
    def of(cls, prior: Sequence[Any], kernel: Sequence[Sequence[Any]]) -> Self:
        """From numbers of any kind; decimals may miss a sum of one by 1e-9 and are divided by their exact sum.

        Values of W of probability zero and letters that never occur are left out.
        """
        p = _stochastic(prior, "the stated distribution", InvalidPmf)
        if len(kernel) != len(p):
            raise MismatchError(f"the kernel has {len(kernel)} rows for {len(p)} values of the stated distribution")
        rows = [_stochastic(row, f"row {w + 1} of the kernel", InvalidChannel) for w, row in enumerate(kernel)]
        if len({len(row) for row in rows}) != 1:
            raise InvalidChannel("the rows of the kernel have different lengths")
        alive = [w for w, mass in enumerate(p) if mass]
        letters = [x for x in range(len(rows[0])) if any(rows[w][x] for w in alive)]
        return cls(tuple(p[w] for w in alive), tuple(tuple(rows[w][letter] for letter in letters) for w in alive))

    @property
    def sample(self) -> tuple[Fraction, ...]:
        """p(x), the law of any one sample."""
        return tuple(
            sum((p * entry for p, entry in zip(self.prior, column, strict=True)), Fraction(0))
            for column in zip(*self.kernel, strict=True)
        )

    def merged(self) -> "LatentModel":
        r"""The model of W~, the coarsest function of W that still makes X and W independent: equal rows become one.

        It attains the minimum of eq. (27); values of W with the same law of X can never be told apart.

        >>> LatentModel.of(["1/4", "1/4", "1/2"], [[1, 0], [0, 1], [1, 0]]).merged().prior
        (Fraction(3, 4), Fraction(1, 4))
        """
        masses: dict[tuple[Fraction, ...], Fraction] = {}
        for p, row in zip(self.prior, self.kernel, strict=True):
            masses[row] = masses.get(row, Fraction(0)) + p
        return LatentModel(tuple(masses.values()), tuple(masses))

    @property
    def floats(self) -> tuple[_Floats, _Floats]:
        """Prior and kernel as arrays."""
        return np.array([float(p) for p in self.prior]), np.array(
            [[float(entry) for entry in row] for row in self.kernel]
        )


def _stochastic(values: Sequence[Any], what: str, error: type[InputError]) -> list[Fraction]:
    row = [exact(value.item() if isinstance(value, np.generic) else value, what) for value in values]
    total = sum(row, Fraction(0))
    if not row or min(row) < 0:
        raise error(f"{what} is empty or has a negative entry")
    if total != 1:
        decimal = any(isinstance(value, np.generic) or is_decimal(value) for value in values)
        if not decimal or abs(total - 1) > ROUNDING:
            raise error(f"{what} sums to {written(total)}, not 1")
        row = [entry / total for entry in row]
    return row


def latent_entropy(model: LatentModel) -> float:
    """C_X(W) = H(W~) in bits, eq. (27): what all samples together would tell about W in the end.

    Parameters
    ----------
    model : LatentModel
        p(w) and p(x | w).

    Returns
    -------
    float
        In bits.

    >>> latent_entropy(LatentModel.of(["1/4", "1/4", "1/2"], [[1, 0], [0, 1], ["1/2", "1/2"]]))
    1.5
    """
    return float(entropy_of(model.merged().floats[0]))


# --- types ------------------------------------------------------------------------------------------------------------
def type_counts(n: int, letters: int) -> _Types:
    """All types of n samples, eq. (28) times n, one row of letter counts each, in lexicographic order.

    Parameters
    ----------
    n : int
        How many samples.
    letters : int
        Letters of a sample.

    Returns
    -------
    _Types
        (types, letters).

    >>> type_counts(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    if n < 0 or letters < 1:
        raise InputError(f"{n} samples of {letters} values have no type")
    if (many := comb(n + letters - 1, letters - 1)) > MOST_TYPES:
        raise Unsupported(f"{n} samples of {letters} values have {many:,} types, more than {MOST_TYPES:,}")
    heads = np.zeros((1, 0), dtype=np.int64)
    left = np.array([n], dtype=np.int64)
    for _ in range(letters - 1):
        repeats = left + 1
        ends = np.cumsum(repeats)
        here = np.arange(ends[-1]) - np.repeat(ends - repeats, repeats)
        heads = np.column_stack([np.repeat(heads, repeats, axis=0), here])
        left = np.repeat(left, repeats) - here
    return np.column_stack([heads, left])


def log_type_law(model: LatentModel, n: int) -> tuple[_Types, _Floats]:
    """The types that can occur and ln p(type | w), one row per type and one column per w.

        ln p(t | w) = ln n!/prod t_x! + sum_x t_x ln p(x|w)
                    = s(n) - sum s(t_x) + (1/2) ln(2 pi n / prod 2 pi t_x) - sum_x b(t_x, n p(x|w)),

    with Stirling's error s and the deviance b(t, m) = t ln(t/m) + m - t >= 0 (letters with t_x = 0: b = m, no root).

    Parameters
    ----------
    model : LatentModel
        p(w) and p(x | w).
    n : int
        How many samples.

    Returns
    -------
    tuple[_Types, _Floats]
        (types, letters) and (types, values of w).

    >>> types, law = log_type_law(LatentModel.of([1], [["1/2", "1/2"]]), 2)
    >>> np.exp(law[:, 0]).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    types = type_counts(n, len(model.kernel[0]))
    if n == 0:
        return types, np.zeros((1, len(model.prior)))
    s = _stirling_errors(n)
    t = types.astype(np.float64)
    seen = types > 0
    halves = np.log(2 * pi * t, out=np.zeros_like(t), where=seen)
    common = s[n] + 0.5 * log(2 * pi * n) - (s[types] + 0.5 * halves).sum(axis=1)
    law = np.empty((len(types), len(model.prior)))
    for w, row in enumerate(model.kernel):
        deviance = np.zeros(len(types))
        for x, entry in enumerate(row):
            deviance += _deviance(t[:, x], float(n * entry))
        law[:, w] = common - deviance
    possible = (law > -np.inf).any(axis=1)
    return types[possible], law[possible]


def _stirling_errors(n: int) -> _Floats:
    """ln k! - ln(sqrt(2 pi k) (k/e)^k) for k = 0..n, with 0 at k = 0."""
    k = np.arange(1.0, n + 1)
    r = 1.0 / (k * k)
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - r / 1188) * r) * r) * r) / k
    small = min(n, 15)
    series[:small] = [lgamma(j + 1) - 0.5 * log(2 * pi * j) - j * log(j) + j for j in range(1, small + 1)]
    return np.concatenate([[0.0], series])


def _deviance(t: _Floats, mean: float) -> _Floats:
    """t ln(t / mean) + mean - t; infinite where mean = 0 < t."""
    if mean == 0.0:
        return np.where(t > 0, np.inf, 0.0)
    d = (t - mean) / mean
    logs = np.where(np.abs(d) < 0.5, np.log1p(np.where(np.abs(d) < 0.5, d, 0.0)), 0.0)
    far = (np.abs(d) >= 0.5) & (t > 0)
    logs[far] = np.log(t[far] / mean)
    out: _Floats = t * logs - (t - mean)
    return out


def log_posterior(model: LatentModel, law: _Floats) -> _Floats:
    """ln p(w | type) from ln p(type | w), accurate also where it is nearly 0, that is, where one w is nearly certain.

    Parameters
    ----------
    model : LatentModel
        p(w) and p(x | w).
    law : array
        ln p(type | w).

    Returns
    -------
    ndarray of float
        (types, values of w).

    >>> log_posterior(LatentModel.of(["1/2", "1/2"], [[1, 0], [0, 1]]), np.array([[-50.0, 0.0]])).tolist()
    [[-50.0, -1.9287498479639178e-22]]
    """
    joint = law + np.log(model.floats[0])
    top = joint.argmax(axis=1)
    gap = joint - joint[np.arange(len(joint)), top][:, None]
    gap[np.arange(len(joint)), top] = -np.inf
    rest = np.exp(gap).sum(axis=1)
    gap[np.arange(len(joint)), top] = 0.0
    posterior: _Floats = gap - np.log1p(rest)[:, None]
    return posterior


def information(model: LatentModel, n: int) -> float:
    """I(W; X^n) in bits, which grows to C_X(W), Theorem 2 eq. (30).

    Parameters
    ----------
    model : LatentModel
        p(w) and p(x | w).
    n : int
        How many samples.

    Returns
    -------
    float
        In bits.

    >>> model = LatentModel.of(["1/2", "1/2"], [["9/10", "1/10"], ["1/10", "9/10"]])
    >>> round(information(model, 1), 12), information(model, 400)
    (0.531004406411, 1.0)
    """
    left = equivocation(model, n)
    whole = latent_entropy(model)
    if left < whole / 2:
        return whole - left
    model = model.merged()
    return information_of(np.exp(log_type_law(model, n)[1]) * model.floats[0])


def equivocation(model: LatentModel, n: int) -> float:
    """H(W~ | X^n) = C_X(W) - I(W; X^n) in bits, not as a difference: it keeps its digits when it is 1e-200.

    Parameters
    ----------
    model : LatentModel
        p(w) and p(x | w).
    n : int
        How many samples.

    Returns
    -------
    float
        In bits.

    >>> model = LatentModel.of(["1/2", "1/2"], [["9/10", "1/10"], ["1/10", "9/10"]])
    >>> 0 < equivocation(model, 1000) < 1e-200
    True
    """
    model = model.merged()
    law = log_type_law(model, n)[1]
    posterior = log_posterior(model, law)
    nats = -np.exp(posterior) * np.where(np.isfinite(posterior), posterior, 0.0)
    weight = np.exp(law) @ model.floats[0]
    return fsum(weight * nats.sum(axis=1)) / log(2.0)


# --- the decoder of Theorem 2 -----------------------------------------------------------------------------------------
def typical_epsilon(model: LatentModel) -> Fraction:
    """Half of min_{i,j} min_{x: p(x|i) > p(x|j)} (p(x|i) - p(x|j)) / (p(x|i) + p(x|j)), eq. (32).

    The paper takes all of it; with <= in eq. (29) two typical sets can then share a boundary type, for instance
    (2, 2, 11)/15 of (.2, .1, .7) and (.1, .2, .7). With half of it they are disjoint. One value of W~: 1/2.

    Parameters
    ----------
    model : LatentModel
        p(w) and p(x | w).

    Returns
    -------
    Fraction

    >>> typical_epsilon(LatentModel.of(["1/2", "1/2"], [["1/5", "1/10", "7/10"], ["1/10", "1/5", "7/10"]]))
    Fraction(1, 6)
    """
    rows = model.merged().kernel
    ratios = [(a - b) / (a + b) for one in rows for two in rows for a, b in zip(one, two, strict=True) if a > b]
    return min(ratios, default=Fraction(1)) / 2


def _typical(model: LatentModel, n: int, types: _Types) -> NDArray[np.bool_]:
    """Which types are robustly typical for which w, eq. (29), on integers."""
    epsilon = typical_epsilon(model)
    inside = np.ones((len(types), len(model.prior)), dtype=bool)
    for w, row in enumerate(model.kernel):
        low = np.array([ceil(n * entry * (1 - epsilon)) for entry in row])
        high = np.array([floor(n * entry * (1 + epsilon)) for entry in row])
        inside[:, w] = ((types >= low) & (types <= high)).all(axis=1)
    return inside


def decode(model: LatentModel, counts: Sequence[int]) -> int | None:
    """L_n, eq. (33): the value of W~ (a row of `merged`) for which the counts are typical; None is the paper's e.

    Parameters
    ----------
    model : LatentModel
        p(w) and p(x | w).
    counts : array
        Of the letters.

    Returns
    -------
    int or None

    >>> model = LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]])
    >>> decode(model, [18, 2]), decode(model, [10, 10]), decode(model, [2, 18])
    (0, None, 1)
    """
    model = model.merged()
    found = np.flatnonzero(_typical(model, sum(counts), np.array([counts], dtype=np.int64))[0])
    return int(found[0]) if len(found) else None


def decoder_error(model: LatentModel, n: int) -> float:
    """p_e = Pr{L_n != W~} of the decoder of eq. (33); it tends to 0 by the law of large numbers.

    Parameters
    ----------
    model : LatentModel
        p(w) and p(x | w).
    n : int
        How many samples.

    Returns
    -------
    float

    >>> model = LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]])
    >>> decoder_error(model, 20) > decoder_error(model, 1000)
    True
    """
    model = model.merged()
    types, law = log_type_law(model, n)
    missed = np.where(_typical(model, n, types), 0.0, np.exp(law))
    return min(1.0, fsum((missed * model.floats[0]).ravel()))


def fano_bound(model: LatentModel, n: int) -> float:
    """I(W; X^n) >= H(W~) - h(p_e) - p_e log2 |W~| in bits, eq. (36), and at least 0.

    Parameters
    ----------
    model : LatentModel
        p(w) and p(x | w).
    n : int
        How many samples.

    Returns
    -------
    float
        In bits.

    >>> model = LatentModel.of(["1/2", "1/2"], [["9/10", "1/10"], ["1/10", "9/10"]])
    >>> fano_bound(model, 500) <= information(model, 500)
    True
    """
    error = decoder_error(model, n)
    return max(0.0, latent_entropy(model) - binary_entropy(error) - error * log2(len(model.merged().prior)))


def weak_deviation(law: Sequence[Any], counts: Sequence[int]) -> float:
    """| -(1/n) log2 q(u^n) - H(U) |, the left side of weak typicality, eq. (37); infinite for impossible letters.

    The paper's Remark 3 claims that weakly typical sets of the two rows of a binary symmetric channel coincide. They do
    not: with crossover 1/10 and one 1 in ten samples the deviations are 0 and 2.536 bits.

    Parameters
    ----------
    law : array
        q.
    counts : array
        Of the letters.

    Returns
    -------
    float
        In bits.

    >>> weak_deviation(["9/10", "1/10"], [9, 1]), round(weak_deviation(["1/10", "9/10"], [9, 1]), 3)
    (0.0, 2.536)
    """
    q = [float(value) for value in _stochastic(law, "the distribution", InvalidPmf)]
    n = sum(counts)
    if len(q) != len(counts) or n < 1:
        raise MismatchError(f"{len(counts)} counts for {len(q)} values")
    if any(count and not p for count, p in zip(counts, q, strict=True)):
        return float("inf")
    # One sum, so that a type equal to the law deviates by exactly zero.
    return abs(fsum((count / n - p) * log2(1 / p) for count, p in zip(counts, q, strict=True) if p))


def outside_leakage(model: LatentModel, joint: ArrayLike) -> float:
    """I(X; Y) in bits for a sample X that is NOT among the data, X - W - X^n - Y, Lemma 4 eq. (43).

    `joint` holds p(w, y), one row for each w of the model. Perfect privacy of the samples in the data makes this small
    for many samples, not zero.

    Parameters
    ----------
    model : LatentModel
        p(w) and p(x | w).
    joint : array
        p(w, y).

    Returns
    -------
    float
        In bits.

    >>> model = LatentModel.of(["1/2", "1/2"], [["9/10", "1/10"], ["1/10", "9/10"]])
    >>> round(outside_leakage(model, [[0.5, 0.0], [0.0, 0.5]]), 12)
    0.531004406411
    """
    told = np.asarray(joint, dtype=np.float64)
    if told.ndim != 2 or len(told) != len(model.prior):
        raise MismatchError(f"p(w, y) has shape {told.shape}, not one row for each of {len(model.prior)} values of W")
    return information_of(model.floats[1].T @ told)
