"""Packages that list their names and import the module of a name when somebody first asks for it.

A command that needs one module of a room does not pay for the others, nor for the libraries that those need.
"""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["opened_when_asked"]


@cache
def _modules(package: str) -> dict[str, str]:
    """{name: its module}, as the imports under `if TYPE_CHECKING` of the package say."""
    spec = find_spec(package)
    source = spec.loader.get_source(package) if spec and spec.loader else None  # type: ignore[attr-defined]
    blocks = [node for node in ast.parse(source or "").body if isinstance(node, ast.If)]
    lines = [line for block in blocks for line in block.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in lines for alias in line.names}


def opened_when_asked(package: str) -> Callable[[str], Any]:
    """`__getattr__` of a package whose names are imported under `if TYPE_CHECKING`, each with its first use.

    A name must not be that of a module of the package, which Python would put in its place.

    Parameters
    ----------
    package : str
        `__name__` of the package.

    Returns
    -------
    callable
        From a name to what the package shows under it; AttributeError if it shows none.

    Examples
    --------
    >>> import dalenius.solvers
    >>> dalenius.solvers.rank([[1, 2], [2, 4]])
    1
    """

    def asked(name: str) -> Any:
        if name.startswith("__") or (module := _modules(package).get(name)) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(module), name)
        setattr(sys.modules[package], name, found)  # the next one who asks finds it there
        return found

    return asked
