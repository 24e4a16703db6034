"""Numbers of the file formats: integers, decimals and fractions, all exact, and their rounding against us."""

import json
import re
from collections import Counter
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, gcd, inf, isfinite, lcm, nextafter
from operator import add, floordiv, mul
from typing import Any, NoReturn

from dalenius.errors import InputError

__all__ = [
    "decimal_above",
    "double_above",
    "down",
    "exact",
    "is_decimal",
    "quotients",
    "ratio",
    "ratios",
    "strict_json",
    "up",
    "whole_texts",
    "written",
]

_GRAMMAR = re.compile(r"[+-]?[0-9]{1,4000}(/[0-9]{1,4000}|(\.[0-9]{1,4000})?([eE][+-]?[0-9]{1,3})?)")
_FROM_NUMPY = re.compile(r"np\.(?:float|int)[0-9]{1,3}\(([^()]*)\)")  # as numpy writes a number in a list of texts
_FRACTION = re.compile(r"([0-9]{1,4000})/(0*[1-9][0-9]{0,3999})")

DIGITS = 30
LARGEST = 1 << 30
GROWN = "a number has grown to thousands of digits and cannot be written"


def strict_json(text: str) -> Any:
    """JSON with every key once and every number exact: one with a point stays text, to be read by `exact`.

    Raises
    ------
    InputError
        If it is no JSON, has a key twice, or a number that is none.

    >>> strict_json('{"p": 0.1}')
    {'p': '0.1'}
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
            raise InputError(f"the key {twice!r} stands twice in one object", do="Keep one of them.")
        return found

    def never(word: str) -> NoReturn:
        raise InputError(f"{word} is not a number", do="Write an ordinary number.")

    if len(text) > LARGEST:
        raise InputError(f"the file has more than {LARGEST} characters", do="Give a smaller file.")
    try:
        return json.loads(text, object_pairs_hook=once, parse_float=str, parse_constant=never)
    except json.JSONDecodeError as e:
        if not text[: e.pos].strip():  # not even its first sign is one of JSON
            raise InputError(
                "this is not a JSON file.", do="Name a file that Dalenius wrote, such as design.json or card.json."
            ) from None
        raise InputError(f"not valid JSON: {e.msg}, line {e.lineno}", do="Correct that line.") from None
    except InputError:
        raise
    except (ValueError, RecursionError):  # an integer of thousands of digits, brackets without end
        raise InputError(
            "not valid JSON: a number or a nesting beyond all measure", do="Check that it is the right file."
        ) from None


def exact(value: Any, what: str = "number") -> Fraction:
    """The rational that a number of a file stands for; nothing is rounded.

    Parameters
    ----------
    value : str, int, float, Decimal or Fraction
        As a file or a caller writes it; a double counts as the decimal that Python prints.
    what : str
        Names the number in a message.

    Returns
    -------
    Fraction

    Raises
    ------
    InputError
        If it is no number.

    >>> exact("3/20"), exact("0.15"), exact(0.5), exact(7)
    (Fraction(3, 20), Fraction(3, 20), Fraction(1, 2), Fraction(7, 1))
    """
    if isinstance(value, str):
        text = written_by_numpy[1] if (written_by_numpy := _FROM_NUMPY.fullmatch(value)) else value
    elif isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise InputError(f"{what} is {value!r}, not a number")
    elif isinstance(value, int | Fraction):
        return Fraction(value)
    elif not isfinite(value):
        raise InputError(f"{what} is {value}, not a finite number")
    else:
        text = repr(float(value)) if isinstance(value, float) else str(value)
    if not _GRAMMAR.fullmatch(text):
        raise InputError(f"{what} is {text!r}; write an integer, a decimal or a fraction such as 3/20")
    top, _, bottom = text.partition("/")
    try:
        return Fraction(int(top), int(bottom)) if bottom else Fraction(text)
    except ZeroDivisionError:
        raise InputError(
            f"{what} is {text!r}: a fraction over zero", do="Write another number below the line."
        ) from None


def ratio(value: Any) -> tuple[int, int]:
    """Numerator and positive denominator of `exact(value)`, as they stand in a fraction: not in lowest terms.

    Parameters
    ----------
    value
        As for `exact`.

    Returns
    -------
    tuple of two int

    >>> ratio("6/40"), ratio("0.15")
    ((6, 40), (3, 20))
    """
    if isinstance(value, str) and (found := _FRACTION.fullmatch(value)):
        return int(found[1]), int(found[2])
    return exact(value).as_integer_ratio()


def ratios(values: list[Any]) -> tuple[list[int], list[int]]:
    """The numerators and the denominators of `ratio` of each value; plain fractions and integers in a few passes.

    All values stand in one text. What is left of it without its digits shows that each has one stroke and no sign; then
    it is a list of integers, which the reader of JSON reads without a text for each.

    Parameters
    ----------
    values : list
        As for `exact`.

    Returns
    -------
    list of int, list of int

    >>> ratios(["6/40", "2"]), ratios(["0.15"])
    (([6, 2], [40, 1]), ([3], [20]))
    """
    if set(map(type, values)) == {str} and max(map(len, values)) <= 4000:
        text = ",".join([value if "/" in value else value + "/1" for value in values])
        if text.isascii() and text.encode().translate(None, b"0123456789") == (b"/," * len(values))[:-1]:
            with suppress(json.JSONDecodeError):  # no digit where one should be, or zeros before the others
                # Only digits, strokes and commas are left, so that this is a list of integers and nothing else.
                found = json.loads(f"[{text.replace('/', ',')}]")
                # A zero below a line is refused by the slower way, with its sentence.
                if all(found[1::2]):
                    return found[::2], found[1::2]
    pairs = list(map(ratio, values))
    return [top for top, _ in pairs], [bottom for _, bottom in pairs]


def whole_texts(values: list[Any]) -> tuple[list[int], int]:
    """Numbers of a file as integers over a common denominator, without reducing fractions; many of them in little time.

    Parameters
    ----------
    values : list
        As for `exact`.

    Returns
    -------
    list of int, int
        The numerators and the denominator.

    >>> whole_texts(["1/3", "1/6", "0.5"])
    ([2, 1, 3], 6)
    """
    tops, bottoms = ratios(values)
    scale = lcm(*(different := set(bottoms)))
    times = {bottom: scale // bottom for bottom in different}
    return list(map(mul, tops, map(times.__getitem__, bottoms))), scale


def quotients(tops: list[int], bottoms: list[int]) -> list[str]:
    """`written` of each quotient, its denominator positive; many of them in little time.

    Parameters
    ----------
    tops, bottoms : list of int
        Numerators and denominators.

    Returns
    -------
    list of str

    >>> quotients([6, 8], [40, 4])
    ['3/20', '2']
    """
    common = list(map(gcd, tops, bottoms))
    above = map(floordiv, tops, common)
    below = list(map(floordiv, bottoms, common))
    try:
        if bottoms and bottoms.count(bottoms[0]) == len(bottoms):  # its divisors are few
            ends = {b: f"/{b}" if b != 1 else "" for b in set(below)}
            return list(map(add, map(str, above), map(ends.__getitem__, below)))
        return [f"{a}/{b}" if b != 1 else str(a) for a, b in zip(above, below, strict=True)]
    except ValueError:
        raise InputError(GROWN) from None


def is_decimal(value: object) -> bool:
    """Whether a number was written with a decimal point, so that its last digit may be rounded.

    Parameters
    ----------
    value : object
        A number of a file.

    Returns
    -------
    bool

    >>> is_decimal("0.333"), is_decimal("1/3"), is_decimal(3)
    (True, False, False)
    """
    return isinstance(value, float | Decimal) or (
        isinstance(value, str) and ("." in value or "e" in value or "E" in value)
    )


def written(q: Fraction) -> str:
    """A rational as the file formats write it.

    Parameters
    ----------
    q : Fraction
        The number.

    Returns
    -------
    str
        A fraction in lowest terms, or a whole number.

    >>> written(Fraction(3, 20)), written(Fraction(4))
    ('3/20', '4')
    """
    try:
        return str(q.numerator) if q.denominator == 1 else f"{q.numerator}/{q.denominator}"
    except ValueError:  # Python writes no integer of more than 4,300 digits
        raise InputError(GROWN) from None


def _decimal(units: int, digits: int) -> str:
    sign = "-" if units < 0 else ""
    text = str(abs(units)).rjust(digits + 1, "0")
    return (sign + text[:-digits] + "." + text[-digits:]).rstrip("0").rstrip(".")


def down(q: Fraction, digits: int = DIGITS) -> str:
    """The largest decimal of that many digits that does not exceed q.

    Parameters
    ----------
    q : Fraction
        The number.
    digits : int
        After the point.

    Returns
    -------
    str
        A decimal that is not above q.

    >>> down(Fraction(1, 3), 4), down(Fraction(-1, 3), 4), down(Fraction(1), 4)
    ('0.3333', '-0.3334', '1')
    """
    return _decimal(floor(q * 10**digits), digits)


def up(q: Fraction, digits: int = DIGITS) -> str:
    """The smallest decimal of that many digits that is not below q.

    Parameters
    ----------
    q : Fraction
        The number.
    digits : int
        After the point.

    Returns
    -------
    str
        A decimal that is not below q.

    >>> up(Fraction(1, 3), 4)
    '0.3334'
    """
    return _decimal(ceil(q * 10**digits), digits)


def double_above(q: Fraction) -> float:
    """A double that is not below a fraction from zero on; 0 stays 0.

    Parameters
    ----------
    q : Fraction
        Not negative.

    Returns
    -------
    float

    >>> double_above(Fraction(0)), Fraction(double_above(Fraction(1, 3))) > Fraction(1, 3)
    (0.0, True)
    """
    # `float` rounds to the nearest double, which may be the one below; the next one never is.
    return nextafter(float(q), inf) if q else 0.0


def decimal_above(x: float) -> Fraction:
    """A short decimal that is not below a double; a whole number stays as it is.

    Parameters
    ----------
    x : float
        The number.

    Returns
    -------
    Fraction

    >>> decimal_above(2.0), decimal_above(0.1) > Fraction(0.1)
    (Fraction(2, 1), True)
    """
    # The shortest text of a double may lie below it, by less than half of the way to the next one.
    return exact(nextafter(x, inf)) if x % 1 else exact(x)
