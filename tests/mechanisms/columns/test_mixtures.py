"""Mixtures of independence, local DP (plain and metric) and information privacy, against brute force."""

import copy
import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import exp, log

import numpy as np
import pytest
from contract import DesignContract, assert_kept

from dalenius import verify
from dalenius.core import Independent, InformationPrivacy, Leakage, LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.core.numbers import exact
from dalenius.documents import canonical
from dalenius.documents import checked as check
from dalenius.errors import InputError, NotCertified, ProblemFileError
from dalenius.mechanisms import solve
from dalenius.solvers import maximise, vertices
from dalenius.solvers.cells import divergence
from dalenius.testing import binary_tradeoff

VIEWS = [Independent(f"X{i}") for i in (1, 2, 3)]
HAMMING = [[(i ^ j).bit_count() for j in range(8)] for i in range(8)]
LINE = [[abs(i - j) for j in range(8)] for i in range(8)]


def mixed(guarantees, *, letters=2, about=("W",), seed=0, bits=3, impossible=()):
    """Random counts over bits, a W of so many letters and a binary S; some inputs may never occur."""
    draw = random.Random(seed)
    variables = {f"X{i}": ("0", "1") for i in range(1, bits + 1)}
    names = tuple(variables)
    variables |= {"W": tuple(map(str, range(letters))), "S": ("0", "1")}
    cells = list(product(*variables.values()))
    counts = [0 if "".join(c[:bits]) in impossible else draw.randrange(1, 1000) for c in cells]
    joint = Pmf.from_records(variables, zip(cells, counts, strict=True))
    return Problem(
        joint=joint, observe=names, output="Y", objective=MaximizeInformation(about), guarantees=tuple(guarantees)
    )


class TestMixturesKeepTheContract(DesignContract):
    def problems(self):
        first = VIEWS[:2]
        return {
            "independence and local_dp": mixed([*VIEWS, LocalDP(1)]),
            "with an impossible input": mixed([*first, LocalDP("1/2")], impossible=("101",)),
            "information privacy": mixed([VIEWS[0], InformationPrivacy("S", "1/10")], letters=3),
            "all three": mixed([*first, LocalDP(1), InformationPrivacy("W", "1/5")]),
            "metric": mixed([*first, LocalDP("1/3", HAMMING)]),
        }

    def infeasible(self):
        kept = mixed(VIEWS)
        return {"kept": replace(kept, keep=("S",))}


# --- brute force -----------------------------------------------------------------------------------------------------
def extreme_optimum(problem, rows):
    """The LP over all extreme columns of {c >= 0, rows . c >= 0}, listed exactly as vertices with slack variables."""
    joint = problem.pmf
    counts = joint.counts(problem.inputs, problem.objective.names)
    p = [Fraction(int(n), joint.total) for n in counts.sum(axis=1)]
    n, m = len(p), len(rows)
    system = [[*([Fraction(1)] * n), *([Fraction(0)] * m)]]
    system += [[*row, *(Fraction(-(i == k)) for k in range(m))] for i, row in enumerate(rows)]
    columns = np.array([[float(v) for v in c[:n]] for c in vertices(system, [1] + [0] * m, limit=10**6)])
    W = (counts / joint.total).astype(float)
    u = columns @ W
    mass = u.sum(axis=1)
    worth = mass * divergence(u / mass[:, None], W.sum(axis=0))
    return maximise(worth, columns.T, np.ones(n)).objective


def local_rows(n, ratio):
    return [
        [Fraction(-1) if x == a else ratio if x == b else Fraction(0) for x in range(n)]
        for a in range(n)
        for b in range(n)
        if a != b
    ]


def independent_rows(problem):
    p = problem.pmf.counts(problem.inputs)
    rows = []
    for k in range(len(problem.observe)):
        label = np.array([codes[k] for codes in problem.pmf.grouped(problem.inputs)[0]])
        share = Fraction(int(p[label == 1].sum()), int(p.sum()))
        row = [int(n) * (Fraction(int(bit)) - share) for n, bit in zip(p, label, strict=True)]
        rows += [row, [-v for v in row]]
    return rows


@pytest.mark.long
@pytest.mark.parametrize("letters", [2, 3])
@pytest.mark.parametrize("views", [False, True])
def test_local_dp_equals_the_program_over_all_extreme_columns(letters, views):
    ratio = Fraction(3)
    bits = 3 if views else 2
    epsilon = Fraction(repr(log(3)))
    problem = mixed([*(VIEWS if views else []), LocalDP(epsilon)], letters=letters, bits=bits)
    if views:
        problem = replace(problem, observe=("X1", "X2"), guarantees=(*VIEWS[:2], LocalDP(epsilon)))
    rows = local_rows(4, ratio) + (independent_rows(problem) if views else [])
    best = extreme_optimum(problem, rows)
    design = solve(problem, gap=1e-8)
    assert float(design.value) == pytest.approx(best, abs=1e-8)
    assert float(design.value) <= best + 1e-12
    assert float(design.bound) >= best - 1e-12


@pytest.fixture(scope="module")
def twelve():
    """Twelve letters of W on four inputs: two of their posteriors give the other ten."""
    problem = mixed([LocalDP(Fraction(repr(log(3))))], letters=12, bits=3)
    problem = replace(problem, observe=("X1", "X2"), guarantees=(VIEWS[0], *problem.guarantees))
    return problem, solve(problem, gap=1e-4)


def test_many_letters_on_few_inputs_are_closed_by_a_few_of_them(twelve):
    problem, design = twelve
    given = design.certificate.proof["relations"]
    assert design.kind == "ranges"
    assert (len(given), {len(parts) for _, parts, _ in given}) == (10, {2})
    rows = independent_rows(replace(problem, observe=("X1", "X2")))[:2]
    best = extreme_optimum(problem, local_rows(4, Fraction(3)) + rows)
    assert float(design.value) <= best + 1e-12 <= float(design.bound) + 2e-12
    assert float(design.gap) < 1e-4


def test_information_privacy_equals_the_program_over_all_extreme_columns():
    problem = mixed([InformationPrivacy("S", "1/20")], bits=2)
    counts = problem.pmf.counts(problem.inputs, ("S",))
    total, r, rows = problem.pmf.total, Fraction(exp(0.05)), []
    for s in range(2):
        alone = Fraction(int(counts[:, s].sum()), total)
        both = [(Fraction(int(c[s]), total), Fraction(int(c.sum()), total)) for c in counts]
        rows += [[r * alone * p - q for q, p in both], [r * q - alone * p for q, p in both]]
    design = solve(problem, gap=1e-8)
    assert float(design.value) == pytest.approx(extreme_optimum(problem, rows), abs=1e-8)


def test_a_metric_equals_the_program_over_all_extreme_columns():
    apart = [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]
    problem = mixed([LocalDP("1/2", apart)], bits=2)
    rows = [
        [Fraction(-1) if x == a else Fraction(exp(apart[a][b] / 2)) if x == b else Fraction(0) for x in range(4)]
        for a in range(4)
        for b in range(4)
        if a != b
    ]
    design = solve(problem, gap=1e-8)
    assert float(design.value) == pytest.approx(extreme_optimum(problem, rows), abs=1e-8)


@pytest.mark.long
# --- limits of epsilon -----------------------------------------------------------------------------------------------
def test_more_epsilon_tells_more_and_the_ends_are_known():
    nothing = solve(mixed([*VIEWS, LocalDP(0)]))
    assert nothing.value == nothing.bound == 0
    designs = [solve(mixed([*VIEWS, LocalDP(e)])) for e in ("1/100", "1/2", "1", "3", "8", "20")]
    for less, more in pairwise(designs):
        assert less.value < more.bound
        assert less.value < more.value
    alone = solve(mixed(VIEWS))
    assert abs(designs[-1].value - alone.value) < 2e-6
    assert designs[-1].value <= alone.bound


def test_secrets_at_epsilon_zero_are_independent():
    promised, view = mixed([InformationPrivacy("S", 0)]), mixed([Independent("S")])
    assert abs(solve(promised).value - solve(view).value) <= 1e-6


def test_all_the_input_under_local_dp_has_two_valued_columns():
    problem = mixed([LocalDP(1)], about=("X1", "X2", "X3"))
    design = solve(problem)
    assert design.kind == "subsets"
    assert design.gap < 1e-11
    for column in zip(*design.channel.rows, strict=True):
        assert len(set(column)) == 2
        assert float(log(max(column) / min(column))) == pytest.approx(1, abs=1e-12)
    assert float(design.value) < 0.177886551284301  # the ceiling at epsilon 1


@pytest.mark.long
@pytest.mark.parametrize("about", [("X1", "X2", "X3"), ("W",)])
def test_many_letters_still_get_a_channel_and_a_bound(about):
    design = solve(mixed([VIEWS[0], LocalDP(1)], letters=12, about=about), gap=1e-4, seconds=0.5)
    assert 0 < design.value < design.bound < Fraction("0.17789")


def test_letters_with_the_same_posterior_are_merged():
    base = mixed([*VIEWS, LocalDP(1)])
    records = []
    for codes, n in zip(base.pmf.support.tolist(), base.pmf.weights.tolist(), strict=True):
        x, w, s = codes[:3], codes[3], codes[4]
        records += [((*map(str, x), str(w + 2 * k), str(s)), n) for k in range(5)]
    variables = dict(base.pmf.variables) | {"W": tuple(map(str, range(10)))}
    design = solve(replace(base, joint=Pmf.from_records(variables, records)))
    assert design.kind == "cells"
    assert abs(design.value - solve(base).value) <= 2e-6


def test_rows_of_impossible_inputs_keep_a_metric():
    problem = mixed([LocalDP("1/2", LINE)], impossible=("010", "011"))
    design = solve(problem)
    assert design.gap < 1e-6
    assert_kept(problem, design.channel.rows, problem.guarantees[0])


# --- the metric file -------------------------------------------------------------------------------------------------
def metric_files(folder, distances, inputs=None):
    problem = mixed([])
    (folder / "joint.json").write_text(json.dumps(problem.pmf.to_json()))
    inputs = inputs or {n: ["0", "1"] for n in problem.observe}
    (folder / "distance.json").write_text(json.dumps({"inputs": inputs, "distances": distances}))
    (folder / "problem.toml").write_text(
        '[source]\npmf = "joint.json"\n[mechanism]\nobserve = ["X1", "X2", "X3"]\noutput = "Y"\n'
        '[objective]\nmaximize = { information = ["W"] }\n[[guarantee]]\nlocal_dp = 0.5\nmetric = "distance.json"\n'
    )
    return folder / "problem.toml"


@pytest.mark.parametrize(
    ("distances", "inputs", "message"),
    [
        (LINE[:4], None, "one row of distances for each input outcome"),
        ([[0, 1], [1, 0]], None, "the metric has 2 rows, and there are 8 input outcomes"),
        ([[1] * 8] * 8, None, "symmetric and 0 on the diagonal"),
        ([[0, -1], [-1, 0]], None, "cannot be negative"),
        (7, None, "not a list of rows"),
        (LINE, {"X1": ["0", "1"]}, "what the mechanism observes is"),
    ],
)
def test_a_bad_metric_is_refused(tmp_path, distances, inputs, message):
    with pytest.raises(ProblemFileError, match=message):
        solve(Problem.from_file(metric_files(tmp_path, distances, inputs)))


def test_a_metric_that_is_not_one_is_refused_at_birth():
    with pytest.raises(InputError, match="symmetric"):
        LocalDP(1, [[0, 1], [2, 0]])


# --- false proofs ----------------------------------------------------------------------------------------------------
HONEST = {
    "cells with z": lambda: mixed([*VIEWS, LocalDP(1)]),
    "cells with prices": lambda: mixed([InformationPrivacy("S", "1/20")]),
    "cells with pairs": lambda: mixed([LocalDP("1/2", LINE)]),
    "subsets": lambda: mixed([LocalDP(1)], about=("X1", "X2", "X3")),
    "ranges": lambda: mixed([VIEWS[0], LocalDP("1/2")], letters=5),
}


@pytest.fixture(scope="module")
def honest():
    return {name: json.loads(solve(build(), gap=1e-5).dumps()) for name, build in HONEST.items()}


def numbers(node, path=()):
    """Every number of a proof, with the way to it."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from numbers(value, (*path, key))
    elif path and path[-1] != "kind":
        yield path, node


def mutated(proof, draw):
    proof = copy.deepcopy(proof)
    places = list(numbers(proof))
    if not places:
        return proof
    path, value = draw.choice(places)
    holder = proof
    for key in path[:-1]:
        holder = holder[key]
    if isinstance(value, int):
        holder[path[-1]] = value + draw.choice([-1, 1, 2])
    elif "/" in value or "." in value:
        holder[path[-1]] = str(exact(value) * Fraction(draw.randrange(0, 3000), 1000))
    else:
        holder[path[-1]] = str(int(value) + draw.randrange(-(2**50), 2**50))
    return proof


def corrupt_price(d):
    d["certificate"]["cuts"][0][1][0] = "-1"


def corrupt_pair(d):
    d["certificate"]["cuts"][0].append([[0, 1, "-5"]])


@pytest.mark.long
def test_a_file_of_many_promises_is_compared_and_not_called_too_long():
    """The work that the design declares for its own promise was the reason that was told."""
    design = solve(binary_tradeoff("1/10", "1/20"))
    problem = design.problem
    more = tuple(Leakage(("S",), Fraction(k, 1000)) for k in range(900, 1800))
    with pytest.raises(NotCertified, match="the file asks that") as refused:
        verify(design, problem=replace(problem, guarantees=(*problem.guarantees, *more)))
    assert "operations" not in str(refused.value)


def test_a_metric_file_is_read_carried_and_compared(tmp_path):
    file = metric_files(tmp_path, LINE)
    design = solve(Problem.from_file(file))
    document = json.loads(design.dumps())
    assert document["promises"][0]["metric"][0] == [str(d) for d in LINE[0]]
    verify(design, problem=file)
    metric_files(tmp_path, [[2 * d for d in row] for row in LINE])
    with pytest.raises(NotCertified, match="was made for another problem file"):
        verify(design, problem=file)
    document["promises"][0]["metric"] = [["1/2" if a != b else "0" for b in range(8)] for a in range(8)]
    with pytest.raises(NotCertified, match="the level of local_dp"):
        check(canonical(document))
