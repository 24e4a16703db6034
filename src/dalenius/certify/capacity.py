"""Promises about the rows alone, under every prior: the level of local_dp, and what any adversary learns.

No prior lets a channel tell more about a record (a group of k records) than the best selection of one row for each of
its values (001, Theorem 2), and rows W_x tell no more than max_x D(W_x || q), whatever the law q. A proof is a tree for
each group: a leaf gives q for all rows that may still be selected, a node divides the rows of one value in two.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from dalenius.certify.contraction import contraction
from dalenius.certify.local_dp import dp_level
from dalenius.certify.privacy import Figures
from dalenius.core.arithmetic import BITS, log2, times_log2
from dalenius.core.numbers import exact, up
from dalenius.core.reading import require
from dalenius.core.rows import draws_of


def from_rows(
    inputs: list[str], sizes: list[int], rows: list[list[int]], kept: list[str], guarantee: dict[str, Any]
) -> Figures | None:
    """The figures of a promise that needs no prior, from the rows over the inputs of these sizes; else None."""
    promise = guarantee["promised"]
    if "local_dp" in promise:
        return dp_level(rows, kept, promise, inputs, sizes)
    if "contraction" in promise:
        return contraction(rows, kept, promise)
    if "dalenius" not in promise:
        return None
    known = promise["dalenius"] is True and set(promise) <= {"dalenius", "at_most_bits", "group", "rows"}
    require(known and not kept, "this checker proves dalenius without kept columns and further words")
    (group, draws), proof = draws_of(promise), guarantee.get("proof", {})
    if draws == 1:
        bound = individual(sizes, rows, group, proof)
    else:  # all inputs of every other draw may be tied to the group, and tell no more than it holds
        held = math.prod(sorted(sizes)[-group:])
        whole = draws * individual(sizes, rows, len(sizes), proof)
        bound = min(whole, Fraction(log2(Fraction(held))[1], 1 << BITS))
    at_most = exact(promise["at_most_bits"])
    require(bound <= at_most, f"an adversary may learn {up(bound, 12)} bits, more than promised, or there is no proof")
    return {"capacity_bits": up(bound)}


def individual(sizes: list[int], rows: list[list[int]], group: int, proof: dict[str, Any]) -> Fraction:
    """A bound in bits of I(X_group; Y) over all priors and all groups of so many inputs."""
    require(1 <= group <= len(sizes), "there are fewer records than the group has")
    place: dict[tuple[int, ...], int] = {}
    which = [place.setdefault(tuple(row), len(place)) for row in rows]
    ball, groups = Ball(list(place)), list(combinations(range(len(sizes)), group))
    trees = proof.get("trees") or [[{"q": centre(list(place))}]]
    require(len(trees) in (1, len(groups)), "there is not one tree for each group")
    worst = 0
    for k, members in enumerate(groups):
        classes: dict[Any, set[int]] = defaultdict(set)
        for x, row in zip(product(*map(range, sizes)), which):
            classes[tuple(x[i] for i in members)].add(row)
        nodes: Iterator[dict[str, Any]] = iter(trees[k % len(trees)])
        stack = [list(classes.values())]
        while stack:
            allowed, node = stack.pop(), next(nodes, {})
            if "q" in node:
                worst = max(worst, ball.radius(set().union(*allowed), node["q"]))
                continue
            j, first = node["class"], set(node["rows"])
            require(0 <= j < len(allowed), "a node divides no value of the record")
            stack += [[*allowed[:j], part, *allowed[j + 1 :]] for part in (allowed[j] - first, allowed[j] & first)]
        require(next(nodes, None) is None, "a tree does not match its nodes")
    return Fraction(worst, 1 << BITS)


class Ball:
    """Different rows in whole numbers, with an upper bound of sum_y p log2 p of each, in units of 2^-BITS."""

    def __init__(self, rows: list[tuple[int, ...]]) -> None:
        self.rows, self.scale = rows, sum(rows[0])
        self.h = [sum(times_log2(*[Fraction(v, self.scale)] * 2)[1] for v in row if v) for row in rows]

    def radius(self, at: set[int], q: list[int]) -> int:
        """An upper bound of max D(p || q / sum q) over some of the rows."""
        require(len(q) == len(self.rows[0]) and all(isinstance(v, int) and v > 0 for v in q), "a centre is no law")
        total = sum(q)
        logs = [log2(Fraction(v, total))[0] for v in q]
        return max((self.h[x] - sum(v * t for v, t in zip(self.rows[x], logs)) // self.scale for x in at), default=0)


def centre(rows: list[tuple[int, ...]]) -> list[int]:
    """A law near all rows, by rounds of Blahut and Arimoto in floats: any law proves something, this one much."""
    scale, m = sum(rows[0]), len(rows)
    p, w = [[v / scale for v in row] for row in rows], [1 / m] * m
    q = [0.0] * len(rows[0])
    for _ in range(max(3, min(300, 10**6 // (m * len(q))))):
        q = [sum(a * row[y] for a, row in zip(w, p)) for y in range(len(q))]
        d = [sum(v * math.log(v / t) for v, t in zip(row, q) if v and t) for row in p]
        w = [a * math.exp(b) for a, b in zip(w, d)]
        w = [a / sum(w) for a in w]
    return [int(v * 2**60) + 1 for v in q]
