"""Files with false or idle claims, and hostile texts: {name: text}. The checker must refuse every one, and soon."""

from tests.kernel import listed
from tests.kernel.documents import (
    BOTH,
    CLOSED,
    FAIR,
    FLAT,
    IDENTITY,
    MULTIPLIERS,
    NUMBERS,
    PAIR,
    PAIRS,
    RESPONSE,
    SAME,
    TELL,
    THREE,
    card,
    claims_of,
    dense,
    design,
    distance,
    figures,
    independent,
    law_of,
    limit,
    local_dp,
    text_of,
)
from tests.kernel.forged_promises import ABOUT_A, RELEASED, of_balls, of_claims, of_gauges, of_promises
from tests.kernel.forged_sizes import of_sizes

BALL = {"ball": "total_variation", "radius": "1/10"}


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
