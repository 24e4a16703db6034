#!/usr/bin/env python3
"""Estimates the original frequencies from a released CSV file and its card. Needs Python 3.11 and nothing else.

    python3 estimate.py card.json released.csv [population]

For each letter: the unbiased estimate and its 95 % interval, for the table or for the population that it came from.
"""

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any


def matrix(channel: Any) -> list[list[float]]:
    """The rows p(. | x), one for each outcome of the inputs."""
    form, numbers = channel.get("form"), {k: [Fraction(v) for v in channel[k]] for k in ("q", "keep") if k in channel}
    if form not in (None, "pram", "resample"):
        sys.exit(f"a channel of form {form} needs the full package")
    if form == "pram":
        pairs, others = enumerate(numbers["q"]), len(numbers["q"]) - 1
        return [[float(v if x == y else (1 - v) / others) for y in range(others + 1)] for x, v in pairs]
    if form == "resample":
        pairs = enumerate(numbers["keep"])
        return [[float((1 - k) * v + k * (x == y)) for y, v in enumerate(numbers["q"])] for x, k in pairs]
    return [[float(Fraction(v)) for v in row] for row in channel["rows"]]


def inverse(M: list[list[float]]) -> list[list[float]]:
    """By elimination with the largest pivot."""
    rows = [[*row, *(float(x == y) for y in range(len(M)))] for x, row in enumerate(M)]
    for k in range(len(M)):
        top = max(range(k, len(M)), key=lambda i: abs(rows[i][k]))
        if len(M) != len(M[0]) or abs(rows[top][k]) < 1e-12:
            sys.exit("the matrix of this channel has no inverse; the full package says what it determines")
        rows[k], rows[top] = rows[top], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i, row in enumerate(rows):
            if i != k:
                rows[i] = [a - row[k] * b for a, b in zip(row, rows[k], strict=True)]
    return [row[len(M) :] for row in rows]


def estimates(card: Any, records: Iterable[Any], population: bool = False) -> Iterator[tuple[Any, float, float]]:
    """(outcome, estimate, standard error) for each outcome of the inputs; records are dictionaries."""
    channel = card.get("channel", card)
    inputs, letters = (list(product(*channel[side].values())) for side in ("inputs", "output"))
    absent = {name: ("",) if "?" in alphabet else ("", "?") for name, alphabet in channel["output"].items()}
    fields = ([(name, record[name].strip()) for name in absent] for record in records)
    n = Counter(tuple("(missing)" if v in absent[name] else v for name, v in row) for row in fields)
    if set(n) - set(letters) or set(card.get("kept", [])) & set(channel["inputs"]) or n.total() < 2:
        sys.exit("the table has other letters than the card, or too few rows, or its strata need the full package")
    for x, a in zip(inputs, zip(*inverse(matrix(channel)), strict=True), strict=True):
        p, square = (sum(v**e * n[y] for v, y in zip(a, letters, strict=True)) / n.total() for e in (1, 2))
        variance = (square - p * p) / (n.total() - 1) if population else (square - p) / n.total()
        yield x, p, max(variance, 0.0) ** 0.5


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as c, open(sys.argv[2], encoding="utf-8", newline="") as r:
        for x, p, error in estimates(json.load(c), csv.DictReader(r), "population" in sys.argv[3:]):
            print(",".join(x), f"{p:.6f} [{p - 1.959964 * error:.6f}, {p + 1.959964 * error:.6f}]", sep="\t")
