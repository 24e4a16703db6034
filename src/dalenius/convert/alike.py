"""Proofs of version 1 about samples that are alike: over types of the small problem, or over orbits of columns.

A proof over types is one of the general proofs, for the small problem whose input is the type and whose one view is a
sample drawn at random. `_small` writes that problem down as a design of version 1.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import factorial, prod
from typing import Any

from dalenius.convert.orders import Orders, division
from dalenius.convert.proofs import general_proof
from dalenius.core.drafting import law_document
from dalenius.core.samples import Samples
from dalenius.documents.text import near, text
from dalenius.kernel.alike import types
from dalenius.solvers.classes import refined

__all__ = ["PROOFS"]

Json = dict[str, Any]
Labels = tuple[tuple[str, ...], ...]
Weights = dict[tuple[int, ...], dict[tuple[str, ...], Fraction]]  # of each type with each outcome of the others

GRID = 1 << 40  # units of multipliers in trees of boxes of version 1


# --- proofs over types ------------------------------------------------------------------------------------------------
def by_types(design: Json) -> Json:
    """A general proof; for channels that read types, of the small problem."""
    channel = design["channel"]
    if channel.get("form") != "types":
        return general_proof(design)
    if "conditionally_iid" in design["joint"]:
        return general_proof(_of_model(design))
    return {"rule": "alike", "proof": general_proof(_of_columns(design))}


def _small(design: Json, hidden: Json, sample: str, letters: list[str], n: int, weights: Weights) -> Json:
    """The problem of types as a design of version 1: `weights` has the mass of each (hidden letters, type)."""
    kinds = list(types(n, len(letters)))
    pmf = [
        {**dict(zip(hidden, w, strict=True)), "type": str(k), sample: letter, "p": mass * kind[i] / n}
        for k, kind in enumerate(kinds)
        for w, mass in weights.get(kind, {}).items()
        for i, letter in enumerate(letters)
        if mass * kind[i]
    ]
    inputs = {"type": [str(k) for k in range(len(kinds))]}
    return design | {
        "joint": {"variables": hidden | inputs | {sample: letters}, "pmf": pmf},
        "mechanism": {"observe": ["type"], "output": "Y"},
        "guarantees": [{"promised": {"independent": [sample]}}],
        "channel": {"inputs": inputs, "output": {}},
    }


def _of_model(design: Json) -> Json:
    variables, law = law_document(Samples.from_json(design["joint"]))
    hidden, sample = variables[:2]
    masses = [int(n) for n in law["prior"]]
    rows = [[int(entry) for entry in row] for row in law["kernel"]]
    one = sum(masses) * sum(rows[0]) ** law["samples"]
    weights: Weights = {}
    for t in types(law["samples"], len(sample["letters"])):
        orders = factorial(law["samples"]) // prod(map(factorial, t))
        for w, mass, row in zip(hidden["letters"], masses, rows, strict=True):
            weights.setdefault(t, {})[w,] = Fraction(
                mass * orders * prod(entry**k for entry, k in zip(row, t, strict=True)), one
            )
    names = {hidden["name"]: hidden["letters"]}
    return _small(design, names, sample["name"], sample["letters"], law["samples"], weights)


def _of_columns(design: Json) -> Json:
    """The multipliers of all single columns become those of one sample drawn at random: their sum."""
    orders = Orders(design | {"channel": {}})
    columns = division(design["mechanism"])[0]
    about = design["objective"]["maximize"]["information"]
    letters = orders.alphabets[columns[0]]
    weights: Weights = {}
    for record, n in orders.atoms:
        outcome = [record[name] for name in columns]
        t = tuple(outcome.count(letter) for letter in letters)
        of_type = weights.setdefault(t, {})
        told = tuple(record[name] for name in about)
        of_type[told] = of_type.get(told, Fraction(0)) + Fraction(n, orders.total)
    hidden = {name: orders.alphabets[name] for name in about}
    found = _small(design, hidden, columns[0], letters, len(columns), weights)
    proof = design["certificate"]
    if "cuts" in proof:
        many = len(columns)
        summed = [[a, _summed(lam, many)] for a, lam in proof["cuts"]]
        given = [[w, parts, _summed(lam, many)] for w, parts, lam in proof.get("given", [])]
        found["certificate"] = proof | {"cuts": summed} | ({"given": given} if given else {})
    return found


def _summed(multipliers: list[Any], many: int) -> list[str]:
    """Multipliers of the values of so many views, one view after the other, added up value by value."""
    values = len(multipliers) // many
    return [str(sum(int(multiplier) for multiplier in multipliers[k::values])) for k in range(values)]


# --- proofs over orbits -----------------------------------------------------------------------------------------------
def by_orbits(design: Json) -> Json:
    """A tree of boxes with one price for each type; boxes with one for each input are a general proof."""
    proof = design["certificate"]
    orders = Orders(design)
    if "parts" in proof or (proof["kind"] == "boxes" and len(proof["dual"]) == len(orders.occur)):
        return general_proof(design)
    views = list(
        dict.fromkeys(tuple(promise["independent"]) for promise in orders.promises if "independent" in promise)
    )
    seen: dict[int, Labels] = {}
    for place, (record, _) in zip(orders.input, orders.atoms, strict=True):
        seen[place] = tuple(tuple(record[name] for name in view) for view in views)
    atoms = [seen[place] for place in orders.occur_then]
    codes = [orders.code[name] for name in views[0]]

    def places(label: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(code[letter] for code, letter in zip(codes, label, strict=True))

    kinds = sorted({tuple(sorted(atom)) for atom in atoms})
    price = {tuple(sorted(map(places, kind))): near(d) for kind, d in zip(kinds, proof["dual"], strict=True)}
    spot = {place: k for k, place in enumerate(orders.occur)}
    values = sorted({label for atom in atoms for label in atom})
    tree = list(_boxes(proof["tree"], atoms, [spot[place] for place in orders.occur_then], values, places))
    return {"rule": "orbits", "prices": [price[kind] for kind in sorted(price)], "tree": tree}


def _boxes(
    tree: list[Any], atoms: list[Labels], spot: list[int], values: list[Any], places: Any
) -> Iterator[list[Any]]:
    """The nodes; a leaf has a multiplier for each value of each class of views, those of version 1 by their texts."""
    order = sorted(range(len(values)), key=lambda k: places(values[k]))
    stack = [(0,) * len(atoms[0])]
    for node in tree:
        colours = stack.pop()
        if isinstance(node, dict):
            stack += [refined(colours, atoms[node["x"]]), colours]
            yield ["split", spot[node["x"]], text(node["at"])]
            continue
        numbers = iter(node)
        found = [near(Fraction(int(next(numbers, 0)), GRID))]
        for _ in range(max(colours) + 1):
            own = [Fraction(int(next(numbers, 0)) if k else 0, GRID) for k in range(len(values))]
            found += [near(own[k]) for k in order]
        yield ["leaf", *found]


PROOFS = {
    "cells": by_types,
    "ranges": by_types,
    "universal": by_types,
    "rays": by_types,
    "boxes": by_orbits,
    "orbits": by_orbits,
}
