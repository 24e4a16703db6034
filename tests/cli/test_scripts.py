"""The scripts that travel with a card say what `dalenius estimate` says: for Python as shipped, for R where it is."""

import json
import shutil
import subprocess
import sys
from fractions import Fraction
from functools import cache

import pytest

from dalenius import estimate
from dalenius.core import Channel, Pram, Product, Staircase, Strata
from dalenius.evidence.scripts import script, scripts

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

    run.folder = tmp_path
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


def test_the_reader_for_r_runs_where_r_is(tmp_path):
    test_the_scripts_say_what_the_library_says(runner("estimate.R", tmp_path), "a matrix for each column", "population")


THIRD = Fraction(1, 3)
STAIRS = Staircase(SEX, {"sex": ("0", "1")}, Fraction(2), (0, 1), ((THIRD, (0,)), (THIRD, (1,))))
DAMAGED = {
    "weights": ({"channel": ONE.to_json(), "kept": ["w"], "weights": "w"}, TABLE, "full package"),
    "another form": ({"channel": STAIRS.to_json(), "kept": []}, TABLE, "full package"),
    "strata written out": ({"channel": DENSE.to_json(), "kept": ["sex"]}, TABLE, "full package"),
    "another letter": ({"channel": ONE.to_json(), "kept": []}, TABLE + "f,west,farm\n", "letters that the card lacks"),
    "one row": ({"channel": ONE.to_json(), "kept": []}, "region,sex\nnorth,f\n", "too few rows"),
    "singular": ({"channel": Channel(SEX, SEX, ((1, 0), (1, 0))).to_json(), "kept": []}, TABLE, "inverse|singular"),
}


@pytest.mark.parametrize("which", DAMAGED)
def test_what_the_scripts_cannot_read_is_refused(told, which):
    card, table, words = DAMAGED[which]
    code, out, err = told(card, table)
    assert (code, out) == (1, [])
    assert any(word in err for word in words.split("|"))
    assert "Traceback" not in err


def test_few_rows_are_said(told):
    code, out, _ = told(
        {"channel": ONE.to_json(), "kept": []}, "region\n" + "north\n" * 30 + "Zürich\n" * 12 + "?\n" * 9
    )
    assert code == 0
    assert all(line.endswith("few rows: too narrow, ask the full package") for line in out)


def test_a_script_travels_only_with_a_card_that_it_can_read():
    assert scripts(ONE, ("region",)) == {}
    assert scripts(Channel(SEX, SEX, ((1, 0), (1, 0)))) == {}
    assert scripts(STAIRS) == {}
    assert scripts(Product(REGION | SEX, (ONE, Channel(SEX, SEX, ((1, 0), (1, 0)))))) == {}
    letters = {"X": tuple(map(str, range(201)))}
    assert scripts(Pram(letters, letters, (Fraction(1, 2),) * 201)) == {}


def test_the_script_for_python_has_forty_lines():
    text = script("estimate.py").splitlines()
    assert len(text) <= 40
    assert max(map(len, text)) <= 120
