"""How far apart are the best channel and its bound under mixtures of promises, after how long?

Independence, local DP (plain and metric) and information privacy together, for targets of 2 to 12 letters. Random
tables as in `disclosure.py`: Dirichlet(1) weights over all atoms, p(w|x) Dirichlet(1), as positive counts. CPU seconds
of one thread, everything counted: search, repair to exact promises in rationals, and the proof by the checker. The gap
is the proved one. The rivals: the best of the closed bounds (kind `universal`) for the same channel, and, while they
are few, a linear program over all extreme columns, listed exactly with slack variables.

The file of results is written anew after every row, because the last rows take their whole minute.

    python benchmarks/mixtures_columns.py [seeds] [most letters] [first table, 0 to 2]
"""

import sys
import time
from contextlib import redirect_stdout
from fractions import Fraction
from io import StringIO
from typing import Any

import numpy as np
from disclosure import problem_of, table
from reporting import save

from dalenius.core import Guarantee, Independent, InformationPrivacy, LocalDP, Problem
from dalenius.core.arithmetic import exp
from dalenius.errors import SolverFailed
from dalenius.mechanisms import solve
from dalenius.mechanisms.proof_terms import CLOSED
from dalenius.mechanisms.proving import proved
from dalenius.solvers import maximise, vertices
from dalenius.solvers.cells import divergence

GAP, SECONDS = 1e-4, 60
LETTERS = (2, 3, 4, 6, 8, 12)
TABLES = ([2, 2], [2, 2, 2], [2, 2, 2, 2])
BASES = 200_000


def promises(kind: str, sizes: list[int]) -> list[Guarantee]:
    first, second = Independent(("X0",)), Independent(("X1",))
    atoms = int(np.prod(sizes))
    line = tuple(tuple(Fraction(abs(i - j)) for j in range(atoms)) for i in range(atoms))
    return {
        "local_dp": [LocalDP(1)],
        "independent + local_dp": [first, second, LocalDP(1)],
        "independent + metric": [first, LocalDP("1/2", line)],
        "independent + information privacy": [first, InformationPrivacy(("X1",), "1/2")],
        "all of them": [first, LocalDP(1), InformationPrivacy(("X1",), "1/4")],
    }[kind]


KINDS = (
    "local_dp",
    "independent + local_dp",
    "independent + metric",
    "independent + information privacy",
    "all of them",
)


def listed(problem: Problem) -> dict[str, Any]:
    """The optimum over all extreme columns under independence and plain local DP, as rows with slack variables."""
    begin, joint = time.process_time(), problem.pmf
    counts = joint.counts(problem.inputs, problem.objective.names)
    p = [Fraction(int(n), joint.total) for n in counts.sum(axis=1)]
    rows: list[list[Fraction]] = []
    for view in problem.views:
        at = problem.inputs.index(view[0])
        codes = [x[at] for x in joint.grouped(problem.inputs)[0]]
        share = sum((m for m, a in zip(p, codes, strict=True) if a == 0), Fraction(0))
        equal = [m * ((a == 0) - share) for m, a in zip(p, codes, strict=True)]
        rows += [equal, [-v for v in equal]]
    ratio = next(exp(g.epsilon)[0] for g in problem.guarantees if isinstance(g, LocalDP))
    n = len(p)
    rows += [
        [Fraction(-1) if x == a else ratio if x == b else Fraction(0) for x in range(n)]
        for a in range(n)
        for b in range(n)
        if a != b
    ]
    system = [[*([Fraction(1)] * n), *([Fraction(0)] * len(rows))]]
    system += [[*row, *(Fraction(-(i == k)) for k in range(len(rows)))] for i, row in enumerate(rows)]
    try:
        found = vertices(system, [1] + [0] * len(rows), limit=BASES)
    except SolverFailed as e:
        return {"seconds": time.process_time() - begin, "failed": str(e)}
    columns = np.array([[float(v) for v in c[:n]] for c in found])
    W = (counts / joint.total).astype(float)
    u = columns @ W
    mass = u.sum(axis=1)
    value = maximise(mass * divergence(u / mass[:, None], W.sum(axis=0)), columns.T, np.ones(n)).objective
    return {"seconds": time.process_time() - begin, "value": value, "columns": len(columns)}


def contest(kind: str, sizes: list[int], letters: int, seed: int) -> dict[str, Any]:
    counts, _ = table(sizes, letters, seed)
    plain = problem_of(sizes, counts)
    problem = Problem(
        joint=plain.pmf,
        observe=plain.observe,
        output="Y",
        objective=plain.objective,
        guarantees=tuple(promises(kind, sizes)),
    )
    begin = time.process_time()
    design = solve(problem, gap=GAP, seconds=SECONDS)
    seconds = time.process_time() - begin
    closed = proved(design.problem, design.channel, [CLOSED], method="closed bounds")
    return {
        "promises": kind,
        "sizes": sizes,
        "outcomes": letters,
        "seed": seed,
        "gap": float(design.gap),
        "seconds": seconds,
        "value": float(design.value),
        "bound": float(design.bound),
        "kind": design.kind,
        "universal_gap": float(closed.bound - design.value),
        **({"listed": listed(problem)} if kind.endswith("local_dp") and len(counts) <= 4 else {}),
    }


def saved(results: list[dict[str, Any]], seeds: range) -> None:
    with redirect_stdout(StringIO()):  # where the file is would break the table
        save(
            "mixtures_columns", "seconds to a proved gap under mixtures of linear promises", results, seeds=list(seeds)
        )


def main() -> None:
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    most = int(sys.argv[2]) if len(sys.argv) > 2 else max(LETTERS)
    tables = TABLES[int(sys.argv[3]) if len(sys.argv) > 3 else 0 :]
    print(
        f"{'promises':>34} {'sizes':>10} {'|W|':>3} {'seed':>4} {'value':>10} {'gap':>8} {'kind':>10} {'seconds':>8}"
        f" {'universal':>10} {'all columns, s':>20}"
    )
    results = []
    for sizes in tables:
        for kind in KINDS:
            for letters in (k for k in LETTERS if k <= most):
                for seed in seeds:
                    r = contest(kind, sizes, letters, seed)
                    results.append(r)
                    other = r.get("listed", {})
                    told = f"{other['value']:>12.7f} {other['seconds']:>7.2f}" if "value" in other else f"{'-':>20}"
                    print(
                        f"{kind:>34} {'x'.join(map(str, sizes)):>10} {letters:>3} {seed:>4} {r['value']:>10.6f}"
                        f" {r['gap']:>8.1e} {r['kind']:>10} {r['seconds']:>8.2f} {r['universal_gap']:>10.2e} {told}",
                        flush=True,
                    )
                    saved(results, seeds)


if __name__ == "__main__":
    main()
