"""`dalenius audit query.toml` and `dalenius calibrate`: words, JSON, and errors that name their line."""

import json
import re
from fractions import Fraction

import pytest

QUERY = """\
records = 3
letters = ["0", "1"]
query = "count"
noise = "geometric"
parameter = "1/2"
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "q.toml").write_text(QUERY)
    return tmp_path / "q.toml"


def test_an_audit_in_words_and_in_json(file, run):
    code, out, _ = run("audit", file)
    assert code == 0
    assert "any one record, any attacker (C_1)" in out
    told = json.loads(run("audit", file, "--json")[1])
    assert {"individual_capacity_bits", "group_capacity_bits", "dp_epsilon", "capacity_bits"} <= set(told)
    low, high = told["individual_capacity_bits"]
    assert 0 < low <= high <= 1
    assert told["dp_epsilon"] == pytest.approx(0.69314718056)


@pytest.mark.long
def test_an_audit_with_a_prior_is_that_of_the_channel(file, run):
    records = [{"X1": a, "X2": b, "X3": c, "p": "1/8"} for a in "01" for b in "01" for c in "01"]
    prior = {"variables": {f"X{i}": ["0", "1"] for i in (1, 2, 3)}, "pmf": records}
    (file.parent / "p.json").write_text(json.dumps(prior))
    code, out, _ = run("audit", file, "--prior", file.parent / "p.json", "--json")
    assert code == 0
    assert json.loads(out)["mutual_information_bits"][0] > 0


def test_tables_of_f_and_of_noise(file, run):
    (file.parent / "f.json").write_text('{"values": ["a", "b", "b", "a", "c", "c"]}')
    rows = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]
    kernel = {"inputs": {"f": ["c", "a", "b"]}, "output": {"Y": ["x", "y", "z"]}, "rows": rows}
    (file.parent / "k.json").write_text(json.dumps(kernel))
    file.write_text(
        'records = 2\nletters = [["0", "1", "2"], ["0", "1"]]\nquery = { table = "f.json" }\n'
        'noise = { table = "k.json" }\n'
    )
    told = json.loads(run("audit", file, "--json")[1])
    assert told["data_independent_bound_reached"] is True
    assert told["individual_capacity_bits"][1] <= told["data_independent_bound_bits"][1] + 1e-12
    code, _, err = run("calibrate", file, "--at-most-bits", "0.1")
    assert code == 2
    assert "no parameter" in err


def test_calibration_needs_no_parameter_in_the_file(file, run):
    file.write_text(QUERY.replace('parameter = "1/2"\n', ""))
    code, out, _ = run("calibrate", file, "--at-most-bits", "0.2", "--compare", "--json", "--resolution", "1e-6")
    told = json.loads(out)
    assert code == 0
    assert told["individual_capacity_bits"][1] <= 0.2 < told["less_noise_bits"][0]
    assert len(told["compared"]) == 5
    assert "nobody learns more than" in run("calibrate", file, "--at-most-bits", "1/5", "--resolution", "1e-4")[1]
    code, _, err = run("audit", file)
    assert code == 2
    assert "needs its parameter" in err


def test_an_interval_under_gaussian_noise(file, run):
    file.write_text(
        'records = 5\nletters = { low = 0, high = 1 }\nquery = "mean"\nnoise = "gaussian"\nparameter = "1/4"\n'
    )
    told = json.loads(run("audit", file, "--json")[1])
    assert told["individual_capacity_bits"][0] * 0.6931471805599453 == pytest.approx(0.3368308203468, abs=1e-9)
    assert told["dp_epsilon"] is None


@pytest.mark.parametrize(
    ("swap", "message"),
    [
        (("records = 3", "records = 0"), "line 1: 'records' is 0"),
        (("query = ", "qury = "), "line 3: the query file lacks the key 'query'; 'qury' is not known"),
        (('"geometric"', '"gauss"'), "line 4: 'noise' is 'gauss'"),
        (('"1/2"', '"3/2"'), "line 5: the parameter of geometric noise"),
        (('"1/2"', '"x"'), "line 5: 'parameter' is 'x'"),
        (('["0", "1"]', '["0", "0"]'), "line 2: values lists a value twice"),
        (('["0", "1"]', "3"), "line 2: values is a list"),
        (("records = 3", "records = 3\nseed = 1"), "line 2: unknown key 'seed' in the query file"),
        (('"count"', '{ table = "no.json" }'), "there is no table of f no.json"),
        (("records = 3", "records = ["), "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(file, run, swap, message):
    file.write_text(QUERY.replace(*swap))
    code, out, err = run("audit", file)
    assert (code, out) == (2, "")
    assert message in err


def test_a_released_table_is_not_for_queries(file, run):
    code, _, err = run("audit", file, "--released", "a.csv", "--original", "b.csv")
    assert code == 2
    assert "by itself" in err


def test_point_05_gaussian_noise_rules_nothing_out_and_the_audit_does_not_say_so(file, run):
    file.write_text(QUERY.replace('"geometric"', '"gaussian"'))
    said = run("audit", file)[1]
    assert "rules an input out" not in said
    assert "none: nothing is ruled out, but the ratio of two inputs has no bound" in said


def test_a_parameter_that_was_found_is_printed_short_with_no_less_noise(file, run):
    """991398631045727/1000000000000000 stood there: nobody reads that, and fewer digits must not mean less noise."""
    told = run("calibrate", file, "--at-most-bits", "0.1")[1]
    exact = json.loads(run("calibrate", file, "--at-most-bits", "0.1", "--json")[1])
    more, less = (re.search(rf"{words} ([\d.]+)[:,]", told)[1] for words in ("Parameter", "With less noise,"))
    assert max(map(len, (more, less))) <= 11
    assert 0 <= Fraction(more) - Fraction(exact["parameter"]) < Fraction(1, 10**8)
    assert 0 <= Fraction(exact["less_noise"]) - Fraction(less) < Fraction(1, 10**8)
    assert Fraction(re.search(r"learns ([\d.]+) bits, which", told)[1]) > Fraction(1, 10)
    assert "and the budget is 0.1." in told
