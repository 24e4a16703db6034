"""How many full rows a second does PRAM perturb, ten columns at once, against the ways one would write it?

One thread, CPU time; 953,076 rows of 3, 4, 9, 2, 6, 5, 11, 4, 3 and 3 categories; k-ary randomised response at level 1
for each column. Ours draws the exact law from AES-256 words; the rivals draw floats from an insecure generator.

    exact       the draws of a channel of form "product", cryptographic stream included
    choices     random.choices, cell by cell in Python (on fewer rows)
    pandas      Series.apply with numpy.random.choice, cell by cell (on fewer rows)
    floats      numpy, PCG64, one float cumulative row for each category

    python benchmarks/apply.py
"""

import random
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from reporting import save

from dalenius.core import Channel, Pram, Product
from dalenius.core.arithmetic import exp
from dalenius.mechanisms.forms import draws_of
from dalenius.sampling.key import Key
from dalenius.sampling.stream import Stream
from dalenius.tables import Coded

ROWS = 953_076
LEVELS = (3, 4, 9, 2, 6, 5, 11, 4, 3, 3)
SEED = 1
Codes = list[npt.NDArray[np.int8]]


def channels() -> list[Channel]:
    a, found = exp(Fraction(1))[0], []
    for k, S in enumerate(LEVELS):
        letters = tuple(map(str, range(S)))
        rows = Pram({f"X{k}": letters}, {f"Z{k}": letters}, (a / (a + S - 1),) * S).rows
        found.append(Channel({f"X{k}": letters}, {f"Z{k}": letters}, rows))
    return found


def exact(windows: list[Channel], codes: Codes) -> Codes:
    inputs = {name: letters for window in windows for name, letters in window.inputs.items()}
    table = Coded(dict(inputs), dict(zip(inputs, codes, strict=True)))
    key = Key.unsafe(SEED)
    draws = draws_of(Product(inputs, tuple(windows)))
    return [one.drawn(table, Stream(key.derive("draw", *one.label)))[1] for one in draws]


def choices(windows: list[Channel], codes: Codes) -> Codes:
    draw, out = random.Random(SEED), []
    for window, column in zip(windows, codes, strict=True):
        rows = [[float(v) for v in row] for row in window.rows]
        out.append(np.array([draw.choices(range(len(rows)), rows[x])[0] for x in column.tolist()], dtype=np.int8))
    return out


def with_pandas(windows: list[Channel], codes: Codes) -> Codes:
    draw, out = np.random.default_rng(SEED), []
    for window, column in zip(windows, codes, strict=True):
        rows = [np.array([float(v) for v in row]) for row in window.rows]
        drawn = pd.Series(column).apply(lambda x, rows=rows: draw.choice(len(rows), p=rows[x] / rows[x].sum()))
        out.append(drawn.to_numpy().astype(np.int8))
    return out


def floats(windows: list[Channel], codes: Codes) -> Codes:
    draw, out = np.random.default_rng(SEED), []
    for window, column in zip(windows, codes, strict=True):
        drawn = np.empty_like(column)
        for x, row in enumerate(window.rows):
            at = np.flatnonzero(column == x)
            drawn[at] = np.searchsorted(np.cumsum([float(v) for v in row])[:-1], draw.random(len(at)), side="right")
        out.append(drawn)
    return out


def deviation(windows: list[Channel], codes: Codes, drawn: Codes) -> float:
    """Pearson's statistic of all columns, as standard deviations above its mean; far above 5 means a wrong law."""
    total, freedom = 0.0, 0
    for window, before, after in zip(windows, codes, drawn, strict=True):
        S = len(window.rows)
        seen = np.bincount(before.astype(np.int64) * S + after, minlength=S * S).reshape(S, S)
        expected = np.array([[float(v) for v in row] for row in window.rows]) * seen.sum(axis=1, keepdims=True)
        total, freedom = total + float(((seen - expected) ** 2 / expected).sum()), freedom + S * (S - 1)
    return (total - freedom) / (2 * freedom) ** 0.5


def main() -> None:
    windows, draw = channels(), np.random.default_rng(SEED)
    codes = [draw.integers(0, S, ROWS).astype(np.int8) for S in LEVELS]
    ways: dict[str, tuple[Callable[[list[Channel], Codes], Codes], int]] = {
        "exact": (exact, ROWS),
        "choices": (choices, 20_000),
        "pandas": (with_pandas, 2_000),
        "floats": (floats, ROWS),
    }
    results: list[dict[str, Any]] = []
    print(f"{'':>8} {'rows':>9} {'rows/s':>12} {'slower':>8} {'law, sd':>8}")
    for name, (way, rows) in ways.items():
        some = [column[:rows] for column in codes]
        best = float("inf")
        for _ in range(3 if rows == ROWS else 1):
            begin = time.process_time()
            drawn = way(windows, some)
            best = min(best, time.process_time() - begin)
        result = {"way": name, "rows": rows, "rows_per_second": rows / best, "law": deviation(windows, some, drawn)}
        results.append(result)
        slower = results[0]["rows_per_second"] / result["rows_per_second"]
        print(
            f"{name:>8} {rows:>9,} {result['rows_per_second']:>12,.0f} {slower:>8.1f} {result['law']:>8.1f}", flush=True
        )
    save("apply", "full rows of ten columns a second under PRAM, one thread", results, seed=SEED)


if __name__ == "__main__":
    main()
