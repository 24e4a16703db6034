"""Files with false or idle claims, and hostile texts: {name: text}. The checker must refuse every one, and soon."""

from tests.kernel import listed
from tests.kernel.documents import (
    BOTH,
    CLOSED,
    CYCLE,
    FAIR,
    FLAT,
    IDENTITY,
    MULTIPLIERS,
    NOISY_PAIR,
    NUMBERS,
    ONE_TREE,
    PAIR,
    PAIRS,
    RESPONSE,
    SAME,
    SKEW,
    TELL,
    THREE,
    TWO,
    WITH_K,
    card,
    claims_of,
    contraction,
    counted,
    dalenius,
    dense,
    design,
    distance,
    figures,
    guess,
    independent,
    information_privacy,
    law_of,
    leakage,
    limit,
    local_dp,
    maximal,
    sibson,
    text_of,
    variation,
    worst_case,
)

BALL = {"ball": "total_variation", "radius": "1/10"}
ABOUT_A = {"aim": "information", "about": ["A"], "theta": "1"}
RELEASED = {"release": ["X"]}


def without(document, *path):
    """The document without one key."""
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return document


def put(document, *path_and_value):
    """The document with another value at a place."""
    *path, last, value = path_and_value
    inner = document
    for key in path:
        inner = inner[key]
    inner[last] = value
    return document


def base():
    """X is independent of S and told in full."""
    return design(promises=[independent("S")], claims=claims_of("1", "1", "0", [figures(leakage_bits="0")]))


def of_reading():
    """Fields that a careless reader trusts."""
    yield "a text for the list of a secret", put(base(), "promises", 0, "secret", "S")
    yield "a text for the list of kept columns", put(base(), "mechanism", "keep", "S")
    yield "a text for the list of observed columns", put(base(), "mechanism", "observe", "X")
    yield "a text for the list of released columns", put(base(), "mechanism", "release", "X")
    yield "a text for the list of letters", put(base(), "variables", 0, "letters", "uv")
    yield "a text for a row", put(base(), "channel", "rows", 0, "10")
    yield "a text for an outcome", put(base(), "law", "outcomes", 0, "001")
    yield "an object for a list", put(base(), "promises", {})
    yield "letters that are no texts", put(base(), "variables", 0, "letters", [1, True])
    yield "a letter twice", put(base(), "variables", 0, "letters", ["u", "u"])
    yield "an empty letter", put(base(), "variables", 0, "letters", ["u", ""])
    yield "an empty alphabet", put(base(), "variables", 0, "letters", [])
    yield "a variable twice", put(base(), "variables", 0, "name", "X")
    yield "an empty name", put(base(), "variables", 0, "name", "")
    yield "a long name", put(base(), "variables", 0, "name", "S" * 1001)
    yield "a place that is true", put(base(), "law", "outcomes", 1, [0, True, "1"])
    yield "a place that is a float", put(base(), "law", "outcomes", 1, [0, 1.0, "1"])
    yield "a place outside its alphabet", put(base(), "law", "outcomes", 1, [0, 2, "1"])
    yield "a negative place", put(base(), "law", "outcomes", 1, [0, -1, "1"])
    yield "a short outcome", put(base(), "law", "outcomes", 1, [0, "1"])
    yield "an outcome twice", put(base(), "law", "outcomes", 1, [0, 0, "1"])
    yield "outcomes that do not rise", put(base(), "law", "outcomes", FAIR[::-1])
    yield "a count of zero", put(base(), "law", "outcomes", 0, [0, 0, "0"])
    yield "a count of zero where nothing is promised", design(outcomes=[[0, 0, "0"], *FAIR[1:]])
    yield "a negative count", put(base(), "law", "outcomes", 0, [0, 0, "-1"])
    yield "a count that is a fraction", put(base(), "law", "outcomes", 0, [0, 0, "1/2"])
    yield "a count that is a JSON number", put(base(), "law", "outcomes", 0, [0, 0, 1])
    yield "no outcome", put(base(), "law", "outcomes", [])
    yield "variables of the law in another order", put(base(), "law", "variables", ["X", "S"])
    yield "a law of fewer variables", put(base(), "law", law_of({"S": []}, [[0, "1"]]))
    yield "a law of another kind", put(base(), "law", "law", "guessed")
    yield "rows stated beside the counts", put(base(), "law", "rows", "20000000")
    yield "a remark that nothing proves", put(base(), "remarks", ["at most 0.0001 bits with confidence 99.9999 %"])
    yield "a ball beside the promises", put(base(), "robust", {"total_variation": "1/2"})
    yield "a kept column beside the mechanism", put(base(), "kept", [])
    yield "a method", put(base(), "method", "exact")
    yield "an unknown key of the mechanism", put(base(), "mechanism", "group", ["S"])
    yield "an unknown key of a promise", put(base(), "promises", 0, "within", BALL)
    yield "an unknown key of the channel", put(base(), "channel", "kept", [])
    yield "an unknown key of a claim", put(base(), "claims", "promises", 0, 0, "unit", "bits")
    yield "an unknown key of the objective", put(base(), "objective", "given", ["S"])
    yield "a missing key", without(base(), "limits")
    yield "a missing key of a promise", without(base(), "promises", 0, "secret")
    yield "keys in another order", dict(reversed(base().items()))
    yield "another format", put(base(), "format", "dalenius-design/1")
    yield "a list for a document", "[]"
    yield "a text for a document", '"dalenius-design/2"'
    yield "an empty object", "{}"
    yield "a format that is a number", '{"format":2}'
    yield "fewer claims than promises", put(base(), "claims", "promises", [])
    yield "less evidence than promises", put(base(), "evidence", [])
    yield "evidence for a promise that needs none", put(base(), "evidence", [MULTIPLIERS])
    yield "a number as JSON number", put(base(), "claims", "value", 1)
    yield "a flag that is 1", put(base(), "mechanism", "preserve_marginals", 1)
    yield (
        "a promise twice",
        put(
            put(put(base(), "promises", [independent("S")] * 2), "evidence", [None] * 2), "claims", "promises", [[], []]
        ),
    )
    yield "a figure twice", put(base(), "claims", "promises", 0, figures(leakage_bits="0") * 2)
    yield "more operations declared than are allowed", put(base(), "work", str(10**12))
    yield "fewer operations declared than are needed", put(base(), "work", "100")
    yield "a negative work", put(base(), "work", "-1")
    yield "an exponent", put(base(), "claims", "value", "1e0")
    yield "a sign", put(base(), "claims", "value", "+1")
    yield "a leading zero", put(base(), "claims", "value", "01")
    yield "a blank in a number", put(base(), "claims", "value", " 1")
    yield "an underscore in a number", put(base(), "claims", "value", "1_0")
    yield "a denominator of zero", put(base(), "claims", "value", "1/0")
    yield "digits of another script", put(base(), "claims", "value", "١")
    yield "a long number", put(base(), "claims", "value", "9" * 5000)


def of_mechanism():
    """Shapes that are only said, and mechanisms that are none."""
    two = [[0, "1"], [1, "9"]]
    bits = {"X": ["0", "1"]}
    forms = {
        "dense": (FLAT, "any"),
        "listed": (listed.FLAT, "any"),
        "pram": ({"form": "pram", "stay": ["1/2", "1/2"]}, "pram"),
        "resample": ({"form": "resample", "stay": ["0", "0"], "others": ["1/2", "1/2"]}, "any"),
        "staircase": (
            {"form": "staircase", "ratio": "1", "classes": [0, 0], "columns": [["1/2", []], ["1/2", []]]},
            "any",
        ),
    }
    never = [[{"column": "X", "letters": ["0"]}]]
    for name, (channel, form) in forms.items():
        for field, value in (
            ("preserve_marginals", True),
            ("forbid", [["0", "1"]]),
            ("freeze", ["0"]),
            ("never", never),
        ):
            mechanism = RELEASED | {"form": form, field: value}
            yield (
                f"{name}: {field} is not kept",
                design(bits, two, mechanism, promises=[local_dp("1")], channel=channel),
            )
    yield "a change of the second letter", design(bits, two, RELEASED | {"forbid": [["1", "0"]]}, channel=FLAT)
    yield "a matrix that is not of form pram", design(bits, two, RELEASED | {"form": "pram"}, channel=FLAT)
    yield "a form that is none", design(bits, two, RELEASED | {"form": "best"}, channel=FLAT)
    yield "a change to a letter that is none", design(bits, two, RELEASED | {"forbid": [["0", "7"]]}, channel=FLAT)
    yield "a change of three letters", design(bits, two, RELEASED | {"forbid": [["0", "1", "0"]]}, channel=IDENTITY)
    yield "a change twice", design(bits, two, RELEASED | {"forbid": [["0", "1"]] * 2}, channel=IDENTITY)
    yield "a frozen letter that is none", design(bits, two, RELEASED | {"freeze": ["7"]}, channel=IDENTITY)
    yield "an empty combination", design(bits, two, RELEASED | {"never": [[]]}, channel=IDENTITY)
    yield "a combination without letters", design(bits, two, RELEASED | {"never": [[{"column": "X", "letters": []}]]})
    yield (
        "a combination of letters that are none",
        design(bits, two, RELEASED | {"never": [[{"column": "X", "letters": ["7"]}]]}),
    )
    yield "a combination twice", design(bits, two, RELEASED | {"never": [[{"column": "X", "letters": ["0"]}]] * 2})
    yield (
        "a combination that names a column twice",
        design(
            bits, two, RELEASED | {"never": [[{"column": "X", "letters": ["0"]}, {"column": "X", "letters": ["1"]}]]}
        ),
    )
    yield (
        "a combination of a column that is not released",
        design(mechanism={"never": [[{"column": "S", "letters": ["u"]}]]}),
    )
    yield "a column held fast that is not observed", design(mechanism={"release": ["S"], "freeze": ["u"]})
    yield "marginals of an output of its own", design(mechanism={"preserve_marginals": True})
    yield "marginals that a card cannot prove", card(bits, RELEASED | {"preserve_marginals": True}, [], IDENTITY)
    yield "a kept column that is no variable", design(PAIR, PAIRS, BOTH | {"keep": ["S"]}, objective=ABOUT_A)
    yield "a column both observed and kept", design(mechanism={"keep": ["X"]})
    yield "a column both kept and a stratum", design(mechanism={"keep": ["S"], "strata": ["S"]})
    yield "a kept column released again", design(mechanism={"keep": ["S"], "release": ["S"]})
    yield "nothing is observed", design(mechanism={"observe": []}, channel=dense([1]))
    yield "own letters beside released columns", design(mechanism=RELEASED | {"fresh": ["a", "b"]})
    yield "no letter of its own", design(mechanism={"fresh": []})
    yield "side information that is no variable", design(mechanism={"side": {"variable": "T", "encoder": "informed"}})
    yield "side information of an unknown encoder", design(mechanism={"side": {"variable": "S", "encoder": "lucky"}})
    yield (
        "side information that is kept",
        design(mechanism={"keep": ["S"], "side": {"variable": "S", "encoder": "informed"}}),
    )
    rows = IDENTITY["rows"]
    for name, channel in {
        "a row that sums to more": IDENTITY | {"rows": [["1", "1"], ["0", "1"]]},
        "a row that sums to less": IDENTITY | {"rows": [["0", "0"], ["0", "1"]]},
        "a negative entry": IDENTITY | {"rows": [["2", "-1"], ["0", "1"]]},
        "a row too few": IDENTITY | {"rows": rows[:1]},
        "a row too many": IDENTITY | {"rows": [*rows, ["1", "0"]]},
        "a short row": IDENTITY | {"rows": [["1"], ["0", "1"]]},
        "a scale of zero": IDENTITY | {"scale": "0", "rows": [["0", "0"]] * 2},
        "letters that are not those of the rows": IDENTITY | {"letters": 3},
        "no letter": {"form": "dense", "letters": 0, "scale": "1", "rows": [[], []]},
        "pram beside what it does not release": {"form": "pram", "stay": ["1", "1"]},
        "a second channel under a stray key": {"form": "pram", "stay": ["1", "1"], "rows": rows},
        "a form of no name": {"form": "sparse"},
        "a stay that is a JSON number": {"form": "pram", "stay": [1, "1"]},
        "a stay above 1": {"form": "pram", "stay": ["2", "1"]},
        "a stay below 0": {"form": "pram", "stay": ["-1", "1"]},
        "fewer stays than letters": {"form": "pram", "stay": ["1"]},
        "a draw that is no law": {"form": "resample", "stay": ["0", "0"], "others": ["1/2", "1/3"]},
        "a staircase row that sums to more": {
            "form": "staircase",
            "ratio": "2",
            "classes": [0, 1],
            "columns": [["1/2", [0]], ["1/2", [1]]],
        },
        **listed.NO_LISTS,
        "a class of no input": {"form": "staircase", "ratio": "1", "classes": [0, 0], "columns": [["1", [1]]]},
        "a class twice": {
            "form": "staircase",
            "ratio": "1",
            "classes": [0, 0],
            "columns": [["1/2", [0, 0]], ["1/2", []]],
        },
        "a ratio below 1": {
            "form": "staircase",
            "ratio": "1/2",
            "classes": [0, 0],
            "columns": [["1", [0]], ["1", [0]]],
        },
        "a negative weight": {"form": "staircase", "ratio": "1", "classes": [0, 0], "columns": [["2", []], ["-1", []]]},
        "a staircase without letters": {"form": "staircase", "ratio": "1", "classes": [0, 0], "columns": []},
        "fewer classes than inputs": {"form": "staircase", "ratio": "1", "classes": [0], "columns": [["1", []]]},
    }.items():
        yield (
            name,
            design(mechanism={} if name.startswith("pram beside") else RELEASED, channel=channel)
            if "form" in channel and channel["form"] != "dense"
            else design(channel=channel),
        )
    yield (
        "a single letter of form pram that moves",
        design({"X": ["a"]}, [[0, "1"]], RELEASED, channel={"form": "pram", "stay": ["1/2"]}),
    )
    yield (
        "dense letters that are not those of the problem",
        design(NUMBERS, THREE, RELEASED, channel=dense(*[[1, 1]] * 3)),
    )
    yield (
        "staircase letters that are not those of the problem",
        design(
            NUMBERS,
            THREE,
            RELEASED,
            channel={"form": "staircase", "ratio": "1", "classes": [0, 0, 0], "columns": [["1", []]]},
        ),
    )


def of_promises():
    """Promises that are not kept, or that say nothing."""
    unkept = [
        independent("S"),
        information_privacy("1", "S"),
        leakage("1/10", "S"),
        worst_case("1/10", "S"),
        local_dp("9"),
        local_dp("9", delta="9/10"),
        dalenius("1/2"),
        contraction("9/10"),
    ]
    for promise in unkept:
        kind = promise["promise"] + (" with delta" if promise.get("delta", "0") != "0" else "")
        yield f"{kind} is not kept", design(outcomes=SAME, promises=[promise])
    for promise in (independent(), leakage("1", "T"), information_privacy("1"), worst_case("1", "S", "S")):
        yield f"{promise['promise']} about {promise['secret']}", design(promises=[promise], channel=FLAT)
    yield (
        "information privacy just missed",
        design(outcomes=SKEW, promises=[information_privacy("0.15", "S")], channel=RESPONSE),
    )
    yield "leakage just missed", design(outcomes=SKEW, promises=[leakage("0.0201", "S")], channel=RESPONSE)
    yield "worst case just missed", design(outcomes=SKEW, promises=[worst_case("0.0201", "S")], channel=RESPONSE)
    yield "local dp just missed", design(promises=[local_dp("0.6931")], channel=RESPONSE)
    yield "local dp for three rows, level of one", design(promises=[local_dp("0.7", rows=3)], channel=RESPONSE)
    yield "local dp for no rows", design(promises=[local_dp("1", rows=0)], channel=FLAT)
    yield "local dp for more rows than anybody has", design(promises=[local_dp("1", rows=1 << 20)], channel=FLAT)
    yield "local dp for true rows", design(promises=[local_dp("1", rows=True)], channel=FLAT)
    yield "delta of one row for two", design(promises=[local_dp("1/5", delta="3/10", rows=2)], channel=RESPONSE)
    three = {"X": ["a", "b", "c"]}, [[0, "1"], [1, "1"], [2, "1"]]
    rows = dense([2, 1, 1], [3, 1, 0], [1, 1, 2])
    yield "delta of neighbours of the first input", design(*three, promises=[local_dp("0", delta="1/4")], channel=rows)
    yield "delta above 1", design(promises=[local_dp("0", delta="2")])
    yield "a negative delta", design(promises=[local_dp("1", delta="-1")])
    yield "a negative epsilon", design(promises=[local_dp("-1")], channel=FLAT)
    yield "an epsilon that no exponential reaches", design(promises=[local_dp("1000", delta="1/10")])
    yield (
        "delta under a metric",
        design(promises=[local_dp("1", delta="1/2", metric=[["0", "1"], ["1", "0"]])], channel=FLAT),
    )
    for name, metric in (
        ("is not square", [["0", "1"]]),
        ("is not symmetric", [["0", "1"], ["9", "0"]]),
        ("is not 0 on the diagonal", [["1", "1"], ["1", "0"]]),
        ("is negative", [["0", "-1"], ["-1", "0"]]),
        ("is 0 for inputs that differ", [["0", "0"], ["0", "0"]]),
        ("is too small", [["0", "1/2"], ["1/2", "0"]]),
    ):
        yield f"a metric that {name}", design(promises=[local_dp("1", metric=metric)], channel=RESPONSE)
    yield (
        "a metric over a letter that is impossible elsewhere",
        design(promises=[local_dp("9", metric=[["0", "1"], ["1", "0"]])]),
    )
    yield (
        "a metric over a letter that is impossible elsewhere, beside an even one",
        design(promises=[local_dp("9", metric=[["0", "1"], ["1", "0"]])], channel=dense([1, 1, 0], [0, 1, 1])),
    )
    yield "local dp given what is hidden", design(promises=[local_dp("0", "X")])
    yield "local dp given a column that is no variable", design(promises=[local_dp("0", "T")])
    yield (
        "local dp beside a kept column, without given",
        design(WITH_K, FAIR, {"keep": ["K"]}, promises=[local_dp("1")], channel=FLAT),
    )
    yield (
        "local dp beside a stratum, without given",
        design(WITH_K, FAIR, {"strata": ["K"]}, promises=[local_dp("1")], channel=dense(*[[1, 1]] * 4)),
    )
    yield (
        "local dp within each stratum is not kept",
        design(
            WITH_K,
            FAIR,
            {"strata": ["K"]},
            promises=[local_dp("1", "K")],
            channel=dense([1, 0], [1, 0], [0, 1], [1, 0]),
        ),
    )
    yield (
        "local dp within the second stratum is not kept",
        design(
            WITH_K,
            FAIR,
            {"strata": ["K"]},
            promises=[local_dp("1", "K")],
            channel=dense([1, 0], [1, 0], [1, 0], [0, 1]),
        ),
    )
    yield (
        "a level that inputs without records break",
        design(outcomes=[[0, 0, "1"], [1, 0, "1"]], promises=[local_dp("1")]),
    )
    yield "a group larger than the inputs", design(promises=[dalenius("1", 2)], channel=FLAT)
    yield "a group of none", design(promises=[dalenius("1", 0)], channel=FLAT)
    yield (
        "a group of two at the price of one",
        design(PAIR, PAIRS, BOTH, objective=ABOUT_A, promises=[dalenius("0.16", 2)], channel=NOISY_PAIR),
    )
    yield "two rows at the price of one", design(promises=[dalenius("1/10", rows="2")], channel=RESPONSE)
    yield "dalenius for no rows", design(promises=[dalenius("1", rows="0")], channel=FLAT)
    yield "dalenius beside a kept column", design(WITH_K, FAIR, {"keep": ["K"]}, promises=[dalenius("1")], channel=FLAT)
    yield (
        "contraction beside a kept column",
        design(WITH_K, FAIR, {"keep": ["K"]}, promises=[contraction("1")], channel=FLAT),
    )
    centre = {"node": "centre", "law": ["1", "1"]}
    choice = {"node": "choice", "value": 0, "rows": [0]}
    for name, trees in (
        ("without leaves", [[choice, centre]]),
        ("that goes on", [[centre, centre]]),
        ("of nothing", [[]]),
        ("of another letter", [[{"node": "centre", "law": ["1", "1", "1"]}]]),
        ("too many", [[centre], [centre]]),
        ("with a law of zeros", [[{"node": "centre", "law": ["0", "1"]}]]),
        ("that is a text", "tree"),
        ("that names a row twice", [[choice | {"rows": [0, 0]}, centre, centre]]),
        ("that divides nothing", [[choice | {"value": 7}, centre, centre]]),
        ("of unknown nodes", [[{"node": "hope"}]]),
        ("that are none", []),
    ):
        yield f"a tree {name}", design(promises=[dalenius("1/2")], channel=RESPONSE, evidence=[trees])
    yield (
        "a centre far from all rows",
        design(promises=[dalenius("1/2")], channel=RESPONSE, evidence=[[[{"node": "centre", "law": ["1", "9"]}]]]),
    )
    yield (
        "two rows of which each tells about one input alone",
        design(
            PAIR,
            PAIRS,
            BOTH,
            objective=ABOUT_A,
            promises=[dalenius("0.317", rows="2")],
            channel=NOISY_PAIR,
            evidence=[[ONE_TREE]],
        ),
    )
    yield (
        "a centre at one of the rows",
        design(promises=[dalenius("1/20")], channel=RESPONSE, evidence=[[[{"node": "centre", "law": ["2", "1"]}]]]),
    )
    yield (
        "a tree for one input taken for two",
        design(
            PAIR,
            PAIRS,
            BOTH,
            objective=ABOUT_A,
            promises=[dalenius("0.158", 2)],
            channel=NOISY_PAIR,
            evidence=[[ONE_TREE]],
        ),
    )
    yield "a secret that is kept", design(mechanism={"keep": ["S"]}, promises=[independent("S")], channel=FLAT)
    yield (
        "a secret that a stratum tells",
        design(
            outcomes=SAME, mechanism={"strata": ["S"]}, promises=[leakage("1/2", "X")], channel=dense(*[[1, 1]] * 4)
        ),
    )
    yield (
        "side information that tells the secret",
        design(
            outcomes=SAME,
            mechanism={"side": {"variable": "S", "encoder": "informed"}},
            promises=[leakage("1/2", "X")],
            objective={"aim": "leakage", "about": [], "theta": "0"},
            channel=dense(*[[1, 1]] * 4),
        ),
    )


def of_balls():
    near = leakage("1/20", "S", ball="total_variation", radius="1/10")
    yield (
        "a ball over an alphabet that the data leave",
        design({"S": ["u"], "X": ["a", "b"]}, [[0, 0, "1"], [1, 1, "1"]], promises=[near], evidence=[MULTIPLIERS]),
    )
    yield (
        "a ball that the leakage leaves",
        design(outcomes=SKEW, promises=[near], channel=RESPONSE, evidence=[MULTIPLIERS]),
    )
    yield "a ball without evidence", design(promises=[near], channel=FLAT)
    yield (
        "a ball of negative radius",
        design(promises=[leakage("1", "S", ball="kl_bits", radius="-1")], evidence=[MULTIPLIERS]),
    )
    yield (
        "a total variation of 1",
        design(promises=[leakage("1", "S", ball="total_variation", radius="1")], evidence=[MULTIPLIERS]),
    )
    yield (
        "a confidence of 0",
        design(law=counted(9), promises=[leakage("1", "S", ball="confidence", radius="0")], evidence=[MULTIPLIERS]),
    )
    yield (
        "a confidence of 1",
        design(law=counted(9), promises=[leakage("1", "S", ball="confidence", radius="1")], evidence=[MULTIPLIERS]),
    )
    yield (
        "a ball of another kind",
        design(promises=[leakage("1", "S", ball="hope", radius="1/2")], evidence=[MULTIPLIERS]),
    )
    yield "a negative multiplier of a ball", design(promises=[near], channel=FLAT, evidence=[MULTIPLIERS | {"m": "-9"}])
    yield (
        "a divergence without a multiplier",
        design(
            outcomes=SKEW,
            promises=[leakage("1/10", "S", ball="kl_bits", radius="1/9")],
            channel=RESPONSE,
            evidence=[MULTIPLIERS | {"t": "0"}],
        ),
    )
    yield (
        "a divergence that is too large",
        design(
            outcomes=SKEW,
            promises=[leakage("1/40", "S", ball="kl_bits", radius="1/9")],
            channel=RESPONSE,
            evidence=[MULTIPLIERS],
        ),
    )
    sure = leakage("0.0276", "S", ball="confidence", radius="19/20")
    yield (
        "a confidence from eighty rows",
        design(law=counted(10), promises=[sure], channel=RESPONSE, evidence=[MULTIPLIERS]),
    )
    yield (
        "a confidence in a law that was not counted",
        design(outcomes=[[*o[:-1], "3000"] for o in SKEW], promises=[sure], channel=RESPONSE, evidence=[MULTIPLIERS]),
    )
    groups = [
        law_of({"S": []}, [[0, "9000"], [1, "9000"]], "table"),
        law_of({"X": []}, [[0, "9000"], [1, "9000"]], "table"),
    ]
    yield (
        "a confidence in a product of tables",
        design(law={"law": "independent", "groups": groups}, promises=[sure], channel=RESPONSE, evidence=[MULTIPLIERS]),
    )
    yield (
        "a confidence that two promises share",
        design(
            law=counted(1000),
            promises=[sure, leakage("1", "X", ball="confidence", radius="19/20")],
            channel=RESPONSE,
            evidence=[MULTIPLIERS, MULTIPLIERS],
        ),
    )
    yield (
        "a ball beside side information",
        design(
            outcomes=SKEW,
            mechanism={"side": {"variable": "S", "encoder": "informed"}},
            channel=dense(*[[1, 1]] * 4),
            objective={"aim": "leakage", "about": [], "theta": "0"},
            promises=[leakage("1", "X", ball="kl_bits", radius="1/9")],
            evidence=[MULTIPLIERS],
        ),
    )


def of_gauges():
    """Promises that add up a gauge over all letters, a hair too small or said wrongly."""
    told = {"outcomes": SKEW, "channel": RESPONSE}
    for name, promise in (
        ("a guess that is right too often", guess("0.5833", "S")),
        ("a guess that is right too many times as often", guess(None, "S", times="1.1666")),
        ("a gain that is too large", guess("0.58", "S", gain=[["1", "0"], ["0", "1"]])),
        ("a gain that is too many times as large", guess(None, "S", times="1.16", gain=[["1", "0"], ["0", "1"]])),
        ("a guess with two limits", guess("1", "S", times="2")),
        ("a guess without a limit", guess(None, "S")),
        ("a guess of nothing", guess("1")),
        ("a gain of no action", guess("1", "S", gain=[])),
        ("a gain that is too narrow", guess("1", "S", gain=[["0"]])),
        ("a gain that is too wide", guess("1", "S", gain=[["0", "0", "0"]])),
        ("a gain that is negative", guess("1", "S", gain=[["-1", "0"]])),
        ("a maximal leakage that is too large", maximal("0.415")),
        ("a maximal leakage about a secret that is too large", maximal("0.222", "S")),
        ("a total variation that is too large", variation("0.0833", "S")),
        ("a total variation of nothing", variation("1")),
        ("an information of order 2 that is too large", sibson("2", "0.039", "S")),
        ("an information of order 3/2 that is too large", sibson("3/2", "0.029", "S")),
        ("an information of order 1", sibson("1", "9", "S")),
        ("an information of a long order", sibson("33", "9", "S")),
        ("an information of nothing", sibson("2", "9")),
    ):
        yield name, design(promises=[promise], **told)
    yield (
        "a guess that forgets a kept column",
        design(WITH_K, SKEW, {"keep": ["K"]}, promises=[guess("0.74", "X")], channel=FLAT),
    )
    yield (
        "a maximal leakage beside a kept column",
        design(WITH_K, SKEW, {"keep": ["K"]}, promises=[maximal("9")], channel=FLAT),
    )
    yield (
        "a maximal leakage that forgets a stratum",
        design(WITH_K, FAIR, {"strata": ["K"]}, promises=[maximal("0.99")], channel=dense(*[[1, 1]] * 4)),
    )
    yield (
        "a maximal leakage that forgets an input that never occurs",
        design(NUMBERS, [[0, "1"], [1, "1"]], promises=[maximal("0.5")], channel=dense([2, 1], [2, 1], [0, 3])),
    )
    yield (
        "a total variation that forgets what never meets",
        design(outcomes=SAME, promises=[variation("0.49", "S")]),
    )
    yield "a gauge with evidence", design(promises=[guess("1", "S")], evidence=[MULTIPLIERS], **told)
    yield "a card that claims a guess", card(TWO, {}, [guess("1", "S")], RESPONSE, [figures(guess_after="1")])
    yield (
        "a card whose maximal leakage is too large",
        card(TWO, {}, [maximal("0.41")], RESPONSE),
    )


def of_claims():
    def claiming(*claims, promise=None, **more):
        return design(
            outcomes=SKEW,
            promises=[promise or leakage("1", "S")],
            channel=RESPONSE,
            claims=claims_of(promises=[list(claims)]),
            **more,
        )

    yield "a figure better than proved", claiming(*figures(leakage_bits="0.0201"))
    yield "a better guess before the release", claiming(*figures(guess_before="0.51"))
    yield "a worse guess after the release", claiming(*figures(guess_after="0.51"))
    yield "a smaller worst letter", claiming(*figures(worst_letter_bits="0.0201"))
    yield "smaller odds", claiming(*figures(odds_nats="0.15"))
    yield "a larger entropy", claiming(*figures(entropy_bits="1.01"))
    yield "a level better than proved", claiming(*figures(epsilon_nats="0.69"), promise=local_dp("1"))
    yield "a capacity better than proved", claiming(*figures(capacity_bits="0.08"), promise=dalenius("1"))
    yield "a contraction better than proved", claiming(*figures(eta_kl="0.11"), promise=contraction("1"))
    yield "a better blind gain", claiming(*figures(gain_before="0.51"), promise=guess("1", "S", gain=[["1", "0"]]))
    yield "a smaller gain", claiming(*figures(gain_after="0.49"), promise=guess("1", "S", gain=[["1", "0"]]))
    yield "a smaller maximal leakage", claiming(*figures(maximal_bits="0.41"), promise=maximal("1"))
    yield "a smaller one about a secret", claiming(*figures(maximal_bits="0.22"), promise=maximal("1", "S"))
    yield "a smaller total variation", claiming(*figures(total_variation="0.08"), promise=variation("1", "S"))
    yield "a smaller information of order 2", claiming(*figures(sibson_bits="0.03"), promise=sibson("2", "1", "S"))
    yield "a figure of another promise", claiming(*figures(epsilon_nats="9"))
    yield "a figure of no promise", claiming(*figures(safety="0"))
    yield "a figure within no ball", claiming(*figures(within_bits="9"))
    yield (
        "odds that nothing bounds",
        design(outcomes=SAME, promises=[leakage("1", "S")], claims=claims_of(promises=[figures(odds_nats="99")])),
    )
    yield (
        "a figure given a column that is no variable",
        claiming({"figure": "leakage_bits", "given": "T", "value": "1"}),
    )
    yield "a figure that is never given a column", claiming({"figure": "guess_after", "given": "X", "value": "1"})
    yield (
        "a level given a column",
        claiming({"figure": "leakage_bits", "given": "X", "value": "1"}, promise=local_dp("1")),
    )
    yield (
        "a figure given a column, better than proved",
        design(
            promises=[leakage("1", "S")],
            outcomes=[[0, 0, "1"], [0, 1, "1"], [1, 1, "2"]],
            claims=claims_of(promises=[[{"figure": "leakage_bits", "given": "S", "value": "-1"}]]),
        ),
    )
    part = distance("hamming", "X")
    yield "a limit that is passed", design(NUMBERS, THREE, RELEASED, limits=[limit("0.49", part)], channel=CYCLE)
    yield (
        "a limit claimed too small",
        design(NUMBERS, THREE, RELEASED, limits=[limit("1", part)], channel=CYCLE, claims=claims_of(limits=["0.49"])),
    )
    yield (
        "fewer claims than limits",
        design(NUMBERS, THREE, RELEASED, limits=[limit("1", part)], channel=CYCLE, claims=claims_of()),
    )
    yield (
        "a card that claims a figure of the law",
        card(TWO, {}, [leakage("1", "S")], RESPONSE, [figures(leakage_bits="0")]),
    )
    yield "a card with evidence that nobody reads", card(TWO, {}, [leakage("1", "S")], RESPONSE, evidence=[MULTIPLIERS])
    yield "a card with a value", card(TWO, {}, [], RESPONSE) | {"claims": {"promises": [], "value": "1"}}
    yield "a card with a law", card(TWO, {}, [], RESPONSE) | {"law": law_of(TWO, FAIR)}


def of_distances():
    for name, part in (
        ("of another kind", distance("taste", "X")),
        ("of no column", distance("hamming")),
        ("of a column that is no variable", distance("hamming", "T")),
        ("of a column that is not released", distance("hamming", "S")),
        ("of negative weight", distance("hamming", "X", weight="-1")),
        ("with a letter in two classes", distance("hamming", "X", classes=[["a"], ["a", "b"]])),
        ("with a class of letters that are none", distance("hamming", "X", classes=[["z"]])),
        ("with classes of absolute values", distance("absolute", "X", classes=[["a"]])),
        ("with a matrix that nobody reads", distance("hamming", "X", matrix=[["0", "0"], ["0", "0"]])),
        ("with a short matrix", distance("matrix", "X", matrix=[["0", "0"]])),
        ("with a narrow matrix", distance("matrix", "X", matrix=[["0"], ["0"]])),
        ("with a negative matrix", distance("matrix", "X", matrix=[["0", "-1"], ["0", "0"]])),
        ("of letters that are no numbers", distance("absolute", "X")),
        ("of two columns of coins", distance("kl", "X", "S")),
        ("that is infinite", distance("erasure", "X")),
    ):
        yield f"a distance {name}", design(mechanism=RELEASED, limits=[limit("9", part)], channel=RESPONSE)
    yield "a sum of no distances", design(mechanism=RELEASED, limits=[limit("9")], channel=RESPONSE)
    yield (
        "coins that are none",
        design({"X": ["0", "2"]}, [[0, "1"], [1, "1"]], RELEASED, limits=[limit("9", distance("kl", "X"))]),
    )
    yield (
        "coins infinitely far",
        design(
            {"X": ["0", "1"]}, [[0, "1"], [1, "1"]], RELEASED, limits=[limit("9", distance("kl", "X"))], channel=FLAT
        ),
    )
    yield "a distance to letters that nobody knows", design(limits=[limit("9", distance("erasure", "X"))])
    for name, objective in (
        ("of another aim", {"aim": "fame", "about": ["X"], "theta": "1"}),
        ("about nothing", {"aim": "information", "about": [], "theta": "1"}),
        ("about a column that is no variable", {"aim": "information", "about": ["T"], "theta": "1"}),
        ("with theta above 1", {"aim": "leakage", "about": ["X"], "theta": "2"}),
        ("of information with theta", {"aim": "information", "about": ["X"], "theta": "1/2"}),
        ("of a rate about a column", {"aim": "leakage", "about": ["X"], "theta": "0"}),
    ):
        yield f"an objective {name}", design(objective=objective)
    yield (
        "a rate beside a kept column",
        design(mechanism={"keep": ["S"]}, objective={"aim": "leakage", "about": [], "theta": "0"}),
    )


def of_bounds():
    """False claims about value and bound: these need the rules."""
    yield "a value beyond the bound", design(claims=claims_of("1", "1/2", "0"))
    yield "a value that is not reached", design(channel=RESPONSE, claims=claims_of("1", "1", "0"))
    yield "a gap smaller than bound less value", design(claims=claims_of("0", "1", "1/2"))
    yield "a negative gap", design(claims=claims_of("1", "2", "-1"))
    yield (
        "a level given K taken for a level",
        design(
            {"W": ["a", "b"], "K": ["a", "b"], "X": ["a", "b"]},
            [[0, 0, 0, "1"], [1, 1, 1, "1"]],
            {"strata": ["K"]},
            objective={"aim": "information", "about": ["W"], "theta": "1"},
            promises=[local_dp("0", "K")],
            channel=dense(*[[1, 1]] * 4),
            claims=claims_of("0", "0", "0", [[]]),
        ),
    )
    yield "a proof of another rule", put(base(), "proof", {"rule": "faith"})
    yield "no rule at all", put(design(), "proof", None)
    yield "a rule with a stray key", put(design(), "proof", CLOSED | {"bound": "0"})
    yield (
        "an information about what is not told",
        design(
            outcomes=SAME,
            objective={"aim": "information", "about": ["S"], "theta": "1"},
            channel=FLAT,
            claims=claims_of("1", "1", "0"),
        ),
    )
    yield "a plain objective", put(design(), "objective", TELL | {"theta": "1/2"})


def of_texts():
    """Hostile texts."""
    text = text_of(base())
    yield "a key twice", text.replace('"value":"1"', '"value":"1","value":"0"')
    yield "blanks", text.replace('":', '": ')
    yield "a line end", text + "\n"
    yield "escapes for plain letters", text.replace('"name":"S"', '"name":"\\u0053"')
    yield "not a number", text.replace('"value":"1"', '"value":NaN')
    yield "an infinite number", text.replace('"value":"1"', '"value":1e999')
    yield "a long JSON integer", text.replace('"value":"1"', f'"value":{"9" * 5000}')
    yield "a lone surrogate", text.replace('"name":"S"', '"name":"\\ud800"')
    yield "half of the text", text[: len(text) // 2]
    yield "no text", ""
    yield "many brackets", "[" * 200_000
    yield "many objects", '{"a":' * 100_000
    yield "many closed brackets", "[" * 5000 + "]" * 5000
    yield "a text that never ends, full of quotes", '"' + '\\"' * 400_000
    yield "a text that never ends, full of backslashes", '"' + "\\\\" * 400_000 + "\\"
    yield "many short texts", '"",' * 300_000
    yield "a null byte", text.replace('"name":"S"', '"name":"\x00"')
    yield "bytes of another order", "\ufeff" + text


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


def forged(bounds=False, sizes=True):
    """All forgeries that the proof of privacy must refuse.

    With `bounds` also those that need the rules; without `sizes` those that are refused in a moment.
    """
    found = {}
    families = [of_reading, of_mechanism, of_promises, of_gauges, of_balls, of_claims, of_distances, of_texts]
    for family in [*families, *([of_sizes] if sizes else []), *([of_bounds] if bounds else [])]:
        for name, document in family():
            assert name not in found, name
            found[name] = document if isinstance(document, str) else text_of(document)
    return found
