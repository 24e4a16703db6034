"""A budget: lines such as `local_dp=2` or `leakage:diagnosis=0.1`, each with one currency and one limit."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dalenius.core.numbers import exact
from dalenius.errors import InputError

__all__ = ["KINDS", "Line", "budget_of"]

KINDS: dict[str, tuple[str, bool | None]] = {  # kind: (unit, whether it names a secret; None: it may)
    "contraction": ("share", False),
    "dalenius": ("bits", False),
    "differential_privacy": ("nats", False),
    "guess": ("share", True),
    "independent_records": ("bits", False),
    "information_privacy": ("nats", True),
    "leakage": ("bits", True),
    "local_dp": ("nats", False),
    "maximal_leakage": ("bits", None),
    "total_variation": ("share", True),
    "worst_case_leakage": ("bits", True),
    "zcdp": ("rho", False),
}
WITH_DELTA = "differential_privacy"
"""The kind that may name a probability where others name a secret, as in differential_privacy:1/1000000=2."""
_EXAMPLE = "write local_dp=2, differential_privacy=1, dalenius=1, leakage:diagnosis=0.1 or independent:sex"


@dataclass(frozen=True)
class Line:
    """At most so much of one kind, about one secret where the kind needs one (several columns: jointly).

    Parameters
    ----------
    kind : str
        Of the promise.
    secret : names
        What it is about, where the kind needs that.
    at_most : Fraction
        The limit.

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
            raise InputError(
                f"a budget has no line {self.kind!r}; there are {', '.join(KINDS)} and independent",
                do=f"Choose one of them; {_EXAMPLE}.",
            )
        if self.kind == WITH_DELTA and self.secret:
            if len(self.secret) > 1 or not 0 < exact(self.secret[0], f"the delta of {self.kind}") < 1:
                raise InputError(f"the delta of {self.kind} lies between 0 and 1, as in {self.kind}:1/1000000=2")
        elif (
            KINDS[self.kind][1] not in (None, bool(self.secret))
            or len(set(self.secret)) != len(self.secret)
            or "" in self.secret
        ):
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
    def delta(self) -> Fraction:
        """The probability that a line of differential privacy leaves open."""
        return exact(self.secret[0]) if self.kind == WITH_DELTA and self.secret else Fraction(0)

    @property
    def unit(self) -> str:
        return KINDS[self.kind][0]

    @classmethod
    def parse(cls, text: str) -> "Line":
        """KIND=LIMIT, KIND:SECRET=LIMIT, or independent:SECRET for a leakage of exactly 0."""
        name, equals, limit = text.rpartition("=")
        if text.startswith("independent:"):
            if equals:
                raise InputError(
                    f"the budget line {text!r} takes no number: independent means 0 bits, exactly",
                    do="Leave out the number.",
                )
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
    """The lines of a budget, one or more, each once.

    Parameters
    ----------
    texts : iterable of str
        Such as "local_dp=2".

    Returns
    -------
    tuple of Line
        Each once.

    Raises
    ------
    InputError
        If a line is said twice or not understood.
    """
    lines = tuple(Line.parse(text) for text in texts)
    if not lines:
        raise InputError(f"a ledger needs a budget; {_EXAMPLE}")
    names = [line.name for line in lines]
    if len(set(names)) != len(names):
        raise InputError(
            f"the budget names {next(n for n in names if names.count(n) > 1)} twice",
            do="Name each line of the budget once.",
        )
    return lines
