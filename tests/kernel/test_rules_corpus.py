"""Designs of every rule: proved by the package, and refused with a bound that is a hair better."""

import json
from fractions import Fraction

import pytest

from dalenius.kernel import Refused, check
from tests.kernel.documents import text_of
from tests.kernel.golden import CORPUS, texts_of

EVERY = texts_of(CORPUS / "rules")
TEXTS = {name: text for name, text in EVERY.items() if len(text) < 8_000}
RULES = {"blocks", "closed", "components", "corners", "invariant", "lines", "marginals", "subsets", "variance"}
DIVISIONS = {"letters", "maps", "simplices", "faces", "ranges", "boxes"}


def test_the_corpus_has_every_rule_and_every_division():
    proofs = [json.loads(text)["proof"] for text in EVERY.values()]
    assert {proof["rule"] for proof in proofs} >= RULES
    assert {proof["division"] for proof in proofs if proof["rule"] == "lines"} == DIVISIONS


@pytest.mark.parametrize("name", TEXTS)
def test_a_bound_is_proved_and_not_a_hair_more(name):
    document = json.loads(TEXTS[name])
    verdict = check(TEXTS[name], 10**10)
    claims = document["claims"]
    hair = Fraction(1, 10**20) if verdict.maximised else -Fraction(1, 10**20)
    claims["bound"] = str(verdict.bound - hair)
    claims["gap"] = "999"
    with pytest.raises(Refused, match=r"the claimed bound is not proved"):
        check(text_of(document), 10**10)


@pytest.mark.parametrize("name", sorted(set(EVERY) - set(TEXTS)))
def test_long_proofs_prove_what_they_claim(name):
    verdict = check(EVERY[name], 10**10)
    claimed = Fraction(json.loads(EVERY[name])["claims"]["bound"])
    assert claimed >= verdict.bound if verdict.maximised else claimed <= verdict.bound
