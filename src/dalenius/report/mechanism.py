"""The audit of a mechanism in plain words: one table, the worst record, the worst adversary, what it keeps."""

from collections.abc import Sequence

from dalenius.evidence.mechanism import MechanismAudit
from dalenius.report.facts import joined

__all__ = ["audited"]


def audited(seen: MechanismAudit) -> list[str]:
    """Every measure as one line of a table, then the worst adversary and the promises that the mechanism keeps."""
    rows: list[tuple[str, str]] = [("any one record, any adversary (C_1)", _bits(seen.worst.low, seen.worst.high))]
    rows += [
        (f"any {k} records together (C_{k})", _bits(g.low, g.high)) for k, g in sorted(seen.groups.items()) if k > 1
    ]
    rows += [
        ("any one record, independent records", _bits(*seen.independent)),
        ("all records together (capacity)", _bits(*seen.capacity)),
        ("differential privacy, one record changed", _nats(seen.dp_epsilon)),
        ("differential privacy, any two inputs", _nats(seen.strong_dp_epsilon)),
        ("share of any information that passes (eta_KL)", f"{_up(seen.eta_kl)}"),
        ("largest total variation (eta_TV)", f"{_up(seen.eta_tv)}"),
    ]
    if seen.prior is not None:
        p = seen.prior
        rows += [("information under the prior", _bits(*p.mutual_information))]
        rows += [(f"about {n} under the prior", _bits(*b)) for n, b in p.per_input.items() if len(p.per_input) > 1]
        rows += [
            (f"about {n} when the others are known", _bits(*b))
            for n, b in p.per_input_given_others.items()
            if len(p.per_input) > 1
        ]
        rows += [
            ("maximal correlation", _up(p.maximal_correlation)),
            ("share that passes under the prior (S*)", _between(*p.s_star)),
            ("best guess of the input, before and after", f"{p.guess_before:.2%} and {p.guess_after:.2%}"),
        ]
    wide = max(len(what) for what, _ in rows)
    told = ["What the mechanism lets out, proved:", *(f"  {what:<{wide}}  {figure}" for what, figure in rows)]
    told += ["", *_adversary(seen), "", "It keeps these promises, and could be written with them:"]
    told += [f"  {g.words()}" for g in seen.guarantees]
    return told + [f"Note: {remark}." for remark in seen.remarks]


def _adversary(seen: MechanismAudit) -> Sequence[str]:
    worst = seen.worst
    if not worst.high:
        return ["No adversary learns anything about any record: the output does not depend on the input."]
    record = joined(worst.group)
    lines = [f"The worst record is {record}. The adversary that learns most about it believes:"]
    return lines + [f"  {line}" for line in worst.words()]


def _bits(low: float, high: float) -> str:
    return f"{_between(low, high)} bits"


def _between(low: float, high: float) -> str:
    if high - low <= 1e-8:
        return _up(high)
    return f"between {low:.6g} and {_up(high)}"


def _up(x: float) -> str:
    """Nine digits after the point, rounded up."""
    text = f"{x:.9f}"
    return text if float(text) >= x else f"{x + 1e-9:.9f}"


def _nats(level: float | None) -> str:
    return "none: a letter rules an input out" if level is None else f"{_up(level)} nats"
