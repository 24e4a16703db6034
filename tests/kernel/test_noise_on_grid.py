"""Rule "grid": what bounds every matrix on a grid bounds noise beyond its ends too (point 11)."""

import copy
import json
from fractions import Fraction
from math import e

import numpy as np
import pytest
from scipy.optimize import linprog

from dalenius.core import Pmf, Problem
from dalenius.kernel import Refused, check
from dalenius.kernel.numbers import canonical
from dalenius.mechanisms import solve
from tests.kernel.documents import contraction, distance

COUNTS = [9, 4, 1, 1, 3, 7, 2]


@pytest.fixture(scope="module")
def design():
    document = {
        "mechanism": {"observe": ["x"], "release": ["x"], "form": "noise", "noise": "laplace"},
        "objective": {"minimize": {"distortion": "squared", "of": ["x"]}},
        "guarantee": [{"local_dp": "1"}],
    }
    codes = np.arange(len(COUNTS))[:, None]
    joint = Pmf.from_counts({"x": tuple(map(str, range(len(COUNTS))))}, codes, COUNTS)
    return solve(Problem.from_document(document, joint=joint))


def least_error(points):
    """The least squared error of any matrix from the grid to these points at level 1, by a linear program."""
    inputs, letters = len(COUNTS), len(points)
    share = np.array(COUNTS) / sum(COUNTS)
    cost = share[:, None] * (np.arange(inputs)[:, None] - np.asarray(points)) ** 2
    pairs = [(x, z) for x in range(inputs) for z in range(inputs) if x != z]
    ratios = np.zeros((len(pairs) * letters, inputs * letters))
    for k, ((x, z), y) in enumerate((pair, y) for pair in pairs for y in range(letters)):
        ratios[k, x * letters + y], ratios[k, z * letters + y] = 1, -e
    sums = np.kron(np.eye(inputs), np.ones(letters))
    return linprog(cost.ravel(), ratios, np.zeros(len(ratios)), sums, np.ones(inputs)).fun


def test_point_11_the_bound_of_noise_is_that_of_the_best_matrix(design):
    inside = least_error(range(len(COUNTS)))
    beyond = least_error(range(-3, len(COUNTS) + 3))
    assert abs(inside - beyond) < 1e-9
    assert inside - 1e-6 < design.bound <= inside
    assert design.bound < design.value
    assert json.loads(design.text)["proof"]["rule"] == "grid"
    assert check(design.text).bound >= design.bound


def without_claims(document):
    document["claims"] |= {"bound": "0", "gap": str(10**6)}
    return document


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d: d["promises"].append(contraction("1")), "leakage and levels"),
        (lambda d: d["objective"].update(distortion=[distance("squared", "x", weight="2")]), "of all columns"),
        (lambda d: d.update(proof={"rule": "grid", "lines": {"rule": "closed"}}), "not one of lines"),
    ],
)
def test_what_the_rule_does_not_bound_is_refused(design, change, sentence):
    document = without_claims(json.loads(design.text))
    change(document)
    if len(document["promises"]) > 1:
        document["evidence"].append(None)
        document["claims"]["promises"].append([])
    with pytest.raises(Refused, match=sentence):
        check(canonical(document))


def test_a_matrix_is_not_bounded_as_noise(design):
    document = without_claims(json.loads(design.text))
    rows = [[str(int(x == y)) for y in range(len(COUNTS))] for x in range(len(COUNTS))]
    document["mechanism"]["form"] = "any"
    document["channel"] = {"form": "dense", "letters": len(COUNTS), "scale": "1", "rows": rows}
    document["promises"], document["evidence"] = [], []
    document["claims"]["promises"] = []
    with pytest.raises(Refused, match="this rule is for noise"):
        check(canonical(document))


def test_damaged_lines_prove_nothing_that_is_passed(design):
    best = Fraction(least_error(range(len(COUNTS)))) + Fraction(1, 10**9)
    document = without_claims(json.loads(design.text))
    for leaf in range(len(document["proof"]["lines"]["leaves"])):
        other = copy.deepcopy(document)
        for row in other["proof"]["lines"]["leaves"][leaf]["promises"]:
            _double(row)
        assert check(canonical(other)).bound <= best


def _double(node):
    """Every whole number of a part of a proof that is written as a text, twice as large."""
    for place, value in enumerate(node) if isinstance(node, list) else ():
        if isinstance(value, str):
            node[place] = str(2 * int(value))
        else:
            _double(value)
