"""The proof of an answer: its figures against sums in floats, its refusals, and forgeries."""

import json
from fractions import Fraction
from itertools import product
from math import exp, log, log2, sqrt

import pytest

from dalenius.kernel import answers
from dalenius.kernel.added import LESS_VARIANCE, TWO_PI_LOW, Gaussian, Geometric, Laplace, falling
from dalenius.kernel.answers import Totals, concentrated_of, excess_of, level_of, told_of_independent, told_to_anybody
from dalenius.kernel.check import check
from dalenius.kernel.numbers import Refused, Work, canonical

F = Fraction
WORK = 10**12


def weights(noise, reach):
    if isinstance(noise, Laplace):
        return {t: exp(-abs(t) / float(noise.scale)) for t in range(-reach, reach + 1)}
    return {t: exp(-t * t / 2 / float(noise.variance)) for t in range(-reach, reach + 1)}


def law(noise):
    wide = 60 * float(noise.scale) if isinstance(noise, Laplace) else 12 * sqrt(noise.variance)
    found = weights(noise, int(wide) + 5)
    total = sum(found.values())
    return {t: w / total for t, w in found.items()}


NOISES = [
    Laplace(F(1, 2), Work(WORK)),
    Geometric(F(7, 10), Work(WORK)),
    Laplace(F(7, 2), Work(WORK)),
    Gaussian(F(1), Work(WORK)),
    Gaussian(F(37, 3), Work(WORK)),
]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("distance", [1, 2, 5])
def test_what_two_shifts_tell_is_the_divergence_from_their_middle(noise, distance):
    p = law(noise)
    q = {t: (v + p.get(t - distance, 0)) / 2 for t, v in p.items()}
    true = sum(v * log2(v / q[t]) for t, v in p.items() if v)
    found = float(noise.divergence(0, {0: 1, distance: 1}))
    assert true - 1e-12 <= found <= true + 1e-9
    assert float(noise.of_two(distance)) <= found


@pytest.mark.parametrize("noise", NOISES)
def test_a_mixture_of_several_shifts_bounds_what_any_law_of_them_tells(noise):
    p = law(noise)
    mixture = {0: 3, 1: 1, 4: 2}
    q = {t: sum(n * p.get(t - s, 0) for s, n in mixture.items()) / 6 for t in range(-400, 400)}
    for shift in mixture:
        true = sum(v * log2(v / q[t + shift]) for t, v in p.items() if v > 1e-200 and q.get(t + shift))
        assert float(noise.divergence(shift, mixture)) == pytest.approx(true, abs=1e-9)
    with pytest.raises(Refused, match="leaves out"):
        noise.divergence(2, mixture)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "3"])
def test_delta_is_the_excess_of_one_law_over_the_other(noise, epsilon):
    p = law(noise)
    for distance in (0, 1, 4):
        true = sum(max(0.0, v - exp(F(epsilon)) * p.get(t - distance, 0)) for t, v in p.items())
        assert true - 1e-12 <= float(noise.excess(distance, F(epsilon))) <= true + 1e-9


@pytest.mark.parametrize("noise", NOISES)
def test_bounds_by_variance_and_level_hold_for_the_best_law_of_shifts(noise):
    import numpy as np

    from dalenius.solvers.capacity import smallest_ball
    from dalenius.solvers.divergence import Laws

    p = law(noise)
    for width in (2, 6, 15):
        rows = np.array([[p.get(t - s, 0.0) for t in range(-400, 420)] for s in range(width + 1)])
        capacity = smallest_ball(Laws(rows / rows.sum(axis=1, keepdims=True)), gap=1e-9).high / log(2)
        assert float(noise.within(width)) >= capacity - 1e-9
        assert float(noise.by_variance(width)) >= capacity - 1e-9


@pytest.mark.parametrize("noise", NOISES)
def test_tails_are_never_below_the_true_ones_and_nearly_exact(noise):
    p = law(noise)
    for steps in (0, 1, 3, 10):
        true = sum(v for t, v in p.items() if abs(t) > steps)
        assert true - 1e-12 <= float(noise.outside(steps)) <= true * 1.01 + 1e-12
    assert float(noise.outside(5000)) < 1e-20


def test_the_variance_of_gaussian_noise_is_below_v_by_less_than_a_millionth():
    """8 pi^2 v (q + 4 q^4 + 9 q^9 + ...) with q = e^(-2 pi^2 v), at v = 1 and from above; from there it falls."""
    low, high = TWO_PI_LOW, TWO_PI_LOW + F(1, 10**24)
    q = falling(low**2 / 2)[1]
    more = sum(k * k * q ** (k * k) for k in range(1, 5)) + q**24  # k^2 q^(k^2) <= q^(k^2 - 1) / 100 from k = 5 on
    assert 2 * high**2 * more < F(22, 10**8) < LESS_VARIANCE
    assert low**2 / 2 > 1  # so that v e^(-2 pi^2 v) falls from v = 1 on
    for variance in (1, 2, 7):
        noise = Gaussian(F(variance), Work(WORK))
        cells, _ = noise.cells(0, 0, 0)
        assert sum(t * t * p for t, p, _ in cells) >= variance * (1 - LESS_VARIANCE)
        assert noise._total[1] >= noise._least_total


@pytest.mark.long
def test_wide_noise_is_bounded_without_a_list_of_its_values():
    wide = Gaussian(F(10**12), Work(10**8))
    assert wide.divergence(0, {0: 1, 1: 1}) is None
    assert wide.excess(5, F(1)) == 1
    assert float(wide.of_two(10**6)) == pytest.approx(log2(1.25) / 2, rel=1e-5)
    assert 0.05 <= float(wide.outside(1_959_964)) <= 0.0505
    far = Laplace(F(10**5), Work(10**8))
    assert far.divergence(0, {0: 1, 10**6: 1}) is None
    assert far.of_two(1000) <= far.within(1000) <= F(1, 10**4)
    assert falling(F(101))[0] == 0


def test_levels_of_two_numbers_add_and_groups_grow():
    one = Laplace(F(2), Work(WORK))
    cells = Totals(100, 3, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], 1)
    assert level_of(cells, one, 1) == 1
    assert level_of(cells, one, 3) == 3
    assert concentrated_of(cells, one, 1) == F(1, 2)
    gauss = Gaussian(F(4), Work(WORK))
    assert level_of(cells, gauss, 1) is None
    assert concentrated_of(cells, gauss, 1) == F(1, 4)
    assert concentrated_of(cells, gauss, 2) == 1
    assert excess_of(cells, gauss, 1, F(1)) < excess_of(cells, gauss, 2, F(1)) <= 1
    still = Totals(5, 2, [[1], [1]], 1)
    assert (
        told_to_anybody(still, gauss, 1)
        == told_of_independent(still, gauss, 1, None)
        == excess_of(still, gauss, 2, F(1))
        == 0
    )


def test_a_count_of_few_records_never_tells_more_than_proved():
    """All tables of three bits: the selections of one count for each bit, and the exact figures of measures.query."""
    noise = Laplace(F(2), Work(WORK))
    p = law(noise)
    found = told_to_anybody(Totals(3, 2, [[0], [1]], 1), noise, 1)
    best = 0.0
    for a, b in product(range(3), range(1, 4)):
        mixed = {t: (p.get(t - a, 0) + p.get(t - b, 0)) / 2 for t in range(-200, 200)}
        told = sum(
            p.get(t - s, 0) * log2(p.get(t - s, 0) / mixed[t]) / 2 for s in (a, b) for t in mixed if p.get(t - s, 0)
        )
        best = max(best, told)
    assert best <= float(found) <= best + 1e-9


def test_many_letters_are_compared_with_the_least_of_all():
    many = [[int(i == j) for j in range(70)] for i in range(70)]
    totals = Totals(10, 70, many, 1)
    assert [len(pair) for pair in totals.of_one] == [2]
    assert [len(pair) for pair in totals.of_group(3)] == [6]
    assert Totals(10, 70, [[0]] * 70, 1).of_group(2) == [()]
    noise = Laplace(F(3), Work(WORK))
    assert told_of_independent(totals, noise, 1, None) <= F(2, 3) ** 2 / 8 * F(3, 2)


def test_a_coarser_grid_is_counted_in_whole_steps():
    totals = Totals(10, None, [[0], [5]], 2)
    assert totals.widths(1) == [3]
    assert level_of(totals, Laplace(F(3), Work(WORK)), 1) == 1
    assert totals.at_most_held(2, [F(9)]) == 9
    assert concentrated_of(totals, Gaussian(F(9), Work(WORK)), 2) == F(25, 18)
    few = Totals(10, 2, [[0], [5]], 2)
    assert told_of_independent(few, Gaussian(F(9), Work(WORK)), 1, None) == Gaussian(F(9), Work(WORK)).of_two(3)


def test_mixtures_that_are_too_long_are_left_out():
    noise = Gaussian(F(9), Work(WORK))
    steps = Totals(10, 70, [[k] for k in range(70)], 1)
    assert told_of_independent(steps, noise, 1, None) == noise.within(69)
    far = Laplace(F(5), Work(WORK))
    assert told_of_independent(Totals(10, 2, [[0], [10**5]], 1), far, 1, None) == 1
    assert far.cells(3, 4, 4) == ([(4, 1, 1)], 0)


def document(**changes):
    found = {
        "format": "dalenius-answer/1",
        "work": "20000000",
        "records": "500",
        "letters": ["no", "yes"],
        "moves": [["0"], ["1"]],
        "every": "1",
        "noise": {"noise": "gaussian", "variance": "25"},
        "error": {"steps": "10", "level": "19/20"},
        "promises": [
            {"promise": "dalenius", "at_most_bits": "1", "group": 1},
            {"promise": "independent_records", "at_most_bits": "0.008", "group": 1, "weights": ["1", "1"]},
            {"promise": "differential_privacy", "epsilon": "1", "delta": "1/1000000", "group": 1},
        ],
    }
    return found | changes


def test_an_honest_document_is_proved():
    verdict = check(canonical(document()))
    told, known, private = verdict.kept.promises
    assert told == {"capacity_bits": 1}
    assert 0 < known["independent_bits"] <= F(8, 1000)
    assert private["delta"] <= F(1, 10**6)
    assert verdict.work < 10**6
    pure = document(
        noise={"noise": "laplace", "scale": "4"},
        error={"steps": "15", "level": "19/20"},
        promises=[{"promise": "differential_privacy", "epsilon": "1/4", "delta": "0", "group": 1}],
    )
    assert check(canonical(pure)).kept.promises == ({"epsilon_nats": F(1, 4), "delta": 0},)


DALENIUS = {"promise": "dalenius", "at_most_bits": "1", "group": 1}
KNOWN = {"promise": "independent_records", "at_most_bits": "0.008", "group": 1, "weights": None}
PRIVATE = {"promise": "differential_privacy", "epsilon": "1", "delta": "1/1000000", "group": 1}


@pytest.mark.parametrize(
    ("forged", "why"),
    [
        ({"promises": [DALENIUS | {"at_most_bits": "0.99"}]}, "what an adversary may learn is 1"),
        ({"promises": [KNOWN | {"at_most_bits": "0.007"}]}, "independent records is"),
        ({"promises": [KNOWN | {"weights": ["1"]}]}, "not a weight for each letter"),
        ({"promises": [KNOWN | {"weights": ["1", "0"]}]}, "from 1 on"),
        ({"promises": [PRIVATE | {"epsilon": "1/2"}]}, "the delta of differential privacy is"),
        ({"promises": [PRIVATE | {"delta": "0"}]}, "the level of differential privacy is not bounded"),
        ({"promises": [PRIVATE | {"delta": "2"}]}, "between 0 and 1"),
        ({"promises": [PRIVATE | {"group": 2}]}, "the delta"),
        ({"promises": [DALENIUS | {"group": 501}]}, "an integer from 1 to 500"),
        ({"promises": [{"promise": "nothing"}]}, "is not one of"),
        ({"error": {"steps": "9", "level": "19/20"}}, "larger than 9 steps"),
        ({"error": {"steps": "9", "level": "1"}}, "between 0 and 1"),
        ({"noise": {"noise": "gaussian", "variance": "1/2"}}, "grid is too coarse"),
        ({"noise": {"noise": "laplace", "scale": "1/9"}}, "below 1/8"),
        ({"noise": {"noise": "geometric", "ratio": "1"}}, "between 1/1000 and 1"),
        ({"noise": {"noise": "geometric", "ratio": "1/1001"}}, "between 1/1000 and 1"),
        ({"noise": {"noise": "uniform", "scale": "1"}}, "not one of laplace, geometric, gaussian"),
        ({"moves": [["0"], ["1", "2"]]}, "not a table"),
        ({"moves": [["0"]]}, "a list of 2"),
        ({"moves": [[], []]}, "not a table"),
        ({"letters": [], "moves": []}, "no letter"),
        ({"letters": None, "moves": [["1"], ["0"]]}, "the least is above the most"),
        ({"moves": [["0"], [str(1 << 61)]]}, "too large"),
        ({"records": "0"}, "from 1 on"),
        ({"records": str(1 << 61)}, "too many records"),
        ({"every": str(1 << 61)}, "too coarse"),
        ({"work": "20000001"}, "20,000,000 are allowed; --work 20000001 allows them"),
        ({"work": "2000"}, "needs more than"),
        ({"more": "1"}, "the keys must be"),
    ],
)
def test_a_forged_document_is_refused(forged, why):
    with pytest.raises(Refused, match=why):
        check(canonical(document(**forged)))


@pytest.mark.long
def test_every_single_figure_of_a_document_counts():
    """Less noise, larger moves, more records in a group: no change in the wrong direction is still proved."""
    tight = json.loads(
        canonical(document(promises=[KNOWN | {"at_most_bits": "0.0071777"}, PRIVATE | {"epsilon": "0.8425"}]))
    )
    check(canonical(tight))
    for change in (
        {"noise": {"noise": "gaussian", "variance": "24"}},
        {"moves": [["0"], ["2"]]},
        {"moves": [["0", "0"], ["1", "1"]]},
    ):
        with pytest.raises(Refused):
            check(canonical(tight | change))


def test_more_moves_than_are_listed_are_refused(monkeypatch):
    monkeypatch.setattr(answers, "MOST_MOVES", 1)
    with pytest.raises(Refused, match="more than 1 moves"):
        check(canonical(document()))
