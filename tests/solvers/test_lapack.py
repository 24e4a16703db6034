"""The compiled routines without their package are those of the package."""

import numpy as np
import pytest
from scipy.linalg import cho_factor, qr

from dalenius.solvers import lapack


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (0, 3)])
def test_pivots_are_those_of_scipy(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(5).normal(size=shape)
    sizes, order = lapack.pivoted(matrix)
    if 0 not in shape:
        _, triangle, expected = qr(matrix, mode="economic", pivoting=True)
        assert order.tolist() == expected.tolist()
        assert np.allclose(np.abs(sizes), np.abs(np.diag(triangle)))
    assert len(sizes) == min(shape)


def test_factors_are_those_of_scipy_and_say_when_there_is_none() -> None:
    root = np.random.default_rng(6).normal(size=(4, 4))
    matrix = root @ root.T + np.eye(4)
    factor, failed = lapack.dpotrf(matrix)
    assert not failed
    assert np.allclose(np.triu(factor), np.triu(cho_factor(matrix)[0]))
    assert np.allclose(matrix @ lapack.dpotrs(factor, np.ones(4))[0], 1.0)
    assert lapack.dpotrf(-matrix)[1] > 0


def test_where_the_compiled_files_lie_elsewhere_the_package_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lapack, "EXTENSION_SUFFIXES", [".nowhere"])
    assert lapack._compiled("lapack").__name__ == "scipy.linalg.lapack"
