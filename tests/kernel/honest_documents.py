"""Small honest documents of every kind, by family: {name: document}."""

from tests.kernel.documents import (
    ABOUT_A,
    BOTH,
    CYCLE,
    FAIR,
    FLAT,
    IN_SHORT,
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
    TREES,
    TWO,
    WITH_K,
    claims_of,
    contraction,
    counted,
    dalenius,
    dense,
    design,
    figures,
    guess,
    independent,
    information_privacy,
    law_of,
    leakage,
    local_dp,
    maximal,
    sibson,
    variation,
    worst_case,
)
from tests.kernel.honest_forms import of_cards, of_forms, of_laws, of_limits, of_shapes


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


def honest():
    """All of them: {name: document}."""
    found = {}
    for family in (of_promises, of_gauges, of_balls, of_forms, of_laws, of_limits, of_shapes, of_cards):
        for name, document in family():
            assert name not in found
            found[name] = document
    return found
