"""Small honest documents by form, law, limit and shape, and cards."""

from tests.kernel.documents import (
    ABOUT_A,
    BOTH,
    CYCLE,
    FAIR,
    NOISY_PAIR,
    NUMBERS,
    PAIR,
    PAIRS,
    RESPONSE,
    SKEW,
    THREE,
    TWO,
    WITH_K,
    card,
    contraction,
    counted,
    dense,
    design,
    distance,
    figures,
    guess,
    independent,
    law_of,
    leakage,
    limit,
    local_dp,
    maximal,
)


def of_forms():
    released = {"release": ["X"]}
    yield (
        "pram",
        design(
            NUMBERS,
            THREE,
            released | {"form": "pram"},
            promises=[local_dp("0.7")],
            channel={"form": "pram", "stay": ["1/2", "1/2", "0.5"]},
        ),
    )
    yield (
        "pram of different letters",
        design(
            NUMBERS, THREE, released, promises=[local_dp("2")], channel={"form": "pram", "stay": ["1/2", "2/3", "3/4"]}
        ),
    )
    yield (
        "pram of one letter",
        design(
            {"X": ["a"]},
            [[0, "1"]],
            released,
            promises=[local_dp("0"), local_dp("1", delta="1"), contraction("0")],
            channel={"form": "pram", "stay": ["1"]},
        ),
    )
    yield (
        "resample",
        design(
            NUMBERS,
            THREE,
            released,
            promises=[local_dp("2"), leakage("1", "X")],
            channel={"form": "resample", "stay": ["1/2", "1/2", "1/4"], "others": ["1/4", "1/2", "1/4"]},
        ),
    )
    yield (
        "staircase",
        design(
            NUMBERS,
            THREE,
            promises=[local_dp("0.7"), leakage("1", "X")],
            channel={
                "form": "staircase",
                "ratio": "2",
                "classes": [0, 1, 2],
                "columns": [["1/4", [0]], ["1/4", [1]], ["1/4", [2]]],
            },
        ),
    )
    listed = {"form": "listed", "letters": 2, "scale": "4", "places": [1], "rows": [["3", "1"], ["1", "3"]]}
    yield "listed", design(NUMBERS, THREE, promises=[local_dp("1.1"), leakage("1", "X")], channel=listed)
    everything = listed | {"places": [0, 1, 2], "rows": [["3", "1"], ["1", "3"], ["1", "3"], ["4", "0"]]}
    yield "listed, nobody else", design(NUMBERS, THREE, promises=[local_dp("1.1")], channel=everything)
    yield (
        "staircase with a flat letter",
        design(
            NUMBERS,
            THREE,
            promises=[local_dp("0.7")],
            channel={
                "form": "staircase",
                "ratio": "2",
                "classes": [0, 0, 1],
                "columns": [["1/6", [0]], ["1/6", [1]], ["1/2", []]],
            },
        ),
    )


def of_laws():
    yield "table", design(law=counted(10), promises=[leakage("1/5", "S")])
    groups = [law_of({"S": []}, [[0, "1"], [1, "2"]]), law_of({"X": []}, [[0, "3"], [1, "1"]])]
    yield "independent groups", design(law={"law": "independent", "groups": groups}, promises=[independent("S")])
    yield (
        "a letter that never occurs",
        design(outcomes=[[0, 0, "1"], [1, 0, "2"]], promises=[local_dp("0.7")], channel=RESPONSE),
    )


def of_limits():
    released = {"release": ["X"]}
    matrix = [["0", "1/2", "3"], ["1", "0", "1/3"], ["2", "2", "0"]]
    for part, most in (
        (distance("hamming", "X"), "1/2"),
        (distance("hamming", "X", classes=[["0", "1/2"]]), "7/16"),
        (distance("absolute", "X"), "3/8"),
        (distance("squared", "X", weight="2"), "1/2"),
        (distance("matrix", "X", matrix=matrix), "3/2"),
    ):
        name = part["distance"] + (" with classes" if part["classes"] else "")
        yield f"limit {name}", design(NUMBERS, THREE, released, limits=[limit(most, part)], channel=CYCLE)
        yield (
            f"objective {name}",
            design(NUMBERS, THREE, released, objective={"aim": "distortion", "distortion": [part]}, channel=CYCLE),
        )
    coins = {"X": ["1/4", "1/2", "3/4"]}
    yield "limit kl", design(coins, THREE, released, limits=[limit("1/4", distance("kl", "X"))], channel=CYCLE)
    yield (
        "a sum of two distances",
        design(
            NUMBERS,
            THREE,
            released,
            limits=[limit("1", distance("hamming", "X"), distance("absolute", "X", weight="1/3"))],
            channel=CYCLE,
        ),
    )
    gone = dense([1, 0, 1], [0, 1, 1])
    yield (
        "limit erasure",
        design(
            {"X": ["a", "b"]},
            [[0, "1"], [1, "1"]],
            {"fresh": ["a", "b", "(missing)"]},
            limits=[limit("1/2", distance("erasure", "X"))],
            channel=gone,
        ),
    )
    yield (
        "limit of one of two released columns",
        design(
            PAIR,
            PAIRS,
            BOTH | {"release": ["A", "B"]},
            limits=[limit("2/3", distance("hamming", "B"))],
            channel=NOISY_PAIR,
            objective={"aim": "distortion", "distortion": [distance("hamming", "A")]},
        ),
    )


def of_shapes():
    released = {"release": ["X"]}
    upward = dense([1, 1, 0], [0, 1, 1], [0, 0, 2])
    yield (
        "forbidden changes",
        design(NUMBERS, THREE, released | {"forbid": [["0", "1"], ["1", "0"], ["1", "1/2"]]}, channel=upward),
    )
    yield "frozen letters", design(NUMBERS, THREE, released | {"freeze": ["1"]}, channel=upward)
    never = [[{"column": "A", "letters": ["0"]}, {"column": "B", "letters": ["1"]}]]
    yield (
        "a combination that never leaves",
        design(
            PAIR,
            PAIRS,
            BOTH | {"release": ["A", "B"], "never": never},
            channel=dense(*[[1, 0, 1, 1]] * 4),
            objective=ABOUT_A,
        ),
    )
    yield (
        "preserved marginals",
        design(NUMBERS, THREE, released | {"preserve_marginals": True}, channel=dense([2, 2, 0], [1, 2, 1], [0, 2, 2])),
    )
    yield "letters of its own", design(mechanism={"fresh": ["y0", "y1", "y2"]}, channel=dense([1, 1, 0], [0, 1, 1]))
    yield "another column is released", design(mechanism={"release": ["S"]}, channel=RESPONSE)
    yield (
        "a stratum",
        design(
            WITH_K, FAIR, {"strata": ["K"]}, promises=[leakage("1", "X")], channel=dense([2, 0], [0, 2], [1, 1], [1, 1])
        ),
    )
    side = {"side": {"variable": "K", "encoder": "informed"}}
    yield (
        "side information",
        design(
            WITH_K,
            SKEW,
            side,
            objective={"aim": "leakage", "about": [], "theta": "0"},
            channel=dense([2, 1], [2, 1], [1, 2], [1, 2]),
        ),
    )
    yield (
        "rate and leakage",
        design(outcomes=SKEW, objective={"aim": "leakage", "about": ["S"], "theta": "1/2"}, channel=RESPONSE),
    )


def of_cards():
    released = {"release": ["X"]}
    yield "card", card(NUMBERS, released, [local_dp("0.7")], CYCLE, [figures(epsilon_nats="0.7")])
    yield (
        "card of form pram",
        card(NUMBERS, released | {"form": "pram"}, [local_dp("0")], {"form": "pram", "stay": ["1/3"] * 3}),
    )
    yield (
        "card with a promise that needs the law",
        card(TWO, {}, [leakage("1/10", "S"), contraction("0.1112")], RESPONSE),
    )
    yield (
        "card of gauges",
        card(
            TWO | {"S": ["?"]},
            {},
            [maximal("0.42"), guess("1/2", "S", gain=[["1", "0", "2"]]), maximal("1", "S")],
            RESPONSE,
            [figures(maximal_bits="0.4151"), [], []],
        ),
    )
