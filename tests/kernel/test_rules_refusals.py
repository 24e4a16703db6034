"""Every sentence with which a rule refuses a proof, and what rules say in their simplest cases."""

import pytest

from dalenius.kernel import Refused
from dalenius.kernel.corners import _leaving
from tests.kernel.directed import (
    BITS_TOLD,
    HAMMING,
    LETTER_BY_LETTER,
    ONE_LEAF,
    TELL_X,
    leaf,
    lines,
    whole,
)
from tests.kernel.documents import (
    SKEW,
    contraction,
    design,
    distance,
    independent,
    information_privacy,
    leakage,
    worst_case,
)
from tests.kernel.rule_documents import (
    CELLS,
    IDENTITY,
    MAXIMAL,
    PRAM,
    RATIO,
    RELEASED,
    TELL_ALL,
    THREE_EVEN,
    blocks,
    bound,
    by_letters,
    coin,
    corners,
    cut,
    four_prices,
    maps,
    parted,
    pram,
    secret,
    subsets,
    trees_of_shapes,
    varying,
)

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
        four_prices(f"1/{3**800}", f"1/{5**550}", f"1/{7**450}", f"1/{11**380}"),
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
