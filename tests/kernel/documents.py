"""Small documents of design/2 and card/2, put together from words; the honest ones by name."""

import copy

from dalenius.kernel.numbers import canonical

SILENT = {
    "observe": ["X"],
    "strata": [],
    "keep": [],
    "release": [],
    "fresh": None,
    "form": "any",
    "each": None,
    "forbid": [],
    "never": [],
    "freeze": [],
    "preserve_marginals": False,
    "side": None,
}
TWO = {"S": ["u", "v"], "X": ["a", "b"]}
FAIR = [[0, 0, "1"], [0, 1, "1"], [1, 0, "1"], [1, 1, "1"]]
SAME = [[0, 0, "1"], [1, 1, "1"]]
SKEW = [[0, 0, "3"], [0, 1, "1"], [1, 0, "1"], [1, 1, "3"]]
TELL = {"aim": "information", "about": ["X"], "theta": "1"}
CLOSED = {"rule": "closed"}
MULTIPLIERS = {"nu": "0", "m": "0", "t": "1"}


def law_of(variables, outcomes, kind="known"):
    return {"law": kind, "variables": list(variables), "outcomes": outcomes}


def claims_of(value="0", bound="9", gap="9", promises=(), limits=()):
    return {"promises": list(promises), "limits": list(limits), "value": value, "bound": bound, "gap": gap}


def figures(**values):
    return [{"figure": name, "given": None, "value": value} for name, value in values.items()]


def dense(*rows, scale=None):
    return {
        "form": "dense",
        "letters": len(rows[0]),
        "scale": str(sum(rows[0]) if scale is None else scale),
        "rows": [[str(v) for v in row] for row in rows],
    }


def design(
    variables=TWO,
    outcomes=FAIR,
    mechanism=None,
    *,
    law=None,
    objective=TELL,
    promises=(),
    limits=(),
    channel=None,
    evidence=None,
    claims=None,
    proof=CLOSED,
    work=20_000_000,
):
    """A design; what is not said is as plain as it can be, and claims nothing."""
    promises = list(promises)
    document = {
        "format": "dalenius-design/2",
        "work": str(work),
        "variables": [{"name": name, "letters": letters} for name, letters in variables.items()],
        "law": law or law_of(variables, outcomes),
        "mechanism": SILENT | (mechanism or {}),
        "objective": objective,
        "promises": promises,
        "limits": list(limits),
        "channel": channel or IDENTITY,
        "evidence": evidence or [None] * len(promises),
        "claims": claims or claims_of(promises=[[] for _ in promises], limits=["99"] * len(limits)),
        "proof": proof,
    }
    return copy.deepcopy(document)


def card(variables, mechanism, promises, channel, claims=None, evidence=None):
    promises = list(promises)
    document = {
        "format": "dalenius-card/2",
        "work": "1000000",
        "variables": [{"name": name, "letters": letters} for name, letters in variables.items()],
        "mechanism": SILENT | mechanism,
        "promises": promises,
        "channel": channel,
        "evidence": evidence or [None] * len(promises),
        "claims": {"promises": claims or [[] for _ in promises]},
    }
    return copy.deepcopy(document)


IDENTITY = dense([1, 0], [0, 1])
RESPONSE = dense([2, 1], [1, 2])  # randomised response, level ln 2
FLAT = dense([1, 1], [1, 1])


def independent(*secret):
    return {"promise": "independent", "secret": list(secret)}


def information_privacy(epsilon, *secret):
    return {"promise": "information_privacy", "secret": list(secret), "epsilon": epsilon}


def leakage(most, *secret, ball=None, radius=None):
    within = None if ball is None else {"ball": ball, "radius": radius}
    return {"promise": "leakage", "secret": list(secret), "at_most_bits": most, "within": within}


def worst_case(most, *secret):
    return {"promise": "worst_case_leakage", "secret": list(secret), "at_most_bits": most}


def local_dp(epsilon, *given, delta="0", metric=None, rows=1):
    return {
        "promise": "local_dp",
        "epsilon": epsilon,
        "metric": metric,
        "delta": delta,
        "given": list(given),
        "rows": rows,
    }


def dalenius(most, group=1, rows="1"):
    return {"promise": "dalenius", "at_most_bits": most, "group": group, "rows": rows}


def contraction(most):
    return {"promise": "contraction", "at_most": most}


def guess(most, *secret, times=None, gain=None):
    return {"promise": "guess", "secret": list(secret), "at_most": most, "times": times, "gain": gain}


def maximal(most, *secret):
    return {"promise": "maximal_leakage", "secret": list(secret), "at_most_bits": most}


def variation(most, *secret):
    return {"promise": "total_variation", "secret": list(secret), "at_most": most}


def sibson(order, most, *secret):
    return {"promise": "sibson", "secret": list(secret), "order": order, "at_most_bits": most}


def distance(kind, *of, weight="1", classes=(), matrix=()):
    return {"distance": kind, "of": list(of), "weight": weight, "classes": list(classes), "matrix": list(matrix)}


def limit(most, *parts):
    return {"distortion": list(parts), "at_most": most}


NUMBERS = {"X": ["0", "1/2", "1"]}
THREE = [[0, "1"], [1, "2"], [2, "1"]]
CYCLE = dense([2, 1, 1], [1, 2, 1], [1, 1, 2])
PAIR = {"A": ["0", "1"], "B": ["0", "1"]}
PAIRS = [[0, 0, "1"], [0, 1, "2"], [1, 0, "3"], [1, 1, "4"]]
BOTH = {"observe": ["A", "B"]}
WITH_K = {"K": ["0", "1"], "X": ["a", "b"]}
ABOUT_A = {"aim": "information", "about": ["A"], "theta": "1"}
NOISY_PAIR = dense([4, 2, 2, 1], [2, 4, 1, 2], [2, 1, 4, 2], [1, 2, 2, 4])


IN_SHORT = {"form": "pram", "stay": ["1/2", "1/2", "1/2"]}


def centre(*law):
    return {"node": "centre", "law": [str(v) for v in law]}


def choice(value, *rows):
    return {"node": "choice", "value": value, "rows": list(rows)}


def selections(first, second):
    """The tree of one input of the noisy pair: a row for each of its two values, and the mean of the two."""
    rows = [list(map(int, row)) for row in NOISY_PAIR["rows"]]
    found = [choice(0, first[0])]
    for i in first:
        found.append(choice(1, second[0]))
        found += [centre(*map(sum, zip(rows[i], rows[j], strict=True))) for j in second]
    return found


TREES = [selections((0, 1), (2, 3)), selections((0, 2), (1, 3))]
# One tree that serves both inputs: its second leaf is for rows 0, 2 of the one and 0, 1 of the other.
ONE_TREE = [
    choice(0, 0), choice(1, 3), centre(5, 4, 4, 5), centre(20, 22, 22, 17),
    choice(1, 3), centre(17, 22, 22, 20), centre(4, 5, 5, 4),
]  # fmt: skip


def counted(times):
    """A table of 8 * times rows in which X says a little about S."""
    return law_of(TWO, [[*outcome[:-1], str(int(outcome[-1]) * times)] for outcome in SKEW], "table")


def of_promises():
    """Every promise, each in a document that keeps it."""
    yield (
        "independent",
        design(promises=[independent("S")], claims=claims_of("1", "1", "0", [figures(leakage_bits="0")])),
    )
    yield (
        "independent of two",
        design(
            PAIR,
            PAIRS,
            BOTH,
            promises=[independent("A", "B")],
            channel=dense(*[[1, 2]] * 4),
            objective=ABOUT_A,
        ),
    )
    yield "information privacy", design(outcomes=SKEW, promises=[information_privacy("1/2", "S")], channel=RESPONSE)
    yield (
        "leakage",
        design(
            outcomes=SKEW,
            promises=[leakage("1/5", "S")],
            claims=claims_of(
                promises=[
                    figures(
                        leakage_bits="0.19",
                        guess_before="1/2",
                        guess_after="3/4",
                        worst_letter_bits="0.19",
                        odds_nats="0.7",
                    )
                ]
            ),
        ),
    )
    yield (
        "leakage given a column",
        design(
            outcomes=SKEW,
            promises=[leakage("1", "S")],
            claims=claims_of(
                promises=[
                    [
                        {"figure": "leakage_bits", "given": "X", "value": "0"},
                        {"figure": "odds_nats", "given": None, "value": None},
                    ]
                ]
            ),
        ),
    )
    yield "worst case leakage", design(outcomes=SKEW, promises=[worst_case("1/50", "S")], channel=dense([5, 4], [4, 5]))
    yield (
        "local dp",
        design(
            promises=[local_dp("0.6932")],
            channel=RESPONSE,
            claims=claims_of(promises=[figures(epsilon_nats="0.6932", delta="0")]),
        ),
    )
    yield "local dp for three rows", design(promises=[local_dp("2.0795", rows=3)], channel=RESPONSE)
    yield "local dp with delta", design(promises=[local_dp("1/10", delta="3/10")], channel=RESPONSE)
    yield "local dp with delta for two rows", design(promises=[local_dp("1/5", delta="3/5", rows=2)], channel=RESPONSE)
    yield (
        "local dp with a metric",
        design(
            NUMBERS,
            THREE,
            promises=[local_dp("0.7", metric=[["0", "1", "2"], ["1", "0", "1"], ["2", "1", "0"]])],
            channel=dense([4, 2, 1], [2, 3, 2], [1, 2, 4]),
        ),
    )
    yield (
        "local dp given a kept column",
        design(WITH_K, FAIR, {"keep": ["K"]}, promises=[local_dp("0.7", "K")], channel=RESPONSE),
    )
    in_strata, apart = (WITH_K, FAIR, {"strata": ["K"]}), dense([3, 1], [1, 3], [2, 2], [0, 4])
    relaxed = local_dp("0", "K", delta="1/4")
    yield "local dp with delta in strata", design(*in_strata, promises=[relaxed], channel=apart)
    yield (
        "local dp given a stratum",
        design(
            WITH_K,
            FAIR,
            {"strata": ["K"]},
            promises=[local_dp("0.7", "K")],
            channel=dense([2, 1], [3, 0], [1, 2], [3, 0]),
        ),
    )
    yield (
        "dalenius about one",
        design(
            PAIR,
            PAIRS,
            BOTH,
            promises=[dalenius("1/5")],
            channel=NOISY_PAIR,
            objective=ABOUT_A,
        ),
    )
    yield (
        "dalenius about both",
        design(
            PAIR,
            PAIRS,
            BOTH,
            promises=[dalenius("1/2", 2)],
            channel=NOISY_PAIR,
            objective=ABOUT_A,
        ),
    )
    yield (
        "dalenius with trees",
        design(
            PAIR, PAIRS, BOTH, promises=[dalenius("0.155")], channel=NOISY_PAIR, objective=ABOUT_A, evidence=[TREES]
        ),
    )
    yield (
        "dalenius with one tree",
        design(
            PAIR,
            PAIRS,
            BOTH,
            promises=[dalenius("0.158")],
            channel=NOISY_PAIR,
            objective=ABOUT_A,
            evidence=[[ONE_TREE]],
        ),
    )
    yield "dalenius of all rows", design(promises=[dalenius("1/2", rows="5")], channel=RESPONSE)
    yield (
        "dalenius of two rows",
        design(PAIR, PAIRS, BOTH, promises=[dalenius("0.33", rows="2")], channel=NOISY_PAIR, objective=ABOUT_A),
    )
    yield "dalenius of nothing", design(promises=[dalenius("0")], channel=FLAT)
    yield "dalenius of everything", design(promises=[dalenius("1", rows="1000000")], channel=RESPONSE)
    yield "contraction", design(promises=[contraction("0.1112")], channel=RESPONSE)
    yield "contraction of three rows", design(NUMBERS, THREE, promises=[contraction("0.0834")], channel=CYCLE)
    yield (
        "contraction of a later pair",
        design(NUMBERS, THREE, promises=[contraction("1/2")], channel=dense([5, 4], [4, 5], [1, 8])),
    )
    yield "no promise", design()
    yield (
        "several promises",
        design(outcomes=SKEW, promises=[leakage("1/5", "S"), local_dp("0.7"), contraction("0.1112")], channel=RESPONSE),
    )


def of_gauges():
    """Promises that add up a gauge over all letters."""
    told = {"outcomes": SKEW, "channel": RESPONSE}  # P(X = S) = 3/4, kept with 2/3: S is guessed with 7/12
    side = {"side": {"variable": "S", "encoder": "informed"}}
    rate = {"aim": "leakage", "about": [], "theta": "0"}
    yield (
        "a guess",
        design(promises=[guess("7/12", "S")], claims=claims_of(promises=[figures(guess_after="7/12")]), **told),
    )
    yield "a guess as a multiple", design(promises=[guess(None, "S", times="7/6")], **told)
    yield (
        "a guess with a gain",
        design(
            promises=[guess("2/3", "S", gain=[["1", "0"], ["0", "1"], ["2/3", "2/3"]])],
            claims=claims_of(promises=[figures(gain_before="2/3", gain_after="2/3")]),
            **told,
        ),
    )
    yield (
        "a guess as a multiple with a gain",
        design(
            promises=[guess(None, "X", "S", times="5/3", gain=[["1", "2", "0", "0"], ["0", "1", "1", "0"]])], **told
        ),
    )
    yield (
        "a guess beside a kept column",
        design(WITH_K, SKEW, {"keep": ["K"]}, promises=[guess("3/4", "X")], channel=FLAT),
    )
    for name, gain in (("a guess", None), ("a gain", [["1", "0"], ["0", "1"]])):
        yield (
            f"{name} beside side information",
            design(
                outcomes=SKEW,
                mechanism=side,
                channel=dense(*[[1, 1]] * 4),
                objective=rate,
                promises=[guess(None, "X", times="1", gain=gain)],
            ),
        )
    yield (
        "maximal leakage",
        design(promises=[maximal("0.42")], claims=claims_of(promises=[figures(maximal_bits="0.4151")]), **told),
    )
    yield (
        "maximal leakage beside a stratum",
        design(
            WITH_K,
            FAIR,
            {"strata": ["K"]},
            promises=[maximal("1.5")],
            channel=dense([2, 1], [3, 0], [1, 2], [3, 0]),
            claims=claims_of(promises=[figures(maximal_bits="1.223")]),
        ),
    )
    yield (
        "maximal leakage of a short form",
        design(NUMBERS, THREE, {"release": ["X"]}, promises=[maximal("0.59")], channel=IN_SHORT),
    )
    yield (
        "maximal leakage about a secret",
        design(promises=[maximal("0.23", "S")], claims=claims_of(promises=[figures(maximal_bits="0.2224")]), **told),
    )
    yield (
        "total variation",
        design(promises=[variation("1/12", "S")], claims=claims_of(promises=[figures(total_variation="1/12")]), **told),
    )
    yield "total variation of what never meets", design(outcomes=SAME, promises=[variation("1/2", "S")])
    for order, most in (("2", "0.04"), ("3/2", "0.031"), ("32", "0.21"), ("32/31", "0.022")):
        yield (
            f"sibson of order {order}",
            design(promises=[sibson(order, most, "S")], **told),
        )
    yield "sibson of what never meets", design(outcomes=SAME, promises=[sibson("2", "1.001", "S")])


def of_balls():
    for kind, radius, most, by in (
        ("total_variation", "1/100", "1/10", {"nu": "0", "m": "3/2", "t": "0"}),
        ("total_variation", "0", "1/10", {"nu": "1/50", "m": "0", "t": "0"}),
        ("kl_bits", "1/1000", "1/10", {"nu": "0", "m": "0", "t": "1/2"}),
    ):
        yield (
            f"{kind} {radius}",
            design(
                outcomes=SKEW, promises=[leakage(most, "S", ball=kind, radius=radius)], channel=RESPONSE, evidence=[by]
            ),
        )
    yield (
        "confidence",
        design(
            law=counted(1000),
            promises=[leakage("1/10", "S", ball="confidence", radius="19/20")],
            channel=RESPONSE,
            evidence=[MULTIPLIERS],
        ),
    )
    yield (
        "confidence with a multiplier",
        design(
            law=counted(1000),
            promises=[leakage("1/2", "S", ball="confidence", radius="19/20")],
            channel=RESPONSE,
            evidence=[MULTIPLIERS | {"nu": "1/4"}],
        ),
    )
    seen = law_of(TWO, [[0, 0, "900"], [0, 1, "40"], [1, 1, "1060"]], "table")
    sure = leakage("1/8", "S", ball="confidence", radius="19/20")
    yield (
        "confidence where a cell is empty",
        design(law=seen, promises=[sure], channel=RESPONSE, evidence=[MULTIPLIERS]),
    )
    alone = law_of(TWO, [[0, 0, "50"]], "table")
    yield (
        "confidence where one cell holds all",
        design(law=alone, promises=[sure], channel=RESPONSE, evidence=[MULTIPLIERS]),
    )
    yield (
        "confidence shared by two",
        design(
            law=counted(1000),
            promises=[
                leakage("1/10", "S", ball="confidence", radius="19/20"),
                leakage("1/8", "X", ball="confidence", radius="9/10"),
            ],
            channel=RESPONSE,
            evidence=[MULTIPLIERS, MULTIPLIERS],
        ),
    )
    yield (
        "a ball beside a kept column",
        design(
            {"S": ["u", "v"], "K": ["0", "1"], "X": ["a", "b"]},
            [[s, k, x, "1"] for s in (0, 1) for k in (0, 1) for x in (0, 1)],
            {"keep": ["K"]},
            promises=[leakage("1/2", "S", ball="total_variation", radius="1/100")],
            channel=FLAT,
            evidence=[{"nu": "0", "m": "1/10", "t": "0"}],
        ),
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


def honest():
    """All of them: {name: document}."""
    found = {}
    for family in (of_promises, of_gauges, of_balls, of_forms, of_laws, of_limits, of_shapes, of_cards):
        for name, document in family():
            assert name not in found
            found[name] = document
    return found


def text_of(document):
    return canonical(document)
