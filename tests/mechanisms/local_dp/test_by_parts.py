"""A matrix for each column and for each stratum: values against the parts, sums of levels, corruptions, refusals."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import log2

import numpy as np
import pyarrow as pa
import pytest
from contract import DesignContract, assert_kept, post_processing

from dalenius.core import (
    Channel,
    LocalDP,
    Margins,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeVariance,
    Pmf,
    Pram,
    Problem,
    Staircase,
    Strata,
    channel_of,
)
from dalenius.core.numbers import exact
from dalenius.documents import ENOUGH
from dalenius.documents import checked as check
from dalenius.errors import InvalidChannel, InvalidPmf, MismatchError, ProblemFileError, Unsupported
from dalenius.evidence import estimate, examine
from dalenius.ledger.documents import mechanism_of
from dalenius.mechanisms import solve
from dalenius.mechanisms.applying import draw
from dalenius.mechanisms.forms import draws_of
from dalenius.mechanisms.local_dp.by_parts import by_parts
from dalenius.mechanisms.local_dp.pram import pram
from dalenius.mechanisms.local_dp.subset_selection import best_size
from dalenius.sampling import Key, Stream
from dalenius.tables import Coded

BOTH = ("X", "sex")
FRESH = {"release": (), "output": "Y", "form": None}
COUNTS = {("n", "f"): 30, ("s", "f"): 5, ("w", "f"): 9, ("n", "m"): 4, ("s", "m"): 11, ("w", "m"): 13}


def joint():
    return Pmf.from_records({"X": ("n", "s", "w"), "sex": ("f", "m")}, COUNTS.items())


def strata(**rest):
    said = {"release": ("X",), "form": "pram"} | rest
    about = MaximizeInformation(("X",))
    return Problem(("X",), about, (LocalDP(1, given=("sex",)),), strata=("sex",), joint=joint(), **said)


def columns(**rest):
    said = {"release": ("X", "sex"), "form": "pram", "each": {"X": Fraction(1, 2), "sex": Fraction(1, 4)}} | rest
    about = MaximizeInformationOfEach(("X", "sex"))
    return Problem(("X", "sex"), about, (LocalDP("3/4"),), joint=joint(), **said)


class TestContract(DesignContract):
    def problems(self):
        return {
            "strata, all recipes": strata(**FRESH),
            "columns, all recipes": columns(**FRESH),
            "columns, subset selection": columns(**FRESH | {"form": "subset-selection"}),
        }

    test_what_cannot_be_promised_is_refused_with_a_figure = None  # a constant keeps every level
    test_rows_of_impossible_inputs_repeat_the_output_pmf = None  # the forms have no row of its own for an input

    @pytest.mark.parametrize("seed", range(2))
    def test_post_processing_keeps_the_promises_and_adds_nothing(self, problem, seed):
        design = self.solved(problem)
        letters = {"one": tuple(map(str, range(design.channel.shape[1])))}
        after = Channel(design.channel.inputs, letters, design.channel.rows).then(post_processing(letters, seed))
        for guarantee in problem.guarantees:
            assert_kept(problem, after.rows, guarantee)


@pytest.mark.slow
class TestContractOfForm8(TestContract):
    """The same with matrices of form (8), whose proofs take longer."""

    def problems(self):
        return {
            "strata": strata(),
            "columns": columns(),
            "columns, equal parts": columns(each=True),
            "columns, randomised response": columns(form="randomised-response"),
        }


@pytest.mark.long
# --- values ----------------------------------------------------------------------------------------------------------
def test_strata_tell_what_their_matrices_tell_and_what_the_stratum_tells():
    design, law = solve(strata()), joint()
    told = Fraction(0)
    for sex in "fm":
        here = {x: n for (x, s), n in COUNTS.items() if s == sex}
        alone = Pmf.from_records({"X": ("n", "s", "w")}, [((x,), n) for x, n in here.items()])
        part = pram(
            Problem(("X",), MaximizeInformation(("X",)), (LocalDP(1),), release=("X",), form="pram", joint=alone)
        )
        told += Fraction(sum(here.values()), 72) * part.value
    p = law.counts(["X"], ["sex"]) / law.total
    between = sum(v * log2(v / (p[i].sum() * p[:, j].sum())) for (i, j), v in np.ndenumerate(p) if v)
    assert float(design.value) == pytest.approx(float(told) + between, abs=1e-12)
    assert design.gap < Fraction(1, 10**11)


@pytest.mark.long
def test_columns_are_charged_the_sum_of_their_levels():
    design = solve(columns())
    assert exact(design.proved[0]["epsilon_nats"]) == pytest.approx(Fraction(3, 4), abs=1e-15)
    assert mechanism_of(design.dumps()).level == pytest.approx(Fraction(3, 4), abs=1e-15)
    assert "X 1/2, sex 1/4" in design.remarks[0]
    even = solve(columns(each=True))
    assert "X 3/8, sex 3/8" in even.remarks[0]
    assert check(design.card_text()).kept.promises[0]["epsilon_nats"] == pytest.approx(Fraction(3, 4), abs=1e-15)


def test_a_stratum_that_never_occurs_keeps_the_promise_too():
    law = Pmf.from_records(
        {"X": ("n", "s"), "sex": ("f", "m", "x")}, [(("n", "f"), 3), (("s", "m"), 2), (("s", "f"), 1)]
    )
    for rest in ({}, FRESH):
        design = solve(replace(strata(**rest), joint=law))
        check(design.dumps())
        assert_kept(replace(strata(), joint=law), design.channel.rows, design.problem.guarantees[0])
        assert len(design.channel.channels) == 3


@pytest.mark.long
def test_named_forms_do_not_depend_on_the_records():
    for form, rest in (("randomised-response", {}), ("subset-selection", {"release": (), "output": "Y"})):
        one = solve(columns(form=form, **rest))
        other = solve(replace(columns(form=form, **rest), joint=Pmf.from_records(joint().variables, [(("n", "f"), 1)])))
        assert one.channel == other.channel
    assert best_size(10, np.exp(1.0)) == 3  # errata of paper 002, E15


@pytest.mark.long
def test_ten_columns_are_never_multiplied_out():
    sizes = [4] * 12  # 16 million combinations, on both sides
    margins = Margins(
        tuple(
            Pmf.from_counts({f"c{j}": tuple(map(str, range(k)))}, np.arange(k)[:, None], range(1, k + 1))
            for j, k in enumerate(sizes)
        )
    )
    names = tuple(margins.variables)
    about = MaximizeInformationOfEach(names)
    design = solve(Problem(names, about, (LocalDP(5),), output="Y", form=None, each=True, joint=margins))
    assert check(design.dumps(), work=ENOUGH).rule == "parts"
    assert mechanism_of(design.card_text()).level == pytest.approx(5, abs=1e-12)
    assert float(design.gap) < 1e-9


@pytest.mark.long
# --- drawn, estimated, examined --------------------------------------------------------------------------------------
@pytest.mark.parametrize("problem", [strata(), columns(), strata(**FRESH)])
def test_what_is_drawn_follows_the_parts_and_a_wrong_law_does_not(problem):
    rows = np.repeat(np.array([(i, j) for i in range(3) for j in range(2)]), 3000, axis=0)
    table = Coded(dict(joint().variables), {"X": rows[:, 0], "sex": rows[:, 1]})
    design = solve(replace(problem, joint=table.pmf()))
    drawn = draw(design, table, key=Key.unsafe(5))
    assert not examine(design, drawn.inputs, drawn.letters).contradicts
    (promise,) = problem.guarantees
    twice = (replace(promise, epsilon=2 * promise.epsilon),)
    other = solve(replace(problem, joint=table.pmf(), guarantees=twice, each=bool(problem.each))).channel
    assert examine(replace(design, channel=other), drawn.inputs, drawn.letters).contradicts


def test_cross_tabulations_are_estimated_from_the_card():
    rows = np.repeat(np.array([(0, 0), (1, 1), (2, 0)]), (20_000, 10_000, 10_000), axis=0)
    table = Coded(dict(joint().variables), {"X": rows[:, 0], "sex": rows[:, 1]})
    levels = {"X": Fraction(2), "sex": Fraction(2)}
    design = solve(replace(columns(each=levels), guarantees=(LocalDP(4),), joint=table.pmf()))
    drawn = draw(design, table, key=Key.unsafe(3))
    released = pa.table({n: [a[c] for c in codes] for n, (codes, a) in drawn.columns.items()})
    found = estimate(design.card(), released)
    truth = np.array([0.5, 0, 0, 0.25, 0.25, 0])
    error = np.sqrt(np.diag(found.covariance))
    assert (np.abs(found.estimate - truth) < 5 * error).all()
    assert 0 < error.min() < error.max() < 0.02


def test_strata_with_many_letters_are_drawn_without_rows():
    letters = tuple(map(str, range(3000)))
    half = Fraction(1, 2)
    parts = (
        Pram({"X": letters}, {"X": letters}, (half,) * 3000),
        Pram({"X": letters}, {"X": letters}, (Fraction(1),) * 3000),
    )
    channel = Strata({"X": letters, "s": ("a", "b")}, ("s",), parts)
    assert not channel.few
    codes = np.arange(6000)
    (one,) = draws_of(channel)
    drawn = one.sampler.draw(codes, Stream(Key.unsafe(1).derive("x")))
    assert (drawn[1::2] == np.arange(3000)).all()
    assert 1300 < np.count_nonzero(drawn[::2] == np.arange(3000)) < 1700


# --- what is refused -------------------------------------------------------------------------------------------------
@cache
def designed(which):
    return solve(columns() if which == "product" else strata()).dumps()


def planted(change):
    document = json.loads(designed(change.__doc__.split(":")[0]))
    change(document)
    return json.dumps(document)


def other_level(d):
    """product: a column claims a smaller share than it has"""
    d["mechanism"]["each"]["X"] = "1/4"


def more_levels(d):
    """product: shares beyond the total"""
    d["mechanism"]["each"]["X"] = "1"


def small_level(d):
    """product: a smaller total"""
    d["guarantees"][0]["promised"]["local_dp"] = "1/2"


def other_margin(d):
    """product: a margin of another column"""
    d["joint"]["margins"] = d["joint"]["margins"][::-1]


def same_column(d):
    """product: two parts read one column"""
    d["channel"]["channels"][1] = d["channel"]["channels"][0] | {"output": "sex"}


def lost_part(d):
    """product: a proof is missing"""
    d["certificate"]["parts"].pop()


def foreign_kind(d):
    """product: a part with a proof of another kind"""
    d["certificate"]["parts"][0]["kind"] = "parts"


def joint_objective(d):
    """product: the joint information is not what is proved"""
    d["objective"] = {"maximize": {"information": ["X", "sex"]}}


def not_given(d):
    """strata: the level is claimed between strata too"""
    del d["guarantees"][0]["promised"]["given"]


def lost_stratum(d):
    """strata: a channel is missing"""
    d["channel"]["channels"].pop()


def no_stratum(d):
    """strata: the mechanism says nothing of them"""
    del d["mechanism"]["strata"]


def better(d):
    """strata: a false bound"""
    d["bound"] = str(exact(d["value"]) - Fraction(1, 10**6))


CHANGES = [other_level, more_levels, small_level, other_margin, same_column, lost_part, foreign_kind, joint_objective]
CHANGES += [not_given, lost_stratum, no_stratum, better]


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (lambda: replace(strata(), guarantees=(LocalDP(1),)), "say given = "),
        (lambda: replace(strata(), each=True), "information_of_each"),
        (lambda: replace(columns(), guarantees=(LocalDP(1, metric=((0, 1), (1, 0))),)), "a ledger adds the levels"),
        (lambda: replace(columns(), guarantees=(LocalDP(1, delta="1/9"),)), "without delta"),
        (lambda: columns(each={"X": Fraction(1), "sex": Fraction(1)}), "add up to 2, more than local_dp = 3/4"),
        (lambda: columns(each={"X": Fraction(0), "sex": Fraction(1, 4)}), "above 0"),
        (lambda: replace(columns(), objective=MaximizeInformation(("X", "sex"))), "information_of_each"),
        (lambda: columns(release=(), output="Y"), "say release, not output"),
        (lambda: columns(form=None), "released values are those of all observed columns"),
        (lambda: columns(preserve_marginals=True), "does not take preserve_marginals"),
        (lambda: replace(strata(), observe=BOTH, release=BOTH, objective=MaximizeInformation(BOTH)), "in strata alone"),
    ],
)
def test_what_it_does_not_solve_is_said(problem, message):
    asked = problem()
    with pytest.raises(Unsupported, match=message):
        solve(asked)
    with pytest.raises(Unsupported, match="a recipe for each column or stratum under local_dp"):
        by_parts(asked)


def test_levels_and_given_columns_fit_the_problem():
    with pytest.raises(ProblemFileError, match="one level for each observed column"):
        columns(each={"X": Fraction(1)})
    with pytest.raises(ProblemFileError, match="given names the columns that leave as they are"):
        replace(strata(), guarantees=(LocalDP(1, given=("X",)),))


@pytest.mark.long
def test_margins_and_strata_are_checked_at_birth():
    with pytest.raises(InvalidPmf, match="of one column each"):
        Margins((joint(),))
    with pytest.raises(InvalidPmf, match="same column"):
        Margins((joint().marginal(["X"]),) * 2)
    with pytest.raises(MismatchError, match="only margins are known"):
        Margins.of(joint(), ["X", "sex"]).marginal(["X", "sex"])
    with pytest.raises(MismatchError, match="only the margins are known"):
        _ = solve(columns()).problem.pmf
    part = Pram({"X": ("a", "b")}, {"X": ("a", "b")}, (Fraction(1), Fraction(1)))
    with pytest.raises(InvalidChannel, match="last inputs"):
        Strata({"s": ("0",), "X": ("a", "b")}, ("s",), (part,))
    with pytest.raises(InvalidChannel, match="2 strata and 1 recipes"):
        Strata({"X": ("a", "b"), "s": ("0", "1")}, ("s",), (part,))
    with pytest.raises(InvalidChannel, match="other values than each other"):
        Strata({"X": ("a", "c"), "s": ("0",)}, ("s",), (part,))
    whole = Strata({"X": ("a", "b"), "s": ("0",)}, ("s",), (part,))
    assert channel_of(whole.to_json()) == whole
    assert isinstance(solve(strata(**FRESH)).channel.channels[0], Staircase)


def test_variances_of_strata_are_averaged_and_those_of_columns_added_up():
    """Each stratum and each column as if it were alone, at its own level."""
    counts = {("a", "0"): 5, ("b", "0"): 3, ("a", "1"): 1, ("b", "1"): 7}
    law = Pmf.from_records({"X": "ab", "K": "01"}, list(counts.items()))

    def alone(names, records, level):
        goal = MinimizeVariance(names)
        own = Pmf.from_records({n: law.variables[n] for n in names}, records)
        return solve(Problem(names, goal, (LocalDP(level),), output="Y", joint=own)).value

    goal, promise = MinimizeVariance(("X",)), LocalDP(1, given=("K",))
    by_strata = solve(Problem(("X",), goal, (promise,), output="Y", strata=("K",), joint=law))
    parts = [alone(("X",), [((x,), counts[x, k]) for x in "ab"], 1) for k in "01"]
    assert float(by_strata.value) == pytest.approx(float(parts[0] + parts[1]) / 2, abs=1e-9)
    assert by_strata.gap < Fraction(1, 10**6)
    goal = MinimizeVariance(("X", "K"))
    by_columns = solve(Problem(("X", "K"), goal, (LocalDP(2),), output="Y", each=True, joint=law))
    parts = [alone(("X",), [(("a",), 6), (("b",), 10)], 1), alone(("K",), [(("0",), 8), (("1",), 8)], 1)]
    assert float(by_columns.value) == pytest.approx(float(sum(parts)), abs=1e-9)
    with pytest.raises(Unsupported, match="the least variance has no form"):
        solve(Problem(("X", "K"), goal, (LocalDP(2),), release=("X", "K"), form="pram", each=True, joint=law))
