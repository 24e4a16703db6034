"""Promises about odds: how many times likelier something may become. Their levels are in nats."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from dalenius.core.digits import chance
from dalenius.core.guarantee import Guarantee, Names, at_least_one, jointly, named, not_negative, raised
from dalenius.core.numbers import written
from dalenius.errors import InputError
from dalenius.wording import joined

__all__ = ["InformationPrivacy", "LocalDP"]


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
        at_least_one(self.rows, "rows")
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
    def rows_of_a_person(self) -> int:
        return self.rows

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
