"""How long until the most information under a limit is found, made exact and proved, and how far is the bound?

Random tables of whole numbers from 1 to 99 for p(x, w, s), one seed for each case. The limit on the leakage of S is a
share of I(S; X); that on a guess lies halfway between a blind one and one that sees X; maximal leakage is limited to
so many bits. CPU seconds of one process; set
OMP_NUM_THREADS=1 for one thread. Gaps in bits, as the kernel proved them.

    in all    from the problem to the proved design
    check     the kernel alone, once more, on the written design
    aim       the gap and the seconds that are aimed at

    python benchmarks/funnel.py [cases, comma-separated]
"""

import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from reporting import save

from dalenius.core import (
    AtLeast,
    Guarantee,
    Guess,
    Leakage,
    MaximalLeakage,
    MaximizeInformation,
    MinimizeLeakage,
    MinimizeRate,
    Objective,
    Pmf,
    Problem,
)
from dalenius.kernel import check
from dalenius.measures import mutual_information
from dalenius.mechanisms import solve


@dataclass(frozen=True)
class Case:
    """How many values X, W and S have (W 0: all of X), what is limited, and the gap and seconds that are aimed at."""

    inputs: int
    wanted: int
    secrets: int
    share: float
    gap: float
    seconds: float
    kind: str = "leakage"

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.inputs}-{self.wanted or 'X'}-{self.secrets}"


PATIENCE = (
    8  # times the seconds that are aimed at: the search ends by the clock, which a busy machine does not share out
)

CASES = [
    Case(100, 2, 10, 0.05, 1e-5, 10),
    Case(300, 2, 2, 0.1, 1e-5, 60),
    Case(1000, 2, 2, 0.25, 1e-5, 120),
    Case(100, 0, 2, 0.25, 1e-5, 15),
    Case(8, 0, 4, 0.25, 1e-4, 20),
    Case(30, 0, 3, 0.25, 1e-4, 60),
    Case(100, 3, 3, 0.25, 1e-4, 120),
    Case(100, 0, 2, 0.0, 1e-8, 3, "guess"),
    Case(100, 0, 2, 1.5, 1e-8, 3, "maximal"),
    Case(20, 2, 3, 0.5, 1e-5, 10, "least"),
    Case(20, 2, 3, 0.5, 1e-5, 20, "rate"),
]


def table(case: Case) -> Pmf:
    """Whole numbers for every combination."""
    shape = (case.inputs, max(case.wanted, 1), case.secrets)
    counts = np.random.default_rng(case.inputs).integers(1, 100, size=shape)
    letters = {"X": shape[0], "W": shape[1], "S": shape[2]}
    total = int(counts.sum())
    records = [
        (tuple(f"{name.lower()}{k}" for name, k in zip(letters, at, strict=True)), f"{int(n)}/{total}")
        for at, n in np.ndenumerate(counts)
    ]
    return Pmf.from_records({name: [f"{name.lower()}{k}" for k in range(n)] for name, n in letters.items()}, records)


def asked(case: Case) -> Problem:
    """The problem of a case."""
    law = table(case)
    about = ("W",) if case.wanted else ("X",)
    objective: Objective = MaximizeInformation(about)
    guarantees: tuple[Guarantee, ...] = ()
    tells: tuple[AtLeast, ...] = ()
    if case.kind == "leakage":
        guarantees = (Leakage(("S",), _rounded(case.share * mutual_information(law, ["S"], ["X"]))),)
    elif case.kind == "maximal":
        guarantees = (MaximalLeakage(Fraction(case.share)),)
    elif case.kind == "guess":
        counts = law.counts(("X",), ("S",)) / law.total
        blind, seen = counts.sum(axis=0).max(), counts.max(axis=1).sum()
        guarantees = (Guess(("S",), _rounded((blind + seen) / 2)),)
    else:
        objective = MinimizeLeakage(("S",)) if case.kind == "least" else MinimizeRate()
        tells = (AtLeast(("W",), _rounded(case.share * mutual_information(law, ["W"], ["X"]))),)
    return Problem(observe=("X",), output="Y", objective=objective, guarantees=guarantees, tells=tells, joint=law)


def _rounded(value: float) -> Fraction:
    return Fraction(round(value * 10**9), 10**9)


def measured(case: Case) -> dict[str, Any]:
    """One line of the table."""
    problem = asked(case)
    begin = time.process_time()
    clock = time.monotonic()
    design = solve(problem, gap=case.gap, seconds=PATIENCE * case.seconds)
    in_all, clock = time.process_time() - begin, time.monotonic() - clock
    begin = time.process_time()
    check(design.text, 10**12)
    return {
        "case": case.name,
        "value": float(design.value),
        "gap": float(design.gap),
        "seconds": round(in_all, 2),
        "clock": round(clock, 2),
        "check": round(time.process_time() - begin, 2),
        "letters": design.channel.shape[1],
        "characters": len(design.text),
        "aim": [case.gap, case.seconds],
        "method": design.method,
    }


def main() -> None:
    wanted = sys.argv[1].split(",") if len(sys.argv) > 1 else [case.name for case in CASES]
    rows = []
    print(f"{'case':18} {'value':>11} {'gap':>8} {'in all':>8} {'check':>6} {'letters':>7} {'file':>9}   aim")
    for case in CASES:
        if case.name not in wanted:
            continue
        row = measured(case)
        rows.append(row)
        print(
            f"{row['case']:18} {row['value']:11.8f} {row['gap']:8.1e} {row['seconds']:6.1f} s {row['check']:4.1f} s "
            f"{row['letters']:7} {row['characters']:9,}   {case.gap:.0e} in {case.seconds:g} s",
            flush=True,
        )
    save("funnel", (__doc__ or "").split("\n", 1)[0], rows)


if __name__ == "__main__":
    main()
