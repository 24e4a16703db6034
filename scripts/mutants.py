"""Plant small errors in the code that guards the promises, one at a time, and list those that no test sees.

    python scripts/mutants.py                      # kernel, sampling and ledger, 300 errors drawn at random
    python scripts/mutants.py kernel --many 0      # every error of one room

A planted error exchanges a comparison, an operator or a truth value, or moves a number by one. The tests of the room
run on a copy of the package with that error. A survivor is either harmless (a bound that only gets looser) or a test
that is missing; the list is to be read.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "dalenius"
ROOMS = {"kernel": ["tests/kernel"], "sampling": ["tests/sampling"], "ledger": ["tests/ledger"]}

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


def changed(node: ast.AST) -> ast.AST | None:
    """The node with one small error in it, or None where there is nothing to change."""
    wrong = deepcopy(node)
    if isinstance(wrong, ast.Compare) and type(wrong.ops[0]) in COMPARISONS:
        wrong.ops[0] = COMPARISONS[type(wrong.ops[0])]()
    elif isinstance(wrong, ast.BinOp | ast.AugAssign) and type(wrong.op) in OPERATORS:
        wrong.op = OPERATORS[type(wrong.op)]()
    elif isinstance(wrong, ast.BoolOp):
        wrong.op = ast.Or() if isinstance(wrong.op, ast.And) else ast.And()
    elif isinstance(wrong, ast.UnaryOp) and isinstance(wrong.op, ast.Not | ast.USub):
        return wrong.operand
    elif isinstance(wrong, ast.Constant) and isinstance(wrong.value, bool):
        wrong.value = not wrong.value
    elif isinstance(wrong, ast.Constant) and isinstance(wrong.value, int):
        wrong.value += 1
    else:
        return None
    return wrong


def errors(source: str) -> Iterator[tuple[int, str, str, str]]:
    """Line, what stands there, what is planted, and the whole module with it."""
    tree = ast.parse(source)
    places = [
        (parent, name, position)
        for parent in ast.walk(tree)
        for name, value in ast.iter_fields(parent)
        for position in (range(len(value)) if isinstance(value, list) else [None])
        if isinstance(value[position] if position is not None else value, ast.AST)
    ]
    for parent, name, position in places:
        value = getattr(parent, name)
        node = value if position is None else value[position]
        wrong = changed(node)
        if wrong is None:
            continue
        _place(parent, name, position, wrong)
        yield node.lineno, ast.unparse(node), ast.unparse(wrong), ast.unparse(ast.fix_missing_locations(tree))
        _place(parent, name, position, node)


def _place(parent: ast.AST, name: str, position: int | None, node: ast.AST) -> None:
    if position is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[position] = node


def survives(package: Path, tests: list[str], seconds: float) -> bool:
    """Whether the tests pass on this copy of the package."""
    environment = os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False  # an error that hangs is seen
    return done.returncode == 0


def main() -> int:
    """Plant, run, list."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("rooms", nargs="*", default=list(ROOMS), help="kernel, sampling, ledger")
    arguments.add_argument("--many", type=int, default=300, help="how many errors are drawn; 0 for all of them")
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    planted = [
        (room, file, *error)
        for room in options.rooms
        for file in sorted((PACKAGE / room).rglob("*.py"))
        for error in errors(file.read_text(encoding="utf-8"))
    ]
    if options.many:
        planted = random.Random(options.seed).sample(planted, min(options.many, len(planted)))
    survivors = 0
    with tempfile.TemporaryDirectory() as name:
        package = Path(name) / "dalenius"
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
        limits = {}
        for room in options.rooms:
            begun = time.monotonic()
            if not survives(package, ROOMS[room], 1800):
                sys.exit(f"the tests of {room} fail without a planted error")
            limits[room] = 30 + 5 * (time.monotonic() - begun)
        for k, (room, file, line, old, new, module) in enumerate(planted, 1):
            copy = package / file.relative_to(PACKAGE)
            copy.write_text(module, encoding="utf-8")
            if survives(package, ROOMS[room], limits[room]):
                survivors += 1
                print(f"{file.relative_to(PACKAGE)}:{line}: {old}  ->  {new}", flush=True)
            shutil.copy(file, copy)
            print(f"{k} of {len(planted)}, {survivors} not seen", end="\r", file=sys.stderr, flush=True)
    print(f"{len(planted) - survivors} of {len(planted)} planted errors were seen by the tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
