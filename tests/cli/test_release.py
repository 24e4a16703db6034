"""`release`: the whole walk through files, and everything that must stop it before anything is written."""

import csv
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from dalenius.tables import read_told
from tests.cli.conftest import Place, rows, write_csv

Run = Callable[..., tuple[int, str, str]]
FILES = [
    "card.about.json",
    "card.json",
    "design.about.json",
    "design.json",
    "released.csv",
    "statement-public.html",
    "statement.html",
]


def released(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {k for v in value.values() for k in keys(v)}
    return {k for v in value for k in keys(v)} if isinstance(value, list) else set()


@pytest.mark.long
def test_release_writes_everything_and_only_what_may_leave(place: Place, run: Run) -> None:
    code, out, err = run("release", "--details", place / "p.toml", "-o", place / "out")
    assert (code, err) == (0, "")
    assert all(word in out for word in ("Promised", "Proved", "Seen", "reveals nothing about sex"))
    folder = place / "out"
    assert sorted(p.name for p in folder.iterdir()) == FILES
    table = released(folder / "released.csv")
    assert len(table) == 3000
    assert set(table[0]) == {"Y"}
    design, card = (read_told(folder / name) for name in ("design.json", "card.json"))
    assert next(iter(design)) == "confidential"
    assert stat.S_IMODE((folder / "design.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "statement.html").stat().st_mode) == 0o600
    assert not {"pmf", "joint", "counts", "prior", "source", "columns"} & keys(card)
    letters, law = design["channel"]["output"]["Y"], design["channel"]["rows"]
    counts = Counter((r[0], "(missing)" if r[1] == "?" else r[1]) for r in rows())
    for y, letter in enumerate(letters):
        mean = sum(
            n * float(Fraction(law[["f", "m"].index(s) * 3 + ["young", "old", "(missing)"].index(a)][y]))
            for (s, a), n in counts.items()
        )
        assert abs(sum(r["Y"] == letter for r in table) - mean) < 6 * mean**0.5 + 1


@pytest.mark.long
def test_the_same_key_draws_the_same_table_and_no_key_never(place: Place, run: Run) -> None:
    assert run("release", "--details", place / "p.toml", "-o", place / "a", "--new-key", place / "key")[0] == 0
    assert run("release", "--details", place / "p.toml", "-o", place / "b", "--key", place / "key")[0] == 0
    assert run("release", "--details", place / "p.toml", "-o", place / "c")[0] == 0
    a, b, c = ((place / name / "released.csv").read_bytes() for name in "abc")
    assert a == b
    assert a != c
    assert stat.S_IMODE((place / "key").stat().st_mode) == 0o600
    secret = (place / "key").read_text().strip()
    assert not any(secret in path.read_text() for path in (place / "a").iterdir())


@pytest.mark.long
def test_rows_are_shuffled_unless_the_order_is_kept(place: Place, run: Run) -> None:
    write_csv(place / "t.csv", sorted(rows()))
    swap = ('output = "Y"', 'output = "Y"\norder = "keep"')
    place.problem(swap, name="keep.toml")
    assert run("release", "--details", place / "keep.toml", "-o", place / "kept", "--new-key", place / "key")[0] == 0
    assert run("release", "--details", place / "p.toml", "-o", place / "mixed", "--key", place / "key")[0] == 0
    kept, mixed = ([r["Y"] for r in released(place / n / "released.csv")] for n in ("kept", "mixed"))
    assert kept != mixed

    code, out, _ = run("audit", place / "kept" / "design.json", "--released", place / "kept" / "released.csv",
                       "--original", place / "t.csv", "--json")  # fmt: skip
    assert code == 0
    assert json.loads(out)["rows_matched_to_the_original"] is True


@pytest.mark.long
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_the_format_of_the_source_is_the_format_of_the_release(place: Place, run: Run, kind: str) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    if kind != "csv":
        table = pa.csv.read_csv(place / "t.csv")
        table = table.rename_columns([n.strip() for n in table.column_names])
        if kind == "parquet":
            pa.parquet.write_table(table, place / "t.parquet")
        else:
            with pa.ipc.new_file(str(place / "t.arrow"), table.schema) as file:
                file.write_table(table)
    place.problem(("t.csv", f"t.{kind}"))
    assert run("release", "--details", place / "p.toml", "-o", place / "out")[0] == 0
    assert (place / "out" / f"released.{kind}").is_file()
    assert run("verify", place / "out" / "design.json", "--table", place / "t.csv")[0] == 0


@pytest.mark.long
def test_an_existing_folder_is_refused_and_replaced_only_when_told(place: Place, run: Run) -> None:
    (place / "out").mkdir()
    (place / "out" / "precious").write_text("mine")
    code, _, err = run("release", "--details", place / "p.toml", "-o", place / "out")
    assert code == 2
    assert "Choose another name." in err  # --force would not replace what is not ours
    assert (place / "out" / "precious").read_text() == "mine"
    (place / "out" / "precious").unlink()
    (place / "out").rmdir()
    assert run("release", "--details", place / "p.toml", "-o", place / "out")[0] == 0
    before = (place / "out" / "released.csv").read_text()
    assert run("release", "--details", place / "p.toml", "-o", place / "out", "--force")[0] == 0
    assert (place / "out" / "released.csv").read_text() != before
    assert sorted(p.name for p in (place / "out").iterdir()) == FILES
    assert not [n for n in place.names() if "partial" in n]


def test_point_15_force_replaces_a_release_and_nothing_else(place: Place, run: Run) -> None:
    (place / "mine").mkdir()
    (place / "mine" / "precious").write_text("mine")
    assert run("release", "--details", place / "p.toml", "-o", place / "out")[0] == 0
    (place / "out" / "notes.txt").write_text("mine")
    for folder, why in (("mine", "does not hold a release of ours"), ("out", "also holds notes.txt")):
        code, _, err = run("release", "--details", place / "p.toml", "-o", place / folder, "--force")
        assert code == 2
        assert why in err
    assert (place / "mine" / "precious").read_text() == (place / "out" / "notes.txt").read_text() == "mine"


@pytest.mark.long
def test_point_15_force_never_replaces_what_the_release_is_made_from(place: Place, run: Run) -> None:
    code, _, err = run("release", "--details", place / "p.toml", "-o", place.folder, "--force")
    assert code == 2
    assert "p.toml is read here and would be lost" in err
    assert run("release", "--details", place / "p.toml", "-o", place / "out")[0] == 0
    (place / "out" / "released.csv").write_text((place / "t.csv").read_text())
    place.problem(("t.csv", "out/released.csv"))
    code, _, err = run("release", "--details", place / "p.toml", "-o", place / "out", "--force")
    assert code == 2
    assert "released.csv is read here and would be lost" in err
    design, table = place / "out" / "design.json", place / "t.csv"
    code, _, err = run("apply", design, table, "-o", table, "--force")
    assert code == 2
    assert "would be lost" in err
    assert (place / "p.toml").is_file()


def test_a_value_outside_its_alphabet_is_refused_with_row_and_column(place: Place, run: Run) -> None:
    records = rows()
    records[123][0] = "x"
    write_csv(place / "t.csv", records)
    before = place.names()
    code, _, err = run("release", "--details", place / "p.toml", "-o", place / "out")
    assert code == 2
    assert "row 124" in err
    assert "'sex'" in err
    assert "'x'" in err
    assert err.count("\n") == 1
    assert place.names() == before


@pytest.mark.long
def test_small_cells_refuse_the_card_unless_accepted_by_name(place: Place, run: Run) -> None:
    write_csv(place / "t.csv", [*rows(), *[["f", "young", "yes", "1"]] * 0][:60])
    before = place.names()
    code, _, err = run("release", "--details", place / "p.toml", "-o", place / "out", "--new-key", place / "key")
    assert code == 2
    assert "--accept small-combinations" in err
    assert place.names() == before
    assert run("release", "--details", place / "p.toml", "-o", place / "out", "--accept", "small-cells")[0] == 0
    design = read_told(place / "out" / "design.json")
    assert any("accepted, on record" in remark for remark in design["remarks"])
    place.problem(('table = "t.csv"', 'table = "t.csv"\nmin_cell = 1'))
    assert run("release", "--details", place / "p.toml", "-o", place / "again")[0] == 0


@pytest.mark.long
def test_a_public_prior_needs_no_cells_of_the_table(place: Place, run: Run) -> None:
    assert run("solve", place / "p.toml", "-o", place / "design.json")[0] == 0
    (place / "public.json").write_text(json.dumps(read_told(place / "design.json")["joint"]))
    write_csv(place / "t.csv", rows(40, seed=9))
    place.problem(('table = "t.csv"', 'table = "t.csv"\nprior = "public.json"'))
    code, out, _ = run("release", "--details", place / "p.toml", "-o", place / "out")
    assert code == 0
    assert "prior" in out or "prior" in (place / "out" / "statement.html").read_text()


@pytest.mark.long
def test_one_letter_is_drawn_for_each_person(place: Place, run: Run) -> None:
    people = [[f"p{k}", *r[:3]] for k, r in enumerate(rows(1500))]
    write_csv(place / "t.csv", [*people, *people[:700], *people[:10]], "who, sex, age, out")
    place.problem(('table = "t.csv"', 'table = "t.csv"\nunit = "who"'))
    code, out, _ = run("release", "--details", place / "p.toml", "-o", place / "out")
    assert code == 0
    assert len(released(place / "out" / "released.csv")) == 1500
    assert "person" in out or "who" in out
    place.problem(('table = "t.csv"', 'table = "t.csv"\nunit = "who"\nmax_rows = 3'))
    code, _, err = run("release", "--details", place / "p.toml", "-o", place / "out2")
    assert code == 2
    assert "max_rows" in err
    people[800][1] = "m" if people[800][1] == "f" else "f"
    write_csv(place / "t.csv", [*people, *rows_of(people, 800)], "who, sex, age, out")
    place.problem(('table = "t.csv"', 'table = "t.csv"\nunit = "who"'))
    code, _, err = run("release", "--details", place / "p.toml", "-o", place / "out3")
    assert code == 2
    assert "sex" in err


def rows_of(people: list[list[str]], k: int) -> list[list[str]]:
    other = "m" if people[k][1] == "f" else "f"
    return [[people[k][0], other, *people[k][2:]]]


def test_a_dependent_kept_column_is_infeasible_with_a_figure(place: Place, run: Run) -> None:
    place.problem(('output = "Y"', 'output = "Y"\nkeep = ["out"]'))
    code, _, err = run("release", "--details", place / "p.toml", "-o", place / "out")
    assert code == 3
    assert "bits about" in err
    assert not (place / "out").exists()


@pytest.mark.long
def test_a_kept_column_that_is_free_leaves_beside_the_output(place: Place, run: Run) -> None:
    records = rows(1000)
    doubled = [[*r[:3], year] for year in ("1975", "1976") for r in records]
    write_csv(place / "t.csv", doubled, "sex, age, out, year")
    place.problem(
        ('output = "Y"', 'output = "Y"\nkeep = ["year"]'),
        ("[columns.sex]", '[columns.year]\nvalues = ["1975", "1976"]\n[columns.sex]'),
    )
    assert run("release", "--details", place / "p.toml", "-o", place / "out")[0] == 0
    table = released(place / "out" / "released.csv")
    assert set(table[0]) == {"Y", "year"}
    assert Counter(r["year"] for r in table) == {"1975": 1000, "1976": 1000}
    assert run("verify", place / "out" / "design.json", "--table", place / "t.csv")[0] == 0


@pytest.mark.parametrize(
    "signal_number",
    [
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        signal.SIGKILL,
    ],
)
def test_a_killed_release_leaves_nothing_under_the_real_name(place: Place, signal_number: int) -> None:
    write_csv(place / "t.csv", rows(2000) * 25)
    child = subprocess.Popen(
        [sys.executable, "-m", "dalenius", "release", str(place / "p.toml"), "-o", str(place / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not [n for n in place.names() if "partial" in n] and child.poll() is None:
        time.sleep(0.001)
    os.kill(child.pid, signal_number)
    _, err = child.communicate(timeout=60)
    if child.returncode == 0:  # it was faster than we: then it is whole
        assert sorted(p.name for p in (place / "out").iterdir()) == FILES
        return
    assert not (place / "out").exists()
    if signal_number != signal.SIGKILL:
        assert child.returncode == 130
        assert "interrupted" in err
        assert not [n for n in place.names() if "partial" in n]


def test_release_says_what_holds_for_the_table_and_for_the_population(place: Place, run: Run) -> None:
    code, out, _ = run("release", "--details", place / "p.toml", "-o", place / "out")
    assert code == 0
    assert "reveals 0 bits about sex for a record of this table; for the population, if the 3,000 rows" in out
    assert "with confidence 95 %" in out
    assert "with confidence 95 %" in (place / "out" / "statement.html").read_text()
