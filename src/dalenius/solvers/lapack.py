"""The compiled routines of linear algebra that the solvers call: those of `scipy.linalg`, without its package."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.solvers.compiled import compiled

__all__ = ["dgeqp3", "dpotrf", "dpotrs", "dsyrk", "dtrtri", "pivoted"]

Floats = npt.NDArray[np.float64]

_lapack = compiled("scipy.linalg.lapack", "_flapack")
_blas = compiled("scipy.linalg.blas", "_fblas")
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
