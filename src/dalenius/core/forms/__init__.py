"""Channels that need not be written densely, one module for each form; `channel_of` reads any of them.

A form holds a few numbers and is expanded into rows only while they are few (`Kernel.rows`). Each form says in its
docstring what its numbers mean, and has a sampler in `dalenius.sampling` where drawing from rows would not do.
"""

from collections.abc import Callable
from typing import Any

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import Kernel
from dalenius.core.forms.listed import Listed
from dalenius.core.forms.noise import Noise
from dalenius.core.forms.orbits import Orbit, Orbits
from dalenius.core.forms.pram import Pram
from dalenius.core.forms.records import Records
from dalenius.core.forms.resample import Resample
from dalenius.core.forms.staircase import Staircase
from dalenius.core.forms.strata import Strata
from dalenius.core.forms.sums import Sums
from dalenius.core.forms.types import Types
from dalenius.core.forms.windows import Product, Windows
from dalenius.errors import InvalidChannel, Unsupported

__all__ = [
    "FORMS",
    "Listed",
    "Noise",
    "Orbit",
    "Orbits",
    "Pram",
    "Product",
    "Records",
    "Resample",
    "Staircase",
    "Strata",
    "Sums",
    "Types",
    "Windows",
    "channel_of",
]

WITHHELD = "withheld"
"""What a card says in place of a channel that would show the table."""

FORMS: dict[str, Callable[[dict[str, Any]], Kernel]] = {
    form.form: form.from_json
    for form in (Listed, Noise, Orbits, Pram, Records, Resample, Staircase, Strata, Sums, Types, Windows, Product)
}


def channel_of(document: object) -> Kernel:
    """A channel of any form from the `channel.json` format.

    Parameters
    ----------
    document : object
        The JSON value.

    Returns
    -------
    Kernel
        Of the form that the document names.

    Raises
    ------
    InvalidChannel
        If the document is damaged.
    Unsupported
        If there is no such form, or the card does not show its channel.

    >>> channel_of({"form": "resample", "inputs": {"X": ["a", "b"]}, "output": {"Y": ["a", "b"]},
    ...             "keep": ["1/2", "1/2"], "q": ["1/2", "1/2"]}).rows[0]
    (Fraction(3, 4), Fraction(1, 4))
    """
    if not isinstance(document, dict):
        raise InvalidChannel("a recipe file is an object with the keys inputs, output and rows")
    if "form" not in document:
        return Channel.from_json(document)
    if document["form"] == WITHHELD:
        raise Unsupported(
            "this card does not show its recipe, because that would show the records of the table; what the release "
            "reveals is stated in card.about.json, and with preserve_marginals the released table is analysed as it is",
            do="Read card.about.json, or ask the owner.",
        )
    if not isinstance(document["form"], str) or document["form"] not in FORMS:
        raise Unsupported(f"there is no recipe of form {document['form']!r}; there are {', '.join(sorted(FORMS))}")
    return FORMS[document["form"]](document)
