"""python3 estimate.py card.json released.csv [population]: the shares before the changes, with 95 % intervals."""

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import cycle, product
from pathlib import Path
from typing import Any

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


def share(weights: list[float] | None, counts: list[int], rows: int, population: bool) -> str:
    """The estimate and its interval in words; or why there is none."""
    if weights is None:
        return "not determined by what was released"
    p, square = (sum(v**power * m for v, m in zip(weights, counts, strict=True)) / rows for power in (1, 2))
    error = max((square - p * p) / (rows - 1) if population else (square - p) / rows, 0.0) ** 0.5
    spread = [v * v * max(m, 3) for v, m in zip(weights, counts, strict=True)]
    thin = sum(v for v, m in zip(spread, counts, strict=True) if m < FEW)
    if error > 1e-9 and thin > 0.1 * sum(spread):
        return "not recovered: too few released rows carry it (the full package gives exact intervals)"
    if 1.959964 * error > 0.5:
        return "not determined by what was released: the noise is larger than any share"
    return f"{p:.6f} [{p - 1.959964 * error:.6f}, {p + 1.959964 * error:.6f}]"


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
    weights = {"weights": about["weights"]} if "weights" in about else {}
    return {"channel": channel, "kept": [*mechanism["keep"], *strata], **weights}


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["table"], ["population"]):
        sys.exit("usage: python3 estimate.py card.json released.csv [population]")
    try:
        with open(sys.argv[1], encoding="utf-8") as c, open(sys.argv[2], encoding="utf-8", newline="") as r:
            card, table = json.load(c), list(csv.DictReader(r))
        beside = Path(sys.argv[1]).with_suffix(".about.json")
        card = told(card, json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {})
    except (OSError, ValueError) as e:
        sys.exit(f"cannot read the files: {e}\nusage: python3 estimate.py card.json released.csv [population]")
    channel, n, population = card.get("channel", card), len(table), sys.argv[3:] == ["population"]
    strata, letters = channel.get("strata", []), channel["inputs"] | channel["output"]
    parts = zip(cycle(product(*(letters[c] for c in strata))), channel.get("channels", [channel]), strict=False)
    for s, part in ((s, channel | q) for s, p in parts for q in (p["channels"] if p.get("form") == "product" else [p])):
        inputs, q = [c for c in part["inputs"] if c not in strata], [Fraction(v) for v in part.get("q", [])]
        drawn = [part["output"]] if isinstance(part["output"], str) else [*part["output"]]
        known = {c: {"": "(missing)", "?": "(missing)"} | {v: v for v in letters[c]} for c in [*drawn, *strata]}
        if absent := [c for c in known if table and c not in table[0]]:
            sys.exit(f"{sys.argv[2]} has no column {absent[0]!r}: it is not the release of this card")
        f = Counter(tuple(names.get(row[c].strip()) for c, names in known.items()) for row in table)
        large = {channel.get("form"), part.get("form")} - {None, "pram", "product", "strata"} or "weights" in card
        large = large or not {"rows", "q"} & {*part} or {*inputs} & {*card.get("kept", [])}
        if large or n < 2 or f.keys() - product(*(letters[c] for c in known)):
            sys.exit("this card needs the full package" if large else "too few rows, or letters that the card lacks")
        off = [(1 - v) / max(len(q) - 1, 1) for v in q]
        M = part.get("rows") or [[q[x] if x == y else v for y in range(len(q))] for x, v in enumerate(off)]
        M = [[float(Fraction(v)) for v in row] for row in M]
        counts = [f[(*y, *s)] for y in product(*(letters[c] for c in drawn))]
        if any(m and not any(column) for m, column in zip(counts, zip(*M, strict=True), strict=True)):
            sys.exit("a released value has probability 0 for every original one: this card did not draw the table")
        for x, weights in zip(product(*(letters[c] for c in inputs)), unbiased(M), strict=True):
            named = ", ".join(map("{}={}".format, [*inputs, *strata], [*x, *s]))
            print(f"{named}\t{share(weights, counts, n, population)}")
