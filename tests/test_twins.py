"""No logic stands twice: no two places of the package have the same statements but for the names of variables.

Statements are compared as syntax trees. A variable is known by the order in which it occurs, so that a renamed copy is
one; attributes, functions that are called and constants are compared as they are.
"""

import ast
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "dalenius"
LEAST = 42  # nodes of the tree: about three lines
APART = {
    # The kernel imports nothing of ours and shows nothing that a search needs; what is searched with is not trusted.
    ("core/reading.py", "kernel/release.py"),
    ("kernel/within.py", "measures/corners.py"),
    # The end of a level of two trees whose bounds are found in other ways.
    ("solvers/staircase.py", "solvers/staircase_worlds.py"),
    # Two rules for noise begin with the same refusal.
    ("kernel/noise_bound.py", "kernel/noise_bound.py"),
    # Masses beside what leaves as it is: one rule keeps them by input, and each counts its own work.
    ("kernel/short.py", "kernel/subsets.py"),
    # The script travels without this package, and bounds quotients and coefficients as the command does.
    ("evidence/travelling_means.py", "measures/contrasts.py"),
    ("evidence/travelling_regressions.py", "measures/regression.py"),
    # Two figures begin with empty rows and curves.
    ("papers/paper000_chains.py", "papers/paper002.py"),
    # Buckets are read back alike; rows are then sorted by a word that may tie, persons by the hash of a name.
    ("sampling/ordering.py", "tables/persons.py"),
    # Words and leading bits come from the same key stream, the words from another counter for each piece.
    ("sampling/stream.py", "sampling/stream.py"),
    # A search leaves out the cells that are closed, and later those that doubles cannot go on with.
    ("solvers/cells.py", "solvers/cells.py"),
    # Columns of two programs are declared alike and filled by other rules.
    ("solvers/funnel/faces.py", "solvers/moving_box.py"),
    # Corners and the values at them are cut at the same place.
    ("solvers/funnel/subdivision.py", "solvers/funnel/subdivision.py"),
    # Two interior points, of which one has a simplex for each atom (docs/decisions/040).
    ("solvers/interior.py", "solvers/scaled.py"),
}


def shape(statements):
    """The statements without the names of their variables."""
    names = {}
    found = []

    def visit(node):
        found.append(type(node).__name__)
        for field, value in ast.iter_fields(node):
            if field in ("ctx", "returns", "type_comment") or (field == "annotation" and isinstance(node, ast.arg)):
                continue
            if isinstance(node, ast.Call) and field == "func" and isinstance(value, ast.Name):
                found.append(value.id)
            elif isinstance(value, ast.AST):
                visit(value)
            elif isinstance(value, list):
                for one in value:
                    visit(one) if isinstance(one, ast.AST) else found.append(one)
            elif isinstance(node, ast.Name | ast.arg):
                found.append(names.setdefault(value, len(names)))
            else:
                found.append(value)

    for statement in statements:
        visit(statement)
    return tuple(map(repr, found))


def said(statement):
    """Whether it does something: a docstring and an import do not."""
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return not text and not isinstance(statement, ast.Import | ast.ImportFrom)


def runs(source):
    """From each statement on, the shortest run that is long enough, with its line."""
    sizes = {}

    def size(node):
        sizes[node] = 1 + sum(map(size, ast.iter_child_nodes(node)))
        return sizes[node]

    tree = ast.parse(source)
    size(tree)
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if not isinstance(body, list) or isinstance(node, ast.Module | ast.ClassDef):
                continue
            body = [statement for statement in body if said(statement)]
            for first in range(len(body)):
                total = 0
                for last in range(first, len(body)):
                    total += sizes[body[last]]
                    if total >= LEAST:
                        yield body[first].lineno, shape(body[first : last + 1])
                        break


def twins(sources):
    """Pairs of places, each as (file, line), that have the same run of statements."""
    places = defaultdict(list)
    for name, source in sources.items():
        for line, run in runs(source):
            places[hash(run)].append((name, line))
    return [(one, other) for found in places.values() for one, other in pairwise(found)]


COPIED = """
def first(values, limit):
    found = [value for value in values if value.weight > limit and value.name.startswith("a")]
    total = sum(value.weight * value.share for value in found)
    rest = limit - total / max(1, len(found))
    return sorted(found, key=lambda value: value.weight - rest)
"""


def test_a_planted_twin_is_caught():
    renamed = COPIED.replace("value", "entry").replace("found", "kept").replace("first", "second")
    assert twins({"a.py": COPIED, "b.py": renamed})
    assert not twins({"a.py": COPIED, "b.py": renamed.replace(".weight", ".mass")})


@pytest.mark.long
def test_no_logic_stands_twice():
    sources = {file.relative_to(SOURCE).as_posix(): file.read_text("utf-8") for file in sorted(SOURCE.rglob("*.py"))}
    found = [pair for pair in twins(sources) if (pair[0][0], pair[1][0]) not in APART]
    assert found == []
