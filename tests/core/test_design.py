"""`Design` and `Certificate`: what is written reads back exactly; what is damaged is refused."""

import hashlib
import json
from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius.core import Certificate, Channel, Design, MinimizeRate
from dalenius.core.numbers import exact
from dalenius.documents import about_of
from dalenius.errors import InputError
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.testing import example2, self_disclosure, xor


@pytest.fixture(params=[xor, example2, lambda: self_disclosure(["7/10", "3/10"], 3)], ids=["xor", "example2", "self"])
def design(request):
    return disclose(request.param())


def test_round_trip_is_exact(design):
    again = Design.from_text(design.dumps(), json.loads(design.about()))
    assert again == design
    assert again.dumps() == design.dumps()
    assert again.digest() == design.digest()


def test_without_the_file_beside_it_a_design_is_the_same_mechanism(design):
    alone = Design.from_text(design.dumps())
    assert alone.channel == design.channel
    assert alone.problem.guarantees == design.problem.guarantees
    assert alone.proved == design.proved
    assert alone.method == ""


def test_the_file_of_another_design_is_refused(design):
    about = json.loads(design.about()) | {"of": "0" * 64}
    with pytest.raises(InputError, match="about another design"):
        Design.from_text(design.dumps(), about)


def test_the_file_is_the_document_that_the_kernel_proved(design):
    document = json.loads(design.dumps())
    assert list(document)[:2] == ["format", "work"]
    assert document["format"] == "dalenius-design/2"
    assert hashlib.sha256(design.dumps().encode()).hexdigest() == design.digest()
    claims = document["claims"]
    assert exact(claims["value"]) == design.value <= design.bound == exact(claims["bound"])
    assert exact(claims["gap"]) >= design.gap


def test_a_design_that_was_not_proved_has_no_file():
    with pytest.raises(ValueError, match="not proved"):
        replace(disclose(xor()), text="").dumps()


def test_what_is_told_is_the_callers_own():
    design = disclose(xor())
    assert design.dumps() is design.dumps()
    design.to_json()["channel"]["rows"].clear()
    assert design.to_json()["channel"]["rows"]
    outline = design.outline()
    assert {**design.to_json(), "joint": outline["joint"]} == outline


def test_figures_are_rounded_against_us_in_both_senses():
    third = Fraction(1, 3)
    loose = replace(disclose(xor()), value=third, bound=2 * third)
    document = loose.to_json()
    assert exact(document["value"]) < third
    assert exact(document["bound"]) > 2 * third
    minimised = replace(loose, problem=replace(loose.problem, objective=MinimizeRate()), value=2 * third, bound=third)
    document = minimised.to_json()
    assert exact(document["value"]) > 2 * third
    assert exact(document["bound"]) < third
    assert minimised.gap == third


def test_the_card_holds_the_channel_and_no_counts(design):
    card = design.card()
    assert Channel.from_json(card["channel"]) == design.channel
    assert not {"joint", "source", "columns", "certificate", "problem_digest"} & set(card)
    assert card["released"] == ["Y"]
    assert (card["unit_of_privacy"], card["order"], card["kept"]) == ("row", "shuffle", [])
    written = json.loads(design.card_text())
    assert not {"law", "objective", "limits", "proof"} & set(written)
    beside = about_of(card, design.card_text())
    assert "outcomes" not in design.card_text() + json.dumps(beside)
    assert beside["design"] == design.digest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("format"), "not a design file of format"),
        (lambda d: d.update(format="dalenius-design/1"), "not a design file of format"),
        (lambda d: d.pop("channel"), "damaged: KeyError 'channel'"),
        (lambda d: d.update(promises=[{}]), "damaged"),
        (lambda d: d.update(promises=7), "damaged: TypeError"),
        (lambda d: d["claims"].update(value="nan"), "value is 'nan'"),
        (lambda d: d.update(proof=[]), "damaged"),
        (lambda d: d["channel"]["rows"].pop(), "3 rows for 4 input outcomes"),
        (lambda d: d.update(limits="none"), "damaged"),
    ],
)
def test_a_damaged_file_is_refused(change, message):
    document = json.loads(disclose(xor()).dumps())
    change(document)
    with pytest.raises(InputError, match=message):
        Design.from_text(json.dumps(document))


def test_a_certificate_names_the_rule_of_its_proof():
    assert Certificate({"rule": "corners", "prices": ["1"], "basis": [0]}).kind == "corners"
    assert Certificate().kind == "none"
