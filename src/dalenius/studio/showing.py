"""The state of a studio in words: everything that its page shows, with no figure left to be computed there."""

from typing import TYPE_CHECKING, Any

from dalenius.core import Guarantee, Guess, Independent, Leakage, LocalDP, MinimizeDistortion
from dalenius.core.digits import bits, many
from dalenius.mechanisms.columns.leakage.preflight import time_words
from dalenius.mechanisms.registry import kept_with
from dalenius.starting import Groups
from dalenius.studio.choices import KEEPING, LEVELS, ROLES
from dalenius.wording import joined, shown

if TYPE_CHECKING:
    from dalenius.studio.session import Session

__all__ = ["shown_state"]

BARS = 24  # of the picture of a column
BIT = "One bit is the answer to one fair yes-or-no question."
KINDS: dict[str, type[Guarantee]] = {"guess": Guess, "reveal": Leakage, "nothing": Independent, "deny": LocalDP}
"""What each promise of the page is in a problem file."""

Json = dict[str, Any]


def shown_state(session: "Session") -> Json:
    """Everything that the page shows, in words."""
    return {
        "version": session.version,
        "table": {"name": session.table.name, "rows": f"{session.rows:,} rows", "columns": _columns(session)},
        "choices": {
            "roles": dict(session.choices.roles),
            "promise": session.choices.promise,
            "level": session.choices.level,
            "keep_rows": session.choices.keep_rows,
            "times": session.choices.times,
            "person": session.choices.person,
            "cuts": dict(session.choices.cuts or {}),
            "named": {name: dict(groups) for name, groups in (session.choices.named or {}).items()},
            "title": session.choices.title,
            "owner": session.choices.owner,
            "ledger": session.choices.ledger,
        },
        "ledgers": session.ledgers(),
        "roles": ROLES,
        "keeping": KEEPING,
        "promises": _promises(session),
        "problem": _problem(session),
        "trade": session.trade | {"axis": _axis(session), "left": _left(session)},
        "release": {k: v for k, v in session.releasing.items() if k != "staging"} | _before_release(session),
    }


def _columns(session: "Session") -> list[Json]:
    groups: dict[str, Groups] = {}
    if session.draft:
        drafted = (*session.draft.released, *session.draft.secrets, *session.draft.kept)
        groups = {g.look.name: g for g in drafted}
    found = []
    for name, role in session.choices.roles.items():
        look = session.looks.get(name)
        here = groups.get(name)
        found.append(
            {
                "name": shown(name),
                "key": name,
                "words": "" if look is None else look.words(),
                "bars": [] if look is None else _bars(look.counts.tolist()),
                "role": role,
                "warning": session.left_out.get(name, ""),
                "numeric": look is not None and look.is_numeric,
                "groups": [] if here is None else [shown(label) for label in here.labels],
                "by_hand": name in (session.choices.cuts or {}) or name in (session.choices.named or {}),
            }
        )
    return found


def _bars(counts: list[int]) -> list[float]:
    """The picture of a column: how often its values occur, several of them in one bar where there are many."""
    step = -(-len(counts) // BARS)
    bars = [sum(counts[k : k + step]) for k in range(0, len(counts), step)]
    return [n / max(bars) for n in bars]


def _promises(session: "Session") -> list[Json]:
    """The promises that some mechanism says it keeps, the plainest first."""
    secret = joined([n for n, role in session.choices.roles.items() if role == "protect"]) or "the protected column"
    anyway = f"{round(1000 * session.draft.best_guess)}" if session.draft else ""
    everything = bits(session.draft.bits(session.draft.wish.secrets), "nearest") if session.draft else ""
    found = [
        {
            "key": "guess",
            "title": "A limit on guessing",
            "text": f"An attacker guesses {secret} right at most so often. Alone it is weak for rare answers.",
            "ask": "right at most, in per cent or as a share",
            "note": f"{anyway} of 1,000 guesses are right without any data." if anyway else "",
        },
        {
            "key": "reveal",
            "title": "A limit on what a row reveals",
            "text": f"On average a row reveals at most so many bits about {secret}.",
            "ask": "bits at most",
            "note": f"Everything about {secret} is {everything}. {BIT}" if everything else BIT,
        },
        {
            "key": "nothing",
            "title": "Nothing at all",
            "text": f"A row reveals nothing about {secret}: every answer stays exactly as likely as it was.",
            "ask": "",
            "note": "This needs the most change.",
        },
        {
            "key": "deny",
            "title": "Every person can deny",
            "text": "No entry is more than so many times likelier for one person than for another, whatever an "
            "attacker knows.",
            "ask": "times at most",
            "note": "Known as local differential privacy.",
        },
    ]
    kept = kept_with(MinimizeDistortion)  # a release on the page changes as little as it can
    return [p | {"level": _level(session, p["key"])} for p in found if KINDS[p["key"]] in kept]


def _level(session: "Session", promise: str) -> str:
    if promise == session.choices.promise:
        return session.choices.level
    if promise == "guess" and session.draft:  # a little above what is right anyway
        return f"{float(session.draft.best_guess) * 100 + 1:.0f}%"
    return LEVELS[promise]


def _problem(session: "Session") -> Json:
    """Size, groups and what is written, or why nothing can be."""
    if session.draft is None:
        return {"error": session.error, "size": "", "smallest": "", "because": "", "curved": False}
    before, after = session.draft.smallest
    dense = session.draft.form == "dense"  # where whole records are exchanged, small combinations do not show
    was = f"; it was {before:,} with finer groups" if before != after else ""
    return {
        "error": "",
        "size": f"{many(session.draft.combinations, 'combination')}, {many(session.rows, 'row')}",
        "smallest": f"The smallest combination has {many(after, 'row')}{was}." if dense else "",
        "because": session.draft.because,
        "curved": session.curved,
    }


def _left(session: "Session") -> str:
    """How long the rest of the curve takes, by the points that are solved; before the first one, by its size."""
    trade = session.trade
    if trade["state"] != "running" or session.draft is None:
        return ""
    took = [point["seconds"] for point in trade["points"]]
    if not took:
        return f"The first point takes about {time_words(session.draft.seconds)}."
    return f"About {time_words(sum(took) / len(took) * (trade['total'] - trade['tried']))} left."


def _axis(session: "Session") -> Json:
    secret = joined([n for n, role in session.choices.roles.items() if role == "protect"])
    up = {
        "reveal": f"Bits revealed about {secret}",
        "nothing": f"Bits revealed about {secret}",
        "guess": f"Right guesses of {secret}, of 1,000",
        "deny": "Times likelier, at most",
    }[session.choices.promise]
    columns = sum(role == "release" for role in session.choices.roles.values())
    return {"up": up, "across": f"entries changed per 100 rows (of {100 * columns})"}


def _before_release(session: "Session") -> Json:
    if session.draft is None:
        return {"losses": [], "toml": "", "command": "", "folder": str(session.folder)}
    name = session.releasing.get("name", "release")
    here = {"losses": session.losses(), "folder": str(session.folder)}
    return here | {"toml": session.text(), "command": session.command(name)}
