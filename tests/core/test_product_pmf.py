"""Independent groups: the same law as their product, read strictly, multiplied out only while small."""

import json
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Pmf, ProductPmf, law_of
from dalenius.core.numbers import strict_json
from dalenius.core.reading import multiplied
from dalenius.errors import InvalidPmf, MismatchError, NotCertified, Unsupported
from dalenius.testing import self_disclosure, xor

COIN = {"variables": {"X1": ["0", "1"]}, "pmf": [{"X1": "0", "p": "3/5"}, {"X1": "1", "p": "2/5"}]}
PAIR = {
    "variables": {"W": ["a", "b"], "Z": ["0", "1"]},
    "pmf": [{"W": "a", "Z": "1", "p": "1/3"}, {"W": "b", "Z": "0", "p": "2/3"}],
}
LAW = {"independent": [COIN, PAIR]}


def test_it_survives_the_file_format():
    law = law_of(strict_json(json.dumps(LAW)))
    assert isinstance(law, ProductPmf)
    assert law_of(law.to_json()) == law
    assert law.to_json() == LAW


def test_it_is_the_product_in_the_package_and_in_the_checker():
    law = ProductPmf.from_json(LAW)
    assert law.multiplied.probability(X1="1", W="a") == Fraction(2, 15)
    records = multiplied(LAW)["pmf"]
    assert {(r["X1"], r["W"], r["Z"]): r["p"] for r in records} == {
        ("0", "a", "1"): Fraction(1, 5),
        ("0", "b", "0"): Fraction(2, 5),
        ("1", "a", "1"): Fraction(2, 15),
        ("1", "b", "0"): Fraction(4, 15),
    }
    assert law.marginal(["Z", "X1"]).probability(Z="0", X1="0") == Fraction(2, 5)


def test_a_pmf_of_independent_variables_is_taken_apart_and_another_is_not():
    pmf = self_disclosure(["3/5", "2/5"], 3).pmf
    assert ProductPmf.of(pmf).multiplied == pmf
    with pytest.raises(MismatchError, match="not independent of each other"):
        ProductPmf.of(xor().pmf)
    gaps = Pmf.from_counts({"A": ("0", "1"), "B": ("0", "1")}, np.array([[0, 1], [1, 0]]), [1, 1])
    with pytest.raises(MismatchError, match="not independent"):
        ProductPmf.of(gaps)


def test_sixty_samples_are_not_multiplied_out():
    law = ProductPmf.from_json({"independent": [COIN]}).alike(60)
    with pytest.raises(Unsupported, match='form = "windows"'):
        _ = law.multiplied
    with pytest.raises(NotCertified, match="too large"):
        multiplied(law.to_json())


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"independent": []}, "at least one"),
        ({"independent": [COIN, COIN]}, "'X1' stands in two groups"),
        ({"independent": [COIN], "pmf": []}, "the one key"),
        ({"independent": COIN}, "list of distributions"),
        ({"independent": [{"variables": {"A": ["0"]}, "pmf": [{"A": "0", "p": "1/2"}]}]}, "sum to 1/2"),
    ],
)
def test_a_broken_product_is_refused(document, message):
    with pytest.raises(InvalidPmf, match=message):
        law_of(document)


def test_unknown_names_are_refused():
    with pytest.raises(MismatchError, match="no variable 'Q'"):
        ProductPmf.from_json(LAW).marginal(["Q"])
