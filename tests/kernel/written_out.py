"""The rows of a channel of any form, in rationals and from its text alone: a second reading, without the kernel."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import prod

from tests.kernel.alike_documents import noise_matrix

MOST = 20_000  # entries that are worth the time


class Unknown(Exception):
    """A form, a law or a size that is not written out here."""


def numbers(texts):
    return [Fraction(text) for text in texts]


def over(rows, scale=None):
    """Rows of whole numbers as laws."""
    found = [numbers(row) for row in rows]
    return [[v / (Fraction(scale) if scale else sum(row)) for v in row] for row in found]


def rows_of(channel, sizes, law=None):
    """p(y | x), a list for each input; the law is that of what is read, where a form takes its rows from it."""
    return ROWS[channel["form"]](channel, sizes, law)


def _dense(channel, _sizes, _law):
    return over(channel["rows"], channel["scale"])


def _listed(channel, sizes, _law):
    *own, others = over(channel["rows"], channel["scale"])
    found = dict(zip(channel["places"], own, strict=True))
    return [found.get(x, others) for x in range(prod(sizes))]


def _pram(channel, _sizes, _law):
    stay = numbers(channel["stay"])
    others = max(1, len(stay) - 1)
    return [[q if x == y else (1 - q) / others for y in range(len(stay))] for x, q in enumerate(stay)]


def _resample(channel, _sizes, _law):
    stay, draw = numbers(channel["stay"]), numbers(channel["others"])
    return [[(1 - q) * p + q * (x == y) for y, p in enumerate(draw)] for x, q in enumerate(stay)]


def _staircase(channel, _sizes, _law):
    ratio = Fraction(channel["ratio"])
    return [
        [Fraction(weight) * (ratio if c in members else 1) for weight, members in channel["columns"]]
        for c in channel["classes"]
    ]


def _windows(channel, sizes, _law):
    parts = [(w["reads"], rows_of(w["channel"], [sizes[i] for i in w["reads"]])) for w in channel["windows"]]
    if prod(sizes) * prod(len(rows[0]) for _, rows in parts) > MOST:
        raise Unknown("large")
    found = []
    for x in product(*map(range, sizes)):
        row = [Fraction(1)]
        for reads, rows in parts:
            own = rows[place([x[i] for i in reads], [sizes[i] for i in reads])]
            row = [a * b for a in row for b in own]
        found.append(row)
    return found


def _strata(channel, sizes, _law):
    """The strata are the last inputs; each has a channel of all inputs before them."""
    before = list(sizes)
    strata = 1
    while strata < len(channel["channels"]):
        strata *= before.pop()
    parts = [rows_of(part, before) for part in channel["channels"]]
    return [rows[x] for x in range(prod(before)) for rows in parts]


def _sums(channel, sizes, _law):
    size, terms = channel["modulus"], channel["sums"]
    states = [over(state["rows"], state["scale"]) for state in channel["states"]]  # one for each column or block
    if prod(sizes) * size ** max(len(states), len(terms)) > MOST:
        raise Unknown("large")
    found = []
    for x in product(*(range(len(rows)) for rows in states)):
        law = Counter()
        for drawn in product(range(size), repeat=len(states)):
            y = tuple(sum(drawn[i] for i in of) % size for of in terms)
            law[y] += prod(states[i][x[i]][s] for i, s in enumerate(drawn))
        found.append([law[y] for y in product(range(size), repeat=len(terms))])
    return found


def _types(channel, sizes, _law):
    """A row for each count of the letters, first by that of the first letter; every order of a count is alike."""
    if len(sizes) != channel["samples"] or prod(sizes) > MOST:
        raise Unknown("one column for all samples")
    inputs = list(product(*map(range, sizes)))
    counts = sorted({tuple(x.count(a) for a in range(sizes[0])) for x in inputs})
    of_count = {}
    for count, (scale, entries) in zip(counts, channel["rows"], strict=True):
        held = dict(map(tuple, entries))
        of_count[count] = [Fraction(held.get(y, 0)) / int(scale) for y in range(channel["letters"])]
    return [of_count[tuple(x.count(a) for a in range(sizes[0]))] for x in inputs]


def _orbits(channel, sizes, law):
    """A column, then an order of its roles that fits; p(y | x) is what is left when the law is divided out."""
    if law is None or prod(sizes) > 64:
        raise Unknown("large")
    rows = {x: [] for x in product(*map(range, sizes))}
    for weight, words in channel["columns"]:
        shapes = list(zip(*(word for _, word in words), strict=True))  # what each place has in every word
        deals = sorted(set(permutations(shapes)))
        for deal in deals:
            told = Counter()
            for k, (mass, _) in enumerate(words):
                told[tuple(shape[k] for shape in deal)] += Fraction(mass)
            for x, row in rows.items():
                row.append(Fraction(weight) * told[x] / len(deals) / law[x])
    return list(rows.values())


def _filled(channel, sizes, law):
    if law is None or prod(sizes) ** 2 > MOST:
        raise Unknown("large")
    level = Fraction(channel["level"])
    masses = [law.get(x, Fraction(0)) for x in product(*map(range, sizes))]
    above = [max(p - level, Fraction(0)) for p in masses]
    if not any(above):
        first = masses.index(max(masses))
        return [[Fraction(y == first) for y in range(len(masses))] for _ in masses]
    drawn = [a / sum(above) for a in above]
    stay = [a / p if p else Fraction(0) for a, p in zip(above, masses, strict=True)]
    return [[(1 - k) * q + k * (x == y) for y, q in enumerate(drawn)] for x, k in enumerate(stay)]


def _noise(channel, sizes, _law):
    if prod(sizes) * prod(channel["letters"]) > MOST:
        raise Unknown("large")
    return over(noise_matrix(channel, sizes))


def _records(channel, _sizes, law):
    """For the inputs that occur, in their order; the letters are the places of the records of the table."""
    wide = 1 + max(max(places) for places, _ in channel["rows"])
    found = []
    for places, weights in channel["rows"]:
        held = dict(zip(places, numbers(weights), strict=True))
        found.append([held.get(y, Fraction(0)) / sum(held.values()) for y in range(wide)])
    if len(found) != len(law):
        raise ValueError("not a row for each input")
    return found


def _withheld(_channel, _sizes, _law):
    raise Unknown("a card without its channel")


ROWS = {
    "dense": _dense,
    "maps": _dense,
    "pram": _pram,
    "resample": _resample,
    "listed": _listed,
    "staircase": _staircase,
    "windows": _windows,
    "strata": _strata,
    "sums": _sums,
    "blocks": _sums,
    "types": _types,
    "orbits": _orbits,
    "filled": _filled,
    "noise": _noise,
    "records": _records,
    "medians": _records,
    "withheld": _withheld,
}


def place(label, sizes):
    """The number of an outcome, last column fastest."""
    found = 0
    for k, size in zip(label, sizes, strict=True):
        found = found * size + k
    return found


def atoms_of(law, alphabets):
    """[(outcome by name, mass)] of a law that can be written out."""
    match law["law"]:
        case "table" | "known":
            total = sum(int(outcome[-1]) for outcome in law["outcomes"])
            return [
                (dict(zip(law["variables"], outcome[:-1], strict=True)), Fraction(int(outcome[-1]), total))
                for outcome in law["outcomes"]
            ]
        case "independent":
            if prod(len(group["outcomes"]) for group in law["groups"]) > MOST:
                raise Unknown("large")
            parts = [atoms_of(group, alphabets) for group in law["groups"]]
            return [
                ({name: k for atom, _ in atoms for name, k in atom.items()}, prod(mass for _, mass in atoms))
                for atoms in product(*parts)
            ]
        case "markov":
            names = list(alphabets)
            if len(law["start"]) ** len(names) > MOST:
                raise Unknown("large")
            first, steps = over([law["start"]])[0], over(law["steps"])
            chains = [((k,), p) for k, p in enumerate(first) if p]
            for _ in names[1:]:
                chains = [((*x, k), p * q) for x, p in chains for k, q in enumerate(steps[x[-1]]) if q]
            return [(dict(zip(names, x, strict=True)), p) for x, p in chains]
        case "alike" | "margins":
            raise Unknown(law["law"])
    raise KeyError(law["law"])
