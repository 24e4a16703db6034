"""Kill releases at random moments while others run, and compare the ledger with what really happened.

    python -m tests.ledger.torture --kills 1000 --processes 8
    python -m tests.ledger.torture --kills 200 --bug draws-first       (must complain)

Jobs are releases with keys of their own, more of them than the budget allows. Every attempt is a forked process that
runs `dalenius.release` with the ledger; most are killed with SIGKILL, either from outside after a random time (which
also hits the inside of SQLite), or by themselves at a random line of the code that matters. A killed job is tried again
until it is done or refused. A witness that knows nothing of the ledger notes each draw as it begins. Then:

- nothing lost: what the witness saw has a charged entry, and so has every folder that was written;
- nothing spent twice: one charged entry for each job, the sum is the cost of that many, all of the budget was usable;
- nothing refused too late: a refused job was never drawn, and the budget was never exceeded;
- a job that was continued gave the same table.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

from dalenius import Certificate, Channel, Design, Key, Ledger, Problem, release, releasing
from dalenius.engines import local as local_engine
from dalenius.errors import LedgerRefused
from dalenius.ledger import book, store
from dalenius.mechanisms.proving import proved

PROBLEM = """\
[source]
table = "t.csv"
min_cell = 1
[columns.a]
values = ["0", "1"]
[mechanism]
observe = ["a"]
output = "Y"
[objective]
maximize = { information = ["a"] }
[[guarantee]]
local_dp = 2
"""
RESPONSE = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))  # of level ln 3
COST = Fraction("1.098612288668109691395245236923")
TRACED = {store.__file__, book.__file__, releasing.__file__, releasing.write_text.__code__.co_filename}
REFUSED, BROKEN = 6, 70
MOST_ATTEMPTS = 12
LONGEST = 0.4  # seconds until a kill from outside


@dataclass
class Tally:
    """What happened in all rounds so far."""

    kills: int = 0
    attempts: int = 0
    drawn: int = 0
    released: int = 0
    refused: int = 0
    continued: int = 0
    rounds: int = 0
    complaints: list[str] = field(default_factory=list)


@dataclass
class Attempt:
    """One process at work."""

    job: int
    number: int
    dies_at: float | None


def randomised_response(problem: Problem, **_: Any) -> Design:
    """What `solve` answers here, at once: the search is not what is tortured."""
    channel = Channel({"a": ("0", "1")}, {"Y": ("0", "1")}, RESPONSE)
    return proved(problem, channel, [Certificate({"rule": "closed"})], method="randomised response")


def key_of(job: int) -> Key:
    return Key.unsafe(job)


FINGERPRINT = Key.fingerprint


class Round:
    """One ledger, some jobs, and room for fewer of them."""

    def __init__(self, folder: Path, jobs: int, room: int, seed: int) -> None:
        self.folder, self.jobs, self.room, self.random = folder, jobs, room, random.Random(seed)
        (folder / "t.csv").write_text("a\n" + "".join(f"{k & 1}\n" for k in range(80)))
        (folder / "p.toml").write_text(PROBLEM)
        self.problem = Problem.from_file(folder / "p.toml")
        self.path, self.witness = folder / "people.ledger", folder / "witness"
        self.witness.touch()
        Ledger.create(self.path, [f"local_dp={room * COST}"])
        self.lines = 0
        self.outcome: dict[int, str] = {}

    # --- in the child -------------------------------------------------------------------------------------------------
    def _attempt(self, job: int, number: int, kill_line: int | None) -> int:
        seen = local_engine.draw

        def witnessed(*arguments: Any, **named: Any) -> Any:
            descriptor = os.open(self.witness, os.O_WRONLY | os.O_APPEND)
            os.write(descriptor, f"{job}\n".encode())
            os.close(descriptor)
            return seen(*arguments, **named)

        with mock.patch.object(local_engine, "draw", witnessed), killed_at(kill_line):
            try:
                release(self.problem, self.folder / f"out-{job}-{number}", key=key_of(job), ledger=self.path)
            except LedgerRefused:
                return REFUSED
        return 0

    def start(self, job: int, number: int) -> tuple[int, Attempt]:
        """Fork one attempt: to be killed by time, by line, or not at all."""
        way = "never" if number >= MOST_ATTEMPTS else self.random.choice(["time"] * 4 + ["line"] * 4 + ["never"])
        line = self.random.randrange(1, self.lines) if way == "line" else None
        dies_at = time.monotonic() + self.random.uniform(0, LONGEST) if way == "time" else None
        pid = os.fork()
        if pid == 0:
            code = BROKEN
            try:
                code = self._attempt(job, number, line)
            except BaseException as e:
                print(f"job {job}, attempt {number}: {type(e).__name__}: {e}", file=sys.stderr)
            finally:
                os._exit(code)
        return pid, Attempt(job, number, dies_at)

    # --- in the parent ------------------------------------------------------------------------------------------------
    def run(self, processes: int, tally: Tally) -> None:
        """Every job until it is done or refused, so many at once."""
        self.lines = count_lines(self.problem, self.folder)
        waiting = [(job, 1) for job in range(self.jobs)]
        self.random.shuffle(waiting)
        running: dict[int, Attempt] = {}
        while waiting or running:
            while waiting and len(running) < processes:
                pid, attempt = self.start(*waiting.pop())
                running[pid] = attempt
                tally.attempts += 1
            now = time.monotonic()
            for pid, attempt in running.items():
                if attempt.dies_at is not None and now >= attempt.dies_at:
                    os.kill(pid, signal.SIGKILL)
            for pid in [p for p in running if os.waitid(os.P_PID, p, os.WEXITED | os.WNOHANG | os.WNOWAIT)]:
                _, status = os.waitpid(pid, 0)
                attempt = running.pop(pid)
                if os.WIFSIGNALED(status):
                    tally.kills += 1
                    waiting.insert(self.random.randrange(len(waiting) + 1), (attempt.job, attempt.number + 1))
                    continue
                code = os.waitstatus_to_exitcode(status)
                if code not in (0, REFUSED):
                    tally.complaints.append(f"attempt {attempt.number} of job {attempt.job} broke with code {code}")
                self.outcome[attempt.job] = "released" if code == 0 else "refused"
            time.sleep(0.001)
        self.judge(tally)

    def judge(self, tally: Tally) -> None:
        """Compare the ledger with the witness and with the folders."""
        status = Ledger(self.path).check()
        entries = Ledger(self.path).entries()
        job_of = {FINGERPRINT(key_of(job)): job for job in range(self.jobs)}
        charged = Counter(job_of.get(e.key_fingerprint or "", -1) for e in entries if e.charged)
        drawn = Counter(int(line) for line in self.witness.read_text().split())
        written = [p for p in self.folder.glob("out-*") if p.is_dir()]
        say = tally.complaints.append
        for job in {*drawn, *(int(p.name.split("-")[1]) for p in written)} - set(charged):
            say(f"lost: job {job} was drawn and is not charged")
        for job, times in charged.items():
            if times > 1 or job < 0:
                say(f"spent twice: job {job} is charged {times} times")
        for job, end in self.outcome.items():
            states = [e.state for e in entries if job_of.get(e.key_fingerprint or "") == job]
            if end == "refused" and (drawn[job] or states):
                say(f"refused too late: job {job} was drawn {drawn[job]} times and is {states}")
            if end == "released" and states != ["released"]:
                say(f"job {job} was released and is {states}")
        total = sum(charged.values())
        if abs(Fraction(status["spent"]["local_dp"]) - COST * total) > total * Fraction(1, 10**29):
            say(f"{total} releases are charged and the sum is {status['spent']['local_dp']}")
        if len(drawn) > self.room or not status["within_budget"]:
            say(f"over budget: {len(drawn)} jobs were drawn, {self.room} were allowed")
        if total != min(self.room, self.jobs):
            say(f"{total} releases are charged where {self.room} have room")
        for job in range(self.jobs):
            tables = {(p / "released.csv").read_bytes() for p in written if p.name.split("-")[1] == str(job)}
            if len(tables) > 1:
                say(f"job {job} gave {len(tables)} different tables")
        tally.rounds += 1
        tally.drawn += sum(drawn.values())
        tally.continued += sum(n > 1 for n in drawn.values())
        tally.released += sum(end == "released" for end in self.outcome.values())
        tally.refused += sum(end == "refused" for end in self.outcome.values())


@contextmanager
def killed_at(line: int | None) -> Iterator[None]:
    """This process kills itself when it reaches the n-th line of the traced files."""
    if line is None:
        yield
        return
    left = line

    def stop() -> None:
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    with traced(stop):
        yield


@contextmanager
def traced(on_line: Callable[[], None]) -> Iterator[None]:
    def local(_frame: Any, event: str, _argument: Any) -> Any:
        if event == "line":
            on_line()
        return local

    before = sys.gettrace()  # one that counts lines is to count on
    sys.settrace(lambda frame, _event, _argument: local if frame.f_code.co_filename in TRACED else None)
    try:
        yield
    finally:
        sys.settrace(before)


def count_lines(problem: Problem, folder: Path) -> int:
    """How many traced lines one whole release runs through; also warms what every attempt needs."""
    lines = 0

    def one_more() -> None:
        nonlocal lines
        lines += 1

    Ledger.create(folder / "trial.ledger", [f"local_dp={COST}"])
    with traced(one_more):
        release(problem, folder / "trial", key=Key.unsafe(-1), ledger=folder / "trial.ledger")
    return lines


# --- bugs to plant: the complaints must find each of them -------------------------------------------------------------
@contextmanager
def draws_first() -> Iterator[None]:
    """The charge is committed after the draw."""
    charge, draw = releasing._charged, local_engine.draw
    later: dict[str, Any] = {}

    class Promise:
        id = 0
        table_digest = ""

    def put_off(*arguments: Any) -> Any:
        later["arguments"], later["entry"] = arguments, Promise()
        return later["entry"]

    def drawn(*arguments: Any, **named: Any) -> Any:
        out = draw(*arguments, **named)
        later["entry"].id = charge(*later["arguments"]).id
        return out

    with mock.patch.object(releasing, "_charged", put_off), mock.patch.object(local_engine, "draw", drawn):
        yield


@contextmanager
def not_alone() -> Iterator[None]:
    """What is read and what is written do not stand in one transaction."""

    def slow(*arguments: Any) -> Any:
        found = add_up(*arguments)
        time.sleep(0.1)  # the window is open anyway; so it is hit sooner
        return found

    add_up = book.spent
    with mock.patch.object(book, "transaction", nullcontext), mock.patch.object(book, "spent", slow):
        yield


@contextmanager
def forgets_who() -> Iterator[None]:
    """A release that is begun again is taken for another one."""

    def charged(book_: Ledger, design: Any, coded: Any, _digest: str, key: Key, dataset: str) -> Any:
        entry = book_.reserve(
            design.dumps(),
            dataset=dataset,
            identity=(os.urandom(8).hex(),),
            rows=coded.rows,
            key_fingerprint=key.fingerprint(),
        )
        book_.begin(entry)
        return entry

    with mock.patch.object(releasing, "_charged", charged):
        yield


BUGS: dict[str, Callable[[], Any]] = {
    "none": nullcontext,
    "draws-first": draws_first,
    "forgets-who": forgets_who,
    "not-alone": not_alone,
}


def torture(
    kills: int, *, processes: int = 8, jobs: int = 30, bug: str = "none", seed: int = 1, patient: bool = True
) -> Tally:
    """Rounds until so many processes were killed; impatient: until the first complaint."""
    tally = Tally()
    with mock.patch.object(releasing, "solve", randomised_response), BUGS[bug]():
        while tally.kills < kills and (patient or not tally.complaints):
            with tempfile.TemporaryDirectory(prefix="dalenius-torture-") as folder:
                Round(Path(folder), jobs, max(1, jobs * 3 // 4), seed + tally.rounds).run(processes, tally)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill releases at random and compare the ledger with what happened.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=30, help="releases in each round")
    parser.add_argument("--bug", choices=list(BUGS), default="none", help="plant a bug that must be found")
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    begun = time.monotonic()
    tally = torture(said.kills, processes=said.processes, jobs=said.jobs, bug=said.bug, seed=said.seed)
    print(
        f"{tally.kills} kills in {tally.attempts} attempts, {said.processes} at once, {tally.rounds} ledgers, "
        f"{time.monotonic() - begun:.0f} s"
    )
    print(
        f"{tally.drawn} draws seen, {tally.continued} releases continued after a kill, {tally.released} released, "
        f"{tally.refused} refused"
    )
    for complaint in tally.complaints[:20]:
        print(f"WRONG: {complaint}")
    print(f"{len(tally.complaints)} complaints" if tally.complaints else "nothing lost, nothing spent twice")
    return bool(tally.complaints)


if __name__ == "__main__":
    sys.exit(main())
