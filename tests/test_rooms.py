"""The plan of the house: floors, which a room imports only from below; forms, asked for in one room; no long module."""

import ast
from functools import cache
from pathlib import Path

import pytest

import dalenius
import dalenius.core.forms

HOUSE = Path(dalenius.__file__).parent
FLOORS = {"kernel": -2, "stopping": -1, "temporary": -1, "rooms": -1, "documents": -1, "wording": -1}
FLOORS |= {"core": 0, "solvers": 0, "measures": 1}
FLOORS |= {"tables": 1, "sampling": 2, "mechanisms": 3, "engines": 4, "evidence": 4, "ledger": 4}
FLOORS |= {
    "verifying": 5,
    "report": 5,
    "outputs": 5,
    "starting": 5,
    "releasing": 6,
    "trading": 6.05,
    "api": 6.1,
    "answering": 6,
    "testing": 6,
    "frames": 6.2,
}
FLOORS |= {"__init__": 6.5, "studio": 6.7}
FLOORS |= {"papers": 7, "convert": 7, "cli": 8, "__main__": 9}


parsed = cache(ast.parse)


def statements(block):
    """Every statement below a node; expressions import nothing."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        for node in getattr(block, name, ()):
            yield node
            yield from statements(node)


def climbs(room, source):
    """Rooms that this source imports from the floor of its own room or from above."""
    found = set()
    for node in statements(parsed(source)):
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
        found[file] = (
            "import dalenius" in source or "from dalenius" in source if room == "errors" else climbs(room, source)
        )
    assert len(found) > 100
    assert {file: upward for file, upward in found.items() if upward} == {}


@pytest.mark.parametrize(
    ("room", "planted", "caught"),
    [
        ("core", "from dalenius.mechanisms import solve", {"mechanisms"}),
        ("core", "from dalenius.solvers import walk", {"solvers"}),
        ("kernel", "from dalenius.core.numbers import number", {"core"}),
        ("solvers", "import dalenius.core.pmf", {"core"}),
        ("kernel", "def f():\n    from dalenius.measures import shannon", {"measures"}),
        ("kernel", "from dalenius.documents import canonical", {"documents"}),
        ("documents", "from dalenius.core import Design", {"core"}),
        ("mechanisms", "from dalenius.convert import converted", {"convert"}),
        ("core", "try:\n    x = 1\nexcept E:\n    with a:\n        import dalenius.api", {"api"}),
        ("tables", "from dalenius.verifying import verify", {"verifying"}),
        ("mechanisms", "from dalenius import solve", {"solve"}),
        ("mechanisms", "from dalenius import cli", {"cli"}),
        ("report", "import dalenius", {"__init__"}),
        ("evidence", "from dalenius.testing import xor", {"testing"}),
        ("sampling", "from dalenius.mechanisms import solve", {"mechanisms"}),
        ("mechanisms", "from dalenius.evidence import Audit", {"evidence"}),
        ("mechanisms", "from dalenius.ledger import Ledger", {"ledger"}),
        ("cli", "from dalenius.core import Pmf\nfrom dalenius.errors import InputError", set()),
        (
            "mechanisms",
            "import numpy\nfrom dalenius.mechanisms.proving import proved",
            set(),
        ),
    ],
)
def test_a_planted_upward_import_is_caught(room, planted, caught):
    assert climbs(room, planted) == caught


# --- which form a channel has, is asked in mechanisms alone ---------------------------------------------------------
FORMS = {form.__name__ for form in vars(dalenius.core.forms).values() if isinstance(form, type)} - {"Channel", "Kernel"}
FORMS -= {name for name in FORMS if name.endswith("Error") or name in ("InvalidChannel", "Unsupported", "Any", "Orbit")}
ASKED_IN = {"mechanisms", "core", "documents", "convert", "kernel", "papers"}
"""Rooms that know forms: those who make and read them; papers draw figures of single ones."""


def cases_of_forms(source):
    """The forms that a source asks for by `isinstance` or `match`."""
    found = set()
    for node in ast.walk(parsed(source)):
        named = []
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
        ):
            named = ast.walk(node.args[1])
        elif isinstance(node, ast.MatchClass):
            named = ast.walk(node.cls)
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "form":
            found |= {c.value for c in node.comparators if isinstance(c, ast.Constant) and c.value in FORM_NAMES}
        found |= {n.id if isinstance(n, ast.Name) else n.attr for n in named if isinstance(n, ast.Name | ast.Attribute)}
    return found & (FORMS | FORM_NAMES)


FORM_NAMES = set(dalenius.core.forms.FORMS)


def test_no_case_of_a_form_outside_mechanisms():
    assert {"Orbits", "Pram", "Noise", "Strata"} <= FORMS
    found = {
        file: cases
        for room, file in modules()
        if room not in ASKED_IN and (cases := cases_of_forms(file.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("planted", "caught"),
    [
        ("if isinstance(channel, Orbits):\n    pass", {"Orbits"}),
        ("x = [c for c in cs if isinstance(c, Pram | forms.Noise)]", {"Pram", "Noise"}),
        ("match c:\n    case Strata():\n        pass", {"Strata"}),
        ('if channel.form == "noise":\n    pass', {"noise"}),
        ("if isinstance(channel, Kernel):\n    pass", set()),
        ("if channel.form is None:\n    pass", set()),
    ],
)
def test_a_planted_case_of_a_form_is_caught(planted, caught):
    assert cases_of_forms(planted) == caught


# --- a report reads the typed design, never its JSON ----------------------------------------------------------------
PLAIN_VALUES = {"to_json", "outline", "card", "read_told", "told_design", "told_card"}


def plain_values(source):
    """The calls of a source that turn a noun into plain values."""
    called = (node.func for node in ast.walk(parsed(source)) if isinstance(node, ast.Call))
    names = {
        f.attr if isinstance(f, ast.Attribute) else f.id for f in called if isinstance(f, ast.Attribute | ast.Name)
    }
    return names & PLAIN_VALUES


def test_a_report_reads_the_typed_design():
    found = {file: calls for room, file in modules() if room == "report" if (calls := plain_values(file.read_text()))}
    assert found == {}


@pytest.mark.parametrize(
    ("planted", "caught"),
    [("x = design.outline()", {"outline"}), ("x = told_card(a, b)", {"told_card"}), ("x = design.value", set())],
)
def test_a_planted_reading_of_json_is_caught(planted, caught):
    assert plain_values(planted) == caught


# --- no module is longer than can be read in one go -----------------------------------------------------------------
PROJECT = Path(__file__).parents[1]
MOST_LINES = 500


def too_long(lines):
    """Which modules have more lines than they may, of those with so many lines."""
    return {name: many for name, many in lines.items() if many > MOST_LINES}


def lines_of(folder):
    files = sorted((PROJECT / folder).rglob("*.py"))
    return {str(file.relative_to(PROJECT)): len(file.read_text(encoding="utf-8").splitlines()) for file in files}


@pytest.mark.parametrize("folder", ["src", "tests", "scripts", "benchmarks"])
def test_no_module_is_too_long(folder):
    lines = lines_of(folder)
    assert lines
    assert too_long(lines) == {}, "look for the second noun in it"


def test_a_long_module_is_seen():
    assert too_long({"src/dalenius/all.py": 501, "tests/kernel/hostile.py": 500}) == {"src/dalenius/all.py": 501}
