"""Numbers as samples (000, Theorem 5): a stated cdf or the quantiles of the table, from file to audited release."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from dalenius.tables import read_told

Run = Callable[..., tuple[int, str, str]]

LAWS = {"a": "{ normal = [0, 1] }", "b": "{ exponential = 3 }", "c": "{ points = [[0, 0], [9, 1]] }"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here, toss = tmp_path_factory.mktemp("numbers"), random.Random(5)
    rows = [f"{toss.gauss(0, 1):.4f},{toss.expovariate(1 / 3):.4f},{toss.uniform(0, 9):.4f}" for _ in range(900)]
    (here / "t.csv").write_text("\n".join(["a,b,c", *rows]) + "\n")
    return here


def write(folder: Path, *, stated: bool, more: str = "") -> Path:
    cells = 4 if stated else 3
    text = f'[source]\ntable = "t.csv"\n{"prior = " + chr(34) + "uniform" + chr(34) if stated else ""}\n'
    for name, law in LAWS.items():
        text += f"[columns.{name}]\nquantiles = {cells}\n" + (f"cdf = {law}\n" if stated else "")
    text += f'[mechanism]\nobserve = ["a", "b", "c"]\noutput = "Y"\n{more}\n'
    text += '[objective]\nmaximize = { information = ["a", "b", "c"] }\n'
    text += "".join(f'[[guarantee]]\nindependent = ["{name}"]\n' for name in LAWS)
    (folder / "p.toml").write_text(text)
    return folder / "p.toml"


@pytest.mark.long
def test_a_stated_cdf_releases_the_scheme_of_theorem_5(folder: Path, run: Run) -> None:
    problem, out = write(folder, stated=True, more='form = "sums"\nmodulus = 4'), folder / "stated"
    code, said, _ = run("release", "--details", problem, "-o", out, "--new-key", folder / "k")
    assert code == 0
    assert "the promise holds for the values themselves too" in said
    assert "up to 1e-15 if the stated cdf is the distribution" in said
    design = read_told(out / "design.json")
    assert float(design["value"]) == pytest.approx(4, abs=1e-12)  # (n - 1) log2 K, eq. (64) for n = 2
    assert float(design["gap"]) < 1e-20
    assert run("verify", out / "design.json", "--problem", problem)[0] == 0
    assert (
        run("apply", out / "design.json", folder / "t.csv", "-o", folder / "again.csv", "--key", folder / "k")[0] == 0
    )
    assert (folder / "again.csv").read_bytes() == (out / "released.csv").read_bytes()
    released = ["--released", out / "released.csv", "--original", folder / "t.csv"]
    assert run("audit", out / "design.json", *released, "--key", folder / "k")[0] == 0


@pytest.mark.long
def test_one_sum_of_all_cells_is_independent_of_all_but_one(folder: Path, run: Run) -> None:
    problem = write(folder, stated=True, more='form = "sums"\nmodulus = 4\nwindows = [["a", "b", "c"]]')
    pair = problem.read_text().replace('independent = ["a"]', 'independent = ["a", "b"]')
    problem.write_text(pair)
    code, said, _ = run("solve", problem, "-o", folder / "one.json", "--json")
    assert code == 0
    assert float(json.loads(said)["value"]) == pytest.approx(2, abs=1e-12)  # log2 K


@pytest.mark.long
def test_quantiles_of_the_table_are_cut_once_and_said_to_be_public(folder: Path, run: Run) -> None:
    problem, out = write(folder, stated=False), folder / "counted"
    code, said, _ = run("release", "--details", problem, "-o", out, "--new-key", folder / "k2", "--gap", "0.01")
    assert code == 0
    assert "were cut at the quantiles of this table. So the cuts are public" in said
    assert "within their cells the values may still depend" in said
    design = read_told(out / "design.json")
    assert [len(design["columns"][n]["cuts"]) for n in LAWS] == [2, 2, 2]
    assert run("verify", out / "design.json", "--problem", problem, "--table", folder / "t.csv")[0] == 0
    code, _, error = run("verify", out / "design.json", "--problem", write(folder, stated=True))
    assert code == 4
    assert "[source]" in error or "[columns]" in error


def test_quantiles_of_the_table_are_no_public_letters(folder: Path, run: Run) -> None:
    problem = write(folder, stated=False, more='form = "sums"')
    problem.write_text(problem.read_text().replace('table = "t.csv"', 'table = "t.csv"\nprior = "uniform"'))
    code, _, error = run("solve", problem, "-o", folder / "no.json")
    assert code == 2
    assert "public only with public values" in error
