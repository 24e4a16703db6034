"""Leakage within a total variation, letter by letter: no law tells more, whatever the evidence; tight; refusals."""

import json

import numpy as np
import pytest

from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import Node, Refused, canonical
from dalenius.measures.corners import Cells, Variation
from dalenius.measures.mismatch import _telling_moves, _written_received
from dalenius.measures.received import received_within
from tests.effort import effort
from tests.kernel.documents import dense, design, law_of, leakage
from tests.kernel.test_within import release_of, shift, told


@pytest.fixture(autouse=True)
def few_parts(monkeypatch):
    monkeypatch.setattr("dalenius.measures.received.WORK", 200_000)


def evidence_of(law, rows, radius):
    """The best evidence that the search finds, and its bound in bits."""
    cells = Cells(law, np.arange(9) // 3, np.arange(9) % 3, rows)
    laws = np.array(_telling_moves(cells, np.arange(9), radius))
    found = received_within(Variation(law, radius), cells, laws, enough=0.0)
    return _written_received(found), found.nats / np.log(2)


def worsened(rng, evidence):
    """Other weights, other slopes, and cuts elsewhere: they prove less, and nothing false."""
    other = json.loads(json.dumps(evidence))
    other["weights"] = [str(max(1, int(int(n) * rng.uniform(0.8, 1.2)))) for n in other["weights"]]
    for tree in other["trees"]:
        for part in tree:
            if "slopes" in part:
                part["slopes"] = [str(int(int(a) + rng.normal() * 2.0**36)) for a in part["slopes"]]
            else:
                part |= {"cell": int(rng.integers(9)), "at": str(int(rng.integers(1 << 29)))}
    return other


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, effort(12, 80)))]
)
def test_no_law_of_the_ball_tells_more_and_the_bound_is_that_of_the_search(seed):
    rng = np.random.default_rng(seed)
    radius = int(rng.integers(1, 9))
    release, ball, law, rows = release_of(rng, "total_variation", f"{radius}/100")
    evidence, bits = evidence_of(law, rows, radius / 100)
    bound = float(release.within(("S",), ball, Node({"received": evidence})))
    assert bound <= bits + 1e-9  # the share of the contraction may be less
    worse = float(release.within(("S",), ball, Node({"received": worsened(rng, evidence)})))
    most = max(told(shift(rng, law, radius / 100), rows) for _ in range(effort(60, 600)))
    assert most <= min(bound, worse) + 1e-12


@pytest.mark.long
def test_the_bound_is_near_the_worst_corner():
    """A large ball of a law without small cells, of which a corner is the worst law."""
    rng = np.random.default_rng(3)
    law = rng.dirichlet(np.full(9, 5.0))
    rows = rng.dirichlet(np.ones(3), 3)
    _, bits = evidence_of(law, rows, 0.05)
    most = max(told(law + 0.05 * (np.eye(9)[to] - np.eye(9)[out]), rows) for to in range(9) for out in range(9))
    assert most <= bits <= most + 0.05**2 / law.reshape(3, 3).sum(axis=1).min() / np.log(2)


EVEN = {"weights": ["1", "1", "1"]}
PART = {"slopes": ["0"] * 9}


@pytest.mark.parametrize(
    ("received", "why"),
    [
        (EVEN | {"trees": []}, "for each cell that receives"),
        (EVEN | {"trees": [[PART]] * 8}, "for each cell that receives"),
        (EVEN | {"trees": [[]] * 9}, "cuts without parts"),
        (EVEN | {"trees": [[PART, PART]] * 9}, "parts without cuts"),
        (EVEN | {"trees": [[{"cell": 0, "at": "1"}, PART]] * 9}, "cuts without parts"),
        (EVEN | {"trees": [[{"cell": 0, "at": "1"}] * 70] * 9}, "too deep"),
        (EVEN | {"trees": [[{"cell": 9, "at": "1"}, PART, PART]] * 9}, "a cell that there is not"),
        (EVEN | {"trees": [[{"slopes": ["0"] * 8}]] * 9}, "not one slope for each letter"),
        ({"weights": ["1", "0", "1"], "trees": [[PART]] * 9}, "has no weight"),
        ({"weights": ["1", "1"], "trees": [[PART]] * 9}, "has no weight"),
    ],
)
def test_receivers_are_refused_that_leave_something_out(received, why):
    release, ball, _, _ = release_of(np.random.default_rng(4), "total_variation", "1/20")
    with pytest.raises(Refused, match=why):
        release.within(("S",), ball, Node({"received": received}))


def test_receivers_are_for_a_total_variation_of_letters_alone():
    release, ball, _, _ = release_of(np.random.default_rng(4), "kl_bits", "1/100")
    with pytest.raises(Refused, match="receivers are for a total variation"):
        release.within(("S",), ball, Node({"received": EVEN | {"trees": [[PART]] * 9}}))


def test_a_kept_column_beside_receivers_is_refused():
    variables = {"S": ["u", "v"], "X": ["a", "b"], "K": ["m", "n"]}
    outcomes = [[s, x, k, str(1 + s + x + k)] for s in (0, 1) for x in (0, 1) for k in (0, 1)]
    document = design(
        variables,
        law=law_of(variables, outcomes),
        mechanism={"observe": ["X"], "keep": ["K"]},
        promises=[leakage("9", "S", ball="total_variation", radius="1/20")],
        channel=dense([3, 1], [1, 3]),
        evidence=[{"nu": "0", "m": "0", "t": "1"}],
    )
    read = read_document(canonical(document))
    received = {"weights": ["1", "1"], "trees": [[{"slopes": ["0"] * 4}]] * 8}
    with pytest.raises(Refused, match="a letter alone"):
        read.release.within(("S",), read.promises[0].within, Node({"received": received}))


@pytest.mark.long
def test_evidence_stays_as_it_is_written():
    rng = np.random.default_rng(5)
    _, _, law, rows = release_of(rng, "total_variation", "1/20")
    evidence, _ = evidence_of(law, rows, 0.05)
    assert json.loads(canonical(evidence)) == evidence
