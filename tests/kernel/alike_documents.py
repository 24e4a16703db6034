"""Documents of samples that are alike, of orbits, noise and filled columns: real ones of the corpus, and forged."""

import copy
import json
from fractions import Fraction
from functools import cache
from itertools import product
from math import lcm, prod
from pathlib import Path

from dalenius.kernel.alike import types
from tests.kernel.documents import (
    CLOSED,
    claims_of,
    contraction,
    dalenius,
    design,
    independent,
    leakage,
    local_dp,
)

FOLDER = Path(__file__).parent / "corpus" / "alike"


@cache
def oracle():
    """What the first checker proved of the real designs: {file name: figures}."""
    return json.loads((Path(__file__).parent / "oracle_alike.json").read_text(encoding="utf-8"))


@cache
def real_texts():
    return {name: (FOLDER / name).read_bytes().decode() for name in oracle()}


def real(name):
    return json.loads(real_texts()[f"honest_{name}.json"])


ALIKE = real("types_binary_4")
TYPES = real("types_binary_2")
COLUMNS = real("columns_types_3")
ORBITS = real("orbits_0")
NOISE = real("noise_dice_gaussian")
ACROSS = real("noise_two")
CAPACITY = real("noise_capacity_2")
LAPLACE = real("noise_dice_epsilon")
CLIPPED = real("noise_one_clip")
FILLED = real("water_skewed_lost")
RATE = real("water_skewed_told")

PAIR = {"X1": ["a", "b"], "X2": ["a", "b"]}
EVEN = [["1/2", [0, 0]], ["1/2", [1, 1]]]
ODD = [["1/2", [0, 1]], ["1/2", [1, 0]]]


def of_pairs(**changes):
    """Two fair bits, and whether they are equal."""
    found = design(
        PAIR,
        [[0, 0, "1"], [0, 1, "1"], [1, 0, "1"], [1, 1, "1"]],
        {"observe": ["X1", "X2"]},
        objective={"aim": "information", "about": ["X1", "X2"], "theta": "1"},
        promises=[independent("X1"), independent("X2")],
        channel={"form": "orbits", "columns": [["1/2", EVEN], ["1/2", ODD]]},
        claims=claims_of("1", "1", "0", [[], []]),
    )
    return found | copy.deepcopy(changes)


GRID = {"S": ["u", "v"], "X": ["0", "1/2", "1", "3/2"]}
COUNTS = [[0, 0, "3"], [0, 1, "2"], [0, 3, "1"], [1, 1, "1"], [1, 2, "2"], [1, 3, "3"]]
IDLE = {"rule": "noise", "line": None, "least": []}


def axis(weights, low, high, take=("1",), move="1/2", prior=(0, 1, 2, 3), variance="9"):
    return {
        "take": list(take),
        "move": move,
        "low": str(low),
        "high": str(high),
        "weights": [str(w) for w in weights],
        "prior": [[str(c), "1"] for c in prior],
        "variance": variance,
    }


def noise(own, first=None, letters=None):
    low, high = int(own["low"]), int(own["high"])
    return {
        "form": "noise",
        "first": [str(low if first is None else first)],
        "letters": [high - low + 1 if letters is None else letters],
        "axes": [own],
        "give": [["1"]],
        "shift": [str(-low)],
    }


def noisy(channel, promises=(), **more):
    mechanism = {"release": ["X"], "form": "noise"}
    settings = {"objective": {"aim": "leakage", "about": ["X"], "theta": "1"}, "proof": IDLE} | more
    if "claims" not in settings:
        settings["claims"] = claims_of(
            "99", "0", "99", [[] for _ in promises], ["99"] * len(settings.get("limits", ()))
        )
    return design(GRID, COUNTS, mechanism, promises=promises, channel=channel, **settings)


FREE = noise(axis((6, 3, 1), -2, 5))
ENDS = noise(axis((6, 3, 1), 0, 3))
TAIL = noise(axis((8, 4, 2, 2), 0, 3))  # geometric, the last weight stands for all that is collected
BUMPY = noise(axis((2, 3, 1), 0, 3))  # not log-concave
PERIOD = noise(axis((2, 0, 0, 1), -3, 6))  # neighbours are told apart for sure, the two ends are not
HOLES = noise(axis((2, 0, 1), -2, 5))
SHRUNK = noise(axis((6, 3, 1), -1, 4, ("1/2",), "5/4", (1, 2)))
NARROW = noise(axis((1,), 0, 3))
CONSTANT = noise(axis((1,), 1, 1, ("0",), "3/2", (1,)))


def noise_matrix(channel, sizes):
    """The rows by the definition of the form, for numbers of columns on their grids."""
    axes = [
        (
            [Fraction(v) for v in own["take"]],
            Fraction(own["move"]),
            int(own["low"]),
            int(own["high"]),
            [int(w) for w in own["weights"]],
        )
        for own in channel["axes"]
    ]
    rows = []
    for x in product(*map(range, sizes)):
        laws = []
        for take, move, low, high, weights in axes:
            start = (sum((a * i for a, i in zip(take, x, strict=True)), move)).__floor__()
            law = {}
            for k in range(1 - len(weights), len(weights)):
                t = min(max(start + k, low), high)
                law[t] = law.get(t, 0) + weights[abs(k)]
            laws.append(law)
        row = {}
        for t in product(*laws):
            letter = []
            for give, shift, many in zip(channel["give"], channel["shift"], channel["letters"], strict=True):
                value = sum((Fraction(g) * v for g, v in zip(give, t, strict=True)), Fraction(shift)).__floor__()
                letter.append(min(max(value, 0), many - 1))
            row[tuple(letter)] = row.get(tuple(letter), 0) + prod(law[v] for law, v in zip(laws, t, strict=True))
        rows.append(row)
    letters = list(product(*map(range, channel["letters"])))
    return [[row.get(letter, 0) for letter in letters] for row in rows]


def three_records():
    """A promise about any three records that its noise keeps, with the bound that follows from it."""
    found = real("noise_dalenius")
    found["promises"][0] |= {"at_most_bits": "3/2", "group": 3}
    found["claims"] |= {"promises": [[]], "bound": "0", "gap": found["claims"]["value"]}
    return found


HONEST = {
    "a sample alone": real("types_binary_1"),
    "two samples": TYPES,
    "four samples of three letters": real("types_ternary_4"),
    "orbits of two": of_pairs(),
    "orbits of three": ORBITS,
    "noise with delta": noisy(FREE, [local_dp("1", delta="0.95"), local_dp("1/2", delta="0.97")]),
    "collected noise": noisy(ENDS, [contraction("1"), local_dp("3", delta="3/4"), leakage("1", "S")]),
    "geometric noise": noisy(TAIL, [local_dp("4"), dalenius("1"), contraction("1")]),
    "bumpy noise": noisy(BUMPY, [contraction("1"), local_dp("1/2", delta="9/10")]),
    "noise with a period": noisy(PERIOD, [contraction("1"), local_dp("1", delta="1")]),
    "noise with holes": noisy(HOLES, [dalenius("9", 2), leakage("9", "X")]),
    "shrunk noise": noisy(SHRUNK, [contraction("1"), leakage("9", "S"), leakage("9", "X")]),
    "a constant": noisy(CONSTANT, [leakage("0", "X"), contraction("0"), local_dp("0"), dalenius("0", 5)]),
    "three records": three_records(),
}


MADE = tuple(name for name in HONEST if name.startswith(("noise", "collected", "geometric", "bumpy", "shrunk")))
MADE = ("orbits of two", "a constant", "three records", *MADE)  # those that are no real designs


def written_out(document):
    """A design by types with a table of all samples and a dense matrix; its proof is that of the closed forms."""
    law = document["law"]
    hidden, sample = document["variables"][:2]
    samples, letters = law["samples"], len(sample["letters"])
    names = [f"X{i + 1}" for i in range(samples)]
    outcomes = []
    for *x, w in product(*[range(letters)] * samples, range(len(hidden["letters"]))):
        n = int(law["prior"][w]) * prod(int(law["kernel"][w][a]) for a in x)
        if n:
            outcomes.append([*x, w, str(n)])
    place = {t: k for k, t in enumerate(types(samples, letters))}
    scale = lcm(*(int(one) for one, _ in document["channel"]["rows"]))
    rows = []
    for x in product(range(letters), repeat=samples):
        one, entries = document["channel"]["rows"][place[tuple(x.count(a) for a in range(letters))]]
        row = [0] * document["channel"]["letters"]
        for y, v in entries:
            row[y] = int(v) * (scale // int(one))
        rows.append([str(v) for v in row])
    variables = dict.fromkeys(names, sample["letters"]) | {hidden["name"]: hidden["letters"]}
    return design(
        variables,
        outcomes,
        {"observe": names},
        objective=document["objective"],
        promises=[independent(name) for name in names],
        channel={"form": "dense", "letters": len(rows[0]), "scale": str(scale), "rows": rows},
        work=20_000_000,
        proof=CLOSED,
    )
