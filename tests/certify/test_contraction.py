"""The proof of a contraction coefficient: tight, never below the truth, and refused where it is exceeded."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.certify.contraction import coefficient, contraction
from dalenius.certify.cuts import cuts
from dalenius.errors import NotCertified

ROWS = st.integers(2, 4).flatmap(
    lambda m: st.lists(st.lists(st.integers(0, 9), min_size=m, max_size=m).filter(any), min_size=2, max_size=4)
)


def scaled(rows: list[list[int]]) -> list[list[int]]:
    total = int(np.lcm.reduce([sum(row) for row in rows]))
    return [[v * (total // sum(row)) for v in row] for row in rows]


@pytest.mark.parametrize(
    ("rows", "truth"),
    [
        ([[9, 1], [1, 9]], Fraction(16, 25)),  # binary symmetric: (1 - 2 D)^2
        ([[7, 3, 0], [0, 3, 7]], Fraction(7, 10)),  # erasure: 1 - e
        ([[10, 0], [3, 7]], Fraction(7, 10)),  # Z: 1 - z, reached at the end of the interval only
        ([[1, 1], [1, 1]], Fraction(0)),
        ([[1, 0], [0, 1]], Fraction(1)),
    ],
)
def test_closed_forms(rows: list[list[int]], truth: Fraction) -> None:
    assert 0 <= coefficient(rows) - truth <= Fraction(1, 10**15)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.lists(st.integers(1, 50), min_size=4, max_size=4), st.lists(st.integers(0, 50), min_size=4, max_size=4))
def test_no_pair_of_priors_passes_the_bound(rows: list[list[int]], p: list[int], q: list[int]) -> None:
    """D(QW || PW) <= eta D(Q || P): the definition, tried on laws of the input."""
    w = np.array(rows, dtype=float) / np.array(rows).sum(axis=1)[:, None]
    a, b = (np.array(v[: len(w)], dtype=float) for v in (q, p))
    a, b = a / a.sum() if a.any() else b / b.sum(), b / b.sum()

    def divergence(u: np.ndarray, v: np.ndarray) -> float:
        return float(sum(x * np.log(x / y) for x, y in zip(u, v, strict=True) if x))

    assert divergence(a @ w, b @ w) <= float(coefficient(scaled(rows))) * divergence(a, b) + 1e-12


def test_the_promise_is_compared_exactly() -> None:
    rows = [[9, 1], [1, 9]]
    assert contraction(rows, [], {"contraction": "0.640000000001"})["eta_kl"].startswith("0.64")
    with pytest.raises(NotCertified, match="more than promised"):
        contraction(rows, [], {"contraction": "0.639999999999"})
    with pytest.raises(NotCertified, match="without kept columns"):
        contraction(rows, ["sex"], {"contraction": "1"})


def test_cuts_never_exceed_the_coefficient() -> None:
    """Whatever the slopes, the linear function of a cut lies below eta_KL on every channel."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        w = rng.dirichlet(np.ones(3), 3)
        a, b = rng.normal(size=3), rng.random()
        tilt = [[0] * 3 for _ in range(3)]
        cut = {"pair": [0, 2], "b": repr(float(b)), "weight": "1", "a": [repr(round(float(v), 6)) for v in a]}
        assert cuts(tilt, [cut], {"contraction": "1/5"}, 10**9) == Fraction(1, 5)
        m = b * w[0] + (1 - b) * w[2]
        truth = b * (1 - b) * float(((w[0] - w[2]) ** 2 / m).sum())
        assert float((np.array(tilt, dtype=float) / 1e9 * w).sum()) <= truth + 1e-6


@pytest.mark.parametrize("wrong", [{"weight": "-1"}, {"b": "2"}, {"pair": [1, 1]}, {"pair": [-1, 0]}])
def test_a_cut_out_of_range_is_refused(wrong: dict[str, object]) -> None:
    cut = {"pair": [0, 1], "b": "1/2", "weight": "1", "a": ["0", "0"]} | wrong
    with pytest.raises(NotCertified, match="out of range"):
        cuts([[0, 0], [0, 0]], [cut], {"contraction": "1"}, 1)
