"""Paper 002 recomputed: the printed numbers against the certified optima, the errata, and what stands in for data."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from dalenius.papers import paper002
from dalenius.papers.paper002 import informed, matrices


def level(q):
    """The largest ratio in a column of the matrix that keeps letter x with q[x] and else draws the others evenly."""
    rest = [(1 - v) / (len(q) - 1) for v in q]
    columns = [[v if x == y else rest[x] for x in range(len(q))] for y, v in enumerate(q)]
    return max(max(column) / min(column) for column in columns)


@pytest.fixture(scope="module")
def found():
    return {exhibit.key: exhibit.tables[0].rows for exhibit in paper002.exhibits()}


LN2 = log(2)
OPTIMA = {  # nats: the paper's matrix at its best, the optimum of (7), the best of all matrices
    "table1": [
        (0.0103235910, 0.0132828544, 0.0311359840),
        (0.0518086297, 0.0661886917, 0.1232712131),
        (0.0859876008, 0.1780890955, 0.2723942782),
        (0.2788428610, 0.3591376054, 0.4677116466),
    ],
    "table2": [
        (0.0126047635, 0.0128992519, 0.0311168582),
        (0.0596497152, 0.0640336905, 0.1232806649),
        (0.1579668949, 0.1715649498, 0.2707661013),
        (0.2891460166, 0.3444133498, 0.4611887105),
    ],
}


@pytest.mark.parametrize("key", OPTIMA)
@pytest.mark.long
def test_the_printed_matrices_are_not_optimal(found, key):
    for row, (paper, ours, every) in zip(found[key], OPTIMA[key], strict=True):
        assert float(row[2]) * LN2 == pytest.approx(paper, abs=2e-10)
        assert float(row[3].value) * LN2 == pytest.approx(ours, abs=2e-10)
        assert float(row[5].value) * LN2 == pytest.approx(every, abs=2e-10)
        assert "less" in row[-1]


@pytest.mark.long
def test_table_4_is_optimal_from_alpha_1_on(found):
    assert ["less" in row[-1] for row in found["table4"]] == [True, False, False, False]
    assert float(found["table4"][0][2]) * LN2 == pytest.approx(0.0030993217, abs=1e-10)


@pytest.mark.long
def test_a_minimal_entry_never_wins_in_scenario_three(found):
    assert all(float(row[2]) <= float(row[4].value) for row in found["table3"])


@pytest.mark.long
def test_the_ends_of_figure_5_break_the_promise(found):
    notes = [row[-1] for row in found["figure5"]]
    assert [k for k, note in enumerate(notes) if "E11" in note] == [0, 5]


def test_the_matrices_keep_the_level_where_the_paper_is_right():
    for counts in ((3, 7, 0, 0), (0, 9, 0, 1), (9, 0, 1, 0)):
        q = [Fraction(v) for v in matrices(10, 1.0, counts)[0]]
        assert level(q) <= Fraction(exp(1.0)) * (1 + Fraction(1, 10**12))


def test_information_by_its_definition():
    p, q = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [0.5, 0.2, 0.7]
    rows = np.array([[q[x] if x == y else (1 - q[x]) / 2 for y in range(3)] for x in range(3)])
    joint = rows * np.array([[float(v)] for v in p])
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    assert informed(p, q) == pytest.approx(float((joint * np.log2(joint / product)).sum()))


@pytest.mark.long
def test_both_estimates_recover_p_and_ours_are_closer(found):
    for key in ("table1", "table2"):
        for row in found[key]:
            unbiased, likely, ours, ours_likely = map(float, row[7:11])
            assert ours <= unbiased
            assert ours_likely <= likely <= unbiased + 1e-4  # a law is never farther than its projection, on average
    mean = [float(row[3]) for row in found["figure5"][:6]]
    assert mean[0] == pytest.approx(101916 / 210150, abs=5 * 0.05 / 10)


@pytest.mark.long
def test_the_correction_takes_the_bias_of_the_information_away(found):
    bias = 1 / (2 * 210150 * LN2)
    assert float(found["figure6"][5][2]) == pytest.approx(bias, rel=0.5)
    assert abs(float(found["figure6"][5][3])) < bias / 2
