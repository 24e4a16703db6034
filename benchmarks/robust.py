"""How fast are robust designs, and how far apart are their two ends? And do bounds for the population hold?

python benchmarks/robust.py            # designs; beside the same programs stated in CVXPY up to 10 letters
python benchmarks/robust.py --coverage # 1,000 simulated tables for each number of rows
"""

import sys
import time
from fractions import Fraction
from typing import Any

import numpy as np
from reporting import save

from dalenius.core import Channel, Pmf
from dalenius.measures.finite_sample import population_leakage
from dalenius.solvers.robust import Limits, least_contraction
from dalenius.solvers.robust_prior import least_capacity, least_correlation


def absolute(n: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)


def rival(n: int) -> dict[str, Any]:
    """(8) with every pair of rows at b = 1/2, 1/4, 3/4 in CVXPY and Clarabel: one solve, no lazy cuts."""
    import cvxpy

    w, t = cvxpy.Variable((n, n), nonneg=True), cvxpy.Variable()
    limits = [cvxpy.sum(w, axis=1) == 1, cvxpy.sum(cvxpy.multiply(absolute(n), w), axis=1) <= 0.15 * n]
    for b in (0.25, 0.5, 0.75):
        for x in range(n):
            for z in range(x):
                parts = [cvxpy.quad_over_lin(w[x, y] - w[z, y], b * w[x, y] + (1 - b) * w[z, y]) for y in range(n)]
                limits.append(b * (1 - b) * cvxpy.sum(cvxpy.hstack(parts)) <= t)
    begin = time.process_time()
    value = cvxpy.Problem(cvxpy.Minimize(t), limits).solve(solver="CLARABEL")
    return {"lower": float(value), "seconds": time.process_time() - begin}


def designs() -> list[dict[str, Any]]:
    results, rng = [], np.random.default_rng(3)
    print(f"{'least':>12} {'letters':>7} {'value':>11} {'gap':>9} {'rounds':>6} {'seconds':>8}  rival (lower, seconds)")
    for n in (3, 5, 8, 10, 15, 20):
        prior = rng.dirichlet(np.full(n, 3.0))
        average = Limits.average(prior, absolute(n), 0.15 * n)
        for name, run in (
            ("eta_KL", lambda n=n: least_contraction(Limits.every_input(absolute(n), 0.15 * n))),
            ("rho_m^2", lambda p=prior, a=average: least_correlation(p, a)),
            ("capacity", lambda n=n: least_capacity(Limits.every_input(absolute(n), 0.15 * n))),
        ):
            begin = time.process_time()
            found = run()
            seconds = time.process_time() - begin
            other = rival(n) if name == "eta_KL" and n <= 10 and "--no-rival" not in sys.argv else None
            told = f"  {other['lower']:.6f} {other['seconds']:.2f}" if other else ""
            print(
                f"{name:>12} {n:>7} {found.value:>11.7f} {found.value - found.bound:>9.1e} {found.rounds:>6} "
                f"{seconds:>8.2f}{told}",
                flush=True,
            )
            results.append(
                {"least": name, "letters": n, "value": found.value, "bound": found.bound, "seconds": seconds}
                | ({"rival": other} if other else {})
            )
    return results


def coverage(tables: int = 1000) -> list[dict[str, Any]]:
    law = np.random.default_rng(11).dirichlet(np.ones(15)).reshape(3, 5)
    letters = {"S": tuple("012"), "X": tuple("01234")}
    rows = tuple(tuple(Fraction(65, 100) if x == y else Fraction(35, 400) for y in range(5)) for x in range(5))
    channel = Channel({"X": letters["X"]}, {"Y": letters["X"]}, rows)
    joint = law @ np.array(rows, dtype=float)
    truth = float((joint * np.log2(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))).sum())
    codes, results = np.indices(law.shape).reshape(2, -1).T, []
    for n in (10**3, 10**4):
        for split in (False, True):
            rng, begin = np.random.default_rng(n), time.process_time()
            found = [
                population_leakage(
                    Pmf.from_counts(letters, codes, rng.multinomial(n, law.ravel()).tolist()),
                    n,
                    channel,
                    ["S"],
                    designed_elsewhere=True,
                    split=split,
                ).bits
                for _ in range(tables)
            ]
            result = {
                "rows": n,
                "method": "split" if split else "box",
                "coverage": float(np.mean([b >= truth for b in found])),
                "mean_over_truth": float(np.mean(found)) / truth,
                "worst_over_truth": max(found) / truth,
                "seconds_each": (time.process_time() - begin) / tables,
            }
            print(result, flush=True)
            results.append(result)
    return results


if __name__ == "__main__":
    if "--coverage" in sys.argv:
        save("robust_coverage", "Do bounds for the population hold, and how tight are they?", coverage())
    else:
        save("robust", "How fast are robust designs, and how far apart are their ends?", designs())
