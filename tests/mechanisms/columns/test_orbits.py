"""Columns written once for all orders of the samples: the contract, the law by definition, false claims refused."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from contract import DesignContract, assert_kept, information

from dalenius.core import Pmf
from dalenius.core.numbers import down, exact, up
from dalenius.documents import checked as check
from dalenius.errors import SolverFailed
from dalenius.mechanisms.columns.disclosure import boxes as column_boxes
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.proving import proved
from dalenius.testing import disclosure, self_disclosure

# Exchangeable and not independent: P(type) = 5, 3, 9 and 3 out of 20.
TYPES = disclosure(
    Pmf.from_counts(
        dict.fromkeys(("X1", "X2", "X3"), ("0", "1")),
        np.array(list(product((0, 1), repeat=3))),
        [5, 1, 1, 3, 1, 3, 3, 3],
    ),
    ["X1", "X2", "X3"],
    ["X1", "X2", "X3"],
    [["X2"], ["X3"], ["X1"]],
)
SMALL = {
    "3 bits": self_disclosure(["7/10", "3/10"], 3),
    "4 bits": self_disclosure(["9/10", "1/10"], 4),
    "3 ternary samples": self_disclosure(["1/2", "1/3", "1/6"], 3),
    "alike, not independent, promises in another order": TYPES,
}


def by_orbits(problem, gap=1e-8):
    """The design with every column written once, however few they are."""
    most, column_boxes.MOST_IMAGES = column_boxes.MOST_IMAGES, 0
    try:
        channel, certificate, method = column_boxes.by_column_boxes(problem, gap=gap, seconds=60)
    finally:
        column_boxes.MOST_IMAGES = most
    return proved(problem, channel, [certificate], method=method)


class TestOrbitsContract(DesignContract):
    def problems(self):
        return {name: SMALL[name] for name in ("3 bits", "alike, not independent, promises in another order")}

    def infeasible(self):
        return {"a sample is kept": replace(counted((2, 2), 0), keep=("X1",))}

    def solve(self, problem):
        return disclose(problem) if problem.kept else by_orbits(problem)


def counted(sizes, seed):
    """Samples that are neither alike nor independent."""
    names = [f"X{k}" for k in range(1, len(sizes) + 1)]
    codes = np.array(list(np.ndindex(*sizes)))
    counts = np.random.default_rng(seed).integers(1, 30, len(codes)).tolist()
    joint = Pmf.from_counts({n: tuple(map(str, range(m))) for n, m in zip(names, sizes, strict=True)}, codes, counts)
    return disclosure(joint, names, names, [[n] for n in names])


@pytest.mark.long
@pytest.mark.parametrize("name", SMALL)
def test_the_optimum_is_that_of_dense_channels(name):
    problem = SMALL[name]
    best, orbits = disclose(problem, gap=1e-8), by_orbits(problem)
    assert orbits.kind == "orbits"
    assert orbits.value <= best.bound
    assert best.value <= orbits.bound
    assert float(orbits.gap) <= 1e-8


def test_the_rows_are_the_law_by_definition():
    """p(k, g | x) = weight / n! t(x dealt by g) / p(x), orders with the same roles added up."""
    channel = by_orbits(SMALL["4 bits"]).channel
    p = {x: Fraction(9 ** x.count(0), 10**4) for x in product((0, 1), repeat=4)}
    place = {y: k for k, y in enumerate(channel.letters())}
    rows = {x: [Fraction(0)] * len(place) for x in p}
    for k, column in enumerate(channel.columns):
        masses = dict(zip(column.words, column.masses, strict=True))
        for g in permutations(range(4)):  # sample i plays place g[i]
            letter = place[str(k), *(str(column.roles[j]) for j in g)]
            for x in p:
                word = tuple(x[g.index(j)] for j in range(4))
                rows[x][letter] += column.weight / 24 * masses.get(word, 0) / p[x]
    assert channel.rows == tuple(map(tuple, rows.values()))


def test_what_one_more_sample_gives_away_is_that_of_the_rows():
    problem = SMALL["alike, not independent, promises in another order"]
    design = by_orbits(problem)
    rows, figures = design.channel.rows, design.proved[0]["with_one_more_bits"]
    assert problem.guarantees[0].view == ("X2",)
    assert sorted(figures) == ["X1", "X3"]
    given = information(problem, rows, ["X1", "X2"]) - information(problem, rows, ["X1"])
    assert float(exact(figures["X1"])) == pytest.approx(given, abs=1e-12)
    assert given > 0.1


def test_letters_that_sort_otherwise_than_they_stand():
    problem = SMALL["3 ternary samples"]
    joint = Pmf.from_counts(
        dict.fromkeys(problem.observe, ("9", "10", "-1")), problem.pmf.support, problem.pmf.weights.tolist()
    )
    design = by_orbits(disclosure(joint, problem.observe, problem.observe, [[n] for n in problem.observe]))
    assert float(design.gap) <= 1e-8
    assert design.value == by_orbits(problem).value
    for guarantee in design.problem.guarantees:
        assert_kept(design.problem, design.channel.rows, guarantee)


@pytest.mark.long
def test_many_letters_leave_as_orbits_and_few_as_rows(monkeypatch):
    problem = self_disclosure(["3/5", "2/5"], 7)
    monkeypatch.setattr(column_boxes, "MOST_IMAGES", 500)
    wide = disclose(problem)
    assert wide.channel.form == "orbits"
    assert wide.channel.arrangements > 500
    assert float(wide.value) == pytest.approx(4.931146889, abs=1e-8)
    assert float(wide.gap) <= 1e-6
    assert len(json.dumps(wide.channel.to_json())) < 5_000
    assert "role" in wide.remarks[0]
    check(wide.dumps())
    assert disclose(self_disclosure(["7/10", "3/10"], 5)).channel.form is None


@pytest.mark.slow
@pytest.mark.parametrize(("q", "n", "bits"), [("1/10", 10, 2.247809646), ("3/10", 10, 6.719668795)])
def test_ten_bits_are_certified_end_to_end(q, n, bits):
    design = disclose(self_disclosure([1 - Fraction(q), Fraction(q)], n))
    assert float(design.value) == pytest.approx(bits, abs=1e-8)
    assert float(design.gap) <= 1e-6
    assert design.channel.arrangements > 100_000
    assert len(json.dumps(design.channel.to_json())) < 20_000
    text = design.dumps()
    # It declares a little more work than is allowed without a word; `verify` names --work.
    check(text, work=int(json.loads(text)["work"]))


def test_the_column_p_itself_is_one_of_the_orbits():
    """Fair bits: two columns of 2^(n - 1) words; the parity is told, and nothing else has to be."""
    design = by_orbits(self_disclosure(["1/2", "1/2"], 3))
    assert float(design.value) == pytest.approx(2.0, abs=1e-9)


def test_where_an_outcome_is_impossible_rows_are_written_or_the_optimum_is_told():
    problem = SMALL["3 bits"]
    joint = Pmf.from_counts(problem.pmf.variables, problem.pmf.support[1:], [1, 1, 2, 1, 2, 2, 3])
    problem = replace(problem, joint=joint)
    channel, certificate, _ = column_boxes.by_column_boxes(problem, gap=1e-8, seconds=60)
    assert (channel.form, certificate.kind) == (None, "orbits")
    with pytest.raises(SolverFailed, match=r"lies between \S+ and \S+ bits, but its recipe has too many columns"):
        by_orbits(problem)


# --- false claims -----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def honest():
    return json.loads(by_orbits(SMALL["4 bits"]).dumps())


def columns(document):
    return document["channel"]["columns"]


def swapped_words(document):
    first = columns(document)[0][1]
    first[0][0], first[1][0] = first[1][0], first[0][0]


def moved_weight(document):
    columns(document)[0][0] = str(exact(columns(document)[0][0]) - Fraction(1, 10**12))
    columns(document)[1][0] = str(exact(columns(document)[1][0]) + Fraction(1, 10**12))


PLANTED = {
    "weights moved": (moved_weight, "do not have the mass of the samples"),
    "weights too large": (lambda d: columns(d)[0].__setitem__(0, "2"), "weights are not a pmf"),
    "a weight below zero": (lambda d: columns(d)[0].__setitem__(0, "-1"), "weights are not a pmf"),
    "a mass lost": (lambda d: columns(d)[0][1][0].__setitem__(0, "0"), "a column is not a pmf"),
    "masses swapped": (swapped_words, "differs from the product|do not have the mass"),
    "a word twice": (lambda d: columns(d)[0][1].append(columns(d)[0][1][0]), "stands twice"),
    "a word too short": (lambda d: columns(d)[0][1][0][1].pop(), "a word is damaged"),
    "a letter below zero": (lambda d: columns(d)[0][1][0][1].__setitem__(0, -1), "a word is damaged"),
    "a letter too many": (lambda d: columns(d)[0][1][0][1].__setitem__(0, 2), "the file is damaged"),
    "a column lost": (lambda d: columns(d).pop(), "weights are not a pmf"),
    "a role lost": (lambda d: d["channel"]["output"]["Y_X1"].pop(), "roles are not those"),
    "a column unnamed": (lambda d: d["channel"]["output"]["Y"].pop(), "not numbered"),
    "another list of values": (lambda d: d["channel"]["inputs"].update(X1=["0", "2"]), "different values"),
    "one more key": (lambda d: d["channel"].update(rows=[]), "other keys"),
    "the law skewed": (
        lambda d: d["joint"]["pmf"][0].update(p="1") or d["joint"]["pmf"][1].update(p="0"),
        "sum to one",
    ),
    "a joint view": (lambda d: d["guarantees"][0]["promised"].update(independent=["X1", "X2"]), "single samples only"),
    "a sample free": (lambda d: d["guarantees"].pop(), "not one for each sample"),
    "another target": (lambda d: d["objective"]["maximize"].update(information=["X1"]), "about all samples"),
    "a kept sample": (lambda d: d["mechanism"].update(keep=["X1"]), "nothing can be kept"),
    "a limit": (lambda d: d.update(limits=[]), "not proved here"),
    "value raised": (lambda d: d.update(value=up(exact(d["value"]) + Fraction(1, 10**12))), "value .* is not reached"),
    "bound lowered": (lambda d: d.update(bound=down(exact(d["value"]) - Fraction(1, 10**9))), "bound .* is not proved"),
    "one more sample": (
        lambda d: d["guarantees"][0]["proved"]["with_one_more_bits"].update(X2="0"),
        "figure of guarantee 1 is not proved",
    ),
}
