"""Small errors that were planted in the ledger and that no other test saw."""

import json
from fractions import Fraction

import pytest

from dalenius import Ledger
from dalenius.core.query import Query
from dalenius.documents import ENOUGH, canonical, checked, digest, filed, unfiled
from dalenius.errors import DaleniusError, LedgerRefused
from dalenius.ledger import Entry, anybody
from dalenius.ledger.documents import mechanism_of, proved
from dalenius.ledger.entry import RELEASED
from dalenius.ledger.query import query_document
from tests.ledger.documents import card, coin, document, fair, flip

BITS = ("0", "1")


def counted(parameter="3/5", reads="smoker"):
    return query_document(Query(5, (BITS,) * 5, "count", "randomised-response", Fraction(parameter)), reads)


def entry(text, rows=None):
    return Entry(1, "1", RELEASED, "t.csv", text, rows=rows)


def test_an_entry_does_not_show_its_document():
    """A repr ends in logs, and a filed design holds the counts of the table."""
    shown = repr(entry(coin()))
    assert "document=" not in shown
    assert "law" not in shown


def test_of_several_draws_each_counts_in_full():
    """What one draw tells about a person by ties is no bound of what two draws tell."""
    once, twice = entry(counted()), entry(counted(), rows=2)
    one = once.mechanism.about_bits(2, own=False)
    assert one < once.mechanism.capacity_bits
    assert anybody._beside(once, 2) == one
    assert anybody._beside(twice, 2) == 2 * once.mechanism.capacity_bits
    other = entry(counted(reads="driver"))
    assert anybody._among(once, [once, other]) < once.mechanism.capacity_bits
    assert anybody._among(twice, [twice, other]) == 2 * once.mechanism.capacity_bits


def test_so_many_values_as_the_limit_are_still_few(monkeypatch):
    once = entry(counted())
    monkeypatch.setattr(anybody, "LARGEST", 2)
    assert anybody._beside(once, 2) == once.mechanism.about_bits(2, own=False)
    assert anybody._beside(once, 3) == once.mechanism.capacity_bits


@pytest.mark.parametrize(
    ("parameter", "told"), [("3/5", " 3/5"), ("12345/123457", " 12345/123457"), ("1/12345678901", "")]
)
def test_a_list_of_releases_tells_a_parameter_that_is_short(parameter, told):
    assert mechanism_of(counted(parameter)).described["released"] == [f"count under randomised-response{told}"]


def test_a_bound_that_is_false_is_no_reason_to_charge_nothing():
    """A ledger charges what is told; whether something better exists is not its question."""
    text, about = unfiled(coin())
    values = json.loads(text)
    values["claims"] |= {"bound": values["claims"]["value"], "gap": "0"}
    forged = canonical(values)
    with pytest.raises(DaleniusError):
        checked(forged, work=ENOUGH)
    assert proved(filed(forged, about | {"of": digest(forged)})).level == mechanism_of(coin()).level


def test_a_release_that_is_refused_has_no_number_yet(tmp_path):
    ledger = Ledger.create(tmp_path / "L", ["maximal_leakage=9"])
    kept = card(document(fair("X", "K"), (("X",), flip("1/4")), keep=["K"]))
    with pytest.raises(LedgerRefused, match=r"release \(new\) keeps columns"):
        ledger.add(kept, dataset="people")
