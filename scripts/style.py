"""Measure the style of the package: names, comments, lengths of functions, docstrings, tuple assignments.

    python scripts/style.py                # the whole package, and its rooms
    python scripts/style.py --modules 20   # the modules with most names of a single letter

A name is counted once for each function, class or module that assigns it. The lines of a docstring do not make a
function longer, nor the share of comments smaller. Docstrings that are looked at are those of the doors of the rooms:
functions and classes that a room lists, and public methods of the latter; one that has neither parameters nor a value
needs no sections. Behind a door a sentence may say as much.
"""

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1] / "src" / "dalenius"
LONG = 50
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Module)
Place = tuple[int, int]  # a line, and a byte of it
Span = tuple[Place, Place]


@dataclass
class Style:
    """Counts of some modules; figures are shares of them."""

    lines: int = 0
    explained: int = 0  # lines of docstrings
    comments: int = 0
    functions: int = 0
    long: int = 0
    tuples: int = 0
    public: int = 0
    told: int = 0
    names: Counter[str] = field(default_factory=Counter)
    doors: frozenset[str] | None = None  # the public names; all without an underscore where none are given

    def add(self, source: str) -> "Style":
        """Count one module more, in one pass over its syntax tree."""
        tree = ast.parse(source)
        self.lines += source.count("\n")
        strings: list[Span] = []
        self._visit(tree, set(), strings)
        self.comments += _comment_lines(source, strings)
        for door in tree.body:
            if isinstance(door, ast.FunctionDef | ast.ClassDef) and (self.doors is None or door.name in self.doors):
                for node in _public(door):
                    self.public += 1
                    self.told += _says_all(node)
        return self

    def _visit(self, node: ast.AST, assigned: set[str], strings: list[Span]) -> None:
        """Count a node and what is below it; `assigned` collects the names of the scope that it stands in."""
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Store:
                assigned.add(node.id)
            return
        if kind in (ast.Constant, ast.JoinedStr):
            if kind is ast.JoinedStr or type(node.value) in (str, bytes):
                strings.append(((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)))
            if kind is ast.Constant:
                return
        inner = set() if kind in SCOPES else assigned
        if kind in FUNCTIONS:
            self.functions += 1
            self.long += node.end_lineno - node.lineno + 1 - _docstring_lines(node) > LONG
        elif kind is ast.Assign and type(node.value) is ast.Tuple:
            self.tuples += any(type(target) is ast.Tuple for target in node.targets)
        for name in node._fields:
            child = getattr(node, name)
            if type(child) is list:
                for one in child:
                    if isinstance(one, ast.AST):
                        self._visit(one, inner, strings)
            elif isinstance(child, ast.AST):
                self._visit(child, inner, strings)
        if kind in SCOPES:
            self.names.update(inner)
            self.explained += _docstring_lines(node)

    @property
    def mean_length(self) -> float:
        """Of assigned names, in characters."""
        return sum(len(name) * many for name, many in self.names.items()) / max(1, self.names.total())

    @property
    def single_letters(self) -> float:
        """The share of assigned names that have one letter; the name for what is not used does not count as one."""
        single = sum(many for name, many in self.names.items() if len(name) == 1 and name != "_")
        return single / max(1, self.names.total())

    @property
    def comment_share(self) -> float:
        """The share of lines with a comment, of those outside docstrings."""
        return self.comments / max(1, self.lines - self.explained)

    @property
    def long_share(self) -> float:
        """The share of functions over 50 lines, without their docstrings."""
        return self.long / max(1, self.functions)

    @property
    def told_share(self) -> float:
        """The share of public docstrings that name parameters and what is returned."""
        return self.told / max(1, self.public)

    def row(self, name: str) -> str:
        """The figures in a line."""
        return (
            f"{name:<28} {self.lines:>7} {self.mean_length:>6.2f} {self.single_letters:>7.1%} "
            f"{self.comment_share:>7.2%} {self.long_share:>7.1%} {self.told_share:>7.1%} {self.tuples:>6}"
        )


HEAD = f"{'':<28} {'lines':>7} {'length':>6} {'single':>7} {'comment':>7} {'long':>7} {'told':>7} {'tuples':>6}"


def _docstring_lines(scope: ast.AST) -> int:
    """How many lines the docstring of a scope has; none without one."""
    first = scope.body[0] if scope.body else None
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return first.end_lineno - first.lineno + 1 if told else 0


def _comment_lines(source: str, strings: list[Span]) -> int:
    """Lines with a comment; marks for tools are none, nor is a sign of number inside a string."""
    many = 0
    for number, line in enumerate(source.split("\n"), 1):
        if "#" not in line:
            continue
        encoded = line.encode()
        at = encoded.find(b"#")
        while at >= 0 and any(start <= (number, at) < end for start, end in strings):
            at = encoded.find(b"#", at + 1)
        text = encoded[at:].decode().lstrip("# ")
        many += at >= 0 and not text.startswith(("noqa", "type:", "fmt:", "pragma", "---"))
    return many


def _public(door: ast.FunctionDef | ast.ClassDef) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """A public function or class with a docstring, and public methods of the latter."""
    methods = (
        [entry for entry in door.body if isinstance(entry, ast.FunctionDef)] if isinstance(door, ast.ClassDef) else []
    )
    if not door.name.startswith("_"):
        yield from (node for node in (door, *methods) if node.name[0] != "_" and ast.get_docstring(node))


def _says_all(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether a docstring has a section for parameters and one for what is returned, where there is any."""
    text = ast.get_docstring(node) or ""
    if isinstance(node, ast.ClassDef):
        fields = any(isinstance(entry, ast.AnnAssign) and "ClassVar" not in ast.dump(entry) for entry in node.body)
        return "Parameters\n" in text or not fields
    properties = any("property" in ast.dump(mark) for mark in node.decorator_list)
    arguments = [a.arg for a in (*node.args.args, *node.args.kwonlyargs) if a.arg not in ("self", "cls")]
    returns = node.returns is not None and not (isinstance(node.returns, ast.Constant) and node.returns.value is None)
    parameters_told = not arguments or "Parameters\n" in text
    return properties or (
        parameters_told and (not returns or not arguments or "Returns\n" in text or "Yields\n" in text)
    )


def listed(house: Path = HOUSE) -> frozenset[str]:
    """What the rooms of a package list in `__all__`.

    Parameters
    ----------
    house : Path
        The folder of the package.

    Returns
    -------
    frozenset of str
    """
    found: set[str] = set()
    for room in (house / "__init__.py", house / "api.py", *house.glob("*/__init__.py")):
        for node in ast.parse(room.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                found.update(ast.literal_eval(node.value))
    return frozenset(found)


def measured(house: Path = HOUSE, room: str = "") -> Style:
    """The style of a room, or of the whole package.

    Parameters
    ----------
    house : Path
        The folder of the package.
    room : str
        A folder or module in it; all of them without one.

    Returns
    -------
    Style
    """
    place = house / room
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    style = Style(doors=listed(house))
    for file in files:
        style.add(file.read_text("utf-8"))
    return style


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=int, default=0, help="how many of the worst modules to list")
    arguments = parser.parse_args()
    print(HEAD)
    rooms = [place.name for place in sorted(HOUSE.iterdir()) if place.is_dir() and place.name != "__pycache__"]
    for room in rooms:
        print(measured(room=room).row(room))
    print(measured().row("all"))
    if arguments.modules:
        found = {
            file.relative_to(HOUSE).as_posix(): Style().add(file.read_text("utf-8")) for file in HOUSE.rglob("*.py")
        }
        worst = sorted(found, key=lambda name: -found[name].single_letters * found[name].names.total())
        for name in worst[: arguments.modules]:
            print(found[name].row(name))


if __name__ == "__main__":
    main()
