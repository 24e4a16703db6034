"""Cases for the couplings of a proof: honest channels, and proofs that a careless rule would let pass their value.

Each is a document. What a right kernel says about it is a bound that its value does not pass, or a refusal.
"""

from pathlib import Path

from tests.kernel.documents import (
    SKEW,
    design,
    distance,
    independent,
    information_privacy,
    leakage,
    local_dp,
    worst_case,
)

CORPUS = Path(__file__).parent / "corpus" / "rules"
UNIT = 1 << 60
BIG = str(1 << 66)


def units(value):
    return str(round(value * UNIT))


def lines(division, trees, leaves, **rest):
    """A proof by lines; what is not said is empty."""
    order = ("promises", "limits", "margins", "cuts", "prices")
    said = {"rule": "lines", "division": division} | {key: rest.get(key, []) for key in order}
    return said | {"trees": trees, "leaves": leaves, "relations": rest.get("relations", [])}


def leaf(objective, *promises):
    return {"objective": objective, "promises": list(promises)}


def whole(rows):
    """A dense channel whose rows sum to one number."""
    scale = sum(rows[0])
    return {"form": "dense", "letters": len(rows[0]), "scale": str(scale), "rows": [[str(v) for v in r] for r in rows]}


THREE = {"X": ["a", "b", "c"]}
TELL_X = {"aim": "information", "about": ["X"], "theta": "1"}
HAMMING = {"aim": "distortion", "distortion": [distance("hamming", "X")]}
ONE_LEAF = [[["leaf", 0]]]


def never_occurs():
    """Pairs with an input that never occurs lower the lines of the others, and raise its own."""
    leaves = [leaf(["0"], [[0, 2, BIG], [1, 2, BIG]])]
    return design(
        THREE,
        [[0, "1"], [1, "1"]],
        objective=TELL_X,
        promises=[local_dp("1")],
        channel=whole([[2, 1, 1], [1, 2, 1], [1, 1, 2]]),
        proof=lines("boxes", ONE_LEAF, leaves, promises=["0"], prices=["0", "0"]),
    )


def never_occurs_beside_prices():
    """The same for cells under local DP, whose prices count every input."""
    tree = [[["leaf", 0]]]
    leaves = [leaf(["0", "0"], [[0, 2, BIG], [1, 2, BIG]])]
    return design(
        THREE,
        [[0, "1"], [1, "1"]],
        objective=TELL_X,
        promises=[local_dp("1")],
        channel=whole([[2, 1, 1], [1, 2, 1], [1, 1, 2]]),
        proof=lines("simplices", tree, leaves, promises=["0"], prices=["0", "0"]),
    )


def never_occurs_for_a_letter():
    """Least distortion: a pair takes from inputs that occur and gives to one that does not."""
    rows = [[[i, 2, BIG] for i in (0, 1)], [[i, 2, BIG] for i in (0, 1)], []]
    return design(
        THREE,
        [[0, "1"], [1, "1"]],
        {"release": ["X"]},
        objective=HAMMING,
        promises=[local_dp("1")],
        channel=whole([[2, 1, 1], [1, 2, 1], [1, 1, 2]]),
        proof=lines("letters", [[["leaf", t]] for t in range(3)], [leaf([], own) for own in rows], promises=["0"]),
    )


def prices_in_another_order():
    """W = (B, A) of the inputs (A, B), one of which its view pins: its price may be low, where it is its own.

    The prices fit the labels of W and not the inputs; mixed up they would prove 0.67 log2 3 where 0.99 log2 3 is told.
    """
    variables = {"A": ["a", "b"], "B": ["a", "b"], "V": ["no", "yes"]}
    counts = [[0, 0, 0, "33"], [0, 1, 1, "1"], [1, 0, 0, "33"], [1, 1, 0, "33"]]
    prices = [units(1.5849625007), units(1.5849625007), "0", units(1.5849625007)]
    return design(
        variables,
        counts,
        {"observe": ["A", "B"]},
        objective={"aim": "information", "about": ["B", "A"], "theta": "1"},
        promises=[independent("V")],
        channel=whole([[3, 0, 0], [1, 1, 1], [0, 3, 0], [0, 0, 3]]),
        proof=lines("boxes", ONE_LEAF, [leaf(["0"], [])], promises=["0"], prices=prices),
    )


def corners_in_another_order():
    """Prices of corners stand along the inputs, not along the labels of W."""
    document = prices_in_another_order()
    prices = [str(round(v * (1 << 100))) for v in (0.33 * 1.5849625008, 0.33 * 1.5849625008, 0, 0.33 * 1.5849625008)]
    document["proof"] = {"rule": "corners", "prices": prices, "basis": [0, 1]}
    return document


def corners_that_are_far():
    """Columns are a square of which the starting basis names one corner; only the opposite one is above its price."""
    quarter = str(1 << 98)
    return design(
        {"X": ["a", "b", "c", "d"], "V": ["no", "yes"], "W": ["no", "yes"]},
        [[0, 0, 0, "1"], [1, 0, 1, "1"], [2, 1, 0, "1"], [3, 1, 1, "1"]],
        objective={"aim": "information", "about": ["W"], "theta": "1"},
        promises=[independent("V")],
        channel=whole([[1, 0], [0, 1], [1, 0], [0, 1]]),
        proof={"rule": "corners", "prices": [quarter, "0", quarter, "0"], "basis": [0, 2]},
    )


WITH_K = {"X": ["a", "b"], "K": ["u", "v"]}
AGREE = [[0, 0, "3"], [0, 1, "1"], [1, 0, "1"], [1, 1, "3"]]


def pairs_of_different_worlds():
    """Given a stratum the promise does not speak of inputs that differ in it."""
    own = [[0, 1, BIG]]
    return design(
        WITH_K,
        AGREE,
        {"strata": ["K"], "release": ["X"]},
        objective=HAMMING,
        promises=[local_dp("1", "K")],
        channel=whole([[1, 0], [0, 1], [1, 0], [0, 1]]),
        proof=lines("letters", [[["leaf", 0]], [["leaf", 1]]], [leaf([], own), leaf([], own)], promises=["0"]),
    )


def pairs_of_one_world():
    """The same with pairs of one stratum: a stratum that tells X leaves no distortion, and no pair may say so."""
    own = [[0, 2, str(UNIT)], [1, 3, str(UNIT)]]
    document = pairs_of_different_worlds()
    document["proof"]["leaves"] = [leaf([], own), leaf([], own)]
    return document


def pairs_under_delta():
    """A delta allows any ratio now and then."""
    own = [[0, 1, BIG]]
    return design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        {"release": ["X"]},
        objective=HAMMING,
        promises=[local_dp("1", delta="1")],
        channel=whole([[1, 0], [0, 1]]),
        proof=lines("letters", [[["leaf", 0]], [["leaf", 1]]], [leaf([], own), leaf([], own)], promises=["0"]),
    )


def a_ratio_of_some_pairs():
    """Given a stratum that is read, no ratio holds between all inputs: subsets and prices have nothing to stand on."""
    return design(
        WITH_K,
        AGREE,
        {"strata": ["K"]},
        objective={"aim": "information", "about": ["X"], "theta": "1"},
        promises=[local_dp("0", "K")],
        channel=whole([[1, 0], [0, 1], [1, 0], [0, 1]]),
        proof=lines("simplices", ONE_LEAF, [leaf(["0"] * 4, [])], promises=["0"], prices=["0"] * 4),
    )


def a_ratio_under_delta():
    return design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        objective=TELL_X,
        promises=[local_dp("0", delta="1")],
        channel=whole([[1, 0], [0, 1]]),
        proof={"rule": "subsets", "runs": [["2", ["0"]]], "tree": [["leaf", "0"]]},
    )


def kept_columns():
    """K tells X, so nothing is left for the letter; without K the posterior would say that the letter leaks."""
    told = [[0, 0, 0, "5"], [0, 1, 1, "5"], [1, 0, 1, "5"], [1, 1, 0, "5"]]
    variables = {"S": ["u", "v"], "X": ["a", "b"], "K": ["k", "l"]}
    post = [str(UNIT), "1", "1", str(UNIT)]
    return design(
        variables,
        told,
        {"keep": ["K"], "release": ["X"]},
        objective={"aim": "leakage", "about": ["S"], "theta": "1"},
        limits=[{"distortion": [distance("hamming", "X")], "at_most": "0"}],
        channel=whole([[1, 0], [0, 1]]),
        proof=lines(
            "letters",
            [[["leaf", 0]], [["leaf", 1]]],
            [leaf([post]), leaf([post[::-1]])],
            limits=[str(1 << 64)],
        ),
    )


def worlds_of_a_worst_case():
    """The worst case holds for each k by itself, with the law p(s) of all records."""
    variables = {"S": ["u", "v"], "X": ["a", "b"], "K": ["k", "l"]}
    counts = [[0, 0, 0, "3"], [0, 1, 1, "1"], [1, 0, 0, "1"], [1, 1, 1, "3"]]
    own = [[str(UNIT), ["3", "1"]], [str(UNIT), ["1", "3"]]]
    return design(
        variables,
        counts,
        {"keep": ["K"], "release": ["X"]},
        objective=HAMMING,
        promises=[worst_case("0.19", "S")],
        channel=whole([[1, 1], [1, 1]]),
        proof=lines("letters", [[["leaf", 0]], [["leaf", 1]]], [leaf([], own), leaf([], own)], promises=["0"]),
    )


def both_sides_of_odds():
    """Large multipliers on both sides of information privacy only loosen a bound."""
    own = [[BIG, BIG], [BIG, BIG]]
    return design(
        {"S": ["u", "v"], "X": ["a", "b"]},
        SKEW,
        {"release": ["X"]},
        objective=HAMMING,
        promises=[information_privacy("0.6932", "S")],
        channel=whole([[1, 0], [0, 1]]),
        proof=lines("letters", [[["leaf", 0]], [["leaf", 1]]], [leaf([], own), leaf([], own)], promises=["0"]),
    )


def margins_that_are_not_preserved():
    return design(
        {"X": ["a", "b"]},
        [[0, "3"], [1, "1"]],
        {"release": ["X"]},
        objective=HAMMING,
        channel=whole([[1, 0], [0, 1]]),
        proof=lines("letters", [[["leaf", 0]], [["leaf", 1]]], [leaf([]), leaf([])], margins=[BIG, "0"]),
    )


def margins_of_a_part():
    """Margins of all records need not be those of a part of them."""
    variables = {"X": ["a", "b", "c", "d"], "V": ["u", "v"]}
    counts = [[0, 0, "1"], [1, 0, "1"], [2, 1, "1"], [3, 1, "1"]]
    inside = lines(
        "simplices",
        [[["leaf", 0]]] * 4,
        [leaf(["0", "0"], [])],
        promises=["0"],
        margins=["0", "0", str(-(1 << 66)), str(-(1 << 66))],
    )
    return design(
        variables,
        counts,
        {"release": ["X"], "preserve_marginals": True},
        objective=TELL_X,
        promises=[independent("V")],
        channel=whole([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]]),
        proof={"rule": "components", "views": [0], "parts": [inside, inside]},
    )


def rows_of_a_person():
    """Two rows of a person share the level: each row keeps half of it, and its bound is that of half of it."""
    return design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        objective=TELL_X,
        promises=[local_dp("2", rows=2)],
        channel=whole([[2, 1], [1, 2]]),
        proof={"rule": "closed"},
    )


def maps_with_a_letter_for_each_world():
    """The user has Z: a map may release another letter for each of its values, and its cost is that of all of them."""
    variables = {"X": ["a", "b"], "Z": ["a", "b"]}
    tree = [["split", 0], ["split", 1], ["leaf", 0], ["leaf", 0], ["split", 1], ["leaf", 0], ["leaf", 0]]
    channel = whole([[1, 0, 0, 0], [0, 1, 0, 0]]) | {"form": "maps", "decoder": [[0, 0], [1, 1], [0, 1], [1, 0]]}
    return design(
        variables,
        [[0, 0, "3"], [0, 1, "1"], [1, 0, "1"], [1, 1, "3"]],
        {"release": ["X"], "side": {"variable": "Z", "encoder": "statistically-informed"}},
        objective=HAMMING,
        channel=channel,
        proof=lines("maps", [tree], [leaf([])]),
    )


BITS_TOLD = {"S": ["u", "v"], "X": ["a", "b"]}
LETTER_BY_LETTER = [[["leaf", 0]], [["leaf", 1]]]


def a_missing_leaf():
    """A split leaves two cells; a leaf for one of them covers half of the columns."""
    return design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        objective=TELL_X,
        channel=whole([[1, 0], [0, 1]]),
        proof=lines("simplices", [[["split", "1/2", "1/2"], ["leaf", 0]]], [leaf(["0", "0"])]),
    )


def a_missing_letter():
    return design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        {"release": ["X"]},
        objective=HAMMING,
        channel=whole([[1, 0], [0, 1]]),
        proof=lines("letters", [[["leaf", 0]]], [leaf([])]),
    )


def a_negative_weight():
    """A promise of leakage with a weight of the wrong sign would pay for what leaks."""
    return design(
        BITS_TOLD,
        SKEW,
        {"release": ["X"]},
        objective=HAMMING,
        promises=[leakage("1/2", "S")],
        channel=whole([[1, 0], [0, 1]]),
        proof=lines(
            "letters", LETTER_BY_LETTER, [leaf([], ["1", "1"]), leaf([], ["1", "1"])], promises=["-" + str(UNIT)]
        ),
    )


def a_negative_limit():
    return design(
        BITS_TOLD,
        SKEW,
        {"release": ["X"]},
        objective={"aim": "leakage", "about": ["S"], "theta": "1"},
        limits=[{"distortion": [distance("hamming", "X")], "at_most": "1/2"}],
        channel=whole([[1, 1], [1, 1]]),
        proof=lines("letters", LETTER_BY_LETTER, [leaf([["1", "1"]]), leaf([["1", "1"]])], limits=["-" + str(1 << 63)]),
    )


def a_negative_pair():
    document = pairs_of_one_world()
    own = [[0, 2, "-" + BIG], [2, 0, "-" + BIG]]
    document["proof"]["leaves"] = [leaf([], own), leaf([], own)]
    return document


def an_open_map():
    """Where a map is open it may release the best letter for each record."""
    document = maps_with_a_letter_for_each_world()
    document["proof"] = lines("maps", [[["leaf", 0]]], [leaf([])])
    return document


def a_variance_by_lines():
    """What bounds a rate says nothing about a variance."""
    document = design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        {"release": ["X"]},
        objective={"aim": "variance", "about": ["X"]},
        limits=[{"distortion": [distance("hamming", "X")], "at_most": "0"}],
        channel=whole([[1, 0], [0, 1]]),
    )
    post = [[str(UNIT), "1"], ["1", str(UNIT)]]
    document["proof"] = lines("letters", LETTER_BY_LETTER, [leaf([law]) for law in post], limits=[str(1 << 66)])
    return document


def letters_where_maps_compete():
    """The user has Z = X, so that a map releases X without any look at it."""
    channel = whole([[1]]) | {"form": "maps", "decoder": [[0, 1]]}
    return design(
        {"O": ["o"], "X": ["a", "b"], "Z": ["a", "b"]},
        [[0, 0, 0, "1"], [0, 1, 1, "1"]],
        {"observe": ["O"], "release": ["X"], "side": {"variable": "Z", "encoder": "statistically-informed"}},
        objective=HAMMING,
        channel=channel,
        proof=lines("letters", LETTER_BY_LETTER, [leaf([]), leaf([])]),
    )


def a_line_that_is_low_at_one_corner():
    return design(
        {"X": ["a", "b"]},
        [[0, "1"], [1, "1"]],
        objective=TELL_X,
        channel=whole([[1, 0], [0, 1]]),
        proof=lines("simplices", ONE_LEAF, [leaf(["0", units(9)])]),
    )


def a_view_that_is_no_function_of_the_input():
    """Only a view that the input knows adds up to the mass of its values."""
    return design(
        BITS_TOLD,
        [[0, 0, "1"], [0, 1, "1"], [1, 0, "1"], [1, 1, "1"]],
        objective=TELL_X,
        promises=[independent("S")],
        channel=whole([[1, 0], [0, 1]]),
        proof=lines("ranges", ONE_LEAF, [leaf(["0", "0"], [])], promises=["0"]),
    )
