"""Adversaries who lack some knowledge: reference brackets, the threshold, Proposition 3, and what does not compose."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dalenius.errors import InputError, Unsupported
from dalenius.measures.balance import (
    balance,
    limited_capacity,
    threshold,
)
from dalenius.solvers.adversary import told
from tests.measures.channels import cases, channel, noisy

LN2 = math.log(2)


def summed():
    """The sum of two bits by the exponential channel with k = 3 and lambda = 1."""
    e = Fraction(math.exp(-1))
    laws = [[1, e, e * e], [e, 1, e * e], [e * e, e, 1]]
    return channel((2, 2), [[v / (1 + e + e * e) for v in laws[a + b]] for a in (0, 1) for b in (0, 1)])


CHANNELS = {
    "xor_rr0.1": lambda: noisy(lambda a, b: a ^ b, (2, 2), "1/10"),
    "and_rr0.1": lambda: noisy(lambda a, b: a & b, (2, 2), "1/10"),
    "sum_exp_k3_lam1": summed,
}
QUICK = ("gb_xor_rr0.1_b1.50", "gb_and_rr0.1_b1.50", "gb_and_rr0.1_b1.75", "gb_sum_exp_k3_lam1_b2.00")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, id=c["name"], marks=() if c["name"] in QUICK else pytest.mark.slow)
        for c in cases("001_capacity.json", "C1_b")
    ],
)
def test_reference_brackets(case):
    low, high = limited_capacity(CHANNELS[case["inputs"]["channel"]](), float(case["inputs"]["b_bits"]))
    wanted = float(case["expected"]["C1b_nats"]) / LN2
    assert low - 1e-11 <= wanted <= high + 1e-11
    assert low == pytest.approx(wanted, abs=1e-9)
    assert high - low <= 2e-4


@pytest.mark.long
def test_no_prior_with_enough_entropy_learns_more():
    law, b = CHANNELS["and_rr0.1"](), 1.75
    high = limited_capacity(law, b)[1]
    rng = np.random.default_rng(0)
    table = np.array([[float(v) for v in row] for row in law.rows]).reshape(2, 2, 2)
    p = rng.dirichlet(np.full(4, 3.0), 20_000)
    p = p[-(p * np.log2(p)).sum(axis=1) >= b]
    assert len(p) > 1000
    assert told(p.reshape(-1, 2, 2), table).max() / LN2 <= high


@pytest.mark.long
@pytest.mark.parametrize(("name", "wanted"), [("xor_rr0.1", 1.0), ("and_rr0.1", 1.5)])
def test_the_threshold_below_which_ignorance_does_not_help(name, wanted):
    law = CHANNELS[name]()
    assert threshold(law) == pytest.approx(wanted, abs=1e-6)
    assert balance(law, wanted - 0.01)[1] < 1e-8
    assert balance(law, wanted + 0.2)[0] > 1e-3


def test_the_threshold_of_a_channel_that_tells_nothing_and_of_one_without_a_formula():
    assert threshold(channel((2, 2), [["1/2", "1/2"]] * 4)) == 2.0
    square = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]]
    law = channel((4,), [[Fraction(v, 2) for v in row] for row in square])
    with pytest.raises(Unsupported, match="not unique"):
        threshold(law)


def test_parity_against_the_uniform_adversary_and_its_missing_level():
    """Noiseless parity with b = n bits: nothing is learnt, and yet no level of differential privacy holds."""
    law = noisy(lambda a, b, c: a ^ b ^ c, (2, 2, 2), 0)
    assert limited_capacity(law, 3.0)[1] < 1e-12
    both = channel(
        (2, 2, 2),
        [[int((a ^ b ^ c, b ^ c) == y) for y in product((0, 1), repeat=2)] for a, b, c in product((0, 1), repeat=3)],
    )
    assert limited_capacity(both, 3.0)[0] == pytest.approx(1.0, abs=1e-9)


def test_refusals():
    law = CHANNELS["xor_rr0.1"]()
    with pytest.raises(InputError, match=r"3.0 bits is asked for; 4 outcomes have at most 2"):
        limited_capacity(law, 3.0)
