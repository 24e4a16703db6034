"""One thread of linear algebra: the matrices are small, and a second thread only waits, at three times the cost."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@cache
def _libraries() -> ThreadpoolController:
    import dalenius.solvers.lapack  # noqa: F401  (brings a library of its own, which must be there to be found)

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it, or within a function that it decorates, BLAS works in one thread."""
    with _libraries().limit(limits=1):
        yield
