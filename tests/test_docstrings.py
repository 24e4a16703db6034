"""The doors of each room name their parameters, in numpy style."""

import importlib
import inspect
import pkgutil

import pytest

import dalenius

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
