"""Random ledgers of answers against the joint channel of all of them, written out: no line is charged too little."""

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest

from dalenius.core.condition import condition
from dalenius.core.query_noise import kernel_on
from dalenius.core.question import Question
from dalenius.documents import ABOUT, digest, filed
from dalenius.ledger import Ledger
from dalenius.mechanisms.queries.proof import proved_answer_text
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import Laws

F = Fraction
LETTERS = [(a, b) for a in (0, 1) for b in (0, 1)]  # of a record: two bits
ASKED = {"a == 1": lambda a, b: a, "b == 1": lambda a, b: b, "a == 1 and b == 1": lambda a, b: a and b}
DELTA = F(1, 100)
LINES = ("dalenius", "independent_records", "differential_privacy", f"differential_privacy:{DELTA}", "zcdp")


def asked(rng):
    """A question about two records, as a document, and its row for each pair of records."""
    where = list(ASKED)[rng.integers(3)]
    noise = ["randomised-response", "exponential", "geometric"][rng.integers(3)]
    parameter = F(int(rng.integers(20, 60)), 100)
    question = Question("count", (), noise, parameter, where=condition(where), where_text=where)
    text = proved_answer_text(question, 2).text
    about = {"format": ABOUT, "of": digest(text), "table": "t", "reads": list(question.looks_at)}
    kernel = np.array(
        [[float(v) for v in row] for row in kernel_on([(F(k),) for k in range(3)], noise, parameter).rows]
    )
    rows = {(x, y): kernel[ASKED[where](*x) + ASKED[where](*y)] for x, y in product(LETTERS, LETTERS)}
    return filed(text, about | {"question": question.to_json()}), rows


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


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 40))])
def test_no_line_is_charged_too_little(seed, tmp_path):
    rng = np.random.default_rng(seed)
    ledger = Ledger.create(tmp_path / "L", [f"{line}=1000" for line in LINES])
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


def test_people_who_are_not_the_same_are_charged_the_largest_for_neighbours_only(tmp_path):
    rng = np.random.default_rng(7)
    documents = [asked(rng)[0] for _ in range(2)]
    alone = []
    for k, document in enumerate(documents):
        one = Ledger.create(tmp_path / f"L{k}", [f"{line}=1000" for line in LINES])
        one.add(document, dataset=f"d{k}", again=True)
        alone.append({line: float(v) for line, v in one.status()["spent"].items()})
    both = Ledger.create(tmp_path / "L", [f"{line}=1000" for line in LINES], rule="disjoint")
    for k, document in enumerate(documents):
        both.add(document, dataset=f"d{k}", again=True)
    status = both.status()
    for line in LINES[1:]:
        assert float(status["spent"][line]) == pytest.approx(max(one[line] for one in alone))
        assert "different people" in status["how"][line]
    assert float(status["spent"]["dalenius"]) >= max(one["dalenius"] for one in alone)
