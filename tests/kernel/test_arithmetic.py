"""The numbers of the kernel against other ways to compute them."""

import math
import random
from decimal import Context, Decimal
from fractions import Fraction

import pytest

from dalenius.kernel import logs
from dalenius.kernel.adversary import Capacity, contraction
from dalenius.kernel.document import read_document
from dalenius.kernel.intervals import _surprise, upper_end
from dalenius.kernel.logs import BITS, entropy, exp, log2, nats, times_log2
from dalenius.kernel.numbers import Node, Refused, Work, common_denominator, down, fraction, parsed, up
from tests.kernel.documents import design, text_of

PLENTY = 10**12


def test_logarithms_enclose_those_of_long_powers():
    chance = random.Random(1)
    for _ in range(200):
        a, b = chance.randrange(1, 1 << chance.randrange(1, 400)), chance.randrange(1, 1 << chance.randrange(1, 400))
        low, high = log2(a, b)
        assert 0 <= high - low <= 3
        # 2^(low / 2^BITS) <= a / b, raised to the power 64: whole numbers, and the integer part must agree
        whole = 64 * low >> BITS
        power = Fraction(a, b) ** 64
        assert Fraction(2) ** whole <= power < Fraction(2) ** (whole + 2)
        assert abs(low / 2**BITS - (math.log2(a) - math.log2(b))) < 1e-9


def encloses_of_long_numbers():
    """Whether the logarithms of quotients of long numbers, also of nearly equal ones, lie between their bounds."""
    chance = random.Random(2)
    context = Context(prec=90)
    log2.cache_clear()
    for _ in range(60):
        b = chance.getrandbits(chance.randrange(513, 13_000)) | 1
        a = chance.choice([chance.getrandbits(chance.randrange(1, 13_000)) | 1, b + chance.randrange(1, 1 << 60)])
        low, high = log2(a, b)
        apart = context.subtract(context.ln(Decimal(a)), context.ln(Decimal(b)))
        exact = context.multiply(context.divide(apart, context.ln(Decimal(2))), Decimal(1 << BITS))
        if high - low > 3 or not low <= context.to_integral_exact(exact) <= high:
            return False
    return True


def test_of_long_numbers_the_leading_bits_are_enough(monkeypatch):
    assert encloses_of_long_numbers()
    monkeypatch.setattr(logs, "LEADING", 150)
    assert not encloses_of_long_numbers()
    log2.cache_clear()


def test_a_logarithm_of_a_power_of_two_is_exact():
    assert log2(1 << 70, 1 << 3) == (67 << BITS, 67 << BITS)
    assert times_log2(Fraction(0), Fraction(7)) == (0, 0)


def test_a_logarithm_of_zero_is_refused():
    with pytest.raises(Refused):
        log2(0)


@pytest.mark.parametrize("x", [Fraction(1, 10**6), Fraction(1), Fraction(7, 3), Fraction(40), Fraction(100)])
def test_exponentials_enclose_the_series(x):
    low, high = exp(x)
    series, term = Fraction(0), Fraction(1)
    for k in range(1, 400):
        series += term
        term = term * x / k
    assert low <= series + Fraction(1, 10**40)
    assert series <= high
    assert (high - low) / low < Fraction(1, 10**15)


def test_nats_lie_above_the_logarithm():
    for q in (Fraction(3, 2), Fraction(10), Fraction(10**9 + 1, 10**9)):
        assert exp(nats(q), 128)[1] >= q
        assert float(nats(q)) == pytest.approx(math.log(q), rel=1e-12)


def test_entropies_enclose():
    low, high = entropy([1, 1, 2], Work(PLENTY))
    assert low == high == Fraction(3, 2)
    low, high = entropy([1, 2], Work(PLENTY))
    assert low < high
    assert float(low) == pytest.approx(math.log2(3) - 2 / 3)


def test_decimals_are_rounded_against_us():
    for q in (Fraction(1, 3), Fraction(-1, 3), Fraction(5), Fraction(0), Fraction(-7, 2)):
        assert fraction(down(q, 5)) <= q <= fraction(up(q, 5))
        assert fraction(up(q, 5)) - fraction(down(q, 5)) <= Fraction(1, 10**5)


def test_long_numbers_cost_more():
    short, long = Work(PLENTY), Work(PLENTY)
    short.spend(10, 100)
    long.spend(10, 10_000)
    assert long.spent > 100 * short.spent
    with pytest.raises(Refused, match="operations"):
        Work(10).spend(11)
    with pytest.raises(Refused, match="operations"):
        common_denominator((Fraction(1, 10**600 + 2 * k + 1) for k in range(1000)), Work(1000))


def test_paths_name_their_place():
    with pytest.raises(Refused, match=r"^\$\.a\[1\]\.b: a list is expected$"):
        parsed('{"a":[0,{"b":"x"}]}').fields("a")[0].items()[1].fields("b")[0].items()
    with pytest.raises(Refused, match="an object is expected"):
        Node([]).fields("a")
    with pytest.raises(Refused, match="true or false"):
        Node(1).flag()


def tail(m, n, p):
    """P(Bin(n, p) <= m), exactly."""
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(m + 1))


@pytest.mark.parametrize(("m", "n"), [(0, 30), (1, 30), (7, 30), (15, 30), (29, 30), (3, 200), (150, 200)])
def test_ends_of_intervals_are_safe_and_near(m, n):
    surprise = Fraction(10)
    p = upper_end(m, n, surprise)
    assert tail(m, n, p) <= Fraction(1, 2**10)
    assert tail(m, n, p - Fraction(1, 20) * (1 - Fraction(m, n))) > Fraction(1, 2**10)


def test_nothing_surprises_at_the_share_itself():
    assert _surprise(5, 10, Fraction(1, 2)) == _surprise(5, 10, Fraction(1, 3)) == _surprise(0, 10, Fraction(0)) == 0


def test_a_dense_release_has_no_matrix_for_each_column():
    release = read_document(text_of(design())).release
    with pytest.raises(Refused, match="has no matrix for each column"):
        release.information_of_each()


def test_a_full_cell_has_no_upper_end():
    assert upper_end(30, 30, Fraction(10)) == 1


def test_contraction_lies_above_every_mixture():
    chance = random.Random(5)
    for _ in range(20):
        rows = []
        for _ in range(3):
            cuts = sorted(chance.randrange(1001) for _ in range(3))
            rows.append([b - a for a, b in zip([0, *cuts], [*cuts, 1000], strict=True)])
        most = 0.0
        for p in rows:
            for q in rows:
                for b in range(1, 200):
                    b /= 200
                    parts = [(b * u + (1 - b) * v, u - v) for u, v in zip(p, q, strict=True) if u or v]
                    most = max(most, b * (1 - b) * sum(d * d / m for m, d in parts) / 1000)
        found = float(contraction(rows, Work(PLENTY)))
        assert most - 1e-12 <= found <= most + 1e-3


def learned(rows, prior):
    out = [sum(p * row[y] for p, row in zip(prior, rows, strict=True)) for y in range(len(rows[0]))]
    return sum(
        p * v * math.log2(v / out[y]) for p, row in zip(prior, rows, strict=True) for y, v in enumerate(row) if p * v
    )


def test_capacity_lies_above_what_any_prior_learns():
    chance = random.Random(6)
    rows = [[4, 2, 2, 1], [2, 4, 1, 2], [2, 1, 4, 2], [1, 2, 2, 4]]
    bound = Capacity([2, 2], 9, rows, Work(PLENTY)).bound(2, Node(None))
    for _ in range(300):
        weights = [chance.random() ** 3 for _ in rows]
        told = learned([[v / 9 for v in row] for row in rows], [w / sum(weights) for w in weights])
        assert told <= float(bound) + 1e-12
    assert float(bound) == pytest.approx(learned([[v / 9 for v in row] for row in rows], [0.25] * 4))
    with pytest.raises(Refused, match="fewer inputs"):
        Capacity([2, 2], 9, rows, Work(PLENTY)).bound(3, Node(None))
    with pytest.raises(Refused, match="not a law"):
        Capacity([2, 2], 9, rows, Work(PLENTY)).bound(1, Node([[{"node": "centre", "law": ["1", "1"]}]]))
