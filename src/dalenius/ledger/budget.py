"""A budget: lines such as `local_dp=2` or `leakage:diagnosis=0.1`, each with one currency and one limit."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dalenius.core.numbers import exact
from dalenius.errors import InputError

__all__ = ["KINDS", "Line", "budget_of"]

KINDS = {  # kind: (unit, whether it names a secret)
    "contraction": ("share", False),
    "dalenius": ("bits", False),
    "information_privacy": ("nats", True),
    "leakage": ("bits", True),
    "local_dp": ("nats", False),
    "worst_case_leakage": ("bits", True),
}
_EXAMPLE = "write local_dp=2, dalenius=1, contraction=1/2, leakage:diagnosis=0.1 or independent:sex"


@dataclass(frozen=True)
class Line:
    """At most so much of one kind, about one secret where the kind needs one (several columns: jointly).

    >>> Line.parse("leakage:sex,age=0.1")
    Line(kind='leakage', secret=('sex', 'age'), at_most=Fraction(1, 10))
    >>> Line.parse("independent:sex").name, Line.parse("local_dp=2").unit
    ('leakage:sex', 'nats')
    """

    kind: str
    secret: tuple[str, ...]
    at_most: Fraction

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"a budget has no line {self.kind!r}; there are {', '.join(KINDS)} and independent")
        if KINDS[self.kind][1] != bool(self.secret) or len(set(self.secret)) != len(self.secret) or "" in self.secret:
            raise InputError(
                f"the budget line {self.kind!r} names "
                + ("the columns of a secret, each once, as in " if KINDS[self.kind][1] else "no secret, as in ")
                + (f"{self.kind}:diagnosis=0.1" if KINDS[self.kind][1] else f"{self.kind}=1")
            )
        if self.at_most < 0:
            raise InputError(f"the budget of {self.name} is {self.at_most}; it cannot be negative")

    @property
    def name(self) -> str:
        """The line without its limit."""
        return f"{self.kind}:{','.join(self.secret)}" if self.secret else self.kind

    @property
    def unit(self) -> str:
        return KINDS[self.kind][0]

    @classmethod
    def parse(cls, text: str) -> "Line":
        """KIND=LIMIT, KIND:SECRET=LIMIT, or independent:SECRET for a leakage of exactly 0."""
        name, equals, limit = text.rpartition("=")
        if text.startswith("independent:"):
            if equals:
                raise InputError(f"the budget line {text!r} takes no number: independent means 0 bits, exactly")
            name, limit = f"leakage:{text.removeprefix('independent:')}", "0"
        elif not equals:
            raise InputError(f"the budget line {text!r} has no limit; {_EXAMPLE}")
        kind, colon, secret = name.partition(":")
        return cls(
            kind.strip(),
            tuple(s.strip() for s in secret.split(",")) if colon else (),
            exact(limit.strip(), f"the budget of {name}"),
        )


def budget_of(texts: Iterable[str]) -> tuple[Line, ...]:
    """The lines of a budget, one or more, each once."""
    lines = tuple(Line.parse(text) for text in texts)
    if not lines:
        raise InputError(f"a ledger needs a budget; {_EXAMPLE}")
    names = [line.name for line in lines]
    if len(set(names)) != len(names):
        raise InputError(f"the budget names {next(n for n in names if names.count(n) > 1)} twice")
    return lines
