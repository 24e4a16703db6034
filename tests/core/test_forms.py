"""Forms of channels: each says the same as its rows, is read strictly and survives the file format."""

import json
from fractions import Fraction

import pytest

from dalenius.core import Channel, channel_of
from dalenius.core.expanding import expanded
from dalenius.core.numbers import strict_json
from dalenius.core.reading import stochastic
from dalenius.errors import InvalidChannel, NotCertified, Unsupported

AB = {"inputs": {"X": ["a", "b"]}, "output": {"X": ["a", "b"]}}
RESAMPLE = {"form": "resample", **AB, "keep": ["1/2", "0.25"], "q": ["1/3", "2/3"]}
FORMS = {"resample": RESAMPLE}


@pytest.mark.parametrize("document", FORMS.values(), ids=list(FORMS))
def test_a_form_survives_the_file_format_and_is_a_channel(document):
    form = channel_of(document)
    again = channel_of(strict_json(json.dumps(form.to_json())))
    assert again == form
    assert Channel(form.inputs, form.output, form.rows).rows == form.rows
    _, rows, scale = stochastic(form.to_json())
    assert [[Fraction(v, scale) for v in row] for row in rows] == [list(row) for row in form.rows]


def test_resampling_keeps_or_draws_afresh():
    assert channel_of(RESAMPLE).rows == (
        (Fraction(2, 3), Fraction(1, 3)),
        (Fraction(1, 4), Fraction(3, 4)),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keep": ["2", "0"]}, "not made of probabilities"),
        ({"q": ["1/3", "1/3"]}, "not a pmf"),
        ({"keep": ["1"]}, "one entry of keep and of q for each letter"),
        ({"more": 1}, "exactly the keys"),
    ],
)
def test_a_broken_form_is_refused_by_the_package_and_by_the_checker(change, message):
    with pytest.raises(InvalidChannel, match=message):
        channel_of({**RESAMPLE, **change})


def test_the_checker_refuses_a_form_whose_rows_are_no_pmfs():
    with pytest.raises(NotCertified, match="row 1 of the channel is not a pmf"):
        stochastic({**RESAMPLE, "q": ["1/3", "1/3"]})


def test_a_large_form_is_not_written_out():
    letters = [str(k) for k in range(3000)]
    large = {"form": "resample", "inputs": {"X": letters}, "output": {"X": letters}, "keep": [], "q": []}
    with pytest.raises(Unsupported, match="9,000,000 entries"):
        expanded(large)
