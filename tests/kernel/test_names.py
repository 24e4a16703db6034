"""The exported checker is one file, so that every name of the kernel has one meaning in all of its modules."""

import ast
from collections import defaultdict
from pathlib import Path

import dalenius.kernel

ROOM = Path(dalenius.kernel.__file__).parent
OUTSIDE = {"__init__", "export"}


def bound_names(tree):
    """Each name that a module binds at its top level, and where it comes from if it was imported from elsewhere."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, None
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from ((name.id, None) for name in ast.walk(target) if isinstance(name, ast.Name))
        elif isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            own = (node.module or "").startswith("dalenius.kernel")
            for alias in node.names:
                assert not own or alias.asname is None, f"{alias.name} would have another name in the exported file"
                if not own:
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def clashes(sources):
    """Names that two modules bind to different things."""
    meanings = defaultdict(set)
    for module, source in sources.items():
        for name, origin in bound_names(ast.parse(source)):
            meanings[name].add(origin or f"module {module}")
    return {name: sorted(found) for name, found in meanings.items() if len(found) > 1}


def test_no_name_has_two_meanings():
    sources = {file.stem: file.read_text(encoding="utf-8") for file in ROOM.glob("*.py") if file.stem not in OUTSIDE}
    assert clashes(sources) == {}


def test_a_second_meaning_is_seen():
    assert clashes({"a": "ONE = 1", "b": "ONE = 2"}) == {"ONE": ["module a", "module b"]}
    assert clashes({"a": "from math import gcd", "b": "def gcd(): pass"}) != {}
    assert clashes({"a": "from math import gcd", "b": "from math import gcd"}) == {}
