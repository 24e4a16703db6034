"""The audit of a mechanism in plain words: one table, the worst record, the worst adversary, what it keeps."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dalenius.core.digits import before_and_after, figure
from dalenius.measures.capacity import Bracket
from dalenius.measures.individual import Individual
from dalenius.mechanisms.auditing import Guessing, MechanismAudit
from dalenius.report.facts import joined
from dalenius.report.words import guesses

__all__ = ["RULED_OUT", "UNBOUNDED", "audited", "table_of", "up"]

RULED_OUT = "none: a released value excludes an input"
UNBOUNDED = "none: nothing is ruled out, but the ratio of two inputs has no bound"
NO_LEVEL = {
    "ruled out": RULED_OUT,
    "unproved": "none is proved",
    "dust": "none that protects: a released value nearly excludes an input",
}


def audited(seen: MechanismAudit) -> list[str]:
    """Every measure as one line of a table, then the worst adversary and the promises that the mechanism keeps.

    Parameters
    ----------
    seen : MechanismAudit
        What was found.

    Returns
    -------
    list of str
        Lines.
    """
    why = NO_LEVEL[seen.no_level]
    levels = seen.dp_epsilon, seen.strong_dp_epsilon
    common = _of_a_row if seen.one_row else _common
    rows = common(seen.groups, seen.independent, seen.capacity, levels, why)
    rows += _relaxed(seen, why)
    rows += [
        ("share of any information that passes (eta_KL)", f"{up(seen.eta_kl)}"),
        ("largest total variation (eta_TV)", f"{up(seen.eta_tv)}"),
    ]
    if seen.maximal is not None:
        rows += [("a guess of anything, any statistics (maximal leakage)", _bits(*seen.maximal))]
    if seen.prior is not None:
        p = seen.prior
        guess = before_and_after(p.guess_before, p.guess_after)
        rows += [("information under the statistics", _bits(*p.mutual_information))]
        rows += [(f"about {n} under the statistics", _bits(*b)) for n, b in p.per_input.items() if len(p.per_input) > 1]
        rows += [
            (f"about {n} when the others are known", _bits(*b))
            for n, b in p.per_input_given_others.items()
            if len(p.per_input) > 1
        ]
        rows += [
            ("maximal correlation", up(p.maximal_correlation)),
            ("share that passes under the statistics (S*)", _between(*p.s_star)),
            (
                "best guess of the input, before and after",
                " and ".join(guess),
            ),
        ]
        rows += _guessing(p.guessing) if p.guessing else []
    what = "What the recipe lets out of one row, proved:" if seen.one_row else "What the recipe lets out, proved:"
    lines = [*guesses(seen.attacks), what, *_lines(rows)]
    lines += ["", *_attacker(seen), "", "It keeps these promises, and could be written with them:"]
    lines += [f"  {promise.words()}" for promise in seen.guarantees]
    return lines + [f"Note: {remark}." for remark in seen.remarks]


def _relaxed(seen: MechanismAudit, why: str) -> list[tuple[str, str]]:
    """Levels of the relaxed kinds; in one line where there is none of any kind."""
    if not seen.renyi:
        return []
    if seen.zcdp_rho is None and all(level is None for level in seen.renyi.values()):
        return [("Renyi levels and zero-concentrated (zCDP)", why)]
    rows = [(f"Renyi level of order {k}, any two inputs", _nats(level, why)) for k, level in seen.renyi.items()]
    why = why if seen.strong_dp_epsilon is None else NO_LEVEL["unproved"]  # nothing is ruled out: there was no time
    rho = why if seen.zcdp_rho is None else f"rho {up(seen.zcdp_rho)}"
    return [*rows, ("zero-concentrated (zCDP), any two inputs", rho)]


def _guessing(seen: Guessing) -> list[tuple[str, str]]:
    rows = [
        ("the same in bits (min-entropy leakage)", _bits(*seen.min_entropy_leakage)),
        ("how far its distribution moves (total variation)", up(seen.total_variation)),
    ]
    rows += [(f"Sibson's information of order {order}", _bits(*b)) for order, b in seen.sibson.items()]
    return rows + [(f"alpha-leakage of order {order}", _bits(*b)) for order, b in seen.alpha_leakage.items()]


def _common(
    groups: Mapping[int, Individual],
    independent: Bracket,
    capacity: Bracket,
    levels: tuple[float | None, float | None],
    why: str,
) -> list[tuple[str, str]]:
    rows = [("any one record, any attacker (C_1)", _bits(groups[1].low, groups[1].high))]
    rows += [(f"any {k} records together (C_{k})", _bits(g.low, g.high)) for k, g in sorted(groups.items()) if k > 1]
    return [
        *rows,
        ("any one record, independent records", _bits(*independent)),
        ("all records together (capacity)", _bits(*capacity)),
        ("differential privacy, one record changed", _nats(levels[0], why)),
        ("differential privacy, any two inputs", _nats(levels[1], why)),
    ]


def _of_a_row(
    groups: Mapping[int, Individual],
    independent: Bracket,
    capacity: Bracket,
    levels: tuple[float | None, float | None],
    why: str,
) -> list[tuple[str, str]]:
    """The same where the inputs are columns of one row, which is one record."""
    rows = [("the whole row, any attacker (capacity)", _bits(*capacity))]
    several = len(groups) > 1
    if several:
        rows.append(("any one of its columns, any attacker (C_1)", _bits(groups[1].low, groups[1].high)))
        some = {k: g for k, g in groups.items() if k > 1 and g.high < capacity[1]}  # all of them are the row
        rows += [(f"any {k} columns together (C_{k})", _bits(g.low, g.high)) for k, g in sorted(some.items())]
        rows.append(("any one column, independent columns", _bits(*independent)))
        rows.append(("differential privacy, one column changed", _nats(levels[0], why)))
    return [*rows, ("differential privacy, any two rows", _nats(levels[1], why))]


def _lines(rows: Sequence[tuple[str, str]]) -> list[str]:
    wide = max(len(what) for what, _ in rows)
    return [f"  {what:<{wide}}  {figure}" for what, figure in rows]


def table_of(
    groups: Mapping[int, Individual],
    independent: Bracket,
    capacity: Bracket,
    levels: tuple[float | None, float | None],
    why: str,
) -> list[str]:
    """The measures that need no prior, one a line; `why` there is no level, where there is none."""
    return _lines(_common(groups, independent, capacity, levels, why))


def _attacker(seen: MechanismAudit) -> Sequence[str]:
    worst = seen.worst
    what = "column" if seen.one_row else "record"
    if not worst.high:
        return [f"No attacker learns anything about any {what}: the output does not depend on the input."]
    record = joined(worst.group)
    if not worst.beliefs and seen.one_row and len(worst.group) > 1:
        return ["No attacker was searched for."]
    if not worst.beliefs:
        return [f"The worst {what} is {record}; no attacker was searched for."]
    lines = [f"The worst {what} is {record}. The attacker who learns most about it believes:"]
    return lines + [f"  {line}" for line in worst.words()]


def _bits(low: float, high: float) -> str:
    said = _between(low, high)
    return f"{said} bit" if said == "1" else f"{said} bits"


def _between(low: float, high: float) -> str:
    if high - low <= 1e-8:
        return up(high)
    return f"between {figure(low, 'down', 6)} and {up(high)}"


def delta_line(deltas: Mapping[Fraction, float]) -> str:
    """delta of differential privacy at some levels, in one line; of several numbers with noise an upper end.

    >>> delta_line({Fraction(1, 2): 0.25, Fraction(1): 0.0})
    'delta of differential privacy, at most: 0.25 at epsilon 1/2, 0 at 1'
    """
    lines = [f"{up(delta)} at {'epsilon ' if not k else ''}{level}" for k, (level, delta) in enumerate(deltas.items())]
    return f"delta of differential privacy, at most: {', '.join(lines)}"


def up(x: float) -> str:
    """Nine digits, rounded up.

    >>> up(0.18872187554087), up(0.5000000000000115), up(0.0)
    ('0.188721876', '0.5', '0')
    """
    return figure(x, "up", 9)


def _nats(level: float | None, why: str) -> str:
    return why if level is None else f"level {up(level)}"
