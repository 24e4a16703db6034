"""Every `__all__` is sorted, lists what is there and nothing else, and every public name says what it is."""

import importlib
import inspect
import pkgutil
import types

import pytest

import dalenius
from dalenius import errors

MODULES = sorted(
    m.name for m in pkgutil.walk_packages(dalenius.__path__, "dalenius.") if m.name.rpartition(".")[2] != "__main__"
)
ROOMS = [f"dalenius.{m.name}" for m in pkgutil.iter_modules(dalenius.__path__) if m.ispkg]


def rank(name):
    """Constants, then classes, then functions, each by the alphabet: the order that ruff keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def documented(thing):
    """Has a docstring of its own; the signature that `dataclass` writes for want of one does not count."""
    return bool(thing.__doc__) and not thing.__doc__.startswith(f"{thing.__name__}(")


def test_listed_names_are_sorted_and_exist():
    for name in MODULES:
        module = importlib.import_module(name)
        assert module.__doc__, f"{name} does not say what it is"
        listed = getattr(module, "__all__", [])
        assert list(listed) == sorted(set(listed), key=rank), name
        for public in listed:
            assert hasattr(module, public), f"{name} lists {public!r}, which is not there"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_lists_exactly_what_it_shows(room):
    module = importlib.import_module(room)
    imported = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("dalenius")
    }
    if room != "dalenius.cli":  # nobody imports the command line; what it uses is its own affair
        assert imported <= set(module.__all__), f"{room} shows {imported - set(module.__all__)} without listing it"
    shown = {name: getattr(module, name) for name in module.__all__}  # rooms are opened when asked
    assert not [name for name, value in shown.items() if isinstance(value, types.ModuleType)]


def test_public_classes_and_functions_of_a_module_are_documented():
    for name in MODULES:
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", []):
            thing = getattr(module, public)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert documented(thing), f"{name}.{public} has no docstring"


def test_the_top_lists_names_that_are_what_they_say():
    for room in ROOMS:
        importlib.import_module(room)
    assert dalenius.__all__ == sorted(dalenius.__all__, key=rank)
    for name in dalenius.__all__:
        thing = getattr(dalenius, name)
        assert inspect.isclass(thing) or inspect.isfunction(thing), f"dalenius.{name} is {thing!r}"
        assert documented(thing)


def test_the_docstring_test_can_fail():
    from dataclasses import make_dataclass

    assert not documented(make_dataclass("Bare", ["x"]))
    assert documented(errors.InputError)


def test_every_error_is_drawn_in_the_tree_with_its_exit_code():
    for name in errors.__all__:
        error = getattr(errors, name)
        assert issubclass(error, errors.DaleniusError)
        line = next(line for line in errors.__doc__.splitlines() if name in line.split())
        told = [word for word in line.split() if word.isdigit()]
        assert not told or int(told[0]) == error.exit_code
