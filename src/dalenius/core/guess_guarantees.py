"""Promises about guesses and distances: what is added up over all letters that may be released."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Self

from dalenius.core.digits import bits, figure, percent
from dalenius.core.guarantee import Guarantee, Names, jointly, named, not_negative, raised
from dalenius.core.numbers import exact, written
from dalenius.errors import InputError
from dalenius.wording import joined

__all__ = ["Guess", "MaximalLeakage", "Sibson", "TotalVariation"]


MOST_ORDER = 32
"""The largest number in the fraction of an order of Sibson's information."""


@dataclass(frozen=True)
class Guess(Guarantee):
    """Whoever sees the release and guesses the secret is right at most so often: sum_y max_s p(s, y).

    The limit is `at_most`, or `times` the blind guess, max_s p(s). With a `gain` (the name of a file, or a row of
    numbers for each action with one for each value of the secret) it bounds the expected gain of the best action:
    g-leakage.

    Parameters
    ----------
    about : name or names
        The secret: one column, or several jointly.
    at_most : number, optional
        The largest share of right guesses.
    times : number, optional
        The same as a multiple of the share without the release.
    gain : str or matrix, optional
        What a guess is worth for each value, or the file that says so.

    Examples
    --------
    >>> Guess("income", at_most="4/5").words()
    'whoever sees the release and guesses income is right at most 80 % of the time'
    """

    about: Names
    at_most: Fraction | None = None
    times: Fraction | None = None
    gain: str | tuple[tuple[Fraction, ...], ...] | None = None
    key: ClassVar[str] = "guess"
    row: ClassVar[str] = "lets {secret} be guessed right at most {limit}"
    brief: ClassVar[str] = "an attacker guesses {secret} right at most {limit}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", named(self.about))
        if (self.at_most is None) == (self.times is None):
            raise InputError("a guess has one limit: at_most, or times = how often as likely as without the release")
        for limit in ("at_most", "times"):
            if getattr(self, limit) is not None:
                object.__setattr__(self, limit, not_negative(getattr(self, limit), limit))
        if self.times is not None and self.times < 1:
            raise InputError(f"times is {written(self.times)}; nothing makes a guess worse, so at least 1")
        if self.gain is None and self.at_most is not None and self.at_most > 1:
            raise InputError(f"at_most is {written(self.at_most)}; a guess is right at most always, which is 1")
        if self.gain is not None and not isinstance(self.gain, str):
            rows = tuple(tuple(not_negative(entry, "a gain") for entry in row) for row in self.gain)
            if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
                raise InputError("a gain has one row for each action, and in it a number for each value of the secret")
            object.__setattr__(self, "gain", rows)

    @property
    def level(self) -> Fraction | None:
        return self.at_most if self.times is None else self.times

    def at(self, level: Fraction) -> Self:
        return replace(self, at_most=level) if self.times is None else replace(self, times=level)

    @property
    def axis(self) -> str:
        secret = joined(self.about)
        if self.gain is not None:
            multiple = "" if self.times is None else " as a multiple of that without the release"
            return f"gain of the best action about {secret}{multiple}, at most"
        if self.times is None:
            return f"right guesses of {secret} in 1,000, at most"
        return f"right guesses of {secret} as a multiple of those without the release, at most"

    @property
    def shown(self) -> str:
        if self.at_most is None or self.gain is not None:
            return super().shown
        return figure(1000 * self.at_most, "up", 4)

    @property
    def allows_nothing(self) -> bool:
        """Never: what is guessed without the release is guessed with it too."""
        return False

    @property
    def lowest(self) -> Fraction:
        """A multiple of what is guessed without the release is never below 1: nothing makes a guess worse."""
        return Fraction(0 if self.times is None else 1)

    def to_json(self) -> dict[str, Any]:
        gain: Any = self.gain
        if gain is not None and not isinstance(gain, str):
            gain = [[written(entry) for entry in row] for row in gain]
        return {
            "guess": list(self.about),
            **({"at_most": written(self.at_most)} if self.at_most is not None else {}),
            **({"times": written(self.times)} if self.times is not None else {}),
            **({"gain": gain} if gain is not None else {}),
        }

    def words(self) -> str:
        who = f"whoever sees the release and {'acts on' if self.gain is not None else 'guesses'} {jointly(self.about)}"
        if self.times is not None:
            what = "gains" if self.gain is not None else "is right"
            often = "much" if self.gain is not None else "often"
            if self.times == 1:
                return f"{who} {what} {'no more' if self.gain is not None else 'no more often'} than without it"
            return f"{who} {what} at most {raised(self.times)} times as {often} as without it"
        limit = self.at_most or Fraction(0)
        if self.gain is not None:
            return f"{who} gains at most {raised(limit)} on average"
        return f"{who} is right at most {percent(limit, 'up')} of the time"

    @property
    def limit(self) -> str:
        if self.at_most is None:
            return f"{super().limit} times as often as without the release"
        return f"{ceil(1000 * self.at_most):,} times in 1,000"


@dataclass(frozen=True)
class MaximalLeakage(Guarantee):
    """log2 sum_y max_x p(y | x) at most so many bits, over all inputs: about everything, under every law.

    With `about`, log2 sum_y max_s p(y | s): about whatever is a function of that secret.

    Parameters
    ----------
    at_most_bits : number
        The limit in bits.
    about : names
        The secret; none for everything.

    Examples
    --------
    >>> MaximalLeakage("1/2")
    MaximalLeakage(at_most_bits=Fraction(1, 2), about=())
    """

    at_most_bits: Fraction
    about: Names = ()
    key: ClassVar[str] = "maximal_leakage"
    number: ClassVar[str] = "at_most_bits"
    counts: ClassVar[str] = "bits by which any guess of {secret} gains, at most"

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_most_bits", not_negative(self.at_most_bits, "at_most_bits"))
        object.__setattr__(self, "about", named(self.about) if self.about else ())

    def to_json(self) -> dict[str, Any]:
        return {"maximal_leakage": list(self.about) or True, "at_most_bits": written(self.at_most_bits)}

    def words(self) -> str:
        what = f"any property of {jointly(self.about)}" if self.about else "anything about the record"
        limit = bits(self.at_most_bits, "up", 6)
        return (
            f"whoever sees the release and guesses {what} has a chance that grew by at most {limit} (maximal leakage)"
        )


@dataclass(frozen=True)
class TotalVariation(Guarantee):
    """sum_y p(y) times the total variation of p(s | y) and p(s): how far the law of the secret moves on average.

    Parameters
    ----------
    about : name or names
        The secret: one column, or several jointly.
    at_most : number
        The largest average distance.

    Examples
    --------
    >>> TotalVariation("income", "0.1")
    TotalVariation(about=('income',), at_most=Fraction(1, 10))
    """

    about: Names
    at_most: Fraction
    key: ClassVar[str] = "total_variation"
    number: ClassVar[str] = "at_most"
    counts: ClassVar[str] = "distance by which beliefs about {secret} move, at most"
    highest: ClassVar[Fraction | None] = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", named(self.about))
        object.__setattr__(self, "at_most", not_negative(self.at_most, "at_most"))

    def to_json(self) -> dict[str, Any]:
        return {"total_variation": list(self.about), "at_most": written(self.at_most)}

    def words(self) -> str:
        return (
            f"no statement about {jointly(self.about)} becomes likelier by more than {raised(self.at_most)} on average "
            "when the release is seen"
        )


@dataclass(frozen=True)
class Sibson(Guarantee):
    """Sibson's information of an order above 1, in bits: between mutual information (1) and maximal leakage.

    Parameters
    ----------
    about : name or names
        The secret: one column, or several jointly.
    order : number
        Above 1.
    at_most_bits : number
        The limit in bits.

    Examples
    --------
    >>> Sibson("income", 2, "0.1").words()
    "Sibson's information of order 2 about income is at most 0.1 bits"
    """

    about: Names
    order: Fraction
    at_most_bits: Fraction
    key: ClassVar[str] = "sibson"
    number: ClassVar[str] = "at_most_bits"
    counts: ClassVar[str] = "bits of Sibson's information about {secret}, at most"

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", named(self.about))
        object.__setattr__(self, "order", exact(self.order, "order"))
        object.__setattr__(self, "at_most_bits", not_negative(self.at_most_bits, "at_most_bits"))
        if not self.order > 1:
            raise InputError(f"order is {written(self.order)}; it must be above 1 (leakage is order 1)")
        if self.order.numerator > MOST_ORDER:
            raise InputError(
                f"order is {written(self.order)}; it is a fraction of numbers up to {MOST_ORDER} "
                "(maximal_leakage is what orders without end come to)"
            )

    def to_json(self) -> dict[str, Any]:
        return {
            "sibson": list(self.about),
            "order": written(self.order),
            "at_most_bits": written(self.at_most_bits),
        }

    def words(self) -> str:
        return (
            f"Sibson's information of order {raised(self.order)} about {jointly(self.about)} is at most "
            f"{bits(self.at_most_bits, 'up', 6)}"
        )
