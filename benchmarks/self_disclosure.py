"""How fast is the best mixture of couplings found and proved optimal, against listing all bases or all vertices?

One thread, CPU seconds. i.i.d. bits with P(1) = q (types, orbital branching) and arbitrary pmfs (Dirichlet(1), seeds
0-4, each probability rounded to a whole number of 10^-12; no symmetry). Every answer is proved, in exact integers, in
the same run: that of `boxes` by the reference checker, that of `solve` by the package, and once more by `verify`.

    boxes      solvers.orbital.self_disclosure: column generation, branch and bound, proof by boxes
    solve      dalenius.solve on the same problem: exact channel, promises, value and bound proved; then dalenius.verify
    walk       solvers.walk + best_mixture: every vertex exactly, then one linear program
    bases      Algorithm 1 of the paper in numpy: every basis (all C(N, n + 1) of them), then one linear program;
               in batches of 50,000 bases, which is kinder to it than its own loop
    loop       the same as the paper prints it, basis after basis

    python benchmarks/self_disclosure.py [--short] [enumeration] [bits] [solve] [dirichlet]  (all parts unless named)
"""

import json
import math
import os
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, islice, product
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from reporting import save

from dalenius import solve, verify
from dalenius.core import Orbits, Pmf
from dalenius.core import Problem as DisclosureProblem
from dalenius.solvers import best_mixture, maximise, walk
from dalenius.solvers.orbital import self_disclosure
from dalenius.testing import disclosure
from dalenius.testing import self_disclosure as independent_bits

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "solvers"))
from boxes_checker import boxes_bound

Problem = tuple[list[Fraction], list[list[int]]]
# Proved before by an independent search; q: {n: bits}.
KNOWN = {
    "1/10": {8: 1.425640857, 10: 2.247809646, 12: 2.998978353},
    "1/5": {8: 3.679789541, 10: 5.039090491},
    "3/10": {8: 5.037217558, 10: 6.719668795},
    "2/5": {8: 5.879442430, 10: 7.799698837},
}


def labels(m: int, n: int) -> list[list[int]]:
    return [list(view) for view in zip(*product(range(m), repeat=n), strict=True)]


def bits(n: int, q: Fraction) -> Problem:
    return [math.prod((q if b else 1 - q for b in x), start=Fraction(1)) for x in product((0, 1), repeat=n)], labels(
        2, n
    )


def dirichlet(m: int, n: int, seed: int) -> DisclosureProblem:
    """n samples of m letters, their joint pmf uniform on all pmfs, each probability to 12 decimals."""
    letters, names = tuple(map(str, range(m))), [f"X{i}" for i in range(1, n + 1)]
    counts = np.maximum(np.rint(1e12 * np.random.default_rng(seed).dirichlet(np.ones(m**n))), 1).astype(np.int64)
    codes = np.array(list(product(range(m), repeat=n)))
    return disclosure(
        Pmf.from_counts(dict.fromkeys(names, letters), codes, counts.tolist()), names, names, [[name] for name in names]
    )


def entropy(t: Any) -> float:
    v = np.array([float(m) for m in t if m])
    return float(-(v * np.log2(v)).sum())


def boxes(problem: Problem, gap: float, symmetric: bool) -> dict[str, Any]:
    begin = time.process_time()
    found = self_disclosure(*problem, gap=gap, symmetric=symmetric)
    middle = time.process_time()
    proved = boxes_bound(*problem, found.dual, found.tree)
    return {
        "method": "boxes",
        "cpu_seconds": middle - begin,
        "value": found.value,
        "gap": float(proved) - found.value,
        "nodes": found.nodes,
        "rounds": found.rounds,
        "leaves": found.leaves,
        "proof_bytes": len(json.dumps(found.tree)),
        "check_seconds": time.process_time() - middle,
    }


def by_walk(problem: Problem) -> dict[str, Any]:
    p, views = problem
    begin = time.process_time()
    A = [[int(label == a) for label in view] for view in views for a in sorted(set(view))]
    b = [sum((t for t, m in zip(p, row, strict=True) if m), Fraction(0)) for row in A]
    points = walk(A, b).vertices
    costs = [entropy(v) for v in points]
    mixture = best_mixture(points, [-c for c in costs], p)
    value = entropy(p) - math.fsum(float(w) * costs[k] for k, w in mixture.theta.items())
    return {"method": "walk", "cpu_seconds": time.process_time() - begin, "value": value, "vertices": len(points)}


def by_bases(problem: Problem) -> dict[str, Any]:
    p, views = problem
    begin = time.process_time()
    A = np.vstack([np.ones(len(p)), np.array(views, dtype=np.float64)])
    b = A @ np.array([float(t) for t in p])
    found = []
    for chunk in chunks(len(p), len(A)):
        squares = A[:, chunk].transpose(1, 0, 2)
        regular = np.abs(np.linalg.det(squares)) > 0.5  # integer matrices
        masses = np.linalg.solve(squares[regular], np.broadcast_to(b[:, None], (int(regular.sum()), len(b), 1)))[
            :, :, 0
        ]
        feasible = (masses > -1e-12).all(axis=1)
        points = np.zeros((int(feasible.sum()), len(p)))
        np.put_along_axis(points, chunk[regular][feasible], np.maximum(masses[feasible], 0.0), axis=1)
        found.append(np.unique(np.round(points, 12), axis=0))
    points = np.unique(np.concatenate(found), axis=0)
    costs = -(points * np.log2(np.where(points > 0, points, 1.0))).sum(axis=1)
    value = entropy(p) + maximise(-costs, points.T, [float(t) for t in p]).objective
    return {"method": "bases", "cpu_seconds": time.process_time() - begin, "value": value, "vertices": len(points)}


def by_loop(problem: Problem) -> dict[str, Any]:
    """Algorithm 1 as it is printed: one basis after the other."""
    p, views = problem
    begin = time.process_time()
    A = np.vstack([np.ones(len(p)), np.array(views, dtype=np.float64)])
    b = A @ np.array([float(t) for t in p])
    found = {}
    for basis in combinations(range(len(p)), len(A)):
        columns = list(basis)
        square = A[:, columns]
        if abs(np.linalg.det(square)) > 0.5:
            masses = np.linalg.solve(square, b)
            if masses.min() > -1e-12:
                point = np.zeros(len(p))
                point[columns] = np.maximum(masses, 0.0)
                found[np.round(point, 12).tobytes()] = point
    points = np.array(list(found.values()))
    costs = -(points * np.log2(np.where(points > 0, points, 1.0))).sum(axis=1)
    value = entropy(p) + maximise(-costs, points.T, [float(t) for t in p]).objective
    return {"method": "loop", "cpu_seconds": time.process_time() - begin, "value": value, "vertices": len(points)}


def by_solve(problem: DisclosureProblem, gap: float, seconds: float = 600.0) -> dict[str, Any]:
    """The whole walk of the package: design.json and its verification."""
    begin = time.process_time()
    design = solve(problem, gap=gap, seconds=seconds)
    middle = time.process_time()
    verify(design)
    form, text = design.channel.form or "dense", design.dumps()
    return {
        "method": "solve",
        "cpu_seconds": middle - begin,
        "value": float(design.value),
        "gap": float(design.gap),
        "form": form,
        "letters": design.channel.arrangements if isinstance(design.channel, Orbits) else design.channel.shape[1],
        "design_bytes": len(text),
        "check_seconds": time.process_time() - middle,
    }


def chunks(n: int, r: int, size: int = 50_000) -> Iterator[Any]:
    every = combinations(range(n), r)
    while chunk := list(islice(every, size)):
        yield np.array(chunk)


def main() -> None:
    short = "--short" in sys.argv
    parts = [a for a in sys.argv[1:] if not a.startswith("--")] or ["enumeration", "bits", "solve", "dirichlet"]
    results: list[dict[str, Any]] = []

    def tell(instance: str, result: dict[str, Any], asked: float | None = None, bar: float | None = None) -> None:
        result = {"instance": instance, "gap_asked": asked, "bar_seconds": bar, **result}
        results.append(result)
        number = {k: result.get(k) for k in ("gap", "nodes", "leaves")}
        check = result.get("check_seconds")
        print(
            f"{instance:<16} {result['method']:<6} {'' if asked is None else format(asked, '.0e'):>6}"
            f" {result['cpu_seconds']:>9.3f} {'' if bar is None else format(bar, 'g'):>5} {result['value']:>13.9f}"
            f" {'' if number['gap'] is None else format(number['gap'], '.1e'):>8} {number['nodes'] or '':>8}"
            f" {number['leaves'] or '':>7} {'' if check is None else format(check, '.2f'):>7}",
            flush=True,
        )

    print(f"{'instance':<16} method  asked     CPU s   bar         value      gap    nodes  leaves check s")
    for n in (3, 4, 5) if "enumeration" in parts else ():
        problem, name = bits(n, Fraction(37, 100)), f"bits {n} q=.37"
        best = min((boxes(problem, 1e-9, True) for _ in range(5)), key=lambda r: r["cpu_seconds"] + r["check_seconds"])
        whole_walk = [by_solve(independent_bits(["63/100", "37/100"], n), 1e-9) for _ in range(5)]
        ours = [best, min(whole_walk, key=lambda r: r["cpu_seconds"]), by_walk(problem)]
        ours += [min((by_bases(problem) for _ in range(5 if n < 5 else 3)), key=lambda r: r["cpu_seconds"])]
        if not short:
            ours.append(by_loop(problem))
        for result in ours:
            for rival in ours[:2]:
                whole = rival["cpu_seconds"] + (rival["check_seconds"] if rival is best else 0.0)
                result[f"times_{rival['method']}"] = result["cpu_seconds"] / whole
            tell(name, result, 1e-9 if result["method"] in ("boxes", "solve") else None)
        assert max(r["value"] for r in ours) - min(r["value"] for r in ours) < 1e-8
        for rival, what in zip(ours[:2], ("boxes with their check", "solve, proofs included"), strict=True):
            told = ", ".join(f"{r['method']} {r['times_' + rival['method']]:.1f}" for r in ours[2:])
            print(f"{'':<16} times {what}: {told}")
    sizes: list[tuple[str, int, int | None]] = [(q, n, bar) for n, bar in ((8, 10), (10, 60)) for q in KNOWN]
    sizes += [("1/10", 12, 30)] if short else [("1/10", 12, 30), ("1/10", 14, None)]
    for q, n, bar in sizes:
        if "bits" in parts:
            result = boxes(bits(n, Fraction(q)), 1e-6, True)
            assert abs(result["value"] - KNOWN[q].get(n, result["value"])) < 1e-6
            tell(f"bits {n} q={q}", result, 1e-6, bar)
        if "solve" in parts:
            tell(f"bits {n} q={q}", by_solve(independent_bits([1 - Fraction(q), q], n), 1e-6), 1e-6, bar)
    for m, n, gap, bar in ((5, 2, 1e-6, 30), (2, 5, 1e-6, 30), (2, 6, 1e-2, 120)) if "dirichlet" in parts else ():
        for seed in range(1 if short else 5):
            tell(f"{m}^{n} seed {seed}", by_solve(dirichlet(m, n, seed), gap), gap, bar)
    save(
        "self_disclosure" if len(parts) == 4 else f"self_disclosure_{'_'.join(parts)}",
        "CPU seconds to the proved optimum of self-disclosure, against enumeration, one thread",
        results,
        seed="dirichlet: 0-4",
    )


if __name__ == "__main__":
    main()
