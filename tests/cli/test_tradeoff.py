"""`solve`, `tradeoff` and `release --leakage` on a table, as a custodian runs them."""

import csv
import json
import random
import re

import pytest

from dalenius.cli import main
from dalenius.tables import read_told

PROBLEM = """\
[source]
table = "t.csv"
[columns.ill]
values = ["yes", "no"]
[columns.region]
values = ["north", "south", "east"]
[columns.age]
grid = { low = 20, high = 50, step = 10 }
[mechanism]
observe = ["region", "age"]
release = ["region", "age"]
[objective]
minimize = { leakage = ["ill"] }
[[limit]]
sum = [{ distortion = "hamming", of = ["region"] }, { distortion = "absolute", of = ["age"], weight = "1/20" }]
at_most = "1/5"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    draw = random.Random(1)
    rows = ["ill,region,age"]
    for _ in range(4000):
        region, age = draw.choices(["north", "south", "east"], [5, 3, 2])[0], draw.choice([20, 30, 40, 50])
        ill = "yes" if draw.random() < 0.05 + 0.2 * (region == "south") + 0.005 * age else "no"
        rows.append(f"{ill},{region},{age}")
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "p.toml").write_text(PROBLEM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_a_curve_is_written_as_table_json_and_picture(folder, capsys):
    assert main(["tradeoff", "p.toml", "--points", "5"]) == 0
    words = capsys.readouterr().out
    assert "5 points, proved: the least that must be revealed about ill for each change." in words
    assert "Your problem file, proved: an average change of 0.2, about" in words
    points = json.loads((folder / "tradeoff" / "curve.json").read_text(encoding="utf-8"))
    assert len(points) == 5
    for point in points:
        low, high = point["leakage_bits"]
        assert 0 <= low <= high <= low + 1e-6
    assert points[0]["distortion"] == 0
    assert [p["leakage_bits"][1] for p in points] == sorted((p["leakage_bits"][1] for p in points), reverse=True)
    with open(folder / "tradeoff" / "curve.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(r["distortion"]) for r in rows] == pytest.approx([p["distortion"] for p in points], abs=1e-11)
    assert rows[0]["slope_bits"] == ""  # at D_min it may be infinite
    assert [float(r["slope_bits"]) for r in rows[1:]] == pytest.approx([p["slope_bits"] for p in points[1:]], rel=1e-8)
    marks = json.loads((folder / "tradeoff" / "marks.json").read_text(encoding="utf-8"))
    assert (marks["D_min"], marks["D_0"]) == (points[0]["distortion"], points[-1]["distortion"])
    assert marks["D_0"] <= marks["D_max"]
    assert marks["chosen"]["distortion"] == 0.2
    picture = (folder / "tradeoff" / "curve.svg").read_text(encoding="utf-8")
    assert "nothing needs to be revealed" in picture
    assert "one value for everybody" in picture
    assert "the point of the problem file" in picture
    assert main(["tradeoff", "p.toml"]) == 2  # exists already
    assert "exists already" in capsys.readouterr().err
    assert main(["tradeoff", "p.toml", "--points", "3", "--force", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 3


@pytest.mark.long
def test_what_each_level_of_another_promise_costs(folder, capsys):
    """`init` offers a limit on guesses first, and its trade-off ended with "there is nothing to trade"."""
    fewest = 'minimize = { distortion = "hamming", of = ["ill", "age"] }\n'
    promise = '[[guarantee]]\nguess = ["region"]\nat_most = "0.51"\n'
    text = PROBLEM.partition("minimize")[0].replace('["region", "age"]', '["ill", "age"]')
    (folder / "p.toml").write_text(text + fewest + promise, encoding="utf-8")
    for more in ((), ("--force",)):  # what it wrote itself is replaced
        assert main(["tradeoff", "p.toml", "--points", "3", *more]) == 0
    words = capsys.readouterr().out
    assert "4 levels of the promise, each proved: the least average change of a row" in words
    assert "right guesses of region in 1,000, at most:" in words
    assert re.search(r"^  +510 +[\d.]+ +[\d.]+  \(your problem file\)$", words, re.MULTILINE)
    rows = list(csv.DictReader((folder / "tradeoff" / "curve.csv").read_text(encoding="utf-8").splitlines()))
    changes = [float(row["change_at_most"]) for row in rows]
    assert changes == sorted(changes, reverse=True)
    assert "0.51" in [row["level"] for row in rows]
    assert float(rows[-1]["change_at_most"]) == 0
    assert (folder / "tradeoff" / "curve.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.long
def test_a_fast_curve_proves_the_chosen_point_and_says_so(folder, capsys):
    head, measure = PROBLEM.split("[objective]")[0], PROBLEM.split("[[limit]]\n")[1].split("\nat_most")[0]
    text = f'{head}[objective]\nminimize = {{ {measure} }}\n[[guarantee]]\nleakage = ["ill"]\nat_most_bits = "1/100"\n'
    (folder / "q.toml").write_text(text, encoding="utf-8")
    assert main(["tradeoff", "q.toml", "--points", "4", "-o", "fast", "--prove", "chosen"]) == 0
    words = capsys.readouterr().out
    assert "4 points, searched, not proved: the least that must be revealed about ill" in words
    told = re.search(r"Your problem file, proved: an average change of (\S+), about (\S+) bits", words)
    assert 0.01 - 1e-6 <= float(told[2]) <= 0.01 + 2e-6
    fast = json.loads((folder / "fast" / "curve.json").read_text(encoding="utf-8"))
    assert [p["proved"] for p in fast] == [False] * 4
    with open(folder / "fast" / "curve.csv", newline="", encoding="utf-8") as file:
        assert {row["proved"] for row in csv.DictReader(file)} == {"searched, not proved"}
    assert "Only the point of the problem file is proved" in (folder / "fast" / "curve.svg").read_text(encoding="utf-8")
    assert main(["tradeoff", "q.toml", "--points", "4", "-o", "slow"]) == 0
    slow = json.loads((folder / "slow" / "curve.json").read_text(encoding="utf-8"))
    for a, b in zip(fast, slow, strict=True):
        assert a["distortion"] == b["distortion"]
        assert a["leakage_bits"] == pytest.approx(b["leakage_bits"], abs=2e-6)
    assert main(["release", "q.toml", "-o", "out"]) == 0
    design = read_told(folder / "out" / "design.json")
    assert float(told[1]) == pytest.approx(float(design["value"]), abs=1e-3)


@pytest.fixture
def regions(folder):
    text = PROBLEM.replace('["region", "age"]', '["region"]').split("[[limit]]")[0]
    text += '[[limit]]\ndistortion = "hamming"\nof = ["region"]\nat_most = "1/5"\n'
    (folder / "r.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.long
def test_one_point_has_a_design_behind_every_figure(regions, capsys):
    assert main(["tradeoff", "r.toml", "--at", "1/10", "-o", "here", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((regions / "here" / "point.json").read_text(encoding="utf-8"))
    for key, figure in (("least_leakage", "leakage_bits"), ("least_rate", "rate_bits")):
        assert main(["verify", f"here/{told['files'][key]}"]) == 0
        low, high = told[figure]
        value, bound = re.findall(r"(?:at most|less than) (0\.\d+)", capsys.readouterr().out)
        assert (low, high) == pytest.approx((float(bound), float(value)), abs=2e-9)
    low, high = told["equivocation_bits"]
    assert high - low <= 1e-6
    assert told["rate_bits"][1] < told["rate_at_least_leakage_bits"][0]
    assert told["slope_bits"] > 0
    assert main(["tradeoff", "r.toml", "--at", f"0.1,{low - 0.001}", "-o", "rate"]) == 0
    assert "the least rate R(D, E) is between" in capsys.readouterr().out


@pytest.mark.long
def test_a_point_has_a_witness_or_a_separation(regions, capsys):
    assert main(["tradeoff", "r.toml", "--at", "5,0.1,0.5", "-o", "in"]) == 0
    assert "can be had: witness.json" in capsys.readouterr().out
    assert main(["verify", "in/witness.json", "--table", "t.csv"]) == 0
    assert main(["tradeoff", "r.toml", "--at", "0.5,0.1,0.5", "-o", "out"]) == 3
    words = capsys.readouterr().out
    assert "cannot be had: the rate is below the least one" in words
    told = re.search(r"Whatever can be had has (.*) >= (\S+); here it is (\S+)\.", words)
    assert float(told[3]) < float(told[2])
    assert main(["verify", "out/separation.json"]) == 0
    assert main(["tradeoff", "r.toml", "--at", "5,0.1,2", "-o", "unknown"]) == 3
    assert "above the most that can stay unknown" in capsys.readouterr().out


@pytest.mark.long
def test_a_metric_and_a_level_given_what_is_kept(folder, capsys):
    """The age 60 never occurs, and has a row to keep; what is kept leaves the level to records that agree in it."""
    ages = [str(a) for a in range(20, 70, 10)]
    inputs = {"age": ages, "region": ["north", "south", "east"]}
    apart = [[abs(i // 3 - j // 3) + 4 * (i % 3 != j % 3) for j in range(15)] for i in range(15)]
    (folder / "d.json").write_text(json.dumps({"inputs": inputs, "distances": apart}), encoding="utf-8")
    text = PROBLEM.replace("high = 50", "high = 60").split("[mechanism]")[0]
    text += '[mechanism]\nobserve = ["age"]\nrelease = ["age"]\nstrata = ["region"]\n'
    text += '[objective]\nminimize = { distortion = "absolute", of = ["age"] }\n'
    text += '[[guarantee]]\nlocal_dp = 1\nmetric = "d.json"\ngiven = ["region"]\n'
    (folder / "m.toml").write_text(text + '[[guarantee]]\nleakage = ["ill"]\nat_most_bits = "1/20"\n', encoding="utf-8")
    assert main(["release", "m.toml", "-o", "m"]) == 0
    assert main(["verify", "m/design.json", "--table", "t.csv", "--problem", "m.toml"]) == 0
    assert "the design keeps every promise, limit and shape of m.toml" in capsys.readouterr().out
    assert main(["verify", "m/card.json"]) == 0
    assert "Promise 1 is proved from the card alone" in capsys.readouterr().out
    (folder / "n.toml").write_text(text.replace('given = ["region"]\n', ""), encoding="utf-8")
    assert main(["solve", "n.toml", "-o", "n.json"]) == 2
    assert 'say given = ["region"]' in capsys.readouterr().err


@pytest.mark.parametrize("at", ["1,2,3,4", "0.1,,2", "a", "-1,0,0"])
def test_a_point_is_one_two_or_three_numbers(folder, capsys, at):
    assert main(["tradeoff", "p.toml", f"--at={at}", "-o", "x"]) == 2
    assert "--at" in capsys.readouterr().err
    assert not (folder / "x").exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("option", "unit", "limit"), [("--leakage", "distortion", 0.01), ("--distortion", "bits", 0.1)]
)
def test_a_release_picks_a_point_of_the_curve(folder, capsys, option, unit, limit):
    assert main(["release", "p.toml", "-o", "out", option, str(limit)]) == 0
    capsys.readouterr()
    design = read_told(folder / "out" / "design.json")
    assert design["unit"] == unit
    reached = design["guarantees"][0]["proved"]["leakage_bits"] if option == "--leakage" else None
    if reached is not None:
        assert limit - 1e-6 <= float(reached) <= limit
    assert main(["verify", "out/design.json", "--table", "t.csv"]) == 0
    assert "every promise and every limit is kept" in capsys.readouterr().out
    with open(folder / "out" / "released.csv", newline="", encoding="utf-8") as file:
        assert list(next(csv.reader(file))) == ["region", "age"]


@pytest.mark.long
def test_the_walk_of_a_design_with_limits(folder, capsys):
    assert main(["solve", "p.toml", "-o", "d.json"]) == 0
    assert main(["verify", "d.json", "--problem", "p.toml", "--json"]) == 0
    assert main(["explain", "d.json"]) == 0
    assert "and 1/20 times the average error of age is at most 0.2" in capsys.readouterr().out
    (folder / "q.toml").write_text(PROBLEM.replace('"1/5"', '"1/6"'), encoding="utf-8")
    assert main(["verify", "d.json", "--problem", "q.toml"]) == 4
    assert 'at_most = "1/6" } in [[limit]]' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ('leakage = ["ill"]', "leakage = []", 2, "must be a list of column names"),
        ('"1/5"', '"-1"', 2, "write a number from 0 on"),
        ('weight = "1/20"', 'wait = "1/20"', 2, "unknown key 'wait'"),
        ('distortion = "hamming", of = ["region"]', 'distortion = [[0, 1], [1, 0]], of = ["region"]', 2, "2 by 2"),
        ('of = ["age"]', 'of = ["ill"]', 2, "among the released columns"),
    ],
)
def test_bad_input_is_one_sentence(folder, capsys, old, new, code, message):
    (folder / "bad.toml").write_text(PROBLEM.replace(old, new), encoding="utf-8")
    assert main(["solve", "bad.toml", "-o", "x.json"]) == code
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert not (folder / "x.json").exists()


def test_an_impossible_distortion_names_the_smallest_one(folder, capsys):
    matrix = "[[1,2,2],[2,1,2],[2,2,1]]"
    text = PROBLEM.replace('release = ["region", "age"]', 'release = ["region"]').split("[[limit]]")[0]
    text += f'[[limit]]\ndistortion = {matrix}\nof = ["region"]\nat_most = "1/2"\n'
    (folder / "low.toml").write_text(text, encoding="utf-8")
    assert main(["solve", "low.toml", "-o", "x.json"]) == 3
    assert "the smallest possible is 1" in capsys.readouterr().err
