"""python3 estimate.py card.json released.csv [population]: the shares before the changes, with 95 % intervals.

An analysis at the end: `compare COLUMN=VALUE GROUP=ONE GROUP=OTHER` (a share in two groups, their difference and
ratios), `within COLUMN GROUP ...` (shares within groups), `shares COLUMN ...` (of all combinations), `linear COLUMN
ON ...` and `logistic COLUMN=VALUE ON ...` (regressions; ON is a column, or COLUMN:number; without ON the mean).
Reads one matrix, one for each column or each stratum, and noise that stays on the grid of each column.
"""

import csv
import json
import os
import sys
from collections import Counter
from fractions import Fraction
from itertools import cycle, product
from pathlib import Path
from typing import Any

from dalenius.evidence.travelling_means import (
    FEW,
    FEW_ROWS,
    HIDDEN,
    Part,
    Z,
    few_rows,
    inverted,
    understood,
    weights_of,
)
from dalenius.evidence.travelling_regressions import analysed

USAGE = """usage: python3 estimate.py card.json released.csv [population] [ANALYSIS]
ANALYSIS: compare COLUMN=VALUE GROUP=ONE GROUP=OTHER | within COLUMN GROUP ... | shares COLUMN ...
        | linear COLUMN ON ... | logistic COLUMN=VALUE ON ... (ON is a column, or COLUMN:number)"""


def share(a: list[float] | None, seen: list[list[float]], whole: list[float], population: bool) -> str:
    """The estimate and its interval in words; or why there is none.

    `seen` holds the rows of each released value, the sums of their weights and of the squares; `whole` those of all.
    """
    if a is None:
        return "not determined by what was released"
    (sums, squares), (rows, total, all_squares) = seen[1:], whole
    counts = [s * total / all_squares for s in sums]  # rows that count alike and say as much
    p = sum(v * s for v, s in zip(a, sums, strict=True)) / total
    own, square = (sum(v**power * s for v, s in zip(a, squares, strict=True)) / total**2 for power in (1, 2))
    wider = rows / (rows - 1) * (square - 2 * p * own + p * p * all_squares / total**2)
    error = max(wider if population else square - own, 0.0) ** 0.5
    spread = [v * v * max(m, 3) for v, m in zip(a, counts, strict=True)]
    thin = sum(v for v, m in zip(spread, counts, strict=True) if m < FEW)
    steady = not population and all(v in (0.0, 1.0) for v in a)  # no draw changes it
    if not steady and thin > 0.1 * sum(spread):
        return FEW_ROWS
    if Z * error > 0.5:
        return HIDDEN
    return f"{p:.6f} [{p - Z * error:.6f}, {p + Z * error:.6f}]"


def preserved(y: int, matrix: list[list[float]], counts: list[int], rows: int, population: bool) -> str:
    """The released share of a value whose share the design preserves on average, with its interval."""
    p = counts[y] / rows
    within = sum(n * row[y] * (1 - row[y]) for n, row in zip(counts, matrix, strict=True)) / rows
    error = ((within + (p * (1 - p) if population else 0.0)) / rows) ** 0.5
    steady = not population and all(row[y] in (0.0, 1.0) for row in matrix)  # no draw changes it
    half = 2.018763 * error + (0.0 if steady else few_rows(p, rows))
    return f"{p:.6f} [{max(p - half, 0):.6f}, {min(p + half, 1):.6f}]"


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
    if form == "noise":
        return on_grids(channel, outputs)
    return {"form": form}


def on_grids(channel: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Noise on each column by itself, within its grid: a matrix for each; else no form that is read here."""
    own = [[str(int(i == j)) for j in range(len(names))] for i in range(len(names))]
    wide = any(
        a["low"] != "0" or a["high"] != str(m - 1) for a, m in zip(channel["axes"], channel["letters"], strict=True)
    )
    if wide or channel["give"] != own or [axis["take"] for axis in channel["axes"]] != own:
        return {"form": "noise"}
    parts = []
    for name, axis, many in zip(names, channel["axes"], channel["letters"], strict=True):
        weights, rows = [int(w) for w in axis["weights"]], []
        for x in range(many):
            row = [0] * many
            for z in range(1 - len(weights), len(weights)):  # what falls beyond an end is released as that end
                row[min(max(x + z, 0), many - 1)] += weights[abs(z)]
            rows.append([str(Fraction(v, 2 * sum(weights) - weights[0])) for v in row])
        parts.append({"rows": rows, "inputs": [name], "output": name})
    return {"form": "product", "channels": parts}


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
    if changes := about.get("changes"):  # a part of the release has other shares than those that are preserved
        beside["rows"] = sum(c["rows_after"] for c in changes if c["column"] == changes[0]["column"])
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


def main(arguments: list[str]) -> None:
    """Read both files and print a line for each share, or the figures of an analysis."""
    further = arguments[2:]
    population = further[:1] == ["population"]
    further = further[1:] if further[:1] in (["table"], ["population"]) else further
    if len(arguments) < 2 or not understood(further):
        sys.exit(USAGE)
    try:
        card, table = json.loads(Path(arguments[0]).read_text(encoding="utf-8")), table_of(arguments[1])
        beside = Path(arguments[0]).with_suffix(".about.json")
        card = told(card, json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {})
        channel, n = card.get("channel", card), len(table)
        card["marginals_preserved"] = bool(card.get("marginals_preserved")) and card.get("rows", n) == n
        strata, letters = channel.get("strata", []), channel["inputs"] | channel["output"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        sys.exit(f"cannot read the files: {type(e).__name__} {e}\n{USAGE}")
    parts = zip(cycle(product(*(letters[c] for c in strata))), channel.get("channels", [channel]), strict=False)
    found: list[tuple[tuple[str, ...], Part]] = []
    for s, part in ((s, channel | q) for s, p in parts for q in (p["channels"] if p.get("form") == "product" else [p])):
        inputs = [c for c in part["inputs"] if c not in strata]
        q = [Fraction(v) for v in part.get("q", [])]
        drawn = [part["output"]] if isinstance(part["output"], str) else [*part["output"]]
        forms = {channel.get("form"), part.get("form")} - {None, "pram", "product", "strata"}
        if forms or not {"rows", "q"} & {*part} or {*inputs} & {*card.get("kept", [])}:
            sys.exit("this card needs the full package: dalenius estimate")
        off = [(1 - v) / max(len(q) - 1, 1) for v in q]
        M = part.get("rows") or [[q[x] if x == y else v for y in range(len(q))] for x, v in enumerate(off)]
        found.append((s, (inputs, drawn, [[float(Fraction(v)) for v in row] for row in M])))
    weigh = [card["weights"]] if card.get("weights") in card.get("kept", []) else []
    columns = [*dict.fromkeys(c for _, (_, drawn, _) in found for c in drawn), *strata]
    if absent := [c for c in [*columns, *weigh] if table and c not in table[0]]:
        sys.exit(f"{arguments[1]} has no column {absent[0]!r}: it is not the release of this card")
    for c in columns:
        known = {"": "(missing)", "?": "(missing)"} | {v: v for v in letters[c]}
        for row in table:
            row[c] = known.get((row[c] or "").strip(), "")
            if not row[c] or n < 2 or row[c] not in letters[c]:
                sys.exit("too few rows, or values that the card lacks")
    if n < 2:
        sys.exit("too few rows, or values that the card lacks")
    possible(found, letters, strata, table)
    if further:
        if strata and len(found) > len({s for s, _ in found}):
            sys.exit("a matrix for each column in each stratum needs the full package for this: dalenius estimate")
        both = [in_strata(found, strata, letters)] if strata else [part for _, part in found]
        print("\n".join(analysed(further, card | {"letters": letters}, both, table, population)))
        return
    weights = weights_of(table, weigh[0] if weigh else None)
    for s, (inputs, drawn, M) in found:
        counters: list[Counter[tuple[str, ...]]] = [Counter(), Counter(), Counter()]
        for row, w in zip(table, weights, strict=True):
            for power, counter in enumerate(counters):
                counter[tuple(row[c] for c in [*drawn, *strata])] += w**power  # type: ignore[assignment]
        cells = [(*y, *s) for y in product(*(letters[c] for c in drawn))]
        seen, whole = [[float(f[y]) for y in cells] for f in counters], [float(sum(f.values())) for f in counters]
        kept_law = card["marginals_preserved"] and not strata and not weigh and inputs == drawn
        solved = [None] * len(M) if kept_law else inverted(M)
        for k, (x, a) in enumerate(zip(product(*(letters[c] for c in inputs)), solved, strict=True)):
            named = ", ".join(map("{}={}".format, [*inputs, *strata], [*x, *s]))
            as_it_is = preserved(k, M, [int(m) for m in seen[0]], n, population) if kept_law else None
            print(f"{named}\t{as_it_is or share(a, seen, whole, population)}")


def possible(found: list[tuple[tuple[str, ...], Part]], letters: Any, strata: list[str], table: Any) -> None:
    """Refuse a table with a value that its matrix never draws."""
    for s, (_, drawn, M) in found:
        seen = {tuple(row[c] for c in drawn) for row in table if tuple(row[c] for c in strata) == s}
        for y, column in zip(product(*(letters[c] for c in drawn)), zip(*M, strict=True), strict=True):
            if y in seen and not any(column):
                sys.exit("a released value has probability 0 for every original one: this card did not draw the table")


def in_strata(found: list[tuple[tuple[str, ...], Part]], strata: list[str], letters: dict[str, list[str]]) -> Part:
    """One matrix for all strata, which leave as they are: a block for each."""
    places = list(product(*(letters[c] for c in strata)))
    inputs, drawn, first = found[0][1]
    of = {s: M for s, (_, _, M) in found}
    rows = [
        [(of[s][x][y] if s == t else 0.0) for y in range(len(first[0])) for t in places]
        for x in range(len(first))
        for s in places
    ]
    return [*inputs, *strata], [*drawn, *strata], rows


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
