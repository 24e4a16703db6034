"""What the kernel is made of: the standard library, whole numbers, and few lines."""

import ast
import sys

import pytest

from tests.kernel.count import APART, CORE, KERNEL, PRIVACY, lines, modules, ran, total
from tests.kernel.documents import text_of
from tests.kernel.honest_documents import honest

SOURCES = {file.stem: file.read_text(encoding="utf-8") for file in sorted(KERNEL.glob("*.py"))}
NO_NAMES = {"Any", "float", "eval", "exec", "cast", "getattr", "setattr", "isclose", "random"}
BALLS = ("confidence", "total_variation", "kl_bits", "a ball")


def faults(source):
    """Imports from elsewhere, numbers with a point, and names that have no place in a proof."""
    found = []
    for node in ast.walk(ast.parse(source)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or "."]
        for module in modules:
            top = module.split(".")[0]
            if top not in sys.stdlib_module_names and not module.startswith("dalenius.kernel"):
                found.append(f"imports {module}")
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            found.append(f"the number {node.value}")
        if isinstance(node, ast.Name) and node.id in NO_NAMES:
            found.append(f"the name {node.id}")
        if isinstance(node, ast.ImportFrom):
            found += [f"imports {alias.name}" for alias in node.names if alias.name in NO_NAMES]
    return found


# `export` is not part of the checker; the reader of a file tells floats from other values by their type.
@pytest.mark.parametrize("module", [name for name in SOURCES if name != "export"])
def test_the_kernel_is_made_of_the_standard_library_and_exact_numbers(module):
    allowed = {"the name float"} if module == "numbers" else set()
    assert set(faults(SOURCES[module])) <= allowed


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        ("import numpy", "imports numpy"),
        ("from dalenius.core import Pmf", "imports dalenius.core"),
        ("x = 0.5", "the number 0.5"),
        ("from typing import Any", "imports Any"),
        ("def f(x):\n    return float(x)", "the name float"),
    ],
)
def test_a_planted_fault_of_the_room_is_seen(planted, fault):
    assert fault in faults(planted)


@pytest.mark.long
def test_lines_of_code_are_counted_without_words():
    assert lines('"""What."""\n\n# why\nx = 1\n\n\ndef f():\n    """Two\n    lines."""\n    return 1\n') == (10, 3, 1)
    assert set(PRIVACY) <= set(modules())


@pytest.mark.long
@pytest.mark.parametrize("module", [name for name, size in modules().items() if name not in APART and size[1] > 40])
def test_every_module_says_why_it_is_this_way_round(module):
    assert modules()[module][2] >= 3


def listed(source):
    """The names under which a module puts readers into the lists of laws, forms and promises."""
    found = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.AugAssign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            found |= {(node.target.id, key.value) for key in node.value.keys}
    return found


def test_no_other_form_takes_the_name_of_one_that_auditors_read():
    other = listed(SOURCES["check"])
    assert {("FORMS", "pram"), ("LAWS", "markov"), ("RULES", "slope")} <= other
    for module in ("nouns", "channel", "promises", "gauges", "rules"):
        assert listed(SOURCES[module])
        assert not listed(SOURCES[module]) & other
    # Gauges are added to the promises as a list of their own.
    assert not {name for _, name in listed(SOURCES["gauges"])} & {name for _, name in listed(SOURCES["promises"])}


@pytest.mark.long
def test_the_core_of_privacy_reads_in_one_sitting():
    assert total(CORE)[0] <= 1800


@pytest.mark.long
def test_few_lines_run_for_the_privacy_of_one_dense_design():
    counted = {
        name: ran(text_of(document)) for name, document in honest().items() if document["channel"]["form"] == "dense"
    }
    one = {name: many for name, many in counted.items() if not name.startswith((*BALLS, "several"))}
    assert len(one) > 30
    assert max(one.values()) <= 450
    assert max(counted.values()) <= 570
