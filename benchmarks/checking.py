"""How long does the check of a design take, and which designs need more work than a file may ask for by default?

Designs of every family are made by `solve`, small ones and ones whose files come near to the length where the allowed
work is tightest. CPU seconds of one thread; the check is the kernel's whole proof, the better of three.

    python benchmarks/checking.py [WORD]        of those whose name has the word
"""

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import local_dp
import numpy as np
import self_disclosure
from reporting import save

from dalenius.core import (
    Distortion,
    Independent,
    Leakage,
    LocalDP,
    MarkovChain,
    MaximizeInformation,
    MinimizeDistortion,
    MinimizeRate,
    Pmf,
    Problem,
    WorstCaseLeakage,
)
from dalenius.core.forms.windows import chain as along
from dalenius.kernel.check import check
from dalenius.kernel.document import allowed_work
from dalenius.mechanisms import solve

SEED = 1
LEAKS = Leakage("S", Fraction(1, 20))


def distortion(letters: int, *promises: Any) -> Problem:
    """The least change of a column under promises about another one."""
    rng = np.random.default_rng(SEED)
    counts = rng.multinomial(100_000, rng.dirichlet(np.ones(4 * letters))) + 1
    alphabets = {"X": tuple(map(str, range(letters))), "S": tuple("0123")}
    codes = np.array([(x, s) for x in range(letters) for s in range(4)])
    least = MinimizeDistortion(Distortion("hamming", ("X",)))
    joint = Pmf.from_counts(alphabets, codes, counts.tolist())
    return Problem(("X",), least, promises, release=("X",), joint=joint)


def staircase(letters: int, **more: Any) -> Problem:
    """All of a column under local DP: any matrix, or one of form (8)."""
    joint = local_dp.source(letters, "dirichlet")[1]
    return Problem(("X",), MaximizeInformation(("X",)), (LocalDP(Fraction(1)),), joint=joint, **more)


def noise(points: int, columns: int = 1) -> Problem:
    rng = np.random.default_rng(SEED)
    codes = np.clip(rng.gamma(2.0, points / 12, (100_000, columns)), 0, points - 1).astype(np.int64)
    places, counts = np.unique(codes, axis=0, return_counts=True)
    names = [f"x{j}" for j in range(columns)]
    joint = Pmf.from_counts(dict.fromkeys(names, tuple(map(str, range(points)))), places, counts.tolist())
    limit = {"distortion": "squared", "of": names, "at_most": str(float(codes.var(axis=0).sum()) / 2)}
    asked = {
        "mechanism": {"observe": names, "release": names, "form": "noise", "noise": "gaussian"},
        "objective": {"minimize": {"leakage": names}},
        "limit": [limit],
    }
    return Problem.from_document(asked, joint=joint)


def records(rows: int, columns: int, promise: Any) -> Problem:
    """Whole records of a random table with values of falling frequency."""
    rng = np.random.default_rng(SEED)
    codes = np.minimum(rng.geometric(0.4, (rows, columns + 1)) - 1, 5)
    codes[:, -1] = (codes[:, 0] + codes[:, 1] + rng.integers(0, 3, rows)) % 2
    names = [f"C{j}" for j in range(columns)]
    alphabets = dict.fromkeys(names, tuple(map(str, range(6)))) | {"S": ("0", "1")}
    places, counts = np.unique(codes, axis=0, return_counts=True)
    least = MinimizeDistortion(Distortion.sum_of([Distortion("hamming", (name,)) for name in names]))
    joint = Pmf.from_counts(alphabets, places, counts.tolist())
    return Problem((*names, "S"), least, (promise,), release=tuple(names), form="records", joint=joint)


def rate(letters: int) -> Problem:
    shares = np.random.default_rng(SEED).integers(1, 1000, letters)
    joint = Pmf.from_counts({"X": tuple(map(str, range(letters)))}, np.arange(letters)[:, None], shares.tolist())
    limit = Distortion("squared", ("X",), Fraction(letters**2, 1200))
    return Problem(("X",), MinimizeRate(), (), release=("X",), joint=joint, limits=(limit,))


def chain(samples: int) -> Problem:
    half, lazy = (Fraction(1, 2),) * 2, ((Fraction(4, 5), Fraction(1, 5)), (Fraction(1, 5), Fraction(4, 5)))
    law = MarkovChain(("0", "1"), half, lazy, samples)
    names = tuple(law.variables)
    views = tuple(Independent((name,)) for name in names)
    windows = along(names, 3, 0)
    return Problem(names, MaximizeInformation(names), views, output="Y", form="windows", windows=windows, joint=law)


DESIGNS: dict[str, Callable[[], Problem]] = {
    "least distortion under leakage, 16 letters": lambda: distortion(16, LEAKS),
    "least distortion under leakage, 100 letters": lambda: distortion(100, LEAKS),
    "three promises together, 30 letters": lambda: distortion(
        30, LEAKS, LocalDP(Fraction(6)), WorstCaseLeakage("S", Fraction(1, 20))
    ),
    "perfect privacy, 4 bits": lambda: self_disclosure.dirichlet(2, 4, 0),
    "perfect privacy, 6 bits": lambda: self_disclosure.dirichlet(2, 6, 0),
    "perfect privacy, 8 bits": lambda: self_disclosure.dirichlet(2, 8, 0),
    "local DP, 1,000 letters": lambda: staircase(1000, output="Y"),
    "local DP, 20,000 letters": lambda: staircase(20_000, output="Y"),
    "form (8), 300 letters": lambda: staircase(300, release=("X",), form="pram"),
    "form (8), 20,000 letters": lambda: staircase(20_000, release=("X",), form="pram"),
    "noise on 100 points": lambda: noise(100),
    "noise on 1,000 points": lambda: noise(1000),
    "noise on 10,000 points": lambda: noise(10_000),
    "noise on 100 by 100 points": lambda: noise(100, 2),
    "records of 2,000 rows, independent": lambda: records(2_000, 5, Independent("S")),
    "records of 20,000 rows, independent": lambda: records(20_000, 7, Independent("S")),
    "records of 20,000 rows, leakage": lambda: records(20_000, 7, Leakage("S", Fraction(1, 100))),
    "rate of 300 letters": lambda: rate(300),
    "rate of 1,000 letters": lambda: rate(1000),
    "chain of 60 samples": lambda: chain(60),
    "chain of 1,000 samples": lambda: chain(1000),
}


def measured(name: str) -> dict[str, Any]:
    begin = time.process_time()
    text = solve(DESIGNS[name](), seconds=60).dumps()
    solved = time.process_time() - begin
    best, verdict = float("inf"), None
    for _ in range(3):
        begin = time.process_time()
        verdict = check(text, 10**12)
        best = min(best, time.process_time() - begin)
    declared = int(text.split('"work":"', 1)[1].split('"', 1)[0])
    return {
        "design": name,
        "rule": verdict.rule,
        "bytes": len(text),
        "work": verdict.work,
        "declared": declared,
        "allowed": allowed_work(text),
        "solve_seconds": round(solved, 3),
        "check_seconds": round(best, 4),
    }


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    results = []
    for name in DESIGNS:
        if wanted in name:
            try:
                found = measured(name)
            except Exception as error:  # told, and the others go on
                print(f"| {name} | {type(error).__name__}: {str(error)[:80]}", flush=True)
                continue
            results.append(found)
            over = " NEEDS --work" if found["declared"] > found["allowed"] else ""
            print(
                f"| {name} | {found['rule']} | {found['bytes']:,} | {found['declared'] / 1e6:.1f} of "
                f"{found['allowed'] / 1e6:.0f} | {found['solve_seconds']:.2f} | {found['check_seconds']:.3f} |{over}",
                flush=True,
            )
    if not wanted:
        save("checking", "How long does the check of a design take, and how much work does it declare?", results)


if __name__ == "__main__":
    main()
