"""Promises about information: how many bits, or which share of any bits, may pass."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from dalenius.core.digits import bits
from dalenius.core.guarantee import Guarantee, Names, at_least_one, jointly, named, not_negative, raised
from dalenius.core.numbers import written
from dalenius.errors import InputError

__all__ = ["Contraction", "Dalenius", "Independent", "Leakage", "WorstCaseLeakage"]


@dataclass(frozen=True)
class Independent(Guarantee):
    """The output is exactly independent of the view (000, Def. 1, Cor. 4.1): p(v, y) = p(v) p(y).

    Parameters
    ----------
    view : name or names
        One column, or several jointly.

    Examples
    --------
    >>> Independent("income").words()
    'what is released is exactly independent of income'
    """

    view: Names
    key: ClassVar[str] = "independent"
    row: ClassVar[str] = "reveals nothing about {secret}"
    brief: ClassVar[str] = "a row reveals nothing about {secret}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "view", named(self.view))

    @property
    def secret(self) -> Names:
        return self.view

    def to_json(self) -> dict[str, Any]:
        return {"independent": list(self.view)}

    def words(self) -> str:
        return f"what is released is exactly independent of {jointly(self.view)}"


@dataclass(frozen=True)
class Leakage(Guarantee):
    """I(S; Y) at most so many bits; with side information Z of the user, I(S; Y, Z) (003, eq. 5 and 6).

    Parameters
    ----------
    about : name or names
        The secret: one column, or several jointly.
    at_most_bits : number
        The limit in bits.

    Examples
    --------
    >>> Leakage("income", "0.01").words()
    'what is released reveals at most 0.01 bits about income on average'
    """

    about: Names
    at_most_bits: Fraction
    key: ClassVar[str] = "leakage"
    row: ClassVar[str] = "reveals at most {limit} about {secret}"
    brief: ClassVar[str] = "a row reveals at most {limit} about {secret}"
    number: ClassVar[str] = "at_most_bits"

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", named(self.about))
        object.__setattr__(self, "at_most_bits", not_negative(self.at_most_bits, "at_most_bits"))

    def to_json(self) -> dict[str, Any]:
        return {self.key: list(self.about), "at_most_bits": written(self.at_most_bits)}

    def words(self) -> str:
        return (
            f"what is released reveals at most {bits(self.at_most_bits, 'up', 6)} about {jointly(self.about)} "
            f"on average"
        )

    @property
    def limit(self) -> str:
        return bits(self.at_most_bits, "up", 6)


@dataclass(frozen=True)
class WorstCaseLeakage(Leakage):
    """max over y of D(P_(S | y) || P_S), in bits (004, Def. 7 with the divergence in its right order).

    Parameters
    ----------
    about : name or names
        The secret: one column, or several jointly.
    at_most_bits : number
        The limit in bits.

    Examples
    --------
    >>> WorstCaseLeakage("income", "0.1").words()
    'no single released value reveals more than 0.1 bits about income'
    """

    key: ClassVar[str] = "worst_case_leakage"
    counts: ClassVar[str] = "bits that any one row reveals about {secret}, at most"

    def words(self) -> str:
        return (
            f"no single released value reveals more than {bits(self.at_most_bits, 'up', 6)} about {jointly(self.about)}"
        )


@dataclass(frozen=True)
class Dalenius(Guarantee):
    """max over every adversary's prior and every group of records of I(X_group; Y) (001, Defs. 4-6 and 17).

    Y is one draw from the channel (`rows` = 1), or so many: where rows are released one by one, "all" stands for all
    rows of the table until they are counted. About the columns that the mechanism observes; numbers with noise count
    as one record, and a group of k of them as k rows of their own.

    Parameters
    ----------
    at_most_bits : number
        The limit in bits.
    group : int
        How many records are protected together.
    rows : int or "all"
        How many draws are looked at.

    Examples
    --------
    >>> Dalenius("1/2").words()
    'no attacker, whatever they know, learns more than 0.5 bits about one record from one draw'
    """

    at_most_bits: Fraction
    group: int = 1
    rows: int | Literal["all"] = 1
    key: ClassVar[str] = "dalenius"
    number: ClassVar[str] = "at_most_bits"
    counts: ClassVar[str] = "bits about any one row, at most"

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_most_bits", not_negative(self.at_most_bits, "at_most_bits"))
        at_least_one(self.group, "group")
        if self.rows != "all":
            at_least_one(self.rows, "rows")
            if 1 < self.rows < self.group:
                raise InputError(f"{self.group} records have that many rows, and rows is {self.rows}")

    @property
    def draws(self) -> int:
        """How many rows are looked at together: those of the group, or all that the promise names."""
        if self.rows == "all":
            raise InputError(
                'rows = "all" is counted when the table is read; this problem has no table',
                do="Write the number of rows, or name a table in [source].",
            )
        return max(self.rows, self.group)

    def to_json(self) -> dict[str, Any]:
        rows = {"rows": self.rows} if self.rows != 1 else {}
        return {"dalenius": True, "at_most_bits": written(self.at_most_bits), "group": self.group, **rows}

    def words(self) -> str:
        who = "one record" if self.group == 1 else f"{self.group} records"
        drawn = "one draw" if self.rows == 1 else "all draws" if self.rows == "all" else f"{self.rows} draws"
        limit = bits(self.at_most_bits, "up", 6)
        return f"no attacker, whatever they know, learns more than {limit} about {who} from {drawn}"


@dataclass(frozen=True)
class Contraction(Guarantee):
    """I(S; Y) <= s I(S; X) whatever S is (004, eq. 5-11).

    Parameters
    ----------
    at_most : number
        The share of any information that passes at most.

    Examples
    --------
    >>> Contraction("1/4").words()
    'of whatever the input reveals about any secret, at most the fraction 0.25 passes'
    """

    at_most: Fraction
    key: ClassVar[str] = "contraction"
    number: ClassVar[str] = "at_most"
    counts: ClassVar[str] = "share of any information that passes, at most"
    highest: ClassVar[Fraction | None] = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_most", not_negative(self.at_most, "contraction"))

    def to_json(self) -> dict[str, Any]:
        return {"contraction": written(self.at_most)}

    def words(self) -> str:
        return f"of whatever the input reveals about any secret, at most the fraction {raised(self.at_most)} passes"
