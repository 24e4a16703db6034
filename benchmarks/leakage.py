"""How long until a channel of least leakage or distortion is certified, and how far is it from the bound?

Random tables (tests/leakage_instances.py): n rows, n letters, a secret of 10 values. CPU seconds of one process; set
OMP_NUM_THREADS=1 for one thread. Gaps in bits, as the multipliers prove them in doubles; "exact": the rational channel
with every limit checked in integers and intervals.

    search    solvers.leakage.search to 1e-6 bits
    Clarabel  the same program through cvxpy: the solver's own time, and its value less ours, in bits
    curve     50 limits one after another, each to 1e-6 bits, each started from the snapshot of the one before

    python benchmarks/leakage.py [sizes, comma-separated] [instances, comma-separated] [--no-rival]
"""

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
from reporting import save

from dalenius.solvers.leakage import Program, rational, search
from dalenius.solvers.leakage.arrays import Arrays

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.leakage_instances import conic, mixture, near

BIT = float(np.log(2))
ALONE = ("dist", "local", "ind", "marginal", "mindist", "limits", "combined")
# instance, rows, CPU seconds aimed at for search and exact channel together
INSTANCES: list[tuple[str, int, float]] = [
    ("dist", 100, 0.5),
    ("dist", 300, 5),
    ("dist", 1000, 150),
    *((name, 30, 1) for name in (*ALONE, "worst", "together", "zeros")),
    *((name, 100, 5) for name in (*ALONE[1:], "worst", "together", "zeros", "metric", "rate")),
    *((name, 300, 20) for name in ALONE[1:]),
]
CURVES = [("dist", 100, 5), ("local", 100, 5), ("mindist", 100, 5)]


def by_clarabel(program: Program) -> dict[str, Any]:
    problem = conic(program)
    begin = time.process_time()
    with warnings.catch_warnings(action="ignore"):  # what it thinks of its accuracy is in the status
        try:
            problem.solve(solver="CLARABEL")
        except cvxpy.error.SolverError as failed:
            return {"status": str(failed), "seconds_in_all": time.process_time() - begin}
    return {
        "value": float(problem.value),
        "seconds": float(problem.solver_stats.solve_time),
        "seconds_in_all": time.process_time() - begin,
        "status": problem.status,
    }


def contest(name: str, n: int, aim: float, rival: bool) -> dict[str, Any]:
    program = mixture(name, n, secrets=10 if n > 30 else None)
    unit = BIT if program.objective else 1.0
    begin = time.process_time()
    solution = search(program, gap=1e-6 * BIT, seconds=10 * aim)
    searched = time.process_time()
    channel = rational(program, solution)
    done = time.process_time()
    exact = np.array([[float(v) for v in row] for row in channel])
    value = Arrays.of(program).value(exact * Arrays.of(program).p[:, None])
    result: dict[str, Any] = {
        "instance": name,
        "rows": n,
        "seconds_aimed_at": aim,
        "search_seconds": searched - begin,
        "exact_seconds": done - searched,
        "iterations": solution.iterations,
        "value": value / unit,
        "gap": (value - solution.bound) / unit,
        "denominator_bits": max(v.denominator.bit_length() for row in channel for v in row),
    }
    if rival and n <= 100:
        other = by_clarabel(program)
        if "value" in other:
            other["value_less_ours"] = (other["value"] - solution.value) / unit
        result["clarabel"] = other
    return result


def curve(name: str, n: int, aim: float) -> dict[str, Any]:
    program = mixture(name, n, secrets=10)
    step: Callable[[float], Program]
    if program.distortions:
        C, D = program.distortions[0]
        far = float((Arrays.of(program).p @ C.astype(float)).min())
        limits = np.linspace(float(D), 0.95 * far, 50)
        step = lambda limit: replace(program, distortions=((C, near(limit)),))  # noqa: E731
    else:
        secret, L = program.leakages[0]
        limits = np.linspace(float(L) / 4, 4 * float(L), 50)
        step = lambda limit: replace(program, leakages=((secret, near(limit)),))  # noqa: E731
    begin = time.process_time()
    start, gaps, iterations = None, [], 0
    for limit in limits:
        solution = search(step(float(limit)), gap=1e-6 * BIT, seconds=60, start=start)
        start = solution.snapshot or start
        gaps.append((solution.value - solution.bound) / (BIT if program.objective else 1.0))
        iterations += solution.iterations
    return {
        "instance": f"{name}, curve of 50",
        "rows": n,
        "seconds_aimed_at": aim,
        "search_seconds": time.process_time() - begin,
        "iterations": iterations,
        "gap": max(gaps),
    }


def main() -> None:
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    sizes = {int(v) for v in words[0].split(",")} if words else {n for _, n, _ in INSTANCES}
    names = set(words[1].split(",")) if len(words) > 1 else {name for name, _, _ in INSTANCES}
    print(
        f"{'instance':>20} {'rows':>5} {'search':>8} {'exact':>7} {'of':>5} {'steps':>6} {'gap, bits':>9} {'value':>11}"
        f" {'bits':>5} {'Clarabel':>9} {'times':>6} {'less ours':>10}"
    )
    results = []
    for name, n, aim in INSTANCES:
        if n not in sizes or name not in names:
            continue
        r = contest(name, n, aim, "--no-rival" not in sys.argv)
        results.append(r)
        rival = r.get("clarabel")
        told = ""
        if rival and "value" in rival:
            times = rival["seconds"] / r["search_seconds"]
            told = f" {rival['seconds']:>9.2f} {times:>6.1f} {rival['value_less_ours']:>10.1e} {rival['status']}"
        elif rival:
            told = f" failed after {rival['seconds_in_all']:.1f} s"
        print(
            f"{name:>20} {n:>5} {r['search_seconds']:>8.2f} {r['exact_seconds']:>7.2f} {aim:>5g} {r['iterations']:>6}"
            f" {r['gap']:>9.1e} {r['value']:>11.7f} {r['denominator_bits']:>5}{told}",
            flush=True,
        )
    for name, n, aim in CURVES:
        if n in sizes and name in names:
            r = curve(name, n, aim)
            results.append(r)
            line = f"{r['instance']:>20} {n:>5} {r['search_seconds']:>8.2f} {'-':>7} {aim:>5g} {r['iterations']:>6}"
            print(f"{line} {r['gap']:>9.1e}", flush=True)
    save("leakage", "CPU seconds to a certified gap of 1e-6 bits under mixtures of limits", results, threads=1)


if __name__ == "__main__":
    main()
