"""The exported checker is its modules one after the other, so no name may mean two things."""

import ast

from dalenius.standalone import standalone


def meanings(source):
    """{name: the things that it is bound to at the top level}"""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", "")
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, set()).add(f"{module}.{alias.name}")
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.setdefault(node.name, set()).add(f"line {node.lineno}")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        found.setdefault(name.id, set()).add(ast.unparse(node.value))
    return found


def test_no_name_of_the_exported_checker_means_two_things():
    twice = {name: things for name, things in meanings(standalone("1.0")).items() if len(things) > 1}
    assert set(twice) <= {"__all__"}


def test_a_second_meaning_is_seen():
    assert meanings("from math import exp\n\n\ndef exp(x):\n    return x\n")["exp"] == {"math.exp", "line 4"}
