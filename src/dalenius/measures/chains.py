r"""Long chains of independent samples: closed forms for the schemes that scale, in bits.

Two schemes of paper 000, section V-C, for binary samples with P(X=1) = q, and the window sums of Example 3. A figure
marked as a lower bound is printed in the paper as an equality; the exact one stands beside it.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000), section V.
"""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import fsum, gcd, lcm, log2
from typing import Any

import numpy as np

from dalenius.core import Channel
from dalenius.core.numbers import exact
from dalenius.errors import InputError, InvalidPmf, Unsupported
from dalenius.measures.latent import LatentModel, log_type_law
from dalenius.measures.shannon import binary_entropy, entropy_of

__all__ = [
    "modular_information",
    "pair_disclosure",
    "partial_processing_binary",
    "partial_processing_efficiency",
    "preprocessing",
    "preprocessing_bounds",
    "preprocessing_efficiency",
    "preprocessing_lower_bound_efficiency",
    "preprocessing_lower_bound_eq67",
    "uniformiser",
    "window_rank",
    "window_sums",
    "window_sums_bits",
]

MOST_ROWS = 1 << 20
MOST_STATES = 1 << 18


def _bit(q: Any) -> Fraction:
    value = exact(q.item() if isinstance(q, np.generic) else q, "q")
    if not 0 < value < 1:
        raise InputError(f"q is {value}; a binary sample needs 0 < q < 1")
    return value


def pair_disclosure(q1: Any, q2: Any) -> float:
    """The most about two independent binary samples with Y independent of each, eq. (23)-(26) with W = (X1, X2).

    S is the segment p + s n with n = (1, -1, -1, 1). The paper's ends hold for alpha <= beta only; ours are the Fréchet
    bounds of P(X1=1, X2=1), so they hold for all.

    Parameters
    ----------
    q1 : Fraction
        The probability of a one in the first sample.
    q2 : Fraction
        In the second.

    Returns
    -------
    float
        In bits.

    >>> pair_disclosure("1/2", "1/2")
    1.0
    """
    a = _bit(q1)
    b = _bit(q2)
    low = max(Fraction(0), a + b - 1)
    high = min(a, b)
    weight = float((high - a * b) / (high - low))  # of the lower end
    cells = [[float(value) for value in (1 - a - b + r, b - r, a - r, r)] for r in (low, high)]
    ends = entropy_of(cells)
    whole = binary_entropy(float(a)) + binary_entropy(float(b))
    return whole - weight * float(ends[0]) - (1 - weight) * float(ends[1])


def partial_processing_binary(q: Sequence[Any]) -> float:
    """I(X^n; Y_1..Y_{n-1}) when Y_j is the best private mapping of (X_j, X_{j+1}), eq. (65)(66).

    Windows of two share one sample, which keeps the chain private (Lemma 7). Windows of three with two in common are
    NOT private, whatever the paper says after eq. (66), so none are offered.

    Parameters
    ----------
    q : float or Fraction
        The probability of a one; or one for each sample.

    Returns
    -------
    float
        In bits.

    >>> round(partial_processing_binary(["1/10"] * 4), 12)
    0.184069027263
    """
    if len(q) < 2:
        raise InputError(f"a chain needs two samples, not {len(q)}")
    return fsum(pair_disclosure(a, b) for a, b in pairwise(q))


def partial_processing_efficiency(q: Any) -> float:
    """lim I / H(X^n) of partial processing for samples alike, Example 4.

    Parameters
    ----------
    q : float or Fraction
        The probability of a one; or one for each sample.

    Returns
    -------
    float

    >>> round(partial_processing_efficiency("1/10"), 12)
    0.130824986971
    """
    return pair_disclosure(q, q) / binary_entropy(float(_bit(q)))


def uniformiser(marginal: Sequence[Any], states: int | None = None) -> Channel:
    """p(s | x) that makes S uniform on so many states, exactly; as many as X has letters unless said.

    Each letter gets as many states of its own as it fills, M p(x) rounded down. The states left over are filled with
    what remains of the letters, in one of two ways, whichever leaves less noise H(S | X): the largest remainders have a
    state each and the others go where something lacks; or they follow each other. For a binary X and two states this is
    the Z-channel of Example 5, the only case that the paper gives. Where M p(x) is a whole number for every letter, X
    is a function of S, and S tells all of X.

    Parameters
    ----------
    marginal : sequence of Fraction
        The law of a sample.
    states : int, optional
        How many.

    Returns
    -------
    Channel

    >>> uniformiser(["9/10", "1/10"]).rows
    ((Fraction(5, 9), Fraction(4, 9)), (Fraction(0, 1), Fraction(1, 1)))
    >>> [float(entropy_of([[float(v) for v in row]])[0]) for row in uniformiser(["3/4", "1/4"], 4).rows]
    [1.584962500721156, 0.0]
    """
    p = [exact(value, "a probability") for value in marginal]
    if not p or min(p) < 0 or sum(p) != 1:
        raise InvalidPmf("a uniformiser needs probabilities that sum to 1 exactly")
    size = len(p) if states is None else states
    if size < 1:
        raise InputError(f"a uniform variable needs at least one state, not {size}")
    plans = [_shared_out(p, size, owned=owned) for owned in (True, False)]
    masses = min(plans, key=lambda plan: _noise(p, plan))
    rows = [[entry / q for entry in row] if q else [Fraction(1, size)] * size for q, row in zip(p, masses, strict=True)]
    letters, residues = (tuple(map(str, range(k))) for k in (len(p), size))
    return Channel({"X": letters}, {"S": residues}, tuple(map(tuple, rows)))


def _shared_out(p: Sequence[Fraction], size: int, *, owned: bool) -> list[list[Fraction]]:
    """p(x, s) with S uniform: whole states first, then the remainders."""
    share = Fraction(1, size)
    masses = [[Fraction(0)] * size for _ in p]
    place = 0
    own = [range(0)] * len(p)
    for x, mass in enumerate(p):
        own[x] = range(place, place + int(mass * size))
        place += len(own[x])
        for s in own[x]:
            masses[x][s] = share
    left = [mass - len(own[x]) * share for x, mass in enumerate(p)]
    ranked = sorted(range(len(p)), key=lambda x: -left[x])
    if owned:
        lack = [Fraction(0)] * place + [share] * (size - place)
        first = ranked[: size - place]
        for s, x in enumerate(first, place):
            masses[x][s], lack[s] = left[x], share - left[x]
        total = sum(lack, Fraction(0))
        for x in ranked[size - place :]:
            masses[x] = [value + (left[x] * t / total if t else 0) for value, t in zip(masses[x], lack, strict=True)]
        return masses
    room = share
    for x in ranked:
        while left[x]:
            step = min(room, left[x])
            masses[x][place] += step
            left[x], room = left[x] - step, room - step
            if not room:
                place, room = place + 1, share
    return masses


def _noise(p: Sequence[Fraction], masses: Sequence[Sequence[Fraction]]) -> float:
    """H(S | X) in bits, of p(x, s)."""
    return fsum(
        float(mass) * float(entropy_of([[float(entry / mass) for entry in row]])[0])
        for mass, row in zip(p, masses, strict=True)
        if mass
    )


def _beta(q: Fraction) -> tuple[float, float]:
    """q folded to at most 1/2, and the crossover (1/2 - q) / (1 - q) of the Z-channel."""
    q = min(q, 1 - q)
    return float(q), float((Fraction(1, 2) - q) / (1 - q))


def preprocessing(q: Any, n: int) -> float:
    """I(X^n; Y) for Y = (S_1 + S_2, ..., S_{n-1} + S_n) of uniformised samples, exactly.

        I = (n-1) - n (1-q) h(b) + (1-q)^n sum_k C(n,k) b^k (1-b)^(n-k) h(A / (A+B)),  A = b^k (1-b)^(n-k), B flipped.

    The paper's eq. (67) adds up the windows as if they were independent given X^n; they share noise, so that is only a
    lower bound. If some x_i = 1 then S_i is known and Y tells all of S; if none is, S or its complement.

    Parameters
    ----------
    q : float or Fraction
        The probability of a one; or one for each sample.
    n : int
        How many samples.

    Returns
    -------
    float
        In bits.

    >>> round(preprocessing("1/10", 4), 12), round(preprocessing_lower_bound_eq67("1/10", 4), 12)
    (0.065232122626, 0.035086100223)
    """
    if n < 2:
        raise InputError(f"a chain needs two samples, not {n}")
    small, b = _beta(_bit(q))
    if b == 0.0:
        return float(n - 1)
    types, law = log_type_law(LatentModel.of([1], [[1 - Fraction(b), Fraction(b)]]), n)
    k = types[:, 1]
    odds = (n - 2 * k) * np.log((1 - b) / b)  # ln(A / B)
    split = 1.0 / (1.0 + np.exp(-np.clip(odds, -700, 700)))
    left = fsum(np.exp(law[:, 0]) * entropy_of(np.column_stack([split, 1 - split])))
    return (n - 1) - n * (1 - small) * binary_entropy(b) + (1 - small) ** n * left


def preprocessing_lower_bound_eq67(q: Any, n: int) -> float:
    """The paper's eq. (67): (n-1) [1 - 2q(1-q) h(b) - (1-q)^2 h(2b(1-b))]; exact for n = 2, too small for n >= 3.

    Parameters
    ----------
    q : float or Fraction
        The probability of a one; or one for each sample.
    n : int
        How many samples.

    Returns
    -------
    float
        In bits.

    >>> preprocessing_lower_bound_eq67("1/2", 4)
    3.0
    """
    if n < 2:
        raise InputError(f"a chain needs two samples, not {n}")
    small, b = _beta(_bit(q))
    pair = 1 - 2 * small * (1 - small) * binary_entropy(b) - (1 - small) ** 2 * binary_entropy(2 * b * (1 - b))
    return (n - 1) * pair


def preprocessing_efficiency(q: Any) -> float:
    """lim I / H(X^n) of preprocessing, (1 - (1-q) h(b)) / h(q) = I(X; S) / H(X).

    Fig. 5 of the paper shows the limit of eq. (67) instead, up to 19 times too small.

    Parameters
    ----------
    q : float or Fraction
        The probability of a one; or one for each sample.

    Returns
    -------
    float

    >>> round(preprocessing_efficiency("1/20"), 12), round(preprocessing_lower_bound_efficiency("1/20"), 12)
    (0.181214077286, 0.009409707237)
    """
    small, b = _beta(_bit(q))
    return (1 - (1 - small) * binary_entropy(b)) / binary_entropy(small)


def preprocessing_lower_bound_efficiency(q: Any) -> float:
    r"""The curve of Fig. 5, the limit of eq. (67) over H(X^n); a lower bound on the true one.

    Parameters
    ----------
    q : float or Fraction
        The probability of a one; or one for each sample.

    >>> preprocessing_lower_bound_efficiency("1/2")
    1.0
    """
    return preprocessing_lower_bound_eq67(q, 2) / binary_entropy(float(_bit(q)))


def preprocessing_bounds(marginal: Sequence[Any], n: int) -> tuple[float, float]:
    """Bounds on I(X^n; Y) of preprocessing for any alphabet of M letters, log2 M apart.

        (n-1) log2 M - n H(S|X)  <=  I  <=  the same + H(S^n | Y, X^n),   at most log2 M,

    because Y leaves one letter of S open. Not in the paper; divided by n H(X) both tend to I(X; S) / H(X).

    Parameters
    ----------
    marginal : sequence of Fraction
        The law of a sample.
    n : int
        How many samples.

    Returns
    -------
    tuple[float, float]
        In bits.

    >>> low, high = preprocessing_bounds(["9/10", "1/10"], 40)
    >>> low <= preprocessing("1/10", 40) <= high
    True
    """
    if n < 2:
        raise InputError(f"a chain needs two samples, not {n}")
    channel = uniformiser(marginal)
    p = np.array([float(exact(value)) for value in marginal])
    noise = float(p @ entropy_of([[float(entry) for entry in row] for row in channel.rows]))
    base = (n - 1) * log2(len(p)) - n * noise
    return max(0.0, base), base + log2(len(p))


def modular_information(marginals: Sequence[Sequence[Any]], modulus: int | None = None) -> float:
    """I(X^n; Y) for Y_k = S_k + S_{k+1} mod M of uniformised samples, exactly, for any alphabets and any M.

        I = (n-1) log2 M - sum_i H(S_i | X_i) + H(S^n | Y, X^n)

    Y leaves one shift c open, S_i +- c with alternating signs, and given x and s its law is proportional to prod_i
    u_i(s_i +- c | x_i). These vectors are multiplied up sample by sample; equal ones, up to a factor, are counted
    together, so the work grows with the number of different products and not with M^n. The paper has eq. (67) for bits
    and M = 2 only, and there a lower bound. Without a modulus M is the common number of letters.

    Parameters
    ----------
    marginals : sequence of laws
        One for each sample.
    modulus : int, optional
        M; the number of letters unless said.

    Returns
    -------
    float
        In bits.

    >>> abs(modular_information([["9/10", "1/10"]] * 4) - preprocessing("1/10", 4)) < 1e-12
    True
    >>> round(modular_information([["9/10", "1/10"]] * 4, 10), 4)
    0.3387
    """
    sizes = {len(m) for m in marginals}
    if len(marginals) < 2 or (modulus is None and len(sizes) != 1):
        raise InputError(
            "a chain of modular sums needs at least two samples, all with the same number of values or a modulus"
        )
    size = min(sizes) if modulus is None else modulus
    n = len(marginals)
    noise, states = 0.0, {(1,) * size: 1.0}
    for i, marginal in enumerate(marginals):
        rows = uniformiser(marginal, size).rows
        p = [float(exact(value)) for value in marginal]
        noise += fsum(
            mass * float(entropy_of([[float(value) for value in row]])[0]) for mass, row in zip(p, rows, strict=True)
        )
        scale = lcm(*(entry.denominator for row in rows for entry in row))
        steps: dict[tuple[int, ...], float] = defaultdict(float)
        for row, mass in zip(rows, p, strict=True):
            for s, entry in enumerate(row):
                if entry and mass:
                    shifted = [row[(s + (c if i % 2 else -c)) % size] for c in range(size)]
                    steps[tuple(int(value * scale) for value in shifted)] += mass * float(entry)
        after: dict[tuple[int, ...], float] = defaultdict(float)
        for state, weight in states.items():
            for factor, mass in steps.items():
                raw = [a * b for a, b in zip(state, factor, strict=True)]
                common = gcd(*raw)
                after[tuple(value // common for value in raw)] += weight * mass
        if len(after) > MOST_STATES:
            raise Unsupported(
                f"the shift of {n} samples has more than {MOST_STATES:,} different distributions; "
                f"preprocessing_bounds encloses "
                f"the information within log2 {size} bits"
            )
        states = after
    left = fsum(w * float(entropy_of([[value / sum(state) for value in state]])[0]) for state, w in states.items())
    return (n - 1) * log2(size) - noise + left


def window_sums(letters: int, n: int, k: int) -> Channel:
    """Example 3: L_i = Q + X_i + ... + X_{i+k-1} mod M for all windows of k, with one uniform Q; dense.

    Y is independent of every window of k samples jointly if the samples are independent and uniform.

    Parameters
    ----------
    letters : int
        Letters of a sample.
    n : int
        How many samples.
    k : int
        Samples in a window.

    Returns
    -------
    Channel

    >>> window_sums(2, 3, 2).shape
    (8, 4)
    """
    _window(letters, n, k)
    if letters ** (2 * n - k + 1) > MOST_ROWS:
        raise Unsupported(
            f"{n} samples of {letters} values need a recipe of more than {MOST_ROWS:,} entries",
            do='Use fewer samples or windows of them: form = "windows".',
        )
    alphabet = tuple(str(a) for a in range(letters))
    windows = n - k + 1
    rows = []
    for x in product(range(letters), repeat=n):
        row = [Fraction(0)] * letters**windows
        for noise in range(letters):
            at = 0
            for i in range(windows):
                at = at * letters + (noise + sum(x[i : i + k])) % letters
            row[at] += Fraction(1, letters)
        rows.append(tuple(row))
    inputs = {f"X{i + 1}": alphabet for i in range(n)}
    return Channel(inputs, {f"L{i + 1}": alphabet for i in range(windows)}, tuple(rows))


def window_sums_bits(letters: int, n: int, k: int) -> float:
    r"""I(X^n; Y) = (n - k) log2 M of Example 3, exactly; it meets H(X^n) - H(window), so no private mapping tells more.

    The paper only shows that its share of H(X^n) tends to one, eq. (57)-(61).

    Parameters
    ----------
    letters : int
        Letters of a sample.
    n : int
        How many samples.
    k : int
        Samples in a window.

    >>> window_sums_bits(2, 6, 2)
    4.0
    """
    _window(letters, n, k)
    return (n - k) * log2(letters)


def window_rank(letters: int, n: int, k: int = 1) -> int:
    r"""rank(P) = (n-k+1) M^k - (n-k) M^(k-1) for all windows of k of n samples, every outcome possible.

    The functions of windows are spanned by products over sets that fit into one window. Corollary 4.1 uses the number
    of rows M^k (n-k+1) instead; for k = 1 this is eq. (19).

    Parameters
    ----------
    letters : int
        Letters of a sample.
    n : int
        How many samples.
    k : int
        Samples in a window.

    >>> window_rank(3, 4), window_rank(2, 4, 2)
    (9, 8)
    """
    _window(letters, n, k)
    return int((n - k + 1) * letters**k - (n - k) * letters ** (k - 1))


def _window(letters: int, n: int, k: int) -> None:
    if letters < 1 or not 1 <= k <= n:
        raise InputError(f"windows of {k} among {n} samples of {letters} values do not exist")
