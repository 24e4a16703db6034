"""How much do windows tell of what one mechanism over all samples could, and how long do many samples take?

Independent bits with P(1) = q that tell about themselves. CPU seconds for the design (its proof included) and for the
check of the finished file. The bound is about every mechanism; the share is value / bound.

    windows      chains.windows with windows of so many samples, neighbours sharing one
    apart        the same, sharing none
    sums of 2    chains.sums.modular_sums with two states: the paper's preprocessing
    sums         the same with the modulus that tells the most
    whole        columns.disclose on all samples at once: the optimum, where it can be had

    python benchmarks/compositions.py [most samples]
"""

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from reporting import save

from dalenius.core import Design, Pmf, Problem, ProductPmf
from dalenius.documents import checked as check
from dalenius.mechanisms.chains.sums import modular_sums
from dalenius.mechanisms.chains.windows import windows
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.testing import disclosure

WHOLE = 6


def bits(q: Fraction, n: int) -> Problem:
    """n independent bits that tell about themselves, each protected."""
    coin = Pmf.from_records({"X1": ("0", "1")}, [(("0",), 1 - q), (("1",), q)])
    law = ProductPmf((coin,)).alike(n)
    names = list(law.variables)
    return disclosure(law, names, names, [[name] for name in names])


def measured(name: str, q: Fraction, n: int, design: Callable[[], Design]) -> dict[str, Any]:
    """One line of the table, printed and returned."""
    start = time.process_time()
    found = design()
    seconds = time.process_time() - start
    start = time.process_time()
    check(found.dumps())
    line = {
        "method": name,
        "q": str(q),
        "samples": n,
        "value_bits": float(found.value),
        "bound_bits": float(found.bound),
        "gap_bits": float(found.gap),
        "proof": found.kind,
        "design_seconds": round(seconds, 3),
        "check_seconds": round(time.process_time() - start, 3),
    }
    share = line["value_bits"] / line["bound_bits"]
    print(
        f"{name:<14} {q!s:>5} {n:>6} {line['value_bits']:>12.6f} {line['bound_bits']:>12.6f} {share:>7.1%} "
        f"{line['design_seconds']:>9.3f} {line['check_seconds']:>9.3f}  {line['proof']}"
    )
    return line


def methods(problem: Problem) -> dict[str, Callable[[], Design]]:
    """What is compared."""
    found: dict[str, Callable[[], Design]] = {
        f"windows of {k}": lambda k=k: windows(problem, size=k)  # type: ignore[misc]
        for k in (2, 3, 4, 5)
    }
    found["3 apart"] = lambda: windows(problem, size=3, overlap=0)
    found["sums of 2"] = lambda: modular_sums(problem, modulus=2)
    found["sums"] = lambda: modular_sums(problem)
    if len(problem.observe) <= WHOLE:
        found["whole"] = lambda: disclose(problem)
    return found


def main(most: int) -> None:
    head = f"{'method':<14} {'q':>5} {'n':>6} {'value':>12} {'bound':>12} {'share':>7} {'design s':>9} {'check s':>9}"
    print(head + "  proof")
    results = [
        measured(name, q, n, design)
        for q in (Fraction(3, 10), Fraction(1, 10))
        for n in (WHOLE, 60, 200, 1000)
        if n <= most
        for name, design in methods(bits(q, n)).items()
    ]
    save(
        "compositions", "How much do windows tell of what one mechanism over all samples could, and how fast?", results
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
