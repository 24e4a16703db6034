"""A release says how many rows have each value before and after, and names the groups that it empties."""

import csv
import json
from collections import Counter

import numpy as np
import pytest

from dalenius.cli import main
from dalenius.evidence.before_after import BeforeAfter, ValueCount, before_and_after
from dalenius.releasing import _compared
from dalenius.report.losses import losses

FILE = """
[source]
table = "t.csv"
[columns.S]
values = ["u", "v"]
[columns.A]
values = ["a", "b"]
[columns.B]
values = ["x", "y", "z"]
[mechanism]
observe = ["A", "B"]
release = ["A", "B"]
[objective]
minimize = { sum = [{ distortion = "hamming", of = ["A"] }, { distortion = "hamming", of = ["B"] }] }
[[guarantee]]
leakage = ["S"]
at_most_bits = "1/200"
"""
COUNTS = {"u": [300, 260, 40, 240, 200, 20], "v": [240, 180, 90, 220, 190, 120]}


@pytest.fixture
def folder(tmp_path):
    rows = [
        f"{s},{a},{b}\n" * n
        for s in "uv"
        for (a, b), n in zip(["ax", "ay", "az", "bx", "by", "bz"], COUNTS[s], strict=True)
    ]
    (tmp_path / "t.csv").write_text("S,A,B\n" + "".join(rows))
    (tmp_path / "p.toml").write_text(FILE)
    return tmp_path


def released(folder, *further):
    assert main(["release", "--details", str(folder / "p.toml"), "-o", str(folder / "out"), *further]) == 0


@pytest.mark.long
def test_point_10_groups_that_vanish_are_named_and_ways_out_were_tried(folder, capsys):
    released(folder)
    printed = capsys.readouterr().out
    after = Counter(row["B"] for row in csv.DictReader((folder / "out" / "released.csv").read_text().splitlines()))
    assert f"B: x 1,000 → {after['x']:,}, y 830 → {after['y']:,}, z 270 → {after['z']:,}" in printed
    assert f"Warning: B = z: 270 rows before, {after['z']:,} after (loses" in printed
    assert "pairs of values change by more than a tenth; the largest: " in printed
    assert (
        'Tried: with [[limit]] keep_rows = "3/4" every value keeps three quarters of its rows, on average: the '
        in printed
    )
    assert (
        "Tried: with preserve_marginals = true in [mechanism] every value keeps its rows, on average: the ave"
        in printed
    )
    page = (folder / "out" / "statement.html").read_text()
    assert "One group lost over a quarter of its rows" in page
    assert "“B: z” " in page
    assert "Pairs of values that change most" in page
    card = json.loads((folder / "out" / "card.about.json").read_text())
    said = {(c["column"], c["value"]): c["rows_after"] for c in card["changes"]}
    assert said["B", "z"] == after["z"]
    assert main(["verify", str(folder / "out" / "card.json")]) == 0


@pytest.mark.long
def test_margins_that_are_preserved_raise_no_alarm(folder, capsys):
    (folder / "p.toml").write_text(FILE.replace("[objective]", "preserve_marginals = true\n[objective]"))
    released(folder, "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["tried"] == []
    assert sum(v["before"] for v in told["before_after"]["columns"]) == 2 * 2100
    assert {tuple(v["columns"]) for v in told["before_after"]["pairs"]} == {("A", "B")}


def test_counts_are_right_for_letters_in_any_order():
    before = {"A": np.array([0, 0, 1, 1, 1])}, {"A": ("b", "a")}
    after = {"A": np.array([0, 0, 0, 0, 1])}, {"A": ("a", "b")}
    found = before_and_after(["A"], before, after)
    assert {v.values[0]: (v.before, v.after) for v in found.single} == {"b": (2, 1), "a": (3, 4)}
    assert found.pairs == ()


@pytest.mark.long
def test_point_11_noise_that_is_worse_than_a_constant_says_so(tmp_path, capsys):
    rng = np.random.default_rng(1)
    ages = 5 * np.clip(rng.normal(8.4, 4, 800), 0, 19).astype(int)
    (tmp_path / "t.csv").write_text("age\n" + "".join(f"{a}\n" for a in ages))
    said = ["noise", str(tmp_path / "t.csv"), "--column", "age", "--grid", "0:95:5", "--mechanism", "laplace"]
    assert main([*said, "--epsilon", "1", "-o", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "one number for everybody, the mean, would be nearer to the truth" in printed
    assert "Rows before" not in printed, "noise changes every number"
    assert main([*said, "--epsilon", "60", "-o", str(tmp_path / "fine")]) == 0
    assert "one number for everybody" not in capsys.readouterr().out


def test_two_distortions_are_compared_in_as_many_digits_as_tell_them_apart():
    assert _compared(0.8021, 0.8019, least=0.8021) == "the average change is then 0.8021 instead of 0.8019"
    assert _compared(0.9, 0.5, least=0.9) == "the average change is then 0.9 instead of 0.5"
    assert _compared(0.8, 0.8, least=0.8) == "the average change stays the same"


def test_a_way_that_a_short_search_left_open_is_said_as_an_interval():
    """0.275 was printed as what every value keeping its rows costs; it costs 0.0306."""
    assert _compared(0.275, 0.0163, least=0.0306) == "the average change is then 0.0306 to 0.275 instead of 0.0163"


def test_point_10_pairs_that_vanish_are_named_where_rows_have_strata():
    pairs = (ValueCount(("A", "B"), ("a", "x"), 40, 0), ValueCount(("A", "B"), ("b", "x"), 20, 9))
    told = losses(None, BeforeAfter((), pairs))
    assert told is not None
    assert told.vanished == "One combination no longer occurs: a · x (40 rows)."
    more = losses(None, BeforeAfter((), (*pairs, ValueCount(("A", "C"), ("a", "z"), 30, 0))))
    assert more is not None
    assert more.vanished == "2 pairs of values no longer occur; the largest was a · x with 40 rows."
