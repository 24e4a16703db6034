"""Column generation with branch and bound against exact enumeration; box proofs against all vertices."""

import json
import math
import random
import sys
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dalenius.errors import DaleniusError, InputError, InvalidPmf, NotCertified
from dalenius.solvers import best_mixture, box_tree, vertices
from dalenius.solvers.orbital import orbit, self_disclosure

sys.path.insert(0, str(Path(__file__).parent))
from boxes_checker import boxes_bound

from tests.effort import effort

THIRD, TENTH = Fraction(3, 10), Fraction(1, 10)


def labels(m, n):
    return [list(view) for view in zip(*product(range(m), repeat=n), strict=True)]


def iid(n, *q):
    return [math.prod(q[a] for a in x) for x in product(range(len(q)), repeat=n)], labels(len(q), n)


def bits(n, q):
    return iid(n, 1 - q, q)


def counts(m, n, seed):
    drawn = np.random.default_rng(seed).integers(1, 1000, m**n).tolist()
    return [Fraction(t, sum(drawn)) for t in drawn], labels(m, n)


def entropy(masses):
    return -math.fsum(float(t) * math.log2(t) for t in masses if t)


def margins(p, views):
    A = [[int(label == a) for label in view] for view in views for a in sorted(set(view))]
    return A, [sum(t for t, inside in zip(p, row, strict=True) if inside) for row in A]


def all_vertices(p, views):
    return vertices(*margins(p, views))


def optimum(p, views):
    points = all_vertices(p, views)
    costs = [entropy(v) for v in points]
    mixture = best_mixture(points, [-c for c in costs], p)
    return entropy(p) - math.fsum(float(t) * costs[k] for k, t in mixture.theta.items())


def per_atom(dual, views, symmetric):
    """The dual vector on atoms, whatever it is given on."""
    if not symmetric:
        return dual
    kinds = [tuple(sorted(x)) for x in zip(*views, strict=True)]
    of = dict(zip(sorted(set(kinds)), dual, strict=True))
    return [of[kind] for kind in kinds]


def assert_mixture(found, p, views):
    A, b = margins(p, views)
    assert sum(found.theta) == 1
    assert min(found.theta) > 0
    mean = [Fraction(0)] * len(p)
    for t, weight in zip(found.columns, found.theta, strict=True):
        assert min(t.values()) > 0
        assert [sum(row[x] * mass for x, mass in t.items()) for row in A] == b
        images = list(orbit(t, views)) if found.symmetric else [t]
        for image in images:
            for x, mass in image.items():
                mean[x] += weight * mass / len(images)
    assert mean == p
    value = entropy(p) - math.fsum(
        float(w) * entropy(t.values()) for t, w in zip(found.columns, found.theta, strict=True)
    )
    assert value == pytest.approx(found.value, abs=1e-12)


def assert_solved(found, p, views, gap):
    assert_mixture(found, p, views)
    assert found.value <= found.bound + 1e-12
    assert found.gap <= gap
    proved = boxes_bound(p, views, found.dual, json.loads(json.dumps(found.tree)))
    assert float(proved) == pytest.approx(found.bound, abs=1e-10)


INSTANCES = {
    "bits 3, q .1": (*bits(3, TENTH), True),
    "bits 3, q .3": (*bits(3, THIRD), True),
    "bits 4, q .1": (*bits(4, TENTH), True),
    "bits 4, q .37": (*bits(4, Fraction(37, 100)), True),
    "bits 4, rare": (*bits(4, Fraction(1, 10000)), True),
    "bits 4, q .3, apart": (*bits(4, THIRD), False),
    "fair bits 4": (*bits(4, Fraction(1, 2)), True),
    "values 2": (*iid(2, Fraction(1, 2), THIRD, Fraction(1, 5)), True),
    "exchangeable, not iid": ([Fraction(t, 20) for t in (5, 1, 1, 3, 1, 3, 3, 3)], labels(2, 3), True),
    "3 x 3": (*counts(3, 2, 0), False),
    "3 x 3, again": (*counts(3, 2, 1), False),
    "4 x 4": (*counts(4, 2, 0), False),
    "2 x 2 x 2": (*counts(2, 3, 0), False),
}


@pytest.mark.long
@pytest.mark.parametrize(("p", "views", "symmetric"), INSTANCES.values(), ids=INSTANCES)
def test_equals_exact_enumeration(p, views, symmetric):
    found = self_disclosure(p, views, gap=1e-8, symmetric=symmetric)
    assert_solved(found, p, views, 1e-8)
    truth = optimum(p, views)
    assert found.value <= truth + 1e-10
    assert truth <= found.bound + 1e-10


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "q", "value"),
    [(5, TENTH, 0.550676436242588), (5, THIRD, 2.58758195689912), (6, TENTH, 0.806518092), (6, THIRD, 3.412261859)],
)
def test_iid_bits_have_the_known_value(n, q, value):
    p, views = bits(n, q)
    found = self_disclosure(p, views, gap=1e-6, symmetric=True)
    assert_solved(found, p, views, 1e-6)
    assert found.value == pytest.approx(value, abs=1e-6)


def test_views_of_two_samples_have_the_known_value():
    # Windows of two out of three bits with P(1) = 2/5; a view is any labelling of the atoms.
    p, (a, b, c) = bits(3, Fraction(2, 5))
    views = [[2 * s + t for s, t in zip(x, y, strict=True)] for x, y in ((a, b), (b, c))]
    found = self_disclosure(p, views, gap=1e-9)
    assert_solved(found, p, views, 1e-9)
    assert found.value == pytest.approx(0.640364094195052414, abs=1e-9)


def test_a_markov_chain_has_the_known_value():
    p = [Fraction(t, 500) for t in (192, 48, 18, 42, 48, 12, 42, 98)]
    found = self_disclosure(p, labels(2, 3), gap=1e-9)
    assert_solved(found, p, labels(2, 3), 1e-9)
    assert found.value == pytest.approx(1.26989678305034981, abs=1e-9)


def test_symmetry_changes_the_work_and_not_the_answer():
    p, views = bits(4, THIRD)
    whole = self_disclosure(p, views, gap=1e-8)
    folded = self_disclosure(p, views, gap=1e-8, symmetric=True)
    assert whole.value == pytest.approx(folded.value, abs=2e-8)
    assert len(folded.dual) == 5
    assert folded.leaves < whole.leaves


def test_atoms_in_any_order_and_types_of_one_atom():
    p, views = bits(3, THIRD)
    order = [5, 7, 0, 3, 6, 1, 4, 2]
    shuffled = [p[x] for x in order], [[view[x] for x in order] for view in views]
    assert_solved(self_disclosure(*shuffled, gap=1e-8, symmetric=True), *shuffled, 1e-8)
    ends = [Fraction(1, 3), Fraction(2, 3)], [[1, 0], [1, 0]]
    assert_solved(self_disclosure(*ends, gap=1e-8, symmetric=True), *ends, 1e-8)


def test_nothing_to_choose():
    # Two views that know everything: S is a point, and nothing can be told.
    p = [Fraction(1, 4), Fraction(3, 4)]
    found = self_disclosure(p, [[0, 1], [0, 1]], gap=1e-9)
    assert found.value == pytest.approx(0, abs=1e-12)
    assert_solved(found, p, [[0, 1], [0, 1]], 1e-9)


def test_the_answer_is_deterministic_and_tells_its_progress():
    p, views = counts(3, 2, 2)
    told = []
    first = self_disclosure(p, views, gap=1e-8, on_progress=lambda *ends: told.append(ends))
    assert self_disclosure(p, views, gap=1e-8) == first
    assert len(told) == first.rounds
    assert all(value <= bound + 1e-9 for value, bound in told)


@pytest.mark.parametrize(("p", "views", "symmetric"), [(*bits(6, THIRD), True), (*counts(5, 2, 0), False)])
def test_an_interrupted_search_still_proves_its_bound(p, views, symmetric):
    found = self_disclosure(p, views, gap=1e-9, seconds=0, symmetric=symmetric)
    assert found.gap > 1e-3
    assert_mixture(found, p, views)
    assert float(boxes_bound(p, views, found.dual, found.tree)) == pytest.approx(found.bound, abs=1e-10)


def rare(largest):
    """Masses from one to so many, of 24 atoms in two views."""
    drawn = np.random.default_rng(4).choice(largest, 24).tolist()
    return [Fraction(t, sum(drawn)) for t in drawn], [list(v) for v in zip(*product(range(3), range(8)), strict=True)]


@pytest.mark.long
def test_a_finer_gap_is_had_where_it_is_cheap():
    p, views = rare([1, 100, 10**4])
    coarse, fine = self_disclosure(p, views, gap=1e-4), self_disclosure(p, views, gap=1e-4, fine=1e-9)
    assert coarse.gap > 1e-9
    assert fine.gap <= 1e-9
    assert fine.nodes <= 2 * coarse.nodes + 100
    assert_mixture(fine, p, views)


@pytest.mark.long
def test_boxes_as_narrow_as_doubles_go_are_left_as_they_are():
    p, views = rare([1, 10**3, 10**6, 10**9, 10**12])
    found = self_disclosure(p, views, gap=1e-9)
    assert_mixture(found, p, views)
    assert float(boxes_bound(p, views, found.dual, found.tree)) == pytest.approx(found.bound, abs=1e-9)


def test_the_time_of_the_checker_is_part_of_the_deadline(monkeypatch):
    """A tree that could not be checked within the time is not grown."""
    p, views = counts(5, 2, 0)
    monkeypatch.setattr(box_tree, "_CHECKED", 10.0)  # seconds for a leaf and an atom: two leaves are too many
    found = self_disclosure(p, views, gap=1e-9, seconds=300)
    assert found.leaves <= 2
    assert found.gap > 1e-3
    assert_mixture(found, p, views)


def corrupted(rng, dual, tree):
    """A copy of a proof with one to three wounds."""
    dual, tree = list(dual), json.loads(json.dumps(tree))
    for _ in range(rng.randint(1, 3)):
        k = rng.randrange(len(tree))
        node = tree[k]
        wound = rng.choice(
            ["drop", "drop", "double", "swap", "split", "multiplier", "multiplier", "flag", "dual", "atom"]
        )
        if wound == "drop" and len(tree) > 1:
            del tree[k]
        elif wound == "double":
            tree.insert(k, node)
        elif wound == "swap":
            other = rng.randrange(len(tree))
            tree[k], tree[other] = tree[other], tree[k]
        elif wound == "dual":
            dual[rng.randrange(len(dual))] += Fraction(rng.randint(-(2**40), 2**40), 2 ** rng.randint(36, 60))
        elif isinstance(node, dict) and wound == "split":
            node["at"] = str(Fraction(rng.choice(["-1/7", "0", "1/1000", "1/9", "2/5", "9/10", "5"])))
        elif isinstance(node, dict) and wound == "flag":
            node["orbital"] = not node.get("orbital", False)
        elif isinstance(node, dict) and wound == "atom":
            node["x"] = rng.randrange(16)
        elif isinstance(node, list) and node:
            node[rng.randrange(len(node))] += rng.randint(-(2**44), 2**44) >> rng.randint(0, 40)
    return dual, tree


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["bits 3, q .3", "exchangeable, not iid", "3 x 3", "bits 4, q .37", "values 2"][: effort(3, 5)]
)
def test_corrupted_proofs_never_prove_a_bound_below_the_truth(name):
    p, views, symmetric = INSTANCES[name]
    points = np.array([[float(t) for t in v] for v in all_vertices(p, views)])
    costs = np.array([entropy(v) for v in points])
    found = self_disclosure(p, views, gap=1e-8, symmetric=symmetric)
    rng, seen = random.Random(7), Counter()
    for _ in range(effort(60, 400)):
        dual, tree = corrupted(rng, found.dual, found.tree)
        try:
            proved = float(boxes_bound(p, views, dual, tree))
        except (DaleniusError, ArithmeticError, LookupError):
            seen["refused"] += 1
            continue
        # The best that any proof can do with this dual vector, by all vertices.
        y = np.array([float(t) for t in per_atom(dual, views, symmetric)])
        least = entropy(p) - float(y @ np.array([float(t) for t in p])) - float((costs - points @ y).min())
        assert proved >= least - 1e-11
        seen["loosened" if proved > found.bound + 1e-7 else "as good"] += 1
    assert min(seen[kind] for kind in ("refused", "loosened", "as good")) > effort(2, 5)


def test_a_false_claim_of_symmetry_is_refused_by_search_and_checker():
    p, views = counts(2, 2, 0)
    with pytest.raises(InputError, match="not exchangeable: \\(0, 1\\) and \\(1, 0\\) differ"):
        self_disclosure(p, views, gap=1e-6, symmetric=True)
    with pytest.raises(NotCertified, match="the law changes when views change places"):
        boxes_bound(p, views, [Fraction(0)] * 3, [[]])
    even = [Fraction(1, 3)] * 3
    with pytest.raises(NotCertified, match="the proof is damaged"):  # (1, 0, 0) is missing
        boxes_bound(even, [[0, 0, 0], [0, 0, 1], [0, 1, 0]], [Fraction(0)] * 2, [[]])


def test_proofs_of_another_shape_are_refused():
    p, views = bits(3, THIRD)
    y = [Fraction(0)] * 4
    assert boxes_bound(p, views, y, [[]]) >= Fraction(104, 100)
    for tree, why in (
        ([], "lacks leaves"),
        ([[], []], "the proof is damaged"),
        ([{"x": 0, "at": "1/2", "orbital": True}, []], "the proof is damaged"),
    ):
        with pytest.raises(NotCertified, match=why):
            boxes_bound(p, views, y, tree)
    with pytest.raises(NotCertified, match="the proof is damaged"):
        boxes_bound(p, views, y[:3], [[]])
    with pytest.raises(NotCertified, match="not a pmf"):
        boxes_bound([*p[:-1], p[-1] / 2], views, y, [[]])


def test_what_is_not_a_pmf_with_views_is_refused():
    half, view = [Fraction(1, 2)] * 2, [[0, 1]]
    for p, views, error, why in (
        ([Fraction(1, 2), Fraction(2, 5)], view, InvalidPmf, "sum to 9/10, not 1"),
        ([Fraction(3, 2), Fraction(-1, 2)], view, InvalidPmf, "atom 1 has probability -1/2"),
        ([Fraction(1), Fraction(0)], view, InvalidPmf, "atom 1 has probability 0; leave out"),
        ([0.5, 0.5], view, InputError, "not 0.5"),
        (half, [], InputError, "must cover the atoms"),
        (half, [[0, 1], [0]], InputError, "view 1 has labels for 1 atoms, the distribution has 2"),
    ):
        with pytest.raises(error, match=why):
            self_disclosure(p, views, gap=1e-6)
    with pytest.raises(InputError, match="two atoms have the same labels"):
        self_disclosure(half, [[0, 0], [0, 0]], gap=1e-6, symmetric=True)
    with pytest.raises(InputError, match="gap must be positive"):
        self_disclosure(half, view, gap=0)
