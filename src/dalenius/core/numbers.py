"""Numbers of the file formats: integers, decimals and fractions, all exact, and their rounding against us."""

import re
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from dalenius.errors import InputError

__all__ = ["down", "exact", "is_decimal", "up", "written"]

_GRAMMAR = re.compile(r"[+-]?\d{1,10000}(/\d{1,10000}|(\.\d{1,10000})?([eE][+-]?\d{1,4})?)")

DIGITS = 30


def exact(value: object, what: str = "number") -> Fraction:
    """The rational that a number of a file stands for; nothing is rounded.

    >>> exact("3/20"), exact("0.15"), exact(0.5), exact(7)
    (Fraction(3, 20), Fraction(3, 20), Fraction(1, 2), Fraction(7, 1))
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | Fraction):
        raise InputError(f"{what} is {value!r}, not a number")
    if (isinstance(value, float) and value != value) or value in (float("inf"), float("-inf")):
        raise InputError(f"{what} is {value!r}, not a finite number")
    text = repr(value) if isinstance(value, float) else str(value)
    if isinstance(value, str | Decimal | float) and not _GRAMMAR.fullmatch(text):
        raise InputError(f"{what} is {text!r}; write an integer, a decimal or a fraction such as 3/20")
    try:
        return Fraction(text) if not isinstance(value, int | Fraction) else Fraction(value)
    except ZeroDivisionError:
        raise InputError(f"{what} is {text!r}: a fraction over zero") from None


def is_decimal(value: object) -> bool:
    """Whether a number was written with a decimal point, so that its last digit may be rounded.

    >>> is_decimal("0.333"), is_decimal("1/3"), is_decimal(3)
    (True, False, False)
    """
    return isinstance(value, float | Decimal) or (isinstance(value, str) and any(c in value for c in ".eE"))


def written(q: Fraction) -> str:
    """A rational as the file formats write it.

    >>> written(Fraction(3, 20)), written(Fraction(4))
    ('3/20', '4')
    """
    return str(q.numerator) if q.denominator == 1 else f"{q.numerator}/{q.denominator}"


def _decimal(units: int, digits: int) -> str:
    sign, text = "-" if units < 0 else "", str(abs(units)).rjust(digits + 1, "0")
    return (sign + text[:-digits] + "." + text[-digits:]).rstrip("0").rstrip(".")


def down(q: Fraction, digits: int = DIGITS) -> str:
    """The largest decimal of that many digits that does not exceed q.

    >>> down(Fraction(1, 3), 4), down(Fraction(-1, 3), 4), down(Fraction(1), 4)
    ('0.3333', '-0.3334', '1')
    """
    return _decimal(floor(q * 10**digits), digits)


def up(q: Fraction, digits: int = DIGITS) -> str:
    """The smallest decimal of that many digits that is not below q.

    >>> up(Fraction(1, 3), 4)
    '0.3334'
    """
    return _decimal(ceil(q * 10**digits), digits)
