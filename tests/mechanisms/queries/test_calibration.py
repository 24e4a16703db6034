"""Calibration: published parameters, both proofs beside each other, the comparison, refusals."""

import json
from fractions import Fraction
from math import log
from pathlib import Path

import pytest

from dalenius.core.query import Interval, Query
from dalenius.errors import InputError, Unsupported
from dalenius.measures.noise import exponential_rate, response_probability
from dalenius.measures.query import query_capacity
from dalenius.mechanisms.queries.calibration import calibrate, compared

ORACLE = json.loads((Path(__file__).parents[2] / "oracle/001_queries.json").read_text())["cases"]
F = Fraction
BITS = ("0", "1")
UNIT = Interval(F(-1), F(1))


def nats(text):
    value = F(text[4:])
    return value / F(log(2)) if text.startswith("nats") else value


LONG = {"gauss_calib_nats1.0", "gauss_calib_bits1"}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, id=c["name"], marks=[pytest.mark.slow] if c["name"] in LONG else [])
        for c in ORACLE
        if c["kind"] == "gaussian_calibration"
    ],
)
def test_gaussian_noise_for_a_mean(case):
    budget = nats(case["inputs"]["eps_unit"])
    found = calibrate(Query(7, UNIT, "mean", "gaussian", F(1)), budget, resolution=1e-8)
    wanted = float(case["expected"]["N_true_over_T2"])
    assert found.proved[1] <= budget < found.beside_proved[0]
    assert float(found.beside) <= wanted * (1 + 1e-9)
    assert float(found.parameter) == pytest.approx(wanted, rel=3e-8)
    assert float(found.parameter) >= wanted * (1 - 1e-9)


@pytest.mark.slow
def test_one_nat_needs_less_than_half_of_the_variance_of_equation_117():
    budget = F(1) / F(log(2))
    found = calibrate(Query(7, UNIT, "mean", "gaussian", F(1)), budget, resolution=1e-4)
    assert found.proved[1] <= budget
    assert 1 / (2.718281828459045**2 - 1) / float(found.parameter) >= 2.05


@pytest.mark.parametrize(
    ("query", "budget"),
    [
        (Query(6, (BITS,) * 6, "count", "geometric", F(1, 2)), F(1, 5)),
        (Query(6, (BITS,) * 6, "count", "exponential", F(1, 2)), F(1, 5)),
        (Query(6, (BITS,) * 6, "parity", "randomised-response", F(1, 3)), F(1, 5)),
        (Query(6, (BITS,) * 6, "sum", "gaussian", F(1)), F(1, 5)),
        (Query(6, (BITS,) * 6, "sum", "laplace", F(1)), F(1, 5)),
        (Query(2, (("0", "1", "2"),) * 2, "histogram", "geometric", F(1, 2)), F(1, 2)),
        (Query(6, UNIT, "sum", "laplace", F(1)), F(3, 10)),
    ],
    ids=lambda v: f"{v.kind}-{v.noise}" if isinstance(v, Query) else "",
)
def test_both_proofs_stand_beside_each_other(query, budget):
    found = calibrate(query, budget, resolution=1e-7)
    again, less = query_capacity(query.at(found.parameter)), query_capacity(query.at(found.beside))
    assert again.high <= budget < less.low
    assert float(found.parameter) == pytest.approx(float(found.beside), rel=1e-4)


@pytest.mark.parametrize("against", ["any", "independent"])
def test_the_values_of_a_million_records_are_not_listed(against, monkeypatch):
    """It took 27 seconds to list and sort them, for where the search begins."""
    monkeypatch.setattr(Query, "values", property(lambda _: pytest.fail("listed")))
    found = calibrate(Query(10**6, (BITS,) * 10**6, "count", "gaussian", F(1)), F(1, 10), against=against)
    assert found.proved[1] <= 0.1 < found.beside_proved[0]


def test_closed_forms_agree():
    found = calibrate(Query(3, (BITS,) * 3, "parity", "randomised-response", F(1, 4)), F(1, 10))
    assert float(found.parameter) == pytest.approx(float(response_probability(F(1, 10))[0]), rel=1e-8)
    itself = Query(1, (tuple("01234"),), "sum", "exponential", F(1))
    found = calibrate(itself, F(1))
    assert float(found.parameter) == pytest.approx(float(exponential_rate(5, F(1))[0]), rel=1e-8)


def test_a_budget_that_everything_keeps():
    found = calibrate(Query(3, (BITS,) * 3, "parity", "randomised-response", F(1, 4)), F(2))
    assert found.parameter == 0
    assert found.beside is None


def test_the_comparison_says_its_meaning():  # E3
    rows = compared(Query(12, (BITS,) * 12, "sum", "geometric", F(1, 2)), F(1, 10))
    of = {(c.noise, c.against): c.deviation for c in rows}
    for noise in ("laplace", "gaussian"):  # records that hang together cost a factor of about n
        ratio = of[noise, "any attacker"] / of[noise, "independent records"]
        assert ratio == pytest.approx(12, rel=1e-2)
    assert of["gaussian", "any attacker"] <= of["gaussian by (117)", "any attacker"]


def test_refusals():
    query = Query(3, (BITS,) * 3, "parity", "randomised-response", F(1, 4))
    with pytest.raises(InputError, match="above 0 bits"):
        calibrate(query, F(0))
    rows = ((F(1), F(0)), (F(0), F(1)))
    table = Query(3, (BITS,) * 3, "parity", "table", None, kernel=(("a", "b"), rows))
    with pytest.raises(Unsupported, match="no parameter"):
        calibrate(table, F(1))
