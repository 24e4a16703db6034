"""The forms of channels and who handles them; a handler is imported when the first channel of its form is met."""

from importlib import import_module
from typing import Any

from dalenius.core import Kernel
from dalenius.core.forms import FORMS, WITHHELD
from dalenius.errors import InputError, Unsupported
from dalenius.mechanisms.drawing import Draw
from dalenius.mechanisms.form import Form

__all__ = ["draws_of", "form_named", "form_of", "register_form"]

_ROOM = "dalenius.mechanisms"
_HANDLERS: dict[str | None, Form[Any] | str] = {
    None: f"{_ROOM}.columns.form:ROWS",
    "resample": f"{_ROOM}.columns.form:RESAMPLE",
    "listed": f"{_ROOM}.columns.form:LISTED",
    "orbits": f"{_ROOM}.alike.form:ORBITS",
    "types": f"{_ROOM}.alike.form:TYPES",
    "windows": f"{_ROOM}.chains.form:WINDOWS",
    "product": f"{_ROOM}.chains.form:PRODUCT",
    "sums": f"{_ROOM}.chains.form:SUMS",
    "pram": f"{_ROOM}.local_dp.form:PRAM",
    "staircase": f"{_ROOM}.local_dp.form:STAIRCASE",
    "strata": f"{_ROOM}.local_dp.form:STRATA",
    "noise": f"{_ROOM}.numbers.form:NOISE",
    "records": f"{_ROOM}.records.form:RECORDS",
    WITHHELD: f"{_ROOM}.records.form:WITHHELD",
}


def form_named(name: str | None) -> Form[Any]:
    """The handler of a form by its name in a channel file; None for a channel that is written out.

    Raises
    ------
    Unsupported
        If there is no such form.
    """
    if name not in _HANDLERS:
        raise Unsupported(f"there is no recipe of form {name!r}; there are {', '.join(sorted(FORMS))}")
    handler = _HANDLERS[name]
    if isinstance(handler, str):
        module, _, attribute = handler.partition(":")
        handler = _HANDLERS[name] = getattr(import_module(module), attribute)
    assert isinstance(handler, Form)
    return handler


def form_of(channel: Kernel) -> Form[Any]:
    """The handler of a channel.

    >>> from dalenius.core import Channel
    >>> flip = Channel({"X": ("a", "b")}, {"Y": ("a", "b")}, ((0, 1), (1, 0)))
    >>> [draw.inputs for draw in draws_of(flip)]
    [['X']]
    """
    return form_named(channel.form)


def draws_of(channel: Kernel) -> list[Draw]:
    """The independent draws that realise a channel of any form exactly."""
    return form_of(channel).draws(channel)


def register_form(form: type[Kernel], handler: Form[Any]) -> None:
    """Let channels of a new form be read, drawn, audited, charged and reported.

    Parameters
    ----------
    form : type of Kernel
        With a name in `form`, and `from_json` that reads its channels.
    handler : Form
        What is done with them.

    Raises
    ------
    InputError
        If the name is taken.
    """
    if form.form is None or form.form in _HANDLERS:
        raise InputError(f"a new form needs a name of its own, not {form.form!r}", do="Choose another name.")
    FORMS[form.form] = form.from_json  # type: ignore[attr-defined]
    _HANDLERS[form.form] = handler
