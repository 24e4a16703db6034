"""`dalenius gaussian`: the closed forms of paper 003, with the corrections of the errata."""

import json

import pytest


def told(run, *arguments):
    code, out, err = run("gaussian", *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_the_figures_of_the_reference(run):
    found = told(run, "--correlation", "0.7", "--error", "0.1", "--beside", "0.9")
    assert found["alone"]["rate_bits"] == pytest.approx(1.660964047444)
    assert found["alone"]["leakage_bits"] == pytest.approx(0.4195399059094)
    assert found["informed"]["rate_bits"] == pytest.approx(0.4629997092781)
    assert found["seeing_both_bits"] == pytest.approx(0.153839973712)
    wide = told(run, "--correlation", "0.7", "--error", "0.6", "--variance", "2", "--beside", "0.9")
    assert wide["alone"]["leakage_bits"] == pytest.approx(0.3030173621699)
    assert wide["informed"] == {
        "rate_bits": 0,
        "leakage_bits": pytest.approx(0.3647654298447),
        "scale": 0,
        "noise": None,
        "squared_error": pytest.approx(0.38),
    }
    assert "nothing is sent" in run("gaussian", "--correlation", "0.7", "--error", "0.3", "--beside", "0.9")[1]
    assert "users have nothing else: 0 bits" in run("gaussian", "--correlation", "0.7", "--error", "2")[1]  # not -0


def test_several_numbers_from_a_file(run, tmp_path):
    law = {"covariance": [[4, 0], [0, 1]]}
    (tmp_path / "v.json").write_text(json.dumps(law))
    assert told(run, "--error", "1.5", "--vector", tmp_path / "v.json")["rate_bits"] == pytest.approx(1.415037499)
    (tmp_path / "v.json").write_text(json.dumps(law | {"private": [[0.7, 0]], "residual": [[0.5]]}))
    found = told(run, "--error", "1.5", "--vector", tmp_path / "v.json")
    assert found["bound_bits"] == pytest.approx(found["leakage_bits"], abs=1e-6)
    assert "about the secret" in run("gaussian", "--error", "1.5", "--vector", tmp_path / "v.json")[1]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--error", "1"), "say --correlation"),
        (("--error", "1", "--correlation", "2"), "between -1 and 1"),
        (("--error", "1", "--correlation", "0", "--vector", "v.json"), "leave --correlation"),
        (("--error", "1", "--vector", "{}"), "it has covariance"),
        (("--error", "1", "--vector", '{"covariance": "x"}'), "matrices of numbers"),
        (("--error", "1", "--vector", '{"covariance": [[1, 2], [2, 1]]}'), "not positive definite"),
    ],
)
def test_bad_input_is_one_sentence(run, tmp_path, arguments, why):
    if arguments[-1].startswith("{"):
        (tmp_path / "v.json").write_text(arguments[-1])
        arguments = (*arguments[:-1], tmp_path / "v.json")
    code, _, err = run("gaussian", *arguments)
    assert code == 2
    assert why in err
    assert err.count("\n") == 1
