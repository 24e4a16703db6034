"""A table of a TOML file read strictly: keys are taken one by one, and errors name the file and the line."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius.core.numbers import exact
from dalenius.core.problem import located
from dalenius.errors import InputError, ProblemFileError

__all__ = ["REQUIRED", "Place", "Section", "key_lines"]

LARGEST = 10**300  # a double holds it; searches work with doubles

Place = tuple[str | int, ...]

REQUIRED = object()

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_STRING = re.compile(r"""("[^"]*"|'[^']*')""")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=""")


def key_lines(text: str) -> dict[Place, int]:
    """Line of each section header and key, found by their looks; used in messages only."""
    lines: dict[Place, int] = {}
    here: Place = ()
    tables: Counter[Place] = Counter()  # how many tables of one name there were
    depth = 0  # of brackets left open by the values of earlier lines
    for number, line in enumerate(text.splitlines(), 1):
        inside = depth > 0
        bare = _STRING.sub("", line).split("#")[0]
        depth = max(0, depth + bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}"))
        if inside:
            continue
        if header := _HEADER.match(line):
            here = tuple(part.strip().strip("\"'") for part in header[2].split("."))
            if header[1] == "[[":
                lines.setdefault(here, number)
                tables[here] += 1
                here = (*here, tables[here] - 1)
            lines[here] = number
        elif key := _KEY.match(line):
            lines.setdefault((*here, key[1].strip("\"'")), number)
    return lines


@dataclass
class Section:
    """One table of the file: keys are taken one by one, and what is left over is an error."""

    values: dict[str, Any]
    place: Place
    file: Path | None
    lines: Mapping[Place, int]

    @property
    def title(self) -> str:
        names = [p for p in self.place if isinstance(p, str)]
        return f"[[{names[0]}]]" if names and names[0] in ("guarantee", "limit") else f"[{'.'.join(names)}]"

    def error(self, message: str, *key: str) -> ProblemFileError:
        return located(self.file, self.lines, (*self.place, *key), message)

    def take(self, key: str, default: Any = REQUIRED) -> Any:
        if key not in self.values:
            if default is REQUIRED:
                raise self.missing(key)
            return default
        return self.values.pop(key)

    def missing(self, key: str, words: str = "") -> ProblemFileError:
        """That a key is not there: what was perhaps written in its place, or else what it could say."""
        typo = get_close_matches(key, self.values, 1, 0.6)
        meant = f"; {typo[0]!r} is not known" if typo else words
        return self.error(f"{self.title} lacks the key {key!r}{meant}", *typo)

    def section(self, key: str) -> "Section":
        return Section(dict(self._typed(key, dict, "a table")), (*self.place, key), self.file, self.lines)

    def _typed(self, key: str, kind: type | tuple[type, ...], words: str, default: Any = REQUIRED) -> Any:
        value = self.take(key, default)
        if value is default and default is not REQUIRED:
            return value
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.error(f"{key!r} in {self.title} must be {words}, not {value!r}", key)
        return value

    def text(self, key: str, default: Any = REQUIRED) -> Any:
        value = self._typed(key, str, "a string", default)
        if value == "":
            raise self.error(f"{key!r} in {self.title} is an empty string", key)
        return value

    def choice(self, key: str, choices: Sequence[str], default: Any = REQUIRED) -> Any:
        listed = ", ".join(map(repr, choices))
        if key not in self.values and default is REQUIRED:
            raise self.missing(key, f", one of {listed}")
        value = self.text(key, default)
        if value is not default and value not in choices:
            raise self.error(f"{key!r} is {value!r}; it must be one of {listed}", key)
        return value

    def integer(self, key: str, default: Any = REQUIRED, least: int = 1) -> Any:
        value = self._typed(key, int, "an integer", default)
        if value is not default and value < least:
            raise self.error(f"{key!r} is {value}; it must be at least {least}", key)
        return value

    def flag(self, key: str, default: Any = REQUIRED) -> Any:
        return self._typed(key, bool, "true or false", default)

    def number(self, key: str, default: Any = REQUIRED, least: Fraction | None = Fraction(0)) -> Any:
        value = self.take(key, default)
        if value is default and default is not REQUIRED:
            return value
        try:
            q = exact(value, repr(key))
        except InputError as e:
            raise self.error(str(e), key) from None
        if least is not None and q < least:
            nothing = " (reveals nothing)" if key == "at_most_bits" and not least else ""
            raise self.error(f"{key!r} is {value}; write a number from {least}{nothing} on", key)
        if abs(q) > LARGEST:
            raise self.error(f"{key!r} is a number of more than 300 digits, too large to be meant", key)
        return q

    def names(self, key: str, default: Any = REQUIRED) -> Any:
        value = self.take(key, default)
        if value is default and default is not REQUIRED:
            return value
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
            raise self.error(f"{key!r} in {self.title} must be a list of column names, not {value!r}", key)
        if len(set(value)) != len(value):
            raise self.error(f"{key!r} in {self.title} names a column twice", key)
        return tuple(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, empty unless said; the empty text may stand in it and says nothing."""
        value = self.take(key, [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.error(f"{key!r} in {self.title} must be a list of texts, not {value!r}", key)
        return tuple(dict.fromkeys(v for v in value if v))

    def done(self, known: tuple[str, ...]) -> None:
        """Refuse what nobody took, and say what it may have meant."""
        for key in self.values:
            close = get_close_matches(key, known, 1, 0.5)
            hint = f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(known)}" if known else ""
            raise self.error(f"unknown key {key!r} in {self.title}{hint}", key)
