"""The checker as one file for those who install nothing: its modules one after the other, and its command line."""

import ast
from importlib.resources import files

__all__ = ["exported"]

ROOM = "dalenius.kernel"
HEADER = '''#!/usr/bin/env python3
"""Checks a design.json or card.json of Dalenius {version}. Needs Python 3.11 and nothing else.

    python3 verifier.py [--privacy] [--work OPERATIONS] design.json

Exit 0: every claim is proved. Exit 4: a claim is refused, and the reason printed. Exit 2: the file cannot be read.
The rest of this file is the checker of the package, module after module.
"""
'''
FOOTER = """

# === command line ===

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def _source(module: str) -> str:
    return files(ROOM).joinpath(f"{module}.py").read_text(encoding="utf-8")


def _split(source: str) -> tuple[list[str], str]:
    """The modules of the kernel that a module imports, and its text without those imports."""
    needs = []
    dropped: set[int] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(f"{ROOM}."):
            needs.append(node.module.removeprefix(f"{ROOM}."))
            dropped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = [line for number, line in enumerate(source.splitlines(), 1) if number not in dropped]
    return needs, "\n".join(lines).strip("\n")


def _ordered(module: str, known: dict[str, str]) -> None:
    """Add a module to those that are known, after all that it needs."""
    needs, text = _split(_source(module))
    for other in needs:
        if other not in known:
            _ordered(other, known)
    known[module] = text


def exported(version: str, start: str = "command") -> str:
    """The text of the file.

    Parameters
    ----------
    version : str
        Of the package.
    start : str
        The module whose `main` is the command line; all that it needs comes before it.

    Returns
    -------
    str
        A program that needs nothing but Python.

    >>> "import dalenius" in exported("1.0") or "from dalenius" in exported("1.0")
    False
    """
    known: dict[str, str] = {}
    _ordered(start, known)
    parts = [f"\n\n# === {module} ===\n\n{text}\n" for module, text in known.items()]
    return HEADER.format(version=version) + "".join(parts) + FOOTER
