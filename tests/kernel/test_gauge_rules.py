"""What gauges, delta and capacity lend to a bound: never too much, whatever the multipliers, and nothing unsaid."""

import json
import random
from fractions import Fraction

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.check import proved_bound, reached
from dalenius.kernel.document import read_document
from dalenius.kernel.gauges import FINE, Sibson, norm, power, root
from dalenius.kernel.logs import two_to
from dalenius.kernel.numbers import Node, Work
from dalenius.kernel.rows import gauge_limit, input_weights
from tests.effort import effort
from tests.kernel.documents import text_of
from tests.kernel.golden import CORPUS, texts_of

GAUGED = {name: json.loads(text) for name, text in texts_of(CORPUS / "rules").items() if name.startswith("gauge_")}


def bound(document):
    found = read_document(text_of(document), 10**9)
    return proved_bound(found.setting, found.promises, found.limits, found.objective, found.proof)


def value(document):
    found = read_document(text_of(document), 10**9)
    return reached(found, found.objective)


def changed(document):
    """A deep copy."""
    return json.loads(json.dumps(document))


def test_there_is_a_proof_of_every_gauge():
    kinds = {d["promises"][0]["promise"] for d in GAUGED.values()}
    assert {"guess", "maximal_leakage", "total_variation", "sibson", "local_dp", "dalenius"} <= kinds


def shaken(node, chance):
    """The numbers of a proof, most of them changed."""
    if isinstance(node, list):
        return [shaken(item, chance) for item in node]
    if isinstance(node, dict):
        return {key: shaken(item, chance) for key, item in node.items()}
    if isinstance(node, str) and node.removeprefix("-").isdigit() and chance.random() < 0.7:
        return str(int(int(node) * chance.choice((0, 0.5, 0.99, 1, 1.01, 2))) + chance.randrange(3))
    return node


@pytest.mark.parametrize("name", GAUGED)
def test_no_multipliers_prove_more_than_is_so(name):
    document = GAUGED[name]
    optimum = value(document)  # of a mechanism that keeps the promises
    chance = random.Random(name)
    proved = 0
    for _ in range(effort(12, 400)):
        other = changed(document)
        proof = other["proof"]
        weights = [str(int(int(w) * chance.choice((0, 0.3, 0.9, 1, 1.1, 3)))) for w in proof["promises"]]
        leaves = [leaf | {"promises": shaken(leaf["promises"], chance)} for leaf in proof["leaves"]]
        cuts = [
            cut | {k: shaken(v, chance) for k, v in cut.items() if k in ("weights", "laws")} for cut in proof["cuts"]
        ]
        other["proof"] = proof | {"promises": weights, "leaves": leaves, "cuts": cuts}
        try:
            found = bound(other)
        except Refused:
            continue
        proved += 1
        assert found <= optimum
    assert proved or document["proof"]["cuts"]


def spoilt(name, *path_and_value):
    """The document of the corpus with another value at a place of its proof."""
    document = changed(GAUGED[f"gauge_{name}.json"])
    *path, last, new = path_and_value
    inner = document["proof"]
    for key in path:
        inner = inner[key]
    inner[last] = new
    return document


LOT = str(10**30)


@pytest.mark.parametrize(
    ("name", "place", "sentence"),
    [
        ("guess_d", ("leaves", 0, "promises", 0, [[LOT, "0"]]), "exceed that of the promise"),
        ("guess_d", ("leaves", 0, "promises", 0, [["0"]]), "not a number for each value or action"),
        ("guess_d", ("leaves", 0, "promises", 0, [["-1", "0"]]), "integer from 0"),
        ("guess_d", ("leaves", 0, "promises", 0, [[], []]), "a list of 1 is expected"),
        ("guess_gain_d", ("leaves", 0, "promises", 0, [["0", "0"]]), "not a number for each value or action"),
        ("guess_gain_d", ("leaves", 0, "promises", 0, [["0", LOT, "0"]]), "exceed that of the promise"),
        ("maximal_d", ("leaves", 0, "promises", 0, [[0, LOT]]), "exceed that of the promise"),
        ("maximal_d", ("leaves", 0, "promises", 0, [[9, "0"]]), "an integer from 0 to 2"),
        ("maximal_about_d", ("leaves", 0, "promises", 0, [[LOT, "0"]]), "exceed that of the promise"),
        ("variation_d", ("leaves", 0, "promises", 0, [LOT, "0"]), "exceeds that of the promise"),
        ("variation_d", ("leaves", 0, "promises", 0, ["-1", "0"]), "integer from 0"),
        ("sibson_d", ("leaves", 0, "promises", 0, [["-1", "0"]]), "integer from 0"),
        ("delta_d", ("cuts", 0, "slopes", ["2", "0", "0"]), "between 0 and 1"),
        ("delta_d", ("cuts", 0, "slopes", ["-1", "0", "0"]), "between 0 and 1"),
        ("delta_d", ("cuts", 0, "slopes", ["0"]), "a list of 3 is expected"),
        ("delta_d", ("cuts", 0, "at", "1/2"), "has no point"),
        ("delta_d", ("cuts", 0, "weight", "-1"), "a number from 0 on"),
        ("delta_d", ("cuts", 0, "second", 9), "an integer from 0 to 2"),
        ("dalenius_d", ("cuts", 0, "weights", ["1"]), "not one weight for each cell"),
        ("dalenius_d", ("cuts", 0, "weights", [LOT, LOT, LOT]), "too large"),
        ("dalenius_d", ("cuts", 0, "laws", 0, ["1"]), "lacks a value that has a weight"),
        ("dalenius_d", ("cuts", 0, "laws", 0, ["0", "1", "1"]), "integer from 1"),
        ("dalenius_d", ("cuts", 0, {}), "an object is expected"),
        ("dalenius_d", ("promises", 0, "1"), "no weight for all letters"),
        ("within_kl", ("cuts", 0, "weights", ["1", "0", "0", "1"]), "not in the ball"),
        ("within_variation", ("cuts", 0, "weights", ["1", "0", "0", "1"]), "not in the ball"),
        ("within_confidence", ("cuts", 0, "weights", ["1", "0", "0", "1"]), "not in the ball"),
        ("within_kl", ("cuts", 0, "weights", ["1"]), "not one weight for each cell"),
        ("within_kept", ("cuts", 0, "laws", 0, ["1", "1"]), "lacks a value that has a weight"),
        ("guess_d", ("cuts", [{"promise": 0, "first": 0, "second": 1, "at": "0", "weight": "1", "slopes": ["0"] * 3}]),
         "a cut needs a promise"),
    ],
)  # fmt: skip
def test_what_lends_too_much_is_refused(name, place, sentence):
    with pytest.raises(Refused, match=sentence):
        bound(spoilt(name, *place))


def test_two_equal_inputs_are_no_pair():
    document = spoilt("delta_d", "cuts", 0, "second", GAUGED["gauge_delta_d.json"]["proof"]["cuts"][0]["first"])
    with pytest.raises(Refused, match="two inputs"):
        bound(document)


def test_pairs_of_different_strata_are_not_spoken_of():
    document = changed(GAUGED["gauge_delta_strata_d.json"])
    cut = document["proof"]["cuts"][0]
    cut["second"] = next(x for x in range(4) if x % 2 != cut["first"] % 2)
    with pytest.raises(Refused, match="does not speak of these two inputs"):
        bound(document)


def test_limits_that_restrict_nothing_lend_nothing():
    for name in ("maximal_d", "sibson_d"):
        document = changed(GAUGED[f"gauge_{name}.json"])
        document["promises"][0]["at_most_bits"] = "1000"
        with pytest.raises(Refused, match="restricts nothing"):
            bound(document)
    document = changed(GAUGED["gauge_delta_d.json"])
    document["promises"][0]["epsilon"] = "101"
    with pytest.raises(Refused, match="restricts nothing"):
        bound(document)


def test_capacity_of_a_part_of_the_record_has_no_cut():
    document = changed(GAUGED["gauge_dalenius_d.json"])
    document["promises"][0]["rows"] = "2"
    with pytest.raises(Refused, match="about all that is read, of one row"):
        bound(document)


def test_a_law_that_is_nowhere_stated_has_no_divergence():
    document = changed(GAUGED["gauge_within_kl.json"])
    del document["law"]["outcomes"][1]
    with pytest.raises(Refused, match="not in the ball"):
        bound(document)


def test_without_a_ball_there_is_no_other_law():
    document = changed(GAUGED["gauge_within_kl.json"])
    document["promises"][0]["within"] = None
    with pytest.raises(Refused, match="the keys must be"):
        bound(document)


def test_empty_lists_stand_for_zeros():
    for name, document in GAUGED.items():
        other = changed(document)
        for leaf in other["proof"]["leaves"]:
            leaf["promises"] = [[] for _ in leaf["promises"]]
        other["proof"]["promises"] = ["0" for _ in other["proof"]["promises"]]
        other["proof"]["cuts"] = []
        if not name.startswith("gauge_guess_gain_l"):
            assert bound(other) <= bound(document)


def test_a_weight_without_cases_only_costs():
    document = changed(GAUGED["gauge_sibson_d.json"])
    for leaf in document["proof"]["leaves"]:
        leaf["promises"] = [[]]
    assert bound(document) == 0
    for leaf in document["proof"]["leaves"]:
        leaf["promises"] = [[["0", "0"]]]
    assert bound(document) == 0


def test_a_kept_column_leaves_maximal_leakage_without_a_limit():
    found = read_document(text_of(GAUGED["gauge_guess_kept_d.json"]), 10**9)
    with pytest.raises(Refused, match="no limit beside columns"):
        input_weights(found.setting, 1, [Node([])])


def test_every_design_of_the_corpus_is_proved_within_its_work():
    for text in map(text_of, GAUGED.values()):
        assert check(text).bound is not None


# --- powers ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_a_root_is_the_least_that_reaches(n):
    for number in [*range(200), 3**50, 10**40 + 1]:
        found = root(number, n)
        assert found**n >= number
        assert found == 0 or (found - 1) ** n < number


def test_powers_are_not_below_and_near():
    for order in (Fraction(2), Fraction(3, 2), Fraction(32, 31), Fraction(1, 3)):
        for share in (Fraction(1, 7), Fraction(1, 2), Fraction(1)):
            units = -(-(share.numerator << FINE) // share.denominator)
            found = Fraction(power(units, order), 1 << FINE)
            assert found**order.denominator >= share**order.numerator
            assert float(found) == pytest.approx(float(share) ** float(order), abs=1e-14)


def test_powers_of_small_numbers_keep_their_digits():
    """Of order 11/10 the power of 2^-20 is 2^-22: rounded before the root it was 2^-16."""
    for order in (Fraction(11, 10), Fraction(32, 31)):
        units = 1 << (FINE - 20)
        found = Fraction(power(units, order), 1 << FINE)
        assert found**order.denominator >= Fraction(1, 1 << 20) ** order.numerator
        assert float(found) == pytest.approx(2.0 ** (-20 * float(order)), rel=1e-14)


def test_a_norm_of_nothing_is_zero_and_of_one_value_is_that_value():
    work = Work(10**9)
    assert norm([], Fraction(2), work) == 0
    assert norm([(1 << FINE, Fraction(0))], Fraction(2), work) == 0
    assert abs(norm([(1 << FINE, Fraction(3, 7))], Fraction(5, 2), work) - Fraction(3, 7)) < Fraction(1, 10**40)


def test_powers_of_two_are_not_below():
    assert two_to(Fraction(3))[1] == 8
    for exponent in (Fraction(1, 2), Fraction(7, 5)):
        found = two_to(exponent)[1]
        exact = 2**exponent.numerator
        assert 1 <= found**exponent.denominator / exact < 1 + Fraction(1, 10**30)


def test_the_limit_of_sibson_is_that_of_its_gauge():
    promise = Sibson(("S",), Fraction(2), Fraction(2))
    assert gauge_limit(promise, None) == 2
