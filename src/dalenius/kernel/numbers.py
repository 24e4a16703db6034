"""The door: a text becomes a tree of JSON values with paths, numbers become exact, and all work is counted.

A file is canonical: compact JSON that equals its own re-serialisation, so that a key that stands twice, a float, or
another way to write a letter is seen by comparing two texts. Data never stand in keys. A number is a text by a fixed
grammar; a place in a list is a small JSON integer.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm

LONGEST_FILE = 1 << 26
LONGEST_NUMBER = 4000
LONGEST_SHOWN = 14_000  # bits: Python writes integers of up to 4300 digits
LONGEST_LABEL = 1000
DEEPEST = 16
VERSION_1 = ("dalenius-design/1", "dalenius-card/1")

INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:/([1-9][0-9]*)|\.([0-9]+))?")
# A text in quotes, also one that never ends: the closing quote is optional, so that no place is tried twice.
QUOTED = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
NO_BRACKETS = re.compile(r"[^\[\]{}]+")


class Refused(Exception):
    """The file proves less than it says, or says what it must not; the sentence tells what and where."""


class TooMuchWork(Refused):
    """The file asks for more work than is allowed, and was not checked; nothing else is said against it."""


def require(holds: bool, otherwise: str) -> None:
    """Refuse with this sentence unless the condition holds."""
    if not holds:
        raise Refused(otherwise)


@dataclass
class Work:
    """Elementary operations that are still allowed; one takes about a tenth of a microsecond."""

    limit: int
    spent: int = 0

    def spend(self, operations: int, bits: int = 0) -> None:
        """Count operations on numbers of so many bits; products and quotients of long ones grow with the square."""
        self.spent += operations * (1 + (bits >> 8) ** 2 // 2)
        require(self.spent <= self.limit, f"the proof needs more than the {self.limit:,} operations that are allowed")


def _shown(value: object) -> str:
    """A value in a sentence, cut where it is long."""
    if isinstance(value, int) and value.bit_length() > LONGEST_SHOWN:
        return "a very long number"
    text = ascii(value) if isinstance(value, (str, int, float, type(None))) else type(value).__name__
    return text if len(text) <= 40 else text[:37] + "..."


class Node:
    """A value of the file and where it stands; it gives itself away by typed methods alone."""

    __slots__ = ("above", "key", "value")

    def __init__(self, value: object, key: str | int = "$", above: "Node | None" = None) -> None:
        self.value = value
        self.key = key
        self.above = above

    @property
    def path(self) -> str:
        """Where the value stands, as in `$.law.outcomes[3]`; built for refusals alone."""
        if self.above is None:
            return str(self.key)
        return self.above.path + (f".{self.key}" if isinstance(self.key, str) else f"[{self.key}]")

    def refuse(self, what: str) -> Refused:
        """The refusal that names this place."""
        return Refused(f"{self.path}: {what}")

    def require(self, holds: bool, otherwise: str) -> None:
        """Refuse at this place unless the condition holds."""
        if not holds:
            raise self.refuse(otherwise)

    def fields(self, *keys: str) -> list["Node"]:
        """The values of an object that has exactly these keys, in this order."""
        if not isinstance(self.value, dict):
            raise self.refuse("an object is expected")
        found = tuple(self.value)
        # In this order, as one document has one text; a key that nobody asks for is never let by.
        if found != keys:
            wrong = [key for key in found if key not in keys] + [key for key in keys if key not in found]
            hint = f" (see {_shown(wrong[0])})" if wrong else ""
            raise self.refuse(f"the keys must be {', '.join(keys)}, in this order{hint}")
        return [Node(value, key, self) for key, value in self.value.items()]

    def first(self) -> "Node":
        """The value under the first key of an object."""
        if not isinstance(self.value, dict) or not self.value:
            raise self.refuse("an object is expected")
        key = next(iter(self.value))
        return Node(self.value[key], key, self)

    def tag(self, *known: str) -> str:
        """The text under the first key of an object, which says what kind of object it is."""
        first = self.first().value
        if not isinstance(first, str) or first not in known:
            raise self.refuse(f"{_shown(first)} is not one of {', '.join(known)}")
        return first

    def values(self) -> list[object]:
        """The values of a list."""
        if not isinstance(self.value, list):
            raise self.refuse("a list is expected")
        return self.value

    def items(self) -> list["Node"]:
        """The items of a list."""
        return [Node(value, place, self) for place, value in enumerate(self.values())]

    def length(self) -> int:
        """How many items a list has."""
        return len(self.values())

    def pair(self, length: int = 2) -> list["Node"]:
        """The items of a list that has so many."""
        if self.length() != length:
            raise self.refuse(f"a list of {_shown(length)} is expected")
        return self.items()

    def is_null(self) -> bool:
        """Whether nothing is said here."""
        return self.value is None

    def text(self) -> str:
        """A text that is neither empty nor long."""
        if not isinstance(self.value, str) or not 0 < len(self.value) <= LONGEST_LABEL:
            raise self.refuse("a short text is expected")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """Different texts."""
        found = tuple(value for value in self.values() if type(value) is str)
        # Else one item after the other, so that the refusal names its place.
        if len(found) < self.length() or max(map(len, found), default=0) > LONGEST_LABEL:
            found = tuple(item.text() for item in self.items())
        if len(set(found)) != len(found):
            raise self.refuse("a text stands twice")
        if "" in found:
            raise self.refuse("a text is empty")
        return found

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.refuse("true or false is expected")
        return self.value

    def place(self, below: int, least: int = 0) -> int:
        """A small JSON integer: a place in a list of so many. JSON's true is none, though Python takes it for 1."""
        # By type, not isinstance: true must not be taken for the place 1.
        if type(self.value) is not int or not least <= self.value < below:
            raise self.refuse(f"an integer from {least} to {_shown(below - 1)} is expected")
        return self.value

    def places(self, below: int) -> list[int]:
        """Many places, in little time."""
        found = [value for value in self.values() if type(value) is int]
        if len(found) == self.length() and 0 <= min(found, default=0) <= max(found, default=0) < below:
            return found
        return [item.place(below) for item in self.items()]

    def whole(self, least: int | None = None) -> int:
        """An integer, written as a text."""
        if not isinstance(self.value, str) or len(self.value) > LONGEST_NUMBER or not INTEGER.fullmatch(self.value):
            raise self.refuse("an integer is expected, as a text")
        found = int(self.value)
        if least is not None and found < least:
            raise self.refuse(f"an integer from {least} on is expected")
        return found

    def wholes(self, least: int | None = None) -> list[int]:
        """Many integers, in little time."""
        numbers = integers(self.values())
        if numbers is not None and (least is None or not numbers or min(numbers) >= least):
            return numbers
        return [item.whole(least) for item in self.items()]

    def number(self, least: int | None = None) -> Fraction:
        """An integer, a decimal or a fraction, written as a text."""
        if not isinstance(self.value, str):
            raise self.refuse("a number is expected, as a text")
        found = fraction(self.value)
        if found is None:
            raise self.refuse(f"{_shown(self.value)} is not an integer, a decimal or a fraction")
        if least is not None and found < least:
            raise self.refuse(f"a number from {least} on is expected")
        return found


def granted(declared: Node, most: int, text: str) -> Work:
    """The work that a document declares, of which reading it has spent some; refused beyond `most`."""
    work = Work(declared.whole(0))
    if work.limit > most:
        more = f"{most:,} are allowed; --work {work.limit} allows them"
        raise TooMuchWork(f"{declared.path}: the file asks for {work.limit:,} operations, {more}")
    work.spend(2 * len(text))  # What reading cost is owed already.
    return work


def integers(found: Sequence[object]) -> list[int] | None:
    """The integers that these values are by our grammar, or None if one of them is not."""
    texts = [value for value in found if type(value) is str]
    if len(texts) < len(found) or max(map(len, texts), default=0) > LONGEST_NUMBER:
        return None
    return list(map(int, texts)) if all(map(INTEGER.fullmatch, texts)) else None


def fraction(text: str) -> Fraction | None:
    """The number that a text is by our grammar, or None."""
    match = NUMBER.fullmatch(text) if len(text) <= LONGEST_NUMBER else None
    if match is None:
        return None
    front, bottom, decimals = match.groups()
    if decimals is not None:
        return Fraction(int(front + decimals), 10 ** len(decimals))
    return Fraction(int(front), int(bottom or 1))


def parsed(text: str) -> Node:
    """The tree of a canonical file."""
    require(len(text) <= LONGEST_FILE, f"the file has more than {LONGEST_FILE:,} characters")
    short = 0 < sys.get_int_max_str_digits() < 4300
    require(not short, "this Python was told to read short numbers only: PYTHONINTMAXSTRDIGITS must be 4300 or more")
    # A parser that calls itself must never see what is nested without end, so the depth is counted first, by taking
    # away the innermost brackets as often as they may stand in each other.
    brackets = NO_BRACKETS.sub("", QUOTED.sub("", text))  # Texts first: a bracket in a label opens nothing.
    for _ in range(DEEPEST):
        brackets = brackets.replace("[]", "").replace("{}", "")
    require(not brackets, f"the brackets do not match, or stand in each other more than {DEEPEST} deep")
    try:
        value: object = json.loads(text)
        again = canonical(value)  # of keys that stand twice JSON keeps the last: the texts differ
        again.encode()
    except (ValueError, RecursionError):
        raise Refused("the file is not JSON, or has a number or a letter that JSON does not know") from None
    earlier = isinstance(value, dict) and value.get("format") in VERSION_1
    require(not earlier, "the file is of version 1: `dalenius convert` writes it anew")
    require(
        again == text, "the file is not in canonical form: a key stands twice, or a blank or a line end is too much"
    )
    return Node(value)


def canonical(value: object) -> str:
    """The one text of a JSON value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def common_denominator(numbers: Iterable[Fraction], work: Work) -> int:
    """The least common denominator of some numbers; refuses before it becomes too long."""
    found = 1
    for bottom in {number.denominator for number in numbers}:
        work.spend(4, found.bit_length() + bottom.bit_length())
        found = lcm(found, bottom)
    return found


def up(q: Fraction, digits: int = 30) -> str:
    """The smallest decimal of that many digits that is not below q.

    >>> up(Fraction(1, 3), 3), up(Fraction(-1, 3), 3), up(Fraction(2), 3)
    ('0.334', '-0.333', '2')
    """
    # A figure that is cut off would be printed as smaller than what was proved.
    units = ceil(q * 10**digits)
    require(units.bit_length() <= LONGEST_SHOWN, "a number is too long to be written")
    text = str(abs(units)).rjust(digits + 1, "0")
    return (("-" if units < 0 else "") + text[:-digits] + "." + text[-digits:]).rstrip("0").rstrip(".")


def down(q: Fraction, digits: int = 30) -> str:
    """The largest decimal of that many digits that is not above q.

    >>> down(Fraction(2, 3), 3)
    '0.666'
    """
    return up(Fraction(floor(q * 10**digits), 10**digits), digits)
