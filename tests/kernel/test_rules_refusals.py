"""Every sentence with which a rule refuses a proof, and what rules say in their simplest cases."""

from fractions import Fraction
from itertools import product

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.check import beside_side_information, proved_bound, reached
from dalenius.kernel.corners import _leaving
from dalenius.kernel.document import read_document
from dalenius.kernel.maps import informed
from dalenius.kernel.marginals import _with_second, shapes
from dalenius.kernel.numbers import Node
from dalenius.kernel.promises import AboutSecret
from dalenius.kernel.rows import Frame, scores
from dalenius.kernel.subsets import ceiling
from tests.kernel.directed import (
    BITS_TOLD,
    HAMMING,
    LETTER_BY_LETTER,
    ONE_LEAF,
    TELL_X,
    UNIT,
    leaf,
    lines,
    maps_with_a_letter_for_each_world,
    whole,
)
from tests.kernel.documents import (
    SKEW,
    claims_of,
    contraction,
    dalenius,
    dense,
    design,
    distance,
    independent,
    information_privacy,
    leakage,
    local_dp,
    text_of,
    worst_case,
)

COIN = {"X": ["a", "b"]}
EVEN = [[0, "1"], [1, "1"]]
IDENTITY = whole([[1, 0], [0, 1]])
FLAT = whole([[1, 1], [1, 1]])
RELEASED = {"release": ["X"]}
LEAK = {"aim": "leakage", "about": ["S"], "theta": "1"}
TELL_ALL = {"information": ["X"], "at_least_bits": "0"}


def bound(document):
    found = read_document(text_of(document), 10**9)
    return proved_bound(found.setting, found.promises, found.limits, found.objective, found.proof)


def value(document):
    found = read_document(text_of(document), 10**9)
    return reached(found, found.objective)


def coin(proof, promises=(), mechanism=None, objective=TELL_X, channel=IDENTITY, outcomes=EVEN, **rest):
    return design(
        COIN, outcomes, mechanism, objective=objective, promises=promises, channel=channel, proof=proof, **rest
    )


def secret(proof, promises=(), mechanism=None, objective=LEAK, **rest):
    return design(
        BITS_TOLD,
        SKEW,
        mechanism or RELEASED,
        objective=objective,
        promises=promises,
        channel=IDENTITY,
        proof=proof,
        **rest,
    )


def by_letters(own, **rest):
    return lines("letters", LETTER_BY_LETTER, [leaf([], *own)] * 2, promises=["0"] * len(own), **rest)


def blocks(prices, tree):
    return {"rule": "blocks", "prices": prices, "tree": tree}


MAXIMAL = {"promise": "maximal_leakage", "secret": [], "at_most_bits": "1"}
CELLS = lines("simplices", ONE_LEAF, [leaf(["0", "0"])])
THREE_COINS = {"X": ["a", "b", "c"]}
THREE_EVEN = [[0, "1"], [1, "1"], [2, "1"]]
PRAM = {"form": "pram", "stay": ["2/3", "1/2"]}
RATIO = [local_dp("1")]


def pram(bases, trees, **rest):
    proof = {"rule": "marginals", "bases": bases, "trees": trees}
    return coin(proof, RATIO, {"release": ["X"], "form": "pram"}, channel=PRAM, **rest)


def trees_of_shapes(first):
    many = len(shapes(2, Fraction(50000000000000000000, 18393972058572116080)))
    return [first, *([["leaf", 0]] for _ in range(many - 1))]


def varying(matrix=(("0",),), prices=("0", "0"), unit="1", form=None, **rest):
    proof = {"rule": "variance", "unit": unit, "matrix": [list(row) for row in matrix], "prices": list(prices)}
    aim = {"aim": "variance", "about": ["X"]}
    rest = {"objective": aim, "channel": whole([[2, 1], [1, 2]])} | rest
    return coin(proof | {"form": form}, rest.pop("promises", RATIO), **rest)


def parted(views=(0,), parts=2, promises=None, objective=TELL_X, own=None):
    variables = {"X": ["a", "b", "c", "d"], "V": ["u", "v"], "W": ["s", "t"]}
    counts = [[0, 0, 0, "1"], [1, 0, 1, "1"], [2, 1, 0, "1"], [3, 1, 1, "1"]]
    inside = own or lines("simplices", ONE_LEAF, [leaf(["0", "0"], [])], promises=["0"])
    return design(
        variables,
        counts,
        objective=objective,
        promises=[independent("V"), leakage("1", "V")] if promises is None else promises,
        channel=whole([[1, 0], [0, 1], [1, 0], [0, 1]]),
        proof={"rule": "components", "views": list(views), "parts": [inside] * parts},
    )


def maps(tree=ONE_LEAF[0], leaves=None, mechanism=None, objective=HAMMING, **rest):
    document = maps_with_a_letter_for_each_world()
    document["mechanism"] |= mechanism or {}
    document["objective"] = objective
    document["proof"] = lines("maps", [tree], leaves or [leaf([])], **rest)
    return document


def subsets(runs=(["2", ["0"]],), tree=(["leaf", "0"],), promises=RATIO, **rest):
    proof = {"rule": "subsets", "runs": [list(run) for run in runs], "tree": [list(node) for node in tree]}
    return coin(proof, promises, **rest)


def corners(prices=("0", "0"), basis=(0,), promises=(), **rest):
    proof = {"rule": "corners", "prices": list(prices), "basis": list(basis)}
    return coin(proof, promises, **rest)


def cut(**changes):
    said = {"promise": 0, "first": 0, "second": 1, "at": "1/2", "weight": "1", "slopes": ["1", "1"]} | changes
    proof = by_letters([[]], cuts=[said])
    return coin(proof, [contraction("1")], RELEASED, HAMMING)


TWO_BY_TWO = {"A": ["0", "1"], "B": ["0", "1"]}

REFUSED = {
    # trees of cases
    "after the last leaf": (
        coin(lines("simplices", [[["leaf", 0], ["leaf", 0]]], [leaf(["0", "0"])])),
        "the tree goes on after its last leaf",
    ),
    "neither split nor leaf": (
        coin(lines("simplices", [[["twig", 0]]], [leaf(["0", "0"])])),
        "a node is a split or a leaf",
    ),
    "a leaf that is missing": (coin(lines("simplices", [[]], [leaf(["0", "0"])])), "lacks leaves"),
    # lines
    "an unknown division": (coin(CELLS | {"division": "circles"}), "no such division"),
    "no lines": (coin(lines("simplices", ONE_LEAF, [])), "a proof has no lines"),
    "prices for some inputs": (coin(CELLS | {"prices": ["1"]}), "not one price for each input"),
    "boxes without prices": (coin(CELLS | {"division": "boxes"}), "boxes and faces need prices"),
    "faces without prices": (coin(lines("faces", ONE_LEAF, [leaf([])])), "boxes and faces need prices"),
    "faces of some inputs": (
        coin(lines("faces", ONE_LEAF, [leaf([])], prices=["0", "0"])),
        "not a tree for each choice of inputs",
    ),
    "faces with numbers of labels": (
        coin(lines("faces", ONE_LEAF * 2, [leaf(["0", "0"])], prices=["0", "0"])),
        "not one number for each label",
    ),
    "faces beside letters that cost something": (
        coin(
            lines("faces", ONE_LEAF * 2, [leaf([])], limits=["1"], prices=["0", "0"]),
            mechanism=RELEASED,
            limits=[{"distortion": [distance("hamming", "X")], "at_most": "1"}],
        ),
        "faces are for promises about secrets alone",
    ),
    "faces of a minimum": (
        secret(lines("faces", ONE_LEAF, [leaf([["1", "1"]])], prices=["0", "0"])),
        "cells of posteriors are for an information",
    ),
    "sets for a part of the input": (
        secret(blocks(["0", "0"], [["leaf", "1"]]), objective={"aim": "information", "about": ["S"], "theta": "1"}),
        "blocks are for what tells about all of its input",
    ),
    "sets beside kept columns": (
        design(
            BITS_TOLD,
            SKEW,
            {"keep": ["S"]},
            objective=TELL_X,
            promises=[leakage("1", "S")],
            channel=IDENTITY,
            proof=blocks(["0", "0"], [["leaf", "1"]]),
        ),
        "blocks are for a letter alone",
    ),
    "sets without a promise": (coin(blocks(["0", "0"], [["leaf", "1"]])), "blocks need a promise of maximal leakage"),
    "sets with a price too few": (
        coin(blocks(["0"], [["leaf", "1"]]), [MAXIMAL]),
        "there is not one price for each input",
    ),
    "a tangent at nothing": (
        coin(blocks(["0", "0"], [["leaf", "0"]]), [MAXIMAL]),
        "a leaf has not a point above 0 and up to 1",
    ),
    "a split of a run of sets below its least": (
        coin(
            blocks(["0", "0"], [["split", 0, 1], ["split", 0, 0], ["leaf", "1"], ["leaf", "1"], ["leaf", "1"]]),
            [MAXIMAL],
        ),
        "the split does not divide its run",
    ),
    "two informations": (
        coin(CELLS | {"limits": ["1"]}, limits=[TELL_ALL]),
        "what is maximised and what must be told are not bounded together",
    ),
    "what must be told, by letters": (
        secret(lines("letters", LETTER_BY_LETTER, [leaf([["1", "1"]])] * 2, limits=["1"]), limits=[TELL_ALL]),
        "one limit from below is bounded, by simplices",
    ),
    "relations of cells": (coin(CELLS | {"relations": [[0, [], []]]}), "relations are for ranges"),
    "letters for information": (coin(CELLS | {"division": "letters"}), "letters alone do not divide"),
    "cells for a distortion": (
        coin(lines("simplices", LETTER_BY_LETTER, [leaf([])] * 2), (), RELEASED, HAMMING),
        "cells of posteriors are for an information",
    ),
    "letters that are divided": (
        coin(lines("letters", [[["split", 0]], [["leaf", 0]]], [leaf([])]), (), RELEASED, HAMMING),
        "letters are not divided",
    ),
    "prices beside several trees": (
        coin(
            lines("simplices", LETTER_BY_LETTER, [leaf(["0", "0"], [])] * 2, promises=["0"], prices=["0", "0"]),
            RATIO,
            RELEASED,
        ),
        "prices are for one tree",
    ),
    "prices without a ratio": (coin(CELLS | {"prices": ["0", "0"]}), "no promise bounds the ratio"),
    "a number too few": (coin(lines("simplices", ONE_LEAF, [leaf(["0"])])), "not one number for each label"),
    "a posterior too few": (
        secret(lines("letters", LETTER_BY_LETTER, [leaf([["1"]])] * 2)),
        "a posterior lacks a value",
    ),
    "a weight for a level": (
        coin(by_letters([[]]) | {"promises": ["1"]}, RATIO, RELEASED, HAMMING),
        "no weight for all letters",
    ),
    "a weight for a promise about letters": (
        secret(by_letters([[]]) | {"promises": ["1"]}, [independent("S")], objective=HAMMING),
        "it has no weight for all of them",
    ),
    "boxes where W is not X": (
        design(
            BITS_TOLD,
            SKEW,
            objective={"aim": "information", "about": ["S"], "theta": "1"},
            channel=IDENTITY,
            proof=lines("boxes", ONE_LEAF, [leaf(["0"])], prices=["0", "0"]),
        ),
        "boxes are for W = X",
    ),
    "a cut without contraction": (
        coin(
            by_letters(
                [[]], cuts=[{"promise": 0, "first": 0, "second": 1, "at": "1", "weight": "1", "slopes": ["1", "1"]}]
            ),
            RATIO,
            RELEASED,
            HAMMING,
        ),
        "a cut needs a promise of contraction",
    ),
    "a cut beyond its ends": (cut(at="2"), "a point up to 1"),
    "a cut of one input": (cut(second=0), "two inputs"),
    "an input without a letter": (
        coin(
            lines("letters", LETTER_BY_LETTER, [leaf([])] * 2),
            (),
            {"release": ["X"], "forbid": [["a", "a"], ["a", "b"]]},
            HAMMING,
        ),
        "has no letter that it may be released as",
    ),
    "margins for some letters": (
        coin(
            lines("letters", LETTER_BY_LETTER, [leaf([])] * 2, margins=["1"]),
            (),
            {"release": ["X"], "preserve_marginals": True},
            HAMMING,
        ),
        "not a multiplier for each letter",
    ),
    # what promises lend
    "multipliers too few": (
        secret(by_letters([["1"]]), [independent("S")], objective=HAMMING),
        "not a multiplier for each value",
    ),
    "multipliers that are negative": (
        secret(by_letters([[["-1", "0"], ["0", "0"]]]), [information_privacy("1", "S")], objective=HAMMING),
        "an integer from 0 on",
    ),
    "a level that restricts nothing": (
        secret(by_letters([[["1", "0"], ["0", "0"]]]), [information_privacy("101", "S")], objective=HAMMING),
        "restricts nothing",
    ),
    "a worst case of some values": (
        secret(by_letters([[["1", ["1"]]]]), [worst_case("1", "S")], objective=HAMMING),
        "a posterior lacks a value",
    ),
    "pairs of a promise without any": (
        coin(by_letters([[[0, 1, "1"]]]), [contraction("1")], RELEASED, HAMMING),
        "lends no pairs",
    ),
    "a posterior that is not positive": (
        secret(lines("letters", LETTER_BY_LETTER, [leaf([["0", "1"]])] * 2)),
        "an integer from 1 on",
    ),
    # cells and ranges
    "a split that is no point": (
        coin(lines("simplices", [[["split", "1/2", "1/3"], ["leaf", 0], ["leaf", 0]]], [leaf(["0", "0"])])),
        "a split is not a point of its cell",
    ),
    "ranges beside kept columns": (
        design(
            {"X": ["a", "b"], "K": ["u", "v"]},
            SKEW,
            {"keep": ["K"]},
            objective=TELL_X,
            channel=IDENTITY,
            proof=lines("ranges", ONE_LEAF, [leaf(["0"] * 4)]),
        ),
        "ranges are for outputs without columns beside them",
    ),
    "a relation by another promise": (
        coin(
            lines("ranges", ONE_LEAF, [leaf(["0", "0"], [])], promises=["0"], relations=[[0, [], [[[0, 1, "1"]]]]]),
            RATIO,
        ),
        "a relation uses promises of independence alone",
    ),
    # subsets
    "no ratio": (subsets(promises=()), "no promise bounds the ratio"),
    "subsets for something else": (
        subsets(mechanism=RELEASED, objective=HAMMING),
        "subsets are for what tells about all",
    ),
    "runs of other letters": (subsets([["3", ["0"]]]), "the runs are not made of all letters"),
    "no runs": (subsets([]), "the runs are not made of all letters"),
    "prices of other worlds": (subsets([["2", ["0", "0"]]]), "neither one price nor one for each"),
    "prices without a denominator": (
        subsets([["1", [f"1/{3**1300}"]], ["1", [f"1/{5**1300}"]]]),
        "no small common denominator",
    ),
    "a split of unlike letters": (
        subsets(tree=[["split", 0, 0], ["leaf", "0"], ["leaf", "0"]], outcomes=[[0, "1"], [1, "2"]]),
        "an integer from 0 to -1 is expected",
    ),
    "a split twice": (
        subsets(tree=[["split", 0, 0], ["split", 0, 0], ["leaf", "0"], ["leaf", "0"], ["leaf", "0"]]),
        "the split does not divide its run",
    ),
    "a point beyond one": (subsets(tree=[["leaf", "2"]]), "not one point of"),
    # corners
    "corners for something else": (corners(mechanism=RELEASED, objective=HAMMING), "corners are for information"),
    "corners without prices": (corners(["0"]), "not one price for each input"),
    "a singular basis": (corners(basis=(0, 1)), "singular"),
    "no basis": (corners(basis=()), "does not span"),
    "an infeasible basis": (
        design(
            {"S": ["u", "v"], "X": ["a", "b", "c"]},
            [[0, 0, "3"], [0, 1, "2"], [0, 2, "1"], [1, 0, "1"], [1, 1, "2"], [1, 2, "4"]],
            objective=TELL_X,
            promises=[independent("S")],
            channel=whole([[1, 1]] * 3),
            proof={"rule": "corners", "prices": ["0"] * 3, "basis": [0, 1]},
        ),
        "infeasible",
    ),
    # marginals
    "marginals for something else": (
        coin({"rule": "marginals", "bases": [], "trees": []}, RATIO),
        "form pram",
    ),
    "marginals without a ratio": (
        coin({"rule": "marginals", "bases": [], "trees": []}, (), {"release": ["X"], "form": "pram"}, channel=PRAM),
        "no promise bounds the ratio",
    ),
    "a base above one": (pram([[["2", "3/2"]]], []), "a q above 1"),
    "a base of too many": (pram([[["3", "1/2"]]], []), "more of them than there are letters"),
    "a base of too few": (pram([[["1", "1/2"]]], []), "not a q for each letter"),
    "a base without a letter": (pram([[["1", "1"], ["1", "0"]]], [], outcomes=[[0, "1"]]), "leaves out a letter"),
    "a letter twice": (
        pram([[["2", "1/2"]]], trees_of_shapes([["split", 0], ["split", 0], *[["leaf", 0]] * 3])),
        "names a letter twice",
    ),
    "a leaf without a base": (pram([[["2", "1/2"]]], trees_of_shapes([["leaf"]])), "names no base"),
    # closed forms
    "closed forms of a distortion": (
        coin({"rule": "closed"}, (), RELEASED, HAMMING),
        "this proof is for information",
    ),
    # variance
    "a variance of something else": (varying(objective=TELL_X), "for the variance of all columns"),
    "a variance without a ratio": (varying(promises=()), "no promise bounds the ratio"),
    "a matrix that is not symmetric": (
        varying([["0", "1"], ["2", "0"]], ["0"] * 3, outcomes=THREE_EVEN)
        | {"variables": [{"name": "X", "letters": ["a", "b", "c"]}], "channel": whole([[1, 1]] * 3)},
        "not a symmetric matrix",
    ),
    "prices of some letters": (varying(prices=["0"]), "not one price for each letter"),
    "a diagonal too short": (
        varying(form={"diagonal": ["0"], "pairs": [["0", "0"], ["0", "0"]], "shift": "0"}),
        "not one number for each letter",
    ),
    "pairs with a diagonal": (
        varying(form={"diagonal": ["0", "0"], "pairs": [["1", "0"], ["0", "0"]], "shift": "0"}),
        "have a diagonal",
    ),
    "pairs that are negative": (
        varying(form={"diagonal": ["0", "0"], "pairs": [["0", "-1"], ["-1", "0"]], "shift": "0"}),
        "pairs are negative",
    ),
    "a form that is not semidefinite": (
        varying(prices=["-1", "-1"], form={"diagonal": ["0", "0"], "pairs": [["0", "0"], ["0", "0"]], "shift": "0"}),
        "not positive semidefinite",
    ),
    "too many subsets": (
        varying([["0"] * 12] * 12, ["0"] * 13, outcomes=[[k, "1"] for k in range(13)])
        | {"variables": [{"name": "X", "letters": [str(k) for k in range(13)]}], "channel": whole([[1, 1]] * 13)},
        "more than 12 letters are not visited",
    ),
    "a single letter": (
        varying([], ["0"], outcomes=[[0, "1"]])
        | {"variables": [{"name": "X", "letters": ["a"]}], "channel": whole([[1, 1]])},
        "for 2 to 128 letters",
    ),
    # components
    "parts of a distortion": (
        parted(objective={"aim": "leakage", "about": ["W"], "theta": "1"}),
        "parts are for information",
    ),
    "parts where W is not X": (
        parted(objective={"aim": "information", "about": ["W"], "theta": "1"}),
        "parts are for W = X",
    ),
    "parts without a view": (parted(views=()), "the parts name no view"),
    "a view twice": (parted(views=(0, 0)), "or one twice"),
    "parts by a leakage": (parted(views=(1,)), "a part needs promises of independence"),
    "parts by a view of its own": (
        design(
            {"X": ["a", "b"], "V": ["u", "v"]},
            [[0, 0, "1"], [0, 1, "1"], [1, 0, "1"], [1, 1, "1"]],
            objective=TELL_X,
            promises=[independent("V")],
            channel=IDENTITY,
            proof={"rule": "components", "views": [0], "parts": []},
        ),
        "not a function of the input",
    ),
    "parts too few": (parted(parts=1), "a list of 2 is expected"),
    # maps
    "maps without side information": (
        coin(lines("maps", ONE_LEAF, [leaf([])]), (), RELEASED, HAMMING),
        "maps are for side information that the mechanism does not see",
    ),
    "maps with prices": (maps(prices=["0", "0"]), "maps have neither margins nor prices"),
    "a letter twice in a map": (
        maps([["split", 0], ["split", 0], ["leaf", 0], ["leaf", 0], ["leaf", 0]]),
        "has its letter already",
    ),
    "maps with two trees": (maps() | {"proof": lines("maps", [[["leaf", 0]]] * 2, [leaf([])])}, "one tree"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_proof_is_refused(name):
    document, sentence = REFUSED[name]
    with pytest.raises(Refused, match=sentence):
        bound(document)


def test_channels_of_maps_are_read_strictly():
    with pytest.raises(Refused, match="maps are for side information"):
        bound(coin({"rule": "closed"}, channel=maps()["channel"]))
    for decoder, sentence in (([[0], [1], [0], [1]], "not a letter for each value"), ([[0, 0]], "a list of 4")):
        document = maps()
        document["channel"]["decoder"] = decoder
        with pytest.raises(Refused, match=sentence):
            bound(document)
    document = maps()
    document["channel"]["rows"][0] = ["0", "0", "0", "0"]
    with pytest.raises(Refused, match="the row is not a law of the letters"):
        bound(document)


def test_a_simplex_method_that_meets_the_impossible_refuses():
    with pytest.raises(Refused, match="unbounded"):
        _leaving([[0, 1]], 0, (1,))
    with pytest.raises(Refused, match="a tie"):
        _leaving([[1, 0], [1, 0]], 0, (1,))


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
