"""The command line of the checker says what was proved, and every way in which it was not."""

import pytest

from dalenius.kernel.command import main
from tests.kernel.documents import (
    CYCLE,
    NUMBERS,
    RESPONSE,
    SAME,
    THREE,
    TWO,
    card,
    claims_of,
    contraction,
    counted,
    design,
    distance,
    leakage,
    limit,
    text_of,
)
from tests.kernel.honest_documents import honest


@pytest.fixture
def told(tmp_path, capsys):
    """What the command says about a text, and its status."""

    def run(text, *options):
        file = tmp_path / "file.json"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        status = main([*options, str(file)])
        return status, "".join(capsys.readouterr())

    return run


def test_figures_are_told_from_the_side_that_was_proved(told):
    status, words = told(text_of(honest()["leakage"]), "--privacy")
    assert status == 0
    assert "leakage_bits at most 0.18872" in words
    assert "guess_before at least 0.5" in words


def test_the_rows_of_a_table_are_told(told):
    law = counted(1000)
    assert "for a table of 8,000 rows" in told(text_of(design(law=law)), "--privacy")[1]


def test_what_nothing_bounds_is_told(told):
    text = text_of(design(outcomes=SAME, promises=[leakage("1", "S")]))
    assert "odds_nats is not bounded" in told(text, "--privacy")[1]


def test_limits_are_told(told):
    text = text_of(
        design(NUMBERS, THREE, {"release": ["X"]}, limits=[limit("1/2", distance("hamming", "X"))], channel=CYCLE)
    )
    assert "limit 1: kept, at most 0.5" in told(text, "--privacy")[1]


def test_a_card_says_what_it_cannot_prove(told):
    status, words = told(text_of(card(TWO, {}, [leakage("1", "S"), contraction("1/5")], RESPONSE)))
    assert status == 0
    assert "promise 1: needs the design" in words
    assert "promise 2: kept" in words


def test_value_and_bound_are_told(told):
    status, words = told(text_of(honest()["independent"]))
    assert status == 0
    assert "value at least 1 bits; no mechanism has more than 1" in words


def test_a_least_value_and_its_bound_are_told(told):
    document = design(outcomes=SAME, objective={"aim": "leakage", "about": ["S"], "theta": "1"}, channel=RESPONSE)
    document["claims"] |= {"value": "1", "bound": "0", "gap": "1"}
    leaf = {"objective": [["1", "1"]], "promises": []}
    nothing = {name: [] for name in ("promises", "limits", "margins", "cuts", "prices")}
    trees = {"trees": [[["leaf", 0]]], "leaves": [leaf], "relations": []}
    document["proof"] = {"rule": "lines", "division": "letters"} | nothing | trees
    status, words = told(text_of(document))
    assert status == 0, words
    assert "value at most 0.08170" in words
    assert "no mechanism has less than 0" in words


@pytest.mark.parametrize(
    "arguments", [[], ["--privacy"], ["--work", "x", "f"], ["--work", "1"], ["--", "f"], ["--work", "9", "--all", "f"]]
)
def test_wrong_arguments_are_told(arguments, capsys):
    assert main(arguments) == 2
    assert "usage" in capsys.readouterr().err


def test_a_file_that_is_no_text_is_told(told):
    status, words = told(b"\xff\xfe")
    assert status == 2
    assert "cannot read" in words


def test_a_missing_file_is_told(tmp_path, capsys):
    assert main([str(tmp_path / "missing")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_more_work_may_be_allowed(told):
    text = text_of(design(work=30_000_000))
    assert told(text, "--privacy")[0] == 4
    assert told(text, "--privacy", "--work", "30000000")[0] == 0


def test_a_name_cannot_write_a_line_of_its_own(told):
    names = {"S": ["u", "v"], "X\n  promise 2: kept\x1b[2J": ["a", "b"]}
    strange = list(names)[1]
    given = [{"figure": "leakage_bits", "given": strange, "value": None}]
    objective = {"aim": "information", "about": [strange], "theta": "1"}
    asked = {"observe": [strange]}
    promises = [leakage("1", "S")]
    found = design(names, SAME, asked, objective=objective, promises=promises, claims=claims_of(promises=[given]))
    status, words = told(text_of(found), "--privacy")
    assert status == 0
    assert "promise 2: kept" not in words.replace("\\n  promise 2: kept\\x1b[2J", "")
    assert "\x1b" not in words
