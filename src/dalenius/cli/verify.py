"""`dalenius verify`"""

import json
from argparse import Namespace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalenius.cli.terminal import say
from dalenius.documents import about_file, kind_of
from dalenius.errors import InputError
from dalenius.kernel.answers import ANSWER
from dalenius.kernel.export import exported
from dalenius.kernel.numbers import down, up
from dalenius.kernel.promises import LOWER
from dalenius.outputs import new_file, refuse_existing
from dalenius.verifying import verify
from dalenius.wording import ONE_BY_ONE, Shape, compared, joined, proof_words, shown

if TYPE_CHECKING:
    from dalenius.kernel.check import Verdict

SHOWN = 9  # digits of a figure that people compare; --json has all
MANY = 8  # guarantees that a card cannot prove are counted, no longer listed
WITHIN = {"pram": "of the form pram ", "noise": "on the grid "}
"""Forms that the mechanisms which compete are held to; beyond them, others may do better."""
GROUPED = {"ranges": ("cuts", "quantiles"), "groups": ("groups",), "years or months": ("dates",), "points": ("grid",)}
"""How values of a table may be counted together, and the words of a problem file for it."""


def run(arguments: Namespace) -> None:
    lines: list[str] = []
    document: dict[str, object] = {}
    if arguments.export:
        proof = [Path(arguments.design)] if arguments.design else []
        refuse_existing(Path(arguments.export), force=arguments.force, inputs=proof)
        with new_file(Path(arguments.export), force=arguments.force) as place:
            place.write_text(exported(version("dalenius")), encoding="utf-8")
        lines.append(f"Written: {arguments.export}, the checker as one file; it needs Python 3.11 and nothing else.")
        document["exported"] = arguments.export
    elif arguments.design is None:
        raise InputError("name a design.json or card.json to verify, or a file to write with --export")
    if arguments.design is not None:
        verdict = verify(
            arguments.design,
            table=arguments.table,
            problem=arguments.problem,
            privacy=arguments.privacy,
            work=arguments.work,
        )
        said = json.loads(Path(arguments.design).read_bytes())
        document |= _figures(verdict, said)
        if said["format"] == ANSWER:
            lines += proof_words(said, verdict.kept.promises)
        else:
            lines += _words(verdict, said, recounted=bool(arguments.table))
        if _bounded(verdict, said):
            lines.append(_compared(said))
        if arguments.table:
            same = "exactly the rows and counts of the design"
            if verdict.rows is None:
                same = "the shares of the design, which states no number of rows"
            lines.append(f"Recounted: {arguments.table} has {same}.")
            lines += [] if arguments.problem else _counted_by(arguments.design)  # which the problem is compared with
        if arguments.problem:
            lines.append(f"Compared: the design keeps every promise, limit and shape of {arguments.problem}.")
    say(arguments, lines, document)


def _counted_by(design: str) -> list[str]:
    """What the file beside a design says about how a table is counted: no proof stands behind it."""
    from dalenius.tables import read_told

    told = read_told(design)
    source = told.get("source", {})
    columns = told.get("columns", {})
    unit = source.get("unit", "row")
    words = source.get("missing_words", [])
    said = [] if unit == "row" else [f"all rows with one value of {shown(unit)} are one person's"]
    for what, keys in GROUPED.items():
        names = [name for name, column in columns.items() if any(key in column for key in keys)]
        said += [f"{joined(names)} in {what}"] if names else []
    missing = [name for name, column in columns.items() if column.get("missing", "refuse") != "refuse"]
    said += [f"gaps of {joined(missing)} as a value"] if missing else []
    said += [f"{joined(words, 'or')} as a gap"] if words else []
    beside = about_file(Path(design)).name
    return [f"Counted as {beside} says, which nothing proves: {'; '.join(said)}."] if said else []


def _compared(said: dict[str, Any]) -> str:
    """The recipes among which none is better, from the document that was proved alone."""
    mechanism, objective, promises = said["mechanism"], said["objective"], said["promises"]
    strata, side = mechanism["strata"], mechanism["side"]
    traded = objective["aim"] == "distortion" or (objective["aim"] == "leakage" and objective["theta"] == "1")
    leaks = all(promise["promise"] == "leakage" and not promise.get("within") for promise in promises)
    return compared(
        Shape(
            strata=strata,
            kept=[name for name in mechanism["keep"] if name not in strata],
            release=mechanism["release"],
            freeze=mechanism["freeze"],
            each=bool(mechanism["each"]),
            forbids=bool(mechanism["forbid"] or mechanism["never"]),
            keeps_shares=mechanism["preserve_marginals"],
            side=side["variable"] if side else None,
        ),
        [*mechanism["observe"], *([side["variable"]] if side and side["encoder"] == "informed" else [])],
        by_noise=said["channel"]["form"] == "noise",
        limited=any("distortion" in limit for limit in said["limits"]),
        told=[(limit["at_least_bits"], limit["information"]) for limit in said["limits"] if "information" in limit],
        by_record=traded and leaks and kind_of(said) in ONE_BY_ONE,
    )


def _figures(verdict: "Verdict", said: dict[str, Any]) -> dict[str, object]:
    """What was proved, for machines: ends of value and bound as [lower, upper]."""
    shown: list[object] = [
        None if figures is None else {name: _decimal(name, value) for name, value in figures.items()}
        for figures in verdict.kept.promises
    ]
    card = "law" not in said
    kind = "answer" if said["format"] == ANSWER else "card"
    found: dict[str, object] = {
        "proved": True,
        "kind": kind if card else verdict.rule,
        "digest": verdict.digest,
        "rows": verdict.rows,
        "guarantees": shown,
    }
    if verdict.value is None or verdict.bound is None:
        return found
    if verdict.value <= verdict.bound and said["objective"]["aim"].startswith("information"):
        return found | {"value_bits": [down(verdict.value), up(verdict.bound)]}
    limits = zip(verdict.kept.limits, verdict.kept.from_below, strict=True)
    reached = [down(d) if below else up(d) for d, below in limits]
    return found | {"least": [down(verdict.bound), up(verdict.value)], "limits": reached}


def _decimal(name: str, value: Fraction | None) -> str | None:
    return None if value is None else down(value) if name in LOWER else up(value)


def _words(verdict: "Verdict", said: dict[str, Any], *, recounted: bool) -> list[str]:
    lines = []
    if "law" not in said:
        if said["channel"]["form"] == "withheld":
            lines.append("The card does not show its recipe, which would show the table: it proves nothing by itself.")
        else:
            lines.append("Proved from the card alone: every row of the recipe adds up to 1.")
        lines.append("That nothing better is possible depends on statistics: only design.json can prove it.")
    else:
        lines += _of_design(verdict, said, recounted=recounted)
    unproved = sum(figures is None for figures in verdict.kept.promises)
    if unproved > MANY:
        lines.append(f"{unproved} promises depend on statistics: only design.json can prove them.")
    for k, figures in enumerate(verdict.kept.promises, 1):
        if figures is None and unproved <= MANY:
            lines.append(f"Promise {k} depends on statistics: only design.json can prove it.")
        elif figures is not None and "law" not in said:
            lines.append(f"Promise {k} is proved from the card alone.")
    return [*lines, f"Fingerprint of the file (sha256sum): {verdict.digest}"]


MEANING = {
    "information": ("what is released says", "says", " bits"),
    "information_of_each": ("what is released says", "says", " bits"),
    "leakage": ("what is released reveals", "reveals", " bits"),
    "capacity": ("what is released reveals to anybody", "reveals", " bits"),
    "distortion": ("the average change of a row is", "changes rows by", ""),
    "variance": ("the variance of estimated shares is", "has", ""),
}
"""For each aim how the value is said, how that of other recipes, and the unit."""


def _of_design(verdict: "Verdict", said: dict[str, Any], *, recounted: bool) -> list[str]:
    if verdict.rows is not None:
        whose = f"It is about a table of {verdict.rows:,} rows" + ("." if recounted else "; --table recounts one.")
    else:
        whose = "It is about stated statistics, not about the rows of a table."
    if verdict.value is None or verdict.bound is None:
        return [
            "Proved: every promise and every limit is kept. Whether anything is better was not asked.",
            whose,
        ]
    others = f"no recipe {WITHIN.get(said['mechanism']['form'], '')}that keeps them"
    reaches, has, unit = MEANING[said["objective"]["aim"]]
    more = said["objective"]["aim"].startswith("information")
    value, bound = (down, up) if more else (up, down)
    reached = f"{reaches} {'at least' if more else 'at most'} {value(verdict.value, SHOWN)}{unit}"
    others += f" {has} {'more' if more else 'less'} than {bound(verdict.bound, SHOWN)}{unit}"
    return [
        f"Proved: every promise and every limit is kept, and {reached}.",
        f"Proved: {others}." if _bounded(verdict, said) else "No limit is proved that holds for other recipes.",
        whose,
    ]


def _bounded(verdict: "Verdict", said: dict[str, Any]) -> bool:
    """Whether anything is known of what others reach: nothing has less than nothing."""
    if verdict.value is None or verdict.bound is None:
        return False
    return said["objective"]["aim"].startswith("information") or verdict.bound > 0 or verdict.bound == verdict.value
