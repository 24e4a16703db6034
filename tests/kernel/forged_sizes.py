"""Texts that are too large: every one must be refused soon."""

from tests.kernel.documents import (
    FLAT,
    MULTIPLIERS,
    contraction,
    dalenius,
    dense,
    design,
    distance,
    law_of,
    leakage,
    limit,
    local_dp,
)
from tests.kernel.forged_promises import RELEASED


def of_sizes():
    """Small files that ask for much work."""
    names = {f"V{k}": ["a", "b"] for k in range(40)}
    groups = [law_of({name: []}, [[0, "1"], [1, "1"]]) for name in names]
    yield (
        "2^40 outcomes by independent groups",
        design(
            names,
            mechanism={"observe": ["V0"]},
            law={"law": "independent", "groups": groups},
            promises=[leakage("1", *names)],
            objective={"aim": "information", "about": ["V0"], "theta": "1"},
        ),
    )
    names = {f"X{k}": ["a"] for k in range(30)}
    yield (
        "many groups of inputs",
        design(
            names,
            [[0] * 30 + ["1"]],
            {"observe": list(names)},
            objective={"aim": "information", "about": ["X0"], "theta": "1"},
            promises=[dalenius("1", 10)],
            channel=dense([1]),
        ),
    )
    many, long = 60, 3**700
    letters = {"X": [str(k) for k in range(many)]}
    uniform = [[k, "1"] for k in range(many)]
    yield (
        "long entries under a metric",
        design(
            letters,
            uniform,
            promises=[local_dp("1", metric=[["0" if i == j else "1" for j in range(many)] for i in range(many)])],
            channel=dense(
                *[[long + (j == k % 39) - (j == 39) for j in range(40)] for k in range(many)], scale=40 * long
            ),
        ),
    )
    wide = {f"X{k}": [str(j) for j in range(64)] for k in range(5)}
    yield (
        "2^30 inputs without an outcome",
        design(
            wide,
            [[0] * 5 + ["1"]],
            {"observe": list(wide)},
            objective={"aim": "information", "about": ["X0"], "theta": "1"},
        ),
    )
    yield "many promises", design(promises=[leakage(f"1/{k + 1}", "S") for k in range(2000)], channel=FLAT)
    yield (
        "distances with long denominators",
        design(
            {"X": [f"1/{10**900 + 2 * k + 1}" for k in range(400)]},
            [[k, "1"] for k in range(400)],
            RELEASED,
            limits=[limit("9", distance("squared", "X"))],
            channel={"form": "pram", "stay": ["1/2"] * 400},
        ),
    )
    yield (
        "probabilities with long denominators",
        design(
            letters,
            uniform,
            RELEASED,
            promises=[leakage("9", "X")],
            channel={"form": "pram", "stay": [f"1/{10**900 + 2 * k + 1}" for k in range(many)]},
        ),
    )
    yield (
        "weights with long denominators",
        design(
            {"X": ["a", "b"]},
            [[0, "1"], [1, "1"]],
            promises=[local_dp("1")],
            channel={
                "form": "staircase",
                "ratio": "1",
                "classes": [0, 0],
                "columns": [[f"1/{10**900 + 2 * k + 1}", []] for k in range(700)],
            },
        ),
    )
    yield (
        "letters that all differ",
        design(
            {"X": [str(k) for k in range(3000)]},
            [[k, str(k + 1)] for k in range(3000)],
            RELEASED,
            promises=[local_dp("9")],
            channel={"form": "pram", "stay": [f"1/{k + 2}" for k in range(3000)]},
        ),
    )
    yield (
        "many pairs of rows",
        design(
            {"X": [str(k) for k in range(300)]},
            [[k, "1"] for k in range(300)],
            promises=[contraction("9/10")],
            channel=dense(*[[k, 300 - k] for k in range(300)]),
        ),
    )
    cells = {"S": [str(k) for k in range(100)], "X": [str(k) for k in range(100)]}
    yield (
        "many cells of many counts",
        design(
            cells,
            law=law_of(cells, [[s, x, str(s * 100 + x + 1)] for s in range(100) for x in range(100)], "table"),
            promises=[leakage("1", "S", ball="confidence", radius="1/2")],
            channel=dense(*[[1, 1]] * 100),
            evidence=[MULTIPLIERS],
        ),
    )
