"""`audit --released --original` looks at the columns that leave as they are, matched and shuffled."""

import csv
import json
import random
from fractions import Fraction

import pytest

from dalenius import Problem
from dalenius.releasing import kept_columns
from dalenius.tables import encode, open_table

PROBLEM = """\
[source]
table = "t.csv"
[columns.secret]
values = ["a", "b"]
[columns.other]
values = ["a", "b", "c"]
[columns.site]
values = ["a", "b"]
[mechanism]
observe = ["secret", "other"]
output = "Y"
keep = ["site"]
[objective]
maximize = { information = ["other"] }
[[guarantee]]
independent = ["secret"]
"""
STRATA = """\
[source]
table = "t.csv"
[columns.other]
values = ["a", "b", "c"]
[columns.site]
values = ["a", "b"]
[mechanism]
observe = ["other"]
release = ["other"]
form = "pram"
strata = ["site"]
[objective]
maximize = { information = ["other"] }
[[guarantee]]
local_dp = 2
given = ["site"]
"""


@pytest.fixture(params=[PROBLEM, STRATA], ids=["kept", "stratum"])
def place(request, tmp_path, run):
    draw = random.Random(11)
    half = []
    for _ in range(1000):
        secret = draw.choice("ab")
        half.append((secret, draw.choice("aab" if secret == "a" else "bbc")))
    rows = [(*r, site) for site in "ab" for r in half]  # the site is independent of everything, exactly
    (tmp_path / "t.csv").write_text("secret,other,site\n" + "".join(",".join(r) + "\n" for r in rows))
    (tmp_path / "p.toml").write_text(request.param)
    assert run("release", tmp_path / "p.toml", "-o", tmp_path / "out", "--new-key", tmp_path / "key")[0] == 0
    return tmp_path


def rewritten(place, change):
    """The released table with another site in some rows."""
    with (place / "out" / "released.csv").open() as file:
        rows = list(csv.DictReader(file))
    for k, row in enumerate(rows):
        row["site"] = change(k, row)
    with (place / "forged.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return place / "forged.csv"


def audited(place, run, table, *more):
    arguments = ("audit", place / "out" / "design.json", "--released", table, "--original", place / "t.csv", *more)
    code, out, _ = run(*arguments, "--json")
    return code, json.loads(out)


@pytest.mark.parametrize("matched", [True, False], ids=["matched", "shuffled"])
def test_an_honest_release_passes_with_its_kept_columns(place, run, matched):
    more = ("--key", place / "key") if matched else ()
    code, told = audited(place, run, place / "out" / "released.csv", *more)
    assert (code, told["contradicts_the_proof"]) == (0, False)
    assert any("site is as in the original" in f["what"] for f in told["findings"])


@pytest.mark.parametrize("matched", [True, False], ids=["matched", "shuffled"])
def test_point_07a_a_kept_column_that_was_overwritten_is_seen(place, run, matched):
    more = ("--key", place / "key") if matched else ()
    code, told = audited(place, run, rewritten(place, lambda k, _: "a" if k % 3 else "b"), *more)
    assert (code, told["contradicts_the_proof"]) == (4, True)
    assert any("site is as in the original" in f["what"] for f in told["findings"] if f["contradicts"])


def test_point_07a_a_forged_release_is_given_no_figures_of_the_recipe(place, run):
    forged = rewritten(place, lambda k, row: "a" if k % 3 else row["site"])
    code, out, err = run("audit", place / "out" / "design.json", "--released", forged, "--original", place / "t.csv")
    assert code == 4
    assert "CONTRADICTS" in out
    assert "guesses" not in out
    assert "beside outcome" not in out
    assert "site is as in the original" in err


def test_one_exchanged_pair_of_rows_is_seen_where_rows_are_matched(place, run):
    with (place / "out" / "released.csv").open() as file:
        sites = [row["site"] for row in csv.DictReader(file)]
    i, j = sites.index("a"), sites.index("b")
    forged = rewritten(place, lambda k, row: {i: "b", j: "a"}.get(k, row["site"]))
    assert audited(place, run, forged)[0] == 0  # each outcome occurs as often as it did
    assert audited(place, run, forged, "--key", place / "key")[0] == 4


@pytest.mark.long
def test_point_07a_what_the_rows_show_counts_the_columns_that_leave_as_they_are(tmp_path, run):
    place_ = tmp_path
    draw = random.Random(11)
    half = [(s, draw.choice("aab" if s == "a" else "bbc")) for s in draw.choices("ab", k=1000)]
    rows = [(*r, site) for site in "ab" for r in half]
    (place_ / "t.csv").write_text("secret,other,site\n" + "".join(",".join(r) + "\n" for r in rows))
    (place_ / "p.toml").write_text(PROBLEM.replace('keep = ["site"]', 'keep = ["site"]\norder = "keep"'))
    assert run("release", place_ / "p.toml", "-o", place_ / "out")[0] == 0
    forged = rewritten(place_, lambda k, _: rows[k][0])  # the secret itself
    code, told = audited(place_, run, forged)
    assert code == 4
    assert told["leakage_seen"][0]["seen_bits"] > 0.97


def test_many_kept_columns_of_many_values_are_compared_too(tmp_path, run):
    draw, names = random.Random(2), [f"k{j}" for j in range(12)]
    half = [draw.choice("ab") for _ in range(200)]
    values = [str(v) for v in range(200)]  # 12 columns of 200 values have more combinations than numbers of 64 bits
    kept = [",".join(str((7 * k + j) % 200) for j in range(12)) for k in range(200)]
    (tmp_path / "t.csv").write_text(
        f"x,{','.join(names)}\n" + "".join(f"{x},{k}\n" for x, k in zip(half, kept, strict=True))
    )
    columns = "".join(f"[columns.{n}]\nvalues = {json.dumps(values)}\n" for n in names)
    (tmp_path / "p.toml").write_text(
        f'[source]\ntable = "t.csv"\nmin_cell = 1\n[columns.x]\nvalues = ["a", "b"]\n{columns}[mechanism]\n'
        f'observe = ["x"]\nrelease = ["x"]\nkeep = {json.dumps(names)}\norder = "keep"\n[objective]\n'
        'minimize = { distortion = "hamming", of = ["x"] }\n[[limit]]\ndistortion = "hamming"\nof = ["x"]\n'
        "at_most = 1\n"
    )
    problem = Problem.from_file(tmp_path / "p.toml")
    coded = encode(open_table(tmp_path / "t.csv"), problem.columns, names)
    found = kept_columns(problem, coded, coded)
    assert len(set(found.before.tolist())) == 200
    assert found.equal(1e-6).p_value == 1
    assert kept_columns(problem, coded, coded.take(list(range(199, -1, -1)))).equal(1e-6).contradicts


@pytest.mark.long
def test_point_02_an_audit_of_a_release_speaks_of_a_row_as_the_problem_file_does(place, run):
    """In a problem file the columns of a row are one record; the audit of its card called each column a record."""
    code, out, _ = run("audit", place / "out" / "design.json")
    assert code == 0
    assert "What the recipe lets out of one row, proved:" in out
    assert "any one record" not in out
    told = json.loads(run("audit", place / "out" / "design.json", "--json")[1])
    (promised,) = [g for g in told["guarantees"] if g.get("dalenius")]
    assert Fraction(promised["at_most_bits"]) >= told["capacity_bits"][0] > 0
