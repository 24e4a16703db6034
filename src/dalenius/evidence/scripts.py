"""Scripts that travel with a card: the original frequencies for those who do not install the package."""

from importlib.resources import files

from dalenius.core import Channel, Kernel, Pram, Product, Strata
from dalenius.measures import factors_of

__all__ = ["script", "scripts"]

LETTERS = 200  # the scripts invert a matrix by elimination
SOURCES = {"estimate.py": "travelling.py", "estimate.R": "estimate.R"}


def script(name: str) -> str:
    """The text of "estimate.py" or "estimate.R".

    >>> len(script("estimate.py").splitlines())
    40
    """
    return files("dalenius").joinpath(f"evidence/{SOURCES[name]}").read_text(encoding="utf-8")


def scripts(channel: Kernel, kept: tuple[str, ...] = ()) -> dict[str, str]:
    """The scripts, if they can read a card with this channel: each of its matrices has an inverse.

    They read a channel that is written out or of form (8), or one of these for each column, each stratum or both.

    >>> sorted(scripts(Channel({"X": ("a", "b")}, {"X": ("a", "b")}, ((1, 0), (0, 1)))))
    ['estimate.R', 'estimate.py']
    >>> scripts(Channel.constant({"X": ("a", "b")}, "Y"))
    {}
    """
    parts: tuple[Kernel, ...] = (channel,)
    strata: tuple[str, ...] = ()
    if isinstance(channel, Strata):
        parts, strata = channel.channels, channel.strata
    parts = tuple(one for part in parts for one in (part.windows if isinstance(part, Product) else (part,)))
    if set(kept) & set(channel.inputs) - set(strata) or not all(_invertible(part) for part in parts):
        return {}
    return {name: script(name) for name in SOURCES}


def _invertible(part: Kernel) -> bool:
    inputs, letters = part.shape
    if not isinstance(part, Channel | Pram) or not 1 < inputs == letters <= LETTERS:
        return False
    return all(factor.identified.all() for factor in factors_of(part))
