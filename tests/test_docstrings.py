"""The doors of each room name their parameters, in numpy style."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import dalenius

HOUSE = Path(dalenius.__path__[0])
ROOMS = [f"dalenius.{m.name}" for m in pkgutil.iter_modules(dalenius.__path__) if m.ispkg]


def takes_parameters(thing):
    """Whether there is something to name: functions and classes with parameters, errors aside."""
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return False
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return False
    try:
        return any(p.name not in ("args", "kwargs") for p in inspect.signature(thing).parameters.values())
    except ValueError:
        return False


def names_them(thing):
    return "Parameters\n----------\n" in (inspect.getdoc(thing) or "")


def lacking(module):
    things = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    return sorted(name for name, thing in things.items() if takes_parameters(thing) and not names_them(thing))


@pytest.mark.parametrize("room", [*ROOMS, "dalenius.api"])
def test_the_doors_of_a_room_name_their_parameters(room):
    assert lacking(importlib.import_module(room)) == []


def test_a_door_without_parameters_named_is_seen():
    def door(x):
        """It opens."""

    assert takes_parameters(door)
    assert not names_them(door)


def shows_how(thing):
    return "Examples\n--------\n>>> " in (inspect.getdoc(thing) or "")


def test_every_public_name_shows_how_it_is_used():
    public = {name: getattr(dalenius, name) for name in dir(dalenius)}
    assert [name for name, thing in public.items() if callable(thing) and not shows_how(thing)] == []


def parameters_named(text):
    """What a section of parameters names: lines at its margin, each a name or several, and their kind."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\S|\n\w+\n-{3,}|\Z)", text, re.MULTILINE | re.DOTALL)
    lines = section[1].split("\n") if section else []
    heads = (line.partition(" : ")[0] for line in lines if line[:1].strip())
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def misnamed(source):
    """Functions whose section of parameters lacks one, or names one that they do not have."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and (named := parameters_named(ast.get_docstring(node) or "")):
            taken = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            names = {one.arg for one in (*taken, node.args.vararg, node.args.kwarg) if one is not None}
            found += [(node.name, sorted(named ^ names - {"self", "cls"}))] if named ^ names - {"self", "cls"} else []
    return found


def test_a_section_of_parameters_names_those_that_there_are():
    found = {path.relative_to(HOUSE).as_posix(): misnamed(path.read_text("utf-8")) for path in HOUSE.rglob("*.py")}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(("named", "wrong"), [("x, *more", []), ("value", ["more", "value", "x"]), ("x", ["more"])])
def test_a_parameter_that_is_not_there_is_seen(named, wrong):
    section = f"Parameters\n    ----------\n    {named} : float\n        What is taken."
    source = f'def door(x, *more):\n    """It opens.\n\n    {section}\n\n    Returns\n    -------\n    float\n    """\n'
    assert misnamed(source) == ([("door", wrong)] if wrong else [])
