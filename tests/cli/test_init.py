"""`init`: by flags and as a dialogue, and what it writes is released without an edit."""

import gzip
import importlib.util
import json
import shlex
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pyarrow.csv
import pytest

from dalenius import Problem
from dalenius.starting import FLAGS
from tests.cli.conftest import Place

Run = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def rand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The RAND table as a text file with semicolons, compressed."""
    spec = importlib.util.spec_from_file_location("rand", ROOT / "examples" / "rand.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("rand")
    pyarrow.csv.write_csv(module.rand_health(), folder / "plain.csv", pyarrow.csv.WriteOptions(delimiter=";"))
    with gzip.open(folder / "rand.csv.gz", "wb") as file:
        file.write((folder / "plain.csv").read_bytes())
    return folder / "rand.csv.gz"


MAIN = ("--protect", "health", "--release", "plan,visits,illnesses")


@pytest.mark.long
def test_the_file_is_released_without_an_edit(rand: Path, run: Run, tmp_path: Path) -> None:
    code, out, err = run("init", rand, *MAIN, "--reveal", "0.01", "-o", tmp_path / "problem.toml")
    assert (code, err) == (0, "")
    assert "4 groups: none, 1, 2-4, 5 or more" in out
    assert "Smallest combination: 19 rows (it was 4 with finer groups)." in out
    code, _, err = run("release", tmp_path / "problem.toml", "-o", tmp_path / "release")
    assert (code, err) == (0, "")
    assert (tmp_path / "release" / "released.csv").is_file()
    assert run("verify", tmp_path / "release" / "design.json")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "promise",
    [
        ["--nothing"],
        ["--deny", "2"],
        ["--reveal", "0.02", "--times-at-most", "2"],
        ["--guess-at-most", "55%"],
        ["--times-at-most", "3/2"],
    ],
)
@pytest.mark.parametrize("kept", ["all", "3/4", "0"])
def test_every_promise_is_released_without_an_edit(
    rand: Path, run: Run, tmp_path: Path, promise: list[str], kept: str
) -> None:
    assert run("init", rand, *MAIN, *promise, "--keep-rows", kept, "-o", tmp_path / "problem.toml")[0] == 0
    assert run("release", tmp_path / "problem.toml", "-o", tmp_path / "release")[0] == 0


@pytest.mark.long
def test_a_limit_on_guesses_says_that_it_is_about_the_average_row(rand: Path, run: Run, tmp_path: Path) -> None:
    guess = ("init", rand, *MAIN, "--guess-at-most", "55%")
    _, out, _ = run(*guess, "-o", tmp_path / "a.toml")
    assert "That is about the average row. --times-at-most 2 beside it limits what any single row reveals." in out
    code, out, err = run(*guess, "--times-at-most", "2", "-o", tmp_path / "b.toml")
    assert code == 0, err
    assert "average row" not in out


@pytest.mark.slow
@pytest.mark.parametrize("promise", [["--nothing"], ["--reveal", "0.01"], ["--deny", "2"], ["--guess-at-most", "70%"]])
def test_ten_columns_are_released_without_an_edit(run: Run, tmp_path: Path, promise: list[str]) -> None:
    text = files("statsmodels.datasets.randhie").joinpath("randhie.csv").read_bytes()
    (tmp_path / "rand.csv").write_bytes(text)
    names = text.splitlines()[0].decode().split(",")
    released = ",".join(name for name in names if name != "hlthg")
    code, out, _ = run(
        "init", tmp_path / "rand.csv", "--protect", "hlthg", "--release", released, *promise, "-o", tmp_path / "p.toml"
    )
    assert code == 0
    assert "too many for one recipe" in out
    assert run("release", tmp_path / "p.toml", "-o", tmp_path / "release")[0] == 0


def test_machines_get_the_choices_and_a_dry_run_writes_nothing(place: Place, run: Run) -> None:
    before = place.names()
    arguments = ["--protect", "out", "--release", "sex,age", "--nothing", "--dry-run", "-o", place / "new.toml"]
    code, out, _ = run("init", place / "t.csv", *arguments, "--json")
    assert code == 0
    told = json.loads(out)
    assert told["form"] == "dense"
    assert told["columns"]["sex"]["groups"] == ["f", "m"]
    assert "[[guarantee]]" in told["text"]
    assert place.names() == before


def test_a_factor_is_a_promise_of_its_own_or_stands_beside_another(place: Place, run: Run) -> None:
    arguments = ["init", place / "t.csv", "--protect", "out", "--release", "sex,age", "--times-at-most", "2"]
    code, out, _ = run(*arguments, "-o", place / "alone.toml")
    assert code == 0
    assert "Promise: no released row makes an answer about out more than 2 times as likely." in out
    assert (place / "alone.toml").read_text().count("[[guarantee]]") == 1
    assert run(*arguments, "--nothing", "-o", place / "beside.toml")[0] == 0
    assert (place / "beside.toml").read_text().count("[[guarantee]]") == 2


def test_an_existing_file_is_not_replaced(place: Place, run: Run) -> None:
    arguments = ["--protect", "out", "--release", "sex,age", "--nothing", "-o", place / "p.toml"]
    assert run("init", place / "t.csv", *arguments)[0] == 2
    assert run("init", place / "t.csv", *arguments, "--force")[0] == 0


def test_a_promise_about_every_row_is_told_beside_the_other_one(place: Path, run: Run) -> None:
    asked = ["--protect", "out", "--release", "sex,age", "--reveal", "0.05", "--times-at-most", "2", "--dry-run"]
    lines = [line for line in run("init", place / "t.csv", *asked)[1].splitlines() if line.startswith("Promise: ")]
    assert lines[1] == "Promise: no released row makes an answer about out more than 2 times as likely."


# --- the dialogue -----------------------------------------------------------------------------------------------------
def answering(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    waiting = iter(answers)

    def read(_: str) -> str:
        try:
            return next(waiting)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", read)


@pytest.mark.long
def test_enter_takes_the_suggested_answers(
    rand: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "", "2-4", "", "", "")
    code, out, err = run("init", rand, "-o", tmp_path / "asked.toml")
    assert code == 0
    assert "Which column must stay secret? [health]" in err
    assert "right at most __ % of the time (54.6 % without any data)" in err
    assert "at most 0.01 bits about health, on average: less than 1 % of all there is to know (suggested)" in err
    assert err.count("visits     ") == 2, "in the list of columns and in that of groups"
    assert "visits" not in out
    run("init", rand, *MAIN, "--reveal", "0.01", "-o", tmp_path / "flags.toml")
    assert (tmp_path / "asked.toml").read_text() == (tmp_path / "flags.toml").read_text()


@pytest.mark.long
def test_groups_can_be_cut_elsewhere_in_the_dialogue(
    rand: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "", "2-4", "", "", "no", "visits=", "sight=1,7", "visits=1,7", "y")
    code, _, err = run("init", rand, "-o", tmp_path / "asked.toml")
    assert code == 0
    assert "Are the groups right? [yes], or cut a column elsewhere" in err
    assert "Press Enter for yes" in err
    assert 'has no column "sight"' in err
    run("init", rand, *MAIN, "--reveal", "0.01", "--cut", "visits=1,7", "-o", tmp_path / "flags.toml")
    assert (tmp_path / "asked.toml").read_text() == (tmp_path / "flags.toml").read_text()


def test_a_table_of_one_column_is_refused_before_a_question(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.csv").write_text("health\n" + "good\nbad\n" * 50)
    answering(monkeypatch, *[""] * 20)
    code, _, err = run("init", tmp_path / "one.csv", "-o", tmp_path / "p.toml")
    assert code == 2
    assert "one must stay secret, and one is released. Add a column" in err
    assert "?" not in err


def test_enter_takes_columns_with_commas_in_their_names(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"{'ab'[k % 2]},{'cd'[k % 3 > 0]},{'gs'[k % 5 > 1]}\n" for k in range(300))
    (tmp_path / "t.csv").write_text('"city, state","say ""it""","health, now"\n' + rows)
    answering(monkeypatch, "", "", "", "", "")
    code, out, _ = run("init", tmp_path / "t.csv", "-o", tmp_path / "p.toml")
    assert code == 0
    assert "reveals at most 0.01 bits about health, now" in out
    assert Problem.from_file(tmp_path / "p.toml").release == ("city, state", 'say "it"')


def test_a_limit_on_guesses_is_offered_first(
    rand: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "", "2-4", "", "1 80%", "")
    code, _, err = run("init", rand, "-o", tmp_path / "asked.toml")
    assert code == 0
    assert "1  An attacker guesses health right at most" in err
    assert 'guess = ["health"]' in (tmp_path / "asked.toml").read_text()


def test_questions_are_explained_and_asked_again(place: Place, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "?", "outt", "out", "sex, age", "y", "y id", "7", "4", "", "")
    code, _, err = run("init", place / "t.csv", "-o", place / "asked.toml")
    assert code == 0
    assert "nobody learns much about this column" in err
    assert 'has no column "outt". Did you mean "out"?' in err
    assert "Answer 1, 2, 3, 4 or 5." in err
    text = (place / "asked.toml").read_text()
    assert 'unit = "id"' in text
    assert "local_dp" in text


def test_answers_that_end_leave_nothing(place: Place, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = place.names()
    answering(monkeypatch, "out")
    code, _, err = run("init", place / "t.csv", "-o", place / "asked.toml")
    assert code == 2
    assert "Nothing was written" in err
    assert place.names() == before


# --- bad input --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--nothing"], "Missing: --protect, --release."),
        (["--protect", "out", "--release", "sexx", "--nothing"], 'Did you mean "sex"?'),
        (["--protect", "out", "--release", "sex", "--nothing", "--deny", "2"], "Choose one promise"),
        (["--protect", "out", "--release", "sex", "--deny", "0.5"], "A factor is 1 or more"),
        (["--protect", "out", "--release", "sex", "--nothing", "--cut", "age"], "--cut visits=1,3,7"),
        (["--protect", "out", "--release", "sex", "--nothing", "--group", "sex=f"], "--group"),
        (["--useful", "out"], "--look-at"),
    ],
)
def test_bad_flags_get_one_sentence(
    place: Place, run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    before = place.names()
    code, _, err = run("init", place / "t.csv", *arguments, "-o", place / "new.toml")
    assert code == 2
    assert says in err
    assert err.count("\n") == 1
    assert place.names() == before


def test_without_a_promise_all_five_are_named_and_the_example_works(
    place: Place, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    code, _, err = run("init", place / "t.csv", "-o", place / "new.toml")
    assert code == 2
    first, *promises, last = err.splitlines()
    assert first.startswith("dalenius: Missing: --protect, --release, a promise.")
    assert [line.split()[0] for line in promises] == list(FLAGS.values())
    assert max(map(len, promises)) <= 115
    example = shlex.split(last.removeprefix("Example: dalenius "))
    assert run(*example, "-o", place / "new.toml")[0] == 0


@pytest.mark.long
# --- the other job ----------------------------------------------------------------------------------------------------
def test_a_new_column_that_says_nothing_about_the_secrets(place: Place, run: Run) -> None:
    arguments = ["--useful", "out", "--look-at", "sex", "age", "--protect", "sex", "--protect", "age"]
    assert run("init", place / "t.csv", *arguments, "-o", place / "new.toml")[0] == 0
    assert run("release", place / "new.toml", "-o", place / "out")[0] == 0
    older = ["--about", "out", "--observe", "sex", "age", "--independent", "sex", "--independent", "age"]
    assert run("init", place / "t.csv", *older, "-o", place / "old.toml")[0] == 0
    assert (place / "old.toml").read_text() == (place / "new.toml").read_text()


@pytest.mark.long
@pytest.mark.parametrize("promise", [[], ["--reveal", "0.01"]])
def test_a_new_column_of_a_large_table_is_released_without_an_edit(
    rand: Path, run: Run, tmp_path: Path, promise: list[str]
) -> None:
    """Its columns are grouped until no combination is small, and the promise is the one of the flags."""
    wishes = ["--protect", "health", "--useful", "visits", "--look-at", "visits", "plan", *promise]
    code, out, err = run("init", rand, *wishes, "-o", tmp_path / "use.toml")
    assert (code, err) == (0, "")
    assert "secret; as it is: excellent, fair or poor, good" in out
    code, out, err = run("release", tmp_path / "use.toml", "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert ("reveals at most 0.01 bits" if promise else "reveals nothing about health") in out


@pytest.mark.long
@pytest.mark.parametrize("form", ["dense", "records"])  # whole records leave in another order
def test_a_promise_that_the_table_keeps_already_changes_nothing(place: Place, run: Run, form: str) -> None:
    wishes = ["--protect", "out", "--release", "sex,age", "--reveal", "0.5", "--form", form]
    wishes += ["-o", str(place / "loose.toml")]
    assert run("init", place / "t.csv", *wishes)[0] == 0
    code, out, err = run("release", place / "loose.toml", "-o", place / "out")
    assert (code, err) == (0, "")
    assert "Changed     No row: the table keeps the promise as it is." in out
