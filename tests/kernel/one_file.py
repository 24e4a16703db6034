"""The exported checker as a module of this process, as it is or with an error planted into its text."""

import re
import sys
from functools import cache
from types import ModuleType

from dalenius.kernel.export import exported


@cache
def source():
    return exported("0")


@cache
def _compiled(section):
    return compile(section, "exported_kernel", "exec")


def loaded(text):
    """The module that a text is; sections that were compiled before are not compiled again."""
    name = "exported_kernel"
    module = ModuleType(name)
    sys.modules[name] = module
    try:
        for section in re.split(r"(?m)^(?=# === \w+ ===$)", text):
            exec(_compiled(section), module.__dict__)
    finally:
        del sys.modules[name]
    return module


@cache
def one_file():
    return loaded(source())
