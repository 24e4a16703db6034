"""What a proof brings and does not use is read all the same, and planted errors stand where they are looked for."""

import pytest

from dalenius.kernel import Refused
from tests.kernel import test_parts_forged
from tests.kernel.directed import HAMMING
from tests.kernel.documents import worst_case
from tests.kernel.rule_documents import bound, by_letters, corners, pram, secret

APART = {"promise": "total_variation", "secret": ["S"], "at_most": "1"}
UNUSED = {
    "an input twice in a basis": (corners(basis=(0, 0)), "an input stands twice"),
    "a posterior that is no list": (
        secret(by_letters([[["0", "1"]]]), [worst_case("1", "S")], objective=HAMMING),
        "a list is expected",
    ),
    "a multiplier that is no number": (
        secret(by_letters([[["a"]]]), [APART], objective=HAMMING),
        "is not an integer, a decimal or a fraction",
    ),
    "trees of a single letter": (
        pram([], "leaf")
        | {"variables": [{"name": "X", "letters": ["a"]}], "channel": {"form": "pram", "stay": ["1"]}}
        | {"law": {"law": "known", "variables": ["X"], "outcomes": [[0, "1"]]}},
        "of a single letter there is nothing to divide",
    ),
}


@pytest.mark.parametrize("name", UNUSED)
def test_what_a_proof_does_not_use_is_read_all_the_same(name):
    document, sentence = UNUSED[name]
    with pytest.raises(Refused, match=sentence):
        bound(document)


def test_numbers_that_are_not_used_change_nothing():
    proof = by_letters([[["3", "-1/2"], []]])
    assert bound(secret(proof, [APART], objective=HAMMING)) == bound(
        secret(by_letters([[]]), [APART], objective=HAMMING)
    )


def test_every_error_planted_in_parts_stands_where_it_is_looked_for():
    text = test_parts_forged.source()
    assert [name for name, (right, _, _) in test_parts_forged.PLANTED.items() if right not in text] == []
