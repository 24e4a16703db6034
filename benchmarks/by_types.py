"""How far apart are value and bound for many samples that are alike given a hidden W, after how many CPU seconds?

Instances: Table I of paper 000, and Dirichlet(1) priors and kernels rounded to thousandths (the worst seed counts).
Everything is counted: search, repair to exact rationals, proof of privacy, value and bound by the checker.

    types  alike.types.disclose_types: what `solve` does for observe = ["X"]
    plain  the linear program over types in floats, exchangeable.types_disclosure, binary samples: no channel, no proof
    dense  columns.disclose over all outcomes, while they are at most 64

    python benchmarks/by_types.py [seeds]
"""

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from reporting import save

from dalenius.core import Samples
from dalenius.mechanisms.alike.exchangeable import types_disclosure
from dalenius.mechanisms.alike.types import disclose_types
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.tables import conditionally_iid
from dalenius.testing import alike, disclosure

# letters of a sample, n, gap in bits, CPU seconds aimed at
INSTANCES = [
    (2, 5, 1e-9, 2),
    (2, 100, 1e-9, 2),
    (2, 400, 1e-9, 2),
    (2, 1000, 1e-9, 10),
    (3, 3, 1e-5, 60),
    (3, 50, 1e-5, 60),
]
TABLE_1 = (
    [Fraction(2, 3), Fraction(1, 3)],
    [[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(9, 10)]],
)


def thousandths(v: Any) -> list[Fraction]:
    counts = np.maximum(1, np.rint(1000 * v)).astype(int)
    counts[counts.argmax()] += 1000 - counts.sum()
    return [Fraction(int(k), 1000) for k in counts]


def drawn(letters: int, seed: int) -> tuple[list[Fraction], list[list[Fraction]]]:
    rng = np.random.default_rng([seed, letters])
    return thousandths(rng.dirichlet(np.ones(2))), [thousandths(rng.dirichlet(np.ones(letters))) for _ in range(2)]


def timed(rival: Callable[[], float]) -> dict[str, float]:
    begin = time.process_time()
    return {"value": rival(), "seconds": time.process_time() - begin}


def contest(name: str, model: tuple[Any, Any], letters: int, n: int, gap: float, allowed: float) -> dict[str, Any]:
    problem = alike(*model, n)
    begin = time.process_time()
    design = disclose_types(problem, gap=gap, seconds=2 * allowed)
    result: dict[str, Any] = {
        "instance": name,
        "letters": letters,
        "n": n,
        "gap_asked": gap,
        "seconds_allowed": allowed,
        "gap": float(design.gap),
        "seconds": time.process_time() - begin,
        "value": float(design.value),
        "kind": design.kind,
    }
    if letters == 2:
        result["plain"] = timed(lambda: types_disclosure(*model, n).value_bits)
    law = problem.law
    if letters**n <= 64 and isinstance(law, Samples):
        joint = conditionally_iid(law.prior, law.kernel, law.hidden, n)
        result["dense"] = timed(
            lambda: float(disclose(disclosure(joint, law.names, ["W"], [[x] for x in law.names])).value)
        )
    return result


def told(rival: dict[str, float] | None) -> str:
    return f"{'-':>21}" if rival is None else f"{rival['value']:>13.9f} {rival['seconds']:>7.2f}"


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(
        f"{'instance':>8} {'letters':>7} {'n':>5} {'asked':>6} {'gap':>8} {'seconds':>8} {'of':>4} {'value':>13}"
        f" {'plain, s':>21} {'dense, s':>21}"
    )
    results = []
    for letters, n, gap, allowed in INSTANCES:
        models = [("Table I", TABLE_1)] if letters == 2 else []
        for name, model in [*models, *((f"seed {s}", drawn(letters, s)) for s in range(seeds))]:
            r = contest(name, model, letters, n, gap, allowed)
            results.append(r)
            print(
                f"{name:>8} {letters:>7} {n:>5} {gap:>6.0e} {r['gap']:>8.1e} {r['seconds']:>8.2f} {allowed:>4}"
                f" {r['value']:>13.9f} {told(r.get('plain'))} {told(r.get('dense'))}",
                flush=True,
            )
    save("by_types", "CPU seconds to a proved gap for samples that are alike", results, seeds=list(range(seeds)))


if __name__ == "__main__":
    main()
