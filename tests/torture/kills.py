"""Random kills over all commands: eight processes at a time, on one ledger and into the same outputs.

    python -m tests.torture.kills 500 [SEED]

Every command that writes is started again and again and ended by SIGKILL at a random moment. Whatever stands under the
name of an output is whole; temporary names are private; the ledger is sound, and has charged every release that is
there; a last run takes away all that the killed ones left.
"""

import json
import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from dalenius.cli import main
from dalenius.ledger import Ledger
from tests.torture.inputs import ALLOWED

PROCESSES = 8
WHOLE = ["--seconds", "5", "--quiet", "--force"]
COMMANDS: tuple[list[str], ...] = (
    ["release", "p.toml", "-o", "folder", "--ledger", "ledger.db", "--key", "key", *WHOLE],
    ["release", "p.toml", "-o", "folder", "--ledger", "ledger.db", *WHOLE],
    ["release", "p.toml", "-o", "other", *WHOLE],
    ["release", "p.toml", "-o", "third", "--engine", "duckdb", *WHOLE],  # exit 4 where DuckDB is not installed
    ["solve", "p.toml", "-o", "solved.json", *WHOLE],
    ["apply", "design.json", "t.csv", "-o", "applied.csv", "--force"],
    ["apply", "design.json", "t.csv", "-o", "applied.parquet", "--force"],
    ["channel", "design.json", "--dense", "-o", "dense.json", "--force"],
    ["tradeoff", "p.toml", "--points", "3", "-o", "curve", *WHOLE],
    ["ledger", "add", "ledger.db", "design.json", "--dataset", "again"],
    ["ledger", "status", "ledger.db"],
    ["verify", "design.json"],
    ["audit", "design.json", "--released", "released.csv", "--original", "t.csv"],
    ["estimate", "card.json", "released.csv"],
    ["profile", "t.csv"],
    ["release", "sql.toml", "-o", "queried", *WHOLE],
    ["init", "t.csv", "--protect", "s", "--release", "x", "--reveal", "0.05", "--yes", "-o", "new.toml", "--force"],
    ["answer", "question.toml", "t.csv", "-o", "answer.json", "--force"],
    ["risk", "t.csv", "--keys", "s", "x", "--population", "100000", "-o", "risk", "--force"],
    ["convert", "old.json", "converted.json", "--force"],
)
ROWS = 200


def made_in(folder: Path) -> None:
    """The files to work on, made in a process of its own: one that has used the table library must not be forked."""
    code = f"import sys, pathlib; sys.path.insert(0, {os.getcwd()!r}); from tests.torture.inputs import corpus"
    subprocess.run([sys.executable, "-c", f"{code}; corpus(pathlib.Path())"], check=True, cwd=folder)


def started(words: list[str]) -> int:
    """A child that runs one command; it says nothing."""
    child = os.fork()
    if child:
        return child
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    code = 1
    try:
        code = main(words)
    except SystemExit as e:
        code = int(e.code or 0)
    finally:
        os._exit(code)


def half_written() -> list[str]:
    """What is wrong with the outputs as they stand now; a folder that is being replaced is looked at once more."""
    wrong = []
    texts = [(Path(name), "released.csv") for name in ("folder", "other", "third")]
    for folder, file in (*texts, (Path("queried"), "")):
        try:
            names = set(os.listdir(folder))
            lacking = {"card.json", "design.json", "statement.html", file or "released.parquet"} - names
            if lacking:
                wrong.append(f"{folder} lacks {sorted(lacking)}")
            if file and (folder / file).read_bytes().count(b"\n") != ROWS + 1:
                wrong.append(f"{folder}/released.csv is short")
            json.loads((folder / "design.json").read_text())
        except FileNotFoundError:
            pass  # not there at this moment: another process replaces it
        except ValueError as e:
            wrong.append(f"{folder}: {e}")
    for name in ("solved.json", "dense.json", "answer.json", "converted.json"):
        try:
            json.loads(Path(name).read_text())
        except FileNotFoundError:
            pass
        except ValueError as e:
            wrong.append(f"{name}: {e}")
    if Path("applied.csv").exists() and Path("applied.csv").read_bytes().count(b"\n") != ROWS + 1:
        wrong.append("applied.csv is short")
    for entry in Path().glob(".*.partial-*"):
        try:
            if stat.S_IMODE(entry.stat().st_mode) & 0o077 and entry.is_file():
                wrong.append(f"{entry} is open to others")
        except FileNotFoundError:
            pass
    return wrong


def run(kills: int, seed: int) -> int:
    chance = random.Random(seed)
    ended: Counter[str] = Counter()
    wrong: list[str] = []
    running: dict[int, tuple[float, float, int]] = {}
    # Seconds that each command took so far; a kill comes before or a little after, so none before the first end.
    longest = [0.0] * len(COMMANDS)
    finished = [0] * len(COMMANDS)
    killed = 0
    while killed < kills or running:
        while len(running) < PROCESSES and killed + len(running) < kills:
            which = chance.randrange(len(COMMANDS))
            begin = time.monotonic()
            end = begin + (chance.uniform(0.0, 1.2 * longest[which]) if longest[which] else float("inf"))
            running[started(COMMANDS[which])] = (begin, end, which)
        for child, (begin, end, which) in list(running.items()):
            done, status = os.waitpid(child, os.WNOHANG)
            if not done and time.monotonic() >= end:
                os.kill(child, signal.SIGKILL)
                _, status = os.waitpid(child, 0)
                done = child
            if not done:
                continue
            del running[child]
            code = os.waitstatus_to_exitcode(status)
            ended["killed" if code == -signal.SIGKILL else str(code)] += 1
            killed += code == -signal.SIGKILL
            finished[which] += code == 0
            if code == 0 or not longest[which]:
                longest[which] = max(longest[which], time.monotonic() - begin)
            if code != -signal.SIGKILL and code not in ALLOWED:
                wrong.append(f"{COMMANDS[which]} ended with {code}")
        wrong += half_written()
        time.sleep(0.01)
    status = Ledger("ledger.db").check()
    # Each run with a fresh key is a release of its own; those with the same key are one.
    least = finished[1] + bool(finished[0])
    if len(status["releases"]) < least:
        wrong.append(f"{least} releases were made, and {len(status['releases'])} are charged")
    for words in COMMANDS:
        child = started(words)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code not in ALLOWED:
            wrong.append(f"afterwards {words} ended with {code}")
    left = sorted(entry.name for entry in Path().glob(".*.partial-*"))
    told = ", ".join(f"{what}: {count}" for what, count in sorted(ended.items()))
    print(f"{killed} kills ({told}); {len(status['releases'])} releases charged; left behind: {left or 'nothing'}")
    for line in dict.fromkeys(wrong):
        print("wrong:", line)
    return 1 if wrong or left else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        made_in(Path(name))
        os.chdir(name)
        words = ["ledger", "init", "ledger.db", "--budget", "leakage:s=1000000"]
        code = os.waitstatus_to_exitcode(os.waitpid(started(words), 0)[1])
        if code:
            raise SystemExit(f"{words} ended with {code}")
        sys.exit(run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
