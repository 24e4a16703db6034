"""`Design` and `Certificate`: what is written reads back exactly; what is damaged is refused."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius.core import Certificate, Channel, Design, MinimizeRate
from dalenius.core.numbers import exact, strict_json
from dalenius.designs import disclose
from dalenius.errors import InputError
from dalenius.testing import example2, self_disclosure, xor


@pytest.fixture(params=[xor, example2, lambda: self_disclosure(["7/10", "3/10"], 3)], ids=["xor", "example2", "self"])
def design(request):
    return disclose(request.param())


def test_round_trip_is_exact(design):
    again = Design.from_json(strict_json(design.dumps()))
    assert again == design
    assert again.dumps() == design.dumps()
    assert again.digest() == design.digest()


def test_the_file_says_first_that_it_is_confidential_and_what_it_is(design):
    document = json.loads(design.dumps())
    assert list(document)[:2] == ["confidential", "format"]
    assert document["confidential"] is True
    assert document["format"] == "dalenius-design/1"
    assert exact(document["value"]) <= design.value <= design.bound <= exact(document["bound"])
    assert exact(document["gap"]) >= exact(document["bound"]) - exact(document["value"])


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
    assert "pmf" not in json.dumps(card)


def test_the_digest_names_what_is_drawn_and_not_how_it_was_found():
    design = disclose(xor())
    assert replace(design, method="guessed", value=Fraction(0), versions={}).digest() == design.digest()
    swapped = replace(design, channel=replace(design.channel, rows=design.channel.rows[::-1]))
    assert swapped.digest() == design.digest()  # the rows of xor read the same backwards
    other = replace(design, channel=Channel.constant(design.channel.inputs, "Y"))
    assert other.digest() != design.digest()
    assert replace(design, problem=replace(design.problem, order="keep")).digest() != design.digest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("format"), "not a design file of format"),
        (lambda d: d.update(format="dalenius-design/2"), "not a design file of format"),
        (lambda d: d.pop("channel"), "damaged: KeyError 'channel'"),
        (lambda d: d.update(guarantees=[{}]), "damaged: KeyError 'promised'"),
        (lambda d: d.update(guarantees=7), "damaged: TypeError"),
        (lambda d: d.update(value="nan"), "value is 'nan'"),
        (lambda d: d.update(certificate=[]), "names its kind"),
        (lambda d: d["mechanism"].update(colour=1), "unknown key 'colour'"),
        (lambda d: d["joint"]["pmf"].pop(), "sum to 3/4, not 1"),
        (lambda d: d["channel"]["rows"].pop(), "3 rows for 4 input outcomes"),
        (lambda d: d.update(limits="none"), "damaged"),
    ],
)
def test_a_damaged_file_is_refused(change, message):
    document = json.loads(disclose(xor()).dumps())
    change(document)
    with pytest.raises(InputError, match=message):
        Design.from_json(document)


def test_a_certificate_reads_back():
    certificate = Certificate("rays", {"z": ["1/2"], "basis": [0]})
    assert Certificate.from_json(certificate.to_json()) == certificate
    with pytest.raises(InputError, match="names its kind"):
        Certificate.from_json({"z": []})
