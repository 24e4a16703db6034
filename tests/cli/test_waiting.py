"""The line for whoever waits: what, how far, how long; never "inf", never an exponent."""

import re

from dalenius import stopping
from dalenius.cli import terminal
from dalenius.cli.waiting import Waiting


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_search_says_how_far_it_is_and_when_it_will_end():
    clock = Clock()
    waiting = Waiting(clock)
    assert waiting.line("designing, step 1: inf, at least -inf", None, None).endswith("no answer yet")
    lines = []
    for step, gap in enumerate((0.5, 0.05, 0.005, 0.0005, 0.00005)):
        clock.now += 2.0
        lines.append(waiting.line(f"designing, step {step}: 1, at least {1 - gap}", None, None))
    assert lines[0] == "Looking for the best recipe: proved within 50 %, no estimate yet"
    assert lines[3] == "Looking for the best recipe: proved within 0.05 %, about 5 s left"
    assert not any(re.search(r"inf|\de-", line) for line in lines)


def test_rows_are_counted_with_the_time_that_is_left():
    clock = Clock()
    waiting = Waiting(clock)
    waiting.line("drawing", 0, 1000)
    clock.now = 10.0
    assert waiting.line("drawing", 250, 1000) == "Drawing the released rows: 250 of 1,000 (25 %), about 30 s left"
    assert waiting.line("reading", 7, None) == "Reading the table: 7 rows"


def test_only_a_long_search_gets_a_line_that_stays():
    short = "designing, 32 combinations, about 3 s, 1 MiB"
    long = "designing, 700 combinations, about 4 minutes, 1.2 GiB"
    assert Waiting().lasting(short) is None
    assert "4 minutes" in (Waiting().lasting(long) or "")
    assert (Waiting().lasting(long) or "").endswith("Ctrl-C stops it, and nothing is written.")
    assert Waiting().lasting("drawing") is None
    stopping.resume(keep=True)
    try:
        assert (Waiting().lasting(long) or "").endswith("Ctrl-C keeps the best recipe that is proved.")
    finally:
        stopping.resume()


def test_a_log_of_long_work_has_one_line_for_each_stage(place, run, monkeypatch):
    monkeypatch.setattr(terminal, "LONG", 1e9)
    assert run("release", place / "p.toml", "-o", place / "short")[2] == ""
    monkeypatch.setattr(terminal, "LONG", 0.0)
    code, _, err = run("release", place / "p.toml", "-o", place / "logged")
    assert code == 0
    assert err == "Reading the table\nLooking for the best recipe\nDrawing the released rows\nWriting\n"
    assert run("release", place / "p.toml", "-o", place / "silent", "--quiet")[2] == ""
    assert run("release", place / "p.toml", "-o", place / "machines", "--json")[2] == ""
