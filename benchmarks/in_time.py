"""Is there an answer with its interval when the time is up, whatever the size?

Three to six columns of Adult (UCI, not shipped) against income, at most 0.01 bits. Each design is made by the command
line with `--seconds` in a process of its own, so that reading, search, proof and writing all count. Columns: how many
combinations may be released; whether their law is preserved; the interval; seconds by the wall and of the processor.

    python benchmarks/in_time.py FILE [--seconds 60] [--columns 3 4 5 6]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from math import prod
from pathlib import Path
from typing import Any

from reporting import save

WAYS: dict[str, tuple[str, int]] = {  # how a column is declared, and how many values that makes
    "Age": ("cuts = [25, 35, 45, 55, 65]", 6),
    "Education": ('values = "from-table"', 16),
    "Sex": ('values = "from-table"', 2),
    "MaritalStatus": ('values = "from-table"', 7),
    "Occupation": ('values = "from-table"\nmissing = "category"', 15),
    "HoursPerWeek": ("cuts = [20, 35, 41, 50]", 5),
}


def problem(table: str, columns: list[str], preserve: bool) -> str:
    """The problem file."""
    names = json.dumps(columns)
    goal = ", ".join(f'{{ distortion = "hamming", of = ["{name}"] }}' for name in columns)
    declared = "".join(f"[columns.{name}]\n{WAYS[name][0]}\n" for name in columns)
    return (
        f'[source]\ntable = "{table}"\n[columns.Income]\nvalues = "from-table"\n{declared}'
        f"[mechanism]\nobserve = {names}\nrelease = {names}\npreserve_marginals = {str(preserve).lower()}\n"
        f"[objective]\nminimize = {{ sum = [{goal}] }}\n"
        '[[guarantee]]\nleakage = ["Income"]\nat_most_bits = "1/100"\n'
    )


def answered(table: str, many: int, preserve: bool, seconds: float) -> dict[str, Any]:
    """One design by the command line."""
    columns = list(WAYS)[:many]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.toml"
        path.write_text(problem(table, columns, preserve))
        words = ["solve", str(path), "-o", str(Path(folder) / "design.json"), "--seconds", str(seconds), "--json"]
        start, before = time.monotonic(), os.times()
        done = subprocess.run(
            [sys.executable, "-m", "dalenius", *words, "--quiet"], capture_output=True, text=True, check=False
        )
        wall, after = time.monotonic() - start, os.times()
    told = json.loads(done.stdout) if done.returncode == 0 else {}
    return {
        "columns": many,
        "combinations": prod(WAYS[name][1] for name in columns),
        "preserved": "yes" if preserve else "no",
        "exit": done.returncode,
        "value": round(float(told["value"]), 4) if told else "",
        "bound": round(float(told["bound"]), 4) if told else done.stderr.strip()[:80],
        "wall (s)": round(wall, 1),
        "CPU (s)": round(
            after.children_user + after.children_system - before.children_user - before.children_system, 1
        ),
    }


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("table")
    reader.add_argument("--seconds", type=float, default=60.0)
    reader.add_argument("--columns", type=int, nargs="+", default=[3, 4, 5, 6])
    asked = reader.parse_args()
    rows = []
    for many in asked.columns:
        for preserve in (True, False):
            rows.append(answered(os.path.abspath(asked.table), many, preserve, asked.seconds))
            print(rows[-1], flush=True)
    save("in_time", __doc__.splitlines()[0], rows, seconds=asked.seconds)


if __name__ == "__main__":
    main()
