"""Proof of local differential privacy: the level of a channel, from its rows alone."""

from collections import defaultdict
from fractions import Fraction
from typing import Any

from dalenius.certify.privacy import Figures
from dalenius.core.arithmetic import nats
from dalenius.core.numbers import exact, up
from dalenius.core.reading import require, worlds_of


def dp_level(
    rows: list[list[int]], kept: list[str], promise: dict[str, Any], inputs: list[str], sizes: list[int]
) -> Figures:
    """c(x) <= e^(epsilon d) c(x') for every letter and every pair of rows, also of impossible inputs (002, eq. 6).

    The distance d of the pair stands in the metric, one number for each pair of rows; without a metric it is 1. Beside
    kept columns the promise is given them: it speaks of pairs of rows that agree in those that are read.
    """
    known = set(promise) <= {"local_dp", "metric", "given"} and sorted(promise.get("given", [])) == sorted(kept)
    require(known, "this checker proves local_dp without delta, and given all kept columns")
    among, level, metric = defaultdict(list), Fraction(0), promise.get("metric")
    for x, world in enumerate(worlds_of(inputs, sizes, kept) if kept else [()] * len(rows)):
        among[world].append(x)
    require(metric is None or isinstance(metric, list), "the metric is not written out")
    if metric is not None:
        metric = [[exact(d) for d in row] for row in metric]
        require([len(d) for d in metric] == [len(rows)] * len(rows), "the metric is not square, a row for each input")
    for own in among.values():
        columns = [c for c in zip(*(rows[x] for x in own)) if max(c)]
        require(all(min(c) > 0 for c in columns), "a letter has probability 0 under one input and not under another")
        worst = {Fraction(1): max(Fraction(max(c), min(c)) for c in columns)}
        if metric is not None:
            worst = {metric[x][z]: Fraction(1) for x in own for z in own}
            for x, row in zip(own, zip(*columns)):
                for z, other in zip(own, zip(*columns)):
                    d = metric[x][z]
                    worst[d] = max([worst[d], *(Fraction(a, b) for a, b in zip(row, other) if a > b)])
        require(all(d > 0 or (d == 0 and ratio == 1) for d, ratio in worst.items()), "inputs at distance 0 differ")
        level = max([level, *(nats(ratio) / d for d, ratio in worst.items() if d)])
    require(level <= exact(promise["local_dp"]), f"the level of local_dp is {up(level, 12)}, more than promised")
    return {"epsilon_nats": up(level)}
