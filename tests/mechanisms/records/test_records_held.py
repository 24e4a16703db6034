"""Columns that leave as they are and frozen values beside whole records: as the dense family means them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Distortion, Independent, Leakage, MinimizeDistortion, Pmf, Problem
from dalenius.errors import Infeasible, Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.records import design as designing
from dalenius.mechanisms.records.trading import traced
from dalenius.verifying import verify
from tests.effort import effort

LETTERS = {"A": ("a", "b", "c"), "B": ("d", "e", "f"), "C": ("g", "h"), "K": ("u", "v"), "S": ("n", "y")}
BITS = Fraction(1, 20)


def problem(seed, promise, **more):
    """240 rows of three columns that depend on the secret and on a column K, which leans towards it."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, 240)
    s = (rng.random(240) < 0.3 + 0.15 * k).astype(int)
    a = (rng.random(240) < 0.3 + 0.3 * s).astype(int) + (rng.random(240) < 0.3)
    b = rng.integers(0, 3, 240)
    c = (rng.random(240) < 0.3 + 0.2 * k).astype(int)
    joint = Pmf.from_counts(LETTERS, np.column_stack([a, b, c, k, s]), [1] * 240)
    asked = {"observe": ("A", "B", "C", "S"), "release": ("A", "B", "C"), "form": "records"} | more
    measure = Distortion.sum_of(Distortion("hamming", (name,)) for name in "ABC")
    return Problem(objective=MinimizeDistortion(measure), guarantees=(promise,), joint=joint, **asked)


def moves(found):
    """The different pairs of an outcome and a record that it may become, as values."""
    channel = found.channel
    names = list(channel.inputs)
    for read, (places, _) in zip(channel.read, channel.lines, strict=True):
        before = {name: channel.inputs[name][code] for name, code in zip(names, read, strict=True)}
        for y in places:
            yield (
                before,
                dict(
                    zip(
                        channel.output,
                        (
                            letters[code]
                            for letters, code in zip(channel.output.values(), channel.records[y], strict=True)
                        ),
                        strict=True,
                    )
                ),
            )


@pytest.mark.long
@pytest.mark.parametrize("seed", range(effort(1, 4)))
@pytest.mark.parametrize("many", [False, True])
def test_a_stratum_counts_as_released_and_costs_what_the_dense_family_proves(seed, many, monkeypatch):
    asked = problem(seed, Leakage(("S",), BITS), strata=("K",))
    if many:  # as for a table with more records: flows behind walls
        monkeypatch.setattr(designing, "MOST_ENTRIES", 0)
    found = solve(asked)
    best = solve(replace(asked, form=None))
    assert found.bound <= best.value
    assert best.bound <= found.value <= best.value * Fraction(1005, 1000)
    assert found.value - found.bound <= found.value / 100
    assert all(before["K"] == after["K"] for before, after in moves(found))
    assert Fraction(found.proved[0]["leakage_bits"]) <= BITS
    verify(found, problem=asked)
    assert any("K leaves as it is" in remark for remark in found.remarks)


@pytest.mark.long
def test_a_kept_column_that_is_observed_is_a_stratum():
    kept = problem(1, Leakage(("S",), BITS), keep=("K",), observe=("A", "B", "C", "K", "S"))
    apart = solve(kept).value - solve(problem(1, Leakage(("S",), BITS), strata=("K",))).value
    assert abs(apart) < Fraction(1, 10**6)


@pytest.mark.parametrize("promise", [Independent(("S",)), Leakage(("S",), Fraction(1, 1000))])
@pytest.mark.parametrize("many", [False, True])
def test_what_a_stratum_reveals_by_itself_cannot_be_promised_away(promise, many, monkeypatch):
    if many:
        monkeypatch.setattr(designing, "MOST_ENTRIES", 0)
    with pytest.raises(Infeasible, match=r"alone reveals 0\.0335 bits about S"):
        solve(problem(1, promise, strata=("K",)))


def test_an_independent_release_beside_a_stratum_that_says_nothing_is_exact():
    base = problem(2, Independent(("S",)), strata=("K",))
    codes = np.array(base.pmf.support)
    even = np.concatenate(
        [codes[:, :3], np.tile([[0, 0], [1, 0], [0, 0], [1, 0], [0, 1], [1, 1]], (99, 1))[: len(codes)]], 1
    )
    even = even[: len(even) // 6 * 6]
    asked = replace(base, joint=Pmf.from_counts(LETTERS, even, [1] * len(even)))
    found = solve(asked)
    assert found.value == found.bound
    assert abs(found.value - solve(replace(asked, form=None)).value) < Fraction(1, 10**7)


@pytest.mark.long
def test_a_frozen_value_is_neither_left_nor_taken_where_the_table_is_preserved():
    asked = problem(3, Leakage(("S",), Fraction(1, 50)), preserve_marginals=True, freeze=("c",))
    found = solve(asked)
    assert all((before["A"] == "c") == (after["A"] == "c") for before, after in moves(found))
    assert found.value >= solve(replace(asked, freeze=())).value - Fraction(1, 10**6)
    verify(found, problem=asked)


BARS = [
    {"forbid": (("a", "c"),)},
    {"freeze": ("c",)},
    {"forbid": (("a", "b"), ("b", "a")), "freeze": ("d",)},
]


def keeps_to(found):
    """Whether nothing forbidden or frozen changes."""
    asked = found.problem
    pairs = {(before[name], after[name]) for before, after in moves(found) for name in after}
    return not any(pair in asked.transitions or (pair[0] in asked.freeze and pair[0] != pair[1]) for pair in pairs)


@pytest.mark.long
@pytest.mark.parametrize("bars", BARS, ids=str)
@pytest.mark.parametrize("preserve", [False, True])
def test_forbidden_changes_and_frozen_values_cost_what_the_dense_family_says(bars, preserve):
    asked = problem(3, Leakage(("S",), Fraction(1, 50)), preserve_marginals=preserve, **bars)
    found = solve(asked)
    assert keeps_to(found)
    assert found.gap < Fraction(1, 10**6)
    assert abs(found.value - solve(replace(asked, form=None)).value) < Fraction(1, 10**6)


@pytest.mark.long
@pytest.mark.parametrize("bars", BARS, ids=str)
def test_few_records_keep_to_what_is_forbidden_with_the_bound_of_freer_ones(bars, monkeypatch):
    monkeypatch.setattr(designing, "MOST_WRITTEN", 0)
    asked = problem(3, Leakage(("S",), Fraction(1, 50)), **bars)
    found = solve(asked)
    assert keeps_to(found)
    assert solve(replace(asked, forbid=(), freeze=())).bound - Fraction(1, 10**6) <= found.bound <= found.value
    assert solve(replace(asked, form=None)).bound <= found.value


@pytest.mark.long
@pytest.mark.parametrize("bars", BARS[:2], ids=str)
def test_many_records_change_within_groups_where_changes_are_forbidden(bars, monkeypatch):
    monkeypatch.setattr(designing, "MOST_ENTRIES", 0)
    asked = problem(3, Leakage(("S",), Fraction(1, 50)), **bars)
    (found,) = designing.tradeoff(asked, [Fraction(1, 50)])
    assert keeps_to(found)
    assert 0 < found.bound < found.value
    assert "Values that must not become each other" in " ".join(found.remarks)
    with pytest.raises(Unsupported, match="Forbid less"):
        solve(replace(asked, guarantees=(Independent(("S",)),)))


def test_what_no_record_can_keep_to_is_said_of_records_alone(monkeypatch):
    monkeypatch.setattr(designing, "MOST_WRITTEN", 0)
    with pytest.raises(Infeasible, match="among the records of the table"):
        solve(problem(3, Independent(("S",)), freeze=("a", "b", "c")))


def test_what_other_combinations_alone_keep_to_is_not_called_infeasible_for_all():
    letters = {"A": ("a", "b"), "B": ("x", "y"), "S": ("0", "1")}
    asked = Problem(
        observe=("A", "B", "S"),
        release=("A", "B"),
        form="records",
        freeze=("a", "y"),  # everybody can become (a, y), which no row has
        objective=MinimizeDistortion(Distortion.sum_of(Distortion("hamming", (name,)) for name in ("A", "B"))),
        guarantees=(Independent(("S",)),),
        joint=Pmf.from_counts(letters, [[0, 0, 0], [1, 1, 1]], [1, 1]),
    )
    with pytest.raises(Infeasible, match="other combinations of values would: leave out form"):
        solve(asked)
    assert solve(replace(asked, form=None)).value == 1


def test_what_cannot_be_claimed_is_refused_with_the_way_out():
    with pytest.raises(Unsupported, match="say strata in the place of keep"):
        solve(problem(0, Leakage(("S",), BITS), keep=("K",)))


def test_a_curve_has_no_columns_that_leave_as_they_are():
    with pytest.raises(Unsupported, match="solve for single limits"):
        traced(problem(0, Leakage(("S",), BITS), strata=("K",)), 3)


def test_many_records_behind_a_wall_have_one_promise(monkeypatch):
    monkeypatch.setattr(designing, "MOST_ENTRIES", 0)
    with pytest.raises(Unsupported, match="holds a column or a value fast under one promise"):
        solve(problem(0, Leakage(("S",), BITS), strata=("K",), preserve_marginals=True))
