"""List every string that a user can see: help, messages of errors, what commands print, the pages of a statement.

    python scripts/strings.py            # one line for each: where, and the text
    python scripts/strings.py --room cli # of one room only
    python scripts/strings.py --refusals # one line for each refusal: where, what is wrong, and what to do

Strings are found in the source by what they are used for, so that a new message is listed without being registered.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dalenius import errors

ROOT = Path(__file__).resolve().parents[1]
HOUSE = ROOT / "src" / "dalenius"
SPECIALISTS = ("kernel", "papers")
"""Rooms whose sentences only specialists meet: those of the checker stand in brackets behind a plain one, and figures
of the papers keep the words of the papers."""

LEAST_WORDS = 3
CODE = re.compile(r"\\|\n  |^<svg|^[\w./*-]+$")
"""Patterns, programs and pictures; not sentences."""


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


def said_in(file: Path) -> Iterator[Said]:
    """The texts of one module: every string that reads like words, but for docstrings; f-strings with {} in them."""
    room = file.relative_to(HOUSE).parts[0].removesuffix(".py")
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    apart = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    apart |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    kinds = dict(_kinds(nodes))
    for node in nodes:
        if id(node) in apart:
            continue
        if not isinstance(node, ast.JoinedStr | ast.Constant) or isinstance(getattr(node, "value", ""), int | bytes):
            continue
        text = _filled(node)
        words = re.findall(r"[A-Za-z]{2,}", text)
        if len(words) >= LEAST_WORDS and " " in text.strip() and not CODE.search(text):
            place = f"{file.relative_to(ROOT)}:{node.lineno}"
            yield Said(room, place, kinds.get(id(node), "output"), " ".join(text.split()))


def _kinds(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Which strings are messages of errors, and which are help."""
    for node in nodes:
        if isinstance(node, ast.Raise):
            yield from ((id(inner), "error") for inner in ast.walk(node))
        elif isinstance(node, ast.keyword) and node.arg in ("help", "description", "epilog"):
            yield id(node.value), "help"


@dataclass(frozen=True)
class Refusal:
    """A place that refuses something.

    Parameters
    ----------
    place : str
        File and line.
    kind : str
        The class of the error.
    what, do : str
        What is wrong, with "{}" for what is filled in, and what to do where that is said apart.
    """

    place: str
    kind: str
    what: str
    do: str


def refusals() -> Iterator[Refusal]:
    """Every place that makes an error of the package, outside the rooms of specialists."""
    for file in sorted(HOUSE.rglob("*.py")):
        if file.relative_to(HOUSE).parts[0] in SPECIALISTS:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in errors.__all__:
                said = {keyword.arg: keyword.value for keyword in node.keywords}
                what = node.args[0] if node.args else said.get("what", ast.Constant(""))
                do = said.get("do", ast.Constant(""))
                yield Refusal(f"{file.relative_to(ROOT)}:{node.lineno}", node.func.id, _filled(what), _filled(do))


def _filled(node: ast.expr) -> str:
    """The text of an expression, with {} for what is only known when it is said."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else "{}"


def said_on_pages() -> Iterator[Said]:
    """The texts of the studio, of the template of the statement and its button, and of the script for R."""
    pages = [*HOUSE.rglob("*.j2"), *(HOUSE / "studio").rglob("*.mjs"), *(HOUSE / "studio").rglob("*.html")]
    for file in sorted([*pages, HOUSE / "report" / "prover.mjs", HOUSE / "evidence" / "estimate.R"]):
        room = file.relative_to(HOUSE).parts[0]
        if room in SPECIALISTS:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            quoted = file.suffix in (".mjs", ".R")
            found = re.findall(r"[\"'`]([^\"'`]{8,})[\"'`]", line) if quoted else _between_tags(line)
            for text in found:
                filled = re.sub(r"\$?\{[^}]*\}+", "{}", text)
                if "[[" in text or "]]" in text:
                    continue  # what stands between two strings of a script, not in one
                if len(re.findall(r"[A-Za-z]{2,}", filled)) > LEAST_WORDS and " " in filled.strip():
                    yield Said(room, f"{file.relative_to(ROOT)}:{number}", "page", " ".join(filled.split()))


def _between_tags(line: str) -> list[str]:
    return re.split(r"<[^>]*>|\{%.*?%\}", line)


def said() -> list[Said]:
    """Every text that people meet, in the order of the files, each place once."""
    found: dict[tuple[str, str], Said] = {}
    for file in sorted(HOUSE.rglob("*.py")):
        if file.relative_to(HOUSE).parts[0] not in SPECIALISTS:
            for one in said_in(file):
                found.setdefault((one.place, one.text), one)
    for one in said_on_pages():
        found.setdefault((one.place, one.text), one)
    return list(found.values())


def main(arguments: list[str]) -> int:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", help="of this room alone")
    parser.add_argument("--refusals", action="store_true", help="what is refused, and what to do then")
    chosen = parser.parse_args(arguments)
    if chosen.refusals:
        for one in refusals():
            print(f"{one.place}\t{one.kind}\t{one.what}\t{one.do}")
        return 0
    for one in said():
        if chosen.room in (None, one.room):
            print(f"{one.place}\t{one.kind}\t{one.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
