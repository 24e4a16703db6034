"""What an attacker gains: right guesses in a thousand, how likely each answer can become, and the worst row."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dalenius.core import Leakage
from dalenius.core.digits import bits, factor, figure, guesses_in_thousand, many, percent
from dalenius.core.numbers import exact
from dalenius.evidence import Beliefs
from dalenius.report import plain
from dalenius.report.drawing import Area, dots
from dalenius.report.facts import Facts, shown
from dalenius.report.tiles import combination

__all__ = ["Gain", "Range", "gains", "one_more"]

MOST_ANSWERS = 12  # whose ranges are drawn


@dataclass(frozen=True)
class Range:
    """One answer: its share of all rows and how likely it can become, as words and as places between 0 and 100."""

    name: str
    share: str
    at: float
    low: float
    width: float
    words: str
    raw_low: float
    raw_width: float
    raw_words: str


@dataclass(frozen=True)
class Gain:
    """What an attacker gains about one secret."""

    about: str
    before: int
    gain: int
    dots: list[Area]
    raw_gain: int | None
    raw_dots: list[Area]
    ranges: tuple[Range, ...]
    hidden: int
    worst: str


def gains(facts: Facts, beliefs: Sequence[Beliefs]) -> list[Gain]:
    """What an attacker gains about each secret, once for each of them."""
    by_secret = {found.secret: found for found in beliefs}
    done: set[tuple[str, ...]] = set()
    found = []
    for promise in plain.promises(facts):
        if promise.before is None or promise.gain is None or promise.secret in done:
            continue
        done.add(promise.secret)
        known = by_secret.get(promise.secret)
        raw = None
        if known is not None and known.unchanged_guess is not None:
            before = max(answer.share for answer in known.answers)
            raw = guesses_in_thousand(before, known.unchanged_guess)[1]
        found.append(
            Gain(
                about=promise.about,
                before=promise.before,
                gain=promise.gain,
                dots=dots(promise.before, promise.gain),
                raw_gain=raw,
                raw_dots=dots(promise.before, raw) if raw is not None else [],
                ranges=tuple(_range(known, k) for k in _shown_answers(known)) if known else (),
                hidden=max(0, len(known.answers) - MOST_ANSWERS) if known else 0,
                worst=_worst_case(known, promise.about, facts.counted) if known else _worst_bits(facts, promise),
            )
        )
    return found


def _shown_answers(known: Beliefs) -> list[int]:
    """The answers that are drawn: all, or those whose chance can move the most."""
    ranked = sorted(range(len(known.answers)), key=lambda k: known.answers[k].low - known.answers[k].high)
    return sorted(ranked[:MOST_ANSWERS])


def _range(known: Beliefs, k: int) -> Range:
    answer = known.answers[k]
    raw = answer.unchanged
    return Range(
        name=combination(answer.values),
        share=_whole(answer.share, "nearest"),
        at=float(100 * answer.share),
        low=float(100 * answer.low),
        width=float(100 * (answer.high - answer.low)),
        words=_between(answer.low, answer.high),
        raw_low=float(100 * raw[0]) if raw else 0.0,
        raw_width=float(100 * (raw[1] - raw[0])) if raw else 0.0,
        raw_words=_between(*raw) if raw else "",
    )


def _between(low: Fraction, high: Fraction) -> str:
    """A range of chances, rounded outwards; one that never moves is rounded as the share beside it is."""
    if low == high:
        return f"{_whole(low, 'nearest')} %"
    return f"{_whole(low, 'down')}–{_whole(high, 'up')} %"


def _whole(q: Fraction, direction: Any) -> str:
    """A share in whole per cent."""
    per_cent = 100 * q
    if direction == "up":
        return str(-(-per_cent.numerator // per_cent.denominator))
    if direction == "down":
        return str(per_cent.numerator // per_cent.denominator)
    return str(round(per_cent))


def _worst_case(known: Beliefs, about: str, rows: int | None) -> str:
    worst = known.worst
    if worst.high == worst.share:
        return f"No released row makes any answer about {about} likelier than it is for everybody."
    count = "released rows"
    if rows:
        count = f"about {many(round(known.combination_share * rows), 'released row')}"
    raw = f" Unchanged columns would allow {figure(100 * worst.unchanged[1], 'up')} %." if worst.unchanged else ""
    return (
        f"for {count} “{combination(known.combination)}”, the answer “{combination(worst.values)}” is "
        f"{known.times} times as likely ({figure(100 * worst.high, 'up')} %) as for everybody "
        f"({figure(100 * worst.share, 'nearest')} %).{raw}"
    )


def _worst_bits(facts: Facts, promise: plain.Promised) -> str:
    """The same from the proved figures alone, where the statistics are not at hand."""
    figures = next(p.figures for p in facts.promises if p.secret == promise.secret)
    odds = figures.get("odds_nats")
    if "odds_nats" in figures and odds is None:
        return f"a released row can exclude an answer about {promise.about}."
    if odds is None or not exact(odds):
        return ""
    return (
        f"no answer about {promise.about} becomes likelier, or less likely, than it was by more than a factor of "
        f"{factor(odds)}."
    )


def one_more(facts: Facts) -> list[dict[str, str]]:
    """What someone learns who knows one more attribute, the most first."""
    found: dict[tuple[str, str], Fraction] = {}
    limit: dict[str, Fraction] = {}
    for promise in facts.promises:
        for name, more in promise.figures.get("with_one_more_bits", {}).items():
            found[promise.about, shown(name)] = exact(more)
        if isinstance(promise.guarantee, Leakage) and promise.kind == "leakage":
            limit[promise.about] = promise.guarantee.at_most_bits
    lines = []
    for (about, knows), more in sorted(found.items(), key=lambda entry: -entry[1]):
        promised = limit.get(about)
        against = ""
        if promised:
            share = more / promised - 1
            against = f"{percent(share, 'up')} more than promised" if share > Fraction(1, 100) else "as promised"
            if share >= 1:
                against = f"{figure(more / promised, 'up', 2)} times what is promised"
        lines.append(
            {"secret": about, "knows": knows, "bits": bits(more, "up") if more else "nothing", "against": against}
        )
    return lines
