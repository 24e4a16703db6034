"""What values keep is proved from what arrives, without a look at pairs of records."""

from dataclasses import replace
from fractions import Fraction

from dalenius.core.kept_rows import with_kept_rows
from dalenius.kernel.nearest import RecordMetric
from dalenius.mechanisms.records.certifying import certified
from dalenius.mechanisms.records.few_records import listed
from dalenius.mechanisms.records.wide import Wide
from tests.kernel.test_records import problem


def test_what_a_value_keeps_is_proved_without_a_look_at_pairs_of_records(monkeypatch):
    """A table has a limit for every value of every column: each of them compared every entry of the recipe."""
    asked = with_kept_rows(replace(problem(3), keep_rows=Fraction(1, 100)))
    assert len(asked.limits) == 8
    wide = Wide.of(asked)
    found = listed(wide, 1e-9, 60.0, None)
    entries = len(found.rows.record)
    compared = []
    distance = RecordMetric.distance
    monkeypatch.setattr(RecordMetric, "distance", lambda *a: compared.append(1) or distance(*a))
    certified(wide, found)
    assert compared
    assert len(compared) <= 2 * entries  # once for what is minimised, with what the bound asks beside it
