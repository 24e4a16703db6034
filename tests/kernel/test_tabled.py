"""Noise by a table: its figures against every selection of rows in floats, its refusals, and forgeries."""

from fractions import Fraction
from itertools import product
from math import comb, exp, log, log2

import numpy as np
import pytest

from dalenius.kernel.answers import Totals, concentrated_of, excess_of, level_of, told_of_independent, told_to_anybody
from dalenius.kernel.check import check
from dalenius.kernel.numbers import Refused, Work, canonical
from dalenius.kernel.tabled import MOST_PAIRS, NoiseTable, lines_of, sums_reached
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import Laws

F = Fraction


def table(moves, records, seed=0, outcomes=4, zeros=False):
    rng = np.random.default_rng(seed)
    sums = sums_reached(moves, records, Work(10**9))
    rows = rng.integers(0 if zeros else 1, 9, (len(sums), outcomes))
    rows[:, 0] += 1
    scale = int(np.lcm.reduce(rows.sum(axis=1)))
    whole = [[int(v) * (scale // int(row.sum())) for v in row] for row in rows]
    centre = [sum(column) + 1 for column in zip(*whole, strict=True)]
    return NoiseTable(whole, scale, centre, lines_of(moves, records, sums, Work(10**9)), Work(10**12)), sums


def capacity(rows):
    return smallest_ball(Laws(np.array(rows, dtype=float) / sum(rows[0])), gap=1e-9).low / log(2)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_no_adversary_learns_more_than_is_proved(seed):
    """All selections of one reachable sum for each letter (anybody), and all states of the others (independent)."""
    moves = [[0], [1]] if seed % 2 else [[0, 1], [1, 0], [1, 2]]
    noise, sums = table(moves, 3, seed)
    totals = Totals(3, len(moves), moves, 1)
    place = {total: k for k, total in enumerate(sums)}
    rests = sums_reached(moves, 2, Work(10**9))
    reach = [[place[tuple(np.add(rest, move).tolist())] for rest in rests] for move in moves]
    worst = max(capacity([noise.rows[k] for k in chosen]) for chosen in product(*reach))
    known = max(capacity([noise.rows[k] for k in line]) for line in noise.neighbours)
    anybody, independent = told_to_anybody(totals, noise, 1), told_of_independent(totals, noise, 1, None)
    assert worst - 1e-9 <= float(anybody) <= log2(len(moves)) + 1e-9
    assert known - 1e-9 <= float(independent) <= float(anybody)
    assert anybody <= told_to_anybody(totals, noise, 2) <= 2 * anybody


@pytest.mark.parametrize("seed", range(4))
def test_records_of_one_person_may_hang_together(seed):
    """Somebody knows all other records, and believes anything about the two of one person."""
    moves = [[0], [1]] if seed % 2 else [[1, 2], [2, 0]]
    noise, sums = table(moves, 3, seed, outcomes=2)
    place = {total: k for k, total in enumerate(sums)}
    pairs = sums_reached(moves, 2, Work(10**9))
    lines = [[place[tuple(np.add(rest, pair).tolist())] for pair in pairs] for rest in moves]
    known = max(capacity([noise.rows[k] for k in line]) for line in lines)
    assert known - 1e-9 <= float(told_of_independent(Totals(3, 2, moves, 1), noise, 2, None))


@pytest.mark.parametrize("seed", range(4))
def test_levels_and_deltas_are_those_of_all_pairs_of_tables(seed):
    moves = [[0], [1], [3]]
    noise, _ = table(moves, 2, seed)
    totals = Totals(2, 3, moves, 1)
    rows = np.array(noise.rows, dtype=float) / noise.scale
    near = {(a, b) for line in noise.neighbours for a in line for b in line}
    both = set(product(range(len(rows)), repeat=2))
    for group, pairs in ((1, near), (2, both)):
        level = max(log((rows[a] / rows[b]).max()) for a, b in pairs)
        assert level - 1e-9 <= float(level_of(totals, noise, group)) <= group * level + 1e-9
        assert concentrated_of(totals, noise, group) == level_of(totals, noise, group) ** 2 / 2
        for epsilon in (F(1, 10), F(1)):
            true = max(np.maximum(rows[a] - exp(float(epsilon)) * rows[b], 0).sum() for a, b in pairs)
            assert true - 1e-12 <= float(excess_of(totals, noise, group, epsilon)) <= true + 1e-9
    assert excess_of(totals, noise, 1, level_of(totals, noise, 1)) == 0


def test_a_table_that_rules_an_outcome_out_has_no_level():
    noise, _ = table([[0], [1]], 3, 5, zeros=True)
    totals = Totals(3, 2, [[0], [1]], 1)
    assert level_of(totals, noise, 1) is concentrated_of(totals, noise, 1) is None
    assert 0 < excess_of(totals, noise, 1, F(1)) <= 1
    assert told_to_anybody(totals, noise, 1) <= 1


def test_many_rows_are_bounded_together_and_groups_of_them_not_at_all():
    records = MOST_PAIRS + 5
    noise, sums = table([[0], [1]], records)
    assert len(sums) == records + 1
    totals = Totals(records, 2, [[0], [1]], 1)
    assert noise.anybody(1) == noise.everything
    assert excess_of(totals, noise, 2, F(1, 100)) == 1
    assert excess_of(totals, noise, 1, F(1, 100)) < 1


def test_sums_that_are_reached():
    work = Work(10**9)
    assert sums_reached([[1, 0], [0, 1], [0, 0]], 2, work) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]
    assert sums_reached([[3]], 10**9, work) == [(3 * 10**9,)]
    assert sums_reached([[0], [1]], 256, work) is None
    assert sums_reached([[0, 0], [0, 1], [1, 0]], 30, work) is None
    assert len(sums_reached([[0, 0], [0, 1], [1, 0]], 20, work)) == comb(22, 2)
    assert lines_of([[0, 0], [0, 1], [1, 0]], 40, [(0, 0)], work) is None


def document(**changes):
    """Two bits under randomised response of their count."""
    found = {
        "format": "dalenius-answer/1",
        "work": "20000000",
        "records": "2",
        "letters": ["no", "yes"],
        "moves": [["0"], ["1"]],
        "every": "1",
        "noise": {
            "noise": "table",
            "values": [["0"], ["1"], ["2"]],
            "scale": "4",
            "rows": [["2", "1", "1"], ["1", "2", "1"], ["1", "1", "2"]],
            "centre": ["1", "1", "1"],
        },
        "error": None,
        "promises": [
            {"promise": "dalenius", "at_most_bits": "0.062", "group": 1},
            {"promise": "independent_records", "at_most_bits": "0.062", "group": 1, "weights": None},
            {"promise": "differential_privacy", "epsilon": "0.6932", "delta": "0", "group": 1},
        ],
    }
    return found | changes


def noise(**changes):
    return {"noise": document()["noise"] | changes}


def test_an_honest_document_is_proved():
    told, known, private = check(canonical(document())).kept.promises
    assert 0.0612 < told["capacity_bits"] == known["independent_bits"] < 0.0613
    assert abs(float(private["epsilon_nats"]) - log(2)) < 1e-12


@pytest.mark.parametrize(
    ("forged", "why"),
    [
        (noise(values=[["0"], ["1"], ["3"]]), "not the sums of the records"),
        (noise(values=[["0"], ["2"], ["1"]]), "not the sums of the records"),
        (noise(values=[["0"], ["1"]]), "not the sums of the records"),
        (noise(rows=[["2", "1", "1"], ["1", "2", "1"]]), "a list of 3"),
        (noise(rows=[["2", "1", "1"], ["1", "2", "1"], ["1", "1", "1"]]), "not a law of the outcomes"),
        (noise(rows=[["5", "-1", "0"], ["1", "2", "1"], ["1", "1", "2"]]), "from 0 on"),
        (noise(rows=[["4"], ["4"], ["4"]]), "not a law of the outcomes"),
        (noise(centre=["1", "1", "0"]), "from 1 on"),
        (noise(centre=["1"] * 513), "more than 512 outcomes"),
        (noise(scale="0"), "from 1 on"),
        (noise(rows=[["3", "0", "1"], ["1", "2", "1"], ["1", "1", "2"]]), "what an adversary may learn"),
        ({"every": "2"}, "no coarser grid"),
        ({"letters": None}, "for records with letters"),
        ({"error": {"steps": "1", "level": "1/2"}}, "has no steps"),
        ({"records": "300"}, "more than 256 values"),
        ({"moves": [["0"], ["2"]]}, "not the sums of the records"),
        ({"promises": [{"promise": "dalenius", "at_most_bits": "0.061", "group": 1}]}, "what an adversary may learn"),
        (
            {"promises": [{"promise": "differential_privacy", "epsilon": "0.693", "delta": "0", "group": 1}]},
            "the level of differential privacy",
        ),
        (
            {"promises": [{"promise": "differential_privacy", "epsilon": "0.1", "delta": "0.1", "group": 2}]},
            "the delta of differential privacy",
        ),
    ],
)
def test_a_forged_document_is_refused(forged, why):
    with pytest.raises(Refused, match=why):
        check(canonical(document(**forged)))
