"""What a solved point shows: what a row reveals, what an attacker gains, what changes and what is lost, in words."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dalenius.core import Design, Guarantee
from dalenius.core.digits import bits, factor, figure, guesses_in_thousand, one_in
from dalenius.core.numbers import exact
from dalenius.evidence import Beliefs, beliefs
from dalenius.report.tiles import combination
from dalenius.studio.flow import Flow
from dalenius.wording import joined, shown

__all__ = ["point"]

EXAMPLES = 8  # rows of the preview
SMALL = 10  # rows of a combination whose end is worth naming
HARDLY = 5e-4  # a share of changed rows that is none


def point(design: Design, level: Fraction | None, promise: str) -> dict[str, Any]:
    """One point of the trade-off as the page shows it; every number is a text already.

    Parameters
    ----------
    design : Design
        Solved and proved, with one recipe for all released columns, or an exchange of whole records.
    level : Fraction or None
        The level of the promise; None for a promise without one.
    promise : str
        A key of `PROMISES`.

    Returns
    -------
    dict
        Plain values: `x` and `y` are the only numbers, and say where the point stands.
    """
    flow = Flow.of(design)
    known = beliefs(design)
    values = _values(flow)
    changed = flow.changed()
    return {
        "level": "" if level is None else str(level),
        "x": float(100 * design.value),
        "y": _height(design, promise, level),
        "title": _title(design.problem.guarantees[0]),
        "facts": _facts(design, promise, level, changed, known),
        "losses": [
            {"name": f"{value.column}: {value.name}", "before": f"{value.before:,.0f}", "after": f"{value.after:,.0f}"}
            for value in values
            if value.lost
        ],
        "vanished": _vanished(flow),
        "columns": _columns(values, flow),
        "examples": _examples(flow),
        "changed": _changed(changed),
    }


def _height(design: Design, promise: str, level: Fraction | None) -> float:
    figures = design.proved[0] if design.proved else {}
    if promise == "guess":
        return float(1000 * exact(figures["guess_after"]))
    if promise == "deny":
        return float(level or 1)
    return float(exact(figures.get("leakage_bits", 0)))


def _title(promise: Guarantee) -> str:
    words = promise.briefly()
    return words[:1].upper() + words[1:]


def _fact(term: str, value: str, note: str = "") -> dict[str, str]:
    return {"term": term, "value": value, "note": note}


def _facts(
    design: Design, promise: str, level: Fraction | None, changed: float, known: Sequence[Beliefs]
) -> list[dict[str, str]]:
    figures = design.proved[0] if design.proved else {}
    about = joined(design.problem.guarantees[0].secret)
    found = []
    if figures.get("leakage_bits") is not None:
        everything = figures.get("entropy_bits")
        note = f"everything about {about} is {bits(everything, 'nearest')}" if everything else ""
        told = bits(figures["leakage_bits"], "up")
        # A limit that is all but reached is said as it was chosen: 0.01 and not 0.0100 bits.
        reached = promise == "reveal" and level is not None and exact(told.split()[0]) == level
        found.append(_fact("A row reveals", f"{figure(level, 'up')} bits" if reached else told, note))
    elif promise == "deny":
        found.append(_fact("An entry is at most", f"{figure(level or 1, 'up')} times", "likelier for one person"))
    if figures.get("guess_after") is not None:
        before, gain = guesses_in_thousand(figures.get("guess_before", figures["guess_after"]), figures["guess_after"])
        more = f"at most {gain} more" if gain else "no more"
        found.append(_fact("Right guesses", more, f"{before} of 1,000 are right without the row"))
    columns = len(design.channel.output)
    entries = figure(100 * design.value, "nearest", 2)
    found.append(_fact("Rows changed", _changed(changed), f"{entries} of {100 * columns:,} entries in 100 rows"))
    if known:
        found.append(_worst(known[0]))
    elif figures.get("odds_nats") is not None:
        found.append(_fact("Worst row", f"{factor(figures['odds_nats'])} ×", ""))
    return found


def _changed(share: float) -> str:
    return "none" if share < 1e-9 else one_in(min(1.0, share))


def _worst(known: Beliefs) -> dict[str, str]:
    worst = known.worst
    if worst.high == worst.share:
        return _fact("Worst row", "1 ×", "no answer becomes likelier")
    share = figure(100 * worst.share, "nearest")
    high = figure(100 * worst.high, "up")
    return _fact("Worst row", f"{known.times} ×", f"“{combination(worst.values)}” {share} → {high} %")


@dataclass(frozen=True)
class _Value:
    """A value of a released column, its rows before, and the rows that are expected after the draw."""

    column: str
    name: str
    before: float
    after: float

    @property
    def lost(self) -> bool:
        """Whether more than a quarter of its rows are lost; what a proof allows to be exactly a quarter is not."""
        return 4 * (self.before - self.after) > self.before * (1 + 1e-6)


def _values(flow: Flow) -> list[_Value]:
    found = []
    for k, (name, values) in enumerate(flow.names.items()):
        was, now = (np.bincount(codes[:, k], weights=n, minlength=len(values)) for codes, n in flow.ends())
        found += [_Value(shown(name), shown(value), float(was[i]), float(now[i])) for i, value in enumerate(values)]
    return found


def _vanished(flow: Flow) -> str:
    before, after = flow.combinations()
    gone = int(((before >= SMALL) & (after < 0.5)).sum())
    return f"{gone} of {int((before > 0).sum()):,} combinations no longer occur." if gone else ""


def _columns(values: Sequence[_Value], flow: Flow) -> list[dict[str, Any]]:
    found = []
    for k, name in enumerate(map(shown, flow.names)):
        moved = flow.changed(k)
        here = [value for value in values if value.column == name]
        top = max(max(value.before, value.after) for value in here) or 1.0
        found.append(
            {
                "name": name,
                "note": "not changed"
                if moved < HARDLY
                else f"changed in {figure(100 * moved, 'nearest', 2)} of 100 rows",
                "values": [
                    {
                        "name": value.name,
                        "before": f"{value.before:,.0f}",
                        "after": f"{value.after:,.0f}",
                        "was": value.before / top,
                        "now": value.after / top,
                        "lost": value.lost,
                    }
                    for value in here
                ],
            }
        )
    return found


def _examples(flow: Flow) -> list[list[list[str]]]:
    """Eight rows of the kind that the table has, drawn once; nobody keeps what they were drawn with.

    A row is a list of entries, an entry its value and, where it changes, its new value.
    """
    sums = np.cumsum(flow.rows)
    alphabets = list(flow.names.values())
    found = []
    for k in range(EXAMPLES):
        x = int(np.searchsorted(sums, (2 * k + 1) * sums[-1] / (2 * EXAMPLES), side="right"))
        places, weights = flow.line(x)
        ticket, at = secrets.randbelow(sum(weights)), 0
        while ticket >= weights[at]:
            ticket -= weights[at]
            at += 1
        pairs = zip(alphabets, flow.source[x].tolist(), flow.target[places[at]].tolist(), strict=True)
        found.append([[shown(v[a])] if a == b else [shown(v[a]), shown(v[b])] for v, a, b in pairs])
    return found
