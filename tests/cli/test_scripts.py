"""The scripts that travel with a card say what `dalenius estimate` says: for Python as shipped, for R where it is."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dalenius import compare, estimate
from dalenius.core import Channel, Pram, Product, Staircase, Strata
from dalenius.evidence.scripts import script, scripts
from tests.effort import effort

REGION, SEX = {"region": ("north", "Zürich", "(missing)")}, {"sex": ("f", "?")}
Q = (Fraction(3, 4), Fraction(2, 3), Fraction(1, 2))
ROWS = {"f,north": 400, "?,Zürich": 300, "f, ?": 200, "?,": 70, "f,Zürich": 90, "?,north": 150}
TABLE = "sex,region,job\n" + "".join(
    f"{row},farm\n" * (2 * n // 3) + f"{row},shop\n" * (n // 3) for row, n in ROWS.items()
)
ONE = Pram(REGION, REGION, Q)
DENSE = Channel(SEX, SEX, ((Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 3), Fraction(2, 3))))
CARDS = {
    "form (8)": (ONE, []),
    "written out, two columns": (Channel(REGION | SEX, REGION | SEX, Pram(REGION | SEX, REGION | SEX, Q * 2).rows), []),
    "a matrix for each column": (Product(REGION | SEX, (ONE, DENSE)), []),
    "a matrix for each stratum": (Strata(REGION | SEX, ("sex",), (ONE, Pram(REGION, REGION, Q[::-1]))), ["sex"]),
}
JOB = {"job": ("farm", "shop")}
BOTH = Product(REGION | JOB, (ONE, Pram(JOB, JOB, Q[:2])))
CARDS["a matrix for each column in each stratum"] = (Strata(REGION | JOB | SEX, ("sex",), (BOTH, BOTH)), ["sex"])
RSCRIPT = shutil.which("Rscript")


@cache
def has_jsonlite():
    done = subprocess.run([RSCRIPT, "-e", "library(jsonlite)"], capture_output=True) if RSCRIPT else None
    return done is not None and done.returncode == 0


@pytest.fixture(params=["estimate.py", pytest.param("estimate.R", marks=pytest.mark.slow)])
def told(request, tmp_path):
    """Run a script on a card: its exit code, its lines, what it says when it refuses."""
    return runner(request.param, tmp_path)


def runner(name, tmp_path):
    if name == "estimate.R" and not has_jsonlite():
        pytest.skip("the reader for R is run where Rscript and jsonlite are installed")
    (tmp_path / name).write_text(script(name), encoding="utf-8")
    start = [sys.executable, "-I", "-S"] if name == "estimate.py" else [RSCRIPT]

    def run(card, table=TABLE, *further):
        (tmp_path / "card.json").write_text(json.dumps(card))
        (tmp_path / "released.csv").write_text(table, encoding="utf-8")
        files = [str(tmp_path / file) for file in (name, "card.json", "released.csv")]
        done = subprocess.run([*start, *files, *further], capture_output=True, encoding="utf-8")
        return done.returncode, done.stdout.splitlines(), done.stderr

    run.folder, run.name = tmp_path, name
    return run


def lines(found):
    """Estimates of the library in the words of the scripts."""
    for x, p, low, high in zip(found.outcomes(), found.estimate, found.low, found.high, strict=True):
        named = ", ".join(f"{n}={v}" for n, v in zip(found.columns, x, strict=True))
        yield f"{named}\t{p:.6f} [{low:.6f}, {high:.6f}]"


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


def test_point_09_a_parquet_file_is_named_for_what_it_is(told):
    code, out, err = told({"channel": ONE.to_json(), "kept": []}, "PAR1 and so on")
    assert (code, out) == (1, [])
    assert "is a Parquet file" in err


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
    assert len(text) <= 300
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


@pytest.mark.long
def test_a_script_refuses_a_comparison_that_it_cannot_make(told):
    channel, kept = CARDS["a matrix for each column"]
    card = {"channel": channel.to_json(), "kept": kept}
    code, _, err = told(card, TABLE, "compare", "sex=f", "region=north", "region=Zürich")
    assert code != 0
    assert "dalenius estimate --compare" in err
    card = {"channel": ONE.to_json(), "kept": []}
    code, _, err = told(card, TABLE, "compare", "region=north", "job=farm", "job=shop")
    assert code != 0
    assert "job=farm is no column of the card" in err
