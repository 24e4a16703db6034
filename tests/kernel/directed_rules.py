"""Cases of closed forms, of balls of laws and of faces: a bound must not pass the value."""

import json

from tests.kernel.directed import BIG, CORPUS, ONE_LEAF, TELL_X, THREE, leaf, lines, units, whole
from tests.kernel.documents import (
    contraction,
    design,
    local_dp,
)

CLOSED = {"rule": "closed"}


def capacity_of_single_columns():
    """Two columns of which no single one is told anything: their sum is."""
    return design(
        {"A": ["0", "1"], "B": ["0", "1"]},
        [[0, 0, "1"], [0, 1, "1"], [1, 0, "1"], [1, 1, "1"]],
        {"observe": ["A", "B"]},
        objective={"aim": "information", "about": ["A", "B"], "theta": "1"},
        promises=[{"promise": "dalenius", "at_most_bits": "1/2", "group": 1, "rows": "1"}],
        channel=whole([[1, 0], [0, 1], [0, 1], [1, 0]]),
        proof=CLOSED,
    )


def a_share_that_passes():
    return design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        objective=TELL_X,
        promises=[contraction("3/4")],
        channel=whole([[9, 1], [1, 9]]),
        proof=CLOSED,
    )


def of_corpus(name, *path_and_value):
    """A proof of the corpus with another value at a place."""
    document = json.loads((CORPUS / f"gauge_{name}.json").read_text(encoding="utf-8"))
    *path, last, new = path_and_value
    inner = document["proof"]
    for key in path:
        inner = inner[key]
    inner[last] = new
    return document


def actions_beyond_their_weight():
    return of_corpus("guess_d", "leaves", 0, "promises", 0, [[BIG, BIG]])


def variations_beyond_their_weight():
    return of_corpus("variation_d", "leaves", 0, "promises", 0, [BIG, "0"])


def inputs_beyond_their_weight():
    return of_corpus("maximal_d", "leaves", 0, "promises", 0, [[0, BIG], [1, BIG], [2, BIG]])


def slopes_of_delta_beyond_one():
    return of_corpus("delta_d", "cuts", 0, "slopes", ["-9", "0", "0"])


def delta_between_strata():
    cut = of_corpus("delta_strata_d", "prices", [])["proof"]["cuts"][0]
    other = next(x for x in range(4) if x % 2 != cut["first"] % 2)
    return of_corpus("delta_strata_d", "cuts", 0, "second", other)


def capacity_of_two_rows():
    document = of_corpus("dalenius_d", "prices", [])
    document["promises"][0]["rows"] = "2"
    return document


def _another_law(ball):
    """A law under which X is S, in place of one that is near the stated law."""
    weights = of_corpus(f"within_{ball}", "prices", [])["proof"]["cuts"][0]["weights"]
    half = str(sum(map(int, weights)) // 2)
    return of_corpus(f"within_{ball}", "cuts", 0, "weights", [half, "0", "0", half])


def a_law_of_another_divergence():
    return _another_law("kl")


def a_law_of_another_variation():
    return _another_law("variation")


def a_law_without_confidence():
    return _another_law("confidence")


def faces_of_some_inputs():
    """Three inputs, of which all are told: one choice of inputs is not all of them."""
    return design(
        THREE,
        [[0, "1"], [1, "1"], [2, "1"]],
        objective=TELL_X,
        channel=whole([[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        proof=lines("faces", ONE_LEAF, [leaf([])], prices=[units(1.585), units(1.585), "0"]),
    )


def faces_beside_pairs():
    """A pair of inputs is no secret: a column of one input cannot keep it."""
    return design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        objective=TELL_X,
        promises=[local_dp("1")],
        channel=whole([[2, 1], [1, 2]]),
        proof=lines(
            "faces",
            [[["leaf", 0]], [["leaf", 1]]],
            [leaf([], [[0, 1, BIG]]), leaf([], [[1, 0, BIG]])],
            promises=["0"],
            prices=["0", "0"],
        ),
    )


def faces_beside_cuts():
    """A cut speaks of two inputs: a column of one of them does not show what it uses."""
    cut = {"promise": 0, "first": 0, "second": 1, "at": "1/2", "weight": "64", "slopes": ["1", "-1"]}
    return design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        objective=TELL_X,
        promises=[contraction("3/4")],
        channel=whole([[9, 1], [1, 9]]),
        proof=lines(
            "faces",
            [[["leaf", 0]], [["leaf", 1]]],
            [leaf([], []), leaf([], [])],
            promises=["0"],
            prices=["0", "0"],
            cuts=[cut],
        ),
    )
