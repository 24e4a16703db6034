"""Sixty binary columns from a problem file to an audited release, and what the command line refuses."""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

N = 60
NAMES = [f"X{k}" for k in range(1, N + 1)]


def write(folder: Path, *swaps: tuple[str, str], source: str = 'table = "t.csv"\nprior = "prior.json"') -> Path:
    names = json.dumps(NAMES)
    text = f"""[source]
{source}
[mechanism]
observe = {names}
output = "Y"
form = "windows"
windows = {{ size = 4, overlap = 1 }}
[objective]
maximize = {{ information = {names} }}
"""
    text += "".join(f'[columns.{n}]\nvalues = ["0", "1"]\n' for n in NAMES)
    text += "".join(f'[[guarantee]]\nindependent = ["{n}"]\n' for n in NAMES)
    for old, new in swaps:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "p.toml").write_text(text)
    return folder / "p.toml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("sixty")
    draw = random.Random(2)
    rows = [",".join(str(int(draw.random() < 0.3)) for _ in NAMES) for _ in range(2000)]
    (here / "t.csv").write_text("\n".join([",".join(NAMES), *rows]) + "\n")
    groups = [{"variables": {n: ["0", "1"]}, "pmf": [{n: "0", "p": "7/10"}, {n: "1", "p": "3/10"}]} for n in NAMES]
    (here / "prior.json").write_text(json.dumps({"independent": groups}))
    return here


@pytest.mark.long
def test_sixty_columns_from_a_problem_file_to_an_audited_release(folder: Path, run: Run) -> None:
    problem, out = write(folder), folder / "out"
    code, said, _ = run("release", "--details", problem, "-o", out, "--new-key", folder / "k")
    assert code == 0
    assert "the privacy of every window, and a closed bound" in said
    code, said, _ = run("verify", out / "design.json", "--problem", problem)
    assert code == 0
    code, said, _ = run("verify", out / "card.json")
    assert code == 0
    assert "60 promises depend on statistics" in said
    assert (
        run("apply", out / "design.json", folder / "t.csv", "-o", folder / "again.csv", "--key", folder / "k")[0] == 0
    )
    assert (folder / "again.csv").read_bytes() == (out / "released.csv").read_bytes()
    for key in ([], ["--key", folder / "k"]):
        arguments = ["--released", out / "released.csv", "--original", folder / "t.csv", *key]
        code, said, _ = run("audit", out / "design.json", *arguments)
        assert code == 0
        assert "nothing contradicts the proof" in said
    code, said, _ = run("explain", out / "design.json")
    assert code == 0
    assert "X1, X2, X3, ... and X60 (60 in all)" in said
    assert "for records whose columns depend on each other otherwise the promise does not hold" in said
    code, said, _ = run("channel", out / "design.json")
    assert code == 0
    assert json.loads(said)["form"] == "windows"
    code, _, error = run("channel", out / "design.json", "--dense")
    assert code == 2
    assert "not written out densely" in error
    run("verify", "--export", folder / "checker.py")
    alone = subprocess.run(
        [sys.executable, "-I", folder / "checker.py", out / "design.json"], capture_output=True, text=True, check=False
    )
    assert alone.returncode == 0
    assert alone.stdout.startswith("PROVED")


@pytest.mark.long
def test_a_released_table_with_two_columns_swapped_is_caught(folder: Path, run: Run) -> None:
    problem, out = write(folder, ("size = 4", "size = 2")), folder / "pairs"
    assert run("release", "--details", problem, "-o", out, "--new-key", folder / "k2")[0] == 0
    lines = (out / "released.csv").read_text().splitlines()
    forged = [lines[0], *(",".join([b, a, *rest]) for a, b, *rest in (line.split(",") for line in lines[1:]))]
    (folder / "forged.csv").write_text("\n".join(forged) + "\n")
    arguments = ["--released", folder / "forged.csv", "--original", folder / "t.csv", "--key", folder / "k2"]
    code, _, error = run("audit", out / "design.json", *arguments)
    assert code == 4
    assert "contradicts" in error


@pytest.mark.long
@pytest.mark.parametrize(
    ("swaps", "source", "says"),
    [
        ([("overlap = 1", "overlap = 2")], None, "leak in general"),
        ([("windows = { size = 4, overlap = 1 }\n", "")], None, "said together"),
        ([('form = "windows"\n', "")], None, "said together"),
        ([], 'table = "t.csv"', "independent samples only"),
        ([("windows = { size = 4, overlap = 1 }\n", ""), ('form = "windows"\n', "")], None, 'form = "windows"'),
    ],
)
def test_what_cannot_be_composed_is_refused_in_one_sentence(
    folder: Path, run: Run, swaps: list[tuple[str, str]], source: str | None, says: str
) -> None:
    problem = write(folder, *swaps, **({"source": source} if source else {}))
    code, _, error = run("solve", problem, "-o", folder / "no.json")
    assert code == 2
    assert says in error
    assert not (folder / "no.json").exists()


@pytest.mark.long
def test_a_pmf_of_independent_samples_is_a_source_and_another_table_is_refused(folder: Path, run: Run) -> None:
    problem = write(folder, source='pmf = "prior.json"')
    assert run("solve", problem, "-o", folder / "pmf.json", "--force")[0] == 0
    code, _, error = run("verify", folder / "pmf.json", "--table", folder / "t.csv")
    assert code == 2
    assert "nothing to recount" in error
    code, _, error = run("apply", folder / "pmf.json", folder / "t.csv", "-o", folder / "no.csv")
    assert code == 4
    assert "does not hold for this table" in error


def test_a_small_form_is_written_out(folder: Path, run: Run) -> None:
    bits = ["0", "1"]
    flip = {"inputs": ["B"], "output": "V", "rows": [["3/4", "1/4"], ["0", "1"]]}
    form = {
        "form": "product",
        "inputs": {"A": bits, "B": bits},
        "output": {"U": bits, "V": bits},
        "channels": [{"inputs": ["A"], "output": "U", "rows": [["1", "0"], ["1/2", "1/2"]]}, flip],
    }
    (folder / "form.json").write_text(json.dumps(form))
    code, said, _ = run("channel", folder / "form.json", "--dense")
    assert code == 0
    assert json.loads(said)["rows"][2] == ["3/8", "1/8", "3/8", "1/8"]
    (folder / "form.json").write_text(json.dumps({**form, "form": "spiral"}))
    code, _, error = run("channel", folder / "form.json")
    assert code == 2
    assert "no recipe of form 'spiral'" in error
