r"""How guarantees of several releases about the same people add up: small functions, each with its proof.

Y_1, ..., Y_k are drawn independently given the data; `None` is an infinite figure. The proofs hold for a later
mechanism that was chosen with the earlier letters in view (adaptive) unless it says otherwise.
"""

from collections.abc import Iterable
from fractions import Fraction

__all__ = ["added", "multiplied", "percolated", "repeated"]


def added(parts: Iterable[Fraction | None]) -> Fraction | None:
    r"""The sum.

    *Local differential privacy.* p(y_1, y_2 | x) = p(y_1 | x) p(y_2 | x, y_1). Each factor changes by at most
    e^eps_j when x becomes x', hence the product by at most e^(eps_1 + eps_2); the columns that the two mechanisms read
    need not be the same ones, since each is a function of the record x.

    *Dalenius* (001, Thm 5). For every adversary and every record i, with X all the data,
    I(X_i; Y_1, Y_2) = I(X_i; Y_1) + I(X_i; Y_2 | Y_1), and the second term is an average, over y_1, of I(X_i; Y_2)
    for the adversary whose prior is p(x | y_1); so it is at most C_1 of the second channel. Both must be about the same
    X_i, and the promise must hold for ALL priors: under a floor on the entropy of the prior it fails, because
    p(x | y_1) may lie below that floor (two parities of three fair bits: 0 and 0 bits, together 1).

    *Information about any secret S of a record X.* I(S; Y_1, Y_2) <= I(S; Y_1) + I(X; Y_2): I(S; Y_2 | Y_1) <=
    I(S, X, Y_1; Y_2) = I(X; Y_2), since Y_2 is drawn from X alone. (The second mechanism must not depend on y_1.)
    I(X; Y_2) is at most the capacity of its channel under every distribution.

    *Odds.* p(s | y_1, y_2) / p(s) = [p(s | y_1) / p(s)] [p(y_2 | s, y_1) / p(y_2 | y_1)], and numerator and denominator
    of the second factor are averages of p(y_2 | x): within e^eps_2 of each other.

    >>> added([Fraction(1), Fraction(1, 2)]), added([Fraction(1), None])
    (Fraction(3, 2), None)
    """
    total = Fraction(0)
    for part in parts:
        if part is None:
            return None
        total += part
    return total


def multiplied(factors: Iterable[Fraction | None]) -> Fraction | None:
    r"""The product, for factors by which a guess becomes likelier.

    *Maximal leakage.* sum over (y_1, y_2) of max_x p(y_1 | x) p(y_2 | x, y_1) is at most the sum over y_1 of
    max_x p(y_1 | x) times the largest sum over y_2 of max_x p(y_2 | x, y_1): the factors multiply, their bits add, also
    where the second mechanism was chosen with y_1 in view.

    *Guess.* sum over (y_1, y_2) of max_s p(s, y_1, y_2) <= sum over y_1 of max_s p(s, y_1), times sum over y_2 of
    max_x p(y_2 | x): what is not on the joint channel multiplies the chance of the best guess by its factor.

    *Total variation.* The law of S moves by E |p(s | y_1) - p(s)| / 2 and then, given y_1, by at most the largest
    total variation of two rows of the second channel; those add.

    >>> multiplied([Fraction(3, 2), Fraction(2)]), multiplied([None])
    (Fraction(3, 1), None)
    """
    whole = Fraction(1)
    for factor in factors:
        if factor is None:
            return None
        whole *= factor
    return whole


def percolated(shares: Iterable[Fraction]) -> Fraction:
    r"""1 - prod (1 - eta_j), for contraction coefficients.

    Couple each Y_j with an erasure that lets X through with probability eta_j and shows nothing else: by definition of
    eta_j, I(S; Y_j | rest) <= I(S; erased_j | rest) for every S. Replacing the channels one after the other,
    I(S; Y_1, ..., Y_k) <= I(S; X) P(some erasure lets X through). Dobrushin's coefficient bounds eta_j from above.

    >>> percolated([Fraction(1, 2), Fraction(1, 2)])
    Fraction(3, 4)
    """
    left = Fraction(1)
    for share in shares:
        left *= 1 - share
    return 1 - left


def repeated(part: Fraction | None, rows: int) -> Fraction | None:
    """A person with so many rows is drawn for so many times: the sum of that many equal parts."""
    return None if part is None else rows * part
