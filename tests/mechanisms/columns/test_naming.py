"""The most information in own letters: the same as with fresh ones, under the names of values."""

from itertools import permutations

import pytest

from dalenius import Pmf, Problem, solve, verify
from dalenius.errors import Infeasible

COUNTS = {"0a": 5, "0b": 2, "0c": 1, "0d": 3, "1a": 1, "1b": 4, "1c": 3, "1d": 2}
JOINT = Pmf.from_records({"S": "01", "X": "abcd"}, [(tuple(at), n) for at, n in COUNTS.items()])
LINE = [[str(abs(i - j)) for j in range(4)] for i in range(4)]
PROMISES = {
    "independent": {"independent": ["S"]},
    "information_privacy": {"information_privacy": ["S"], "epsilon": "1/5"},
    "metric": {"local_dp": "1", "metric": LINE},
}


def problem(promise, **mechanism):
    document = {
        "mechanism": {"observe": ["X"], **mechanism},
        "objective": {"maximize": {"information": ["X"]}},
        "guarantee": [promise],
    }
    return Problem.from_document(document).bound(JOINT)


@pytest.mark.long
@pytest.mark.parametrize("name", PROMISES)
def test_own_letters_tell_as_much_as_fresh_ones(name):
    fresh = solve(problem(PROMISES[name], output="Y"))
    own = solve(problem(PROMISES[name], release=["X"], allow_inverted=True))
    assert own.value == pytest.approx(fresh.value, abs=1e-12)
    assert own.gap <= 2e-6
    assert own.channel.output == {"X": ("a", "b", "c", "d")}
    assert "named by assignment" in own.method


@pytest.mark.long
def test_names_agree_with_what_is_released_as_often_as_they_can():
    """No other assignment of the same letters leaves more records as they are."""
    own = solve(problem(PROMISES["metric"], release=["X"], allow_inverted=True))
    masses = [float(JOINT.probability(X=x)) for x in "abcd"]

    def agreeing(order):
        return sum(m * float(own.channel.rows[x][k]) for x, (m, k) in enumerate(zip(masses, order, strict=True)))

    assert agreeing(range(4)) == pytest.approx(max(map(agreeing, permutations(range(4)))), abs=1e-12)


def test_a_design_that_misleads_its_readers_is_not_made_unasked():
    with pytest.raises(Infeasible, match="allow_inverted"):
        solve(problem(PROMISES["independent"], release=["X"]))


@pytest.mark.long
def test_a_limit_on_all_letters_together_has_the_bound_of_free_letters():
    promise = {"leakage": ["S"], "at_most_bits": "1/20"}
    fresh = solve(problem(promise, output="Y"))
    own = solve(problem(promise, release=["X"], allow_inverted=True))
    assert own.bound == pytest.approx(fresh.bound, abs=1e-9)
    assert own.value <= fresh.bound
    assert own.value > float(fresh.value) - 1e-3
    more = fresh.channel.shape[1] > 4
    assert more == any("values, and the column has" in remark for remark in own.remarks)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("promise", "reached"),
    [({"dalenius": True, "at_most_bits": "1/2"}, 0.4999), ({"contraction": "1/5"}, 0.30)],
    ids=["dalenius", "contraction"],
)
def test_own_letters_are_climbed_for(promise, reached):
    """Hundreds of letters added up to four told 0.37 and 0.21 bits; four letters tell as much as any under dalenius."""
    own = solve(problem(promise, release=["X"], allow_inverted=True), seconds=40)
    assert reached < own.value <= own.bound
    assert own.channel.shape[1] == 4
    verify(own)


@pytest.mark.slow
def test_a_climb_keeps_to_what_is_promised():
    promise = {"sibson": ["S"], "order": "2", "at_most_bits": "1/50"}
    own = solve(problem(promise, release=["X"], allow_inverted=True), seconds=10)
    fresh = solve(problem(promise, output="Y"), seconds=10)
    assert float(fresh.value) - 0.05 < own.value <= fresh.bound
    verify(own)
