"""`NoiseLaw`: which noise a mechanism of form noise adds, as a problem file says it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dalenius.core.numbers import exact, written
from dalenius.errors import InputError

__all__ = ["NOISE_LAWS", "NoiseLaw"]

NOISE_LAWS = ("shrinkage", "gaussian", "laplace", "max-entropy", "minimum-capacity")


@dataclass(frozen=True)
class NoiseLaw:
    """A kind of noise; `clip` has the first and the last released number of a column, where they are declared.

    Parameters
    ----------
    kind : str
        Such as "gaussian" or "laplace".
    clip : mapping
        Of a column, the first and last released number.

    >>> NoiseLaw("laplace", {"income": ("0", "100")}).to_json()
    {'noise': 'laplace', 'clip': {'income': ['0', '100']}}
    """

    kind: str
    clip: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in NOISE_LAWS:
            raise InputError(f"there is no noise {self.kind!r}; there are {', '.join(NOISE_LAWS)}")
        ends = {}
        for name, pair in self.clip.items():
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise InputError(f"clip of {name!r} is the first and the last released number, [low, high]")
            low, high = (exact(value, f"clip of {name!r}") for value in pair)
            if low > high:
                raise InputError(f"clip of {name!r} ends below its beginning")
            ends[name] = (low, high)
        object.__setattr__(self, "clip", ends)

    def to_json(self) -> dict[str, Any]:
        """The keys of [mechanism]."""
        ends = {name: [written(low), written(high)] for name, (low, high) in self.clip.items()}
        return {"noise": self.kind} | ({"clip": ends} if ends else {})
