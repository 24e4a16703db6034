"""How fast is the best channel under local DP found and proved, against the linear program over all subsets?

CPU seconds of one thread, proof included. The rival is the full program with one variable for each of the 2^S subsets,
by HiGHS, while it fits. For more letters there is none: value and proved bound are told with their relative gap.

    python benchmarks/local_dp.py
"""

import time
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
from reporting import save

from dalenius.core import LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.mechanisms import solve
from dalenius.mechanisms.local_dp.staircase import told_by
from dalenius.solvers.staircase import staircase

SEED = 1


def shapes(S: int) -> dict[str, npt.NDArray[np.float64]]:
    k = np.arange(1, S + 1)
    found = {
        "uniform": np.ones(S),
        "dirichlet": np.random.default_rng(SEED).dirichlet(np.ones(S)),
        "zipf1": 1 / k,
        "zipf2": 1 / k**2,
        "one big": np.r_[0.6, np.full(S - 1, 0.4 / (S - 1))],
    }
    return {name: p / p.sum() for name, p in found.items()}


def full(p: npt.NDArray[np.float64], r: float) -> tuple[float, float]:
    """The optimum over all subsets and the CPU seconds of HiGHS."""
    S = len(p)
    begin = time.process_time()
    sets = ((np.arange(1 << S)[:, None] >> np.arange(S)) & 1).astype(np.float64)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = 1 << S, S
    scale = 1e4
    model.col_cost_ = np.array([-scale * told_by(float(P), r) for P in sets @ p])
    model.col_lower_, model.col_upper_ = np.zeros(1 << S), np.full(1 << S, highspy.kHighsInf)
    model.row_lower_ = model.row_upper_ = np.ones(S)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.arange(0, S * (1 << S) + 1, S, dtype=np.int32)
    model.a_matrix_.index_ = np.tile(np.arange(S, dtype=np.int32), 1 << S)
    model.a_matrix_.value_ = (1 + (r - 1) * sets).ravel()
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    for side in ("primal", "dual"):
        solver.setOptionValue(f"{side}_feasibility_tolerance", 1e-10)
    solver.passModel(model)
    solver.run()
    return -solver.getInfo().objective_function_value / scale, time.process_time() - begin


def source(S: int, shape: str) -> tuple[npt.NDArray[np.int64], Pmf]:
    """Counts fine enough that no two letters of a Dirichlet are alike."""
    counts = np.maximum(1, np.rint(1e13 * shapes(S)[shape])).astype(np.int64)
    letters = tuple(map(str, range(S)))
    return counts, Pmf.from_records({"X": letters}, [((x,), int(n)) for x, n in zip(letters, counts, strict=True)])


def form8(S: int, shape: str, epsilon: str) -> dict[str, Any]:
    """The best matrix of form (8), proof included."""
    _, joint = source(S, shape)
    promise = (LocalDP(Fraction(epsilon)),)
    problem = Problem(("X",), MaximizeInformation(("X",)), promise, release=("X",), form="pram", joint=joint)
    begin = time.process_time()
    design = solve(problem)
    return {
        "form": 8,
        "letters": S,
        "shape": shape,
        "epsilon": epsilon,
        "value_bits": float(design.value),
        "relative_gap": float(design.gap / design.value),
        "seconds": time.process_time() - begin,
    }


def contest(S: int, shape: str, epsilon: str, rival: bool) -> dict[str, Any]:
    counts, joint = source(S, shape)
    promise = (LocalDP(Fraction(epsilon)),)
    problem = Problem(("X",), MaximizeInformation(("X",)), promise, output="Y", joint=joint)
    begin = time.process_time()
    design = solve(problem)
    seconds = time.process_time() - begin
    result: dict[str, Any] = {
        "letters": S,
        "shape": shape,
        "epsilon": epsilon,
        "value_bits": float(design.value),
        "relative_gap": float(design.gap / design.value),
        "seconds": seconds,
    }
    if rival:
        p, ratio = counts / counts.sum(), float(np.exp(float(Fraction(epsilon))))
        begin = time.process_time()
        staircase(p, ratio, gap=1e-10)  # as the rival: floats, nothing proved
        search = time.process_time() - begin
        value, slow = full(p, ratio)
        result |= {"full_value": value, "full_seconds": slow, "search_seconds": search, "times_faster": slow / search}
    return result


def main() -> None:
    results: list[dict[str, Any]] = []
    print("the best matrix of form (8), proof included")
    print("{:>8} {:>10} {:>5} {:>12} {:>9} {:>7}".format("letters", "p", "eps", "bits", "rel. gap", "s"))
    for S in (1000, 100_000):
        for shape in shapes(2):
            for epsilon in ("1/10", "1", "3", "6"):
                r = form8(S, shape, epsilon)
                results.append(r)
                told = f"{r['value_bits']:>12.6e} {r['relative_gap']:>9.1e} {r['seconds']:>7.2f}"
                print(f"{S:>8} {shape:>10} {epsilon:>5} {told}", flush=True)
    print("all channels")
    cases = [(16, shape, e, True) for shape in shapes(2) for e in ("1/2", "2")]
    cases += [(50, shape, e, False) for shape in ("dirichlet", "zipf2") for e in ("1/2", "2", "4")]
    cases += [(100_000, shape, e, False) for shape in shapes(2) for e in ("1/2", "2", "4")]
    head = ("letters", "p", "eps", "bits", "rel. gap", "s", "search s", "full LP s", "times", "differs")
    print("{:>8} {:>10} {:>5} {:>12} {:>9} {:>7} {:>8} {:>10} {:>7} {:>9}".format(*head))
    for S, shape, epsilon, rival in cases:
        r = contest(S, shape, str(Fraction(epsilon)), rival)
        results.append(r)
        line = (
            f"{S:>8} {shape:>10} {epsilon:>5} {r['value_bits']:>12.9f} {r['relative_gap']:>9.1e} {r['seconds']:>7.2f}"
        )
        if rival:
            differs = abs(r["full_value"] - r["value_bits"])
            line += f" {r['search_seconds']:>8.2f} {r['full_seconds']:>10.2f} {r['times_faster']:>7.0f} {differs:>9.1e}"
        print(line, flush=True)
    save("local_dp", "the best channel under local DP against the linear program over all subsets", results, seed=SEED)


if __name__ == "__main__":
    main()
