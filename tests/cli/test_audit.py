"""`dalenius audit`: any mechanism, with and without a prior, beside a released table, and refusals."""

import json
import math
import random
import re
import time
from fractions import Fraction

import pytest

from dalenius.cli import audit
from dalenius.measures import correlation
from dalenius.tables import read_told
from tests.effort import effort

CHANNEL = {
    "inputs": {"A": ["0", "1"], "B": ["0", "1"]},
    "output": {"Y": ["0", "1"]},
    "rows": [["3/4", "1/4"], ["1/4", "3/4"], ["1/4", "3/4"], ["3/4", "1/4"]],
}
PRIOR = {
    "variables": {"B": ["1", "0"], "A": ["0", "1"]},
    "pmf": [{"A": a, "B": b, "p": "1/4"} for a in "01" for b in "01"],
}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "channel.json").write_text(json.dumps(CHANNEL))
    (tmp_path / "prior.json").write_text(json.dumps(PRIOR))
    return tmp_path


def test_a_recipe_that_leaves_most_values_alone_is_audited(tmp_path, run):
    """Its capacity hangs on a row of tiny weight that alone reaches a column; the search ended in exit 5."""
    rng, n = random.Random(11), 6
    rows = [[Fraction(i == j) for j in range(n + n // 2)] for i in range(n)]
    for k in range(n // 2):
        rare = Fraction(rng.choice([1, 10, 100, 1000]), 100_000)
        weights = [rng.randrange(1, 10) for _ in range(n)]
        own = [rare if j == k else Fraction(0) for j in range(n // 2)]
        rows.append([Fraction(w, sum(weights)) * (1 - rare) for w in weights] + own)
    names = [str(k) for k in range(len(rows))]
    channel = {"inputs": {"X": names}, "output": {"Y": names}, "rows": [list(map(str, row)) for row in rows]}
    (tmp_path / "channel.json").write_text(json.dumps(channel))
    code, out, _ = run("audit", tmp_path / "channel.json", "--json")
    assert code == 0
    assert float(json.loads(out)["capacity_bits"][0]) >= math.log2(n) - 1e-9


def test_a_recipe_that_takes_all_the_time_to_be_read_is_answered(files, run, monkeypatch):
    opened = audit.opened

    def slowly(mechanism):
        time.sleep(0.3)
        return opened(mechanism)

    monkeypatch.setattr(audit, "opened", slowly)
    code, out, _ = run("audit", files / "channel.json", "--seconds", "0.2", "--json")
    assert code == 0
    low, high = json.loads(out)["capacity_bits"]
    assert low <= 0.18872187554086714 <= high <= 1.0  # 1 - h(1/4)


@pytest.mark.long
def test_a_channel_in_words_and_in_json(files, run):
    code, out, _ = run("audit", files / "channel.json")
    assert code == 0
    assert "any one record, any attacker (C_1)" in out
    told = json.loads(run("audit", files / "channel.json", "--prior", files / "prior.json", "--json")[1])
    assert {
        *("individual_capacity_bits", "group_capacity_bits", "individual_capacity_independent_bits", "capacity_bits"),
        *("dp_epsilon", "strong_dp_epsilon", "mutual_information_bits", "maximal_correlation", "s_star", "eta_kl"),
        *("eta_tv", "bayes_guess_before", "bayes_guess_after", "per_input_bits", "per_input_given_others_bits"),
    } <= set(told)
    low, high = told["individual_capacity_bits"]
    assert low - 1e-12 <= 0.188721875540867 <= high + 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.json"], "there is no mechanism file absent.json"),
        (["channel.json", "--prior", "absent.json"], "there is no prior absent.json"),
        (["channel.json", "--released", "r.csv"], "needs both tables"),
        (["channel.json", "--key", "k"], "--key undoes the shuffle"),
        (["prior.json"], "exactly the keys inputs, output and rows"),
        (["channel.json", "--prior", "channel.json"], "a distribution file is an object"),
    ],
)
def test_refusals_are_one_sentence(files, run, arguments, message):
    code, _, err = run("audit", *(files / a if a.endswith(".json") else a for a in arguments))
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.long
def test_a_design_is_measured_and_its_release_tested_in_one_go(place, run, monkeypatch):
    # A cover of six inputs takes seconds; tests of the measure have one, here any proved end of S* will do.
    monkeypatch.setattr(correlation, "COVERED", effort(4, correlation.COVERED))
    assert run("release", place / "p.toml", "-o", place / "out", "--accept", "small-cells")[0] == 0
    prior = read_told(place / "out" / "design.json")["joint"]
    (place / "prior.json").write_text(json.dumps(prior))
    tables = ("--released", place / "out" / "released.csv", "--original", place / "t.csv")
    code, out, _ = run("audit", place / "out" / "design.json", *tables, "--prior", place / "prior.json", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["contradicts_the_proof"] is False
    assert told["per_input_bits"] == {"sex": [0.0, 0.0], "age": [0.0, 0.0]}
    assert told["individual_capacity_bits"][0] > 0
    code, out, _ = run("audit", place / "out" / "design.json", *tables)
    assert code == 0
    assert "C_1" not in out


@pytest.mark.long
@pytest.mark.parametrize("seed", range(effort(2, 6)))
def test_point_07e_every_printed_level_is_at_least_the_proved_one(tmp_path, run, seed):
    rng = random.Random(seed)
    rows = [[rng.randrange(1, 20) for _ in range(3)] for _ in range(4)]
    rows = [[f"{v}/{sum(row)}" for v in row] for row in rows]
    channel = {"inputs": {"A": ["0", "1"], "B": ["0", "1"]}, "output": {"Y": ["0", "1", "2"]}, "rows": rows}
    (tmp_path / "c.json").write_text(json.dumps(channel))
    (tmp_path / "p.json").write_text(json.dumps(PRIOR))
    arguments = ("audit", tmp_path / "c.json", "--prior", tmp_path / "p.json")
    said = run(*arguments)[1].partition("It keeps these promises")[2].splitlines()[1:]
    levels = [
        next(v for k, v in g.items() if k in ("at_most_bits", "at_most", "local_dp", "epsilon", "contraction"))
        for g in json.loads(run(*arguments, "--json")[1])["guarantees"]
    ]
    assert len(levels) >= 6
    for line, level in zip(said, map(Fraction, levels), strict=False):
        if "%" in line:  # a guess is told in per cent of three digits
            share = Fraction(re.search(r"most ([\d.]+) %", line)[1]) / 100
            assert level <= share <= level * Fraction(102, 100)
            continue
        number = re.search(r"(?:e\^|than |most |fraction )(\d[\d.]*)", line)[1]
        assert level <= Fraction(number) <= level * Fraction(100002, 100000)


def test_point_05_a_short_figure_is_not_printed_with_the_dust_of_doubles(files, run):
    erased = {"inputs": {"X": ["0", "1"]}, "output": {"Y": ["0", "e", "1"]}}
    erased["rows"] = [["1/2", "1/2", "0"], ["0", "1/2", "1/2"]]
    (files / "channel.json").write_text(json.dumps(erased))
    said = run("audit", files / "channel.json")[1]
    assert "any one record, any attacker (C_1)                     0.5 bits" in said
    assert "0.500000001" not in said
