"""Small channels that several tests share."""

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

from dalenius.core import Channel, Pmf

ORACLE = Path(__file__).parent.parent / "oracle"


def cases(file, kind=None):
    return [c for c in json.loads((ORACLE / file).read_text())["cases"] if kind in (None, c.get("kind"))]


def channel(sizes, rows):
    letters = {"Y": tuple(map(str, range(len(rows[0]))))}
    inputs = {f"X{k}": tuple(map(str, range(m))) for k, m in enumerate(sizes)}
    return Channel(inputs, letters, tuple(tuple(map(Fraction, row)) for row in rows))


def prior(p):
    return Pmf.from_records({"X0": tuple(map(str, range(len(p))))}, [((str(k),), Fraction(v)) for k, v in enumerate(p)])


def noisy(f, sizes, p):
    """f of the records, a bit, through a binary symmetric channel."""
    law = (1 - Fraction(p), Fraction(p))
    return channel(sizes, [law if not f(*x) else law[::-1] for x in product(*map(range, sizes))])


def flip(p):
    return channel((2,), [(1 - Fraction(p), p), (p, 1 - Fraction(p))])


def random_channel(rng, sizes, letters):
    """Rational rows over small denominators."""
    rows = []
    for _ in range(int(np_prod(sizes))):
        counts = [int(c) for c in rng.integers(0, 12, letters)]
        counts[int(rng.integers(letters))] += 1
        rows.append([Fraction(c, sum(counts)) for c in counts])
    return channel(sizes, rows)


def np_prod(sizes):
    out = 1
    for size in sizes:
        out *= size
    return out
