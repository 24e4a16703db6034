"""Leakage within a total variation, letter by letter: no law tells more, whatever the evidence; tight; refusals."""

import json
from fractions import Fraction

import numpy as np
import pytest

from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import Node, Refused, Work, canonical
from dalenius.kernel.received import Shares, Sloped, bends, mixed, most_received
from dalenius.measures.corners import Cells, Variation
from dalenius.measures.mismatch import _written_received
from dalenius.measures.received import received_within
from dalenius.measures.worst_laws import telling_moves
from tests.effort import effort
from tests.kernel.documents import dense, design, law_of, leakage
from tests.kernel.test_within import release_of, shift, told


@pytest.fixture(autouse=True)
def few_parts(monkeypatch):
    monkeypatch.setattr("dalenius.measures.received.WORK", 200_000)


def evidence_of(law, rows, radius):
    """The best evidence that the search finds, and its bound in bits."""
    cells = Cells(law, np.arange(9) // 3, np.arange(9) % 3, rows)
    laws = np.array(telling_moves(cells, np.arange(9), radius))
    found = received_within(Variation(law, radius), cells, laws, enough=0.0)
    return _written_received(found, law.reshape(3, 3).sum(axis=1)), found.nats / np.log(2)


def worsened(rng, evidence):
    """Other weights, other slopes, and cuts elsewhere: they prove less, and nothing false."""
    other = json.loads(json.dumps(evidence))
    other["weights"] = [str(max(1, int(int(n) * rng.uniform(0.8, 1.2)))) for n in other["weights"]]
    for tree in other["trees"]:
        for part in tree:
            if "weights" in part:
                part["weights"] = [str(max(1, int(int(n) * rng.uniform(0.8, 1.2)))) for n in part["weights"]]
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


def ball_of(rng, radius):
    """A random law whose values of the secret are all more likely than the radius, a channel, and what bends."""
    while True:
        _, _, law, rows = release_of(rng, "total_variation", "1/20")
        if law.reshape(3, 3).sum(axis=1).min() > radius:
            break
    counts = np.rint(law * 10**6).astype(int).tolist()
    whole = np.rint(rows[np.arange(9) % 3] * 10**6).astype(int)
    ball = Shares(counts, Fraction(radius), whole.tolist(), 10**6, (np.arange(9) // 3).tolist(), [1, 1, 1])
    return law, rows, {pair: float(bend) for pair, bend in bends(ball, Work(10**9)).items()}


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, effort(12, 80)))]
)
def test_several_receivers_tell_no_more_than_pairs_of_them_and_what_bends(seed):
    rng = np.random.default_rng(seed)
    radius = rng.uniform(0.01, 0.2)
    law, rows, bent = ball_of(rng, radius)
    for _ in range(effort(40, 400)):
        left = radius
        given = np.zeros(9)
        for cell in rng.permutation(9):
            given[cell] = min(left, law[cell] * rng.choice([1.0, rng.random()]))
            left -= given[cell]
        among = rng.permutation(9)[: rng.integers(2, 4)]
        shares = np.zeros(9)
        shares[among] = rng.dirichlet(np.ones(len(among)))
        alone = [told(law - given + given.sum() * np.eye(9)[c], rows) for c in range(9)]
        pairs = [mixed(alone[c], alone[e], bend) for (c, e), bend in bent.items() if c in among and e in among]
        assert told(law - given + given.sum() * shares, rows) <= max(pairs + [alone[c] for c in among]) + 1e-6


@pytest.mark.parametrize("rows", [[[9, 1], [1, 9]], [[5, 5], [5, 5]]])
def test_information_hardly_bends_where_a_value_comes_with_its_letter(rows):
    ball = Shares([1] * 4, Fraction(1, 20), rows * 2, 10, [0, 0, 1, 1], [1, 1])
    whole = (2 + 1 / 0.45) * 0.05**2 / 2 / np.log(2)  # what the law of the secret bends alone
    found = bends(ball, Work(10**6))
    assert found.keys() == {(0, 2), (0, 3), (1, 2), (1, 3)}
    assert found[0, 2] < whole / 8
    assert all(bend < whole for bend in found.values())


def test_the_most_of_two_receivers_is_between_them_only_where_it_bends_enough():
    assert mixed(Fraction(3), Fraction(1), Fraction(2)) == 3
    assert mixed(Fraction(3), Fraction(1), Fraction(4)) == Fraction(13, 4)
    assert mixed(Fraction(3), Fraction(3), Fraction(4)) == 4


def test_a_single_cell_has_no_pairs():
    ball = Shares([3], Fraction(1, 20), [[1]], 1, [0], [1])
    assert most_received(ball, [[(0, 1), Sloped([0], [1]), Sloped([0], [2])]], Work(10**6)) < Fraction(1, 10**9)


def test_one_law_for_all_parts_needs_no_pairs():
    rng = np.random.default_rng(6)
    release, ball, law, rows = release_of(rng, "total_variation", "1/20")
    evidence, _ = evidence_of(law, rows, 0.05)
    same = json.loads(json.dumps(evidence))
    for tree in same["trees"]:
        for part in tree:
            part.pop("weights", None)
    said = {"weights": same["weights"]}
    stated = [[said | part if "slopes" in part else part for part in tree] for tree in same["trees"]]
    assert any("weights" in part for part in evidence["trees"][0])
    found = [release.within(("S",), ball, Node({"received": one})) for one in (same, same | {"trees": stated})]
    assert found[0] == found[1]
    with pytest.raises(Refused, match="others have none"):
        release.within(("S",), ball, Node({"received": same | {"trees": [stated[0], *same["trees"][1:]]}}))


@pytest.mark.long
def test_the_bound_is_near_the_worst_corner():
    """A large ball of a law without small cells, of which a corner is the worst law."""
    rng = np.random.default_rng(3)
    law = rng.dirichlet(np.full(9, 40.0))
    assert law.min() > 0.05
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
        (EVEN | {"trees": [[{"weights": ["1", "1"]} | PART]] * 9}, "has no weight in a part"),
        (EVEN | {"trees": [[{"weights": ["1", "1", "0"]} | PART]] * 9}, "has no weight in a part"),
    ],
)
def test_receivers_are_refused_that_leave_something_out(received, why):
    release, ball, _, _ = release_of(np.random.default_rng(4), "total_variation", "1/20")
    with pytest.raises(Refused, match=why):
        release.within(("S",), ball, Node({"received": received}))


def test_parts_with_laws_of_their_own_are_refused_where_a_value_may_vanish():
    release, ball, _, _ = release_of(np.random.default_rng(4), "total_variation", "1/2")
    trees = [[{"weights": ["1", "1", str(c + 1)]} | PART] for c in range(9)]
    with pytest.raises(Refused, match="may vanish within the ball"):
        release.within(("S",), ball, Node({"received": EVEN | {"trees": trees}}))


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
