"""Mutated inputs over all parsers, in process: every one of them ends in one of our exit codes, and in one sentence.

    python -m tests.torture.inputs 100000 [SEED]

A file of each kind that we read is damaged (bytes turned over, cut out, doubled, exchanged for what hurts) and given to
the commands that read it. A worker that is ended by a signal, an exit code 1, an exception that is not ours and an
output that was left half-written are failures; each is kept with its command.
"""

import contextlib
import copy
import gzip
import io
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dalenius import Key, Problem
from dalenius.api import release
from dalenius.cli import main
from dalenius.ledger import Ledger

ALLOWED = {0, 2, 3, 4, 5, 6}
OLD = next(iter(sorted((Path(__file__).parents[1] / "convert" / "corpus1").glob("*.json"))))  # a design of version 1
BATCH = 2_500  # inputs of one worker
SECONDS = 20  # of one input; none of them is large
TIMERS = ((signal.SIGPROF, signal.ITIMER_PROF, SECONDS), (signal.SIGALRM, signal.ITIMER_REAL, 60 * SECONDS))

PROBLEM = """[source]
table = "t.csv"
min_cell = 1

[columns.s]
values = ["m", "f"]

[columns.x]
values = ["0", "1", "2"]
missing = "category"

[mechanism]
observe = ["s", "x"]
release = ["x"]

[objective]
minimize = { distortion = "hamming", of = ["x"] }

[[guarantee]]
leakage = ["s"]
at_most_bits = "1/20"
"""
QUESTION = """query = "count"
where = "s == 'm' and x == '1'"
noise = "discrete-laplace"
parameter = 10
"""
QUERY = """records = 4
letters = ["0", "1"]
query = "sum"
noise = "randomised-response"
parameter = "1/4"
"""
HURTING = (
    *(b"9" * 400, b"-1", b"0", b"1e999", b"NaN", b"null", b"[]", b"{}", b'""', b"true", b"\x00", b"\xff\xfe", b"1/0"),
    *(b"[" * 300, b'"' * 3, b"\n\n", b",", b";", b"\t", "é\u202e".encode(), b"(missing)", b"?", b"../..", b"-0.0"),
)


def corpus(folder: Path) -> None:
    """One sound file of each kind."""
    rng = np.random.default_rng(1)
    s = rng.integers(0, 2, 200)
    x = [None if v == 3 else str(v) for v in (s + rng.integers(0, 3, 200)) % 4]
    table = pa.table({"s": np.array(["m", "f"])[s], "x": x})
    lines = "s,x\n" + "".join(f"{r['s']},{r['x'] or '?'}\n" for r in table.to_pylist())
    (folder / "t.csv").write_text(lines)
    (folder / "t.tsv").write_text(lines.replace(",", "\t"))
    with gzip.open(folder / "t.csv.gz", "wt") as file:
        file.write(lines)
    parquet.write_table(table, folder / "t.parquet", row_group_size=50)
    with pa.ipc.new_file(str(folder / "t.arrow"), table.schema) as file:
        file.write_table(table, max_chunksize=50)
    with pa.ipc.new_stream(str(folder / "stream.arrow"), table.schema) as file:
        file.write_table(table, max_chunksize=50)
    (folder / "p.toml").write_text(PROBLEM)
    (folder / "q.toml").write_text(QUERY)
    (folder / "question.toml").write_text(QUESTION)
    (folder / "plan.csv").write_text('"","a","b"\n"a",0.75,0.25\n"b",0.25,0.75\n')
    with sqlite3.connect(folder / "people.db") as connection:
        connection.execute("create table people (id integer primary key, s text, x)")
        connection.executemany("insert into people (s, x) values (?, ?)", [(r["s"], r["x"]) for r in table.to_pylist()])
    query = 'table = "sqlite:people.db"\nquery = "select id, s, x from people order by id"'
    (folder / "sql.toml").write_text(PROBLEM.replace('table = "t.csv"', query))
    Ledger.create(folder / "book.db", ["leakage:s=100"])
    (folder / "key").write_text("ab" * 32 + "\n")
    (folder / "key").chmod(0o600)
    channel = {"inputs": {"x": ["0", "1"]}, "output": {"x": ["0", "1"]}, "rows": [["3/4", "1/4"], ["1/4", "3/4"]]}
    (folder / "channel.json").write_text(json.dumps(channel))
    prior = {"variables": {"x": ["0", "1"]}, "pmf": [{"x": "0", "p": "1/3"}, {"x": "1", "p": "2/3"}]}
    (folder / "prior.json").write_text(json.dumps(prior))
    release(Problem.from_file(folder / "p.toml"), folder / "out", key=Key.unsafe(1))
    for name in ("design.json", "design.about.json", "card.json", "card.about.json"):
        shutil.copy(folder / "out" / name, folder / name)
    shutil.copy(folder / "out" / "released.csv", folder / "released.csv")
    shutil.copy(OLD, folder / "old.json")
    shutil.rmtree(folder / "out")


def commands(name: str) -> list[list[str]]:
    """The commands that read a file of this name."""
    audit = ["audit", "--seconds", "5"]
    table = [["profile", name], ["apply", "design.json", name, "-o", "new.csv"]]
    whole = ["--seconds", "3", "--quiet"]
    return {
        "t.csv": [
            *table,
            ["solve", "p.toml", "-o", "new.json", *whole],
            ["release", "p.toml", "-o", "new", *whole],
            ["init", name, "--protect", "s", "--release", "x", "--reveal", "0.05", "--yes", "-o", "new.toml"],
            ["risk", name, "--keys", "s", "x", "--population", "100000"],
            ["answer", "question.toml", name, "-o", "new.json"],
            ["tradeoff", "p.toml", "--points", "2", "-o", "new", *whole],
        ],
        "t.tsv": table,
        "t.csv.gz": table,
        "t.parquet": table,
        "t.arrow": table,
        "stream.arrow": table,
        "p.toml": [
            ["solve", name, "-o", "new.json", *whole],
            ["release", name, "-o", "new", *whole],
            ["explain", name],
            ["verify", "design.json", "--problem", name],
        ],
        "q.toml": [[*audit, name], ["calibrate", name, "--at-most-bits", "0.5"]],
        "question.toml": [["answer", name, "t.csv", "-o", "new.json"], [*audit, name, "--records", "200"]],
        "plan.csv": [["read", "sdcmicro", name, "--column", "plan", "-o", "new.json"]],
        "people.db": [["release", "sql.toml", "-o", "new", *whole], ["solve", "sql.toml", "-o", "new.json", *whole]],
        "sql.toml": [["release", name, "-o", "new", *whole]],
        "book.db": [["ledger", "status", name], ["ledger", "check", name], ["ledger", "add", name, "design.json"]],
        "old.json": [["convert", name, "new.json"], ["verify", name], ["explain", name]],
        "key": [["apply", "design.json", "t.csv", "-o", "new.csv", "--key", name]],
        "channel.json": [
            [*audit, name],
            [*audit, name, "--prior", "prior.json"],
            ["channel", name, "--dense", "-o", "new.json"],
            ["apply", name, "--value", "0"],
        ],
        "prior.json": [[*audit, "channel.json", "--prior", name]],
        "design.json": [
            ["verify", name],
            ["explain", name],
            [*audit, name],
            ["apply", name, "t.csv", "-o", "new.csv"],
            ["estimate", name, "released.csv"],
            ["channel", name, "--dense", "-o", "new.json"],
        ],
        "design.about.json": [["explain", "design.json"], ["verify", "design.json", "--table", "t.csv"]],
        "card.json": [
            ["verify", name],
            ["explain", name],
            [*audit, name],
            ["estimate", name, "released.csv"],
            ["apply", name, "--value", "s=m", "--value", "x=1"],
        ],
        "card.about.json": [["explain", "card.json"], ["estimate", "card.json", "released.csv"]],
        "released.csv": [
            ["estimate", "card.json", name],
            [*audit, "design.json", "--released", name, "--original", "t.csv"],
        ],
    }[name]


FILES = (
    *("t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow", "stream.arrow", "p.toml", "q.toml", "key", "channel.json"),
    *("prior.json", "design.json", "design.about.json", "card.json", "card.about.json", "released.csv"),
    *("question.toml", "plan.csv", "people.db", "sql.toml", "book.db", "old.json"),
)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with one to four wounds."""
    out = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(out) + 1)
        to = min(len(out), at + chance.choice((1, 1, 4, 30, len(out))))
        wound = chance.randrange(6)
        if wound == 0 and at < len(out):
            out[at] ^= 1 << chance.randrange(8)
        elif wound == 1:
            del out[at:to]
        elif wound == 2:
            out[at:at] = out[at:to]
        elif wound == 3:
            out[at : at + chance.randrange(3)] = chance.choice(HURTING)
        elif wound == 4 and at < len(out):
            out[at] = chance.randrange(256)
        else:
            other = chance.randrange(len(out) + 1)
            out[at : at + 8], out[other : other + 8] = out[other : other + 8], out[at : at + 8]
    return bytes(out)


def mutated_json(content: bytes, chance: random.Random) -> bytes:
    """A document that still is one: a value somewhere in it is another, gone, or doubled."""
    document = json.loads(content)
    place: list[tuple[object, object]] = []

    def walk(node: object) -> None:
        items: Iterator[tuple[object, object]] = iter(())
        if isinstance(node, dict):
            items = iter(node.items())
        elif isinstance(node, list):
            items = iter(enumerate(node))
        for key, value in items:
            place.append((node, key))
            walk(value)

    walk(document)
    node, key = chance.choice(place)
    other_node, other_key = chance.choice(place)
    values: list[object] = [None, True, 0, -1, 10**30, 0.5, "", "x", "1/0", "-1", [], {}, [[]], [None], {"x": "0"}]
    values.append(copy.deepcopy(other_node[other_key]))  # type: ignore[index]
    if chance.random() < 0.2:
        del node[key]  # type: ignore[attr-defined]
    else:
        node[key] = chance.choice(values)  # type: ignore[index]
    return json.dumps(document, ensure_ascii=False).encode()


class TooLong(Exception):
    """An input took longer than any of them should."""


def tried(words: list[str]) -> tuple[int, str]:
    """Exit code and what was said; an exception that is not ours is code 1."""
    said = io.StringIO()

    def late(*_: object) -> None:
        raise TooLong

    # Of processor time: on a machine with others the clock on the wall says nothing. A wait without end is ended, too.
    for name, kind, seconds in TIMERS:
        signal.signal(name, late)
        signal.setitimer(kind, seconds)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            code = main(words)
    except SystemExit as e:
        code = int(e.code or 0)
    except TooLong:
        return 1, f"took more than {SECONDS} s"
    except Exception:
        return 1, traceback.format_exc()
    finally:
        for _, kind, _ in TIMERS:
            signal.setitimer(kind, 0)
    return code, said.getvalue()


def worker(seed: int, count: int) -> None:
    """Try so many inputs; a line for each failure, and the exit codes at the end."""
    codes: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        corpus(folder)
        sound = {file: (folder / file).read_bytes() for file in FILES}
        modes = {file: (folder / file).stat().st_mode for file in FILES}
        before = set(os.listdir(folder))
        for k in range(count):
            chance = random.Random(seed * 1_000_003 + k)
            file = chance.choice(FILES)
            way: Callable[[bytes, random.Random], bytes] = mutated
            if file.endswith(".json") and chance.random() < 0.5:
                way = mutated_json
            (folder / file).write_bytes(way(sound[file], chance))
            os.utime(folder / file, (1e9, 1e9))  # a file that is a moment old is waited for
            words = chance.choice(commands(file))
            Path("last").write_text(json.dumps([seed, k, file, words]))
            code, said = tried(words)
            codes[code] += 1
            left = set(os.listdir(folder)) - before - {"last"}
            partial = [entry for entry in left if ".partial-" in entry or (code and entry.startswith("new"))]
            if code not in ALLOWED or (code and said.count("\n") != 1) or partial:
                told = {"seed": seed, "k": k, "file": file, "words": words, "code": code, "left": partial}
                print(json.dumps(told | {"said": said[-1500:]}), flush=True)
            for entry in left:
                shutil.rmtree(entry) if Path(entry).is_dir() else Path(entry).unlink()
            (folder / file).write_bytes(sound[file])
            (folder / file).chmod(modes[file])
            os.utime(folder / file, (1e9, 1e9))
        print(json.dumps({"codes": codes}))


def run(total: int, seed: int) -> int:
    """All workers, two at a time; prints what failed and how often each exit code came."""
    begin = time.perf_counter()
    codes: Counter[str] = Counter()
    failures = 0
    waiting = [(seed + n, min(BATCH, total - n * BATCH)) for n in range(-(-total // BATCH))]
    running: list[tuple[int, int, subprocess.Popen[str]]] = []
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            one, count = waiting.pop(0)
            command = [sys.executable, "-m", "tests.torture.inputs", "worker", str(one), str(count)]
            running.append((one, count, subprocess.Popen(command, stdout=subprocess.PIPE, text=True)))
        one, _, process = running.pop(0)
        out, _ = process.communicate()
        for line in out.splitlines():
            told = json.loads(line)
            if "codes" in told:
                codes.update(told["codes"])
            else:
                failures += 1
                print(line, flush=True)
        if process.returncode:
            failures += 1
            print(f"worker {one} ended with {process.returncode}", flush=True)
    seconds = time.perf_counter() - begin
    told = ", ".join(f"{code}: {count:,}" for code, count in sorted(codes.items()))
    print(f"{sum(codes.values()):,} inputs in {seconds:.0f} s; exit codes {told}; {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        worker(int(sys.argv[2]), int(sys.argv[3]))
    else:
        sys.exit(run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
