"""Matrices of form (8): every vertex, the global optimum against enumeration and reference values, and its proof."""

import json
import random
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import exp as e
from math import log
from pathlib import Path

import numpy as np
import pytest
from contract import reread
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import LocalDP, MaximizeInformation, Pmf, Pram, Problem
from dalenius.core.arithmetic import exp
from dalenius.core.numbers import strict_json, up
from dalenius.documents import canonical
from dalenius.documents import checked as check
from dalenius.errors import NotCertified, Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.local_dp.pram import pram, tied, ties
from dalenius.solvers import exact
from dalenius.solvers.pram import shapes
from tests.effort import effort
from tests.mechanisms.local_dp.pram_vertices import shapes as derived_again
from tests.mechanisms.local_dp.pram_vertices import vertices

CASES = json.loads((Path(__file__).parents[2] / "oracle" / "002_pram.json").read_text())["cases"]
BITS = log(2)


def kinds(kind):
    return [pytest.param(c, id=c["name"]) for c in CASES if c["kind"] == kind]


def problem(p, alpha, **rest):
    letters = tuple(str(k) for k in range(len(p)))
    joint = Pmf.from_records({"X": letters}, [((x,), v) for x, v in zip(letters, p, strict=True)])
    return Problem(
        joint=joint,
        observe=("X",),
        release=("X",),
        form="pram",
        allow_inverted=True,
        objective=MaximizeInformation(("X",)),
        guarantees=(LocalDP(Fraction(str(alpha))),),
        **rest,
    )


def told(p, q):
    """I(X; Z) in nats, by its definition."""
    S = len(p)
    rows = [[float(q[x]) if x == y else float(1 - q[x]) / (S - 1) for y in range(S)] for x in range(S)]
    out = [sum(p[x] * rows[x][y] for x in range(S)) for y in range(S)]
    return sum(p[x] * r * log(r / out[y]) for x in range(S) for y, r in enumerate(rows[x]) if r and p[x])


def constraints(S, a):
    """C q <= c for every ordered pair, from the definition of the promise."""
    rows, right = [], []
    for k, l in permutations(range(S), 2):
        for row, c in (
            ({k: Fraction(S - 1), l: a}, a),
            ({k: -a * (S - 1), l: Fraction(-1)}, Fraction(-1)),
            *([({k: Fraction(-1), l: a}, a - 1)] if S > 2 else []),
        ):
            rows.append([row.get(x, Fraction(0)) for x in range(S)])
            right.append(c)
    for k in range(S):
        rows += [[Fraction(x == k) for x in range(S)], [-Fraction(x == k) for x in range(S)]]
        right += [Fraction(1), Fraction(0)]
    return rows, right


@pytest.mark.long
# --- the polytope ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", kinds("vertex_count"))
def test_number_of_vertices(case):
    found = vertices(case["inputs"]["S"], exp(Fraction(str(case["inputs"]["alpha"])))[0])
    assert len(found) == case["expected"]["n"]
    if case["inputs"]["S"] > 2:  # its entries are the closed forms of its regime, and every one of them occurs
        values, entries = case["expected"]["values"], {float(v) for q in found for v in q}
        regime = {"va", "vm", "vmin", "vmax"} if case["expected"]["prop32_valid"] else set(values) - {"vmax"}
        regime -= {"y"} if case["inputs"]["S"] == 3 else set()
        known = [float(values[k]) for k in regime]
        assert all(min(abs(v - w) for w in known) < 1e-12 for v in entries)
        assert all(min(abs(v - w) for w in entries) < 1e-12 for v in known)


@pytest.mark.parametrize("S", [1, 2, 3, 4, 7, 100])
@pytest.mark.parametrize("a", ["101/100", "3/2", "3", "6", "99", "1000"])
def test_shapes_are_those_of_a_second_derivation(S, a):
    found = shapes(S, Fraction(a))
    assert [tuple(shape) for shape in found] == [tuple(shape) for shape in derived_again(S, Fraction(a))]


def level(q):
    """The largest ratio in a column of the matrix that keeps letter x with q[x] and else draws the others evenly."""
    rest = [(1 - v) / (len(q) - 1) for v in q]
    columns = [[v if x == y else rest[x] for x in range(len(q))] for y, v in enumerate(q)]
    return max(max(column) / min(column) for column in columns)


@pytest.mark.long
@pytest.mark.parametrize("S", [2, 3, 4, 5])
@pytest.mark.parametrize("alpha", ["1/2", "13/10", "1", "2"][: effort(2, 4)])
def test_every_vertex_keeps_the_promise_and_is_one(S, alpha):
    a = exp(Fraction(alpha))[0]
    rows, right = constraints(S, a)
    for q in vertices(S, a):
        values = [sum(c * v for c, v in zip(row, q, strict=True)) for row in rows]
        assert all(v <= c for v, c in zip(values, right, strict=True))
        assert exact.rank([row for row, v, c in zip(rows, values, right, strict=True) if v == c]) == S


@pytest.mark.long
@given(st.integers(2, 7), st.fractions("1/10", 4), st.integers(0, 10**6))
@settings(deadline=None, max_examples=effort(5, 12))
def test_no_allowed_matrix_tells_more(S, alpha, seed):
    """Random allowed q, pushed towards the edge of the polytope, never beat the proved bound."""
    draw = random.Random(seed)
    counts = [draw.randrange(1, 10 ** draw.randrange(1, 4)) for _ in range(S)]
    design = pram(problem(counts, alpha))
    p = [n / sum(counts) for n in counts]
    a = float(e(alpha))
    for _ in range(40):
        q = [draw.random() for _ in range(S)]
        middle = [1 / S] * S
        low, high = 0.0, 1.0
        for _ in range(40):  # the farthest point from the middle that keeps the promise
            t = (low + high) / 2
            at = [m + t * (v - m) for v, m in zip(q, middle, strict=True)]
            b = [(1 - v) / (S - 1) for v in at]
            fine = all(
                at[k] <= a * b[l] and b[l] <= a * at[k] and (S == 2 or b[k] <= a * b[l])
                for k, l in permutations(range(S), 2)
            )
            low, high = (t, high) if fine else (low, t)
        at = [m + low * (v - m) for v, m in zip(q, middle, strict=True)]
        assert told(p, at) / BITS <= float(design.bound) + 1e-12


# --- the optimum -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", kinds("pram_global_opt"))
def test_global_optimum_of_equation_7(case):
    p = [f"{v:.12f}" for v in case["inputs"]["p"]]
    design = solve(problem(p, case["inputs"]["alpha"]))
    assert float(design.value) * BITS == pytest.approx(float(case["expected"]["mi_opt"]), abs=1e-12)
    assert design.gap <= design.value / 10**10
    assert [float(v) for v in design.channel.q] == pytest.approx(case["expected"]["q"], abs=1e-12)


@pytest.mark.parametrize("case", kinds("pram_global_opt_grouped"))
def test_table_4_corrected(case):
    top, bottom = case["inputs"]["p_rest"].split("/")
    p = [Fraction(case["inputs"]["p1"]), *[Fraction(top) / int(bottom)] * (case["inputs"]["S"] - 1)]
    design = solve(problem(p, case["inputs"]["alpha"]))
    assert float(design.value) * BITS == pytest.approx(float(case["expected"]["mi_opt"]), abs=1e-12)
    assert design.gap <= design.value / 10**10


@pytest.mark.long
@pytest.mark.parametrize("seed", range(effort(6, 12)))
def test_optimum_equals_the_best_of_all_vertices(seed):
    draw = random.Random(seed)
    S = draw.randrange(3, 9)
    alpha = Fraction(draw.randrange(1, 40), 10)
    counts = [int(1 + 1000 * draw.random() ** draw.choice([1, 6])) for _ in range(S)]
    design = pram(problem(counts, alpha))
    p = [n / sum(counts) for n in counts]
    best = max(told(p, q) for q in vertices(S, exp(alpha)[0]))
    assert float(design.value) * BITS == pytest.approx(best, abs=1e-12)
    assert design.gap <= design.value / 10**10


@pytest.mark.parametrize("S", [2, 3, *(pytest.param(S, marks=pytest.mark.slow) for S in (4, 5))])
@pytest.mark.parametrize("alpha", ["1/10", "1", "13/10", "5", "1/2", "2", "3", "8"][: effort(4, 8)])
def test_few_letters_are_closed_at_every_level(S, alpha):
    """Where one letter lies above and another below, the proof must tell apart which letter is the second one."""
    draw = random.Random(S)
    for counts in ([5, 3, 2, 2, 1][:S], [draw.randrange(1, 10 ** draw.randrange(1, 5)) for _ in range(S)]):
        design = pram(problem(counts, alpha))
        assert design.gap <= design.value / 10**10


@pytest.mark.parametrize("case", kinds("mi_eval"))
def test_information_and_level_of_any_matrix(case):
    p, q = case["inputs"]["p"], [Fraction(str(v)) for v in case["inputs"]["q"]]
    assert told(p, q) == pytest.approx(float(case["expected"]["mi"]), abs=1e-13)
    if "dp_level" in case["expected"]:
        assert log(level(q)) == pytest.approx(case["expected"]["dp_level"], abs=1e-12)


def test_uniform_letters_are_randomised_response():
    design = solve(problem([1] * 6, "3/2"))
    a = exp(Fraction(3, 2))[0]
    assert set(design.channel.q) == {a / (a + 5)}


@pytest.mark.slow
def test_a_thousand_letters_of_any_shape():
    for counts in ([1] * 1000, [10**9 // (k * k) for k in range(1, 1001)], [10**6, *[700] * 999]):
        for alpha in ("1/10", "3"):
            design = pram(problem(counts, alpha))
            assert design.gap <= design.value / 10**10


def test_letters_of_probability_zero_are_letters_all_the_same():
    letters = ("a", "b", "c", "d")
    joint = Pmf.from_records({"X": letters}, [(("a",), 3), (("c",), 1)])
    asked = problem([1] * 4, 1)
    design = solve(Problem(**{**asked.__dict__, "joint": joint}))
    assert len(design.channel.q) == 4
    assert level(list(design.channel.q)) <= exp(Fraction(1))[0]
    check(design.dumps())


def test_one_letter_tells_nothing():
    design = solve(problem([1], 1))
    assert (design.value, design.bound, design.channel.q) == (0, 0, (1,))
    check(design.dumps())


@pytest.mark.parametrize("alpha", ["0", "1/1000000", "20", "90"])
@pytest.mark.parametrize("p", [(1, 0), (1, 10**6), (0, 1, 1), (10**12, 322247336, 1)])
def test_extreme_levels_and_masses_are_closed(p, alpha):
    """Two entries of a vertex can be one double, and a letter may hardly ever be released."""
    design = pram(problem(p, alpha))
    check(design.dumps())
    assert design.gap < Fraction(1, 10**12)
    if alpha == "0":
        assert design.value == 0
    if alpha == "90":
        total = sum(p)
        assert float(design.value) == pytest.approx(-sum(n / total * log(n / total) for n in p if n) / BITS, abs=1e-12)


@pytest.mark.long
def test_ties_are_told():
    assert not [r for r in solve(problem([1] * 5, 1)).remarks if "reveal as much" in r]
    assert solve(problem([600, 600, *[1] * 7], 2)).remarks[0].startswith("2 matrices of this form say as much")
    assert "them, and others keep the values with the probabilities (" in solve(problem([3, 2], 1)).remarks[0]


@pytest.mark.parametrize(("counts", "alpha"), [([600, 600, *[1] * 7], 2), ([3, 2], 1), ([5, 5, 3, 1], 1)])
def test_what_is_tied_tells_as_much_and_is_all_there_is(counts, alpha):
    design = solve(problem(counts, alpha))
    found, q = tied(design.channel.q, counts), design.channel.q
    assert len(found) == ties(q, counts, shapes(len(q), exp(Fraction(alpha))[0]))
    p = [n / sum(counts) for n in counts]
    assert all(told(p, [float(v) for v in other]) == pytest.approx(told(p, [float(v) for v in q])) for other in found)


# --- what the paper prints -------------------------------------------------------------------------------------------
# --- the proof -------------------------------------------------------------------------------------------------------
@cache
def honest():
    return solve(problem([30, 10, 20, 8, 2, 4, 6, 10, 1, 9], "1/2")).dumps()


def spoilt(change):
    document = strict_json(honest())
    change(document)
    return json.dumps(document)


def lowered(document, key, by="1e-15"):
    document[key] = str(Fraction(document[key]) - Fraction(by))


def raised(document, key, by="1e-15"):
    document[key] = str(Fraction(document[key]) + Fraction(by))


CORRUPTIONS = {
    "bound lowered": (lambda d: lowered(d, "bound"), "bound"),
    "value raised": (lambda d: raised(d, "value"), "value"),
    "a value kept more often": (lambda d: d["channel"]["q"].__setitem__(0, "0.2"), "level of local_dp"),
    "an entry that is no probability": (lambda d: d["channel"]["q"].__setitem__(0, "1.2"), "not made of probabilities"),
    "a value less": (lambda d: d["channel"]["q"].pop(), "one probability for each value"),
    "a tree less": (lambda d: d["certificate"]["trees"].pop(), "one tree for each shape"),
    "a leaf less": (lambda d: d["certificate"]["trees"][0].pop(), "damaged|does not match"),
    "a leaf more": (lambda d: d["certificate"]["trees"][0].append([0]), "does not match"),
    "a leaf without base": (lambda d: d["certificate"]["trees"][0].__setitem__(-1, []), "names no base"),
    "one base for all": (
        lambda d: d["certificate"].update(trees=[[[0]] for _ in d["certificate"]["trees"]]),
        "the claimed bound",
    ),
    "a value branched twice": (
        lambda d: d["certificate"].update(trees=[[0, 0, [0], [0], [0]], *d["certificate"]["trees"][1:]]),
        "or one twice",
    ),
    "a base too short": (lambda d: d["certificate"]["bases"][0].pop(), "wrong length"),
    "another pmf": (lambda d: d["joint"]["pmf"][0].update(p="29/100"), "sum to one"),
    "an outcome twice": (lambda d: d["joint"]["pmf"].append(dict(d["joint"]["pmf"][0])), "unknown or twice"),
    "a stronger promise": (
        lambda d: d["guarantees"][0].update(promised={"local_dp": "49/100"}),
        "more than promised",
    ),
    "a promise with a metric": (
        lambda d: d["guarantees"][0].update(promised={"local_dp": "1/2", "metric": "m"}),
        "local_dp alone",
    ),
    "another objective": (lambda d: d.update(objective={"maximize": {"information": ["Y"]}}), "W = X alone"),
    "a kept column": (lambda d: d["mechanism"].update(keep=["X"]), "by itself"),
}


def test_two_columns_are_perturbed_together_on_their_product():
    draw = random.Random(1)
    variables = {"A": ("0", "1", "2"), "B": ("x", "y")}
    records = [((a, b), draw.randrange(1, 30)) for a in variables["A"] for b in variables["B"]]
    both = Problem(
        joint=Pmf.from_records(variables, records),
        observe=("A", "B"),
        release=("A", "B"),
        form="pram",
        objective=MaximizeInformation(("A", "B")),
        guarantees=(LocalDP(Fraction(1)),),
    )
    design, alone = solve(both), solve(problem([n for _, n in records], 1))
    assert isinstance(design.channel, Pram)
    assert design.value == alone.value
    assert np.allclose([float(v) for v in design.channel.q], [float(v) for v in alone.channel.q])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"guarantees": (LocalDP(Fraction(1)), LocalDP(Fraction(2)))}, "local_dp and nothing else"),
        ({"guarantees": (LocalDP(Fraction(1), delta=Fraction(1, 10)),)}, "without metric and delta"),
        ({"preserve_marginals": True}, "does not take preserve_marginals"),
        ({"form": None}, 'form = "pram"'),
    ],
)
def test_what_it_does_not_solve_is_said(change, message):
    asked = problem([1, 2], 1)
    with pytest.raises(Unsupported, match=message):
        pram(Problem(**{**asked.__dict__, **change}))


@pytest.mark.parametrize(
    ("S", "alpha", "realised"), [(5, 1.28, 1.770), (6, 1.5, 1.909), (9, 2, 2.372), (10, 2.18, 3.519)]
)
def test_proposition_3_2_as_printed_breaks_the_promise(S, alpha, realised):
    """Its condition log(S + sqrt(S (S - 4))) - log 2 admits these levels; the vertex of item 5 has a higher one."""
    assert alpha <= log(S + (S * (S - 4)) ** 0.5) - log(2)
    big, small = e(alpha) / (e(-alpha) + S - 1), e(-alpha) / (e(-alpha) + S - 1)
    q = [Fraction(big), *[Fraction(small)] * (S - 1)]
    document = json.loads(solve(problem([1] * S, alpha)).dumps())
    document["channel"]["stay"] = [str(v) for v in q]
    with pytest.raises(NotCertified, match=rf"level of local_dp is {int(realised)}\."):
        check(canonical(document))


def test_design_and_card_survive_their_files():
    design = solve(problem([5, 3, 2], 1))
    assert reread(design) == design
    verdict = check(design.card_text())
    assert verdict.rule == "privacy"
    assert up(verdict.kept.promises[0]["epsilon_nats"]) == design.proved[0]["epsilon_nats"]
