"""How far are matrices beside kept columns, of least variance and with kept marginals from their proved bounds?

CPU seconds of one thread, proof included. The rival of letters beside kept columns is the program over all 2^S subsets
by HiGHS, while it fits; that of the least variance is k-ary randomised response; that of invariant matrices is the
textbook one, keep a letter or draw one from p.

    python benchmarks/local_dp_families.py
"""

import time
from fractions import Fraction
from typing import Any

import numpy as np
from reporting import save

from dalenius.core import Design, LocalDP, MaximizeInformation, MinimizeVariance, Pmf, Problem
from dalenius.mechanisms import solve
from dalenius.solvers import maximise

SEED = 1


def timed(problem: Problem) -> tuple[Design, float]:
    begin = time.process_time()
    design = solve(problem)
    return design, time.process_time() - begin


def law(shape: str, S: int) -> np.ndarray:
    p = {"zipf1": 1 / np.arange(1, S + 1), "dirichlet": np.random.default_rng(SEED).dirichlet(np.ones(S))}[shape]
    return np.asarray(np.maximum(1, np.rint(1e6 * p / p.sum())), dtype=np.int64)


def given(S: int, worlds: int, shape: str, epsilon: int) -> dict[str, Any]:
    shares = np.random.default_rng(SEED).dirichlet(np.ones(worlds), size=S)
    counts = np.maximum(1, np.rint(law(shape, S)[:, None] * shares)).astype(np.int64)
    names = {"X": tuple(map(str, range(S))), "K": tuple(map(str, range(worlds)))}
    joint = Pmf.from_records(names, [((str(x), str(k)), int(counts[x, k])) for x in range(S) for k in range(worlds)])
    promise = (LocalDP(Fraction(epsilon), given=("K",)),)
    design, seconds = timed(Problem(("X",), MaximizeInformation(("X",)), promise, output="Y", keep=("K",), joint=joint))
    rival = ""
    if S <= 14:
        begin = time.process_time()
        table, r = counts.T / counts.sum(), np.exp(epsilon)
        sets = ((np.arange(1 << S)[:, None] >> np.arange(S)) & 1).astype(np.float64)
        P = sets @ (table / table.sum(axis=1)[:, None]).T
        told = (P * r * np.log2(r) - (1 + (r - 1) * P) * np.log2(1 + (r - 1) * P)) @ table.sum(axis=1)
        maximise(told, (1 + (r - 1) * sets).T, np.ones(S))
        rival = f"all subsets {time.process_time() - begin:.1f} s"
    return row(f"{worlds} kept values", S, shape, epsilon, design, seconds, rival)


def variance(S: int, shape: str, epsilon: int) -> dict[str, Any]:
    letters = tuple(map(str, range(S)))
    joint = Pmf.from_records({"X": letters}, [((x,), int(n)) for x, n in zip(letters, law(shape, S), strict=True)])
    promise = (LocalDP(Fraction(epsilon)),)
    design, seconds = timed(Problem(("X",), MinimizeVariance(("X",)), promise, output="Y", joint=joint))
    r, p = np.exp(epsilon), law(shape, S) / law(shape, S).sum()
    m = (1 + (r - 1) * p) / (r + S - 1)
    spread = (m * (1 - m)).sum() * ((r + S - 1) / (r - 1)) ** 2
    return row("variance", S, shape, epsilon, design, seconds, f"randomised response {spread:.6g}")


def invariant(S: int, shape: str, epsilon: int) -> dict[str, Any]:
    letters, counts = tuple(map(str, range(S))), law(shape, S)
    joint = Pmf.from_records({"X": letters}, [((x,), int(n)) for x, n in zip(letters, counts, strict=True)])
    promise, goal = (LocalDP(Fraction(epsilon)),), MaximizeInformation(("X",))
    design, seconds = timed(Problem(("X",), goal, promise, release=("X",), preserve_marginals=True, joint=joint))
    p = counts / counts.sum()
    odds = (np.exp(epsilon) - 1) * p.min()
    W = odds / (1 + odds) * np.eye(S) + p / (1 + odds)
    told = float((p[:, None] * W * np.log2(W / p)).sum())
    return row("invariant", S, shape, epsilon, design, seconds, f"keep or draw {told:.6g}")


def row(what: str, S: int, shape: str, epsilon: int, design: Design, seconds: float, rival: str) -> dict[str, Any]:
    gap = float(design.gap / design.value)
    value = float(design.value)
    print(f"{what:>14} {S:>7} {shape:>10} {epsilon:>4} {value:>12.6g} {gap:>9.1e} {seconds:>7.1f}  {rival}", flush=True)
    return {
        "family": what,
        "letters": S,
        "shape": shape,
        "epsilon": epsilon,
        "value": value,
        "relative_gap": gap,
        "seconds": seconds,
        "rival": rival,
    }


def main() -> None:
    head = ("family", "letters", "p", "eps", "value", "rel. gap", "s", "rival")
    print("{:>14} {:>7} {:>10} {:>4} {:>12} {:>9} {:>7}  {}".format(*head))
    results = [given(S, 3, shape, 1) for S in (14, 50, 1000) for shape in ("dirichlet", "zipf1")]
    results += [variance(S, shape, 1) for S in (12, 20, 50) for shape in ("dirichlet", "zipf1")]
    results += [invariant(S, shape, e) for S in (3, 4, 5, 6, 8) for shape in ("dirichlet", "zipf1") for e in (1, 2)]
    save("local_dp_families", "matrices under local DP and the proved bounds of their families", results, seed=SEED)


if __name__ == "__main__":
    main()
