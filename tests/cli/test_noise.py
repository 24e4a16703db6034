"""`dalenius noise` and problem files of form noise: release, verify, audit, explain, estimate, ledger; refusals."""

import csv
import json
import random

import pytest

from dalenius.core.digits import figure
from dalenius.documents import canonical
from dalenius.tables import read_told

PROBLEM = """\
[source]
table = "n.csv"
[columns.income]
grid = { low = 0, high = 100, step = 1 }
[columns.sick]
values = ["yes", "no"]
[mechanism]
observe = ["income"]
release = ["income"]
form = "noise"
noise = "KIND"
[objective]
minimize = GOAL
"""
LIMIT = '[[limit]]\ndistortion = "squared"\nof = ["income"]\nat_most = "200"\n'
NORM = '[[limit]]\ndistortion = "norm"\np = "3/2"\nof = ["income"]\nat_most = "9"\n'
SQUARED = '{ distortion = "squared", of = ["income"] }'
WORD = ("--column", "income", "--grid", "0:100:1")


@pytest.fixture
def table(tmp_path):
    draw = random.Random(3)
    rows = [(round(min(100, draw.gammavariate(2, 12))), draw.randrange(40)) for _ in range(1500)]
    text = "income,age,sick\n" + "".join(f"{a},{b},{'yes' if a > 30 + b else 'no'}\n" for a, b in rows)
    (tmp_path / "n.csv").write_text(text)
    (tmp_path / "k").write_text("ab" * 32 + "\n")
    (tmp_path / "k").chmod(0o600)
    return tmp_path / "n.csv"


@pytest.mark.long
def test_a_release_is_written_verified_audited_estimated_and_drawn_again(table, run):
    folder, key = table.parent / "out", table.parent / "k"
    code, said, err = run("noise", "--details", table, *WORD, "--distortion", "90%", "-o", folder, "--key", key)
    assert (code, err) == (0, "")
    assert "added Gaussian noise of the same squared error would reveal" in said
    assert "within the declared range: one released row by itself reveals at most" in said
    files = ["card.about.json", "card.json", "design.about.json", "design.json", "released.csv"]
    files += ["statement-public.html", "statement.html"]
    assert sorted(p.name for p in folder.iterdir()) == files
    assert (folder / "design.json").stat().st_mode & 0o777 == 0o600
    card = read_told(folder / "card.json")
    assert "joint" not in card
    released = list(csv.DictReader((folder / "released.csv").read_text().splitlines()))
    assert len(released) == 1500
    assert {row["income"] for row in released} <= set(card["channel"]["output"]["income"])
    assert run("verify", folder / "design.json", "--table", table)[0] == 0
    assert run("verify", folder / "card.json")[0] == 0
    again = table.parent / "again"
    assert run("noise", "--details", table, *WORD, "--distortion", "90%", "-o", again, "--key", key)[0] == 0
    assert (again / "released.csv").read_text() == (folder / "released.csv").read_text()
    for more in ((), ("--key", key)):
        both = ("--released", folder / "released.csv", "--original", table)
        code, said, _ = run("audit", folder / "design.json", *both, *more)
        assert code == 0
        assert "nothing contradicts the proof" in said
    code, said, _ = run("explain", folder / "card.json")
    assert code == 0
    assert "For any records of the same variance" in said
    code, said, _ = run("estimate", folder / "card.json", folder / "released.csv", "--json")
    found = json.loads(said)["numbers"]["income"]
    truth = [float(row.split(",")[0]) for row in table.read_text().splitlines()[1:]]
    mean = sum(truth) / len(truth)
    assert found["mean"]["low"] <= mean <= found["mean"]["high"]
    assert found["variance"]["low"] <= sum((v - mean) ** 2 for v in truth) / len(truth) <= found["variance"]["high"]


@pytest.mark.slow
def test_point_17_weights_are_not_ignored_where_numbers_have_noise(table, run):
    folder = table.parent / "out"
    assert run("noise", table, *WORD, "--distortion", "90%", "-o", folder)[0] == 0
    lines = (folder / "released.csv").read_text().splitlines()
    weighted = [f"{line},{'w' if k == 0 else 1 + k % 3}" for k, line in enumerate(lines)]
    (folder / "released.csv").write_text("\n".join(weighted) + "\n")
    code, said, err = run("estimate", folder / "card.json", folder / "released.csv", "--weights", "w")
    assert code == 0, err
    assert "weighted by w" in said


@pytest.mark.long
@pytest.mark.parametrize(("more", "kind"), [((), "laplace"), (("--delta", "1/1000"), "gaussian")])
def test_a_level_has_the_noise_that_can_keep_it_and_commas_are_read(table, run, more, kind):
    (table.parent / "c.csv").write_text("income;sick\n" + "12,5;yes\n0,5;no\n" * 30)
    words = ("noise", table.parent / "c.csv", "--column", "income", "--grid", "0:20:0.5", "--epsilon", "2", *more)
    code, _, err = run(*words, "-o", table.parent / "out")
    assert code == 2
    assert "or --decimal , without a problem file" in err
    code, _, err = run(*words, "-o", table.parent / "out", "--decimal", ",")
    assert code == 0, err
    assert read_told(table.parent / "out" / "design.json")["mechanism"]["noise"] == kind


@pytest.mark.long
def test_apply_draws_the_same_table_as_release_and_numbers_are_estimated_together(table, run):
    folder, out = table.parent / "out", table.parent / "drawn.csv"
    run("noise", "--details", table, *WORD, "--distortion", "100", "-o", folder, "--key", table.parent / "k")
    code, _, err = run("apply", folder / "design.json", table, "-o", out, "--key", table.parent / "k")
    assert (code, err) == (0, "")
    assert out.read_text() == (folder / "released.csv").read_text()
    for words in (["--columns", "nothing"], ["--method", "mle"]):
        code, said, err = run("estimate", folder / "card.json", out, *words)
        assert (code, said) == (2, "")
        assert "leave out --columns and --method" in err


@pytest.mark.long
def test_a_changed_release_is_seen_and_a_changed_design_refused(table, run):
    folder = table.parent / "out"
    run("noise", "--details", table, *WORD, "--epsilon", "1", "--mechanism", "laplace", "--order", "keep", "-o", folder)
    released = (folder / "released.csv").read_text().splitlines()
    (folder / "released.csv").write_text("\n".join(released[:1] + ["7"] * (len(released) - 1)) + "\n")
    both = ("--released", folder / "released.csv", "--original", table)
    assert run("audit", folder / "design.json", *both)[0] == 4
    document = json.loads((folder / "design.json").read_text())
    document["promises"][0]["epsilon"] = "1/2"
    (folder / "design.json").write_text(canonical(document))
    code, _, err = run("verify", folder / "design.json")
    assert code == 4
    assert "the level of local_dp is" in err


@pytest.mark.slow
def test_a_ledger_is_charged_by_release_and_by_hand(table, run):
    ledger = table.parent / "people.ledger"
    run("ledger", "init", ledger, "--budget", "local_dp=3", "--budget", "leakage:sick=2", "--budget", "contraction=1")
    words = ("--mechanism", "laplace", "--epsilon", "1", "-o", table.parent / "out", "--key", table.parent / "k")
    code, said, _ = run("noise", "--details", table, *WORD, *words, "--ledger", ledger)
    assert code == 0
    assert "Charged     release 1" in said
    run("noise", "--details", table, "--column", "age", "--grid", "0:40:1", *words[:4], "-o", table.parent / "two")
    assert run("ledger", "add", ledger, table.parent / "two" / "card.json", "--dataset", "n.csv")[0] == 0
    spent = json.loads(run("ledger", "status", ledger, "--json")[1])["spent"]
    assert 2 * (1 - 1e-6) <= float(spent["local_dp"]) <= 2
    assert 0 < float(spent["leakage:sick"]) < 1
    assert run("noise", "--details", table, *WORD, "--mechanism", "laplace", "--epsilon", "2", "-o", table.parent / "x",
               "--ledger", ledger)[0] == 6  # fmt: skip


@pytest.mark.slow
def test_two_columns_along_principal_axes_from_the_command_line(table, run):
    words = (*WORD, "--column", "age", "--grid", "0:40:1", "--leakage-bits", "1/5", "--json")
    code, said, _ = run("noise", "--details", table, *words, "-o", table.parent / "o", "--key", table.parent / "k")
    document = json.loads(said)
    assert code == 0
    assert float(document["guarantees"][0]["proved"]["leakage_bits"]) <= 0.2
    assert document["seen"]["contradicts_the_proof"] is False
    code, said, _ = run("audit", table.parent / "o" / "card.json", "--json")
    assert code == 0


@pytest.mark.parametrize(
    ("kind", "goal", "rest"),
    [
        pytest.param("shrinkage", '{ leakage = ["income"] }', LIMIT, marks=pytest.mark.slow),
        ("shrinkage", '{ leakage = ["sick"] }', LIMIT),
        pytest.param(
            "gaussian", SQUARED, '[[guarantee]]\nleakage = ["income"]\nat_most_bits = "0.3"\n', marks=pytest.mark.slow
        ),
        ("shrinkage", SQUARED, '[[guarantee]]\nleakage = ["sick"]\nat_most_bits = "0.05"\n'),
        pytest.param("laplace", SQUARED, "[[guarantee]]\nlocal_dp = 2\n", marks=pytest.mark.slow),
        pytest.param("gaussian", SQUARED, '[[guarantee]]\nlocal_dp = 2\ndelta = "1e-4"\n', marks=pytest.mark.slow),
        pytest.param("max-entropy", '{ leakage = ["income"] }', NORM, marks=pytest.mark.slow),
        ("max-entropy", "{ capacity = true }", NORM),
    ],
)
def test_problem_files_ask_for_noise(table, run, kind, goal, rest):
    file, design = table.parent / "p.toml", table.parent / "d.json"
    file.write_text(PROBLEM.replace("KIND", kind).replace("GOAL", goal) + rest)
    code, _, err = run("solve", file, "-o", design)
    assert (code, err) == (0, "")
    assert run("verify", design, "--problem", file)[0] == 0
    document = json.loads(design.read_text())
    assert (document["format"], document["proof"]["rule"]) == ("dalenius-design/2", "noise")


@pytest.mark.parametrize(
    ("swap", "message"),
    [
        (('minimize = { leakage = ["income"] }', 'maximize = { information = ["income"] }'), "minimises leakage"),
        (('[columns.income]\ngrid = { low = 0, high = 100, step = 1 }', '[columns.income]\nvalues = "from-table"'),
         "are not one"),
        (('release = ["income"]', 'output = "Y"'), "releases exactly the columns"),
        (('noise = "shrinkage"\n', ""), "are said together"),
        (('noise = "shrinkage"', 'noise = "cauchy"'), "must be one of 'shrinkage'"),
        (('noise = "shrinkage"', 'noise = "shrinkage"\nclip = 3'), "clip is"),
        (('noise = "shrinkage"', 'noise = "shrinkage"\nclip = { income = ["3"] }'), "first and the last"),
        (('noise = "shrinkage"', 'noise = "shrinkage"\nclip = { income = ["3", "1"] }'), "ends below its beginning"),
        (('"squared"', '"norm"\np = "1/2"'), "a number from 1 on"),
        (("at_most", 'at_most = "7"\n[[limit]]\ndistortion = "squared"\nof = ["income"]\nat_most'), "one limit"),
    ],
)  # fmt: skip
def test_problem_files_that_ask_for_something_else_are_refused(table, run, swap, message):
    text = PROBLEM.replace("KIND", "shrinkage").replace("GOAL", '{ leakage = ["income"] }') + LIMIT
    assert swap[0] in text
    (table.parent / "p.toml").write_text(text.replace(*swap, 1))
    code, _, err = run("release", "--details", table.parent / "p.toml", "-o", table.parent / "out")
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        (None, ("--grid", "0:50:1", "--distortion", "9"), "outside its grid, 0 to 50"),
        (None, ("--grid", "0:100", "--distortion", "9"), "is not --grid low:high:step"),
        (None, ("--grid", "0:100:0", "--distortion", "9"), "a step above 0"),
        (None, ("--grid", "0:100:1", "--distortion", "much"), "--distortion is 'much'"),
        (None, ("--grid", "0:100:1", "--distortion", "-3"), "above 0"),
        (None, ("--grid", "0:100:1", "--mechanism", "shrinkage", "--epsilon", "1"), "cannot be made"),
        (None, ("--grid", "0:100:1", "--distortion", "9", "--delta", "1e-6"), "--delta goes with --epsilon"),
        (None, ("--grid", "0:100:1", "--mechanism", "max-entropy", "--epsilon", "1"), "asked for by --distortion"),
        (None, ("--grid", "0:100:1", "--grid", "0:1:1", "--distortion", "9"), "once for each --column"),
        (None, ("--grid", "0:100:1", "--clip", "0:1", "--clip", "0:1", "--distortion", "9"), "--clip low:high"),
        ("\n,3,no\n", ("--grid", "0:100:1", "--distortion", "9"), "the value is missing"),
        ("\nmany,3,no\n", ("--grid", "0:100:1", "--distortion", "9"), "'many' is not a number"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(table, run, change, words, message):
    if change:
        table.write_text(table.read_text().rstrip("\n") + change)
    code, _, err = run("noise", "--details", table, "--column", "income", *words, "-o", table.parent / "out")
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not (table.parent / "out").exists()


@pytest.mark.long
def test_point_06_an_honest_release_is_not_accused_where_the_shares_of_its_law_add_up_to_one(tmp_path, run):
    draw = random.Random(5)
    (tmp_path / "n.csv").write_text("x\n" + "".join(f"{draw.randrange(5)}\n" for _ in range(400)))
    (tmp_path / "k").write_text("cd" * 32 + "\n")
    (tmp_path / "k").chmod(0o600)
    words = ("--column", "x", "--grid", "0:4:1", "--mechanism", "laplace", "--epsilon", "2")
    code, said, err = run(
        "noise", "--details", tmp_path / "n.csv", *words, "-o", tmp_path / "out", "--key", tmp_path / "k"
    )
    assert (code, err) == (0, "")
    assert "nothing contradicts the proof." in said


# --- the best matrix on the grid, and gaps ----------------------------------------------------------------------------
@pytest.fixture
def gaps(tmp_path):
    draw = random.Random(2)
    rows = [draw.choice(["", str(draw.randrange(10)), str(draw.randrange(10))]) for _ in range(600)]
    (tmp_path / "gaps.csv").write_text("age\n" + "\n".join(f'"{v}"' for v in rows) + "\n")
    return tmp_path / "gaps.csv"


@pytest.mark.long
def test_point_11_the_best_channel_on_a_grid_is_designed_and_noise_says_how_much_worse_it_is(gaps, run):
    words = ("noise", gaps, "--column", "age", "--grid", "0:9:1", "--missing", "5", "--epsilon", "2")
    code, said, err = run(*words, "--mechanism", "best", "-o", gaps.parent / "best")
    assert (code, err) == (0, "")
    best = read_told(gaps.parent / "best" / "design.json")
    assert float(best["value"]) - float(best["bound"]) < 1e-6
    code, said, err = run(*words, "--mechanism", "laplace", "-o", gaps.parent / "laplace")
    assert (code, err) == (0, "")
    assert f"the best has a squared error of {figure(best['value'], 'up')}" in said
    assert f"may do better; none can have less than {figure(best['bound'], 'down')}." in said
    assert "LOST        not counted: noise moves numbers, so that no value keeps its own rows." in said
    assert "more than the variance" in said
    assert "one number for everybody" in said
    assert "A gap in age counts as 5" in (gaps.parent / "laplace" / "statement.html").read_text()
    code, said, err = run("estimate", gaps.parent / "laplace" / "card.json", gaps.parent / "laplace" / "released.csv")
    assert (code, err) == (0, "")
    assert "age: mean" in said


def test_point_11_a_gap_in_a_column_of_numbers_is_refused_or_counts_as_a_point_of_the_grid(gaps, run):
    words = ("noise", gaps, "--column", "age", "--grid", "0:9:1", "--epsilon", "2", "--mechanism", "laplace")
    code, _, err = run(*words, "-o", gaps.parent / "out")
    assert code == 2
    assert "Say which point of the grid a gap counts as: --missing NUMBER" in err
    code, _, err = run(*words, "--missing", "5.5", "-o", gaps.parent / "out")
    assert code == 2
    assert "a gap counts as 11/2, which is no point of the grid" in err


def test_a_coarse_grid_is_said_by_release_and_estimate(table, run):
    folder = table.parent / "out"
    coarse = ("--column", "income", "--grid", "0:100:10")
    code, said, err = run(
        "noise", "--details", table, *coarse, "--epsilon", "8", "--mechanism", "laplace", "-o", folder
    )
    assert (code, err) == (0, "")
    assert "goes to the nearest one, halfway downwards: income by up to 5; what is said of means" in said
    code, said, err = run("estimate", folder / "card.json", folder / "released.csv")
    assert (code, err) == (0, "")
    assert said.index("income: mean") < said.index("Said of numbers on their grid: income in steps of 10.")
    assert "may lie up to 5 (income) beside" in said
    code, said, err = run("estimate", "--json", folder / "card.json", folder / "released.csv")
    assert json.loads(said)["grid_steps"] == {"income": "10"}


@pytest.mark.long
def test_a_range_below_zero_is_a_value_and_no_flag(table, run):
    """`argparse` took -100:100:10 for a flag, and said that --grid expected an argument."""
    table.write_text("balance\n" + "".join(f"{k - 40}\n" for k in range(80)))
    words = ("noise", table, "--column", "balance", "--grid", "-100:100:10", "--clip", "-50:50")
    code, _, err = run(*words, "--epsilon", "2", "--mechanism", "laplace", "-o", table.parent / "out")
    assert (code, err) == (0, "")
    released = [int(line) for line in (table.parent / "out" / "released.csv").read_text().splitlines()[1:]]
    assert (min(released), max(released)) == (-50, 50)
