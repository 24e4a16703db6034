"""What noise and filled columns add to the converter: channels, the least capacity, norms, and their proofs."""

from fractions import Fraction
from math import lcm, prod
from typing import Any

from dalenius.convert.text import CannotConvert, number, text

__all__ = [
    "CARD_CHANNELS",
    "CHANNELS",
    "FORMS_OF_MECHANISM",
    "PROOFS",
    "TOLD_CHANNELS",
    "TOLD_OBJECTIVES",
    "capacity",
]

Json = dict[str, Any]


# --- noise ------------------------------------------------------------------------------------------------------------
def noise_channel(design: Json) -> Json:
    """Axes with the priors that prove their capacity; released letters are counted on the grids of the columns."""
    channel = design["channel"]
    proof = design.get("certificate") or design["proof"]
    axes = [
        {
            "take": [text(v) for v in axis["take"]],
            "move": text(axis["move"]),
            "low": str(axis["low"]),
            "high": str(axis["high"]),
            "weights": [str(w) for w in axis["weights"]],
            "prior": [[str(c), str(n)] for c, n in sorted(prior)],
            "variance": text(variance),
        }
        for axis, prior, variance in zip(channel["axes"], proof["priors"], proof["variances"], strict=True)
    ]
    first = []
    for before, after in zip(channel["inputs"].values(), channel["output"].values(), strict=True):
        start = (number(after[0]) - number(before[0])) / _step(before)
        if start.denominator != 1 or (len(before) == 1 < len(after) and number(after[1]) - number(after[0]) != 1):
            raise CannotConvert("noise off the grid of its column")
        first.append(str(start.numerator))
    return {
        "form": "noise",
        "first": first,
        "letters": [len(letters) for letters in channel["output"].values()],
        "axes": axes,
        "give": [[text(v) for v in row] for row in channel["give"]],
        "shift": [text(v) for v in channel["shift"]],
    }


def _step(letters: list[str]) -> Fraction:
    return number(letters[1]) - number(letters[0]) if len(letters) > 1 else Fraction(1)


def told_noise(document: Json, _output: str) -> Json:
    """The same as version 1 says it, with the released numbers written out."""
    channel = document["channel"]
    alphabets = {entry["name"]: entry["letters"] for entry in document["variables"]}
    inputs = {name: alphabets[name] for name in document["mechanism"]["observe"]}
    output = {}
    for (name, letters), first, many in zip(inputs.items(), channel["first"], channel["letters"], strict=True):
        start = number(letters[0]) + int(first) * _step(letters)
        output[name] = [point(start + k * _step(letters)) for k in range(many)]
    axes = [
        {
            key: int(axis[key]) if key in ("low", "high") else axis[key]
            for key in ("take", "move", "low", "high", "weights")
        }
        for axis in channel["axes"]
    ]
    return {
        "form": "noise",
        "inputs": inputs,
        "output": output,
        "axes": axes,
        "give": channel["give"],
        "shift": channel["shift"],
    }


def point(value: Fraction) -> str:
    """A number as tables write it: a decimal where there is a finite one.

    >>> point(Fraction(1, 4)), point(Fraction(-3)), point(Fraction(1, 3))
    ('0.25', '-3', '1/3')
    """
    for digits in range(31):
        units = value * 10**digits
        if units.denominator == 1:
            whole = str(abs(units.numerator)).rjust(digits + 1, "0")
            cut = len(whole) - digits
            return ("-" if value < 0 else "") + whole[:cut] + ("." + whole[cut:] if digits else "")
    return text(value)


def capacity(design: Json) -> Json:
    """The least capacity, among noise that reaches no further than the one that was found."""
    return {"aim": "capacity", "reach": [len(axis["weights"]) - 1 for axis in design["channel"]["axes"]]}


def noise_proof(design: Json) -> Json:
    """The line below the rate, or what bounds the capacity of each column."""
    proof = design["certificate"]
    line = proof.get("line")
    found = None
    if line and "capacity" not in design["objective"]["minimize"]:
        found = {"slope": text(line["slope"]), "weights": [[str(i), str(v)] for i, v in sorted(line["weights"])]}
    least = [
        {
            "slope": text(own["slope"]),
            "prior": [[str(c), str(n)] for c, n in sorted(own["prior"])],
            "weights": [str(w) for w in axis["weights"]],
        }
        for own, axis in zip(proof.get("least", []), design["channel"]["axes"], strict=False)
    ]
    return {"rule": "noise", "line": found, "least": least}


def grid_proof(design: Json) -> Json:
    """Lines that bound every matrix from grid to grid."""
    return {"rule": "grid", "lines": design["certificate"]["lines"]}


# --- filled columns ---------------------------------------------------------------------------------------------------
def filled(design: Json) -> Json:
    """A column that is filled up to a level; any other one that resamples is written as it stands."""
    channel = design["channel"]
    level = _level(design) if "pmf" in design.get("joint", {}) else None
    if level is not None:
        return {"form": "filled", "level": text(level)}
    return {"form": "resample", "stay": _texts(channel["keep"]), "others": _texts(channel["q"])}


def _texts(numbers: list[Any]) -> list[str]:
    known = {v: text(v) for v in set(numbers)}
    return [known[v] for v in numbers]


def _ratio(value: Any) -> tuple[int, int]:
    """Numerator and denominator as they stand: a million fractions are never reduced."""
    top, stroke, bottom = str(value).partition("/")
    return (int(top), int(bottom)) if stroke else number(value).as_integer_ratio()


def _ratios(values: list[Any]) -> list[tuple[int, int]]:
    known = {value: _ratio(value) for value in set(values)}
    return [known[value] for value in values]


def _level(design: Json) -> Fraction | None:
    """The level from which keep and q of a column follow, if there is one."""
    channel, joint = design["channel"], design["joint"]
    if list(joint["variables"]) != list(channel["inputs"]) or design["mechanism"]["observe"] != list(channel["inputs"]):
        return None
    counts = _counts(joint)
    keep, drawn = _ratios(channel["keep"]), _ratios(channel["q"])
    most = counts.index(max(counts))
    kept, out_of = keep[most]
    level = Fraction(counts[most] * (out_of - kept), out_of)
    top, bottom = level.as_integer_ratio()
    above = [max(n * bottom - top, 0) for n in counts]
    one = sum(above)
    if not one:
        constant = all(not a for a, _ in keep) and all(a == b * (k == most) for k, (a, b) in enumerate(drawn))
        return level / sum(counts) if constant else None
    stays = all(a * n * bottom == b * v if n else not a for (a, b), n, v in zip(keep, counts, above, strict=True))
    draws = all(a * one == b * v for (a, b), v in zip(drawn, above, strict=True))
    return level / sum(counts) if stays and draws else None


def _counts(joint: Json) -> list[int]:
    """Whole numbers for all outcomes of a joint pmf, last variable fastest."""
    shares = _ratios([record["p"] for record in joint["pmf"]])
    scale = lcm(*{bottom for _, bottom in shares})
    sizes = [len(letters) for letters in joint["variables"].values()]
    codes = [(name, {a: k for k, a in enumerate(letters)}) for name, letters in joint["variables"].items()]
    counts = [0] * prod(sizes)
    for record, (top, bottom) in zip(joint["pmf"], shares, strict=True):
        place = 0
        for name, code in codes:
            place = place * len(code) + code[record[name]]
        counts[place] += top * (scale // bottom)
    return counts


def poured(document: Json) -> Json:
    """A filled column as the form of a card, which has no law: how often each letter stays, and is drawn."""
    sizes = {entry["name"]: len(entry["letters"]) for entry in document["variables"]}
    names = document["law"]["variables"]
    observe = document["mechanism"]["observe"]
    at = [names.index(name) for name in observe]
    many = 1
    for name in observe:
        many *= sizes[name]
    counts = [0] * many
    for outcome in document["law"]["outcomes"]:
        place = 0
        for i, name in zip(at, observe, strict=True):
            place = place * sizes[name] + outcome[i]
        counts[place] += int(outcome[-1])
    top, bottom = (number(document["channel"]["level"]) * sum(counts)).as_integer_ratio()
    above = {n: max(n * bottom - top, 0) for n in set(counts)}
    one = sum(above[n] for n in counts)
    if not one:
        first = counts.index(max(counts))
        return {"form": "resample", "stay": ["0"] * many, "others": [str(int(k == first)) for k in range(many)]}
    stay = {n: text(Fraction(v, n * bottom)) if v else "0" for n, v in above.items()}
    drawn = {n: text(Fraction(v, one)) for n, v in above.items()}
    return {"form": "resample", "stay": [stay[n] for n in counts], "others": [drawn[n] for n in counts]}


def told_filled(document: Json, _output: str) -> Json:
    """The same as version 1 says it."""
    alphabets = {entry["name"]: entry["letters"] for entry in document["variables"]}
    inputs = {name: alphabets[name] for name in document["mechanism"]["observe"]}
    written = poured(document)
    return {"form": "resample", "inputs": inputs, "output": inputs, "keep": written["stay"], "q": written["others"]}


def water_proof(design: Json) -> Json:
    """Level and slope."""
    proof = design["certificate"]
    return {"rule": "water", "level": text(proof["level"]), "slope": text(proof["slope"])}


CHANNELS = {"noise": noise_channel, "resample": filled}
CARD_CHANNELS = {"filled": poured}
TOLD_CHANNELS = {"noise": told_noise, "filled": told_filled}
TOLD_OBJECTIVES: dict[str, Any] = {"capacity": lambda _: {"minimize": {"capacity": True}}}
FORMS_OF_MECHANISM = {"noise": lambda _: "noise"}
PROOFS = {"grid": grid_proof, "noise": noise_proof, "water": water_proof}
