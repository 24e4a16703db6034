r"""Large datasets: where the disclosure capacity goes as samples are added, with finite-n figures on both sides.

    C_1(0) - (J - I_s)  <=  I_s(W, X^n)  <=  C_1(theta_n),                                                     (45)
    C_2(0) = J(W, X^1) >= J(W, X^2) >= ... -> C_1(0),                                                          (47)

with theta_n the leakage about a sample outside the data. Everything is in bits.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000), sections IV and V.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, log2
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.numbers import exact
from dalenius.errors import InputError, InvalidPmf
from dalenius.measures.chains import window_rank
from dalenius.measures.latent import LatentModel, equivocation, latent_entropy, outside_leakage
from dalenius.measures.shannon import entropy_of
from dalenius.mechanisms.alike.exchangeable import full_observation, types_disclosure
from dalenius.papers.perturbation import full_observation_tradeoff, output_perturbation
from dalenius.solvers import rank

__all__ = [
    "LimitBounds",
    "Sandwich",
    "SelfDisclosureCurve",
    "limit_bounds",
    "nothing_to_disclose",
    "sandwich",
    "self_disclosure_curve",
    "vanishes",
]

_Floats: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.int64]


# --- a hidden variable ------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class LimitBounds:
    """The figures of Proposition 5 in ascending order, and the paper's weaker lower end."""

    lower_paper_bits: float
    lower_bits: float
    output_perturbation_bits: float
    full_observation_bits: float
    merged_given_sample_bits: float
    hidden_given_sample_bits: float


def limit_bounds(model: LatentModel) -> LimitBounds:
    r"""(C_X(W) - log rank P_{X|W~})^+ <= C_1(0) <= C_2(0) <= H(W~|X) <= H(W|X), Proposition 5 eq. (48).

    The paper has log |X| in place of the rank, and prints H(W|X) twice; its proof gives both ends stated here.

    >>> found = limit_bounds(LatentModel.of(["1/5", "3/10", "1/2"], [["4/5", "1/5"], ["1/2", "1/2"], ["1/10", "9/10"]]))
    >>> round(found.lower_bits, 6), round(found.output_perturbation_bits, 6), round(found.full_observation_bits, 6)
    (0.485475, 0.541879, 0.953579)
    """
    merged = model.merged()
    whole = latent_entropy(model)
    return LimitBounds(
        max(0.0, whole - log2(len(merged.sample))),
        max(0.0, whole - log2(rank(merged.kernel))),
        output_perturbation(model).value_bits,
        full_observation_tradeoff(model).value_bits,
        equivocation(model, 1),
        equivocation(model, 1) + float(entropy_of(model.floats[0])) - whole,
    )


def nothing_to_disclose(model: LatentModel) -> bool:
    r"""Whether H(W~|X) = 0, so that I_s(W, X^n) = 0 for every n, Corollary 3.1, decided on rationals.

    The paper states it as W = (W', V), X = (X', V) with W' - V - X'; that is the same: every letter of X has one W~.

    >>> nothing_to_disclose(LatentModel.of(["1/2", "1/4", "1/4"], [[1, 0, 0], [0, "1/2", "1/2"], [0, "1/2", "1/2"]]))
    True
    """
    return all(sum(1 for entry in column if entry) <= 1 for column in zip(*model.merged().kernel, strict=True))


def vanishes(model: LatentModel) -> bool:
    r"""Whether C_1(0) = 0, so that I_s(W, X^n) -> 0: the rows of W~ are linearly independent, decided by an exact rank.

    >>> vanishes(LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]]))
    True
    """
    merged = model.merged()
    return rank(merged.kernel) == len(merged.prior)


@dataclass(frozen=True)
class Sandwich:
    """Eq. (45) at one n: lower <= value <= bound, and value <= upper; theta is the leakage about an outside sample."""

    n: int
    lower_bits: float
    value_bits: float
    bound_bits: float
    upper_bits: float
    outside_leakage_bits: float


def sandwich(model: LatentModel, n: int) -> Sandwich:
    r"""C_1(0) - (J - I_s) <= I_s <= C_1(theta_n), eq. (44)(45), with theta_n of the optimal mapping that was found.

    The upper end is the proven bound on C_1(theta_n), not the value attained.

    >>> found = sandwich(LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]]), 20)
    >>> found.lower_bits <= found.value_bits <= found.upper_bits
    True
    """
    merged = model.merged()
    here = types_disclosure(merged.prior, merged.kernel, n)
    theta = outside_leakage(merged, here.joint)
    wide = full_observation(merged, n)
    limit = output_perturbation(merged).value_bits
    return Sandwich(
        n,
        limit - (wide.bound_bits - here.value_bits),
        here.value_bits,
        here.bound_bits,
        output_perturbation(merged, theta).bound_bits,
        theta,
    )


# --- the samples themselves -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class SelfDisclosureCurve:
    """Arrays over n: H(X^n) and two bounds on the self-disclosure capacity; the efficiencies are these over H."""

    n: _Ints
    entropy_bits: _Floats
    lower_bits: _Floats
    upper_bits: _Floats

    @property
    def efficiency_lower(self) -> _Floats:
        return self.lower_bits / self.entropy_bits

    @property
    def efficiency_upper(self) -> _Floats:
        return self.upper_bits / self.entropy_bits


def self_disclosure_curve(marginal: Sequence[Any], n: Sequence[int], *, window: int = 1) -> SelfDisclosureCurve:
    r"""H(X^n) - log rank(P) <= I_s(X^n) <= min(Lemma 6, surprisal bound) for independent samples alike, Theorem 4.

    With `window` = k, Y is independent of k consecutive samples jointly (Corollary 4.1), rank(P) = `window_rank`, and
    the upper bound is H(X^n) - k H(X). Eq. (55) has log(n M) and H(X^n). The efficiency tends to 1 either way, eq.
    (53).

    >>> curve = self_disclosure_curve(["1/2", "1/2"], [4, 100, 10000])
    >>> curve.efficiency_lower.round(4).tolist(), curve.efficiency_upper.round(4).tolist()
    ([0.4195, 0.9334, 0.9987], [0.75, 0.99, 0.9999])
    """
    p = [value for value in (exact(m, "a probability") for m in marginal) if value]
    if not p or min(p) < 0 or sum(p) != 1:
        raise InvalidPmf("the marginal of a sample needs probabilities that sum to 1 exactly")
    one = float(entropy_of([float(value) for value in p]))
    if not one:
        raise InputError("the samples are constant: there is nothing to disclose about them")
    whole = np.array([k * one for k in n])
    lower = np.array([max(0.0, h - log2(window_rank(len(p), k, window))) for h, k in zip(whole, n, strict=True)])
    upper = np.array([max(0.0, h - window * one) for h in whole])
    if window == 1:
        upper = np.minimum(upper, [h - _rarest(p, k) for h, k in zip(whole, n, strict=True)])
    return SelfDisclosureCurve(np.array(n, dtype=np.int64), whole, lower, upper)


def _rarest(p: Sequence[Fraction], n: int) -> float:
    """E max_i log2(1 / p(X_i)): the rarest of n samples is at least as likely as p with probability (mass above)^n."""
    terms, above, before = [], Fraction(0), 0.0
    for v in sorted(p, reverse=True):
        above += v
        reached = float(above) ** n
        terms.append((reached - before) * log2(1 / v))
        before = reached
    return fsum(terms)
