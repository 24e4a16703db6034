"""Scripts that travel with a card: the original frequencies for those who do not install the package."""

from importlib.resources import files

from dalenius.core import Kernel
from dalenius.measures import factors_of

__all__ = ["script", "scripts"]

LETTERS = 200  # the scripts invert a matrix by elimination
SOURCES = {"estimate.py": "travelling.py", "estimate.R": "estimate.R"}


def script(name: str) -> str:
    """The text of "estimate.py" or "estimate.R".

    >>> script("estimate.py").splitlines()[0]
    '#!/usr/bin/env python3'
    """
    return files("dalenius").joinpath(f"evidence/{SOURCES[name]}").read_text(encoding="utf-8")


def scripts(channel: Kernel, kept: tuple[str, ...] = ()) -> dict[str, str]:
    """The scripts that can read a card with this channel: its matrix has an inverse, and no column is a stratum.

    The reader for R takes one column at a time.

    >>> from dalenius.core import Channel
    >>> sorted(scripts(Channel({"X": ("a", "b")}, {"X": ("a", "b")}, ((1, 0), (0, 1)))))
    ['estimate.R', 'estimate.py']
    >>> scripts(Channel.constant({"X": ("a", "b")}, "Y"))
    {}
    """
    form, (inputs, letters) = channel.to_json().get("form") if channel.few else "large", channel.shape
    if (
        form not in (None, "pram", "resample")
        or not 1 < inputs == letters <= LETTERS
        or set(kept) & set(channel.inputs)
    ):
        return {}
    if not all(factor.identified.all() for factor in factors_of(channel, kept)):
        return {}
    simple = len(channel.inputs) == 1 and form != "resample"
    return {name: script(name) for name in SOURCES if name == "estimate.py" or simple}
