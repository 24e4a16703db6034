r"""What several releases tell together when those who hold them share: collusion, and composition of mechanisms.

Y_k is drawn from the columns X_k alone, independently of the others given the record. Of a secret S (one, or several
taken together: the two secrets of Note 1), the letters tell

    exactly       I(S; Y_1, ..., Y_k) on the joint channel, where that is small;
    Lemma 2       at most sum_k I(S; Y_k), but only if the X_k are independent given S, checked in whole numbers
                  (S - X_k - Y_k alone does not give it: S = X_1 xor X_2 tells 0 + 0 bits apart and 1 together);
    percolation   at most sum over sets A of P(A) I(S; X_A), each k in A with probability eta_k = eta_KL of its channel;
                  so at most [1 - prod (1 - eta_k)] I(S; X).

Percolation, V the other letters: I(S; Y_1, V) = I(S; V) + I(S; Y_1 | V) <= (1 - eta_1) I(S; V) + eta_1 I(S; X_1, V),
because Y_1 is drawn from X_1 whatever V is; then the same for the next. It stands in the place of Theorem 4, whose
condition no dependent pair meets with a factor below one (errata).

References: paper 004, Lemma 2, Theorem 4, Note 1; Polyanskiy & Wu (2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import Kernel
from dalenius.core.pmf import Pmf
from dalenius.errors import InputError, Unsupported
from dalenius.measures.capacity import upward
from dalenius.measures.correlation import eta_kl
from dalenius.measures.shannon import independent, mutual_information

__all__ = ["Collusion", "collusion"]

SMALL = 1 << 20  # entries of the joint channel
MOST = 12  # releases, for the sum over sets

DUST = 1e-13  # bits that rounding may leave where nothing is told


@dataclass(frozen=True)
class Collusion:
    """Bounds in bits of what the letters together tell, rounded up; None where a rule does not apply."""

    apart: tuple[float, ...]
    exact: float | None
    lemma2: float | None
    percolation: float
    share: float

    @property
    def bits(self) -> float:
        """The best of them."""
        return min(value for value in (self.exact, self.lemma2, self.percolation) if value is not None)


def collusion(joint: Pmf, channels: Sequence[Kernel], secret: Sequence[str]) -> Collusion:
    """What releases of these channels, each drawn once from the same record, tell about a secret together.

    >>> from fractions import Fraction
    >>> bit = ("0", "1")
    >>> same = Pmf.from_records({"S": bit, "X": bit}, [(("0", "0"), 1), (("1", "1"), 1)])
    >>> flip = Channel({"X": bit}, {"Y": bit}, ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))))
    >>> told = collusion(same, [flip, flip], ["S"])
    >>> round(told.exact, 9), round(told.percolation, 9), round(told.share, 9)
    (0.331877754, 0.4375, 0.4375)
    """
    if not 1 <= len(channels) <= MOST:
        raise InputError(f"collusion is computed for 1 to {MOST} releases, not {len(channels)}")
    secret = list(secret)
    reads = [list(channel.inputs) for channel in channels]
    everything = list(dict.fromkeys([*secret, *(name for names in reads for name in names)]))
    law = joint.marginal(everything)
    named = [_renamed(channel, f" of release {k + 1}") for k, channel in enumerate(channels)]
    apart = tuple(upward(mutual_information(c.after(law), secret, list(c.output)), DUST) for c in named)
    together = None
    if len(law) * prod(c.shape[1] for c in named) <= SMALL:
        whole = law
        for c in named:
            whole = c.after(whole)
        together = upward(mutual_information(whole, secret, [n for c in named for n in c.output]), DUST)
    chain = all(
        independent(law, reads[k], sorted({n for read in reads[:k] for n in read}), secret)
        for k in range(1, len(reads))
    )
    shares = [eta_kl(channel)[1] for channel in channels]
    percolated = 0.0
    for size in range(1, len(reads) + 1):
        for group in combinations(range(len(reads)), size):
            weight = prod(shares[k] if k in group else 1 - shares[k] for k in range(len(reads)))
            seen = sorted({n for k in group for n in reads[k]})
            percolated += weight * mutual_information(law, secret, seen)
    return Collusion(
        apart,
        together,
        upward(sum(apart), DUST) if chain else None,
        upward(percolated, DUST),
        upward(1 - prod(1 - share for share in shares), DUST),
    )


def _renamed(channel: Kernel, suffix: str) -> Channel:
    if not channel.few:
        raise Unsupported(
            "a release that is not written out row by row cannot be put together with others",
            do="Leave this release out, and count it by the ledger instead.",
        )
    output = {name + suffix: tuple(letters) for name, letters in channel.output.items()}
    return Channel({n: tuple(a) for n, a in channel.inputs.items()}, output, channel.rows)
