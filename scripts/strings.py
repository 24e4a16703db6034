"""List every string that a user can see: help, messages of errors, what commands print, the pages of a statement.

    python scripts/strings.py            # one line for each: where, and the text
    python scripts/strings.py --room cli # of one room only

Strings are found in the source by what they are used for, so that a new message is listed without being registered.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOUSE = ROOT / "src" / "dalenius"
LAY = ("api", "cli", "errors", "frames", "outputs", "starting", "tables")
"""Rooms whose messages everybody meets; those of the others are for specialists."""

PRINTING = {"print", "say", "append", "extend", "write", "_tell", "_line", "error", "take", "refusal"}
BUILDERS = {"add_argument", "add_parser", "add_argument_group", "command", "action"}


@dataclass(frozen=True)
class Said:
    """A text that a user can see.

    Parameters
    ----------
    room, place : str
        The room of the source, and file and line.
    kind : str
        "help", "error", "output" or "page".
    text : str
        With "{}" for what is filled in.
    """

    room: str
    place: str
    kind: str
    text: str


def texts_of(node: ast.AST) -> Iterator[str]:
    """The texts of an expression; parts of an f-string in one, with {} for what is filled in."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = list(texts_of(node.left)), list(texts_of(node.right))
        yield from (["".join([*left, *right])] if len(left) == len(right) == 1 else [*left, *right])
    elif isinstance(node, ast.IfExp):
        yield from texts_of(node.body)
        yield from texts_of(node.orelse)
    elif isinstance(node, ast.List | ast.Tuple):
        for part in node.elts:
            yield from texts_of(part)
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        yield from texts_of(node.elt)
    elif isinstance(node, ast.Starred):
        yield from texts_of(node.value)


def said_in(file: Path) -> Iterator[Said]:
    """The texts of one module."""
    room = file.relative_to(HOUSE).parts[0].removesuffix(".py")
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        found: list[tuple[str, ast.AST]] = []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            found += [("error", argument) for argument in node.exc.args]
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in BUILDERS:
                found += [("help", k.value) for k in node.keywords if k.arg in ("help", "description", "epilog")]
                found += [("help", node.args[1])] if name in ("command", "action") and len(node.args) > 1 else []
            elif name in PRINTING and room in (*LAY, "report"):
                found += [("output", argument) for argument in node.args]
        elif isinstance(node, ast.Return | ast.AugAssign | ast.Assign) and node.value is not None:
            spoken = (*LAY, "report", "wording") if isinstance(node, ast.Return) else ("cli", "report")
            found += [("output", node.value)] if room in spoken else []
        for kind, value in found:
            for text in texts_of(value):
                if len(re.findall(r"[A-Za-z]{2,}", text)) > 2 and " " in text.strip():
                    line = getattr(value, "lineno", getattr(node, "lineno", 0))
                    yield Said(room, f"{file.relative_to(ROOT)}:{line}", kind, " ".join(text.split()))


def said() -> list[Said]:
    """Every text, in the order of the files, each place once."""
    found: dict[tuple[str, str], Said] = {}
    for file in sorted(HOUSE.rglob("*.py")):
        for one in said_in(file):
            found.setdefault((one.place, one.text), one)
    return list(found.values())


def main(arguments: list[str]) -> int:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", help="of this room alone")
    chosen = parser.parse_args(arguments)
    for one in said():
        if chosen.room in (None, one.room):
            print(f"{one.place}\t{one.kind}\t{one.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
