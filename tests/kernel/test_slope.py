"""The rule of a slope: any weights and any slope give a bound that no channel passes, and errors in it are seen."""

import json
from fractions import Fraction
from math import exp, log
from random import Random

import numpy as np
import pytest

from dalenius.kernel import Refused, check
from tests.effort import effort
from tests.kernel.documents import design, distance, leakage, limit, text_of
from tests.kernel.golden import CORPUS
from tests.kernel.planted_rules import planted
from tests.kernel.rule_documents import bound

RATE = {"aim": "leakage", "about": [], "theta": "0"}
ALL_OF_IT = {"aim": "leakage", "about": ["X"], "theta": "1"}
NAMES = [path.stem for path in sorted((CORPUS / "rules").glob("slope_*.json"))]


def slope(weights, steep):
    return {"rule": "slope", "weights": [str(w) for w in weights], "slope": str(steep)}


def kept(name):
    return json.loads((CORPUS / "rules" / f"{name}.json").read_bytes())


def numbers(random, count):
    """A column of numbers with counts, released whole under a distance of the kind that is asked."""
    letters = random.sample(["0", "1", "3/2", "2", "7/3", "4"], count)
    counts = [random.randint(1, 9) for _ in letters]
    return {"X": letters}, [[k, str(n)] for k, n in enumerate(counts)], np.array(counts) / sum(counts)


def identity(count):
    rows = [["1" if x == y else "0" for y in range(count)] for x in range(count)]
    return {"form": "dense", "letters": count, "scale": "1", "rows": rows}


def least_rate(law, costs, most):
    """The least rate in bits in floats: the best line of Blahut and Arimoto's iteration at many slopes."""
    best = 0.0
    for steep in np.geomspace(0.02, 60, 60):
        kernel = np.exp(-steep * costs)
        output = np.full(costs.shape[1], 1 / costs.shape[1])
        for _ in range(400):
            output = output * ((law / (kernel @ output)) @ kernel)
        factor = ((law / (kernel @ output)) @ kernel).max()
        best = max(best, -law @ np.log(kernel @ output) - log(factor) - steep * most)
    return best / log(2)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(effort(4, 100)))
def test_no_weights_and_no_slope_pass_the_least_rate(seed):
    random = Random(seed)
    variables, outcomes, law = numbers(random, random.randint(2, 4))
    kind = random.choice(["absolute", "squared"])
    values = np.array([float(Fraction(letter)) for letter in variables["X"]])
    costs = np.abs(np.subtract.outer(values, values)) ** (2 if kind == "squared" else 1)
    most = Fraction(random.randint(0, 30), 20)
    truth = least_rate(law, costs, float(most))
    reached = 0.0
    for _ in range(40):
        proof = slope([random.randint(1, 50) for _ in law], Fraction(random.randint(0, 60), 10))
        limits = [limit(str(most), distance(kind, "X"))]
        told = bound(
            design(
                variables,
                outcomes,
                {"release": ["X"]},
                objective=random.choice([RATE, ALL_OF_IT]),
                limits=limits,
                channel=identity(len(law)),
                proof=proof,
            )
        )
        assert 0 <= told <= truth + 1e-9
        reached = max(reached, float(told))
    assert reached > 0.3 * truth - 0.05  # the bounds are not all empty


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_design_is_proved_tightly(name):
    verdict = check(text_of(kept(name)))
    assert verdict.rule == "slope"
    assert 0 <= verdict.value - verdict.bound < Fraction(1, 10**9)


def test_letters_that_are_infinitely_far_do_not_count():
    """Coins that never fall cannot be released as coins that always do; the biases 0 and 1 are infinitely apart."""
    told = bound(
        design(
            {"X": ["0", "1"]},
            [[0, "1"], [1, "1"]],
            {"release": ["X"]},
            objective=RATE,
            limits=[limit("1/100", distance("kl", "X"))],
            channel=identity(2),
            proof=slope([1, 1], 5),
        )
    )
    # Z(t) = 1/2 for both letters, so the line is 1 - 5 log2(e) D.
    assert float(told) == pytest.approx(1 - 5 * 0.01 / log(2), abs=1e-12)


def test_steep_slopes_lose_nothing_but_rounding():
    """Beyond e^-100 a power counts as e^-100, which is more than it is."""
    document = kept("slope_squared")
    document["limits"][0]["at_most"] = "0"
    proof = slope([1, 1, 1, 1], 10**6)
    told = bound(document | {"proof": proof})
    law = np.array([5, 1, 3, 4]) / 13
    largest = max(law) + exp(-100)
    assert float(told) == pytest.approx(-log(largest) / log(2), abs=1e-12)


PLAIN = {"mechanism": {"release": ["X"]}, "limits": [limit("1/4", distance("hamming", "X"))], "objective": RATE}
REFUSED = {
    "a weight too few": ({"proof": slope([1], 1)}, "there is not one weight for each input that occurs"),
    "a weight of nothing": ({"proof": slope([0, 1], 1)}, "from 1 on"),
    "a negative slope": ({"proof": slope([1, 1], -1)}, "from 0 on"),
    "another key": ({"proof": slope([1, 1], 1) | {"more": "0"}}, "the keys must be"),
    "information that is maximised": (
        {"objective": {"aim": "information", "about": ["X"], "theta": "1"}},
        "for the least information about all of the input",
    ),
    "a column that is kept": (
        {"mechanism": {"release": ["X"], "keep": ["K"]}, "objective": ALL_OF_IT},
        "columns that are released whole",
    ),
    "a distortion without a promise": (
        {"objective": {"aim": "distortion", "distortion": [distance("hamming", "X")]}, "limits": []},
        "for a promise of leakage about all of the input",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_rule_refuses(name):
    changes, sentence = REFUSED[name]
    keeping = "keep" in changes.get("mechanism", {})
    variables = {"X": ["a", "b"]} | ({"K": ["0", "1"]} if keeping else {})
    outcomes = [[0, 0, "1"], [1, 1, "1"]] if keeping else [[0, "1"], [1, "1"]]
    said = PLAIN | {"proof": slope([1, 1], 1)} | changes
    mechanism = said.pop("mechanism")
    with pytest.raises(Refused, match=sentence):
        bound(design(variables, outcomes, mechanism, channel=identity(2), **said))


PLANTED = {
    "a slope without log2 e": ("slope * E_HIGH", "slope"),
    "the smallest sum instead of the largest": ("log2(max(sums), total", "log2(min(sums), total"),
    "weights that are forgotten in the sums": ("times = count * weight\n", "times = count\n"),
    "records that count once": ("start += count * log2(weight)[0]", "start += log2(weight)[0]"),
    "distances of all records of an input": (
        "far = Fraction(cost, count) if cost % count else cost // count",
        "far = cost",
    ),
    "what is told twice": ("(known[0] - told) / known[1]", "(known[0] - told / 2) / known[1]"),
    "a limit that is forgotten": ("known[0] - known[1] * limit.at_most", "known[0] - 0 * limit.at_most"),
    "a steep slope that costs nothing": ("exp(min(x, Fraction(STEEPEST))", "exp(min(x, Fraction(0))"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_seen(name):
    kernel = planted(*PLANTED[name])
    changed = 0
    for file in NAMES:
        document = kept(file)
        document["claims"] |= {"bound": "0", "gap": "99"}
        right = check(text_of(document))
        try:
            changed += kernel.check(text_of(document)).bound != right.bound
        except kernel.Refused:
            changed += 1
    assert changed


def test_a_leakage_about_a_part_proves_nothing():
    document = kept("slope_least_distortion")
    document["promises"] = [leakage("1/2", "X")]
    assert bound(document) > 0
    document["promises"] = []
    with pytest.raises(Refused, match="leakage about all of the input"):
        bound(document | {"evidence": [], "claims": document["claims"] | {"promises": []}})
