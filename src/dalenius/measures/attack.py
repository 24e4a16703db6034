r"""The attack on a release: the best guess of a secret before and after, its exact error, and Fano's bound inverted.

Fano: H(S|Y) <= h(e) + e log2(|S| - 1) for the error e of every guess. The papers turn it into e >= (H(S|Y) - 1) /
log2 |S|, which is often negative (004, E15); solving it for e exactly is never worse.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, log2, prod
from typing import Any

from dalenius.core import Design, Kernel, MinimizeLeakage, Pmf
from dalenius.core.conditional_law import in_units, once_each
from dalenius.core.guarantee import Names

__all__ = ["Attack", "Labels", "attacks", "fano_error", "secrets_of", "weights_by_row", "whole_rows"]

Labels = tuple[int, ...]  # a value of each of some columns

FEW = 1 << 18  # entries of the rows of a compact channel that are written out for the attack


@dataclass(frozen=True)
class Attack:
    """How often the best guess of a secret is right, exactly, and the least error that its leakage alone allows.

    `knowing` is what the attacker has anyway: before the release alone, after it together with what left.

    Parameters
    ----------
    secret : names
        What is guessed.
    before, after : Fraction
        How often the best guess is right without and with the release.
    fano_error : float
        The least error that the leakage alone allows.
    knowing : names
        What the attacker has besides.
    public : bool
        Whether the rows are those of public statistics, and not those of the table.
    """

    secret: tuple[str, ...]
    before: Fraction
    after: Fraction
    fano_error: float
    knowing: tuple[str, ...] = ()
    public: bool = False

    @property
    def error(self) -> Fraction:
        """The exact error of the best guess after the release."""
        return 1 - self.after

    def to_json(self) -> dict[str, Any]:
        return {
            "secret": list(self.secret),
            **({"knowing": list(self.knowing)} if self.knowing else {}),
            "guess_before": float(self.before),
            "guess_after": float(self.after),
            "error_after": float(self.error),
            "fano_error_at_least": self.fano_error,
        }


def fano_error(unknown_bits: float, values: int) -> float:
    """The least e with h(e) + e log2(values - 1) >= unknown_bits, from below by bisection.

    Parameters
    ----------
    unknown_bits : float
        H(S | Y).
    values : int
        How many the secret has.

    Returns
    -------
    float
        Between 0 and 1.

    >>> fano_error(0.0, 4), round(fano_error(1.0, 2), 6), round(fano_error(0.7, 3), 6)
    (0.0, 0.5, 0.133376)
    """
    low, high = 0.0, 1 - 1 / values
    for _ in range(100):
        middle = (low + high) / 2
        inside = sum(-p * log2(p) for p in (middle, 1 - middle) if p > 0) + middle * log2(max(values - 1, 1))
        low, high = (middle, high) if inside < unknown_bits else (low, middle)
    return low if low > 1e-15 else 0.0


def attacks(design: Design) -> tuple[Attack, ...]:
    """One for each secret of the objective and of the promises, in their order; for a channel that has few rows.

    What leaves is the letter and the kept columns; side information is what the attacker has before and after.

    Parameters
    ----------
    design : Design
        With its law.

    Returns
    -------
    tuple of Attack
        None for a channel of many rows, or without a joint pmf.
    """
    problem, secrets = design.problem, secrets_of(design)
    if not secrets or not isinstance(problem.joint, Pmf) or not _written_out(design.channel):
        return ()
    side = (problem.side_information.variable,) if problem.side_information else ()
    rows, scale = whole_rows(design.channel)
    return tuple(_attack(design, secret, side, rows, scale) for secret in secrets)


def secrets_of(design: Design) -> list[Names]:
    """The secrets of the objective and of the promises, in their order and each once."""
    goal = design.problem.objective
    named = [goal.about] if isinstance(goal, MinimizeLeakage) else []
    named += [promise.secret for promise in design.problem.guarantees if promise.secret]
    return list(dict.fromkeys(map(tuple, named)))


def whole_rows(channel: Kernel) -> tuple[list[list[int]], int]:
    """The rows of a channel in whole numbers, and what each row then sums to."""
    scale = lcm(*{entry.denominator for row in {id(row): row for row in channel.rows}.values() for entry in row})
    return once_each(lambda row: in_units(row, scale), channel.rows), scale


def weights_by_row(design: Design, secret: Names, beside: Names) -> Counter[tuple[Labels, Labels, int]]:
    """How much of the law has each value of a secret, each value of what stands beside it, and each row."""
    joint, channel = design.problem.pmf, design.channel
    at = [joint.columns(list(names)) for names in (secret, beside, channel.inputs)]
    weights: Counter[tuple[Labels, Labels, int]] = Counter()
    for atom, weight in zip(joint.support.tolist(), joint.weights.tolist(), strict=True):
        value, known, inputs = (tuple(atom[column] for column in columns) for columns in at)
        weights[value, known, channel.row_of(inputs)] += weight
    return weights


def _written_out(channel: Kernel) -> bool:
    """Whether a channel has a row for each outcome of its inputs, and not too many of them."""
    return channel.by_outcome and (channel.form is None or prod(channel.shape) <= FEW)


def _attack(
    design: Design, secret: tuple[str, ...], side: tuple[str, ...], rows: list[list[int]], scale: int
) -> Attack:
    joint = design.problem.pmf
    weights = weights_by_row(design, secret, side + design.problem.kept)
    prior: dict[Any, Counter[Any]] = {}
    weighed: dict[Any, dict[Any, list[int]]] = {}
    for (s, k, x), n in weights.items():
        prior.setdefault(k[: len(side)], Counter())[s] += n
        known = weighed.setdefault(k, {})
        known[s] = [a + n * value for a, value in zip(known.get(s, [0] * len(rows[x])), rows[x], strict=True)]
    total, right, unknown = joint.total * scale, 0, 0.0
    for known in weighed.values():
        for column in zip(*known.values(), strict=True):
            right += max(column)
            mass = sum(column)
            unknown -= sum(entry / total * log2(entry / mass) for entry in column if entry)
    before = Fraction(sum(max(known.values()) for known in prior.values()), joint.total)
    values = len(set().union(*prior.values()))
    least = fano_error(max(0.0, unknown - 1e-9), values)
    return Attack(secret, before, Fraction(right, total), least, side, design.public_prior)
