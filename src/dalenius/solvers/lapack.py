"""The compiled routines of linear algebra that the solvers call.

They are the ones of `scipy.linalg`. Importing that package brings test tools and a compiler of Fortran along, which
takes longer than a search over a hundred values does, so the two compiled files are opened by themselves.
"""

from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["dgeqp3", "dpotrf", "dpotrs", "dsyrk", "dtrtri", "pivoted"]

Floats = npt.NDArray[np.float64]


def _compiled(name: str) -> ModuleType:
    """A compiled file of scipy.linalg; the package itself where the file has another place."""
    import scipy  # opens nothing but itself, and the library that the file needs

    for suffix in EXTENSION_SUFFIXES:
        place = Path(scipy.__file__).parent / "linalg" / f"_f{name}{suffix}"
        if place.is_file():
            full = f"scipy.linalg._f{name}"
            spec = spec_from_file_location(full, place, loader=ExtensionFileLoader(full, str(place)))
            assert spec is not None
            assert spec.loader is not None
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    from importlib import import_module

    return import_module(f"scipy.linalg.{name}")


_lapack = _compiled("lapack")
_blas = _compiled("blas")
dgeqp3: Any = _lapack.dgeqp3
dpotrf: Any = _lapack.dpotrf
dpotrs: Any = _lapack.dpotrs
dtrtri: Any = _lapack.dtrtri
dsyrk: Any = _blas.dsyrk


def pivoted(matrix: Floats) -> tuple[Floats, npt.NDArray[np.intp]]:
    """The diagonal of R, and the order of the columns, of a QR decomposition with pivots.

    Parameters
    ----------
    matrix : ndarray of float
        (rows, columns).

    Returns
    -------
    tuple[Floats, npt.NDArray[np.intp]]
        (min(rows, columns),) and (columns,).

    >>> sizes, order = pivoted(np.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> np.abs(sizes).tolist(), order.tolist()
    ([2.0, 1.0], [1, 0])
    """
    if not matrix.size:
        return np.zeros(0), np.arange(matrix.shape[1])
    triangle, order, _, _, failed = dgeqp3(matrix)
    assert not failed
    return np.diag(triangle).copy(), np.asarray(order, dtype=np.intp) - 1
