"""One value, drawn by whoever it belongs to: the channel of a public card is all it takes."""

from collections.abc import Mapping

import numpy as np

from dalenius.core import Kernel
from dalenius.errors import InputError
from dalenius.mechanisms.forms import draws_of, form_of
from dalenius.sampling.key import Key
from dalenius.sampling.stream import Stream
from dalenius.tables import Coded

__all__ = ["draw_value"]


def draw_value(channel: Kernel, value: Mapping[str, str], *, key: Key | None = None) -> dict[str, str]:
    """The letters released for one outcome of the inputs; without a key, from a fresh one that is then forgotten.

    Drawn twice for the same person it tells twice: an answer is given once and kept.

    >>> from dalenius.core import Channel
    >>> draw_value(Channel.constant({"X": ("a", "b")}, "Y"), {"X": "b"})
    {'Y': '0'}
    """
    if set(value) != set(channel.inputs):
        raise InputError(f"the mechanism reads {', '.join(channel.inputs)}; give one value for each of them")
    for name, letter in value.items():
        if letter not in channel.inputs[name]:
            raise InputError(f"{letter!r} is not a value of {name!r}; there are {_some(channel.inputs[name])}")
    alphabets = {n: tuple(a) for n, a in channel.inputs.items()}
    codes = {n: np.array([a.index(value[n])], dtype=np.int64) for n, a in alphabets.items()}
    record = Coded(alphabets, codes)
    secret = key or Key.fresh()
    found = []
    for one in draws_of(channel):
        stream = Stream(secret.derive("value", *channel.output, *one.label))
        found.append(one.drawn(record, stream))
    columns, _, _ = form_of(channel).leaving(channel, record, found)
    return {name: letters[int(columns[name][0])] for name, letters in channel.output.items()}


def _some(letters: tuple[str, ...] | list[str]) -> str:
    return ", ".join(map(repr, letters[:8])) + (f" and {len(letters) - 8:,} more" if len(letters) > 8 else "")
