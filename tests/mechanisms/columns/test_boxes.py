"""Self-disclosure by boxes: the same contract, the same optimum as the walk, proofs that cannot lie."""

import copy
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from contract import DesignContract, assert_kept

from dalenius.core import Pmf
from dalenius.core.numbers import exact
from dalenius.documents import checked as check
from dalenius.mechanisms.columns.disclosure.boxes import boxes_apply, by_column_boxes
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.proving import proved
from dalenius.testing import disclosure, self_disclosure, xor


def by_boxes(problem, gap=1e-8):
    channel, certificate, method = by_column_boxes(problem, gap=gap, seconds=60)
    return proved(problem, channel, [certificate], method=method)


def counted(sizes, seed, views=None):
    """Samples of these sizes that tell about themselves, with random counts from 1 to 30."""
    rng = np.random.default_rng(seed)
    names = [f"X{k}" for k in range(1, len(sizes) + 1)]
    alphabets = {n: tuple(map(str, range(m))) for n, m in zip(names, sizes, strict=True)}
    codes = np.array(list(np.ndindex(*sizes)))
    joint = Pmf.from_counts(alphabets, codes, rng.integers(1, 30, len(codes)).tolist())
    return disclosure(joint, names, names, views or [[n] for n in names])


SMALL = {
    "3 bits": self_disclosure(["7/10", "3/10"], 3),
    "4 bits": self_disclosure(["9/10", "1/10"], 4),
    "2 ternary samples": self_disclosure(["1/2", "1/3", "1/6"], 2),
    "3x3": counted((3, 3), 0),
    "2x3x2": counted((2, 3, 2), 1),
    "windows of two": counted((2, 2, 2), 2, [["X1", "X2"], ["X2", "X3"]]),
}


@pytest.mark.long
@pytest.mark.parametrize("name", SMALL)
def test_boxes_enclose_the_exact_optimum(name):
    problem = SMALL[name]
    best, enclosed = disclose(problem), by_boxes(problem)
    assert best.kind in ("rays", "universal")
    assert enclosed.kind in ("boxes", "orbits", "components")
    assert enclosed.value <= best.bound
    assert best.value <= enclosed.bound
    assert float(enclosed.gap) <= 1e-8
    for guarantee in problem.guarantees:
        assert_kept(problem, enclosed.channel.rows, guarantee)
    check(enclosed.dumps())


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "q", "bits"),
    [(5, "1/10", 0.550676436242588), (5, "3/10", 2.58758195689912), (6, "1/10", 0.806518092)],
)
def test_independent_bits_match_the_reference(n, q, bits):
    design = disclose(self_disclosure([1 - Fraction(q), Fraction(q)], n))
    assert design.kind in ("boxes", "orbits")
    assert float(design.value) == pytest.approx(bits, abs=1e-8)
    assert float(design.gap) <= 1e-6
    assert design.channel.shape[1] <= 2**n


def test_names_that_sort_otherwise_than_they_stand():
    problem = self_disclosure(["1/2", "1/3", "1/6"], 2)
    renamed = dict.fromkeys(problem.observe, ("9", "10", "-1"))
    joint = Pmf.from_counts(renamed, problem.pmf.support, problem.pmf.weights.tolist())
    design = by_boxes(disclosure(joint, problem.observe, problem.observe, [[n] for n in problem.observe]))
    assert float(design.gap) <= 1e-8


def test_boxes_are_for_outputs_about_the_whole_input():
    assert boxes_apply(SMALL["3x3"])
    assert not boxes_apply(xor())
    assert not boxes_apply(replace(SMALL["3x3"], keep=("X1",)))


# --- false proofs -----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module", params=["4 bits", "3x3"])
def honest(request):
    return json.loads(by_boxes(SMALL[request.param]).dumps())


def mutated(proof, draw):
    proof = copy.deepcopy(proof)
    for _ in range(draw.choice([1, 1, 2, 4])):
        tree, dual = proof["tree"], proof["dual"]
        at = draw.randrange(len(tree))
        kind = draw.random()
        if kind < 0.2:
            del tree[at]
        elif kind < 0.35:
            tree.insert(at, copy.deepcopy(draw.choice(tree)))
        elif kind < 0.5:
            k = draw.randrange(len(dual))
            dual[k] = str(exact(dual[k]) + Fraction(draw.randrange(-1000, 1000), 10 ** draw.randrange(2, 9)))
        elif isinstance(tree[at], dict):
            tree[at] = {"x": draw.randrange(-1, 20), "at": f"{draw.randrange(-5, 100)}/{draw.randrange(1, 100)}"}
        elif tree[at]:
            k = draw.randrange(len(tree[at]))
            tree[at][k] += draw.randrange(-(2**39), 2**39)
        if not tree:
            return proof
    return proof


# --- views that part the inputs ---------------------------------------------------------------------------------------
CHAIN = counted((4, 3, 3), 5, [["X1"], ["X1", "X2"], ["X2", "X3"]])


@pytest.mark.long
def test_a_chain_of_windows_is_solved_value_by_value_of_its_middle():
    """Thirty-six inputs that a single tree of boxes leaves 0.05 bits open after a minute."""
    design = disclose(CHAIN)
    assert "in 3 parts" in design.method
    assert len(design.certificate.proof["parts"]) == 3
    assert design.certificate.proof["views"] == [1, 2]  # the view X1 is told by the other two
    assert float(design.gap) <= 1e-9
    for guarantee in CHAIN.guarantees:
        assert_kept(CHAIN, design.channel.rows, guarantee)
    check(design.dumps())


@pytest.mark.long
def test_parts_are_worth_the_sum_of_their_own_optima():
    """Each value of X2 is a problem of two samples, which the walk solves exactly."""
    joint, total = CHAIN.pmf, Fraction(0)
    codes, counts = joint.grouped(("X1", "X2", "X3"))[0], joint.counts(("X1", "X2", "X3"))
    for b in range(3):
        rows = [k for k, x in enumerate(codes) if x[1] == b]
        weights = [int(counts[k]) for k in rows]
        variables = {"X1": tuple("0123"), "X3": tuple("012")}
        own = Pmf.from_counts(variables, np.array([[codes[k][0], codes[k][2]] for k in rows]), weights)
        best = disclose(disclosure(own, ["X1", "X3"], ["X1", "X3"], [["X1"], ["X3"]]))
        assert best.kind == "rays"
        total += Fraction(sum(weights), joint.total) * best.value
    assert abs(float(disclose(CHAIN).value - total)) < 1e-9


def test_a_single_view_parts_the_inputs_into_its_values():
    """H(X | V), whatever the number of inputs."""
    problem = counted((3, 4, 3), 6, [["X1"]])
    counts = problem.pmf.counts(("X1",), ("X2", "X3")).astype(float)
    share = counts / counts.sum()
    expected = -(share * np.log2(share / share.sum(axis=1, keepdims=True))).sum()
    design = disclose(problem)
    assert float(design.value) == pytest.approx(expected, abs=1e-9)
    assert float(design.gap) <= 1e-9


class TestBoxesContract(DesignContract):
    """The contract once more, with the walk switched off."""

    def problems(self):
        return {name: SMALL[name] for name in ("3 bits", "3x3", "windows of two")}

    def infeasible(self):
        return {"a sample is kept": replace(SMALL["3x3"], keep=("X1",))}

    def solve(self, problem):
        return disclose(problem) if problem.kept else by_boxes(problem)
