"""The compiled routines without their package are those of the package."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.special
from scipy.linalg import cho_factor, qr

from dalenius.solvers import compiled, lapack, special


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


def test_special_functions_are_those_of_scipy() -> None:
    for name in special.__all__:
        assert getattr(special, name) is getattr(scipy.special, name)


@pytest.mark.parametrize("first", ["dalenius.solvers.special", "scipy.special"])
def test_one_copy_of_the_special_functions_is_opened_whoever_comes_first(first: str) -> None:
    then = "scipy.special" if first == "dalenius.solvers.special" else "dalenius.solvers.special"
    program = f"""
import sys, {first}
assert ("scipy.special" in sys.modules) == ({first!r} == "scipy.special")
import {then}, scipy.stats
assert dalenius.solvers.special.betaincinv is scipy.special.betaincinv
assert abs(scipy.stats.beta.ppf(0.1, 3, 4) - dalenius.solvers.special.betaincinv(3.0, 4.0, 0.1)) < 1e-15
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_where_the_compiled_files_lie_elsewhere_the_package_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "EXTENSION_SUFFIXES", [".nowhere"])
    monkeypatch.delitem(sys.modules, "scipy.linalg._flapack", raising=False)
    assert compiled.compiled("scipy.linalg.lapack", "_flapack").__name__ == "scipy.linalg.lapack"


def test_a_file_that_cannot_be_opened_leaves_no_module_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "linalg").mkdir()
    (tmp_path / "linalg" / "_broken.so").write_text("no library")
    monkeypatch.setattr(compiled, "EXTENSION_SUFFIXES", [".so"])
    monkeypatch.setattr(scipy, "__file__", str(tmp_path / "__init__.py"))
    assert compiled.compiled("scipy.linalg.blas", "_broken").__name__ == "scipy.linalg.blas"
    assert "scipy.linalg._broken" not in sys.modules
