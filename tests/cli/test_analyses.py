"""`estimate` with --given, --compare, --linear and --logistic, from real releases and their cards alone."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dalenius import compare, regress, shares_within
from tests.cli.conftest import released_in

Run = Callable[..., tuple[int, str, str]]

EACH = """\
[source]
table = "t.csv"
prior = "uniform"
[columns]
ill = { values = ["no", "yes"] }
age = { values = ["20", "40", "60"] }
sex = { values = ["f", "m"] }
[mechanism]
observe = ["ill", "age", "sex"]
release = ["ill", "age", "sex"]
form = "randomised-response"
each = true
[objective]
maximize = { information_of_each = ["ill", "age", "sex"] }
[[guarantee]]
local_dp = 6
"""

WIDE = """\
[source]
table = "t.csv"
[columns]
ill = { values = ["no", "yes"] }
age = { values = ["20", "40", "60"] }
sex = { values = ["f", "m"] }
rich = { values = ["no", "yes"] }
[mechanism]
observe = ["ill", "age", "sex", "rich"]
release = ["ill", "age", "sex"]
form = "records"
preserve_marginals = true
[objective.minimize]
sum = [{ distortion = "hamming", of = ["ill"] },
       { distortion = "hamming", of = ["age"] },
       { distortion = "hamming", of = ["sex"] }]
[[guarantee]]
independent = ["rich"]
"""


def released(folder: Path, problem: str) -> Path:
    rng = np.random.default_rng(3)
    age, sex = rng.choice(3, 6000, p=[0.5, 0.3, 0.2]), rng.integers(0, 2, 6000)
    ill = (rng.random(6000) < 1 / (1 + np.exp(1 - 0.6 * age + 0.5 * sex))).astype(int)
    rich = (rng.random(6000) < 0.2 + 0.2 * age).astype(int)
    rows = zip(ill, age, sex, rich, strict=True)
    words = (f"{['no', 'yes'][i]},{20 + 20 * a},{'fm'[s]},{['no', 'yes'][r]}\n" for i, a, s, r in rows)
    (folder / "t.csv").write_text("ill,age,sex,rich\n" + "".join(words))
    (folder / "p.toml").write_text(problem)
    return released_in(folder) / "out"


@pytest.fixture(scope="module", params=[EACH, WIDE], ids=["each column", "whole records"])
def out(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released(tmp_path_factory.mktemp("people"), request.param)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released(tmp_path_factory.mktemp("once"), EACH)


def original(folder: Path) -> dict[str, np.ndarray]:
    names, *rows = [line.split(",") for line in (folder / "t.csv").read_text().split()]
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def test_point_17_two_groups_are_compared(out: Path, run: Run) -> None:
    files = (out / "card.json", out / "released.csv")
    code, said, err = run("estimate", *files, "--compare", "ill=yes", "age=60", "age=20", "--level", "0.9999")
    assert code == 0, err
    assert "ill=yes, for 1: age=60 and 2: age=20, in this table, from 6,000 released rows" in said
    table = original(out.parent)
    shares = [np.mean(table["ill"][table["age"] == age] == "yes") for age in ("60", "20")]
    figures = compare(*files, {"ill": "yes"}, [{"age": "60"}, {"age": "20"}], level=0.9999)
    truth = {"share_1": shares[0], "share_2": shares[1], "difference": shares[0] - shares[1]}
    truth |= {"risk_ratio": shares[0] / shares[1]}
    truth |= {"odds_ratio": shares[0] * (1 - shares[1]) / shares[1] / (1 - shares[0])}
    for name, value in truth.items():
        assert figures[name].low <= value <= figures[name].high
        assert f"{figures[name].estimate:.6f}" in said


def test_point_17_shares_within_groups(out: Path, run: Run) -> None:
    files = (out / "card.json", out / "released.csv")
    options = ("--columns", "ill", "--given", "age", "sex", "--target", "population", "--level", "0.9999")
    code, said, err = run("estimate", *files, *options, "--json")
    assert code == 0, err
    document = json.loads(said)
    assert len(document["shares"]) == 12
    assert document["target"] == "population"
    table = original(out.parent)
    found = shares_within(*files, ["ill"], ["age", "sex"], target="population", level=0.9999)
    for entry in document["shares"]:
        inside = (table["age"] == entry["group"][0]) & (table["sex"] == entry["group"][1])
        share = np.mean(table["ill"][inside] == entry["outcome"][0])
        assert entry["low"] <= share <= entry["high"]
        assert found[tuple(entry["group"])][tuple(entry["outcome"])].to_json()["low"] == entry["low"]
    code, said, _ = run("estimate", *files, *options)
    assert code == 0
    assert "Shares of ill within age, sex, in the population behind it" in said


def test_point_17_regressions(out: Path, run: Run) -> None:
    files = (out / "card.json", out / "released.csv")
    options = ("--logistic", "ill=yes", "--on", "age:number", "sex")
    code, said, err = run("estimate", *files, *options)
    assert code == 0, err
    assert "Logistic regression of ill = yes in this table, from 6,000 released rows, 95% intervals" in said
    assert "sex = m" in said
    table = original(out.parent)
    X = np.stack([np.ones(6000), table["age"].astype(float), table["sex"] == "m"])
    fit = regress(*files, "ill", ["age", "sex"], value="yes", numbers=["age"], level=0.9999)
    beta = np.array([figure.estimate for figure in fit.coefficients.values()])
    for _ in range(20):  # Newton, on the table itself
        p = 1 / (1 + np.exp(-beta @ X))
        beta = beta + np.linalg.solve((X * p * (1 - p)) @ X.T, X @ ((table["ill"] == "yes") - p))
    for value, figure in zip(beta, fit.coefficients.values(), strict=True):
        assert figure.low <= value <= figure.high
    code, said, err = run("estimate", *files, "--linear", "age", "--on", "ill", "sex", "--json")
    assert code == 0, err
    assert list(json.loads(said)["regression"]["coefficients"]) == ["(intercept)", "ill = yes", "sex = m"]


def test_what_is_missing_in_the_question_is_said(out: Path, run: Run) -> None:
    files = (out / "card.json", out / "released.csv")
    for options, words in (
        (("--given", "age"), "say --columns"),
        (("--logistic", "ill", "--on", "sex"), "'ill' is not written as COLUMN=VALUE"),
        (("--logistic", "ill=yes"), "say --on COLUMN"),
        (("--linear", "age", "--logistic", "ill=yes", "--on", "sex"), "either --linear or --logistic"),
        (("--linear", "ill", "--on", "sex"), "not all numbers"),
        (("--compare", "ill=yes", "age=99", "age=20"), "has no value '99'"),
    ):
        code, _, err = run("estimate", *files, *options)
        assert code == 2
        assert words in err


@pytest.mark.long
def test_the_table_of_a_release_of_records_is_taken_as_it_is(tmp_path: Path, run: Run) -> None:
    out = released(tmp_path, WIDE)
    files = (out / "card.json", out / "released.csv")
    code, said, err = run("estimate", *files, "--columns", "ill", "age", "--json")
    assert code == 0, err
    document = json.loads(said)
    lines = (out / "released.csv").read_text().split()[1:]
    for outcome, share in zip(document["outcomes"], document["estimate"], strict=True):
        assert share == pytest.approx(sum(line.startswith(",".join(outcome)) for line in lines) / 6000)
    assert document["method"] == "preserved"
    code, _, err = run("estimate", *files, "--columns", "ill", "--method", "inverse")
    assert code == 2
    assert "does not show its recipe" in err


@pytest.mark.long
def test_a_release_of_records_that_changes_their_law_is_not_estimated(tmp_path: Path, run: Run) -> None:
    out = released(tmp_path, WIDE.replace("preserve_marginals = true\n", ""))
    code, _, err = run("estimate", out / "card.json", out / "released.csv", "--columns", "ill")
    assert code != 0
    assert "preserve_marginals lets the released table be analysed as it is" in " ".join(err.split())


WRONG = {
    "a column counted within itself": (["--columns", "sex", "--given", "sex"], "'sex' is named twice"),
    "a group and itself": (["--compare", "ill=yes", "sex=f", "sex=f"], "two different groups"),
    "groups by what is counted": (["--compare", "ill=yes", "ill=yes", "ill=no"], "two different groups"),
    "a column that is not there": (["--linear", "age", "--on", "town"], "do not release town"),
    "one column of two": (
        ["--columns", "ill", "town"],
        "do not release town. Name columns that they release: ill, age",
    ),
    "a column that explains twice": (["--logistic", "ill=yes", "--on", "sex", "sex"], "is named twice"),
    "nothing to explain": (["--on", "age"], "--on names what explains an outcome"),
    "a way of estimating shares": (["--linear", "age", "--on", "sex", "--method", "mle"], "leave out --queries and"),
}


@pytest.mark.parametrize("which", WRONG)
def test_point_17_what_cannot_be_analysed_is_said_in_a_sentence(which: str, once: Path, run: Run) -> None:
    """A column within itself ended in an error of ours; others were passed over or blamed on the release."""
    words, reason = WRONG[which]
    code, out, err = run("estimate", once / "card.json", once / "released.csv", *words)
    assert (code, out) == (2, "")
    assert reason in err
