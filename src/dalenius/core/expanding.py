"""The rows of a channel that is written in a compact form, while they are few; whole numbers and nothing else."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import floor, prod
from typing import Any

from dalenius.core.multinomial import list_types
from dalenius.core.numbers import exact
from dalenius.errors import InvalidChannel, Unsupported

__all__ = [
    "DENSE",
    "EXPANSIONS",
    "arranged",
    "expanded",
    "parts_of",
    "roles_of",
]

DENSE = 1 << 22  # entries; a channel with more is never written out


def _resample(channel: dict[str, Any]) -> list[list[Fraction]]:
    keep, q = ([exact(v) for v in channel[key]] for key in ("keep", "q"))
    return [[(1 - k) * t + (k if x == y else 0) for y, t in enumerate(q)] for x, k in enumerate(keep)]


def _listed(channel: dict[str, Any]) -> list[list[Fraction]]:
    *own, others = [[exact(v) for v in row] for row in channel["rows"]]
    found = [others] * prod(len(a) for a in channel["inputs"].values())
    for place, row in zip(channel["places"], own, strict=True):
        found[place] = row
    return found


def parts_of(channel: dict[str, Any]) -> list[dict[str, Any]]:
    """The channels that one of form windows, product or strata is made of, each written as a channel of its own."""
    strata: list[str] = channel.get("strata", [])
    parts, inputs = channel["channels"], channel["inputs"]
    if channel["form"] != "strata":
        if [part["output"] for part in parts] != list(channel["output"]):
            raise InvalidChannel("there is not one recipe for each output, in their order")
        output = channel["output"]
        sides = [({n: inputs[n] for n in part["inputs"]}, {part["output"]: output[part["output"]]}) for part in parts]
    else:
        read = {n: a for n, a in inputs.items() if n not in strata}
        if [*inputs] != [*read, *strata] or len(parts) != prod(len(inputs[n]) for n in strata):
            raise InvalidChannel("the strata are not the last inputs, or have not one recipe each")
        sides = [(read, channel["output"])] * len(parts)
    return [{**part, "inputs": x, "output": y} for part, (x, y) in zip(parts, sides, strict=True)]


def _windows(channel: dict[str, Any]) -> list[list[Fraction]]:
    """p(y | x) = prod_j p_j(y_j | x of window j), the k-th channel for the k-th output."""
    sizes = [len(a) for a in channel["inputs"].values()]
    names = list(channel["inputs"])
    windows = []
    for part in parts_of(channel):
        windows.append(([names.index(n) for n in part["inputs"]], expanded(part)))
        if len(windows[-1][1]) != prod(map(len, part["inputs"].values())):
            raise InvalidChannel(
                f"the recipe of {next(iter(part['output']))} has not one row for each outcome of its window"
            )
    out = []
    for x in product(*map(range, sizes)):
        row = [Fraction(1)]
        for at, rows in windows:
            place = 0
            for i in at:
                place = place * sizes[i] + x[i]
            row = [a * b for a in row for b in rows[place]]
        out.append(row)
    return out


def _strata(channel: dict[str, Any]) -> list[list[Fraction]]:
    """The row of (x, s) is the row of x in the channel of s."""
    return [row for rows in zip(*map(expanded, parts_of(channel)), strict=True) for row in rows]


def _pram(channel: dict[str, Any]) -> list[list[Fraction]]:
    q = [exact(v) for v in channel["q"]]
    rest = [(1 - v) / max(len(q) - 1, 1) for v in q]
    return [[v if x == y else b for y in range(len(q))] for x, (v, b) in enumerate(zip(q, rest, strict=True))]


def of_types(channel: dict[str, Any]) -> list[list[Fraction]]:
    """The rows of a channel of form "types", one for each type; zeros are left out in the file."""
    ((_, letters),) = channel["output"].items()
    nothing = [Fraction(0)] * len(letters)
    place = {y: k for k, y in enumerate(letters)}
    rows = []
    for given in channel["rows"]:
        row = nothing.copy()
        for y, p in given.items():
            row[place[y]] = exact(p)
        rows.append(row)
    return rows


def _types(channel: dict[str, Any]) -> list[list[Fraction]]:
    ((_, letters),), n = channel["inputs"].items(), channel["n"]
    row = dict(zip(list_types(n, len(letters)), of_types(channel), strict=True))
    outcomes = product(range(len(letters)), repeat=n)
    return [row[tuple(x.count(a) for a in range(len(letters)))] for x in outcomes]


def _sums(channel: dict[str, Any]) -> list[list[Fraction]]:
    """States of all inputs, one after the other, and the sums that they make; p(y | x) adds up over the states."""
    names, size = list(channel["inputs"]), channel["modulus"]
    states = [[[exact(v) for v in row] for row in rows] for rows in channel["states"]]
    terms, out = [[names.index(n) for n in of] for of in channel["sums"]], []
    for x in product(*(range(len(a)) for a in channel["inputs"].values())):
        row = [Fraction(0)] * size ** len(terms)
        for s in product(range(size), repeat=len(names)):
            at = 0
            for of in terms:
                at = at * size + sum(s[i] for i in of) % size
            row[at] += prod((states[i][a][t] for i, (a, t) in enumerate(zip(x, s, strict=True))), start=Fraction(1))
        out.append(row)
    return out


def _noise(channel: dict[str, Any]) -> list[list[Fraction]]:
    """t_i = clip(floor(take_i x + move_i) + N_i), N = k as weights[|k|]; letter j: clip(floor(give_j t + shift_j))."""
    sizes, widths = ([len(a) for a in channel[side].values()] for side in ("inputs", "output"))
    give = [[exact(v) for v in row] for row in channel["give"]]
    shift = [exact(v) for v in channel["shift"]]
    axes = [
        ([exact(v) for v in a["take"]], exact(a["move"]), [int(w) for w in a["weights"]], a) for a in channel["axes"]
    ]
    total, out = prod(2 * sum(weights) - weights[0] for _, _, weights, _ in axes), []
    for x in product(*map(range, sizes)):
        laws = []
        for take, move, weights, axis in axes:
            start, law = floor(sum((a * i for a, i in zip(take, x, strict=True)), move)), dict[int, int]()
            for k in range(1 - len(weights), len(weights)):
                t = min(max(start + k, axis["low"]), axis["high"])
                law[t] = law.get(t, 0) + weights[abs(k)]
            laws.append(law)
        row = [0] * prod(widths)
        for t in product(*laws):
            place = 0
            for width, line, more in zip(widths, give, shift, strict=True):
                letter = floor(sum((g * v for g, v in zip(line, t, strict=True)), more))
                place = place * width + min(max(letter, 0), width - 1)
            row[place] += prod(law[v] for law, v in zip(laws, t, strict=True))
        out.append([Fraction(v, total) for v in row])
    return out


def _staircase(channel: dict[str, Any]) -> list[list[Fraction]]:
    ratio = exact(channel["ratio"])
    columns = [(exact(w), set(members)) for w, members in channel["columns"]]
    return [[w * ratio if k in members else w for w, members in columns] for k in channel["group"]]


def roles_of(words: Sequence[Sequence[int]]) -> list[int]:
    """The role of each place in some words: the same for places with the same letter in every word, in their order.

    >>> roles_of([(0, 0, 1, 1), (0, 0, 0, 1)])
    [0, 0, 1, 2]
    """
    places = list(zip(*words, strict=True))
    number = {letters: r for r, letters in enumerate(dict.fromkeys(places))}
    return [number[letters] for letters in places]


def arranged(roles: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The different orders of some roles, in lexicographic order.

    >>> list(arranged([1, 0, 1]))
    [(0, 1, 1), (1, 0, 1), (1, 1, 0)]
    """
    if not roles:
        yield ()
    for role in sorted(set(roles)):
        at = roles.index(role)
        yield from ((role, *rest) for rest in arranged([*roles[:at], *roles[at + 1 :]]))


def _orbits(channel: dict[str, Any]) -> list[list[Fraction]]:
    """p(k, roles | x): column k, its words dealt to the samples in every order; letters as in `output`."""
    sizes = [len(a) for a in channel["inputs"].values()]
    base = max(map(len, list(channel["output"].values())[1:]))
    width = prod(map(len, channel["output"].values()))
    rows = {x: [Fraction(0)] * width for x in product(*map(range, sizes))}
    for k, (weight, words) in enumerate(channel["columns"]):
        roles = roles_of([word for _, word in words])
        dealt = list(arranged(roles))
        for order in dealt:
            letter = k
            for role in order:
                letter = letter * base + role
            for t, word in words:
                plays = dict(zip(roles, word, strict=True))
                x = tuple(plays[role] for role in order)
                rows[x][letter] += exact(weight) * exact(t) / len(dealt)
    masses = [sum(row, Fraction(0)) for row in rows.values()]
    return [[v / mass if v else v for v in row] for row, mass in zip(rows.values(), masses, strict=True)]


EXPANSIONS: dict[str, Callable[[dict[str, Any]], list[list[Fraction]]]] = {
    "noise": _noise,
    "pram": _pram,
    "listed": _listed,
    "resample": _resample,
    "staircase": _staircase,
    "strata": _strata,
    "windows": _windows,
    "product": _windows,
    "types": _types,
    "sums": _sums,
    "orbits": _orbits,
}


def expanded(channel: dict[str, Any]) -> list[list[Fraction]]:
    """One row for each outcome of the inputs, one entry for each letter of the output. Nothing is proved here.

    >>> expanded({"form": "resample", "inputs": {"X": ["a", "b"]}, "output": {"Y": ["a", "b"]},
    ...           "keep": ["0", "1"], "q": ["1/3", "2/3"]})
    [[Fraction(1, 3), Fraction(2, 3)], [Fraction(0, 1), Fraction(1, 1)]]
    """
    if "form" not in channel:
        known = {v: exact(v) for v in set().union(*channel["rows"])}  # most of a large channel is zero
        return [[known[v] for v in row] for row in channel["rows"]]
    if channel["form"] not in EXPANSIONS:
        raise Unsupported(f"there is no recipe of form {channel['form']!r}")
    inputs, letters = (prod(len(a) for a in channel[side].values()) for side in ("inputs", "output"))
    size = inputs ** channel.get("n", 1) * letters  # n inputs alike
    if size > DENSE:
        raise Unsupported(f"a recipe of form {channel['form']!r} with {size:,} entries is not written out densely")
    return EXPANSIONS[channel["form"]](channel)
