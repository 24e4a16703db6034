"""From problem files to bound problems: sources, persons, priors, and messages that name the key and the line."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dalenius.tables as room
from dalenius.core import MISSING, Column, MaximizeInformation, Problem
from dalenius.errors import InputError, InvalidPmf, MismatchError, ProblemFileError, TableError, Unsupported
from dalenius.tables import bind, encode, open_table, per_person, read_json
from dalenius.tables.persons import persons
from dalenius.tables.profile import profile
from dalenius.tables.workspace import Workspace

PROBLEM = """\
[source]
{source}

[columns.sex]
values = ["f", "m"]
[columns.job]
values = "from-table"
missing = "category"

[mechanism]
observe = ["job"]
release = ["job"]

[objective]
maximize = {{ information = ["job"] }}

[[guarantee]]
independent = ["sex"]
"""

TABLE = "id, sex, job, out\n1, f, nurse, 0\n2, m, ?, 1\n1, f, nurse, 0\n3, f, cook, 1\n\n"


def problem(tmp_path: Path, source: str = 'table = "t.csv"', text: str = PROBLEM, table: str = TABLE) -> Problem:
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    (tmp_path / "p.toml").write_text(text.format(source=source), encoding="utf-8")
    return Problem.from_file(tmp_path / "p.toml")


def pmf_json(tmp_path: Path, name: str = "joint.json", **variables: list[str]) -> dict[str, Any]:
    (first, letters), *rest = variables.items()
    records = [{first: v, **{n: a[0] for n, a in rest}, "p": 1} for v in letters]
    document = {"variables": variables, "pmf": records}
    (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    return document


# --- tables ---------------------------------------------------------------------------------------------------------
def test_a_table_is_counted(tmp_path: Path) -> None:
    bound, coded = bind(problem(tmp_path))
    assert coded is not None
    assert bound.pmf.variables == {"job": ("cook", "nurse", MISSING), "sex": ("f", "m")}
    assert bound.pmf.probability(job="nurse", sex="f") == Fraction(1, 2)
    assert (coded.rows, coded.from_table) == (4, ("job",))
    assert bound.columns["job"] == Column(values=("cook", "nurse"), missing="category")
    again, _ = bind(bound, table=pa.table({"sex": ["m"], "job": [None]}))
    assert again.pmf.probability(job=MISSING, sex="m") == 1


@pytest.mark.long
def test_names_are_checked_before_anything_is_read(tmp_path: Path) -> None:
    wrong = PROBLEM.replace('independent = ["sex"]', 'independent = ["gender"]')
    with pytest.raises(
        ProblemFileError, match=r"p\.toml, line 18: there is no column 'gender'; t\.csv has 'id', 'sex'"
    ):
        bind(problem(tmp_path, text=wrong))
    with pytest.raises(ProblemFileError, match=r"p\.toml, line 3: there is no column 'person'"):
        bind(problem(tmp_path, 'table = "t.csv"\nunit = "person"'))
    with pytest.raises(ProblemFileError, match=r"p\.toml, line 2: there is no table .*u\.csv"):
        bind(problem(tmp_path, 'table = "u.csv"'))
    with pytest.raises(TableError, match="cannot see how"):
        bind(problem(tmp_path, 'table = "t.csv"'), table="SELECT * FROM t")
    with pytest.raises(ProblemFileError, match=r"p\.toml, line 3: there is no column 'PWGTP'"):
        bind(problem(tmp_path, 'table = "t.csv"\nweights = "PWGTP"'))
    with pytest.raises(TableError, match="is no weight"):
        bind(problem(tmp_path, 'table = "t.csv"\nweights = "sex"'))


def test_undeclared_columns_and_missing_values_are_refused(tmp_path: Path) -> None:
    text = PROBLEM.replace('[columns.job]\nvalues = "from-table"\nmissing = "category"\n', "")
    with pytest.raises(TableError, match=r"t\.csv: column 'job' is used but not declared; add \[columns\.job\]"):
        bind(problem(tmp_path, text=text))
    with pytest.raises(TableError, match=r"t\.csv, row 2, column 'job': the value is missing"):
        bind(problem(tmp_path, text=PROBLEM.replace('missing = "category"', 'missing = "refuse"')))


def test_no_source() -> None:
    bare = Problem(observe=("X",), output="Y", objective=MaximizeInformation(("X",)))
    with pytest.raises(ProblemFileError, match=r"there is no \[source\] section"):
        bind(bare)


# --- persons --------------------------------------------------------------------------------------------------------
def test_one_row_for_each_person(tmp_path: Path) -> None:
    bound, coded = bind(problem(tmp_path, 'table = "t.csv"\nunit = "id"'))
    assert coded is not None
    assert coded.codes["job"].tolist() == [1, 2, 0]
    assert bound.pmf.probability(job="nurse") == Fraction(1, 3)


def test_a_person_with_two_answers_is_refused_without_naming_the_person(tmp_path: Path) -> None:
    table = "id,sex,job\nsecret-name,f,a\nother,m,a\nsecret-name,f,b\nsecret-name,m,b\n"
    with pytest.raises(
        TableError, match=r"t\.csv, row 3, column 'job': differs from an earlier row .* about rows"
    ) as e:
        bind(problem(tmp_path, 'table = "t.csv"\nunit = "id"', table=table))
    assert "secret-name" not in str(e.value)


def test_max_rows_keeps_the_rows_or_refuses(tmp_path: Path) -> None:
    _, coded = bind(problem(tmp_path, 'table = "t.csv"\nunit = "id"\nmax_rows = 2'))
    assert coded is not None
    assert coded.rows == 4
    with pytest.raises(TableError, match=r"1 of 3 persons \('id'\) have more than max_rows = 1 rows; the most is 2"):
        bind(problem(tmp_path, 'table = "t.csv"\nunit = "id"\nmax_rows = 1'))


@pytest.mark.parametrize("memory", [None, 1])
@pytest.mark.parametrize("chunk", [2, 1 << 17])
def test_persons_across_chunks(chunk: int, memory: int | None, tmp_path: Path) -> None:
    table = open_table(pa.table({"id": [7, 5, 7, 9, 5, 7], "v": list("abacba")}), chunk=chunk)
    table = replace(table, workspace=Workspace(tmp_path, memory))
    assert persons(table, "id") == (3, 3)
    coded = encode(table, {"v": Column()}, ["v"])
    assert per_person(table, coded, "id").codes["v"].tolist() == [0, 1, 2]
    with pytest.raises(MismatchError, match="has more rows now than the 2"):
        per_person(table, coded.take([0, 1]), "id")
    with pytest.raises(MismatchError, match="has fewer rows now than the 7"):
        per_person(table, coded.take([0, 1, 0, 2, 1, 0, 0]), "id")
    holes = open_table(pa.table({"id": ["a", "b", "a", "?"]}), chunk=chunk)
    with pytest.raises(TableError, match="row 4, column 'id': the unit of the promise is missing"):
        persons(holes, "id")


@pytest.mark.long
def test_persons_that_do_not_fit_into_memory_are_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    ids = rng.integers(0, 700, 2_000)
    letters = np.array(list("abc"))[ids % 3]
    for table, max_rows, wrong in (
        ({"id": ids, "v": letters}, None, ""),
        ({"id": ids, "v": letters}, 99, ""),
        ({"id": ids, "v": letters}, 2, "persons .* have more than max_rows = 2 rows; the most is"),
        ({"id": ids, "v": np.where(np.arange(2_000) == 1_500, "d", letters)}, None, "row .* differs from an earlier"),
    ):
        found = []
        for memory in (None, 1):
            opened = replace(open_table(pa.table(table), chunk=300), workspace=Workspace(tmp_path, memory))
            coded = encode(opened, {"v": Column()}, ["v"])
            if wrong:
                with pytest.raises(TableError, match=wrong) as caught:
                    per_person(opened, coded, "id", max_rows=max_rows)
                found.append(str(caught.value))
            else:
                found.append(per_person(opened, coded, "id", max_rows=max_rows).codes["v"].tolist())
        assert found[0] == found[1]


# --- priors and pmfs ------------------------------------------------------------------------------------------------
def test_a_public_prior_replaces_the_counts(tmp_path: Path) -> None:
    pmf_json(tmp_path, "prior.json", sex=["f", "m"], job=["cook", "nurse", MISSING], year=["1"])
    bound, coded = bind(problem(tmp_path, 'table = "t.csv"\nprior = "prior.json"'))
    assert coded is not None
    assert list(bound.pmf.variables) == ["job", "sex"]
    assert bound.pmf.probability(sex="m", job="cook") == Fraction(1, 2)


@pytest.mark.parametrize(
    ("letters", "message"),
    [
        (
            ["cook", "nurse"],
            r"prior\.json: 'job' has other values .* the stated distribution lacks '\(missing\)' .*\"from-table\"",
        ),
        (["cook", "nurse", "poet", MISSING], "the stated distribution has 'poet', which is not declared"),
        (["nurse", "cook", MISSING], "the values stand in another order"),
    ],
)
def test_a_prior_with_other_alphabets_is_refused(tmp_path: Path, letters: list[str], message: str) -> None:
    pmf_json(tmp_path, "prior.json", sex=["f", "m"], job=letters)
    with pytest.raises(MismatchError, match=message):
        bind(problem(tmp_path, 'table = "t.csv"\nprior = "prior.json"'))


def test_a_prior_without_a_variable_is_refused(tmp_path: Path) -> None:
    pmf_json(tmp_path, "prior.json", sex=["f", "m"])
    with pytest.raises(ProblemFileError, match=r"p\.toml, line 12: there is no variable 'job'"):
        bind(problem(tmp_path, 'table = "t.csv"\nprior = "prior.json"'))


def test_a_pmf_file(tmp_path: Path) -> None:
    pmf_json(tmp_path, sex=["f", "m"], job=["cook"])
    bound, coded = bind(problem(tmp_path, 'pmf = "joint.json"'))
    assert coded is None
    assert bound.pmf.probability(sex="m") == Fraction(1, 2)


def test_decimals_of_a_pmf_file_are_exact(tmp_path: Path) -> None:
    (tmp_path / "joint.json").write_text(
        '{"variables": {"sex": ["f", "m"], "job": ["c"]}, "pmf": ['
        '{"sex": "f", "job": "c", "p": 0.1}, {"sex": "m", "job": "c", "p": 0.9000000000000000000}]}'
    )
    bound, _ = bind(problem(tmp_path, 'pmf = "joint.json"'))
    assert (bound.pmf.probability(sex="f"), bound.pmf.note) == (Fraction(1, 10), "")


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (None, InputError, r"there is no distribution file joint\.json"),
        ('{"variables": {}, "variables": {}}', InputError, r"joint\.json: the key 'variables' stands twice"),
        ('{"variables": ', InputError, r"joint\.json: not valid JSON: .*line 1"),
        ('{"p": NaN}', InputError, r"joint\.json: NaN is not a number"),
        ('{"p": ' + "9" * 5000 + "}", InputError, r"joint\.json: not valid JSON: a number or a nesting"),
        ("[" * 200_000, InputError, r"joint\.json: not valid JSON: a number or a nesting"),
        ("[]", InvalidPmf, r"joint\.json: a distribution file is an object with the keys `variables` and `pmf`"),
        (
            '{"variables": {"X": ["a"]}, "pmf": [{"X": "a", "p": "13/12"}]}',
            InvalidPmf,
            r"joint\.json: probabilities sum to 13/12, not 1",
        ),
    ],
)
def test_pmf_files_are_refused(tmp_path: Path, text: str | None, kind: type[Exception], message: str) -> None:
    if text is not None:
        (tmp_path / "joint.json").write_text(text)
    with pytest.raises(kind, match=message):
        bind(problem(tmp_path, 'pmf = "joint.json"'))


def test_json_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"b\.json is not UTF-8 text"):
        read_json(tmp_path / "b.json")
    with pytest.raises(InputError, match="cannot read the file"):
        read_json(tmp_path)


# --- samples that are alike given a hidden variable -----------------------------------------------------------------
IID = PROBLEM.replace('["job"]', '["X1", "X2"]').replace('independent = ["sex"]', 'independent = ["X2"]')
MODEL = 'conditionally_iid = {{ hidden = "W", prior = "w.json", kernel = "k.json", n = {n} }}'


def iid(tmp_path: Path, n: int, hidden: str = "W", inputs: tuple[str, ...] = ("0", "1")) -> Problem:
    pmf_json(tmp_path, "w.json", **{hidden: ["0", "1"]})
    kernel = {"inputs": {"W": inputs}, "output": {"X": ["a", "b"]}, "rows": [["9/10", "1/10"], ["0", "1"]]}
    (tmp_path / "k.json").write_text(json.dumps(kernel))
    return problem(tmp_path, MODEL.format(n=n), text=IID.split("[columns.sex]")[0] + IID[IID.index("[mechanism]") :])


def test_conditionally_iid_samples_are_written_out(tmp_path: Path) -> None:
    bound, _ = bind(iid(tmp_path, 3))
    assert list(bound.pmf.variables) == ["W", "X1", "X2", "X3"]
    assert bound.pmf.probability(W="0", X1="a", X2="b", X3="b") == Fraction(9, 2000)
    assert bound.pmf.probability(W="1", X1="a") == 0
    assert bound.pmf.probability(X2="b", X3="b") == (Fraction(1, 100) + 1) / 2


def test_conditionally_iid_refusals(tmp_path: Path) -> None:
    with pytest.raises(
        Unsupported, match="400 samples have far too many outcomes, more than 200,000; to protect each single one"
    ):
        bind(iid(tmp_path, 400))
    with pytest.raises(ProblemFileError, match="the stated distribution should be about 'W' alone"):
        bind(iid(tmp_path, 2, hidden="V"))
    with pytest.raises(
        ProblemFileError, match="'W' has another list of values in the stated distribution than in the kernel"
    ):
        bind(iid(tmp_path, 2, inputs=("u", "v")))
    declared = iid(tmp_path, 2)
    (tmp_path / "k.json").unlink()
    with pytest.raises(InputError, match=r"there is no kernel file k\.json"):
        bind(declared)


# --- profile --------------------------------------------------------------------------------------------------------
def test_profile_says_what_stands_in_the_way() -> None:
    n = 40
    table = open_table(
        pa.table(
            {
                "id": [f"p{k // 2}" for k in range(n)],
                "key": [f"k{k}" for k in range(n)],
                "age": [20 + k % 2 for k in range(n)],
                "job": [None if k % 10 == 0 else "?" if k % 10 == 1 else "a" if k > 30 else "b" for k in range(n)],
            }
        ),
        chunk=7,
    )
    out = profile(table, unit="id", keys=["age", "job"])
    assert (out["rows"], out["table"]) == (40, "the table")
    assert out["columns"]["age"] == {
        "distinct": 2,
        "distinct_is_exact": True,
        "missing": 0,
        "looks_like_identifier": False,
        "looks_dated": False,
        "looks_dated_otherwise": False,
        "has_thousands": False,
        "looks_numeric": True,
        "top": [{"letter": "20", "count": 20}, {"letter": "21", "count": 20}],
        "spellings": [],
        "small_letters": 0,
        "may_name_persons": False,
    }
    assert (out["columns"]["job"]["missing"], out["columns"]["job"]["small_letters"]) == (8, 1)
    assert out["columns"]["key"]["looks_like_identifier"]
    assert len(out["columns"]["key"]["top"]) == 10
    assert out["unit"] == {"column": "id", "persons": 20, "max_rows": 2, "mean_rows": 2.0}
    assert out["keys"]["combinations"] == 6
    assert out["keys"]["unique_rows"] == 0
    notes = "\n".join(out["notes"])
    for words in (
        '8 rows have no value; with missing = "category"',
        "key looks like an identifier",
        "max_rows",
    ):
        assert words in notes


def test_profile_is_bounded() -> None:
    table = open_table(pa.table({"x": [str(k % 50) for k in range(1000)]}), chunk=100)
    column = profile(table, most=30)["columns"]["x"]
    assert (column["distinct"], column["distinct_is_exact"], "top" in column) == (31, False, False)


def test_public_names_are_sorted_and_real() -> None:
    assert room.__all__ == sorted(room.__all__)
    assert all(hasattr(room, name) for name in room.__all__)
