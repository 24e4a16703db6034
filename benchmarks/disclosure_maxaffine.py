"""How far apart are the best private channel and its bound, after how long, where listing extreme points ends?

Random tables: Dirichlet(1) weights over all atoms, rounded to positive integers; p(w|x) Dirichlet(1); the views are
the single bits, or the two samples. One thread, CPU seconds.

    max-affine   solvers.max_affine, then solvers.repaired to an exact channel that loses at most 5 % of the gap
    walk         solvers.walk over all feasible bases and solvers.best_mixture, exact; up to 100 000 bases
    algorithm 1  the paper's listing in plain numpy: every basis of C(|X|, rank), the nonnegative ones kept; n <= 4

    python benchmarks/disclosure_maxaffine.py [seeds]
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import platform
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers import best_mixture, maximise, walk
from dalenius.solvers.cells import divergence
from dalenius.solvers.maxaffine import max_affine
from dalenius.solvers.repair import repaired

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


def table(sizes: list[int], k: int, seed: int) -> tuple[Array, list[Array], Array]:
    """Integer weights, views and p(w|x)."""
    rng = np.random.default_rng([seed, k, *sizes])
    atoms = int(np.prod(sizes))
    weights = np.maximum(1, np.rint(rng.dirichlet(np.ones(atoms)) * 1000 * atoms)).astype(np.int64)
    return weights, [part.ravel() for part in np.indices(sizes)], rng.dirichlet(np.ones(k), size=atoms)


def moments(p: Array, views: list[Array]) -> Array:
    A = np.array([view == a for view in views for a in np.unique(view)[1:]], dtype=np.float64).T
    A -= p @ A
    root = np.linalg.cholesky((A * p[:, None]).T @ A)
    return np.linalg.solve(root, A.T).T


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
    weights, views, W = table(sizes, k, seed)
    p = weights / weights.sum()
    M = moments(p, views)
    begin = time.process_time()
    best = max_affine(p, W, M, gap=gap, seconds=4 * allowed)  # on the wall, which a busy machine stretches
    searched = time.process_time() - begin
    exact = repaired(weights, views, best.channel, posteriors=W, loss=0.05 * gap)
    result: dict[str, Any] = {
        "instance": name,
        "outcomes": k,
        "seed": seed,
        "atoms": len(p),
        "gap_asked": gap,
        "seconds_allowed": allowed,
        "gap": best.gap,
        "seconds": searched,
        "value": best.value,
        "bound": best.bound,
        "cells": len(best.pieces),
        "repair_seconds": time.process_time() - begin - searched,
        "repair_loss": exact.loss,
        "letters": exact.numerators.shape[1],
    }
    if len(p) <= 36:
        result["walk"] = timed(by_walk, weights, views, W)
    if len(p) <= 16:
        result["algorithm 1"] = timed(by_algorithm_1, weights, views, W)
    return result


def told(rival: dict[str, Any] | None) -> str:
    if rival is None:
        return f"{'-':>19}"
    return f"{rival.get('value', float('nan')):>11.7f} {rival['seconds']:>7.2f}"


def main() -> None:
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    print(
        f"{'instance':>8} {'|W|':>3} {'seed':>4} {'asked':>6} {'gap':>8} {'seconds':>8} {'of':>4} {'value':>10}"
        f" {'bound':>10} {'cells':>6} {'repair s':>8} {'loss':>8} {'letters':>7} {'walk, s':>19} {'algorithm 1, s':>19}"
    )
    results = []
    for name, sizes, k, gap, allowed in INSTANCES:
        for seed in seeds:
            r = contest(name, sizes, k, gap, allowed, seed)
            results.append(r)
            print(
                f"{name:>8} {k:>3} {seed:>4} {gap:>6.0e} {r['gap']:>8.1e} {r['seconds']:>8.2f} {allowed:>4.0f}"
                f" {r['value']:>10.7f} {r['bound']:>10.7f} {r['cells']:>6} {r['repair_seconds']:>8.2f}"
                f" {r['repair_loss']:>8.1e} {r['letters']:>7} {told(r.get('walk'))} {told(r.get('algorithm 1'))}",
                flush=True,
            )
    report = {
        "question": "gap between channel and bound under perfect sample privacy, and seconds, against listing vertices",
        "machine": {"processor": processor(), "system": platform.platform(), "cpus": os.cpu_count()},
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "highspy": highspy.Highs().version(),  # type: ignore[no-untyped-call]
        },
        "seeds": list(seeds),
        "results": results,
    }
    path = Path(__file__).parent / "results" / "disclosure_maxaffine.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n")
    print(path)


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()


if __name__ == "__main__":
    main()
