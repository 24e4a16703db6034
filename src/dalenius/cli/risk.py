"""`dalenius risk`"""

import csv
import io
import json
from argparse import Namespace
from math import isinf
from pathlib import Path
from typing import Any

from dalenius.cli.terminal import say
from dalenius.core import Problem, TableSource
from dalenius.core.digits import figure, many
from dalenius.errors import InputError
from dalenius.evidence import Risk, risk
from dalenius.outputs import RISK, new_folder, refuse_existing, write_text
from dalenius.papers.curve import Chart, Line, draw
from dalenius.tables import Table, opened_table, write_table
from dalenius.wording import joined

SHOWN = 5
LEAST = 1e-4  # a share; what is below it is said to be
MODELS = {
    "main": "main effects",
    "two-way": "two-way effects",
    "negative-binomial": "main effects with a random factor in each combination",
}


def run(arguments: Namespace) -> None:
    folder = Path(arguments.output) if arguments.output else None
    if folder:
        refuse_existing(folder, force=arguments.force, kind=RISK)
    table, weights = arguments.table, arguments.weights
    if Path(table).suffix.lower() == ".toml":
        table, weights = _source(arguments)
    found = risk(
        table,
        arguments.keys,
        population=arguments.population,
        fraction=arguments.fraction,
        weights=weights,
        model=arguments.model,
    )
    document = found.to_json()
    lines = _words(document)
    if arguments.level is not None:
        tau1, tau2 = found.after(arguments.level)
        document["after"] = {"level": arguments.level, "tau1": tau1, "tau2": tau2}
        lines.append(f"R{_after(found, arguments.level, tau2)[1:]}")
    if arguments.target_risk is not None:
        level = found.level_for(arguments.target_risk)
        free = isinf(level)
        tau2 = found.tau[1] if free else found.after(level)[1]
        document["target"] = {"tau2": arguments.target_risk, "level": None if free else level, "reached": tau2}
        words = f"the keys as they are leave {_expected(tau2)} right links; nothing has to be changed."
        lines.append(f"Target {arguments.target_risk:g}: " + (words if free else _after(found, level, tau2)))
    if folder:
        points = found.curve()
        document["map"] = points
        with new_folder(folder, RISK, force=arguments.force) as place:
            write_text(place / "risk.json", json.dumps(document, indent=1, ensure_ascii=False) + "\n", private=True)
            write_text(place / "map.csv", _csv(points), private=True)
            write_text(place / "map.svg", draw(_chart(points, found.tau[1], arguments.target_risk)), private=True)
            write_text(place / "records.csv", "", private=True)
            write_table(place / "records.csv", "csv", _records(found))
        lines.append(f"Written: {folder}/ with map.csv, map.svg, records.csv, risk.json (confidential).")
    say(arguments, lines, document)


def _source(arguments: Namespace) -> tuple[Table, str | None]:
    """The table of a problem file, and its weights unless the size of the population is said otherwise."""
    problem = Problem.from_file(arguments.table)
    if not isinstance(problem.source, TableSource):
        raise InputError(
            f"{arguments.table}: the [source] is not a table, so there are no records at risk",
            do="Name the table itself, or a problem file that has one.",
        )
    said = arguments.weights or arguments.population or arguments.fraction
    return opened_table(problem), arguments.weights if said else problem.source.weights


def _words(document: dict[str, Any]) -> list[str]:
    lines = [
        f"{many(document['rows'], 'row')}, {document['combinations']:,} combinations of {joined(document['keys'])}; "
        f"{many(document['sample_uniques'], 'row')} alone with theirs.",
        f"The table holds one person in {1 / document['sampling_fraction']:,.1f} of the population "
        f"(model: {MODELS[document['model']]}).",
        f"Of the rows alone, {_expected(document['tau1'])} are alone in the population too (tau1).",
        "An intruder who links each of them to one of the people alike, at random, is right "
        f"{_expected(document['tau2'])} times (tau2).",
    ]
    worst = document["riskiest"][:SHOWN]
    lines += (
        ["Most at risk; the chances that they are alone in the population, and that a link is right:"] if worst else []
    )
    return lines + [f"  {' · '.join(e['key'])}: {_percent(e['r1'])}, {_percent(e['r2'])}" for e in worst]


def _percent(share: float) -> str:
    """A share in two digits.

    >>> _percent(0.5787), _percent(0.0007), _percent(2.5e-10)
    ('58 %', '0.07 %', 'below 0.01 %')
    """
    return f"{figure(100 * share, 'nearest', 2)} %" if not 0 < share < LEAST else "below 0.01 %"


def _expected(number: float) -> str:
    """So many rows, or links, to expect.

    >>> _expected(36.506), _expected(2213.4), _expected(1.05e-9), _expected(0)
    ('about 36.5', 'about 2,213', 'fewer than 0.001', 'about 0')
    """
    if 0 < number < 10 * LEAST:
        return "fewer than 0.001"
    return f"about {number:,.0f}" if number >= 1000 else f"about {number:.3g}"


def _after(found: Risk, level: float, tau2: float) -> str:
    return (
        f"randomised response at level {figure(level, 'down', 5)} for each key "
        f"({figure(level * len(found.keys), 'up', 5)} for all together) leaves "
        f"{_expected(tau2)} right links, and {_percent(found.information(level))} of what the keys say."
    )


def _csv(points: list[dict[str, float]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(points[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(points)
    return file.getvalue()


def _records(found: Risk) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """One line for each row of the table, in its order: the figures of its combination."""
    figures = {"count": found.counts, "r1": found.r1, "r2": found.r2}
    return {name: (found.cell, tuple(f"{value:.9g}" for value in values.tolist())) for name, values in figures.items()}


def _chart(points: list[dict[str, float]], unperturbed: float, target: float | None) -> Chart:
    ends = (points[0]["information_share"], 1.0)
    lines = [
        Line("right links to expect (tau2)", _pairs(points, "tau2"), 0, every=4),
        Line("alone in the population, to expect (tau1)", _pairs(points, "tau1"), 1, dashed=True, every=4),
        Line(f"tau2 of the keys as they are: {unperturbed:.4g}", tuple((end, unperturbed) for end in ends), 3, every=0),
    ]
    if target is not None:
        lines.append(Line(f"the target: {target:g}", tuple((end, target) for end in ends), 2, dashed=True, every=0))
    return Chart(
        title="Risk and utility of randomised response",
        x="share of what is known about the keys that stays",
        y="records to expect",
        lines=tuple(lines),
        caption="Each mark is a level of local differential privacy for each key: 0, 1, 2, ... 8 from the left. All "
        "keys together are charged the sum.",
    )


def _pairs(points: list[dict[str, float]], what: str) -> tuple[tuple[float, float], ...]:
    return tuple((point["information_share"], point[what]) for point in points)
