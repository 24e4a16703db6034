"""`dalenius estimate` of numbers, and with --given, --compare, --linear or --logistic: analyses and their words."""

from argparse import Namespace
from collections.abc import Sequence
from math import exp, isinf, isnan
from typing import Any

from dalenius.core import Noise
from dalenius.core.digits import many
from dalenius.documents.text import as_decimal
from dalenius.errors import InputError
from dalenius.evidence import (
    NumberEstimate,
    described,
    estimate_covariances,
    estimate_numbers,
    moments,
    regress_numbers,
)
from dalenius.measures.contrasts import LARGE, Figure, compared, within_groups
from dalenius.measures.moments import Moments
from dalenius.measures.regression import Regression, regressed
from dalenius.wording import joined

NUMBER = ":number"


def wanted(arguments: Namespace) -> bool:
    """Whether an analysis beyond the table of shares is asked for."""
    return bool(arguments.given or arguments.compare or arguments.linear or arguments.logistic)


def analysed(arguments: Namespace, cards: Sequence[str], released: str) -> tuple[list[str], dict[str, Any]]:
    """The lines to print and the document to write, for all analyses that are asked for."""
    if arguments.queries or arguments.method != "auto":
        raise InputError("groups and regressions have one way of estimating: leave out --queries and --method")
    lines: list[str] = []
    _, weights = described(cards, arguments.weights)
    document: dict[str, Any] = {"level": arguments.level, "target": arguments.target}
    document |= {"weights": weights} if weights else {}
    if arguments.given:
        if not arguments.columns:
            raise InputError("say --columns COLUMN ... for the values that are counted within the groups of --given")
        moments = _moments(arguments, cards, released, [*arguments.given, *arguments.columns])
        shares = within_groups(moments, arguments.columns, arguments.given, level=arguments.level)
        document["shares"] = [
            {"group": list(group), "outcome": list(value), **figure.to_json()}
            for group, row in shares.items()
            for value, figure in row.items()
        ]
        heading = f"Shares of {', '.join(arguments.columns)} within {', '.join(arguments.given)}"
        lines += [_heading(heading, moments, arguments.level, weights), *_share_lines(shares)]
    if arguments.compare:
        value, one, other = map(_pair, arguments.compare)
        moments = _moments(arguments, cards, released, [value[0], one[0], other[0]])
        figures = compared(moments, dict([value]), [dict([one]), dict([other])], level=arguments.level)
        document["comparison"] = {name: figure.to_json() for name, figure in figures.items()}
        heading = f"{'='.join(value)}, for 1: {'='.join(one)} and 2: {'='.join(other)}"
        lines += [_heading(heading, moments, arguments.level, weights), *_figure_lines(figures)]
    if arguments.linear or arguments.logistic:
        fit = _regression(arguments, cards, released)
        document["regression"] = fit.to_json()
        lines += _regression_lines(fit, weights)
    return lines, document


def of_numbers(arguments: Namespace, channel: Noise, released: str) -> tuple[list[str], dict[str, Any]]:
    """The lines to print and the document to write for numbers that were released with noise."""
    how = {"target": arguments.target, "level": arguments.level, "weights": arguments.weights}
    said = {"weights": arguments.weights} if arguments.weights else {}
    if arguments.columns or arguments.method != "auto":
        raise InputError("all numbers with noise are estimated together, in one way: leave out --columns and --method")
    if arguments.given or arguments.compare or arguments.logistic:
        raise InputError("numbers with noise have means, covariances and linear regressions: say --linear and --on")
    if arguments.linear:
        on = [text.removesuffix(NUMBER) for text in arguments.on or ()]
        fit = regress_numbers(channel, released, arguments.linear, on, **how)
        lines = [*_regression_lines(fit, arguments.weights), _rounded_words(channel, [arguments.linear, *on])]
        return lines, said | {
            "regression": fit.to_json(),
            "grid_steps": {name: as_decimal(step) for name, step in channel.steps.items()},
        }
    numbers = estimate_numbers(channel, released, **how)
    pairs = estimate_covariances(channel, released, **how)
    lines = _number_words(numbers, arguments.weights)
    lost = [name for name in channel.inputs if name not in {number.column for number in numbers}]
    lines += [f"  {name}: not determined by what was released, which does not depend on it" for name in lost]
    lines += [f"  {a}, {b}: covariance {f.estimate:.6g}  [{f.low:.6g}, {f.high:.6g}]" for (a, b), f in pairs.items()]
    lines.append(_rounded_words(channel, [number.column for number in numbers]))
    document: dict[str, Any] = {"rows": numbers[0].rows, "target": arguments.target, **said}
    document["grid_steps"] = {name: as_decimal(step) for name, step in channel.steps.items()}
    document["not_determined"] = lost
    document["numbers"] = {number.column: number.to_json() for number in numbers}
    if pairs:
        document["covariances"] = [{"columns": list(pair), **figure.to_json()} for pair, figure in pairs.items()]
    return lines, document


def _moments(arguments: Namespace, cards: Sequence[str], released: str, columns: Sequence[str]) -> Moments:
    return moments(cards, released, columns, target=arguments.target, weights=arguments.weights)


def _regression(arguments: Namespace, cards: Sequence[str], released: str) -> Regression:
    if arguments.linear and arguments.logistic:
        raise InputError("say either --linear or --logistic")
    if not arguments.on:
        raise InputError(f"say --on COLUMN ... for what explains the outcome; COLUMN{NUMBER} lets it enter as a number")
    numbers = [text.removesuffix(NUMBER) for text in arguments.on if text.endswith(NUMBER)]
    on = [text.removesuffix(NUMBER) for text in arguments.on]
    outcome, value = _pair(arguments.logistic) if arguments.logistic else (arguments.linear, None)
    moments = _moments(arguments, cards, released, [outcome, *on])
    return regressed(moments, outcome, on, value=value, numbers=numbers, level=arguments.level)


def _pair(text: str) -> tuple[str, str]:
    column, sign, value = text.partition("=")
    if not sign:
        raise InputError(
            f"{text!r} is not written as COLUMN=VALUE",
            do="Write a column, an equals sign and a value, such as plan=free.",
        )
    return column, value


def _heading(words: str, moments: Moments, level: float, weights: str | None) -> str:
    whose = "in this table" if moments.target == "table" else "in the population behind it"
    return f"{words}, {whose}, from {_rows(moments.seen.rows, weights)}, {level:.0%} intervals."


def _rows(rows: int, weights: str | None) -> str:
    return many(rows, "released row") + (f" weighted by {weights}" if weights else "")


def _share_lines(shares: dict[tuple[str, ...], dict[tuple[str, ...], Figure]]) -> list[str]:
    lines = []
    for group, row in shares.items():
        lines.append(f"  {' / '.join(group)}:")
        width = max(len(" / ".join(value)) for value in row)
        lines += [f"    {' / '.join(value):<{width}}  {_said(figure)}" for value, figure in row.items()]
    return [*lines, *_explained([figure for row in shares.values() for figure in row.values()])]


def _figure_lines(figures: dict[str, Figure]) -> list[str]:
    lines = [f"  {name.replace('_', ' '):<10}  {_said(figure)}" for name, figure in figures.items()]
    return [*lines, *_explained(list(figures.values()))]


def _said(figure: Figure) -> str:
    """A figure with its interval; the interval alone where the release says no more."""
    if figure.whole:
        return "too uncertain to say"
    value = " " * 9 if isnan(figure.estimate) else f"{figure.estimate:9.6f}"
    high = "no limit" if isinf(figure.high) else f"{figure.high:.6f}"
    return f"{value}  [{figure.low:.6f}, {high}]"


def _explained(figures: Sequence[Figure]) -> list[str]:
    """What is meant where an estimate is missing."""
    if not any(isnan(figure.estimate) for figure in figures):
        return []
    return [
        "Where no estimate stands, the changes hide how many rows a group or a count had: every value in the brackets "
        "fits the release, and where there are none, every value at all."
    ]


def _regression_lines(fit: Regression, weights: str | None = None) -> list[str]:
    whose = "this table" if fit.target == "table" else "the population behind it"
    lines = [
        f"{fit.kind.capitalize()} regression of {fit.outcome} in {whose}, from {_rows(fit.rows, weights)}, "
        f"{fit.level:.0%} intervals" + ("; odds ratios at the end." if fit.kind == "logistic" else ".")
    ]
    width = max(map(len, fit.names))
    for name, figure in fit.coefficients.items():
        ends = [_end(end) for end in (figure.low, figure.high)]
        line = f"  {name:<{width}}  {figure.estimate:10.6g}  [{', '.join(ends)}]"
        if fit.kind == "logistic":
            odds = [exp(min(value, LARGE)) for value in (figure.estimate, figure.low)]
            high = "no limit" if isinf(figure.high) else f"{exp(min(figure.high, LARGE)):.4g}"
            line += f"   {odds[0]:.4g}  [{odds[1]:.4g}, {high}]"
        lines.append(line)
    if any(isinf(end) for figure in fit.coefficients.values() for end in (figure.low, figure.high)):
        lines.append(
            "Where an interval has no limit, the changes hide how much the columns vary, or that a share is 0 or 1."
        )
    return lines


def _end(value: float) -> str:
    return "no limit" if isinf(value) else f"{value:.6g}"


def _number_words(numbers: Sequence[NumberEstimate], weights: str | None) -> list[str]:
    whose = "this table" if numbers[0].target == "table" else "the population behind it"
    lines = [f"Numbers of {whose}, from {_rows(numbers[0].rows, weights)}, {numbers[0].level:.0%} intervals:"]
    for number in numbers:
        (low, high), (least, most) = number.mean_interval, number.variance_interval
        lines.append(f"  {number.column}: mean {number.mean:.6g}  [{low:.6g}, {high:.6g}]")
        if number.determined:
            lines.append(f"  {number.column}: variance {number.variance:.6g}  [{least:.6g}, {most:.6g}]")
        else:
            lines.append(f"  {number.column}: variance not determined, for the weights leave a handful of rows")
        if number.rounding:
            lines.append(f"  {number.column}: of the half-width of the mean, {number.rounding:.3g} is for rounding")
    return lines


def _rounded_words(channel: Noise, columns: Sequence[str]) -> str:
    """What a card cannot tell: how the numbers lay between the points of their grid."""
    steps = channel.steps
    between = [column for column in columns if len(channel.inputs[column]) > 1]
    listed = joined([f"{column} in steps of {as_decimal(steps[column])}" for column in columns])
    apart = joined([f"{as_decimal(steps[column] / 2)} ({column})" for column in between], "or")
    rounded = f" Numbers that lay between were rounded before the noise; their own mean may lie up to {apart} beside."
    return f"Said of numbers on their grid: {listed}." + (rounded if between else "")
