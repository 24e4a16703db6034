"""`Ratios`: the numbers of a large alphabet, each different one once, and no fraction made before it is asked for."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import lcm
from operator import le, mul
from typing import Any, Self, overload

from dalenius.core.numbers import quotients, ratios

__all__ = ["Ratios"]


class Ratios(Sequence[Fraction]):
    """Number k is tops[which[k]] / bottoms[which[k]], not in lowest terms.

    `which` is the range of all places where each number stands once.

    >>> few = Ratios([2, 0], [4, 4], [0, 1, 1])
    >>> few[0], few == (Fraction(1, 2), 0, 0), few.texts()
    (Fraction(1, 2), True, ['1/2', '0', '0'])
    """

    def __init__(self, tops: list[int], bottoms: list[int], which: Sequence[int]) -> None:
        self.tops, self.bottoms, self.which = tops, bottoms, which

    @classmethod
    def of(cls, values: Iterable[Fraction]) -> Self:
        """From rationals; equal objects are one number."""
        if isinstance(values, cls):
            return values
        values = tuple(values)
        keys = list(map(id, values))
        objects = dict(zip(keys, values, strict=True))
        place = dict(zip(objects, range(len(objects)), strict=True))
        pairs = [v.as_integer_ratio() for v in objects.values()]
        return cls([a for a, _ in pairs], [b for _, b in pairs], list(map(place.__getitem__, keys)))

    @classmethod
    def read(cls, texts: Sequence[Any]) -> Self:
        """From numbers as a file writes them."""
        place = {text: k for k, text in enumerate(dict.fromkeys(texts))}
        return cls(*ratios(list(place)), list(map(place.__getitem__, texts)))

    def texts(self) -> list[str]:
        """The numbers as the file formats write them."""
        different = quotients(self.tops, self.bottoms)
        return different if isinstance(self.which, range) else list(map(different.__getitem__, self.which))

    def are_probabilities(self) -> bool:
        return min(self.tops, default=0) >= 0 and all(map(le, self.tops, self.bottoms))

    def total(self) -> Fraction:
        """Their sum."""
        one = lcm(*(different := set(self.bottoms)))
        tops: Iterable[int] = self.tops
        if len(different) > 1:
            tops = map(mul, tops, map(one.__floordiv__, self.bottoms))
        if not isinstance(self.which, range):
            often = Counter(self.which)
            tops = map(mul, tops, map(often.__getitem__, range(len(self.tops))))
        return Fraction(sum(tops), one)

    @overload
    def __getitem__(self, k: int) -> Fraction: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Fraction, ...]: ...
    def __getitem__(self, k: int | slice) -> Fraction | tuple[Fraction, ...]:
        if isinstance(k, slice):
            return tuple(self)[k]
        at = self.which[k]
        return Fraction(self.tops[at], self.bottoms[at])

    def __iter__(self) -> Iterator[Fraction]:
        different = list(map(Fraction, self.tops, self.bottoms))
        return map(different.__getitem__, self.which)

    def __len__(self) -> int:
        return len(self.which)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Ratios | tuple) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))
