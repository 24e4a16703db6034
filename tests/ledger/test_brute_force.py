"""Random ledgers of answers against the joint channel of all of them, written out: no line is charged too little."""

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest

from dalenius.core.condition import condition
from dalenius.core.query_noise import kernel_on
from dalenius.core.question import Question
from dalenius.core.source import Column
from dalenius.documents import ABOUT, digest, filed
from dalenius.ledger import Ledger
from dalenius.mechanisms.queries.proof import proved_answer_text
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import Laws
from tests.ledger.documents import document, fair, flip

F = Fraction
LETTERS = [(a, b) for a in (0, 1) for b in (0, 1)]  # of a record: two bits
ASKED = {"a == 1": lambda a, b: a, "b == 1": lambda a, b: b, "a == 1 and b == 1": lambda a, b: a and b}
DELTA = F(1, 100)
LINES = ("dalenius", "independent_records", "differential_privacy", f"differential_privacy:{DELTA}", "zcdp")
SECRET = ("leakage", "guess", "maximal_leakage", "total_variation", "information_privacy", "worst_case_leakage")


def asked(rng):
    """A question about two records, as a document, and its row for each pair of records."""
    where = list(ASKED)[rng.integers(3)]
    noise = ["randomised-response", "exponential", "geometric"][rng.integers(3)]
    parameter = F(int(rng.integers(20, 60)), 100)
    question = Question("count", (), noise, parameter, where=condition(where), where_text=where)
    kernel = np.array(
        [[float(v) for v in row] for row in kernel_on([(F(k),) for k in range(3)], noise, parameter).rows]
    )
    rows = {(x, y): kernel[ASKED[where](*x) + ASKED[where](*y)] for x, y in product(LETTERS, LETTERS)}
    return answered(question, 2), rows


def answered(question, records):
    """The proof of an answer with what travels beside it."""
    text = proved_answer_text(question, records).text
    about = {"format": ABOUT, "of": digest(text), "table": "t", "reads": list(question.looks_at)}
    return filed(text, about | {"question": question.to_json()})


def told(rows):
    """The capacity of some rows, in bits."""
    return smallest_ball(Laws(np.array(rows)), gap=1e-9).low / log(2)


def truth(joint):
    """What all answers tell about the first record: to anybody, to those who know the other one, and by ratios."""
    anybody = max(
        told([joint[x, y] for x, y in zip(LETTERS, others, strict=True)]) for others in product(LETTERS, repeat=4)
    )
    known = max(told([joint[x, y] for x in LETTERS]) for y in LETTERS)
    near = [(joint[x, y], joint[z, y]) for y in LETTERS for x in LETTERS for z in LETTERS if x != z]
    return anybody, known, near


def told_of_a(joint, law):
    """What all answers tell about the first bit of the first record, records being independent draws from a law."""
    known = {
        x: sum(share * joint[x, y] for y, share in zip(LETTERS, law, strict=True)) for x in LETTERS
    }  # p(answers | x)
    both = np.array([sum(s * known[x] for x, s in zip(LETTERS, law, strict=True) if x[0] == a) for a in (0, 1)])
    prior, seen = both.sum(1, keepdims=True), both.sum(0, keepdims=True)
    ratio = both / (prior * seen)
    bits = (both / seen * np.log2(ratio)).sum(0)
    return {
        "leakage": float((seen[0] * bits).sum()),
        "guess": float(both.max(0).sum()),
        "maximal_leakage": float(np.log2((both / prior).max(0).sum())),
        "total_variation": float(np.abs(both - prior * seen).sum()) / 2,
        "information_privacy": float(np.abs(np.log(ratio)).max()),
        "worst_case_leakage": float(bits.max()),
    }


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 40))])
def test_no_line_is_charged_too_little(seed, tmp_path):
    rng = np.random.default_rng(seed)
    ledger = Ledger.create(tmp_path / "L", [f"{line}=1000" for line in (*LINES, *(f"{line}:a" for line in SECRET))])
    joint = {pair: np.ones(1) for pair in product(LETTERS, LETTERS)}
    for _ in range(int(rng.integers(1, 4))):
        document, rows = asked(rng)
        ledger.add(document, dataset="d", again=True)
        joint = {pair: np.outer(joint[pair], rows[pair]).ravel() for pair in joint}
    spent = {line: float(figure) for line, figure in ledger.status()["spent"].items()}
    anybody, known, near = truth(joint)
    assert spent["dalenius"] >= anybody - 1e-8
    assert spent["independent_records"] >= known - 1e-8
    assert spent["differential_privacy"] >= max(np.log(p / q).max() for p, q in near) - 1e-9
    epsilon = spent[f"differential_privacy:{DELTA}"]
    assert epsilon <= spent["differential_privacy"] + 1e-9
    assert max(np.maximum(p - exp(epsilon) * q, 0).sum() for p, q in near) <= float(DELTA) + 1e-12
    for order in (1.01, 1.5, 2, 5, 30):
        renyi = max(log((p**order * q ** (1 - order)).sum()) / (order - 1) for p, q in near)
        assert renyi <= spent["zcdp"] * order + 1e-9
    for line, true in told_of_a(joint, rng.dirichlet(np.ones(4))).items():
        assert spent[f"{line}:a"] >= true - 1e-9, line


def test_people_who_are_not_the_same_are_charged_the_largest_for_neighbours_only(tmp_path):
    rng = np.random.default_rng(7)
    documents = [asked(rng)[0] for _ in range(2)]
    alone = []
    for k, text in enumerate(documents):
        one = Ledger.create(tmp_path / f"L{k}", [f"{line}=1000" for line in LINES])
        one.add(text, dataset=f"d{k}", again=True)
        alone.append({line: float(v) for line, v in one.status()["spent"].items()})
    both = Ledger.create(tmp_path / "L", [f"{line}=1000" for line in LINES], rule="disjoint")
    for k, text in enumerate(documents):
        both.add(text, dataset=f"d{k}", again=True)
    status = both.status()
    for line in LINES[1:]:
        assert float(status["spent"][line]) == pytest.approx(max(one[line] for one in alone))
        assert "different people" in status["how"][line]
    assert float(status["spent"]["dalenius"]) >= max(one["dalenius"] for one in alone)


@pytest.mark.parametrize(("finer", "most"), [(True, 3.0), (False, 1.0)])
def test_what_a_grouped_secret_holds_is_no_limit_of_an_answer_in_finer_values(finer, most, tmp_path):
    """An answer about s in eight values was charged the one bit that s holds in two groups."""
    values = tuple(map(str, range(8 if finer else 2)))
    asked_of_s = Question("histogram", ("s",), "discrete-laplace", F(1, 4), declared={"s": Column(values=values)})
    ledger = Ledger.create(tmp_path / "L", ["leakage:s=9"])
    ledger.add(document(fair("s"), (("s",), flip(0))), dataset="d")
    ledger.add(answered(asked_of_s, 50), dataset="d")
    assert float(ledger.status()["spent"]["leakage:s"]) == pytest.approx(most + finer)
