r"""`where`: which records a question is about, in a small language that is read and never run as code.

    age >= 65 and (region in ('north', 'south') or not `home owner` == 'yes') and income is not missing

A test compares a column with a number or a text. Numbers compare by size and exactly; texts are equal or not, and a
text that is a day, as in visited >= '2024-03-01', is before or after another, at whatever time of the day. A value that
is missing passes no comparison, neither x != 1 nor x not in (1, 2), and `is missing` alone asks for it. Before a whole
comparison, `not` turns it over: not x in (1, 2) and not x == 1 hold for a missing value. `not` binds closer than `and`,
`and` closer than `or`. A name with a blank in it stands between backticks.
"""

import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from dalenius.core.numbers import exact
from dalenius.errors import InputError

__all__ = ["Both", "Condition", "Either", "Not", "Test", "condition"]

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))(?![\w.])|(?P<text>'[^']*'|"[^"]*")|(?P<quoted>`[^`]+`)
    |(?P<name>[^\W\d][\w.]*)|(?P<sign><=|>=|==|!=|<>|[=<>(),]))""",
    re.VERBOSE,
)
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ].*)?")
_SAME = {"=": "==", "<>": "!="}
_WORDS = ("and", "or", "not", "in", "is", "missing")
_SUCH_AS = 'Write conditions such as age >= 40 and `home owner` = "yes"; a name with a blank stands between backticks.'
_DEEPEST = 50
_LONGEST = 10_000

Literal = Fraction | str


class Condition(ABC):
    """Something that holds for a record, or does not."""

    @property
    @abstractmethod
    def tests(self) -> tuple["Test", ...]:
        """The tests of single columns, from left to right."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are looked at, each once."""
        return tuple(dict.fromkeys(test.column for test in self.tests))


@dataclass(frozen=True)
class Test(Condition):
    """One comparison of one column: `sign` is ==, !=, <, <=, >, >=, in, not in, or missing."""

    __test__ = False  # nothing that pytest should collect
    column: str
    sign: str
    values: tuple[Literal, ...] = ()

    @property
    def tests(self) -> tuple["Test", ...]:
        return (self,)

    def passes(self, text: str | None) -> bool:
        """Whether a value of the column passes; None is a missing one.

        >>> Test("age", ">=", (Fraction(65),)).passes("65.0"), Test("sex", "!=", ("f",)).passes(None)
        (True, False)
        """
        if self.sign == "missing":
            return text is None
        if text is None:
            return False
        if self.sign in _ORDER:
            (limit,) = self.values
            which = f"column {self.column!r}, which {self.sign} compares with"
            if isinstance(limit, Fraction):
                return _ORDER[self.sign](exact(text, which), limit)
            return _ORDER[self.sign](_day(text, which), _day(limit, which))
        found = any(_equal(text, value) for value in self.values)
        return found != (self.sign in ("!=", "not in"))


def _day(text: str, what: str) -> date:
    """The day that a text begins with, as 2024-03-01 or 2024-03-01 10:30."""
    found = _DAY.fullmatch(text)
    try:
        return date.fromisoformat(found[1] if found else "")
    except ValueError:
        raise InputError(f"{what}: {text!r} is no day, such as 2024-03-01") from None


def _equal(text: str, value: Literal) -> bool:
    if isinstance(value, str):
        return text == value
    try:
        return exact(text) == value
    except InputError:
        return False


@dataclass(frozen=True)
class Not(Condition):
    """Holds where the other does not."""

    other: Condition

    @property
    def tests(self) -> tuple[Test, ...]:
        return self.other.tests


@dataclass(frozen=True)
class Both(Condition):
    """Holds where all parts hold."""

    parts: tuple[Condition, ...]

    @property
    def tests(self) -> tuple[Test, ...]:
        return tuple(test for part in self.parts for test in part.tests)


@dataclass(frozen=True)
class Either(Both):
    """Holds where one of the parts holds."""


def condition(text: str) -> Condition:
    """The condition that a text says.

    Parameters
    ----------
    text : str
        As in the head of this module.

    Returns
    -------
    Condition

    Raises
    ------
    InputError
        With the place at which the text is not understood.

    Examples
    --------
    >>> condition("age >= 65 and not sex == 'f'").columns
    ('age', 'sex')
    >>> condition("age >= old")
    Traceback (most recent call last):
    dalenius.errors.InputError: where: after "age >=" a number, or a day such as '2024-03-01', is expected, ...
    """
    return _Reader(text).read()


class _Reader:
    """Reads a condition from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise InputError(f"where: the condition has more than {_LONGEST:,} characters", do="Shorten it.")
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []  # kind, text, where it begins
        at = 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if found is None:
                raise InputError(f'where: "{text[at:].strip()[:20]}" is not understood', do=_SUCH_AS)
            kind = str(found.lastgroup)
            self.tokens.append((kind, found[kind], found.start(kind)))
            at = found.end()
        self.next = 0
        self.depth = 0

    def read(self) -> Condition:
        if not self.tokens:
            raise InputError("where: the condition is empty; leave it out to ask about all records")
        found = self._either()
        if self.next < len(self.tokens):
            raise self._expected("the end, `and` or `or`")
        return found

    def _peek(self) -> str:
        """The next token if it is a word of the language or a sign, in small letters; else nothing."""
        if self.next == len(self.tokens):
            return ""
        kind, token, _ = self.tokens[self.next]
        word = token.lower()
        return word if kind == "sign" or (kind == "name" and word in _WORDS) else ""

    def _took(self, word: str) -> bool:
        if self._peek() != word:
            return False
        self.next += 1
        return True

    def _expected(self, what: str) -> InputError:
        ended = self.next == len(self.tokens)
        before = self.text[: len(self.text) if ended else self.tokens[self.next][2]].strip()
        after = f'after "{before[-30:]}" ' if before else ""
        seen = "" if ended else f', not "{self.tokens[self.next][1]}"'
        return InputError(f"where: {after}{what} is expected{seen}", do=_SUCH_AS)

    def _either(self) -> Condition:
        parts = [self._both()]
        while self._took("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _both(self) -> Condition:
        parts = [self._one()]
        while self._took("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _one(self) -> Condition:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise InputError(f"where: brackets stand in each other more than {_DEEPEST} deep", do="Use fewer brackets.")
        if self._took("not"):
            found: Condition = Not(self._one())
        elif self._took("("):
            found = self._either()
            if not self._took(")"):
                raise self._expected("a closing bracket")
        else:
            found = self._test()
        self.depth -= 1
        return found

    def _test(self) -> Condition:
        column = self._column()
        if self._took("is"):
            denied = self._took("not")
            if not self._took("missing"):
                raise self._expected("`missing`")
            return Not(Test(column, "missing")) if denied else Test(column, "missing")
        denied = self._took("not")
        if self._took("in"):
            return Test(column, "not in" if denied else "in", self._list())
        sign = _SAME.get(self._peek(), self._peek())
        if denied or sign not in (*_ORDER, "==", "!="):
            raise self._expected("a comparison such as >=, ==, in or is missing")
        self.next += 1
        return Test(column, sign, (self._literal(number=sign in _ORDER),))

    def _column(self) -> str:
        if self.next == len(self.tokens) or self._peek() or self.tokens[self.next][0] not in ("name", "quoted"):
            raise self._expected("the name of a column")
        kind, token, _ = self.tokens[self.next]
        self.next += 1
        return token[1:-1] if kind == "quoted" else token

    def _list(self) -> tuple[Literal, ...]:
        if not self._took("("):
            raise self._expected("a list in brackets")
        found = [self._literal()]
        while self._took(","):
            found.append(self._literal())
        if not self._took(")"):
            raise self._expected("a comma or a closing bracket")
        return tuple(found)

    def _literal(self, *, number: bool = False) -> Literal:
        kind, token, _ = self.tokens[self.next] if self.next < len(self.tokens) else ("", "", 0)
        if kind == "number":
            self.next += 1
            return exact(token.removeprefix("+"))
        if kind == "text" and not (number and _DAY.fullmatch(token[1:-1]) is None):
            if number:
                _day(token[1:-1], "where")
            self.next += 1
            return token[1:-1]
        raise self._expected("a number, or a day such as '2024-03-01'," if number else "a number, or a text in quotes,")
