"""The audit of a channel of form "orbits" from its types and its pairs of words, without its letters."""

from collections.abc import Sequence
from fractions import Fraction

from dalenius.core import Contraction, Dalenius, Guarantee, Independent, Leakage, LocalDP, Orbits, Pmf
from dalenius.core.arithmetic import BITS, log2
from dalenius.core.numbers import decimal_above, exact, up
from dalenius.measures.capacity import Bracket, Ends, aligned, outward
from dalenius.measures.individual import Belief, Individual, ordered
from dalenius.measures.orbits import Columns, Pairs, capacity_of_orbits, entropy
from dalenius.measures.renyi import ORDERS
from dalenius.mechanisms.auditing import GROUPS, MechanismAudit, UnderPrior

__all__ = ["examine_orbits"]

REMARK = (
    "audited up to the order of the samples: eta_KL is bounded by eta_TV, and S* and the maximal correlation are "
    "bounded by 1"
)
WIDE = "an attacker about a sample of more than two values is searched for among few; the upper end is all it holds"


def examine_orbits(channel: Orbits, prior: Pmf | None = None, *, remarks: tuple[str, ...] = ()) -> MechanismAudit:
    """Audit a channel of form "orbits"; with a prior that is the same in every order also what depends on one.

    >>> from dalenius.core import Orbit
    >>> half = Fraction(1, 2)
    >>> even, odd = (Orbit(half, (half, half), words) for words in (((0, 0), (1, 1)), ((0, 1), (1, 0))))
    >>> seen = examine_orbits(Orbits({"A": ("0", "1"), "B": ("0", "1")}, "Y", (even, odd)))
    >>> (seen.worst.low, seen.worst.high), seen.eta_tv, seen.dp_epsilon
    ((1.0, 1.0), 1.0, None)
    """
    pairs = Pairs(channel)
    whole = capacity_of_orbits(channel)
    groups = {k: _individual(channel, pairs, k, whole) for k in range(1, min(channel.n, GROUPS) + 1)}
    alone = pairs.two_values(pairs.neighbours)[0]
    most = _held(next(iter(channel.inputs.values())), 1)[1]
    ends = alone.low, alone.high if pairs.letters == 2 else groups[1].high
    independent, groups[1] = ordered(ends, groups[1], most)
    level = pairs.level(pairs.neighbours)
    strong = pairs.level(pairs.every)
    variation = _up(pairs.apart)
    met: list[Guarantee] = [Dalenius(decimal_above(g.high), group=k) for k, g in groups.items()]
    met += [] if strong is None else [LocalDP(decimal_above(strong))]
    met.append(Contraction(decimal_above(variation)))
    under = None
    if prior is not None:
        columns = Columns(channel, aligned(prior, channel))
        under = _under(channel, columns)
        one = columns.told(1)[1]
        met += [Leakage((n,), exact(up(one))) if one else Independent((n,)) for n in channel.inputs]
    return MechanismAudit(
        tuple(channel.inputs),
        whole,
        groups,
        independent,
        level,
        strong,
        variation,
        variation,
        under,
        tuple(met),
        (*remarks, REMARK, *((WIDE,) if pairs.letters > 2 else ())),
        {a: None if strong is None else min(strong, a * strong**2 / 2 * (1 + 1e-12)) for a in ORDERS},
        None if strong is None else strong**2 / 2 * (1 + 1e-12),
    )


def _individual(channel: Orbits, pairs: Pairs, group: int, whole: Bracket) -> Individual:
    """C_k of the first k samples, which are like any others, and an adversary that learns the lower end."""
    names = tuple(channel.inputs)
    letters = next(iter(channel.inputs.values()))
    two, where = pairs.two_values(pairs.every)
    low, high, weights, rows = two.low, two.high, two.prior, list(where)
    if (group, len(letters)) != (1, 2):
        # The pair of words that was searched for proves a lower end alone; the upper one is what any samples hold.
        high = min(_held(letters, group)[1], whole[1])
    for size in range(group, 0, -1):
        if found := pairs.told_apart(size):
            low = _held(letters, size)[0]
            rows = found
            weights = (1 / len(found),) * len(found)
            break
    words = [tuple(letters[entry] for entry in row) for row in rows]
    beliefs = tuple(Belief(word[:group], weight, word[group:]) for word, weight in zip(words, weights, strict=True))
    return Individual(min(low, high), high, names[:group], names[group:], beliefs)


def _held(letters: Sequence[str], samples: int) -> Bracket:
    """What so many samples hold at most, in bits."""
    low, high = log2(Fraction(len(letters) ** samples))
    return outward((Fraction(low, 1 << BITS), Fraction(high, 1 << BITS)))


def _under(channel: Orbits, columns: Columns) -> UnderPrior:
    all_ = columns.told(channel.n)
    one = outward(columns.told(1))
    rest = columns.told(channel.n - 1)
    # Of a difference the ends cross: the least of all samples less the most of the rest.
    given = outward((max(Fraction(0), all_[0] - rest[1]), all_[1] - rest[0]))
    before, after = columns.guesses()
    held = entropy(columns.p.values())
    # A quotient from below has its denominator from above.
    passes: Ends = (all_[0] / held[1] if held[1] else Fraction(0), Fraction(1))
    return UnderPrior(
        outward(all_),
        dict.fromkeys(channel.inputs, one),
        dict.fromkeys(channel.inputs, given),
        1.0,
        outward(passes),
        (0.0, 1.0),
        outward((before, before))[0],
        _up(after),
    )


def _up(q: Fraction) -> float:
    return outward((q, q))[1]
