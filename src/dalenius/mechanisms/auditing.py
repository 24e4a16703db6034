"""The audit of a mechanism from its channel alone: every measure, proved, for any channel from anywhere.

Nothing is believed of the mechanism but its rows. Each input of the channel counts as the record of one individual.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import log, prod
from typing import Any, Literal

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import Kernel
from dalenius.core.drafting import release_of
from dalenius.core.guarantee import Guarantee
from dalenius.core.guess_guarantees import Guess, MaximalLeakage
from dalenius.core.information_guarantees import Contraction, Dalenius, Independent, Leakage, WorstCaseLeakage
from dalenius.core.numbers import decimal_above, exact, up, written
from dalenius.core.odds_guarantees import InformationPrivacy, LocalDP
from dalenius.core.pmf import Pmf
from dalenius.measures.attack import Attack
from dalenius.measures.bayes import guess_after, guess_before
from dalenius.measures.capacity import Bracket, Capacity, aligned, capacity, joint_with_output, outward, with_kept
from dalenius.measures.correlation import eta_kl, eta_tv, maximal_correlation, s_star
from dalenius.measures.deltas import EPSILONS
from dalenius.measures.dp import dp_epsilon, information_of_dp, strong_dp_epsilon
from dalenius.measures.guessing import alpha_leakage, maximal_leakage, min_entropy_leakage, sibson, total_variation
from dalenius.measures.individual import (
    Individual,
    independent_capacity,
    individual_capacity,
    most_bits,
    ordered,
)
from dalenius.measures.lattice import delta_at
from dalenius.measures.renyi import ORDERS, renyi_level, zcdp_level
from dalenius.measures.shannon import conditional_mutual_information_bounds, mutual_information_bounds
from dalenius.mechanisms.in_turn import InTurn

__all__ = ["MechanismAudit", "UnderPrior", "examine_mechanism", "kept_promises", "promises_beside", "short"]

GROUPS = 3
ALPHAS = (2, 8)  # orders at which Sibson's information and alpha-leakage are shown
DUST = 6 * log(10)  # nats; a level beyond rests on entries below 1e-6 and protects nobody
COMPARED = 1 << 22  # entries that are compared for delta
EXACT = 200_000  # outcomes times letters; beyond, the figures of single letters are left out


@dataclass(frozen=True)
class Guessing:
    """What a guess of the input gains under a prior; bits, and a total variation that is rounded up."""

    min_entropy_leakage: Bracket
    total_variation: float
    sibson: Mapping[int, Bracket]
    alpha_leakage: Mapping[int, Bracket]

    def to_json(self) -> dict[str, Any]:
        return {
            "min_entropy_leakage_bits": list(self.min_entropy_leakage),
            "total_variation": self.total_variation,
            "sibson_bits": {str(order): list(b) for order, b in self.sibson.items()},
            "alpha_leakage_bits": {str(order): list(b) for order, b in self.alpha_leakage.items()},
        }


@dataclass(frozen=True)
class UnderPrior:
    """What the mechanism does when the inputs follow a prior; informations in bits.

    Parameters
    ----------
    mutual_information : Bracket
        I(X; Y).
    per_input, per_input_given_others : mapping of str to Bracket
        About each input, alone and when the others are known.
    maximal_correlation : float
        Rounded up.
    s_star, s_star_reverse : Bracket
        The shares of information that pass.
    guess_before, guess_after : float
        Of the best guess of the input.
    guessing : Guessing, optional
        What further gauges say.
    """

    mutual_information: Bracket
    per_input: Mapping[str, Bracket]
    per_input_given_others: Mapping[str, Bracket]
    maximal_correlation: float
    s_star: Bracket
    s_star_reverse: Bracket
    guess_before: float
    guess_after: float
    guessing: "Guessing | None" = None

    def to_json(self) -> dict[str, Any]:
        return {
            "mutual_information_bits": list(self.mutual_information),
            "per_input_bits": {n: list(b) for n, b in self.per_input.items()},
            "per_input_given_others_bits": {n: list(b) for n, b in self.per_input_given_others.items()},
            "maximal_correlation": self.maximal_correlation,
            "s_star": list(self.s_star),
            "s_star_reverse": list(self.s_star_reverse),
            "bayes_guess_before": self.guess_before,
            "bayes_guess_after": self.guess_after,
            **(self.guessing.to_json() if self.guessing else {}),
        }


@dataclass(frozen=True)
class MechanismAudit:
    """Every measure of a mechanism. Brackets hold the truth; single numbers are rounded up, None is infinite.

    Parameters
    ----------
    records : names
        The inputs, one a record.
    capacity : Bracket
        All records together.
    groups : mapping of int to Individual
        Any so many records, any adversary.
    independent : Bracket
        One record among independent ones.
    dp_epsilon, strong_dp_epsilon : float or None
        Levels where one record changes, and between any two inputs.
    eta_kl, eta_tv : float
        Shares that pass.
    prior : UnderPrior or None
        What depends on a law.
    guarantees : tuple of Guarantee
        Promises that it keeps.
    remarks : tuple of str
        What a reader must be told.
    renyi, zcdp_rho, maximal : optional
        Further levels.
    attacks : tuple of Attack
        The best guesses.
    no_level : str
        Why there is no level.
    one_row : bool
        Whether the inputs are columns of one row of a table, so that a record is all of them.
    """

    records: tuple[str, ...]
    capacity: Bracket
    groups: Mapping[int, Individual]
    independent: Bracket
    dp_epsilon: float | None
    strong_dp_epsilon: float | None
    eta_kl: float
    eta_tv: float
    prior: UnderPrior | None
    guarantees: tuple[Guarantee, ...]
    remarks: tuple[str, ...] = ()
    renyi: Mapping[int, float | None] = field(default_factory=dict)
    zcdp_rho: float | None = None
    attacks: tuple[Attack, ...] = ()
    no_level: Literal["ruled out", "unproved", "dust"] = "ruled out"  # why a level is None, where one is
    maximal: Bracket | None = None  # maximal leakage in bits, where it was counted
    deltas: Mapping[Fraction, float] = field(default_factory=dict)  # of differential privacy, one record changed
    one_row: bool = False

    def about_rows(self) -> "MechanismAudit":
        """The same of a recipe for the rows of a table: a record is a row, which the capacity of the recipe bounds."""
        others = [promise for promise in self.guarantees if not isinstance(promise, Dalenius)]
        return replace(self, one_row=True, guarantees=(Dalenius(decimal_above(self.capacity[1])), *others))

    @property
    def worst(self) -> Individual:
        """The worst record and its worst adversary."""
        return self.groups[1]

    def to_json(self) -> dict[str, Any]:
        level = self.dp_epsilon
        return {
            "records": list(self.records),
            "individual_capacity_bits": [self.worst.low, self.worst.high],
            "group_capacity_bits": {str(k): [g.low, g.high] for k, g in self.groups.items()},
            "individual_capacity_independent_bits": list(self.independent),
            "independent_by_dp_bits": information_of_dp(level) if level is not None else None,
            "capacity_bits": list(self.capacity),
            "dp_epsilon": level,
            "strong_dp_epsilon": self.strong_dp_epsilon,
            "delta": {written(epsilon): delta for epsilon, delta in self.deltas.items()},
            "renyi_nats": {str(order): level for order, level in self.renyi.items()},
            "zcdp_rho": self.zcdp_rho,
            "eta_kl": self.eta_kl,
            "eta_tv": self.eta_tv,
            **({"maximal_leakage_bits": list(self.maximal)} if self.maximal else {}),
            "worst_record": list(self.worst.group),
            "worst_adversary": [
                {
                    "record": dict(zip(self.worst.group, belief.record, strict=True)),
                    "probability": belief.probability,
                    "others": dict(zip(self.worst.others, belief.others, strict=True)),
                }
                for belief in self.worst.beliefs
            ],
            **(self.prior.to_json() if self.prior else {}),
            "attacks": [attack.to_json() for attack in self.attacks],
            "guarantees": [{**promise.to_json(), "words": promise.words()} for promise in self.guarantees],
            "remarks": list(self.remarks),
        }


def examine_mechanism(channel: Kernel, prior: Pmf | None = None, *, remarks: tuple[str, ...] = ()) -> MechanismAudit:
    """Audit a channel; with a prior of its inputs also what depends on one.

    Parameters
    ----------
    channel : Kernel
        Written out in rows.
    prior : Pmf, optional
        Of its inputs.
    remarks : tuple of str
        Told besides.

    Returns
    -------
    MechanismAudit
        Proved figures.

    >>> from dalenius.core import Channel
    >>> pad = (Fraction(1, 2), Fraction(1, 2))
    >>> seen = examine_mechanism(Channel({"M": ("0", "1")}, {"C": ("0", "1")}, (pad, pad)))
    >>> seen.worst.high, seen.dp_epsilon, seen.guarantees[0].to_json()["dalenius"]
    (0.0, 0.0, True)
    """
    names = tuple(channel.inputs)
    turn = InTurn()
    # What takes least comes first: the time may be over in the middle of the others.
    near = turn.take("differential privacy", lambda: dp_epsilon(channel), None)
    strong = turn.take("differential privacy of any two inputs", lambda: strong_dp_epsilon(channel), None)
    early = bool(turn.missed)
    dust = strong is not None and strong > DUST
    if dust and strong is not None:
        remarks = (
            *remarks,
            f"no level is stated: a value is up to e^{strong:.4g} times likelier under one input than another",
        )
        near = near if near is not None and near <= DUST else None
        strong = None
    most_guessed = turn.take("maximal leakage", lambda: maximal_leakage(channel), (0.0, _most(channel, names)))
    varied = turn.take("total variation", lambda: eta_tv(channel), 1.0)
    unknown: dict[int, float | None] = {}
    renyi = turn.take(
        "Renyi levels", lambda: {order: None if dust else renyi_level(channel, order) for order in ORDERS}, unknown
    )
    rho = turn.take("zCDP", lambda: None if dust else zcdp_level(channel), None)
    # Nobody learns more than maximal leakage, neither about all inputs nor about some of them.
    any_law = most_guessed[1]
    whole = turn.take("capacity", lambda: _bracket(capacity(channel)), (0.0, min(_most(channel, names), any_law)))
    groups = {k: _group(channel, k, turn, any_law) for k in range(1, min(len(names), GROUPS) + 1)}
    most = max(most_bits(len(letters)) for letters in channel.inputs.values())
    alone = turn.take("independent records", lambda: independent_capacity(channel), (0.0, groups[1].high))
    independent, groups[1] = ordered(alone, groups[1], most)
    # No more information passes than total variation does.
    contraction = turn.take("contraction", lambda: eta_kl(channel)[1], varied)
    met: list[Guarantee] = [Dalenius(decimal_above(g.high), group=k) for k, g in groups.items()]
    if strong is not None:
        met.append(LocalDP(decimal_above(strong)))
    met += [Contraction(decimal_above(contraction))] if contraction < 1 else []  # else it says nothing
    met.append(MaximalLeakage(decimal_above(most_guessed[1])))
    none: dict[Fraction, float] = {}
    deltas = turn.take("delta", lambda: _deltas(channel), none)
    under = None
    if prior is not None:
        law = aligned(prior, channel)
        under = turn.take("what depends on the statistics", lambda: _under(channel, law), None)
        nothing: list[Guarantee] = []
        met += turn.take("promises about the statistics", lambda: _kept_under(channel, law, names), nothing)
    return MechanismAudit(
        names,
        whole,
        groups,
        independent,
        near,
        strong,
        contraction,
        varied,
        under,
        tuple(met),
        (*remarks, *turn.words()),
        renyi,
        rho,
        no_level="unproved" if early else "dust" if dust else "ruled out",
        maximal=most_guessed,
        deltas=deltas,
    )


def _bracket(found: Capacity) -> Bracket:
    return found.low, found.high


def _most(channel: Kernel, names: Sequence[str]) -> float:
    """The most bits that can be learnt about some inputs: no more than they hold, and no more than leaves."""
    held = prod(len(channel.inputs[name]) for name in names)
    return most_bits(min(held, channel.shape[1]))


def _group(channel: Kernel, size: int, turn: InTurn, most: float) -> Individual:
    """What anybody learns about any so many inputs; without time at most so many bits, and what the largest hold."""
    names = sorted(channel.inputs, key=lambda name: -len(channel.inputs[name]))
    unknown = Individual(0.0, min(most, _most(channel, names[:size])), tuple(names[:size]), tuple(names[size:]), ())
    what = "any one record" if size == 1 else f"any {size} records"
    return turn.take(what, lambda: individual_capacity(channel, group=size), unknown)


def _deltas(channel: Kernel) -> dict[Fraction, float]:
    """delta at some levels, while the pairs of inputs are few."""
    if channel.shape[0] * channel.shape[1] * max(map(len, channel.inputs.values())) > COMPARED:
        return {}
    return {epsilon: delta_at(channel, float(epsilon)) for epsilon in EPSILONS}


def _under(channel: Kernel, prior: Pmf) -> UnderPrior:
    names, (joint, out) = list(channel.inputs), joint_with_output(prior, channel)
    after = guess_after(joint, names, out)
    return UnderPrior(
        outward(mutual_information_bounds(joint, names, out)),
        {name: outward(mutual_information_bounds(joint, [name], out)) for name in names},
        {
            name: outward(conditional_mutual_information_bounds(joint, [name], out, [m for m in names if m != name]))
            for name in names
        },
        maximal_correlation(prior, channel)[1],
        s_star(prior, channel),
        s_star(prior, channel, reverse=True),
        outward((guess_before(joint, names),) * 2)[0],
        outward((after, after))[1],
        Guessing(
            min_entropy_leakage(joint, names, out),
            outward((total_variation(joint, names, out),) * 2)[1],
            {order: sibson(joint, names, out, Fraction(order)) for order in ALPHAS},
            {order: alpha_leakage(joint, names, out, Fraction(order)) for order in ALPHAS},
        ),
    )


def promises_beside(channel: Kernel, law: Pmf, kept: Sequence[str]) -> list[Guarantee]:
    """The promises about single inputs where further columns leave as they are: they count as outputs.

    A column that leaves can reveal what the output hides: Y = X1 xor X2 next to X2 gives X1 away.

    Parameters
    ----------
    channel : Kernel
        Written out in rows.
    law : Pmf
        Of its inputs and of those columns.
    kept : sequence of str
        Columns that the channel does not change.

    Returns
    -------
    list of Guarantee
        None where everything that leaves is too large to be written out.

    >>> from dalenius.core import Channel
    >>> one, none = Fraction(1), Fraction(0)
    >>> rows = ((one, none), (none, one), (none, one), (one, none))
    >>> xor = Channel({"X1": ("0", "1"), "X2": ("0", "1")}, {"Y": ("0", "1")}, rows)
    >>> records = [((a, b, b), "1/4") for a in "01" for b in "01"]
    >>> fair = Pmf.from_records(dict.fromkeys(("X1", "X2", "Z"), ("0", "1")), records)
    >>> promises_beside(xor, fair, ["Z"])[0]
    Leakage(about=('X1',), at_most_bits=Fraction(1, 1))
    """
    beside = {name: tuple(letters) for name, letters in law.alphabets(kept).items()}
    many = prod(map(len, beside.values()))
    if channel.shape[0] * channel.shape[1] * many**2 > EXACT:
        return []
    leaving = with_kept(channel, beside)
    return _kept_under(leaving, aligned(law, leaving), list(channel.inputs))


def _kept_under(channel: Kernel, prior: Pmf, names: Sequence[str]) -> list[Guarantee]:
    """For each of some inputs the promises that hold under the prior, at the least level that does."""
    if len(prior) * channel.shape[1] > EXACT:
        return []
    written = Channel(channel.inputs, channel.output, channel.rows)
    release = release_of(written, prior)
    met: list[Guarantee] = []
    for name in names:
        told = release.told([name])
        shown = {figure: None if value is None else exact(up(value)) for figure, value in told.items()}
        leaks, worst, odds = (shown[figure] for figure in ("leakage_bits", "worst_letter_bits", "odds_nats"))
        if not leaks or worst is None:
            met.append(Independent((name,)))
            continue
        met.append(Leakage((name,), leaks))
        met.append(WorstCaseLeakage((name,), worst))
        met.append(Guess((name,), shown["guess_after"]))
        if odds is not None:
            met.append(InformationPrivacy((name,), odds))
    return met


def short(figure: Fraction | float) -> Fraction:
    """A figure with twelve decimals, never below itself."""
    return exact(up(Fraction(figure), 12))


def kept_promises(
    capacity_bits: Fraction | float, contraction: Fraction | float, level: Fraction | float | None
) -> list[Guarantee]:
    """What was proved of a mechanism under every law, as promises that it keeps; None is no level.

    Parameters
    ----------
    capacity_bits, contraction : Fraction or float
        Upper bounds.
    level : Fraction, float or None
        Of local DP, in nats.

    Returns
    -------
    list of Guarantee
    """
    met: list[Guarantee] = [Dalenius(short(capacity_bits)), Contraction(short(contraction))]
    return met if level is None else [*met, LocalDP(short(level))]
