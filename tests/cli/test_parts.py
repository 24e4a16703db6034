"""Several columns and strata through the command line: released, verified, applied, estimated, charged, refused."""

import json

import pytest

PROBLEM = """
[source]
table = "t.csv"
[columns.region]
values = ["north", "south"]
[columns.sex]
values = ["f", "m"]
[mechanism]
observe = {observe}
release = {observe}
form = "randomised-response"
{more}
[objective]
maximize = {{ {goal} = {observe} }}
[[guarantee]]
local_dp = 2
{given}
"""


@pytest.fixture
def place(tmp_path):
    rows = [("north", "f")] * 300 + [("south", "f")] * 200 + [("north", "m")] * 100 + [("south", "m")] * 150
    (tmp_path / "t.csv").write_text("region,sex\n" + "".join(f"{a},{b}\n" for a, b in rows))
    both = {"observe": '["region", "sex"]', "more": "each = true", "goal": "information_of_each", "given": ""}
    strata = {"observe": '["region"]', "more": 'strata = ["sex"]', "goal": "information", "given": 'given = ["sex"]'}
    for name, words in (("each", both), ("strata", strata), ("refused", strata | {"given": ""})):
        (tmp_path / f"{name}.toml").write_text(PROBLEM.format(**words))
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("which", ["each", "strata"])
def test_the_whole_walk(place, run, which):
    code, out, err = run("release", "--details", place / f"{which}.toml", "-o", place / "out")
    assert code == 0, err
    assert "rows changed" in out
    assert run("verify", place / "out/design.json", "--problem", place / f"{which}.toml")[0] == 0
    assert "Promise 1 is proved from the card alone" in run("verify", place / "out/card.json")[1]
    code, out, _ = run("estimate", place / "out/card.json", place / "out/released.csv", "--json")
    assert code == 0
    assert len(json.loads(out)["estimate"]) == 4
    assert json.loads(
        run("estimate", place / "out/design.json", place / "out/released.csv", "--json")[1]
    ) == json.loads(out)
    assert run("apply", place / "out/design.json", place / "t.csv", "-o", place / "again.csv")[0] == 0
    values = ["--value", "region=north", "--value", "sex=f"]
    assert run("apply", place / "out/card.json", *values)[0] == 0
    internal, public = ((place / f"out/statement{kind}.html").read_text() for kind in ("", "-public"))
    assert ">no row<" not in internal  # every value occurs
    for page in (internal, public) if which == "each" else ():
        assert page.count("How rows are changed: ") == 2
        assert "How rows are changed: sex" in page
    assert ("with the same sex" in public) == (which == "strata")
    assert "decided from the counts" not in public  # no record has a say in randomised response


@pytest.mark.long
def test_a_ledger_charges_the_sum_of_the_columns(place, run):
    assert run("ledger", "init", place / "l.db", "--budget", "local_dp=3")[0] == 0
    assert run("release", "--details", place / "each.toml", "-o", place / "out", "--ledger", place / "l.db")[0] == 0
    status = json.loads(run("ledger", "status", place / "l.db", "--json")[1])
    assert float(status["spent"]["local_dp"]) == pytest.approx(2, abs=1e-9)
    assert run("release", "--details", place / "each.toml", "-o", place / "two", "--ledger", place / "l.db")[0] == 6


def test_a_level_beside_strata_needs_the_word_given(place, run):
    code, _, err = run("release", "--details", place / "refused.toml", "-o", place / "out")
    assert code == 2
    assert "say given = ['sex']" in err
