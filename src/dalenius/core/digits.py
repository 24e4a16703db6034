"""Figures as people read them, rounded against us: upper bounds up, lower bounds down, estimates to the nearest.

A bound that stands less than a part in 10^12 beyond a short number is that number: what is proved in doubles for 1/2
ends at 0.50000000000001, and is written 0.5. This is the one place that rounds figures for people.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, exp, floor
from typing import Any, Literal

from dalenius.core.numbers import exact

__all__ = [
    "Direction",
    "before_and_after",
    "bits",
    "chance",
    "digits_agreed",
    "factor",
    "figure",
    "guesses_in_thousand",
    "many",
    "one_in",
    "percent",
    "short",
]

Direction = Literal["up", "down", "nearest"]

_ROUND: dict[str, Callable[[Fraction], int]] = {"up": ceil, "down": floor, "nearest": round}
SMALLEST = Fraction(1, 100_000)
"""Numbers below this one are written with an exponent."""
SAME = Fraction(1, 10**12)
"""Numbers that differ by less than this share of themselves are written alike."""
MOST_DIGITS = 15


def _rounded(q: Fraction, places: int, direction: Direction) -> tuple[Fraction, bool]:
    """The multiple of 10^-places on the asked side of q, and whether it is q to all that counts."""
    unit = Fraction(10) ** -places
    nearest = round(q / unit) * unit
    # Even against the direction that is asked for: 0.50000000000001 was proved for 1/2, and is written so.
    if abs(nearest - q) <= SAME * abs(q):
        return nearest, True
    return _ROUND[direction](q / unit) * unit, False


def _magnitude(q: Fraction) -> int:
    """The exponent e with 10^e <= |q| < 10^(e+1)."""
    q = abs(q)
    e = len(str(q.numerator)) - len(str(q.denominator))
    # The lengths of numerator and denominator give the exponent or one more: by them 100/99 has 1.
    return e if q >= Fraction(10) ** e else e - 1


def _plain(q: Fraction, places: int, *, strip: bool) -> str:
    """A multiple of 10^-places in digits."""
    if places <= 0:
        return str(int(q))
    units = abs(int(q * 10**places))
    text = str(units).rjust(places + 1, "0")
    text = text[:-places] + "." + text[-places:]
    return ("-" if q < 0 else "") + (text.rstrip("0").rstrip(".") if strip else text)


def many(n: int, noun: str) -> str:
    """A number of things.

    Parameters
    ----------
    n : int
        How many.
    noun : str
        In the singular.

    Returns
    -------
    str

    >>> many(1, "released row"), many(20190, "row")
    ('1 released row', '20,190 rows')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def figure(x: Any, direction: Direction, digits: int = 3) -> str:
    """A number with so many significant digits; what is exact loses its trailing zeros.

    Parameters
    ----------
    x : number or str
        Exact where it is written so.
    direction : {"up", "down", "nearest"}
        Against whom it is rounded.
    digits : int
        Significant ones.

    Returns
    -------
    str
        In decimals.

    >>> figure("0.0134208", "down"), figure("0.0134208", "up"), figure("1/2", "up"), figure("1e-30", "up")
    ('0.0134', '0.0135', '0.5', '1e-30')
    >>> figure(0.5000000000000115, "up", 9), figure(0.5000001, "up")
    ('0.5', '0.501')
    """
    q = exact(x)
    if not q:
        return "0"
    places = digits - 1 - _magnitude(q)
    near, same = _rounded(q, places, direction)
    e = _magnitude(near)
    places = digits - 1 - e  # one less when the rounding carried into a new digit
    if abs(near) < SMALLEST:
        return f"{_plain(near / Fraction(10) ** e, digits - 1, strip=True)}e{e}"
    return _plain(near, places, strip=same)


def short(q: Fraction) -> str:
    """A rational as it was written where that is short, else its first digits, rounded up.

    Parameters
    ----------
    q : Fraction
        A level or a limit.

    Returns
    -------
    str

    >>> short(Fraction(3, 2)), short(Fraction(5493061, 200000000))
    ('3/2', '0.02747')
    """
    return str(q) if q.denominator <= 1000 else figure(q, "up", 4)


def bits(x: Any, direction: Direction, digits: int = 3) -> str:
    """Bits of information with their unit.

    Parameters
    ----------
    x : number or str
        Exact where it is written so.
    direction : {"up", "down", "nearest"}
        Against whom it is rounded.
    digits : int
        Significant ones.

    Returns
    -------
    str
        With its unit.

    >>> bits("0.7924", "up"), bits(1, "up"), bits(0, "up"), bits("0.99999", "up"), bits("0.99999", "down")
    ('0.793 bits', '1 bit', '0 bits', '1.00 bits', '0.999 bits')
    """
    text = figure(x, direction, digits)
    return f"{text} bit" if text == "1" else f"{text} bits"


def percent(x: Any, direction: Direction) -> str:
    """A share in per cent with one decimal, or two significant digits when it is below one per cent.

    Parameters
    ----------
    x : number or str
        Exact where it is written so.
    direction : {"up", "down", "nearest"}
        Against whom it is rounded.

    Returns
    -------
    str
        With its sign.

    >>> percent("0.51172", "up"), percent("0.5", "up"), percent("0.50001", "up"), percent("0.50001", "down")
    ('51.2 %', '50 %', '50.1 %', '50.0 %')
    >>> percent("0.00012345", "up"), percent(1, "down"), percent("0.99999", "down")
    ('0.013 %', '100 %', '99.9 %')
    """
    q = 100 * exact(x)
    if 0 < q < 1:
        return f"{figure(q, direction, 2)} %"
    near, same = _rounded(q, 1, direction)
    return f"{_plain(near, 1, strip=same)} %"


def before_and_after(before: Any, after: Any) -> tuple[str, str]:
    """Two shares in per cent, from below and from above; one and the same share is rounded once, up.

    Parameters
    ----------
    before, after : number
        Shares between 0 and 1.

    Returns
    -------
    tuple of two str

    >>> before_and_after("0.6004", "0.6004"), before_and_after("0.6004", "0.6006")
    (('60.1 %', '60.1 %'), ('60.0 %', '60.1 %'))
    """
    first = exact(before)
    second = exact(after)
    same = abs(second - first) <= SAME * abs(second)
    return percent(second if same else first, "up" if same else "down"), percent(second, "up")


def factor(nats: Any, digits: int = 3) -> str:
    """e^nats, rounded up: by how much at most something becomes likelier.

    Parameters
    ----------
    nats : number
        A level.
    digits : int
        Significant ones.

    Returns
    -------
    str
        Rounded up.

    >>> factor(1), factor(0), factor("0.01"), factor("0.6931471"), factor(1000)
    ('2.72', '1', '1.02', '2', 'e^1000')
    >>> factor(1, 6)
    '2.71829'
    """
    q = exact(nats)
    if not q:
        return "1"
    if q > 100:
        return f"e^{figure(q, 'up')}"
    # The exponential of a double is right to far more than nine digits; what is added keeps the bound above the truth.
    above = figure(Fraction(exp(float(q))) * (1 + Fraction(1, 10**9)), "up", digits)
    return above.rstrip("0").rstrip(".") if "." in above and "e" not in above else above


def guesses_in_thousand(before: Any, after: Any) -> tuple[int, int]:
    """Right guesses in 1,000 without the release, to the nearest, and how many more at most with it.

    The difference is computed first and rounded up, so that two figures rounded apart do not exaggerate it; the sum is
    never below the upper bound that it stands for.

    Parameters
    ----------
    before, after : number
        Shares of right guesses.

    Returns
    -------
    tuple of two int

    >>> guesses_in_thousand("0.545765", "0.547405"), guesses_in_thousand("0.6004", "0.6004")
    ((546, 2), (600, 0))
    """
    first = 1000 * exact(before)
    second = 1000 * exact(after)
    if abs(second - first) <= SAME * abs(second):
        return round(first), 0
    more = ceil(second - first)
    if round(first) + more < second:
        more += 1
    return round(first), more


def digits_agreed(value: Any, bound: Any) -> int | None:
    """The most n with |value - bound| <= 10^-n |value|, at most 15; None if the two are one number.

    Parameters
    ----------
    value, bound : number
        Of a design.

    Returns
    -------
    int or None

    >>> digits_agreed("0.149782639069", "0.149782639054"), digits_agreed(1, 1), digits_agreed(2, 1)
    (9, None, 0)
    """
    reached = exact(value)
    limit = exact(bound)
    gap = abs(reached - limit)
    if not gap:
        return None
    digits = 0
    while digits < MOST_DIGITS and gap * 10 ** (digits + 1) <= abs(reached):
        digits += 1
    return digits


def chance(p: Any) -> str:
    """A probability, rounded up: 1 in a whole number.

    Parameters
    ----------
    p : number
        The probability.

    Returns
    -------
    str

    >>> chance("1e-6"), chance(0.03), chance(1)
    ('1 in 1,000,000', '1 in 33', '1')
    """
    q = exact(p)
    return f"1 in {floor(1 / q):,}" if 0 < q < 1 else figure(q, "up")


def one_in(share: Any) -> str:
    """A share as people count it: one in a whole number, to the nearest; about all and about none by their words.

    Parameters
    ----------
    share : number
        Between 0 and 1.

    Returns
    -------
    str

    >>> one_in("0.1305"), one_in("0.9"), one_in("0.4"), one_in(0), one_in(1), one_in("0.9999")
    ('1 in 8', '9 in 10', '4 in 10', 'none', 'all', 'nearly all')
    """
    q = exact(share)
    if q in (0, 1):
        return "all" if q else "none"
    if q <= Fraction(3, 10):
        return f"1 in {round(1 / q):,}"
    if q > Fraction(19, 20):
        return "nearly all"
    tenths = max(1, round(10 * q))
    return "1 in 2" if tenths == 5 else f"{tenths} in 10"
