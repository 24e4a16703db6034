"""Numbers and documents as version 2 of the formats writes them."""

import hashlib
import json
from fractions import Fraction
from typing import Any

from dalenius.kernel.numbers import down

__all__ = ["UNIT", "as_decimal", "canonical", "digest", "near", "number", "text"]

UNIT = 1 << 60
"""Multipliers of a proof are whole numbers of this unit, the denominator."""


def number(value: Any) -> Fraction:
    """The rational that a number of a document stands for."""
    return value if isinstance(value, Fraction) else Fraction(str(value))


def text(value: Any) -> str:
    """A number as a text: a plain decimal as it stands, everything else in lowest terms.

    Parameters
    ----------
    value : str, int or Fraction
        Any number.

    Returns
    -------
    str

    >>> text("0.25"), text(Fraction(6, 4)), text(3), text("1e-2")
    ('0.25', '3/2', '3', '1/100')
    """
    if isinstance(value, str) and _plain(value):
        return value
    found = number(value)
    return str(found.numerator) if found.denominator == 1 else f"{found.numerator}/{found.denominator}"


def as_decimal(value: Fraction) -> str:
    """A number as tables write it: a decimal where there is a finite one of at most thirty digits.

    Parameters
    ----------
    value : Fraction
        A point of a grid, a cut, a probability.

    Returns
    -------
    str

    >>> as_decimal(Fraction(1, 4)), as_decimal(Fraction(-3)), as_decimal(Fraction(1, 3))
    ('0.25', '-3', '1/3')
    """
    if value.denominator == 1:
        return text(value)
    written = down(value)
    return written if Fraction(written) == value else text(value)


def _plain(value: str) -> bool:
    """Whether a text is a decimal of the form 12.5, which the kernel reads as it stands."""
    before, point, after = value.removeprefix("-").partition(".")
    lean = before == "0" or not before.startswith("0")
    return bool(point) and lean and before.isascii() and after.isascii() and before.isdigit() and after.isdigit()


def near(value: Any) -> str:
    """The nearest multiple of 2^-60 in units of 2^-60. A multiplier may be rounded: any one proves some bound.

    Parameters
    ----------
    value : str, int or Fraction
        Any number.

    Returns
    -------
    str

    >>> near(Fraction(1, 2)) == str(2**59)
    True
    """
    return str(round(number(value) * UNIT))


def canonical(document: Any) -> str:
    """The one way to write a document down.

    Parameters
    ----------
    document : object
        Plain values.

    Returns
    -------
    str
        Ends with a line break.

    >>> canonical({"work": "1", "list": [1, None]})
    '{"work":"1","list":[1,null]}'
    """
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def digest(written: str) -> str:
    """The fingerprint of a document: what `sha256sum` says of its file.

    Parameters
    ----------
    written : str
        The text.

    Returns
    -------
    str
        SHA-256 in hexadecimal.

    >>> digest("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(written.encode()).hexdigest()
