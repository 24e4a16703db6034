r"""The extreme columns under local DP with a metric: all of them, found here and not taken from a proof.

The columns c >= 0 with c(x) <= r(x, z) c(z) for all pairs, r not below e^(epsilon d), are a cone. On an extreme ray all
but one of as many independent inequalities as there are inputs are equalities, each between two inputs, so that they
connect all inputs: the ray grows from its first input, one input after the other, each fixed by an equality with one
that is there already. A part of a column that keeps all inequalities keeps those between its own inputs, so that parts
which do not are left out.
"""

from collections.abc import Sequence
from fractions import Fraction

from dalenius.kernel.logs import exp
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Work, require
from dalenius.kernel.promises import LocalDP, Promise
from dalenius.kernel.rows import MOST_NATS, of_one_row

INPUTS = 6  # of which all columns are found
PairRatios = list[list[Fraction]]
PartOfColumn = tuple[Fraction | None, ...]


def metric_ratios(setting: Setting, promises: Sequence[Promise]) -> PairRatios | None:
    """The strictest ratio of each pair that promises of local DP say, from above; None where none has a metric."""
    levels = [p for p in promises if isinstance(p, LocalDP) and not p.delta and not p.given]
    if all(promise.metric is None for promise in levels):
        return None
    many = setting.many
    require(2 <= many <= INPUTS, f"columns under a metric are found for 2 to {INPUTS} inputs")
    far = [[min(_level_between(promise, x, z) for promise in levels) for z in range(many)] for x in range(many)]
    # A pair that is farther apart has no ratio that could be written: to give it a smaller one would be false.
    require(max(map(max, far)) <= MOST_NATS, "two inputs are too far apart for a proof by columns")
    return [[exp(level)[1] for level in row] for row in far]


def _level_between(promise: LocalDP, x: int, z: int) -> Fraction:
    epsilon = of_one_row(promise)[0]
    return epsilon if promise.metric is None else epsilon * promise.metric[x][z]


def metric_columns(ratios: PairRatios, work: Work) -> list[list[Fraction]]:
    """Every extreme column, its least entry 1."""
    many = len(ratios)
    parts: set[PartOfColumn] = {(Fraction(1), *(None,) * (many - 1))}
    for size in range(1, many):
        work.spend(200 * len(parts) * size * size * many)
        parts = {grown for part in parts for grown in _grown(part, ratios)}
    found = []
    for part in parts:
        column = [value for value in part if value is not None]
        least = min(column)
        found.append([value / least for value in column])
    return found


def _grown(part: PartOfColumn, ratios: PairRatios) -> list[PartOfColumn]:
    """The part with one more input, at a ratio of its own to one that is there, if it keeps those to all others."""
    there = [(z, value) for z, value in enumerate(part) if value is not None]
    found: list[PartOfColumn] = []
    for x, here in enumerate(part):
        if here is not None:
            continue
        for z, value in there:
            for new in (value * ratios[x][z], value / ratios[z][x]):
                keeps = all(new <= ratios[x][y] * other and other <= ratios[y][x] * new for y, other in there)
                found += [(*part[:x], new, *part[x + 1 :])] if keeps else []
    return found
