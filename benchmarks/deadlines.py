"""Does `--seconds` bind, whatever is asked?

Every promise with every objective, and the forms, made so large that the search would go on for longer. Each command
runs in a process of its own, by a clock that counts processor time: on a busy machine nothing else is measured. A
command is late when it takes more than a tenth and half a second beyond `--seconds`, its start not counted. One that
ends with nothing (exit 1 or 5), or with a traceback, is listed too.

    python benchmarks/deadlines.py [--seconds 2 5] [--only TEXT ...]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from deadline_cases import GROUPS, Case
from deadline_commands import COMMANDS
from reporting import as_installed, save

LAUNCH = """\
import signal, sys, time
time.monotonic = time.process_time
signal.SIGALRM, signal.ITIMER_REAL = signal.SIGPROF, signal.ITIMER_PROF
from dalenius.cli import interrupts, main
interrupts.PATIENCE = 30.0  # of the thread that ends what hears no signal: it waits by the clock on the wall
sys.exit(main(sys.argv[1:]))
"""
SPARE, START = 1.1, 0.5
LONGEST = 180.0  # seconds of the wall after which a command is given up


def run(case: Case, seconds: float, start: float) -> dict[str, Any]:
    """The command in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in case.files.items():
            (Path(folder) / name).write_text(text)
        words = [*case.words, *(["--seconds", str(seconds)] if case.seconds else [])]
        begin, before = time.monotonic(), os.times()
        gone = False
        try:
            done = subprocess.run(
                [sys.executable, "-c", LAUNCH, *words],
                capture_output=True,
                text=True,
                check=False,
                cwd=folder,
                env=as_installed(),
                timeout=LONGEST,
            )
            code, out, error = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            gone, code, out, error = True, -1, "", "given up"
        wall, after = time.monotonic() - begin, os.times()
        left = sorted(path.name for path in Path(folder).iterdir() if path.name not in case.files)
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    told = json.loads(out) if code == 0 and out.startswith("{") else {}
    late = gone or cpu - start > SPARE * seconds + START
    wrong = code not in case.allowed or "Traceback" in error
    return {
        "case": case.name,
        "seconds": seconds,
        "exit": code,
        "CPU (s)": round(cpu - start, 2),
        "wall (s)": round(wall, 1),
        "late": late,
        "wrong": wrong,
        "value": told.get("value", ""),
        "bound": told.get("bound", ""),
        "said": " ".join(error.split())[:300],
        "left": [] if code == 0 else [name for name in left if name != "dalenius-failure.json"],
    }


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--seconds", type=float, nargs="+", default=[2.0])
    reader.add_argument("--only", nargs="+", default=[], help="cases whose name begins with one of these")
    reader.add_argument("--list", action="store_true")
    reader.add_argument("--name", default="deadlines")
    asked = reader.parse_args()
    before = os.times()
    subprocess.run([sys.executable, "-m", "dalenius", "--help"], capture_output=True, check=True, env=as_installed())
    after = os.times()
    start = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"start: {start:.2f} s")
    rows = []
    for group in (*GROUPS, *COMMANDS):
        for case in group():
            if asked.only and not any(case.name.startswith(text) for text in asked.only):
                continue
            if asked.list:
                print(case.name)
                continue
            for seconds in asked.seconds if case.seconds else asked.seconds[:1]:
                rows.append(run(case, seconds, start))
                mark = "LATE " * rows[-1]["late"] + "WRONG " * rows[-1]["wrong"]
                shown = {key: value for key, value in rows[-1].items() if key not in ("late", "wrong", "seconds")}
                print(mark, *shown.values(), sep=" | ", flush=True)
    if not asked.list:
        late, wrong = (sum(row[key] for row in rows) for key in ("late", "wrong"))
        print(f"{len(rows)} commands: {late} late, {wrong} with nothing")
        save(asked.name, __doc__.splitlines()[0], rows, seconds=asked.seconds)


if __name__ == "__main__":
    main()
