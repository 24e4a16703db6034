"""`audit` asked further: adversaries who lack bits, releases together, metrics under a prior."""

import json
from math import log

import pytest

from dalenius import solve
from dalenius.errors import SolverFailed
from dalenius.evidence import opened
from dalenius.testing import contracted_bit

BIT = ["0", "1"]


@pytest.fixture
def files(tmp_path):
    def channel(name, inputs, rows):
        document = {"inputs": dict.fromkeys(inputs, BIT), "output": {"Y": BIT}, "rows": rows}
        (tmp_path / name).write_text(json.dumps(document))

    flip = [["3/4", "1/4"], ["1/4", "3/4"]]
    channel("flip.json", ["X"], flip)
    channel("xor.json", ["A", "B"], [["9/10", "1/10"], ["1/10", "9/10"], ["1/10", "9/10"], ["9/10", "1/10"]])
    pmf = [{"S": a, "X": a, "p": "1/2"} for a in BIT]
    (tmp_path / "joint.json").write_text(json.dumps({"variables": {"S": BIT, "X": BIT}, "pmf": pmf}))
    prior = {"variables": {"X": BIT}, "pmf": [{"X": a, "p": "1/2"} for a in BIT]}
    (tmp_path / "prior.json").write_text(json.dumps(prior))
    return tmp_path


def told(run, *arguments):
    code, out, err = run("audit", *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.long
def test_adversaries_who_lack_bits_match_the_closed_form_of_xor(files, run):
    found = told(run, files / "xor.json", "--unknown", "1.5")
    low, high = found["limited_capacity_bits"]
    assert low <= 0.302684 + 1e-3
    assert high >= 0.302684 - 1e-3  # log 2 - h(0.1 * theta) with h(theta) = 1/2, in bits
    assert high - low < 1e-3
    assert "worth" in run("audit", files / "flip.json", "--unknown", "0.5")[1]


@pytest.mark.long
def test_a_query_and_a_question_to_those_who_lack_bits(files, run):
    (files / "q.toml").write_text(
        'records = 100\nletters = ["0", "1"]\nquery = "count"\nnoise = "gaussian"\nparameter = 400\n'
    )
    low, high = told(run, files / "q.toml", "--unknown", "90")["limited_capacity_bits"]
    assert low == 0 < high < 1
    (files / "q.toml").write_text('query = "count"\nwhere = "a == 1"\nnoise = "discrete-gaussian"\nparameter = 400\n')
    found = told(run, files / "q.toml", "--records", "100", "--unknown", "90")
    assert found["bits"] == pytest.approx(high, abs=1e-3)
    assert "lacks 90 bits" in run("audit", files / "q.toml", "--records", "100", "--unknown", "90")[1]
    for noise, parameter in (("discrete-laplace", 14), ("geometric", '"93/100"')):
        own = f'query = "count"\nwhere = "a == 1"\nnoise = "{noise}"\nparameter = {parameter}\n'
        (files / "q.toml").write_text(own)
        lacking = told(run, files / "q.toml", "--records", "100", "--unknown", "90")
        assert found["bits"] / 2 < lacking["bits"] < float(lacking["individual_capacity_bits"])  # noise of like size
    assert run("audit", files / "q.toml", "--records", "100", "--together", files / "flip.json")[0] == 2


def test_releases_of_the_same_and_of_other_people_together(files, run):
    same = told(run, files / "flip.json", "--together", files / "flip.json")
    assert same["together_bits"][0] == pytest.approx(0.377444, abs=1e-5)
    other = told(run, files / "flip.json", "--together", files / "flip.json", "--people", "other")
    assert other["together_bits"][0] == pytest.approx(0.331878, abs=1e-5)


@pytest.mark.long
def test_those_who_share_their_letters(files, run):
    asked = ("--together", files / "flip.json", "--prior", files / "joint.json", "--about", "S")
    found = told(run, files / "flip.json", *asked)
    assert found["exact_bits"] == pytest.approx(0.331878, abs=1e-5)
    assert found["percolation_bits"] == pytest.approx(0.4375, abs=1e-5)
    assert found["sum_bits"] == pytest.approx(2 * 0.188722, abs=1e-5)
    code, _, err = run("audit", files / "flip.json", "--together", files / "flip.json", "--about", "S")
    assert code == 2
    assert "--prior" in err


@pytest.mark.long
def test_metrics_and_what_they_imply(files, run):
    found = told(run, files / "flip.json", "--metrics", "--prior", files / "prior.json")
    assert found["metrics_nats"]["strong_dp"] == pytest.approx(1.098612, abs=1e-5)
    assert found["implied_nats"]["strong_dp"]["information"] == pytest.approx(1.098612, abs=1e-5)
    assert found["delta"]["1/2"] > 0
    assert run("audit", files / "flip.json", "--metrics")[0] == 2


CASE_2 = """\
[source]
pmf = "joint.json"
[mechanism]
observe = ["X"]
release = ["X"]
[objective]
minimize = { leakage = ["X"] }
"""
LIMIT = '[[limit]]\ndistortion = "hamming"\nof = ["X"]\nat_most = "1/5"\n'


def test_a_design_brings_the_statistics_that_metrics_need(files, run):
    design = solve(contracted_bit("9/25"))
    (files / "design.json").write_text(design.dumps())
    found = told(run, files / "design.json", "--metrics")
    assert found["metrics_nats"]["capacity"] == pytest.approx(0.27807 * log(2), abs=1e-4)


def test_where_no_proof_is_found_the_search_says_so(files, run, monkeypatch):
    def nothing(*_, **__):
        raise SolverFailed("none")

    monkeypatch.setattr("dalenius.mechanisms.columns.contraction.proved_within", nothing)
    law = {"variables": {"X": ["0", "1"]}, "pmf": [{"X": "0", "p": "1/2"}, {"X": "1", "p": "1/2"}]}
    (files / "joint.json").write_text(json.dumps(law))
    (files / "p.toml").write_text(CASE_2 + LIMIT)
    assert "nothing of it is a proof" in run("explain", files / "p.toml", "--whatever-secret")[1]


def test_point_14_the_least_whatever_the_secret_is_has_a_recipe_where_its_search_has_none(files, run, monkeypatch):
    """A fair bit that stays with 3/5 and is one value else: errors in a fifth of the rows, and no bound."""

    def late(*_, **__):
        raise SolverFailed("the cone program did not end in time")

    law = {"variables": {"X": ["0", "1"]}, "pmf": [{"X": "0", "p": "1/2"}, {"X": "1", "p": "1/2"}]}
    (files / "joint.json").write_text(json.dumps(law))
    (files / "p.toml").write_text(CASE_2 + LIMIT)
    monkeypatch.setattr("dalenius.solvers.robust_prior.least_capacity", late)
    code, out, err = run("explain", files / "p.toml", "--whatever-secret", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["at_least_bits"] == 0
    assert 0.278 < found["most_bits"] < 1
    monkeypatch.setattr("dalenius.stopping.over", lambda *_: True)
    assert "the time was over before this was measured" in run("explain", files / "p.toml", "--whatever-secret")[1]


def test_the_least_whatever_the_secret_is_that_of_a_symmetric_recipe(files, run):
    """A fair bit within one error in five: 1 - h(1/5) bits (004, case 2)."""
    law = {"variables": {"X": ["0", "1"]}, "pmf": [{"X": "0", "p": "1/2"}, {"X": "1", "p": "1/2"}]}
    (files / "joint.json").write_text(json.dumps(law))
    (files / "p.toml").write_text(CASE_2 + LIMIT)
    code, out, err = run("explain", files / "p.toml", "--whatever-secret", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["at_least_bits"] - 1e-9 <= 0.2780719 <= found["most_bits"] + 1e-6
    assert found["most_bits"] - found["at_least_bits"] < 1e-4
    assert found["proved"]
    assert "whatever the secret is" in run("explain", files / "p.toml", "--whatever-secret")[1]
    (files / "p.toml").write_text(CASE_2)
    assert run("explain", files / "p.toml", "--whatever-secret")[0] == 2
    (files / "card.json").write_text("{}")
    assert run("explain", files / "card.json", "--whatever-secret")[0] == 2


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (("--people", "other"), "--people belongs to --together"),
        (("--about", "S"), "--about belongs to --together"),
        (("--together", "flip.json", "--prior", "joint.json", "--about", "S", "--people", "other"), "one of them out"),
    ],
)
def test_flags_that_nothing_reads_are_refused(files, run, flags, word):
    code, out, err = run("audit", files / "flip.json", *(files / f if f.endswith(".json") else f for f in flags))
    assert (code, out) == (2, "")
    assert word in err


def test_what_is_refused_further_leaves_the_measures_themselves(files, run, monkeypatch):
    """The refusal said that they stand above, and nothing did."""
    monkeypatch.setattr("dalenius.evidence.further.LARGEST", 3)
    for more in (("--metrics",), ("--unknown", "0.5"), ("--together", files / "flip.json")):
        code, out, err = run("audit", files / "flip.json", "--prior", files / "prior.json", *more, "--json")
        assert code == 2
        assert "stand above" in err
        assert json.loads(out)["capacity_bits"]


def test_a_mechanism_is_read_once_whatever_is_asked(files, run, monkeypatch):
    """Large channels were read a second time for further questions, and then there was no time left for an answer."""
    read = []
    monkeypatch.setattr("dalenius.cli.audit.opened", lambda name: read.append(name) or opened(name))
    monkeypatch.setattr("dalenius.api.opened", lambda name: read.append(name) or opened(name))
    told(run, files / "flip.json", "--unknown", "0.5", "--prior", files / "prior.json", "--metrics")
    assert len(read) == 1
