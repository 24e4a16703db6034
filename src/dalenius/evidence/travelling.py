"""python3 estimate.py card.json released.csv [population]: the shares before the changes, with 95 % intervals.

With `compare COLUMN=VALUE GROUP=ONE GROUP=OTHER` at the end: the share of a value in two groups, and how they differ.
"""

import csv
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import cycle, product
from math import exp, log
from pathlib import Path
from typing import Any

USAGE = "usage: python3 estimate.py card.json released.csv [population] [compare COLUMN=VALUE GROUP=ONE GROUP=OTHER]"
Z = 1.959964  # of a 95 % interval
SMALL = 1e-6  # smaller pivots would turn the noise of any table into estimates
FEW = 10  # values that occur in fewer released rows do not carry an interval


def unbiased(matrix: list[list[float]]) -> Iterator[list[float] | None]:
    """For each original value weights a with matrix a = 1 at this value and 0 elsewhere, or None if there are none."""
    inputs, letters = len(matrix), len(matrix[0])
    left = [[*row, *(float(x == y) for y in range(inputs))] for x, row in enumerate(matrix)]
    pivots: list[int] = []
    while len(pivots) < min(inputs, letters):  # Gauss and Jordan, by the largest entry that is left
        rest = [(abs(left[i][j]), i, j) for i in range(len(pivots), inputs) for j in range(letters) if j not in pivots]
        size, i, j = max(rest)
        if size < SMALL:
            break
        k = len(pivots)
        left[k], left[i] = left[i], left[k]
        left[k] = [v / left[k][j] for v in left[k]]
        for other in range(inputs):
            if other != k and left[other][j]:
                factor = left[other][j]
                left[other] = [a - factor * b for a, b in zip(left[other], left[k], strict=True)]
        pivots.append(j)
    for x in range(letters, letters + inputs):
        if any(abs(row[x]) > 1e-9 for row in left[len(pivots) :]):
            yield None
            continue
        weights = [0.0] * letters
        for k, j in enumerate(pivots):
            weights[j] = left[k][x]
        yield weights


def share(a: list[float] | None, seen: list[list[float]], whole: list[float], population: bool) -> str:
    """The estimate and its interval in words; or why there is none.

    `seen` holds the rows of each released value, the sums of their weights and of the squares; `whole` those of all.
    """
    if a is None:
        return "not determined by what was released"
    (counts, sums, squares), (rows, total, all_squares) = seen, whole
    p = sum(v * s for v, s in zip(a, sums, strict=True)) / total
    own, square = (sum(v**power * s for v, s in zip(a, squares, strict=True)) / total**2 for power in (1, 2))
    wider = rows / (rows - 1) * (square - 2 * p * own + p * p * all_squares / total**2)
    error = max(wider if population else square - own, 0.0) ** 0.5
    spread = [v * v * max(m, 3) for v, m in zip(a, counts, strict=True)]
    thin = sum(v for v, m in zip(spread, counts, strict=True) if m < FEW)
    if error > 1e-9 and thin > 0.1 * sum(spread):
        return "not recovered: too few released rows carry it (the full package gives exact intervals)"
    if Z * error > 0.5:
        return "not determined by what was released: the noise is larger than any share"
    return f"{p:.6f} [{p - Z * error:.6f}, {p + Z * error:.6f}]"


def preserved(y: int, matrix: list[list[float]], counts: list[int], rows: int, population: bool) -> str:
    """The released share of a value whose share the design preserves on average, with its interval."""
    p = counts[y] / rows
    within = sum(n * row[y] * (1 - row[y]) for n, row in zip(counts, matrix, strict=True)) / rows
    error = ((within + (p * (1 - p) if population else 0.0)) / rows) ** 0.5
    half = 2.018763 * error + (1.92 / rows if counts[y] < 30 and error else 0.0)
    return f"{p:.6f} [{max(p - half, 0):.6f}, {min(p + half, 1):.6f}]"


def carried(inside: list[bool], matrix: list[list[float]]) -> list[float]:
    """What each released value says about a set of original ones: on average, whether the original one is in it."""
    total = [0.0] * len(matrix[0])
    for weights, yes in zip(unbiased(matrix), inside, strict=True):
        if yes and weights is None:
            sys.exit("not determined by what was released")
        if yes and weights:
            total = [a + b for a, b in zip(total, weights, strict=True)]
    return total


def compared(
    matrix: list[list[float]], sets: list[list[bool]], counts: list[int], population: bool, kept: bool
) -> list[str]:
    """Figures from four sets of original values: group 1 with the value, group 1, group 2 with the value, group 2."""
    rows = sum(counts)

    def mean(values: list[float]) -> float:
        return sum(m * v for m, v in zip(counts, values, strict=True)) / rows

    def said(inside: list[bool]) -> list[float]:
        return [float(yes) for yes in inside] if kept else carried(inside, matrix)

    told = [said(inside) for inside in sets]
    theta = [mean(values) for values in told]

    def covariance(i: int, j: int) -> float:
        common = [a and b for a, b in zip(sets[i], sets[j], strict=True)]
        together = mean([a * b for a, b in zip(told[i], told[j], strict=True)])
        if not kept and population:
            return (together - theta[i] * theta[j]) / (rows - 1)
        if not kept:
            return (together - mean(said(common))) / rows
        chances = [
            [sum(p for p, yes in zip(row, s, strict=True) if yes) for row in matrix] for s in (common, sets[i], sets[j])
        ]
        within = mean([both - one * other for both, one, other in zip(*chances, strict=True)])
        return (within + (together - theta[i] * theta[j] if population else 0.0)) / rows

    return figures(theta, [[covariance(i, j) for j in range(4)] for i in range(4)])


def figures(theta: list[float], C: list[list[float]]) -> list[str]:
    """Shares, difference and ratios with intervals by the delta method; a ratio only where its counts are known."""

    def error(slope: list[float]) -> float:
        square = sum(a * b * C[i][j] for i, a in enumerate(slope) for j, b in enumerate(slope))
        return float(max(square, 0.0) ** 0.5)

    def certain(*slope: float) -> bool:
        size = sum(a * b for a, b in zip(slope, theta, strict=True))
        return size > 0 and error(list(slope)) <= 0.4 * size

    if not certain(0, 1, 0, 0) or not certain(0, 0, 0, 1):
        sys.exit("a group is too small in the release for its shares to be known")
    q, r = theta[0] / theta[1], theta[2] / theta[3]
    slopes = [[1 / theta[1], -q / theta[1], 0.0, 0.0], [0.0, 0.0, 1 / theta[3], -r / theta[3]]]
    lines = []
    for k, (p, slope) in enumerate(zip((q, r), slopes, strict=True)):
        half = Z * error(slope)
        ends = min(max(p - half, 0.0), p), max(min(p + half, 1.0), p)
        if 0 < p < 1 and half <= 0.4 * Z * min(p, 1 - p):  # on the scale of log odds
            far = half / (p * (1 - p))
            ends = 1 / (1 + exp(far - log(p / (1 - p)))), 1 / (1 + exp(-far - log(p / (1 - p))))
        lines.append(f"share {k + 1}\t{p:.6f} [{ends[0]:.6f}, {ends[1]:.6f}]")
    half = Z * error([a - b for a, b in zip(*slopes, strict=True)])
    lines.append(f"difference\t{q - r:.6f} [{max(q - r - half, -1):.6f}, {min(q - r + half, 1):.6f}]")
    if certain(1, 0, 0, 0) and certain(0, 0, 1, 0):
        half = Z * error([a / q - b / r for a, b in zip(*slopes, strict=True)])
        lines.append(f"risk ratio\t{q / r:.6f} [{q / r * exp(-half):.6f}, {q / r * exp(half):.6f}]")
        if certain(-1, 1, 0, 0) and certain(0, 0, -1, 1):
            odds = q / (1 - q) * (1 - r) / r
            half = Z * error([a / q / (1 - q) - b / r / (1 - r) for a, b in zip(*slopes, strict=True)])
            lines.append(f"odds ratio\t{odds:.6f} [{odds * exp(-half):.6f}, {odds * exp(half):.6f}]")
    return lines


def asked(words: list[str], inputs: list[str], letters: dict[str, list[str]]) -> list[list[bool]]:
    """The four sets of a comparison among the original outcomes of some columns."""
    pairs = [tuple(word.partition("=")[::2]) for word in words]
    for column, wanted in pairs:
        if column not in inputs or wanted not in letters[column]:
            sys.exit(f"{column}={wanted} is no column of the card with one of its values, or not of its only matrix")
    outcomes = [dict(zip(inputs, x, strict=True)) for x in product(*(letters[c] for c in inputs))]
    value, one, other = ([x[column] == wanted for x in outcomes] for column, wanted in pairs)
    return [s for group in (one, other) for s in ([a and b for a, b in zip(group, value, strict=True)], group)]


def written(channel: dict[str, Any], observe: list[str], outputs: list[str], strata: list[str]) -> dict[str, Any]:
    """A channel of a card as rows or shares that stay, of its parts where it has some."""
    form = channel["form"]
    if form == "dense":
        return {"rows": [[str(Fraction(int(v), int(channel["scale"]))) for v in row] for row in channel["rows"]]}
    if form == "pram":
        return {"form": form, "q": channel["stay"]}
    if form == "windows":
        parts = [written(window["channel"], observe, outputs, strata) for window in channel["windows"]]
        reads = [[observe[place] for place in window["reads"]] for window in channel["windows"]]
        sides = [{"inputs": seen, "output": name} for seen, name in zip(reads, outputs, strict=True)]
        return {"form": "product", "channels": [part | side for part, side in zip(parts, sides, strict=True)]}
    if form == "strata":
        parts = [written(part, observe, outputs, strata) for part in channel["channels"]]
        return {"form": form, "strata": strata, "channels": parts}
    return {"form": form}


def told(card: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """A card with the names and the values of what its channel reads and draws; `about` is the file beside it."""
    if "mechanism" not in card:
        return card
    mechanism, letters = card["mechanism"], {entry["name"]: entry["letters"] for entry in card["variables"]}
    observe, strata, own = mechanism["observe"], mechanism["strata"], about.get("output", "Y")
    drawn = {name: letters[name] for name in mechanism["release"]}
    if not drawn and mechanism["each"] is None and "letters" in card["channel"]:
        plain = [str(k) for k in range(card["channel"]["letters"])]
        drawn = {own: mechanism["fresh"] or about.get("letters", plain)}
    inputs = {name: letters[name] for name in [*observe, *strata]}
    channel = written(card["channel"], observe, list(drawn) or [f"{own}_{name}" for name in observe], strata)
    channel = {"inputs": inputs, "output": drawn, **channel} if drawn else {"inputs": inputs, "output": {}, "form": "?"}
    beside: dict[str, Any] = {key: about[key] for key in ("weights", "marginals_preserved") if key in about}
    return {"channel": channel, "kept": [*mechanism["keep"], *strata], **beside}


def table_of(path: str) -> list[dict[str, str]]:
    """The rows of a CSV file; of Parquet where pyarrow is installed."""
    if Path(path).read_bytes()[:4] == b"PAR1":
        try:
            from pyarrow import parquet
        except ImportError:
            sys.exit(f"{path} is a Parquet file: install pyarrow, or write it as CSV")
        rows = parquet.read_table(path).to_pylist()
        return [{c: "" if v is None else str(v) for c, v in row.items()} for row in rows]
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text: str) -> float:
    """A weight."""
    try:
        if (value := float(text)) >= 0:
            return value
    except ValueError:
        pass
    sys.exit(f"{text!r} is no weight")


def main(arguments: list[str]) -> None:
    """Read both files and print a line for each share, or the figures of a comparison."""
    further = arguments[2:]
    population = further[:1] == ["population"]
    further = further[1:] if further[:1] in (["table"], ["population"]) else further
    if len(arguments) < 2 or (further and (further[0] != "compare" or len(further) != 4)):
        sys.exit(USAGE)
    try:
        card, table = json.loads(Path(arguments[0]).read_text(encoding="utf-8")), table_of(arguments[1])
        beside = Path(arguments[0]).with_suffix(".about.json")
        card = told(card, json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {})
        channel, n = card.get("channel", card), len(table)
        strata, letters = channel.get("strata", []), channel["inputs"] | channel["output"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        sys.exit(f"cannot read the files: {type(e).__name__} {e}\n{USAGE}")
    parts = zip(cycle(product(*(letters[c] for c in strata))), channel.get("channels", [channel]), strict=False)
    for s, part in ((s, channel | q) for s, p in parts for q in (p["channels"] if p.get("form") == "product" else [p])):
        inputs = [c for c in part["inputs"] if c not in strata]
        q = [Fraction(v) for v in part.get("q", [])]
        drawn = [part["output"]] if isinstance(part["output"], str) else [*part["output"]]
        weigh = [card["weights"]] if card.get("weights") in card.get("kept", []) else []
        known = {c: {"": "(missing)", "?": "(missing)"} | {v: v for v in letters[c]} for c in [*drawn, *strata]}
        if absent := [c for c in [*known, *weigh] if table and c not in table[0]]:
            sys.exit(f"{arguments[1]} has no column {absent[0]!r}: it is not the release of this card")
        rows = [tuple(names.get((row[c] or "").strip()) for c, names in known.items()) for row in table]
        forms = {channel.get("form"), part.get("form")} - {None, "pram", "product", "strata"}
        large = bool(forms or not {"rows", "q"} & {*part} or {*inputs} & {*card.get("kept", [])})
        if large or n < 2 or {*rows} - {*product(*(letters[c] for c in known))}:
            sys.exit("this card needs the full package" if large else "too few rows, or values that the card lacks")
        off = [(1 - v) / max(len(q) - 1, 1) for v in q]
        M = part.get("rows") or [[q[x] if x == y else v for y in range(len(q))] for x, v in enumerate(off)]
        M = [[float(Fraction(v)) for v in row] for row in M]
        cells = [(*y, *s) for y in product(*(letters[c] for c in drawn))]
        weights = [number(row[weigh[0]]) if weigh else 1.0 for row in table]
        found: list[Counter[tuple[str | None, ...]]] = [Counter(), Counter(), Counter()]
        for cell, w in zip(rows, weights, strict=True):
            for power, counter in enumerate(found):
                counter[cell] += w**power  # type: ignore[assignment]
        seen, whole = [[float(f[y]) for y in cells] for f in found], [float(sum(f.values())) for f in found]
        counts = [int(m) for m in seen[0]]
        if any(m and not any(column) for m, column in zip(counts, zip(*M, strict=True), strict=True)):
            sys.exit("a released value has probability 0 for every original one: this card did not draw the table")
        kept_law = bool(card.get("marginals_preserved")) and not strata and not weigh and inputs == drawn
        if further and (strata or weigh or "channels" in channel):
            sys.exit(
                "a comparison by weights or across several matrices needs the full package: dalenius estimate --compare"
            )
        if further:
            print("\n".join(compared(M, asked(further[1:], inputs, letters), counts, population, kept_law)))
            break
        solved = [None] * len(M) if kept_law else unbiased(M)
        for k, (x, a) in enumerate(zip(product(*(letters[c] for c in inputs)), solved, strict=True)):
            named = ", ".join(map("{}={}".format, [*inputs, *strata], [*x, *s]))
            as_it_is = preserved(k, M, counts, n, population) if kept_law else None
            print(f"{named}\t{as_it_is or share(a, seen, whole, population)}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
