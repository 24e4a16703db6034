"""`dalenius answer`: the same key gives the same answer and is charged once; the budget refuses before a draw."""

import hashlib
import json
import re
import sqlite3
from math import log2

import pyarrow as pa
import pytest
from pyarrow import parquet

import dalenius.answering
from tests.cli.conftest import rows
from tests.test_words import dialect

COUNT = """\
query = "count"
where = "sex == 'f' and age == 'old'"
noise = "discrete-laplace"
parameter = 10
"""
SUM = COUNT.replace('"count"', '"sum"') + 'column = "sex"\n'
WITHOUT_A_TABLE = 'query = "count"\nrecords = 3\nletters = ["0", "1"]\nnoise = "laplace"\nparameter = 1\n'
TRUE = sum(sex == "f" and age == "old" for sex, age, *_ in rows())


@pytest.fixture
def asked(place):
    (place / "q.toml").write_text(COUNT)
    return place


def key(place, name="k"):
    path = place / name
    path.write_text(hashlib.sha256(name.encode()).hexdigest() + "\n")
    path.chmod(0o600)
    return path


def told(run, place, *more, code=0):
    found, out, err = run("answer", place / "q.toml", place / "t.csv", "--json", *more)
    assert found == code, err
    return json.loads(out) if code == 0 else err


def test_a_count_in_words_and_in_json_with_a_card_that_is_proved(asked, run):
    code, out, _ = run("answer", asked / "q.toml", asked / "t.csv", "-o", asked / "a.json")
    assert code == 0
    assert "holds the true number with a probability of 95 %" in out
    assert "Not charged" in out
    code, out, _ = run("verify", asked / "a.json")
    assert code == 0
    assert "Differential privacy of any one record: epsilon 0.1." in out
    assert json.loads(run("verify", asked / "a.json", "--json")[1])["kind"] == "answer"
    beside = json.loads((asked / "a.about.json").read_text())
    number = beside["answer"]["numbers"][0]
    assert number["low"] <= number["answer"] <= number["high"]
    assert abs(number["answer"] - TRUE) < 400
    assert run("answer", asked / "q.toml", asked / "t.csv", "-o", asked / "a.json")[0] == 2
    forged = (asked / "a.json").read_text().replace('"scale":"10"', '"scale":"9"')
    (asked / "a.json").write_text(forged)
    assert run("verify", asked / "a.json")[0] == 4
    assert run("verify", asked / "a.json", "--table", asked / "t.csv")[0] in (2, 4)


@pytest.mark.long
def test_a_value_that_no_record_has_is_doubted_beside_the_answer_alone(asked, run):
    """A slip of the pen in where was a count of nobody, without a word."""
    (asked / "q.toml").write_text(COUNT.replace("'old'", "'olt'"))
    code, out, err = run("answer", asked / "q.toml", asked / "t.csv", "-o", asked / "a.json")
    assert code == 0
    assert "where compares age with 'olt', which no record has. Did you mean 'old'? This line is confidential." in err
    written = "".join((asked / name).read_text() for name in ("a.json", "a.about.json", "a.html"))
    assert "no record has" not in out + written
    (asked / "q.toml").write_text(COUNT)
    assert "no record has" not in run("answer", asked / "q.toml", asked / "t.csv")[2]


@pytest.mark.long
def test_a_counted_value_that_no_record_has_is_doubted_like_one_of_where(asked, run):
    """The count of a value that is misspelt was nearly 0, without a word."""
    asking = 'query = "count"\ncolumn = "age"\nletter = "olt"\nnoise = "geometric"\nparameter = "1/2"\n'
    (asked / "q.toml").write_text(asking)
    code, _, err = run("answer", asked / "q.toml", asked / "t.csv")
    assert code == 0
    assert "letter counts age 'olt', which no record has. Did you mean 'old'? This line is confidential." in err
    (asked / "q.toml").write_text(asking.replace("olt", "old"))
    assert "no record has" not in run("answer", asked / "q.toml", asked / "t.csv")[2]


def test_the_same_key_is_charged_once_and_another_one_again(asked, run):
    ledger, first, second = asked / "L", key(asked), key(asked, "k2")
    assert run("ledger", "init", ledger, "--budget", "dalenius=99", "--budget", "differential_privacy=1")[0] == 0
    one = told(run, asked, "--ledger", ledger, "--key", first)
    again = told(run, asked, "--ledger", ledger, "--key", first)
    other = told(run, asked, "--ledger", ledger, "--key", second)
    assert one["numbers"] == again["numbers"]
    assert one["ledger"]["id"] == again["ledger"]["id"] != other["ledger"]["id"]
    status = json.loads(run("ledger", "status", ledger, "--json")[1])
    assert [r["state"] for r in status["releases"]] == ["released", "released"]
    assert status["spent"]["differential_privacy"] == "0.2"
    assert run("ledger", "check", ledger)[0] == 0


def test_a_key_is_kept_only_if_something_was_charged(asked, run):
    ledger, new = asked / "L", asked / "new.key"
    assert run("ledger", "init", ledger, "--budget", "differential_privacy=0.15")[0] == 0
    assert run("answer", asked / "q.toml", asked / "t.csv", "--ledger", ledger, "--new-key", new)[0] == 0
    assert run("answer", asked / "q.toml", asked / "t.csv", "--ledger", ledger, "--new-key", asked / "k2")[0] == 6
    assert new.exists()
    assert not (asked / "k2").exists()


@pytest.mark.long
@pytest.mark.parametrize("noise", ["randomised-response", "exponential", "geometric", "table"])
def test_finite_noise_is_drawn_charged_and_proved(asked, run, noise):
    few = ["sex,age"] + [f"{'fm'[k % 2]},{'old' if k % 3 else 'young'}" for k in range(12)]
    (asked / "few.csv").write_text("\n".join(few) + "\n")
    values = [str(k) for k in range(13)]
    rows = [[str(k + 1), str(13 - k)] for k in range(13)]
    channel = {"inputs": {"f": values}, "output": {"Y": ["a", "b"]}, "rows": [[f"{a}/14", f"{b}/14"] for a, b in rows]}
    (asked / "noise.json").write_text(json.dumps(channel))
    own = 'noise = { table = "noise.json" }' if noise == "table" else f'noise = "{noise}"\nparameter = "2/5"'
    (asked / "q.toml").write_text(f'query = "count"\nwhere = "age == \'old\'"\n{own}\n')
    assert run("ledger", "init", asked / "L", "--budget", "dalenius=10", "--budget", "zcdp=50")[0] == 0
    once = ("answer", asked / "q.toml", asked / "few.csv", "--ledger", asked / "L", "--key", key(asked))
    code, out, err = run(*once, "-o", asked / "a.json", "--json")
    assert code == 0, err
    assert json.loads(run(*once, "--json")[1])["drawn"] == json.loads(out)["drawn"]
    assert run("verify", asked / "a.json")[0] == 0
    assert run("ledger", "check", asked / "L")[0] == 0
    spent = json.loads(run("ledger", "status", asked / "L", "--json")[1])["spent"]
    proved = float(json.loads(out)["proved"]["individual_capacity_bits"])
    assert 0 < proved <= log2(13)
    assert float(spent["dalenius"]) == pytest.approx(proved, abs=1e-9)
    code, out, err = run("audit", asked / "q.toml", "--records", "12", "--json")
    assert code == 0, err
    assert float(json.loads(out)["individual_capacity_bits"]) == pytest.approx(proved, abs=1e-9)
    code, out, err = run("calibrate", asked / "q.toml", "--records", "12", "--at-most-bits", "0.1", "--json")
    if noise == "table":
        assert (code, err.count("\n")) == (2, 1)
        return
    assert 0.0999 < json.loads(out)["bits"] <= 0.1
    lines = (asked / "q.toml").read_text().splitlines(keepends=True)
    (asked / "q.toml").write_text("".join(line for line in lines if not line.startswith("parameter")))
    again = run("calibrate", asked / "q.toml", "--records", "12", "--at-most-bits", "0.1", "--json")
    assert again == (0, out, ""), "the parameter may be left out"


def test_what_would_exceed_the_budget_is_refused_before_anything_is_drawn(asked, run, monkeypatch):
    ledger = asked / "L"
    assert run("ledger", "init", ledger, "--budget", "differential_privacy=0.15")[0] == 0
    told(run, asked, "--ledger", ledger)

    def never(*_):
        raise AssertionError("drawn")

    monkeypatch.setattr(dalenius.answering, "answered", never)
    assert "nothing was charged or drawn" in told(run, asked, "--ledger", ledger, code=6)
    assert len(json.loads(run("ledger", "status", ledger, "--json")[1])["releases"]) == 1


@pytest.mark.long
def test_gaussian_noise_is_charged_at_a_delta_and_the_refusal_says_so(asked, run):
    (asked / "q.toml").write_text(COUNT.replace("laplace", "gaussian"))
    assert run("ledger", "init", asked / "L", "--budget", "differential_privacy=9")[0] == 0
    assert "has a level at a delta only" in told(run, asked, "--ledger", asked / "L", code=6)
    assert run("ledger", "init", asked / "M", "--budget", "differential_privacy:1/1000000=9")[0] == 0
    told(run, asked, "--ledger", asked / "M")


def test_a_draw_that_was_broken_off_stays_charged_and_is_finished_with_its_key(asked, run, monkeypatch):
    ledger, own = asked / "L", key(asked)
    assert run("ledger", "init", ledger, "--budget", "differential_privacy=0.15")[0] == 0

    def broken(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dalenius.answering, "answered", broken)
        assert run("answer", asked / "q.toml", asked / "t.csv", "--ledger", ledger, "--key", own)[0] == 130
    assert json.loads(run("ledger", "status", ledger, "--json")[1])["open"] == [1]
    assert told(run, asked, "--ledger", ledger, "--key", own)["ledger"] == {"id": 1, "state": "released"}


def test_an_answer_has_a_statement_to_sign(asked, run):
    """One page without a script: the promise, the numbers that were printed, and the fingerprint of the proof."""
    code, out, _ = run("answer", asked / "q.toml", asked / "t.csv", "-o", asked / "a.json")
    assert code == 0
    assert f"To sign and to publish: {asked / 'a.html'}" in out
    page = (asked / "a.html").read_text("utf-8")
    beside = json.loads((asked / "a.about.json").read_text())["answer"]["numbers"][0]
    for told in (beside["answer"], beside["low"], beside["high"]):
        assert f">{int(told):,}<" in page.replace(" to ", "<>")
    assert hashlib.sha256((asked / "a.json").read_bytes()).hexdigest() in page
    assert "Whatever an attacker knows, no answer is more than" in page
    assert "<script" not in page
    assert len(page) < 30_000
    lay = re.sub(r"<(style)[^>]*>.*?</\1>|<details id=.technical.*?</details>", "", page, flags=re.DOTALL)
    assert [(words, text) for text in re.findall(r">([^<>]+)<", lay) if (words := dialect(text))] == []
    (asked / "a.json").unlink()
    code, _, err = run("answer", asked / "q.toml", asked / "t.csv", "-o", asked / "a.json")
    assert code == 2  # the statement of the last answer is not replaced unasked
    assert "a.html" in err


def test_an_answer_that_was_given_elsewhere_is_added_from_its_card(asked, run):
    assert run("answer", asked / "q.toml", asked / "t.csv", "-o", asked / "a.json")[0] == 0
    assert run("ledger", "init", asked / "L", "--budget", "differential_privacy=1")[0] == 0
    assert run("ledger", "add", asked / "L", asked / "a.json", "--dataset", "d")[0] == 0
    status = json.loads(run("ledger", "status", asked / "L", "--json")[1])
    assert status["spent"] == {"differential_privacy": "0.1"}
    assert status["releases"][0]["reads"] == ["sex", "age"]
    (asked / "a.about.json").unlink()
    assert run("ledger", "add", asked / "L", asked / "a.json", "--dataset", "d", "--again")[0] == 2


@pytest.mark.long
def test_a_million_records_by_their_structure(tmp_path, run):
    parquet.write_table(pa.table({"bit": ["0", "1"] * 500_000}), tmp_path / "t.parquet")
    (tmp_path / "q.toml").write_text(
        'query = "count"\ncolumn = "bit"\nletter = "1"\nnoise = "discrete-gaussian"\nparameter = 640000000000\n'
    )
    code, out, err = run("answer", tmp_path / "q.toml", tmp_path / "t.parquet", "--json", "-o", tmp_path / "a.json")
    assert code == 0, err
    found = json.loads(out)
    assert found["records"] == 1_000_000
    assert 0.236 < float(found["proved"]["individual_capacity_bits"]) < 0.239
    assert run("verify", tmp_path / "a.json")[0] == 0


def test_a_row_is_the_unit_where_the_file_says_so(asked, run):
    plain = told(run, asked, "--key", key(asked))
    (asked / "q.toml").write_text(COUNT + 'unit = "row"\n')
    assert told(run, asked, "--key", asked / "k")["numbers"] == plain["numbers"]


def test_numbers_with_a_decimal_comma_are_read_where_that_is_said(asked, run):
    (asked / "t.csv").write_text("pay;sex\n" + "12,5;f\n1,25;m\n" * 50)
    text = COUNT.replace('"count"', '"mean"').replace("sex == 'f' and age == 'old'", "pay > 1")
    (asked / "q.toml").write_text(text + 'column = "pay"\nletters = {low = 0, high = 20}\n')
    assert "or --decimal , without a problem file" in told(run, asked, code=2)
    (asked / "q.toml").write_text((asked / "q.toml").read_text().replace("pay > 1", "sex != 'x'"))
    assert "or --decimal , without a problem file" in told(run, asked, code=2)
    found = told(run, asked, "--decimal", ",")
    assert found["records"] == 100
    assert found["numbers"][0]["low"] <= (12.5 + 1.25) / 2 <= found["numbers"][0]["high"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (COUNT.replace("where", "were"), "were"),
        (COUNT.replace('query = "count"\n', ""), "lacks the key 'query', one of 'count', 'sum'"),
        (COUNT.replace("'f'", "f"), "q.toml, line 2: where: "),
        (COUNT.replace("sex", "sects"), 'no column "sects"'),
        (COUNT.replace("10", "0"), "line 4: parameter is 0"),
        (COUNT.replace("10", '"1/100"'), "too coarse"),
        (COUNT.replace("parameter = 10\n", ""), "lacks the key 'parameter'"),
        (COUNT.replace("where = \"sex == 'f' and age == 'old'\"\n", ""), "a count needs where"),
        (COUNT + "max_rows = 2\n", "name the column of the person with unit"),
        (COUNT + 'unit = "sex"\n', "differs from an earlier row of the same person"),
        (COUNT + "records = 7\n", "says 7 records, and t.csv has 3,000"),
        (COUNT.replace('"count"', '"histogram"') + 'column = ["sex", "age"]\n', "needs the values of 'sex'"),
        (COUNT.replace('"count"', '"quantile"') + 'column = "sex"\nletters = ["f", "m"]\n', "quantiles"),
        (SUM + "letters = {low = 0, high = 1}\ngrid = 1\n", "not a number"),
        (SUM + "letters = {low = 0, high = 1}\n", "needs grid"),
        (SUM, "a sum needs the ends of its numbers, letters = { low"),
        (SUM + 'letters = ["f"]\n', "is over numbers, and 'f' of 'sex' is none"),
        (COUNT.replace("discrete-laplace", "laplace"), "must be one of"),
        (WITHOUT_A_TABLE, "asks nothing of a table"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_charged(asked, run, text, why):
    (asked / "q.toml").write_text(text)
    assert run("ledger", "init", asked / "L", "--budget", "dalenius=10")[0] == 0
    code, _, err = run("answer", asked / "q.toml", asked / "t.csv", "--ledger", asked / "L", "-o", asked / "a.json")
    assert code == 2
    assert why in err
    assert err.count("\n") == 1
    assert not (asked / "a.json").exists()
    with sqlite3.connect(asked / "L") as connection:
        assert connection.execute("SELECT count(*) FROM releases").fetchone() == (0,)
