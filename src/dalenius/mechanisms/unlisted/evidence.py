r"""The audit of a channel with too many entries to be written out, by the figures that its form proves.

Form (8) and resampling have two kinds of entries in a column: the letter that stays, and w(y) o(x) for the others; so
the largest ratio in a column needs the two ends of o alone, and the distance of two rows their own entries. Windows are
drawn independently given the inputs: levels and capacities add up, over those that see a record where only that record
changes. Sums are read from states that each input draws for itself, and tell no more than the states. At a level
epsilon, with r = e^epsilon, rows are at most (r - 1) / (r + 1) apart in total variation, and no law of the inputs tells
more than epsilon nats; nor more than eta_TV H(X), because eta_KL <= eta_TV.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

from dalenius.core.arithmetic import BITS, E_HIGH, apart, log2, nats
from dalenius.core.conditional_law import Kernel
from dalenius.core.guarantee import Guarantee
from dalenius.core.numbers import double_above
from dalenius.core.odds_guarantees import LocalDP
from dalenius.measures.individual import Individual
from dalenius.measures.renyi import ORDERS
from dalenius.mechanisms.auditing import MechanismAudit, kept_promises
from dalenius.mechanisms.forms import form_of

__all__ = ["distance_of", "examine_unlisted", "level_of"]

REMARK = (
    "audited by its form, because its rows are too many to be written out: upper ends are closed bounds, and lower "
    "ends and attackers were not searched for"
)
UNPROVED = "no level of differential privacy is proved for sums of such states, which need not rule any input out"


KINDS = 64  # rows that differ, up to the order of their entries, whose distances are all looked at
Values = Sequence[Fraction]


def examine_unlisted(
    channel: Kernel,
    promises: Sequence[Guarantee] = (),
    *,
    remarks: tuple[str, ...] = (),
) -> MechanismAudit:
    """Audit a large channel by the figures of its form.

    Parameters
    ----------
    channel : Kernel
        Of form (8), resampling, windows or sums.
    promises : sequence of Guarantee
        Those that were proved of it elsewhere.
    remarks : tuple of str
        What a reader must be told besides.

    Returns
    -------
    MechanismAudit

    >>> from dalenius.core import Pram
    >>> letters = tuple(map(str, range(5000)))
    >>> seen = examine_unlisted(Pram({"X": letters}, {"X": letters}, (Fraction(2, 5001),) * 5000))
    >>> round(seen.dp_epsilon, 4), round(seen.capacity[1], 4)  # ln 2; eta_TV log2 5000
    (0.6931, 0.0025)
    """
    found = form_of(channel).figures(channel)
    names, strong = tuple(channel.inputs), found.any_two
    bits = min(found.bits, *map(_log2, channel.shape))
    share = min(1.0, found.apart)
    if strong is not None:
        share = min(share, double_above(apart(Fraction(strong))))
        bits = min(bits, double_above(Fraction(strong) * E_HIGH))
    # Every bound holds by itself, so that the least of them does; each is rounded up before it is compared.
    bits = min(bits, double_above(Fraction(share) * Fraction(_log2(channel.shape[0]))))
    one = min(bits, max(_log2(len(letters)) for letters in channel.inputs.values()))
    met = kept_promises(one, share, strong)
    met += [
        promise
        for promise in promises
        if strong is None or not isinstance(promise, LocalDP) or promise.metric is not None
    ]
    unproved = strong is None and found.unproved
    return MechanismAudit(
        names,
        (0.0, bits),
        {1: Individual(0.0, one, (max(names, key=lambda n: len(channel.inputs[n])),), (), ())},
        (0.0, one),
        found.near,
        strong,
        share,
        share,
        None,
        tuple(met),
        (*remarks, REMARK, *((UNPROVED,) if unproved else ())),
        {a: None if strong is None else min(strong, a * strong**2 / 2 * (1 + 1e-12)) for a in ORDERS},
        None if strong is None else strong**2 / 2 * (1 + 1e-12),
        no_level="unproved" if unproved else "ruled out",
    )


def level_of(stay: Values, other: Values, weight: Values) -> float | None:
    """The largest ratio in a column, as a level in nats."""
    order = sorted(range(len(stay)), key=other.__getitem__)
    worst = Fraction(1)
    for y in range(len(stay)):
        # The two ends of o among the other inputs: the second one where the first belongs to the letter itself.
        least, most = (next(other[x] for x in side if x != y) * weight[y] for side in (order[:2], order[:-3:-1]))
        low = min(stay[y], least)
        high = max(stay[y], most)
        if not low and high:
            return None
        worst = max(worst, high / low) if high else worst
    return double_above(nats(worst)) if worst > 1 else 0.0


def distance_of(stay: Values, other: Values, weight: Values) -> float:
    """The largest total variation between two rows; 1 where too many of them differ."""
    kinds = Counter(zip(stay, other, weight, strict=True))
    # 1 is true of any two rows; looking at fewer pairs would not be.
    if len(kinds) > KINDS:
        return 1.0
    whole = sum((n * w for (_, _, w), n in kinds.items()), Fraction(0))
    worst = Fraction(0)
    for (a, n), (b, _) in combinations_with_replacement(kinds.items(), 2):
        if a != b or n > 1:
            shared = abs(a[1] - b[1]) * (whole - a[2] - b[2])
            worst = max(worst, abs(a[0] - b[1] * a[2]) + abs(b[0] - a[1] * b[2]) + shared)
    return double_above(worst / 2)


def _log2(n: int) -> float:
    return double_above(Fraction(log2(Fraction(n))[1], 1 << BITS)) if n & (n - 1) else float(n.bit_length() - 1)
