"""Sums modulo M and random columns on the command line, from a problem file to an audited release."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from dalenius.tables import read_told

Run = Callable[..., tuple[int, str, str]]

NAMES = [f"X{k}" for k in range(1, 13)]


def write(folder: Path, mechanism: str, names: list[str] = NAMES, views: list[list[str]] | None = None) -> Path:
    text = f"""[source]
table = "t.csv"
prior = "prior.json"
[mechanism]
observe = {json.dumps(names)}
output = "Y"
{mechanism}
[objective]
maximize = {{ information = {json.dumps(names)} }}
"""
    text += "".join(f'[columns.{n}]\nvalues = ["0", "1"]\n' for n in NAMES)
    text += "".join(f"[[guarantee]]\nindependent = {json.dumps(view)}\n" for view in views or [[n] for n in names])
    (folder / "p.toml").write_text(text)
    return folder / "p.toml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here, toss = tmp_path_factory.mktemp("sums"), random.Random(2)
    rows = [",".join(str(int(toss.random() < 0.25)) for _ in NAMES) for _ in range(500)]
    (here / "t.csv").write_text("\n".join([",".join(NAMES), *rows]) + "\n")
    groups = [{"variables": {n: ["0", "1"]}, "pmf": [{n: "0", "p": "3/4"}, {n: "1", "p": "1/4"}]} for n in NAMES]
    (here / "prior.json").write_text(json.dumps({"independent": groups}))
    return here


@pytest.mark.long
def test_a_chain_of_sums_from_a_problem_file_to_an_audited_release(folder: Path, run: Run) -> None:
    problem, out = write(folder, 'form = "sums"'), folder / "out"
    code, said, _ = run("release", "--details", problem, "-o", out, "--new-key", folder / "k")
    assert code == 0
    assert "by the lemma on sums of uniform states" in said
    design = read_told(out / "design.json")
    assert (design["channel"]["form"], design["channel"]["modulus"]) == ("sums", 4)
    assert float(design["value"]) > 12 * 0.8112 - 2  # n H(X) - log2 M
    code, said, _ = run("verify", out / "design.json", "--problem", problem)
    assert code == 0
    assert run("verify", out / "card.json")[0] == 0
    assert (
        run("apply", out / "design.json", folder / "t.csv", "-o", folder / "again.csv", "--key", folder / "k")[0] == 0
    )
    assert (folder / "again.csv").read_bytes() == (out / "released.csv").read_bytes()
    for key in ([], ["--key", folder / "k"]):
        code, said, _ = run(
            "audit", out / "design.json", "--released", out / "released.csv", "--original", folder / "t.csv", *key
        )
        assert code == 0
        assert "nothing contradicts the proof" in said
    code, said, _ = run("audit", out / "design.json")
    assert code == 0
    assert "audited by its form" in said


@pytest.mark.long
def test_letters_that_were_swapped_between_records_are_noticed(folder: Path, run: Run) -> None:
    problem, out = write(folder, 'form = "sums"\nmodulus = 4\norder = "keep"'), folder / "kept"
    assert run("release", "--details", problem, "-o", out)[0] == 0
    header, *rows = (out / "released.csv").read_text().splitlines()
    (folder / "forged.csv").write_text("\n".join([header, *rows[1:], rows[0]]) + "\n")
    released = ["--original", folder / "t.csv", "--released"]
    assert run("audit", out / "design.json", *released, out / "released.csv")[0] == 0
    assert run("audit", out / "design.json", *released, folder / "forged.csv")[0] == 4


@pytest.mark.long
def test_small_sums_are_proved_outcome_by_outcome_and_audited_whole(folder: Path, run: Run) -> None:
    pairs = [["X1", "X2"], ["X2", "X3"], ["X3", "X4"]]
    problem = write(folder, 'form = "sums"\nwindows = { size = 3 }\nmodulus = 4', NAMES[:4], pairs)
    code, said, _ = run("solve", problem, "-o", folder / "small.json")
    assert code == 0
    assert "outcome by outcome" in said
    code, said, _ = run("audit", folder / "small.json", "--json")
    assert code == 0
    assert max(high for _, high in json.loads(said)["per_input_bits"].values()) < 1e-12


@pytest.mark.parametrize(
    ("mechanism", "views", "message"),
    [
        ('form = "sums"\nwindows = { size = 2 }', [["X1", "X2"]], "do not hide X1, X2"),
        ('form = "sums"\nwindows = { size = 20 }', None, "12 are observed"),
        ("modulus = 4", None, 'belongs to form = "sums"'),
        ('form = "sums"\nmodulus = 1', None, "at least 2"),
        ('form = "windows"\nwindows = { size = 3, overlap = 2 }', None, "leak in general"),
    ],
)
def test_what_leaks_or_makes_no_sense_is_refused(
    folder: Path, run: Run, mechanism: str, views: list[list[str]] | None, message: str
) -> None:
    code, _, error = run("solve", write(folder, mechanism, views=views), "-o", folder / "no.json")
    assert code == 2
    assert message in error


@pytest.mark.long
def test_random_columns_from_a_problem_file(folder: Path, run: Run) -> None:
    problem = write(folder, 'form = "random-columns"', NAMES[:3])
    code, said, _ = run("solve", problem, "-o", folder / "random.json")
    assert code == 0
    assert "none can have more than" in said
    assert run("verify", folder / "random.json", "--problem", problem)[0] == 0
    best = write(folder, "", NAMES[:3])
    assert run("solve", best, "-o", folder / "best.json")[0] == 0
    value, bound = (json.loads((folder / f"{name}.json").read_text())["claims"]["value"] for name in ("random", "best"))
    assert 0 < float(value) <= float(bound)
