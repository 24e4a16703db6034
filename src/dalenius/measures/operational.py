r"""What a release of n records costs beside the single-letter figures: realised distortion, and what codes would buy.

Drawing every record from the optimal channel attains the bound exactly at every n, n = 1 included: the converse (003,
eq. 24-26) holds for every n and every randomised encoder, and I(X_h^n; release) = n I(X_h; Xhat) for independent draws.
A code over n records has no less leakage; it buys only a lower rate (H(Xhat) down to I(X; Xhat)) and a narrower
distribution of the realised distortion. The two codes of the paper's proofs are here as demonstrations at small n, for
fair bits X, Hamming distortion, X_h = X + Bern(flip) and Z = X + Bern(side): random codebooks from a seed, exact
leakage where all databases can be listed.
"""

from dataclasses import dataclass
from math import ceil, floor, lgamma, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.measures.shannon import binary_entropy

__all__ = [
    "Binned",
    "Quantised",
    "bernstein_band",
    "binomial_band",
    "codebook_distortion",
    "codebook_rate",
    "hoeffding_band",
    "quantise",
    "quantise_and_bin",
]

Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.uint64]
LONGEST = 14  # records of a database whose every instance is listed
FEWEST = 8  # the same, when Z is listed, too
MOST_WORDS = 1 << 20


# --- the realised distortion of a release record by record -----------------------------------------------------------
def _known(n: int, error: float) -> None:
    if n < 1 or not 0 < error < 1:
        raise InputError(f"a band needs n >= 1 records and an error probability in (0, 1), not {n} and {error}")


def hoeffding_band(mean: float, n: int, *, span: float = 1.0, error: float = 1e-6) -> tuple[float, float]:
    """Where the average distortion of n independent records lies but with probability `error`; d varies by `span`.

    Parameters
    ----------
    mean : float
        The expectation.
    n : int
        Rows.
    span : float
        By how much one record varies.
    error : float
        The probability of lying outside.

    Returns
    -------
    (float, float)
        Its ends.

    >>> [round(v, 4) for v in hoeffding_band(0.25, 1000, error=0.05)]
    [0.2071, 0.2929]
    """
    _known(n, error)
    half = span * sqrt(log(2 / error) / (2 * n))
    return max(0.0, mean - half), mean + half


def bernstein_band(
    mean: float, variance: float, n: int, *, span: float = 1.0, error: float = 1e-6
) -> tuple[float, float]:
    """The same when the variance of d is known; narrower where it is small.

    Parameters
    ----------
    mean : float
        The expectation.
    variance : float
        Of one record.
    n : int
        Rows.
    span : float
        By how much one record varies.
    error : float
        The probability of lying outside.

    Returns
    -------
    (float, float)
        Its ends.

    >>> [round(v, 4) for v in bernstein_band(0.01, 0.0099, 1000, error=0.05)]
    [0.0001, 0.0199]
    """
    _known(n, error)
    tail = log(2 / error)
    half = span * tail / (3 * n)
    half += sqrt(half * half + 2 * variance * tail / n)
    return max(0.0, mean - half), mean + half


def binomial_band(mean: float, n: int, *, error: float = 1e-6) -> tuple[float, float]:
    """The same for a 0/1 distortion by the exact binomial law: at most error/2 lies below, at most error/2 above.

    Parameters
    ----------
    mean : float
        The expectation.
    n : int
        Rows.
    error : float
        The probability of lying outside.

    Returns
    -------
    (float, float)
        Its ends.

    >>> binomial_band(0.25, 1000, error=0.05)
    (0.223, 0.277)
    """
    _known(n, error)
    if not 0 <= mean <= 1:
        raise InputError(f"a 0/1 distortion has a mean in [0, 1], not {mean}")
    if mean in (0.0, 1.0):
        return mean, mean
    k = np.arange(n + 1)
    steps = np.log(np.arange(1, n + 1))
    factorial = np.concatenate([[0.0], np.cumsum(steps)])
    chance = np.exp(factorial[n] - factorial - factorial[::-1] + k * log(mean) + (n - k) * log(1 - mean))
    below = np.cumsum(chance)
    above = np.cumsum(chance[::-1])[::-1]
    # k is inside unless that few, or that many, happen with at most error/2
    inside = np.flatnonzero((below > error / 2) & (above > error / 2))
    return float(inside[0]) / n, float(inside[-1]) / n


# --- vector quantisation ---------------------------------------------------------------------------------------------
def _log_ball(n: int) -> Floats:
    """log of the share of databases within each distance of a given one."""
    terms = [lgamma(n + 1) - lgamma(d + 1) - lgamma(n - d + 1) - n * log(2) for d in range(n + 1)]
    return np.minimum(np.logaddexp.accumulate(np.array(terms)), 0.0)


def codebook_distortion(n: int, rate: float) -> float:
    """E of the least distance to 2^(n rate) random words, by record: sum over d of (1 - F(d))^M / n.

    Parameters
    ----------
    n : int
        Records of a database.
    rate : float
        Bits for each record.

    Returns
    -------
    float

    >>> round(codebook_distortion(100, 0.18872187554086717), 5)
    0.26857
    """
    ball = _log_ball(n)
    words = n * rate * log(2)
    with np.errstate(divide="ignore"):
        missed = np.log1p(-np.exp(np.minimum(ball, -1e-17)))  # log(1 - F)
    small = ball < -30
    power = np.where(small, -np.exp(np.minimum(words + ball, 60.0)), np.exp(np.minimum(words, 600.0)) * missed)
    return float(np.exp(power[:-1]).sum() / n)


def codebook_rate(n: int, distortion: float) -> float:
    """The rate that a random codebook needs for an expected distortion.

    Parameters
    ----------
    n : int
        Records of a database.
    distortion : float
        Expected for each record.

    Returns
    -------
    float
        In bits for each letter.

    >>> round(codebook_rate(100, 0.25), 5)
    0.21782
    """
    if not 0 < distortion < 0.5:
        raise InputError(f"the distortion of fair bits lies between 0 and 1/2, not at {distortion}")
    low = 0.0
    high = 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if codebook_distortion(n, middle) > distortion else (low, middle)
    return high


@dataclass(frozen=True)
class Quantised:
    """A deterministic quantiser of n records, all 2^n databases counted; bits and distortion for each record.

    `rate_bits` is H(J)/n, which is also the leakage when X itself is private; `leakage_bits` is I(X_h^n; J)/n, and
    `record_bits` what a release record by record leaks about X_h at the same distortion.

    Parameters
    ----------
    n : int
        Records of a database.
    words : int
        Of the codebook.
    distortion : float
        Expected for each record.
    rate_bits : float
        By record.
    leakage_bits : float
        About the secret, by record.
    record_bits : float
        About one record.
    record_rate_bits : float
        Of a record by itself.
    """

    n: int
    words: int
    distortion: float
    rate_bits: float
    leakage_bits: float
    record_bits: float
    record_rate_bits: float


def _transform(values: Floats) -> Floats:
    """Walsh-Hadamard, without its factor."""
    step = 1
    while step < len(values):
        pairs = values.reshape(-1, 2, step)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        step *= 2
    return values


def quantise(n: int, distortion: float, *, flip: float, seed: int) -> Quantised:
    """A random codebook of the size that the distortion needs, and the nearest word for each database.

    Parameters
    ----------
    n : int
        Records of a database.
    distortion : float
        Expected for each record.
    flip : float
        The probability that the secret differs from the record.
    seed : int
        Of the random codebook.

    Returns
    -------
    Quantised

    >>> found = quantise(8, 0.25, flip=0.2, seed=1)
    >>> found.leakage_bits > found.record_bits
    True
    """
    if not 1 <= n <= LONGEST:
        raise InputError(f"all databases are listed for at most {LONGEST} records, not {n}")
    words = max(1, round(2 ** (n * codebook_rate(n, distortion))))
    size = 1 << n
    book = np.random.default_rng(seed).integers(0, size, size=words, dtype=np.uint64)
    every = np.arange(size, dtype=np.uint64)
    far = np.bitwise_count(every[:, None] ^ book[None, :])
    chosen = far.argmin(axis=1)
    spent = float(far.min(axis=1).mean()) / n
    share = np.bincount(chosen, minlength=words) / size
    fading = (1 - 2 * flip) ** np.bitwise_count(every).astype(float)  # eigenvalues of X -> X_h
    told = 0.0
    for j in np.flatnonzero(share):
        law = _transform(_transform((chosen == j) / (share[j] * size)) * fading) / size
        law = law[law > 1e-300]
        told += share[j] * (n + float((law * np.log2(law)).sum()))
    used = share[share > 0]
    return Quantised(
        n,
        words,
        spent,
        float(-(used * np.log2(used)).sum()) / n,
        float(told) / n,
        1 - binary_entropy(flip * (1 - spent) + (1 - flip) * spent),
        1 - binary_entropy(spent),
    )


@dataclass(frozen=True)
class Binned:
    """Quantise-and-bin for a user with Z: what is sent by record, how often the word is decoded wrongly, and D.

    `leakage_bits` is I(X_h^n; bin, Z^n)/n, all databases counted, and `record_bits` I(X_h; U, Z) of a release record by
    record whose U is as far from X as the word; None where there are too many databases to list.

    Parameters
    ----------
    n : int
        Records of a database.
    words : int
        Of the codebook.
    per_bin : int
        Words in a bin.
    rate_bits : float
        Sent by record.
    decoding_error : float
        How often the word is wrong.
    distortion : float
        Expected by record.
    leakage_bits : float, optional
        About the secret, by record.
    record_bits : float, optional
        About one record.
    """

    n: int
    words: int
    per_bin: int
    rate_bits: float
    decoding_error: float
    distortion: float
    leakage_bits: float | None = None
    record_bits: float | None = None


def _binned_leakage(sent: NDArray[np.int64], n: int, flip: float, side: float) -> float:
    """I(X_h^n; bin, Z^n)/n when `sent` is the bin of each database X^n, and X_h - X - Z is a Markov chain."""
    every = np.arange(1 << n, dtype=np.uint64)
    ones = np.bitwise_count(every).astype(float)
    fading = (1 - 2 * flip) ** ones
    near = side**ones * (1 - side) ** (n - ones)
    told = 0.0
    for z in every:  # all are alike likely
        given = near[every ^ z]
        for j in np.unique(sent):
            here = np.where(sent == j, given, 0.0)
            share = float(here.sum())
            law = _transform(_transform(here / share) * fading) / len(every)
            law = law[law > 1e-300]
            told += share * (n + float((law * np.log2(law)).sum()))
    return told / (n * len(every))


def _three_way(distortion: float, flip: float, side: float) -> float:
    """I(X_h; U, Z) for U = X + Bern(distortion) and Z = X + Bern(side)."""
    told = 0.0
    for u, z in ((0, 0), (0, 1)):  # up to the symmetry of 0 and 1
        weights = [0.5 * (distortion if x != u else 1 - distortion) * (side if x != z else 1 - side) for x in (0, 1)]
        share = sum(weights)
        told += 2 * share * (1 - binary_entropy((weights[0] * (1 - flip) + weights[1] * flip) / share))
    return told


def quantise_and_bin(
    n: int, distortion: float, *, side: float, back_off: float = 0.0, flip: float = 0.2, trials: int = 60, seed: int
) -> Binned:
    """Theorem 2's code at small n: words in bins of 2^(n (I(U;Z) - back_off)), the user takes the one nearest to Z.

    The bins of the proof, without back-off, are too large (S13): the user is wrong in a large part of the trials.

    Parameters
    ----------
    n : int
        Records of a database.
    distortion : float
        Expected for each record.
    side : float
        How often Z differs from the record.
    back_off : float
        Bits by record that bins are smaller.
    flip : float
        The probability that the secret differs from the record.
    trials : int
        Codebooks that are tried.
    seed : int
        Of the random codebook.

    Returns
    -------
    Binned

    >>> quantise_and_bin(40, 0.2, side=0.1, seed=3).per_bin
    121
    """
    known = 1 - binary_entropy(distortion * (1 - side) + (1 - distortion) * side)
    words = min(MOST_WORDS, floor(2 ** (n * (1 - binary_entropy(distortion) + 0.02))))
    per_bin = max(1, floor(2 ** (n * (known - back_off))))
    if n > 126 or n < 2:
        raise InputError(f"a database of {n} records does not fit into two machine words")
    draw = np.random.default_rng(seed)
    halves = (ceil(n / 2), floor(n / 2))

    def uniform(count: int) -> Words:
        return np.stack([draw.integers(0, 1 << h, size=count, dtype=np.uint64) for h in halves], axis=1)

    def apart(words: Words, one: Words) -> NDArray[np.int64]:
        far: NDArray[np.int64] = np.bitwise_count(words ^ one).sum(axis=1).astype(np.int64)
        return far

    book = uniform(words)
    wrong = 0
    spent = 0.0
    for _ in range(trials):
        x = uniform(1)[0]
        flips = [int("".join("1" if b else "0" for b in draw.random(h) < side), 2) for h in halves]
        z = x ^ np.array(flips, dtype=np.uint64)
        sent = int(apart(book, x).argmin())
        first = sent // per_bin * per_bin
        found = first + int(apart(book[first : first + per_bin], z).argmin())
        wrong += found != sent
        spent += float(apart(book[[found]], x)[0]) / n
    bins = ceil(words / per_bin)
    figures = (n, words, per_bin, float(np.log2(bins)) / n, wrong / trials, spent / trials)
    if n > FEWEST:
        return Binned(*figures)
    whole = (book[:, 0] << np.uint64(halves[1])) | book[:, 1]
    far = np.bitwise_count(np.arange(1 << n, dtype=np.uint64)[:, None] ^ whole[None, :])
    leaks = _binned_leakage(far.argmin(axis=1) // per_bin, n, flip, side)
    return Binned(*figures, leaks, _three_way(float(far.min(axis=1).mean()) / n, flip, side))
