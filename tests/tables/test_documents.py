"""Files of distances and gains: their columns and values must be those of the problem, or they are plain rows."""

import json

import pytest

from dalenius.errors import InputError, MismatchError
from dalenius.tables.documents import read_gain, read_metric

AGES = {"age": ("young", "old")}
ROWS = [[0, 1], [1, 0]]


@pytest.fixture
def file(tmp_path):
    def written(document):
        path = tmp_path / "told.json"
        path.write_text(json.dumps(document))
        return path

    return written


@pytest.mark.parametrize("document", [ROWS, {"inputs": {"age": ["young", "old"]}, "distances": ROWS}])
def test_distances_are_read(file, document):
    assert read_metric(file(document), AGES) == ROWS


@pytest.mark.parametrize(
    ("document", "error", "said"),
    [
        ("rows", InputError, 'the keys "inputs" and "distances"'),
        ({"inputs": {}, "distance": ROWS}, InputError, 'the keys "inputs" and "distances"'),
        ({"inputs": {"age": ["old", "young"]}, "distances": ROWS}, MismatchError, "the inputs are"),
        ({"inputs": ["age"], "distances": ROWS}, MismatchError, "the inputs are"),
    ],
)
def test_distances_of_something_else_are_refused(file, document, error, said):
    with pytest.raises(error, match=said):
        read_metric(file(document), AGES)


@pytest.mark.parametrize(
    "document",
    [
        ROWS,
        {"secret": {"age": ["young", "old"]}, "gains": ROWS},
        {"secret": {"age": ["young", "old"]}, "gains": ROWS, "actions": ["call", "write"]},
    ],
)
def test_gains_are_read(file, document):
    assert read_gain(file(document), AGES) == ROWS


@pytest.mark.parametrize(
    ("document", "error", "said"),
    [
        ({"secret": {}, "gain": ROWS}, InputError, 'the keys "secret" and "gains"'),
        ({"secret": {"sex": ["f", "m"]}, "gains": ROWS}, MismatchError, "the secret is"),
        ({"secret": {"age": ["young", "old"]}, "gains": ROWS, "actions": ["call"]}, InputError, "one row of gains"),
        ({"secret": {"age": ["young", "old"]}, "gains": ROWS, "actions": "call"}, InputError, "one row of gains"),
    ],
)
def test_gains_of_something_else_are_refused(file, document, error, said):
    with pytest.raises(error, match=said):
        read_gain(file(document), AGES)
