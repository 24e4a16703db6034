"""What only the file beside a design or a card says is never printed as if it had been proved, and charges nothing."""

import json
import shutil

import pytest

TABLE = "id,job,health\n" + "".join(f"{k},{'aab'[k % 3]},{'good' if k % 3 or k % 2 else 'poor'}\n" for k in range(120))
PROBLEM = """\
[source]
table = "t.csv"
prior = "uniform"
[columns.job]
values = ["a", "b"]
[columns.health]
groups = { well = ["good"], ill = ["poor"] }
[mechanism]
observe = ["job"]
RELEASED
[objective]
minimize = { distortion = "hamming", of = ["job"] }
[[guarantee]]
leakage = ["job"]
at_most_bits = "0.3"
[[guarantee]]
leakage = ["health"]
at_most_bits = "0.5"
"""
PRESERVED = 'release = ["job"]\npreserve_marginals = true'
FRESH = 'output = "Y"'
WANTED = 'maximize = { information = ["job"] }'
RECORDS = 'release = ["job", "health"]\nform = "records"\nmin_multiplicity = 2'


@pytest.fixture
def place(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)

    def write(released, *, public=False):
        text = PROBLEM.replace("RELEASED", released)
        (tmp_path / "p.toml").write_text(text if public else text.replace('prior = "uniform"\n', ""))
        return tmp_path / "p.toml"

    return write


def told(file, **changes):
    """The file beside a document with other words in it."""
    about = json.loads(file.read_text())
    file.write_text(json.dumps(about | changes, separators=(",", ":")))


def test_a_recount_says_what_it_took_from_the_file_beside_the_design(place, run, tmp_path):
    run("solve", place(PRESERVED), "-o", tmp_path / "d.json")
    code, said, _ = run("verify", tmp_path / "d.json", "--table", tmp_path / "t.csv")
    assert code == 0
    assert said.splitlines()[-1] == "Counted as d.about.json says, which nothing proves: health in groups."
    said = run("verify", tmp_path / "d.json", "--table", tmp_path / "t.csv", "--problem", tmp_path / "p.toml")[1]
    assert "Counted as" not in said  # the groups are compared with those of the problem


@pytest.mark.long
def test_persons_that_only_the_file_beside_the_design_knows_of_are_named_in_a_recount(place, run, tmp_path):
    run("solve", place(PRESERVED), "-o", tmp_path / "d.json")
    about = tmp_path / "d.about.json"
    source = json.loads(about.read_text())["source"]
    told(about, source=source | {"unit": "id", "missing_words": ["NA"]})
    (tmp_path / "t.csv").write_text(TABLE + TABLE.partition("\n")[2])  # every row twice
    code, said, _ = run("verify", tmp_path / "d.json", "--table", tmp_path / "t.csv")
    assert code == 0
    assert said.splitlines()[-1].endswith(
        "which nothing proves: all rows with one value of id are one person's; health in groups; NA as a gap."
    )
    told(about, source=source | {"unit": "id", "max_rows": 3})
    said = run("explain", tmp_path / "d.json")[1]
    assert "a person has at most 3 rows" in said.partition("Said beside the file, and not proved:")[2]


@pytest.mark.long
def test_statistics_that_are_not_counted_preserve_no_share_of_the_table(place, run, tmp_path):
    run("release", place(PRESERVED, public=True), "-o", tmp_path / "out")
    shutil.copy(
        tmp_path / "out" / "design.json", tmp_path / "alone.json"
    )  # nothing beside it says that they are public
    for design in (tmp_path / "out" / "design.json", tmp_path / "alone.json"):
        said = run("estimate", design, tmp_path / "out" / "released.csv")[1]
        assert "unbiased" in said
        assert "as released" not in said


@pytest.mark.long
def test_shares_that_only_the_file_beside_a_card_calls_preserved_are_not_called_proved(place, run, tmp_path):
    run("release", place(PRESERVED), "-o", tmp_path / "out")
    asked = [tmp_path / "out" / name for name in ("card.json", "released.csv")]
    said = run("estimate", *asked)[1]
    assert "That the design preserves them is said beside the card; only design.json can prove it." in said
    said = run("estimate", tmp_path / "out" / "design.json", asked[1])[1]
    assert "as released" in said
    assert "said beside the card" not in said


@pytest.mark.long
def test_a_released_column_is_not_called_by_the_name_of_a_secret(place, run, tmp_path):
    problem = place(FRESH)
    problem.write_text(
        problem.read_text()
        .replace('minimize = { distortion = "hamming", of = ["job"] }', WANTED)
        .replace("0.5", "0.01")
    )
    run("solve", problem, "-o", tmp_path / "d.json")
    assert run("explain", tmp_path / "d.json")[0] == 0
    told(tmp_path / "d.about.json", output="health")
    code, _, err = run("explain", tmp_path / "d.json")
    assert code == 2
    assert "calls what is released 'health', which is a column of the data" in err


@pytest.mark.long
def test_two_cards_that_show_no_recipe_are_charged_both(place, run, tmp_path):
    for name, most in (("one", "0.5"), ("two", "0.6")):
        problem = place(RECORDS)
        problem.write_text(
            problem.read_text().replace('["job"]\nrelease', '["job", "health"]\nrelease').replace("0.5", most)
        )
        assert run("release", problem, "-o", tmp_path / name)[0] == 0
        (tmp_path / name / "card.about.json").unlink()
    run("ledger", "init", tmp_path / "l", "--budget", "leakage:health=9")
    for name in ("one", "two", "two"):
        code, said, _ = run("ledger", "add", tmp_path / "l", tmp_path / name / "card.json", "--dataset", "t.csv")
        assert code == 0
    assert "Release 2 is there already" in said


@pytest.mark.long
def test_a_level_for_several_rows_is_charged_for_all_of_them_whatever_stands_beside_it(place, run, tmp_path):
    problem = place('release = ["job"]')
    text = problem.read_text().replace('minimize = { distortion = "hamming", of = ["job"] }', WANTED)
    text = text[: text.index("[[guarantee]]")] + "[[guarantee]]\nlocal_dp = 4\n"
    problem.write_text(text.replace('table = "t.csv"\n', 'table = "t.csv"\nunit = "id"\nmax_rows = 4\n'))
    assert run("solve", problem, "-o", tmp_path / "d.json")[0] == 0
    (tmp_path / "d.about.json").unlink()
    run("ledger", "init", tmp_path / "l", "--budget", "local_dp=9")
    said = run("ledger", "add", tmp_path / "l", tmp_path / "d.json", "--dataset", "t.csv")[1]
    assert "Left: local_dp 5." in said


@pytest.mark.parametrize(("count", "words"), [(6, "they are too few for so many combinations"), (120, "at most 0.")])
def test_the_population_has_a_limit_only_where_the_rows_suffice(place, run, tmp_path, count, words):
    problem = place('release = ["job"]')
    problem.write_text(problem.read_text().replace('"0.3"', '"0.9"').replace('"0.5"', '"0.9"'))
    lines = TABLE.splitlines(keepends=True)
    (tmp_path / "t.csv").write_text("".join([lines[0], *lines[1 : count + 1]]))
    assert run("release", problem, "-o", tmp_path / "out", "--accept", "small-combinations")[0] == 0
    said = run("explain", tmp_path / "out" / "design.json")[1]
    rows = f"for the population, if the {count} rows are independent draws from it, "
    about = next(line for line in said.splitlines() if rows in line and "bits about health" in line)
    assert about.partition(rows)[2].startswith(words)
