"""Small documents for single rules of the kernel, and what the rules make of them."""

from fractions import Fraction

from dalenius.kernel.check import proved_bound, reached
from dalenius.kernel.document import read_document
from dalenius.kernel.marginals import shapes
from tests.kernel.directed import (
    BITS_TOLD,
    HAMMING,
    LETTER_BY_LETTER,
    ONE_LEAF,
    TELL_X,
    leaf,
    lines,
    maps_with_a_letter_for_each_world,
    whole,
)
from tests.kernel.documents import (
    SKEW,
    contraction,
    design,
    independent,
    leakage,
    local_dp,
    text_of,
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


def four_prices(*prices):
    """A proof by subsets with one price for each of four letters."""
    proof = {"rule": "subsets", "runs": [["1", [price]] for price in prices], "tree": [["leaf", "0"]]}
    even = [[letter, "1"] for letter in range(4)]
    return design({"X": list("abcd")}, even, objective=TELL_X, promises=RATIO, channel=whole([[1]] * 4), proof=proof)


def corners(prices=("0", "0"), basis=(0,), promises=(), **rest):
    proof = {"rule": "corners", "prices": list(prices), "basis": list(basis)}
    return coin(proof, promises, **rest)


def cut(**changes):
    said = {"promise": 0, "first": 0, "second": 1, "at": "1/2", "weight": "1", "slopes": ["1", "1"]} | changes
    proof = by_letters([[]], cuts=[said])
    return coin(proof, [contraction("1")], RELEASED, HAMMING)


TWO_BY_TWO = {"A": ["0", "1"], "B": ["0", "1"]}
