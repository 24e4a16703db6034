"""Scripts that travel with a card: the original frequencies for those who do not install the package."""

from importlib.resources import files

from dalenius.core import Kernel
from dalenius.measures import factors_of

__all__ = ["script", "scripts"]

LETTERS = 200  # the scripts invert a matrix by elimination
READ = (None, "pram")  # forms of channels that the scripts read
SOURCES = {"estimate.py": "travelling.py", "estimate.R": "estimate.R"}


def script(name: str) -> str:
    """The text of "estimate.py" or "estimate.R".

    >>> "python3 estimate.py card.json released.csv" in script("estimate.py").splitlines()[0]
    True
    """
    return files("dalenius").joinpath(f"evidence/{SOURCES[name]}").read_text(encoding="utf-8")


def scripts(channel: Kernel, kept: tuple[str, ...] = ()) -> dict[str, str]:
    """The scripts, if they can read a card with this channel.

    They read a channel that is written out or of form (8), or one of these for each column, each stratum or both. Of a
    matrix without an inverse they say which shares it does not determine; with no share determined they stay at home.

    >>> from dalenius.core import Channel
    >>> sorted(scripts(Channel({"X": ("a", "b")}, {"X": ("a", "b")}, ((1, 0), (0, 1)))))
    ['estimate.R', 'estimate.py']
    >>> scripts(Channel.constant({"X": ("a", "b")}, "Y"))
    {}
    """
    parts = [one for part in channel.in_strata for one in part.independent_parts]
    if set(kept) & set(channel.inputs) - set(channel.split_by) or not all(_readable(part) for part in parts):
        return {}
    return {name: script(name) for name in SOURCES}


def _readable(part: Kernel) -> bool:
    if part.form not in READ or not all(1 < size <= LETTERS for size in part.shape):
        return False
    return all(factor.identified.any() for factor in factors_of(part))
