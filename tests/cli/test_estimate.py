"""`estimate` and `risk` from the command line, from the card alone."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dalenius
from dalenius import estimate
from dalenius.tables import read_told
from tests.cli.conftest import Place, released_in

Run = Callable[..., tuple[int, str, str]]

PRAM = """\
[source]
table = "t.csv"
[columns.job]
values = ["farm", "shop", "mine", "none"]
missing = "category"
[mechanism]
observe = ["job"]
release = ["job"]
form = "pram"
[objective]
maximize = { information = ["job"] }
[[guarantee]]
local_dp = 2.0
"""
SHARES = {"farm": 0.4, "shop": 0.3, "mine": 0.2, "none": 0.06, "?": 0.04}


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("jobs"), np.random.default_rng(7)
    jobs = rng.choice(list(SHARES), size=8000, p=list(SHARES.values()))
    (folder / "t.csv").write_text("job,year\n" + "".join(f"{j},2020\n" for j in jobs))
    (folder / "p.toml").write_text(PRAM)
    return released_in(folder)


@pytest.fixture
def released(once: Path, tmp_path: Path) -> Place:
    return Place(shutil.copytree(once, tmp_path, dirs_exist_ok=True))


def test_a_damaged_card_is_refused_before_anything_is_estimated(released: Place, run: Run) -> None:
    card, table = released / "card.json", released / "out" / "released.csv"  # without what travels beside it
    text = (released / "out" / "card.json").read_text()
    for was, is_now in (('"fresh":null', '"fresa":null'), ('"work":', '"wirk":'), ('"claims":', '"clams":')):
        assert was in text
        card.write_text(text.replace(was, is_now))
        code, out, err = run("estimate", card, table)
        assert code in (2, 4)  # not readable, or not proved
        assert not out
        assert "card.json" in err


def test_errors_beforehand_take_no_table(released: Place, run: Run) -> None:
    code, _, err = run("estimate", released / "card.json", released / "released.csv", "--rows", "300")
    assert code == 2
    assert "--rows says the errors beforehand, from the card alone" in err
    assert "released.csv is a table. Leave out the table" in err


@pytest.mark.parametrize("rows", ["1/0", -1, 2.5, True, None])
def test_a_damaged_number_of_rows_beside_a_card_is_refused(released: Place, run: Run, rows: object) -> None:
    about = released / "out" / "card.about.json"
    document = json.loads(about.read_text())
    document["changes"][0]["rows_after"] = rows
    about.write_text(json.dumps(document))
    code, out, err = run("estimate", released / "out" / "card.json", released / "out" / "released.csv")
    assert (code, out) == (2, "")
    assert "a number of released rows is none" in err


@pytest.mark.long
def test_estimate_from_the_card_alone(released: Place, run: Run) -> None:
    card, table = released / "out" / "card.json", released / "out" / "released.csv"
    for method in ("inverse", "mle", "regularised"):
        for target in ("table", "population"):
            code, out, err = run("estimate", card, table, "--method", method, "--target", target, "--json")
            assert code == 0, err
            document = json.loads(out)
            assert {"estimate", "low", "high", "level", "covariance", "method", "target"} <= set(document)
            assert (document["method"], document["target"], document["level"]) == (method, target, 0.95)
            assert document["outcomes"] == [["farm"], ["shop"], ["mine"], ["none"], ["(missing)"]]
            np.testing.assert_allclose(document["estimate"], list(SHARES.values()), atol=0.05)
            assert np.shape(document["covariance"]) == (5, 5)
    code, out, _ = run("estimate", card, table)
    assert code == 0
    assert "unbiased, 95% intervals" in out
    by_design = json.loads(run("estimate", released / "out" / "design.json", table, "--json")[1])
    assert by_design["estimate"] == json.loads(run("estimate", card, table, "--json")[1])["estimate"]


def test_the_python_call_says_the_same(released: Place, run: Run) -> None:
    card, table = released / "out" / "card.json", released / "out" / "released.csv"
    said = json.loads(run("estimate", card, table, "--json")[1])
    assert estimate(card, table).to_json()["estimate"] == said["estimate"]
    assert estimate(dalenius.load(released / "out" / "design.json"), table).to_json()["low"] == said["low"]


@pytest.mark.long
def test_a_uniform_prior_gives_randomised_response_that_no_record_decided(released: Place, run: Run) -> None:
    public = PRAM.replace('table = "t.csv"', 'table = "t.csv"\nprior = "uniform"')
    (released / "u.toml").write_text(public)
    code, _, err = run("release", released / "u.toml", "-o", released / "free")
    assert code == 0, err
    card = read_told(released / "free" / "card.json")
    assert card["designed_on"] == "a public distribution"
    assert len(set(card["channel"]["q"])) == 1
    told = json.loads(run("explain", released / "free" / "card.json", "--json")[1])["not_protected"]
    assert not any("decided from the counts" in s for s in told)
    told = json.loads(run("explain", released / "out" / "card.json", "--json")[1])["not_protected"]
    assert any("decided from the counts" in s for s in told)
    assert any("columns that are changed one by one" in s for s in told)
    (released / "u.toml").write_text(public.replace('["farm", "shop", "mine", "none"]', '"from-table"'))
    code, _, err = run("solve", released / "u.toml", "-o", released / "d.json")
    assert code == 2
    assert "declare the values of 'job'" in err


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def channel(rows: list[list[str]], name: str = "X") -> dict[str, object]:
    letters = ["a", "b", "c"][: len(rows)]
    return {"inputs": {name: letters}, "output": {name: ["a", "b", "c"][: len(rows[0])]}, "rows": rows}


@pytest.mark.long
def test_cross_tabulation_of_two_cards_and_a_kept_column(tmp_path: Path, run: Run) -> None:
    rng = np.random.default_rng(1)
    n = 20_000
    x, k = rng.integers(0, 2, n), rng.integers(0, 2, n)
    y = np.where(rng.random(n) < 0.8, x, 1 - x)
    z, v = (np.where(rng.random(n) < 0.75, c, 1 - c) for c in (x, y))
    names = np.array(["a", "b"])
    table = pa.table({"X": names[z], "Y": names[v], "K": names[k], "w": np.where(k == 1, 3.0, 1.0)})
    parquet.write_table(table, tmp_path / "r.parquet")
    flip = [["3/4", "1/4"], ["1/4", "3/4"]]
    one = write(tmp_path / "x.json", {"channel": channel(flip), "kept": ["K", "w"]})
    two = write(tmp_path / "y.json", {"channel": channel(flip, "Y"), "kept": []})
    document = json.loads(run("estimate", one, two, tmp_path / "r.parquet", "--json")[1])
    np.testing.assert_allclose(document["estimate"], [0.4, 0.1, 0.1, 0.4], atol=0.05)
    document = json.loads(run("estimate", one, two, tmp_path / "r.parquet", "--columns", "K", "X", "--json")[1])
    assert document["columns"] == ["K", "X"]
    np.testing.assert_allclose(document["estimate"], [0.25] * 4, atol=0.05)
    weighed = json.loads(run("estimate", one, tmp_path / "r.parquet", "--columns", "K", "--weights", "w", "--json")[1])
    np.testing.assert_allclose(weighed["estimate"], [0.25, 0.75], atol=0.02)
    queries = write(tmp_path / "q.json", {"agree": [{"X": v, "Y": v, "weight": 1} for v in "ab"]})
    found = json.loads(run("estimate", one, two, tmp_path / "r.parquet", "--queries", queries, "--json")[1])
    assert found["queries"]["agree"]["estimate"] == pytest.approx(found["estimate"][0] + found["estimate"][3])
    c = np.array([1, 0, 0, 1])
    assert found["queries"]["agree"]["standard_error"] ** 2 == pytest.approx(c @ found["covariance"] @ c)
    write(queries, {"in k": [{"X": "a", "K": "b", "weight": 1}]})
    for target in ("table", "population"):
        said = ("estimate", one, tmp_path / "r.parquet", "--columns", "X", "K", "--weights", "w", "--target", target)
        found = json.loads(run(*said, "--queries", queries, "--json")[1])
        assert found["queries"]["in k"]["estimate"] == pytest.approx(found["estimate"][1])
        assert found["queries"]["in k"]["standard_error"] == pytest.approx(found["standard_error"][1])
    assert "in k: " in run(*said, "--queries", queries)[1]
    code, _, err = run("estimate", one, one, tmp_path / "r.parquet")
    assert code == 2
    assert "same released column" in err


def test_errors_before_the_release(tmp_path: Path, run: Run, released: Place) -> None:
    card = write(tmp_path / "x.json", channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    code, out, err = run("estimate", card, "--rows", "300", "--json")
    assert code == 0, err
    assert json.loads(out)["standard_error"]["X=a"]["worst"] == pytest.approx(0.05)
    queries = write(tmp_path / "q.json", {"both": [{"weight": 1}], "b": [{"X": "b", "weight": "2"}]})
    errors = json.loads(run("estimate", card, "--rows", "300", "--queries", queries, "--json")[1])["standard_error"]
    assert errors["both"]["worst"] == pytest.approx(0, abs=1e-15)
    assert errors["b"]["worst"] == pytest.approx(0.1)
    design = released / "out" / "design.json"
    errors = json.loads(run("estimate", design, "--rows", "8000", "--json")[1])["standard_error"]
    seen = json.loads(run("estimate", design, released / "out" / "released.csv", "--json")[1])["standard_error"]
    assert errors["job=farm"]["design"] == pytest.approx(seen[0], rel=0.1)
    assert "Standard errors to expect" in run("estimate", design, "--rows", "8000")[1]
    for terms, words in (({"b": [{"X": "q", "weight": 1}]}, "'q' is no value"), ({"b": {}}, "not a list of terms")):
        write(queries, terms)
        code, _, err = run("estimate", card, "--rows", "300", "--queries", queries)
        assert code == 2
        assert words in err
    merged = write(tmp_path / "m.json", channel([["9/10", "1/10"], ["1/5", "4/5"], ["1/5", "4/5"]]))
    assert list(json.loads(run("estimate", merged, "--rows", "9", "--json")[1])["standard_error"]) == ["X=a"]
    none = write(tmp_path / "n.json", channel([["1/2", "1/2"], ["1/2", "1/2"]]))
    assert run("estimate", none, "--rows", "9")[0] == 2
    write(queries, [1])
    assert run("estimate", card, "--rows", "300", "--queries", queries)[0] == 2
    assert run("estimate", "--rows", "300")[0] == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("X\na\nb\nq\n", "row 3, column 'X': 'q' is not in its list of values"),
        ("Q\na\nb\n", 'no column "X"'),
        ("X\n", "no rows"),
        ("X\na\n?\n", "the value is missing"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path: Path, run: Run, text: str, words: str) -> None:
    card = write(tmp_path / "x.json", channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    (tmp_path / "r.csv").write_text(text)
    code, out, err = run("estimate", card, tmp_path / "r.csv")
    assert (code, out) == (2, "")
    assert words in err


def test_files_that_are_no_cards_are_refused(tmp_path: Path, run: Run) -> None:
    (tmp_path / "r.csv").write_text("X\na\nb\n")
    for document in ([1], {"channel": 3}, {"channel": {"form": "nope"}}, {"kept": 1}):
        code, _, err = run("estimate", write(tmp_path / "x.json", document), tmp_path / "r.csv")
        assert code == 2
        assert "x.json" in err
    assert run("estimate", tmp_path / "r.csv")[0] == 2
    singular = write(tmp_path / "x.json", channel([["1/2", "1/2"], ["1/2", "1/2"]]))
    code, _, err = run("estimate", singular, tmp_path / "r.csv")
    assert code == 2
    assert "singular" in err


@pytest.mark.long
def test_risk_writes_its_map(tmp_path: Path, run: Run) -> None:
    rng = np.random.default_rng(1)
    rows = [f"{min(a, 60)},{r}" for a, r in zip(rng.geometric(0.05, 1500), rng.integers(0, 8, 1500), strict=True)]
    (tmp_path / "t.csv").write_text("age,region\n" + "\n".join(rows) + "\n")
    said = ("risk", tmp_path / "t.csv", "--keys", "age", "region", "--population", "20000")
    code, out, err = run(*said, "--target-risk", "1", "--level", "2", "-o", tmp_path / "risk", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert document["target"]["reached"] <= 1
    assert document["after"]["tau2"] < document["tau2"]
    assert document["sampling_fraction"] == pytest.approx(0.075)
    assert sorted(p.name for p in (tmp_path / "risk").iterdir()) == ["map.csv", "map.svg", "records.csv", "risk.json"]
    assert (tmp_path / "risk" / "map.svg").read_text().startswith("<svg")
    assert len((tmp_path / "risk" / "records.csv").read_text().splitlines()) == 1501
    assert all(p.stat().st_mode & 0o077 == 0 for p in (tmp_path / "risk").iterdir())
    assert "(tau2)" in run(*said)[1]
    assert run(*said, "-o", tmp_path / "risk")[0] == 2
    assert run(*said, "--fraction", "0.5")[0] == 2
    assert run("risk", tmp_path / "t.csv", "--keys", "age")[0] == 2
    code, _, err = run(*said, "--target-risk", "1e-12")
    assert code == 3
    assert "even keys that reveal nothing" in err


@pytest.mark.long
def test_intervals_of_few_rows_are_exact_and_say_so(tmp_path: Path, run: Run) -> None:
    card = write(tmp_path / "x.json", channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    (tmp_path / "r.csv").write_text("X\n" + "a\n" * 9 + "b\n")
    queries = write(tmp_path / "q.json", {"share": [{"X": "a", "weight": 1}]})
    code, out, err = run("estimate", card, tmp_path / "r.csv", "--queries", queries)
    assert code == 0, err
    assert out.count("] *") == 3
    assert "marked * rest on few released rows and are exact" in out
    said = json.loads(run("estimate", card, tmp_path / "r.csv", "--json")[1])
    assert (said["exact"], said["narrow"]) == ([True, True], [False, False])
    assert said["high"][0] == said["estimate"][0] == pytest.approx(1.3)  # impossible, and yet in its interval
    (tmp_path / "w.csv").write_text("X,w\n" + "a,1\n" * 9 + "b,2\n")
    assert run("estimate", card, tmp_path / "w.csv", "--weights", "w")[1].count("] *") == 2
    out = run("estimate", card, tmp_path / "w.csv", "--weights", "w", "--target", "population")[1]
    assert out.count("] !") == 2
    assert "too narrow" in out


def test_point_07d_a_stratum_is_not_counted_in_what_the_letters_tell_and_weights_are_named(
    tmp_path: Path, run: Run
) -> None:
    rng = np.random.default_rng(3)
    region = rng.integers(0, 8, 4000)  # three bits that leave as they are
    answer = rng.random(4000) < 0.3  # of 0.88 bits
    seen = answer ^ (rng.random(4000) < 0.1)
    regions = [f"r{k}" for k in range(8)]
    flip = [["9/10", "1/10"], ["1/10", "9/10"]]
    channel = {"inputs": {"A": ["no", "yes"], "R": regions}, "output": {"A": ["no", "yes"]}}
    channel["rows"] = [row for row in flip for _ in regions]
    card = {"channel": channel, "kept": ["R", "w"], "weights": "w"}
    (tmp_path / "card.json").write_text(json.dumps(card))
    rows = "".join(f"{'yes' if a else 'no'},r{r},2\n" for a, r in zip(seen, region, strict=True))
    (tmp_path / "r.csv").write_text("A,R,w\n" + rows)
    said = run("estimate", tmp_path / "card.json", tmp_path / "r.csv")[1]
    assert "4,000 released rows weighted by w" in said
    assert "Beside R, known anyway, the released values reveal 0.4" in said
    told = json.loads(run("estimate", tmp_path / "card.json", tmp_path / "r.csv", "--json")[1])
    assert told["weights"] == "w"
    exact = -sum(p * np.log2(p) for p in (0.34, 0.66)) + sum(p * np.log2(p) for p in (0.1, 0.9))
    assert told["information_bits"] == pytest.approx(exact, abs=5 * told["information_standard_error"])


def test_also_c_estimate_card_and_reports_show_the_digest_of_the_design_file(released: Place, run: Run) -> None:
    out = released / "out"
    digest = hashlib.sha256((out / "design.json").read_bytes()).hexdigest()  # what sha256sum prints
    for file in ("card.about.json", "statement.html", "statement-public.html"):
        assert digest in (out / file).read_text(), file
    for file in ("card.json", "design.json"):
        assert (
            f"Fingerprint of design.json (sha256sum): {digest}" in run("estimate", out / file, out / "released.csv")[1]
        )
        assert json.loads(run("estimate", out / file, out / "released.csv", "--json")[1])["designs"] == [digest]
    shown = re.findall(r"\b[0-9a-f]{64}\b", (out / "statement.html").read_text().partition("<script")[0])
    assert set(shown) == {digest}  # one fingerprint, so that a signature is about one file
