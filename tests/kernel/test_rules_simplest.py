"""What the rules of the kernel prove in their simplest cases."""

from fractions import Fraction
from itertools import product

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.check import beside_side_information, proved_bound
from dalenius.kernel.document import read_document
from dalenius.kernel.maps import informed
from dalenius.kernel.marginals import _with_second
from dalenius.kernel.numbers import Node
from dalenius.kernel.promises import AboutSecret
from dalenius.kernel.rows import Frame, scores
from dalenius.kernel.subsets import ceiling
from tests.kernel.directed import (
    HAMMING,
    LETTER_BY_LETTER,
    ONE_LEAF,
    TELL_X,
    UNIT,
    leaf,
    lines,
    whole,
)
from tests.kernel.documents import (
    claims_of,
    contraction,
    dalenius,
    dense,
    design,
    distance,
    independent,
    leakage,
    local_dp,
    text_of,
)
from tests.kernel.rule_documents import (
    CELLS,
    FLAT,
    RATIO,
    RELEASED,
    TWO_BY_TWO,
    bound,
    coin,
    corners,
    maps,
    parted,
    pram,
    secret,
    subsets,
    value,
    varying,
)


# --- what rules prove in their simplest cases -------------------------------------------------------------------------
def test_a_coin_tells_one_bit():
    assert bound(coin(CELLS)) == 1
    assert bound(corners()) == 1
    assert bound(coin({"rule": "closed"})) == 1
    boxes = lines("boxes", ONE_LEAF, [leaf(["0"])], prices=[str(UNIT)] * 2)
    assert bound(coin(boxes)) == 1


def test_equal_rows_tell_nothing():
    none = [local_dp("0")]
    assert bound(subsets(promises=none, channel=FLAT)) == 0
    assert bound(coin({"rule": "closed"}, none, channel=FLAT)) == 0
    assert ceiling(Fraction(1)) == 0


def test_a_level_without_end_leaves_the_entropy():
    assert bound(subsets(promises=[local_dp("101", delta="1/2"), local_dp("1")])) < 1
    with pytest.raises(Refused, match="no promise bounds the ratio"):
        bound(subsets(promises=[local_dp("101", delta="1/2")]))


def test_a_delta_of_equal_levels_tells_as_much_as_it_cuts_away():
    channel = whole([[3, 2], [2, 3]])
    document = subsets(promises=[local_dp("0", delta="1/5")], channel=channel)
    assert bound(document) == Fraction(1, 5)
    assert value(document) < Fraction(1, 5)


def test_a_single_letter_of_form_pram_tells_nothing():
    document = pram([], []) | {
        "variables": [{"name": "X", "letters": ["a"]}],
        "channel": {"form": "pram", "stay": ["1"]},
    }
    document["law"]["outcomes"] = [[0, "1"]]
    assert bound(document) == 0


def test_no_letter_is_above_and_below_at_once():
    assert _with_second({0: 5, 1: 6}, [(3, 0)]) == {1: 9}
    assert _with_second({0: 5, 1: 6}, [(3, 0), (2, 1)]) == {0: 7, 1: 9}


def test_a_variance_is_bounded_from_below_by_zero():
    assert bound(varying(prices=["1", "1"])) == 0


def test_a_variance_counts_what_is_released_never():
    channel = whole([[2, 1, 0], [1, 2, 0]])
    assert value(varying(channel=channel)) == value(varying())


def test_a_variance_needs_letters_that_tell():
    with pytest.raises(Refused, match="do not determine every frequency"):
        value(varying(channel=FLAT))


def test_parts_add_up():
    assert bound(parted()) == 1


def test_margins_of_information_letter_by_letter():
    tree = [[["leaf", 0]]] * 2
    proof = lines("simplices", tree, [leaf(["0", "0"])], margins=[str(UNIT), "-" + str(UNIT)])
    document = coin(proof, (), {"release": ["X"], "preserve_marginals": True})
    assert bound(document) >= value(document)


def test_uninformed_side_information_is_counted_beside_the_letter():
    mechanism = {"release": ["X"], "side": {"variable": "S", "encoder": "uninformed"}}
    document = secret({"rule": "closed"}, mechanism=mechanism, objective=TELL_X)
    found = read_document(text_of(document))
    assert beside_side_information(found.release, ("S",)) == 1
    assert beside_side_information(found.release, ()) is None
    plain = read_document(text_of(secret({"rule": "closed"}, objective=TELL_X)))
    assert beside_side_information(plain.release, ("S",)) is None


def test_side_information_is_for_columns_that_are_read_as_they_are():
    found = read_document(text_of(maps()))

    class Other(type(found.setting)):
        pass

    other = Other(found.setting.variables, found.setting.law, found.setting.mechanism, found.setting.work)
    with pytest.raises(Refused, match="columns that are read as they are"):
        informed(other)


def test_what_maps_release_keeps_its_shape():
    forbidden = maps(mechanism={"forbid": [["a", "b"]]})
    found = read_document(text_of(forbidden))
    found.release.keep_shape()
    assert found.release.cost(found.objective.distortion) == 0
    moved = maps(mechanism={"forbid": [["a", "b"]]})
    moved["channel"]["decoder"] = [[1, 0], [1, 1], [0, 1], [1, 0]]
    with pytest.raises(Refused, match="a forbidden letter can be released"):
        read_document(text_of(moved)).release.keep_shape()


def test_a_promise_that_lends_nothing_may_stand_by():
    own = [[], []]
    proof = lines("letters", LETTER_BY_LETTER, [leaf([], *own)] * 2, promises=["0", "0"])
    assert bound(coin(proof, [contraction("1"), dalenius("1")], RELEASED, HAMMING)) == 0


def test_a_leakage_without_weight_lends_nothing():
    proof = lines("letters", LETTER_BY_LETTER, [leaf([], ["1", "2"])] * 2, promises=["0"])
    assert bound(secret(proof, [leakage("1", "S")], objective=HAMMING)) == 0


def test_an_infinite_distortion_is_no_choice():
    aim = {"aim": "distortion", "distortion": [distance("erasure", "X")]}
    mechanism = {"fresh": ["a", "b", "(missing)"]}
    proof = lines("letters", [[["leaf", t]] for t in range(3)], [leaf([])] * 3)
    document = coin(proof, (), mechanism, aim, channel=whole([[1, 0, 0], [0, 1, 0]]))
    assert bound(document) == 0


def test_rows_are_read_one_by_one_where_one_is_wrong():
    own = [leaf([], ["1", "-1"]), leaf([], [])]
    proof = lines("letters", LETTER_BY_LETTER, own, promises=["0"])
    assert bound(secret(proof, [independent("S")], objective=HAMMING)) <= 1


def test_a_node_may_stand_for_a_proof():
    found = read_document(text_of(coin(CELLS)))
    proof = Node({"rule": "closed"})
    assert proved_bound(found.setting, found.promises, found.limits, found.objective, proof) == 1


def test_corners_where_fewer_inputs_are_left_than_promises_ask_for():
    """Two fair bits, either of which is a secret: equal or different, one bit; every corner has a basis too many."""
    document = design(
        TWO_BY_TWO,
        [[0, 0, "1"], [0, 1, "1"], [1, 0, "1"], [1, 1, "1"]],
        {"observe": ["A", "B"]},
        objective={"aim": "information", "about": ["A", "B"], "theta": "1"},
        promises=[independent("A"), independent("B")],
        channel=whole([[1, 0], [0, 1], [0, 1], [1, 0]]),
        proof={"rule": "corners", "prices": ["0"] * 4, "basis": [0, 1, 3]},
    )
    assert bound(document) == value(document) == 1


def test_a_corner_of_several_bases_is_met_once():
    """Three fair bits, each a secret: who agrees with whom is two bits, and no mechanism tells more."""
    inputs = list(product((0, 1), repeat=3))
    rows = [[int(2 * (a ^ b) + (b ^ c) == y) for y in range(4)] for a, b, c in inputs]
    document = design(
        {name: ["0", "1"] for name in "ABC"},
        [[*x, "1"] for x in inputs],
        {"observe": ["A", "B", "C"]},
        objective={"aim": "information", "about": ["A", "B", "C"], "theta": "1"},
        promises=[independent(name) for name in "ABC"],
        channel=whole(rows),
        proof={"rule": "corners", "prices": ["0"] * 8, "basis": [0, 2, 4, 7]},
    )
    assert bound(document) == value(document) == 2


def test_boxes_without_a_posterior_need_no_line():
    """Each bit has mass 1/2, so that no posterior has 2/5 at both inputs of one value."""
    document = design(
        TWO_BY_TWO,
        [[0, 0, "1"], [0, 1, "1"], [1, 0, "1"], [1, 1, "1"]],
        {"observe": ["A", "B"]},
        objective={"aim": "information", "about": ["A", "B"], "theta": "1"},
        promises=[independent("A"), independent("B")],
        channel=whole([[1, 0], [0, 1], [0, 1], [1, 0]]),
        proof=lines(
            "boxes",
            [[["split", 0, "2/5"], ["leaf", 0], ["split", 1, "2/5"], ["leaf", 0], ["leaf", 1]]],
            [leaf(["0"], [], []), leaf([str(-(1 << 70))], [], [])],
            promises=["0", "0"],
            prices=[str(UNIT)] * 4,
        ),
    )
    assert bound(document) == 1


def test_relations_pass_over_promises_that_they_do_not_use():
    proof = lines(
        "ranges",
        ONE_LEAF,
        [leaf(["0", "0"], [])],
        promises=["0"],
        relations=[[0, [[1, "-" + str(UNIT)]], [[]]]],
    )
    assert bound(coin(proof, RATIO)) == 2


class Odd(AboutSecret):
    """A promise that no rule knows."""

    def figures(self, release, evidence):
        return {}


def test_a_promise_of_another_kind_lends_no_scores():
    found = read_document(text_of(secret({"rule": "closed"}, objective=TELL_X)))
    frame = Frame(found.setting, ("S",))
    with pytest.raises(Refused, match="lends no scores"):
        scores(Odd(("S",)), frame, 0, [Node([]), Node(["1"])])
    assert scores(Odd(("S",)), frame, 0, [Node([])]) == {}


def test_inputs_too_far_apart_for_a_ratio_get_none():
    far = [["0", "1000"], ["1000", "0"]]
    proof = {"rule": "variance", "unit": "1", "matrix": [["1"]], "prices": ["1", "1"], "form": None}
    found = design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        {"release": ["X"]},
        promises=[local_dp("1", metric=far)],
        objective={"aim": "variance", "about": ["X"]},
        channel=dense([2, 1], [1, 2]),
        claims=claims_of("99", "0", "99", promises=[[]]),
        proof=proof,
    )
    with pytest.raises(Refused, match="too far apart"):
        check(text_of(found))
    found["promises"][0]["metric"] = [["0", "1"], ["1", "0"]]
    assert check(text_of(found)).bound is not None
