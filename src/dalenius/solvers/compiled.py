"""Compiled files of scipy, opened without the packages that they lie in.

Importing such a package brings test tools, other libraries of arrays and a compiler of Fortran along, which takes
longer than what is computed with one function of it.
"""

import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

__all__ = ["compiled"]


def compiled(module: str, *files: str) -> ModuleType:
    """The last of some compiled files, which may ask for those before it; the module itself where that cannot be.

    Parameters
    ----------
    module : str
        What offers the same functions, such as `scipy.linalg.blas`; the files lie in its package.
    files : str
        Their names without their ends, each after those that it needs.

    Returns
    -------
    ModuleType

    >>> compiled("scipy.linalg.blas", "_fblas").ddot([1.0, 2.0], [3.0, 4.0])
    11.0
    """
    import scipy  # opens nothing but itself, and the library that the files need

    package = module.split(".")[1]
    folder = Path(scipy.__file__).parent / package
    try:
        return [_opened(f"scipy.{package}.{file}", folder, file) for file in files][-1]
    except ImportError:  # a file has another place, or asks for more than these
        return import_module(module)


def _opened(full: str, folder: Path, file: str) -> ModuleType:
    """The module of a file, which other modules then find under its full name."""
    if full in sys.modules:
        return sys.modules[full]
    place = next((at for end in EXTENSION_SUFFIXES if (at := folder / (file + end)).is_file()), None)
    if place is None:
        raise ImportError(f"no {file} in {folder}", name=full)
    spec = spec_from_file_location(full, place, loader=ExtensionFileLoader(full, str(place)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[full] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[full]
        raise
    return module
