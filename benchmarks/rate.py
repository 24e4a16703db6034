"""How long does the least leakage of a whole column take, proof included, and how far is it from its bound?

Hamming: M categories with counts like a table's (Zipf), D = 1/5; closed form and proof, nothing searched for; and the
same with probabilities that are all different, of which each is a number of its own to the checker ("different"): a
draw of the uniform law on the simplex in units of 1e-13, ties broken. Rival:
Blahut and Arimoto's iteration at the slope of the optimum, which needs M^2 numbers, so at the smaller sizes only.
Any distortion: n random shares, squared or absolute error at a hundredth of the largest distortion; search, rounding to
rationals and proof apart. Rival: the same iteration at the slope found, stopped after the seconds of our search times
three. CPU seconds; gaps in bits, ours proved, the rival's by its own dual in floats.

    python benchmarks/rate.py [largest M] [largest n]
"""

import sys
import time
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
from reporting import save

from dalenius.core import Distortion, MinimizeRate, Pmf, Problem
from dalenius.mechanisms.columns.categorical import categorical
from dalenius.mechanisms.columns.rate import plain_rate
from dalenius.solvers.rate import rate_distortion

CATEGORIES = (10, 100, 1000, 10_000, 100_000, 1_000_000)
NUMBERS = (30, 100, 300, 1000)
RIVAL = 1000  # categories of the largest rival


def counted(m: int, *, different: bool = False) -> Pmf:
    rng = np.random.default_rng(m)
    counts = np.maximum(1, (3 * m / (np.arange(m) + 10)).astype(np.int64))
    if different:
        drawn = np.sort(np.rint(rng.dirichlet(np.ones(m)) * 1e13).astype(np.int64))
        counts = np.maximum.accumulate(drawn - np.arange(m)) + np.arange(m) + 1  # each larger than the one before
    rng.shuffle(counts)
    return Pmf.from_counts({"X": tuple(f"c{k}" for k in range(m))}, np.arange(m)[:, None], counts.tolist())


def blahut_arimoto(p: Any, d: Any, slope: float, *, tol: float, rounds: int) -> float:
    """How far the classic iteration is off in the end, in nats."""
    near = np.exp(-slope * (d - d.min(axis=1)[:, None]))
    law = np.full(d.shape[1], 1.0 / d.shape[1])
    gap = np.inf
    for _ in range(rounds):
        ratio = near.T @ (p / (near @ law))
        gap = float(np.log(ratio.max()) - (law * ratio) @ np.log(np.maximum(ratio, 1e-300)))
        if gap < tol:
            break
        law = law * ratio
        law /= law.sum()
    return max(0.0, gap)


def rival(p: Any, d: Any, slope: float, allowed: float) -> dict[str, float]:
    """Iterations in pieces, until 1e-9 bits or out of time."""
    begin, rounds, gap = time.process_time(), 16, np.inf
    while gap > 1e-9 and time.process_time() - begin < allowed:
        again = time.process_time()
        gap = blahut_arimoto(p, d, slope, tol=1e-9 * log(2), rounds=rounds)
        rounds *= 4
        begin = again if gap <= 1e-9 else begin
        gap /= log(2)
    return {"seconds": time.process_time() - begin, "gap": float(gap)}


def hamming(m: int, different: bool = False) -> dict[str, Any]:
    joint = counted(m, different=different)
    limit = Distortion("hamming", ("X",), Fraction(1, 5))
    problem = Problem(("X",), MinimizeRate(), release=("X",), limits=(limit,), joint=joint)
    begin = time.process_time()
    design = categorical(problem)
    seconds = time.process_time() - begin
    found: dict[str, Any] = {
        "distortion": "different" if different else "hamming",
        "letters": m,
        "seconds": seconds,
        "gap": float(design.gap),
        "value": float(design.value),
    }
    if m <= RIVAL and not different:
        p = np.array([float(w) / joint.total for w in joint.weights])
        slope = log(Fraction(str(design.certificate.proof["slope"])))
        found["rival"] = rival(p, 1.0 - np.eye(m), slope, 20.0)
    return found


def numeric(n: int, power: int) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    counts = np.maximum(1, np.rint(rng.dirichlet(np.ones(n)) * 1000 * n)).astype(np.int64)
    joint = Pmf.from_counts({"X": tuple(map(str, range(n)))}, np.arange(n)[:, None], counts.tolist())
    p, x = counts / counts.sum(), np.arange(n)
    d = np.abs(x[:, None] - x).astype(float) ** power
    most = Fraction(float((p @ d).min()) / 100).limit_denominator(10**6)
    begin = time.process_time()
    _, line = rate_distortion(p, d, distortion=float(most), tol=3e-10)
    search = time.process_time() - begin
    name = {1: "absolute", 2: "squared"}[power]
    limit = Distortion(name, ("X",), most)
    begin = time.process_time()
    design = plain_rate(Problem(("X",), MinimizeRate(), release=("X",), limits=(limit,), joint=joint))
    return {
        "distortion": name,
        "letters": n,
        "search_seconds": search,
        "seconds": time.process_time() - begin,
        "gap": float(design.gap),
        "value": float(design.value),
        "rival": rival(p, d, line.slope, min(20.0, 3 * search + 1)),
    }


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else CATEGORIES[-1]
    largest = int(sys.argv[2]) if len(sys.argv) > 2 else NUMBERS[-1]
    print(
        f"{'distortion':>10} {'letters':>8} {'search':>7} {'in all':>7} {'gap':>8} {'value':>11}"
        f" {'B-A, s':>7} {'gap':>8}"
    )
    results = []
    jobs = [(hamming, (m, many)) for many in (False, True) for m in CATEGORIES if m <= most]
    jobs += [(numeric, (n, power)) for n in NUMBERS if n <= largest for power in (1, 2)]  # type: ignore[arg-type,misc]
    for run, arguments in jobs:
        r = run(*arguments)
        results.append(r)
        other = r.get("rival")
        told = f"{other['seconds']:>7.2f} {other['gap']:>8.1e}" if other else f"{'-':>7} {'-':>8}"
        search = f"{r['search_seconds']:>7.2f}" if "search_seconds" in r else f"{'-':>7}"
        print(
            f"{r['distortion']:>10} {r['letters']:>8} {search} {r['seconds']:>7.2f} {r['gap']:>8.1e}"
            f" {r['value']:>11.7f} {told}",
            flush=True,
        )
    save("rate", "seconds to a proved rate-distortion point, against Blahut and Arimoto", results)


if __name__ == "__main__":
    main()
