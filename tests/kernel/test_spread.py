"""A variance bounded by lines and by parts: random channels never pass it, and what proves nothing is refused."""

import json
from fractions import Fraction

import numpy as np
import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.numbers import canonical
from tests.effort import effort
from tests.kernel.golden import CORPUS

KEPT = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in (CORPUS / "later").glob("variance_*.json")}


def changed(name, change):
    """The text of a kept design after a change of its document, for which it claims next to nothing."""
    document = json.loads(json.dumps(KEPT[name]))
    document["claims"] |= {"bound": "0", "gap": document["claims"]["value"]}
    change(document)
    return canonical(document)


def variance(p, W):
    """tr V of a channel, from the definition."""
    v, mass = (W[:-1] - W[-1]).T, p @ W
    G = (v.T / mass) @ v
    return np.trace(np.linalg.solve(G, np.eye(len(v[0])) + 1))


def counts_of(document):
    shape = [len(variable["letters"]) for variable in document["variables"]]
    found = np.zeros(shape)
    for *place, n in document["law"]["outcomes"]:
        found[tuple(place)] = int(n)
    return found / found.sum()


@pytest.mark.parametrize("name", ["variance_by_lines_guess", "variance_by_lines_of_three"])
def test_no_channel_that_keeps_a_guess_has_less_than_any_lines_prove(name):
    """Also where the matrix and the multipliers of the proof are random: each of them proves some bound."""
    rng = np.random.default_rng(5)
    document = KEPT[name]
    law = counts_of(document)
    p, many = law.sum(axis=0), law.shape[1]
    limit = float(Fraction(document["promises"][0]["at_most"]))
    channels = []
    while len(channels) < effort(40, 400):
        W = rng.dirichlet(np.full(4, 0.4), many)
        share = rng.uniform(0.05, 1)
        W = np.column_stack([share * W, np.full(many, 1 - share)])
        if (law @ W).max(axis=0).sum() <= limit:
            channels.append(variance(p, W))
    best = min(channels)
    for _ in range(effort(6, 100)):

        def shaken(found):
            proof = found["proof"]
            shift = rng.uniform(0.7, 1.4)
            proof["matrix"] = [[str(int(int(v) * shift)) for v in row] for row in proof["matrix"]]
            found["promises"] = found["promises"][:1]
            lines = proof["form"]
            lines["promises"] = [str(int(int(lines["promises"][0]) * rng.uniform(0, 3)))]
            lines["cuts"] = []
            for leaf in lines["leaves"]:
                leaf["objective"] = [str(int(int(v) * rng.uniform(0.8, 1.2))) for v in leaf["objective"]]
                leaf["promises"] = [[[str(int(int(v) * 0)) for v in part] for part in leaf["promises"][0]]]
            found["evidence"], found["claims"]["promises"] = found["evidence"][:1], found["claims"]["promises"][:1]

        assert float(check(changed(name, shaken)).bound) <= best


def refusals():
    def division(document):
        document["proof"]["form"]["division"] = "ranges"

    def letters(document):
        document["proof"]["form"]["division"] = "letters"

    def unseen(document):
        document["law"]["outcomes"] = [o for o in document["law"]["outcomes"] if o[1] != 0]
        document["promises"], document["evidence"], document["claims"]["promises"] = [], [], []

    def nothing(document):
        document["proof"]["form"] = None

    def other_rule(document):
        document["proof"]["form"] = {"rule": "closed"}

    def told(document):
        document["limits"] = [{"information": ["X"], "at_least_bits": "0"}]
        document["claims"]["limits"] = ["0"]
        document["proof"]["form"]["limits"] = ["1"]

    yield "variance_by_lines_guess", division, "a variance is bounded on simplices"
    yield "variance_by_lines_guess", letters, "a variance is bounded on simplices"
    yield "variance_by_lines_guess", unseen, "inputs that all occur"
    yield "variance_by_lines_guess", nothing, "object"
    yield "variance_by_lines_guess", other_rule, "is not one of lines"
    yield "variance_by_lines_guess", told, "not bounded together"


@pytest.mark.parametrize(("name", "change", "said"), list(refusals()), ids=lambda v: getattr(v, "__name__", None))
def test_what_proves_nothing_about_a_variance_is_refused(name, change, said):
    with pytest.raises(Refused, match=said):
        check(changed(name, change))


def test_a_dense_matrix_beside_strata_has_no_variance():
    def dense(document):
        rows = [["1", "0"]] * 3 + [["0", "1"]] * 3
        document["channel"] = {"form": "dense", "letters": 2, "scale": "1", "rows": rows}
        document["promises"], document["evidence"], document["claims"]["promises"] = [], [], []

    with pytest.raises(Refused, match="a variance beside other columns"):
        check(changed("variance_of_strata", dense))


def test_parts_of_a_variance_need_a_matrix_for_each_column():
    def whole(document):
        document["mechanism"]["each"] = None

    with pytest.raises(Refused):
        check(changed("variance_of_each", whole))


def test_a_variance_of_strata_is_the_mean_of_those_of_its_strata_by_their_shares():
    """The channel of each stratum is a staircase of one weight: r where a set has the value, else 1."""
    document = KEPT["variance_of_strata"]
    names = [variable["name"] for variable in document["variables"]]
    law = counts_of(document).transpose(names.index("K"), names.index("X"))
    total = 0.0
    for share, own in zip(law, document["channel"]["channels"], strict=True):
        ratio = float(Fraction(own["ratio"]))
        W = np.ones((3, len(own["columns"])))
        for y, (weight, members) in enumerate(own["columns"]):
            W[members, y] = ratio
            W[:, y] *= float(Fraction(weight))
        W = W[:, W.sum(axis=0) > 0]
        total += share.sum() * variance(share / share.sum(), W)
    assert float(check(canonical(document)).value) == pytest.approx(total, abs=1e-9)
