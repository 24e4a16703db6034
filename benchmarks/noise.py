"""How fast is exact noise, against float noise of numpy in the same run?

One thread. `exact`: NoiseSampler.draw, AES-256 words, exact law. `float`: numpy's Generator (PCG64) and rint, a law
that is neither exact nor secure. Beside them the time to design and to prove a column on a grid of that size (CPU
seconds), and what a record tells, to be compared with 1/2 log2(v / D) or 1/2 log2(1 + v / D).

    python benchmarks/noise.py
"""

import time
from fractions import Fraction
from math import log2

import numpy as np
from reporting import save

from dalenius.core import Pmf, Problem
from dalenius.core.numbers import exact
from dalenius.documents import checked as check
from dalenius.mechanisms import solve
from dalenius.mechanisms.numbers.draw import NoiseSampler
from dalenius.sampling.key import Key
from dalenius.sampling.stream import Stream

SEED = 1
ROWS = 1_000_000
SHARE = Fraction(1, 2)


def seconds(call):
    """CPU seconds of the better of two calls, and what it returned."""
    best, found = float("inf"), None
    for _ in range(2):
        start = time.process_time()
        found = call()
        best = min(best, time.process_time() - start)
    return best, found


def measured(points, mechanism):
    rng = np.random.default_rng(SEED)
    codes = np.clip(rng.gamma(2.0, points / 12, ROWS), 0, points - 1).astype(np.int64)
    places, counts = np.unique(codes, return_counts=True)
    joint = Pmf.from_counts({"x": tuple(map(str, range(points)))}, places[:, None], counts.tolist())
    problem = Problem.from_document(
        {
            "mechanism": {"observe": ["x"], "release": ["x"], "form": "noise", "noise": mechanism},
            "objective": {"minimize": {"leakage": ["x"]}},
            "limit": [{"distortion": "squared", "of": ["x"], "at_most": str(float(SHARE * Fraction(codes.var())))}],
        },
        joint=joint,
    )
    start = time.process_time()
    design = solve(problem)
    designed = time.process_time() - start
    start = time.process_time()
    check(design.dumps())
    proved = time.process_time() - start
    channel = design.channel
    start = time.process_time()
    sampler = NoiseSampler(channel)
    built = time.process_time() - start
    ours, _ = seconds(lambda: sampler.draw(codes, Stream(Key.unsafe(SEED).derive("benchmark"))))
    sigma = float(exact(design.stated["distortion"])) ** 0.5
    law = rng.laplace if mechanism == "laplace" else rng.normal
    theirs, _ = seconds(lambda: np.rint(codes + law(0.0, sigma / (2**0.5 if mechanism == "laplace" else 1), ROWS)))
    told = float(design.value)
    return {
        "mechanism": mechanism,
        "points": points,
        "weights": len(channel.axes[0].weights),
        "exact_rows_per_second": round(ROWS / ours),
        "float_rows_per_second": round(ROWS / theirs),
        "build_seconds": round(built, 3),
        "design_seconds": round(designed, 2),
        "prove_seconds": round(proved, 2),
        "leakage_bits": told,
        "gap_bits": float(design.gap),
        "below_ideal_bits": (0.5 * log2(1 / SHARE) if mechanism == "shrinkage" else 0.5 * log2(1 + 1 / SHARE)) - told,
    }


def main():
    print(f"{ROWS:,} rows, D = {SHARE} of the variance")
    print("mechanism    points  exact rows/s  float rows/s  design s  prove s     bits")
    results = []
    for mechanism in ("shrinkage", "gaussian", "laplace"):
        for points in (100, 1_000, 10_000):
            found = measured(points, mechanism)
            results.append(found)
            rates = f"{found['exact_rows_per_second']:>13,} {found['float_rows_per_second']:>13,}"
            times = f"{found['design_seconds']:>9} {found['prove_seconds']:>8}"
            print(f"{mechanism:<10} {points:>8,} {rates} {times} {found['leakage_bits']:>8.4f}", flush=True)
    save("noise", "How fast is exact noise, against float noise of numpy?", results, rows=ROWS, seed=SEED)


if __name__ == "__main__":
    main()
