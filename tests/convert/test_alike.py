"""Laws and channels of alike samples, noise and filled columns say the same in both versions, there and back."""

import json
from fractions import Fraction

import pytest

from dalenius.convert import alike, noise
from dalenius.convert.telling import joint_told
from dalenius.convert.text import CannotConvert
from tests.kernel.alike_documents import FILLED, HONEST, real, real_texts

REAL = {name: json.loads(text) for name, text in real_texts().items()}


def having(form):
    return [name for name, document in REAL.items() if document["channel"]["form"] == form]


@pytest.mark.parametrize("name", having("types"))
def test_channels_of_types_there_and_back(name):
    document = REAL[name]
    told = alike.told_types(document, "Y")
    assert list(told["output"]) == ["Y"]
    assert ("columns" in told) == (document["law"]["law"] != "alike")
    assert alike.types_channel({"channel": told}) == document["channel"]
    if document["law"]["law"] == "alike":
        variables, law = alike.conditionally_iid(alike.told_law(document))
        assert (variables, law) == (document["variables"], document["law"])


@pytest.mark.parametrize("name", having("orbits"))
def test_channels_of_orbits_there_and_back(name):
    document = REAL[name]
    told = alike.told_orbits(document, "Y")
    assert len(told["output"]) == 1 + len(document["mechanism"]["observe"])
    assert alike.orbits_channel({"channel": told}) == document["channel"]
    turned = told | {"inputs": dict(reversed(told["inputs"].items()))}
    design = {"channel": turned, "mechanism": {"observe": document["mechanism"]["observe"]}}
    words = [[word for _, word in words] for _, words in alike.orbits_channel(design)["columns"]]
    assert words == [[word[::-1] for _, word in words] for _, words in document["channel"]["columns"]]


@pytest.mark.parametrize("name", having("noise"))
def test_channels_of_noise_there_and_back(name):
    document = REAL[name]
    told = noise.told_noise(document, "Y")
    axes = document["channel"]["axes"]
    proof = {
        "priors": [[[int(c), int(n)] for c, n in axis["prior"]] for axis in axes],
        "variances": [axis["variance"] for axis in axes],
    }
    assert noise.noise_channel({"channel": told, "certificate": proof}) == document["channel"]
    for letters, many in zip(told["output"].values(), document["channel"]["letters"], strict=True):
        assert len(letters) == many == len(set(letters))


def test_noise_off_its_grid_is_not_converted():
    told = noise.told_noise(real("noise_dice_gaussian"), "Y")
    told["output"] = {"X": [str(Fraction(v) + Fraction(1, 3)) for v in told["output"]["X"]]}
    with pytest.raises(CannotConvert, match="off the grid"):
        noise.noise_channel({"channel": told, "certificate": {"priors": [[]], "variances": ["1"]}})


@pytest.mark.parametrize("name", having("filled"))
def test_filled_columns_there_and_back(name):
    document = REAL[name]
    told = noise.told_filled(document, "Y")
    observe = document["mechanism"]["observe"]
    design = {"channel": told, "joint": joint_told(document), "mechanism": {"observe": observe}}
    again = noise.filled(design)
    assert again["form"] == "filled"
    assert noise.poured(document | {"channel": again}) == noise.poured(document)
    assert noise.filled({"channel": told}) == noise.poured(document)  # a card has no law


def test_columns_that_are_not_filled_are_written_as_they_stand():
    told = noise.told_filled(FILLED, "Y")
    design = {"channel": told, "joint": joint_told(FILLED), "mechanism": {"observe": ["X"]}}
    for key, value in (("keep", ["1/2"] * 5), ("q", ["1/5"] * 5)):
        other = design | {"channel": told | {key: value}}
        assert noise.filled(other)["form"] == "resample"
    still = design | {"channel": told | {"keep": ["0"] * 5, "q": ["0", "1", "0", "0", "0"]}}
    assert noise.filled(still)["form"] == "resample"  # always a letter that is not the most frequent one
    assert noise.filled(design | {"mechanism": {"observe": ["Z"]}})["form"] == "resample"


def test_roles_and_letters_of_pairs():
    told = alike.told_orbits(HONEST["orbits of two"], "Y")
    assert told["output"] == {"Y": ["0", "1"], "Y_X1": ["0", "1"], "Y_X2": ["0", "1"]}
