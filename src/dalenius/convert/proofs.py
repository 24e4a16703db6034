"""Proof objects of version 1 as the proofs of version 2 that the rules of the kernel follow.

Nothing here is trusted, and nothing can go wrong but that a bound gets looser: the kernel proves what it is given.
Version 1 orders values by the texts of their letters and inputs as the channel lists them, version 2 orders both by the
places of letters. Every list along such an order goes through `Orders`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, groupby, product
from math import gcd
from typing import Any

from dalenius.convert.multipliers import Dual, texts
from dalenius.convert.orders import Json, Orders, Place
from dalenius.documents.text import near, number, text
from dalenius.errors import Unsupported
from dalenius.kernel.logs import BITS, exp, log2

__all__ = ["general_proof"]


GRID = 1 << 40  # units of multipliers in trees of boxes
SCORE = 100  # bits after the point of prices of corners


def general_proof(design: Json) -> Json:
    """A proof of a kind that belongs to no form, for a design of version 1 with its certificate."""
    certificate = design["certificate"]
    kind = certificate["kind"]
    if kind in PLAIN:
        return PLAIN[kind](certificate)
    if kind in PROOFS:
        return PROOFS[kind](Orders(design), certificate)
    raise Unsupported(
        f"version 2 has no words for proofs of kind {kind!r}",
        do="Make the design again from its problem file: dalenius solve PROBLEM.",
    )


def by_lines(division_: str, trees: list[Any], leaves: list[Json], **rest: list[Any]) -> Json:
    """A proof by lines."""
    order = ("promises", "limits", "margins", "cuts", "prices")
    first = {"rule": "lines", "division": division_} | {key: rest.get(key, []) for key in order}
    return first | {"trees": trees, "leaves": leaves, "relations": rest.get("relations", [])}


# --- letters and maps: least leakage, rate or distortion --------------------------------------------------------------


def dual(orders: Orders, proof: Json) -> Json:
    """Letters, or maps where only the law of the side information is known."""
    found = Dual(orders, proof)
    own = found.objective()
    margins = found.promised()
    leaves = [
        {"objective": [columns[t] for columns in own], "promises": [rows[t] for rows in found.rows]}
        for t in range(found.many)
    ]
    trees = [found.maps] if found.maps else [[["leaf", t]] for t in range(found.many)]
    rest: dict[str, list[Any]] = {"promises": found.weights, "limits": texts(proof["distortion"]), "margins": margins}
    rest["cuts"] = found.cuts
    return by_lines("maps" if found.maps else "letters", trees, leaves, **rest)


def gain(orders: Orders, proof: Json) -> Json:
    """The multipliers of `dual` in cells as those of `cells`: information is maximised, or limited from below.

    Under such a limit a leaf has the posteriors of what is minimised, and then its linear function.
    """
    found = Dual(orders, proof)
    aim = orders.design["objective"].get("maximize")
    limits = [entry["promised"] for entry in orders.design.get("limits", [])]
    about = aim["information"] if aim else limits[-1]["information"]
    order = _posterior_order(orders, about)
    own = found.objective()
    found.promised()
    leaves: list[Json] = []
    for t, piece in enumerate(proof["pieces"]):
        slopes = [piece[k] for k in order]
        objective: list[Any] = slopes if aim else [*(columns[t] for columns in own), slopes]
        leaves.append({"objective": objective, "promises": [rows[t] for rows in found.rows]})
    cells = len(proof["pieces"]) // int(proof.get("meanings", 1))
    trees = [
        _cells_tree([node + first if isinstance(node, int) else node for node in proof["tree"]], order)
        for first in range(0, len(proof["pieces"]), cells)
    ]
    weights = [] if aim else texts(proof["distortion"])
    return by_lines("simplices", trees, leaves, promises=found.weights, limits=weights, cuts=found.cuts)


def faces(orders: Orders, proof: Json) -> Json:
    """Most information where promises speak of secrets alone: prices, and a tree for each choice of few inputs."""
    found = Dual(orders, proof)
    found.promised()
    leaves = [{"objective": [], "promises": [rows[t] for rows in found.rows]} for t in range(found.many)]
    prices = orders.by_input(proof["prices"])
    trees = _faces_in_order(orders, proof["trees"], int(proof["atoms"]))
    return by_lines("faces", trees, leaves, promises=found.weights, prices=prices)


def _faces_in_order(orders: Orders, trees: Sequence[Any], atoms: int) -> list[Any]:
    """The tree of each choice of so many inputs, from the order of version 1 to that of version 2."""
    inputs = len(orders.occur)
    then = [orders.occur.index(x) for x in orders.occur_then]  # the new place of each input
    found: dict[Place, list[Any]] = {}
    for face, tree in zip(combinations(range(inputs), atoms), trees, strict=True):
        places = [then[x] for x in face]
        order = sorted(range(atoms), key=places.__getitem__)
        found[tuple(places[k] for k in order)] = _cells_tree(tree, order)
    return [found[face] for face in combinations(range(inputs), atoms)]


def blocks(orders: Orders, proof: Json) -> Json:
    """Most information under maximal leakage: prices of the inputs, and a tree over their runs."""
    prices = orders.by_input(proof["prices"])
    counts = orders.counts(orders.input)
    then = dict.fromkeys(zip((counts[x] for x in orders.occur_then), proof["prices"], strict=True))
    now = list(dict.fromkeys(zip((counts[x] for x in orders.occur), prices, strict=True)))
    place = [now.index(run) for run in then]
    tree = [["leaf", node[0]] if len(node) == 1 else ["split", place[node[0]], node[1]] for node in proof["tree"]]
    return {"rule": "blocks", "prices": prices, "tree": tree}


def rate(orders: Orders, proof: Json) -> Json:
    """Weights of the inputs that occur, and a slope in nats."""
    return {"rule": "slope", "weights": texts(orders.by_input(proof["weights"])), "slope": proof["slope"]}


# --- cells and ranges: most information -------------------------------------------------------------------------------
def _merging(orders: Orders, about: Sequence[str], by_text: bool) -> dict[Place, Place]:
    """Each value of W under the first name of those with proportional weights, in the order of either version."""
    weights: defaultdict[Place, Counter[Any]] = defaultdict(Counter)
    labels = orders.labels(about)
    for w, e, k, (_, n) in zip(labels, orders.input, orders.labels(orders.beside), orders.atoms, strict=True):
        weights[w][e, k] += n
    order = orders.keys(about)[0] if by_text else sorted(weights)
    first: dict[Any, Place] = {}
    name = {}
    for w in order:
        common = gcd(*weights[w].values())
        name[w] = first.setdefault(frozenset((key, n // common) for key, n in weights[w].items()), w)
    return name


def _posterior_order(orders: Orders, about: Sequence[str]) -> list[int]:
    """For each label (w, k) of version 2, in its order, the place of the same label in version 1."""
    then = _merging(orders, about, True)
    now = _merging(orders, about, False)
    w_rank = {w: k for k, w in enumerate(orders.keys(about)[0])}
    k_rank = {world: k for k, world in enumerate(orders.worlds()[0])}
    pairs = list(zip(orders.labels(about), orders.labels(orders.beside), strict=True))
    old = sorted({(w_rank[then[w]], k_rank[k]) for w, k in pairs})
    at = {pair: k for k, pair in enumerate(old)}
    new = sorted({(now[w], k) for w, k in pairs})
    return [at[w_rank[then[w]], k_rank[k]] for w, k in new]


def _cut_rows(orders: Orders, proof: Json) -> list[list[Any]]:
    """For each cut the rows of each promise."""
    unit = int(proof["unit"])
    k_old, k_new = orders.worlds()
    tables = {}
    for kind in ("independent", "information_privacy"):
        for k in orders.having(kind):
            s_old, s_new = orders.keys(orders.promises[k][kind])
            tables[k] = list(product(s_old, k_old)), list(product(s_new, k_new))
    bounded = [k for k in orders.having("information_privacy") if number(orders.promises[k]["epsilon"]) <= 100]
    ratios = {k: exp(number(orders.promises[k]["epsilon"]))[1] for k in bounded}
    out = []
    for _, multipliers, *pairs in proof["cuts"]:
        numbers = iter(int(multiplier) for multiplier in multipliers)
        rows: list[Any] = [[] for promise in orders.promises]
        for k in orders.having("independent"):
            keys, mine = tables[k]
            table = {key: next(numbers) for key in keys}
            rows[k] = [near(Fraction(table[key], unit)) for key in mine]
        for k in bounded:
            keys, mine = tables[k]
            both = {key: (next(numbers), next(numbers)) for key in keys}  # of r p(a) J(k) - J first
            low = [near(max(0, both[key][1]) * ratios[k] / unit) for key in mine]
            rows[k] = [low, [near(Fraction(max(0, both[key][0]), unit)) for key in mine]]
        for x, other, v in (pair for part in pairs for pair in part):
            k = min(orders.having("local_dp"), key=lambda k: _distance(orders.promises[k], x, other))
            rows[k].append([orders.inputs[x], orders.inputs[other], near(Fraction(max(0, int(v)), unit))])
        out.append(rows)
    return out


def _distance(promise: Json, x: int, other: int) -> Fraction:
    metric = promise.get("metric")
    return number(promise["local_dp"]) * (number(metric[x][other]) if metric else 1)


def _told_leaves(orders: Orders, proof: Json, order: Sequence[int]) -> list[Json]:
    unit = int(proof["unit"])
    rows = _cut_rows(orders, proof)
    return [
        {"objective": [near(Fraction(int(cut[0][k]), unit)) for k in order], "promises": own}
        for cut, own in zip(proof["cuts"], rows, strict=True)
    ]


def _z(orders: Orders, proof: Json) -> list[str]:
    given = proof.get("z", [])
    return [near(Fraction(int(z), int(proof["unit"]))) for z in orders.by_input(given)] if given else []


def cells(orders: Orders, proof: Json) -> Json:
    """Simplicial cells; corners of version 2 are those of version 1 in another order."""
    order = _posterior_order(orders, orders.design["objective"]["maximize"]["information"])
    leaves = _told_leaves(orders, proof, order)
    zero = ["0"] * len(orders.promises)
    return by_lines("simplices", [_cells_tree(proof["tree"], order)], leaves, promises=zero, prices=_z(orders, proof))


def _cells_tree(tree: Sequence[Any], order: Sequence[int]) -> list[Any]:
    """Children come by the old places of their corners and are written by the new ones."""
    ends: dict[int, int] = {}  # of the subtree that begins at each node
    children: dict[int, dict[int, int]] = {}
    open_: list[tuple[int, list[int]]] = []  # nodes that still wait for children, and the places of these
    for place, node in enumerate(tree):
        if open_:
            parent, waiting = open_[-1]
            children[parent][waiting.pop(0)] = place
        if isinstance(node, int):
            ends[place] = place + 1
            while open_ and not open_[-1][1]:
                ends[open_.pop()[0]] = place + 1
        else:
            children[place] = {}
            open_.append((place, [i for i, t in enumerate(node) if number(t)]))
    found: list[Any] = []
    stack = [0]
    while stack:
        place = stack.pop()
        node = tree[place]
        if isinstance(node, int):
            found.append(["leaf", node])
            continue
        found.append(["split", *(text(number(node[i])) for i in order)])
        stack += [children[place][i] for i in reversed(order) if i in children[place]]
    return found


def ranges(orders: Orders, proof: Json) -> Json:
    """Boxes of posteriors, and relations between their sides."""
    order = _posterior_order(orders, orders.design["objective"]["maximize"]["information"])
    back = {then: now for now, then in enumerate(order)}
    tree = [["leaf", n] if isinstance(n, int) else ["split", back[n[0]], text(n[1])] for n in proof["tree"]]
    zero = ["0"] * len(orders.promises)
    rest = {"promises": zero, "prices": _z(orders, proof), "relations": _relations(orders, proof, back)}
    return by_lines("ranges", [tree], _told_leaves(orders, proof, order), **rest)


def _relations(orders: Orders, proof: Json, back: dict[int, int]) -> list[Any]:
    unit, found = int(proof["unit"]), []
    worlds_old, worlds_new = orders.worlds()
    for w, parts, multipliers in proof.get("given", []):
        numbers = iter(multipliers)
        rows: list[Any] = [[] for promise in orders.promises]
        for k in orders.having("independent"):
            s_old, s_new = orders.keys(orders.promises[k]["independent"])
            table = {key: Fraction(int(next(numbers)), unit) for key in product(s_old, worlds_old)}
            rows[k] = [near(table[key]) for key in product(s_new, worlds_new)]
        found.append([back[w], [[back[j], near(Fraction(int(a), unit))] for j, a in parts], rows])
    return found


def boxes(orders: Orders, proof: Json) -> Json:
    """W = X: prices, sigma and rows of the views; for each part where views part the inputs."""
    views = orders.having("independent")
    if "parts" not in proof:
        return _boxes(orders, proof, views, orders.occur_then)
    named = [views[k] for k in proof["views"]]
    values = [_values(orders, k) for k in named]
    parts = _parted(orders.occur_then, values)
    own = [_boxes(orders, found, named, part) for found, part in zip(proof["parts"], parts, strict=True)]
    order = sorted(range(len(parts)), key=lambda b: min(parts[b]))
    return {"rule": "components", "views": named, "parts": [own[b] for b in order]}


def _values(orders: Orders, k: int) -> dict[int, Place]:
    """The value of a view for each input."""
    return dict(zip(orders.input, orders.labels(orders.promises[k]["independent"]), strict=True))


def _parted(inputs: Sequence[int], values: Sequence[dict[int, Place]]) -> list[list[int]]:
    part = {x: k for k, x in enumerate(inputs)}
    for view in values:
        first: dict[Place, int] = {}
        for x in inputs:
            old, new = part[x], part[first.setdefault(view[x], x)]
            if old != new:
                part = {z: new if k == old else k for z, k in part.items()}
    return [[x for x in inputs if part[x] == own] for own in dict.fromkeys(part.values())]


def _boxes(orders: Orders, proof: Json, views: Sequence[int], inputs: Sequence[int]) -> Json:
    """One tree of boxes over these inputs; promises are all, or in a part those that are named."""
    if len(proof["dual"]) != len(inputs):
        raise Unsupported("boxes of orbits")
    mass = {x: n for x, n in orders.counts(orders.input).items() if x in set(inputs)}
    total = sum(mass.values())
    logs = {x: Fraction(-log2(n, total)[0], 1 << BITS) for x, n in mass.items()}
    price = {x: near(logs[x] - number(y)) for x, y in zip(inputs, proof["dual"], strict=True)}
    about = dict(zip(orders.input, orders.labels(orders.design["objective"]["maximize"]["information"]), strict=True))
    spot = {x: k for k, x in enumerate(sorted(inputs, key=about.__getitem__))}
    margins = [_margin(orders, view, mass) for view in views]
    whole = len(inputs) == len(orders.occur) and len(views) == len(orders.having("independent"))
    places = list(range(len(orders.promises))) if whole else list(views)
    tree: list[Any] = []
    leaves: list[Json] = []
    for node in proof["tree"]:
        if isinstance(node, dict):
            tree.append(["split", spot[inputs[node["x"]]], text(node["at"])])
            continue
        numbers = iter([Fraction(int(v), GRID) for v in node])
        sigma = next(numbers, Fraction(0))
        rows = dict[int, list[str]]()
        for k, (old, new, counts) in zip(views, margins, strict=True):
            value = {a: next(numbers, Fraction(0)) if j else Fraction(0) for j, a in enumerate(old)}
            rows[k] = [near(value[a]) for a in new]
            sigma += sum((value[a] * counts[a] for a in old), Fraction(0)) / total
        tree.append(["leaf", len(leaves)])
        leaves.append({"objective": [near(sigma)], "promises": [rows.get(place, []) for place in places]})
    prices = [price[x] for x in sorted(inputs)]
    return by_lines("boxes", [tree], leaves, promises=["0"] * len(places), prices=prices)


def _margin(orders: Orders, k: int, mass: dict[int, int]) -> tuple[list[Place], list[Place], Counter[Place]]:
    """The values of a view among some inputs, in both orders, and how often they occur."""
    values = _values(orders, k)
    counts = Counter[Place]()
    for x, n in mass.items():
        counts[values[x]] += n
    old = [a for a in orders.keys(orders.promises[k]["independent"])[0] if a in counts]
    return old, sorted(old), counts


# --- corners, subsets, and what has its own rule ----------------------------------------------------------------------
def rays(orders: Orders, proof: Json) -> Json:
    """Prices and a starting basis."""
    place = {x: k for k, x in enumerate(orders.occur)}
    basis = sorted(place[orders.occur_then[b]] for b in proof["basis"])
    prices = [str(round(number(z) * (1 << SCORE))) for z in orders.by_input(proof["z"])]
    return {"rule": "corners", "prices": prices, "basis": basis}


def subsets(proof: Json) -> Json:
    """Runs of letters and a tree, in one world."""
    tree = [["split", *node] if isinstance(node, list) else ["leaf", text(node)] for node in proof["tree"]]
    return {"rule": "subsets", "runs": [[str(many), [text(price)]] for many, price in proof["runs"]], "tree": tree}


def given(orders: Orders, proof: Json) -> Json:
    """Runs in several worlds: version 1 lists these as the law names them first, also with probability 0."""
    seen: dict[tuple[str, ...], int] = {}
    for record in orders.records:
        seen.setdefault(tuple(record[name] for name in orders.beside_then), len(seen))
    places = dict(zip(orders.labels(orders.beside), (r for r, _ in orders.atoms), strict=True))
    at = [seen[tuple(places[world][name] for name in orders.beside_then)] for world in orders.worlds()[1]]
    vectors: dict[int, list[int]] = {x: [0] * len(seen) for x in orders.occur}
    for x, (record, n) in zip(orders.input, orders.atoms, strict=True):
        vectors[x][seen[tuple(record[name] for name in orders.beside_then)]] += n
    order = sorted(vectors.values(), key=lambda v: (sum(v), v), reverse=True)
    named = iter(order)
    runs = [(run, next(named)) for run, (many, _) in enumerate(proof["runs"]) for _ in range(int(many))]
    runs.sort(key=lambda pair: (sum(pair[1]), [pair[1][i] for i in at]), reverse=True)
    prices: list[Any] = []
    new: dict[int, int] = {}
    for run, members in groupby(runs, key=lambda pair: pair[0]):
        new[run] = len(prices)
        price = proof["runs"][run][1]
        own = [text(price[i]) for i in at] if isinstance(price, list) else [text(price)]
        prices.append([str(sum(1 for member in members)), own])
    tree: list[Any] = []
    for node in proof["tree"]:
        if len(node) == 2 and all(type(value) is int for value in node):
            tree.append(["split", new[node[0]], node[1]])
        else:
            tree.append(["leaf", *(text(node[i]) for i in at)])
    return {"rule": "subsets", "runs": prices, "tree": tree}


def pram(proof: Json) -> Json:
    """Bases and a tree for each shape."""
    bases = [[[str(many), text(q)] for many, q in base] for base in proof["bases"]]
    trees = [[["split", n] if isinstance(n, int) else ["leaf", *n] for n in tree] for tree in proof["trees"]]
    return {"rule": "marginals", "bases": bases, "trees": trees}


def invariant(orders: Orders, proof: Json) -> Json:
    """A tree of boxes of columns."""
    place = {x: k for k, x in enumerate(orders.occur)}
    now = [place[x] for x in orders.occur_then]
    tree: list[Any] = []
    for node in proof["tree"]:
        if len(node) == 3 and type(node[0]) is int:
            tree.append(["split", now[node[0]], now[node[1]], text(node[2])])
        else:
            tree.append(["leaf", *texts(orders.by_input(node))])
    return {"rule": "invariant", "tree": tree}


def variance(proof: Json) -> Json:
    """A matrix and prices, and for many letters the form that bounds what exceeds them."""
    form = None
    if "d" in proof:
        pairs = [texts(row) for row in proof["E"]]
        form = {"diagonal": texts(proof["d"]), "pairs": pairs, "shift": str(proof["s"])}
    matrix = [texts(row) for row in proof["B"]]
    said = {"rule": "variance", "unit": str(proof["unit"]), "matrix": matrix}
    return said | {"prices": texts(proof["z"]), "form": form}


def universal(_: Json) -> Json:
    """No data at all."""
    return {"rule": "closed"}


PROOFS: dict[str, Callable[[Orders, Json], Json]] = {
    "dual": dual,
    "blocks": blocks,
    "gain": gain,
    "faces": faces,
    "rate": rate,
    "cells": cells,
    "ranges": ranges,
    "boxes": boxes,
    "rays": rays,
    "given": given,
    "invariant": invariant,
}
PLAIN: dict[str, Callable[[Json], Json]] = {  # that need no order
    "subsets": subsets,
    "staircase": subsets,
    "relaxed": subsets,
    "pram": pram,
    "variance": variance,
    "universal": universal,
}
