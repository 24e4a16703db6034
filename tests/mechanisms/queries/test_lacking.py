"""What answers tell adversaries who lack bits about all records: counts and histograms, beside listed priors."""

from fractions import Fraction
from itertools import product
from math import log2

import numpy as np
import pytest

from dalenius.core.condition import condition
from dalenius.core.query import Interval
from dalenius.core.question import Question
from dalenius.core.source import Column
from dalenius.errors import InputError, Unsupported
from dalenius.mechanisms.queries.asking import asked


def histogram(cells, variance, **rest):
    declared = {"kind": Column(tuple(map(str, range(cells))))}
    return Question("histogram", ("kind",), "discrete-gaussian", Fraction(variance), declared=declared, **rest)


def told(question, records, lacking):
    return asked(question, records, lacking).bits


def most_told(cells, records, variance, lacking, tries=60):
    """The most that random priors of the records tell which leave so many bits open."""
    rng = np.random.default_rng(7)
    reach = int(6 * variance**0.5)
    points = np.arange(-reach, reach + records + 1)

    def law(count):
        weights = np.exp(-((points - count) ** 2) / (2 * variance))
        return weights / weights.sum()

    rows = []
    for outcome in product(range(cells), repeat=records):
        row = np.ones(1)
        for cell in range(cells):
            row = np.outer(row, law(outcome.count(cell))).ravel()
        rows.append(row)
    laws = np.array(rows)
    entropies = -(laws * np.log2(np.maximum(laws, 1e-300))).sum(axis=1)
    most = 0.0
    for _ in range(tries):
        prior = rng.dirichlet(np.full(len(laws), rng.choice([0.05, 0.5, 5])))
        while -(prior * np.log2(np.maximum(prior, 1e-300))).sum() < lacking:
            prior = 0.9 * prior + 0.1 / len(laws)
        out = prior @ laws
        most = max(most, float(-(out * np.log2(np.maximum(out, 1e-300))).sum() - prior @ entropies))
    return most


@pytest.mark.long
@pytest.mark.parametrize(("cells", "records", "variance"), [(2, 4, 4), (3, 3, 9)])
def test_no_prior_tells_more_about_all_records(cells, records, variance):
    for share in (0.5, 0.9):
        lacking = share * records * log2(cells)
        reached = most_told(cells, records, variance, lacking)
        assert 0 < reached <= told(histogram(cells, variance), records, lacking)


@pytest.mark.long
def test_the_more_bits_are_lacking_the_less_a_histogram_tells():
    whole = 60 * log2(3)
    figures = [told(histogram(3, 2500), 60, share * whole) for share in (0.5, 0.99, 1)]
    assert figures[0] > figures[1] > figures[2]
    assert figures[2] < 0.1
    # Records that nobody selects are of one more kind, which is not counted.
    assert told(histogram(3, 2500, where=condition("age >= 65")), 60, 60 * 2) < 0.2


@pytest.mark.parametrize("records", [8, pytest.param(50, marks=pytest.mark.long)])
def test_two_cells_tell_more_than_one_count_and_less_than_two(records):
    count = Question("count", (), "discrete-gaussian", Fraction(400), where=condition("age >= 65"))
    one = told(count, records, 0.9 * records)
    assert one < told(histogram(2, 400), records, 0.9 * records) < 2.1 * one


def test_what_nobody_lacks_is_refused():
    with pytest.raises(InputError, match=r"20 records of 3 kinds hold 31\.69"):
        told(histogram(3, 100), 20, 40)
    ends = Interval(Fraction(0), Fraction(5))
    total = Question("sum", ("rank",), "discrete-gaussian", Fraction(100), between=ends, grid=Fraction(1))
    with pytest.raises(Unsupported, match="may have any digits"):
        told(total, 20, 5)
