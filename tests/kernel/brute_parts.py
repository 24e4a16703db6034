"""What designs of several parts do, in floating-point numbers and from their text alone: a second opinion, no proof."""

from fractions import Fraction
from functools import reduce
from itertools import product
from math import log, prod

import numpy as np

NEAR = 1e-7
MOST = 1 << 21


class TooMany(Exception):
    """More outcomes than are worth the time."""


def numbers(texts):
    return np.array([float(Fraction(text)) for text in texts])


def matrix(channel, sizes, width=None):
    """p(y | x) of a channel that reads columns of these sizes."""
    match channel["form"]:
        case "dense":
            return np.array([numbers(row) for row in channel["rows"]]) / float(Fraction(channel["scale"]))
        case "listed":
            own = np.array([numbers(row) for row in channel["rows"]]) / float(Fraction(channel["scale"]))
            found = np.tile(own[-1], (int(np.prod(sizes)), 1))
            found[channel["places"]] = own[:-1]
            return found
        case "pram":
            stay = numbers(channel["stay"])
            rest = (1 - stay) / max(len(stay) - 1, 1)
            return np.diag(stay - rest) + rest[:, None]
        case "resample":
            stay = numbers(channel["stay"])
            return np.diag(stay) + (1 - stay)[:, None] * numbers(channel["others"])
        case "staircase":
            weights = numbers(weight for weight, _ in channel["columns"])
            inside = [[c in members for _, members in channel["columns"]] for c in channel["classes"]]
            return weights * np.where(inside, float(Fraction(channel["ratio"])), 1.0)
        case "windows":
            return windows_matrix(channel, sizes)
        case "strata":
            raise ValueError("strata are taken one by one")
        case "sums" | "blocks":
            return sums_matrix(channel, sizes)


def windows_matrix(channel, sizes):
    parts = [(w["reads"], matrix(w["channel"], [sizes[i] for i in w["reads"]])) for w in channel["windows"]]
    if prod(sizes) * prod(part.shape[1] for _, part in parts) > MOST:
        raise TooMany
    codes = np.array(list(product(*map(range, sizes))))
    found = np.ones((len(codes), 1))
    for reads, part in parts:
        place = np.zeros(len(codes), dtype=int)
        for i in reads:
            place = place * sizes[i] + codes[:, i]
        found = (found[:, :, None] * part[place][:, None, :]).reshape(len(codes), -1)
    return found


def sums_matrix(channel, sizes):
    size, terms = channel["modulus"], channel["sums"]
    many = len(channel["states"])  # one for each column or block
    if prod(sizes) * size ** max(many, len(terms)) > MOST:
        raise TooMany
    states = [
        np.array([numbers(row) for row in state["rows"]]) / float(Fraction(state["scale"]))
        for state in channel["states"]
    ]
    given = reduce(np.kron, states)  # p(all states | x)
    digits = np.array(list(product(range(size), repeat=many)))
    place = np.zeros(len(digits), dtype=int)
    for of in terms:
        place = place * size + digits[:, of].sum(axis=1) % size
    found = np.zeros((len(given), size ** len(terms)))
    for k, y in enumerate(place):
        found[:, y] += given[:, k]
    return found


class Records:
    """The law of a document, for a few variables at a time."""

    def __init__(self, document):
        law = document["law"]
        self.letters = {entry["name"]: len(entry["letters"]) for entry in document["variables"]}
        self.groups = law.get("groups") or law.get("columns") or [law]

    def of(self, names):
        """p(names), an array with an axis for each."""
        if prod(self.letters[name] for name in names) > MOST:
            raise TooMany
        found, order = np.ones(()), []
        for group in self.groups:
            own = [name for name in group["variables"] if name in names]
            if not own:
                continue
            table = np.zeros([self.letters[name] for name in own])
            at = [group["variables"].index(name) for name in own]
            for *outcome, count in group["outcomes"]:
                table[tuple(outcome[i] for i in at)] += float(Fraction(count))
            found = np.multiply.outer(found, table / table.sum())
            order += own
        return np.moveaxis(found, [order.index(name) for name in names], range(len(names)))

    def joint(self, first, then):
        """p(first, then) as a matrix; a name may stand on both sides."""
        names = list(dict.fromkeys([*first, *then]))
        table = self.of(names)
        sides = [prod(self.letters[name] for name in part) for part in (first, then)]
        found = np.zeros(sides)
        for index in np.argwhere(table > 0):
            outcome = dict(zip(names, index, strict=True))
            row, column = (self._code([outcome[name] for name in part], part) for part in (first, then))
            found[row, column] += table[tuple(index)]
        return found

    def _code(self, outcome, names):
        code = 0
        for letter, name in zip(outcome, names, strict=True):
            code = code * self.letters[name] + letter
        return code


def information(table):
    """I between the rows and the columns of p(a, b)."""
    a, b = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    where = table > 0
    return float((table[where] * np.log2((table / np.where(a * b > 0, a * b, 1))[where])).sum())


def released(document):
    """p(everything that leaves | observed, strata), with a column for each (letter, stratum)."""
    letters = {entry["name"]: len(entry["letters"]) for entry in document["variables"]}
    mechanism = document["mechanism"]
    sizes = [letters[name] for name in mechanism["observe"]]
    if document["channel"]["form"] != "strata":
        return matrix(document["channel"], sizes)
    parts = [matrix(channel, sizes) for channel in document["channel"]["channels"]]
    many, width = parts[0].shape
    found = np.zeros((many * len(parts), width * len(parts)))
    for s, part in enumerate(parts):
        found[s :: len(parts), s :: len(parts)] = part
    return found


def level(document):
    """The largest log-ratio of two inputs of one stratum."""
    table = released(document)
    strata = prod(
        len(entry["letters"]) for entry in document["variables"] if entry["name"] in document["mechanism"]["strata"]
    )
    worst = 0.0
    for s in range(strata):
        part = table[s::strata]
        part = part[:, part.max(axis=0) > 0]
        least = part.min(axis=0)
        worst = max(worst, float("inf") if (least <= 0).any() else log((part.max(axis=0) / least).max()))
    return worst


def of_each(document):
    """The sum over the columns of I(X_j; Y_j, strata)."""
    records, mechanism = Records(document), document["mechanism"]
    channel, strata = document["channel"], mechanism["strata"]
    parts = channel["channels"] if channel["form"] == "strata" else [channel]
    told = 0.0
    for j, name in enumerate(mechanism["observe"]):
        table = records.joint([name], strata)
        columns = [matrix(part["windows"][j]["channel"], [records.letters[name]]) for part in parts]
        told += information(np.hstack([table[:, s : s + 1] * column for s, column in enumerate(columns)]))
    return told


def above(value, limit):
    return value > float(Fraction(limit)) + NEAR


def lies(document):
    """What a document says and does not do, as far as it is looked at here; an empty list where all is well."""
    records, mechanism = Records(document), document["mechanism"]
    reads = [*mechanism["observe"], *mechanism["strata"]]
    table = None if document["law"]["law"] == "margins" else released(document)
    told = {}
    for promise, claims in zip(document["promises"], document["claims"]["promises"], strict=True):
        told |= lies_of_promise(document, promise, claims, records.joint, reads, table)
    about = document["objective"]["about"]
    each = document["objective"]["aim"] == "information_of_each"
    value = of_each(document) if each else information(records.joint(about, reads) @ table)
    told["value"] = value < float(Fraction(document["claims"]["value"])) - NEAR
    told["bound"] = above(value, document["claims"]["bound"])
    return [what for what, lie in told.items() if lie]


def lies_of_promise(document, promise, claims, joint, reads, table):
    """The level, or independence and guesses, and what is told to somebody who knows one more column."""
    claimed = {claim["figure"]: claim["value"] for claim in claims if claim["given"] is None}
    if promise["promise"] == "local_dp":
        figure = level(document) * promise["rows"]
        return {
            "level": above(figure, promise["epsilon"]),
            "claimed level": above(figure, claimed.get("epsilon_nats") or promise["epsilon"]),
        }
    secret = promise["secret"]
    both = joint(secret, reads) @ table
    apart = np.abs(both - np.outer(both.sum(axis=1), both.sum(axis=0))).max()
    told = {
        f"{secret} independent": promise["promise"] == "independent" and apart > NEAR,
        f"{secret} leaks": above(information(both), claimed.get("leakage_bits") or 99),
        f"{secret} guessed": above(both.max(axis=0).sum(), claimed.get("guess_after") or 1),
        f"{secret} was guessed": above(float(Fraction(claimed.get("guess_before") or 0)), both.sum(axis=1).max()),
    }
    for claim in claims:
        if claim["given"] is not None and claim["value"] is not None:
            whole = information(joint([*secret, claim["given"]], reads) @ table)
            alone = information(joint([claim["given"]], reads) @ table)
            told[f"{secret} given {claim['given']}"] = above(whole - alone, claim["value"])
    return told
