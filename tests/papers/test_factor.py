"""The worst leakage factor: partitions against the reference and against random secrets."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Channel, Pmf
from dalenius.measures.correlation import s_star
from dalenius.papers.factor import worst_factor

W10 = [[7, 1, 1, 1], [1, 6, 2, 1], [2, 1, 5, 2], [0, 1, 2, 7]]
LETTERS = tuple("0123")


def reference() -> tuple[Pmf, Channel]:
    rows = tuple(tuple(Fraction(v, sum(row)) for v in row) for row in W10)
    prior = Pmf.from_records({"X": LETTERS}, [((x,), w) for x, w in zip(LETTERS, (4, 3, 2, 1), strict=True)])
    return prior, Channel({"X": LETTERS}, {"Y": LETTERS}, rows)


@pytest.mark.long
def test_the_worst_partition_of_the_reference() -> None:
    found = worst_factor(*reference())
    assert found.low == pytest.approx(0.2946702131523428, abs=1e-9)
    assert found.classes == (0, 0, 0, 1)
    assert s_star(*reference())[0] == pytest.approx(0.37903005824, abs=1e-6)  # valid, but not tight


@pytest.mark.long
def test_no_random_secret_has_a_larger_factor() -> None:
    prior, channel = reference()
    high = worst_factor(prior, channel).high
    rng, w = np.random.default_rng(0), np.array(channel.rows, dtype=float)
    for _ in range(3000):
        given = rng.dirichlet(np.full(int(rng.integers(2, 6)), rng.choice([0.02, 0.1, 0.5])), 4)
        joint = (np.array([0.4, 0.3, 0.2, 0.1])[:, None] * given).T @ w
        s, y = joint.sum(axis=1), joint.sum(axis=0)
        h = -float((s * np.log(np.maximum(s, 1e-300))).sum())
        product = np.outer(s, y)
        told = float((joint * np.log(np.where(joint > 0, joint / np.maximum(product, 1e-300), 1.0))).sum())
        assert h < 1e-9 or told / h <= high + 1e-9


def test_many_letters_have_a_bracket() -> None:
    n = 12
    letters = tuple(map(str, range(n)))
    rows = tuple(tuple(Fraction(1, 2) if y in (x, (x + 1) % n) else Fraction(0) for y in range(n)) for x in range(n))
    prior = Pmf.from_records({"X": letters}, [((x,), 1) for x in letters])
    found = worst_factor(prior, Channel({"X": letters}, {"Y": letters}, rows))
    assert 0.7 < found.low < found.high == 1
