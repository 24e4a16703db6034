"""The scripts that travel with a card say what `dalenius estimate` says: for Python as shipped, for R where it is."""

import json
import os
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dalenius import compare, estimate, regress
from dalenius.cli import main
from dalenius.core import Channel, Noise, Pram, Product, Staircase, Strata
from dalenius.evidence.scripts import script, scripts
from dalenius.mechanisms.numbers.estimate import estimate_numbers, noise_of
from dalenius.mechanisms.numbers.regression import regress_numbers
from tests.cli.script_runs import (
    DENSE,
    HERE,
    ONE,
    REGION,
    RSCRIPT,
    SEX,
    TABLE,
    Q,
    called,
    coefficient_lines,
    lines,
    runner,
)
from tests.effort import effort

CARDS = {
    "form (8)": (ONE, []),
    "written out, two columns": (Channel(REGION | SEX, REGION | SEX, Pram(REGION | SEX, REGION | SEX, Q * 2).rows), []),
    "a matrix for each column": (Product(REGION | SEX, (ONE, DENSE)), []),
    "a matrix for each stratum": (Strata(REGION | SEX, ("sex",), (ONE, Pram(REGION, REGION, Q[::-1]))), ["sex"]),
}
JOB = {"job": ("farm", "shop")}
BOTH = Product(REGION | JOB, (ONE, Pram(JOB, JOB, Q[:2])))
CARDS["a matrix for each column in each stratum"] = (Strata(REGION | JOB | SEX, ("sex",), (BOTH, BOTH)), ["sex"])


@pytest.mark.parametrize("which", CARDS)
@pytest.mark.parametrize("target", ["table", "population"])
def test_the_scripts_say_what_the_library_says(told, which, target):
    channel, kept = CARDS[which]
    assert set(scripts(channel, tuple(kept))) == {"estimate.py", "estimate.R"}
    card = {"channel": channel.to_json(), "kept": kept}
    code, out, err = told(card, TABLE, target)
    assert code == 0, err
    columns = [["region"], ["sex"]] if isinstance(channel, Product) else [None]
    columns = [["region", "sex"], ["job", "sex"]] if "job" in channel.inputs else columns
    files = told.folder / "card.json", told.folder / "released.csv"
    ours = [line for names in columns for line in lines(estimate(*files, columns=names, target=target))]
    assert sorted(out) == sorted(ours)


def test_the_script_for_python_runs_as_it_travels(tmp_path):
    """One file, without the package and without what is installed."""
    test_the_scripts_say_what_the_library_says(
        runner("estimate.py", tmp_path), "a matrix for each column", "population"
    )


@pytest.mark.long
def test_the_reader_for_r_runs_where_r_is(tmp_path):
    test_the_scripts_say_what_the_library_says(runner("estimate.R", tmp_path), "a matrix for each column", "population")


THIRD = Fraction(1, 3)
STAIRS = Staircase(SEX, {"sex": ("0", "1")}, Fraction(2), (0, 1), ((THIRD, (0,)), (THIRD, (1,))))
DAMAGED = {
    "weights that are not there": ({"channel": ONE.to_json(), "kept": ["w"], "weights": "w"}, TABLE, "no column"),
    "no weights": ({"channel": ONE.to_json(), "kept": ["job"], "weights": "job"}, TABLE, "no weight"),
    "another form": ({"channel": STAIRS.to_json(), "kept": []}, TABLE, "full package"),
    "strata written out": ({"channel": DENSE.to_json(), "kept": ["sex"]}, TABLE, "full package"),
    "another letter": ({"channel": ONE.to_json(), "kept": []}, TABLE + "f,west,farm\n", "values that the card lacks"),
    "one row": ({"channel": ONE.to_json(), "kept": []}, "region,sex\nnorth,f\n", "too few rows"),
    "singular": (
        {"channel": Channel(SEX, SEX, ((1, 0), (1, 0))).to_json(), "kept": []},
        TABLE,
        "did not draw the table",
    ),
}


@pytest.mark.parametrize("which", DAMAGED)
def test_what_the_scripts_cannot_read_is_refused(told, which):
    card, table, words = DAMAGED[which]
    code, out, err = told(card, table)
    assert (code, out) == (1, [])
    assert any(word in err for word in words.split("|"))
    assert "Traceback" not in err


@pytest.mark.parametrize("target", ["table", "population"])
@pytest.mark.parametrize("which", ["form (8)", "a matrix for each stratum"])
def test_point_17_rows_count_by_the_weights_that_the_card_names(told, target, which):
    channel, kept = CARDS[which]
    card = {"channel": channel.to_json(), "kept": [*kept, "w"], "weights": "w"}
    head, *rows = TABLE.splitlines()
    table = "\n".join([f"{head},w", *(f"{row},{1 + k % 7}.5" for k, row in enumerate(rows))]) + "\n"
    code, out, err = told(card, table, target)
    assert code == 0, err
    files = told.folder / "card.json", told.folder / "released.csv"
    assert sorted(out) == sorted(lines(estimate(*files, columns=["region", *kept], target=target)))


@pytest.mark.long
def test_a_reader_that_has_seen_enough_is_no_fault(told):
    told({"channel": ONE.to_json(), "kept": []})
    run = [
        sys.executable if told.name == "estimate.py" else RSCRIPT,
        *(str(told.folder / f) for f in (told.name, "card.json", "released.csv")),
    ]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(run, stdout=writing, stderr=subprocess.PIPE, encoding="utf-8")
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_point_09_a_parquet_file_is_named_for_what_it_is(told, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as where the script travels to
    code, out, err = told({"channel": ONE.to_json(), "kept": []}, "PAR1 and so on")
    assert (code, out) == (1, [])
    assert "is a Parquet file" in err


def test_a_parquet_file_is_read_where_its_library_is(tmp_path):
    run = runner(HERE, tmp_path)
    card = {"channel": ONE.to_json(), "kept": []}
    expected = run(card)
    names, *rows = (line.split(",") for line in TABLE.splitlines())
    columns = zip(*rows, strict=True)
    pq.write_table(pa.table(dict(zip(names, columns, strict=True))), tmp_path / "released.parquet")
    assert called([str(tmp_path / "card.json"), str(tmp_path / "released.parquet")]) == expected


def test_few_rows_are_said(told):
    code, out, _ = told(
        {"channel": ONE.to_json(), "kept": []}, "region\n" + "north\n" * 30 + "Zürich\n" * 12 + "?\n" * 9
    )
    assert code == 0
    assert "too few released rows carry it" in out[-1], "nine rows of 51"


def test_a_script_travels_only_with_a_card_that_it_can_read():
    assert scripts(ONE, ("region",)) == {}
    assert scripts(Channel(SEX, SEX, ((1, 0), (1, 0)))) == {}, "nothing is determined"
    assert scripts(STAIRS) == {}
    assert scripts(Product(REGION | SEX, (ONE, Channel(SEX, SEX, ((1, 0), (1, 0)))))) == {}
    letters = {"X": tuple(map(str, range(201)))}
    assert scripts(Pram(letters, letters, (Fraction(1, 2),) * 201)) == {}


def test_the_script_for_python_stays_short():
    text = script("estimate.py").splitlines()
    assert len(text) <= 770
    assert max(map(len, text)) <= 120


@pytest.mark.long
def test_point_09_wrong_arguments_get_a_usage_line(told):
    run = [sys.executable if told.name == "estimate.py" else RSCRIPT, str(told.folder / told.name)]
    for further in ([], ["card.json"], ["card.json", "released.csv", "everybody"], ["no.json", "no.csv"]):
        done = subprocess.run([*run, *further], capture_output=True, encoding="utf-8", cwd=told.folder)
        assert done.returncode == 1
        assert f"{told.name} card.json released.csv [population]" in done.stderr
        assert "Traceback" not in done.stderr


def test_another_table_than_the_card_s_is_refused(told):
    code, out, err = told({"channel": ONE.to_json(), "kept": []}, "town\nnorth\nnorth\n")
    assert (code, out) == (1, [])
    assert "no column" in err
    assert "region" in err


LOST = Channel({"X": tuple("abc")}, {"X": tuple("abc")}, ((Fraction(3, 4), Fraction(1, 4), 0), (0, 1, 0), (0, 1, 0)))


def test_point_09_what_is_not_determined_is_said_so(told):
    code, out, err = told({"channel": LOST.to_json(), "kept": []}, "X\n" + "a\n" * 300 + "b\n" * 700)
    assert code == 0, err
    assert out[0].startswith("X=a\t0.4000")
    assert out[1:] == [f"X={x}\tnot determined by what was released" for x in "bc"]


@pytest.mark.long
def test_point_09_intervals_of_the_script_cover(tmp_path):
    """Releases of a matrix that is nearly singular: what is printed covers, the rest is refused with a reason."""
    rng = np.random.default_rng(8)
    rows = [["96/100", "4/100", "0"], ["1/2", "1/2", "0"], ["1/200", "49/100", "101/200"]]
    channel = {"inputs": {"X": ["a", "b", "c"]}, "output": {"X": ["a", "b", "c"]}, "rows": rows}
    M = np.array([[float(Fraction(v)) for v in row] for row in rows])
    counts, run = np.array([1500, 40, 460]), runner("estimate.py", tmp_path)
    inside, printed = Counter(), Counter()
    many = effort(15, 200)
    for _ in range(many):
        drawn = sum(rng.multinomial(n, row) for n, row in zip(counts, M, strict=True))
        code, out, err = run(
            {"channel": channel, "kept": []}, "X\n" + "".join(f"{x}\n" * n for x, n in zip("abc", drawn, strict=True))
        )
        assert code == 0, err
        for k, line in enumerate(out):
            if "[" in line:
                low, high = map(float, line.split("[")[1].rstrip("]").split(","))
                value = float(line.split("\t")[1].split()[0])
                assert low <= value <= high
                printed[k] += 1
                inside[k] += low <= counts[k] / 2000 <= high
    assert printed[0] == many
    assert all(inside[k] >= 0.85 * printed[k] for k in printed)


def test_shares_that_are_preserved_are_printed_as_released(told):
    """With preserved margins nothing is inverted: the script says what `dalenius estimate` says."""
    rows = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 6), Fraction(5, 6)))  # 400 and 600 rows stay so
    card = {"channel": Channel(SEX, SEX, rows).to_json(), "kept": [], "marginals_preserved": True}
    table = "sex\n" + "f\n" * 410 + "?\n" * 590
    code, out, err = told(card, table)
    assert code == 0, err
    found = estimate(told.folder / "card.json", told.folder / "released.csv")
    assert found.method == "preserved"
    assert out == list(lines(found))
    assert out[0].startswith("sex=f\t0.410000 [")


@pytest.mark.parametrize("whose", ["table", "population"])
@pytest.mark.parametrize("kept", [False, True])
def test_point_17_a_script_compares_two_groups_as_the_command_does(told, whose, kept):
    """Shares, difference, risk ratio and odds ratio, also where margins are preserved."""
    both = {"sex": ("f", "m"), "job": ("yes", "no")}
    counts = (900, 1100, 700, 2300)
    flows = ((0, 60, 40, 50), (60, 0, 30, 80), (40, 30, 0, 90), (50, 80, 90, 0))  # as many in as out
    rows = tuple(
        tuple(Fraction(n - sum(flows[x]) if x == y else flows[x][y], n) for y in range(4)) for x, n in enumerate(counts)
    )
    card = {"channel": Channel(both, both, rows).to_json(), "kept": [], "marginals_preserved": kept}
    lines = ("f,yes", "f,no", "m,yes", "m,no")
    table = "sex,job\n" + "".join(f"{line}\n" * n for line, n in zip(lines, (880, 1130, 720, 2270), strict=True))
    code, out, err = told(card, table, whose, "compare", "job=yes", "sex=f", "sex=m")
    assert code == 0, err
    files = (told.folder / "card.json", told.folder / "released.csv")
    found = compare(*files, {"job": "yes"}, [{"sex": "f"}, {"sex": "m"}], target=whose)
    ours = [f"{name.replace('_', ' ')}\t{f.estimate:.6f} [{f.low:.6f}, {f.high:.6f}]" for name, f in found.items()]
    assert out == ours


@pytest.mark.parametrize("whose", ["table", "population"])
def test_point_17_a_script_analyses_preserved_shares_as_they_are(told, whose):
    both = {"sex": ("0", "1"), "job": ("yes", "no")}
    counts = (900, 1100, 700, 2300)
    flows = ((0, 60, 40, 50), (60, 0, 30, 80), (40, 30, 0, 90), (50, 80, 90, 0))  # as many in as out
    rows = tuple(
        tuple(Fraction(n - sum(flows[x]) if x == y else flows[x][y], n) for y in range(4)) for x, n in enumerate(counts)
    )
    card = {"channel": Channel(both, both, rows).to_json(), "kept": [], "marginals_preserved": True}
    named = ("0,yes", "0,no", "1,yes", "1,no")
    table = "sex,job\n" + "".join(f"{line}\n" * n for line, n in zip(named, (880, 1130, 720, 2270), strict=True))
    told(card, table)
    files = told.folder / "card.json", told.folder / "released.csv"
    fit = regress(*files, "job", ["sex"], value="yes", target=whose)
    code, out, err = told(card, table, whose, "logistic", "job=yes", "sex")
    assert code == 0, err
    assert out == coefficient_lines(fit)
    code, out, err = told(card, table, whose, "shares", "job")
    assert code == 0, err
    assert out == list(lines(estimate(*files, columns=["job"], target=whose)))


def test_point_17_a_part_of_a_release_is_not_what_the_design_preserves():
    """Released shares were taken for the original ones of any rows, of two of 5,000 as well."""
    both = {"sex": ("0", "1")}
    rows = ((Fraction(9, 10), Fraction(1, 10)), (Fraction(3, 10), Fraction(7, 10)))
    card = {"channel": Channel(both, both, rows).to_json(), "kept": [], "marginals_preserved": True}
    card["changes"] = [{"column": "sex", "value": v, "rows_after": n} for v, n in (("0", 3000), ("1", 1000))]
    whole, part = (pa.table({"sex": ["0"] * 3 * n + ["1"] * n}) for n in (1000, 100))
    assert estimate(card, whole).method == "preserved"
    assert estimate(card, part).method == "inverse"


REFUSED = {
    "a column that is not there": (["within", "region", "town"], "town is no column of the card"),
    "no number": (["linear", "region", "sex"], "are not all numbers"),
    "the same column twice": (["logistic", "sex=f", "sex"], "names each column once"),
    "another value": (["compare", "region=west", "sex=f", "sex=?"], "region=west is no column of the card"),
    "no analysis": (["within", "region"], "usage"),
}


@pytest.mark.parametrize("which", REFUSED)
def test_point_17_a_script_says_what_it_cannot_analyse(told, which):
    words, reason = REFUSED[which]
    channel, kept = CARDS["a matrix for each column"]
    code, out, err = told({"channel": channel.to_json(), "kept": kept}, TABLE, *words)
    assert (code, out) == (1, [])
    assert any(word in err for word in reason.split("|")), err
    assert "Traceback" not in err


@pytest.mark.long
def test_a_script_refuses_what_needs_matrices_of_strata_and_columns(told):
    channel, kept = CARDS["a matrix for each column in each stratum"]
    code, _, err = told({"channel": channel.to_json(), "kept": kept}, TABLE, "compare", "job=farm", "sex=f", "sex=?")
    assert code != 0
    assert "dalenius estimate" in err


@pytest.mark.long
@pytest.mark.parametrize("whose", ["table", "population"])
def test_point_17_numbers_with_noise_within_their_grid_are_read(told, whose, tmp_path):
    rng = np.random.default_rng(2)
    age = rng.integers(0, 6, 3000)
    pay = np.clip(age + rng.integers(0, 4, 3000), 0, 8)
    (tmp_path / "t.csv").write_text("age,pay\n" + "".join(f"{a},{b}\n" for a, b in zip(age, pay, strict=True)))
    how = ["--column", "age", "--grid", "0:5:1", "--column", "pay", "--grid", "0:8:1", "--mechanism", "laplace"]
    out = tmp_path / "out"
    assert main(["noise", str(tmp_path / "t.csv"), *how, "--epsilon", "6", "-o", str(out), "--quiet"]) == 0
    assert (out / told.name).read_text(encoding="utf-8") == script(told.name)
    card, table = json.loads((out / "card.json").read_text()), (out / "released.csv").read_text()
    channel, released = noise_of(out / "card.json"), out / "released.csv"
    mean = estimate_numbers(channel, released, target=whose)[1]
    slope = regress_numbers(channel, released, "pay", ["age"], target=whose).coefficients["age"]
    for words, name, figure in (
        (["linear", "pay"], "(intercept)", (mean.mean, *mean.mean_interval)),
        (["linear", "pay", "age:number"], "age", (slope.estimate, slope.low, slope.high)),
    ):
        code, lines_, err = told(card, table, whose, *words)
        assert code == 0, err
        found = dict(line.split("\t") for line in lines_)[name]
        assert [float(word.strip("[],")) for word in found.split()] == pytest.approx(figure, rel=2e-3)


@pytest.mark.long
def test_a_script_lets_a_rare_number_enter_as_one(told):
    x = {"x": ("0", "1", "2")}
    channel = Product(x | SEX, (Pram(x, x, (Fraction(4, 5),) * 3), Channel(SEX, SEX, ((1, 0), (0, 1)))))
    table = "x,sex\n" + "".join(f"{k},{sex}\n" * n for sex in ("f", "?") for k, n in ((0, 40), (1, 30), (2, 8)))
    _, _, err = told({"channel": channel.to_json(), "kept": []}, table, "logistic", "sex=f", "x")
    assert "x = 2 is too rare in the release for a coefficient; say x:number, or leave x out" in err


def test_noise_beyond_its_grid_stays_with_the_full_package(told):
    wide = Noise.on_grid("x", [Fraction(k) for k in range(5)], Fraction(1), Fraction(0), (2, 1))
    assert scripts(wide) == {}
    card = {"channel": wide.to_json(), "kept": []}
    code, out, err = told(card, "x\n1\n2\n")
    assert (code, out) == (1, [])
    assert "dalenius estimate" in err
