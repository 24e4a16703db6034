"""Scripts that travel with a card: the original frequencies for those who do not install the package."""

import re
from collections.abc import Sequence
from importlib.resources import files

from dalenius.core import Kernel
from dalenius.measures import factors_of

__all__ = ["script", "scripts"]

OWN = re.compile(r"^from dalenius\.[^\n(]*(\([^)]*\))?\n", re.MULTILINE)  # what a program in one file needs not import
LETTERS = 200  # the scripts invert a matrix by elimination
READ = (None, "pram")  # forms of channels that the scripts read
SOURCES = {
    "estimate.py": ("travelling.py", "travelling_means.py", "travelling_regressions.py"),
    "estimate.R": ("estimate.R",),
}


def script(name: str) -> str:
    """The text of "estimate.py" or "estimate.R".

    >>> "python3 estimate.py card.json released.csv" in script("estimate.py").splitlines()[0]
    True
    """
    first, *rest = (
        files("dalenius").joinpath(f"evidence/{source}").read_text(encoding="utf-8") for source in SOURCES[name]
    )
    return _in_one(first, rest) if rest else first


def _in_one(program: str, parts: Sequence[str]) -> str:
    """A program in one file: what all modules import, what its parts define in their order, then its own."""
    docstring, end, after = program.partition('\n"""\n')
    texts = [part.partition('\n"""\n')[2] for part in parts] + [after]
    imports, bodies = zip(*(OWN.sub("", text).strip().split("\n\n", 1) for text in texts), strict=True)
    wanted: dict[str, set[str]] = {}
    for line in "\n".join(imports).splitlines():
        place, _, names = line.partition(" import ")
        wanted.setdefault(place, set()).update(names.split(", ") if names else ())
    lines = [f"{place} import {', '.join(sorted(names))}" if names else place for place, names in wanted.items()]
    lines.sort(key=lambda line: (line.startswith("from"), line))
    return "\n".join([docstring + end, *lines, "", *(f"{body.strip()}\n\n" for body in bodies)]).rstrip() + "\n"


def scripts(channel: Kernel, kept: tuple[str, ...] = ()) -> dict[str, str]:
    """The scripts, if they can read a card with this channel.

    They read a channel that is written out or of form (8), or one of these for each column, each stratum or both; and
    noise on each column by itself that stays on its grid. Of a matrix without an inverse they say which shares it does
    not determine; with no share determined they stay at home.

    >>> from dalenius.core import Channel
    >>> sorted(scripts(Channel({"X": ("a", "b")}, {"X": ("a", "b")}, ((1, 0), (0, 1)))))
    ['estimate.R', 'estimate.py']
    >>> scripts(Channel.constant({"X": ("a", "b")}, "Y"))
    {}
    """
    if channel.on_own_grids and max(map(len, channel.inputs.values())) <= LETTERS:
        return {name: script(name) for name in SOURCES}
    parts = [one for part in channel.in_strata for one in part.independent_parts]
    if set(kept) & set(channel.inputs) - set(channel.split_by) or not all(_readable(part) for part in parts):
        return {}
    return {name: script(name) for name in SOURCES}


def _readable(part: Kernel) -> bool:
    if part.form not in READ or not all(1 < size <= LETTERS for size in part.shape):
        return False
    return all(factor.identified.any() for factor in factors_of(part))
