"""`dalenius explain problem.toml`: what a problem allows before it is solved, beside closed forms and known figures."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dalenius import stopping
from dalenius.core import Channel
from dalenius.errors import SolverFailed
from dalenius.measures import examine_mapping, mutual_information
from dalenius.tables import read_pmf

Run = Callable[..., tuple[int, str, str]]

EXAMPLE_2 = """W=0 X1=0 X2=0 1/12|W=0 X1=0 X2=e 1/12|W=0 X1=1 X2=0 1/6|W=0 X1=1 X2=e 1/6
W=1 X1=0 X2=e 1/6|W=1 X1=0 X2=1 1/6|W=1 X1=1 X2=e 1/12|W=1 X1=1 X2=1 1/12"""


def problem(folder: Path, source: str, observe: str, about: str, *views: str, more: str = "") -> Path:
    text = f'[source]\n{source}\n[mechanism]\nobserve = {observe}\noutput = "Y"\n{more}\n'
    text += f"[objective]\nmaximize = {{ information = {about} }}\n"
    text += "".join(f"[[guarantee]]\n{view}\n" for view in views)
    (folder / "p.toml").write_text(text)
    return folder / "p.toml"


@pytest.fixture
def example2(tmp_path: Path) -> Path:
    records = [
        dict(pair.split("=") if "=" in pair else ("p", pair) for pair in r.split())
        for r in EXAMPLE_2.replace("\n", "|").split("|")
    ]
    letters = {"W": ["0", "1"], "X1": ["0", "1"], "X2": ["0", "e", "1"]}
    (tmp_path / "joint.json").write_text(json.dumps({"variables": letters, "pmf": records}))
    return tmp_path


def told(run: Run, path: Path, *options: object) -> dict:
    code, said, error = run("explain", path, "--json", *options)
    assert (code, error) == (0, "")
    return json.loads(said)


SECRET_BESIDE = [
    {"S": s, "X": x, "p": p}
    for s, x, p in (("0", "0", "1/4"), ("0", "1", "1/8"), ("0", "2", "1/8"), ("1", "1", "1/4"), ("1", "2", "1/4"))
]
VIEWS = ('independent = ["X1"]', 'independent = ["X2"]')


def test_example_2_is_feasible_and_bounded(example2: Path, run: Run) -> None:
    path = problem(example2, 'pmf = "joint.json"', '["X1", "X2"]', '["W"]', *VIEWS)
    found = told(run, path)
    assert (found["feasible"], found["rank"], found["nullity"], found["letters"]) == (True, 4, 2, 3)
    assert 0 < found["witness"]["told_bits"] < 0.0134208288992315 < min(found["at_most"].values())  # I_s of the paper
    assert found["at_most"]["withheld_at_least_bits"] == pytest.approx(0.5)  # I(W; X2), an erasure with 1/2
    assert found["at_most"]["views_bits"] == pytest.approx(found["observed_tell_bits"] - 0.5)  # eq. (4) and (8)
    assert found["observed_open_at_most_bits"] == {"rank_bits": 2.0, "count_bits": 2.0}  # eq. (18) and (19)
    assert [len(found["incidence"][side]) for side in ("vertices", "edges")] == [5, 6]  # Remark 1
    code, said, _ = run("explain", path)
    assert code == 0
    assert "Something can be told (Proposition 1)" in said
    assert "v(X1=0, X2=0) = 1" in said


def test_the_witness_is_private(example2: Path, run: Run) -> None:
    found = told(run, problem(example2, 'pmf = "joint.json"', '["X1", "X2"]', '["W"]', *VIEWS))
    for name in ("X1", "X2"):
        moved: dict[str, float] = {}
        for entry in found["witness"]["direction"]:
            moved[entry["outcome"][name]] = moved.get(entry["outcome"][name], 0) + float(entry["v"])
        assert set(moved.values()) == {0.0}


def test_what_stands_in_a_view_cannot_be_told(example2: Path, run: Run) -> None:
    path = problem(example2, 'pmf = "joint.json"', '["X1", "X2"]', '["X1"]', *VIEWS)
    assert told(run, path)["feasible"] is False
    assert "Nothing at all can be told about X1" in run("explain", path)[1]


@pytest.mark.long
def test_samples_alike_given_a_hidden_variable(tmp_path: Path, run: Run) -> None:
    prior = [{"W": w, "p": p} for w, p in (("0", "1/5"), ("1", "3/10"), ("2", "1/4"), ("3", "1/4"))]
    (tmp_path / "w.json").write_text(json.dumps({"variables": {"W": ["0", "1", "2", "3"]}, "pmf": prior}))
    rows = [["4/5", "1/5"], ["1/2", "1/2"], ["1/10", "9/10"], ["1/10", "9/10"]]  # the last two cannot be told apart
    kernel = {"inputs": {"W": ["0", "1", "2", "3"]}, "output": {"X": ["0", "1"]}, "rows": rows}
    (tmp_path / "k.json").write_text(json.dumps(kernel))
    source = 'conditionally_iid = { hidden = "W", prior = "w.json", kernel = "k.json", n = 50 }'
    path = problem(tmp_path, source, '["X"]', '["W"]', 'independent = ["X"]')
    found = told(run, path, "--samples", 10, 50, "--alpha", "0.05")
    assert (found["hidden_letters"], found["merged_letters"]) == (4, 3)
    assert found["limit"]["C_1_bits"] == pytest.approx(0.541879369404506, abs=1e-12)
    assert found["limit"]["at_least_bits"] <= found["limit"]["C_1_bits"] <= found["limit"]["C_2_bits"]
    values = {row["n"]: row for row in found["curve"]}
    assert values[10]["value_bits"] == pytest.approx(0.295955189555, abs=1e-11)
    assert values[50]["value_bits"] == pytest.approx(0.575480411282, abs=1e-11)
    for row in values.values():
        low, high = row["sandwich_bits"]
        assert low - 1e-12 <= row["value_bits"] <= high + 1e-12
        assert row["fano_bits"] <= row["information_bits"]
        assert row["value_bits"] <= row["full_observation_bits"] <= found["limit"]["C_2_bits"] + 1e-9  # (47)
    low, high = found["traded"][0]["C_1"]
    assert found["limit"]["C_1_bits"] < low <= high < low + 1e-6
    code, said, _ = run("explain", path, "--samples", 10)
    assert code == 0
    assert "of which samples can tell 3 apart" in said
    assert "C_1(0) = 0.541879369 bits" in said


def test_theorem_4_for_independent_samples(tmp_path: Path, run: Run) -> None:
    names = [f"X{k}" for k in range(1, 31)]
    groups = [{"variables": {n: ["0", "1"]}, "pmf": [{n: "0", "p": "1/2"}, {n: "1", "p": "1/2"}]} for n in names]
    (tmp_path / "p.json").write_text(json.dumps({"independent": groups}))
    views = [f'independent = ["{n}"]' for n in names]
    path = problem(tmp_path, 'pmf = "p.json"', json.dumps(names), json.dumps(names), *views, more='form = "sums"')
    found = told(run, path, "--samples", 4, 100)
    assert [(r["n"], r["at_most_bits"]) for r in found["efficiency"]] == [(4, 3.0), (100, 99.0)]  # (n - 1) bits
    assert "(Theorem 4)" in run("explain", path)[1]


@pytest.mark.parametrize(
    ("view", "options", "message"),
    [
        ("local_dp = 1.0", ("--samples", "5"), "that promise independence"),
        ('independent = ["X1"]', ("--samples", "0"), "not at least 1"),
    ],
)
def test_what_is_not_told_is_refused(example2: Path, run: Run, view: str, options: tuple, message: str) -> None:
    code, _, error = run("explain", problem(example2, 'pmf = "joint.json"', '["X1", "X2"]', '["W"]', view), *options)
    assert code == 2
    assert message in error


def test_a_design_takes_no_numbers_of_samples(example2: Path, run: Run) -> None:
    path = problem(example2, 'pmf = "joint.json"', '["X1", "X2"]', '["W"]', *VIEWS)
    assert run("solve", path, "-o", example2 / "d.json")[0] == 0
    code, _, error = run("explain", example2 / "d.json", "--alpha", "0.1")
    assert code == 2
    assert "belong to a problem file" in error


def test_a_channel_with_too_many_letters_is_reduced(example2: Path, run: Run) -> None:
    """Proposition 3: at most nul(P) + 1 letters, and no less told."""
    path = problem(example2, 'pmf = "joint.json"', '["X1", "X2"]', '["W"]', *VIEWS, more='form = "random-columns"')
    assert run("solve", path, "-o", example2 / "d.json")[0] == 0
    code, said, _ = run("channel", example2 / "d.json", "--reduce")
    assert code == 0
    assert len(json.loads(said)["output"]["Y"]) <= 3
    channel, joint = Channel.from_json(json.loads(said)), read_pmf(example2 / "joint.json", "joint")
    assert all(shown.independent for shown in examine_mapping(joint, channel, [["X1"], ["X2"]]))
    least = float(json.loads((example2 / "d.json").read_text())["claims"]["value"])
    assert mutual_information(channel.after(joint), ["W"], ["Y"]) >= least - 1e-12


def test_any_other_problem_says_what_it_asks_for(example2: Path, run: Run) -> None:
    path = problem(example2, 'pmf = "joint.json"', '["X1", "X2"]', '["W"]', "local_dp = 1.0")
    code, said, error = run("explain", path)
    assert (code, error) == (0, "")
    assert "no released entry is more than 2.72 times as likely" in said
    assert "Wanted:\n  The release says as much as possible about W." in said
    found = json.loads(run("explain", path, "--json")[1])
    assert list(found) == ["released", "promised", "wanted", "not_protected"]


def test_what_may_be_told_of_a_column_beside_a_secret_that_is_not_observed(tmp_path: Path, run: Run) -> None:
    """It ended with: no variable 'S'; there are 'X'."""
    joint = {"variables": {"S": ["0", "1"], "X": ["0", "1", "2"]}, "pmf": SECRET_BESIDE}
    (tmp_path / "joint.json").write_text(json.dumps(joint))
    path = problem(tmp_path, 'pmf = "joint.json"', '["X"]', '["X"]', 'independent = ["S"]')
    assert told(run, path)["feasible"]


@pytest.mark.parametrize("end", [stopping.Enough(), SolverFailed("the time was over")], ids=["asked", "failed"])
def test_without_time_for_a_curve_the_problem_is_said_in_words(
    end: BaseException, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended with exit 5 and nothing said."""
    joint = {"variables": {"S": ["0", "1"], "X": ["0", "1", "2"]}, "pmf": SECRET_BESIDE}
    (tmp_path / "joint.json").write_text(json.dumps(joint))
    path = problem(tmp_path, 'pmf = "joint.json"', '["X"]', '["X"]', 'leakage = ["S"]\nat_most_bits = "1/10"')

    def ended(*_: object) -> None:
        raise end

    monkeypatch.setattr("dalenius.mechanisms.columns.funnel.sweep.sweep", ended)
    code, said, _ = run("explain", path)
    assert code == 0
    assert "at most 0.1 bits about S" in said
    assert "the time was over before this was measured: what one more bit of leakage buys" in said
