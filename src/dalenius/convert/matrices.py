"""Matrices of version 1 as whole numbers over one scale: written out, or rows of some inputs and one for all others."""

from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

from dalenius.convert.text import number

__all__ = ["listed", "read_numbers", "written_out"]

Json = dict[str, Any]


def read_numbers(numbers: list[Any]) -> list[Fraction]:
    """Numbers of a long list; those that stand there often are read once."""
    known = {value: number(value) for value in set(numbers)}
    return [known[value] for value in numbers]


def written_out(channel: Json, reads: list[str]) -> Json:
    """A row for each input, in the order of version 2."""
    rows = [read_numbers(row) for row in channel["rows"]]
    names = list(channel["inputs"])
    if names != reads:
        sizes = {name: len(letters) for name, letters in channel["inputs"].items()}
        table = dict(zip(product(*(range(sizes[name]) for name in names)), rows, strict=True))
        back = [reads.index(name) for name in names]
        rows = [table[tuple(x[k] for k in back)] for x in product(*(range(sizes[name]) for name in reads))]
    return {"form": "dense", **_over_one_scale(rows)}


def _over_one_scale(rows: list[list[Fraction]]) -> Json:
    """Rows of probabilities as whole numbers over their least common denominator."""
    scale = lcm(*{value.denominator for row in rows for value in row})
    whole = [[str(value.numerator * (scale // value.denominator)) for value in row] for row in rows]
    return {"letters": len(rows[0]), "scale": str(scale), "rows": whole}


def listed(channel: Json, reads: list[str]) -> Json:
    """Rows of the inputs that are listed, in the order of version 2, and the one of all others."""
    *rows, others = [read_numbers(row) for row in channel["rows"]]
    places = [_place_among(place, channel["inputs"], reads) for place in channel["places"]]
    order = sorted(range(len(places)), key=places.__getitem__)
    written = _over_one_scale([*(rows[k] for k in order), others])
    return {
        "form": "listed",
        "letters": written["letters"],
        "scale": written["scale"],
        "places": [places[k] for k in order],
        "rows": written["rows"],
    }


def _place_among(place: int, inputs: Json, reads: list[str]) -> int:
    """The number of an outcome of the inputs when they stand in another order."""
    code = {}
    for name, letters in reversed(inputs.items()):
        place, code[name] = divmod(place, len(letters))
    found = 0
    for name in reads:
        found = found * len(inputs[name]) + code[name]
    return found
