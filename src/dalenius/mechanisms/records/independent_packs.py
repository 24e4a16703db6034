r"""Releases that reveal nothing about several values of a secret that is not seen: values come in packs.

An input that may have several values stays, or goes with others to one record, and rows whose value is known come there
until all values are there as often as everywhere. What is left of these rows is a table whose secret is seen.

Where every record keeps its number of rows, those who come together in a group exchange their records: everybody gets
the record of one of the group, drawn by their masses, so that the group as a whole has the records that it had. The
masses of a group are a round number of packs, so that all shares have one small denominator.
"""

from collections.abc import Callable
from itertools import product
from math import gcd

import numpy as np
import numpy.typing as npt

from dalenius.errors import Unsupported
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.transport import Plan, Spare, transport

__all__ = ["brought_together", "exchanged_in_groups"]

Integers = npt.NDArray[np.int64]
Progress = Callable[[str], None] | None

FINE = 1 << 20
"""Parts into which a row is divided, and packs of which a table is made."""
MULTIPLE = FINE * 3**4 * 5**2 * 7
ROUND = np.array(
    sorted(
        2**a * 3**b * 5**c * 7**d
        for a, b, c, d in product(range(21), range(5), range(3), range(2))
        if 2**a * 3**b * 5**c * 7**d <= FINE
    )
)
"""Numbers that divide a small one, and lie close to each other."""
GAP = 0.002
"""Share of the cost of a transport by which it may miss its bound."""
MOST_SHARES = 3_000_000
"""Shares of all inputs together, beyond which groups are too large."""


def brought_together(wide: Wide, on_progress: Progress, deadline: float | None = None) -> Rows:
    """Rows whose value is known go where others lack it; what is left of them goes to one law.

    Parameters
    ----------
    wide : Wide
        With a secret that is not seen.
    deadline : float, optional
        Of `time.monotonic`: transports end there.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Rows
        They reveal nothing.
    """
    sizes = wide.counts.sum(axis=0)
    heavy = int(sizes.argmax())
    plain = (wide.counts > 0).sum(axis=1) == 1
    host, group, packs = _hosts(wide, np.flatnonzero(~plain), sizes)
    lacking = np.zeros((len(host), len(sizes)), dtype=np.int64)
    np.add.at(lacking, group, -FINE * wide.counts[~plain])
    lacking += packs[:, None] * sizes
    at = wide.record_of_input
    row = [np.flatnonzero(~plain)]
    record = [host[group]]
    weight = [np.ones(len(group), dtype=np.int64)]
    rest: tuple[Integers, Integers] | None = None  # where the heaviest value is left, and how much of it
    for s in sorted(range(len(sizes)), key=lambda s: s != heavy):
        mine = np.flatnonzero(plain & (wide.counts[:, s] > 0))
        shared = gcd(int(sizes[s]), int(sizes[heavy])) if rest is not None else 1
        times = int(sizes[heavy]) // shared if rest is not None else 1
        have = wide.counts[mine, s] * FINE * times
        wanted = np.flatnonzero(lacking[:, s])
        to, demand = host[wanted], lacking[wanted, s] * times
        nobody = np.zeros(0, dtype=np.int64)
        if rest is None:
            spare = Spare(int(have.sum() - demand.sum()), 0, np.arange(len(mine)), nobody)
        else:
            spare = None
            to = np.append(to, rest[0])
            demand = np.append(demand, rest[1] * (int(sizes[s]) // shared))
        start, end, amount = _sent(wide, mine, have, to, demand, spare, on_progress, deadline)
        stays = have.copy()
        np.subtract.at(stays, start, amount)
        row += [mine, mine[start]]
        record += [at[mine], to[end]]
        weight += [stays, amount]
        if rest is None:
            left = np.bincount(at[mine], stays, len(wide.records)).astype(np.int64)
            rest = (np.flatnonzero(left), left[left > 0])
    return Rows.gathered(len(at), np.concatenate(row), np.concatenate(record), np.concatenate(weight))


def exchanged_in_groups(wide: Wide, on_progress: Progress, deadline: float | None = None) -> Rows:
    """Rows whose value is known join those that lack it, and all of a group exchange their records.

    Parameters
    ----------
    wide : Wide
        With a secret that is not seen.
    deadline : float, optional
        Of `time.monotonic`: transports end there.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Rows
        They reveal nothing, and every record is released as often as it occurs.

    Raises
    ------
    Unsupported
        If rows of known values are too few for small groups.
    """
    sizes = wide.counts.sum(axis=0)
    plain = (wide.counts > 0).sum(axis=1) == 1
    several = np.flatnonzero(~plain)
    host, group, packs = _hosts(wide, several, sizes, round_=True)
    lacking = np.zeros((len(host), len(sizes)), dtype=np.int64)
    np.add.at(lacking, group, -FINE * wide.counts[several])
    lacking += packs[:, None] * sizes
    member = [several]
    of = [group]
    mass = [FINE * wide.counts[several].sum(axis=1)]
    left = np.zeros((len(wide.counts), len(sizes)), dtype=np.int64)
    for s in range(len(sizes)):
        mine = np.flatnonzero(plain & (wide.counts[:, s] > 0))
        have = FINE * wide.counts[mine, s]
        wanted = np.flatnonzero(lacking[:, s])
        demand = lacking[wanted, s]
        spare = Spare(int(have.sum() - demand.sum()), 0, np.arange(len(mine)), np.zeros(0, dtype=np.int64))
        start, end, amount = _sent(wide, mine, have, host[wanted], demand, spare, on_progress, deadline)
        stays = have.copy()
        np.subtract.at(stays, start, amount)
        left[mine, s] = stays
        member.append(mine[start])
        of.append(wanted[end])
        mass.append(amount)
    parts = [_exchanges(wide, packs, *(np.concatenate(side) for side in (member, of, mass)))]
    parts += _exchanged_rest(wide, left, on_progress, deadline)
    return Rows.together(len(wide.counts), parts)


def _exchanges(
    wide: Wide, packs: Integers, member: Integers, group: Integers, mass: Integers
) -> tuple[Integers, Integers, Integers]:
    """What each member of a group sends to the records of all: a part of a row is `total` times MULTIPLE of these."""
    order = np.argsort(group, kind="stable")
    member, group, mass = member[order], group[order], mass[order]
    many = np.bincount(group, minlength=len(packs))
    if int((many**2).sum()) > MOST_SHARES:
        raise Unsupported(
            f"most rows reveal the {len(wide.classes)} values of {', '.join(wide.secret)} in part only, too many to "
            "preserve their distribution without observing it: add it to observe (it does not leave), or leave out "
            "preserve_marginals"
        )
    first = np.cumsum(many) - many
    own = np.repeat(np.arange(len(member)), many[group])
    other = first[group[own]] + np.arange(len(own)) - np.repeat(np.cumsum(many[group]) - many[group], many[group])
    # A group has packs times total parts, so that mass * mass / (packs * total) parts go from one to another.
    sent = mass[own].astype(object) * mass[other] * (MULTIPLE // packs[group[own]])
    return member[own], wide.record_of_input[member[other]], sent


def _exchanged_rest(
    wide: Wide, left: Integers, on_progress: Progress, deadline: float | None
) -> list[tuple[Integers, Integers, Integers]]:
    """Rows of known values that no group needed, to the law of all of them: a table whose secret is seen."""
    law = np.zeros(len(wide.records), dtype=np.int64)
    np.add.at(law, wide.record_of_input, left.sum(axis=1))
    to = np.flatnonzero(law)
    sizes = wide.counts.sum(axis=0)
    parts = []
    for s, many in enumerate(sizes.tolist()):
        mine = np.flatnonzero(left[:, s])
        common = gcd(many, wide.total)
        # All classes have left the same share of their rows, which is that of all rows together.
        have = left[mine, s] * (wide.total // common)
        demand = law[to] * (many // common)
        start, end, amount = _sent(wide, mine, have, to, demand, None, on_progress, deadline)
        parts.append((mine[start], to[end], amount.astype(object) * common * MULTIPLE))
    return parts


def _sent(
    wide: Wide,
    inputs: Integers,
    have: Integers,
    to: Integers,
    demand: Integers,
    spare: Spare | None,
    on_progress: Progress,
    deadline: float | None,
) -> tuple[Integers, Integers, Integers]:
    """The cheapest way of what inputs have to records that want it: places of input and record, and how much."""
    if not len(demand):
        nobody = np.zeros(0, dtype=np.int64)
        return nobody, nobody, nobody
    points = wide.points
    plan: Plan = transport(
        wide.metric, points[wide.record_of_input[inputs]], points[to], have, demand, spare=spare, gap=GAP,
        deadline=deadline, on_progress=on_progress,
    )  # fmt: skip
    return plan.row, plan.column, plan.amount


def _hosts(wide: Wide, inputs: Integers, sizes: Integers, round_: bool = False) -> tuple[Integers, Integers, Integers]:
    """Records where inputs of several values come together, which of them each input goes to, and packs of values.

    A pack is one FINE-th of the table. Neighbours in the order of the records share one where there are not enough.
    With `round_` they are round numbers.
    """
    group = np.arange(len(inputs))
    while True:
        many = int(group.max(initial=-1)) + 1
        counts = np.zeros((many, len(sizes)), dtype=np.int64)
        np.add.at(counts, group, wide.counts[inputs])
        # Rounded up: so many packs as the class needs that fills them most.
        packs = (-(-FINE * counts // sizes)).max(axis=1, initial=0)
        if round_:
            packs = ROUND[np.searchsorted(ROUND, packs)]
        if int(packs.sum()) <= FINE:
            break
        group = group // 2
    order = np.argsort(wide.counts[inputs].sum(axis=1), kind="stable")
    host = np.zeros(many, dtype=np.int64)
    host[group[order]] = wide.record_of_input[inputs[order]]  # the one with most rows is written last
    return host, group, packs
