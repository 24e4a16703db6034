"""`dalenius estimate`"""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dalenius.cli import analyses
from dalenius.cli.terminal import say
from dalenius.core.digits import many
from dalenius.errors import InputError
from dalenius.evidence import answers, counted, described, digests, forecast, noise_of
from dalenius.evidence.cards import cards_of
from dalenius.evidence.scripts import script
from dalenius.measures import Estimate, estimate_law, information_kept
from dalenius.measures.inversion import surprise
from dalenius.outputs import new_file, refuse_existing
from dalenius.tables import read_json, read_told

SHOWN = 40
TABLES = (".csv", ".tsv", ".parquet", ".arrow", ".feather")


def run(arguments: Namespace) -> None:
    if arguments.export:
        _exported(arguments)
        return
    if arguments.rows:
        if table := next((name for name in arguments.files if Path(name).suffix.lower() in TABLES), None):
            raise InputError(
                f"--rows says the errors beforehand, from the card alone, and {table} is a table",
                do="Leave out the table, or leave out --rows.",
            )
        _before(arguments)
        return
    if len(arguments.files) < 2:
        raise InputError("name a card (or design, or several) and the released table, or say --rows N for a forecast")
    if arguments.on and not (arguments.linear or arguments.logistic):
        raise InputError(
            "--on names what explains an outcome: say --linear COLUMN or --logistic COLUMN=VALUE beside it"
        )
    *cards, released = arguments.files
    if Path(cards[0]).suffix.lower() in TABLES and Path(released).suffix.lower() == ".json":
        raise InputError(f"{cards[0]} is a table: write the card first, then the released table")
    if len(cards) == 1 and (channel := noise_of(cards[0])) is not None and not arguments.queries:
        lines, document = analyses.of_numbers(arguments, channel, released)
    elif analyses.wanted(arguments):
        lines, document = analyses.analysed(arguments, cards, released)
    else:
        lines, document = _estimated(arguments, cards, released)
    say(arguments, [*lines, *_stands_on(cards, arguments.target)], document | {"designs": digests(cards)})


def _exported(arguments: Namespace) -> None:
    """The estimation as a script for whoever has no dalenius."""
    in_r = Path(arguments.export).suffix.lower() == ".r"
    refuse_existing(Path(arguments.export), force=arguments.force, inputs=map(Path, arguments.files))
    with new_file(Path(arguments.export), force=arguments.force) as place:
        place.write_text(script("estimate.R" if in_r else "estimate.py"), encoding="utf-8")
    needs = "R with jsonlite" if in_r else "Python 3.11"
    said = f"Written: {arguments.export}, which needs {needs} and nothing else; it reads a card and a CSV file."
    say(arguments, [said], {"exported": arguments.export})


def _estimated(arguments: Namespace, cards: Sequence[str], released: str) -> tuple[list[str], dict[str, Any]]:
    """Shares of the wanted columns, what they still reveal, and counts that were asked for."""
    factors, seen, preserved = counted(cards, released, columns=arguments.columns, weights=arguments.weights)
    found = estimate_law(
        factors,
        seen,
        columns=arguments.columns,
        method=arguments.method,
        target=arguments.target,
        level=arguments.level,
        preserved=preserved,
    )
    kept, weights = described(cards, arguments.weights)
    document = found.to_json() | ({"weights": weights} if weights else {})
    lines = _words(found, weights)
    if found.method == "preserved" and any("joint" not in read_told(card) for card in cards):
        lines.append("That the design preserves them is said beside the card; only design.json can prove it.")
    inverted = preserved != "withheld" and all(factor.identified.all() for factor in factors)
    if inverted and found.identified.all() and arguments.columns is None:
        beside = [n for factor in factors for n in factor.output if n in kept]
        value, error = information_kept(factors, seen, beside)
        most = float(surprise(np.clip(found.estimate, 0.0, 1.0)).sum())
        value = min(value, most)  # nothing tells more about a column than there is to know
        document |= {"information_bits": value, "information_standard_error": error}
        lines.append(
            f"{_beside(beside)} reveal {max(value, 0.0):.4g} bits about the original ones, standard error {error:.2g}."
        )
    if arguments.queries:
        how = {"target": arguments.target, "level": arguments.level, "weights": arguments.weights}
        document["queries"] = answers(cards, released, _queries(arguments.queries), **how)
        lines += [
            f"  {name}: {a['estimate']:.6f}  [{a['low']:.6f}, {a['high']:.6f}]{_mark(a['exact'], a['narrow'])}"
            for name, a in document["queries"].items()
        ]
    return lines, document


def _stands_on(cards: Sequence[str], target: str) -> list[str]:
    """What intervals of a population take for granted; the designs of the cards, as `sha256sum design.json` prints."""
    alike = [
        f"One {card.unit} has up to {card.rows_of_one} rows. Rows of one {card.unit} may be alike, and the intervals "
        "for the population take all rows for independent draws: they may be too narrow."
        for card in cards_of(cards)
        if target == "population" and card.rows_of_one > 1
    ]
    return list(dict.fromkeys(alike)) + [
        f"Fingerprint of design.json (sha256sum): {digest}" for digest in digests(cards)
    ]


def _queries(path: str) -> dict[str, Any]:
    queries = read_json(path, "query file")
    if not isinstance(queries, dict):
        raise InputError(
            f"{path}: a query file maps names to lists of terms",
            do='Write names and terms, as in {"young": [{"age": "under 40"}]}.',
        )
    return queries


def _beside(kept: Sequence[str]) -> str:
    return f"Beside {', '.join(kept)}, known anyway, the released values" if kept else "The released values"


def _words(found: Estimate, weights: str | None) -> list[str]:
    names = ", ".join(found.columns)
    whose = "this table" if found.target == "table" else "the population behind it"
    how = {
        "inverse": "unbiased",
        "mle": "most likely",
        "regularised": "regularised",
        "preserved": "as released, for the design preserves them on average",
    }[found.method]
    rows = many(found.rows, "released row") + (f" weighted by {weights}" if weights else "")
    lines = [f"Frequencies of {names} in {whose}, from {rows}: {how}, {found.level:.0%} intervals."]
    outcomes = [" / ".join(x) for x in found.outcomes()]
    order = list(range(len(outcomes)))
    if len(outcomes) > SHOWN:
        order = sorted(order, key=lambda k: -np.nan_to_num(found.estimate[k]))[:SHOWN]
    width = max(len(outcomes[k]) for k in order)
    for k in order:
        if np.isnan(found.low[k]):
            lines.append(f"  {outcomes[k]:<{width}}  not determined by what was released")
            continue
        known = bool(found.identified[k])
        value = " " * 9 if np.isnan(found.estimate[k]) else f"{found.estimate[k]:9.6f}"
        lines.append(
            f"  {outcomes[k]:<{width}}  {value}  [{found.low[k]:.6f}, {found.high[k]:.6f}]"
            + (_mark(bool(found.exact[k]), bool(found.narrow[k])) if known else " ~")
        )
    if len(outcomes) > SHOWN:
        lines.append(f"  ... {len(outcomes) - SHOWN:,} more; --json gives all of them")
    if ((found.estimate < 0) | (found.estimate > 1))[order].any():
        lines.append(
            "A share below 0 or above 1 is impossible: so much do the changes hide here. --method mle gives the most "
            "likely shares that are possible."
        )
    if not found.identified.all() and not np.isnan(found.low).all():
        lines.append(
            "Shares marked ~ are not determined by what was released: every value in the brackets fits it, and the "
            "figure in front is only one of them."
        )
    if (found.exact & found.identified)[order].any():
        lines.append(
            "Intervals marked * rest on few released rows and are exact: they hold at every number of rows. The "
            "estimate in front of them may be little more than noise."
        )
    if (found.narrow & found.identified)[order].any():
        lines.append(
            "Intervals marked ! rest on few released rows and may be too narrow: with weights, exact ones are had for "
            "the table alone (--target table); with very many combinations, for fewer columns."
        )
    if found.gap is not None:
        lines.append(f"No other answer is more likely by more than {found.gap:.1g} units of log-likelihood.")
    if found.shrinkage is not None:
        lines.append(f"{found.shrinkage:.1%} of the distance to equal shares was taken for noise.")
    return lines


def _mark(exact: bool, narrow: bool) -> str:
    return " *" if exact else " !" if narrow else ""


def _before(arguments: Namespace) -> None:
    if not arguments.files:
        raise InputError("name a card or a design to forecast from")
    queries = _queries(arguments.queries) if arguments.queries else None
    errors = forecast(
        arguments.files, arguments.rows, queries=queries, columns=arguments.columns, target=arguments.target
    )
    lines = [f"Standard errors to expect from {many(arguments.rows, 'released row')}, for the {arguments.target}:"]
    for name, figures in errors.items():
        lines.append(f"  {name}: " + ", ".join(f"{law} {value:.6f}" for law, value in figures.items()))
    if any("worst" in figures for figures in errors.values()):
        lines.append(
            "worst: at the shares at which the error is largest; uniform: if all combinations are as frequent."
        )
    say(arguments, lines, {"rows": arguments.rows, "target": arguments.target, "standard_error": errors})
