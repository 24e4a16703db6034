"""The contract's own yardsticks can fail: a wrong answer is planted for each of them."""

from dataclasses import replace
from fractions import Fraction

import pytest
from contract import assert_kept, information, post_processing, relabelled, worst_letter

from dalenius.core import Contraction, Dalenius, Independent, InformationPrivacy, Leakage, LocalDP, WorstCaseLeakage
from dalenius.testing import example2, xor

PARITY = ((1, 0), (0, 1), (0, 1), (1, 0))
FIRST = ((1, 0), (1, 0), (0, 1), (0, 1))
NOISY = tuple((Fraction(3, 4), Fraction(1, 4)) if a else (Fraction(1, 4), Fraction(3, 4)) for a, _ in FIRST)
HALF = ((Fraction(1, 2), Fraction(1, 2)),) * 4
TOLD = Fraction("0.188721875540867")  # 1 - h(1/4)


@pytest.mark.parametrize(
    ("guarantee", "kept", "broken"),
    [
        (Independent("X1"), PARITY, FIRST),
        (Independent("X1"), HALF, NOISY),
        (Independent(("X1", "X2")), HALF, PARITY),
        (LocalDP("1.0987"), NOISY, FIRST),
        (LocalDP("1.0985"), HALF, NOISY),  # the level of NOISY is ln 3 = 1.09861...
        (LocalDP("0.5494", [[0, 1, 2, 2], [1, 0, 2, 2], [2, 2, 0, 1], [2, 2, 1, 0]]), NOISY, FIRST),
        (LocalDP("0.5493", [[0, 1, 2, 2], [1, 0, 2, 2], [2, 2, 0, 1], [2, 2, 1, 0]]), HALF, NOISY),
        (InformationPrivacy("X1", "0.6932"), NOISY, FIRST),
        (InformationPrivacy("X1", "0.6931"), HALF, NOISY),  # ln 2 = 0.693147...
        (Leakage("X1", TOLD + Fraction(1, 10**9)), NOISY, FIRST),
        (Leakage("X1", TOLD - Fraction(1, 10**9)), PARITY, NOISY),
        (WorstCaseLeakage("X1", TOLD + Fraction(1, 10**9)), NOISY, FIRST),
        (WorstCaseLeakage("X1", TOLD - Fraction(1, 10**9)), PARITY, NOISY),
        (Contraction("0.2500001"), NOISY, FIRST),
        (Contraction("0.2499999"), HALF, NOISY),  # (1 - 2/4)^2
    ],
)
def test_a_broken_promise_is_seen(guarantee, kept, broken):
    assert_kept(xor(), kept, guarantee)
    with pytest.raises(AssertionError):
        assert_kept(xor(), broken, guarantee)


def test_a_promise_without_a_meaning_here_is_not_passed_over():
    with pytest.raises(NotImplementedError, match="dalenius"):
        assert_kept(xor(), PARITY, Dalenius(1))


def test_kept_columns_count_as_outputs():
    assert information(xor(), PARITY, ["X1"]) == 0
    with_x2 = replace(xor(), keep=("X2",))
    assert information(with_x2, PARITY, ["X1"]) == 1
    assert worst_letter(with_x2, PARITY, ["X1"]) == 1
    with pytest.raises(AssertionError):
        assert_kept(with_x2, PARITY, Independent("X1"))


def test_relabelling_changes_letters_and_order_but_no_probability():
    problem = example2()
    for seed in range(5):
        other = relabelled(problem, seed)
        assert sorted(other.pmf.weights.tolist()) == sorted(problem.pmf.weights.tolist())
        assert not set(other.pmf.variables["X2"]) & set(problem.pmf.variables["X2"])
    assert len({tuple(relabelled(problem, seed).pmf.weights.tolist()) for seed in range(5)}) > 1


def test_post_processing_is_a_channel_that_mixes():
    channels = [post_processing({"Y": ("0", "1")}, seed) for seed in range(5)]
    assert len({c.rows for c in channels}) > 1
    assert any(0 < v < 1 for c in channels for row in c.rows for v in row)
