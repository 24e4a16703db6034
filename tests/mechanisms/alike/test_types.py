"""Designs by types: the same optimum as over outcomes, exact independence by brute force, false claims refused."""

import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from contract import DesignContract, assert_kept, information, post_processing, reread
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Channel, Design, Independent, MaximizeInformation, Pmf, Problem, Types
from dalenius.core.arithmetic import share_log2, times_log2
from dalenius.core.multinomial import list_types, type_law
from dalenius.core.numbers import exact, strict_json
from dalenius.core.samples import Samples
from dalenius.documents import checked as check
from dalenius.errors import InputError, InvalidChannel, MismatchError, Unsupported
from dalenius.evidence import opened
from dalenius.ledger import Ledger
from dalenius.mechanisms import solve
from dalenius.mechanisms.alike.types import disclose_types
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.forms import form_of
from dalenius.sampling import Key, Sampler, Stream
from dalenius.solvers.balancing import balanced
from dalenius.solvers.chords import envelope
from dalenius.tables import Coded, conditionally_iid
from dalenius.testing import alike, disclosure
from tests.effort import effort

CASES = json.loads((Path(__file__).parents[2] / "oracle" / "000_asymptotics.json").read_text(encoding="utf-8"))["cases"]
CASES = [c for c in CASES if c["kind"] == "I_s_cond_iid_binary"]
TABLE_1 = (["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]])
TERNARY = (["1/3", "2/3"], [["1/2", "1/4", "1/4"], ["1/5", "1/5", "3/5"]])
THREE = (["1/5", "3/10", "1/2"], [["4/5", "1/5"], ["1/2", "1/2"], ["1/10", "9/10"]])


def written_out(problem: Problem) -> Problem:
    """The same problem over all outcomes of the samples."""
    law = problem.law
    assert isinstance(law, Samples)
    joint = conditionally_iid(law.prior, law.kernel, law.hidden, law.n)
    return disclosure(joint, law.names, ["W"], [[x] for x in law.names])


def assert_private(design: Design) -> None:
    """Every sample is independent of Y, by definition, over the expanded channel."""
    joint = written_out(design.problem).pmf
    channel = design.channel
    for i, _ in enumerate(channel.inputs):
        both, left, right = Counter(), Counter(), Counter()
        for (_, *x), weight in zip(joint.support.tolist(), joint.weights.tolist(), strict=True):
            for y, v in enumerate(channel.rows[channel.row_of(x)]):
                mass = Fraction(weight, joint.total) * v
                both[x[i], y] += mass
                left[x[i]] += mass
                right[y] += mass
        assert all(both[a, y] == left[a] * right[y] for a in left for y in right)


def renamed(problem: Problem, order: int) -> Problem:
    """The same law with the letters of W and of a sample renamed and in another order."""
    law, draw = problem.law, random.Random(order)
    assert isinstance(law, Samples)
    w, x = (draw.sample(range(k), k) for k in (len(law.masses), len(law.letters)))
    hidden, letters = {law.hidden: tuple(f"w{k}" for k in w)}, {law.sample: tuple(f"x{k}" for k in x)}
    prior = Pmf.from_records(hidden, [((f"w{k}",), law.masses[k]) for k in w])
    kernel = Channel(hidden, letters, tuple(tuple(law.kernel.rows[k][a] for a in x) for k in w))
    return replace(problem, joint=Samples(law.hidden, prior, kernel, law.n))


class TestContract(DesignContract):
    """The contract; what it computes from a pmf is computed from all outcomes of the samples."""

    def problems(self):
        impossible = (["1/2", "1/2"], [["1/2", "0", "1/2"], ["1/4", "0", "3/4"]])
        return {
            "bits": alike(*TABLE_1, 5),
            "ternary": alike(*TERNARY, 3),
            "three values": alike(*THREE, 4),
            "a value that never occurs": alike(*impossible, 3),
        }

    def solve(self, problem):
        return disclose_types(problem, gap=1e-7)

    test_what_cannot_be_promised_is_refused_with_a_figure = None  # a constant is always private

    def test_every_promise_is_kept_exactly(self, problem):
        design = self.solved(problem)
        assert len(design.proved) == len(problem.guarantees)
        assert_private(design)

    def test_value_and_bound_enclose_the_optimum(self, problem):
        design = self.solved(problem)
        assert design.value <= design.bound
        told = information(written_out(problem), design.channel.rows, ["W"])
        assert float(design.value) == pytest.approx(told, abs=1e-12)

    def test_rows_of_impossible_inputs_repeat_the_output_pmf(self, problem):
        channel, joint = self.solved(problem).channel, written_out(problem).pmf
        p = dict(zip(*(v.tolist() for v in _rows(channel, joint)), strict=True))
        pmf = tuple(
            sum(Fraction(n, joint.total) * channel.rows[x][y] for x, n in p.items()) for y in range(channel.shape[1])
        )
        assert all(row == pmf for x, row in enumerate(channel.rows) if x not in p)

    @pytest.mark.parametrize("seed", range(3))
    def test_post_processing_keeps_the_promises_and_adds_nothing(self, problem, seed):
        design, dense = self.solved(problem), written_out(problem)
        channel = Channel(design.channel.inputs, design.channel.output, design.channel.rows)
        after = channel.then(post_processing(design.channel.output, seed))
        for guarantee in dense.guarantees:
            assert_kept(dense, after.rows, guarantee)
        assert information(dense, after.rows, ["W"]) <= float(design.value) + 1e-12

    @pytest.mark.parametrize("order", range(effort(2, 4)))
    def test_relabelling_letters_does_not_change_the_figures(self, problem, order):
        here, there = self.solved(problem), self.solve(renamed(problem, order))
        within = max(here.gap, there.gap) + Fraction(1, 10**20)
        assert abs(here.value - there.value) <= within
        assert abs(here.bound - there.bound) <= within


@pytest.mark.parametrize("as_card", [False, True])
def test_a_ledger_charges_all_samples_and_an_audit_measures_them(as_card, tmp_path):
    """A design was called damaged, and of its card one sample was counted: 1 bit of 1.667 that all tell."""
    design = disclose_types(alike(*TABLE_1, 4), gap=1e-7)
    text = design.card_text() if as_card else design.dumps()
    book = Ledger.create(tmp_path / "L", ["dalenius=9", "leakage:X1=9"])
    book.add(text, dataset="people", rows=400)
    (tmp_path / "file.json").write_text(text)
    audited = opened(tmp_path / "file.json").measured().to_json()
    spent = {line: float(Fraction(figure)) for line, figure in book.status()["spent"].items()}
    assert spent["dalenius"] == 4  # of 400 rows, the most that four bits of one hold
    assert spent["leakage:X1"] == 1
    assert audited["capacity_bits"][1] > 1.6
    alone = Ledger.create(tmp_path / "one", ["dalenius=9"])
    alone.add(text, dataset="people", rows=1)
    assert float(Fraction(alone.status()["spent"]["dalenius"])) >= audited["capacity_bits"][0]
    if not as_card:
        assert audited["per_input_bits"]["X1"][1] == 0  # under the stated model each sample by itself is private


def _rows(channel: Types, joint: Pmf) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the channel that can happen, and their weights."""
    codes, counts = joint.grouped(tuple(channel.inputs))[0], joint.counts(tuple(channel.inputs))
    return np.array([channel.row_of(x) for x in codes]), counts


@st.composite
def models(draw, letters=2, values=2):
    counts = st.lists(st.integers(0, 6), min_size=letters, max_size=letters).filter(any)
    rows = [draw(counts) for _ in range(values)]
    prior = draw(st.lists(st.integers(1, 6), min_size=values, max_size=values))
    return [Fraction(p, sum(prior)) for p in prior], [[Fraction(k, sum(r)) for k in r] for r in rows]


@pytest.mark.long
# --- the optimum -----------------------------------------------------------------------------------------------------
@given(models(), st.integers(1, 4))
@settings(deadline=None, max_examples=effort(5, 20))
def test_types_lose_nothing_and_keep_every_promise(model, n):
    design = disclose_types(alike(*model, n), gap=1e-9)
    dense = disclose(written_out(design.problem))
    assert abs(design.value - dense.value) <= design.gap + dense.gap + Fraction(1, 10**12)
    assert design.gap <= Fraction(1, 10**9)
    assert_private(design)
    assert check(design.dumps()).bound <= design.bound


@pytest.mark.long
@pytest.mark.parametrize(("model", "n"), [(TERNARY, 1), (TERNARY, 2), (TERNARY, 4), (THREE, 3)])
def test_more_letters_lose_nothing(model, n):
    design = disclose_types(alike(*model, n), gap=1e-5)
    dense = disclose(written_out(design.problem), gap=1e-6)
    assert design.value <= dense.bound
    assert dense.value <= design.bound
    assert design.gap <= Fraction(1, 10**5)
    assert_private(design)


@pytest.mark.long
@pytest.mark.parametrize("case", [c for c in CASES if c["inputs"]["n"] <= effort(50, 100)], ids=lambda c: c["name"])
def test_reference_values(case):
    i = case["inputs"]
    kernel = [[1 - Fraction(x), Fraction(x)] for x in i["p_x1_given_w"]]
    design = disclose_types(alike(i["p_w"], kernel, i["n"]), gap=1e-6 if len(i["p_w"]) > 2 else 1e-9)
    expected = Fraction(case["expected"])
    assert design.value - Fraction(1, 10**11) <= expected <= design.bound + Fraction(1, 10**11)
    assert design.gap <= Fraction(1, 10 ** (6 if len(i["p_w"]) > 2 else 9))


@pytest.mark.slow
def test_four_hundred_samples_are_proved_to_a_billionth_of_a_bit():
    design = solve(alike(*TABLE_1, 400), gap=1e-9)
    assert design.gap <= Fraction(1, 10**9)
    assert float(design.value) == pytest.approx(0.0011388290359992, abs=1e-9)
    assert design.proved[0]["leakage_bits"] == "0"
    assert reread(design) == design


@pytest.mark.slow
def test_fifteen_ternary_samples():
    design = disclose_types(alike(*TERNARY, 15), gap=1e-5)
    assert design.gap <= Fraction(1, 10**5)
    assert design.kind == "cells"


def test_what_is_constant_tells_nothing():
    for model in ((["1"], [["1/2", "1/2"]]), (["1/2", "1/2"], [["1", "0"], ["1", "0"]]), (["1/2", "1/2"], [[1], [1]])):
        assert disclose_types(alike(*model, 3)).bound == 0


def test_types_that_cannot_occur_repeat_the_output_pmf():
    design = disclose_types(alike(["1/2", "1/2"], [["1/2", "0", "1/2"], ["1/4", "0", "3/4"]], 2), gap=1e-6)
    law = design.problem.law
    types, weights, total = type_law(law.masses, law.kernel.rows, law.n)
    rows = design.channel.of_type
    pmf = [
        sum(Fraction(sum(w), total) * row[y] for w, row in zip(weights, rows, strict=True)) for y in range(len(rows[0]))
    ]
    for t, row in zip(types, rows, strict=True):
        if t[1]:
            assert list(row) == pmf


# --- what the checker refuses ----------------------------------------------------------------------------------------
def documents():
    return json.loads(disclose_types(alike(*TABLE_1, 6), gap=1e-9).dumps())


def _entry(document, change):
    row = document["channel"]["rows"][2]
    (a, b) = list(row)[:2]
    row[a], row[b] = str(exact(row[a]) - change), str(exact(row[b]) + change)


CORRUPTIONS = {
    "entry moved": lambda d: _entry(d, Fraction(1, 10**15)),
    "bound lowered": lambda d: d.update(bound=str(exact(d["value"]) - Fraction(1, 10**9))),
    "value raised": lambda d: d.update(value=str(exact(d["bound"]) + Fraction(1, 10**12))),
    "row dropped": lambda d: d["channel"]["rows"].pop(),
    "other n": lambda d: d["channel"].update(n=5),
    "other n in the model": lambda d: d["joint"]["conditionally_iid"].update(n=7),
    "other prior": lambda d: d["joint"]["conditionally_iid"]["prior"]["pmf"][0].update(p="1/2"),
    "other kernel": lambda d: d["joint"]["conditionally_iid"]["kernel"].update(rows=[["4/5", "1/5"], ["1/10", "9/10"]]),
    "kernel no pmf": lambda d: d["joint"]["conditionally_iid"]["kernel"].update(rows=[["1", "1"], ["1", "0"]]),
    "more keys": lambda d: d["joint"].update(pmf=[]),
    "unknown letter": lambda d: d["channel"]["rows"][0].update(zz="0"),
    "joint view": lambda d: d["guarantees"][0]["promised"].update(independent=["X", "another X"]),
    "hidden view": lambda d: d["guarantees"][0]["promised"].update(independent=["W"]),
    "kept": lambda d: d["mechanism"].update(keep=["X"]),
    "cuts lowered, bound lowered": lambda d: (
        [cut[0].__setitem__(0, str(int(cut[0][0]) - 2**50)) for cut in d["certificate"]["cuts"]],
        d.update(bound=str(exact(d["value"]) - Fraction(1, 10**6)), value=str(exact(d["value"]) - Fraction(1, 10**5))),
    ),
}


def test_long_numbers_give_the_same_figures_as_short_ones():
    """The checker looks at the first bits of numbers of thousands of digits; the figures only widen."""
    ends, large = times_log2(Fraction(3, 7), Fraction(15, 14)), 10**900 + 1
    low, high = share_log2(3 * large, 7 * large, (3 * large, 5), (2 * large, 7))
    assert low <= ends[0] <= ends[1] <= high
    assert high - low < 100


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"observe": ("X", "W")}, "observes the samples alone"),
        ({"guarantees": (Independent(("W",)),)}, "protects each single sample"),
        ({"guarantees": (Independent(("W", "X")),)}, "protects each single sample"),
        ({"guarantees": ()}, "nothing is promised"),
        ({"objective": MaximizeInformation(("X",))}, "its objective is maximize"),
        ({"keep": ("W",)}, "does not take keep"),
        ({"output": None, "release": ("X",)}, "fresh list of values"),
    ],
)
def test_other_problems_are_refused_with_the_reason(change, message):
    with pytest.raises(Unsupported, match=message):
        solve(replace(alike(*TABLE_1, 4), **change))


def test_samples_are_checked_at_birth():
    law = alike(*TABLE_1, 2).law
    for change, message in (
        ({"n": 0}, "0 samples of 2 values have no type"),
        ({"hidden": "V"}, "the stated distribution should be about 'V' alone"),
        ({"kernel": Channel.constant({"V": ("0", "1")}, "X")}, "a recipe from 'W'"),
        ({"n": 10**7}, "more than 200,000 types"),
    ):
        with pytest.raises(InputError, match=message):
            replace(law, **change)
    with pytest.raises(MismatchError, match="not written out"):
        _ = alike(*TABLE_1, 2).pmf


def test_numbers_that_cannot_be_written_are_refused_before_the_search_ends():
    kernel = [[Fraction(1, 10**9 + 7), 1 - Fraction(1, 10**9 + 7)], ["1/2", "1/2"]]
    with pytest.raises(Unsupported, match="digits, more than 3,900"):
        disclose_types(alike(["1/2", "1/2"], kernel, 500))


# --- the form --------------------------------------------------------------------------------------------------------
def test_the_form_is_read_strictly_and_says_the_same_as_its_rows():
    channel = disclose_types(alike(*TABLE_1, 3)).channel
    document = channel.to_json()
    assert Types.from_json(strict_json(json.dumps(document))) == channel
    for x, row in zip(product(range(2), repeat=3), channel.rows, strict=True):
        assert row == channel.of_type[channel.drawn_row(x)]
    for change, message in (
        ({"n": 0}, "not an integer above 0"),
        ({"n": 4}, "4 rows for the 5 types"),
        ({"rows": [{"0": "1/2"}] * 4}, "is not a distribution"),
        ({"rows": [["1"]] * 4}, "does not map values"),
        ({"more": 1}, "exactly the keys"),
        ({"inputs": {"X": ["0", "1"], "Z": ["0"]}}, "one kind of sample"),
    ):
        with pytest.raises(InvalidChannel, match=message):
            Types.from_json({**document, **change})


def drawn_counts(channel: Types, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Letters drawn for random samples: how often each (type, letter) occurred, and each type."""
    rng = np.random.default_rng(1)
    codes = {n: rng.integers(0, 2, rows) for n in channel.inputs}
    table = Coded(dict(channel.inputs), codes)
    read = form_of(channel).rows_read(channel, table)
    assert read.tolist() == [channel.drawn_row(x) for x in zip(*codes.values(), strict=True)]
    letters = Sampler(channel.drawn).draw(read, Stream(Key.unsafe(3).derive("t")))
    seen = np.zeros((len(channel.of_type), len(channel.of_type[0])))
    np.add.at(seen, (read, letters), 1)
    return seen, seen.sum(axis=1)


@pytest.mark.long
def test_the_sampler_follows_the_type_and_a_wrong_law_is_noticed():
    channel = disclose_types(alike(*TABLE_1, 4)).channel
    seen, sizes = drawn_counts(channel, 40_000)
    law = np.array([[float(v) for v in row] for row in channel.of_type])

    def worst(expected):
        return float((np.abs(seen - sizes[:, None] * expected) / np.sqrt(sizes[:, None] + 1)).max())

    assert worst(law) < 3
    assert worst(0.9 * law + 0.1 / law.shape[1]) > 5


# --- the solvers behind ----------------------------------------------------------------------------------------------
@given(st.integers(0, 10**6), st.integers(1, 3))
@settings(deadline=None, max_examples=15)
def test_an_envelope_supports_every_column(seed, r):
    rng = np.random.default_rng(seed)
    N = 12
    w, z, d = rng.random(N), rng.random(N), rng.normal(size=(N, r))
    d -= d.mean(axis=0)
    found = envelope(w, d, z)
    for piece, lam in zip(found.pieces, found.multipliers, strict=True):
        assert (piece[0] * (1 - w) + piece[1] * w + d @ lam <= z + 1e-9).all()
    for (at, x), u, v in zip(found.columns, found.posteriors, found.values, strict=True):
        assert x.sum() == pytest.approx(1)
        assert x @ d[at] == pytest.approx(0, abs=1e-9)
        assert (x @ w[at], x @ z[at]) == (pytest.approx(u), pytest.approx(v))
    for slope in rng.normal(size=5) * 5:
        lam = found.multipliers_at(slope)
        touch = (found.values - slope * found.posteriors).min()
        assert (touch + slope * w + d @ lam <= z + 1e-9).all()


def test_a_balanced_channel_is_exact_and_near():
    rng = np.random.default_rng(4)
    types = np.array(list(list_types(6, 3)))
    n = [int(v) for v in rng.integers(1, 1000, len(types))]
    mean = [Fraction(int(sum(w * t[a] for w, t in zip(n, types, strict=True))), sum(n)) for a in range(2)]
    offsets = [[int(t[a]) * mean[a].denominator - mean[a].numerator for a in range(2)] for t in types]
    c = (1 - 1e-9) * np.array([0.5, 0.3, 0.2]) + 1e-9 * rng.dirichlet(np.ones(3), len(types))
    rows = balanced(n, offsets, c, bits=50)
    for y in range(3):
        for a in range(2):
            assert sum(w * d[a] * row.get(y, 0) for w, d, row in zip(n, offsets, rows, strict=True)) == 0
    assert all(sum(row.values()) == 1 and min(row.values()) >= 0 for row in rows)


def test_a_pmf_is_a_law_too():
    joint = Pmf.from_records({"X": ("a", "b")}, [(("a",), 1), (("b",), 1)])
    assert disclosure(joint, ["X"], ["X"], [["X"]]).law is joint
