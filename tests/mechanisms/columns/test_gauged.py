"""Promises that add up over all letters, with distortion, leakage and rate: closed forms, proofs and refusals."""

from fractions import Fraction

import pytest

from dalenius import Pmf, Problem, solve, verify
from dalenius.errors import Infeasible, Unsupported

SHARES = {"0a": 3, "0b": 1, "0c": 1, "1a": 1, "1b": 1, "1c": 3}
JOINT = Pmf.from_records({"S": "01", "X": "abc"}, [(tuple(at), f"{n}/10") for at, n in SHARES.items()])
KEPT = {"0ka": 4, "0kb": 1, "0la": 2, "0lb": 2, "1ka": 1, "1kb": 3, "1la": 2, "1lb": 5}
WITH_K = Pmf.from_records({"S": "01", "K": "kl", "X": "ab"}, [(tuple(at), n) for at, n in KEPT.items()])
HAMMING = {"distortion": "hamming", "of": ["X"]}
AIMS = {
    "distortion": {"minimize": HAMMING},
    "leakage": {"minimize": {"leakage": ["S"]}},
    "rate": {"minimize": {"rate": True}},
}


def problem(aim, *promises, joint=JOINT, limit="2/5", **mechanism):
    document = {
        "mechanism": {"observe": ["X"], **({"release": ["X"]} if "output" not in mechanism else {}), **mechanism},
        "objective": AIMS[aim],
        "guarantee": list(promises),
    }
    if aim != "distortion":
        document["limit"] = [limit] if isinstance(limit, dict) else [{**HAMMING, "at_most": limit}]
    return Problem.from_document(document).bound(joint)


@pytest.mark.long
@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize(
    "promise",
    [
        {"guess": ["S"], "at_most": "11/20"},
        {"guess": ["S"], "times": "11/10", "gain": [["1", "0"], ["0", "1"], ["2/5", "2/5"]]},
        {"maximal_leakage": True, "at_most_bits": "4/5"},
        {"maximal_leakage": ["S"], "at_most_bits": "1/8"},
        {"total_variation": ["S"], "at_most": "1/20"},
        {"local_dp": "1", "delta": "1/20"},
    ],
    ids=lambda p: f"{next(iter(p))}{len(p)}",
)
def test_value_and_bound_meet(aim, promise):
    design = solve(problem(aim, promise))
    assert 0 <= design.gap <= 1e-8
    verify(design)


def test_a_guess_of_a_bit_that_is_seen_in_full_costs_what_it_must():
    """S = X a fair bit, guessed at most 3/4 of the time: one record of four is changed."""
    joint = Pmf.from_records({"S": "01", "X": "01"}, [(("0", "0"), 1), (("1", "1"), 1)])
    design = solve(problem("distortion", {"guess": ["S"], "at_most": "3/4"}, joint=joint))
    assert design.value == design.bound == Fraction(1, 4)
    assert Fraction(design.proved[0]["guess_after"]) == Fraction(3, 4)
    same = solve(problem("distortion", {"guess": ["S"], "times": "3/2"}, joint=joint))
    assert same.value == Fraction(1, 4)


def test_kept_columns_are_seen_by_whoever_guesses():
    design = solve(problem("distortion", {"guess": ["S"], "at_most": "13/20"}, joint=WITH_K, keep=["K"]))
    assert design.value == Fraction(3, 20)
    with pytest.raises(Infeasible, match=r"K alone lets a guess of S be right 0\.6 of the time"):
        solve(problem("distortion", {"guess": ["S"], "at_most": "11/20"}, joint=WITH_K, keep=["K"]))


def test_a_guess_no_better_than_a_blind_one_leaves_more_than_independence():
    blind = solve(problem("distortion", {"guess": ["S"], "times": "1"}, joint=WITH_K))
    silent = solve(problem("distortion", {"independent": ["S"]}, joint=WITH_K))
    assert Fraction(blind.proved[0]["guess_after"]) == Fraction(blind.proved[0]["guess_before"])
    assert blind.value <= silent.value


def test_maximal_leakage_about_everything_does_not_go_beside_a_column_that_is_not_read():
    with pytest.raises(Unsupported, match="is kept and not read"):
        solve(problem("distortion", {"maximal_leakage": True, "at_most_bits": "9"}, joint=WITH_K, keep=["K"]))


@pytest.mark.slow
def test_promises_are_mixed():
    several = [{"guess": ["S"], "at_most": "11/20"}, {"leakage": ["S"], "at_most_bits": "1/100"}, {"local_dp": "2"}]
    assert solve(problem("distortion", *several)).gap <= 1e-8


@pytest.mark.parametrize("aim", ["leakage", "rate"])
def test_an_erased_fair_bit_tells_what_is_not_erased(aim):
    joint = Pmf.from_records({"X": "01"}, [(("0",), 1), (("1",), 1)])
    limit = {"distortion": "erasure", "of": ["X"], "at_most": "3/10"}
    aims = {"minimize": {"leakage": ["X"]}} if aim == "leakage" else AIMS["rate"]
    document = {"mechanism": {"observe": ["X"], "output": "Y"}, "objective": aims, "limit": [limit], "guarantee": []}
    design = solve(Problem.from_document(document).bound(joint))
    assert float(design.value) == pytest.approx(0.7, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize(
    "promise",
    [
        {"sibson": ["S"], "order": "2", "at_most_bits": "1/20"},
        {"dalenius": True, "at_most_bits": "1/2"},
        {"contraction": "1/5"},
    ],
    ids=lambda p: next(iter(p)),
)
def test_curved_promises_are_proved_by_rounds_of_cuts(aim, promise):
    assert solve(problem(aim, promise, {"guess": ["S"], "at_most": "3/5"})).gap <= 1e-6


@pytest.mark.parametrize("aim", AIMS)
def test_a_level_with_delta_of_the_only_input_that_occurs_costs_nothing(aim):
    """No two rows are to be near each other: nothing is changed, and nothing can be told."""
    joint = Pmf.from_records({"S": "01", "X": "abc"}, [(("0", "c"), 1), (("1", "c"), 2)])
    design = solve(problem(aim, {"local_dp": "1", "delta": "1/100"}, joint=joint))
    assert design.value == design.bound == 0


@pytest.mark.long
def test_sibson_is_closed_to_the_digits_that_are_promised():
    """Limits are tightened where entries are left out, by less than value and bound may be apart."""
    line = {"distortion": [["0", "1", "2"], ["1", "0", "1"], ["2", "1", "0"]], "of": ["X"]}
    document = {
        "mechanism": {"observe": ["X"], "release": ["X"]},
        "objective": {"minimize": line},
        "guarantee": [{"sibson": ["S"], "order": "2", "at_most_bits": "1/20"}],
    }
    design = solve(Problem.from_document(document).bound(JOINT))
    assert 0 <= design.gap <= Fraction(1, 10**8)


def test_limits_without_an_interior_that_nobody_keeps_are_infeasible():
    """The cheapest letters alone keep the limit, and they differ: nothing is left to search for, and nothing fits."""
    cheapest = {"distortion": [["0", "5", "4"], ["1", "0", "3"], ["2", "5", "0"]], "of": ["X"], "at_most": 0}
    asked = problem("leakage", {"independent": ["X"]}, {"total_variation": ["S"], "at_most": "1/2"}, limit=cheapest)
    with pytest.raises(Infeasible, match="no recipe keeps all limits and guarantees together"):
        solve(asked)


@pytest.mark.parametrize("letters", ["abc", "a"])
def test_probabilities_of_many_digits_are_added_up_exactly(letters):
    """Their common denominator is longer than a machine's whole number, also where no change costs anything."""
    long = 10**22
    shares = {at: Fraction(n * long + k, 1) for k, (at, n) in enumerate(SHARES.items()) if at[1] in letters}
    whole = sum(shares.values())
    joint = Pmf.from_records({"S": "01", "X": letters}, [(tuple(at), v / whole) for at, v in shares.items()])
    design = solve(problem("distortion", {"leakage": ["S"], "at_most_bits": "1/100"}, joint=joint))
    assert 0 <= design.gap <= 1e-8
    verify(design)


FAIR = {"00": 3, "01": 2, "02": 3, "10": 1, "11": 4, "12": 3, "20": 1, "21": 2, "22": 5}
UNIFORM = Pmf.from_records({"S": "012", "X": "012"}, [(tuple(at), n) for at, n in FAIR.items()])
TIED = {
    "guess": None,
    "in a circle": [["1", "0", "2"], ["0", "2", "1"], ["2", "1", "0"]],
    "two of three": [["1", "1", "0"], ["0", "1", "1"], ["0", "0", "1"]],
}


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("gain", TIED.values(), ids=TIED)
@pytest.mark.parametrize("margins", [False, True], ids=["", "margins"])
def test_actions_that_are_equally_good_are_closed_where_no_guess_may_be_better(aim, gain, margins):
    """All of them stay as good as the best in every letter: equalities, whose multipliers have either sign."""
    promise = {"guess": ["S"], "times": "1"} | ({} if gain is None else {"gain": gain})
    design = solve(problem(aim, promise, joint=UNIFORM, limit="7/10", preserve_marginals=margins))
    assert 0 <= design.gap <= 1e-8
    verify(design)


@pytest.mark.parametrize("aim", AIMS)
def test_actions_that_are_equally_good_stay_so_exactly(aim):
    """Beside another promise no vertex is at hand, and what is rounded has to keep the equality of two actions."""
    promises = [{"guess": ["S"], "times": "1", "gain": TIED["two of three"]}, {"leakage": ["X"], "at_most_bits": "1/5"}]
    design = solve(problem(aim, *promises, joint=UNIFORM, limit="7/10", preserve_marginals=True))
    assert 0 <= design.gap <= 1e-8
    verify(design)


@pytest.mark.parametrize("where", ["keep", "strata"])
def test_a_fair_bit_beside_a_kept_column_may_be_guessed_half_of_the_time(where):
    records = [((s, x, k), 1 + (s == x) + 2 * (x == "1")) for s in "01" for x in "01" for k in "kl"]
    joint = Pmf.from_records({"S": "01", "X": "01", "K": "kl"}, records)
    design = solve(problem("distortion", {"guess": ["S"], "at_most": "1/2"}, joint=joint, **{where: ["K"]}))
    assert 0 <= design.gap <= 1e-12
    verify(design)
