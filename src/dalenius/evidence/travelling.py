"""python3 estimate.py card.json released.csv [population]: the frequencies before perturbation, with 95 % intervals."""

import csv
import json
import sys
from collections import Counter
from fractions import Fraction
from itertools import cycle, product

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as c, open(sys.argv[2], encoding="utf-8", newline="") as r:
        card, table, target = json.load(c), list(csv.DictReader(r)), sys.argv[3:]
    channel, n = card.get("channel", card), len(table)
    strata, letters = channel.get("strata", []), channel["inputs"] | channel["output"]
    parts = zip(cycle(product(*(letters[c] for c in strata))), channel.get("channels", [channel]), strict=False)
    for s, part in ((s, channel | q) for s, p in parts for q in (p["channels"] if p.get("form") == "product" else [p])):
        inputs, q = [c for c in part["inputs"] if c not in strata], [Fraction(v) for v in part.get("q", [])]
        drawn = [part["output"]] if isinstance(part["output"], str) else [*part["output"]]
        known = {c: {"": "(missing)", "?": "(missing)"} | {v: v for v in letters[c]} for c in [*drawn, *strata]}
        f = Counter(tuple(names.get(row[c].strip()) for c, names in known.items()) for row in table)
        large = {channel.get("form"), part.get("form")} - {None, "pram", "product", "strata"} or "weights" in card
        large = large or not {"rows", "q"} & {*part} or {*inputs} & {*card.get("kept", [])}
        if large or n < 2 or f.keys() - product(*(letters[c] for c in known)):
            sys.exit("this card needs the full package" if large else "too few rows, or letters that the card lacks")
        off = [(1 - v) / (len(q) - 1) for v in q]
        M = part.get("rows") or [[q[x] if x == y else v for y in range(len(q))] for x, v in enumerate(off)]
        A = [[*(float(Fraction(v)) for v in row), *(float(x == y) for y in range(len(M)))] for x, row in enumerate(M)]
        for k in range(len(M)):  # elimination with the largest pivot: the right half becomes the inverse of M
            A[k:] = sorted(A[k:], key=lambda row: -abs(row[k]))
            if len(M) != len(M[0]) or abs(A[k][k]) < 1e-12:
                sys.exit("the matrix of this card has no inverse; the full package says what it determines")
            top = [v / A[k][k] for v in A[k]]
            A = [top if i == k else [a - row[k] * b for a, b in zip(row, top, strict=True)] for i, row in enumerate(A)]
        counts = [f[(*y, *s)] for y in product(*(letters[c] for c in drawn))]
        few = " few rows: too narrow, ask the full package" * (min(counts) < 10)
        for x, a in zip(product(*(letters[c] for c in inputs)), [*zip(*A, strict=True)][len(M) :], strict=True):
            p, square = (sum(v**e * m for v, m in zip(a, counts, strict=True)) / n for e in (1, 2))
            error = max((square - p * p) / (n - 1) if target == ["population"] else (square - p) / n, 0.0) ** 0.5
            named = ", ".join(map("{}={}".format, [*inputs, *strata], [*x, *s]))
            print(f"{named}\t{p:.6f} [{p - 1.959964 * error:.6f}, {p + 1.959964 * error:.6f}]{few}")
