"""False claims about promises, balls of laws, gauges and what is claimed besides."""

from tests.kernel.documents import (
    BOTH,
    CYCLE,
    FAIR,
    FLAT,
    MULTIPLIERS,
    NOISY_PAIR,
    NUMBERS,
    ONE_TREE,
    PAIR,
    PAIRS,
    RESPONSE,
    SAME,
    SKEW,
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
    variation,
    worst_case,
)

ABOUT_A = {"aim": "information", "about": ["A"], "theta": "1"}
RELEASED = {"release": ["X"]}


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
