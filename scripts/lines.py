"""Count the lines of the package by room: all of them, code, docstrings, and lines that are a comment.

    python scripts/lines.py          # the table of docs/decisions/041

A line of code has a token that is neither a comment nor part of a docstring; what is left of all lines is blank.
"""

import ast
import io
import tokenize
from pathlib import Path
from typing import NamedTuple

HOUSE = Path(__file__).resolve().parents[1] / "src" / "dalenius"
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


class Lines(NamedTuple):
    """How many lines there are of each kind."""

    every: int = 0
    code: int = 0
    docstrings: int = 0
    comments: int = 0


def counted(source: str) -> Lines:
    """The lines of one module.

    Parameters
    ----------
    source : str
        Its text.

    Returns
    -------
    Lines
    """
    told = set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            told |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    code = set[int]()
    comments = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in LAYOUT:
            code |= set(range(token.start[0], token.end[0] + 1))
    return Lines(source.count("\n"), len(code - told), len(told), len(comments - code))


def by_room(house: Path = HOUSE) -> dict[str, Lines]:
    """The lines of every room, of the modules beside them, and of all together.

    Parameters
    ----------
    house : Path
        The folder of the package.

    Returns
    -------
    dict of str to Lines
    """
    found = dict[str, Lines]()
    for file in sorted(house.rglob("*.py")):
        place = file.relative_to(house)
        own = counted(file.read_text("utf-8"))
        for room in (place.parts[0] if len(place.parts) > 1 else "beside the rooms", "all"):
            found[room] = Lines(*map(sum, zip(found.get(room, Lines()), own, strict=True)))
    return found


def main() -> None:
    """Print them, the whole package last."""
    rooms = by_room()
    print(f"{'':<16} {'lines':>8} {'code':>8} {'docs':>8} {'comments':>8}")
    for room in sorted(rooms, key=lambda name: (name == "all", name)):
        print(f"{room:<16} " + " ".join(f"{many:>8,}" for many in rooms[room]))


if __name__ == "__main__":
    main()
