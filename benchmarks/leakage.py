"""How long until a channel of least leakage or distortion is found, made exact and proved, and how far is the bound?

Random tables (tests/leakage_instances.py): n rows, n letters, a secret of 10 values, two other columns. CPU seconds of
one process; set OMP_NUM_THREADS=1 for one thread. Gaps in bits (in distortion where that is minimised), as the checker
proved them.

    search    from the problem to multipliers within 1e-6 bits
    in all    with the exact channel and the proof of every promise, value and bound
    Clarabel  the same program: the solver alone, and how many times our search that is
    cvxpy     the same with what cvxpy needs to compile the program for Clarabel

The contest with Clarabel at 100 rows is held on the tables of seeds 0 to 4, each side at the better of its two runs,
and in the JSON by the clock as well.

    curve     50 points of L(D) from D_min to D_0; the chosen point proved, or all of them
    maps      a statistically informed encoder with |letters|^|Z| maps, by column generation

    python benchmarks/leakage.py [sizes, comma-separated] [instances, comma-separated] [--no-rival]
"""

import resource
import sys
import time
import warnings
from dataclasses import replace
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
from reporting import save

from dalenius.core import (
    Distortion,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MinimizeDistortion,
    MinimizeLeakage,
    Pmf,
    Problem,
    SideInformation,
    WorstCaseLeakage,
)
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.leakage.curve import trace
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.searching import finished, solved
from dalenius.mechanisms.columns.leakage.tight_limits import presolved
from dalenius.testing import tradeoff

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.leakage_instances import Source, conic, mixture, near

GAP = 1e-6
MIXTURES = ("local", "ind", "marginal", "mindist", "limits", "combined")
# instance, rows, CPU seconds aimed at in all
INSTANCES: list[tuple[str, int, float]] = [
    ("dist", 100, 1.5),
    ("dist", 300, 5),
    ("dist", 1000, 150),
    *((name, 30, 1) for name in (*MIXTURES, "worst", "together")),
    *((name, 100, 5) for name in (*MIXTURES, "worst", "together")),
    *((name, 300, 20) for name in MIXTURES),
]
WORDS = {
    "dist": "least leakage under a Hamming distortion",
    "local": "and local DP",
    "ind": "and independence of a column",
    "marginal": "and a preserved marginal",
    "mindist": "least distortion under a leakage",
    "limits": "two leakages and two distortions",
    "worst": "least distortion, leakage and worst case",
    "combined": "all but odds and the worst case",
    "together": "all of them",
}


def bits(nats: Fraction) -> Fraction:
    return near(float(nats) / log(2) + 1e-9)


def problem(name: str, n: int, seed: int = 0) -> Problem:
    """The problem whose program is the mixture of that name."""
    program = mixture(name, n, seed, secrets=10)
    source = Source(n, 10, seed)
    epsilon = LocalDP(near(log(4 * n) + 1e-9))
    leaks = [bits(limit) for _, limit in program.leakages]
    limits = tuple(
        Distortion("hamming", ("X",), D) if C[0, -1] == 1 else Distortion("absolute", ("X",), n * D)
        for C, D in program.distortions
    )
    promises = {
        "local": (epsilon,),
        "ind": (Independent("V"),),
        "mindist": [Leakage("S", b) for b in leaks],
        "limits": [Leakage(s, b) for s, b in zip("VT", leaks, strict=False)],
        "worst": [Leakage("S", b) for b in leaks],
        "combined": [Independent("V"), epsilon, *(Leakage(s, b) for s, b in zip("ST", leaks, strict=False))],
    }
    promises["together"] = [*promises["combined"], InformationPrivacy("T", "7/10")]
    if program.worst:
        promises[name] = [*promises[name], WorstCaseLeakage("S", bits(program.worst[0][1][0]))]
    cells = source.cells
    used = {"dist": "S", "marginal": "S", "local": "S", "mindist": "S", "worst": "S", "ind": "SV"}.get(name, "SVT")
    table = cells.sum(axis=tuple(k for k, v in enumerate("SVT", 1) if v not in used))
    alphabets = {"X": tuple(f"{x:04d}" for x in range(n))}
    alphabets |= {v: tuple(map(str, range(m))) for v, m in zip(used, table.shape[1:], strict=True)}
    rows = [
        (tuple(a[k] for a, k in zip(alphabets.values(), at, strict=True)), int(table[at]))
        for at in zip(*np.nonzero(table), strict=True)
    ]
    least = MinimizeDistortion(Distortion("hamming", ("X",)))
    return Problem(
        joint=Pmf.from_records(alphabets, rows),
        observe=("X",),
        release=("X",),
        objective=MinimizeLeakage(("S",)) if program.objective else least,
        limits=limits,
        guarantees=tuple(promises.get(name, ())),
        preserve_marginals=program.marginal is not None,
    )


class Clocks:
    """Seconds of this process and of the clock on the wall since it was made."""

    def __init__(self) -> None:
        self.started = time.process_time(), time.perf_counter()

    def read(self) -> tuple[float, float]:
        return time.process_time() - self.started[0], time.perf_counter() - self.started[1]


def by_clarabel(program: Any, runs: int) -> dict[str, Any]:
    """CPU seconds of the solver alone, and with what cvxpy needs to compile the problem for it."""
    compiling = Clocks()
    asked = conic(program)
    data, chain, inverse = asked.get_problem_data("CLARABEL", solver_opts={})
    compiled, _ = compiling.read()
    times = []
    with warnings.catch_warnings(action="ignore"):  # what it thinks of its accuracy is in the status
        try:
            for _ in range(runs):
                solving = Clocks()
                found = chain.solve_via_data(asked, data, solver_opts={})
                times.append(solving.read())
            asked.unpack_results(found, chain, inverse)
        except cvxpy.error.SolverError as failed:
            return {"status": str(failed)}
    seconds, wall = (min(column) for column in zip(*times, strict=True))
    return {
        "value": float(asked.value),
        "seconds": seconds,
        "wall_seconds": wall,
        "seconds_in_all": compiled + seconds,
        "status": asked.status,
    }


def contest(name: str, n: int, aim: float, rival: bool, seed: int = 0) -> dict[str, Any]:
    asked = problem(name, n, seed)
    rival = rival and n <= 100 and (n <= 30 or name != "together")
    runs = 2 if rival and (name, n) == ("dist", 100) else 1
    times = []
    for _ in range(runs):
        searching = Clocks()
        model = Model.of(asked)
        program, restore = presolved(model)
        solution = solved(model, program, gap=GAP, seconds=20 * aim, fine=False)
        times.append(searching.read())
    proving = Clocks()
    design = finished(model, program, restore, solution, 20 * aim)
    search, wall = (min(column) for column in zip(*times, strict=True))
    result: dict[str, Any] = {
        "instance": name,
        "what": WORDS[name],
        "rows": n,
        "seed": seed,
        "seconds_aimed_at": aim,
        "search_seconds": search,
        "search_wall_seconds": wall,
        "seconds": search + proving.read()[0],
        "iterations": solution.iterations,
        "value": float(design.value),
        "gap": float(design.gap),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    if rival:
        result["clarabel"] = other = by_clarabel(program, runs)
        if "value" in other:
            other["times_our_search"] = other["seconds"] / search
            other["times_our_search_by_the_wall"] = other["wall_seconds"] / wall
            other["in_all_times_our_search"] = other["seconds_in_all"] / search
            unit = log(2) if program.objective else 1.0
            other["value_less_ours"] = other["value"] / unit - float(design.value)
    return result


def curve(n: int, prove: str, aim: float) -> dict[str, Any]:
    asked = problem("dist", n)
    begin = time.process_time()
    found = trace(asked, 50, prove=prove, gap=GAP)
    seconds = time.process_time() - begin
    assert found.chosen is not None
    gap = max(float(p.high - p.low) for p in found.points)
    return {
        "instance": f"curve, {prove} proved",
        "rows": n,
        "seconds_aimed_at": aim,
        "seconds": seconds,
        "gap": gap,
    } | {"value": float(found.chosen.high)}


def maps(letters: int, worlds: int, aim: float, seed: int = 0) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    parts = [draw.dirichlet(np.ones(m), letters) for m in (3, worlds)]
    law = np.einsum("r,rh,rz->rhz", draw.dirichlet(np.full(letters, 3.0)), *parts)
    counts = draw.multinomial(200_000, law.ravel()).reshape(law.shape) + 1
    asked = replace(
        tradeoff(counts.tolist(), "hamming", "3/20"), side_information=SideInformation("Z", "statistically-informed")
    )
    begin = time.process_time()
    design = solve(asked)
    return {
        "instance": f"{letters}^{worlds} maps",
        "rows": letters,
        "seconds_aimed_at": aim,
        "seconds": time.process_time() - begin,
        "cases_of_the_proof": len(design.certificate.proof["leaves"]),
        "value": float(design.value),
        "gap": float(design.gap),
    }


def main() -> None:
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    sizes = {int(v) for v in words[0].split(",")} if words else {5, 6, *(n for _, n, _ in INSTANCES)}
    names = set(words[1].split(",")) if len(words) > 1 else {"curve", "maps", *WORDS}
    print(
        f"{'instance':>22} {'rows':>5} {'search':>8} {'in all':>8} {'of':>5} {'steps':>6} {'gap':>9} {'value':>11}"
        f" {'Clarabel':>9} {'times':>6} {'cvxpy':>7} {'times':>6} {'less ours':>10}"
    )
    results = []

    def told(r: dict[str, Any]) -> None:
        results.append(r)
        rival = r.get("clarabel", {})
        more = f" {rival.get('status', '')}"
        if "value" in rival:
            more = (
                f" {rival['seconds']:>9.2f} {rival['times_our_search']:>6.1f} {rival['seconds_in_all']:>7.2f}"
                f" {rival['in_all_times_our_search']:>6.1f} {rival['value_less_ours']:>10.1e}{more}"
            )
        print(
            f"{r['instance']:>22} {r['rows']:>5} {r.get('search_seconds', 0):>8.2f} {r['seconds']:>8.2f}"
            f" {r['seconds_aimed_at']:>5g} {r.get('iterations', 0):>6} {r['gap']:>9.1e} {r['value']:>11.7f}{more}",
            flush=True,
        )

    for name, n, aim in INSTANCES:
        if n in sizes and name in names:
            for seed in range(5 if (name, n) == ("dist", 100) else 1):
                told(contest(name, n, aim, "--no-rival" not in sys.argv, seed))
    for prove, aim in (("chosen", 5.0), ("all", 20.0)) if 100 in sizes and "curve" in names else ():
        told(curve(100, prove, aim))
    for letters, worlds in ((5, 8), (6, 10)) if "maps" in names else ():
        if letters in sizes:
            told(maps(letters, worlds, 5))
    save("leakage", "CPU seconds to a proved gap of 1e-6 under mixtures of limits", results, threads=1)


if __name__ == "__main__":
    main()
