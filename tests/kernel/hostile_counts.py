"""Hostile texts of long counts, thousands of names and many small cases, which once took more time than work."""

import random
from fractions import Fraction
from math import comb

from dalenius.kernel.logs import exp
from dalenius.kernel.marginals import shapes
from tests.kernel.directed import leaf, lines
from tests.kernel.documents import claims_of, dense, design, distance, independent, leakage, limit, local_dp
from tests.kernel.hostile_numbers import letters, long

ABOUT_X = {"aim": "information", "about": ["X"], "theta": "1"}
ONE_LEAF = [[["leaf", 0]]]


def of_long_counts():
    """Laws whose counts have 3,900 digits, and proofs that take their logarithms and quotients again and again."""
    chance, many = random.Random(1), 12
    laws = [leaf([[str(chance.randrange(1, 1_000)) for _ in range(many)]]) for _ in range(9_000)]
    yield (
        "tangents at long counts",
        design(
            {"X": letters(many)},
            [[k, long()] for k in range(many)],
            {"release": ["X"]},
            objective=ABOUT_X | {"aim": "leakage"},
            channel={"form": "pram", "stay": ["1"] * many},
            proof=lines("letters", ONE_LEAF, laws),
        ),
    )
    many = 15
    yield (
        "relations between long shares",
        design(
            {"W": letters(many), "X": letters(many)},
            [[w, x, long()] for w in range(many) for x in range(many)],
            objective=ABOUT_X | {"about": ["W"]},
            channel=dense(*([1 + x % 2, 2 - x % 2] for x in range(many))),
            proof=lines(
                "ranges", ONE_LEAF, [leaf(["0"] * many)], relations=[[0, [[j, "1"] for j in range(many)], []]] * 300
            ),
        ),
    )
    many = 36
    yield (
        "faces of long counts",
        design(
            {"S": letters(4), "X": letters(many)},
            sorted([x % 4, x, long()] for x in range(many)),
            objective=ABOUT_X,
            promises=[independent("S")],
            channel=dense(*[[1, 1]] * many),
            proof=lines("faces", ONE_LEAF * comb(many, 4), [leaf([], ["0"] * 4)], promises=["0"], prices=["0"] * many),
        ),
    )


def divided(depth):
    """A tree of halves: so many splits deep, with a leaf for each number in turn."""
    if not depth:
        return [["leaf", 0]]
    below = divided(depth - 1)
    above = [[kind, rest[0] + 2 ** (depth - 1)] if kind == "leaf" else [kind, *rest] for kind, *rest in below]
    return [["split", "1/2", "1/2"], *below, *above]


def of_many_cases():
    """Trees with thousands of leaves, each of which goes through all inputs, runs or orbits."""
    many, depth = 100, 13
    slopes = [leaf([str(k % 7 << 50), str(k % 5 << 50)], []) for k in range(2**depth)]
    yield (
        "lines beyond prices",
        design(
            {"W": ["a", "b"], "X": letters(many)},
            [[w, x, str(1 + (7 * x + 5 * w) % 11)] for w in range(2) for x in range(many)],
            objective=ABOUT_X | {"about": ["W"]},
            promises=[local_dp("1")],
            channel=dense(*([100 + x % 2, 101 - x % 2] for x in range(many))),
            proof=lines("simplices", [divided(depth)], slopes, promises=["0"], prices=letters(many)),
        ),
    )
    many = 3_500
    deep = [node for k in range(many) for node in (["split", k], ["leaf", 0])] + [["leaf", 0]]
    others = len(shapes(many, exp(Fraction(1))[1])) - 1
    yield (
        "a deep tree of letters that are fixed",
        design(
            {"X": letters(many)},
            [[k, str(1 + k % 3)] for k in range(many)],
            {"release": ["X"], "form": "pram"},
            objective=ABOUT_X,
            promises=[local_dp("1")],
            channel={"form": "pram", "stay": [f"1/{many}"] * many},
            proof={
                "rule": "marginals",
                "bases": [[[str(many), "1/2"]]],
                "trees": [deep, *[[["leaf", 0]] for _ in range(others)]],
            },
        ),
    )
    many = 40
    prices = ["leaf", "0", *["0"] * many]
    tree = [node for k in range(4_500) for node in (["split", 0, f"{k + 1}/1000000"], prices)] + [prices]
    yield (
        "boxes of many orbits",
        design(
            {"A": letters(many), "B": letters(many)},
            [[a, b, "3" if a == b else "1"] for a in range(many) for b in range(many)],
            {"observe": ["A", "B"]},
            objective=ABOUT_X | {"about": ["A", "B"]},
            promises=[independent("A"), independent("B")],
            channel=dense(*[[1]] * many**2),
            proof={"rule": "orbits", "prices": ["0"] * comb(many + 1, 2), "tree": tree},
        ),
    )


def of_many_names():
    """Lists of thousands of names that are looked up in each other."""
    many = 6_000
    names = {f"C{k}": ["a"] for k in range(many)} | {"C0": ["a", "b"]}
    far = distance("hamming", *reversed(names))
    yield (
        "distances over thousands of columns",
        design(
            names,
            [[k, *[0] * (many - 1), "1"] for k in range(2)],
            {"observe": list(names), "release": list(names)},
            objective={"aim": "distortion", "distortion": [far]},
            limits=[limit("9", far)] * 12,
            channel=dense([2, 1], [1, 2]),
            claims=claims_of("9", "0", limits=["9"] * 12),
            proof=lines("letters", ONE_LEAF * 2, [leaf([])], limits=["0"] * 12),
        ),
    )
    many, rows = 1_200, 250
    names = {f"C{k}": ["0", "1"] for k in range(many)}
    far = distance("absolute", *reversed(names))
    yield (
        "records of a thousand columns",
        design(
            names,
            sorted([*(row >> k & 1 if k < 8 else 0 for k in range(many)), "1"] for row in range(rows)),
            {"observe": list(names), "release": list(names)},
            objective={"aim": "distortion", "distortion": [far]},
            limits=[limit("9", far)] * 4,
            channel={"form": "records", "rows": [[[k], ["1"]] for k in range(rows)]},
            claims=claims_of("9", "0", limits=["9"] * 4),
            proof={"rule": "records", "promises": [], "limits": ["0"] * 4, "records": [], "law": []},
        ),
    )
    many = 5_000
    constant = {f"C{k}": ["a"] for k in range(many)}
    names = constant | {"X": ["a", "b"]}
    law = [[*[0] * many, k, "1"] for k in range(2)]
    given = [local_dp(str(9 + k), *reversed(constant)) for k in range(12)]
    yield (
        "given thousands of columns",
        design(names, law, {"strata": list(constant)}, promises=given, channel=dense([2, 1], [1, 2])),
    )
    secrets = [[*list(constant)[k:], *list(constant)[:k]] for k in range(12)]
    yield (
        "balls about thousands of columns",
        design(
            names,
            law,
            promises=[leakage("9", *secret, ball="total_variation", radius="1/10") for secret in secrets],
            evidence=[{"nu": "0", "m": "0", "t": "1"}] * 12,
            channel=dense([2, 1], [1, 2]),
        ),
    )


def of_many_letters():
    """Values of a secret that each may give to all cells, and a long list of letters that never leave."""
    many = 8_000
    yield (
        "weights of thousands of values",
        design(
            {"S": letters(many), "X": ["a", "b"]},
            [[s, x, "1"] for s in range(many) for x in range(2)],
            promises=[leakage("99", "S", ball="total_variation", radius="1/10")],
            evidence=[{"law": ["1"] * many, "nu": "0", "m": "0", "t": "1"}],
            channel=dense([2, 1], [1, 2]),
        ),
    )
    many = 30_000
    yield (
        "thousands of letters that never leave",
        design(
            {"C": ["u", "v"], "X": letters(many)},
            [[0, 0, "1"], [1, 0, "1"]],
            {"observe": ["C"], "release": ["X"], "never": [[{"column": "X", "letters": letters(many - 1)}]]},
            objective=ABOUT_X | {"about": ["C"]},
            channel=dense(*[[*[0] * (many - 1), 1]] * 2),
        ),
    )


def of_counts():
    """All of them."""
    yield from of_long_counts()
    yield from of_many_cases()
    yield from of_many_names()
    yield from of_many_letters()
