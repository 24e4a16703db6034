r"""Lines about one person among people who are known, or independent of each other: what several releases add up to.

    independent_records    bits    I(X_i; Y_1, Y_2) <= I(X_i; Y_1 | x) + I(X_i; Y_2 | x, Y_1), x the other records, for
                                   X_i independent of them: capacities given all others add
    zcdp                   rho     Renyi divergences of order a, at most rho_j a each, add (Bun & Steinke 2016)
    differential_privacy   nats    at delta 0 levels add; at delta > 0 the smallest of
                                   - the sum of the levels;
                                   - concentrated: with rho the sum of the rho_j, for every order a > 1
                                     rho a + ln(1 - 1/a) + (ln(1/delta) - ln a) / (a - 1)
                                     (Canonne, Kamath & Steinke 2020, Proposition 12);
                                   - Renyi: the same with the sum of the divergences of order a, which for a level l is
                                     at most that of randomised response,
                                     ln[(sinh(a l) - sinh((a - 1) l)) / sinh l] / (a - 1)  (Mironov 2017, Prop. 5),
                                     and at most rho a.

About people who are not the same, in datasets that are declared disjoint, the largest counts and not the sum: what is
drawn about others does not change with a record. For `dalenius` that is false: whoever believes that people copy each
other looks twice at the same record (001, parallel composition), so that line always adds.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import expm1, inf, log, log1p, nextafter
from typing import TypeAlias

from dalenius.core.numbers import exact, up
from dalenius.ledger.entry import Entry
from dalenius.measures.rules import added

__all__ = ["Bound", "differential_privacy", "independent_records", "zcdp"]

Bound: TypeAlias = tuple[Fraction | None, str]
"""A proved figure and how it was found; None: there is none, and why."""

ORDERS = tuple(1 + 10 ** (k / 12) for k in range(-24, 61))  # from 1.01 to 100,001
SLACK = 1e-9  # far above the rounding of the few operations of one order


def independent_records(entries: Sequence[Entry], disjoint: bool) -> Bound:
    """Bits about one person, to somebody to whom records are independent.

    Parameters
    ----------
    entries : sequence of Entry
        Releases that are charged.
    disjoint : bool
        Whether the datasets are declared to have no person in common.

    Returns
    -------
    Bound
    """

    def charged(some: Sequence[Entry]) -> Fraction | None:
        return added(e.mechanism.independent_bits(e.max_rows) for e in some)

    return _apart(entries, disjoint, charged, "what is revealed when all other records are known adds up")


def zcdp(entries: Sequence[Entry], disjoint: bool) -> Bound:
    """rho of concentrated differential privacy.

    Parameters
    ----------
    entries : sequence of Entry
        Releases that are charged.
    disjoint : bool
        Whether the datasets are declared to have no person in common.

    Returns
    -------
    Bound
    """
    return _apart(entries, disjoint, _rho, "rho adds up")


def _rho(entries: Sequence[Entry]) -> Fraction | None:
    return added(entry.mechanism.concentrated(entry.max_rows) for entry in entries)


def _level(entries: Sequence[Entry]) -> Fraction | None:
    return added(entry.mechanism.neighbours(entry.max_rows) for entry in entries)


def differential_privacy(entries: Sequence[Entry], delta: Fraction, disjoint: bool) -> Bound:
    """epsilon of all releases together, at this delta, by the smallest rule that holds.

    Parameters
    ----------
    entries : sequence of Entry
        Releases that are charged.
    delta : Fraction
        0 for a pure level.
    disjoint : bool
        Whether the datasets are declared to have no person in common.

    Returns
    -------
    Bound
    """
    found = [_apart(entries, disjoint, _level, "levels add up")]
    if delta:
        small = up(delta, 12)

        def concentrated(some: Sequence[Entry]) -> Fraction | None:
            return _converted([(None, _rho([e])) for e in some], delta)

        def renyi(some: Sequence[Entry]) -> Fraction | None:
            return _converted([(_level([e]), _rho([e])) for e in some], delta)

        found.append(_apart(entries, disjoint, concentrated, f"concentrated: rho adds up, at delta {small}"))
        found.append(_apart(entries, disjoint, renyi, f"Renyi divergences of one order add up, at delta {small}"))
    known = [bound for bound in found if bound[0] is not None]
    return min(known, key=lambda bound: bound[0] or Fraction(0)) if known else found[0]


def _apart(
    entries: Sequence[Entry], disjoint: bool, figure: Callable[[Sequence[Entry]], Fraction | None], how: str
) -> Bound:
    """The figure of all entries; with disjoint datasets the largest of one dataset."""
    if not disjoint:
        total = figure(entries)
        return (total, how) if total is not None else (None, _missing(entries, figure))
    figures = []
    names = list(dict.fromkeys(entry.dataset for entry in entries))
    for name in names:
        own = [entry for entry in entries if entry.dataset == name]
        total = figure(own)
        if total is None:
            return None, _missing(own, figure)
        figures.append(total)
    many = f"; the largest of {len(names)} datasets of different people" if len(names) > 1 else ""
    return max(figures), how + many


def _missing(entries: Sequence[Entry], figure: Callable[[Sequence[Entry]], Fraction | None]) -> str:
    without = [entry for entry in entries if figure([entry]) is None]
    which = ", ".join(str(e.id or "(new)") for e in without)
    if all(_rho([e]) is not None for e in without):  # only pure levels can be missing then
        return f"release {which} has a level at a delta only, as in differential_privacy:1/1000000=2"
    return f"release {which} has no such figure: its noise rules an answer out, or a column leaves as it is"


def _converted(parts: Sequence[tuple[Fraction | None, Fraction | None]], delta: Fraction) -> Fraction | None:
    """The least epsilon over the orders, from (level, rho) of each release; None where one has neither."""
    best = inf
    goal = -log(float(delta))
    alike = Counter(parts)
    for order in ORDERS:
        total = 0.0
        for (level, rho), many in alike.items():
            by_level = inf if level is None else _renyi(float(level), order)
            total += many * min(by_level, inf if rho is None else order * float(rho))
        best = min(best, total + log1p(-1 / order) + (goal - log(order)) / (order - 1))
    if best == inf:
        return None
    # Any order gives a bound; the slack covers the roundings of its doubles.
    return exact(nextafter(max(0.0, best) * (1 + SLACK) + SLACK, inf))


def _renyi(level: float, order: float) -> float:
    """The Renyi divergence of randomised response of this level, from above: never more than the level itself.

    (sinh(a l) - sinh((a - 1) l)) / sinh l = e^((a - 1) l) (1 + e^(-(2 a - 1) l)) / (1 + e^-l), which does not overflow.
    """
    if not level:
        return 0.0
    grown = (order - 1) * level + log1p(_exp(-(2 * order - 1) * level)) - log1p(_exp(-level))
    return min(level, max(0.0, grown) / (order - 1))


def _exp(x: float) -> float:
    return expm1(x) + 1
