"""How far apart are the best private channel and its bound, after how long, where listing extreme points ends?

Random tables: Dirichlet(1) weights over all atoms, p(w|x) Dirichlet(1), as positive counts; the views are the single
bits, or the two samples. CPU seconds. Everything is counted: the search, the repair to an exactly private channel in
rationals, and the proof of privacy, value and bound by the checker. The gap is the proved one.

    cells        columns.cells.by_posterior_cells and proving.proved: what `solve` does where the walk ends
    walk         solvers.walk over all feasible bases and solvers.best_mixture, exact; up to 100 000 bases
    algorithm 1  the paper's listing in plain numpy: every basis of C(|X|, rank), the nonnegative ones kept; n <= 4

    python benchmarks/disclosure.py [seeds] [most atoms]
"""

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from reporting import save

from dalenius.core import Pmf, Problem
from dalenius.errors import SolverFailed
from dalenius.mechanisms.columns.disclosure.cells import by_posterior_cells
from dalenius.mechanisms.proving import proved
from dalenius.solvers import best_mixture, maximise, walk
from dalenius.solvers.cells import divergence
from dalenius.testing import disclosure

Array: TypeAlias = NDArray[Any]

# name, sizes of the samples, |W|, gap in bits, CPU seconds aimed at
INSTANCES: list[tuple[str, list[int], int, float, float]] = [
    ("3 bits", [2] * 3, 2, 1e-6, 5),
    ("4 bits", [2] * 4, 2, 1e-6, 5),
    ("4 bits", [2] * 4, 3, 1e-6, 5),
    ("5 bits", [2] * 5, 2, 1e-6, 5),
    ("8 bits", [2] * 8, 2, 1e-5, 5),
    ("10 bits", [2] * 10, 2, 1e-5, 60),
    ("12 bits", [2] * 12, 2, 1e-3, 15),
    ("12 bits", [2] * 12, 2, 1e-4, 60),
    ("16 bits", [2] * 16, 2, 1e-3, 180),
    ("8 bits", [2] * 8, 3, 1e-4, 60),
    ("7 bits", [2] * 7, 4, 1e-3, 60),
    ("6 x 6", [6, 6], 2, 1e-6, 30),
    ("6 x 6", [6, 6], 3, 1e-6, 30),
]


def table(sizes: list[int], k: int, seed: int) -> tuple[Array, list[Array]]:
    """Positive counts n(x, w), and the views."""
    rng = np.random.default_rng([seed, k, *sizes])
    atoms = int(np.prod(sizes))
    p, W = rng.dirichlet(np.ones(atoms)), rng.dirichlet(np.ones(k), size=atoms)
    counts = np.maximum(1, np.rint(p[:, None] * W * 1000 * atoms)).astype(np.int64)
    return counts, [part.ravel() for part in np.indices(sizes)]


def problem_of(sizes: list[int], counts: Array) -> Problem:
    names = [f"X{i}" for i in range(len(sizes))]
    alphabets = {n: tuple(map(str, range(m))) for n, m in zip([*names, "W"], [*sizes, counts.shape[1]], strict=True)}
    codes = np.array(list(np.ndindex(*sizes, counts.shape[1])))
    joint = Pmf.from_counts(alphabets, codes, counts.ravel().tolist())
    return disclosure(joint, names, ["W"], [[n] for n in names])


def equations(weights: Array, views: list[Array]) -> tuple[list[list[int]], list[Fraction]]:
    total = int(weights.sum())
    rows, right = [[1] * len(weights)], [Fraction(1)]
    for view in views:
        for a in np.unique(view)[1:]:
            rows.append((view == a).astype(int).tolist())
            right.append(Fraction(int(weights[view == a].sum()), total))
    return rows, right


def by_walk(weights: Array, views: list[Array], W: Array) -> float:
    p = [Fraction(int(n), int(weights.sum())) for n in weights]
    points = walk(*equations(weights, views), limit=100_000).vertices
    values = divergence(np.array([[float(t) for t in v] for v in points]) @ W, np.array([float(t) for t in p]) @ W)
    mixture = best_mixture(points, values.tolist(), p)
    return float(sum(float(t) * values[j] for j, t in mixture.theta.items()))


def by_algorithm_1(weights: Array, views: list[Array], W: Array) -> float:
    p = weights / weights.sum()
    rows, right = equations(weights, views)
    A, b = np.array(rows, dtype=np.float64), np.array([float(t) for t in right])
    found = {}
    for basis in combinations(range(len(p)), len(b)):
        try:
            v = np.linalg.solve(A[:, basis], b)
        except np.linalg.LinAlgError:
            continue
        if v.min() > -1e-12:
            point = np.zeros(len(p))
            point[list(basis)] = np.maximum(v, 0)
            found[tuple(np.round(point, 10))] = point
    points = np.array(list(found.values()))
    return maximise(divergence(points @ W, p @ W), points.T, p).objective


def timed(rival: Callable[[Array, list[Array], Array], float], *given: Any) -> dict[str, Any]:
    begin = time.process_time()
    try:
        value: float | None = rival(*given)
    except SolverFailed as problem:
        return {"seconds": time.process_time() - begin, "failed": str(problem)}
    return {"seconds": time.process_time() - begin, "value": value}


def contest(name: str, sizes: list[int], k: int, gap: float, allowed: float, seed: int) -> dict[str, Any]:
    counts, views = table(sizes, k, seed)
    problem = problem_of(sizes, counts)
    begin = time.process_time()
    channel, certificate, method = by_posterior_cells(problem, gap=gap, seconds=20 * allowed)  # CPU seconds count
    searched = time.process_time()
    design = proved(problem, channel, [certificate], method=method)
    result: dict[str, Any] = {
        "instance": name,
        "outcomes": k,
        "seed": seed,
        "atoms": len(counts),
        "gap_asked": gap,
        "seconds_allowed": allowed,
        "gap": float(design.gap),
        "search_seconds": searched - begin,
        "proof_seconds": time.process_time() - searched,
        "seconds": time.process_time() - begin,
        "value": float(design.value),
        "bound": float(design.bound),
        "cells": len(certificate.proof["leaves"]),
        "letters": channel.shape[1],
    }
    weights, W = counts.sum(axis=1), counts / counts.sum(axis=1, keepdims=True)
    if len(counts) <= 36:
        result["walk"] = timed(by_walk, weights, views, W)
    if len(counts) <= 16:
        result["algorithm 1"] = timed(by_algorithm_1, weights, views, W)
    return result


def told(rival: dict[str, Any] | None) -> str:
    if rival is None:
        return f"{'-':>19}"
    return f"{rival.get('value', float('nan')):>11.7f} {rival['seconds']:>7.2f}"


def main() -> None:
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 16
    print(
        f"{'instance':>8} {'|W|':>3} {'seed':>4} {'asked':>6} {'gap':>8} {'seconds':>8} {'of':>4} {'proof':>7}"
        f" {'value':>10} {'bound':>10} {'cells':>6} {'letters':>7} {'walk, s':>19} {'algorithm 1, s':>19}"
    )
    results = []
    for name, sizes, k, gap, allowed in INSTANCES:
        for seed in seeds if np.prod(sizes) <= most else ():
            r = contest(name, sizes, k, gap, allowed, seed)
            results.append(r)
            print(
                f"{name:>8} {k:>3} {seed:>4} {gap:>6.0e} {r['gap']:>8.1e} {r['seconds']:>8.2f} {allowed:>4.0f}"
                f" {r['proof_seconds']:>7.2f} {r['value']:>10.7f} {r['bound']:>10.7f} {r['cells']:>6} {r['letters']:>7}"
                f" {told(r.get('walk'))} {told(r.get('algorithm 1'))}",
                flush=True,
            )
    save(
        "disclosure",
        "seconds to a proved gap of perfect disclosure, against listing vertices",
        results,
        seeds=list(seeds),
    )


if __name__ == "__main__":
    main()
