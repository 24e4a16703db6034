"""`Guarantee`: frozen descriptions of a promise. They never compute; their meaning never changes.

`to_json` writes a guarantee as it stands in a problem file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from dalenius.core.digits import factor, figure
from dalenius.core.numbers import exact, written
from dalenius.errors import InputError
from dalenius.wording import joined

__all__ = ["Guarantee"]

Names = tuple[str, ...]


def raised(level: Fraction) -> str:
    """A level as a promise says it: never below itself."""
    return figure(level, "up", 6)


def jointly(names: Names) -> str:
    return names[0] if len(names) == 1 else "(" + ", ".join(names) + ") jointly"


def as_names(names: Sequence[str] | str) -> Names:
    """One name, or several: a text is one name, never its characters."""
    return (names,) if isinstance(names, str) else tuple(names)


def named(names: Names | str) -> Names:
    """A name or several, never none and none twice."""
    names = as_names(names)
    if not names or len(set(names)) != len(names):
        raise InputError(f"a guarantee names one or more variables, each once, not {list(names)}")
    return names


def not_negative(value: Fraction, what: str) -> Fraction:
    value = exact(value, what)
    if value < 0:
        raise InputError(f"{what} is {written(value)}; it cannot be negative")
    return value


def at_least_one(count: int, what: str) -> None:
    if count < 1:
        raise InputError(f"{what} is {count}; it counts records, so at least 1")


@dataclass(frozen=True)
class Guarantee:
    """A promise about everything that leaves: the released letter Y and the kept columns."""

    key: ClassVar[str]
    number: ClassVar[str] = ""
    """The field with the number that is promised, where there is one."""
    counts: ClassVar[str] = "level"
    """What that number counts, with {secret} for the columns that the promise is about."""
    in_nats: ClassVar[bool] = False
    """Whether people read it as a factor, e to the number."""
    highest: ClassVar[Fraction | None] = None
    """What the number never exceeds: 1 for a share."""
    row: ClassVar[str] = ""
    """What a released row does at most, with {secret} and {limit}."""
    brief: ClassVar[str] = ""
    """The same as a sentence."""

    @property
    def level(self) -> Fraction | None:
        """The number that is promised; None where there is none."""
        found: Fraction | None = getattr(self, self.number) if self.number else None
        return found

    def at(self, level: Fraction) -> Self:
        """The same promise at another level."""
        return replace(self, **{self.number: level})

    @property
    def secret(self) -> Names:
        """The variables whose privacy is promised; empty when the promise is about every input."""
        about: Names = getattr(self, "about", ())
        return about

    @property
    def given(self) -> Names:
        """The columns that leave as they are, and in which two records agree that the promise compares."""
        return ()

    @property
    def rows_of_a_person(self) -> int:
        """How many rows one person may have whom the promise is about."""
        return 1

    @property
    def delta(self) -> Fraction:
        """A share of every law that the level need not cover."""
        return Fraction(0)

    @property
    def allows_nothing(self) -> bool:
        """Whether what it is about may not show in the release at all: a level of 0 without exception."""
        return self.level == 0 and not self.delta

    @property
    def tells_nothing(self) -> bool:
        """Whether it promises that nothing at all is told about its secret: exact independence, in other words."""
        return bool(self.secret) and self.allows_nothing and not self.in_nats

    @property
    def lowest(self) -> Fraction:
        """What the number never falls below, because nothing can be promised there."""
        return Fraction(0)

    @property
    def axis(self) -> str:
        """What its level counts, as it stands beside a picture."""
        return self.counts.format(secret=joined(self.secret) or "anything")

    @property
    def shown(self) -> str:
        """The level as people read it; rounded up, because it is a limit."""
        return factor(self.level) if self.in_nats else figure(self.level, "up", 4)

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    def words(self) -> str:
        """The promise in one plain sentence."""
        raise NotImplementedError

    @property
    def limit(self) -> str:
        """The level as a short sentence says it, with its unit."""
        return factor(self.level, 6) if self.in_nats else raised(self.level or Fraction(0))

    def of_a_row(self) -> str:
        """What a released row does at most: the promise without its subject.

        Returns
        -------
        str

        Examples
        --------
        >>> from dalenius.core import Leakage
        >>> Leakage("income", "0.01").of_a_row()
        'reveals at most 0.01 bits about income'
        """
        return self._filled(self.row, "person")

    def briefly(self, person: str = "person") -> str:
        """The same as a sentence about a row, an entry or an attacker, without its full stop.

        Parameters
        ----------
        person : str
            What one is called whom the promise is about, where it compares them.

        Returns
        -------
        str

        Examples
        --------
        >>> from dalenius.core import Leakage, LocalDP
        >>> Leakage("income", "0.01").briefly(), LocalDP("0.6931471").briefly("house")[:42]
        ('a row reveals at most 0.01 bits about income', 'no released entry is more than 2 times lik')
        """
        return self._filled(self.brief, person)

    def _filled(self, words: str, person: str) -> str:
        together = " together" if len(self.secret) > 1 else ""
        return words.format(secret=joined(self.secret) + together, limit=self.limit, person=person)
