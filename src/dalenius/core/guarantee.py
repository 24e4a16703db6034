"""`Guarantee`: frozen descriptions of a promise. They never compute; their meaning never changes.

`to_json` writes a guarantee as it stands in a problem file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from dalenius.core.digits import bits, chance, factor, figure
from dalenius.core.numbers import exact, written
from dalenius.errors import InputError
from dalenius.wording import joined

__all__ = [
    "Contraction",
    "Dalenius",
    "Guarantee",
    "Independent",
    "InformationPrivacy",
    "Leakage",
    "LocalDP",
    "WorstCaseLeakage",
]

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


def _at_least_one(count: int, what: str) -> None:
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
    def delta(self) -> Fraction:
        """A share of every law that the level need not cover."""
        return Fraction(0)

    @property
    def tells_nothing(self) -> bool:
        """Whether it promises that nothing at all is told about its secret: exact independence, in other words."""
        return bool(self.secret) and self.level == 0 and not self.in_nats

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
        >>> Leakage("income", "0.01").briefly(), LocalDP("0.6931471").briefly("house")[:42]
        ('a row reveals at most 0.01 bits about income', 'no released entry is more than 2 times lik')
        """
        return self._filled(self.brief, person)

    def _filled(self, words: str, person: str) -> str:
        together = " together" if len(self.secret) > 1 else ""
        return words.format(secret=joined(self.secret) + together, limit=self.limit, person=person)


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
class LocalDP(Guarantee):
    """p(y | x) <= e^(epsilon d(x, x')) p(y | x') for all pairs of inputs, also impossible ones (002, eq. 6 and 10).

    Without a metric d = 1. A metric is the name of a file, or, once the file is read, a distance for each pair of input
    outcomes, in the order of the rows of a channel; it is symmetric and 0 on the diagonal. `given` names the columns
    that leave as they are: the promise is then about pairs of records that agree in them, for others it cannot hold.

    `rows` is how many rows the person may have whom the promise is about: they are drawn one by one, so that their
    levels (and deltas) add up, and each row keeps to level epsilon / rows. A problem takes it from `max_rows`.

    Parameters
    ----------
    epsilon : number
        The level in nats.
    metric : str or matrix, optional
        Distances between inputs, or the file that has them.
    delta : number
        A share of every law that the level need not cover.
    given : names
        Columns that leave as they are, in which two records agree.
    rows : int
        How many rows of one person are drawn.

    Examples
    --------
    >>> LocalDP(2).words()
    'no released value is more than e^2 times likelier under one input than another'
    """

    epsilon: Fraction
    metric: str | tuple[tuple[Fraction, ...], ...] | None = None
    delta: Fraction = Fraction(0)
    given: Names = ()
    rows: int = 1
    key: ClassVar[str] = "local_dp"
    row: ClassVar[str] = "makes no {entry} more than {limit} times likelier for one {person} than for {other}"
    brief: ClassVar[str] = "no {entry} is more than {limit} times likelier for one {person} than for {other}"
    number: ClassVar[str] = "epsilon"
    counts: ClassVar[str] = "factor by which an entry is likelier for one person than for another, at most"
    in_nats: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", not_negative(self.epsilon, "local_dp"))
        object.__setattr__(self, "delta", not_negative(self.delta, "delta"))
        object.__setattr__(self, "given", named(self.given) if self.given else ())
        _at_least_one(self.rows, "rows")
        if self.metric is not None and not isinstance(self.metric, str):
            rows = tuple(tuple(not_negative(entry, "a distance") for entry in row) for row in self.metric)
            if not rows or any(len(row) != len(rows) for row in rows):
                raise InputError("a metric has one row of distances for each input outcome, and as many columns")
            if any(rows[i][i] or rows[i][j] != rows[j][i] for i in range(len(rows)) for j in range(i + 1)):
                raise InputError("a metric is symmetric and 0 on the diagonal")
            object.__setattr__(self, "metric", rows)

    def to_json(self) -> dict[str, Any]:
        given: Any = self.metric
        if given and not isinstance(given, str):
            given = [[written(entry) for entry in row] for row in given]
        extra = {"metric": given} if given else {}
        return {
            "local_dp": written(self.epsilon),
            **extra,
            **({"delta": written(self.delta)} if self.delta else {}),
            **({"given": list(self.given)} if self.given else {}),
            **({"rows": self.rows} if self.rows != 1 else {}),
        }

    @property
    def of_one_row(self) -> "LocalDP":
        """The promise that each row keeps by itself, so that all rows of a person keep this one."""
        return replace(self, epsilon=self.epsilon / self.rows, delta=self.delta / self.rows, rows=1)

    @property
    def other(self) -> str:
        """With whom a person is compared, and by how much the promise may be missed."""
        among = f" with the same {joined(self.given)}" if self.given else ""
        apart = ", for each step of distance between them" if self.metric else ""
        # P(A | x) <= e^epsilon P(A | x') + delta for every set A: the ratio of a single entry has no limit then.
        return f"another{among}{apart}" + (f", plus a chance of {chance(self.delta)}" if self.delta else "")

    def _filled(self, words: str, person: str) -> str:
        entry = "set of released entries" if self.delta else "released entry"
        entry = entry if self.rows == 1 else f"set of released rows of one {person}"
        return words.format(entry=entry, limit=self.limit, person=person, other=self.other)

    def words(self) -> str:
        level = f"e^{raised(self.epsilon)}" if self.metric is None else f"e^({raised(self.epsilon)} d)"
        apart = "" if self.metric is None else " at distance d"
        among = f" with the same {', '.join(self.given)}" if self.given else ""
        one = "set of released values is" if self.delta else "released value is"
        who = one if self.rows == 1 else f"{self.rows} released values of one person are"
        plus = f", plus a chance of {written(self.delta)}" if self.delta else ""
        return f"no {who} more than {level} times likelier under one input than another{apart}{among}{plus}"


@dataclass(frozen=True)
class InformationPrivacy(Guarantee):
    """e^-epsilon <= p(s | y) / p(s) <= e^epsilon for every secret value and every letter (004, Def. 7).

    Parameters
    ----------
    about : name or names
        The secret: one column, or several jointly.
    epsilon : number
        The level in nats.

    Examples
    --------
    >>> InformationPrivacy("income", "1/2")
    InformationPrivacy(about=('income',), epsilon=Fraction(1, 2))
    """

    about: Names
    epsilon: Fraction
    key: ClassVar[str] = "information_privacy"
    row: ClassVar[str] = "makes no answer about {secret} more than {limit} times as likely"
    brief: ClassVar[str] = "no released row makes an answer about {secret} more than {limit} times as likely"
    number: ClassVar[str] = "epsilon"
    counts: ClassVar[str] = "factor by which an answer about {secret} becomes likelier or less likely, at most"
    in_nats: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", named(self.about))
        object.__setattr__(self, "epsilon", not_negative(self.epsilon, "epsilon"))

    def to_json(self) -> dict[str, Any]:
        return {"information_privacy": list(self.about), "epsilon": written(self.epsilon)}

    def words(self) -> str:
        return (
            f"no released value makes a value of {jointly(self.about)} more than e^{raised(self.epsilon)} times as "
            "likely as it was, nor less likely by more than that factor"
        )


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
        _at_least_one(self.group, "group")
        if self.rows != "all":
            _at_least_one(self.rows, "rows")
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
