"""Channels of every form as documents write them; inputs stand in the order in which the mechanism reads them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from operator import itemgetter
from typing import Any, NamedTuple

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import Kernel, once_each
from dalenius.core.forms import Listed, Noise, Orbits, Pram, Records, Resample, Staircase, Strata, Sums, Types, Windows
from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Alphabets, Pmf
from dalenius.core.ratios import Ratios
from dalenius.documents.text import text
from dalenius.errors import NotCertified

__all__ = ["Axes", "channel_document", "maps_document"]

Json = dict[str, Any]


class Axes(NamedTuple):
    """What noise needs beside its numbers: laws that bound the capacity of each axis, and variances of its values."""

    priors: Sequence[Sequence[Sequence[Any]]]
    variances: Sequence[Any]


def channel_document(
    channel: Kernel, reads: Sequence[str], observe: Sequence[str], *, law: object = None, axes: Axes | None = None
) -> Json:
    """What stands under `channel` of a document.

    Parameters
    ----------
    channel : Kernel
        Of any form.
    reads : names
        Its inputs in the order of documents.
    observe : names
        Those of them that do not leave as they are.
    law : Pmf and its like, optional
        Of the records: a column that is filled up to a level of it is written by the level.
    axes : Axes, optional
        Of noise.

    Returns
    -------
    dict
    """
    match channel:
        case Channel():
            return _dense(channel, reads)
        case Listed():
            return _listed(channel, reads)
        case Pram():
            return {"form": "pram", "stay": once_each(written, channel.q)}
        case Resample():
            return _resampled(channel, observe, law)
        case Staircase():
            columns = [[written(weight), list(members)] for weight, members in channel.columns]
            return {
                "form": "staircase",
                "ratio": written(channel.ratio),
                "classes": list(channel.group),
                "columns": columns,
            }
        case Windows():
            return {"form": "windows", "windows": [_window(window, observe) for window in channel.windows]}
        case Strata():
            parts = [channel_document(part, observe, observe) for part in channel.channels]
            return {"form": "strata", "channels": parts}
        case Sums():
            return _sums(channel, observe)
        case Types():
            return _types(channel)
        case Orbits():
            return _orbits(channel, observe)
        case Noise():
            return _noise(channel, axes)
        case Records():
            rows = channel.to_json()["rows"]
            others = [list(record) for record in channel.others]
            return {"form": "medians", "others": others, "rows": rows} if others else {"form": "records", "rows": rows}
    raise NotCertified(f"documents have no words for recipes of form {channel.form!r}")


def _dense(channel: Channel, reads: Sequence[str]) -> Json:
    rows = channel.rows
    if list(channel.inputs) != list(reads):
        places = [_place_among(place, channel.inputs, reads) for place in range(len(rows))]
        rows = tuple(row for _, row in sorted(zip(places, rows, strict=True), key=itemgetter(0)))
    return {"form": "dense", **_over_one_scale(rows)}


def _listed(channel: Listed, reads: Sequence[str]) -> Json:
    """Rows of the inputs that are listed, and the one of all others."""
    *own, others = channel.own
    places = [_place_among(place, channel.inputs, reads) for place in channel.places]
    order = sorted(range(len(places)), key=places.__getitem__)
    written = _over_one_scale([*(own[k] for k in order), others])
    head = {"form": "listed", "letters": written["letters"], "scale": written["scale"]}
    return head | {"places": [places[k] for k in order], "rows": written["rows"]}


def _place_among(place: int, inputs: Alphabets, reads: Sequence[str]) -> int:
    """The number of an outcome of the inputs when they stand in another order."""
    code = {}
    for name, letters in reversed(list(inputs.items())):
        place, code[name] = divmod(place, len(letters))
    found = 0
    for name in reads:
        found = found * len(inputs[name]) + code[name]
    return found


def _over_one_scale(rows: Sequence[Sequence[Fraction]]) -> Json:
    """Rows of probabilities as whole numbers over their least common denominator."""
    scale = lcm(*{value.denominator for row in rows for value in row})

    def whole(value: Fraction) -> str:
        return str(value.numerator * (scale // value.denominator))

    return {
        "letters": len(rows[0]),
        "scale": str(scale),
        "rows": once_each(lambda row: once_each(whole, row), rows),
    }


def maps_document(dense: Json, channel: Kernel, decoder: Mapping[str, Mapping[str, str]], letters: list[str]) -> Json:
    """A channel whose letters are maps from side information, with the place of the letter that each map says."""
    (drawn,) = channel.output.values()
    worlds = list(next(iter(decoder.values())))
    place = {letter: k for k, letter in enumerate(letters)}
    maps = [[place[decoder[letter][world]] for world in worlds] for letter in drawn]
    return {**dense, "form": "maps", "decoder": maps}


def _window(window: Kernel, observe: Sequence[str]) -> Json:
    """Each output is drawn by itself from a few of the observed columns."""
    reads = sorted(window.inputs, key=observe.index)
    return {"reads": [observe.index(name) for name in reads], "channel": channel_document(window, reads, reads)}


def _sums(channel: Sums, observe: Sequence[str]) -> Json:
    order = channel.summed(observe)
    states = []
    for k in order:
        rows = channel.states[k]
        scale = lcm(*(value.denominator for row in rows for value in row))
        states.append({"scale": str(scale), "rows": [[str(int(value * scale)) for value in row] for row in rows]})
    sums = [sorted(order.index(k) for k in channel.summed(terms)) for terms in channel.terms]
    if channel.blocks:
        blocks = [[observe.index(name) for name in channel.blocks[k]] for k in order]
        return {"form": "blocks", "modulus": channel.modulus, "blocks": blocks, "states": states, "sums": sums}
    return {"form": "sums", "modulus": channel.modulus, "states": states, "sums": sums}


def _types(channel: Types) -> Json:
    """Rows for types: a scale, and the letters of positive weight by their places."""
    (letters,) = channel.output.values()
    rows = []
    for row in channel.of_type:
        shares = [(k, share) for k, share in enumerate(row) if share]
        scale = lcm(*(share.denominator for _, share in shares))
        rows.append([str(scale), [[k, str(int(share * scale))] for k, share in shares]])
    return {"form": "types", "samples": channel.n, "letters": len(letters), "rows": rows}


def _orbits(channel: Orbits, observe: Sequence[str]) -> Json:
    """Columns of words; documents order samples as they are observed."""
    at = [list(channel.inputs).index(name) for name in observe]
    columns = []
    for column in channel.columns:
        words = zip(column.masses, column.words, strict=True)
        columns.append([written(column.weight), [[written(mass), [word[i] for i in at]] for mass, word in words]])
    return {"form": "orbits", "columns": columns}


# --- noise ------------------------------------------------------------------------------------------------------------
def _noise(channel: Noise, axes: Axes | None) -> Json:
    """Axes with the priors that prove their capacity; released letters are counted on the grids of the columns."""
    assert axes is not None
    said = [
        {
            "take": [written(value) for value in axis.take],
            "move": written(axis.move),
            "low": str(axis.low),
            "high": str(axis.high),
            "weights": [str(weight) for weight in axis.weights],
            "prior": [[str(c), str(n)] for c, n in sorted((int(c), int(n)) for c, n in prior)],
            "variance": text(variance),
        }
        for axis, prior, variance in zip(channel.axes, axes.priors, axes.variances, strict=True)
    ]
    first = []
    for before, after in zip(channel.inputs.values(), channel.output.values(), strict=True):
        step = exact(before[1]) - exact(before[0]) if len(before) > 1 else Fraction(1)
        start = (exact(after[0]) - exact(before[0])) / step
        if start.denominator != 1 or (len(before) == 1 < len(after) and exact(after[1]) - exact(after[0]) != 1):
            raise NotCertified("the noise lies off the grid of its column")
        first.append(str(start.numerator))
    return {
        "form": "noise",
        "first": first,
        "letters": [len(letters) for letters in channel.output.values()],
        "axes": said,
        "give": [[written(entry) for entry in row] for row in channel.give],
        "shift": [written(value) for value in channel.shift],
    }


# --- filled columns ---------------------------------------------------------------------------------------------------
def _resampled(channel: Resample, observe: Sequence[str], law: object) -> Json:
    """A column that is filled up to a level; any other one that resamples is written as it stands."""
    keep = Ratios.of(channel.keep)
    drawn = Ratios.of(channel.q)
    names = list(channel.inputs)
    if isinstance(law, Pmf) and list(law.variables) == names == list(observe):
        level = _level(keep, drawn, law.every().tolist())
        if level is not None:
            return {"form": "filled", "level": written(level)}
    return {"form": "resample", "stay": keep.texts(), "others": drawn.texts()}


def _level(keep: Ratios, drawn: Ratios, counts: list[int]) -> Fraction | None:
    """The level from which both follow, if there is one; no fraction of a million letters is reduced."""
    most = counts.index(max(counts))
    kept, out_of = keep.tops[keep.which[most]], keep.bottoms[keep.which[most]]
    level = Fraction(counts[most] * (out_of - kept), out_of)
    top, bottom = level.as_integer_ratio()
    one = sum(max(count * bottom - top, 0) for count in counts)
    if not one:  # one letter for everybody
        silent = all(not keep.tops[k] for k in set(keep.which))
        sure = all(drawn[k] == (k == most) for k in range(len(counts)))
        return level / sum(counts) if silent and sure else None
    for n, k, q in set(zip(counts, keep.which, drawn.which, strict=True)):
        above = max(n * bottom - top, 0)
        stays = keep.tops[k] * n * bottom == keep.bottoms[k] * above if n else not keep.tops[k]
        if not stays or drawn.tops[q] * one != drawn.bottoms[q] * above:
            return None
    return level / sum(counts)
