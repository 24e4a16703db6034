"""What an argument of the command line may be: numbers in their range, one clear sentence otherwise."""

import argparse
import re
import sys
from typing import Any, NoReturn

from dalenius.errors import InputError

__all__ = ["Parser", "accepted", "count", "not_negative", "number", "positive", "probability", "whole"]

BELOW_ZERO = re.compile(r"-[\d.]+:[-\d.:]+")  # a range like -100:100:5


class Parser(argparse.ArgumentParser):
    """A command whose faults are one sentence, and whose ranges may begin below zero."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """`--grid -100:100:5` is a flag with its range: `argparse` would take the range for another flag."""
        words: list[str] = []
        for word in sys.argv[1:] if args is None else args:
            if words and words[-1].startswith("--") and BELOW_ZERO.fullmatch(word):
                words[-1] += f"={word}"
            else:
                words.append(word)
        return super().parse_known_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """One sentence, exit 2."""
        raise InputError(f"{message};", do=f"See `{self.prog} --help`.", code="usage")


def accepted(text: str) -> str:
    """The name of a risk; older names are understood."""
    names = {"small-combinations": "small-combinations", "small-cells": "small-combinations"}
    if text not in names:
        raise argparse.ArgumentTypeError(f"there is no risk {text!r}; known is small-combinations")
    return names[text]


def count(text: str) -> int:
    """A whole number of at least 2."""
    value = int(text)
    if value < 2:
        raise argparse.ArgumentTypeError(f"{text} is not at least 2")
    return value


def whole(text: str) -> int:
    """A whole number of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def number(text: str) -> float:
    """A number, also as a fraction.

    >>> number("3/2"), number("1e-3")
    (1.5, 0.001)
    """
    from fractions import Fraction  # most commands take no such number, and start without

    try:
        return float(Fraction(text) if "/" in text else text)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def positive(text: str) -> float:
    """A number above 0."""
    value = number(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def not_negative(text: str) -> float:
    """A number of at least 0."""
    value = number(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def probability(text: str) -> float:
    """A number strictly between 0 and 1, also as a fraction or in per cent.

    >>> probability("1/8"), probability("12.5%"), probability("0.125")
    (0.125, 0.125, 0.125)
    """
    share = text.strip()
    value = number(share.removesuffix("%")) / (100 if share.endswith("%") else 1)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value
