"""The floors of the house: a room imports only rooms of a lower floor, or itself; `errors` stands beside them all."""

import ast
from pathlib import Path

import pytest

import dalenius

HOUSE = Path(dalenius.__file__).parent
FLOORS = {"kernel": -2, "stopping": -1, "convert": -1, "wording": -1, "core": 0, "solvers": 0, "measures": 1}
FLOORS |= {"tables": 1, "sampling": 2, "evidence": 2, "designs": 3, "verifying": 4}
FLOORS |= {
    "mechanisms": 3.5,
    "ledger": 3,
    "report": 4,
    "outputs": 4,
    "walk": 5,
    "testing": 5,
    "figures": 5,
    "__init__": 5.5,
    "cli": 6,
    "__main__": 7,
}


def statements(block):
    """Every statement below a node; expressions import nothing."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        for node in getattr(block, name, ()):
            yield node
            yield from statements(node)


def climbs(room, source):
    """Rooms that this source imports from the floor of its own room or from above."""
    found = set()
    for node in statements(ast.parse(source)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = (
                [f"{node.module}.{a.name}" for a in node.names] if node.module == "dalenius" else [node.module or "."]
            )
            assert not node.level, "imports are absolute, so that the floors can be read"
        rooms = {[*n.split("."), "__init__"][1] for n in names if n.split(".")[0] == "dalenius"} - {"errors", room}
        found |= {r for r in rooms if FLOORS.get(r, FLOORS["__init__"]) >= FLOORS[room]}
    return found


def modules():
    return [(f.relative_to(HOUSE).parts[0].removesuffix(".py"), f) for f in sorted(HOUSE.rglob("*.py"))]


def test_every_room_imports_only_lower_floors():
    found = {}
    for room, file in modules():
        source = file.read_text(encoding="utf-8")
        found[file] = ("import" in source) if room == "errors" else climbs(room, source)
    assert len(found) > 100
    assert {file: upward for file, upward in found.items() if upward} == {}


@pytest.mark.parametrize(
    ("room", "planted", "caught"),
    [
        ("core", "from dalenius.designs import solve", {"designs"}),
        ("core", "from dalenius.solvers import walk", {"solvers"}),
        ("kernel", "from dalenius.core.numbers import number", {"core"}),
        ("solvers", "import dalenius.core.pmf", {"core"}),
        ("kernel", "def f():\n    from dalenius.measures import shannon", {"measures"}),
        ("kernel", "from dalenius.convert import canonical", {"convert"}),
        ("convert", "from dalenius.core import Design", {"core"}),
        ("core", "try:\n    x = 1\nexcept E:\n    with a:\n        import dalenius.walk", {"walk"}),
        ("tables", "from dalenius.verifying import verify", {"verifying"}),
        ("designs", "from dalenius import solve", {"solve"}),
        ("designs", "from dalenius import cli", {"cli"}),
        ("report", "import dalenius", {"__init__"}),
        ("evidence", "from dalenius.testing import xor", {"testing"}),
        ("cli", "from dalenius.core import Pmf\nfrom dalenius.errors import InputError", set()),
        ("designs", "import numpy\nfrom dalenius.core import Pmf\nfrom dalenius.designs.proving import proved", set()),
    ],
)
def test_a_planted_upward_import_is_caught(room, planted, caught):
    assert climbs(room, planted) == caught
