"""Columns in boxes of ratios: what a rule refuses, and what it says in its simplest cases."""

from math import exp, log2

import pytest

from dalenius.kernel import Refused
from tests.kernel.directed import TELL_X, UNIT, whole
from tests.kernel.documents import design
from tests.kernel.rule_documents import FLAT, RATIO, RELEASED, bound, coin


def margins(tree, promises=RATIO, mechanism=None):
    kept = mechanism or {"release": ["X"], "preserve_marginals": True}
    return coin({"rule": "invariant", "tree": tree}, promises, kept, channel=FLAT)


REFUSED = {
    "columns of fresh letters": (margins([["leaf", "0", "0"]], mechanism={"fresh": ["u", "v"]}), "are for W = X"),
    "a split of a letter that is never released": (
        margins(
            [["split", 1, 0, "3/2"], ["leaf", "0", "0"], ["leaf", "0", "0"]],
            mechanism={"release": ["X"], "forbid": [["a", "b"]]},
        )
        | {"channel": whole([[1, 0], [1, 0]])},
        "an integer from 0 to 0 is expected",
    ),
    "too many letters to forbid some": (
        design(
            {"X": [str(k) for k in range(11)]},
            [[k, "1"] for k in range(3)],
            {"release": ["X"], "forbid": [["0", "1"]]},
            objective=TELL_X,
            promises=RATIO,
            channel=whole([[1, *[0] * 10]] * 11),
            proof={"rule": "invariant", "tree": [["leaf", *["0"] * 3]]},
        ),
        "more than 10 letters",
    ),
    "margins without a ratio": (margins([["leaf", "0", "0"]], ()), "no promise bounds the ratio"),
    "margins with a price too few": (margins([["leaf", "0"]]), "not one price for each letter"),
    "a split off the grid": (
        margins([["split", 0, 0, "4/3"], ["leaf", "0", "0"], ["leaf", "0", "0"]]),
        "does not divide its box on the grid",
    ),
    "a split outside": (
        margins([["split", 0, 0, "4"], ["leaf", "0", "0"], ["leaf", "0", "0"]]),
        "does not divide its box on the grid",
    ),
    "too many letters": (
        design(
            {"X": [str(k) for k in range(11)]},
            [[k, "1"] for k in range(11)],
            {"release": ["X"], "preserve_marginals": True},
            objective=TELL_X,
            promises=RATIO,
            channel=whole([[1] * 11] * 11),
            proof={"rule": "invariant", "tree": [["leaf", *["0"] * 11]]},
        ),
        "more than 10 letters",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_proof_is_refused(name):
    document, sentence = REFUSED[name]
    with pytest.raises(Refused, match=sentence):
        bound(document)


def test_columns_of_two_letters_tell_what_their_corners_tell():
    """With prices of zero the bound is the most that a corner tells, here (r, 1) or (1, r), times its least entry."""
    r = exp(1)
    mean = (1 + r) / 2
    most = r * log2(r) / 2 - mean * log2(mean)
    document = margins([["leaf", "0", "0"]], mechanism=RELEASED)
    assert float(bound(document)) == pytest.approx(most, abs=1e-12)
    nothing = margins([["leaf", "0", "0"]], mechanism={"release": ["X"], "freeze": ["a", "b"]})
    assert bound(nothing) == 0
    level = str(UNIT)
    assert float(bound(margins([["leaf", level, level]], mechanism=RELEASED))) == 2


def test_columns_without_a_least_entry_need_no_prices():
    """Both entries of the first column above 3/2 of its least one: there is no such column."""
    tree = [["split", 0, 0, "3/2"], ["leaf", "0", "0"], ["split", 0, 1, "3/2"], ["leaf", "0", "0"]]
    assert bound(margins(tree)) <= bound(margins([["leaf", "0", "0"]]))
